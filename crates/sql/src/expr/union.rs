//! The type of a value that is one of several: of a UNION's column, CASE, IF, COALESCE.

use types::value::NOT_FIXED;
use types::{CollationId, ColumnType};

use super::column_type::VARBINARY_BYTES_MAX;
use super::order::is_member_list;
use super::types::{Bits, ExprType, Kind, Strings, aggregate_collations};

impl ExprType {
    /// The type of a column of a UNION (and of CASE, IF, COALESCE): both sides' values fit.
    pub fn union(&self, other: &ExprType) -> ExprType {
        let nullable = self.nullable || other.nullable;
        let mut ty = match (self.kind, other.kind) {
            (Kind::Null | Kind::Any, _) => other.clone(),
            (_, Kind::Null | Kind::Any) => self.clone(),
            _ if self.kind == other.kind
                && self.origin == other.origin
                && (self.origin.is_some() && !matches!(self.kind, Kind::Float | Kind::Double)
                    || self.decimals == other.decimals && self.kind != Kind::Decimal) =>
            {
                self.clone()
            }
            _ => self.union_kind(other),
        };
        ty.nullable = nullable;
        ty.utc = false;
        ty.bits = Bits::None;
        if ty.kind.is_string() || self.kind.is_text() && other.kind.is_text() {
            (ty.collation, ty.coercibility) = aggregate_collations(self, other);
        }
        if ty.kind == Kind::Json {
            // A document that was chosen is no column's.
            return ExprType { origin: None, length: u32::MAX / 4, ..ty };
        }
        if ty.kind.is_string() {
            ty.length = ty.length.max(self.length_as(ty.kind)).max(other.length_as(ty.kind));
            ty.strings = self.strings_with(other);
        } else if ty.kind == self.kind && ty.kind == other.kind && ty.kind != Kind::Decimal {
            ty.length = self.length.max(other.length);
        }
        ty
    }

    /// What the protocol calls a string that is one of two values. One that is computed and long is a BLOB by its length.
    fn strings_with(&self, other: &ExprType) -> Strings {
        let is_computed_blob = |ty: &ExprType| {
            ty.kind == Kind::Json || ty.strings() == Strings::Varying && ty.byte_length() > VARBINARY_BYTES_MAX
        };
        if is_computed_blob(self) || is_computed_blob(other) {
            return Strings::Varying;
        }
        let own = |ty: &ExprType| (ty.kind.is_string() && !is_member_list(ty)).then(|| ty.strings());
        match (own(self), own(other)) {
            (Some(Strings::Blob), _) | (_, Some(Strings::Blob)) => Strings::Blob,
            (Some(Strings::Fixed), Some(Strings::Fixed) | None) | (None, Some(Strings::Fixed)) => Strings::Fixed,
            _ => Strings::Varying,
        }
    }

    fn union_kind(&self, other: &ExprType) -> ExprType {
        use Kind::*;
        let fsp = self.decimals.max(other.decimals);
        match (self.kind, other.kind) {
            (Int, Int) | (UInt, UInt) => match (&self.origin, &other.origin) {
                (Some(a), Some(b)) if a.integer().is_some() && b.integer().is_some() => {
                    let wider = if a.integer() < b.integer() { other } else { self };
                    ExprType { zerofill: false, ..wider.clone() }
                }
                _ => ExprType::of_kind(self.kind),
            },
            (Int, UInt) | (UInt, Int) => {
                let unsigned = if self.kind == UInt { self } else { other };
                // INT UNSIGNED fits BIGINT; BIGINT UNSIGNED beside a signed number does not.
                match unsigned.length {
                    ..19 => ExprType::of_kind(Int),
                    _ => ExprType::decimal(self.int_digits().max(other.int_digits()), 0),
                }
            }
            (Float, Float) => match self.decimals.max(other.decimals) {
                NOT_FIXED.. => ExprType::of_kind(Float),
                decimals => ExprType { decimals, ..ExprType::of_kind(Float) },
            },
            (Float, Int | UInt) if has_few_digits(other) => ExprType::of_kind(Float),
            (Int | UInt, Float) if has_few_digits(self) => ExprType::of_kind(Float),
            (a, b) if a.is_numeric() && b.is_numeric() => {
                if matches!(a, Float | Double) || matches!(b, Float | Double) {
                    return ExprType::double(self.decimals_of_double().max(other.decimals_of_double()));
                }
                ExprType::decimal(self.int_digits().max(other.int_digits()) + fsp as u32, fsp)
            }
            (Date, Date) => ExprType::of_kind(Date),
            (Time, Time) => ExprType::temporal(Time, fsp),
            (a, b) if a.is_temporal() && b.is_temporal() => ExprType::temporal(DateTime, fsp),
            // A BIT is a binary string beside what is no number.
            (a, b) if (self.is_bits() || other.is_bits()) && !(a.is_numeric() && b.is_numeric()) => {
                match aggregate_collations(self, other).0 {
                    CollationId::BINARY => ExprType::bytes(0),
                    _ => ExprType::text(0, CollationId::DEFAULT),
                }
            }
            // Of text and a binary string the one that insists more.
            (Str, Bytes) | (Bytes, Str) if aggregate_collations(self, other).0 != CollationId::BINARY => {
                ExprType::text(0, CollationId::DEFAULT)
            }
            (Json, Json) => ExprType::json(),
            // With anything else a document is text.
            (Json, _) | (_, Json) => ExprType::text(u32::MAX / 4, CollationId::UTF8MB4_BIN),
            (Bytes, _) | (_, Bytes) => ExprType::bytes(0),
            _ => ExprType::text(0, CollationId::DEFAULT),
        }
    }
}

/// Whether it is a column of which a FLOAT holds all numbers.
fn has_few_digits(ty: &ExprType) -> bool {
    match &ty.origin {
        Some(ColumnType::Year) => true,
        Some(origin) => matches!(origin.integer(), Some((1..=3, _))),
        None => false,
    }
}
