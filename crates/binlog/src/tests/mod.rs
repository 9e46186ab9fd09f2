//! Formats: golden files, arbitrary bytes, and another implementation's opinion.

mod arbitrary;
mod filter;
mod golden;
mod oracle;
mod other_files;
mod refused;
mod replayable;
mod round_trip;
mod servers;

use std::sync::Arc;

use base::{CommitNumber, IndexId, LogPosition, TableId, UnixMicros, Uuid};
use bytes::Bytes;
use io::IoMode;
use io::sim::SimMachine;
use types::{BlobSize, ColumnDef, ColumnType, IndexDef, KeyPart, TableDef};
use types::{CollationId, Date, DateTime, RowLayout, Time, Value};

use crate::*;

/// A table with a column of each type.
pub(crate) fn table() -> TableDef {
    use ColumnType::*;
    let members: Arc<[String]> = ["red", "green", "it's"].map(str::to_owned).into();
    let mut columns = vec![
        ColumnDef::new("id", BigInt { unsigned: true }).not_null(),
        ColumnDef::new("tiny", TinyInt { unsigned: false }),
        ColumnDef::new("small", SmallInt { unsigned: true }),
        ColumnDef::new("medium", MediumInt { unsigned: false }),
        ColumnDef::new("plain", Int { unsigned: false }),
        ColumnDef::new("price", Decimal { precision: 14, scale: 4, unsigned: false }),
        ColumnDef::new("single", Float { unsigned: false }),
        ColumnDef::new("double", Double { unsigned: false }),
        ColumnDef::new("name", VarChar { chars: 20 }).not_null(),
        ColumnDef::new("long_name", VarChar { chars: 200 }),
        ColumnDef::new("code", Char { chars: 10 }),
        ColumnDef::new("wide", Char { chars: 100 }),
        ColumnDef::new("hash", Binary { bytes: 4 }),
        ColumnDef::new("var_hash", VarBinary { bytes: 300 }),
        ColumnDef::new("note", Text { size: BlobSize::Normal }),
        ColumnDef::new("data", Blob { size: BlobSize::Long }),
        ColumnDef::new("day", Date),
        ColumnDef::new("span", Time { fsp: 3 }),
        ColumnDef::new("at", DateTime { fsp: 6 }),
        ColumnDef::new("stamp", Timestamp { fsp: 0 }),
        ColumnDef::new("born", Year),
        ColumnDef::new("flags", Bit { bits: 10 }),
        ColumnDef::new("colour", Enum { members: members.clone() }),
        ColumnDef::new("colours", Set { members }),
        ColumnDef::new("nothing", Int { unsigned: true }),
    ];
    columns[9].collation = CollationId::LATIN1_SWEDISH_CI;
    let primary = IndexDef {
        id: IndexId(1),
        name: "PRIMARY".to_owned(),
        parts: vec![KeyPart::column(0)],
        unique: true,
        comment: String::new(),
        visible: true,
        generated: false,
    };
    TableDef {
        id: TableId(90),
        schema: "test".to_owned(),
        name: "everything".to_owned(),
        columns,
        indexes: vec![primary],
        collation: CollationId::DEFAULT,
        comment: String::new(),
        generated_pk: false,
        engine_name: "InnoDB".to_owned(),
        foreign_keys: Vec::new(),
        auto_increment_start: 0,
        create_time: 0,
        options: Vec::new(),
    }
}

/// A row of it.
pub(crate) fn row(id: u64) -> Bytes {
    let sign = if id.is_multiple_of(2) { -1 } else { 1 };
    let values = [
        Value::UInt(id),
        Value::Int(sign * 100),
        Value::UInt(65_535),
        Value::Int(sign * 8_000_000),
        Value::Int(sign * 2_000_000_000),
        Value::Decimal("-1234567890.1234".parse().unwrap()),
        Value::Float(1.5),
        Value::Double(-0.25),
        Value::str("name"),
        Value::str("Müller"),
        Value::str("code"),
        Value::str("ein längerer Text"),
        Value::Bytes(Bytes::from_static(&[0, 1, 2, 3])),
        Value::Bytes(Bytes::from_static(b"\xff\xfe")),
        Value::str("text with 'quotes'\nand lines"),
        Value::Bytes(Bytes::from_static(b"\0blob")),
        Value::Date(Date::from_canonical("2026-11-20").unwrap()),
        Value::Time(Time::from_canonical("-12:34:56.789").unwrap()),
        Value::DateTime(DateTime::from_canonical("2026-11-20 15:22:42.123456").unwrap()),
        Value::DateTime(DateTime::from_canonical("2026-11-20 15:22:42").unwrap()),
        Value::UInt(2026),
        Value::UInt(0b10_0000_0001),
        Value::str("green"),
        Value::str("red,it's"),
        Value::Null,
    ];
    RowLayout::new(&table()).encode(&values).unwrap()
}

/// The row with another name.
pub(crate) fn renamed(row: &Bytes, name: &str) -> Bytes {
    RowLayout::new(&table()).replace(row, &[(8, Value::str(name))]).unwrap()
}

pub(crate) fn context() -> QueryContext {
    QueryContext {
        thread_id: 8,
        timestamp: 1_795_192_962,
        schema: "test".to_owned(),
        time_zone: Some("SYSTEM".to_owned()),
        ..QueryContext::default()
    }
}

/// One transaction of everything.
pub(crate) fn transaction(row_image: RowImage) -> EncodedTransaction {
    let options = EncoderOptions { row_image, ..EncoderOptions::default() };
    let table = Arc::new(TableEncoder::new(&table()));
    let mut encoder = TransactionEncoder::begin(options, context());
    encoder.rows_query("INSERT INTO everything VALUES (...)");
    encoder.insert(&table, &row(1)).unwrap();
    encoder.insert(&table, &row(2)).unwrap();
    encoder.end_statement();
    encoder.update(&table, &row(1), &renamed(&row(1), "changed")).unwrap();
    encoder.delete(&table, &row(2)).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn ddl(sql: &str) -> EncodedTransaction {
    TransactionEncoder::ddl(&EncoderOptions::default(), &context(), sql, &["test"], None).unwrap()
}

pub(crate) fn options() -> LogOptions {
    LogOptions {
        server_uuid: Uuid(*b"0123456789abcdef"),
        server_version: "8.4.0-commuter-0.1.0".to_owned(),
        fill_ahead: 64 << 10,
        ..LogOptions::default()
    }
}

pub(crate) fn place(writer: &mut LogWriter, number: u64, transaction: &EncodedTransaction) -> Placed {
    let reserve = writer.log().clone();
    let reservation = futures_lite::future::block_on(reserve.reserve(transaction.max_size())).unwrap();
    let stamp = PlaceStamp {
        commit_number: CommitNumber(number),
        last_committed: CommitNumber(number - 1),
        commit_time: UnixMicros(1_795_192_962_000_000 + number),
    };
    writer.place(transaction, &stamp, reservation)
}

/// A closed log of two files with a bit of everything, as the bytes of its files.
pub(crate) fn sample_files() -> Vec<(String, Vec<u8>)> {
    let machine = SimMachine::new(1);
    let run = async {
        let opened = BinaryLog::open(machine.env(), options(), OpenAs::Source, LogPosition::default()).await?;
        let Opened { log, mut writer, .. } = opened;
        place(&mut writer, 1, &ddl("CREATE TABLE everything (id BIGINT UNSIGNED PRIMARY KEY)"));
        place(&mut writer, 2, &transaction(RowImage::Full));
        writer.rotate().await?;
        writer.flush(IoMode::Inline).await?;
        place(&mut writer, 3, &transaction(RowImage::Minimal));
        writer.flush(IoMode::Inline).await?;
        let names: Vec<String> = log.files().into_iter().map(|file| file.name).collect();
        writer.close(true).await?;
        Ok::<_, BinlogError>(names)
    };
    let names = machine.run(run).unwrap().unwrap();
    let contents = |name: String| (machine.contents(&name).unwrap(), name);
    names.into_iter().map(contents).map(|(bytes, name)| (name, bytes)).collect()
}
