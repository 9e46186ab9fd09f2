//! Character sets of one byte per character, all of them with ASCII in their lower half.
//!
//! MySQL's latin1 is cp1252 with its five holes filled by the control characters of the same number, so that every byte has a character.
//! Others have bytes that are no character: text with such a byte is none.
//!
//! # Invariants
//! - No two bytes of a set have the same character: what is decoded comes back as it was.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::CollationId;

/// One of them: its place in [`SETS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SingleByte(u8);

struct Set {
    name: &'static str,
    description: &'static str,
    default_collation: CollationId,
}

const fn set(name: &'static str, description: &'static str, default_collation: u16) -> Set {
    Set { name, description, default_collation: CollationId(default_collation) }
}

/// By name; the order of `single_byte.bin`, which `tools/collation_weights.py` writes.
const SETS: [Set; 22] = [
    set("ascii", "US ASCII", 11),
    set("cp1250", "Windows Central European", 26),
    set("cp1251", "Windows Cyrillic", 51),
    set("cp1256", "Windows Arabic", 57),
    set("cp1257", "Windows Baltic", 59),
    set("cp850", "DOS West European", 4),
    set("cp852", "DOS Central European", 40),
    set("cp866", "DOS Russian", 36),
    set("dec8", "DEC West European", 3),
    set("geostd8", "GEOSTD8 Georgian", 92),
    set("greek", "ISO 8859-7 Greek", 25),
    set("hebrew", "ISO 8859-8 Hebrew", 16),
    set("hp8", "HP West European", 6),
    set("keybcs2", "DOS Kamenicky Czech-Slovak", 37),
    set("koi8r", "KOI8-R Relcom Russian", 7),
    set("koi8u", "KOI8-U Ukrainian", 22),
    set("latin1", "cp1252 West European", 8),
    set("latin2", "ISO 8859-2 Central European", 9),
    set("latin5", "ISO 8859-9 Turkish", 30),
    set("latin7", "ISO 8859-13 Baltic", 41),
    set("macce", "Mac Central European", 38),
    set("macroman", "Mac West European", 39),
];

/// Of each set the code points of the bytes 80 to ff, 0 for none, as u16, little-endian.
static CHARS: &[u8; SETS.len() * 256] = include_bytes!("single_byte.bin");

/// Of each set the upper case of each byte, and then the lower case.
static CASES: &[u8; SETS.len() * 512] = include_bytes!("case.bin");

/// Of each set its characters beyond ASCII, by code point, with their bytes.
static BYTES: LazyLock<Vec<Vec<(u16, u8)>>> = LazyLock::new(|| {
    let of_set = |set: SingleByte| {
        let mut known: Vec<(u16, u8)> = (0x80..=0xff).map(|byte| (set.code_of(byte), byte)).collect();
        known.retain(|(code, _)| *code != 0);
        known.sort_unstable();
        known
    };
    SingleByte::all().map(of_set).collect()
});

impl SingleByte {
    pub(super) const LATIN1: SingleByte = SingleByte::named("latin1");
    pub(super) const ASCII: SingleByte = SingleByte::named("ascii");

    pub(super) fn all() -> impl Iterator<Item = SingleByte> {
        (0..SETS.len() as u8).map(SingleByte)
    }

    /// The one of that name, in lower case.
    ///
    /// # Panics
    /// If there is none: names are constants.
    pub(crate) const fn named(name: &str) -> SingleByte {
        let mut at = 0;
        while at < SETS.len() {
            if is_same(SETS[at].name.as_bytes(), name.as_bytes()) {
                return SingleByte(at as u8);
            }
            at += 1;
        }
        panic!("no such character set")
    }

    pub(super) fn by_name(name: &str) -> Option<SingleByte> {
        SETS.iter().position(|set| set.name.eq_ignore_ascii_case(name)).map(|at| SingleByte(at as u8))
    }

    fn set(self) -> &'static Set {
        &SETS[self.0 as usize]
    }

    pub(super) fn name(self) -> &'static str {
        self.set().name
    }

    pub(super) fn description(self) -> &'static str {
        self.set().description
    }

    pub(crate) const fn default_collation(self) -> CollationId {
        SETS[self.0 as usize].default_collation
    }

    /// The code point of a byte, 0 if it has none.
    fn code_of(self, byte: u8) -> u16 {
        match byte {
            0..0x80 => byte as u16,
            _ => {
                let at = 256 * self.0 as usize + 2 * (byte as usize - 0x80);
                u16::from_le_bytes([CHARS[at], CHARS[at + 1]])
            }
        }
    }

    fn char_of(self, byte: u8) -> Option<char> {
        match self.code_of(byte) {
            0 if byte != 0 => None,
            code => char::from_u32(code as u32),
        }
    }

    /// The byte of a character.
    pub fn byte_of(self, c: char) -> Option<u8> {
        let code = c as u32;
        // Most of a western set are where Unicode has them.
        if code < 0x100 && self.code_of(code as u8) as u32 == code {
            return Some(code as u8);
        }
        let code = u16::try_from(code).ok()?;
        let known = &BYTES[self.0 as usize];
        known.binary_search_by_key(&code, |(code, _)| *code).ok().map(|at| known[at].1)
    }

    /// A character in upper or lower case, as MySQL has it in this set: one that the set has not is not changed.
    pub fn change_case(self, c: char, upper: bool) -> char {
        let changed = |byte: u8| CASES[512 * self.0 as usize + if upper { 0 } else { 256 } + byte as usize];
        self.byte_of(c).and_then(|byte| self.char_of(changed(byte))).unwrap_or(c)
    }

    /// Text as utf8; `None` if a byte is no character.
    pub(super) fn text(self, bytes: &[u8]) -> Option<Cow<'_, str>> {
        match bytes.is_ascii() {
            true => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            false => bytes.iter().map(|&byte| self.char_of(byte)).collect::<Option<String>>().map(Cow::Owned),
        }
    }

    /// The same with `?` for bytes that are no character.
    pub(super) fn decode(self, bytes: &[u8]) -> Cow<'_, [u8]> {
        if bytes.is_ascii() {
            return Cow::Borrowed(bytes);
        }
        let text: String = bytes.iter().map(|&byte| self.char_of(byte).unwrap_or('?')).collect();
        Cow::Owned(text.into_bytes())
    }

    /// utf8 as text of this set; `None` if there is a character that it does not have, or the text is not utf8.
    pub(super) fn encode(self, text: &[u8]) -> Option<Cow<'_, [u8]>> {
        if text.is_ascii() {
            return Some(Cow::Borrowed(text));
        }
        let bytes: Option<Vec<u8>> = std::str::from_utf8(text).ok()?.chars().map(|c| self.byte_of(c)).collect();
        bytes.map(Cow::Owned)
    }

    /// Whether every byte is a character.
    pub(super) fn has_every_byte(self) -> bool {
        BYTES[self.0 as usize].len() == 128
    }

    /// How many bytes at the beginning are characters.
    pub(super) fn valid_up_to(self, bytes: &[u8]) -> usize {
        let is_none = |byte: &u8| !byte.is_ascii() && self.code_of(*byte) == 0;
        if bytes.is_ascii() { bytes.len() } else { bytes.iter().position(is_none).unwrap_or(bytes.len()) }
    }
}

/// Equality of texts in constants.
pub(crate) const fn is_same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_that_is_a_character_comes_back() {
        for set in SingleByte::all() {
            let mut known = 0;
            for byte in 0..=255 {
                let text = set.text(std::slice::from_ref(&byte)).map(Cow::into_owned);
                assert_eq!(text.is_some(), set.valid_up_to(&[byte]) == 1);
                assert_eq!(byte < 0x80, set.decode(&[byte]) == [byte].as_slice());
                let Some(text) = text else { continue };
                assert_eq!(set.encode(text.as_bytes()).as_deref(), Some(&[byte][..]), "{} {byte:x}", set.name());
                known += 1;
            }
            assert!(known >= 128);
            assert_eq!(known == 256, set.has_every_byte());
            assert_eq!(known == 128, set == SingleByte::ASCII);
        }
        let all: Vec<u8> = (0..=255).collect();
        assert!(SingleByte::LATIN1.text(&all).is_some());
    }

    #[test]
    fn upper_and_lower_case() {
        let upper = |name: &str, text: &str| -> String {
            text.chars().map(|c| SingleByte::named(name).change_case(c, true)).collect()
        };
        let lower = |name: &str, text: &str| -> String {
            text.chars().map(|c| SingleByte::named(name).change_case(c, false)).collect()
        };
        assert_eq!((upper("latin1", "aÿµäßœ"), lower("latin1", "ŸÄB")), ("AÿµÄßœ".to_owned(), "Ÿäb".to_owned()));
        assert_eq!((upper("latin5", "ıi"), lower("latin5", "Iİ")), ("Iİ".to_owned(), "ıi".to_owned()));
        assert_eq!((upper("cp1251", "ґ語"), lower("koi8r", "Ы")), ("Ґ語".to_owned(), "ы".to_owned()));
    }

    /// As MySQL has them.
    #[test]
    fn known_characters() {
        for (name, bytes, text) in [
            ("latin1", &b"\x80\xe4"[..], "€ä"),
            ("cp1251", b"\xcf\xf0\xe8\xe2\xe5\xf2", "Привет"),
            ("koi8r", b"\xf0\xd2\xc9\xd7\xc5\xd4", "Привет"),
            ("latin2", b"\xb3\xf3d\xbc", "łódź"),
            ("greek", b"\xe1\xe2\xe3", "αβγ"),
            ("hebrew", b"\xf9\xec\xe5\xed", "שלום"),
            ("macroman", b"\x8a\xdb", "ä€"),
        ] {
            let set = SingleByte::named(name);
            assert_eq!(set.text(bytes).as_deref(), Some(text), "{name}");
            assert_eq!(set.encode(text.as_bytes()).as_deref(), Some(bytes), "{name}");
            assert_eq!(SingleByte::by_name(&name.to_uppercase()), Some(set));
            assert_eq!(set.default_collation().charset(), super::super::Charset::Single(set));
        }
        assert_eq!(SingleByte::named("cp1251").text(b"\x98"), None);
        assert_eq!(&*SingleByte::named("cp1251").decode(b"\x98\xcf"), "?П".as_bytes());
        assert_eq!(SingleByte::ASCII.encode("ä".as_bytes()), None);
        assert_eq!(SingleByte::LATIN1.encode("a語".as_bytes()), None);
        assert_eq!(SingleByte::by_name("swe7"), None);
    }
}
