//! Row images: taken apart by what their TABLE_MAP says, and put together as rows of ours.

use base::SqlError;
use binlog::event::ColumnMeta;

use super::corrupt;

/// What an image has of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// The image does not have the column.
    Absent,
    /// NULL.
    Null,
    /// The value's bytes, from here to there.
    At(usize, usize),
}

/// Takes the image at the front of `bytes` apart: a slot for each column. Gives its length.
pub(super) fn split(
    columns: &[ColumnMeta],
    present: Option<&[u8]>,
    bytes: &[u8],
    slots: &mut Vec<Slot>,
) -> Result<usize, SqlError> {
    let is_present = |column: usize| present.is_none_or(|present| bit(present, column));
    let count = match present {
        None => columns.len(),
        Some(_) => (0..columns.len()).filter(|&column| is_present(column)).count(),
    };
    let short = || corrupt("row image: ends too early");
    let nulls = bytes.get(..count.div_ceil(8)).ok_or_else(short)?;
    let mut at = nulls.len();
    let mut place = 0;
    slots.clear();
    for (number, column) in columns.iter().enumerate() {
        if !is_present(number) {
            slots.push(Slot::Absent);
            continue;
        }
        let is_null = bit(nulls, place);
        place += 1;
        if is_null {
            slots.push(Slot::Null);
            continue;
        }
        let len = column.value_len(&bytes[at..]).map_err(corrupt)?;
        slots.push(Slot::At(at, at + len));
        at += len;
    }
    Ok(at)
}

/// Whether a bit of a bitmap is set, the lowest bit of the first byte being the first.
pub(super) fn bit(bitmap: &[u8], at: usize) -> bool {
    bitmap.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1)
}
