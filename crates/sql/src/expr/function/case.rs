//! UPPER and LOWER.

use base::SqlError;
use types::Value;
use types::charset::Charset;

use super::{Args, some};
use crate::expr::types::Kind;

pub(super) fn upper(args: &Args<'_>) -> Result<Value, SqlError> {
    change_case(args, true)
}

pub(super) fn lower(args: &Args<'_>) -> Result<Value, SqlError> {
    change_case(args, false)
}

/// Character by character, by Unicode's simple case mapping: one whose other case is several characters alone (ß) stays.
fn change_case(args: &Args<'_>, upper: bool) -> Result<Value, SqlError> {
    let text = some!(args.text(0)?);
    if args.is_binary(0) {
        return Ok(args.string(text));
    }
    if let Charset::Single(set) = args.args[0].ty.collation.charset()
        && args.args[0].ty.kind == Kind::Str
    {
        let text = String::from_utf8_lossy(&text);
        return Ok(args.string(text.chars().map(|c| set.change_case(c, upper)).collect::<String>().into_bytes()));
    }
    if text.is_ascii() {
        return Ok(args.string(if upper { text.to_ascii_uppercase() } else { text.to_ascii_lowercase() }));
    }
    let Ok(string) = std::str::from_utf8(&text) else { return Ok(args.string(text)) };
    let change = if upper { upper_of } else { lower_of };
    Ok(args.string(string.chars().map(change).collect::<String>().into_bytes()))
}

/// `İ` alone has several characters, of which the first one is what it is simply.
fn lower_of(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

fn upper_of(c: char) -> char {
    let mut mapped = c.to_uppercase();
    match (mapped.next(), mapped.next()) {
        (Some(only), None) => only,
        // Greek letters with an iota below have one character as a title's.
        _ => match c {
            '\u{1f80}'..='\u{1f87}' | '\u{1f90}'..='\u{1f97}' | '\u{1fa0}'..='\u{1fa7}' => {
                char::from_u32(u32::from(c) + 8).unwrap_or(c)
            }
            '\u{1fb3}' => '\u{1fbc}',
            '\u{1fc3}' => '\u{1fcc}',
            '\u{1ff3}' => '\u{1ffc}',
            _ => c,
        },
    }
}
