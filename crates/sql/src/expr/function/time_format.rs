//! DATE_FORMAT, TIME_FORMAT and STR_TO_DATE: the same specifiers, written here and read in [`super::time_read`].

use base::{SqlError, codes};
use types::temporal::calendar::{self, WeekMode};
use types::{Date, DateTime, Time, Value};

use super::time_read::Reader;
use super::{Args, some};
use crate::expr::cast;
use crate::expr::locale::Locale;
use crate::expr::types::{ExprType, Kind};

/// Steps of a specifier, of which some take more than a hundred nanoseconds.
const SPECIFIER_STEPS: u64 = 128;

/// `DATE_FORMAT`; NULL if a name of a day or month is asked for that the date does not have.
pub(super) fn format(args: &Args<'_>, at: DateTime, format: &[u8]) -> Result<Value, SqlError> {
    let locale = args.ctx.session.locale;
    let mut out = String::new();
    let mut raw = Vec::with_capacity(2 * format.len());
    let mut rest = format;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let specifier = if byte == b'%' { rest.first().copied() } else { None };
        let Some(specifier) = specifier else {
            raw.push(byte);
            continue;
        };
        rest = &rest[1..];
        args.ctx.worked(SPECIFIER_STEPS)?;
        out.clear();
        if !write_date_part(at.date, specifier, locale, &mut out) && !write_time_part(at.time(), specifier, &mut out) {
            out.push(specifier as char);
        }
        if out == MISSING {
            return Ok(Value::Null);
        }
        match specifier.is_ascii() {
            true => raw.extend_from_slice(out.as_bytes()),
            false => raw.push(specifier),
        }
    }
    Ok(Value::Str(raw.into()))
}

/// Stands for a name that there is not.
const MISSING: &str = "\u{0}";

/// `TIME_FORMAT`; what is of a date is 0.
pub(super) fn format_time(args: &Args<'_>, time: Time, format: &[u8]) -> Result<Value, SqlError> {
    let mut out = String::new();
    let mut raw = Vec::with_capacity(2 * format.len());
    let mut rest = format;
    if time.micros() < 0 {
        raw.push(b'-');
    }
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let specifier = if byte == b'%' { rest.first().copied() } else { None };
        let Some(specifier) = specifier else {
            raw.push(byte);
            continue;
        };
        rest = &rest[1..];
        args.ctx.worked(SPECIFIER_STEPS)?;
        out.clear();
        if !write_time_part(time, specifier, &mut out) {
            match specifier {
                b'Y' => out.push_str("0000"),
                b'y' | b'm' | b'd' => out.push_str("00"),
                b'c' | b'e' => out.push('0'),
                b'a' | b'b' | b'D' | b'j' | b'M' | b'U' | b'u' | b'V' | b'v' | b'W' | b'w' | b'X' | b'x' => {
                    return Ok(Value::Null);
                }
                other => out.push(other as char),
            }
        }
        raw.extend_from_slice(out.as_bytes());
    }
    Ok(Value::Str(raw.into()))
}

/// `false` if the specifier is none of a date's; [`MISSING`] is written for a name that there is not.
fn write_date_part(date: Date, specifier: u8, locale: &Locale, out: &mut String) -> bool {
    use std::fmt::Write;
    let weekday = || calendar::weekday(date) as usize;
    let month_of = |names: &[&'static str]| (date.month as usize).checked_sub(1).map_or(MISSING, |at| names[at]);
    let week = |mode: u8| calendar::week(date, WeekMode::from_number(mode));
    let written = match specifier {
        // A day 0 is the one before the first, a month 0 the one before January.
        b'a' | b'W' | b'w' if (date.year, date.month) == (0, 0) => write!(out, "{MISSING}"),
        b'a' => write!(out, "{}", locale.short_days[weekday()]),
        b'W' => write!(out, "{}", locale.days[weekday()]),
        b'w' => write!(out, "{}", (weekday() + 1) % 7),
        b'b' => write!(out, "{}", month_of(&locale.short_months)),
        b'M' => write!(out, "{}", month_of(&locale.months)),
        b'c' => write!(out, "{}", date.month),
        b'm' => write!(out, "{:02}", date.month),
        b'd' => write!(out, "{:02}", date.day),
        b'e' => write!(out, "{}", date.day),
        b'D' => write!(out, "{}{}", date.day, ordinal(date.day)),
        b'Y' => write!(out, "{:04}", date.year),
        b'y' => write!(out, "{:02}", date.year % 100),
        b'j' => write!(out, "{:03}", calendar::day_of_year(date)),
        b'U' => write!(out, "{:02}", week(0).0),
        b'u' => write!(out, "{:02}", week(1).0),
        b'V' => write!(out, "{:02}", week(2).0),
        b'v' => write!(out, "{:02}", week(3).0),
        b'X' => write!(out, "{:04}", week(2).1),
        b'x' => write!(out, "{:04}", week(3).1),
        _ => return false,
    };
    written.is_ok()
}

fn ordinal(day: u8) -> &'static str {
    match (day / 10, day % 10) {
        (1, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    }
}

/// `false` if the specifier is none of a time's.
fn write_time_part(time: Time, specifier: u8, out: &mut String) -> bool {
    use std::fmt::Write;
    let (_, hours, minutes, seconds, micros) = time.parts();
    let twelve = (hours % 24 + 11) % 12 + 1;
    let half = if hours % 24 < 12 { "AM" } else { "PM" };
    let written = match specifier {
        b'H' => write!(out, "{hours:02}"),
        b'k' => write!(out, "{hours}"),
        b'h' | b'I' => write!(out, "{twelve:02}"),
        b'l' => write!(out, "{twelve}"),
        b'i' => write!(out, "{minutes:02}"),
        b's' | b'S' => write!(out, "{seconds:02}"),
        b'f' => write!(out, "{micros:06}"),
        b'p' => write!(out, "{half}"),
        b'r' => write!(out, "{twelve:02}:{minutes:02}:{seconds:02} {half}"),
        b'T' => write!(out, "{hours:02}:{minutes:02}:{seconds:02}"),
        _ => return false,
    };
    written.is_ok()
}

/// `GET_FORMAT(DATE, 'EUR')`, whose first argument is the name of the type as text.
pub(super) fn get_format(args: &Args<'_>) -> Result<Value, SqlError> {
    let (of, region) = (some!(args.text(0)?), some!(args.text(1)?));
    let formats: [&str; 4] = match of.to_ascii_lowercase().as_slice() {
        b"date" => ["%m.%d.%Y", "%Y-%m-%d", "%d.%m.%Y", "%Y%m%d"],
        b"time" => ["%h:%i:%s %p", "%H:%i:%s", "%H.%i.%s", "%H%i%s"],
        _ => ["%Y-%m-%d %H.%i.%s", "%Y-%m-%d %H:%i:%s", "%Y-%m-%d %H.%i.%s", "%Y%m%d%H%i%s"],
    };
    let at = match region.to_ascii_uppercase().as_slice() {
        b"USA" => 0,
        b"JIS" | b"ISO" => 1,
        b"EUR" => 2,
        b"INTERNAL" => 3,
        _ => return Ok(Value::Null),
    };
    Ok(Value::from(formats[at]))
}

/// What STR_TO_DATE gives for a format.
pub(super) fn type_of_format(format: &[u8]) -> ExprType {
    let has = |specifiers: &[u8]| format.windows(2).any(|pair| pair[0] == b'%' && specifiers.contains(&pair[1]));
    let (has_date, has_time) = (has(b"MVUXYWabcjmvuxyDdew"), has(b"HISThiklrs"));
    let fsp = if has(b"f") { 6 } else { 0 };
    match (has_date, has_time || fsp > 0) {
        (_, false) => ExprType::of_kind(Kind::Date),
        (false, true) => ExprType::temporal(Kind::Time, fsp),
        (true, true) => ExprType::temporal(Kind::DateTime, fsp),
    }
}

pub(super) fn str_to_date(args: &Args<'_>) -> Result<Value, SqlError> {
    let (text, format) = (some!(args.text(0)?), some!(args.text(1)?));
    let mut reader = Reader::of(&text);
    let read = reader.read(&format).and_then(|()| reader.value(args.ty.kind, cast::allowed(args.ctx)));
    if read.is_none() || !reader.text.trim_ascii().is_empty() {
        let shown = String::from_utf8_lossy(&text).into_owned();
        let kind = match args.ty.kind {
            Kind::Date => "date",
            Kind::Time => "time",
            _ => "datetime",
        };
        let message = match read {
            None => format!("Incorrect datetime value: '{shown}' for function str_to_date"),
            Some(_) => format!("Truncated incorrect {kind} value: '{shown}'"),
        };
        let code = if read.is_none() { codes::WRONG_VALUE_FOR_TYPE } else { codes::TRUNCATED_WRONG_VALUE };
        args.ctx.complain(code, message)?;
    }
    Ok(read.unwrap_or(Value::Null))
}
