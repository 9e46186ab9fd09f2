//! Fills the standard form: asks a transaction for everything.

use binlog::event::{AlterPhase, JsonDiff, UserData};

use super::messages as form;
use super::settings;
use crate::error::EventError;
use crate::event::*;
use crate::json_text::json_text;
use crate::value::Value;

pub(super) fn fill(transaction: &dyn Transaction) -> Result<form::Transaction, EventError> {
    let mut filled = form::Transaction { version: super::VERSION, ..form::Transaction::default() };
    let Position { file, begin, end } = transaction.position()?.unwrap_or_default();
    filled.position = Some(form::Position { file, begin, end });
    filled.set_dialect(match transaction.dialect()? {
        Some(Dialect::Maria) => form::Dialect::Maria,
        _ => form::Dialect::Mysql,
    });
    filled.name = transaction.name()?.map(|name| name.to_string()).unwrap_or_default();
    if let Some(time) = transaction.commit_time()? {
        (filled.commit_time, filled.original_commit_time) = (time.immediate.0, time.original.0);
    }
    if let Some((head, envelope)) = transaction.envelope()? {
        filled.envelope_head = Some(of_head(head));
        filled.envelope = Some(of_envelope(envelope));
    }
    filled.compressed = transaction.compressed()?.map(of_head);
    filled.outcome = transaction.outcome()?.map(of_outcome);
    transaction.changes(&mut |change| {
        filled.changes.push(form::Change { head: Some(of_head(change.head)), what: Some(of_change(&change.what)?) });
        Ok(())
    })?;
    Ok(filled)
}

fn of_head(head: Head) -> form::Head {
    let Head { timestamp, server_id, flags, positioned } = head;
    form::Head { timestamp, server_id, flags: flags.into(), positioned }
}

fn of_xid(xid: Xid) -> form::Xid {
    form::Xid { format_id: xid.format_id, gtrid: xid.gtrid, bqual: xid.bqual }
}

fn of_outcome(outcome: Outcome) -> form::Outcome {
    let (kind, xid) = match outcome {
        Outcome::Committed => (form::OutcomeKind::Committed, None),
        Outcome::RolledBack => (form::OutcomeKind::RolledBack, None),
        Outcome::Prepared(xid) => (form::OutcomeKind::Prepared, Some(xid)),
        Outcome::CommittedPrepared(xid) => (form::OutcomeKind::CommittedPrepared, Some(xid)),
        Outcome::RolledBackPrepared(xid) => (form::OutcomeKind::RolledBackPrepared, Some(xid)),
        Outcome::WithoutEffect => (form::OutcomeKind::WithoutEffect, None),
    };
    form::Outcome { kind: kind.into(), xid: xid.map(of_xid) }
}

fn of_envelope(envelope: Envelope) -> form::Envelope {
    match envelope {
        Envelope::Mysql(event) => form::Envelope::Mysql(form::MysqlEnvelope {
            uuid: event.gtid.map(|gtid| gtid.uuid).or(event.local_to).map(|uuid| uuid.0.to_vec()).unwrap_or_default(),
            number: event.gtid.map_or(0, |gtid| gtid.gno),
            tag: event.gtid.map(|gtid| gtid.tag.to_string()).unwrap_or_default(),
            may_have_statements: event.may_have_statements,
            last_committed: event.last_committed,
            sequence_number: event.sequence_number,
            immediate_commit_time: event.immediate_commit_time.0,
            original_commit_time: event.original_commit_time.0,
            transaction_length: event.transaction_length,
            immediate_server_version: event.immediate_server_version,
            original_server_version: event.original_server_version,
            commit_group_ticket: event.commit_group_ticket,
        }),
        Envelope::Maria(gtid) => {
            let (alter, alter_start) = match gtid.extra.alter {
                None => (form::AlterPhase::None, 0),
                Some(AlterPhase::Start) => (form::AlterPhase::Start, 0),
                Some(AlterPhase::Commit(start)) => (form::AlterPhase::Commit, start),
                Some(AlterPhase::Rollback(start)) => (form::AlterPhase::Rollback, start),
            };
            form::Envelope::Maria(form::MariaEnvelope {
                number: gtid.seq_no,
                domain: gtid.domain_id,
                flags: gtid.flags.into(),
                commit_id: gtid.commit_id,
                xid: gtid.xid.map(of_xid),
                engines: gtid.extra.engines.map(u32::from),
                alter: alter.into(),
                alter_start,
                thread_id: gtid.extra.thread_id,
            })
        }
    }
}

fn of_change(what: &What<'_>) -> Result<form::Step, EventError> {
    Ok(match what {
        What::Statement(statement) => form::Step::Statement(of_statement(*statement)?),
        What::IntVar(var) => form::Step::IntVar(form::IntVar { kind: var.kind.into(), value: var.value }),
        What::Rand(rand) => form::Step::Rand(form::RandSeeds { seed1: rand.seeds[0], seed2: rand.seeds[1] }),
        What::UserVar(var) => form::Step::UserVar(of_user_var(var)),
        What::FileBlock { block, first } => form::Step::FileBlock(form::FileBlock {
            file_id: block.file_id,
            block: block.block.to_vec(),
            first: *first,
        }),
        What::DeleteFile(file_id) => form::Step::DeleteFile(*file_id),
        What::RowsStatement(statement) => form::Step::RowsStatement(form::RowsStatement {
            sql: statement.sql.to_vec(),
            stored_length: statement.stored_length.map(u32::from),
        }),
        What::Table(table) => form::Step::Table(of_table(*table)?),
        What::Rows(rows) => form::Step::Rows(of_rows(*rows)?),
        What::Commit(xid) => form::Step::Commit(*xid),
        What::Prepare(prepare) => {
            form::Step::Prepare(form::Prepare { one_phase: prepare.one_phase, xid: Some(of_xid(prepare.xid.clone())) })
        }
        What::Other { event_type, body } => {
            form::Step::Other(form::Other { event_type: event_type.0.into(), body: body.to_vec() })
        }
    })
}

fn of_statement(statement: &dyn Statement) -> Result<form::Statement, EventError> {
    let file = statement.file()?.map(|file| form::LoadedFile {
        file_id: file.file_id,
        name_start: file.name_start,
        name_end: file.name_end,
        duplicates: file.duplicates.into(),
    });
    Ok(form::Statement {
        sql: statement.sql()?.map(|sql| sql.into_owned()),
        database: statement.database()?.unwrap_or_default().to_vec(),
        context: statement.context()?.unwrap_or_default().iter().map(settings::fill).collect(),
        thread_id: statement.thread_id()?,
        exec_time: statement.exec_time()?,
        error_code: statement.error_code()?.map(u32::from),
        file,
        compressed: statement.is_compressed(),
    })
}

fn of_user_var(var: &UserVar<'_>) -> form::UserVar {
    let mut filled = form::UserVar { name: var.name.to_vec(), ..form::UserVar::default() };
    let Some(value) = &var.value else { return filled };
    filled.value = Some(match value.data {
        UserData::String(bytes) => form::UserValue::Text(bytes.to_vec()),
        UserData::Real(number) => form::UserValue::Real(number),
        UserData::Int(number) => form::UserValue::Integer(number),
        UserData::Row(bytes) => form::UserValue::Row(bytes.to_vec()),
        UserData::Decimal { precision, scale, bytes } => {
            form::UserValue::Decimal([&[precision, scale][..], bytes].concat())
        }
    });
    (filled.collation, filled.flags) = (value.collation, value.flags.map(u32::from));
    filled.more = value.more.to_vec();
    filled
}

fn of_table(table: &dyn Table) -> Result<form::Table, EventError> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (database, name) = table.name()?.ok_or_else(EventError::missing("table", "its name"))?;
    let definition = table.definition()?.ok_or_else(EventError::missing("table", "its columns"))?;
    let column = |column: &ColumnMeta| form::Column {
        r#type: column.type_code.into(),
        metadata: column.meta.into(),
        nullable: column.nullable,
        unsigned: column.unsigned,
        collation: column.collation,
        name: column.name.clone(),
        members: column.members.clone(),
        invisible: column.invisible,
        geometry_type: column.geometry_type,
        vector_dimensions: column.vector_dimensions,
    };
    let part = |&(column, prefix): &(usize, u32)| form::KeyPart { column: column as u32, prefix };
    Ok(form::Table {
        id: table.id()?.ok_or_else(EventError::missing("table", "its number"))?,
        flags: definition.flags.into(),
        database: text(database),
        name: text(name),
        columns: definition.columns.iter().map(column).collect(),
        primary_key: definition.primary_key.iter().map(part).collect(),
        optional_metadata: table.optional_metadata()?.map(<[u8]>::to_vec),
    })
}

fn of_rows(rows: &dyn Rows) -> Result<form::Rows, EventError> {
    let layout = rows.layout()?.ok_or_else(EventError::missing("rows", "their layout"))?;
    let kind = match layout.kind {
        RowsKind::Write => form::RowsKind::Insert,
        RowsKind::Update => form::RowsKind::Update,
        RowsKind::Delete => form::RowsKind::Delete,
    };
    let mut filled = form::Rows {
        table_id: rows.table_id()?.ok_or_else(EventError::missing("rows", "the number of their table"))?,
        kind: kind.into(),
        event_version: if layout.version == RowsVersion::V1 { 1 } else { 2 },
        flags: layout.flags.into(),
        extra: layout.extra.to_vec(),
        column_count: layout.column_count as u32,
        present: layout.present.to_vec(),
        present_after: if layout.kind == RowsKind::Update { layout.present_after.to_vec() } else { Vec::new() },
        partial: layout.partial,
        compressed: rows.is_compressed(),
        rows: Vec::new(),
    };
    rows.rows(&mut |row| {
        let (before, after) = (row.before()?.map(of_image).transpose()?, row.after()?.map(of_image).transpose()?);
        let mut one = form::Row { before, after, ..form::Row::default() };
        if let Some((options, columns)) = row.partial()? {
            (one.partial_options, one.partial_columns) = (Some(options), columns.to_vec());
        }
        filled.rows.push(one);
        Ok(())
    })?;
    Ok(filled)
}

fn of_image(image: &dyn Image) -> Result<form::Image, EventError> {
    let mut filled = form::Image { values: Vec::new(), null_padding: image.null_padding().into() };
    image.values(&mut |_, value| {
        filled.values.push(form::Value { kind: value.as_ref().map(of_value).transpose()? });
        Ok(())
    })?;
    Ok(filled)
}

fn of_value(value: &Value<'_>) -> Result<form::Kind, EventError> {
    Ok(match value {
        Value::Int(number) => form::Kind::Integer(*number),
        Value::UInt(number) => form::Kind::Unsigned(*number),
        Value::Float(number) => form::Kind::Float(*number),
        Value::Double(number) => form::Kind::Double(*number),
        Value::Decimal(_) | Value::Date(_) | Value::Time(..) | Value::DateTime(..) | Value::Timestamp(..) => {
            form::Kind::Text(value.text().unwrap_or_default())
        }
        Value::Bytes(bytes) => form::Kind::Bytes(bytes.to_vec()),
        Value::Compressed(bytes) => form::Kind::Compressed(bytes.to_vec()),
        Value::Json(binary) => form::Kind::Json(of_json(binary)?),
        Value::JsonDiffs(bytes) => {
            let diffs = JsonDiff::decode_all(bytes)?;
            let diffs = diffs.iter().map(of_diff).collect::<Result<_, _>>()?;
            form::Kind::JsonDiffs(form::JsonDiffs { diffs })
        }
    })
}

fn of_json(binary: &[u8]) -> Result<form::Json, EventError> {
    Ok(form::Json { text: json_text(binary)?, binary: binary.to_vec() })
}

fn of_diff(diff: &JsonDiff<'_>) -> Result<form::JsonDiff, EventError> {
    let (operation, path, value) = match *diff {
        JsonDiff::Replace { path, value } => (form::JsonOperation::Replace, path, Some(value)),
        JsonDiff::Insert { path, value } => (form::JsonOperation::Insert, path, Some(value)),
        JsonDiff::Remove { path } => (form::JsonOperation::Remove, path, None),
    };
    let value = value.map(of_json).transpose()?;
    Ok(form::JsonDiff { operation: operation.into(), path: path.to_vec(), value })
}
