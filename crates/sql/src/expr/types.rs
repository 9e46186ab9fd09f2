//! [`ExprType`]: what is known of an expression before it is evaluated.

use types::charset::Charset;
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
    /// JSON
    Json,
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

    /// A string, or JSON, which is text wherever text is wanted.
    pub fn is_text(self) -> bool {
        matches!(self, Kind::Str | Kind::Bytes | Kind::Json)
    }

    /// Str or Bytes.
    pub fn is_string(self) -> bool {
        matches!(self, Kind::Str | Kind::Bytes)
    }
}

/// How strongly an expression insists on its collation; the earlier wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coercibility {
    /// COLLATE was written.
    Explicit,
    /// A column.
    Implicit,
    /// A column of a virtual table. It is as strong as other columns, but the collation of a table's own column in the same
    /// character set wins: MySQL's virtual tables have utf8mb3, which gives way to utf8mb4.
    VirtualColumn,
    /// USER(), VERSION(), DATABASE().
    SystemConstant,
    /// A literal, a parameter.
    Coercible,
    /// A number or a time.
    Numeric,
    /// NULL.
    Ignorable,
    /// Two strings whose collations conflict: anybody else's collation wins.
    None,
}

impl Coercibility {
    /// `COERCIBILITY()`
    pub(crate) fn number(self) -> i64 {
        match self {
            Coercibility::Explicit => 0,
            Coercibility::Implicit | Coercibility::VirtualColumn => 2,
            Coercibility::SystemConstant => 3,
            Coercibility::Coercible => 4,
            Coercibility::Numeric => 5,
            Coercibility::Ignorable => 6,
            Coercibility::None => 7,
        }
    }

    fn is_column(self) -> bool {
        matches!(self, Coercibility::Implicit | Coercibility::VirtualColumn)
    }
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
    /// A ZEROFILL or YEAR column's value unchanged (see `origin`), or only once one: ask [`ExprType::zeros`].
    pub(crate) zerofill: bool,
    /// What the protocol calls it if it is a string that is no column's value: ask [`ExprType::strings`].
    pub(crate) strings: Strings,
    /// Whether it is a literal in bits.
    pub(crate) bits: Bits,
}

/// What the protocol calls a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Strings {
    /// VAR_STRING, or a BLOB by its length.
    #[default]
    Varying,
    /// STRING: it is chosen among CHARs and BINARYs, and what is no string.
    Fixed,
    /// BLOB, whatever its length is: it is chosen among values of which one is a TEXT or a BLOB.
    Blob,
}

/// Whether an expression is a literal in bits, which is a string, and a number where one is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Bits {
    /// It is none.
    #[default]
    None,
    /// `b'101'`, a number with a sign.
    Binary,
    /// `0x41`, a number without a sign.
    Hexadecimal,
}

impl ExprType {
    /// The type of a column's stored value.
    pub fn of_column(column: &ColumnDef) -> Self {
        let (kind, length, decimals) = stored_kind(&column.ty);
        let is_text = column.ty.has_charset();
        let length = column.display_width.map_or(length, u32::from);
        let (length, decimals) = column.float_digits.map_or((length, decimals), |(all, after)| (all.into(), after));
        ExprType {
            // A YEAR shows four digits.
            zerofill: column.zerofill || column.ty == ColumnType::Year,
            strings: Strings::Varying,
            bits: Bits::None,
            kind,
            nullable: column.nullable,
            collation: match kind {
                Kind::Json => CollationId::UTF8MB4_BIN,
                _ if is_text => column.collation,
                _ => CollationId::BINARY,
            },
            coercibility: match kind.is_text() || matches!(column.ty, ColumnType::Bit { .. }) {
                true => Coercibility::Implicit,
                false => Coercibility::Numeric,
            },
            decimals,
            length,
            utc: matches!(column.ty, ColumnType::Timestamp { .. }),
            origin: Some(column.ty.clone()),
        }
    }

    /// A type of this kind with its usual length.
    pub fn of_kind(kind: Kind) -> Self {
        let decimals = if matches!(kind, Kind::Float | Kind::Double) { NOT_FIXED } else { 0 };
        let length = match kind {
            Kind::Int | Kind::UInt => 21,
            Kind::Float | Kind::Double => 23,
            Kind::Decimal => 10,
            Kind::Date | Kind::Time => 10,
            Kind::DateTime => 19,
            _ => 0,
        };
        ExprType {
            kind,
            origin: None,
            nullable: true,
            collation: CollationId::BINARY,
            coercibility: if kind == Kind::Null { Coercibility::Ignorable } else { Coercibility::Numeric },
            decimals,
            length,
            utc: false,
            zerofill: false,
            strings: Strings::Varying,
            bits: Bits::None,
        }
    }

    /// DOUBLE, shown with so many digits after the point; with as many as it has for [`NOT_FIXED`].
    pub(crate) fn double(decimals: u8) -> Self {
        let double = ExprType::of_kind(Kind::Double);
        match decimals {
            0..NOT_FIXED => ExprType { decimals, length: 22, ..double },
            _ => double,
        }
    }

    /// Digits after the point that it gives a DOUBLE that is made of it; [`NOT_FIXED`] for text.
    pub(crate) fn decimals_of_double(&self) -> u8 {
        match self.kind {
            Kind::Str | Kind::Bytes | Kind::Json | Kind::Any => NOT_FIXED,
            _ => self.decimals,
        }
    }

    /// The type of a value that a function or a subquery gives as it is: no member of a list any more, but a text like others, of no fixed
    /// length, and without zeros in front.
    pub(crate) fn passed_on(self) -> Self {
        let strings = self.strings();
        let origin = self.origin.filter(|origin| {
            use ColumnType::{Binary, Char, Enum, Set};
            !matches!(origin, Enum { .. } | Set { .. } | Char { .. } | Binary { .. })
        });
        ExprType { origin, strings, zerofill: false, bits: Bits::None, ..self }
    }

    /// What the protocol calls it if it is a string.
    pub(crate) fn strings(&self) -> Strings {
        match self.origin {
            Some(ColumnType::Text { .. } | ColumnType::Blob { .. }) => Strings::Blob,
            Some(ColumnType::Char { .. } | ColumnType::Binary { .. }) => Strings::Fixed,
            Some(_) => Strings::Varying,
            None => self.strings,
        }
    }

    /// Whether it is a BIT of a column, which is a number among numbers and beside text a binary string. One that a function gives as it is is
    /// shown as bits and is a number otherwise.
    pub(crate) fn is_bits(&self) -> bool {
        matches!(self.origin, Some(ColumnType::Bit { .. })) && self.coercibility.is_column()
    }

    /// The type of a value that a function has computed from several: no BIT and no string of a column any more.
    pub(crate) fn computed(self) -> Self {
        let coercibility = if self.is_bits() { Coercibility::Numeric } else { self.coercibility };
        let strings = self.strings();
        let origin = self.origin.filter(|origin| !origin.is_string());
        ExprType { coercibility, origin, strings, ..self }
    }

    /// With how many digits its numbers are shown, zeros in front, if they are those of a ZEROFILL or YEAR column.
    pub(crate) fn zeros(&self) -> Option<usize> {
        let point = (self.kind == Kind::Decimal && self.decimals > 0) as u32;
        (self.zerofill && self.origin.is_some()).then_some((self.length + point) as usize)
    }

    /// A truth value: 0, 1 or, if `nullable`, NULL.
    pub fn truth(nullable: bool) -> Self {
        ExprType { length: 1, nullable, ..ExprType::of_kind(Kind::Int) }
    }

    /// DECIMAL(precision, scale), each at most what there is.
    pub fn decimal(precision: u32, scale: u8) -> Self {
        let scale = scale.min(types::decimal::MAX_SCALE);
        let length = precision.clamp(scale.max(1) as u32, types::decimal::MAX_PRECISION as u32);
        ExprType { length, decimals: scale, ..ExprType::of_kind(Kind::Decimal) }
    }

    /// Text of at most so many characters.
    pub fn text(length: u32, collation: CollationId) -> Self {
        ExprType { length, collation, coercibility: Coercibility::Coercible, ..ExprType::of_kind(Kind::Str) }
    }

    /// The text of a moment that is computed from text.
    pub(crate) fn moment_text() -> Self {
        const CHARS: u32 = 29;
        ExprType { strings: Strings::Fixed, ..ExprType::text(CHARS, CollationId::DEFAULT) }
    }

    /// A document.
    pub fn json() -> Self {
        ExprType {
            length: u32::MAX / 4,
            collation: CollationId::UTF8MB4_BIN,
            coercibility: Coercibility::Implicit,
            ..ExprType::of_kind(Kind::Json)
        }
    }

    /// Whether it is a condition's value, which JSON has as `true` or `false` instead of a number.
    pub(crate) fn is_truth(&self) -> bool {
        self.kind == Kind::Int && self.length == 1 && self.origin.is_none()
    }

    /// A binary string of at most so many bytes.
    pub fn bytes(length: u32) -> Self {
        ExprType { length, coercibility: Coercibility::Coercible, ..ExprType::of_kind(Kind::Bytes) }
    }

    /// DATE, TIME or DATETIME with so many digits of the fraction.
    pub fn temporal(kind: Kind, fsp: u8) -> Self {
        let mut ty = ExprType::of_kind(kind);
        if fsp > 0 && kind != Kind::Date {
            ty.decimals = fsp;
            ty.length += 1 + fsp as u32;
        }
        ty
    }

    /// The same, nullable or not.
    pub fn nullable(mut self, nullable: bool) -> Self {
        self.nullable = nullable;
        self
    }

    /// How many characters its text takes at most.
    pub fn text_length(&self) -> u32 {
        let with_point = self.length.saturating_add(1 + (self.decimals > 0) as u32);
        match (self.kind, self.decimals) {
            (Kind::Decimal, _) => with_point,
            (Kind::Double, NOT_FIXED..) => DOUBLE_CHARS_MAX,
            (Kind::Float, NOT_FIXED..) => FLOAT_CHARS_MAX,
            // A column of DOUBLE(M,D) holds numbers of M digits; what is computed may be any.
            (Kind::Double | Kind::Float, _) if self.origin.is_some() => with_point.max(SHOWN_DOUBLE_CHARS),
            (Kind::Double | Kind::Float, decimals) => DIGITS_OF_GREATEST + 2 + decimals as u32,
            _ => self.length,
        }
    }

    /// How long it is as a string of that kind at most: in bytes as a binary string, otherwise in characters.
    pub(crate) fn length_as(&self, kind: Kind) -> u32 {
        if kind == Kind::Bytes { self.byte_length() } else { self.text_length() }
    }

    /// How many bytes it takes at most as a string in its own character set.
    pub(crate) fn byte_length(&self) -> u32 {
        match self.kind {
            Kind::Str | Kind::Any => self.length.saturating_mul(match self.collation.charset() {
                // Text of mixed character sets is UTF-8 here.
                Charset::Binary => Charset::Utf8Mb4.max_bytes_per_char(),
                charset => charset.max_bytes_per_char(),
            }),
            _ => self.text_length(),
        }
    }

    /// Digits before the point that its numbers can have.
    pub(crate) fn int_digits(&self) -> u32 {
        match self.kind {
            Kind::Decimal => self.length.saturating_sub(self.decimals as u32),
            Kind::Int | Kind::UInt => match self.origin.as_ref().and_then(ColumnType::integer) {
                Some((1, _)) => 3,
                Some((2, _)) => 5,
                // A MEDIUMINT has one that it never needs, as in MySQL.
                Some((3, _)) => 8,
                Some((4, _)) => 10,
                Some((_, unsigned)) => 19 + unsigned as u32,
                // One place is the sign's.
                // Of what a function gives MySQL expects one more than there can be.
                None if self.kind == Kind::Int => self.length.saturating_sub(1).clamp(1, 20),
                None => self.length.clamp(1, 21),
            },
            Kind::Date => 8,
            Kind::Time => 7,
            Kind::DateTime => 14,
            _ => 20,
        }
    }
}

/// The most characters of a DOUBLE, `-0.0000000000000012345678901234567`, and of a FLOAT, `-0.00000000000000123456`.
const DOUBLE_CHARS_MAX: u32 = 34;
const FLOAT_CHARS_MAX: u32 = 23;

/// The characters that a number with a fixed number of digits after the point has room for even if its column has fewer, as in MySQL.
const SHOWN_DOUBLE_CHARS: u32 = 22;

/// The digits before the point of the greatest DOUBLE.
const DIGITS_OF_GREATEST: u32 = 309;

/// Kind, length and decimals of a column's values.
fn stored_kind(ty: &ColumnType) -> (Kind, u32, u8) {
    let fraction = |fsp: u8| if fsp > 0 { 1 + fsp as u32 } else { 0 };
    let longest = |members: &[String]| members.iter().map(|member| member.chars().count() as u32).max().unwrap_or(0);
    match ty {
        ColumnType::Float { .. } => (Kind::Float, 12, NOT_FIXED),
        ColumnType::Double { .. } => (Kind::Double, 22, NOT_FIXED),
        ColumnType::Decimal { precision, scale, .. } => (Kind::Decimal, *precision as u32, *scale),
        ColumnType::Char { chars } | ColumnType::VarChar { chars } => (Kind::Str, *chars, 0),
        ColumnType::Binary { bytes } | ColumnType::VarBinary { bytes } => (Kind::Bytes, *bytes, 0),
        ColumnType::Text { size } => (Kind::Str, size.max_bytes(), 0),
        ColumnType::Blob { size } => (Kind::Bytes, size.max_bytes(), 0),
        ColumnType::Date => (Kind::Date, 10, 0),
        ColumnType::Time { fsp } => (Kind::Time, 10 + fraction(*fsp), *fsp),
        ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } => (Kind::DateTime, 19 + fraction(*fsp), *fsp),
        ColumnType::Year => (Kind::UInt, 4, 0),
        ColumnType::Bit { bits } => (Kind::UInt, *bits as u32, 0),
        ColumnType::Json => (Kind::Json, u32::MAX, 0),
        ColumnType::Enum { members } => (Kind::Str, longest(members), 0),
        ColumnType::Set { members } => {
            let chars: u32 = members.iter().map(|member| member.chars().count() as u32 + 1).sum();
            (Kind::Str, chars.saturating_sub(1), 0)
        }
        integer => {
            let (width, unsigned) = integer.integer().unwrap_or((8, false));
            let length = match (width, unsigned) {
                (1, false) => 4,
                (1, true) => 3,
                (2, false) => 6,
                (2, true) => 5,
                (3, false) => 9,
                (3, true) => 8,
                (4, false) => 11,
                (4, true) => 10,
                _ => 20,
            };
            (if unsigned { Kind::UInt } else { Kind::Int }, length, 0)
        }
    }
}

/// The collation of an operation on two strings, and how strongly it insists on it ([`Coercibility::None`]: they conflict).
pub(crate) fn aggregate_collations(a: &ExprType, b: &ExprType) -> (CollationId, Coercibility) {
    let is_string = |ty: &ExprType| ty.kind.is_text() || ty.kind == Kind::Any || ty.is_bits();
    let strings = (is_string(a), is_string(b));
    match strings {
        // A number settles what is in conflict.
        (true, false) if a.coercibility == Coercibility::None && b.kind != Kind::Null => {
            return (CollationId::DEFAULT, Coercibility::Coercible);
        }
        (false, true) if b.coercibility == Coercibility::None && a.kind != Kind::Null => {
            return (CollationId::DEFAULT, Coercibility::Coercible);
        }
        (true, false) => return (a.collation, a.coercibility),
        (false, true) => return (b.collation, b.coercibility),
        (false, false) => return (CollationId::DEFAULT, Coercibility::Coercible),
        (true, true) => {}
    }
    let are_columns_apart =
        a.coercibility.is_column() && b.coercibility.is_column() && a.collation.charset() != b.collation.charset();
    if a.coercibility != b.coercibility && !are_columns_apart {
        let stronger = if a.coercibility < b.coercibility { a } else { b };
        return (stronger.collation, stronger.coercibility);
    }
    if a.collation == b.collation {
        return (a.collation, a.coercibility);
    }
    resolve_conflict(a, b)
}

/// Two collations that insist equally: binary wins, Unicode over others, any over ascii, `_bin` of the same character set over others.
fn resolve_conflict(a: &ExprType, b: &ExprType) -> (CollationId, Coercibility) {
    let charsets = (a.collation.charset(), b.collation.charset());
    match charsets {
        (Charset::Binary, _) => (a.collation, a.coercibility),
        (_, Charset::Binary) => (b.collation, b.coercibility),
        (Charset::Utf8Mb4, Charset::Single(_)) => (a.collation, a.coercibility),
        (Charset::Single(_), Charset::Utf8Mb4) => (b.collation, b.coercibility),
        (one, Charset::ASCII) if one != Charset::ASCII => (a.collation, a.coercibility),
        (Charset::ASCII, other) if other != Charset::ASCII => (b.collation, b.coercibility),
        (Charset::Single(_), Charset::Single(_)) if charsets.0 != charsets.1 => (a.collation, Coercibility::None),
        _ if b.collation.name().ends_with("_bin") && !a.collation.name().ends_with("_bin") => {
            (b.collation, b.coercibility)
        }
        _ if a.collation.name().ends_with("_bin") && !b.collation.name().ends_with("_bin") => {
            (a.collation, a.coercibility)
        }
        (charset, _) => {
            let binary = crate::charsets::binary_collation(charset.name());
            (binary.unwrap_or(a.collation), Coercibility::None)
        }
    }
}
