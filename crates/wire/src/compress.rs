//! The compressed protocol: packets inside of frames that are compressed.
//!
//! ```text
//! length of the bytes (3) | sequence number (1) | their length when inflated (3), 0 if they are as they are | bytes
//! ```
//! The inflated bytes are a stream of ordinary packets; where one frame ends and the next begins says nothing of them. Both sides count
//! frames from 0 with each command, beside the numbers of the packets inside, which are not checked then, as in MySQL.

use std::io::Read;

use crate::WireError;
use crate::frame::{FRAME_BYTES_MAX, HEADER_BYTES};

/// Bytes of a frame's header.
const COMPRESSED_HEADER_BYTES: usize = HEADER_BYTES + 3;
/// Less than this is not worth compressing, as in MySQL.
const COMPRESSED_BYTES_MIN: usize = 50;
/// Zlib's own default, MySQL's too.
const ZLIB_LEVEL: u32 = 6;
/// A frame of zstd's has no need of a longer window than a frame of the protocol has bytes (2 to the power of this).
const ZSTD_WINDOW_LOG_MAX: u32 = 24;
/// What an idle connection keeps of the buffer.
const BUFFER_KEPT: usize = 1 << 10;

/// How a connection is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// `CLIENT_COMPRESS`
    Zlib,
    /// `CLIENT_ZSTD_COMPRESSION_ALGORITHM`
    Zstd {
        /// 1 to 22, as the client asked.
        level: u8,
    },
}

impl Algorithm {
    /// The level that zstd has at most.
    pub const ZSTD_LEVEL_MAX: u8 = 22;

    /// `Compression_algorithm`
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Zlib => "zlib",
            Algorithm::Zstd { .. } => "zstd",
        }
    }

    /// `Compression_level`
    pub fn level(self) -> u32 {
        match self {
            Algorithm::Zlib => ZLIB_LEVEL,
            Algorithm::Zstd { level } => level.into(),
        }
    }

    fn compress(self, data: &[u8]) -> std::io::Result<Vec<u8>> {
        match self {
            Algorithm::Zlib => {
                let level = flate2::Compression::new(ZLIB_LEVEL);
                let mut compressed = Vec::new();
                flate2::bufread::ZlibEncoder::new(data, level).read_to_end(&mut compressed)?;
                Ok(compressed)
            }
            Algorithm::Zstd { level } => zstd::bulk::compress(data, level.into()),
        }
    }

    /// Appends what `data` is when inflated: exactly `length` bytes. Memory is taken as they come, not as they are announced.
    fn inflate(self, data: &[u8], length: usize, into: &mut Vec<u8>) -> Result<(), WireError> {
        const WRONG: WireError = WireError::Malformed("compressed bytes");
        let before = into.len();
        // One more than there may be shows that there are too many.
        let limit = length as u64 + 1;
        let result = match self {
            Algorithm::Zlib => flate2::bufread::ZlibDecoder::new(data).take(limit).read_to_end(into),
            Algorithm::Zstd { .. } => zstd::stream::read::Decoder::with_buffer(data).and_then(|mut decoder| {
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                decoder.take(limit).read_to_end(into)
            }),
        };
        match result {
            Ok(inflated) if inflated == length => Ok(()),
            _ => {
                into.truncate(before);
                Err(WRONG)
            }
        }
    }
}

/// One side of a compressed stream.
#[derive(Debug)]
pub struct Compression {
    algorithm: Algorithm,
    received: Vec<u8>,
    /// Of the next frame, of either side.
    sequence: u8,
}

impl Compression {
    /// For a stream that is compressed from here on.
    pub fn new(algorithm: Algorithm) -> Self {
        Compression { algorithm, received: Vec::new(), sequence: 0 }
    }

    /// How it compresses.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Where bytes from the stream are to be appended.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.received
    }

    /// Takes the first frame out of the buffer and appends what was in it; `false` if it is not whole yet.
    pub fn unpack(&mut self, into: &mut Vec<u8>) -> Result<bool, WireError> {
        let Some(&[a, b, c, sequence, x, y, z]) = self.received.first_chunk::<COMPRESSED_HEADER_BYTES>() else {
            return Ok(false);
        };
        // A command begins at 0, whatever was before it.
        if sequence != self.sequence && sequence != 0 {
            return Err(WireError::OutOfOrder { expected: self.sequence, got: sequence });
        }
        let length = u32::from_le_bytes([a, b, c, 0]) as usize;
        let inflated = u32::from_le_bytes([x, y, z, 0]) as usize;
        let end = COMPRESSED_HEADER_BYTES + length;
        let Some(bytes) = self.received.get(COMPRESSED_HEADER_BYTES..end) else { return Ok(false) };
        match inflated {
            0 => into.extend_from_slice(bytes),
            _ => self.algorithm.inflate(bytes, inflated, into)?,
        }
        self.sequence = sequence.wrapping_add(1);
        self.received.drain(..end);
        if self.received.is_empty() && self.received.capacity() > BUFFER_KEPT {
            self.received = Vec::new();
        }
        Ok(true)
    }

    /// Appends the frames that carry `data`.
    pub fn pack(&mut self, data: &[u8], out: &mut Vec<u8>) {
        for piece in data.chunks(FRAME_BYTES_MAX) {
            let worthwhile = piece.len() >= COMPRESSED_BYTES_MIN;
            // What cannot be compressed, or does not get shorter, goes as it is.
            let compressed = worthwhile.then(|| self.algorithm.compress(piece).ok()).flatten();
            match compressed.filter(|compressed| compressed.len() < piece.len()) {
                Some(compressed) => self.frame(&compressed, piece.len(), out),
                None => self.frame(piece, 0, out),
            }
        }
    }

    fn frame(&mut self, bytes: &[u8], inflated: usize, out: &mut Vec<u8>) {
        let three = |n: usize| (n as u32).to_le_bytes();
        out.extend_from_slice(&three(bytes.len())[..3]);
        out.push(self.sequence);
        out.extend_from_slice(&three(inflated)[..3]);
        out.extend_from_slice(bytes);
        self.sequence = self.sequence.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALGORITHMS: [Algorithm; 2] = [Algorithm::Zlib, Algorithm::Zstd { level: 3 }];

    fn unpack_all(compression: &mut Compression, bytes: &[u8], piece: usize) -> Result<Vec<u8>, WireError> {
        let mut all = Vec::new();
        for piece in bytes.chunks(piece) {
            compression.buffer().extend_from_slice(piece);
            while compression.unpack(&mut all)? {}
        }
        Ok(all)
    }

    #[test]
    fn what_was_packed_comes_back() {
        for algorithm in ALGORITHMS {
            for length in [1, COMPRESSED_BYTES_MIN - 1, COMPRESSED_BYTES_MIN, 100_000, FRAME_BYTES_MAX + 1] {
                let data: Vec<u8> = (0..length).map(|i| (i / 7 % 251) as u8).collect();
                let mut packed = Vec::new();
                Compression::new(algorithm).pack(&data, &mut packed);
                assert!(length < 1000 || packed.len() < length / 2, "{algorithm:?} {length}");
                let back = unpack_all(&mut Compression::new(algorithm), &packed, 10_007);
                assert!(back.as_ref() == Ok(&data), "{algorithm:?} {length}");
            }
        }
    }

    #[test]
    fn frames_are_counted_from_each_command_on() {
        let mut server = Compression::new(Algorithm::Zlib);
        assert_eq!(unpack_all(&mut server, b"\x01\0\0\0\0\0\0a", 100), Ok(b"a".to_vec()));
        let mut out = Vec::new();
        server.pack(b"b", &mut out);
        assert_eq!(out, b"\x01\0\0\x01\0\0\0b");
        assert_eq!(unpack_all(&mut server, b"\x01\0\0\0\0\0\0c", 3), Ok(b"c".to_vec()));
        let wrong = WireError::OutOfOrder { expected: 1, got: 7 };
        assert_eq!(unpack_all(&mut server, b"\x01\0\0\x07\0\0\0d", 100), Err(wrong));
    }

    #[test]
    fn more_or_less_than_was_announced_is_refused() {
        for algorithm in ALGORITHMS {
            let mut packed = Vec::new();
            Compression::new(algorithm).pack(&[7; 10_000], &mut packed);
            let announced = |length: u32| {
                let mut packed = packed.clone();
                packed[4..7].copy_from_slice(&length.to_le_bytes()[..3]);
                unpack_all(&mut Compression::new(algorithm), &packed, 1 << 20).map(|bytes| bytes.len())
            };
            assert_eq!(announced(10_000), Ok(10_000), "{algorithm:?}");
            for length in [1, 9_999, 10_001, 0xff_ffff] {
                assert_eq!(announced(length), Err(WireError::Malformed("compressed bytes")), "{algorithm:?} {length}");
            }
        }
    }
}
