//! XA: the statements of distributed transactions.
//!
//! ```text
//! XA {START | BEGIN} xid [JOIN | RESUME]     XA END xid [SUSPEND [FOR MIGRATE]]     XA PREPARE xid
//! XA COMMIT xid [ONE PHASE]                  XA ROLLBACK xid                        XA RECOVER [CONVERT XID | FORMAT = {'RAW' | 'SQL'}]
//! xid: gtrid [, bqual [, formatID]]          texts, or hexadecimal or binary literals, of at most 64 bytes; a number
//! ```

use crate::Token;
use binlog::event::Xid;

use super::Parsed;
use super::tokens::Tokens;
use crate::statement::{Statement, XaStart, XaStatement, XidFormat};

/// Bytes of each part of a name.
const PART_BYTES_MAX: usize = 64;

pub(super) fn xa(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect("XA")?;
    let words = ["START", "BEGIN", "END", "PREPARE", "COMMIT", "ROLLBACK", "RECOVER"];
    let statement = match tokens.expect_one(&words)? {
        "RECOVER" => XaStatement::Recover(recover(tokens)?),
        "START" | "BEGIN" => {
            let xid = xid(tokens)?;
            let mode = match tokens.accept_one(&["JOIN", "RESUME"]) {
                Some("RESUME") => XaStart::Resume,
                Some(_) => XaStart::Join,
                None => XaStart::New,
            };
            XaStatement::Start { xid, mode }
        }
        "END" => {
            let xid = xid(tokens)?;
            XaStatement::End { xid, suspends: tokens.accept_one(&["SUSPEND FOR MIGRATE", "SUSPEND"]).is_some() }
        }
        "PREPARE" => XaStatement::Prepare(xid(tokens)?),
        "COMMIT" => {
            let xid = xid(tokens)?;
            XaStatement::Commit { xid, one_phase: tokens.accept("ONE PHASE") }
        }
        _ => XaStatement::Rollback(xid(tokens)?),
    };
    Ok(Statement::Xa(statement))
}

fn recover(tokens: &mut Tokens<'_>) -> Parsed<XidFormat> {
    if tokens.accept("CONVERT XID") {
        return Ok(XidFormat::Hex);
    }
    if !tokens.accept("FORMAT") {
        return Ok(XidFormat::Raw);
    }
    tokens.expect_token(&Token::Eq)?;
    let place = tokens.place();
    match tokens.string()?.to_ascii_uppercase().as_str() {
        "SQL" => Ok(XidFormat::Sql),
        "RAW" => Ok(XidFormat::Raw),
        _ => {
            tokens.back_to(place);
            tokens.unexpected()
        }
    }
}

fn xid(tokens: &mut Tokens<'_>) -> Parsed<Xid> {
    let gtrid = part(tokens)?;
    let (mut bqual, mut format_id) = (Vec::new(), 1);
    if tokens.accept_token(&Token::Comma) {
        bqual = part(tokens)?;
        if tokens.accept_token(&Token::Comma) {
            format_id = format_id_of(tokens)?;
        }
    }
    Ok(Xid { format_id, gtrid, bqual })
}

/// A number, decimal or, as Connector/J writes it, hexadecimal.
fn format_id_of(tokens: &mut Tokens<'_>) -> Parsed<u32> {
    let place = tokens.place();
    let number = match tokens.peek() {
        Some(Token::Hex(digits)) => {
            let number = u64::from_str_radix(digits, 16).ok();
            tokens.next();
            number
        }
        _ => Some(tokens.whole_number()?),
    };
    match number.and_then(|number| u32::try_from(number).ok()) {
        Some(number) => Ok(number),
        None => {
            tokens.back_to(place);
            tokens.unexpected()
        }
    }
}

fn part(tokens: &mut Tokens<'_>) -> Parsed<Vec<u8>> {
    let bytes = tokens.text_string()?.into_bytes();
    if bytes.len() > PART_BYTES_MAX { tokens.unexpected() } else { Ok(bytes) }
}
