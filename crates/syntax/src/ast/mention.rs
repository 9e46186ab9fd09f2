//! Names that mean something of the stored program around them.

use super::{ColumnPath, Name};

/// A name that is a variable of the program, or a row of its trigger, by where it stands: who checks the program need not look for it in
/// the trees of all its expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mention {
    /// Where INTO puts a value: a variable, or a field of one that is a row.
    Into(Name),
    /// Behind LIMIT: a variable that is a whole number, or a field of one that is a row.
    Limit(Box<ColumnPath>),
    /// `OLD.a`
    Old,
    /// `NEW.a`
    New,
}
