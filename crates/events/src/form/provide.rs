//! The standard form as a transaction that can be asked: what it has it provides.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use base::{Gtid, UnixMicros, Uuid};
use binlog::event::{AlterPhase, JsonDiff, MariaGtidExtra, UserData, UserValue};
use types::{Date, DateTime, Time};

use super::messages as form;
use super::settings;
use crate::error::EventError;
use crate::event::*;
use crate::log::bit;
use crate::value::Value;

/// A number that has to fit into fewer bits than protobuf has.
fn narrow<T: TryFrom<u64>>(number: impl Into<u64>, what: &str) -> Result<T, EventError> {
    let number = number.into();
    T::try_from(number).map_err(|_| EventError::malformed(format!("{number} as {what}")))
}

fn head_of(head: Option<&form::Head>) -> Result<Head, EventError> {
    let head = head.ok_or_else(EventError::missing("change", "its head"))?;
    let form::Head { timestamp, server_id, flags, positioned } = *head;
    Ok(Head { timestamp, server_id, flags: narrow(flags, "flags")?, positioned })
}

fn xid_of(xid: &form::Xid) -> Xid {
    Xid { format_id: xid.format_id, gtrid: xid.gtrid.clone(), bqual: xid.bqual.clone() }
}

fn envelope_of(envelope: &form::Envelope) -> Result<Envelope, EventError> {
    Ok(match envelope {
        form::Envelope::Mysql(event) => {
            let uuid: Option<[u8; 16]> = match event.uuid.as_slice() {
                [] => None,
                bytes => Some(bytes.try_into().map_err(|_| EventError::malformed("a UUID that is none"))?),
            };
            let tag = event.tag.parse().map_err(|_| EventError::malformed("a GTID's tag that is none"))?;
            let is_local = event.number == 0;
            Envelope::Mysql(GtidEvent {
                gtid: uuid.filter(|_| !is_local).map(|uuid| Gtid { uuid: Uuid(uuid), tag, gno: event.number }),
                local_to: uuid.filter(|_| is_local).map(Uuid),
                may_have_statements: event.may_have_statements,
                last_committed: event.last_committed,
                sequence_number: event.sequence_number,
                immediate_commit_time: UnixMicros(event.immediate_commit_time),
                original_commit_time: UnixMicros(event.original_commit_time),
                transaction_length: event.transaction_length,
                immediate_server_version: event.immediate_server_version,
                original_server_version: event.original_server_version,
                commit_group_ticket: event.commit_group_ticket,
            })
        }
        form::Envelope::Maria(gtid) => {
            let alter = match gtid.alter() {
                form::AlterPhase::None => None,
                form::AlterPhase::Start => Some(AlterPhase::Start),
                form::AlterPhase::Commit => Some(AlterPhase::Commit(gtid.alter_start)),
                form::AlterPhase::Rollback => Some(AlterPhase::Rollback(gtid.alter_start)),
            };
            let engines = gtid.engines.map(|engines| narrow(engines, "a number of engines")).transpose()?;
            Envelope::Maria(MariaGtid {
                seq_no: gtid.number,
                domain_id: gtid.domain,
                flags: narrow(gtid.flags, "flags of a GTID")?,
                commit_id: gtid.commit_id,
                xid: gtid.xid.as_ref().map(xid_of),
                extra: MariaGtidExtra { engines, alter, thread_id: gtid.thread_id },
            })
        }
    })
}

impl Transaction for form::Transaction {
    fn position(&self) -> Maybe<Position> {
        Ok(self.position.as_ref().map(|at| Position { file: at.file.clone(), begin: at.begin, end: at.end }))
    }

    fn dialect(&self) -> Maybe<Dialect> {
        Ok(Some(match self.dialect() {
            form::Dialect::Mysql => Dialect::Mysql,
            form::Dialect::Maria => Dialect::Maria,
        }))
    }

    fn name(&self) -> Maybe<TransactionName> {
        Ok(self.envelope()?.and_then(|(head, envelope)| envelope.name(head.server_id)))
    }

    fn commit_time(&self) -> Maybe<CommitTime> {
        let (immediate, original) = (UnixMicros(self.commit_time), UnixMicros(self.original_commit_time));
        Ok((self.commit_time != 0).then_some(CommitTime { immediate, original }))
    }

    fn envelope(&self) -> Maybe<(Head, Envelope)> {
        let Some(envelope) = &self.envelope else { return Ok(None) };
        Ok(Some((head_of(self.envelope_head.as_ref())?, envelope_of(envelope)?)))
    }

    fn compressed(&self) -> Maybe<Head> {
        self.compressed.as_ref().map(|head| head_of(Some(head))).transpose()
    }

    fn outcome(&self) -> Maybe<Outcome> {
        let Some(outcome) = &self.outcome else { return Ok(None) };
        let xid = || outcome.xid.as_ref().map(xid_of).ok_or_else(EventError::missing("outcome", "its XID"));
        Ok(Some(match outcome.kind() {
            form::OutcomeKind::Committed => Outcome::Committed,
            form::OutcomeKind::RolledBack => Outcome::RolledBack,
            form::OutcomeKind::Prepared => Outcome::Prepared(xid()?),
            form::OutcomeKind::CommittedPrepared => Outcome::CommittedPrepared(xid()?),
            form::OutcomeKind::RolledBackPrepared => Outcome::RolledBackPrepared(xid()?),
            form::OutcomeKind::WithoutEffect => Outcome::WithoutEffect,
        }))
    }

    fn changes(&self, each: &mut EachChange<'_>) -> Result<(), EventError> {
        let mut tables: HashMap<u64, Rc<FormTable<'_>>> = HashMap::new();
        for change in &self.changes {
            let head = head_of(change.head.as_ref())?;
            let step = change.what.as_ref().ok_or_else(EventError::missing("change", "what it is"))?;
            match step {
                form::Step::Table(table) => {
                    let table = Rc::new(FormTable::new(table)?);
                    tables.insert(table.table.id, table.clone());
                    each(&Change { head, what: What::Table(&*table) })?;
                }
                form::Step::Rows(rows) => {
                    let rows = FormRows { rows, table: tables.get(&rows.table_id).cloned() };
                    each(&Change { head, what: What::Rows(&rows) })?;
                }
                form::Step::Prepare(prepare) => {
                    let xid =
                        prepare.xid.as_ref().ok_or_else(EventError::missing("prepared transaction", "its XID"))?;
                    let prepare = XaPrepare { one_phase: prepare.one_phase, xid: xid_of(xid) };
                    each(&Change { head, what: What::Prepare(&prepare) })?;
                }
                step => each(&Change { head, what: what_of(step)? })?,
            }
        }
        Ok(())
    }
}

/// The steps that need nothing but themselves.
fn what_of(step: &form::Step) -> Result<What<'_>, EventError> {
    Ok(match step {
        form::Step::Statement(statement) => What::Statement(statement),
        form::Step::IntVar(var) => What::IntVar(IntVar { kind: narrow(var.kind, "a kind")?, value: var.value }),
        form::Step::Rand(rand) => What::Rand(RandSeeds { seeds: [rand.seed1, rand.seed2] }),
        form::Step::UserVar(var) => What::UserVar(user_var_of(var)?),
        form::Step::FileBlock(block) => {
            What::FileBlock { block: FileBlock { file_id: block.file_id, block: &block.block }, first: block.first }
        }
        form::Step::DeleteFile(file_id) => What::DeleteFile(*file_id),
        form::Step::RowsStatement(statement) => {
            let stored_length = statement.stored_length.map(|length| narrow(length, "a byte")).transpose()?;
            What::RowsStatement(RowsStatement { sql: &statement.sql, stored_length })
        }
        form::Step::Commit(xid) => What::Commit(*xid),
        form::Step::Other(other) => {
            What::Other { event_type: EventType(narrow(other.event_type, "a type")?), body: &other.body }
        }
        form::Step::Table(_) | form::Step::Rows(_) | form::Step::Prepare(_) => {
            unreachable!("whoever calls has taken these")
        }
    })
}

fn user_var_of(var: &form::UserVar) -> Result<UserVar<'_>, EventError> {
    let Some(value) = &var.value else { return Ok(UserVar { name: &var.name, value: None }) };
    let data = match value {
        form::UserValue::Text(bytes) => UserData::String(bytes),
        form::UserValue::Real(number) => UserData::Real(*number),
        form::UserValue::Integer(number) => UserData::Int(*number),
        form::UserValue::Row(bytes) => UserData::Row(bytes),
        form::UserValue::Decimal(bytes) => match bytes.as_slice() {
            [precision, scale, bytes @ ..] => UserData::Decimal { precision: *precision, scale: *scale, bytes },
            _ => return Err(EventError::malformed("a decimal without its digits")),
        },
    };
    let flags = var.flags.map(|flags| narrow(flags, "flags")).transpose()?;
    let value = UserValue { data, collation: var.collation, flags, more: &var.more };
    Ok(UserVar { name: &var.name, value: Some(value) })
}

impl Statement for form::Statement {
    fn sql(&self) -> Maybe<Cow<'_, [u8]>> {
        Ok(self.sql.as_deref().map(Cow::Borrowed))
    }

    fn database(&self) -> Maybe<&[u8]> {
        Ok(Some(&self.database))
    }

    fn context(&self) -> Maybe<Vec<StatusVar<'_>>> {
        self.context.iter().map(settings::provide).collect::<Result<_, _>>().map(Some)
    }

    fn thread_id(&self) -> Maybe<u32> {
        Ok(self.thread_id)
    }

    fn exec_time(&self) -> Maybe<u32> {
        Ok(self.exec_time)
    }

    fn error_code(&self) -> Maybe<u16> {
        self.error_code.map(|code| narrow(code, "an error")).transpose()
    }

    fn file(&self) -> Maybe<LoadedFile> {
        let Some(form::LoadedFile { file_id, name_start, name_end, duplicates }) = self.file else { return Ok(None) };
        Ok(Some(LoadedFile { file_id, name_start, name_end, duplicates: narrow(duplicates, "a byte")? }))
    }

    fn is_compressed(&self) -> bool {
        self.compressed
    }
}

struct FormTable<'t> {
    table: &'t form::Table,
    definition: TableMap,
}

impl<'t> FormTable<'t> {
    fn new(table: &'t form::Table) -> Result<Self, EventError> {
        let mut columns = Vec::new();
        for column in &table.columns {
            columns.push(ColumnMeta {
                type_code: narrow(column.r#type, "a type")?,
                meta: narrow(column.metadata, "metadata of a column")?,
                nullable: column.nullable,
                unsigned: column.unsigned,
                collation: column.collation,
                name: column.name.clone(),
                members: column.members.clone(),
                invisible: column.invisible,
                geometry_type: column.geometry_type,
                vector_dimensions: column.vector_dimensions,
            });
        }
        let definition = TableMap {
            table_id: table.id,
            flags: narrow(table.flags, "flags of a table")?,
            schema: table.database.clone(),
            table: table.name.clone(),
            columns,
            primary_key: table.primary_key.iter().map(|part| (part.column as usize, part.prefix)).collect(),
        };
        Ok(FormTable { table, definition })
    }
}

impl Table for FormTable<'_> {
    fn id(&self) -> Maybe<u64> {
        Ok(Some(self.table.id))
    }

    fn name(&self) -> Maybe<(&[u8], &[u8])> {
        Ok(Some((self.table.database.as_bytes(), self.table.name.as_bytes())))
    }

    fn shape(&self) -> Maybe<&TableMap> {
        Ok(Some(&self.definition))
    }

    fn optional_metadata(&self) -> Maybe<&[u8]> {
        Ok(self.table.optional_metadata.as_deref())
    }
}

struct FormRows<'r> {
    rows: &'r form::Rows,
    table: Option<Rc<FormTable<'r>>>,
}

impl Rows for FormRows<'_> {
    fn table_id(&self) -> Maybe<u64> {
        Ok(Some(self.rows.table_id))
    }

    fn table(&self) -> Maybe<&dyn Table> {
        Ok(self.table.as_deref().map(|table| table as &dyn Table))
    }

    fn layout(&self) -> Maybe<RowsLayout<'_>> {
        let rows = self.rows;
        let kind = match rows.kind() {
            form::RowsKind::Insert => RowsKind::Write,
            form::RowsKind::Update => RowsKind::Update,
            form::RowsKind::Delete => RowsKind::Delete,
        };
        let present_after = if kind == RowsKind::Update { &rows.present_after } else { &rows.present };
        let bitmap_size = (rows.column_count as usize).div_ceil(8);
        if rows.present.len() != bitmap_size || present_after.len() != bitmap_size {
            return Err(EventError::malformed("a bitmap of columns that is not as long as the table is wide"));
        }
        Ok(Some(RowsLayout {
            kind,
            version: if rows.event_version == 1 { RowsVersion::V1 } else { RowsVersion::V2 },
            flags: narrow(rows.flags, "flags of rows")?,
            extra: &rows.extra,
            column_count: rows.column_count as usize,
            present: &rows.present,
            present_after,
            partial: rows.partial,
        }))
    }

    fn is_compressed(&self) -> bool {
        self.rows.compressed
    }

    fn rows(&self, each: &mut EachRow<'_>) -> Result<(), EventError> {
        if self.rows.rows.is_empty() {
            return Ok(());
        }
        let layout = self.layout()?.ok_or_else(EventError::missing("rows", "their layout"))?;
        let table = self.table.as_deref().ok_or_else(EventError::missing("rows", "their table"))?;
        let image = |present, image| FormImage { image, present, table: &table.definition };
        for row in &self.rows.rows {
            let before = row.before.as_ref().map(|before| image(layout.present, before));
            let after = row.after.as_ref().map(|after| image(layout.present_after, after));
            let partial = row.partial_options.map(|options| (options, row.partial_columns.as_slice()));
            each(&FormRow { before, after, partial })?;
        }
        Ok(())
    }
}

struct FormRow<'r> {
    before: Option<FormImage<'r>>,
    after: Option<FormImage<'r>>,
    partial: Option<(u64, &'r [u8])>,
}

impl Row for FormRow<'_> {
    fn before(&self) -> Maybe<&dyn Image> {
        Ok(self.before.as_ref().map(|image| image as &dyn Image))
    }

    fn after(&self) -> Maybe<&dyn Image> {
        Ok(self.after.as_ref().map(|image| image as &dyn Image))
    }

    fn partial(&self) -> Maybe<(u64, &[u8])> {
        Ok(self.partial)
    }
}

struct FormImage<'r> {
    image: &'r form::Image,
    present: &'r [u8],
    table: &'r TableMap,
}

impl Image for FormImage<'_> {
    fn values(&self, each: &mut EachValue<'_>) -> Result<(), EventError> {
        let mut values = self.image.values.iter();
        for (number, column) in self.table.columns.iter().enumerate() {
            if !bit(self.present, number) {
                continue;
            }
            let value = values.next().ok_or_else(EventError::missing("row", "the value of a column"))?;
            match &value.kind {
                None => each(number, None)?,
                Some(form::Kind::JsonDiffs(diffs)) => {
                    each(number, Some(Value::JsonDiffs(&diffs_of(diffs)?)))?;
                }
                Some(kind) => each(number, Some(value_of(kind, column)?))?,
            }
        }
        if values.next().is_some() {
            return Err(EventError::malformed("a row with more values than columns"));
        }
        Ok(())
    }

    fn null_padding(&self) -> u8 {
        self.image.null_padding as u8
    }
}

fn value_of<'v>(kind: &'v form::Kind, column: &ColumnMeta) -> Result<Value<'v>, EventError> {
    Ok(match kind {
        form::Kind::Integer(number) => Value::Int(*number),
        form::Kind::Unsigned(number) => Value::UInt(*number),
        form::Kind::Float(number) => Value::Float(*number),
        form::Kind::Double(number) => Value::Double(*number),
        form::Kind::Bytes(bytes) => Value::Bytes(bytes),
        form::Kind::Compressed(bytes) => Value::Compressed(bytes),
        form::Kind::Json(json) if json.binary.is_empty() && !json.text.is_empty() && json.text != "null" => {
            return Err(EventError::Missing { event: "JSON document", what: "its binary form" });
        }
        form::Kind::Json(json) => Value::Json(&json.binary),
        form::Kind::Text(text) => text_value(text, column)
            .ok_or_else(|| EventError::malformed(format!("'{text}' of a column of type {}", column.type_code)))?,
        form::Kind::JsonDiffs(_) => unreachable!("whoever calls has taken these"),
    })
}

/// A text by the type of its column.
fn text_value(text: &str, column: &ColumnMeta) -> Option<Value<'static>> {
    use binlog::event::column_type::*;
    let fsp = if matches!(column.type_code, TIME2 | DATETIME2 | TIMESTAMP2) { column.meta as u8 } else { 0 };
    Some(match column.type_code {
        NEWDECIMAL => Value::Decimal(text.parse().ok()?),
        DATE | NEWDATE => Value::Date(Date::from_canonical(text)?),
        TIME | TIME2 => Value::Time(Time::from_canonical(text)?, fsp),
        DATETIME | DATETIME2 => Value::DateTime(DateTime::from_canonical(text)?, fsp),
        TIMESTAMP | TIMESTAMP2 => Value::Timestamp(DateTime::from_canonical(text)?, fsp),
        _ => return None,
    })
}

fn diffs_of(diffs: &form::JsonDiffs) -> Result<Vec<u8>, EventError> {
    let mut bytes = Vec::new();
    for diff in &diffs.diffs {
        let path = diff.path.as_slice();
        let value = || diff.value.as_ref().map(|json| json.binary.as_slice());
        let value = || value().ok_or_else(EventError::missing("change of a JSON document", "its value"));
        let diff = match diff.operation() {
            form::JsonOperation::Replace => JsonDiff::Replace { path, value: value()? },
            form::JsonOperation::Insert => JsonDiff::Insert { path, value: value()? },
            form::JsonOperation::Remove => JsonDiff::Remove { path },
        };
        diff.encode(&mut bytes);
    }
    Ok(bytes)
}
