//! Any bytes as events of the log, with and without checksums.
#![no_main]

use binlog::EventIter;
use binlog::dump::{DumpFormat, Dumper};
use binlog::event::{ChecksumAlgorithm, EventBody, FormatDescription};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for checksum in [ChecksumAlgorithm::Off, ChecksumAlgorithm::Crc32] {
        let mut dumps = [DumpFormat::Sql, DumpFormat::Text, DumpFormat::Json].map(Dumper::new);
        let (mut position, mut out) = (4, Vec::new());
        for event in EventIter::new(data, checksum) {
            let Ok(event) = event else { break };
            let _ = event.verify();
            for server_version in ["9.7.4", "11.8.9-MariaDB"] {
                let format = FormatDescription::new(server_version, 0);
                if let Ok(body) = EventBody::decode(&event, &format) {
                    body.encode_body(&mut Vec::new());
                }
            }
            for dump in &mut dumps {
                out.clear();
                let _ = dump.event(position, &event, &mut out);
            }
            let _ = binlog::dump::info(&event);
            position += event.bytes.len() as u64;
        }
    }
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = text.parse::<binlog::GtidSet>();
    }
});
