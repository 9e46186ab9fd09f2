//! Character sets of columns, and the ways to and from utf8mb4.

use std::borrow::Cow;

/// A character set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Charset {
    /// Unicode; `utf8mb3` and `utf8` are taken for it.
    Utf8Mb4,
    /// cp1252, as MySQL's latin1 is.
    Latin1,
    /// Bytes.
    Binary,
}

impl Charset {
    /// `utf8mb4`, `latin1`, `binary`.
    pub fn name(self) -> &'static str {
        match self {
            Charset::Utf8Mb4 => "utf8mb4",
            Charset::Latin1 => "latin1",
            Charset::Binary => "binary",
        }
    }

    /// Longest character.
    pub fn max_bytes_per_char(self) -> u32 {
        match self {
            Charset::Utf8Mb4 => 4,
            Charset::Latin1 | Charset::Binary => 1,
        }
    }
}

/// latin1 (cp1252) bytes as utf8.
pub fn latin1_to_utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    let _ = bytes;
    todo!()
}

/// utf8 as latin1 (cp1252); `None` at the first character that it does not have.
pub fn utf8_to_latin1(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    let _ = text;
    todo!()
}
