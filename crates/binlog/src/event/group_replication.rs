//! TRANSACTION_CONTEXT and VIEW_CHANGE: what MySQL's group replication puts into its members' logs.
//!
//! ```text
//! TRANSACTION_CONTEXT  | length of uuid u8 | thread id u32 | gtid given u8 | length of snapshot u32 | writes u32 | reads u32 |
//!                      | uuid text | snapshot: a GTID set | (length u16, hash)* of writes, of reads |
//! VIEW_CHANGE          | view id char[40] | sequence number u64 | entries u32 | (key length u16, key | length u32, value)* |
//! ```

use crate::cursor::{Cursor, put_bytes32};
use crate::error::DecodeError;

/// Length of the zero-padded view id.
const VIEW_ID_SIZE: usize = 40;
/// The least that an entry of either list takes: its length.
const ENTRY_SIZE_MIN: usize = 2;

/// TRANSACTION_CONTEXT: what certification needs to know of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionContext<'a> {
    /// Text form of the uuid of the server where the transaction was executed.
    pub server_uuid: &'a [u8],
    /// The connection there.
    pub thread_id: u32,
    /// The transaction came with its GTID.
    pub gtid_specified: bool,
    /// The GTID set that it saw, in binary form.
    pub snapshot: &'a [u8],
    /// Hashes of what it wrote, as text or bytes.
    pub write_set: Vec<&'a [u8]>,
    /// Hashes of what it read; servers leave it empty.
    pub read_set: Vec<&'a [u8]>,
}

impl<'a> TransactionContext<'a> {
    /// Reads the body.
    pub fn decode(body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "TRANSACTION_CONTEXT");
        let uuid_len = cursor.u8()?;
        let thread_id = cursor.u32()?;
        let gtid_specified = cursor.u8()? != 0;
        let (snapshot_len, writes, reads) = (cursor.u32()?, cursor.u32()?, cursor.u32()?);
        Ok(TransactionContext {
            server_uuid: cursor.take(uuid_len.into())?,
            thread_id,
            gtid_specified,
            snapshot: cursor.take(snapshot_len as usize)?,
            write_set: take_hashes(&mut cursor, writes)?,
            read_set: take_hashes(&mut cursor, reads)?,
        })
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        let uuid = &self.server_uuid[..self.server_uuid.len().min(255)];
        out.push(uuid.len() as u8);
        out.extend_from_slice(&self.thread_id.to_le_bytes());
        out.push(self.gtid_specified.into());
        for count in [self.snapshot.len(), self.write_set.len(), self.read_set.len()] {
            out.extend_from_slice(&(count as u32).to_le_bytes());
        }
        out.extend_from_slice(uuid);
        out.extend_from_slice(self.snapshot);
        self.write_set.iter().chain(&self.read_set).for_each(|hash| put_bytes16(out, hash));
    }
}

fn take_hashes<'a>(cursor: &mut Cursor<'a>, count: u32) -> Result<Vec<&'a [u8]>, DecodeError> {
    let mut hashes = Vec::with_capacity((count as usize).min(cursor.len() / ENTRY_SIZE_MIN));
    for _ in 0..count {
        hashes.push(take_bytes16(cursor)?);
    }
    Ok(hashes)
}

fn take_bytes16<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], DecodeError> {
    let len = cursor.u16()?;
    cursor.take(len.into())
}

/// `u16` length and bytes; longer ones are cut, because the format has no room for them.
fn put_bytes16(out: &mut Vec<u8>, bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(usize::from(u16::MAX))];
    out.extend_from_slice(&(bytes.len() as u16).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// VIEW_CHANGE: the group has other members from here on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewChange<'a> {
    /// Without its padding; at most 40 bytes.
    pub view_id: &'a [u8],
    /// Of the certification at that moment.
    pub sequence_number: u64,
    /// What certification knows: item (or a name such as `CERTIFICATION_ERROR`) and a GTID set in binary form.
    pub certification_info: Vec<(&'a [u8], &'a [u8])>,
}

impl<'a> ViewChange<'a> {
    /// Reads the body.
    pub fn decode(body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "VIEW_CHANGE");
        let padded = cursor.take(VIEW_ID_SIZE)?;
        let len = padded.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
        let (sequence_number, count) = (cursor.u64()?, cursor.u32()?);
        let mut certification_info = Vec::with_capacity((count as usize).min(cursor.len() / ENTRY_SIZE_MIN));
        for _ in 0..count {
            certification_info.push((take_bytes16(&mut cursor)?, cursor.bytes32()?));
        }
        Ok(ViewChange { view_id: &padded[..len], sequence_number, certification_info })
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        let mut padded = [0; VIEW_ID_SIZE];
        let len = self.view_id.len().min(VIEW_ID_SIZE);
        padded[..len].copy_from_slice(&self.view_id[..len]);
        out.extend_from_slice(&padded);
        out.extend_from_slice(&self.sequence_number.to_le_bytes());
        out.extend_from_slice(&(self.certification_info.len() as u32).to_le_bytes());
        for (key, value) in &self.certification_info {
            put_bytes16(out, key);
            put_bytes32(out, value);
        }
    }
}
