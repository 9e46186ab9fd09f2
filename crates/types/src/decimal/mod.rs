//! DECIMAL: exact numbers of up to 65 digits, 30 of them after the point, as MySQL computes them.
//!
//! A number is words of nine digits, aligned at the point, as it also lies in a row image; so comparing, adding and encoding
//! go word by word, and only a change of scale looks inside of one.
//!
//! ```text
//!   -1234567890.0625, scale 4:    negative, int_words 2, scale 4
//!                                 words   1 | 234567890 . 062500000
//! ```
//!
//! | operation | scale of the result | module |
//! |---|---|---|
//! | `+ -` | the greater | [`arithmetic`] |
//! | `*` | the sum, at most 30 | |
//! | `/` | the dividend's + `div_precision_increment`, at most 30, rounded half up | |
//! | `%` | the greater | |
//! | text | | [`text`] |
//! | NEWDECIMAL | the column's | [`binary`] |
//!
//! # Invariants
//! - The first of the integer words is not zero (none at all if the integer part is 0).
//! - Digits of the last word beyond the scale are zero; zero is not negative.

mod arithmetic;
pub mod binary;
mod text;
mod wide;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

pub use text::{NotADecimal, Parsed};

/// Most digits of a column or result.
pub const MAX_PRECISION: u8 = 65;
/// Most digits after the point.
pub const MAX_SCALE: u8 = 30;

/// Most digits that a number in flight has: one that is written, or a sum.
pub const MAX_DIGITS: u8 = 81;

const WORDS: usize = 9;
const DIGITS: u8 = 9;
const BASE: u32 = 1_000_000_000;
const POWERS: [u32; 10] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, BASE];

/// An exact decimal number with a scale. Equality, order and hash are by the number: 1.0 equals 1.00.
#[derive(Clone, Copy, Debug)]
pub struct Decimal {
    words: [u32; WORDS],
    int_words: u8,
    scale: u8,
    negative: bool,
}

/// What happens to digits that are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Half away from zero.
    HalfUp,
    /// Towards zero.
    Truncate,
    /// Towards minus infinity.
    Floor,
    /// Towards plus infinity.
    Ceiling,
}

impl Decimal {
    /// 0, without digits after the point.
    pub const ZERO: Decimal = Decimal { words: [0; WORDS], int_words: 0, scale: 0, negative: false };

    /// Digits after the point.
    pub fn scale(&self) -> u8 {
        self.scale
    }

    /// Digits before the point, without leading zeros.
    pub fn int_digits(&self) -> u8 {
        match self.int_words {
            0 => 0,
            n => (n - 1) * DIGITS + digits_of(self.words[0]),
        }
    }

    /// Digits before and after the point.
    pub fn precision(&self) -> u8 {
        self.int_digits() + self.scale
    }

    /// Less than zero?
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Zero?
    pub fn is_zero(&self) -> bool {
        self.all_words().iter().all(|&word| word == 0)
    }

    /// The greatest number of a column's precision and scale: 99.9 and the like.
    pub fn max_of(precision: u8, scale: u8) -> Decimal {
        let mut text = vec![b'9'; (precision - scale) as usize];
        text.push(b'.');
        text.extend(std::iter::repeat_n(b'9', scale as usize));
        Decimal::parse(&text).map_or(Decimal::ZERO, |parsed| parsed.value)
    }

    /// Whether it fits DECIMAL(precision, scale) without rounding its integer part away.
    pub fn fits(&self, precision: u8, scale: u8) -> bool {
        self.int_digits() + scale <= precision
    }

    /// The same number with the other sign.
    pub fn negated(mut self) -> Decimal {
        self.negative = !self.negative && !self.is_zero();
        self
    }

    /// Its distance from zero.
    pub fn abs(mut self) -> Decimal {
        self.negative = false;
        self
    }

    /// The number as a double, the nearest.
    pub fn to_f64(&self) -> f64 {
        let mut text = Vec::new();
        self.write_text(&mut text);
        std::str::from_utf8(&text).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0)
    }

    /// The decimal that the shortest text of a double says; `None` if it has too many digits, or is no number.
    pub fn from_f64(n: f64) -> Option<Decimal> {
        if !n.is_finite() || n.abs() >= 1e81 {
            return None;
        }
        let parsed = Decimal::parse(format!("{n:e}").as_bytes())?;
        (!parsed.overflow).then_some(parsed.value)
    }

    /// The number rounded half up to an integer; `None` beyond 128 bits.
    pub fn to_i128(&self) -> Option<i128> {
        let rounded = self.rounded(0, Rounding::HalfUp)?;
        let mut n: i128 = 0;
        for &word in &rounded.words[..rounded.int_words as usize] {
            n = n.checked_mul(BASE as i128)?.checked_add(word as i128)?;
        }
        Some(if rounded.negative { -n } else { n })
    }

    fn frac_words(&self) -> usize {
        words_of(self.scale)
    }

    fn all_words(&self) -> &[u32] {
        &self.words[..self.int_words as usize + self.frac_words()]
    }

    fn int_part(&self) -> &[u32] {
        &self.words[..self.int_words as usize]
    }

    fn frac_part(&self) -> &[u32] {
        &self.words[self.int_words as usize..self.int_words as usize + self.frac_words()]
    }

    /// The order of the distances from zero.
    fn compare_abs(&self, other: &Decimal) -> Ordering {
        self.int_words.cmp(&other.int_words).then_with(|| self.int_part().cmp(other.int_part())).then_with(|| {
            let (a, b) = (self.frac_part(), other.frac_part());
            let shared = a.len().min(b.len());
            let rest = |words: &[u32]| words[shared..].iter().any(|&word| word != 0);
            a[..shared].cmp(&b[..shared]).then_with(|| rest(a).cmp(&rest(b)))
        })
    }
}

impl From<i64> for Decimal {
    fn from(n: i64) -> Self {
        Decimal { negative: n < 0, ..Decimal::from(n.unsigned_abs()) }
    }
}

impl From<u64> for Decimal {
    fn from(n: u64) -> Self {
        let base = BASE as u64;
        let parts = [(n / base / base) as u32, (n / base % base) as u32, (n % base) as u32];
        let leading = parts.iter().take_while(|&&part| part == 0).count();
        let mut words = [0; WORDS];
        words[..3 - leading].copy_from_slice(&parts[leading..]);
        Decimal { words, int_words: (3 - leading) as u8, scale: 0, negative: false }
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.compare_abs(other),
            (true, true) => other.compare_abs(self),
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
        }
    }
}

impl Hash for Decimal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let words = self.all_words();
        let zeros = words[self.int_words as usize..].iter().rev().take_while(|&&word| word == 0).count();
        (self.negative, self.int_words, &words[..words.len() - zeros]).hash(state);
    }
}

impl Default for Decimal {
    fn default() -> Self {
        Decimal::ZERO
    }
}

/// How many words so many digits take.
const fn words_of(digits: u8) -> usize {
    digits.div_ceil(DIGITS) as usize
}

/// Digits of a word without leading zeros.
fn digits_of(word: u32) -> u8 {
    POWERS.iter().position(|&power| word < power).unwrap_or(10) as u8
}
