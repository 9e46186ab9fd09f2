//! Decimals from and to text.

use std::fmt;
use std::str::FromStr;

use super::wide::{WIDE_WORDS, Wide};
use super::{BASE, DIGITS, Decimal, MAX_DIGITS, MAX_PRECISION, MAX_SCALE, POWERS, Rounding, WORDS, words_of};

/// Text that is no decimal number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a decimal number")]
pub struct NotADecimal;

/// A number at the beginning of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The number; rounded if it has more digits after the point than fit.
    pub value: Decimal,
    /// How many bytes of the text it took.
    pub len: usize,
    /// It was too great; `value` is the greatest number.
    pub overflow: bool,
    /// Digits after the point were dropped.
    pub rounded: bool,
}

impl Decimal {
    /// The number at the beginning of `text`: sign, digits, point, digits, exponent. `None` if there is no digit.
    pub fn parse(text: &[u8]) -> Option<Parsed> {
        Decimal::parse_up_to(text, MAX_PRECISION)
    }

    /// The same with as many digits as there is room for: a number that is written in a statement may have more than a column.
    pub fn parse_literal(text: &[u8]) -> Option<Parsed> {
        Decimal::parse_up_to(text, MAX_DIGITS)
    }

    fn parse_up_to(text: &[u8], most: u8) -> Option<Parsed> {
        let negative = text.first() == Some(&b'-');
        let sign = (negative || text.first() == Some(&b'+')) as usize;
        let digits = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let int_len = digits(sign);
        let mut len = sign + int_len;
        let mut frac = 0..0;
        if text.get(len) == Some(&b'.') {
            frac = len + 1..len + 1 + digits(len + 1);
            len = frac.end;
        }
        if int_len + frac.len() == 0 {
            return None;
        }
        let (exponent, exponent_len) = parse_exponent(&text[len..]);
        len += exponent_len;
        let int = &text[sign..sign + int_len];
        let (value, overflow, rounded) = assemble(int, &text[frac], exponent, negative, most);
        Some(Parsed { value, len, overflow, rounded })
    }

    /// Appends its text, with all digits of its scale.
    pub fn write_text(&self, out: &mut Vec<u8>) {
        if self.negative {
            out.push(b'-');
        }
        match self.int_part().split_first() {
            None => out.push(b'0'),
            Some((&first, rest)) => {
                crate::number::write_u64(first as u64, out);
                for &word in rest {
                    push_word(word, DIGITS, out);
                }
            }
        }
        if self.scale > 0 {
            out.push(b'.');
            let mut left = self.scale;
            for &word in self.frac_part() {
                push_word(word, left.min(DIGITS), out);
                left = left.saturating_sub(DIGITS);
            }
        }
    }
}

/// The first `digits` of a word's nine digits.
fn push_word(word: u32, digits: u8, out: &mut Vec<u8>) {
    for place in 0..digits {
        out.push(b'0' + (word / POWERS[(DIGITS - 1 - place) as usize] % 10) as u8);
    }
}

/// `e-12` at the beginning of `text`: the number and its length; 0 and 0 if it is none.
fn parse_exponent(text: &[u8]) -> (i32, usize) {
    if !matches!(text.first(), Some(b'e' | b'E')) {
        return (0, 0);
    }
    let negative = text.get(1) == Some(&b'-');
    let start = 1 + (negative || text.get(1) == Some(&b'+')) as usize;
    let digits = text[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        return (0, 0);
    }
    let add = |n: i32, digit: &u8| (n * 10 + (digit - b'0') as i32).min(100_000);
    let exponent = text[start..start + digits].iter().fold(0, add);
    (if negative { -exponent } else { exponent }, start + digits)
}

/// The number of these digits, times ten to the exponent; whether it was too great, and whether digits were dropped.
fn assemble(int: &[u8], frac: &[u8], exponent: i32, negative: bool, most: u8) -> (Decimal, bool, bool) {
    let leading = int.iter().take_while(|&&digit| digit == b'0').count();
    let int = &int[leading..];
    let digit = |place: i64| -> u32 {
        let at = place + int.len() as i64;
        let byte = if at < 0 { None } else { int.iter().chain(frac).nth(at as usize) };
        byte.map_or(0, |byte| (byte - b'0') as u32)
    };
    // Digits stand at places: 0 is the first after the point before it is moved by the exponent.
    let first = -(int.len() as i64) - exponent as i64;
    let last = frac.len() as i64 - exponent as i64;
    let leading = int.iter().chain(frac).take_while(|&&digit| digit == b'0').count() as i64;
    if leading == (int.len() + frac.len()) as i64 {
        let scale = last.clamp(0, MAX_SCALE as i64) as u8;
        return (Decimal { scale, ..Decimal::ZERO }, false, last > scale as i64);
    }
    let int_digits = -(first + leading);
    if int_digits > most as i64 {
        let max = Decimal::max_of(MAX_PRECISION, 0);
        return (if negative { max.negated() } else { max }, true, false);
    }
    let int_digits = int_digits.max(0) as usize;
    let scale = (last.clamp(0, MAX_SCALE as i64) as usize).min(MAX_DIGITS as usize - int_digits.next_multiple_of(9));
    let wide = collect(int_digits, scale + 1, negative, |place| digit(place + exponent as i64));
    let rounded = last > scale as i64;
    match wide.into_decimal(scale as u8, Rounding::HalfUp) {
        Some(value) => (value, false, rounded),
        None => (Decimal::max_of(MAX_PRECISION, 0), true, rounded),
    }
}

/// Words from digits by their place relative to the point.
fn collect(int_digits: usize, frac_digits: usize, negative: bool, digit: impl Fn(i64) -> u32) -> Wide {
    let int_words = words_of(int_digits as u8);
    let frac_words = words_of(frac_digits as u8);
    debug_assert!(int_words <= WORDS);
    let mut words = [0; WIDE_WORDS];
    for (at, word) in words[..int_words + frac_words].iter_mut().enumerate() {
        let start = (at as i64 - int_words as i64) * DIGITS as i64;
        *word = (start..start + DIGITS as i64).fold(0, |n, place| {
            let inside = place >= -(int_digits as i64) && place < frac_digits as i64;
            n * 10 + if inside { digit(place) } else { 0 }
        });
        debug_assert!(*word < BASE);
    }
    Wide { words, len: int_words + frac_words, frac_words, negative }
}

impl FromStr for Decimal {
    type Err = NotADecimal;

    fn from_str(text: &str) -> Result<Self, NotADecimal> {
        match Decimal::parse(text.as_bytes()) {
            Some(parsed) if parsed.len == text.len() && !parsed.overflow => Ok(parsed.value),
            _ => Err(NotADecimal),
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::new();
        self.write_text(&mut out);
        f.write_str(&String::from_utf8_lossy(&out))
    }
}
