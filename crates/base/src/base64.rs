//! Bytes as text of 64 letters (RFC 4648): the BINLOG statement, TO_BASE64() and FROM_BASE64().

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// No letter.
const NONE: u8 = 0xff;

const VALUES: [u8; 256] = {
    let mut values = [NONE; 256];
    let mut at = 0;
    while at < LETTERS.len() {
        values[LETTERS[at] as usize] = at as u8;
        at += 1;
    }
    values
};

/// Letters in a line that servers and their tools write.
pub const LINE_LENGTH: usize = 76;

/// Appends the letters, in lines of [`LINE_LENGTH`] with a line feed between two.
pub fn encode_lines(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len() / 3 * 4 + bytes.len() / 54 + 8);
    for (line, bytes) in bytes.chunks(LINE_LENGTH / 4 * 3).enumerate() {
        if line > 0 {
            out.push(b'\n');
        }
        for chunk in bytes.chunks(3) {
            let bits = chunk.iter().fold(0u32, |n, &byte| n << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
            for place in 0..4 {
                let letter = LETTERS[(bits >> (18 - 6 * place)) as usize & 63];
                out.push(if place > chunk.len() { b'=' } else { letter });
            }
        }
    }
}

/// The bytes of letters, between which there may be space. Several pieces may follow one another, each with its own `=` at the end, as
/// `mysqlbinlog` prints events. `None` if it is anything else.
pub fn decode_pieces(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut digits, mut padding) = (0u32, 0, 0);
    for &byte in text.iter().filter(|byte| !byte.is_ascii_whitespace()) {
        let digit = match byte {
            b'=' if digits >= 2 => {
                padding += 1;
                0
            }
            _ if padding > 0 => return None,
            _ => Some(VALUES[usize::from(byte)]).filter(|value| *value != NONE)?,
        };
        bits = bits << 6 | u32::from(digit);
        digits += 1;
        if digits == 4 {
            out.extend_from_slice(&bits.to_be_bytes()[1..4 - padding]);
            (bits, digits, padding) = (0, 0, 0);
        }
    }
    (digits == 0).then_some(out)
}

/// The bytes of one piece: `=` only at its end.
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let end = text.iter().position(|byte| *byte == b'=').unwrap_or(text.len());
    let is_last = text[end..].iter().all(|byte| *byte == b'=' || byte.is_ascii_whitespace());
    if is_last { decode_pieces(text) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(bytes: &[u8]) -> String {
        let mut out = Vec::new();
        encode_lines(bytes, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn there_and_back() {
        assert_eq!(encoded(b""), "");
        assert_eq!([encoded(b"a"), encoded(b"ab"), encoded(b"abc")], ["YQ==", "YWI=", "YWJj"]);
        let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
        let text = encoded(&bytes);
        assert!(text.lines().rev().skip(1).all(|line| line.len() == LINE_LENGTH), "{text}");
        assert_eq!(decode(text.as_bytes()), Some(bytes));
    }

    #[test]
    fn what_is_none() {
        for text in ["a", "ab", "abc", "ab=", "=abc", "a===", "ab=c", "a!cd", "ab==="] {
            assert_eq!(decode_pieces(text.as_bytes()), None, "{text}");
        }
        assert_eq!(decode(b"YQ==YQ=="), None);
        assert_eq!(decode_pieces(b"\n YQ==\nYW\nI=\n").as_deref(), Some(&b"aab"[..]));
    }
}
