//! DEFAULT: checked and converted to the column's type when it is defined.

use std::sync::Arc;

use base::{SqlError, UnixMicros, codes};
use bytes::Bytes;
use jiff::tz::TimeZone;
use types::{ColumnDef, ColumnDefault, ColumnType, DateTime, TableDef, Value};

use super::DdlContext;
use crate::expr::constant::NoHost;
use crate::expr::{EvalContext, SessionInfo, Strictness, WarningLevel, Warnings, coerce, convert_for_column};
use crate::parse::ast::{DefaultSpec, Literal};

/// The default of a column whose type, collation and nullability are known.
pub(super) fn column_default(
    spec: &DefaultSpec,
    column: &ColumnDef,
    context: &DdlContext<'_>,
) -> Result<Option<ColumnDefault>, SqlError> {
    let literal = match spec {
        DefaultSpec::Null if column.nullable => return Ok(Some(ColumnDefault::Literal(Value::Null))),
        DefaultSpec::Null => return Err(invalid(&column.name)),
        DefaultSpec::Now(digits) => {
            let fsp = digits_of_now(&column.ty, *digits, context).ok_or_else(|| invalid(&column.name))?;
            return Ok(Some(ColumnDefault::CurrentTimestamp { fsp }));
        }
        DefaultSpec::Literal(literal) | DefaultSpec::InParentheses(literal) => literal,
    };
    if column.ty.is_blob() && matches!(spec, DefaultSpec::Literal(_)) {
        let error = blob_has_none(&column.name);
        let is_empty = matches!(literal, Literal::String(text) if text.is_empty());
        let is_refused = is_json_of_ours(column, context) || context.sql_mode.is_strict() || !is_empty;
        if is_refused {
            return Err(error);
        }
        context.warnings.push_error(WarningLevel::Warning, &error);
        return Ok(None);
    }
    let is_number = !matches!(literal, Literal::String(_) | Literal::Bytes(_));
    if is_number && !context.is_logged && matches!(column.ty, ColumnType::Enum { .. } | ColumnType::Set { .. }) {
        return Err(invalid(&column.name));
    }
    let mut value = literal_value(literal, &column.ty);
    if let (Value::Str(text), ColumnType::Binary { .. } | ColumnType::VarBinary { .. } | ColumnType::Blob { .. }) =
        (&value, &column.ty)
    {
        value = Value::Bytes(context.character_set.encode_shared(text));
    }
    let is_text = matches!(literal, Literal::String(_));
    let value = match is_text && is_by_number(&value, &column.ty) {
        true => return Err(invalid(&column.name)),
        false => convert(value, column, context).map_err(|_| invalid(&column.name))?,
    };
    Ok(Some(ColumnDefault::Literal(value)))
}

/// A MariaDB's JSON is a text, of whose log it may have a default.
fn is_json_of_ours(column: &ColumnDef, context: &DdlContext<'_>) -> bool {
    column.ty == ColumnType::Json && !context.is_logged
}

/// Whether a text is a number, by which INSERT would find a member: a default has to name it.
fn is_by_number(text: &Value, ty: &ColumnType) -> bool {
    let Value::Str(text) = text else { return false };
    let text = text.trim_ascii_end();
    let members = match ty {
        ColumnType::Enum { members } | ColumnType::Set { members } => members,
        _ => return false,
    };
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    is_number && !members.iter().any(|member| member.as_bytes() == text)
}

/// The table with the defaults that a session with that time zone would write: those of TIMESTAMPs are kept in UTC.
pub(crate) fn with_local_defaults(def: &TableDef, zone: &TimeZone) -> TableDef {
    let mut def = def.clone();
    for column in &mut def.columns {
        if let Some(local) = local_default(column, zone) {
            column.default = Some(ColumnDefault::Literal(local));
        }
    }
    def
}

/// The default of a TIMESTAMP in that time zone.
pub(crate) fn local_default(column: &ColumnDef, zone: &TimeZone) -> Option<Value> {
    match (&column.ty, &column.default) {
        (ColumnType::Timestamp { .. }, Some(ColumnDefault::Literal(Value::DateTime(utc)))) => {
            Some(Value::DateTime(coerce::utc_to_local(*utc, zone)))
        }
        _ => None,
    }
}

/// CURRENT_TIMESTAMP(n) fits DATETIME and TIMESTAMP with as many digits, and a MariaDB's DATE. For a MariaDB, from whose log a definition may come, none are as many as the
/// column has, and more of them no more than that.
pub(super) fn digits_of_now(ty: &ColumnType, digits: u8, context: &DdlContext<'_>) -> Option<u8> {
    match ty {
        ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } => {
            let fits = *fsp == digits || context.is_logged && (digits == 0 || digits > *fsp);
            fits.then_some(*fsp)
        }
        // MariaDB's DATE takes the day of it.
        ColumnType::Date if context.is_logged => Some(0),
        _ => None,
    }
}

/// 1101.
pub(super) fn blob_has_none(column: &str) -> SqlError {
    let message = format!("BLOB, TEXT, GEOMETRY or JSON column '{column}' can't have a default value");
    SqlError::new(codes::BLOB_CANT_HAVE_DEFAULT, message)
}

/// 1067.
pub(super) fn invalid(column: &str) -> SqlError {
    SqlError::new(codes::INVALID_DEFAULT, format!("Invalid default value for '{column}'"))
}

/// Numbers go as text: the conversion to the column's type reads them exactly.
fn literal_value(literal: &Literal, ty: &ColumnType) -> Value {
    match literal {
        Literal::String(text) => Value::str(text.clone()),
        Literal::Number(digits) => match digits.parse::<i64>() {
            Ok(number) => Value::Int(number),
            Err(_) => match digits.parse::<u64>() {
                Ok(number) => Value::UInt(number),
                Err(_) => Value::str(digits.clone()),
            },
        },
        Literal::Bool(on) => Value::Int(i64::from(*on)),
        // A bit or hexadecimal literal is a number for numbers, bytes for everything else.
        Literal::Bytes(bytes) if ty.is_numeric() || matches!(ty, ColumnType::Bit { .. } | ColumnType::Year) => {
            Value::UInt(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
        }
        Literal::Bytes(bytes) => Value::Bytes(Bytes::copy_from_slice(bytes)),
    }
}

/// Converts a default for its column as a strict INSERT would, whatever sql_mode says. What a log's statement has taken, without a strict
/// mode, is taken.
fn convert(value: Value, column: &ColumnDef, context: &DdlContext<'_>) -> Result<Value, SqlError> {
    let strictness = match context.is_logged && !context.sql_mode.is_strict() {
        true => Strictness::Lenient,
        false => Strictness::Strict,
    };
    Conversion::new(context, Arc::default()).convert_so(value, column, strictness, 1)
}

/// Conversions with nothing but a `sql_mode` behind them; kept by the mappers of ALTER TABLE.
pub(super) struct Conversion {
    session: SessionInfo,
    now: UnixMicros,
    strictness: Strictness,
    warnings: Arc<Warnings>,
}

impl Conversion {
    /// What it warns of goes to `warnings`.
    pub(super) fn new(context: &DdlContext<'_>, warnings: Arc<Warnings>) -> Arc<Self> {
        Arc::new(Conversion {
            session: SessionInfo {
                sql_mode: context.sql_mode,
                time_zone: context.time_zone.clone(),
                ..SessionInfo::default()
            },
            now: context.now(),
            strictness: if context.sql_mode.is_strict() { Strictness::Strict } else { Strictness::Lenient },
            warnings,
        })
    }

    /// All rows are read (again): what was said of them is said anew.
    pub(super) fn begin(&self) {
        drop(self.warnings.take());
    }

    /// Zeros become the date of a column that is added, which `sql_mode` does not allow (1292): a warning outside strict mode.
    pub(super) fn zero_date(&self, column: &ColumnDef) -> Result<(), SqlError> {
        let (kind, zeros) = match column.ty {
            ColumnType::Date => ("date", "0000-00-00"),
            _ => ("datetime", "0000-00-00 00:00:00"),
        };
        let message = format!("Incorrect {kind} value: '{zeros}' for column '{}' at row 1", column.name);
        if self.strictness == Strictness::Strict {
            return Err(SqlError::new(codes::TRUNCATED_WRONG_VALUE, message));
        }
        self.warnings.push(WarningLevel::Warning, codes::TRUNCATED_WRONG_VALUE, message);
        Ok(())
    }

    /// A TIMESTAMP's value in the session's time zone.
    pub(super) fn local(&self, utc: DateTime) -> DateTime {
        crate::expr::coerce::utc_to_local(utc, &self.session.time_zone)
    }

    fn convert_so(
        &self,
        value: Value,
        column: &ColumnDef,
        strictness: Strictness,
        row_number: u64,
    ) -> Result<Value, SqlError> {
        convert_for_column(value, column, strictness, row_number, &self.eval(strictness))
    }

    /// How strict it is where nothing else is said.
    pub(super) fn strictness(&self) -> Strictness {
        self.strictness
    }

    pub(super) fn eval(&self, strictness: Strictness) -> EvalContext<'_> {
        let strict = strictness == Strictness::Strict;
        EvalContext { strict, ..EvalContext::new(&self.session, &NoHost, self.now, &self.warnings) }
    }
}
