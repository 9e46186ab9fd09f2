//! PARTIAL_ROW_DATA: a rows event that is too large for replicas, in pieces (MariaDB 12.3 and later).
//!
//! ```text
//! | fragments u32 | number u32, from 1 | flags u8 | [1: size of the whole event u64] | piece … |
//! ```

use crate::cursor::Cursor;
use crate::error::DecodeError;

/// Flag of the first piece: the size of the whole follows.
const HAS_SIZE: u8 = 1;

/// PARTIAL_ROW_DATA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialRowData<'a> {
    /// How many pieces there are.
    pub total: u32,
    /// Which one this is, from 1.
    pub number: u32,
    /// Size of the whole event in bytes; the first piece has it.
    pub whole_size: Option<u64>,
    /// The piece.
    pub piece: &'a [u8],
}

impl<'a> PartialRowData<'a> {
    /// Reads the body.
    pub fn decode(body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "PARTIAL_ROW_DATA");
        let (total, number, flags) = (cursor.u32()?, cursor.u32()?, cursor.u8()?);
        if flags & !HAS_SIZE != 0 {
            return Err(DecodeError::new(format!("PARTIAL_ROW_DATA: unknown flags {flags:#04x}")));
        }
        let whole_size = if flags & HAS_SIZE != 0 { Some(cursor.u64()?) } else { None };
        Ok(PartialRowData { total, number, whole_size, piece: cursor.rest() })
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.total.to_le_bytes());
        out.extend_from_slice(&self.number.to_le_bytes());
        out.push(self.whole_size.map_or(0, |_| HAS_SIZE));
        self.whole_size.iter().for_each(|size| out.extend_from_slice(&size.to_le_bytes()));
        out.extend_from_slice(self.piece);
    }

    /// The pieces of an event, each of at most `piece_size_max` (at least 1) bytes.
    ///
    /// # Errors
    /// If there would be more than the format can count.
    pub fn split(event: &'a [u8], piece_size_max: usize) -> Result<Vec<Self>, DecodeError> {
        let pieces = event.chunks(piece_size_max.max(1));
        let total = u32::try_from(pieces.len()).map_err(|_| DecodeError::new("PARTIAL_ROW_DATA: too many pieces"))?;
        let numbered = (1..=total).zip(pieces);
        let piece = |(number, piece)| {
            let whole_size = (number == 1).then_some(event.len() as u64);
            PartialRowData { total, number, whole_size, piece }
        };
        Ok(numbered.map(piece).collect())
    }
}

/// Puts pieces together. Between two pieces of an event no other rows event may come.
#[derive(Debug)]
pub struct Fragments {
    size_max: u64,
    /// Total of pieces, the number of the next one, the size of the whole; none between events.
    expected: Option<(u32, u32, u64)>,
    bytes: Vec<u8>,
}

impl Fragments {
    /// Events of more than `size_max` bytes are refused. Memory is taken as pieces come.
    pub fn new(size_max: u64) -> Self {
        Fragments { size_max, expected: None, bytes: Vec::new() }
    }

    /// Whether pieces are missing.
    pub fn is_open(&self) -> bool {
        self.expected.is_some()
    }

    /// Takes the next piece; with the last one gives the whole event, header included. After an error the next piece has to
    /// be a first one.
    pub fn take(&mut self, fragment: &PartialRowData<'_>) -> Result<Option<Vec<u8>>, DecodeError> {
        let expected = self.expected.take();
        let checked = self.check(fragment, expected);
        if checked.is_err() {
            self.bytes = Vec::new();
        }
        let size = checked?;
        self.bytes.extend_from_slice(fragment.piece);
        if fragment.number < fragment.total {
            self.expected = Some((fragment.total, fragment.number + 1, size));
            return Ok(None);
        }
        let bytes = std::mem::take(&mut self.bytes);
        if bytes.len() as u64 == size {
            Ok(Some(bytes))
        } else {
            Err(DecodeError::new(format!("pieces of {} bytes for an event of {size}", bytes.len())))
        }
    }

    /// The size of the whole, if the piece is the one that has to come.
    fn check(&self, fragment: &PartialRowData<'_>, expected: Option<(u32, u32, u64)>) -> Result<u64, DecodeError> {
        let PartialRowData { total, number, whole_size, piece } = *fragment;
        let size = match (expected, whole_size) {
            (None, Some(size)) if number == 1 && total >= 1 => size,
            (Some((of, next, size)), None) if total == of && number == next => size,
            (None, _) => return Err(DecodeError::new(format!("piece {number} of {total} is not the first one"))),
            (Some((of, next, _)), _) => {
                return Err(DecodeError::new(format!("piece {number} of {total} where {next} of {of} must be")));
            }
        };
        let so_far = self.bytes.len() as u64 + piece.len() as u64;
        if size > self.size_max || so_far > size {
            return Err(DecodeError::new(format!(
                "pieces of {so_far} bytes for an event of {size}; at most {}",
                self.size_max
            )));
        }
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put_together(pieces: &[PartialRowData<'_>], size_max: u64) -> Result<Vec<Vec<u8>>, DecodeError> {
        let mut fragments = Fragments::new(size_max);
        let mut whole = Vec::new();
        for piece in pieces {
            whole.extend(fragments.take(piece)?);
        }
        if fragments.is_open() { Err(DecodeError::new("open")) } else { Ok(whole) }
    }

    #[test]
    fn pieces_make_a_whole() {
        let event: Vec<u8> = (0..100).collect();
        for size in [1, 7, 99, 100, 1000] {
            let pieces = PartialRowData::split(&event, size).unwrap();
            assert_eq!(pieces.len(), 100usize.div_ceil(size));
            assert_eq!(put_together(&[&pieces[..], &pieces].concat(), 100), Ok(vec![event.clone(), event.clone()]));
            assert!(put_together(&pieces, 99).is_err(), "too large");
        }
    }

    #[test]
    fn what_is_out_of_order_is_refused() {
        let event: Vec<u8> = (0..100).collect();
        let pieces = PartialRowData::split(&event, 30).unwrap();
        let [first, second, third, fourth] = pieces[..] else { panic!("{pieces:?}") };
        let longer = PartialRowData { piece: &event[..41], ..fourth };
        let shorter = PartialRowData { piece: &event[..9], ..fourth };
        let other_total = PartialRowData { total: 5, ..second };
        for wrong in [
            &[second][..],
            &[first, first],
            &[first, third],
            &[first, second, third],
            &[first, second, third, longer],
            &[first, second, third, shorter],
            &[first, other_total],
            &[PartialRowData { whole_size: None, ..first }],
            &[PartialRowData { number: 0, ..first }],
        ] {
            assert!(put_together(wrong, 1000).is_err(), "{wrong:?}");
        }
        let mut fragments = Fragments::new(1000);
        assert!(fragments.take(&second).is_err());
        for piece in [first, second, third] {
            assert_eq!(fragments.take(&piece), Ok(None));
        }
        assert_eq!(fragments.take(&fourth), Ok(Some(event)));
    }
}
