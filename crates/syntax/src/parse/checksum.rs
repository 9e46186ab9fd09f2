//! CHECKSUM TABLE: MySQL's, and what this server has beside it.
//!
//! ```text
//! CHECKSUM TABLE t, … [QUICK | EXTENDED]
//! CHECKSUM TABLE t, … RANGES [FROM x'key'] [TO x'key'] [AT (x'key', …) | SPLIT]
//! CHECKSUM TABLE t, … ROWS [FROM x'key'] [TO x'key']
//! CHECKSUM TABLE t, … IMAGES [FROM x'key'] [TO x'key']
//! ```

use crate::Token;

use super::Parsed;
use super::tokens::Tokens;
use crate::digits::hex_bytes;
use crate::statement::{Admin, Checksum, Cuts, EncodedRange};

pub(super) fn checksum(tokens: &mut Tokens<'_>) -> Parsed<Admin> {
    tokens.expect("CHECKSUM")?;
    tokens.expect_one(&["TABLES", "TABLE"])?;
    let tables = tokens.comma_list(Tokens::table_name)?;
    let how = match tokens.accept_one(&["QUICK", "EXTENDED", "RANGES", "ROWS", "IMAGES"]) {
        None => Checksum::Whole,
        Some("QUICK") => Checksum::Quick,
        Some("EXTENDED") => Checksum::Extended,
        Some("RANGES") => Checksum::Ranges { range: range(tokens)?, cuts: cuts(tokens)? },
        Some("ROWS") => Checksum::Rows(range(tokens)?),
        Some(_) => Checksum::Images(range(tokens)?),
    };
    Ok(Admin::Checksum { tables, how })
}

fn range(tokens: &mut Tokens<'_>) -> Parsed<EncodedRange> {
    let from = if tokens.accept("FROM") { Some(key(tokens)?) } else { None };
    let to = if tokens.accept("TO") { Some(key(tokens)?) } else { None };
    Ok(EncodedRange { from, to })
}

fn cuts(tokens: &mut Tokens<'_>) -> Parsed<Cuts> {
    if tokens.accept("SPLIT") {
        return Ok(Cuts::Split);
    }
    Ok(Cuts::At(if tokens.accept("AT") { tokens.in_parentheses(key)? } else { Vec::new() }))
}

/// Bytes in hexadecimal.
fn key(tokens: &mut Tokens<'_>) -> Parsed<Vec<u8>> {
    let Some(Token::Hex(digits)) = tokens.peek() else { return tokens.unexpected() };
    let bytes = hex_bytes(digits);
    tokens.next();
    Ok(bytes)
}
