//! Reading and writing the little-endian numbers and strings that events are made of.

use crate::error::DecodeError;

type Result<T> = std::result::Result<T, DecodeError>;

/// Takes bytes from the front of a slice; every take is checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
    what: &'static str,
}

macro_rules! take_number {
    ($($name:ident: $ty:ty),*) => {
        $(#[allow(dead_code, reason = "the set is complete")]
        pub(crate) fn $name(&mut self) -> Result<$ty> {
            let (bytes, rest) = self.rest.split_first_chunk().ok_or_else(|| self.short())?;
            self.rest = rest;
            Ok(<$ty>::from_le_bytes(*bytes))
        })*
    };
}

impl<'a> Cursor<'a> {
    /// `what` is named in errors.
    pub(crate) fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Cursor { rest: bytes, what }
    }

    take_number!(u8: u8, u16: u16, u32: u32, u64: u64);

    fn short(&self) -> DecodeError {
        DecodeError::short(self.what)
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn len(&self) -> usize {
        self.rest.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or_else(|| self.short())?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or_else(|| self.short())?;
        self.rest = rest;
        Ok(*taken)
    }

    /// An unsigned number of `len` (at most 8) bytes.
    pub(crate) fn uint(&mut self, len: usize) -> Result<u64> {
        let mut bytes = [0; 8];
        bytes.get_mut(..len).ok_or_else(|| self.short())?.copy_from_slice(self.take(len)?);
        Ok(u64::from_le_bytes(bytes))
    }

    /// A length-encoded integer.
    pub(crate) fn lenenc(&mut self) -> Result<u64> {
        match self.u8()? {
            0xfc => self.uint(2),
            0xfd => self.uint(3),
            0xfe => self.uint(8),
            0xfb | 0xff => Err(DecodeError::new(format!("{}: bad length-encoded integer", self.what))),
            small => Ok(small.into()),
        }
    }

    /// A length-encoded integer that counts things of which each takes at least one bit here: bounded by the rest.
    pub(crate) fn lenenc_len(&mut self) -> Result<usize> {
        let value = self.lenenc()?;
        usize::try_from(value).ok().filter(|&len| len <= self.rest.len().saturating_mul(8)).ok_or_else(|| self.short())
    }

    /// `u8` length and bytes.
    pub(crate) fn bytes8(&mut self) -> Result<&'a [u8]> {
        let len = self.u8()?;
        self.take(len.into())
    }

    /// Bytes up to a NUL, which is taken too.
    pub(crate) fn null_terminated(&mut self) -> Result<&'a [u8]> {
        let len = self.rest.iter().position(|&b| b == 0).ok_or_else(|| self.short())?;
        let bytes = self.take(len)?;
        self.take(1)?;
        Ok(bytes)
    }

    /// `u32` length and bytes.
    pub(crate) fn bytes32(&mut self) -> Result<&'a [u8]> {
        let len = self.u32()?;
        self.take(len as usize)
    }

    /// An error unless all was taken.
    pub(crate) fn end(&self) -> Result<()> {
        if self.is_empty() { Ok(()) } else { Err(DecodeError::new(format!("{}: bytes behind its end", self.what))) }
    }

    /// A cursor over the next `len` bytes.
    pub(crate) fn sub(&mut self, len: usize) -> Result<Cursor<'a>> {
        Ok(Cursor { rest: self.take(len)?, what: self.what })
    }
}

pub(crate) fn put_lenenc(out: &mut Vec<u8>, value: u64) {
    match value {
        0..=0xfa => out.push(value as u8),
        0xfb..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&value.to_le_bytes()[..2]);
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&value.to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// `u8` length and bytes; what is longer than 255 bytes is cut there, because the format has no room for it.
pub(crate) fn put_bytes8(out: &mut Vec<u8>, bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(255)];
    out.push(bytes.len() as u8);
    out.extend_from_slice(bytes);
}

/// `u32` length and bytes.
pub(crate) fn put_bytes32(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// The `n`-th bit of a bitmap, lowest bit of the first byte first.
pub(crate) fn bit(bitmap: &[u8], n: usize) -> bool {
    bitmap.get(n / 8).is_some_and(|byte| byte >> (n % 8) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lenenc_round_trip() {
        for value in [0, 250, 251, 255, 0xffff, 0x1_0000, 0xff_ffff, 0x100_0000, u64::MAX] {
            let mut bytes = Vec::new();
            put_lenenc(&mut bytes, value);
            let mut cursor = Cursor::new(&bytes, "test");
            assert_eq!(cursor.lenenc(), Ok(value));
            assert!(cursor.is_empty());
        }
        assert!(Cursor::new(&[0xfb], "test").lenenc().is_err());
        assert_eq!(Cursor::new(&[0xfc, 1], "test").lenenc(), Err(DecodeError::short("test")));
    }
}
