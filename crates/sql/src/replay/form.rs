//! The forms of values in a log, and which of them may become which here.
//!
//! MySQL's rules for replicas, under `replica_type_conversions`. More than there is allowed without the setting: strings of
//! the same kind in a longer column, because a `utf8mb3` column of a source has fewer bytes than its copy here, where there is
//! only `utf8mb4`. And DOUBLE in FLOAT is what the manual calls it, lossy.

use std::cmp::Ordering;

use base::{SqlError, codes};
use binlog::event::{ColumnMeta, TableMap, column_type};
use engine::Table;
use types::ColumnType;

/// `replica_type_conversions`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TypeConversions {
    /// Values may be cut, rounded, or moved into the column's range.
    pub(super) lossy: bool,
    /// The column here may be of a larger type.
    pub(super) non_lossy: bool,
    /// What integers are if the log does not say: with a sign, without one, or as here.
    pub(super) unsigned: Option<bool>,
}

impl TypeConversions {
    /// Reads the setting.
    pub(crate) fn parse(setting: &str) -> Self {
        let has = |word: &str| setting.split(',').any(|one| one == word);
        let unsigned = match (has("ALL_SIGNED"), has("ALL_UNSIGNED")) {
            (true, _) => Some(false),
            (false, true) => Some(true),
            (false, false) => None,
        };
        TypeConversions { lossy: has("ALL_LOSSY"), non_lossy: has("ALL_NON_LOSSY"), unsigned }
    }

    /// Whether a column may be smaller than its source's (`Greater`), or larger (`Less`).
    fn allow(self, source_to_ours: Ordering) -> bool {
        match source_to_ours {
            Ordering::Less => self.non_lossy,
            Ordering::Equal => true,
            Ordering::Greater => self.lossy,
        }
    }
}

/// The three ways to keep a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StringKind {
    Fixed,
    Variable,
    Blob,
}

/// A string's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StringForm {
    pub(super) kind: StringKind,
    /// Bytes of the length.
    pub(super) prefix: usize,
    /// The longest value, in bytes.
    pub(super) max: usize,
}

/// How a value looks in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Bytes.
    Int(usize),
    Float,
    Double,
    /// Precision and scale.
    Decimal(u8, u8),
    String(StringForm),
    /// Bits.
    Bit(usize),
    /// Bytes.
    Enum(usize),
    Set(usize),
    Date,
    Year,
    Time(Fraction),
    DateTime(Fraction),
    Timestamp(Fraction),
    Json,
}

/// The fraction of a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fraction {
    /// The format before MySQL 5.6, which has none.
    Old,
    Digits(u8),
}

impl Form {
    /// The form of a column; `None` for types that have no equal here.
    pub(super) fn of(column: &ColumnMeta) -> Option<Form> {
        use column_type::*;
        let digits = Fraction::Digits(column.meta.min(6) as u8);
        let blob = |prefix: usize| {
            let max = usize::try_from((1u64 << (8 * prefix)) - 1).unwrap_or(usize::MAX);
            Form::String(StringForm { kind: StringKind::Blob, prefix, max })
        };
        let string = |kind: StringKind, max: usize| {
            Form::String(StringForm { kind, prefix: if max > 255 { 2 } else { 1 }, max })
        };
        Some(match column.type_code {
            TINY => Form::Int(1),
            SHORT => Form::Int(2),
            INT24 => Form::Int(3),
            LONG => Form::Int(4),
            LONGLONG => Form::Int(8),
            FLOAT => Form::Float,
            DOUBLE => Form::Double,
            NEWDECIMAL => Form::Decimal(column.meta as u8, (column.meta >> 8) as u8),
            VARCHAR | VAR_STRING => string(StringKind::Variable, usize::from(column.meta)),
            TINY_BLOB | MEDIUM_BLOB | LONG_BLOB | BLOB if (1..=4).contains(&column.meta) => {
                blob(usize::from(column.meta))
            }
            STRING => match column.real_type() {
                (ENUM, bytes) => Form::Enum(bytes),
                (SET, bytes) => Form::Set(bytes),
                (_, max) => string(StringKind::Fixed, max),
            },
            ENUM => Form::Enum(usize::from(column.meta >> 8)),
            SET => Form::Set(usize::from(column.meta >> 8)),
            BIT => Form::Bit(usize::from(column.meta >> 8) * 8 + usize::from(column.meta & 0xff)),
            DATE | NEWDATE => Form::Date,
            YEAR => Form::Year,
            TIME => Form::Time(Fraction::Old),
            DATETIME => Form::DateTime(Fraction::Old),
            TIMESTAMP => Form::Timestamp(Fraction::Old),
            TIME2 => Form::Time(digits),
            DATETIME2 => Form::DateTime(digits),
            TIMESTAMP2 => Form::Timestamp(digits),
            JSON if column.meta == 4 => Form::Json,
            _ => return None,
        })
    }

    /// Whether values of this form may become values of a column of ours.
    pub(super) fn may_become(self, ours: Form, modes: TypeConversions) -> bool {
        use Form::*;
        match (self, ours) {
            (Int(a), Int(b)) | (Bit(a), Bit(b)) | (Enum(a), Enum(b)) | (Set(a), Set(b)) => modes.allow(a.cmp(&b)),
            (Float, Float) | (Double, Double) | (Date, Date) | (Year, Year) | (Json, Json) => true,
            (Float, Double) => modes.allow(Ordering::Less),
            (Double, Float) | (Decimal(..), Float | Double) | (Float | Double, Decimal(..)) => {
                modes.allow(Ordering::Greater)
            }
            (Decimal(p, s), Decimal(q, t)) if (p, s) == (q, t) => true,
            (Decimal(p, s), Decimal(q, t)) => {
                let holds_all = t >= s && i16::from(q) - i16::from(t) >= i16::from(p) - i16::from(s);
                modes.allow(if holds_all { Ordering::Less } else { Ordering::Greater })
            }
            (String(a), String(b)) if a.kind == b.kind => a.max <= b.max || modes.lossy,
            // Another kind is a conversion, if only to a column that is not smaller.
            (String(a), String(b)) => modes.allow(if a.max <= b.max { Ordering::Less } else { Ordering::Greater }),
            (Time(a), Time(b)) | (DateTime(a), DateTime(b)) | (Timestamp(a), Timestamp(b)) => match (a, b) {
                // As in MySQL, which cannot tell what has no metadata.
                (Fraction::Old | Fraction::Digits(0), _) | (_, Fraction::Old) => true,
                (Fraction::Digits(a), Fraction::Digits(b)) => modes.allow(a.div_ceil(2).cmp(&b.div_ceil(2))),
            },
            _ => false,
        }
    }
}

/// 1677.
pub(super) fn cannot_convert(map: &TableMap, table: &Table, source: usize, ours: usize) -> SqlError {
    let (schema, name) = (&table.def.schema, &table.def.name);
    let (from, to) = (source_type(&map.columns[source]), our_type(table, ours));
    let message =
        format!("Column {source} of table '{schema}.{name}' cannot be converted from type '{from}' to type '{to}'");
    SqlError::new(codes::REPLICA_CONVERSION_FAILED, message)
}

/// A type of the log in words, as far as the log says it.
fn source_type(column: &ColumnMeta) -> String {
    use column_type::*;
    let with_fraction = |name: &str| match column.meta {
        0 => name.to_string(),
        digits => format!("{name}({digits})"),
    };
    match (Form::of(column), column.type_code) {
        (Some(Form::Decimal(precision, scale)), _) => format!("decimal({precision},{scale})"),
        (Some(Form::String(form)), _) => match (form.kind, form.prefix) {
            (StringKind::Fixed, _) => format!("char({}(bytes))", form.max),
            (StringKind::Variable, _) => format!("varchar({}(bytes))", form.max),
            (StringKind::Blob, 1) => "tinyblob".to_string(),
            (StringKind::Blob, 2) => "blob".to_string(),
            (StringKind::Blob, 3) => "mediumblob".to_string(),
            (StringKind::Blob, _) => "longblob".to_string(),
        },
        (Some(Form::Bit(bits)), _) => format!("bit({bits})"),
        (Some(Form::Enum(_)), _) => "enum".to_string(),
        (Some(Form::Set(_)), _) => "set".to_string(),
        (_, TIME | TIME2) => with_fraction("time"),
        (_, DATETIME | DATETIME2) => with_fraction("datetime"),
        (_, TIMESTAMP | TIMESTAMP2) => with_fraction("timestamp"),
        (_, code) => plain_name(code).map_or_else(|| format!("<unknown type {code}>"), str::to_string),
    }
}

fn plain_name(type_code: u8) -> Option<&'static str> {
    use column_type::*;
    Some(match type_code {
        TINY => "tinyint",
        SHORT => "smallint",
        INT24 => "mediumint",
        LONG => "int",
        LONGLONG => "bigint",
        FLOAT => "float",
        DOUBLE => "double",
        DECIMAL => "decimal",
        DATE | NEWDATE => "date",
        YEAR => "year",
        NULL => "null",
        JSON => "json",
        GEOMETRY => "geometry",
        VECTOR => "vector",
        _ => return None,
    })
}

/// A type of ours in words; of strings the bytes, which are what matters.
fn our_type(table: &Table, column: usize) -> String {
    let def = &table.def.columns[column];
    let bytes = |name: &str| format!("{name}({}(bytes) {})", def.max_bytes(), def.collation.charset().name());
    match def.ty {
        ColumnType::Char { .. } => bytes("char"),
        ColumnType::VarChar { .. } => bytes("varchar"),
        _ => def.type_text(),
    }
}
