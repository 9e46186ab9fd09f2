//! Functions that write strings and numbers as other strings: digits, base 64, addresses, checksums.

use base::{SqlError, base64, codes};
use bytes::Bytes;
use types::charset::{char_count, prefix_bytes};
use types::collation::Pad;
use types::{ColumnType, Value, collation};

use super::{Args, FunctionInfo, int, length, line, own_text, short_uint, some, truth};
use crate::expr::beside::literal_bits;
use crate::expr::bits;
use crate::expr::coerce;
use crate::expr::types::{ExprType, Kind};
use crate::expr::whole;

pub(super) static TABLE: &[FunctionInfo] = &[
    line("hex", 1, 1, length::hexadecimal, hex),
    line("unhex", 1, 1, |args, _| ExprType::bytes(args[0].ty.byte_length().div_ceil(2)), unhex),
    line("to_base64", 1, 1, length::base64, to_base64),
    line("from_base64", 1, 1, length::of_base64, from_base64),
    line("bin", 1, 1, length::digits, |args| in_base(args, 2)),
    line("oct", 1, 1, length::digits, |args| in_base(args, 8)),
    line("conv", 3, 3, length::digits, conv),
    line("weight_string", 1, 2, length::weights, weight_string),
    line("inet_aton", 1, 1, |_, _| ExprType::of_kind(Kind::UInt), inet_aton),
    line("inet_ntoa", 1, 1, |_, session| own_text(31, session), inet_ntoa),
    line("inet6_aton", 1, 1, |_, _| ExprType::bytes(16), inet6_aton),
    line("inet6_ntoa", 1, 1, |_, session| own_text(39, session), inet6_ntoa),
    line("is_ipv4", 1, 1, truth, |args| {
        let text = some!(args.text(0)?);
        Ok(Value::from(std::str::from_utf8(&text).is_ok_and(|text| ipv4(text).is_some())))
    }),
    line("is_ipv6", 1, 1, truth, |args| {
        let text = some!(args.text(0)?);
        Ok(Value::from(std::str::from_utf8(&text).is_ok_and(|text| ipv6(text).is_some())))
    }),
    line("is_ipv4_compat", 1, 1, truth, |args| holds_ipv4(args, &[0; 12])),
    line("is_ipv4_mapped", 1, 1, truth, |args| holds_ipv4(args, &MAPPED)),
    line("bit_count", 1, 1, int, |args| {
        Ok(Value::Int(some!(bits::count(&args.args[0], &*args.value(0)?, args.ctx)?).into()))
    }),
    line("crc32", 1, 1, short_uint::<10>, |args| Ok(Value::UInt(crc32fast::hash(&some!(args.bytes(0)?)) as u64))),
];

/// What an IPv6 address begins with that stands for one of IPv4.
const MAPPED: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/// Whether the bytes are an IPv6 address which begins so, and ends with one of IPv4: 0.0.0.0 and 0.0.0.1 do not count in one that begins with zeros
/// alone, as `::` and `::1` are something else. Anything but an address is none.
fn holds_ipv4(args: &Args<'_>, begin: &[u8; 12]) -> Result<Value, SqlError> {
    let value = args.value(0)?;
    let bytes = match &*value {
        Value::Null => return Ok(Value::Null),
        Value::Bytes(bytes) => &bytes[..],
        _ => &[],
    };
    let parts = bytes.split_first_chunk::<12>().filter(|(_, tail)| tail.len() == 4);
    let holds = parts.is_some_and(|(head, tail)| {
        let is_other = *begin == [0; 12] && matches!(tail, [0, 0, 0, 0 | 1]);
        head == begin && !is_other
    });
    Ok(Value::from(holds))
}

/// Of a number its hexadecimal digits, of a string those of its bytes.
fn hex(args: &Args<'_>) -> Result<Value, SqlError> {
    let value = whole::without_fraction(&args.args[0], args.value(0)?);
    Ok(Value::str(match &*value {
        Value::Null => return Ok(Value::Null),
        Value::Int(_) | Value::UInt(_) | Value::Float(_) | Value::Double(_) | Value::Decimal(_) => {
            whole::check_whole(&args.args[0], &value, args.ctx)?;
            format!("{:X}", some!(coerce::to_bits(&value, args.ctx)?))
        }
        other if coerce::has_other_bytes(&args.args[0].ty) => {
            hex_text(&coerce::bytes(other, &args.args[0].ty)).to_uppercase()
        }
        other => hex_text(&coerce::text_of(&args.args[0], other)).to_uppercase(),
    }))
}

pub(crate) fn hex_text(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

fn unhex(args: &Args<'_>) -> Result<Value, SqlError> {
    let text = some!(args.text(0)?);
    let digits: Option<Vec<u8>> = text.iter().map(|&b| (b as char).to_digit(16).map(|digit| digit as u8)).collect();
    let Some(mut digits) = digits else {
        let shown = coerce::printable(&text);
        let message = format!("Incorrect string value: ''{shown}'' for function unhex");
        args.ctx.complain(codes::WRONG_VALUE_FOR_TYPE, message)?;
        return Ok(Value::Null);
    };
    if digits.len() % 2 == 1 {
        digits.insert(0, 0);
    }
    Ok(Value::Bytes(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect::<Vec<u8>>().into()))
}

fn to_base64(args: &Args<'_>) -> Result<Value, SqlError> {
    let bytes = some!(args.bytes(0)?);
    if let Some(null) = args.too_long(length::in_base64(bytes.len() as u64))? {
        return Ok(null);
    }
    let mut out = Vec::new();
    base64::encode_lines(&bytes, &mut out);
    Ok(args.string(out))
}

fn from_base64(args: &Args<'_>) -> Result<Value, SqlError> {
    let text = some!(args.text(0)?);
    Ok(base64::decode(&text).map_or(Value::Null, |bytes| Value::Bytes(bytes.into())))
}

/// BIN and OCT: what CONV makes of the digits of a decimal number.
fn in_base(args: &Args<'_>, base: i64) -> Result<Value, SqlError> {
    converted(args, 10, base)
}

fn digits_of(mut n: u64, base: u64) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(std::char::from_digit((n % base) as u32, base as u32).unwrap_or('0').to_ascii_uppercase());
        n /= base;
        if n == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

/// The number that CONV's argument is, in no base: that of a BIT column, and of a bit or hexadecimal literal.
fn bits_of(args: &Args<'_>) -> Result<Option<u64>, SqlError> {
    let arg = &args.args[0];
    match (literal_bits(arg), &arg.ty.origin) {
        (Some(bits), _) => Ok(Some(bits)),
        (None, Some(ColumnType::Bit { .. })) => coerce::to_bits(&*args.value(0)?, args.ctx),
        (None, _) => Ok(None),
    }
}

/// A base of CONV; a number beyond BIGINT is the negative one of the same bits.
fn base(args: &Args<'_>, at: usize) -> Result<Option<i64>, SqlError> {
    match &*args.value(at)? {
        Value::UInt(n) => Ok(Some(*n as i64)),
        _ => args.int(at),
    }
}

fn conv(args: &Args<'_>) -> Result<Value, SqlError> {
    converted(args, some!(base(args, 1)?), some!(base(args, 2)?))
}

fn converted(args: &Args<'_>, from: i64, to: i64) -> Result<Value, SqlError> {
    let bits = bits_of(args)?;
    let text = some!(args.text(0)?);
    let (from_base, to_base) = (from.unsigned_abs(), to.unsigned_abs());
    if !(2..=36).contains(&from_base) || !(2..=36).contains(&to_base) {
        return Ok(Value::Null);
    }
    if text.is_empty() {
        return Ok(Value::Null);
    }
    let text = text.trim_ascii();
    let negative = bits.is_none() && text.first() == Some(&b'-');
    let digits = text.iter().skip(negative as usize).map_while(|&byte| (byte as char).to_digit(from_base as u32));
    let add = |n: u64, digit: u32| n.checked_mul(from_base)?.checked_add(u64::from(digit));
    let magnitude = bits.or_else(|| digits.into_iter().try_fold(0, add));
    // What is below all numbers is 0.
    let is_below = magnitude.is_none() && negative && from > 0;
    let magnitude = magnitude.unwrap_or(u64::MAX);
    // Of a base below zero the digits are those of a signed number: the nearest that there is.
    let magnitude = match (from < 0, negative) {
        (true, true) => magnitude.min(1 << 63),
        (true, false) => magnitude.min(i64::MAX as u64),
        (false, _) => magnitude,
    };
    let n = match negative {
        _ if is_below => 0,
        true => magnitude.wrapping_neg(),
        false => magnitude,
    };
    let signed = n as i64;
    Ok(Value::str(if to < 0 && signed < 0 {
        format!("-{}", digits_of(signed.unsigned_abs(), to_base))
    } else {
        digits_of(n, to_base)
    }))
}

/// A text with so many characters: cut, or filled up with spaces where its collation adds them. A binary string is only cut. NULL of one that would be too long.
fn of_length(text: &Bytes, length: u64, ty: &ExprType, args: &Args<'_>) -> Result<Result<Bytes, Value>, SqlError> {
    let is_text = ty.kind == Kind::Str;
    let have = if is_text { char_count(text) } else { text.len() } as u64;
    if have >= length {
        let kept = if is_text { prefix_bytes(text, length as usize) } else { length as usize };
        return Ok(Ok(text.slice(..kept)));
    }
    if !is_text || ty.collation.info().pad == Pad::NoPad {
        return Ok(Ok(text.clone()));
    }
    if let Some(null) = args.too_long(length)? {
        return Ok(Err(null));
    }
    let mut filled = text.to_vec();
    filled.resize(text.len() + (length - have) as usize, b' ');
    Ok(Ok(filled.into()))
}

fn weight_string(args: &Args<'_>) -> Result<Value, SqlError> {
    let mut text = some!(args.text(0)?);
    let ty = &args.args[0].ty;
    if let (2, Kind::Str | Kind::Bytes) = (args.len(), ty.kind) {
        text = match of_length(&text, some!(args.int(1)?) as u64, ty, args)? {
            Ok(text) => text,
            Err(null) => return Ok(null),
        };
    }
    let mut out = Vec::new();
    match ty.kind {
        Kind::Decimal | Kind::Float | Kind::Double => return Ok(Value::Null),
        Kind::Bytes => out.extend_from_slice(&text),
        _ => collation::weight_string(ty.collation, &text, &mut out),
    }
    match args.too_long(out.len() as u64)? {
        Some(null) => Ok(null),
        None => Ok(Value::Bytes(out.into())),
    }
}

fn inet_aton(args: &Args<'_>) -> Result<Value, SqlError> {
    let text = some!(args.text(0)?);
    match dotted(&text) {
        Some(n) => Ok(Value::UInt(n)),
        None => wrong_string(args, &text),
    }
}

/// `1.2.3.4`, or fewer parts; an empty part in front of another is 0.
fn dotted(text: &[u8]) -> Option<u64> {
    const PART_MAX: u64 = 255;
    let mut parts = Vec::new();
    for part in text.split(|&byte| byte == b'.') {
        let n = part.iter().try_fold(0u64, |n, digit| {
            let n = n * 10 + u64::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
            (n <= PART_MAX).then_some(n)
        })?;
        parts.push(n);
    }
    if text.last().is_none_or(|&byte| byte == b'.') {
        return None;
    }
    let (last, first) = parts.split_last().filter(|(_, first)| first.len() < 4)?;
    // `127.1` is 127.0.0.1: what is missing stands before the last part.
    let high = (0..3).fold(0, |n, at| n << 8 | first.get(at).copied().unwrap_or(0));
    Some(high << 8 | last)
}

/// NULL with 1411.
pub(super) fn wrong_string(args: &Args<'_>, text: &[u8]) -> Result<Value, SqlError> {
    let message = format!("Incorrect string value: ''{}'' for function {}", coerce::printable(text), args.name);
    args.ctx.complain(codes::WRONG_VALUE_FOR_TYPE, message)?;
    Ok(Value::Null)
}

fn inet_ntoa(args: &Args<'_>) -> Result<Value, SqlError> {
    let n = some!(args.int(0)?);
    let Ok(n) = u32::try_from(n) else {
        let shown = some!(args.text(0)?);
        let message = format!("Incorrect integer value: '{}' for function inet_ntoa", coerce::printable(&shown));
        args.ctx.complain(codes::WRONG_VALUE_FOR_TYPE, message)?;
        return Ok(Value::Null);
    };
    Ok(Value::str(std::net::Ipv4Addr::from(n).to_string()))
}

/// The bytes of an address: 4, or 16.
fn inet6_aton(args: &Args<'_>) -> Result<Value, SqlError> {
    let text = some!(args.text(0)?);
    let address = std::str::from_utf8(&text).ok().filter(|_| args.args[0].ty.kind.is_string());
    if let Some(address) = address.and_then(ipv4) {
        return Ok(Value::Bytes(address.to_vec().into()));
    }
    match address.and_then(ipv6) {
        Some(address) => Ok(Value::Bytes(address.octets().to_vec().into())),
        None => wrong_string(args, &text),
    }
}

/// `1.2.3.4`: four parts of one to three digits.
fn ipv4(text: &str) -> Option<[u8; 4]> {
    let part = |part: &str| {
        let is_number = (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| part.parse().ok()).flatten()
    };
    let parts: Vec<u8> = text.split('.').map(part).collect::<Option<_>>()?;
    parts.try_into().ok()
}

/// Its last four bytes may be written as an IPv4 address, with zeros in front of its numbers. MySQL takes no text that is longer than eight groups of digits.
fn ipv6(text: &str) -> Option<std::net::Ipv6Addr> {
    const LONGEST: usize = 39;
    if text.len() > LONGEST {
        return None;
    }
    let last = text.rfind(':').map_or(0, |at| at + 1);
    match ipv4(&text[last..]).filter(|_| last > 0) {
        Some(address) => format!("{}{}", &text[..last], std::net::Ipv4Addr::from(address)).parse().ok(),
        None => text.parse().ok(),
    }
}

/// The text of an address in 4 or 16 bytes.
fn inet6_ntoa(args: &Args<'_>) -> Result<Value, SqlError> {
    let bytes = some!(args.bytes(0)?);
    let is_binary = args.is_binary(0);
    if let Some(octets) = <[u8; 4]>::try_from(&bytes[..]).ok().filter(|_| is_binary) {
        return Ok(Value::str(std::net::Ipv4Addr::from(octets).to_string()));
    }
    match <[u8; 16]>::try_from(&bytes[..]).ok().filter(|_| is_binary) {
        Some(octets) => Ok(Value::str(ipv6_text(octets))),
        None => wrong_string(args, &bytes),
    }
}

/// As MySQL writes it: the first longest run of zeros is left out (one alone too), and the last four bytes of what may be an
/// IPv4 address are written as one.
fn ipv6_text(octets: [u8; 16]) -> String {
    use std::fmt::Write;
    let words: [u16; 8] = std::array::from_fn(|at| u16::from_be_bytes([octets[2 * at], octets[2 * at + 1]]));
    let (mut gap, mut run) = (0..0, 0..0);
    for (at, &word) in words.iter().enumerate() {
        run = if word != 0 { at + 1..at + 1 } else { run.start..at + 1 };
        if run.len() > gap.len() {
            gap = run.clone();
        }
    }
    let has_ipv4 = gap.start == 0 && (gap.len() == 6 || gap.len() == 5 && words[5] == 0xffff);
    let mut out = String::new();
    for (at, word) in words.iter().enumerate() {
        if gap.contains(&at) {
            if at == gap.start {
                out.push_str(if at == 0 { "::" } else { ":" });
            }
            continue;
        }
        if has_ipv4 && at == 6 {
            let [.., a, b, c, d] = octets;
            let _ = write!(out, "{a}.{b}.{c}.{d}");
            break;
        }
        let _ = write!(out, "{word:x}");
        if at < 7 {
            out.push(':');
        }
    }
    out
}
