//! How long the strings are at most that functions give: in characters, or in bytes where the result is a binary string.

use types::Value;
use types::charset::Charset;

use super::{LONG_TEXT, own_text, text_of};
use crate::expr::context::SessionInfo;
use crate::expr::tree::{Expr, ExprKind};
use crate::expr::types::{ExprType, Kind};

/// A number that is written in the statement.
fn written(arg: &Expr) -> Option<i64> {
    match &arg.kind {
        ExprKind::Literal(Value::Int(n)) => Some(*n),
        _ => None,
    }
}

/// A number of characters that is written in the statement.
fn written_count(arg: &Expr) -> Option<u32> {
    written(arg).map(|n| u32::try_from(n.max(0)).unwrap_or(LONG_TEXT).min(LONG_TEXT))
}

/// LEFT, RIGHT
pub(super) fn cut(args: &[Expr], session: &SessionInfo) -> ExprType {
    let count = written_count(&args[1]).unwrap_or(u32::MAX);
    text_of(&args[..1], |kind| args[0].ty.length_as(kind).min(count), session)
}

/// SUBSTRING
pub(super) fn part(args: &[Expr], session: &SessionInfo) -> ExprType {
    let count = args.get(2).and_then(written_count).unwrap_or(u32::MAX);
    let behind = |all: u32| match written(&args[1]) {
        Some(start @ 1..) => all.saturating_sub(u32::try_from(start - 1).unwrap_or(u32::MAX)),
        Some(start @ ..=-1) => all.min(u32::try_from(start.unsigned_abs()).unwrap_or(u32::MAX)),
        _ => all,
    };
    text_of(&args[..1], |kind| behind(args[0].ty.length_as(kind)).min(count), session)
}

/// REPEAT
pub(super) fn repeated(args: &[Expr], session: &SessionInfo) -> ExprType {
    let length = |kind| match written_count(&args[1]) {
        Some(count) => count.saturating_mul(args[0].ty.length_as(kind)).min(LONG_TEXT),
        None => LONG_TEXT,
    };
    text_of(&args[..1], length, session)
}

/// SPACE
pub(super) fn spaces(args: &[Expr], session: &SessionInfo) -> ExprType {
    own_text(written_count(&args[0]).unwrap_or(LONG_TEXT), session)
}

/// LPAD, RPAD
pub(super) fn padded(args: &[Expr], session: &SessionInfo) -> ExprType {
    text_of(&args[..1], |_| written_count(&args[1]).unwrap_or(LONG_TEXT), session)
}

/// INSERT
pub(super) fn inserted(args: &[Expr], session: &SessionInfo) -> ExprType {
    let length = |kind| args[0].ty.length_as(kind).saturating_add(args[3].ty.length_as(kind));
    text_of(&args[..1], length, session)
}

/// REPLACE: as if all of the text were what is replaced.
pub(super) fn replaced(args: &[Expr], session: &SessionInfo) -> ExprType {
    let length = |kind| {
        let (all, new) = (args[0].ty.length_as(kind), args[2].ty.length_as(kind));
        let old = match &args[1].kind {
            ExprKind::Literal(_) if args[1].ty.kind == kind => args[1].ty.length.max(1),
            _ => 1,
        };
        all.saturating_add((all / old).saturating_mul(new.saturating_sub(old))).min(LONG_TEXT.max(all))
    };
    text_of(&args[..1], length, session)
}

/// QUOTE: each character may get a backslash; NULL is a word without quotes.
pub(super) fn quoted(args: &[Expr], session: &SessionInfo) -> ExprType {
    const NULL: u32 = 4;
    text_of(args, |kind| args[0].ty.length_as(kind).saturating_mul(2).saturating_add(2).max(NULL), session)
}

/// SOUNDEX, which has four characters at least.
pub(super) fn soundex(args: &[Expr], session: &SessionInfo) -> ExprType {
    const SHORTEST: u32 = 4;
    text_of(args, |kind| args[0].ty.length_as(kind).max(SHORTEST), session)
}

/// TRIM, whose first argument is its side.
pub(super) fn trimmed(args: &[Expr], session: &SessionInfo) -> ExprType {
    text_of(&args[1..2], |kind| args[1].ty.length_as(kind), session)
}

/// ELT
pub(super) fn one_of(args: &[Expr], session: &SessionInfo) -> ExprType {
    let texts = &args[1..];
    text_of(texts, |kind| texts.iter().map(|text| text.ty.length_as(kind)).max().unwrap_or(0), session)
}

/// MAKE_SET: all of them, with commas between.
pub(super) fn members(args: &[Expr], session: &SessionInfo) -> ExprType {
    let texts = &args[1..];
    let commas = texts.len().saturating_sub(1) as u32;
    text_of(texts, |kind| all(texts, kind).saturating_add(commas), session)
}

/// CONCAT_WS: all of them, with a separator between each two.
pub(super) fn separated(args: &[Expr], session: &SessionInfo) -> ExprType {
    let (separator, texts) = (&args[0], &args[1..]);
    let between = texts.len().saturating_sub(1) as u32;
    let length = |kind| all(texts, kind).saturating_add(separator.ty.length_as(kind).saturating_mul(between));
    text_of(args, length, session)
}

fn all(texts: &[Expr], kind: Kind) -> u32 {
    texts.iter().fold(0, |sum: u32, text| sum.saturating_add(text.ty.length_as(kind)))
}

/// How many bits EXPORT_SET shows if the statement does not say it.
pub(super) const EXPORTED_BITS: usize = 64;

/// EXPORT_SET: a text for each bit, with separators between.
pub(super) fn exported(args: &[Expr], session: &SessionInfo) -> ExprType {
    let bits = EXPORTED_BITS as u32;
    let length = |kind| {
        let each = args[1].ty.length_as(kind).max(args[2].ty.length_as(kind));
        let separator = args.get(3).map_or(1, |separator| separator.ty.length_as(kind));
        each.saturating_mul(bits).saturating_add(separator.saturating_mul(bits - 1))
    };
    text_of(&args[1..args.len().min(4)], length, session)
}

/// FORMAT: all digits of the number with a separator in front of each three of them, and those behind the point. Text may be any DOUBLE.
pub(super) fn formatted(args: &[Expr], session: &SessionInfo) -> ExprType {
    const OF_EXACT: u32 = 128;
    const OF_DOUBLE: u32 = 446;
    let ty = &args[0].ty;
    let is_exact = ty.kind.is_integer() || matches!(ty.kind, Kind::Decimal | Kind::Null);
    own_text(if is_exact { OF_EXACT } else { OF_DOUBLE }, session)
}

/// HEX, of a number its digits, of a string two for each byte.
pub(super) fn hexadecimal(args: &[Expr], session: &SessionInfo) -> ExprType {
    const OF_NUMBER: u32 = 16;
    let ty = &args[0].ty;
    let is_number = ty.kind.is_numeric() || ty.kind == Kind::Any;
    own_text(if is_number { OF_NUMBER } else { ty.byte_length().saturating_mul(2) }, session)
}

/// CONV, BIN, OCT: the sign and a digit for each bit.
pub(super) fn digits(_: &[Expr], session: &SessionInfo) -> ExprType {
    own_text(65, session)
}

/// How many characters so many bytes take in base 64, with the ends of lines.
pub(super) fn in_base64(bytes: u64) -> u64 {
    const LINE: u64 = 76;
    let digits = bytes.div_ceil(3) * 4;
    digits + digits.saturating_sub(1) / LINE
}

/// TO_BASE64
pub(super) fn base64(args: &[Expr], session: &SessionInfo) -> ExprType {
    let length = in_base64(args[0].ty.byte_length().into());
    own_text(u32::try_from(length).unwrap_or(u32::MAX), session)
}

/// FROM_BASE64: three bytes of four.
pub(super) fn of_base64(args: &[Expr], _: &SessionInfo) -> ExprType {
    let bytes = u64::from(args[0].ty.byte_length());
    ExprType::bytes((bytes * 3).div_ceil(4) as u32)
}

/// WEIGHT_STRING: as many weights as a collation may have for each byte of a character, and two zeros between levels. Numbers and times are texts of
/// their digits.
pub(super) fn weights(args: &[Expr], _: &SessionInfo) -> ExprType {
    const SHORTEST: u32 = 8;
    let ty = &args[0].ty;
    let filled_up = args.get(1).map(|count| written_count(count).unwrap_or(LONG_TEXT)).unwrap_or(0);
    let ty = ExprType { length: ty.length.max(filled_up), ..ty.clone() };
    let (of_each_byte, levels) = match ty.collation.name() {
        _ if !matches!(ty.kind, Kind::Str | Kind::Json) => (1, 1),
        _ if ty.collation.charset() != Charset::Utf8Mb4 => (1, 1),
        "utf8mb4_bin" => (3, 1),
        "utf8mb4_general_ci" => (2, 1),
        "utf8mb4_0900_bin" => (4, 1),
        "utf8mb4_0900_ai_ci" => (16, 1),
        "utf8mb4_0900_as_ci" => (32, 2),
        "utf8mb4_0900_as_cs" => (48, 3),
        _ => (32, 1),
    };
    let length = ty.byte_length().saturating_mul(of_each_byte).saturating_add(2 * (levels - 1));
    ExprType::bytes(length.max(SHORTEST))
}
