//! Anything in place of what should be there is an error, not a panic; values are themselves again.

use binlog::RawEvent;
use binlog::event::{ChecksumAlgorithm, MAGIC, column_type};
use proptest::prelude::*;

use super::round_trip::{each_transaction, read};
use crate::form::{FormApply, take_delimited};
use crate::json::JsonApply;
use crate::log::{Collected, Collector, LogApply};
use crate::sql::SqlApply;
use crate::*;

/// Asks for everything.
fn use_up(transaction: &dyn Transaction) {
    let format = binlog::FormatDescription::new("9.7.0", 0);
    let appliers: [&mut dyn Apply; 4] = [
        &mut FormApply::default(),
        &mut JsonApply::new(NoLookup),
        &mut SqlApply::new(NoLookup),
        &mut LogApply::new(format, 4),
    ];
    for apply in appliers {
        let _ = apply.transaction(transaction);
    }
}

fn column() -> impl Strategy<Value = ColumnMeta> {
    use column_type::*;
    let types = prop_oneof![
        Just((TINY, 0)),
        Just((SHORT, 0)),
        Just((INT24, 0)),
        Just((LONG, 0)),
        Just((LONGLONG, 0)),
        Just((FLOAT, 4)),
        Just((DOUBLE, 8)),
        Just((DATE, 0)),
        Just((YEAR, 0)),
        Just((TIME, 0)),
        Just((DATETIME, 0)),
        Just((TIMESTAMP, 0)),
        (0u16..=6).prop_map(|fsp| (TIME2, fsp)),
        (0u16..=6).prop_map(|fsp| (DATETIME2, fsp)),
        (0u16..=6).prop_map(|fsp| (TIMESTAMP2, fsp)),
        (1u16..=65, 0u16..=30).prop_map(|(digits, scale)| (NEWDECIMAL, digits | scale.min(digits) << 8)),
        (1u16..=64).prop_map(|bits| (BIT, (bits % 8) | ((bits / 8) << 8))),
        Just((STRING, u16::from(ENUM) | 1 << 8)),
        Just((STRING, u16::from(SET) | 8 << 8)),
        Just((STRING, u16::from(STRING) | 40 << 8)),
        Just((STRING, 0xee | 100 << 8)),
        Just((VARCHAR, 20)),
        Just((VARCHAR, 2000)),
        (1u16..=4).prop_map(|prefix| (BLOB, prefix)),
        Just((JSON, 4)),
        Just((GEOMETRY, 4)),
        Just((141, 200)),
        Just((140, 2)),
    ];
    (types, proptest::option::of(any::<bool>())).prop_map(|((type_code, meta), unsigned)| ColumnMeta {
        type_code,
        meta,
        unsigned,
        ..ColumnMeta::default()
    })
}

proptest! {
    /// Bytes that are a value are the same bytes again, as long as they are one way to write it.
    #[test]
    fn values_there_and_back(column in column(), bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        if let Ok((value, len)) = Value::decode(&column, &bytes) {
            let mut again = Vec::new();
            value.encode(&column, &mut again).unwrap();
            let (twice, _) = Value::decode(&column, &again).unwrap();
            prop_assert_eq!(again.len(), len);
            prop_assert_eq!(format!("{twice:?}"), format!("{value:?}"));
        }
        let _ = Value::inflate(&bytes, 1 << 20);
        let _ = json_text(&bytes);
    }

    #[test]
    fn messages_of_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(Some((transaction, _))) = take_delimited(&bytes) {
            use_up(&transaction);
        }
    }
}

/// Each transaction of the real files with bytes of it changed, as a log and as a message.
#[test]
fn what_is_damaged_is_an_error() {
    let mut seed = 1u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for name in ["mysql97-rows", "mysql97-statements", "maria118-rows", "maria118-statements", "maria118-compressed"] {
        each_transaction(name, |transaction| {
            let mut stream = FormApply::default();
            stream.transaction(transaction).unwrap();
            let message = stream.take();
            for _ in 0..20 {
                let mut damaged = message.clone();
                let at = random(damaged.len());
                damaged[at] = random(256) as u8;
                if let Ok(Some((transaction, _))) = take_delimited(&damaged) {
                    use_up(&transaction);
                }
                let cut = take_delimited(&message[..random(message.len())]);
                assert!(matches!(cut, Ok(None)), "not all of it is there");
            }
        });
        let bytes = read(name);
        for _ in 0..200 {
            let mut damaged = bytes.clone();
            let at = MAGIC.len() + random(bytes.len() - MAGIC.len());
            damaged[at] = random(256) as u8;
            let mut collector = Collector::new(ChecksumAlgorithm::Crc32, 1 << 20);
            let mut at = MAGIC.len();
            while let Ok(event) = RawEvent::first_of(damaged.get(at..).unwrap_or_default(), collector.checksum()) {
                let mut repaired = event.bytes.to_vec();
                let checksum_at = repaired.len() - 4;
                let checksum = crc32fast::hash(&repaired[..checksum_at]);
                repaired[checksum_at..].copy_from_slice(&checksum.to_le_bytes());
                let Ok(event) = RawEvent::first_of(&repaired, collector.checksum()) else { break };
                if let Ok(Collected::Transaction(transaction)) = collector.event(name, at as u64, &event) {
                    use_up(&transaction);
                }
                at += repaired.len();
            }
        }
    }
}

/// A transaction that never ends takes no more than the limit.
#[test]
fn large_transactions_are_refused() {
    let bytes = read("mysql97-rows");
    let mut collector = Collector::new(ChecksumAlgorithm::Crc32, 300);
    let mut at = MAGIC.len();
    let error = loop {
        let event = RawEvent::first_of(&bytes[at..], collector.checksum()).unwrap();
        if let Err(error) = collector.event("f", at as u64, &event) {
            break error;
        }
        at += event.bytes.len();
    };
    assert!(matches!(error, EventError::TooLarge { limit: 300, .. }), "{error}");
}
