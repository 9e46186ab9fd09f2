//! Any bytes as packets of either side: an answer or an error, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::PacketReader;
use wire::command::Command;
use wire::handshake::{AuthSwitch, Greeting, Login};

fuzz_target!(|data: &[u8]| {
    let mut reader = PacketReader::new(1 << 20);
    reader.buffer().extend_from_slice(data);
    while let Ok(Some(range)) = reader.next_packet() {
        let packet = reader.buffer()[range].to_vec();
        let _ = Command::decode(&packet);
        let _ = Greeting::decode(&packet);
        let _ = Login::decode_change_user(&packet, u32::MAX);
        let _ = AuthSwitch::decode(&packet);
        let _ = wire::reply::read_done(&packet);
        let _ = wire::row::decode_text(&packet, 3);
        let _ = wire::column::OwnedColumn::decode(&packet);
    }
});
