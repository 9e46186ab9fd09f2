//! Decoders take any bytes: no panic, and no memory beyond what was received.

use proptest::collection::vec;
use proptest::prelude::*;
use wire::column::OwnedColumn;
use wire::command::Command;
use wire::compress::{Algorithm, Compression};
use wire::handshake::{AuthSwitch, FirstAnswer, Greeting, Login};
use wire::params::{ParamType, decode_params};
use wire::replication::{BinlogDump, RegisterReplica, SemiSyncAck, decode_semi_sync, decode_stream};
use wire::{PacketReader, PacketWriter, reply, row};

fn any_packet() -> impl Strategy<Value = Vec<u8>> {
    // Bytes that mean something (lengths, marks, type bytes) come up more often than by chance.
    let byte = prop_oneof![any::<u8>(), 0u8..32, prop::sample::select(vec![0xfau8, 0xfb, 0xfc, 0xfd, 0xfe, 0xff])];
    vec(byte, 0..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn every_decoder(packet in any_packet(), capabilities in any::<u32>()) {
        let _ = Command::decode(&packet);
        let _ = FirstAnswer::decode(&packet);
        let _ = Login::decode_change_user(&packet, capabilities);
        let _ = Greeting::decode(&packet);
        let _ = AuthSwitch::decode(&packet);
        let _ = reply::read_done(&packet);
        let _ = reply::read_err(&packet);
        let _ = OwnedColumn::decode(&packet);
        let _ = RegisterReplica::decode(&packet);
        let _ = BinlogDump::decode(&packet);
        let _ = BinlogDump::decode_gtid(&packet);
        let _ = decode_stream(&packet);
        let _ = decode_semi_sync(&packet);
        let _ = SemiSyncAck::decode(&packet);
        if let Ok(row) = row::decode_text(&packet, usize::from(capabilities as u16)) {
            prop_assert!(row.len() <= packet.len().max(usize::from(capabilities as u16)));
        }
    }

    #[test]
    fn compressed(stream in any_packet(), level in 0u8..3, piece in 1usize..50) {
        let algorithm = if level == 0 { Algorithm::Zlib } else { Algorithm::Zstd { level } };
        let (mut compression, mut unpacked) = (Compression::new(algorithm), Vec::new());
        for piece in stream.chunks(piece) {
            compression.buffer().extend_from_slice(piece);
            while let Ok(true) = compression.unpack(&mut unpacked) {}
        }
        let mut packed = Vec::new();
        Compression::new(algorithm).pack(&stream, &mut packed);
        let (mut other, mut back) = (Compression::new(algorithm), Vec::new());
        other.buffer().extend_from_slice(&packed);
        while other.unpack(&mut back).unwrap() {}
        prop_assert_eq!(back, stream);
    }

    #[test]
    fn parameters(packet in any_packet(), count in 0usize..40, types in vec(any::<(u8, bool)>(), 0..40)) {
        let mut types: Vec<ParamType> = types.into_iter().map(|(ty, unsigned)| ParamType { ty, unsigned }).collect();
        let mut values = Vec::new();
        if decode_params(&packet, count, &mut types, &[], &mut values).is_ok() {
            prop_assert_eq!(values.len(), count);
        }
    }

    #[test]
    fn any_stream_in_any_pieces(stream in any_packet(), pieces in vec(1usize..20, 1..20), limit in 0usize..300) {
        let mut reader = PacketReader::new(limit);
        let mut rest = &stream[..];
        for piece in pieces.into_iter().cycle() {
            let (now, later) = rest.split_at(piece.min(rest.len()));
            reader.buffer().extend_from_slice(now);
            rest = later;
            while let Ok(Some(range)) = reader.next_packet() {
                prop_assert!(range.len() <= limit);
                prop_assert!(range.end <= reader.buffer().len());
            }
            if reader.next_packet().is_err() || rest.is_empty() {
                break;
            }
        }
    }

    #[test]
    fn packets_survive_the_stream(packets in vec(any_packet(), 0..10), piece in 1usize..50) {
        let mut writer = PacketWriter::new();
        packets.iter().for_each(|packet| writer.payload(packet));
        let mut reader = PacketReader::new(1 << 20);
        let mut found = Vec::new();
        for bytes in writer.bytes().chunks(piece) {
            reader.buffer().extend_from_slice(bytes);
            while let Some(range) = reader.next_packet().unwrap() {
                found.push(reader.buffer()[range].to_vec());
            }
            reader.release(64);
        }
        prop_assert_eq!(found, packets);
    }
}
