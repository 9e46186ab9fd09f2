//! Literals, casts, and what is written beside them: signs, introducers, units.

use base::{SqlError, codes};
use sqlparser::ast as sql;
use types::charset::Charset;
use types::{CollationId, Value};

use crate::bind::Binder;
use crate::bind::expr::{ExprScope, interval_unit, unsupported};
use crate::bind::frame::SlotSource;
use crate::charsets;
use crate::expr::build;
use crate::expr::constant::constant;
use crate::expr::{CastType, Coercibility, Expr, ExprType, Kind, SqlMode, coerce};
use crate::parse::{bit_bytes, hex_bytes};

impl<'a> Binder<'a> {
    pub(crate) fn bind_unary(
        &mut self,
        op: sql::UnaryOperator,
        expr: &'a sql::Expr,
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        // -9223372036854775808 is one literal, not the negative of a number that is too large.
        if op == sql::UnaryOperator::Minus
            && let sql::Expr::Value(value) = expr
            && let sql::Value::Number(digits, _) = &value.value
        {
            return negative_number(digits);
        }
        let arg = self.bind_expr(expr, scope)?;
        // The only constant of which the negative needs another type.
        let is_least = op == sql::UnaryOperator::Minus && arg.ty.kind == Kind::Int;
        let arg = match is_least && constant(&arg, self.context.session) == Some(Value::Int(i64::MIN)) {
            true => build::integer_literal(i64::MIN),
            false => arg,
        };
        match op {
            sql::UnaryOperator::Plus => Ok(arg),
            sql::UnaryOperator::Minus => {
                let mut arg = arg;
                self.assume_param(&mut arg, &ExprType::of_kind(Kind::Any), scope);
                build::negate(arg)
            }
            sql::UnaryOperator::Not | sql::UnaryOperator::BangNot => Ok(build::not(arg)),
            sql::UnaryOperator::BitwiseNot => Ok(build::bit_not(arg)),
            other => Err(SqlError::not_supported(format_args!("operator {other}"))),
        }
    }

    pub(crate) fn bind_value(&mut self, value: &sql::Value) -> Result<Expr, SqlError> {
        use sql::Value as V;
        match value {
            V::NationalStringLiteral(text) => {
                let client = self.context.session.character_set_client;
                text_of_bytes(&client.encode_lossy(text.as_bytes()), self.charset_collation("utf8mb3")?)
            }
            V::Placeholder(name) => match name.trim_start_matches('?').parse() {
                Ok(number) => Ok(Expr::param(number, self.context.param_types.get(number))),
                Err(_) => Err(SqlError::not_supported(format_args!("the placeholder {name}"))),
            },
            other => plain(other, self.context.session.collation_connection),
        }
    }

    pub(crate) fn bind_typed_string(&mut self, typed: &sql::TypedString) -> Result<Expr, SqlError> {
        let kind = match typed.data_type {
            sql::DataType::Date => Kind::Date,
            sql::DataType::Time(..) => Kind::Time,
            sql::DataType::Timestamp(..) | sql::DataType::Datetime(_) => Kind::DateTime,
            ref other => return Err(SqlError::not_supported(format_args!("literals of type {other}"))),
        };
        match typed.value.value.clone().into_string() {
            Some(text) => build::temporal_literal(kind, &text, self.context.session),
            None => Err(SqlError::not_supported(&typed.value)),
        }
    }

    /// `_utf8mb4'…'`, `_binary'…'`, `BINARY expr`.
    pub(crate) fn bind_introducer(
        &mut self,
        prefix: &str,
        value: &'a sql::Expr,
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        let name = prefix.trim_start_matches('_').to_ascii_lowercase();
        let collation = self.charset_collation(&name)?;
        let literal = match value {
            sql::Expr::Value(value) => Some(&value.value),
            _ => None,
        };
        let client = self.context.session.character_set_client;
        match literal {
            // The bytes that the client wrote, whatever they are in its own character set.
            Some(sql::Value::SingleQuotedString(text) | sql::Value::DoubleQuotedString(text)) => {
                if collation == CollationId::BINARY {
                    return binary_text(text, client);
                }
                return text_of_bytes(&client.encode_lossy(text.as_bytes()), collation);
            }
            Some(other) if let Some(bytes) = bytes_of(other) => {
                return match collation {
                    CollationId::BINARY => binary_bytes(bytes),
                    collation => text_of_bytes(&bytes, collation),
                };
            }
            _ => {}
        }
        let bound = self.bind_expr(value, scope)?;
        match collation {
            CollationId::BINARY => build::cast(bound, CastType::Binary { bytes: None }, collation),
            _ => build::cast(bound, CastType::Char { chars: None }, collation),
        }
    }

    /// The default collation of a character set; of the connection's, the connection's own.
    fn charset_collation(&self, charset: &str) -> Result<CollationId, SqlError> {
        let connection = self.context.session.collation_connection;
        match Charset::by_name(charset) {
            Some(charset) if charset == connection.charset() => Ok(connection),
            Some(charset) => Ok(charset.default_collation()),
            None => Err(charsets::unknown_charset(charset)),
        }
    }

    /// `CONVERT(expr USING charset)`
    pub(crate) fn bind_convert_using(&mut self, bound: Expr, charset: &str) -> Result<Expr, SqlError> {
        match self.charset_collation(&charset.to_ascii_lowercase())? {
            CollationId::BINARY => build::cast(bound, CastType::Binary { bytes: None }, CollationId::BINARY),
            collation => build::cast(bound, CastType::Char { chars: None }, collation),
        }
    }

    /// `CAST(expr AS CHAR CHARACTER SET charset)`
    pub(crate) fn bind_cast_in(&mut self, bound: Expr, to: &sql::DataType, charset: &str) -> Result<Expr, SqlError> {
        let collation = self.charset_collation(&charset.to_ascii_lowercase())?;
        match (cast_type(to, self.context.session.sql_mode)?, collation) {
            (CastType::Char { chars }, CollationId::BINARY) => {
                build::cast(bound, CastType::Binary { bytes: chars }, CollationId::BINARY)
            }
            (to, collation) => build::cast(bound, to, collation),
        }
    }

    pub(crate) fn bind_cast(&mut self, bound: Expr, to: &sql::DataType) -> Result<Expr, SqlError> {
        let to = cast_type(to, self.context.session.sql_mode)?;
        let collation = match to {
            CastType::Char { .. } => self.context.session.collation_connection,
            _ => CollationId::BINARY,
        };
        build::cast(bound, to, collation)
    }

    pub(crate) fn bind_interval(
        &mut self,
        date: Expr,
        interval: &'a sql::Interval,
        subtract: bool,
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        let amount = self.bind_expr(&interval.value, scope)?;
        let unit = match (&interval.leading_field, &interval.last_field) {
            (Some(unit), None) => interval_unit(&unit.to_string())?,
            _ => return Err(SqlError::not_supported(interval)),
        };
        build::interval(date, amount, unit, subtract)
    }

    /// ESCAPE; without it a backslash, or nothing under NO_BACKSLASH_ESCAPES.
    pub(crate) fn like_escape(
        &mut self,
        escape: Option<&'a sql::Expr>,
        scope: ExprScope<'_>,
    ) -> Result<Option<char>, SqlError> {
        let Some(escape) = escape else {
            let none = self.context.session.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES);
            return Ok((!none).then_some('\\'));
        };
        let bound = self.bind_expr(escape, scope)?;
        let wrong = || SqlError::new(codes::WRONG_ARGUMENTS, "Incorrect arguments to ESCAPE");
        let text = match constant(&bound, self.context.session) {
            Some(Value::Null) => return Ok(Some('\\')),
            Some(value) => coerce::text(&value, &bound.ty),
            None if self.reads_columns(&bound) => return Err(wrong()),
            None => return Err(unsupported(escape)),
        };
        let mut chars = std::str::from_utf8(&text).map_err(|_| wrong())?.chars();
        let first = chars.next();
        // A byte alone is a character only where it is one in every character set.
        let is_known = bound.ty.kind != Kind::Bytes || text.is_ascii();
        if chars.next().is_none() && is_known { Ok(first) } else { Err(wrong()) }
    }

    fn reads_columns(&mut self, expr: &Expr) -> bool {
        let frame = &self.scope().frame;
        expr.slots().iter().any(|slot| matches!(frame.slots[slot].source, SlotSource::Column { .. }))
    }
}

/// A literal that means the same in every place: the connection's collation is that of its text.
pub(crate) fn plain(value: &sql::Value, collation: CollationId) -> Result<Expr, SqlError> {
    use sql::Value as V;
    match value {
        V::Number(digits, _) => build::number_literal(digits),
        V::SingleQuotedString(text) | V::DoubleQuotedString(text) => Ok(build::string_literal(text, collation)),
        V::HexStringLiteral(digits) => Ok(build::hex_literal(hex_bytes(digits))),
        V::SingleQuotedByteStringLiteral(bits) => Ok(build::bytes_literal(bit_bytes(bits))),
        V::Boolean(truth) => Ok(Expr::literal(types::Value::from(*truth), ExprType::truth(false))),
        V::Null => Ok(Expr::null()),
        other => Err(SqlError::not_supported(other)),
    }
}

/// The number with a minus before these digits. -9223372036854775808 is one literal, not the negative of a number that is too large.
pub(crate) fn negative_number(digits: &str) -> Result<Expr, SqlError> {
    match digits {
        "9223372036854775808" => Ok(build::integer_literal(i64::MIN)),
        _ => build::negate(build::number_literal(digits)?),
    }
}

/// The bytes of hexadecimal or binary digits.
pub(crate) fn bytes_of(value: &sql::Value) -> Option<Vec<u8>> {
    match value {
        sql::Value::HexStringLiteral(digits) => Some(hex_bytes(digits)),
        sql::Value::SingleQuotedByteStringLiteral(bits) => Some(bit_bytes(bits)),
        _ => None,
    }
}

/// `_binary'…'`: the bytes that the client wrote. Unlike a hexadecimal literal it is never a number.
pub(crate) fn binary_text(text: &str, client: Charset) -> Result<Expr, SqlError> {
    never_a_number(build::string_literal(text, client.default_collation()))
}

/// `_binary x'…'`, `_binary b'…'`: those bytes, which are never a number, either.
pub(crate) fn binary_bytes(bytes: Vec<u8>) -> Result<Expr, SqlError> {
    never_a_number(build::bytes_literal(bytes))
}

/// A literal as a binary string.
fn never_a_number(literal: Expr) -> Result<Expr, SqlError> {
    let bytes = build::cast(literal, CastType::Binary { bytes: None }, CollationId::BINARY)?;
    Ok(Expr { ty: ExprType { coercibility: Coercibility::Coercible, nullable: false, ..bytes.ty }, ..bytes })
}

/// `_utf8mb4 x'c3bc'`, `_latin1 x'fc'`: bytes in the character set that the introducer names.
fn text_of_bytes(bytes: &[u8], collation: CollationId) -> Result<Expr, SqlError> {
    Ok(build::string_literal(&charsets::text_of(bytes, collation.charset())?, collation))
}

fn cast_type(ty: &sql::DataType, mode: SqlMode) -> Result<CastType, SqlError> {
    use sql::DataType as D;
    let too_wide = || {
        let message = format!("Display width out of range for column 'cast as char' (max = {})", u32::MAX);
        SqlError::new(codes::TOO_BIG_DISPLAYWIDTH, message)
    };
    let chars = |length: &Option<sql::CharacterLength>| match length {
        Some(sql::CharacterLength::IntegerLength { length, .. }) => {
            u32::try_from(*length).map(Some).map_err(|_| too_wide())
        }
        _ => Ok(None),
    };
    let fsp = |fsp: &Option<u64>| match fsp {
        None => Ok(0),
        Some(fsp) if *fsp <= 6 => Ok(*fsp as u8),
        Some(fsp) => Err(SqlError::new(
            codes::TOO_BIG_PRECISION,
            format!("Too-big precision {fsp} specified for 'CAST'. Maximum is 6."),
        )),
    };
    Ok(match ty {
        D::Signed | D::SignedInteger | D::Int(_) | D::Integer(_) | D::BigInt(_) => CastType::Signed,
        D::Unsigned | D::UnsignedInteger | D::IntUnsigned(_) | D::BigIntUnsigned(_) | D::IntegerUnsigned(_) => {
            CastType::Unsigned
        }
        D::Char(length) | D::Character(length) | D::Varchar(length) | D::Nvarchar(length) => {
            CastType::Char { chars: chars(length)? }
        }
        D::Binary(length) => CastType::Binary { bytes: length.map(u32::try_from).transpose().map_err(|_| too_wide())? },
        D::Date => CastType::Date,
        D::JSON => CastType::Json,
        D::Time(digits, _) => CastType::Time { fsp: fsp(digits)? },
        D::Datetime(digits) | D::Timestamp(digits, _) => CastType::DateTime { fsp: fsp(digits)? },
        D::Decimal(info) | D::Dec(info) | D::Numeric(info) => decimal_type(info)?,
        D::Float(_) if mode.has(SqlMode::REAL_AS_FLOAT) => CastType::Float,
        D::Float(sql::ExactNumberInfo::Precision(25..)) => CastType::Double,
        D::Float(_) | D::Float4 | D::Float32 => CastType::Float,
        D::Double(_) | D::DoublePrecision | D::Real | D::Float64 | D::Float8 => CastType::Double,
        D::Custom(name, args) if args.is_empty() => match name.to_string().to_ascii_lowercase().as_str() {
            "year" => CastType::Year,
            "json" => CastType::Json,
            "signed" => CastType::Signed,
            "unsigned" => CastType::Unsigned,
            _ => return Err(SqlError::not_supported(format_args!("CAST(… AS {ty})"))),
        },
        other => return Err(SqlError::not_supported(format_args!("CAST(… AS {other})"))),
    })
}

fn decimal_type(info: &sql::ExactNumberInfo) -> Result<CastType, SqlError> {
    let (precision, scale) = match *info {
        sql::ExactNumberInfo::None => (10, 0),
        sql::ExactNumberInfo::Precision(precision) => (precision, 0),
        sql::ExactNumberInfo::PrecisionAndScale(precision, scale) => (precision, scale.max(0) as u64),
    };
    if precision > 65 {
        let message = format!("Too-big precision {precision} specified for 'CAST'. Maximum is 65.");
        return Err(SqlError::new(codes::TOO_BIG_PRECISION, message));
    }
    if scale > 30 {
        let message = format!("Too big scale {scale} specified for column 'CAST'. Maximum is 30.");
        return Err(SqlError::new(codes::TOO_BIG_SCALE, message));
    }
    if scale > precision {
        let message = "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column 'CAST').";
        return Err(SqlError::new(codes::M_BIGGER_THAN_D, message));
    }
    Ok(CastType::Decimal { precision: precision as u8, scale: scale as u8 })
}
