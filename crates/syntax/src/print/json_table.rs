//! JSON_TABLE.

use std::fmt::{self, Display, Formatter};

use super::{List, quoted_text};
use crate::ast::{JsonBehavior, JsonColumn, JsonTable, JsonTableValue};

impl Display for JsonTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "JSON_TABLE({}, ", self.document)?;
        quoted_text(&self.path, f)?;
        write!(f, " COLUMNS ({})) AS {}", List(&self.columns), self.alias)
    }
}

impl Display for JsonColumn {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            JsonColumn::Ordinality(name) => write!(f, "{name} FOR ORDINALITY"),
            JsonColumn::Value(value) => value.fmt(f),
            JsonColumn::Nested(path, columns) => {
                f.write_str("NESTED PATH ")?;
                quoted_text(path, f)?;
                write!(f, " COLUMNS ({})", List(columns))
            }
        }
    }
}

impl Display for JsonTableValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{} PATH ", self.name, self.ty, if self.exists { " EXISTS" } else { "" })?;
        quoted_text(&self.path, f)?;
        for (behavior, on) in [(&self.on_empty, "EMPTY"), (&self.on_error, "ERROR")] {
            match behavior {
                JsonBehavior::Null => {}
                JsonBehavior::Error => write!(f, " ERROR ON {on}")?,
                JsonBehavior::Default(value) => write!(f, " DEFAULT {value} ON {on}")?,
            }
        }
        Ok(())
    }
}
