//! Unsigned numbers in as few bytes as they need: LEB128, seven bits in each byte, the lowest first; the top bit says that another byte
//! follows.

/// Bytes of the largest number.
pub const SIZE_MAX: usize = 10;

/// Appends a number.
pub fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The number at the beginning of some bytes, and how many of them it takes; `None` if they end before it does, or it has more than
/// [`SIZE_MAX`].
pub fn read(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut number = 0;
    for (at, byte) in bytes.iter().take(SIZE_MAX).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((number, at + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for (number, bytes) in [
            (0, &[0][..]),
            (127, &[127]),
            (128, &[0x80, 1]),
            (300, &[0xac, 2]),
            (u64::MAX, &[255, 255, 255, 255, 255, 255, 255, 255, 255, 1]),
        ] {
            let mut out = Vec::new();
            put(&mut out, number);
            assert_eq!(out, bytes);
            out.push(7);
            assert_eq!(read(&out), Some((number, bytes.len())));
            assert_eq!(read(&bytes[..bytes.len() - 1]), None, "it is cut off");
        }
        assert_eq!(read(&[0x80; 11]), None);
    }
}
