//! NEWDECIMAL: the bytes of a DECIMAL(precision, scale) in row images and, because they are ordered, in keys.
//!
//! Integer digits, then fraction digits, both in groups of nine counted from the point; a group of nine takes four bytes,
//! a shorter one (the first or last) as few as its digits need. Big-endian; a negative number has all bits inverted; then
//! the first bit is inverted, so that negative numbers come first.
//!
//! ```text
//!   DECIMAL(14,4)   1234567890.1234    01 0d fb 38 d2 04 d2   with the first bit:   81 0d fb 38 d2 04 d2
//!                  -1234567890.1234    fe f2 04 c7 2d fb 2d                         7e f2 04 c7 2d fb 2d
//! ```

use super::{BASE, DIGITS, Decimal, POWERS, Rounding, WORDS, words_of};

/// Bytes that 0 to 9 digits take.
const BYTES: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];

/// How many bytes a DECIMAL(precision, scale) takes.
pub const fn size(precision: u8, scale: u8) -> usize {
    let int = precision - scale;
    let whole = (int / DIGITS) as usize + (scale / DIGITS) as usize;
    4 * whole + BYTES[(int % DIGITS) as usize] + BYTES[(scale % DIGITS) as usize]
}

impl Decimal {
    /// Appends the bytes as a column of this precision and scale has them. `None` if the integer part does not fit;
    /// digits beyond the scale are rounded.
    pub fn write_binary(&self, precision: u8, scale: u8, out: &mut Vec<u8>) -> Option<()> {
        let rounded = self.rounded(scale, Rounding::HalfUp)?;
        if rounded.int_digits() + scale > precision {
            return None;
        }
        let start = out.len();
        let mask = if rounded.negative { u32::MAX } else { 0 };
        let int_digits = precision - scale;
        let int_words = words_of(int_digits);
        for place in 0..int_words {
            let digits = if place == 0 { first_digits(int_digits) } else { DIGITS };
            let missing = int_words - rounded.int_words as usize;
            let word = if place < missing { 0 } else { rounded.words[place - missing] };
            push(word ^ mask, BYTES[digits as usize], out);
        }
        let mut left = scale;
        for &word in rounded.frac_part() {
            let digits = left.min(DIGITS);
            push((word / POWERS[(DIGITS - digits) as usize]) ^ mask, BYTES[digits as usize], out);
            left -= digits;
        }
        out[start] ^= 0x80;
        Some(())
    }

    /// Reads the bytes of a column of this precision and scale. `None` if they are no such number.
    pub fn read_binary(bytes: &[u8], precision: u8, scale: u8) -> Option<Decimal> {
        let mut groups = Groups::new(bytes, precision, scale)?;
        let int_digits = precision - scale;
        let mut words = [0; WORDS];
        let mut int_words = 0;
        for place in 0..words_of(int_digits) {
            let word = groups.take(if place == 0 { first_digits(int_digits) } else { DIGITS })?;
            if word != 0 || int_words > 0 {
                words[int_words] = word;
                int_words += 1;
            }
        }
        let mut left = scale;
        for word in &mut words[int_words..int_words + words_of(scale)] {
            let digits = left.min(DIGITS);
            *word = groups.take(digits)? * POWERS[(DIGITS - digits) as usize];
            left -= digits;
        }
        let decimal = Decimal { words, int_words: int_words as u8, scale, negative: false };
        Some(if groups.negative { decimal.negated() } else { decimal })
    }
}

/// The groups of a column's bytes, one after the other.
struct Groups<'b> {
    rest: &'b [u8],
    negative: bool,
    /// Of the first byte of all.
    first_bit: u8,
}

impl<'b> Groups<'b> {
    fn new(bytes: &'b [u8], precision: u8, scale: u8) -> Option<Self> {
        let rest = bytes.get(..size(precision, scale))?;
        Some(Groups { rest, negative: rest.first()? & 0x80 == 0, first_bit: 0x80 })
    }

    /// The next group, of so many digits; `None` if it is no such number.
    fn take(&mut self, digits: u8) -> Option<u32> {
        let (head, tail) = self.rest.split_at(BYTES[digits as usize]);
        self.rest = tail;
        let mask = if self.negative { 0xff } else { 0 };
        let first_bit = &mut self.first_bit;
        let fold = |n: u32, &byte: &u8| n << 8 | u32::from(byte ^ std::mem::take(first_bit) ^ mask);
        let word = head.iter().fold(0, fold);
        (word < POWERS[digits as usize]).then_some(word)
    }
}

/// The number that these bytes of a column are, in units of its last digit. `None` if they are no number of up to 38 digits.
pub fn read_units(bytes: &[u8], precision: u8, scale: u8) -> Option<i128> {
    let mut groups = Groups::new(bytes, precision, scale)?;
    let int_digits = precision - scale;
    let mut units = 0i128;
    for place in 0..words_of(int_digits) {
        let digits = if place == 0 { first_digits(int_digits) } else { DIGITS };
        units = units.checked_mul(BASE.into())? + i128::from(groups.take(digits)?);
    }
    let mut left = scale;
    while left > 0 {
        let digits = left.min(DIGITS);
        units = units.checked_mul(POWERS[digits as usize].into())? + i128::from(groups.take(digits)?);
        left -= digits;
    }
    Some(if groups.negative { -units } else { units })
}

impl Decimal {
    /// Appends bytes that are ordered as numbers are, equal for equal ones, and none the beginning of another's: the sign, how many words of
    /// nine digits are before the point, and the words without zeros at the end, each behind a one; of a negative number all bits inverted.
    pub fn write_ordered(&self, out: &mut Vec<u8>) {
        let words = self.all_words();
        let Some(last) = words.iter().rposition(|&word| word != 0) else {
            out.push(1);
            return;
        };
        out.push(if self.negative { 0 } else { 2 });
        let start = out.len();
        out.push(self.int_words);
        for word in &words[..=last] {
            out.push(1);
            out.extend_from_slice(&word.to_be_bytes());
        }
        out.push(0);
        if self.negative {
            out[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
    }

    /// The number that is so many units of the last of `scale` digits after the point; `None` if it has too many digits.
    pub fn from_units(units: i128, scale: u8) -> Option<Decimal> {
        let mut rest = units.unsigned_abs();
        let mut number = Decimal { words: [0; WORDS], int_words: 0, scale, negative: units < 0 };
        // Words from the last one on: the first of them may be a part of a word.
        let mut words = [0; WORDS];
        let mut count = 0;
        let mut left = scale % DIGITS;
        let mut fraction = words_of(scale);
        while rest > 0 || fraction > 0 {
            let base = if left > 0 { POWERS[left as usize] } else { BASE };
            let word = (rest % u128::from(base)) as u32 * (BASE / base);
            rest /= u128::from(base);
            left = 0;
            *words.get_mut(count)? = word;
            count += 1;
            fraction = fraction.saturating_sub(1);
        }
        number.int_words = (count - words_of(scale)) as u8;
        for (to, from) in number.words.iter_mut().zip(words[..count].iter().rev()) {
            *to = *from;
        }
        Some(number)
    }

    /// How many units of the last of `scale` digits after the point it is; `None` if it has more digits there, or too many.
    pub fn units(&self, scale: u8) -> Option<i128> {
        let own = self.scale;
        let mut units = 0i128;
        for &word in &self.words[..usize::from(self.int_words)] {
            units = units.checked_mul(BASE.into())?.checked_add(word.into())?;
        }
        let mut left = own;
        for &word in self.frac_part() {
            let digits = left.min(DIGITS);
            units = units.checked_mul(POWERS[digits as usize].into())?;
            units = units.checked_add((word / POWERS[(DIGITS - digits) as usize]).into())?;
            left -= digits;
        }
        let units = match scale.checked_sub(own) {
            Some(more) => units.checked_mul(10i128.checked_pow(more.into())?)?,
            None => return None,
        };
        Some(if self.negative { -units } else { units })
    }
}

/// Digits of the first of the integer groups.
fn first_digits(int_digits: u8) -> u8 {
    match int_digits % DIGITS {
        0 => DIGITS,
        digits => digits,
    }
}

fn push(word: u32, bytes: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&word.to_be_bytes()[4 - bytes..]);
}
