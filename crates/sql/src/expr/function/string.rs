//! Functions of strings. Positions count characters (of binary strings bytes), from 1.

use base::{SqlError, codes};
use bytes::Bytes;
use memchr::memmem;
use types::charset::{Charset, char_count, prefix_bytes};
use types::{ColumnType, Value, collation};

use super::case::{lower, upper};
use super::length::{self, EXPORTED_BITS};
use super::{Args, FunctionInfo, MANY, int, line, short_int, some, text_of_all, text_of_first};
use crate::expr::arithmetic;
use crate::expr::coerce;
use crate::expr::compare::{compare, have_same_bits};
use crate::expr::locale::Locale;
use crate::expr::tree::{Constancy, Expr, ExprKind};
use crate::expr::types::{ExprType, Kind, aggregate_collations};
use syntax::ast::TrimSide;

pub(super) static TABLE: &[FunctionInfo] = &[
    line("concat", 1, MANY, text_of_all, concat).joins(0),
    line("concat_ws", 2, MANY, length::separated, concat_ws).joins(0),
    line("substring", 2, 3, length::part, substring),
    line("substr", 2, 3, length::part, substring),
    line("mid", 2, 3, length::part, substring),
    line("left", 2, 2, length::cut, |args| side(args, true)),
    line("right", 2, 2, length::cut, |args| side(args, false)),
    line("substring_index", 3, 3, text_of_first, substring_index),
    line("length", 1, 1, short_int::<11>, |args| Ok(Value::Int(some!(args.bytes(0)?).len() as i64))),
    line("octet_length", 1, 1, short_int::<11>, |args| Ok(Value::Int(some!(args.bytes(0)?).len() as i64))),
    line("bit_length", 1, 1, short_int::<11>, |args| Ok(Value::Int(some!(args.bytes(0)?).len() as i64 * 8))),
    line("char_length", 1, 1, short_int::<11>, char_length),
    line("character_length", 1, 1, short_int::<11>, char_length),
    line("upper", 1, 1, text_of_first, upper),
    line("ucase", 1, 1, text_of_first, upper),
    line("lower", 1, 1, text_of_first, lower),
    line("lcase", 1, 1, text_of_first, lower),
    line("trim", 2, 3, length::trimmed, trim),
    line("ltrim", 1, 1, text_of_first, |args| trim_spaces(args, TrimSide::Leading)),
    line("rtrim", 1, 1, text_of_first, |args| trim_spaces(args, TrimSide::Trailing)),
    line("replace", 3, 3, length::replaced, replace),
    line("repeat", 2, 2, length::repeated, repeat),
    line("reverse", 1, 1, text_of_first, reverse),
    line("space", 1, 1, length::spaces, space),
    line("lpad", 3, 3, length::padded, |args| pad(args, true)),
    line("rpad", 3, 3, length::padded, |args| pad(args, false)),
    line("insert", 4, 4, length::inserted, insert),
    line("locate", 2, 3, short_int::<11>, |args| locate(args, 0, 1)),
    line("position", 2, 2, short_int::<11>, |args| locate(args, 0, 1)),
    line("instr", 2, 2, short_int::<11>, |args| locate(args, 1, 0)),
    line("field", 2, MANY, |_, _| ExprType { length: 11, ..ExprType::of_kind(Kind::Int) }.nullable(false), field),
    line("find_in_set", 2, 2, short_int::<11>, find_in_set).compares(2),
    line("elt", 2, MANY, length::one_of, elt).joins(1),
    line("make_set", 2, MANY, length::members, make_set).joins(1),
    line("export_set", 3, 5, length::exported, export_set).joins(1),
    line("ascii", 1, 1, short_int::<4>, |args| {
        Ok(Value::Int(some!(args.bytes(0)?).first().map_or(0, |&byte| byte as i64)))
    }),
    line("ord", 1, 1, int, ord),
    line("char", 1, MANY, |args, _| ExprType::bytes(4 * args.len() as u32), char_of),
    line("quote", 1, 1, length::quoted, quote),
    line("format", 2, 3, length::formatted, format_number),
    line("soundex", 1, 1, length::soundex, soundex),
];

fn concat(args: &Args<'_>) -> Result<Value, SqlError> {
    let mut out = Vec::new();
    for at in 0..args.len() {
        let part = some!(args.part(at)?);
        if let Some(null) = args.too_long((out.len() + part.len()) as u64)? {
            return Ok(null);
        }
        out.extend_from_slice(&part);
    }
    Ok(args.string(out))
}

fn concat_ws(args: &Args<'_>) -> Result<Value, SqlError> {
    let separator = some!(args.part(0)?);
    let mut out = Vec::new();
    let mut is_first = true;
    for at in 1..args.len() {
        if let Some(text) = args.part(at)? {
            if let Some(null) = args.too_long((out.len() + separator.len() + text.len()) as u64)? {
                return Ok(null);
            }
            if !is_first {
                out.extend_from_slice(&separator);
            }
            is_first = false;
            out.extend_from_slice(&text);
        }
    }
    Ok(args.string(out))
}

/// Characters, or bytes of a binary string.
fn length_of(text: &[u8], binary: bool) -> usize {
    if binary { text.len() } else { char_count(text) }
}

/// Where so many characters end.
fn end_of(text: &[u8], chars: usize, binary: bool) -> usize {
    if binary { chars.min(text.len()) } else { prefix_bytes(text, chars) }
}

fn count(n: i64) -> usize {
    usize::try_from(n).unwrap_or(0)
}

fn substring(args: &Args<'_>) -> Result<Value, SqlError> {
    let (text, start) = (some!(args.text(0)?), some!(args.int(1)?));
    let length = some!(args.int_or(2, i64::MAX)?);
    let binary = args.is_binary(0);
    let skip = match start {
        0 => return Ok(args.string(Bytes::new())),
        1.. => count(start - 1),
        _ => {
            let all = length_of(&text, binary);
            match all.checked_sub(start.unsigned_abs() as usize) {
                Some(skip) => skip,
                None => return Ok(args.string(Bytes::new())),
            }
        }
    };
    let from = end_of(&text, skip, binary);
    let len = end_of(&text[from..], count(length), binary);
    Ok(args.string(text.slice(from..from + len)))
}

/// The text, the first character, and the number of characters, of a call of SUBSTRING.
pub(crate) fn characters_of(expr: &Expr) -> Option<(&Expr, &Expr, Option<&Expr>)> {
    match &expr.kind {
        ExprKind::Call { function, args } if matches!(function.name(), "substring" | "substr" | "mid") => {
            Some((args.first()?, args.get(1)?, args.get(2)))
        }
        _ => None,
    }
}

fn side(args: &Args<'_>, left: bool) -> Result<Value, SqlError> {
    let (text, length) = (some!(args.text(0)?), count(some!(args.int(1)?)));
    let binary = args.is_binary(0);
    if left {
        let end = end_of(&text, length, binary);
        return Ok(args.string(text.slice(..end)));
    }
    let skip = length_of(&text, binary).saturating_sub(length);
    let from = end_of(&text, skip, binary);
    Ok(args.string(text.slice(from..)))
}

fn substring_index(args: &Args<'_>) -> Result<Value, SqlError> {
    let (text, delimiter, wanted) = (some!(args.text(0)?), some!(args.text(1)?), some!(args.int(2)?));
    if delimiter.is_empty() || wanted == 0 {
        return Ok(args.string(Bytes::new()));
    }
    let at = |index: usize| occurrences(&text, &delimiter).nth(index);
    Ok(args.string(if wanted > 0 {
        at(wanted as usize - 1).map_or(text.clone(), |end| text.slice(..end))
    } else if is_of_bytes(args) {
        // In a character set of single bytes they are counted from the end: `aa` is twice in `aaa`, and the last one counts.
        let start = memmem::rfind_iter(&text, &delimiter).nth(count(wanted.saturating_neg()) - 1);
        start.map_or(text.clone(), |start| text.slice(start + delimiter.len()..))
    } else {
        let before = occurrences(&text, &delimiter).count().checked_sub(wanted.unsigned_abs() as usize);
        before.and_then(at).map_or(text.clone(), |start| text.slice(start + delimiter.len()..))
    }))
}

/// Whether an argument's bytes are its characters.
fn is_of_bytes(args: &Args<'_>) -> bool {
    args.is_binary(0) || matches!(args.args[0].ty.collation.charset(), Charset::Single(_))
}

/// Where `part` is, each one behind the one before it; nowhere if it is empty.
fn occurrences(text: &[u8], part: &[u8]) -> impl Iterator<Item = usize> {
    memmem::find_iter(text, part).filter(move |_| !part.is_empty())
}

fn char_length(args: &Args<'_>) -> Result<Value, SqlError> {
    Ok(Value::Int(length_of(&some!(args.text(0)?), args.is_binary(0)) as i64))
}

fn trim(args: &Args<'_>) -> Result<Value, SqlError> {
    let side = match args.int(0)? {
        Some(1) => TrimSide::Leading,
        Some(2) => TrimSide::Trailing,
        _ => TrimSide::Both,
    };
    let text = some!(args.text(1)?);
    let remove = if args.len() > 2 { some!(args.text(2)?) } else { Bytes::from_static(b" ") };
    Ok(args.string(trimmed(text, &remove, side)))
}

fn trim_spaces(args: &Args<'_>, side: TrimSide) -> Result<Value, SqlError> {
    Ok(args.string(trimmed(some!(args.text(0)?), b" ", side)))
}

fn trimmed(text: Bytes, remove: &[u8], side: TrimSide) -> Bytes {
    if remove.is_empty() {
        return text;
    }
    let (mut start, mut end) = (0, text.len());
    while side != TrimSide::Trailing && text[start..end].starts_with(remove) {
        start += remove.len();
    }
    while side != TrimSide::Leading && text[start..end].ends_with(remove) {
        end -= remove.len();
    }
    text.slice(start..end)
}

fn replace(args: &Args<'_>) -> Result<Value, SqlError> {
    let (text, from, to) = (some!(args.text(0)?), some!(args.part(1)?), some!(args.part(2)?));
    let found = occurrences(&text, &from).count();
    if found == 0 {
        return Ok(args.string(text));
    }
    let length = text.len() - found * from.len() + found * to.len();
    if let Some(null) = args.too_long(length as u64)? {
        return Ok(null);
    }
    let mut out = Vec::with_capacity(length);
    let mut last = 0;
    for place in occurrences(&text, &from) {
        out.extend_from_slice(&text[last..place]);
        out.extend_from_slice(&to);
        last = place + from.len();
    }
    out.extend_from_slice(&text[last..]);
    Ok(args.string(out))
}

fn repeat(args: &Args<'_>) -> Result<Value, SqlError> {
    let (text, times) = (some!(args.text(0)?), count(some!(args.int(1)?)));
    match args.too_long((text.len() as u64).saturating_mul(times as u64))? {
        Some(null) => Ok(null),
        None => Ok(args.string(text.repeat(times))),
    }
}

fn reverse(args: &Args<'_>) -> Result<Value, SqlError> {
    let text = some!(args.text(0)?);
    let mut bytes = text.to_vec();
    match std::str::from_utf8(&text) {
        Ok(string) if !args.is_binary(0) => bytes = string.chars().rev().collect::<String>().into_bytes(),
        _ => bytes.reverse(),
    }
    Ok(args.string(bytes))
}

fn space(args: &Args<'_>) -> Result<Value, SqlError> {
    let times = count(some!(args.int(0)?));
    match args.too_long(times as u64)? {
        Some(null) => Ok(null),
        None => Ok(args.string(vec![b' '; times])),
    }
}

fn pad(args: &Args<'_>, left: bool) -> Result<Value, SqlError> {
    // The texts are read first, as in INSERT().
    let (text, fill) = (some!(args.text(0)?), some!(args.part(2)?));
    let length = some!(args.int(1)?);
    let Ok(length) = usize::try_from(length) else { return Ok(Value::Null) };
    let binary = args.is_binary(0);
    let own = length_of(&text, binary);
    if own >= length {
        let end = end_of(&text, length, binary);
        return Ok(args.string(text.slice(..end)));
    }
    if fill.is_empty() {
        return Ok(args.string(text));
    }
    let char_bytes = if binary || coerce::has_other_bytes(args.ty) { 1 } else { 4 };
    if let Some(null) = args.too_long((length as u64).saturating_mul(char_bytes))? {
        return Ok(null);
    }
    let missing = length - own;
    let per_fill = length_of(&fill, binary);
    let mut padding = fill.repeat(missing / per_fill);
    padding.extend_from_slice(&fill[..end_of(&fill, missing % per_fill, binary)]);
    let (first, second): (&[u8], &[u8]) = if left { (&padding, &text) } else { (&text, &padding) };
    Ok(args.string([first, second].concat()))
}

/// `INSERT(text, position, length, new)`
fn insert(args: &Args<'_>) -> Result<Value, SqlError> {
    // The texts are read first: what cannot be converted is an error, even if there is no position.
    let (text, new) = (some!(args.text(0)?), some!(args.part(3)?));
    let (position, length) = (some!(args.int(1)?), some!(args.int(2)?));
    let binary = args.is_binary(0);
    if position < 1 || position > length_of(&text, binary) as i64 {
        return Ok(args.string(text));
    }
    let start = end_of(&text, count(position - 1), binary);
    let replaced = if length < 0 { text.len() - start } else { end_of(&text[start..], count(length), binary) };
    let length = text.len() - replaced + new.len();
    match args.too_long(length as u64)? {
        Some(null) => Ok(null),
        None => Ok(args.string([&text[..start], &new, &text[start + replaced..]].concat())),
    }
}

/// Where `part` is in `text`, by the text's collation; from the position of the third argument on.
fn locate(args: &Args<'_>, part: usize, text: usize) -> Result<Value, SqlError> {
    let binary = args.is_binary(part) || args.is_binary(text);
    let collation = match &args.args[text].ty {
        ty if ty.kind == Kind::Str => ty.collation,
        ty => aggregate_collations(&args.args[part].ty, ty).0,
    };
    let (part, text) = (some!(args.text(part)?), some!(args.text(text)?));
    let start = some!(args.int_or(2, 1)?);
    if start < 1 || start as usize > length_of(&text, binary) + 1 {
        return Ok(Value::Int(0));
    }
    let from = end_of(&text, start as usize - 1, binary);
    if binary || part.is_empty() {
        let found = memmem::find(&text[from..], &part);
        return Ok(Value::Int(found.map_or(0, |at| start + length_of(&text[from..from + at], binary) as i64)));
    }
    let part_chars = length_of(&part, binary);
    if length_of(&text[from..], binary) < part_chars {
        return Ok(Value::Int(0));
    }
    // The text that is compared has as many characters as the part. It moves on by one character at either end.
    let (mut at, mut end, mut position) = (from, from + end_of(&text[from..], part_chars, binary), start);
    loop {
        let window = &text[at..end];
        if window == part || collation::equal(collation, window, &part) {
            return Ok(Value::Int(position));
        }
        if end == text.len() {
            return Ok(Value::Int(0));
        }
        args.ctx.worked(part.len() as u64 / STEPS_AT_ONCE + 1)?;
        at += end_of(&text[at..], 1, binary);
        end += end_of(&text[end..], 1, binary);
        position += 1;
    }
}

/// Texts that differ mostly do so in the beginning: so many bytes of both are compared like one step.
const STEPS_AT_ONCE: u64 = 16;

fn field(args: &Args<'_>) -> Result<Value, SqlError> {
    let wanted = args.value(0)?;
    let by_bits = args.args.iter().all(|arg| arg.ty.kind.is_integer());
    for at in 1..args.len() {
        if by_bits && have_same_bits(&wanted, &*args.value(at)?) {
            return Ok(Value::Int(at as i64));
        }
        // The first argument's, however strongly another insists.
        let (first, other) = (&args.args[0].ty, &args.args[at].ty);
        let texts = first.kind == Kind::Str && other.kind == Kind::Str;
        let collation = if texts { first.collation } else { aggregate_collations(first, other).0 };
        if compare(&wanted, &*args.value(at)?, collation, args.ctx)?.is_some_and(|order| order.is_eq()) {
            return Ok(Value::Int(at as i64));
        }
    }
    Ok(Value::Int(0))
}

fn find_in_set(args: &Args<'_>) -> Result<Value, SqlError> {
    let (wanted, list) = (some!(args.text(0)?), some!(args.text(1)?));
    if list.is_empty() || wanted.contains(&b',') {
        return Ok(Value::Int(0));
    }
    let collation = aggregate_collations(&args.args[0].ty, &args.args[1].ty).0;
    let is_wanted = |part: &[u8]| collation::equal(collation, part, &wanted);
    let mut parts = list.split(|&byte| byte == b',');
    let found = match &args.args[1].ty.origin {
        // A constant has its place among the members of a SET column, not of the value.
        Some(ColumnType::Set { members })
            if args.args[1].as_column().is_some() && args.args[0].constancy() <= Constancy::Execution =>
        {
            let at = members.iter().position(|member| is_wanted(member.as_bytes()));
            at.filter(|_| parts.any(is_wanted))
        }
        _ => parts.position(is_wanted),
    };
    Ok(Value::Int(found.map_or(0, |at| at as i64 + 1)))
}

fn elt(args: &Args<'_>) -> Result<Value, SqlError> {
    let number = some!(args.int(0)?);
    if number < 1 || number >= args.len() as i64 {
        return Ok(Value::Null);
    }
    Ok(args.string(some!(args.part(number as usize)?)))
}

fn make_set(args: &Args<'_>) -> Result<Value, SqlError> {
    let bits = match &*args.value(0)? {
        Value::UInt(bits) => *bits as i64,
        _ => some!(args.int(0)?),
    };
    let mut chosen: Vec<Bytes> = Vec::new();
    for at in 1..args.len().min(65) {
        if bits >> (at - 1) & 1 == 1
            && let Some(text) = args.part(at)?
        {
            chosen.push(text);
        }
    }
    Ok(args.string(chosen.join(&b","[..])))
}

/// `EXPORT_SET(bits, on, off, separator, count)`: a text for each bit, the lowest first.
fn export_set(args: &Args<'_>) -> Result<Value, SqlError> {
    let bits = some!(coerce::to_bits(&*args.value(0)?, args.ctx)?);
    let (on, off) = (some!(args.part(1)?), some!(args.part(2)?));
    let separator = if args.len() > 3 { some!(args.part(3)?) } else { Bytes::from_static(b",") };
    let count = some!(args.int_or(4, EXPORTED_BITS as i64)?);
    let count = usize::try_from(count).map_or(EXPORTED_BITS, |count| count.min(EXPORTED_BITS));
    let texts: Vec<&[u8]> = (0..count).map(|bit| if bits >> bit & 1 == 1 { &on[..] } else { &off[..] }).collect();
    let length = texts.iter().map(|text| text.len() as u64).sum::<u64>()
        + separator.len() as u64 * count.saturating_sub(1) as u64;
    match args.too_long(length)? {
        Some(null) => Ok(null),
        None => Ok(args.string(texts.join(&separator[..]))),
    }
}

fn ord(args: &Args<'_>) -> Result<Value, SqlError> {
    let text = some!(args.bytes(0)?);
    let bytewise = args.is_binary(0) || coerce::has_other_bytes(&args.args[0].ty);
    let first = if text.is_empty() { 0 } else { end_of(&text, 1, bytewise) };
    Ok(Value::Int(text[..first].iter().fold(0, |n, &byte| n << 8 | byte as i64)))
}

fn char_of(args: &Args<'_>) -> Result<Value, SqlError> {
    let mut out = Vec::new();
    for at in 0..args.len() {
        let number = match &*args.value(at)? {
            Value::UInt(n) => Some(*n as i64),
            _ => args.int(at)?,
        };
        if let Some(n) = number {
            let bytes = (n as u32).to_be_bytes();
            let leading = bytes.iter().take_while(|&&byte| byte == 0).count().min(3);
            out.extend_from_slice(&bytes[leading..]);
        }
    }
    Ok(Value::Bytes(out.into()))
}

fn quote(args: &Args<'_>) -> Result<Value, SqlError> {
    let Some(text) = args.text(0)? else { return Ok(Value::str_static("NULL")) };
    let mut out = vec![b'\''];
    for &byte in text.iter() {
        match byte {
            b'\'' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0 => out.extend_from_slice(b"\\0"),
            0x1a => out.extend_from_slice(b"\\Z"),
            _ => out.push(byte),
        }
    }
    out.push(b'\'');
    Ok(args.string(out))
}

/// `FORMAT(n, decimals)`: 1,234,567.89; `FORMAT(n, decimals, locale)`: in the locale's form.
fn format_number(args: &Args<'_>) -> Result<Value, SqlError> {
    let value = args.value(0)?;
    let decimals = some!(args.int(1)?).clamp(0, 30) as u8;
    let text = match &*value {
        Value::Str(_) | Value::Bytes(_) => double_text(some!(args.double(0)?), decimals, args)?,
        Value::Float(n) => double_text(f64::from(*n), decimals, args)?,
        Value::Double(n) => double_text(*n, decimals, args)?,
        other => {
            let exact = some!(coerce::to_decimal(other, args.ctx)?);
            some!(exact.rounded(decimals, types::decimal::Rounding::HalfUp)).to_string()
        }
    };
    let locale = match args.len() {
        2 => Locale::english(),
        _ => named_locale(args)?,
    };
    Ok(Value::str(locale.numbers.write(&text)))
}

/// A double with so many digits behind the point: rounded as a double, then its own digits and zeros.
fn double_text(n: f64, decimals: u8, args: &Args<'_>) -> Result<String, SqlError> {
    let rounded = arithmetic::round(&Value::Double(n), decimals.into(), types::decimal::Rounding::HalfUp, args.ctx)?;
    let Value::Double(rounded) = rounded else { return Err(SqlError::unknown("a rounded double that is none")) };
    let mut text = rounded.to_string();
    let places = usize::from(decimals);
    match text.split_once('.').map_or(0, |(_, fraction)| fraction.len()) {
        _ if places == 0 && !text.contains('.') => {}
        known if known > places => text = format!("{rounded:.places$}"),
        known => {
            if known == 0 {
                text.push('.');
            }
            text.extend(std::iter::repeat_n('0', places - known));
        }
    }
    Ok(text)
}

/// The locale that the third argument names; English, and 1649 as a warning, if there is none.
fn named_locale(args: &Args<'_>) -> Result<&'static Locale, SqlError> {
    let name = args.text(2)?;
    let name = name.as_ref().map_or("NULL".into(), |name| String::from_utf8_lossy(name));
    Ok(Locale::by_name(&name).unwrap_or_else(|| {
        args.ctx.warn(codes::UNKNOWN_LOCALE, Locale::unknown(&name).message);
        Locale::english()
    }))
}

fn soundex(args: &Args<'_>) -> Result<Value, SqlError> {
    let text = some!(args.text(0)?);
    let code = |letter: u8| match letter {
        b'B' | b'F' | b'P' | b'V' => b'1',
        b'C' | b'G' | b'J' | b'K' | b'Q' | b'S' | b'X' | b'Z' => b'2',
        b'D' | b'T' => b'3',
        b'L' => b'4',
        b'M' | b'N' => b'5',
        b'R' => b'6',
        _ => b'0',
    };
    // From there on every character counts as a letter, and as a vowel.
    const FIRST_OTHER: char = '\u{C0}';
    let text = String::from_utf8_lossy(&text);
    let letters = text.chars().filter(|c| c.is_ascii_alphabetic() || *c >= FIRST_OTHER);
    let (mut out, mut chars) = (String::new(), 0);
    let mut last = b'0';
    for letter in letters {
        let upper = letter.to_ascii_uppercase();
        let code = u8::try_from(upper).map_or(b'0', code);
        if out.is_empty() {
            out.push(upper);
            (last, chars) = (code, 1);
        } else if code != b'0' && code != last {
            out.push(char::from(code));
            (last, chars) = (code, chars + 1);
        }
    }
    while !out.is_empty() && chars < 4 {
        out.push('0');
        chars += 1;
    }
    Ok(args.string(out.into_bytes()))
}
