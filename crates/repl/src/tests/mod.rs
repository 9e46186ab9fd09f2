//! Receivers and dumps over the simulated network.

mod dump;
mod fake;
mod follow;
mod maria;

use std::sync::Arc;

use base::{CommitNumber, LogPosition, ServerId, SqlError, Uuid};
use binlog::{
    BinaryLog, EncodedTransaction, EncoderOptions, GtidChoice, LogOptions, LogWriter, OpenAs, Opened, PlaceStamp,
    QueryContext, TransactionEncoder,
};
use engine::{Catalog, CatalogChange, DdlPlanner, DdlText, Engine, EngineOptions};
use io::{Env, IoMode};

use crate::follower::Identity;

pub(super) fn log_options() -> LogOptions {
    LogOptions {
        server_id: ServerId(1),
        server_uuid: Uuid([0x11; 16]),
        max_binlog_size: 4096,
        fill_ahead: 4096,
        ..LogOptions::default()
    }
}

/// Opens the source's log.
pub(super) async fn source_log(env: &Env) -> (Arc<BinaryLog>, LogWriter) {
    let opened = BinaryLog::open(env.clone(), log_options(), OpenAs::Source, LogPosition::default()).await.unwrap();
    let Opened { log, writer, .. } = opened;
    (log, writer)
}

/// Writes so many transactions, in groups of three.
pub(super) async fn write(writer: &mut LogWriter, count: u64) {
    write_as(writer, count, GtidChoice::default()).await;
}

/// The same under a tag.
pub(super) async fn write_as(writer: &mut LogWriter, count: u64, gtid: GtidChoice) {
    let log = writer.log().clone();
    write_numbered(writer, log.gtid_executed().count() + 1, count, gtid).await;
}

/// Gives a transaction its place; up to commit `last_committed` everything had been committed when it began.
pub(super) async fn place(writer: &mut LogWriter, transaction: &EncodedTransaction, number: u64, last_committed: u64) {
    let log = writer.log().clone();
    let reservation = log.reserve(transaction.max_size()).await.unwrap();
    let stamp = PlaceStamp {
        commit_number: CommitNumber(number),
        last_committed: CommitNumber(last_committed),
        commit_time: log.env().clock.now(),
    };
    writer.place(transaction, &stamp, reservation);
}

/// The same from this commit number on.
pub(super) async fn write_numbered(writer: &mut LogWriter, first: u64, count: u64, gtid: GtidChoice) {
    for number in first..first + count {
        let sql = format!("statement {number} {}", "x".repeat((number * 37 % 300) as usize));
        let options = EncoderOptions::default();
        let encoded = TransactionEncoder::ddl(&options, &QueryContext::default(), &sql, &["test"], None).unwrap();
        let transaction = EncodedTransaction { gtid, ..encoded };
        place(writer, &transaction, number, number - 1).await;
        if number % 3 == 0 {
            writer.flush(IoMode::Offload).await.unwrap();
        }
    }
    writer.flush(IoMode::Offload).await.unwrap();
}

struct NoPlanner;

impl DdlPlanner for NoPlanner {
    fn plan(&self, _: &DdlText, _: &Catalog) -> Result<CatalogChange, SqlError> {
        Err(SqlError::not_supported("DDL in this test"))
    }
}

/// An engine whose log is a copy; what is in the log is never applied here.
pub(super) async fn follower_engine(env: &Env) -> Arc<Engine> {
    let options = EngineOptions {
        server_id: ServerId(2),
        page_cache_bytes: 1 << 20,
        memtable_bytes: 1 << 20,
        max_binlog_bytes: 4096,
        direct_io: false,
        follower: true,
        log: LogOptions { fill_ahead: 4096, ..log_options() },
        ..EngineOptions::default()
    };
    Engine::open(env.clone(), options, Arc::new(NoPlanner)).await.unwrap()
}

pub(super) fn identity(engine: &Engine) -> Identity {
    Identity { server_id: 2, server_uuid: engine.server_uuid(), report_host: "replica".into(), report_port: 3307 }
}
