//! JSON_TABLE.

use super::{Expr, JsonBehavior, Name};
use crate::statement::TypeSpec;

/// `JSON_TABLE(document, 'path' COLUMNS (…)) AS alias`
#[derive(Clone, Debug, PartialEq)]
pub struct JsonTable {
    /// The document.
    pub document: Expr,
    /// What of it becomes rows.
    pub path: Box<str>,
    /// The columns.
    pub columns: Vec<JsonColumn>,
    /// Its name.
    pub alias: Name,
}

/// A column of JSON_TABLE, or several.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonColumn {
    /// `name FOR ORDINALITY`
    Ordinality(Name),
    /// `name type [EXISTS] PATH 'path' …`
    Value(Box<JsonTableValue>),
    /// `NESTED PATH 'path' COLUMNS (…)`
    Nested(Box<str>, Vec<JsonColumn>),
}

/// A column that has something of the document.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonTableValue {
    /// Its name.
    pub name: Name,
    /// Its type, with COLLATE.
    pub ty: TypeSpec,
    /// EXISTS: whether there is something.
    pub exists: bool,
    /// Where.
    pub path: Box<str>,
    /// ON EMPTY.
    pub on_empty: JsonBehavior,
    /// ON ERROR.
    pub on_error: JsonBehavior,
    /// ON EMPTY came behind ON ERROR, as it should not.
    pub is_turned: bool,
}
