//! Regular expressions: REGEXP_LIKE (and so REGEXP), REGEXP_INSTR, REGEXP_SUBSTR, REGEXP_REPLACE.
//!
//! The syntax is the `regex` crate's, which is nearly all of what MySQL's library takes: without back references and
//! look-around, and in time that grows with the text only.

use base::{SqlError, codes};
use regex::{Regex, RegexBuilder};
use types::charset::{char_count, prefix_bytes};
use types::{Value, collation};

use super::{Args, FunctionInfo, LONG_TEXT, int, line, long_text_of_first, some, text_of, truth};
use crate::expr::types::aggregate_collations;

pub(super) static TABLE: &[FunctionInfo] = &[
    line("regexp_like", 2, 3, truth, |args| {
        let (text, regex) = (some!(args.text(0)?), some!(compile(args, 2)?));
        Ok(Value::from(regex.is_match(&String::from_utf8_lossy(&text))))
    })
    .compares(2),
    line("regexp_instr", 2, 6, int, regexp_instr).compares(2),
    line("regexp_substr", 2, 5, long_text_of_first, regexp_substr).compares(2),
    line("regexp_replace", 3, 6, |args, session| text_of(&args[..1], LONG_TEXT, session), regexp_replace).compares(2),
];

/// The pattern with its match flags, which are argument `flags`; without any the collation says whether case matters.
fn compile(args: &Args<'_>, flags: usize) -> Result<Option<Regex>, SqlError> {
    let Some(pattern) = args.text(1)? else { return Ok(None) };
    let binary = args.is_binary(0) || args.is_binary(1);
    let collation = aggregate_collations(&args.args[0].ty, &args.args[1].ty).0;
    let mut ignore_case = !binary && collation::equal(collation, b"a", b"A");
    let (mut multi_line, mut dot_all) = (false, false);
    if flags < args.len() {
        let Some(flags) = args.text(flags)? else { return Ok(None) };
        for &flag in flags.iter() {
            match flag {
                b'c' => ignore_case = false,
                b'i' => ignore_case = true,
                b'm' => multi_line = true,
                b'n' => dot_all = true,
                b'u' => {}
                _ => return Err(SqlError::new(codes::WRONG_ARGUMENTS, "Incorrect arguments to regexp_like")),
            }
        }
    }
    let built = RegexBuilder::new(&String::from_utf8_lossy(&pattern))
        .case_insensitive(ignore_case)
        .multi_line(multi_line)
        .dot_matches_new_line(dot_all)
        .build();
    match built {
        Ok(regex) => Ok(Some(regex)),
        Err(error) => {
            Err(SqlError::new(codes::REGEXP_ERROR, format!("Illegal argument to a regular expression: {error}")))
        }
    }
}

/// Text, where to begin in it (bytes) and which occurrence is meant; `None` if one is NULL.
fn place(args: &Args<'_>, first: usize) -> Result<Option<(String, usize, usize)>, SqlError> {
    let (Some(text), Some(position), Some(occurrence)) =
        (args.text(0)?, args.int_or(first, 1)?, args.int_or(first + 1, 1)?)
    else {
        return Ok(None);
    };
    let chars = char_count(&text) as i64;
    if position < 1 || position > chars + 1 {
        return Err(SqlError::new(
            codes::REGEXP_INDEX_OUTOFBOUNDS_ERROR,
            "Index out of bounds in regular expression search.",
        ));
    }
    let from = prefix_bytes(&text, position as usize - 1);
    Ok(Some((String::from_utf8_lossy(&text).into_owned(), from, occurrence.max(0) as usize)))
}

fn regexp_instr(args: &Args<'_>) -> Result<Value, SqlError> {
    let regex = some!(compile(args, 5)?);
    let (text, from, occurrence) = some!(place(args, 2)?);
    let at_end = some!(args.int_or(4, 0)?) == 1;
    let found = regex.find_iter(&text[from..]).nth(occurrence.saturating_sub(1));
    Ok(Value::Int(found.map_or(0, |found| {
        let at = if at_end { found.end() } else { found.start() };
        char_count(&text.as_bytes()[..from + at]) as i64 + 1
    })))
}

fn regexp_substr(args: &Args<'_>) -> Result<Value, SqlError> {
    let regex = some!(compile(args, 4)?);
    let (text, from, occurrence) = some!(place(args, 2)?);
    let found = regex.find_iter(&text[from..]).nth(occurrence.saturating_sub(1));
    Ok(found.map_or(Value::Null, |found| args.string(found.as_str().as_bytes().to_vec())))
}

fn regexp_replace(args: &Args<'_>) -> Result<Value, SqlError> {
    let regex = some!(compile(args, 5)?);
    let new = some!(args.text(2)?);
    // Occurrence 0 is all of them; that is the default here.
    let occurrence = some!(args.int_or(4, 0)?).max(0) as usize;
    let (text, from, _) = some!(place(args, 3)?);
    let new = String::from_utf8_lossy(&new);
    let mut out = text[..from].to_string();
    let mut last = 0;
    let rest = &text[from..];
    for (number, captures) in regex.captures_iter(rest).enumerate() {
        let Some(whole) = captures.get(0) else { continue };
        if occurrence == 0 || number + 1 == occurrence {
            out.push_str(&rest[last..whole.start()]);
            captures.expand(&new, &mut out);
            last = whole.end();
        }
    }
    out.push_str(&rest[last..]);
    Ok(args.string(out.into_bytes()))
}
