//! JSON_SCHEMA_VALID and JSON_SCHEMA_VALIDATION_REPORT: whether a document has the form that a schema describes.
//!
//! Schemas are those of draft 4. A keyword whose value is none that the draft knows says nothing, as in MySQL; `$ref` leads within the schema only
//! (1235), and to nothing that it is in (3157). [`compile`] makes a list of the schema and all those in it, [`validate`] goes through
//! the document and them.
//!
//! Invariants: a schema's parts stand for themselves in the list and lead to others by number, never in a circle, so both recursions end at
//! [`compile::DEPTH_MAX`]. What a document's value costs is counted for each schema that looks at it.

mod compile;
mod validate;

use base::{SqlError, codes};
use types::json::Object;
use types::{Json, Value};

use self::compile::Schemas;
use self::validate::Failure;
use super::{Args, json, some};

pub(super) fn valid(args: &Args<'_>) -> Result<Value, SqlError> {
    let failure = some!(check(args, "json_schema_valid")?);
    Ok(Value::from(failure.is_none()))
}

pub(super) fn report(args: &Args<'_>) -> Result<Value, SqlError> {
    let failure = some!(check(args, "json_schema_validation_report")?);
    let mut members = vec![("valid".to_owned(), Json::Bool(failure.is_none()))];
    if let Some(Failure { schema, document, keyword }) = failure {
        let reason = format!(
            "The JSON document location '{document}' failed requirement '{keyword}' at JSON Schema location '{schema}'"
        );
        let texts = [
            ("reason", reason),
            ("schema-location", schema),
            ("document-location", document),
            ("schema-failed-keyword", keyword.to_owned()),
        ];
        members.extend(texts.map(|(key, text)| (key.to_owned(), Json::String(text))));
    }
    json::value(&Json::Object(Object::from_members(members)))
}

/// What a document fails at; `None` of NULL.
fn check(args: &Args<'_>, function: &str) -> Result<Option<Option<Failure>>, SqlError> {
    let Some(schema) = document(args, 0, function)? else { return Ok(None) };
    if !matches!(schema, Json::Object(_)) {
        let message = format!("Invalid JSON type in argument 1 to function {function}; an object is required.");
        return Err(SqlError::new(codes::INVALID_JSON_TYPE, message));
    }
    let Some(document) = document(args, 1, function)? else { return Ok(None) };
    let schemas = Schemas::compile(&schema, args)?;
    Ok(Some(validate::validate(&schemas, &document, args)?))
}

/// A document, which may be a binary string too.
fn document(args: &Args<'_>, at: usize, function: &str) -> Result<Option<Json>, SqlError> {
    match &*args.value(at)? {
        Value::Bytes(bytes) => json::parse_argument(bytes, at + 1, function).map(Some),
        _ => args.document(at, function),
    }
}

/// Adds a step to a place in a document, as a fragment of a URI has it.
fn push_step(pointer: &mut String, name: &str) {
    use std::fmt::Write;
    pointer.push('/');
    for &byte in name.as_bytes() {
        match byte {
            b'~' => pointer.push_str("~0"),
            b'/' => pointer.push_str("~1"),
            b'-' | b'.' | b'_' => pointer.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => pointer.push(char::from(byte)),
            _ => {
                let _ = write!(pointer, "%{byte:02X}");
            }
        }
    }
}
