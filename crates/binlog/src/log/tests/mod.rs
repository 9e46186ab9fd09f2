//! The log over the simulated disk.

mod crashes;
mod damage;
mod follower;
mod full;
mod lengths;
mod life;
mod purged;
mod tags;

use std::sync::Arc;

use base::{CommitNumber, LogPosition, UnixMicros, Uuid};
use io::sim::SimMachine;
use io::{Env, IoMode};

use super::*;
use crate::encoder::{EncodedTransaction, EncoderOptions, GtidChoice, TransactionEncoder};
use crate::event::{EventType, QueryContext, QueryEvent};

pub(super) fn options() -> LogOptions {
    LogOptions {
        server_uuid: Uuid([0x11; 16]),
        max_binlog_size: 4096,
        fill_ahead: 4096,
        max_unsynced_window: 64 << 10,
        max_partial_bytes: 300,
        ..LogOptions::default()
    }
}

pub(super) async fn open(env: &Env, open_as: OpenAs) -> Result<Opened> {
    BinaryLog::open(env.clone(), options(), open_as, LogPosition::default()).await
}

pub(super) fn statement(sql: &str) -> EncodedTransaction {
    TransactionEncoder::ddl(&EncoderOptions::default(), &QueryContext::default(), sql, &["test"], None).unwrap()
}

/// Places a statement; not yet durable.
pub(super) async fn place(writer: &mut LogWriter, number: u64, sql: &str) -> Result<Placed> {
    place_as(writer, number, sql, GtidChoice::default()).await
}

/// The same under a GTID that is chosen.
pub(super) async fn place_as(writer: &mut LogWriter, number: u64, sql: &str, gtid: GtidChoice) -> Result<Placed> {
    let transaction = EncodedTransaction { gtid, ..statement(sql) };
    let reservation = writer.log().clone().reserve(transaction.max_size()).await?;
    let stamp = PlaceStamp {
        commit_number: CommitNumber(number),
        last_committed: CommitNumber(number - 1),
        commit_time: UnixMicros(1_700_000_000_000_000 + number),
    };
    Ok(writer.place(&transaction, &stamp, reservation))
}

/// Places statements `range` and makes them durable in groups of three.
pub(super) async fn write(writer: &mut LogWriter, range: std::ops::Range<u64>) -> Result<()> {
    for number in range {
        place(writer, number, &text_of(number)).await?;
        if number % 3 == 0 {
            writer.flush(IoMode::Inline).await?;
        }
    }
    writer.flush(IoMode::Inline).await
}

/// The files of a log without those that say something of it.
pub(super) fn files_of_log(machine: &SimMachine) -> Vec<String> {
    machine.files().into_iter().filter(|name| !name.ends_with("index") && !name.ends_with("server_id")).collect()
}

/// What transaction `number` says; of different lengths.
pub(super) fn text_of(number: u64) -> String {
    format!("statement {number} {}", "x".repeat((number * 37 % 300) as usize))
}

/// The texts of all transactions from a position to the durable end.
pub(super) async fn read_texts(log: &Arc<BinaryLog>, from: LogPosition) -> Result<Vec<String>> {
    let mut reader = log.reader(from);
    let mut texts = Vec::new();
    while let Some(transaction) = reader.next_transaction().await? {
        let events: Vec<_> = transaction.events().map(|event| event.unwrap()).collect();
        assert_eq!(events.len(), 2);
        assert!(events[0].header.event_type.is_gtid());
        let query = QueryEvent::decode(events[1].body()).unwrap();
        texts.push(String::from_utf8(query.sql.to_vec()).unwrap());
        assert!(log.has_executed(transaction.gtid().unwrap()));
    }
    Ok(texts)
}

pub(super) fn texts(range: std::ops::Range<u64>) -> Vec<String> {
    range.map(text_of).collect()
}

pub(super) fn machine(seed: u64) -> SimMachine {
    SimMachine::new(seed)
}
