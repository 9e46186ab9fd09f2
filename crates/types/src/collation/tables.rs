//! The weights as data: read in place from the files that `tools/collation_weights.py` wrote, which draws their layout.

use std::sync::LazyLock;

use crate::charset::is_same;

const PAGE: usize = 256 * 2;

fn u16_at(data: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([data[at], data[at + 1]])
}

fn u32_at(data: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]])
}

/// The weights of one character at one level, at most [`Weights::MAX`] of them; empty for what is ignored.
#[derive(Clone, Copy)]
pub(super) struct Weights {
    units: [u16; Weights::MAX],
    len: u8,
}

impl Weights {
    /// U+FDFA has the most: 18 primary weights.
    pub(super) const MAX: usize = 18;
    pub(super) const NONE: Weights = Weights { units: [0; Weights::MAX], len: 0 };

    fn of(units: &[u16]) -> Self {
        let mut weights = Weights::NONE;
        weights.units[..units.len()].copy_from_slice(units);
        weights.len = units.len() as u8;
        weights
    }

    fn push(&mut self, other: &Weights) {
        for &unit in other.as_slice() {
            self.units[self.len as usize] = unit;
            self.len += 1;
        }
    }

    pub(super) fn as_slice(&self) -> &[u16] {
        &self.units[..self.len as usize]
    }
}

/// The level of a weight: letters, accents, case.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Primary,
    Secondary,
    Tertiary,
}

/// One version of the Unicode Collation Algorithm's element table.
pub(super) struct Uca {
    data: &'static [u8],
    entry_size: usize,
    entries: usize,
    tails: usize,
    pool: usize,
    implicit: fn(u32, Level) -> Weights,
    /// Primary weights of ASCII, all of which have one or (0) none.
    pub(super) ascii: [u16; 128],
    /// Code points, in their order, that have other primary weights: at most two, or 0.
    own: Vec<(u16, [u16; 2])>,
}

/// UCA 9.0.0, three levels.
pub(super) static UCA_0900: LazyLock<Uca> =
    LazyLock::new(|| Uca::new(include_bytes!("data/uca0900.bin"), true, implicit_0900));

static DATA_0400: &[u8] = include_bytes!("data/uca0400.bin");

/// UCA 4.0.0, primary level.
pub(super) static UCA_0400: LazyLock<Uca> = LazyLock::new(|| Uca::new(DATA_0400, false, implicit_0400));

/// Collations of languages in which a few letters have other weights, and no two letters are one; in the order of `languages.bin`.
const LANGUAGES: [&str; 16] = [
    "utf8mb4_icelandic_ci",
    "utf8mb4_latvian_ci",
    "utf8mb4_romanian_ci",
    "utf8mb4_slovenian_ci",
    "utf8mb4_polish_ci",
    "utf8mb4_estonian_ci",
    "utf8mb4_spanish_ci",
    "utf8mb4_swedish_ci",
    "utf8mb4_turkish_ci",
    "utf8mb4_roman_ci",
    "utf8mb4_persian_ci",
    "utf8mb4_esperanto_ci",
    "utf8mb4_hungarian_ci",
    "utf8mb4_sinhala_ci",
    "utf8mb4_german2_ci",
    "utf8mb4_vietnamese_ci",
];

/// The number of the language that a collation is of, by its name.
pub(super) const fn language_named(collation: &str) -> Option<u8> {
    place_of(collation, &LANGUAGES)
}

static OF_LANGUAGES: LazyLock<Vec<Uca>> = LazyLock::new(|| {
    let data: &[u8] = include_bytes!("data/languages.bin");
    let mut at = 0;
    let mut next = || {
        at += 2;
        u16_at(data, at - 2)
    };
    let mut of_language = |_: &&str| {
        let own = (0..next()).map(|_| (next(), [next(), next()])).collect();
        Uca::with_own(DATA_0400, false, implicit_0400, own)
    };
    LANGUAGES.iter().map(&mut of_language).collect()
});

/// UCA 4.0.0 as it is, or as a language has it.
pub(super) fn uca_0400(language: Option<u8>) -> &'static Uca {
    language.map_or_else(|| &*UCA_0400, |language| &OF_LANGUAGES[language as usize])
}

/// UCA 5.2.0, primary level.
pub(super) static UCA_0520: LazyLock<Uca> =
    LazyLock::new(|| Uca::new(include_bytes!("data/uca0520.bin"), false, implicit_0520));

impl Uca {
    fn new(data: &'static [u8], has_tails: bool, implicit: fn(u32, Level) -> Weights) -> Self {
        Uca::with_own(data, has_tails, implicit, Vec::new())
    }

    /// One in which some characters have other weights than in the data.
    fn with_own(
        data: &'static [u8],
        has_tails: bool,
        implicit: fn(u32, Level) -> Weights,
        own: Vec<(u16, [u16; 2])>,
    ) -> Self {
        debug_assert!(own.is_sorted());
        let page_count = (0..4096).map(|page| u16_at(data, page * 2)).max().unwrap_or(0) as usize;
        let mut at = 4096 * 2 + page_count * PAGE;
        let entry_count = u32_at(data, at) as usize;
        let entries = at + 4;
        let entry_size = if has_tails { 6 } else { 4 };
        at = entries + entry_count * entry_size;
        let mut tails = 0;
        if has_tails {
            tails = at + 4;
            at = tails + u32_at(data, at) as usize * 4;
        }
        let mut uca = Uca { data, entry_size, entries, tails, pool: at, implicit, ascii: [0; 128], own };
        for code in 0..128 {
            let weights = uca.weights(code, Level::Primary);
            assert!(weights.as_slice().len() <= 1, "ASCII has one weight per character");
            uca.ascii[code as usize] = weights.as_slice().first().copied().unwrap_or(0);
        }
        uca
    }

    /// The weights of a code point at a level.
    pub(super) fn weights(&self, code: u32, level: Level) -> Weights {
        if let Some(own) = self.own_weights(code) {
            return own;
        }
        let page = match code >> 8 {
            page @ 0..4096 => u16_at(self.data, page as usize * 2) as usize,
            _ => 0,
        };
        if page == 0 {
            return (self.implicit)(code, level);
        }
        let entry = u16_at(self.data, 4096 * 2 + (page - 1) * PAGE + (code & 255) as usize * 2) as usize;
        if entry == 0 {
            return (self.implicit)(code, level);
        }
        self.entry(self.entries + (entry - 1) * self.entry_size, level)
    }

    fn own_weights(&self, code: u32) -> Option<Weights> {
        if self.own.is_empty() {
            return None;
        }
        let code = u16::try_from(code).ok()?;
        let at = self.own.binary_search_by_key(&code, |(code, _)| *code).ok()?;
        let units = &self.own[at].1;
        Some(Weights::of(if units[1] == 0 { &units[..1] } else { units }))
    }

    fn entry(&self, at: usize, level: Level) -> Weights {
        if level == Level::Primary {
            let place = u32_at(self.data, at);
            return self.pooled((place >> 8) as usize, (place & 255) as usize);
        }
        if self.entry_size == 4 {
            return Weights::NONE;
        }
        let tail = self.tails + u16_at(self.data, at + 4) as usize * 4;
        let (offset, secondary, tertiary) =
            (u16_at(self.data, tail) as usize, self.data[tail + 2] as usize, self.data[tail + 3] as usize);
        match level {
            Level::Secondary => self.pooled(offset, secondary),
            _ => self.pooled(offset + secondary, tertiary),
        }
    }

    fn pooled(&self, offset: usize, count: usize) -> Weights {
        let mut weights = Weights::NONE;
        for i in 0..count {
            weights.units[i] = u16_at(self.data, self.pool + (offset + i) * 2);
        }
        weights.len = count as u8;
        weights
    }
}

/// UCA 9.0.0: Hangul syllables are their jamos; ideographs and unassigned code points follow a formula.
fn implicit_0900(code: u32, level: Level) -> Weights {
    if (0xac00..=0xd7a3).contains(&code) {
        return hangul_0900(code - 0xac00, level);
    }
    match level {
        Level::Primary => {
            Weights::of(&[implicit_base_0900(code) + (code >> 15) as u16, (code & 0x7fff) as u16 | 0x8000])
        }
        Level::Secondary => Weights::of(&[0x20]),
        Level::Tertiary => Weights::of(&[2]),
    }
}

fn hangul_0900(index: u32, level: Level) -> Weights {
    let (leading, vowel, trailing) = (index / 588, index % 588 / 28, index % 28);
    if index >= 0xd700 - 0xac00 && level == Level::Tertiary {
        // MySQL's table has another tertiary weight in its last page of syllables.
        return Weights::of(&[3, 3, 3][..2 + (trailing > 0) as usize]);
    }
    let mut weights = UCA_0900.weights(0x1100 + leading, level);
    weights.push(&UCA_0900.weights(0x1161 + vowel, level));
    if trailing > 0 {
        weights.push(&UCA_0900.weights(0x11a7 + trailing, level));
    }
    weights
}

fn implicit_base_0900(code: u32) -> u16 {
    match code {
        0x17000..=0x18aff => 0xfb00,
        0x4e00..=0x9fd5 | 0xfa0e..=0xfa29 => 0xfb40,
        0x3400..=0x4db5 | 0x20000..=0x2a6d6 | 0x2a700..=0x2b734 | 0x2b740..=0x2b81d | 0x2b820..=0x2cea1 => 0xfb80,
        _ => 0xfbc0,
    }
}

/// UCA 4.0.0 as MySQL has it: one weight for everything beyond the basic plane.
fn implicit_0400(code: u32, level: Level) -> Weights {
    if code >= 0x10000 { Weights::of(&[0xfffd]) } else { implicit_0520(code, level) }
}

/// UCA 5.2.0 as MySQL has it.
fn implicit_0520(code: u32, _: Level) -> Weights {
    let base = match code {
        0x3400..=0x4db5 => 0xfb80,
        0x4e00..=0x9fa5 => 0xfb40,
        _ => 0xfbc0,
    };
    Weights::of(&[base + (code >> 15) as u16, (code & 0x7fff) as u16 | 0x8000])
}

static GENERAL: &[u8] = include_bytes!("data/general.bin");

/// The weight of a code point in `utf8mb4_general_ci`.
pub(super) fn general(code: u32) -> u16 {
    if code > 0xffff {
        return 0xfffd;
    }
    match u16_at(GENERAL, (code >> 8) as usize * 2) as usize {
        0 => code as u16,
        page => u16_at(GENERAL, 256 * 2 + (page - 1) * PAGE + (code & 255) as usize * 2),
    }
}

/// The orders of characters that `single_byte.bin` has, which is made in this order.
const ORDERS: [&str; 37] = [
    "ascii_general_ci",
    "cp1250_croatian_ci",
    "cp1250_general_ci",
    "cp1250_polish_ci",
    "cp1251_bulgarian_ci",
    "cp1251_general_ci",
    "cp1251_general_cs",
    "cp1251_ukrainian_ci",
    "cp1256_general_ci",
    "cp1257_general_ci",
    "cp1257_lithuanian_ci",
    "cp850_general_ci",
    "cp852_general_ci",
    "cp866_general_ci",
    "dec8_swedish_ci",
    "geostd8_general_ci",
    "greek_general_ci",
    "hebrew_general_ci",
    "hp8_english_ci",
    "keybcs2_general_ci",
    "koi8r_general_ci",
    "koi8u_general_ci",
    "latin1_danish_ci",
    "latin1_general_ci",
    "latin1_general_cs",
    "latin1_german1_ci",
    "latin1_spanish_ci",
    "latin1_swedish_ci",
    "latin2_croatian_ci",
    "latin2_general_ci",
    "latin2_hungarian_ci",
    "latin5_turkish_ci",
    "latin7_estonian_cs",
    "latin7_general_ci",
    "latin7_general_cs",
    "macce_general_ci",
    "macroman_general_ci",
];

/// The number of the order that a collation has, by its name.
pub(super) const fn order_named(collation: &str) -> Option<u8> {
    place_of(collation, &ORDERS)
}

const fn place_of(name: &str, all: &[&str]) -> Option<u8> {
    let mut at = 0;
    while at < all.len() {
        if is_same(all[at].as_bytes(), name.as_bytes()) {
            return Some(at as u8);
        }
        at += 1;
    }
    None
}

static SINGLE_BYTE: &[u8; ORDERS.len() * 256] = include_bytes!("data/single_byte.bin");

/// The weight of a byte in one of these orders, or in that of the bytes.
pub(super) fn weight_of_byte(order: Option<u8>, byte: u8) -> u8 {
    order.map_or(byte, |order| SINGLE_BYTE[256 * order as usize + byte as usize])
}
