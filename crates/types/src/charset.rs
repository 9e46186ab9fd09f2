//! Character sets of columns, and the ways to and from utf8mb4.
//!
//! Strings in flight are utf8mb4. MySQL's latin1 is cp1252 with its five holes filled by the control characters of the same
//! number, so every byte has a character and every conversion from it succeeds.

use std::borrow::Cow;

use bytes::Bytes;

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

    /// What SHOW CHARACTER SET says of it.
    pub fn description(self) -> &'static str {
        match self {
            Charset::Utf8Mb4 => "UTF-8 Unicode",
            Charset::Latin1 => "cp1252 West European",
            Charset::Binary => "Binary pseudo charset",
        }
    }

    /// The character set of that name, without regard to case; `utf8`, `utf8mb3`, `ascii` and `ucs2`-like names that
    /// utf8mb4 can stand for are taken for it only where nothing is lost: `utf8` and `utf8mb3`.
    pub fn by_name(name: &str) -> Option<Charset> {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        if is("utf8mb4") || is("utf8") || is("utf8mb3") {
            Some(Charset::Utf8Mb4)
        } else if is("latin1") {
            Some(Charset::Latin1)
        } else if is("binary") {
            Some(Charset::Binary)
        } else {
            None
        }
    }

    /// Longest character.
    pub fn max_bytes_per_char(self) -> u32 {
        match self {
            Charset::Utf8Mb4 => 4,
            Charset::Latin1 | Charset::Binary => 1,
        }
    }

    /// The collation that it has by default.
    pub fn default_collation(self) -> crate::CollationId {
        match self {
            Charset::Utf8Mb4 => crate::CollationId::UTF8MB4_0900_AI_CI,
            Charset::Latin1 => crate::CollationId::LATIN1_SWEDISH_CI,
            Charset::Binary => crate::CollationId::BINARY,
        }
    }

    /// All of them, for SHOW CHARACTER SET.
    pub fn all() -> [Charset; 3] {
        [Charset::Binary, Charset::Latin1, Charset::Utf8Mb4]
    }

    /// Bytes in this character set as utf8mb4 (binary stays as it is).
    pub fn decode(self, bytes: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Charset::Utf8Mb4 | Charset::Binary => Cow::Borrowed(bytes),
            Charset::Latin1 => latin1_to_utf8(bytes),
        }
    }

    /// utf8mb4 in this character set; `None` if it has a character that this one has not.
    pub fn encode(self, text: &[u8]) -> Option<Cow<'_, [u8]>> {
        match self {
            Charset::Utf8Mb4 | Charset::Binary => Some(Cow::Borrowed(text)),
            Charset::Latin1 => utf8_to_latin1(text),
        }
    }

    /// utf8mb4 in this character set, with `?` for characters that this one has not.
    pub fn encode_lossy(self, text: &[u8]) -> Cow<'_, [u8]> {
        self.encode(text).unwrap_or_else(|| {
            let text = String::from_utf8_lossy(text);
            Cow::Owned(text.chars().map(|c| latin1_byte(c).unwrap_or(b'?')).collect())
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

/// cp1252's 0x80 to 0x9f.
const CP1252_HIGH: [u16; 32] = [
    0x20ac, 0x81, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8d, 0x017d,
    0x8f, 0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d,
    0x017e, 0x0178,
];

/// The character of a latin1 (cp1252) byte.
pub fn latin1_char(byte: u8) -> char {
    let code = match byte {
        0x80..=0x9f => CP1252_HIGH[byte as usize - 0x80] as u32,
        _ => byte as u32,
    };
    char::from_u32(code).unwrap_or('?')
}

/// The latin1 (cp1252) byte of a character.
pub fn latin1_byte(c: char) -> Option<u8> {
    match c as u32 {
        code @ (0..=0x7f | 0xa0..=0xff) => Some(code as u8),
        code => CP1252_HIGH.iter().position(|&high| high as u32 == code).map(|at| at as u8 + 0x80),
    }
}

/// latin1 (cp1252) bytes as utf8.
pub fn latin1_to_utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    if bytes.is_ascii() {
        return Cow::Borrowed(bytes);
    }
    let text: String = bytes.iter().map(|&byte| latin1_char(byte)).collect();
    Cow::Owned(text.into_bytes())
}

/// utf8 as latin1 (cp1252); `None` if there is a character that it does not have, or the text is not utf8.
pub fn utf8_to_latin1(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    if text.is_ascii() {
        return Some(Cow::Borrowed(text));
    }
    let bytes: Option<Vec<u8>> = std::str::from_utf8(text).ok()?.chars().map(latin1_byte).collect();
    bytes.map(Cow::Owned)
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
    fn every_latin1_byte_comes_back() {
        for byte in 0..=255 {
            assert_eq!(latin1_byte(latin1_char(byte)), Some(byte));
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(utf8_to_latin1(&latin1_to_utf8(&all)).unwrap(), &all[..]);
        assert_eq!(&*latin1_to_utf8(b"\x80\xe4"), "€ä".as_bytes());
        assert_eq!(utf8_to_latin1("a語".as_bytes()), None);
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
