//! DECIMAL: exact numbers of up to 65 digits, 30 of them after the point, as MySQL computes them.

use std::str::FromStr;

/// An exact decimal number with a scale. Equality, order and hash are by the number: 1.0 equals 1.00.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal {
    words: [u32; 9],
    int_words: u8,
    scale: u8,
    negative: bool,
}

impl Decimal {
    /// Appends its text, with all digits of its scale.
    pub fn write_text(&self, out: &mut Vec<u8>) {
        let _ = out;
        todo!()
    }
}

/// Text that is no decimal number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a decimal number")]
pub struct NotADecimal;

impl FromStr for Decimal {
    type Err = NotADecimal;

    fn from_str(text: &str) -> Result<Self, NotADecimal> {
        let _ = text;
        todo!()
    }
}
