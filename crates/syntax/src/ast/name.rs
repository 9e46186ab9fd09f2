//! Names.

use std::sync::Arc;

use crate::span::Span;

/// A name without its quotes. Within a statement the same name is one allocation, mostly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// As it is written.
    pub text: Arc<str>,
    /// Where.
    pub span: Span,
}

impl Name {
    /// A name that stands nowhere.
    pub fn new(text: &str) -> Self {
        Name { text: Arc::from(text), span: Span::default() }
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// `table`, `database.table`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TablePath {
    /// The database, if it is named.
    pub schema: Option<Name>,
    /// The table.
    pub name: Name,
}

impl TablePath {
    /// The database and the table.
    pub fn parts(&self) -> (Option<&str>, &str) {
        (self.schema.as_ref().map(Name::as_str), self.name.as_str())
    }
}

/// `column`, `table.column`, `database.table.column`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnPath {
    /// The database, if it is named.
    pub schema: Option<Name>,
    /// The table, if it is named.
    pub table: Option<Name>,
    /// The column.
    pub name: Name,
}
