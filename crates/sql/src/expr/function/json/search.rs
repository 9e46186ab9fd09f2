//! What looks for values in documents.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::HashSet;

use super::*;
use crate::expr::context::EvalContext;
use crate::expr::pattern;
use types::json::{Object, order, write_key};

fn equal(a: &Json, b: &Json) -> bool {
    order::compare(a, b) == Ordering::Equal
}

pub(super) fn contains(args: &Args<'_>) -> Result<Value, SqlError> {
    let (document, candidate) = (args.document(0, "json_contains")?, args.document(1, "json_contains")?);
    let (document, candidate) = (some!(document), some!(candidate));
    let within = match args.len() {
        2 => Some(&document),
        _ => some!(args.single_path(2)?).find_one(&document, true),
    };
    Ok(Value::from(has(some!(within), &candidate, args.ctx)?))
}

/// All elements of an array are in some element of the other; all members of an object in those of the same keys.
fn has(document: &Json, candidate: &Json, ctx: &EvalContext<'_>) -> Result<bool, SqlError> {
    ctx.worked(1)?;
    match (document, candidate) {
        (Json::Object(own), Json::Object(wanted)) => {
            for (key, value) in wanted.iter() {
                let Some(own) = own.get(key) else { return Ok(false) };
                if !has(own, value, ctx)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Json::Array(own), Json::Array(wanted)) => {
            ctx.worked(own.len() as u64)?;
            let (scalars, others): (Vec<&Json>, Vec<&Json>) = own.iter().partition(|own| own.is_scalar());
            let scalars = keys(scalars.into_iter());
            for wanted in wanted {
                let is_there = wanted.is_scalar() && scalars.contains(&key(wanted));
                if !is_there && !any_has(&others, wanted, ctx)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Json::Array(own), wanted) => any_has(own, wanted, ctx),
        (own, wanted) => Ok(own.is_scalar() && equal(own, wanted)),
    }
}

fn any_has<J: Borrow<Json>>(own: &[J], wanted: &Json, ctx: &EvalContext<'_>) -> Result<bool, SqlError> {
    for own in own {
        if has(own.borrow(), wanted, ctx)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The same for values that are equal.
fn key(json: &Json) -> Vec<u8> {
    let mut key = Vec::new();
    order::sort_key(json, &mut key);
    key
}

fn keys<'j>(elements: impl Iterator<Item = &'j Json>) -> HashSet<Vec<u8>> {
    elements.map(key).collect()
}

pub(super) fn overlaps(args: &Args<'_>) -> Result<Value, SqlError> {
    let (a, b) = (args.document(0, "json_overlaps")?, args.document(1, "json_overlaps")?);
    Ok(Value::from(match (some!(a), some!(b)) {
        (Json::Object(a), Json::Object(b)) => share_member(&a, &b),
        (a, b) => {
            let (a, b) = (a.into_array(), b.into_array());
            let known = keys(a.iter());
            b.iter().any(|b| known.contains(&key(b)))
        }
    }))
}

fn share_member(a: &Object, b: &Object) -> bool {
    a.iter().any(|(key, value)| b.get(key).is_some_and(|other| equal(value, other)))
}

pub(super) fn member_of(args: &Args<'_>) -> Result<Value, SqlError> {
    if args.value(0)?.is_null() {
        return Ok(Value::Null);
    }
    let (value, array) = (args.json_value(0)?, some!(args.document(1, "member of")?));
    Ok(Value::from(match &array {
        Json::Array(elements) => elements.iter().any(|element| equal(element, &value)),
        other => equal(other, &value),
    }))
}

pub(super) fn contains_path(args: &Args<'_>) -> Result<Value, SqlError> {
    let document = some!(args.document(0, "json_contains_path")?);
    let is_all = some!(args.is_all(1, "json_contains_path")?);
    for at in 2..args.len() {
        let is_there = !args.found(&some!(args.path(at)?), &document)?.is_empty();
        if is_there != is_all {
            return Ok(Value::from(is_there));
        }
    }
    Ok(Value::from(is_all))
}

pub(super) fn search(args: &Args<'_>) -> Result<Value, SqlError> {
    let document = some!(args.document(0, "json_search")?);
    let is_all = some!(args.is_all(1, "json_search")?);
    let text = some!(args.text(2)?);
    let escape = match args.len() {
        3 => Some('\\'),
        _ => match args.text(3)? {
            None => Some('\\'),
            Some(text) => escape_of(&text)?,
        },
    };
    let mut paths = Vec::new();
    for at in 4..args.len() {
        paths.push(some!(args.path(at)?));
    }
    let (ctx, known) = (args.ctx, HashSet::new());
    let mut search = Search { pattern: &text, escape, is_all, found: Vec::new(), known, ended: Ok(()), ctx };
    if paths.is_empty() {
        search.walk(&document, &mut "$".to_owned(), None);
    }
    for path in &paths {
        let begun: HashSet<_> = args.found(path, &document)?.into_iter().map(std::ptr::from_ref).collect();
        search.walk(&document, &mut "$".to_owned(), Some(&begun));
    }
    search.ended?;
    let mut found = search.found;
    match found.len() {
        0 => Ok(Value::Null),
        1 => json::value(&Json::String(found.remove(0))),
        _ => json::value(&Json::Array(found.into_iter().map(Json::String).collect())),
    }
}

fn escape_of(text: &[u8]) -> Result<Option<char>, SqlError> {
    let text = String::from_utf8_lossy(text);
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (None, _) => Ok(Some('\\')),
        (Some(first), None) => Ok(Some(first)),
        _ => Err(SqlError::new(codes::WRONG_ARGUMENTS, "Incorrect arguments to ESCAPE")),
    }
}

struct Search<'s> {
    pattern: &'s [u8],
    escape: Option<char>,
    is_all: bool,
    found: Vec<String>,
    /// The places in `found`: several paths may lead to one.
    known: HashSet<String>,
    /// The statement has to end.
    ended: Result<(), SqlError>,
    ctx: &'s EvalContext<'s>,
}

impl Search<'_> {
    /// Looks at a value and all below it; `begun` are those below which it looks, if not at all.
    fn walk(&mut self, json: &Json, place: &mut String, begun: Option<&HashSet<*const Json>>) {
        if !self.is_all && !self.found.is_empty() || self.ended.is_err() {
            return;
        }
        let begun = begun.filter(|begun| !begun.contains(&std::ptr::from_ref(json)));
        self.ended = match json {
            Json::String(text) if begun.is_none() => self.look_at(text, place),
            _ => self.ctx.worked(1),
        };
        each_child(json, place, &mut |child, place| self.walk(child, place, begun));
    }

    fn look_at(&mut self, text: &str, place: &str) -> Result<(), SqlError> {
        let mut worked = |steps| self.ctx.worked(steps);
        let (text, collation) = (text.as_bytes(), CollationId::UTF8MB4_BIN);
        let fits = pattern::like_counted(text, self.pattern, self.escape, collation, &mut worked)?;
        if fits && self.known.insert(place.to_owned()) {
            self.found.push(place.to_owned());
        }
        self.ctx.worked(1)
    }
}

/// Calls `visit` with every direct part and its place.
fn each_child(json: &Json, place: &mut String, visit: &mut dyn FnMut(&Json, &mut String)) {
    let length = place.len();
    match json {
        Json::Array(elements) => {
            for (at, element) in elements.iter().enumerate() {
                place.push_str(&format!("[{at}]"));
                visit(element, place);
                place.truncate(length);
            }
        }
        Json::Object(object) => {
            for (key, value) in object.iter() {
                place.push('.');
                write_key(key, place);
                visit(value, place);
                place.truncate(length);
            }
        }
        _ => {}
    }
}
