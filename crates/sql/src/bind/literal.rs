//! Literals, casts, and what is written beside them: signs, introducers, units.

use base::{SqlError, codes};
use syntax::ast as sql;
use types::charset::Charset;
use types::{CollationId, Value};

use crate::bind::Binder;
use crate::bind::columns::ColumnSource;
use crate::bind::expr::{ExprScope, unsupported};
use crate::charsets;
use crate::expr::build;
use crate::expr::constant::constant;
use crate::expr::{CastType, Coercibility, Expr, ExprType, Kind, SqlMode, coerce};
use crate::parse::{bit_bytes, hex_bytes};

impl<'a> Binder<'a> {
    pub(crate) fn bind_unary(
        &mut self,
        op: sql::UnaryOp,
        expr: &'a sql::Expr,
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        // -9223372036854775808 is one literal, not the negative of a number that is too large.
        if op == sql::UnaryOp::Minus
            && let sql::ExprKind::Literal(sql::Literal::Number(digits)) = &expr.kind
        {
            return negative_number(digits);
        }
        let arg = self.bind_expr(expr, scope)?;
        // The only constants of which the negative needs another type.
        let needs_other = op == sql::UnaryOp::Minus && matches!(arg.ty.kind, Kind::Int | Kind::UInt);
        let arg = match needs_other.then(|| constant(&arg, self.context.session)).flatten() {
            Some(Value::Int(i64::MIN)) => build::integer_literal(i64::MIN),
            Some(Value::UInt(n)) if n > 1 << 63 => return negative_number(&n.to_string()),
            _ => arg,
        };
        match op {
            sql::UnaryOp::Plus => Ok(arg),
            sql::UnaryOp::Minus => {
                let mut arg = arg;
                self.assume_param(&mut arg, &ExprType::of_kind(Kind::Any), scope);
                build::negate(arg)
            }
            sql::UnaryOp::Not | sql::UnaryOp::Bang => Ok(build::not(arg)),
            sql::UnaryOp::BitNot => Ok(build::bit_not(arg)),
        }
    }

    pub(crate) fn bind_literal(&mut self, literal: &sql::Literal) -> Result<Expr, SqlError> {
        match literal {
            sql::Literal::National(text) => {
                let client = self.context.session.character_set_client;
                text_of_bytes(&client.encode_lossy(text.text.as_bytes()), self.charset_collation("utf8mb3")?)
            }
            other => plain(other, self.context.session.collation_connection),
        }
    }

    pub(crate) fn bind_temporal(&mut self, kind: sql::TemporalKind, text: &str) -> Result<Expr, SqlError> {
        let kind = match kind {
            sql::TemporalKind::Date => Kind::Date,
            sql::TemporalKind::Time => Kind::Time,
            sql::TemporalKind::Timestamp => Kind::DateTime,
        };
        build::temporal_literal(kind, text, self.context.session)
    }

    /// `_utf8mb4'…'`, `_binary'…'`.
    pub(crate) fn bind_introducer(&mut self, charset: &str, literal: &sql::Literal) -> Result<Expr, SqlError> {
        let collation = self.charset_collation(&charset.to_ascii_lowercase())?;
        let client = self.context.session.character_set_client;
        match (literal, bytes_of(literal)) {
            // The bytes that the client wrote, whatever they are in its own character set.
            (sql::Literal::Text(text), _) if collation == CollationId::BINARY => binary_text(&text.text, client),
            (sql::Literal::Text(text), _) => text_of_bytes(&client.encode_lossy(text.text.as_bytes()), collation),
            (_, Some(bytes)) if collation == CollationId::BINARY => binary_bytes(bytes),
            (_, Some(bytes)) => text_of_bytes(&bytes, collation),
            (other, None) => Err(SqlError::not_supported(format_args!("_{charset} {other}"))),
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

    pub(crate) fn bind_cast(&mut self, bound: Expr, to: &sql::CastType) -> Result<Expr, SqlError> {
        let cast = cast_type(to, self.context.session.sql_mode)?;
        let collation = match to {
            sql::CastType::Char(_, sql::CastCharset::Connection) => self.context.session.collation_connection,
            sql::CastType::Char(_, sql::CastCharset::Named(charset)) => {
                self.charset_collation(&charset.text.to_ascii_lowercase())?
            }
            _ => CollationId::BINARY,
        };
        match (cast, to) {
            // Of the character set that is none.
            (CastType::Char { chars }, sql::CastType::Char(_, sql::CastCharset::Named(_)))
                if collation == CollationId::BINARY =>
            {
                build::cast(bound, CastType::Binary { bytes: chars }, CollationId::BINARY)
            }
            (cast, _) => build::cast(bound, cast, collation),
        }
    }

    pub(crate) fn bind_interval(
        &mut self,
        date: Expr,
        (amount, unit): (&'a sql::Expr, sql::IntervalUnit),
        subtract: bool,
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        let amount = self.bind_expr(amount, scope)?;
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

    fn reads_columns(&self, expr: &Expr) -> bool {
        expr.slots().iter().any(|id| matches!(self.columns.source(id), ColumnSource::Column { .. }))
    }
}

/// A literal that means the same in every place: the connection's collation is that of its text.
pub(crate) fn plain(literal: &sql::Literal, collation: CollationId) -> Result<Expr, SqlError> {
    match literal {
        sql::Literal::Number(digits) => build::number_literal(digits),
        sql::Literal::Text(text) => Ok(build::string_literal(&text.text, collation)),
        sql::Literal::Hex(digits) => Ok(build::hex_literal(hex_bytes(digits))),
        sql::Literal::Bits(bits) => Ok(build::bytes_literal(bit_bytes(bits))),
        sql::Literal::Bool(truth) => Ok(Expr::literal(types::Value::from(*truth), ExprType::truth(false))),
        sql::Literal::Null => Ok(Expr::null()),
        sql::Literal::National(_) => Err(SqlError::not_supported(literal)),
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
pub(crate) fn bytes_of(literal: &sql::Literal) -> Option<Vec<u8>> {
    match literal {
        sql::Literal::Hex(digits) => Some(hex_bytes(digits)),
        sql::Literal::Bits(bits) => Some(bit_bytes(bits)),
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

fn cast_type(ty: &sql::CastType, mode: SqlMode) -> Result<CastType, SqlError> {
    use sql::CastType as C;
    let too_wide = || {
        let message = format!("Display width out of range for column 'cast as char' (max = {})", u32::MAX);
        SqlError::new(codes::TOO_BIG_DISPLAYWIDTH, message)
    };
    let length = |length: &Option<u64>| length.map(u32::try_from).transpose().map_err(|_| too_wide());
    let fsp = |fsp: &Option<u64>| match fsp {
        None => Ok(0),
        Some(fsp) if *fsp <= 6 => Ok(*fsp as u8),
        Some(fsp) => Err(SqlError::new(
            codes::TOO_BIG_PRECISION,
            format!("Too-big precision {fsp} specified for 'CAST'. Maximum is 6."),
        )),
    };
    Ok(match ty {
        C::Signed => CastType::Signed,
        C::Unsigned => CastType::Unsigned,
        C::Char(chars, _) => CastType::Char { chars: length(chars)? },
        C::Binary(bytes) => CastType::Binary { bytes: length(bytes)? },
        C::Date => CastType::Date,
        C::Year => CastType::Year,
        C::Json => CastType::Json,
        C::Time(digits) => CastType::Time { fsp: fsp(digits)? },
        C::DateTime(digits) => CastType::DateTime { fsp: fsp(digits)? },
        C::Decimal(digits) => decimal_type(*digits)?,
        C::Float(_) if mode.has(SqlMode::REAL_AS_FLOAT) => CastType::Float,
        C::Float(Some(25..)) | C::Double | C::Real => CastType::Double,
        C::Float(_) => CastType::Float,
        C::Other(_) => return Err(SqlError::not_supported(format_args!("CAST(… AS {ty})"))),
    })
}

fn decimal_type(digits: Option<(u64, Option<u64>)>) -> Result<CastType, SqlError> {
    let (precision, scale) = match digits {
        None => (10, 0),
        Some((precision, scale)) => (precision, scale.unwrap_or(0)),
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
