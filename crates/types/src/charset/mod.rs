//! Character sets of columns, and the ways to and from utf8mb4.
//!
//! Strings in flight are utf8mb4.

mod single_byte;

use std::borrow::Cow;

use bytes::Bytes;

pub use single_byte::SingleByte;
pub(crate) use single_byte::is_same;

/// A character set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Charset {
    /// Unicode; `utf8mb3` and `utf8` are taken for it.
    Utf8Mb4,
    /// One with one byte per character.
    Single(SingleByte),
    /// Bytes.
    Binary,
}

impl Charset {
    /// `latin1`, which is cp1252 in MySQL.
    pub const LATIN1: Charset = Charset::Single(SingleByte::LATIN1);
    /// `ascii`
    pub const ASCII: Charset = Charset::Single(SingleByte::ASCII);

    /// `utf8mb4`, `latin1`, `binary`.
    pub fn name(self) -> &'static str {
        match self {
            Charset::Utf8Mb4 => "utf8mb4",
            Charset::Single(set) => set.name(),
            Charset::Binary => "binary",
        }
    }

    /// What SHOW CHARACTER SET says of it.
    pub fn description(self) -> &'static str {
        match self {
            Charset::Utf8Mb4 => "UTF-8 Unicode",
            Charset::Single(set) => set.description(),
            Charset::Binary => "Binary pseudo charset",
        }
    }

    /// The character set of that name, without regard to case; `utf8` and `utf8mb3` are taken for utf8mb4.
    pub fn by_name(name: &str) -> Option<Charset> {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        if is("utf8mb4") || is("utf8") || is("utf8mb3") {
            Some(Charset::Utf8Mb4)
        } else if is("binary") {
            Some(Charset::Binary)
        } else {
            SingleByte::by_name(name).map(Charset::Single)
        }
    }

    /// Longest character.
    pub fn max_bytes_per_char(self) -> u32 {
        match self {
            Charset::Utf8Mb4 => 4,
            Charset::Single(_) | Charset::Binary => 1,
        }
    }

    /// The collation that it has by default.
    pub fn default_collation(self) -> crate::CollationId {
        match self {
            Charset::Utf8Mb4 => crate::CollationId::UTF8MB4_0900_AI_CI,
            Charset::Single(set) => set.default_collation(),
            Charset::Binary => crate::CollationId::BINARY,
        }
    }

    /// All of them by name, for SHOW CHARACTER SET.
    pub fn all() -> impl Iterator<Item = Charset> {
        let mut all: Vec<Charset> = SingleByte::all().map(Charset::Single).collect();
        all.extend([Charset::Binary, Charset::Utf8Mb4]);
        all.sort_unstable_by_key(|set| set.name());
        all.into_iter()
    }

    /// Bytes in this character set as utf8mb4 (binary stays as it is), with `?` for bytes that are no character of a set of one byte
    /// per character.
    pub fn decode(self, bytes: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Charset::Utf8Mb4 | Charset::Binary => Cow::Borrowed(bytes),
            Charset::Single(set) => set.decode(bytes),
        }
    }

    /// Text of this character set as utf8mb4; `None` if the bytes are no text. Of no character set, they are if they are utf8mb4.
    pub fn text(self, bytes: &[u8]) -> Option<Cow<'_, str>> {
        match self {
            Charset::Utf8Mb4 | Charset::Binary => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Charset::Single(set) => set.text(bytes),
        }
    }

    /// Whether any bytes are text of this character set.
    pub fn has_every_byte(self) -> bool {
        match self {
            Charset::Utf8Mb4 => false,
            Charset::Single(set) => set.has_every_byte(),
            Charset::Binary => true,
        }
    }

    /// How many bytes at the beginning are text of this character set.
    pub fn valid_up_to(self, bytes: &[u8]) -> usize {
        match self {
            Charset::Utf8Mb4 => std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len),
            Charset::Single(set) => set.valid_up_to(bytes),
            Charset::Binary => bytes.len(),
        }
    }

    /// utf8mb4 in this character set; `None` if it has a character that this one has not.
    pub fn encode(self, text: &[u8]) -> Option<Cow<'_, [u8]>> {
        match self {
            Charset::Utf8Mb4 | Charset::Binary => Some(Cow::Borrowed(text)),
            Charset::Single(set) => set.encode(text),
        }
    }

    /// utf8mb4 in this character set, with `?` for characters that this one has not.
    pub fn encode_lossy(self, text: &[u8]) -> Cow<'_, [u8]> {
        let Charset::Single(set) = self else { return Cow::Borrowed(text) };
        set.encode(text).unwrap_or_else(|| {
            let text = String::from_utf8_lossy(text);
            Cow::Owned(text.chars().map(|c| set.byte_of(c).unwrap_or(b'?')).collect())
        })
    }

    /// The same, of text that is shared where it has the same bytes.
    pub fn encode_shared(self, text: &Bytes) -> Bytes {
        match self.encode_lossy(text) {
            Cow::Borrowed(_) => text.clone(),
            Cow::Owned(bytes) => bytes.into(),
        }
    }

    /// utf8mb4 with `?` for characters that this character set has not.
    pub fn representable(self, text: &[u8]) -> Vec<u8> {
        self.decode(&self.encode_lossy(text)).into_owned()
    }
}

/// The code point at the beginning of `text` and its length in bytes. Text in flight is utf8; should a byte not be, it
/// counts as one character, U+FFFD. `text` is not empty.
pub(crate) fn next_code_point(text: &[u8]) -> (u32, usize) {
    let first = text[0];
    if first < 0x80 {
        return (first as u32, 1);
    }
    let continuation = |at: usize| text.get(at).filter(|&&byte| byte & 0xc0 == 0x80).map(|byte| (byte & 0x3f) as u32);
    let decoded = match first {
        0xc2..=0xdf => continuation(1).map(|b| ((first as u32 & 0x1f) << 6 | b, 2)),
        0xe0..=0xef => continuation(1).zip(continuation(2)).map(|(b, c)| ((first as u32 & 0x0f) << 12 | b << 6 | c, 3)),
        0xf0..=0xf4 => continuation(1)
            .zip(continuation(2))
            .zip(continuation(3))
            .map(|((b, c), d)| ((first as u32 & 0x07) << 18 | b << 12 | c << 6 | d, 4)),
        _ => None,
    };
    decoded.unwrap_or((0xfffd, 1))
}

/// How many characters utf8 text has.
pub fn char_count(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte & 0xc0 != 0x80).count()
}

/// The length in bytes of the first `chars` characters of utf8 text.
pub fn prefix_bytes(text: &[u8], chars: usize) -> usize {
    if text.len() <= chars {
        return text.len();
    }
    let mut starts = text.iter().enumerate().filter(|(_, byte)| **byte & 0xc0 != 0x80);
    starts.nth(chars).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_set_does_not_have() {
        assert_eq!(&*Charset::LATIN1.encode_lossy("aä語".as_bytes()), b"a\xe4?");
        assert_eq!(Charset::ASCII.representable("aä".as_bytes()), b"a?");
        assert_eq!((Charset::ASCII.text(b"\xe4"), Charset::Utf8Mb4.text(b"\xe4")), (None, None));
        assert_eq!((Charset::Binary.text(b"\xe4"), &*Charset::Binary.decode(b"\xe4")), (None, &b"\xe4"[..]));
        assert_eq!(Charset::by_name("UTF8"), Some(Charset::Utf8Mb4));
        assert_eq!(Charset::by_name("gbk"), None);
        assert_eq!(Charset::LATIN1.name(), "latin1");
        let names: Vec<&str> = Charset::all().map(Charset::name).collect();
        assert!(
            names.is_sorted() && names.iter().all(|name| Charset::by_name(name).is_some_and(|set| set.name() == *name))
        );
    }

    #[test]
    fn characters_are_counted_and_cut() {
        assert_eq!(char_count("aä€😀".as_bytes()), 4);
        assert_eq!(prefix_bytes("aä€😀".as_bytes(), 2), 3);
        assert_eq!(prefix_bytes("aä".as_bytes(), 9), 3);
        for c in ['a', 'ä', '€', '😀'] {
            assert_eq!(next_code_point(c.to_string().as_bytes()), (c as u32, c.len_utf8()));
        }
        assert_eq!(next_code_point(&[0xe4, 0x41]), (0xfffd, 1));
    }
}
