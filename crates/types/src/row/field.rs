//! One column of row images, as a number that is ordered as its values, or as bytes: without making a [`Value`] of it.
//!
//! | column | rank |
//! |---|---|
//! | integers, YEAR, BIT | the number; of those with a sign 2^63 is added |
//! | FLOAT, DOUBLE | the bits, turned so that they are ordered; -0 as 0 |
//! | DECIMAL of up to 8 bytes | its bytes |
//! | DATE, TIME, DATETIME, TIMESTAMP | what is packed into their bytes |
//!
//! A rank says nothing of whether the bytes are a possible value: decoding the row finds out.

use std::ops::Range;

use crate::column::{Codec, read_le, read_signed, year_of};
use crate::decimal;
use crate::error::TypeError;
use crate::row::{RowLayout, is_null};
use crate::temporal::binary::read_big_endian;
use crate::value::Value;

/// Digits of which every number fits into an `i128`.
const DIGITS_OF_I128: u8 = 38;
/// Added to numbers that have a sign.
const SIGN: u64 = 1 << 63;
/// Ranks have so many bytes.
const RANK_BYTES: usize = 8;

/// A column of a layout, to be read from many images.
#[derive(Clone, Copy, Debug)]
pub struct Field<'l> {
    layout: &'l RowLayout,
    column: usize,
    /// Where it is in every image, if that is so.
    place: Option<(usize, usize)>,
}

impl RowLayout {
    /// A column, to be read from many images.
    pub fn field(&self, column: usize) -> Field<'_> {
        let here = &self.columns[column];
        let place = match here.fixed_size {
            Some(size) if column <= self.known => Some((here.offset, here.offset + size)),
            _ => None,
        };
        Field { layout: self, column, place }
    }
}

impl Field<'_> {
    fn codec(&self) -> &Codec {
        &self.layout.columns[self.column].codec
    }

    /// The value's bytes, with their length in front if the column has one; `None` is NULL.
    #[inline]
    pub fn bytes<'r>(&self, row: &'r [u8]) -> Result<Option<&'r [u8]>, TypeError> {
        if let Some((from, to)) = self.place
            && let Some(bytes) = row.get(from..to)
        {
            return Ok((!is_null(row, self.column)).then_some(bytes));
        }
        Ok(self.layout.locate(row, self.column)?.map(|place: Range<usize>| &row[place]))
    }

    /// The text or bytes of a string, in the column's character set and as they are stored.
    #[inline]
    pub fn content<'r>(&self, row: &'r [u8]) -> Result<Option<&'r [u8]>, TypeError> {
        Ok(self.bytes(row)?.map(|bytes| self.codec().content(bytes)))
    }

    /// Whether its values have ranks.
    pub fn has_ranks(&self) -> bool {
        match self.codec() {
            Codec::Decimal { precision, scale } => decimal::binary::size(*precision, *scale) <= RANK_BYTES,
            Codec::Int { .. } | Codec::Float | Codec::Double | Codec::Year | Codec::Bit { .. } => true,
            Codec::Date | Codec::Time { .. } | Codec::DateTime { .. } | Codec::Timestamp { .. } => true,
            Codec::Str { .. } | Codec::Bytes { .. } | Codec::Enum { .. } | Codec::Set { .. } | Codec::Json => false,
        }
    }

    /// The value's place among the column's values; `None` is NULL. For columns that have ranks.
    #[inline]
    pub fn rank(&self, row: &[u8]) -> Result<Option<u64>, TypeError> {
        Ok(self.bytes(row)?.map(|bytes| rank_of(self.codec(), bytes)))
    }

    /// The rank of a value of the column's own form.
    pub fn rank_of(&self, value: &Value) -> Option<u64> {
        let mut bytes = Vec::with_capacity(RANK_BYTES);
        self.codec().encode(value, &mut bytes)?;
        self.has_ranks().then(|| rank_of(self.codec(), &bytes))
    }

    /// The rank of an integer in a column of integers; `None` if it is none of any such column.
    pub fn rank_of_integer(&self, n: i128) -> Option<u64> {
        match self.codec() {
            Codec::Int { unsigned: false, .. } => i64::try_from(n).ok().map(|n| n as u64 ^ SIGN),
            Codec::Int { .. } => u64::try_from(n).ok(),
            _ => None,
        }
    }

    /// Digits after the point of its numbers, if they are exact and fit into an `i128` of such units.
    pub fn scale_of_units(&self) -> Option<u8> {
        match self.codec() {
            Codec::Int { .. } | Codec::Year => Some(0),
            Codec::Decimal { precision, scale } if *precision <= DIGITS_OF_I128 => Some(*scale),
            _ => None,
        }
    }

    /// The number, in units of its last digit; `None` is NULL. For columns that have a [scale](Field::scale_of_units).
    #[inline]
    pub fn units(&self, row: &[u8]) -> Result<Option<i128>, TypeError> {
        let Some(bytes) = self.bytes(row)? else { return Ok(None) };
        let units = match self.codec() {
            Codec::Int { unsigned: true, .. } => Some(i128::from(read_le(bytes))),
            Codec::Decimal { precision, scale } => decimal::binary::read_units(bytes, *precision, *scale),
            Codec::Year => Some(i128::from(year_of(bytes))),
            _ => Some(i128::from(read_signed(bytes))),
        };
        units.map(Some).ok_or(TypeError::DamagedRow { column: self.column, what: "impossible value" })
    }

    /// Whether its numbers are floating-point ones.
    pub fn is_double(&self) -> bool {
        matches!(self.codec(), Codec::Float | Codec::Double)
    }

    /// The floating-point number; `None` is NULL. For columns of such.
    #[inline]
    pub fn double(&self, row: &[u8]) -> Result<Option<f64>, TypeError> {
        Ok(self.bytes(row)?.map(|bytes| double(self.codec(), bytes)))
    }
}

fn double(codec: &Codec, bytes: &[u8]) -> f64 {
    match codec {
        Codec::Float => f64::from(f32::from_bits(read_le(bytes) as u32)),
        _ => f64::from_bits(read_le(bytes)),
    }
}

#[inline]
fn rank_of(codec: &Codec, bytes: &[u8]) -> u64 {
    match codec {
        Codec::Int { unsigned: false, .. } => read_signed(bytes) as u64 ^ SIGN,
        Codec::Int { .. } | Codec::Date => read_le(bytes),
        Codec::Float | Codec::Double => {
            // -0.0 + 0.0 is 0.0.
            let bits = (double(codec, bytes) + 0.0).to_bits();
            if bits & SIGN == 0 { bits | SIGN } else { !bits }
        }
        _ => read_big_endian(bytes),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use crate::column_type::ColumnType;
    use crate::decimal::Decimal;
    use crate::row::RowLayout;
    use crate::schema::ColumnDef;
    use crate::temporal::{Date, DateTime, Time};
    use crate::value::Value;

    fn column(ty: ColumnType, nullable: bool) -> ColumnDef {
        ColumnDef { nullable, ..ColumnDef::new("c", ty) }
    }

    fn decimal(text: &str) -> Value {
        Value::Decimal(text.parse().unwrap())
    }

    /// Images of rows with a text and this value, which is found with and without a fixed place.
    fn images(ty: &ColumnType, value: &Value) -> Vec<(RowLayout, usize, Bytes)> {
        let text = column(ColumnType::VarChar { chars: 20 }, true);
        let first = RowLayout::of_columns([&column(ty.clone(), false), &text]);
        let last = RowLayout::of_columns([&text, &column(ty.clone(), true)]);
        let words = Value::str("some text");
        let one = first.encode(&[value.clone(), words.clone()]).unwrap();
        let other = last.encode(&[words, value.clone()]).unwrap();
        vec![(first, 0, one), (last, 1, other)]
    }

    #[test]
    fn ranks_are_ordered_as_the_values_are() {
        let date = |year, day| Value::Date(Date::new(year, 2, day));
        let at = |day, micros| Value::DateTime(DateTime::new(Date::new(1999, 12, day), 1, 2, 3, micros));
        let span = |micros| Value::Time(Time::from_micros(micros));
        let ascending: Vec<(ColumnType, Vec<Value>)> = vec![
            (ColumnType::Int { unsigned: false }, [-70000, -1, 0, 1, 70000].map(Value::Int).to_vec()),
            (ColumnType::BigInt { unsigned: true }, [0, 1, u64::MAX - 1, u64::MAX].map(Value::UInt).to_vec()),
            (ColumnType::MediumInt { unsigned: false }, [-8_388_608, -3, 5, 8_388_607].map(Value::Int).to_vec()),
            (
                ColumnType::Decimal { precision: 12, scale: 3, unsigned: false },
                ["-999999999.999", "-1.001", "-1", "0", "0.001", "17.5", "123456789"].map(decimal).to_vec(),
            ),
            (ColumnType::Date, vec![date(0, 0), date(1970, 1), date(1970, 2), date(9999, 28)]),
            (ColumnType::DateTime { fsp: 6 }, vec![at(1, 0), at(1, 1), at(1, 999_999), at(2, 0)]),
            (ColumnType::Time { fsp: 3 }, vec![span(-3_600_000_000), span(-1000), span(0), span(7_000_000)]),
        ];
        for (ty, values) in ascending {
            for images in values.windows(2).map(|two| [images(&ty, &two[0]), images(&ty, &two[1])]) {
                let ranks = images.map(|images| {
                    let rank = |(layout, column, image): &(RowLayout, usize, Bytes)| {
                        let field = layout.field(*column);
                        assert!(field.has_ranks());
                        let value = layout.decode_column(image, *column).unwrap();
                        let rank = field.rank(image).unwrap();
                        assert_eq!(rank, field.rank_of(&value), "{ty:?}: {value:?}");
                        rank
                    };
                    let ranks: Vec<_> = images.iter().map(rank).collect();
                    assert_eq!(ranks[0], ranks[1], "{ty:?}: a place does not matter");
                    ranks[0]
                });
                assert!(ranks[0] < ranks[1], "{ty:?}: {values:?}");
            }
        }
    }

    #[test]
    fn doubles_have_ranks_too() {
        let ty = ColumnType::Double { unsigned: false };
        let layout = RowLayout::of_columns([&column(ty, false)]);
        let rank = |n: f64| layout.field(0).rank(&layout.encode(&[Value::Double(n)]).unwrap()).unwrap().unwrap();
        let ascending = [f64::MIN, -1.5, -1e-300, 0.0, 1e-300, 2.0, f64::MAX];
        assert!(ascending.windows(2).all(|two| rank(two[0]) < rank(two[1])));
        assert_eq!(rank(-0.0), rank(0.0));
    }

    #[test]
    fn exact_numbers_in_units_of_their_last_digit() {
        let ty = ColumnType::Decimal { precision: 30, scale: 12, unsigned: false };
        for text in ["-123456789012345678.000000000001", "0", "-0.5", "999999999.123456789012", "100000000"] {
            let number: Decimal = text.parse().unwrap();
            for (layout, column, image) in images(&ty, &Value::Decimal(number)) {
                let units = layout.field(column).units(&image).unwrap().unwrap();
                assert_eq!(Decimal::from_units(units, 12), Some(number), "{text}");
                assert_eq!(number.units(12), Some(units), "{text}");
            }
        }
        for (layout, column, image) in images(&ColumnType::SmallInt { unsigned: false }, &Value::Int(-7)) {
            assert_eq!(layout.field(column).units(&image).unwrap(), Some(-7));
        }
        let layout = RowLayout::of_columns([&column(ty, true)]);
        assert_eq!(layout.field(0).units(&layout.encode(&[Value::Null]).unwrap()).unwrap(), None);
    }

    #[test]
    fn images_that_end_early_are_errors() {
        let value = Value::Int(5);
        for (layout, column, image) in images(&ColumnType::Int { unsigned: false }, &value) {
            let end = layout.locate(&image, column).unwrap().unwrap().end;
            for length in 0..end {
                assert!(layout.field(column).rank(&image[..length]).is_err(), "{length} of {end} bytes");
            }
        }
    }
}
