//! What stands behind the users of CREATE USER and ALTER USER, in MySQL's order: REQUIRE, WITH, options of the password and of the account,
//! COMMENT or ATTRIBUTE.

use crate::Token;
use base::{SqlError, codes};

use super::Parsed;
use super::tokens::Tokens;
use crate::ParseError;
use crate::digits::hex_bytes;
use crate::statement::{Expire, OrDefault, UserAttribute, UserOptions};
use crate::statement::{Requirement, UNBOUNDED};

/// All of them.
pub(super) fn options(tokens: &mut Tokens<'_>) -> Parsed<UserOptions> {
    let mut options = UserOptions::default();
    if tokens.accept("REQUIRE") {
        options.requires = Some(requirement(tokens)?);
    }
    if tokens.accept("WITH") {
        limit(tokens, &mut options)?;
        while limit_follows(tokens) {
            limit(tokens, &mut options)?;
        }
    }
    while rule(tokens, &mut options)? {}
    if tokens.accept("COMMENT") {
        options.attribute = Some(UserAttribute::Comment(tokens.string()?));
    } else if tokens.accept("ATTRIBUTE") {
        options.attribute = Some(UserAttribute::Attribute(tokens.string()?));
    }
    Ok(options)
}

/// Behind REQUIRE.
pub(super) fn requirement(tokens: &mut Tokens<'_>) -> Parsed<Requirement> {
    match tokens.accept_one(&["NONE", "SSL", "X509"]) {
        Some("NONE") => return Ok(Requirement::None),
        Some("SSL") => return Ok(Requirement::Ssl),
        Some(_) => return Ok(Requirement::X509),
        None => {}
    }
    let (mut cipher, mut issuer, mut subject) = (None, None, None);
    let mut word = tokens.expect_one(&["SUBJECT", "ISSUER", "CIPHER"])?;
    loop {
        let place = match word {
            "SUBJECT" => &mut subject,
            "ISSUER" => &mut issuer,
            _ => &mut cipher,
        };
        if place.replace(tokens.string()?).is_some() {
            let message = format!("Option '{word}' used twice in statement");
            return Err(SqlError::new(codes::DUP_ARGUMENT, message).into());
        }
        word = match tokens.accept("AND") {
            true => tokens.expect_one(&["SUBJECT", "ISSUER", "CIPHER"])?,
            false => match tokens.accept_one(&["SUBJECT", "ISSUER", "CIPHER"]) {
                Some(word) => word,
                None => return Ok(Requirement::Specified { cipher, issuer, subject }),
            },
        };
    }
}

const LIMITS: [&str; 5] = [
    "MAX_QUERIES_PER_HOUR",
    "MAX_UPDATES_PER_HOUR",
    "MAX_CONNECTIONS_PER_HOUR",
    "MAX_USER_CONNECTIONS",
    "MAX_STATEMENT_TIME",
];

/// Whether another one of WITH comes next.
pub(super) fn limit_follows(tokens: &Tokens<'_>) -> bool {
    LIMITS.iter().any(|word| tokens.next_are(word))
}

/// One of WITH.
pub(super) fn limit(tokens: &mut Tokens<'_>, options: &mut UserOptions) -> Parsed<()> {
    let place = match tokens.expect_one(&LIMITS)? {
        "MAX_QUERIES_PER_HOUR" => &mut options.queries,
        "MAX_UPDATES_PER_HOUR" => &mut options.updates,
        "MAX_CONNECTIONS_PER_HOUR" => &mut options.connections,
        "MAX_USER_CONNECTIONS" => {
            // MariaDB's: the account may not connect at all.
            if tokens.accept_token(&Token::Minus) {
                return Err(ParseError::not_supported("MAX_USER_CONNECTIONS -1"));
            }
            &mut options.at_once
        }
        // MariaDB's. 0 is no limit, as it is here.
        _ => {
            let is_none = matches!(tokens.peek(), Some(Token::Number(digits)) if digits.parse() == Ok(0.0));
            tokens.next();
            return if is_none { Ok(()) } else { Err(ParseError::not_supported("MAX_STATEMENT_TIME of accounts")) };
        }
    };
    // As in MySQL, of which it is the lower half.
    *place = Some(count(tokens)? as u32);
    Ok(())
}

/// One of the options of password and account; `false` if there is none.
fn rule(tokens: &mut Tokens<'_>, options: &mut UserOptions) -> Parsed<bool> {
    let words = ["ACCOUNT LOCK", "ACCOUNT UNLOCK", "FAILED_LOGIN_ATTEMPTS", "PASSWORD_LOCK_TIME", "PASSWORD"];
    match tokens.accept_one(&words) {
        Some("ACCOUNT LOCK") => options.locked = Some(true),
        Some("ACCOUNT UNLOCK") => options.locked = Some(false),
        Some(word @ "FAILED_LOGIN_ATTEMPTS") => {
            options.attempts = Some(in_range(word, count(tokens)?, 0, i16::MAX as u64)? as u16);
        }
        Some(word @ "PASSWORD_LOCK_TIME") => {
            options.lock_days = Some(match tokens.accept("UNBOUNDED") {
                true => UNBOUNDED,
                false => in_range(word, count(tokens)?, 0, i16::MAX as u64)? as i16,
            });
        }
        Some(_) => password_rule(tokens, options)?,
        None => return Ok(false),
    }
    Ok(true)
}

/// Behind PASSWORD.
fn password_rule(tokens: &mut Tokens<'_>, options: &mut UserOptions) -> Parsed<()> {
    match tokens.expect_one(&["EXPIRE", "HISTORY", "REUSE INTERVAL", "REQUIRE CURRENT"])? {
        "EXPIRE" => {
            options.expire = Some(match tokens.accept_one(&["NEVER", "DEFAULT", "INTERVAL"]) {
                Some("NEVER") => Expire::Never,
                Some("DEFAULT") => Expire::Default,
                Some(_) => Expire::Days(days(tokens, 1)?),
                None => Expire::Now,
            });
        }
        "HISTORY" => {
            options.history = Some(match tokens.accept("DEFAULT") {
                true => OrDefault::Default,
                // As in MySQL, which keeps no more and does not say so.
                false => OrDefault::Value(count(tokens)?.min(u64::from(u16::MAX)) as u16),
            });
        }
        "REUSE INTERVAL" => {
            options.reuse_days = Some(match tokens.accept("DEFAULT") {
                true => OrDefault::Default,
                false => {
                    let number = count(tokens)?;
                    tokens.expect("DAY")?;
                    OrDefault::Value(number.min(u64::from(u16::MAX)) as u16)
                }
            });
        }
        _ => {
            options.require_current = Some(match tokens.accept_one(&["DEFAULT", "OPTIONAL"]) {
                Some("DEFAULT") => OrDefault::Default,
                Some(_) => OrDefault::Value(false),
                None => OrDefault::Value(true),
            });
        }
    }
    Ok(())
}

fn days(tokens: &mut Tokens<'_>, min: u64) -> Parsed<u16> {
    let number = count(tokens)?;
    tokens.expect("DAY")?;
    Ok(in_range("DAY", number, min, u64::from(u16::MAX))? as u16)
}

/// 1525 for a number that is not in a range.
fn in_range(what: &str, number: u64, min: u64, max: u64) -> Parsed<u64> {
    if (min..=max).contains(&number) {
        return Ok(number);
    }
    Err(SqlError::new(codes::WRONG_VALUE, format!("Incorrect {what} value: '{number}'")).into())
}

/// A number, also in hexadecimal.
fn count(tokens: &mut Tokens<'_>) -> Parsed<u64> {
    let Some(Token::Hex(digits)) = tokens.peek() else { return tokens.number() };
    let number = hex_bytes(digits).into_iter().fold(0, |number: u64, byte| number << 8 | u64::from(byte));
    tokens.next();
    Ok(number)
}
