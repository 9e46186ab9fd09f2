//! Adding, multiplying, dividing, rounding. `None` is a result with too many digits (1690), or, of divisions, a divisor of 0.

use std::cmp::Ordering;

use super::wide::{WIDE_WORDS, Wide};
use super::{BASE, DIGITS, Decimal, MAX_SCALE, Rounding, words_of};

impl Decimal {
    /// `self + other`
    pub fn add(&self, other: &Decimal) -> Option<Decimal> {
        if self.negative == other.negative {
            return add_abs(self, other, self.negative);
        }
        match self.compare_abs(other) {
            Ordering::Less => subtract_abs(other, self, other.negative),
            _ => subtract_abs(self, other, self.negative),
        }
    }

    /// `self - other`
    pub fn subtract(&self, other: &Decimal) -> Option<Decimal> {
        self.add(&Decimal { negative: !other.negative, ..*other })
    }

    /// `self * other`
    pub fn multiply(&self, other: &Decimal) -> Option<Decimal> {
        let (a, b) = (self.all_words(), other.all_words());
        let mut product = [0u64; WIDE_WORDS];
        let len = a.len() + b.len();
        for (i, &x) in a.iter().enumerate().rev() {
            let mut carry = 0;
            for (j, &y) in b.iter().enumerate().rev() {
                let sum = product[i + j + 1] + x as u64 * y as u64 + carry;
                product[i + j + 1] = sum % BASE as u64;
                carry = sum / BASE as u64;
            }
            product[i] += carry;
        }
        let mut wide = Wide {
            words: [0; WIDE_WORDS],
            len,
            frac_words: self.frac_words() + other.frac_words(),
            negative: self.negative != other.negative,
        };
        for (word, &digit) in wide.words.iter_mut().zip(&product[..len]) {
            *word = digit as u32;
        }
        wide.into_decimal(self.scale + other.scale, Rounding::HalfUp)
    }

    /// `self / other` with `scale` digits after the point, rounded half up.
    pub fn divide(&self, other: &Decimal, scale: u8) -> Option<Decimal> {
        if other.is_zero() {
            return None;
        }
        let scale = scale.min(MAX_SCALE);
        // One more word than asked for: rounding half up looks at the next digit only.
        let wanted = words_of(scale) + 1;
        let dividend = Wide::of(self, wanted + other.frac_words());
        let (quotient, _) = divide_words(dividend.as_slice(), other.all_words());
        let frac_words = dividend.frac_words - other.frac_words();
        let wide = aligned(quotient, dividend.len, frac_words, self.negative != other.negative);
        wide.into_decimal(scale, Rounding::HalfUp)
    }

    /// The quotient without its fraction: `self DIV other`.
    pub fn divide_int(&self, other: &Decimal) -> Option<Decimal> {
        if other.is_zero() {
            return None;
        }
        let frac_words = self.frac_words().max(other.frac_words());
        let (dividend, divisor) = (Wide::of(self, frac_words), Wide::of(other, frac_words));
        let (quotient, _) = divide_words(dividend.as_slice(), divisor.as_slice());
        let wide = aligned(quotient, dividend.len, 0, self.negative != other.negative);
        wide.into_decimal(0, Rounding::Truncate)
    }

    /// `self % other`, with the sign of `self`.
    pub fn remainder(&self, other: &Decimal) -> Option<Decimal> {
        if other.is_zero() {
            return None;
        }
        let frac_words = self.frac_words().max(other.frac_words());
        let (dividend, divisor) = (Wide::of(self, frac_words), Wide::of(other, frac_words));
        let (_, remainder) = divide_words(dividend.as_slice(), divisor.as_slice());
        let wide = aligned(remainder, dividend.len.max(frac_words), frac_words, self.negative);
        wide.into_decimal(self.scale.max(other.scale), Rounding::Truncate)
    }

    /// With `scale` digits after the point. `None` if rounding up made it too long.
    pub fn rounded(&self, scale: u8, rounding: Rounding) -> Option<Decimal> {
        if scale == self.scale {
            return Some(*self);
        }
        Wide::of(self, 0).into_decimal(scale, rounding)
    }

    /// Rounded to a place before the point: 2 is hundreds.
    pub fn rounded_before_point(&self, digits: u8, rounding: Rounding) -> Option<Decimal> {
        if digits > self.int_digits() {
            return Some(Decimal::ZERO);
        }
        let power = Decimal::power_of_ten(digits);
        let quotient = self.divide_exactly(&power)?;
        quotient.rounded(0, rounding)?.multiply(&power)
    }

    /// 10 to the power of `exponent`, at most 80.
    pub(super) fn power_of_ten(exponent: u8) -> Decimal {
        let mut decimal = Decimal::ZERO;
        decimal.int_words = exponent / DIGITS + 1;
        decimal.words[0] = super::POWERS[(exponent % DIGITS) as usize];
        decimal
    }

    /// The quotient with all digits that a power of ten as divisor can need, as far as there is room.
    fn divide_exactly(&self, power: &Decimal) -> Option<Decimal> {
        let int_digits = self.int_digits().saturating_sub(power.int_digits() - 1);
        let room = 81u8.saturating_sub(int_digits.next_multiple_of(9));
        let dividend = Wide::of(self, 0);
        let extra = words_of(power.int_digits());
        let dividend = Wide { len: dividend.len + extra, frac_words: dividend.frac_words + extra, ..dividend };
        let (quotient, _) = divide_words(dividend.as_slice(), power.all_words());
        // One digit is enough to round half up, and any rest counts for the other ways.
        let wide = aligned(quotient, dividend.len, dividend.frac_words, self.negative);
        wide.into_decimal(room.min(MAX_SCALE), Rounding::Truncate)
    }
}

fn add_abs(a: &Decimal, b: &Decimal, negative: bool) -> Option<Decimal> {
    let frac_words = a.frac_words().max(b.frac_words());
    let int_words = a.int_words.max(b.int_words) as usize + 1;
    let mut sum = Wide { words: [0; WIDE_WORDS], len: int_words + frac_words, frac_words, negative };
    let point = int_words;
    let mut carry = 0;
    for at in (0..sum.len).rev() {
        let total = word_at(a, at as isize - point as isize) + word_at(b, at as isize - point as isize) + carry;
        carry = (total >= BASE) as u32;
        sum.words[at] = total - carry * BASE;
    }
    sum.into_decimal(a.scale.max(b.scale), Rounding::Truncate)
}

/// `|a| - |b|`, where `|a| >= |b|`.
fn subtract_abs(a: &Decimal, b: &Decimal, negative: bool) -> Option<Decimal> {
    let frac_words = a.frac_words().max(b.frac_words());
    let point = a.int_words as usize;
    let mut difference = Wide { words: [0; WIDE_WORDS], len: point + frac_words, frac_words, negative };
    let mut borrow = 0;
    for at in (0..difference.len).rev() {
        let place = at as isize - point as isize;
        let (x, y) = (word_at(a, place), word_at(b, place) + borrow);
        borrow = (x < y) as u32;
        difference.words[at] = x + borrow * BASE - y;
    }
    difference.into_decimal(a.scale.max(b.scale), Rounding::Truncate)
}

/// The word at a place relative to the point (0 is the first after it).
fn word_at(n: &Decimal, place: isize) -> u32 {
    let at = n.int_words as isize + place;
    if at < 0 { 0 } else { n.all_words().get(at as usize).copied().unwrap_or(0) }
}

/// Words that are right-aligned in `len` words.
fn aligned(words: [u32; WIDE_WORDS], len: usize, frac_words: usize, negative: bool) -> Wide {
    let len = len.max(frac_words);
    Wide { words, len, frac_words, negative }
}

/// Quotient and remainder of two whole numbers, both in as many words as the dividend has. The divisor is not 0.
fn divide_words(dividend: &[u32], divisor: &[u32]) -> ([u32; WIDE_WORDS], [u32; WIDE_WORDS]) {
    let divisor = &divisor[divisor.iter().take_while(|&&word| word == 0).count()..];
    let mut quotient = [0; WIDE_WORDS];
    let mut rest = [0; WIDE_WORDS];
    if divisor.len() == 1 {
        let mut carry = 0u64;
        for (at, &word) in dividend.iter().enumerate() {
            let part = carry * BASE as u64 + word as u64;
            quotient[at] = (part / divisor[0] as u64) as u32;
            carry = part % divisor[0] as u64;
        }
        if let Some(last) = dividend.len().checked_sub(1) {
            rest[last] = carry as u32;
        }
        return (quotient, rest);
    }
    if dividend.len() < divisor.len() {
        rest[..dividend.len()].copy_from_slice(dividend);
        return (quotient, rest);
    }
    long_division(dividend, divisor, &mut quotient, &mut rest);
    (quotient, rest)
}

/// Knuth's algorithm D in base 10^9: both numbers are scaled so that the divisor begins with a big word, and each word of the
/// quotient is guessed from the first words, at most two too high.
fn long_division(dividend: &[u32], divisor: &[u32], quotient: &mut [u32], rest: &mut [u32]) {
    let (n, base) = (divisor.len(), BASE as u64);
    let factor = base / (divisor[0] as u64 + 1);
    let mut u = [0u32; WIDE_WORDS + 1];
    let mut v = [0u32; WIDE_WORDS + 1];
    scale_words(dividend, factor, &mut u[..dividend.len() + 1]);
    scale_words(divisor, factor, &mut v[..n + 1]);
    let v = &v[1..n + 1];
    for at in 0..=dividend.len() - n {
        let head = u[at] as u64 * base + u[at + 1] as u64;
        let mut guess = head / v[0] as u64;
        let mut over = head % v[0] as u64;
        while guess >= base || guess * v[1] as u64 > over * base + u[at + 2] as u64 {
            guess -= 1;
            over += v[0] as u64;
            if over >= base {
                break;
            }
        }
        if subtract_multiple(&mut u[at..at + n + 1], v, guess) {
            guess -= 1;
            add_back(&mut u[at..at + n + 1], v);
        }
        quotient[at + n - 1] = guess as u32;
    }
    // The rest is in the last words of u, still scaled.
    let mut carry = 0u64;
    for (at, &word) in u[..dividend.len() + 1].iter().enumerate() {
        let part = carry * base + word as u64;
        if at > 0 {
            rest[at - 1] = (part / factor) as u32;
        }
        carry = part % factor;
    }
}

fn scale_words(words: &[u32], factor: u64, out: &mut [u32]) {
    let mut carry = 0;
    for (to, &word) in out[1..].iter_mut().zip(words).rev() {
        let part = word as u64 * factor + carry;
        *to = (part % BASE as u64) as u32;
        carry = part / BASE as u64;
    }
    out[0] = carry as u32;
}

/// `u -= v * guess`; whether it went below zero.
fn subtract_multiple(u: &mut [u32], v: &[u32], guess: u64) -> bool {
    let base = BASE as i64;
    let mut borrow = 0i64;
    for (to, &word) in u[1..].iter_mut().zip(v).rev() {
        let part = *to as i64 - borrow - (word as u64 * guess) as i64;
        *to = part.rem_euclid(base) as u32;
        borrow = -part.div_euclid(base);
    }
    let part = u[0] as i64 - borrow;
    u[0] = part.rem_euclid(base) as u32;
    part < 0
}

fn add_back(u: &mut [u32], v: &[u32]) {
    let mut carry = 0;
    for (to, &word) in u[1..].iter_mut().zip(v).rev() {
        let part = *to + word + carry;
        carry = (part >= BASE) as u32;
        *to = part - carry * BASE;
    }
    u[0] = (u[0] + carry) % BASE;
}
