//! Digits: those of literals of bytes, hexadecimal and binary, and sizes.

/// The bytes of a hexadecimal literal, whose digits are all such.
pub fn hex_bytes(digits: &str) -> Vec<u8> {
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap_or(0) as u8;
    let mut digits = digits.as_bytes().to_vec();
    if digits.len() % 2 == 1 {
        digits.insert(0, b'0');
    }
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// The bytes of a binary literal, whose digits are all such; the first byte has what is left over.
pub fn bit_bytes(digits: &str) -> Vec<u8> {
    let byte = |bits: &[u8]| bits.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit == b'1'));
    let mut bytes: Vec<u8> = digits.as_bytes().rchunks(8).map(byte).collect();
    bytes.reverse();
    bytes
}

/// `64`, `64K`, `64M`, `64G`, `64T`, `64P`, `64E`, with or without a sign.
pub fn parse_number(text: &str) -> Option<i128> {
    let text = text.trim();
    let (digits, shift) = match text.chars().last()? {
        'k' | 'K' => (&text[..text.len() - 1], 10),
        'm' | 'M' => (&text[..text.len() - 1], 20),
        'g' | 'G' => (&text[..text.len() - 1], 30),
        't' | 'T' => (&text[..text.len() - 1], 40),
        'p' | 'P' => (&text[..text.len() - 1], 50),
        'e' | 'E' => (&text[..text.len() - 1], 60),
        _ => (text, 0),
    };
    digits
        .trim()
        .parse::<i64>()
        .map(i128::from)
        .or_else(|_| digits.trim().parse::<u64>().map(i128::from))
        .ok()
        .map(|n| n << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_literals() {
        assert_eq!(hex_bytes("4D79"), b"My");
        assert_eq!(hex_bytes("f0F"), [0x0f, 0x0f]);
        assert_eq!(bit_bytes("100000001"), [1, 1]);
        assert_eq!(bit_bytes(""), [] as [u8; 0]);
    }
}
