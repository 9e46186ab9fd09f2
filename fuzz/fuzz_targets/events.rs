//! Any bytes as events of the log, with and without checksums.
#![no_main]

use binlog::EventIter;
use binlog::event::ChecksumAlgorithm;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for checksum in [ChecksumAlgorithm::Off, ChecksumAlgorithm::Crc32] {
        let mut dump = binlog::dump::TextDump::new();
        for event in EventIter::new(data, checksum) {
            let Ok(event) = event else { break };
            let _ = event.verify();
            let _ = dump.event(&event);
        }
    }
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = text.parse::<binlog::GtidSet>();
    }
});
