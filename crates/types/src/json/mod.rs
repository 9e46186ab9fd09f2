//! JSON documents as MySQL has them: the tree, and the ways between it, its text and MySQL's binary form.
//!
//! ```text
//!   text --parse--> Json --binary::encode--> the bytes of a JSON column (row image, storage, crate::Value::Json)
//!   text <--write-- Json <--binary::decode--
//!                    | path: $.a[last]**.b     edit: JSON_SET and its kin, and the diffs of partial updates
//!                    | order: = < ORDER BY GROUP BY
//! ```
//!
//! # Invariants
//! - The members of an [`Object`] are in the order of their keys' lengths, then of the keys' bytes, and no key is there twice.
//! - `decode(encode(json)) == json` for documents no deeper than [`DEPTH_MAX`].
//! - Bytes that were not made here give an error, never a panic.

pub mod binary;
pub mod edit;
pub mod order;
mod parse;
pub mod path;
#[cfg(test)]
mod tests;
mod write;

use crate::binlog_meta::type_code;
use crate::decimal::Decimal;
use crate::temporal::{Date, DateTime, Time};

pub use edit::{ArrayInsert, Change, Diff};
pub use parse::{ParseError, parse, parse_prefix_of_literal};
pub use path::{Leg, Path, PathError};
pub use write::{quote, write_key};

/// As deep as a document may be.
pub const DEPTH_MAX: usize = 100;

/// A document, or a value in one.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Json {
    /// `null`
    #[default]
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer; text of a number of more than 32 bits becomes one, too.
    UInt(u64),
    /// A number with a fraction or an exponent.
    Double(f64),
    /// DECIMAL, from an expression of that type.
    Decimal(Decimal),
    /// Text.
    String(String),
    /// DATE
    Date(Date),
    /// TIME
    Time(Time),
    /// DATETIME
    DateTime(DateTime),
    /// TIMESTAMP, as the session's clock showed it.
    Timestamp(DateTime),
    /// What JSON has no form for: bytes, and MySQL's number of their type.
    Opaque(u8, Vec<u8>),
    /// `[…]`
    Array(Vec<Json>),
    /// `{…}`
    Object(Object),
}

/// The members of an object, in MySQL's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object(Vec<(String, Json)>);

/// The order of keys: the shorter first, then by their bytes.
fn key_order(a: &str, b: &str) -> std::cmp::Ordering {
    a.len().cmp(&b.len()).then_with(|| a.as_bytes().cmp(b.as_bytes()))
}

impl Object {
    /// Of members in any order; of two with one key the last stays.
    pub fn from_members(mut members: Vec<(String, Json)>) -> Object {
        // The sort is stable, so the last of a key is the last of its run.
        members.sort_by(|a, b| key_order(&a.0, &b.0));
        members.reverse();
        members.dedup_by(|a, b| a.0 == b.0);
        members.reverse();
        Object(members)
    }

    /// How many members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// No members?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn find(&self, key: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(own, _)| key_order(own, key))
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.find(key).ok().map(|at| &self.0[at].1)
    }

    /// The value of a key, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        self.find(key).ok().map(|at| &mut self.0[at].1)
    }

    /// Adds a member or changes its value.
    pub fn set(&mut self, key: &str, value: Json) {
        match self.find(key) {
            Ok(at) => self.0[at].1 = value,
            Err(at) => self.0.insert(at, (key.to_owned(), value)),
        }
    }

    /// Takes a member away.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        self.find(key).ok().map(|at| self.0.remove(at).1)
    }

    /// The members of both: what `other` makes of a value that the other one alone has, and `both` of the two values of one key; none is
    /// left out.
    pub fn merged(
        mut self,
        others: Object,
        other: impl Fn(Json) -> Option<Json>,
        both: impl Fn(Json, Json) -> Option<Json>,
    ) -> Object {
        /// So many times larger is one into which the others are put one by one: each moves what stands behind it.
        const FEW: usize = 64;
        if others.len() < self.len() / FEW {
            for (key, theirs) in others.0 {
                let mine = self.remove(&key);
                let value = match mine {
                    Some(mine) => both(mine, theirs),
                    None => other(theirs),
                };
                value.into_iter().for_each(|value| self.set(&key, value));
            }
            return self;
        }
        let mut merged = Vec::with_capacity(self.len() + others.len());
        let mut own = self.0.into_iter().peekable();
        for (key, theirs) in others.0 {
            merged.extend(std::iter::from_fn(|| own.next_if(|(name, _)| key_order(name, &key).is_lt())));
            let value = match own.next_if(|(name, _)| *name == key) {
                Some((_, mine)) => both(mine, theirs),
                None => other(theirs),
            };
            merged.extend(value.map(|value| (key, value)));
        }
        merged.extend(own);
        Object(merged)
    }

    /// Keys and values, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Json)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// The values, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Json> {
        self.0.iter_mut().map(|(_, value)| value)
    }
}

impl IntoIterator for Object {
    type Item = (String, Json);
    type IntoIter = std::vec::IntoIter<(String, Json)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Json {
    /// What JSON_TYPE() says.
    pub fn type_name(&self) -> &'static str {
        match self {
            Json::Null => "NULL",
            Json::Bool(_) => "BOOLEAN",
            Json::Int(_) => "INTEGER",
            Json::UInt(_) => "UNSIGNED INTEGER",
            Json::Double(_) => "DOUBLE",
            Json::Decimal(_) => "DECIMAL",
            Json::String(_) => "STRING",
            Json::Date(_) => "DATE",
            Json::Time(_) => "TIME",
            Json::DateTime(_) | Json::Timestamp(_) => "DATETIME",
            Json::Opaque(code, _) => match *code {
                type_code::BIT => "BIT",
                type_code::GEOMETRY => "GEOMETRY",
                type_code::VARCHAR
                | type_code::VAR_STRING
                | type_code::STRING
                | type_code::TINY_BLOB
                | type_code::MEDIUM_BLOB
                | type_code::LONG_BLOB
                | type_code::BLOB => "BLOB",
                _ => "OPAQUE",
            },
            Json::Array(_) => "ARRAY",
            Json::Object(_) => "OBJECT",
        }
    }

    /// Neither array nor object.
    pub fn is_scalar(&self) -> bool {
        !matches!(self, Json::Array(_) | Json::Object(_))
    }

    /// Elements of an array, members of an object, 1 of anything else.
    pub fn length(&self) -> usize {
        match self {
            Json::Array(elements) => elements.len(),
            Json::Object(object) => object.len(),
            _ => 1,
        }
    }

    /// How many values there are in it, itself one of them.
    pub fn parts(&self) -> u64 {
        match self {
            Json::Array(elements) => 1 + elements.iter().map(Json::parts).sum::<u64>(),
            Json::Object(object) => 1 + object.iter().map(|(_, value)| value.parts()).sum::<u64>(),
            _ => 1,
        }
    }

    /// 1 of a scalar and of what is empty.
    pub fn depth(&self) -> usize {
        let deepest = match self {
            Json::Array(elements) => elements.iter().map(Json::depth).max(),
            Json::Object(object) => object.iter().map(|(_, value)| value.depth()).max(),
            _ => None,
        };
        1 + deepest.unwrap_or(0)
    }

    /// The text, as MySQL writes it.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    /// What [`Json::Array`] it is in the places where MySQL takes a single value for an array of one.
    pub fn into_array(self) -> Vec<Json> {
        match self {
            Json::Array(elements) => elements,
            other => vec![other],
        }
    }
}

/// What has no binary form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// 3157
    #[error("The JSON document exceeds the maximum depth.")]
    TooDeep,
    /// 3151
    #[error("The JSON object contains a key name that is too long.")]
    KeyTooLong,
    /// 3150
    #[error("The JSON value is too big to be stored in a JSON column.")]
    TooLong,
    /// 3145, and what the log calls damaged.
    #[error("The JSON binary value contains invalid data.")]
    Damaged,
}
