//! Collations: which strings are equal, and in which order they are.
//!
//! Every collation turns text into one or more sequences of *weights*, compared one sequence after the other:
//!
//! | collations | weights | trailing spaces |
//! |---|---|---|
//! | `binary`, `utf8mb4_0900_bin` | the bytes | matter (NO PAD) |
//! | `utf8mb4_bin` | code points | do not (PAD SPACE) |
//! | `utf8mb4_general_ci`, `latin1_*` and their kin | one per character, from a table (`_bin`: the byte) | do not |
//! | `utf8mb4_unicode_ci`, `utf8mb4_unicode_520_ci` | primary weights of UCA 4.0.0, 5.2.0 | do not |
//! | `utf8mb4_swedish_ci` and those of other languages | of UCA 4.0.0, but for a few letters | do not |
//! | `utf8mb4_0900_ai_ci` | primary weights of UCA 9.0.0 | matter |
//! | `utf8mb4_0900_as_ci`, `_as_cs` | and secondary, and tertiary weights | matter |
//!
//! [`weights`] writes them as bytes for keys ([`key`]); [`compare`] looks only as far as the first difference, and at no table
//! where the bytes are the same.
//!
//! # Invariants
//! - `compare(a, b)` is the order of `weights(a)` and `weights(b)` as bytes (property test).
//! - No `weights(a)` is a proper prefix of a `weights(b)`: keys of several parts keep their order.
//! - The data files and what [`weights`] makes of them are a disk format: they never change for a given collation.

mod key;
mod stream;
mod tables;

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::charset::{Charset, SingleByte};
use stream::Stream;
use tables::Level;

pub(crate) use key::skip_weights;
pub use key::{prefix_weights, weight_string, weights};

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

    /// What is known of it. A number that we do not know is taken for `binary`; it cannot come from [`by_name`] or [`by_id`].
    pub fn info(self) -> &'static CollationInfo {
        match self.0 {
            255 => &ALL[UTF8MB4_0900_AI_CI],
            63 => &ALL[0],
            id => PLACES.get(id as usize).map_or(&ALL[0], |&place| &ALL[place as usize]),
        }
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
    /// How its weights are made.
    method: Method,
}

/// How weights are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// The bytes.
    Bytes,
    CodePoints,
    General,
    /// Of the bytes of a character set: by the table of that number, or in their own order.
    SingleByte(SingleByte, Option<u8>),
    /// As it is, or as the language of that number has it.
    Uca0400(Option<u8>),
    Uca0520,
    /// With so many levels.
    Uca0900(u8),
}

impl Method {
    fn levels(self) -> &'static [Level] {
        const LEVELS: [Level; 3] = [Level::Primary, Level::Secondary, Level::Tertiary];
        match self {
            Method::Uca0900(levels) => &LEVELS[..levels as usize],
            _ => &LEVELS[..1],
        }
    }

    /// Whether its weights, with padding, are those of the Unicode algorithm: two bytes nearly always.
    fn has_unicode_symbols(self) -> bool {
        matches!(self, Method::Uca0400(_) | Method::Uca0520)
    }
}

const fn line(
    id: u16,
    name: &'static str,
    charset: Charset,
    pad: Pad,
    method: Method,
    is_default: bool,
) -> CollationInfo {
    CollationInfo { id: CollationId(id), name, charset, is_default, pad, method }
}

/// A collation of a character set of one byte per character: in the order that [`tables::ORDERS`] has for it, or that of the bytes.
const fn of_bytes(id: u16, name: &'static str, charset: &'static str) -> CollationInfo {
    let set = SingleByte::named(charset);
    let method = Method::SingleByte(set, tables::order_named(name));
    line(id, name, Charset::Single(set), Pad::PadSpace, method, set.default_collation().0 == id)
}

/// One of [`tables::LANGUAGES`].
const fn of_language(id: u16, name: &'static str) -> CollationInfo {
    let language = tables::language_named(name);
    assert!(language.is_some(), "its weights are there");
    line(id, name, Charset::Utf8Mb4, Pad::PadSpace, Method::Uca0400(language), false)
}

const UTF8MB4_0900_AI_CI: usize = 2;

static ALL: [CollationInfo; 84] = {
    use Charset::{Binary, Utf8Mb4};
    use Method::*;
    use Pad::{NoPad, PadSpace};
    [
        line(63, "binary", Binary, NoPad, Bytes, true),
        line(45, "utf8mb4_general_ci", Utf8Mb4, PadSpace, General, false),
        line(255, "utf8mb4_0900_ai_ci", Utf8Mb4, NoPad, Uca0900(1), true),
        line(305, "utf8mb4_0900_as_ci", Utf8Mb4, NoPad, Uca0900(2), false),
        line(278, "utf8mb4_0900_as_cs", Utf8Mb4, NoPad, Uca0900(3), false),
        line(309, "utf8mb4_0900_bin", Utf8Mb4, NoPad, Bytes, false),
        line(46, "utf8mb4_bin", Utf8Mb4, PadSpace, CodePoints, false),
        line(224, "utf8mb4_unicode_ci", Utf8Mb4, PadSpace, Uca0400(None), false),
        line(246, "utf8mb4_unicode_520_ci", Utf8Mb4, PadSpace, Uca0520, false),
        of_language(225, "utf8mb4_icelandic_ci"),
        of_language(226, "utf8mb4_latvian_ci"),
        of_language(227, "utf8mb4_romanian_ci"),
        of_language(228, "utf8mb4_slovenian_ci"),
        of_language(229, "utf8mb4_polish_ci"),
        of_language(230, "utf8mb4_estonian_ci"),
        of_language(231, "utf8mb4_spanish_ci"),
        of_language(232, "utf8mb4_swedish_ci"),
        of_language(233, "utf8mb4_turkish_ci"),
        of_language(239, "utf8mb4_roman_ci"),
        of_language(240, "utf8mb4_persian_ci"),
        of_language(241, "utf8mb4_esperanto_ci"),
        of_language(242, "utf8mb4_hungarian_ci"),
        of_language(243, "utf8mb4_sinhala_ci"),
        of_language(244, "utf8mb4_german2_ci"),
        of_language(247, "utf8mb4_vietnamese_ci"),
        of_bytes(65, "ascii_bin", "ascii"),
        of_bytes(11, "ascii_general_ci", "ascii"),
        of_bytes(66, "cp1250_bin", "cp1250"),
        of_bytes(44, "cp1250_croatian_ci", "cp1250"),
        of_bytes(26, "cp1250_general_ci", "cp1250"),
        of_bytes(99, "cp1250_polish_ci", "cp1250"),
        of_bytes(50, "cp1251_bin", "cp1251"),
        of_bytes(14, "cp1251_bulgarian_ci", "cp1251"),
        of_bytes(51, "cp1251_general_ci", "cp1251"),
        of_bytes(52, "cp1251_general_cs", "cp1251"),
        of_bytes(23, "cp1251_ukrainian_ci", "cp1251"),
        of_bytes(67, "cp1256_bin", "cp1256"),
        of_bytes(57, "cp1256_general_ci", "cp1256"),
        of_bytes(58, "cp1257_bin", "cp1257"),
        of_bytes(59, "cp1257_general_ci", "cp1257"),
        of_bytes(29, "cp1257_lithuanian_ci", "cp1257"),
        of_bytes(80, "cp850_bin", "cp850"),
        of_bytes(4, "cp850_general_ci", "cp850"),
        of_bytes(81, "cp852_bin", "cp852"),
        of_bytes(40, "cp852_general_ci", "cp852"),
        of_bytes(68, "cp866_bin", "cp866"),
        of_bytes(36, "cp866_general_ci", "cp866"),
        of_bytes(69, "dec8_bin", "dec8"),
        of_bytes(3, "dec8_swedish_ci", "dec8"),
        of_bytes(93, "geostd8_bin", "geostd8"),
        of_bytes(92, "geostd8_general_ci", "geostd8"),
        of_bytes(70, "greek_bin", "greek"),
        of_bytes(25, "greek_general_ci", "greek"),
        of_bytes(71, "hebrew_bin", "hebrew"),
        of_bytes(16, "hebrew_general_ci", "hebrew"),
        of_bytes(72, "hp8_bin", "hp8"),
        of_bytes(6, "hp8_english_ci", "hp8"),
        of_bytes(73, "keybcs2_bin", "keybcs2"),
        of_bytes(37, "keybcs2_general_ci", "keybcs2"),
        of_bytes(74, "koi8r_bin", "koi8r"),
        of_bytes(7, "koi8r_general_ci", "koi8r"),
        of_bytes(75, "koi8u_bin", "koi8u"),
        of_bytes(22, "koi8u_general_ci", "koi8u"),
        of_bytes(47, "latin1_bin", "latin1"),
        of_bytes(15, "latin1_danish_ci", "latin1"),
        of_bytes(48, "latin1_general_ci", "latin1"),
        of_bytes(49, "latin1_general_cs", "latin1"),
        of_bytes(5, "latin1_german1_ci", "latin1"),
        of_bytes(94, "latin1_spanish_ci", "latin1"),
        of_bytes(8, "latin1_swedish_ci", "latin1"),
        of_bytes(77, "latin2_bin", "latin2"),
        of_bytes(27, "latin2_croatian_ci", "latin2"),
        of_bytes(9, "latin2_general_ci", "latin2"),
        of_bytes(21, "latin2_hungarian_ci", "latin2"),
        of_bytes(78, "latin5_bin", "latin5"),
        of_bytes(30, "latin5_turkish_ci", "latin5"),
        of_bytes(79, "latin7_bin", "latin7"),
        of_bytes(20, "latin7_estonian_cs", "latin7"),
        of_bytes(41, "latin7_general_ci", "latin7"),
        of_bytes(42, "latin7_general_cs", "latin7"),
        of_bytes(43, "macce_bin", "macce"),
        of_bytes(38, "macce_general_ci", "macce"),
        of_bytes(53, "macroman_bin", "macroman"),
        of_bytes(39, "macroman_general_ci", "macroman"),
    ]
};

/// Where in [`ALL`] a collation is, by its number; that of `binary` for numbers that are not here.
static PLACES: [u8; 310] = {
    let mut places = [0; 310];
    let mut at = 0;
    while at < ALL.len() {
        places[ALL[at].id.0 as usize] = at as u8;
        at += 1;
    }
    places
};

/// All collations, for `SHOW COLLATION`.
pub fn all() -> &'static [CollationInfo] {
    &ALL
}

/// The collation of that name (without regard to case; `utf8_…` and `utf8mb3_…` are taken for `utf8mb4_…`).
pub fn by_name(name: &str) -> Option<CollationId> {
    let name = name.to_ascii_lowercase();
    let name = match name.strip_prefix("utf8_").or_else(|| name.strip_prefix("utf8mb3_")) {
        Some(rest) => format!("utf8mb4_{rest}"),
        None => name,
    };
    let name = maria_equal(&name).unwrap_or(&name);
    ALL.iter().find(|info| info.name == name).map(|info| info.id)
}

/// Ours in place of MariaDB's collations by the Unicode algorithm of version 14: what they take for equal is equal here too, but for
/// characters of later versions, and blanks at the end.
fn maria_equal(name: &str) -> Option<&'static str> {
    let rest = name.strip_prefix("utf8mb4_uca1400_").or_else(|| name.strip_prefix("uca1400_"))?;
    match rest.strip_prefix("nopad_").unwrap_or(rest) {
        "ai_ci" => Some("utf8mb4_0900_ai_ci"),
        "as_ci" => Some("utf8mb4_0900_as_ci"),
        "as_cs" => Some("utf8mb4_0900_as_cs"),
        _ => None,
    }
}

/// The collation of that number, as clients give it in their handshake.
pub fn by_id(id: u16) -> Option<CollationId> {
    let id = match id {
        33 => 45,
        83 => 46,
        // Of languages too.
        192..=215 => id + 32,
        // MariaDB's utf8mb3_uca1400_… and utf8mb4_uca1400_… without a language.
        2048..=2055 | 2304..=2311 => match id % 4 {
            0 => 255,
            2 => 305,
            3 => 278,
            _ => id,
        },
        other => other,
    };
    ALL.iter().find(|info| info.id.0 == id).map(|info| info.id)
}

/// The order of two strings (utf8mb4, or bytes for `binary`).
pub fn compare(collation: CollationId, a: &[u8], b: &[u8]) -> Ordering {
    let info = collation.info();
    if info.method == Method::Bytes {
        return a.cmp(b);
    }
    let same = common_prefix(a, b);
    if same == a.len() && same == b.len() {
        return Ordering::Equal;
    }
    let (mut a, mut b) = (&a[same..], &b[same..]);
    if info.method == Method::Uca0900(1) {
        match compare_ascii(a, b) {
            Ok(order) => return order,
            Err(same) => (a, b) = (&a[same..], &b[same..]),
        }
    }
    for &level in info.method.levels() {
        let order = compare_level(info, Stream::new(info.method, level, a), Stream::new(info.method, level, b));
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

/// Whether two strings are equal.
pub fn equal(collation: CollationId, a: &[u8], b: &[u8]) -> bool {
    compare(collation, a, b).is_eq()
}

/// A hash that is equal for equal strings.
pub fn hash(collation: CollationId, text: &[u8]) -> u64 {
    if collation.info().method == Method::Bytes {
        return xxhash_rust::xxh3::xxh3_64(text);
    }
    let mut key = Vec::with_capacity(2 * text.len() + 8);
    weights(collation, text, &mut key);
    xxhash_rust::xxh3::xxh3_64(&key)
}

/// Bytes that are the same at the beginning of both, up to a character boundary. No collation here has contractions, so the
/// rest can be compared by itself.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let mut same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let inside = |text: &[u8], at: usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    while same > 0 && (inside(a, same) || inside(b, same)) {
        same -= 1;
    }
    same
}

/// The order by the primary weights of ASCII characters, or how far they are the same and neither of the next two is an
/// ASCII character that is not ignored.
fn compare_ascii(a: &[u8], b: &[u8]) -> Result<Ordering, usize> {
    let table = &tables::UCA_0900.ascii;
    for (at, (&x, &y)) in a.iter().zip(b).enumerate() {
        if (x | y) >= 0x80 {
            return Err(at);
        }
        match (table[x as usize], table[y as usize]) {
            (0, _) | (_, 0) => return Err(at),
            (v, w) if v != w => return Ok(v.cmp(&w)),
            _ => {}
        }
    }
    Err(a.len().min(b.len()))
}

fn compare_level(info: &CollationInfo, mut a: Stream<'_>, mut b: Stream<'_>) -> Ordering {
    loop {
        match (a.next(), b.next()) {
            (Some(x), Some(y)) if x == y => {}
            (Some(x), Some(y)) => return x.cmp(&y),
            (None, None) => return Ordering::Equal,
            (Some(_), None) if info.pad == Pad::NoPad => return Ordering::Greater,
            (None, Some(_)) if info.pad == Pad::NoPad => return Ordering::Less,
            (Some(first), None) => return compare_to_spaces(info.method, first, a),
            (None, Some(first)) => return compare_to_spaces(info.method, first, b).reverse(),
        }
    }
}

/// The order of the rest of a string and endless spaces.
fn compare_to_spaces(method: Method, first: u32, rest: Stream<'_>) -> Ordering {
    let space = stream::space(method);
    std::iter::once(first)
        .chain(rest)
        .map(|weight| weight.cmp(&space))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests;
