//! [`ExprType`]: what is known of an expression before it is evaluated.

use types::value::NOT_FIXED;
use types::{CollationId, ColumnDef, ColumnType};

/// The kind of values that an expression gives; mirrors the variants of [`types::Value`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Always NULL.
    Null,
    /// A parameter: known when it has a value.
    Any,
    /// Signed integer; also truth values.
    Int,
    /// Unsigned integer; also YEAR and BIT.
    UInt,
    /// FLOAT
    Float,
    /// DOUBLE
    Double,
    /// DECIMAL
    Decimal,
    /// Text; also ENUM and SET.
    Str,
    /// Binary string.
    Bytes,
    /// DATE
    Date,
    /// TIME
    Time,
    /// DATETIME and TIMESTAMP.
    DateTime,
}

impl Kind {
    /// Int or UInt.
    pub fn is_integer(self) -> bool {
        matches!(self, Kind::Int | Kind::UInt)
    }

    /// A number.
    pub fn is_numeric(self) -> bool {
        matches!(self, Kind::Int | Kind::UInt | Kind::Float | Kind::Double | Kind::Decimal)
    }

    /// A date, a time, or both.
    pub fn is_temporal(self) -> bool {
        matches!(self, Kind::Date | Kind::Time | Kind::DateTime)
    }

    /// Str or Bytes.
    pub fn is_string(self) -> bool {
        matches!(self, Kind::Str | Kind::Bytes)
    }
}

/// How strongly an expression insists on its collation; the lower wins (`COERCIBILITY()`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Coercibility {
    /// COLLATE was written.
    Explicit = 0,
    /// Two strings whose collations conflict.
    None = 1,
    /// A column.
    Implicit = 2,
    /// USER(), VERSION(), DATABASE().
    SystemConstant = 3,
    /// A literal, a parameter.
    Coercible = 4,
    /// A number or a time.
    Numeric = 5,
    /// NULL.
    Ignorable = 6,
}

/// What is known of an expression before it is evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct ExprType {
    /// The values' kind.
    pub kind: Kind,
    /// The declared type, if the expression is a column's value unchanged. ENUM and SET have their numbers and order from it,
    /// TIMESTAMP, YEAR and BIT their name.
    pub origin: Option<ColumnType>,
    /// Whether it can be NULL.
    pub nullable: bool,
    /// Of strings; `binary` for others.
    pub collation: CollationId,
    /// Who wins when collations differ.
    pub coercibility: Coercibility,
    /// Digits after the point: scale of DECIMAL, fsp of temporal values, [`NOT_FIXED`] for floats.
    pub decimals: u8,
    /// Longest text, in characters: of strings their length, of numbers the display width. For DECIMAL the precision.
    pub length: u32,
    /// The slot holds UTC (a TIMESTAMP column as it is stored); reading it with [`crate::expr::Expr::column`] gives the
    /// session's time and a type without this flag.
    pub utc: bool,
}

impl ExprType {
    /// The type of a column's stored value.
    pub fn of_column(column: &ColumnDef) -> Self {
        let _ = column;
        todo!()
    }

    /// A type of this kind with its usual length.
    pub fn of_kind(kind: Kind) -> Self {
        let decimals = if matches!(kind, Kind::Float | Kind::Double) { NOT_FIXED } else { 0 };
        ExprType {
            kind,
            origin: None,
            nullable: true,
            collation: CollationId::BINARY,
            coercibility: Coercibility::Numeric,
            decimals,
            length: 0,
            utc: false,
        }
    }

    /// The column type that CREATE TABLE … SELECT makes of it, and from which a result column's metadata comes. NULL becomes
    /// `binary(0)`, as in MySQL.
    pub fn to_column_type(&self) -> ColumnType {
        todo!()
    }

    /// A column of this type: for CREATE TABLE … SELECT, temporary results and metadata.
    pub fn to_column(&self, name: &str) -> ColumnDef {
        let mut column = ColumnDef::new(name, self.to_column_type());
        column.nullable = self.nullable;
        column.collation = self.collation;
        column
    }

    /// The type of a column of a UNION (and of CASE, IF, COALESCE): both sides' values fit.
    pub fn union(&self, other: &ExprType) -> ExprType {
        let _ = other;
        todo!()
    }
}
