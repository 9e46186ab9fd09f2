//! The standard form of transactions: the messages of `proto/commuter.proto`, filled from any transaction ([`FormApply`]), asked as any
//! transaction (they implement [`crate::Transaction`]), and as bytes.

mod fill;
mod messages;
mod provide;
mod settings;

pub use messages::*;
use prost::Message as _;

use crate::error::EventError;
use crate::event::Apply;

/// The version of the form that is written; later ones are refused.
pub const VERSION: u32 = 1;

/// Appends each transaction, behind its length as a varint.
#[derive(Debug, Default)]
pub struct FormApply {
    out: Vec<u8>,
}

impl FormApply {
    /// What was made since the last time.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }
}

impl Apply for FormApply {
    fn transaction(&mut self, transaction: &dyn crate::Transaction) -> Result<(), EventError> {
        put_delimited(&fill::fill(transaction)?, &mut self.out);
        Ok(())
    }
}

impl Transaction {
    /// The form of a transaction.
    ///
    /// # Errors
    /// Where the transaction cannot be read.
    pub fn of(transaction: &dyn crate::Transaction) -> Result<Self, EventError> {
        fill::fill(transaction)
    }
}

/// Appends a transaction behind its length as a varint.
pub fn put_delimited(transaction: &Transaction, out: &mut Vec<u8>) {
    prost::encode_length_delimiter(transaction.encoded_len(), out).unwrap_or_else(|_| unreachable!("memory grows"));
    transaction.encode_raw_into(out);
}

impl Transaction {
    fn encode_raw_into(&self, out: &mut Vec<u8>) {
        self.encode(out).unwrap_or_else(|_| unreachable!("memory grows"));
    }
}

/// The transaction at the front of `bytes`, and how many bytes it takes; `None` if not all of it is there.
///
/// # Errors
/// If it is none, or one of a later version of the form.
pub fn take_delimited(bytes: &[u8]) -> Result<Option<(Transaction, usize)>, EventError> {
    /// The longest varint.
    const LENGTH_BYTES_MAX: usize = 10;
    let malformed = |error: prost::DecodeError| EventError::malformed(format!("protobuf: {error}"));
    let is_length = bytes.iter().take(LENGTH_BYTES_MAX).any(|byte| byte & 0x80 == 0);
    if !is_length && bytes.len() < LENGTH_BYTES_MAX {
        return Ok(None);
    }
    let len = prost::decode_length_delimiter(bytes).map_err(malformed)?;
    let head = prost::length_delimiter_len(len);
    let Some(message) = bytes.get(head..).and_then(|rest| rest.get(..len)) else { return Ok(None) };
    let transaction = Transaction::decode(message).map_err(malformed)?;
    if transaction.version > VERSION {
        let version = transaction.version;
        return Err(EventError::Unsupported(format!(
            "a transaction of version {version} of the standard form; {VERSION} is the last that is understood"
        )));
    }
    Ok(Some((transaction, head + len)))
}
