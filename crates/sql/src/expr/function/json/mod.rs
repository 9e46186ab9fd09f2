//! JSON functions. Their arguments are documents (JSON, or text that is parsed), paths, and values (of which text is a string).

mod change;
mod read;
mod schema;
mod search;
mod value;

use base::{SqlError, codes};
use types::json::Path;
use types::{CollationId, Json, Value};

use super::{Args, FunctionInfo, LONG_TEXT, MANY, any_nullable, line, some};
use crate::expr::context::SessionInfo;
use crate::expr::json;
use crate::expr::tree::{Expr, ExprKind};
use crate::expr::types::{ExprType, Kind};

pub(crate) use read::null_key;
pub(crate) use value::{Behavior, JsonValue};

pub(super) static TABLE: &[FunctionInfo] = &[
    line("json_array", 0, MANY, document_type, read::array),
    line("json_object", 0, MANY, document_type, read::object),
    line("json_quote", 1, 1, text_type, read::quote),
    line("json_unquote", 1, 1, text_type, read::unquote),
    line("json_extract", 2, MANY, document_type, read::extract),
    line("json_type", 1, 1, type_name_type, read::type_name),
    line("json_valid", 1, 1, super::int, read::valid),
    line("json_depth", 1, 1, super::nullable_int, read::depth),
    line("json_length", 1, 2, super::nullable_int, read::length),
    line("json_keys", 1, 2, document_type, read::keys),
    line("json_pretty", 1, 1, long_text_type, read::pretty),
    line("json_storage_size", 1, 1, super::nullable_int, read::storage_size),
    line("json_storage_free", 1, 1, super::nullable_int, read::storage_free),
    line("json_set", 3, MANY, document_type, change::set),
    line("json_insert", 3, MANY, document_type, change::insert),
    line("json_replace", 3, MANY, document_type, change::replace),
    line("json_remove", 2, MANY, document_type, change::remove),
    line("json_array_append", 3, MANY, document_type, change::array_append),
    line("json_array_insert", 3, MANY, document_type, change::array_insert),
    line("json_merge", 2, MANY, document_type, change::merge_preserve),
    line("json_merge_preserve", 2, MANY, document_type, change::merge_preserve),
    line("json_merge_patch", 2, MANY, document_type, change::merge_patch),
    line("json_contains", 2, 3, super::nullable_int, search::contains),
    line("json_contains_path", 3, MANY, super::nullable_int, search::contains_path),
    line("json_overlaps", 2, 2, super::truth, search::overlaps),
    line("member of", 2, 2, super::truth, search::member_of),
    line("json_search", 3, MANY, document_type, search::search),
    line("json_value", 2, 5, value::infer, value::eval),
    line("json_schema_valid", 2, 2, super::truth, schema::valid).per_execution(),
    line("json_schema_validation_report", 2, 2, document_type, schema::report).per_execution(),
];

/// Not by name: an SQL value as JSON has it, so that a condition is `true` or `false`.
pub(super) static ATOM: FunctionInfo = line("json atom", 1, 1, document_type, |args| {
    let value = args.value(0)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    json::value(&args.json_value(0)?)
});

fn document_type(_: &[Expr], _: &SessionInfo) -> ExprType {
    ExprType::json()
}

fn text_type(args: &[Expr], _: &SessionInfo) -> ExprType {
    let length = args[0].ty.text_length().saturating_mul(6).saturating_add(2);
    let longest = if args[0].ty.kind == Kind::Json { u32::MAX / 4 } else { length };
    ExprType::text(longest, CollationId::UTF8MB4_BIN).nullable(true)
}

fn long_text_type(_: &[Expr], _: &SessionInfo) -> ExprType {
    ExprType::text(LONG_TEXT * 4, CollationId::UTF8MB4_BIN)
}

fn type_name_type(args: &[Expr], _: &SessionInfo) -> ExprType {
    ExprType::text(17, CollationId::UTF8MB4_BIN).nullable(any_nullable(args))
}

/// Whether an expression gives a condition's value, which JSON has as `true` or `false`.
fn is_condition(expr: &Expr) -> bool {
    const PASS_ON: [&str; 8] = ["if", "ifnull", "coalesce", "nullif", "greatest", "least", "any_value", "coerced"];
    match &expr.kind {
        ExprKind::Case { .. } => false,
        ExprKind::Call { function, .. } if PASS_ON.contains(&function.name()) => false,
        ExprKind::Call { function, .. } => {
            const CONDITIONS: [&str; 3] = ["json_valid", "json_contains", "json_contains_path"];
            expr.ty.is_truth() || CONDITIONS.contains(&function.name())
        }
        ExprKind::Literal(_)
        | ExprKind::Column { .. }
        | ExprKind::Compare { .. }
        | ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::Xor(_)
        | ExprKind::Not(_)
        | ExprKind::IsNull(_)
        | ExprKind::IsTruth { .. }
        | ExprKind::In { .. }
        | ExprKind::Between { .. }
        | ExprKind::Like { .. } => expr.ty.is_truth(),
        _ => false,
    }
}

/// A condition beside a document, as JSON has it; anything else as it is.
pub(crate) fn condition_as_json(expr: Expr) -> Expr {
    if is_condition(&expr) { super::build(&ATOM, vec![expr], &SessionInfo::default()) } else { expr }
}

/// The JSON value of an expression's value, in which text is a string.
pub(crate) fn json_of(value: &Value, expr: &Expr) -> Result<Json, SqlError> {
    match value {
        Value::Int(n) if is_condition(expr) => Ok(Json::Bool(*n != 0)),
        _ => json::atom_of(value, &expr.ty),
    }
}

impl Args<'_> {
    /// A document; `None` of NULL.
    fn document(&self, at: usize, function: &str) -> Result<Option<Json>, SqlError> {
        let value = self.value(at)?;
        Ok(Some(match &*value {
            Value::Null => return Ok(None),
            Value::Json(_) => json::document(&value)?,
            Value::Str(text) => json::parse_argument(text, at + 1, function)?,
            Value::Bytes(_) => return Err(json::binary_charset()),
            _ => {
                let message = format!(
                    "Invalid data type for JSON data in argument {} to function {function}; a JSON string or JSON type is \
                     required.",
                    at + 1
                );
                return Err(SqlError::new(codes::INVALID_TYPE_FOR_JSON, message));
            }
        }))
    }

    /// A value to be put into a document; NULL is `null`.
    fn json_value(&self, at: usize) -> Result<Json, SqlError> {
        json_of(&*self.value(at)?, &self.args[at])
    }

    /// A path; `None` of NULL.
    fn path(&self, at: usize) -> Result<Option<Path>, SqlError> {
        let Some(text) = self.text(at)? else { return Ok(None) };
        Path::parse(&String::from_utf8_lossy(&text))
            .map(Some)
            .map_err(|error| SqlError::new(codes::INVALID_JSON_PATH, error.to_string()))
    }

    /// All that a path leads to; a single value counts as an array of one.
    fn found<'j>(&self, path: &Path, document: &'j Json) -> Result<Vec<&'j Json>, SqlError> {
        path.find_counted(document, true, &mut |values| self.ctx.worked(values))
    }

    /// A path that leads to one place at most.
    fn single_path(&self, at: usize) -> Result<Option<Path>, SqlError> {
        let path = self.path(at)?;
        if path.as_ref().is_some_and(Path::is_wild) {
            let message = "In this situation, path expressions may not contain the * and ** tokens or an array range.";
            return Err(SqlError::new(codes::INVALID_JSON_PATH_WILDCARD, message));
        }
        Ok(path)
    }

    /// ONE or ALL; `None` of NULL.
    fn is_all(&self, at: usize, function: &str) -> Result<Option<bool>, SqlError> {
        let Some(text) = self.text(at)? else { return Ok(None) };
        match text.to_ascii_lowercase().as_slice() {
            b"one" => Ok(Some(false)),
            b"all" => Ok(Some(true)),
            _ => {
                let message = format!("The oneOrAll argument to {function} may take these values: 'one' or 'all'.");
                Err(SqlError::new(codes::JSON_BAD_ONE_OR_ALL_ARG, message))
            }
        }
    }
}

/// 1582
fn wrong_count(function: &str) -> SqlError {
    let message = format!("Incorrect parameter count in the call to native function '{}'", function.to_uppercase());
    SqlError::new(codes::WRONG_PARAMCOUNT_TO_NATIVE_FCT, message)
}

/// 1582 for a call of the table whose arguments come in pairs, which is known before it is evaluated.
pub(super) fn check_pairs(name: &str, count: usize) -> Result<(), SqlError> {
    let before = match name {
        "json_object" => 0,
        "json_set" | "json_insert" | "json_replace" | "json_array_append" | "json_array_insert" => 1,
        _ => return Ok(()),
    };
    if (count - before) % 2 == 1 { Err(wrong_count(name)) } else { Ok(()) }
}
