//! Log files that real servers wrote, through the interface: written again they are the same.

use binlog::event::{ChecksumAlgorithm, FormatDescription, MAGIC};
use binlog::{EventType, RawEvent};

use crate::form::{self, FormApply, take_delimited};
use crate::log::{Collected, Collector, LogApply, LogTransaction};
use crate::{Apply, Transaction};

/// Every file of `binlog`'s that is not encrypted.
pub(crate) const FILES: [&str; 10] = [
    "mysql97-statements",
    "mysql97-rows",
    "mysql97-payload",
    "mysql97-gtids",
    "mysql97-gtids-4",
    "mysql97-gtids-5",
    "maria118-statements",
    "maria118-statements-2",
    "maria118-rows",
    "maria118-compressed",
];

pub(crate) fn read(name: &str) -> Vec<u8> {
    let path = format!("{}/../binlog/src/tests/golden/{name}.binlog", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).unwrap()
}

/// The transactions of a file, one by one.
pub(crate) fn each_transaction(name: &str, mut visit: impl FnMut(&LogTransaction<'_>)) {
    let bytes = read(name);
    let mut collector = Collector::new(ChecksumAlgorithm::Crc32, 1 << 30);
    let mut at = MAGIC.len();
    while at < bytes.len() {
        let event = RawEvent::first_of(&bytes[at..], collector.checksum()).unwrap();
        let taken = collector.event(name, at as u64, &event);
        if let Collected::Transaction(transaction) = taken.unwrap_or_else(|error| panic!("{name} at {at}: {error}")) {
            visit(&transaction);
        }
        at += event.bytes.len();
    }
    assert!(!collector.is_inside(), "{name}");
}

fn written(transaction: &dyn Transaction, format: &FormatDescription, offset: u64) -> Vec<u8> {
    let mut apply = LogApply::new(format.clone(), offset);
    apply.transaction(transaction).unwrap();
    apply.take()
}

/// Types and bodies of the events of a transaction; of compressed ones what is in them. The length of the whole is left out where
/// something is compressed, because that may be done better or worse.
fn contents(bytes: &[u8], format: &FormatDescription) -> Vec<(EventType, Vec<u8>)> {
    use binlog::event::{CompressedQuery, CompressedRows, GtidEvent, PayloadLimits, TransactionPayload};
    let mut all = Vec::new();
    for event in binlog::EventIter::new(bytes, format.checksum) {
        let event = event.unwrap();
        event.verify().unwrap();
        let (event_type, body) = (event.header.event_type, event.body());
        match event_type {
            _ if event_type.is_gtid() => {
                let mut gtid = GtidEvent::decode(event_type, body).unwrap();
                gtid.transaction_length = 1;
                let mut again = Vec::new();
                gtid.encode_body(&mut again);
                all.push((event_type, again));
            }
            EventType::TRANSACTION_PAYLOAD => {
                let payload = TransactionPayload::decode(body).unwrap();
                let mut events = payload.events(PayloadLimits::default()).unwrap();
                while let Some(event) = events.next_event().unwrap() {
                    all.push((event.header.event_type, event.bytes.to_vec()));
                }
            }
            EventType::MARIA_QUERY_COMPRESSED => {
                let query = CompressedQuery::decode(body).unwrap();
                let mut again = Vec::new();
                query.head.encode_body(&mut again);
                again.extend_from_slice(&query.sql(1 << 20).unwrap());
                all.push((event_type, again));
            }
            _ if CompressedRows::plain_type(event_type).is_some() => {
                let rows = CompressedRows::decode(event_type, body).unwrap();
                let mut again = Vec::new();
                rows.with_rows(&rows.rows(1 << 20).unwrap()).encode_body(&mut again);
                all.push((event_type, again));
            }
            _ => all.push((event_type, body.to_vec())),
        }
    }
    all
}

/// From the log into a log, and from the log into the standard form, its bytes, and from there into a log.
#[test]
fn written_again_transactions_are_the_same() {
    let (mut all, mut same) = (0, 0);
    for name in FILES {
        each_transaction(name, |transaction| {
            let position = transaction.position().unwrap().unwrap();
            let format = transaction.format();
            let mut stream = FormApply::default();
            stream.transaction(transaction).unwrap();
            let bytes = stream.take();
            let (form, len) = take_delimited(&bytes).unwrap().unwrap();
            assert_eq!(len, bytes.len());
            for through in [transaction as &dyn Transaction, &form] {
                let again = written(through, format, position.begin);
                let what = format!("{name} at {}", position.begin);
                if again != transaction.bytes() {
                    assert_eq!(contents(&again, format), contents(transaction.bytes(), format), "{what}");
                    assert!(
                        !name.contains("rows") && !name.contains("statements"),
                        "{what}: only what is compressed may differ"
                    );
                }
                all += 1;
                same += usize::from(again == transaction.bytes());
                assert_eq!(through.outcome().unwrap(), transaction.outcome().unwrap(), "{what}");
                assert_eq!(through.name().unwrap(), transaction.name().unwrap(), "{what}");
                assert_eq!(through.commit_time().unwrap(), transaction.commit_time().unwrap(), "{what}");
            }
            assert_eq!(form::Transaction::of(&form).unwrap(), form, "of itself it is the same");
        });
    }
    eprintln!("{same} of {all} are the same to the byte");
    assert!(all > 300 && same * 10 > all * 9, "{same} of {all}");
}
