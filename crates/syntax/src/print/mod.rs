//! Trees as text, which MySQL and MariaDB read as the same tree, under a `sql_mode` with neither ANSI_QUOTES nor NO_BACKSLASH_ESCAPES.
//!
//! Names have quotes; parentheses are those that were written ([`crate::ast::ExprKind::Nested`]), so a tree that is made otherwise has to have
//! them where operators need them.

mod change;
mod expr;
mod json_table;
mod program;
mod query;
mod written;

pub(crate) use written::written;

use std::fmt::{self, Display, Formatter, Write};

use crate::ast::{ColumnPath, Name, TablePath};

/// Things with commas between them.
struct List<'t, T>(&'t [T]);

impl<T: Display> Display for List<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, item) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            item.fmt(f)?;
        }
        Ok(())
    }
}

/// A clause with a space and words before it, if it is there.
struct Clause<'t, T>(&'static str, Option<&'t T>);

impl<T: Display> Display for Clause<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(clause) => write!(f, " {} {clause}", self.0),
            None => Ok(()),
        }
    }
}

/// The same of a list, if it is not empty.
struct ListClause<'t, T>(&'static str, &'t [T]);

impl<T: Display> Display for ListClause<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.1.is_empty() { Ok(()) } else { write!(f, " {} {}", self.0, List(self.1)) }
    }
}

/// The same in parentheses.
struct Parentheses<'t, T>(&'static str, &'t [T]);

impl<T: Display> Display for Parentheses<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.1.is_empty() { Ok(()) } else { write!(f, "{} ({})", self.0, List(self.1)) }
    }
}

/// A name in quotes.
fn quoted(name: &str, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "`{}`", name.replace('`', "``"))
}

/// Text in quotes.
fn quoted_text(text: &str, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_char('\'')?;
    for char in text.chars() {
        match char {
            '\'' => f.write_str("''")?,
            '\\' => f.write_str("\\\\")?,
            '\0' => f.write_str("\\0")?,
            other => f.write_char(other)?,
        }
    }
    f.write_char('\'')
}

impl Display for Name {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        quoted(&self.text, f)
    }
}

impl Display for TablePath {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.schema {
            Some(schema) => write!(f, "{schema}.{}", self.name),
            None => self.name.fmt(f),
        }
    }
}

impl Display for ColumnPath {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for part in [&self.schema, &self.table].into_iter().flatten() {
            write!(f, "{part}.")?;
        }
        self.name.fmt(f)
    }
}
