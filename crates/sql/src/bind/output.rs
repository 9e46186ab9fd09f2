//! The shape of a result: its columns as the protocol describes them.

use std::sync::Arc;

use types::value::NOT_FIXED;
use types::{CollationId, ColumnDefault, ColumnType, IndexDef, TableDef};

use crate::bind::columns::{ColumnSource, Columns};
use crate::bind::scope::empty_name;
use crate::bind::tree::{BoundBody, BoundQuery, BoundTable, TableSource};
use crate::expr::types::{Bits, Strings};
use crate::expr::{Expr, ExprType, Kind};
use crate::result::{FieldFlags, FieldType, ResultColumn};

/// The column for an expression that belongs to no table.
pub(crate) fn unnamed(name: Arc<str>, ty: &ExprType) -> ResultColumn {
    let column_type = ty.to_column_type();
    let mut flags = FieldFlags::default();
    if !ty.nullable {
        flags = flags.with(FieldFlags::NOT_NULL);
    }
    let mut column = ResultColumn {
        name,
        decimals: decimals(ty),
        ..ResultColumn::new("", field_type(&column_type, ty), collation(ty), length(&column_type, ty))
    };
    // A parameter's type is known with its value only; it is sent as text until then.
    column.flags = if ty.kind == Kind::Any { flags } else { flags.with(type_flags(&column_type, ty)) };
    if ty.origin.is_none() && ty.kind.is_string() {
        describe_computed(&mut column, ty);
    }
    if ty.kind == Kind::Null {
        column.ty = FieldType::Null;
    }
    if let Some(digits) = ty.zeros() {
        column.flags = column.flags.with(FieldFlags::ZEROFILL);
        column.length = digits as u32;
    }
    column
}

/// A string that was computed has no flag of a BLOB, but long ones have the type of one, and so has what was chosen among BLOBs.
fn describe_computed(column: &mut ResultColumn, ty: &ExprType) {
    column.flags = column.flags.without(FieldFlags::BLOB);
    column.ty = match (ty.strings(), ty.byte_length()) {
        (Strings::Blob, _) => FieldType::Blob,
        (Strings::Fixed, _) => FieldType::String,
        (Strings::Varying, 0..=0xffff) => FieldType::VarString,
        (Strings::Varying, 0x1_0000..=0xff_ffff) => FieldType::MediumBlob,
        (Strings::Varying, _) => FieldType::LongBlob,
    };
    if !matches!(column.ty, FieldType::VarString | FieldType::String) {
        column.length = blob_length(ty);
    }
}

/// The length of a BLOB is that of its bytes, as if each of them were a character.
fn blob_length(ty: &ExprType) -> u32 {
    let bytes_per_char = if ty.kind == Kind::Bytes { 1 } else { BYTES_PER_CHAR };
    ty.byte_length().saturating_mul(bytes_per_char)
}

/// Turns the description of an expression into that of a column of a table, stored or temporary.
fn as_field(column: &mut ResultColumn, ty: &ExprType) {
    match ty.kind {
        Kind::Str | Kind::Bytes => {
            column.decimals = 0;
            if matches!(column.ty, FieldType::MediumBlob | FieldType::LongBlob) {
                column.ty = FieldType::Blob;
                column.flags = column.flags.with(FieldFlags::BLOB);
            }
        }
        Kind::Json => {
            column.decimals = 0;
            column.collation = CollationId::BINARY;
            column.length = u32::MAX;
            column.flags = column.flags.with(FieldFlags::BLOB);
        }
        kind if kind.is_numeric() => column.flags = column.flags.without(FieldFlags::BINARY),
        _ => {}
    }
    if ty.origin == Some(ColumnType::Year) {
        column.flags = column.flags.with(FieldFlags::ZEROFILL);
    }
}

/// The column of a UNION, which its first branch names.
pub(crate) fn of_union(name: Arc<str>, ty: &ExprType) -> ResultColumn {
    let mut column = unnamed(name, ty);
    column.org_name = column.name.clone();
    if matches!(ty.origin, Some(ColumnType::Text { .. } | ColumnType::Blob { .. })) {
        column.length = blob_length(ty);
    }
    if ty.kind == Kind::Null {
        column.ty = FieldType::VarString;
    }
    as_field(&mut column, ty);
    column
}

/// The column for an item of the select list: with its origin if it is nothing but a column.
pub(crate) fn named(name: Arc<str>, expr: &Expr, columns: &Columns, tables: &[BoundTable]) -> ResultColumn {
    let mut result = unnamed(name, &expr.ty);
    let Some(id) = expr.as_column() else { return result };
    if columns.source(id) == ColumnSource::Window {
        return of_window(result, &expr.ty);
    }
    let Some((table, column)) = columns.place(id, tables) else {
        // What MIN and MAX find of an ENUM or a TEXT is not said to be one.
        result.flags =
            [FieldFlags::ENUM, FieldFlags::SET, FieldFlags::BLOB].into_iter().fold(result.flags, FieldFlags::without);
        if expr.ty.strings() == Strings::Blob {
            result.length = blob_length(&expr.ty);
        }
        return result;
    };
    let table = &tables[table];
    result.table = table.alias.clone();
    if !matches!(table.source, TableSource::Derived(_)) {
        result.schema = table.schema.clone().unwrap_or_else(empty_name);
        result.org_table = table.name.clone();
        result.org_name = table.columns[column].name.clone();
        as_field(&mut result, &expr.ty);
    }
    match &table.source {
        TableSource::Base(base) => result.flags = result.flags.with(column_flags(&base.def, column)),
        TableSource::Virtual(_) | TableSource::Round(_) | TableSource::Json(_) => {}
        TableSource::Derived(query) => {
            if expr.ty.bits == Bits::Hexadecimal {
                // It is no literal any more.
                result.flags = result.flags.without(FieldFlags::UNSIGNED);
            }
            through(&query.columns[column], query, &mut result);
        }
    }
    result
}

/// The column of a window function, which is that of a table in MySQL.
fn of_window(mut column: ResultColumn, ty: &ExprType) -> ResultColumn {
    column.org_name = column.name.clone();
    as_field(&mut column, ty);
    if ty.strings() == Strings::Blob {
        column.length = blob_length(ty);
    }
    match ty.kind {
        Kind::Int | Kind::UInt if !matches!(ty.origin, Some(ColumnType::Bit { .. })) => column.length = ty.length,
        Kind::Null => column.ty = FieldType::VarString,
        _ => {}
    }
    column
}

/// A column of a derived table is what it is made from; where that groups or cuts its rows, it has a name of its own, and is of the same table.
fn through(inner: &ResultColumn, query: &BoundQuery, result: &mut ResultColumn) {
    let merges = match &query.body {
        BoundBody::Block(block) => block.gives_rows_of_tables() && !block.distinct && block.limit.is_none(),
        BoundBody::Set(_) | BoundBody::Values(_) => false,
    };
    if merges && !inner.org_table.is_empty() {
        result.schema = inner.schema.clone();
        result.org_table = inner.org_table.clone();
        result.org_name = inner.org_name.clone();
        result.decimals = inner.decimals;
        let not_null = if result.flags.has(FieldFlags::NOT_NULL) { FieldFlags::NOT_NULL } else { FieldFlags(0) };
        result.flags = inner.flags.without(FieldFlags::NOT_NULL).with(not_null);
    } else {
        result.org_name = result.name.clone();
        if matches!(query.body, BoundBody::Block(_)) {
            result.schema = inner.schema.clone();
            result.org_table = inner.org_table.clone();
        }
    }
}

fn column_flags(table: &TableDef, column: usize) -> FieldFlags {
    let def = &table.columns[column];
    let mut flags = FieldFlags::default();
    let leads = |index: &IndexDef| index.parts.first().is_some_and(|part| part.column == column);
    if table.primary().parts.iter().any(|part| part.column == column) {
        flags = flags.with(FieldFlags::PRI_KEY);
    }
    if table.indexes.iter().any(|index| index.parts.iter().any(|part| part.column == column)) {
        flags = flags.with(FieldFlags::PART_KEY);
    }
    for index in table.indexes[1..].iter().filter(|index| leads(index)) {
        let single = index.unique && index.parts.len() == 1;
        flags = flags.with(if single { FieldFlags::UNIQUE_KEY } else { FieldFlags::MULTIPLE_KEY });
    }
    if def.auto_increment {
        flags = flags.with(FieldFlags::AUTO_INCREMENT);
    }
    if def.default.is_none() && !def.nullable && !def.auto_increment {
        flags = flags.with(FieldFlags::NO_DEFAULT_VALUE);
    }
    if matches!(def.ty, ColumnType::Timestamp { .. }) {
        if def.on_update_now {
            flags = flags.with(FieldFlags::ON_UPDATE_NOW);
        }
        if def.on_update_now || matches!(def.default, Some(ColumnDefault::CurrentTimestamp { .. })) {
            flags = flags.with(FieldFlags::TIMESTAMP);
        }
    }
    flags
}

fn type_flags(ty: &ColumnType, of: &ExprType) -> FieldFlags {
    let mut flags = FieldFlags::default();
    if ty.is_unsigned() || of.bits == Bits::Hexadecimal {
        flags = flags.with(FieldFlags::UNSIGNED);
    }
    match ty {
        ColumnType::Json if of.origin.is_none() => {}
        ColumnType::Text { .. } | ColumnType::Blob { .. } | ColumnType::Json => flags = flags.with(FieldFlags::BLOB),
        ColumnType::Enum { .. } => flags = flags.with(FieldFlags::ENUM),
        ColumnType::Set { .. } => flags = flags.with(FieldFlags::SET),
        _ => {}
    }
    let is_binary = of.collation == CollationId::BINARY || of.collation.name().ends_with("_bin");
    if !ty.has_charset() || is_binary {
        flags = flags.with(FieldFlags::BINARY);
    }
    flags
}

fn collation(ty: &ExprType) -> CollationId {
    match ty.kind {
        Kind::Str => ty.collation,
        // A function's document is text, a column's is not.
        Kind::Json if ty.origin.is_none() => CollationId::UTF8MB4_0900_AI_CI,
        Kind::Any => CollationId::UTF8MB4_0900_AI_CI,
        _ => CollationId::BINARY,
    }
}

fn decimals(ty: &ExprType) -> u8 {
    match ty.kind {
        Kind::Bytes if ty.bits != Bits::None => 0,
        Kind::Str | Kind::Bytes | Kind::Any => NOT_FIXED,
        Kind::Json if ty.origin.is_none() => NOT_FIXED,
        Kind::Null => 0,
        _ => ty.decimals,
    }
}

fn field_type(column: &ColumnType, ty: &ExprType) -> FieldType {
    match column {
        ColumnType::TinyInt { .. } => FieldType::Tiny,
        ColumnType::SmallInt { .. } => FieldType::Short,
        ColumnType::MediumInt { .. } => FieldType::Int24,
        ColumnType::Int { .. } => FieldType::Long,
        ColumnType::BigInt { .. } => FieldType::LongLong,
        ColumnType::Float { .. } => FieldType::Float,
        ColumnType::Double { .. } => FieldType::Double,
        ColumnType::Decimal { .. } => FieldType::NewDecimal,
        // Results give ENUM, SET and every fixed string as STRING, as MySQL does.
        ColumnType::Char { .. } | ColumnType::Binary { .. } | ColumnType::Enum { .. } | ColumnType::Set { .. }
            if ty.origin.is_some() =>
        {
            FieldType::String
        }
        ColumnType::Char { .. } | ColumnType::Binary { .. } | ColumnType::Enum { .. } | ColumnType::Set { .. } => {
            FieldType::VarString
        }
        ColumnType::VarChar { .. } | ColumnType::VarBinary { .. } => FieldType::VarString,
        ColumnType::Text { .. } | ColumnType::Blob { .. } => FieldType::Blob,
        ColumnType::Date => FieldType::Date,
        ColumnType::Time { .. } => FieldType::Time,
        ColumnType::DateTime { .. } => FieldType::DateTime,
        ColumnType::Timestamp { .. } => FieldType::Timestamp,
        ColumnType::Year => FieldType::Year,
        ColumnType::Bit { .. } => FieldType::Bit,
        ColumnType::Json => FieldType::Json,
    }
}

/// Of the widest character set that a client may ask for.
const BYTES_PER_CHAR: u32 = 4;

/// Display width: bytes of the longest text, in the widest character set a client may ask for.
fn length(column: &ColumnType, ty: &ExprType) -> u32 {
    match column {
        ColumnType::TinyInt { unsigned: false } if ty.length == 1 => 1,
        ColumnType::TinyInt { unsigned } => 4 - u32::from(*unsigned),
        ColumnType::SmallInt { unsigned } => 6 - u32::from(*unsigned),
        ColumnType::MediumInt { unsigned } => 9 - u32::from(*unsigned),
        ColumnType::Int { unsigned } => 11 - u32::from(*unsigned),
        ColumnType::BigInt { .. } if ty.origin.is_none() && ty.length > 0 => ty.length,
        ColumnType::BigInt { .. } => 20,
        ColumnType::Float { .. } | ColumnType::Double { .. } if ty.origin.is_none() || ty.decimals < NOT_FIXED => {
            ty.length
        }
        ColumnType::Float { .. } => 12,
        ColumnType::Double { .. } => 22,
        ColumnType::Decimal { precision, scale, unsigned } => {
            u32::from(*precision) + u32::from(*scale > 0) + u32::from(!*unsigned)
        }
        ColumnType::Date => 10,
        ColumnType::Time { fsp } => 10 + fraction(*fsp),
        ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } => 19 + fraction(*fsp),
        ColumnType::Year => 4,
        ColumnType::Bit { bits } => u32::from(*bits),
        ColumnType::Text { .. } if ty.origin.is_none() => ty.length.saturating_mul(BYTES_PER_CHAR),
        ColumnType::Text { size } => size.max_bytes().saturating_mul(BYTES_PER_CHAR),
        ColumnType::Binary { bytes } | ColumnType::VarBinary { bytes } => *bytes,
        ColumnType::Blob { size } => size.max_bytes(),
        ColumnType::Json if ty.origin.is_none() => u32::MAX / BYTES_PER_CHAR * BYTES_PER_CHAR,
        ColumnType::Json => u32::MAX,
        ColumnType::Char { chars } | ColumnType::VarChar { chars } => chars.saturating_mul(BYTES_PER_CHAR),
        ColumnType::Enum { members } => {
            let longest = members.iter().map(|member| member.chars().count()).max().unwrap_or(0);
            longest as u32 * BYTES_PER_CHAR
        }
        ColumnType::Set { members } => {
            let all: usize = members.iter().map(|member| member.chars().count() + 1).sum();
            all.saturating_sub(1) as u32 * BYTES_PER_CHAR
        }
    }
}

fn fraction(fsp: u8) -> u32 {
    if fsp == 0 { 0 } else { u32::from(fsp) + 1 }
}
