//! Types of variables.

use std::fmt::{self, Display, Formatter};

use super::{List, Path, Quoted};
use crate::statement::program::body::{DataType, Field};
use crate::statement::{TextString, TypeSpec};

impl Display for DataType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            DataType::Plain(ty) => ty.fmt(f),
            DataType::Of(path) => write!(f, "TYPE OF {path}"),
            DataType::RowOf(table) => write!(f, "ROW TYPE OF {}", Path(table)),
            DataType::Row(fields) => write!(f, "ROW ({})", List(fields)),
        }
    }
}

impl Display for Field {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.ty)
    }
}

impl Display for TypeSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        // Its width is that of the type it stands for.
        f.write_str(&self.name.to_uppercase())?;
        match (self.length, self.decimals) {
            (Some(_), _) if self.name == "bool" => {}
            (Some(length), Some(decimals)) => write!(f, "({length},{decimals})")?,
            (Some(length), None) => write!(f, "({length})")?,
            (None, _) => {}
        }
        if !self.members.is_empty() {
            write!(f, "({})", List(&self.members))?;
        }
        f.write_str(match (self.unsigned, self.zerofill) {
            (_, true) => " ZEROFILL",
            (true, false) => " UNSIGNED",
            (false, false) => "",
        })?;
        if let Some(charset) = &self.charset {
            write!(f, " CHARACTER SET {charset}")?;
        }
        f.write_str(if self.binary { " BINARY" } else { "" })?;
        match &self.collation {
            Some(collation) => write!(f, " COLLATE {collation}"),
            None => Ok(()),
        }
    }
}

impl Display for TextString {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TextString::Text(text) => Quoted(text).fmt(f),
            TextString::Bytes(bytes) => {
                f.write_str("x'")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02X}"))?;
                f.write_str("'")
            }
        }
    }
}
