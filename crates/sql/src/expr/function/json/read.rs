//! What makes documents of values, and what looks into them.

use super::*;
use types::json::{Object, binary};

pub(super) fn array(args: &Args<'_>) -> Result<Value, SqlError> {
    let elements = (0..args.len()).map(|at| args.json_value(at)).collect::<Result<_, _>>()?;
    json::value(&Json::Array(elements))
}

pub(super) fn object(args: &Args<'_>) -> Result<Value, SqlError> {
    let mut members = Vec::with_capacity(args.len() / 2);
    for at in (0..args.len()).step_by(2) {
        let Some(key) = args.text(at)? else { return Err(null_key()) };
        members.push((String::from_utf8_lossy(&key).into_owned(), args.json_value(at + 1)?));
    }
    json::value(&Json::Object(Object::from_members(members)))
}

/// 3158
pub(crate) fn null_key() -> SqlError {
    SqlError::new(codes::JSON_DOCUMENT_NULL_KEY, "JSON documents may not contain NULL member names.")
}

fn wrong_type(function: &str) -> SqlError {
    let message = format!("Incorrect type for argument 1 in function {function}.");
    SqlError::new(codes::INCORRECT_TYPE, message)
}

pub(super) fn quote(args: &Args<'_>) -> Result<Value, SqlError> {
    let value = args.value(0)?;
    let text = match &*value {
        Value::Null => return Ok(Value::Null),
        Value::Str(_) | Value::Bytes(_) => some!(args.text(0)?),
        _ => return Err(wrong_type("json_quote")),
    };
    let mut out = String::new();
    types::json::quote(&String::from_utf8_lossy(&text), &mut out);
    Ok(Value::from(out))
}

pub(super) fn unquote(args: &Args<'_>) -> Result<Value, SqlError> {
    let value = args.value(0)?;
    Ok(match &*value {
        Value::Null => Value::Null,
        Value::Json(_) => {
            let mut out = String::new();
            json::document(&value)?.write_unquoted(&mut out);
            Value::from(out)
        }
        Value::Str(text) if text.len() >= 2 && text.starts_with(b"\"") && text.ends_with(b"\"") => {
            match json::parse_argument(text, 1, "json_unquote")? {
                Json::String(text) => Value::from(text),
                other => Value::from(other.to_text()),
            }
        }
        Value::Str(_) => value.into_owned(),
        Value::Bytes(bytes) => Value::Str(bytes.clone()),
        _ => return Err(wrong_type("json_unquote")),
    })
}

pub(super) fn extract(args: &Args<'_>) -> Result<Value, SqlError> {
    let document = args.document(0, "json_extract")?;
    let mut paths = Vec::with_capacity(args.len() - 1);
    for at in 1..args.len() {
        paths.push(some!(args.path(at)?));
    }
    let document = some!(document);
    let is_many = paths.len() > 1 || paths.iter().any(Path::is_wild);
    let mut elements = Vec::new();
    for path in &paths {
        let found = args.found(path, &document)?;
        if let ([one], false) = (&found[..], is_many) {
            return json::value(one);
        }
        for one in found {
            args.ctx.worked(one.parts())?;
            elements.push(one.clone());
        }
        // Each path may copy the whole document.
        args.ctx.check_cancelled()?;
    }
    if elements.is_empty() { Ok(Value::Null) } else { json::value(&Json::Array(elements)) }
}

pub(super) fn type_name(args: &Args<'_>) -> Result<Value, SqlError> {
    Ok(Value::str_static(some!(args.document(0, "json_type")?).type_name()))
}

pub(super) fn valid(args: &Args<'_>) -> Result<Value, SqlError> {
    let value = args.value(0)?;
    let is_valid = match &*value {
        Value::Null => return Ok(Value::Null),
        Value::Json(_) => true,
        Value::Str(text) => types::json::parse(&String::from_utf8_lossy(text)).is_ok(),
        _ => false,
    };
    Ok(Value::from(is_valid))
}

pub(super) fn depth(args: &Args<'_>) -> Result<Value, SqlError> {
    Ok(Value::Int(some!(args.document(0, "json_depth")?).depth() as i64))
}

pub(super) fn length(args: &Args<'_>) -> Result<Value, SqlError> {
    let document = some!(args.document(0, "json_length")?);
    if args.len() == 1 {
        return Ok(Value::Int(document.length() as i64));
    }
    let path = some!(args.path(1)?);
    let found = args.found(&path, &document)?;
    Ok(match found[..] {
        [] => Value::Null,
        [one] if !path.is_wild() => Value::Int(one.length() as i64),
        _ => Value::Int(found.len() as i64),
    })
}

pub(super) fn keys(args: &Args<'_>) -> Result<Value, SqlError> {
    let document = some!(args.document(0, "json_keys")?);
    let found = match args.len() {
        1 => Some(&document),
        _ => some!(args.single_path(1)?).find_one(&document, true),
    };
    match found {
        Some(Json::Object(object)) => {
            json::value(&Json::Array(object.iter().map(|(key, _)| Json::String(key.to_owned())).collect()))
        }
        _ => Ok(Value::Null),
    }
}

pub(super) fn pretty(args: &Args<'_>) -> Result<Value, SqlError> {
    Ok(Value::from(some!(args.document(0, "json_pretty")?).to_pretty()))
}

pub(super) fn storage_size(args: &Args<'_>) -> Result<Value, SqlError> {
    let value = args.value(0)?;
    if let Value::Json(bytes) = &*value {
        return Ok(Value::Int(bytes.len() as i64));
    }
    let document = some!(args.document(0, "json_storage_size")?);
    Ok(Value::Int(binary::encode(&document).map_err(json::error)?.len() as i64))
}

/// Documents are written whole, so that no room is ever left in one.
pub(super) fn storage_free(args: &Args<'_>) -> Result<Value, SqlError> {
    some!(args.document(0, "json_storage_free")?);
    Ok(Value::Int(0))
}
