//! The integers and strings that packets are made of: little-endian numbers, length-encoded ("lenenc") numbers and
//! strings, strings that end with a NUL or with the packet.

use crate::WireError;

/// Reads fields from the front of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Begins at the packet's first byte.
    pub fn new(packet: &'a [u8]) -> Self {
        Reader { rest: packet }
    }

    /// What was not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next `n` bytes; `what` names the field in the error.
    pub fn bytes(&mut self, n: usize, what: &'static str) -> Result<&'a [u8], WireError> {
        if n > self.rest.len() {
            return Err(WireError::Truncated(what));
        }
        let (field, rest) = self.rest.split_at(n);
        self.rest = rest;
        Ok(field)
    }

    /// As [`Reader::bytes`], as an array.
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], WireError> {
        let (field, rest) = self.rest.split_first_chunk::<N>().ok_or(WireError::Truncated(what))?;
        self.rest = rest;
        Ok(*field)
    }

    /// One byte.
    pub fn u8(&mut self, what: &'static str) -> Result<u8, WireError> {
        self.array::<1>(what).map(|[byte]| byte)
    }

    /// Two bytes.
    pub fn u16(&mut self, what: &'static str) -> Result<u16, WireError> {
        self.array(what).map(u16::from_le_bytes)
    }

    /// Three bytes.
    pub fn u24(&mut self, what: &'static str) -> Result<u32, WireError> {
        self.array(what).map(|[a, b, c]| u32::from_le_bytes([a, b, c, 0]))
    }

    /// Four bytes.
    pub fn u32(&mut self, what: &'static str) -> Result<u32, WireError> {
        self.array(what).map(u32::from_le_bytes)
    }

    /// Eight bytes.
    pub fn u64(&mut self, what: &'static str) -> Result<u64, WireError> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// A length-encoded number. The byte 0xfb (NULL in a row) is not a number.
    pub fn lenenc(&mut self, what: &'static str) -> Result<u64, WireError> {
        match self.u8(what)? {
            small @ 0..=0xfa => Ok(u64::from(small)),
            0xfc => self.u16(what).map(u64::from),
            0xfd => self.u24(what).map(u64::from),
            0xfe => self.u64(what),
            _ => Err(WireError::Malformed(what)),
        }
    }

    /// A string behind its length-encoded length.
    pub fn lenenc_bytes(&mut self, what: &'static str) -> Result<&'a [u8], WireError> {
        let len = self.lenenc(what)?;
        self.bytes(usize::try_from(len).map_err(|_| WireError::Truncated(what))?, what)
    }

    /// A string behind one byte of length.
    pub fn short_bytes(&mut self, what: &'static str) -> Result<&'a [u8], WireError> {
        let len = self.u8(what)?;
        self.bytes(usize::from(len), what)
    }

    /// A string up to the next NUL, which is read too.
    pub fn nul_bytes(&mut self, what: &'static str) -> Result<&'a [u8], WireError> {
        let len = self.rest.iter().position(|&byte| byte == 0).ok_or(WireError::Truncated(what))?;
        let field = self.bytes(len, what)?;
        self.rest = &self.rest[1..];
        Ok(field)
    }

    /// A string up to the next NUL, or to the packet's end where clients leave the NUL out.
    pub fn nul_or_rest(&mut self) -> &'a [u8] {
        self.nul_bytes("").unwrap_or_else(|_| std::mem::take(&mut self.rest))
    }

    /// Everything up to the packet's end.
    pub fn take_rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }
}

/// Appends fields to a packet.
pub trait Put {
    /// Two bytes.
    fn put_u16(&mut self, value: u16);
    /// The low three bytes.
    fn put_u24(&mut self, value: u32);
    /// Four bytes.
    fn put_u32(&mut self, value: u32);
    /// Eight bytes.
    fn put_u64(&mut self, value: u64);
    /// A length-encoded number.
    fn put_lenenc(&mut self, value: u64);
    /// A string behind its length-encoded length.
    fn put_lenenc_bytes(&mut self, bytes: &[u8]);
    /// A string and a NUL. The string must not have one inside.
    fn put_nul_bytes(&mut self, bytes: &[u8]);
}

impl Put for Vec<u8> {
    fn put_u16(&mut self, value: u16) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_u24(&mut self, value: u32) {
        self.extend_from_slice(&value.to_le_bytes()[..3]);
    }

    fn put_u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_u64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_lenenc(&mut self, value: u64) {
        match value {
            0..=0xfa => self.push(value as u8),
            0xfb..=0xffff => {
                self.push(0xfc);
                self.put_u16(value as u16);
            }
            0x1_0000..=0xff_ffff => {
                self.push(0xfd);
                self.put_u24(value as u32);
            }
            _ => {
                self.push(0xfe);
                self.put_u64(value);
            }
        }
    }

    fn put_lenenc_bytes(&mut self, bytes: &[u8]) {
        self.put_lenenc(bytes.len() as u64);
        self.extend_from_slice(bytes);
    }

    fn put_nul_bytes(&mut self, bytes: &[u8]) {
        debug_assert!(!bytes.contains(&0), "a NUL inside a NUL-terminated string");
        self.extend_from_slice(bytes);
        self.push(0);
    }
}

/// Names and messages from the other side, for people: bytes that are not UTF-8 are replaced.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lenenc_round_trip_at_the_edges() {
        for value in [0, 0xfa, 0xfb, 0xfc, 0xff, 0xffff, 0x1_0000, 0xff_ffff, 0x100_0000, u64::MAX] {
            let mut packet = Vec::new();
            packet.put_lenenc(value);
            let mut reader = Reader::new(&packet);
            assert_eq!(reader.lenenc("number"), Ok(value));
            assert!(reader.is_empty());
            assert_eq!(Reader::new(&packet[..packet.len() - 1]).lenenc("number"), Err(WireError::Truncated("number")));
        }
        assert_eq!(Reader::new(&[0xfb]).lenenc("number"), Err(WireError::Malformed("number")));
    }

    #[test]
    fn an_announced_length_allocates_nothing() {
        let packet = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, b'x'];
        assert_eq!(Reader::new(&packet).lenenc_bytes("name"), Err(WireError::Truncated("name")));
    }

    #[test]
    fn strings_that_end_with_nul_or_packet() {
        let mut reader = Reader::new(b"root\0test");
        assert_eq!(reader.nul_bytes("user"), Ok(&b"root"[..]));
        assert_eq!(reader.nul_or_rest(), b"test");
        assert!(reader.is_empty());
    }
}
