//! The third argument of REGEXP_REPLACE: text with `$1`, `${name}` and characters behind a backslash, which are themselves.

use base::{SqlError, codes};
use regex::{Captures, Regex};

pub(super) const INVALID_GROUP_NAME: &str = "A capture group has an invalid name.";

/// A part of a replacement.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    /// What a group has matched.
    Group(usize),
}

/// Takes a replacement apart. 3686 for a group that the pattern does not have, 3887 for a name that is none.
pub(super) fn parse(replacement: &str, regex: &Regex) -> Result<Vec<Part>, SqlError> {
    let groups = regex.captures_len() - 1;
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = replacement;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => rest = escaped(rest, &mut text),
            '$' => {
                if !text.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut text)));
                }
                let (group, after) = group(rest, groups, regex)?;
                parts.push(Part::Group(group));
                rest = after;
            }
            _ => text.push(c),
        }
    }
    parts.push(Part::Text(text));
    Ok(parts)
}

/// Adds what stands behind a backslash, and gives the rest.
fn escaped<'a>(rest: &'a str, text: &mut String) -> &'a str {
    let Some(c) = rest.chars().next() else { return rest };
    let after = &rest[c.len_utf8()..];
    let digits = match c {
        'u' => 4,
        'U' => 8,
        _ => 0,
    };
    let number = after.get(..digits).filter(|_| digits > 0);
    match number.and_then(|number| u32::from_str_radix(number, 16).ok()).and_then(char::from_u32) {
        Some(named) => {
            text.push(named);
            &after[digits..]
        }
        None => {
            text.push(c);
            after
        }
    }
}

/// The group that `1`, `12` or `{name}` behind a `$` is, and the rest. As many digits count as there is a group for.
fn group<'a>(rest: &'a str, groups: usize, regex: &Regex) -> Result<(usize, &'a str), SqlError> {
    let invalid = || SqlError::new(codes::REGEXP_INVALID_CAPTURE_GROUP_NAME, INVALID_GROUP_NAME);
    if let Some(named) = rest.strip_prefix('{') {
        let (name, after) = named.split_once('}').ok_or_else(invalid)?;
        let number = regex.capture_names().position(|known| known == Some(name)).ok_or_else(invalid)?;
        return Ok((number, after));
    }
    let mut number = None;
    let mut len = 0;
    for digit in rest.chars().map_while(|c| c.to_digit(10)) {
        let longer = number.unwrap_or(0) * 10 + digit as usize;
        if longer > groups {
            if number.is_none() {
                return Err(out_of_bounds());
            }
            break;
        }
        number = Some(longer);
        len += 1;
    }
    Ok((number.ok_or_else(invalid)?, &rest[len..]))
}

/// Adds a replacement for a match.
pub(super) fn expand(parts: &[Part], captures: &Captures<'_>, out: &mut String) {
    for part in parts {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Group(number) => out.push_str(captures.get(*number).map_or("", |group| group.as_str())),
        }
    }
}

/// 3686
pub(super) fn out_of_bounds() -> SqlError {
    let message = "Index out of bounds in regular expression search.";
    SqlError::new(codes::REGEXP_INDEX_OUTOFBOUNDS_ERROR, message)
}
