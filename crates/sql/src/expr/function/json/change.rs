//! What gives a changed document.

use super::*;
use types::json::{ArrayInsert, Change};

pub(super) fn set(args: &Args<'_>) -> Result<Value, SqlError> {
    change(args, "json_set", Change::Set)
}

pub(super) fn insert(args: &Args<'_>) -> Result<Value, SqlError> {
    change(args, "json_insert", Change::Insert)
}

pub(super) fn replace(args: &Args<'_>) -> Result<Value, SqlError> {
    change(args, "json_replace", Change::Replace)
}

/// Calls `each` with the document, a path and a value, pair by pair.
fn pairs(
    args: &Args<'_>,
    name: &str,
    mut each: impl FnMut(&mut Json, &Path, Json) -> Result<(), SqlError>,
) -> Result<Value, SqlError> {
    let mut document = some!(args.document(0, name)?);
    let steps = steps_of_change(&document);
    for at in (1..args.len()).step_by(2) {
        args.ctx.worked(steps)?;
        let path = some!(args.single_path(at)?);
        each(&mut document, &path, args.json_value(at + 1)?)?;
    }
    json::value(&document)
}

/// A change moves what stands behind its place, at most all there is.
fn steps_of_change(document: &Json) -> u64 {
    document.parts() / 4 + 1
}

fn change(args: &Args<'_>, name: &str, change: Change) -> Result<Value, SqlError> {
    pairs(args, name, |document, path, value| {
        document.change(path, value, change);
        Ok(())
    })
}

pub(super) fn array_append(args: &Args<'_>) -> Result<Value, SqlError> {
    pairs(args, "json_array_append", |document, path, value| {
        document.array_append(path, value);
        Ok(())
    })
}

pub(super) fn array_insert(args: &Args<'_>) -> Result<Value, SqlError> {
    pairs(args, "json_array_insert", |document, path, value| match document.array_insert(path, value) {
        ArrayInsert::Done => Ok(()),
        ArrayInsert::NoCell => {
            let message = "A path expression is not a path to a cell in an array.";
            Err(SqlError::new(codes::INVALID_JSON_PATH_ARRAY_CELL, message))
        }
    })
}

pub(super) fn remove(args: &Args<'_>) -> Result<Value, SqlError> {
    let mut document = some!(args.document(0, "json_remove")?);
    let steps = steps_of_change(&document);
    for at in 1..args.len() {
        args.ctx.worked(steps)?;
        let path = some!(args.single_path(at)?);
        if path.legs.is_empty() {
            let message = "The path expression '$' is not allowed in this context.";
            return Err(SqlError::new(codes::JSON_VACUOUS_PATH, message));
        }
        document.remove(&path);
    }
    json::value(&document)
}

pub(super) fn merge_preserve(args: &Args<'_>) -> Result<Value, SqlError> {
    let mut merged: Option<Json> = None;
    let mut has_null = false;
    for at in 0..args.len() {
        let Some(document) = args.document(at, "json_merge_preserve")? else {
            has_null = true;
            continue;
        };
        args.ctx.worked(merged.as_ref().map_or(0, Json::length) as u64)?;
        merged = Some(match merged {
            None => document,
            Some(merged) => merged.merge_preserve(document),
        });
    }
    match merged {
        Some(merged) if !has_null => json::value(&merged),
        _ => Ok(Value::Null),
    }
}

/// NULL is a patch of which nothing is known, until one that is no object replaces all.
pub(super) fn merge_patch(args: &Args<'_>) -> Result<Value, SqlError> {
    let mut merged = args.document(0, "json_merge_patch")?;
    for at in 1..args.len() {
        args.ctx.worked(merged.as_ref().map_or(0, Json::length) as u64)?;
        merged = match (merged, args.document(at, "json_merge_patch")?) {
            (_, None) => None,
            (None, Some(Json::Object(_))) => None,
            (None, Some(patch)) => Some(patch),
            (Some(merged), Some(patch)) => Some(merged.merge_patch(patch)),
        };
    }
    json::value(&some!(merged))
}
