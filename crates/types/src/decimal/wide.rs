//! A number on its way through an operation: more words than a [`Decimal`] has, and any number of them after the point.

use super::{BASE, DIGITS, Decimal, MAX_SCALE, POWERS, Rounding, WORDS, words_of};

/// Room for a product, or for a dividend moved to the left.
pub(super) const WIDE_WORDS: usize = 2 * WORDS + 6;

/// `words[..len]`, most significant first, the last `frac_words` of them after the point.
#[derive(Clone)]
pub(super) struct Wide {
    pub(super) words: [u32; WIDE_WORDS],
    pub(super) len: usize,
    pub(super) frac_words: usize,
    pub(super) negative: bool,
}

impl Wide {
    /// The words of a number, with at least `frac_words` after the point.
    pub(super) fn of(n: &Decimal, frac_words: usize) -> Wide {
        let own = n.all_words();
        let added = frac_words.saturating_sub(n.frac_words());
        let mut words = [0; WIDE_WORDS];
        words[..own.len()].copy_from_slice(own);
        Wide { words, len: own.len() + added, frac_words: n.frac_words() + added, negative: n.negative }
    }

    pub(super) fn as_slice(&self) -> &[u32] {
        &self.words[..self.len]
    }

    /// The number with this scale, or with as much of it as there is room for, as MySQL drops words at the end of a product
    /// that is too long; `None` if the integer part is.
    pub(super) fn into_decimal(mut self, scale: u8, rounding: Rounding) -> Option<Decimal> {
        let mut scale = scale.min(MAX_SCALE);
        self.cut(scale, rounding);
        let leading = self.leading_zero_words();
        if self.len - leading > WORDS {
            let room = WORDS.checked_sub(self.len - self.frac_words - leading)?;
            scale = room as u8 * DIGITS;
            self.cut(scale, Rounding::Truncate);
        }
        let kept = self.len - leading;
        let int_words = self.len - self.frac_words;
        let mut words = [0; WORDS];
        words[..kept].copy_from_slice(&self.words[leading..self.len]);
        let negative = self.negative && words.iter().any(|&word| word != 0);
        Some(Decimal { words, int_words: (int_words - leading) as u8, scale, negative })
    }

    fn leading_zero_words(&self) -> usize {
        self.words[..self.len - self.frac_words].iter().take_while(|&&word| word == 0).count()
    }

    /// Brings the words after the point to what `scale` needs, and drops the digits beyond it.
    fn cut(&mut self, scale: u8, rounding: Rounding) {
        let wanted = words_of(scale);
        if wanted > self.frac_words {
            let added = wanted - self.frac_words;
            self.words[self.len..self.len + added].fill(0);
            self.len += added;
            self.frac_words = wanted;
            return;
        }
        let int_words = self.len - self.frac_words;
        let keep = int_words + wanted;
        // Digits of the last word that stay; the unit of the last of them.
        let unit = if scale.is_multiple_of(DIGITS) { 1 } else { POWERS[(DIGITS - scale % DIGITS) as usize] };
        let up = self.rounds_up(keep, unit, rounding);
        if keep > 0 {
            self.words[keep - 1] -= self.words[keep - 1] % unit;
        }
        self.len = keep;
        self.frac_words = wanted;
        if up {
            self.add_unit(unit);
        }
    }

    fn rounds_up(&self, keep: usize, unit: u32, rounding: Rounding) -> bool {
        let inside = if keep > 0 { self.words[keep - 1] % unit } else { 0 };
        let behind = &self.words[keep..self.len];
        let something = || inside != 0 || behind.iter().any(|&word| word != 0);
        match rounding {
            Rounding::Truncate => false,
            Rounding::Floor => self.negative && something(),
            Rounding::Ceiling => !self.negative && something(),
            Rounding::HalfUp if unit > 1 => inside >= unit / 2,
            Rounding::HalfUp => behind.first().is_some_and(|&word| word >= BASE / 2),
        }
    }

    fn add_unit(&mut self, unit: u32) {
        let mut carry = unit;
        for word in self.words[..self.len].iter_mut().rev() {
            *word += carry;
            carry = 0;
            if *word < BASE {
                break;
            }
            *word -= BASE;
            carry = 1;
        }
        if carry > 0 {
            self.words.copy_within(0..self.len, 1);
            self.words[0] = carry;
            self.len += 1;
        }
    }
}
