//! Assignment: a value on its way into a column.
//!
//! What does not fit is an error in strict mode; otherwise (no strict mode, or IGNORE) the nearest value that does is stored and
//! the error becomes a warning:
//!
//! | column | does not fit | instead |
//! |---|---|---|
//! | numbers | out of range 1264; no number 1366; more behind the number 1265 | the end of the range; 0; the number |
//! | text | too long 1406 (trailing spaces: a note); not in the character set 1366 | cut; `?` |
//! | dates and times | 1292 | zero |
//! | ENUM, SET | 1265 | `''`; the known members |
//! | NOT NULL | 1048 | the type's zero |

mod timestamp;
mod year;

use std::borrow::Cow;

use base::{SqlError, codes};
use bytes::Bytes;
use types::charset::{Charset, char_count, prefix_bytes};
use types::column::no_member;
use types::decimal::Rounding;
use types::temporal::parse::{Allow, Parsed};
use types::{ColumnDef, ColumnType, DateTime, Decimal, Time, Value, number};

use crate::expr::coerce::{self, plain_text, printable, utc_time};
use crate::expr::context::{EvalContext, WarningLevel};
use crate::expr::zero::{implicit_default, zero_for_null};
use crate::expr::{cast, json};
use types::SqlMode;

pub(crate) use year::year_of;

/// What becomes of a value that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// An error: strict sql_mode.
    Strict,
    /// The nearest value that fits, and a warning: no strict mode, or IGNORE.
    Lenient,
}

impl Strictness {
    /// That of a statement, with IGNORE or without.
    pub(crate) fn of(ignore: bool, eval: &EvalContext<'_>) -> Self {
        if eval.session.sql_mode.is_strict() && !ignore { Strictness::Strict } else { Strictness::Lenient }
    }
}

/// The value in the column's own form, ready for [`types::RowLayout::encode`]; `row_number` (from 1) is for messages.
///
/// TIMESTAMP columns get their value in UTC; text is checked against the column's character set and length; NULL for a
/// NOT NULL column is 1048 (or the type's zero where that is allowed; see [`crate::expr::context::SessionInfo::implicit_timestamps`]).
pub fn convert_for_column(
    value: Value,
    column: &ColumnDef,
    strictness: Strictness,
    row_number: u64,
    ctx: &EvalContext<'_>,
) -> Result<Value, SqlError> {
    match (&value, &column.ty) {
        (Value::Int(n), ColumnType::Int { unsigned: false }) if i32::try_from(*n).is_ok() => return Ok(value),
        (Value::Int(_), ColumnType::BigInt { unsigned: false }) => return Ok(value),
        (Value::Null, _) if column.nullable => return Ok(value),
        _ => {}
    }
    let to = Assignment { column, strictness, row_number, ctx };
    if value.is_null() {
        if let ColumnType::Timestamp { fsp } = &column.ty
            && ctx.session.implicit_timestamps
        {
            return Ok(Value::DateTime(utc_time(ctx.now).truncated(*fsp)));
        }
        to.complain(codes::BAD_NULL_ERROR, format!("Column '{}' cannot be null", column.name))?;
        return Ok(zero_for_null(column));
    }
    to.convert(value)
}

/// TIMESTAMP's last second, 2038-01-19 03:14:07 UTC.
pub(crate) const TIMESTAMP_MAX_SECONDS: i64 = i32::MAX as i64;

struct Assignment<'a> {
    column: &'a ColumnDef,
    strictness: Strictness,
    row_number: u64,
    ctx: &'a EvalContext<'a>,
}

impl Assignment<'_> {
    fn convert(&self, value: Value) -> Result<Value, SqlError> {
        match &self.column.ty {
            ColumnType::Float { unsigned } => {
                self.float(&value, *unsigned, f32::MAX as f64).map(|n| Value::Float(n as f32))
            }
            ColumnType::Double { unsigned } => self.float(&value, *unsigned, f64::MAX).map(Value::Double),
            ColumnType::Decimal { precision, scale, unsigned } => self.decimal(&value, *precision, *scale, *unsigned),
            ColumnType::Char { .. } | ColumnType::VarChar { .. } | ColumnType::Text { .. } => self.text(value),
            ColumnType::Binary { .. } | ColumnType::VarBinary { .. } | ColumnType::Blob { .. } => self.binary(value),
            ColumnType::Date => self.date(&value),
            ColumnType::Time { fsp } => self.time(&value, *fsp),
            ColumnType::DateTime { fsp } => self.datetime(&value, *fsp).map(Value::DateTime),
            ColumnType::Timestamp { fsp } => self.timestamp(&value, *fsp),
            ColumnType::Year => self.year(&value),
            ColumnType::Bit { bits } => self.bit(&value, *bits),
            ColumnType::Enum { members } => self.enumeration(&value, members),
            ColumnType::Set { members } => self.set(&value, members),
            ColumnType::Json => json::for_column(value, self.column),
            integer => {
                let (width, unsigned) = integer.integer().unwrap_or((8, false));
                self.integer(&value, width as u32 * 8, unsigned)
            }
        }
    }

    /// An error in strict mode, otherwise a warning.
    fn complain(&self, code: codes::Code, message: String) -> Result<(), SqlError> {
        match self.strictness {
            Strictness::Strict => Err(SqlError::new(code, message)),
            Strictness::Lenient => {
                if self.ctx.inserts && code == codes::BAD_NULL_ERROR {
                    self.ctx.warnings.push_once(&self.column.name, code, message);
                } else {
                    self.ctx.warn(code, message);
                }
                Ok(())
            }
        }
    }

    fn at(&self) -> String {
        format!("for column '{}' at row {}", self.column.name, self.row_number)
    }

    fn out_of_range(&self) -> Result<(), SqlError> {
        self.complain(codes::WARN_DATA_OUT_OF_RANGE, format!("Out of range value {}", self.at()))
    }

    fn data_truncated(&self) -> Result<(), SqlError> {
        self.complain(codes::WARN_DATA_TRUNCATED, format!("Data truncated {}", self.at()))
    }

    fn note_truncated(&self) {
        let message = format!("Data truncated {}", self.at());
        self.ctx.warnings.push(WarningLevel::Note, codes::WARN_DATA_TRUNCATED, message);
    }

    fn too_long(&self) -> Result<(), SqlError> {
        match self.strictness {
            Strictness::Strict => Err(SqlError::new(codes::DATA_TOO_LONG, format!("Data too long {}", self.at()))),
            Strictness::Lenient => self.data_truncated(),
        }
    }

    /// 1366 or 1292: "Incorrect integer value: 'x' for column …".
    fn incorrect(&self, code: codes::Code, kind: &str, value: &Value) -> Result<(), SqlError> {
        let text = printable(&plain_text(value, coerce::value_decimals(value)));
        self.complain(code, format!("Incorrect {kind} value: '{text}' {}", self.at()))
    }

    /// What stands behind a number in text: nothing, something, or there was no number.
    fn check_number(&self, kind: &str, text: &[u8], len: usize) -> Result<(), SqlError> {
        if len == 0 {
            return self.incorrect(codes::TRUNCATED_WRONG_VALUE_FOR_FIELD, kind, &Value::Str(text.to_vec().into()));
        }
        if len < text.trim_ascii_end().len() { self.data_truncated() } else { Ok(()) }
    }

    fn integer(&self, value: &Value, bits: u32, unsigned: bool) -> Result<Value, SqlError> {
        let n = match value {
            Value::Str(text) | Value::Bytes(text) => self.integer_of_text(text)?,
            Value::Double(_) | Value::Float(_) => {
                coerce::to_f64(value, self.ctx)?.unwrap_or(0.0).round_ties_even() as i128
            }
            Value::Decimal(n) if unsigned && n.is_negative() => {
                // Even if it is 0 when it is rounded.
                self.out_of_range()?;
                return Ok(Value::UInt(0));
            }
            other => coerce::to_i128(other, self.ctx)?.unwrap_or(0),
        };
        let (low, high) = match unsigned {
            true => (0, (1i128 << bits) - 1),
            false => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        };
        let kept = n.clamp(low, high);
        if kept != n {
            self.out_of_range()?;
        }
        Ok(if unsigned { Value::UInt(kept as u64) } else { Value::Int(kept as i64) })
    }

    fn integer_of_text(&self, text: &[u8]) -> Result<i128, SqlError> {
        let (n, len) = number::parse_integer(text);
        if len > 0 && len == text.trim_ascii_end().len() {
            return Ok(n);
        }
        let (n, len) = number::parse_f64(text);
        self.check_number("integer", text, len)?;
        // Exactly, as far as digits go; half away from zero, as MySQL rounds text.
        let exact = Decimal::parse(text.trim_ascii_start()).and_then(|parsed| parsed.value.to_i128());
        Ok(exact.unwrap_or(n.round() as i128))
    }

    fn float(&self, value: &Value, unsigned: bool, max: f64) -> Result<f64, SqlError> {
        let n = match value {
            Value::Str(text) | Value::Bytes(text) => {
                let (n, len) = number::parse_f64(text);
                if len < text.trim_ascii_end().len() || len == 0 {
                    let kind = if matches!(self.column.ty, ColumnType::Float { .. }) { "FLOAT" } else { "DOUBLE" };
                    self.incorrect(codes::TRUNCATED_WRONG_VALUE_FOR_FIELD, kind, value)?;
                }
                if number::is_beyond_f64(text, len) {
                    self.out_of_range()?;
                }
                n
            }
            other => coerce::to_f64(other, self.ctx)?.unwrap_or(0.0),
        };
        let (n, fits) = match self.column.float_digits {
            Some((digits, decimals)) => number::to_digits(n, digits, decimals),
            None => (n, true),
        };
        let kept = n.clamp(if unsigned { 0.0 } else { -max }, max);
        if kept != n || !fits {
            self.out_of_range()?;
        }
        Ok(kept)
    }

    fn decimal(&self, value: &Value, precision: u8, scale: u8, unsigned: bool) -> Result<Value, SqlError> {
        let n = match value {
            Value::Str(text) | Value::Bytes(text) => {
                let text = text.trim_ascii();
                let parsed = Decimal::parse(text);
                if parsed.is_none_or(|parsed| parsed.len < text.len()) {
                    self.incorrect_decimal(value, parsed.is_some())?;
                }
                parsed.map_or(Decimal::ZERO, |parsed| parsed.value)
            }
            other => coerce::to_decimal(other, self.ctx)?.unwrap_or_default(),
        };
        if unsigned && n.is_negative() {
            self.out_of_range()?;
            return Ok(implicit_default(self.column));
        }
        match n.rounded(scale, Rounding::HalfUp).filter(|rounded| rounded.fits(precision, scale)) {
            Some(rounded) => {
                if rounded != n {
                    self.note_truncated();
                }
                Ok(Value::Decimal(rounded))
            }
            None => {
                self.out_of_range()?;
                let max = Decimal::max_of(precision, scale);
                Ok(Value::Decimal(if n.is_negative() { max.negated() } else { max }))
            }
        }
    }

    /// Outside strict mode, something behind the number is worth a note only.
    fn incorrect_decimal(&self, value: &Value, has_number: bool) -> Result<(), SqlError> {
        if has_number && self.strictness == Strictness::Lenient {
            self.note_truncated();
            return Ok(());
        }
        self.incorrect(codes::TRUNCATED_WRONG_VALUE_FOR_FIELD, "decimal", value)
    }

    fn text(&self, value: Value) -> Result<Value, SqlError> {
        let text = match value {
            Value::Str(text) => self.in_charset(text)?,
            // A binary string is the column's bytes, whatever its character set.
            Value::Bytes(bytes) => match self.column.collation.charset().text(&bytes) {
                None => self.broken_text(&bytes)?,
                Some(Cow::Borrowed(_)) => bytes,
                Some(Cow::Owned(text)) => text.into(),
            },
            other => plain_text(&other, coerce::value_decimals(&other)),
        };
        let (limit, is_char) = match &self.column.ty {
            ColumnType::Char { chars } => (prefix_bytes(&text, *chars as usize), true),
            ColumnType::VarChar { chars } => (prefix_bytes(&text, *chars as usize), false),
            _ => (whole_chars(&text, self.column.max_bytes() as usize), false),
        };
        let mut text = text;
        if limit < text.len() {
            if text[limit..].iter().any(|&byte| byte != b' ') {
                self.too_long()?;
            } else if !is_char {
                self.note_truncated();
            }
            text.truncate(limit);
        }
        if is_char {
            let kept = text.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1);
            text.truncate(kept);
        }
        Ok(Value::Str(text))
    }

    /// The text if the column's character set has all of it.
    fn in_charset(&self, text: Bytes) -> Result<Bytes, SqlError> {
        let charset = self.column.collation.charset();
        let Charset::Single(set) = charset else { return Ok(text) };
        if charset.encode(&text).is_some() {
            return Ok(text);
        }
        let string = String::from_utf8_lossy(&text);
        let at = string.char_indices().find(|(_, c)| set.byte_of(*c).is_none()).map_or(0, |(at, _)| at);
        self.incorrect_string(&text[at..])?;
        Ok(charset.representable(&text).into())
    }

    fn broken_text(&self, bytes: &[u8]) -> Result<Bytes, SqlError> {
        let charset = self.column.collation.charset();
        let valid = charset.valid_up_to(bytes);
        self.incorrect_string(&bytes[valid..])?;
        Ok(charset.decode(&bytes[..valid]).into_owned().into())
    }

    /// 1366, with the first bytes of what is wrong.
    fn incorrect_string(&self, wrong: &[u8]) -> Result<(), SqlError> {
        const SHOWN: usize = 6;
        let show = |byte: &u8| {
            if byte.is_ascii_graphic() || *byte == b' ' {
                (*byte as char).to_string()
            } else {
                format!("\\x{byte:02X}")
            }
        };
        let shown: String = wrong.iter().take(SHOWN).map(show).collect();
        let more = if wrong.len() > SHOWN { "..." } else { "" };
        let message = format!("Incorrect string value: '{shown}{more}' {}", self.at());
        self.complain(codes::TRUNCATED_WRONG_VALUE_FOR_FIELD, message)
    }

    fn binary(&self, value: Value) -> Result<Value, SqlError> {
        let mut bytes = match value {
            Value::Str(bytes) | Value::Bytes(bytes) => bytes,
            other => plain_text(&other, coerce::value_decimals(&other)),
        };
        let max = self.column.max_bytes() as usize;
        if bytes.len() > max {
            self.too_long()?;
            bytes.truncate(max);
        }
        if let ColumnType::Binary { .. } = self.column.ty
            && bytes.len() < max
        {
            let mut padded = bytes.to_vec();
            padded.resize(max, 0);
            bytes = padded.into();
        }
        Ok(Value::Bytes(bytes))
    }

    /// Reads a date and time with what sql_mode allows; complains, and gives what there is instead.
    fn read_datetime(&self, value: &Value, kind: &str) -> Result<Parsed<DateTime>, SqlError> {
        let allow = cast::allowed(self.ctx);
        let strict_zeros = self.strictness == Strictness::Strict;
        let parsed = match value {
            Value::DateTime(datetime) => allow.accepts(datetime.date).then_some(plain(*datetime)),
            Value::Date(date) => allow.accepts(*date).then_some(plain(date.at_midnight())),
            Value::Time(_) => coerce::to_datetime(value, Allow::ALL, self.ctx)?.map(plain),
            other => coerce::parse_kept_datetime(other, allow),
        };
        match parsed {
            Some(parsed) => {
                if parsed.trailing {
                    self.incorrect_temporal(kind, value, true)?;
                }
                Ok(parsed)
            }
            None => {
                self.incorrect_temporal(kind, value, !coerce::is_impossible_date(value))?;
                // Outside strict mode a zero date is only warned of; others become zero.
                let zeros = if strict_zeros { None } else { coerce::parse_datetime(value, Allow::ZEROS) };
                Ok(zeros.filter(|parsed| parsed.value.date.is_zero()).unwrap_or(plain(DateTime::ZERO)))
            }
        }
    }

    /// 1292; as a warning 1264 for a date or time that cannot be, 1265 for what is `no_date` or time, or has something behind it.
    fn incorrect_temporal(&self, kind: &str, value: &Value, no_date: bool) -> Result<(), SqlError> {
        match self.strictness {
            Strictness::Strict => self.incorrect(codes::TRUNCATED_WRONG_VALUE, kind, value),
            Strictness::Lenient if no_date => self.data_truncated(),
            Strictness::Lenient => self.out_of_range(),
        }
    }

    fn date(&self, value: &Value) -> Result<Value, SqlError> {
        let parsed = self.read_datetime(value, "date")?;
        if parsed.rounded(0, false).is_none() {
            return Ok(Value::Date(self.beyond_calendar(value)?.date));
        }
        if parsed.value.time() != Time::default()
            && !self.ctx.session.sql_mode.is_strict()
            && value.as_bytes().is_none()
        {
            self.note_truncated();
        } else if parsed.value.time() != Time::default() {
            let text = printable(&plain_text(value, coerce::value_decimals(value)));
            let message = format!("Incorrect date value: '{text}' {}", self.at());
            self.ctx.warnings.push(WarningLevel::Note, codes::TRUNCATED_WRONG_VALUE, message);
        }
        Ok(Value::Date(parsed.value.date))
    }

    /// Rounded (or cut, by sql_mode) to the column's digits; a zone in the text changed for the session's.
    fn datetime(&self, value: &Value, fsp: u8) -> Result<DateTime, SqlError> {
        let parsed = self.read_datetime(value, "datetime")?;
        let truncate = self.ctx.session.sql_mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL);
        let rounded = match parsed.zone_minutes {
            None => parsed.rounded(fsp, truncate),
            Some(_) => {
                coerce::in_session_zone(&parsed, self.ctx.session).and_then(|local| plain(local).rounded(fsp, truncate))
            }
        };
        match rounded {
            Some(datetime) => Ok(datetime),
            None => self.beyond_calendar(value),
        }
    }

    /// Rounding would make it the day after the last one.
    fn beyond_calendar(&self, value: &Value) -> Result<DateTime, SqlError> {
        self.complain(codes::DATETIME_FUNCTION_OVERFLOW, "Datetime function: datetime field overflow".into())?;
        self.incorrect_temporal("datetime", value, false)?;
        Ok(DateTime::ZERO)
    }

    fn time(&self, value: &Value, fsp: u8) -> Result<Value, SqlError> {
        let parsed = match value {
            Value::Time(time) => Some(plain(*time)),
            Value::DateTime(datetime) => Some(plain(datetime.time())),
            Value::Date(_) => Some(plain(Time::default())),
            other => coerce::parse_time(other),
        };
        let Some(parsed) = parsed else {
            let looks_right =
                value.as_bytes().is_none_or(|text| text.trim_ascii_start().first().is_some_and(u8::is_ascii_digit));
            self.incorrect_temporal("time", value, !looks_right)?;
            return Ok(Value::Time(Time::default()));
        };
        if parsed.trailing || parsed.clamped {
            self.incorrect_temporal("time", value, parsed.trailing)?;
        }
        let truncate = self.ctx.session.sql_mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL);
        Ok(Value::Time(parsed.rounded(fsp, truncate).clamped().0))
    }

    fn bit(&self, value: &Value, bits: u8) -> Result<Value, SqlError> {
        let max = u64::MAX >> (64 - bits as u32);
        let n = match value {
            Value::Str(bytes) | Value::Bytes(bytes) => {
                let significant = &bytes[bytes.iter().take_while(|&&byte| byte == 0).count()..];
                if significant.len() > 8 {
                    None
                } else {
                    Some(significant.iter().fold(0u64, |n, &byte| n << 8 | byte as u64))
                }
            }
            // A fraction is cut, where one of a DECIMAL is rounded.
            Value::Double(n) => Some(*n as i64 as u64),
            Value::Float(n) => Some(*n as i64 as u64),
            // All bits of a number below 0.
            other => coerce::to_i128(other, self.ctx)?
                .and_then(|n| u64::try_from(n).ok().or_else(|| i64::try_from(n).ok().map(|n| n as u64))),
        };
        match n.filter(|n| *n <= max) {
            Some(n) => Ok(Value::UInt(n)),
            None => {
                // IGNORE does not change which of the two it is.
                match self.ctx.session.sql_mode.is_strict() {
                    true => self.complain(codes::DATA_TOO_LONG, format!("Data too long {}", self.at()))?,
                    false => self.out_of_range()?,
                }
                Ok(Value::UInt(max))
            }
        }
    }

    fn enumeration(&self, value: &Value, members: &[String]) -> Result<Value, SqlError> {
        let found = match value {
            Value::Str(text) | Value::Bytes(text) => {
                let text = without_spaces(text);
                self.member(text, members).or_else(|| {
                    let (n, len) = number::parse_integer(text);
                    (len == text.len()).then(|| members.get(usize::try_from(n - 1).ok()?)).flatten()
                })
            }
            other => coerce::to_i128(other, self.ctx)?
                .and_then(|n| usize::try_from(n - 1).ok())
                .and_then(|at| members.get(at)),
        };
        if let Some(member) = found {
            return Ok(Value::from(member.as_str()));
        }
        if value.as_bytes().is_some_and(|text| text.as_ref() == b"0") {
            // The place of what is no member; as a number it is refused.
            return Ok(no_member(members));
        }
        self.data_truncated()?;
        Ok(no_member(members))
    }

    fn member<'m>(&self, text: &[u8], members: &'m [String]) -> Option<&'m String> {
        members.iter().find(|member| types::collation::equal(self.column.collation, member.as_bytes(), text))
    }

    /// The bits that a text gives as a number, if it is one that no member is called.
    fn set_bits_of_text(&self, text: &[u8], members: &[String]) -> Option<u64> {
        let (n, len) = number::parse_integer(text);
        let bits = u64::try_from(n).ok()?;
        let whole = len > 0 && len == text.len() && self.member(text, members).is_none();
        (whole && (members.len() >= 64 || bits < 1 << members.len())).then_some(bits)
    }

    /// The bits of the members between the commas of a text, and whether all of them are members: an empty one is none, unless one is called so.
    fn members_of(&self, text: &[u8], members: &[String]) -> (u64, bool) {
        let parts = text.split(|&byte| byte == b',').filter(|_| !text.is_empty());
        parts.fold((0, true), |(bits, all_known), part| {
            let is_it = |member: &String| types::collation::equal(self.column.collation, member.as_bytes(), part);
            match members.iter().position(is_it) {
                Some(at) => (bits | 1 << at, all_known),
                None => (bits, false),
            }
        })
    }

    fn set(&self, value: &Value, members: &[String]) -> Result<Value, SqlError> {
        let bits = match value {
            Value::Str(text) | Value::Bytes(text) if let Some(bits) = self.set_bits_of_text(text, members) => bits,
            Value::Str(text) | Value::Bytes(text) => {
                let names = without_spaces(text);
                let (bits, all_known) = self.members_of(names, members);
                if !all_known || names.is_empty() && !text.is_empty() {
                    self.data_truncated()?;
                }
                bits
            }
            other => coerce::to_bits(other, self.ctx)?.unwrap_or(0),
        };
        let known = if members.len() >= 64 { u64::MAX } else { (1 << members.len()) - 1 };
        if bits & !known != 0 {
            self.data_truncated()?;
        }
        Ok(Value::str(types::column::set_text(members, bits & known).unwrap_or_default()))
    }
}

/// A value that was not read from text.
fn plain<T>(value: T) -> Parsed<T> {
    Parsed { value, round_up: false, fsp: 6, trailing: false, has_time: true, zone_minutes: None, clamped: false }
}

/// Spaces at the end of a member's name do not count; other white space does.
fn without_spaces(text: &[u8]) -> &[u8] {
    let len = text.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1);
    &text[..len]
}

/// At most `max` bytes, without a cut character at the end.
fn whole_chars(text: &[u8], max: usize) -> usize {
    if text.len() <= max {
        return text.len();
    }
    prefix_bytes(text, char_count(&text[..max + 1]) - 1)
}
