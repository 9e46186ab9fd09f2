//! TRANSACTION_PAYLOAD: the events of a transaction behind its GTID, in one piece and usually compressed.
//!
//! ```text
//! | (field lenenc, length lenenc, value)* | 0 | events without checksums, compressed … |
//! ```
//! Fields, in the order in which servers write them: 2 compression (0 zstd, 255 none), 3 size before compression (only if
//! compressed), 1 size of what follows. Values are length-encoded integers; unknown fields are skipped.
//!
//! An event of some megabytes can hold one transaction of many gigabytes, so it is never inflated as a whole:
//! [`PayloadEvents`] has one event in memory at a time, and zstd's window.

use std::io::{BufReader, Read};

use super::{ChecksumAlgorithm, EventHeader, HEADER_SIZE, RawEvent};
use crate::cursor::{Cursor, put_lenenc};
use crate::error::DecodeError;

const FIELD_END: u64 = 0;
const FIELD_SIZE: u64 = 1;
const FIELD_COMPRESSION: u64 = 2;
const FIELD_UNCOMPRESSED_SIZE: u64 = 3;

/// How a payload is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadCompression {
    /// With zstd.
    Zstd,
    /// Not at all.
    None,
}

impl PayloadCompression {
    fn code(self) -> u64 {
        match self {
            PayloadCompression::Zstd => 0,
            PayloadCompression::None => 255,
        }
    }
}

/// TRANSACTION_PAYLOAD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionPayload<'a> {
    /// How.
    pub compression: PayloadCompression,
    /// What the events take uncompressed, if it says so.
    pub uncompressed_size: Option<u64>,
    /// The events, compressed.
    pub payload: &'a [u8],
}

/// What reading a payload may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayloadLimits {
    /// The largest event, in bytes; memory for it is taken as its bytes come.
    pub event_size_max: u32,
    /// The largest window of zstd, as a power of two; above it the payload is refused. zstd takes that memory at once.
    pub window_log_max: u32,
}

impl Default for PayloadLimits {
    /// What any MySQL can write: events of 1 GiB, and the window of level 22, which is 128 MiB.
    fn default() -> Self {
        PayloadLimits { event_size_max: 1 << 30, window_log_max: 27 }
    }
}

impl<'a> TransactionPayload<'a> {
    /// Reads the body.
    pub fn decode(body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "TRANSACTION_PAYLOAD");
        let (mut compression, mut size, mut uncompressed_size) = (None, None, None);
        loop {
            let field = cursor.lenenc()?;
            if field == FIELD_END {
                break;
            }
            let len = cursor.lenenc_len()?;
            let mut value = cursor.sub(len)?;
            match field {
                FIELD_SIZE => size = Some(value.lenenc()?),
                FIELD_COMPRESSION => {
                    compression = Some(match value.lenenc()? {
                        0 => PayloadCompression::Zstd,
                        255 => PayloadCompression::None,
                        other => return Err(DecodeError::new(format!("TRANSACTION_PAYLOAD: compression {other}"))),
                    });
                }
                FIELD_UNCOMPRESSED_SIZE => uncompressed_size = Some(value.lenenc()?),
                _ => {}
            }
        }
        let compression = compression.ok_or_else(|| DecodeError::new("TRANSACTION_PAYLOAD: no compression"))?;
        let payload = cursor.rest();
        match size {
            Some(size) if size != payload.len() as u64 => {
                Err(DecodeError::new(format!("TRANSACTION_PAYLOAD: {} bytes that say {size}", payload.len())))
            }
            _ => Ok(TransactionPayload { compression, uncompressed_size, payload }),
        }
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        put_field(out, FIELD_COMPRESSION, self.compression.code());
        if let Some(size) = self.uncompressed_size {
            put_field(out, FIELD_UNCOMPRESSED_SIZE, size);
        }
        put_field(out, FIELD_SIZE, self.payload.len() as u64);
        put_lenenc(out, FIELD_END);
        out.extend_from_slice(self.payload);
    }

    /// The payload of events (complete, without checksums): compressed at this level of zstd.
    ///
    /// # Errors
    /// If zstd does not know the level.
    pub fn compress(events: &[u8], level: i32) -> Result<Vec<u8>, DecodeError> {
        zstd::stream::encode_all(events, level).map_err(|error| DecodeError::new(format!("zstd: {error}")))
    }

    /// The events, one after the other.
    ///
    /// # Errors
    /// If zstd cannot be set up.
    pub fn events(&self, limits: PayloadLimits) -> Result<PayloadEvents<'a>, DecodeError> {
        let source = match self.compression {
            PayloadCompression::None => Source::Plain(self.payload),
            PayloadCompression::Zstd => {
                let setup = |error: std::io::Error| DecodeError::new(format!("zstd: {error}"));
                let mut decoder = zstd::stream::read::Decoder::with_buffer(self.payload).map_err(setup)?;
                decoder.window_log_max(limits.window_log_max).map_err(setup)?;
                Source::Zstd(Box::new(BufReader::new(decoder)))
            }
        };
        let left = match self.compression {
            PayloadCompression::None => Some(self.payload.len() as u64),
            PayloadCompression::Zstd => self.uncompressed_size,
        };
        Ok(PayloadEvents { source, limits, left, event: Vec::new() })
    }
}

fn put_field(out: &mut Vec<u8>, field: u64, value: u64) {
    let mut bytes = Vec::new();
    put_lenenc(&mut bytes, value);
    put_lenenc(out, field);
    put_lenenc(out, bytes.len() as u64);
    out.extend_from_slice(&bytes);
}

enum Source<'a> {
    Plain(&'a [u8]),
    Zstd(Box<BufReader<zstd::stream::read::Decoder<'static, &'a [u8]>>>),
}

/// The events of a payload, one at a time.
pub struct PayloadEvents<'a> {
    source: Source<'a>,
    limits: PayloadLimits,
    /// How many bytes are still to come, if that is known.
    left: Option<u64>,
    event: Vec<u8>,
}

impl PayloadEvents<'_> {
    /// The next event; `None` at the end. After an error there is nothing more to be had.
    pub fn next_event(&mut self) -> Result<Option<RawEvent<'_>>, DecodeError> {
        self.event.clear();
        self.read(HEADER_SIZE)?;
        if self.event.is_empty() {
            return match self.left {
                None | Some(0) => Ok(None),
                Some(left) => Err(DecodeError::new(format!("payload: {left} bytes are missing"))),
            };
        }
        let length = EventHeader::decode(&self.event)?.event_length;
        if length > self.limits.event_size_max {
            let max = self.limits.event_size_max;
            return Err(DecodeError::new(format!("payload: an event of {length} bytes; at most {max} are taken")));
        }
        self.read(length as usize - HEADER_SIZE)?;
        self.left = match self.left.map(|left| left.checked_sub(length.into())) {
            Some(None) => return Err(DecodeError::new("payload: more bytes than it says")),
            Some(left) => left,
            None => None,
        };
        RawEvent::first_of(&self.event, ChecksumAlgorithm::Off).map(Some)
    }

    /// Appends so many bytes to the event, or fewer where the payload ends.
    fn read(&mut self, len: usize) -> Result<(), DecodeError> {
        let len = len as u64;
        let read = match &mut self.source {
            Source::Plain(bytes) => bytes.take(len).read_to_end(&mut self.event),
            Source::Zstd(decoder) => decoder.by_ref().take(len).read_to_end(&mut self.event),
        };
        read.map(drop).map_err(|error| DecodeError::new(format!("payload: {error}")))
    }
}
