//! Collations: which strings are equal, and in which order they are.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::charset::Charset;

/// A collation, by MySQL's number for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CollationId(pub u16);

impl CollationId {
    /// `binary`
    pub const BINARY: CollationId = CollationId(63);
    /// `utf8mb4_0900_ai_ci`
    pub const UTF8MB4_0900_AI_CI: CollationId = CollationId(255);
    /// `utf8mb4_bin`
    pub const UTF8MB4_BIN: CollationId = CollationId(46);
    /// `utf8mb4_general_ci`
    pub const UTF8MB4_GENERAL_CI: CollationId = CollationId(45);
    /// `utf8mb4_0900_bin`
    pub const UTF8MB4_0900_BIN: CollationId = CollationId(309);
    /// `latin1_swedish_ci`
    pub const LATIN1_SWEDISH_CI: CollationId = CollationId(8);
    /// What strings have when nothing is said: `utf8mb4_0900_ai_ci`.
    pub const DEFAULT: CollationId = CollationId::UTF8MB4_0900_AI_CI;

    /// Its character set.
    pub fn charset(self) -> Charset {
        self.info().charset
    }

    /// `utf8mb4_0900_ai_ci` and the like.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// What is known of it. Ids that we do not know are treated as `binary`; they cannot come from [`by_name`] or [`by_id`].
    pub fn info(self) -> &'static CollationInfo {
        todo!()
    }
}

/// How a collation treats trailing spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pad {
    /// They do not matter: `'a' = 'a  '`.
    PadSpace,
    /// They do.
    NoPad,
}

/// A line of `SHOW COLLATION`.
#[derive(Debug)]
pub struct CollationInfo {
    /// MySQL's number.
    pub id: CollationId,
    /// Name.
    pub name: &'static str,
    /// Its character set.
    pub charset: Charset,
    /// Whether it is what the character set has by default.
    pub is_default: bool,
    /// Trailing spaces.
    pub pad: Pad,
}

/// All collations, for `SHOW COLLATION`.
pub fn all() -> &'static [CollationInfo] {
    todo!()
}

/// The collation of that name (without regard to case; `utf8_…` and `utf8mb3_…` are taken for `utf8mb4_…`).
pub fn by_name(name: &str) -> Option<CollationId> {
    let _ = name;
    todo!()
}

/// The collation of that number, as clients give it in their handshake.
pub fn by_id(id: u16) -> Option<CollationId> {
    let _ = id;
    todo!()
}

/// The order of two strings (utf8mb4, or bytes for `binary`).
pub fn compare(collation: CollationId, a: &[u8], b: &[u8]) -> Ordering {
    let _ = (collation, a, b);
    todo!()
}

/// Whether two strings are equal.
pub fn equal(collation: CollationId, a: &[u8], b: &[u8]) -> bool {
    compare(collation, a, b).is_eq()
}

/// Appends bytes that are equal for equal strings and ordered as the strings are, and that no other string's bytes begin
/// with: what a key holds.
pub fn weights(collation: CollationId, text: &[u8], out: &mut Vec<u8>) {
    let _ = (collation, text, out);
    todo!()
}

/// A hash that is equal for equal strings.
pub fn hash(collation: CollationId, text: &[u8]) -> u64 {
    let mut key = Vec::with_capacity(2 * text.len() + 8);
    weights(collation, text, &mut key);
    xxhash_rust::xxh3::xxh3_64(&key)
}
