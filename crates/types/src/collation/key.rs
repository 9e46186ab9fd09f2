//! Weights as bytes: ordered as the strings are, and each string's bytes are no prefix of another's.
//!
//! ```text
//!   Bytes      each byte; 00 as 01 01, 01 as 01 02; then 00
//!   Uca0900    each level: weights as u16, big-endian (none is 0); then 00 00
//!   others     symbols (below), each of its own length; then the symbol END
//! ```
//!
//! PAD SPACE makes a string end in endless spaces. A symbol for the end alone cannot say that: `"a"` is before `"a b"` and
//! after `"a\t"`. So the end sorts where a space does, and a space is written by what follows its run: low before something
//! smaller than a space, high before something greater. Trailing spaces are not written.
//!
//! ```text
//!   weight < space   space before less   END   space before more   weight > space
//!   symbol = weight  symbol = space      +1    +2                  weight + 2
//! ```
//!
//! Symbols are written with as few bytes as keep their order: one for ASCII in the collations of one weight per character.

use super::stream::{self, Stream};
use super::tables::{Level, UCA_0900};
use super::{CollationId, Method};

/// Appends bytes that are equal for equal strings and ordered as the strings are, and that no other string's bytes begin
/// with: what a key holds.
pub fn weights(collation: CollationId, text: &[u8], out: &mut Vec<u8>) {
    match collation.info().method {
        Method::Bytes => {
            escape(text, out);
            out.push(0);
        }
        method @ Method::Uca0900(_) => {
            for &level in method.levels() {
                units(method, level, text, out);
                out.extend_from_slice(&[0, 0]);
            }
        }
        method => {
            symbols(method, text, out);
            put_symbol(method, stream::space(method) + 1, out);
        }
    }
}

/// Appends bytes that the weights of every string that begins with `text` begin with: the range of `LIKE 'text%'`.
pub fn prefix_weights(collation: CollationId, text: &[u8], out: &mut Vec<u8>) {
    match collation.info().method {
        Method::Bytes => escape(text, out),
        method @ Method::Uca0900(_) => units(method, Level::Primary, text, out),
        method => symbols(method, text, out),
    }
}

/// Appends what WEIGHT_STRING gives: the weights as MySQL has them, which do not end with anything, and so are no keys.
pub fn weight_string(collation: CollationId, text: &[u8], out: &mut Vec<u8>) {
    let method = collation.info().method;
    if method == Method::Bytes {
        out.extend_from_slice(text);
        return;
    }
    for (number, &level) in method.levels().iter().enumerate() {
        if number > 0 {
            out.extend_from_slice(&[0, 0]);
        }
        for weight in Stream::new(method, level, text) {
            match method {
                Method::SingleByte(..) => out.push(weight as u8),
                Method::CodePoints => out.extend_from_slice(&weight.to_be_bytes()[1..]),
                _ => out.extend_from_slice(&(weight as u16).to_be_bytes()),
            }
        }
    }
}

/// How many bytes at the beginning of `key` were written by [`weights`]; `mask` is ff where the key is inverted (DESC).
/// `None` if it ends before.
pub(crate) fn skip_weights(collation: CollationId, key: &[u8], mask: u8) -> Option<usize> {
    match collation.info().method {
        Method::Bytes => key.iter().position(|&byte| byte ^ mask == 0).map(|at| at + 1),
        method @ Method::Uca0900(_) => {
            let mut at = 0;
            for _ in method.levels() {
                at += 2 * (key.get(at..)?.chunks_exact(2).position(|unit| unit == [mask, mask])? + 1);
            }
            Some(at)
        }
        method => skip_symbols(method, key, mask),
    }
}

fn escape(text: &[u8], out: &mut Vec<u8>) {
    out.reserve(text.len() + 1);
    for &byte in text {
        match byte {
            0 => out.extend_from_slice(&[1, 1]),
            1 => out.extend_from_slice(&[1, 2]),
            _ => out.push(byte),
        }
    }
}

fn units(method: Method, level: Level, text: &[u8], out: &mut Vec<u8>) {
    out.reserve(2 * text.len() + 2);
    let mut text = text;
    if level == Level::Primary {
        // ASCII has one weight per character, 0 if it is ignored.
        let table = &UCA_0900.ascii;
        let ascii = text.iter().take_while(|byte| **byte < 0x80).count();
        for weight in text[..ascii].iter().map(|&byte| table[byte as usize]).filter(|&weight| weight != 0) {
            out.extend_from_slice(&weight.to_be_bytes());
        }
        text = &text[ascii..];
    }
    for weight in Stream::new(method, level, text) {
        out.extend_from_slice(&(weight as u16).to_be_bytes());
    }
}

fn symbols(method: Method, text: &[u8], out: &mut Vec<u8>) {
    let space = stream::space(method);
    let mut spaces = 0;
    out.reserve(text.len() + 1);
    for weight in Stream::new(method, Level::Primary, text) {
        if weight == space {
            spaces += 1;
            continue;
        }
        let (symbol_of_space, symbol) = if weight < space { (space, weight) } else { (space + 2, weight + 2) };
        for _ in 0..std::mem::take(&mut spaces) {
            put_symbol(method, symbol_of_space, out);
        }
        put_symbol(method, symbol, out);
    }
}

/// One byte below this, then two bytes for the next 8192 symbols, then three.
const ONE_BYTE: u32 = 0xc0;
const TWO_BYTES: u32 = ONE_BYTE + (0x20 << 8);
/// Of UCA weights: two bytes below this, then three.
const UCA_TWO_BYTES: u32 = 0xff00;

fn put_symbol(method: Method, symbol: u32, out: &mut Vec<u8>) {
    if method.has_unicode_symbols() {
        if symbol < UCA_TWO_BYTES {
            out.extend_from_slice(&(symbol as u16).to_be_bytes());
        } else {
            let rest = symbol - UCA_TWO_BYTES;
            out.extend_from_slice(&[0xff, (rest >> 8) as u8, rest as u8]);
        }
        return;
    }
    if symbol < ONE_BYTE {
        out.push(symbol as u8);
    } else if symbol < TWO_BYTES {
        let rest = symbol - ONE_BYTE;
        out.extend_from_slice(&[0xc0 + (rest >> 8) as u8, rest as u8]);
    } else {
        let rest = symbol - TWO_BYTES;
        out.extend_from_slice(&[0xe0 + (rest >> 16) as u8, (rest >> 8) as u8, rest as u8]);
    }
}

fn skip_symbols(method: Method, key: &[u8], mask: u8) -> Option<usize> {
    let end = stream::space(method) + 1;
    let mut at = 0;
    loop {
        let first = key.get(at)? ^ mask;
        let len = match (method.has_unicode_symbols(), first) {
            (true, 0xff) => 3,
            (true, _) => 2,
            (false, 0xe0..) => 3,
            (false, 0xc0..) => 2,
            (false, _) => 1,
        };
        // END is short in both forms, so no longer symbol can be taken for it.
        let symbol = match len {
            1 => first as u32,
            2 if method.has_unicode_symbols() => (first as u32) << 8 | (key.get(at + 1)? ^ mask) as u32,
            _ => u32::MAX,
        };
        at += len;
        if symbol == end {
            return Some(at);
        }
    }
}
