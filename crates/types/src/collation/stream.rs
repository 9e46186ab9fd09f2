//! The weights of a text at one level, one after the other.

use super::Method;
use super::tables::{self, Level, UCA_0400, UCA_0520, UCA_0900, Uca, Weights};
use crate::charset::{SingleByte, next_code_point};

/// Weights are never 0 in the UCA collations; in the others 0 is the weight of NUL.
pub(super) struct Stream<'a> {
    text: &'a [u8],
    source: Source,
    /// Of the last character, those that are still to be given.
    pending: Weights,
    given: usize,
}

enum Source {
    Uca(&'static Uca, Level),
    General,
    CodePoints,
    SingleByte(SingleByte, Option<u8>),
}

impl<'a> Stream<'a> {
    pub(super) fn new(method: Method, level: Level, text: &'a [u8]) -> Self {
        let source = match method {
            Method::Bytes | Method::CodePoints => Source::CodePoints,
            Method::General => Source::General,
            Method::SingleByte(set, order) => Source::SingleByte(set, order),
            Method::Uca0400(language) => Source::Uca(tables::uca_0400(language), level),
            Method::Uca0520 => Source::Uca(&UCA_0520, level),
            Method::Uca0900(_) => Source::Uca(&UCA_0900, level),
        };
        Stream { text, source, pending: Weights::NONE, given: 0 }
    }

    fn next_uca(&mut self, uca: &'static Uca, level: Level) -> Option<u32> {
        loop {
            if let Some(&weight) = self.pending.as_slice().get(self.given) {
                self.given += 1;
                return Some(weight as u32);
            }
            let &first = self.text.first()?;
            if first < 0x80 && level == Level::Primary {
                self.text = &self.text[1..];
                match uca.ascii[first as usize] {
                    0 => continue,
                    weight => return Some(weight as u32),
                }
            }
            let (code, len) = next_code_point(self.text);
            self.text = &self.text[len..];
            self.pending = uca.weights(code, level);
            self.given = 0;
        }
    }
}

impl Iterator for Stream<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if let Source::Uca(uca, level) = self.source {
            return self.next_uca(uca, level);
        }
        if self.text.is_empty() {
            return None;
        }
        let (code, len) = next_code_point(self.text);
        self.text = &self.text[len..];
        Some(match self.source {
            Source::General => tables::general(code) as u32,
            Source::SingleByte(set, order) => match char::from_u32(code).and_then(|c| set.byte_of(c)) {
                Some(byte) => tables::weight_of_byte(order, byte) as u32,
                // Not one of its characters: in flight only, beside a column of it. After all of them.
                None => 0x100 + code,
            },
            _ => code,
        })
    }
}

/// The weight of a space, for PAD SPACE.
pub(super) fn space(method: Method) -> u32 {
    match method {
        Method::Uca0400(_) => UCA_0400.ascii[b' ' as usize] as u32,
        Method::Uca0520 => UCA_0520.ascii[b' ' as usize] as u32,
        Method::Uca0900(_) => UCA_0900.ascii[b' ' as usize] as u32,
        Method::SingleByte(_, order) => tables::weight_of_byte(order, b' ') as u32,
        Method::General => tables::general(b' ' as u32) as u32,
        Method::Bytes | Method::CodePoints => b' ' as u32,
    }
}
