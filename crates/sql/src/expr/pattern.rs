//! LIKE: `%` is any text, `_` any character, and the escape character takes the next one as it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::SqlError;
use bytes::Bytes;
use memchr::memmem;
use parking_lot::Mutex;
use types::{CollationId, collation};

/// Whether the text is what the pattern describes. Characters are equal as the collation says, one by one.
/// For texts and patterns that are names.
pub(crate) fn like(text: &[u8], pattern: &[u8], escape: Option<char>, collation: CollationId) -> bool {
    like_counted(text, pattern, escape, collation, &mut |_| Ok(())).unwrap_or(false)
}

/// The same for any. `worked` gets how many characters were compared, and may end it with its error.
pub(crate) fn like_counted(
    text: &[u8],
    pattern: &[u8],
    escape: Option<char>,
    collation: CollationId,
    worked: &mut dyn FnMut(u64) -> Result<(), SqlError>,
) -> Result<bool, SqlError> {
    let mut buffer = [0; 4];
    Matcher::new(escape, &mut buffer, collation).matches(text, pattern, worked)
}

/// A pattern that many texts are compared with. Texts of ASCII beside a pattern of ASCII without `_` are folded, so that characters
/// are equal where their bytes are, and searched for what stands between the `%`.
pub(crate) struct Pattern {
    pattern: Bytes,
    escape: Option<char>,
    collation: CollationId,
    ascii: Option<AsciiPattern>,
}

/// Characters of ASCII that are no control characters.
const PRINTABLE: std::ops::RangeInclusive<u8> = b' '..=b'~';

/// What stands between the `%` of a pattern.
struct AsciiPattern {
    fold: AsciiFold,
    /// What can be printed is folded by making letters upper case.
    folds_case: bool,
    /// What the text begins with.
    begin: Vec<u8>,
    /// What follows, each somewhere behind the one before.
    middle: Vec<memmem::Finder<'static>>,
    /// What it ends with; without a `%` there is none, and `begin` is all of it.
    end: Option<Vec<u8>>,
}

impl Pattern {
    pub(crate) fn new(pattern: &Bytes, escape: Option<char>, collation: CollationId) -> Self {
        let ascii = AsciiPattern::new(pattern, escape, collation);
        Pattern { pattern: pattern.clone(), escape, collation, ascii }
    }

    /// As [`like_counted`]. `scratch` is memory to be used again.
    pub(crate) fn matches(&self, text: &[u8], scratch: &mut Vec<u8>) -> bool {
        match &self.ascii {
            Some(ascii) if text.is_ascii() => ascii.matches(text, scratch),
            _ => like(text, &self.pattern, self.escape, self.collation),
        }
    }
}

impl AsciiPattern {
    fn new(pattern: &[u8], escape: Option<char>, collation: CollationId) -> Option<Self> {
        let mut buffer = [0; 4];
        let matcher = Matcher::new(escape, &mut buffer, collation);
        let fold = ascii_fold(&matcher);
        let mut parts = vec![Vec::new()];
        let mut rest = pattern;
        while let Some((element, after)) = matcher.element(rest) {
            match element {
                Element::Any => parts.push(Vec::new()),
                Element::One => return None,
                Element::Char(&[char]) if char.is_ascii() => parts.last_mut()?.push(fold[usize::from(char)]),
                Element::Char(_) => return None,
            }
            rest = after;
        }
        let end = if parts.len() > 1 { parts.pop() } else { None };
        let mut parts = parts.into_iter();
        let begin = parts.next()?;
        let middle = parts.filter(|part| !part.is_empty());
        let middle = middle.map(|part| memmem::Finder::new(&part).into_owned()).collect();
        let folds_case = { PRINTABLE }.all(|byte| fold[usize::from(byte)] == byte.to_ascii_uppercase());
        Some(AsciiPattern { fold, folds_case, begin, middle, end })
    }

    fn matches(&self, text: &[u8], scratch: &mut Vec<u8>) -> bool {
        scratch.clear();
        if self.folds_case && text.iter().all(|byte| PRINTABLE.contains(byte)) {
            scratch.extend_from_slice(text);
            scratch.make_ascii_uppercase();
        } else {
            scratch.extend(text.iter().map(|&byte| self.fold[usize::from(byte & 127)]));
        }
        // Comparing with nothing is asked for no row: the C library's comparison takes long where there is nothing to be loaded.
        let mut rest = &scratch[..];
        if !self.begin.is_empty() {
            let Some(behind) = rest.strip_prefix(&self.begin[..]) else { return false };
            rest = behind;
        }
        let Some(end) = &self.end else { return rest.is_empty() };
        for part in &self.middle {
            let Some(at) = part.find(rest) else { return false };
            rest = &rest[at + part.needle().len()..];
        }
        end.is_empty() || rest.ends_with(end)
    }
}

/// What ASCII is folded to by a collation.
type AsciiFold = Arc<[u8; 128]>;

/// For each character of ASCII the first that is equal to it. To find them takes thousands of comparisons, so they are kept.
fn ascii_fold(matcher: &Matcher<'_>) -> AsciiFold {
    static KNOWN: Mutex<BTreeMap<CollationId, AsciiFold>> = Mutex::new(BTreeMap::new());
    KNOWN.lock().entry(matcher.collation).or_insert_with(|| Arc::new(find_ascii_fold(matcher))).clone()
}

fn find_ascii_fold(matcher: &Matcher<'_>) -> [u8; 128] {
    let mut fold = [0; 128];
    for byte in 0..128u8 {
        let same = (0..byte).find(|&other| fold[usize::from(other)] == other && matcher.equal(&[byte], &[other]));
        fold[usize::from(byte)] = same.unwrap_or(byte);
    }
    fold
}

/// So many characters are compared before they are counted.
const STEPS: u64 = 4096;

struct Matcher<'a> {
    escape: &'a [u8],
    collation: CollationId,
    binary: bool,
}

/// The next element of a pattern.
enum Element<'a> {
    /// `%`
    Any,
    /// `_`
    One,
    Char(&'a [u8]),
}

impl<'a> Matcher<'a> {
    /// `buffer` takes the bytes of the escape character.
    fn new(escape: Option<char>, buffer: &'a mut [u8; 4], collation: CollationId) -> Self {
        let escape: &[u8] = escape.map_or(b"", |escape| escape.encode_utf8(buffer).as_bytes());
        Matcher { escape, collation, binary: collation == CollationId::BINARY }
    }

    /// Where a `%` was, text is given to it character by character until the rest fits; only the last `%` can need more.
    fn matches(
        &self,
        text: &[u8],
        pattern: &[u8],
        worked: &mut dyn FnMut(u64) -> Result<(), SqlError>,
    ) -> Result<bool, SqlError> {
        let (mut text, mut pattern) = (text, pattern);
        let mut retry: Option<(&[u8], &[u8])> = None;
        let mut steps = 0;
        loop {
            steps += 1;
            if steps == STEPS {
                worked(steps)?;
                steps = 0;
            }
            let fits = match self.element(pattern) {
                None => text.is_empty(),
                Some((Element::Any, rest)) => {
                    retry = Some((text, rest));
                    pattern = rest;
                    if rest.is_empty() {
                        return Ok(true);
                    }
                    continue;
                }
                Some((element, rest)) => match self.step(text, &element) {
                    Some(after) => {
                        (text, pattern) = (after, rest);
                        continue;
                    }
                    None => false,
                },
            };
            if fits {
                worked(steps)?;
                return Ok(true);
            }
            match retry {
                Some((from, rest)) if !from.is_empty() => {
                    let from = &from[self.char_len(from)..];
                    retry = Some((from, rest));
                    (text, pattern) = (from, rest);
                }
                _ => {
                    worked(steps)?;
                    return Ok(false);
                }
            }
        }
    }

    /// The text behind its first character, if that is what the element says.
    fn step<'t>(&self, text: &'t [u8], element: &Element<'_>) -> Option<&'t [u8]> {
        if text.is_empty() {
            return None;
        }
        let (first, rest) = text.split_at(self.char_len(text));
        match element {
            Element::Char(wanted) => self.equal(first, wanted).then_some(rest),
            _ => Some(rest),
        }
    }

    fn element<'p>(&self, pattern: &'p [u8]) -> Option<(Element<'p>, &'p [u8])> {
        let first = *pattern.first()?;
        if !self.escape.is_empty()
            && let Some(rest) = pattern.strip_prefix(self.escape)
            && !rest.is_empty()
        {
            let (char, rest) = rest.split_at(self.char_len(rest));
            return Some((Element::Char(char), rest));
        }
        match first {
            b'%' => Some((Element::Any, &pattern[1..])),
            b'_' => Some((Element::One, &pattern[1..])),
            _ => {
                let (char, rest) = pattern.split_at(self.char_len(pattern));
                Some((Element::Char(char), rest))
            }
        }
    }

    fn char_len(&self, text: &[u8]) -> usize {
        if self.binary || text[0] < 0x80 { 1 } else { types::charset::prefix_bytes(text, 1).max(1) }
    }

    fn equal(&self, a: &[u8], b: &[u8]) -> bool {
        a == b || !self.binary && collation::equal(self.collation, a, b)
    }
}

/// The text with which everything that the pattern describes begins, and whether the pattern is nothing but that and a `%`:
/// for ranges over an index.
pub fn like_prefix(pattern: &[u8], escape: Option<char>) -> (Vec<u8>, bool) {
    let mut buffer = [0; 4];
    let matcher = Matcher::new(escape, &mut buffer, CollationId::UTF8MB4_BIN);
    let mut prefix = Vec::new();
    let mut rest = pattern;
    while let Some((element, after)) = matcher.element(rest) {
        match element {
            Element::Char(char) => prefix.extend_from_slice(char),
            Element::Any => return (prefix, after.iter().all(|&byte| byte == b'%')),
            Element::One => return (prefix, false),
        }
        rest = after;
    }
    (prefix, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let is =
            |text: &str, pattern: &str| like(text.as_bytes(), pattern.as_bytes(), Some('\\'), CollationId::DEFAULT);
        assert!(is("Hello", "h%"));
        assert!(is("Hello", "h_l%o"));
        assert!(is("hällo", "ha_lo"));
        assert!(is("a%b", "a\\%b") && !is("axb", "a\\%b"));
        assert!(is("", "%") && is("", "") && !is("", "_"));
        assert!(is("aaab", "%a%b") && !is("aaac", "%a%b"));
        assert!(is("a\\", "a\\"));
        assert!(!is("abc", "ab") && is("abcabd", "%ab_"));
        assert!(!like(b"A", b"a", None, CollationId::BINARY));
        assert_eq!(like_prefix(b"ab\\_c%", Some('\\')), (b"ab_c".to_vec(), true));
        assert_eq!(like_prefix(b"ab_c%", Some('\\')), (b"ab".to_vec(), false));
    }
    #[test]
    fn a_pattern_for_many_texts_is_no_other() {
        let texts = ["", "a", "A", "ab", "Abc", "xabcx", "aXbXc", "a%b", "abab", "a b", "bca", "ä", "aä", "ab\u{1}c"];
        let patterns =
            ["", "%", "a", "a%", "%a", "%b%", "a%b%c", "%a%b", "ab%ab", "a\\%b", "%%b%%", "a_", "ä%", "%bc%a", "abc"];
        let collations = ["utf8mb4_0900_ai_ci", "utf8mb4_bin", "utf8mb4_general_ci", "utf8mb4_0900_as_cs", "binary"];
        for collation in collations.map(|name| types::collation::by_name(name).unwrap()) {
            for (text, pattern) in texts.iter().flat_map(|text| patterns.map(|pattern| (*text, pattern))) {
                let compiled = Pattern::new(&Bytes::from_static(pattern.as_bytes()), Some('\\'), collation);
                let expected = like(text.as_bytes(), pattern.as_bytes(), Some('\\'), collation);
                let found = compiled.matches(text.as_bytes(), &mut Vec::new());
                assert_eq!(found, expected, "{text:?} LIKE {pattern:?} in {}", collation.name());
            }
        }
    }
}
