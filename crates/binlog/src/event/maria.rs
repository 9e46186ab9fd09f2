//! Events that only MariaDB writes.
//!
//! ```text
//! GTID               | seq_no u64 | domain u32 | flags u8 | [2: commit id u64] | [64, 128: format id u32, length of gtrid u8, of bqual u8,
//!                    | gtrid, bqual] | [flags_extra u8 | [1: engines u8] | [4, 8: seq_no of START ALTER u64] | [16: thread id u32]] |
//!                    | zeros up to 19 bytes |
//! GTID_LIST          | flags u4, count u28 | (domain u32, server u32, seq_no u64)* | two zeros if there are none |
//! BINLOG_CHECKPOINT  | length u32, name of a file |
//! START_ENCRYPTION   | scheme u8 | key version u32 | nonce 12 |
//! ANNOTATE_ROWS      | statement … |
//! ```

use self::maria_flags::{COMPLETED_XA, DDL, GROUP_COMMIT_ID, PREPARED_XA, STANDALONE, TRANSACTIONAL, WAITED};
use super::xa::Xid;
use crate::cursor::{Cursor, put_bytes32};
use crate::error::DecodeError;
use crate::maria_gtid::MariaGtidName;

/// Bits of a GTID's flags.
pub mod maria_flags {
    /// No event ends the group but its only statement.
    pub const STANDALONE: u8 = 1;
    /// The id of a group of commits follows.
    pub const GROUP_COMMIT_ID: u8 = 2;
    /// It can be rolled back.
    pub const TRANSACTIONAL: u8 = 4;
    /// Nothing was said against running it beside those before it.
    pub const ALLOW_PARALLEL: u8 = 8;
    /// It waited for a row lock at its source, so that it is not worth a try to run it beside those before it.
    pub const WAITED: u8 = 16;
    /// A schema change.
    pub const DDL: u8 = 32;
    /// The first phase of a distributed transaction.
    pub const PREPARED_XA: u8 = 64;
    /// The second.
    pub const COMPLETED_XA: u8 = 128;
}

/// In `flags_extra`: a number of engines follows.
const EXTRA_MULTI_ENGINE: u8 = 1;
/// In `flags_extra`: the START ALTER's number follows (COMMIT ALTER, ROLLBACK ALTER).
const EXTRA_ALTER_ENDS: u8 = 4 | 8;
/// In `flags_extra`: the thread id follows.
const EXTRA_THREAD_ID: u8 = 16;

/// Bytes of a GTID that has nothing but its fixed part; shorter ones are padded to this, so that an old replica's dummy event
/// has room in its place.
const GTID_SIZE_MIN: usize = 19;
/// The same for a GTID_LIST.
const GTID_LIST_SIZE_MIN: usize = 6;

/// MariaDB's GTID: begins a group of events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MariaGtid {
    /// Number in the domain.
    pub seq_no: u64,
    /// Independent stream of transactions.
    pub domain_id: u32,
    /// See [`maria_flags`].
    pub flags: u8,
    /// Equal for all that shared one sync; there if the flag is.
    pub commit_id: Option<u64>,
    /// Which distributed transaction is prepared or completed; there if one of the two flags is.
    pub xid: Option<Xid>,
    /// What later versions say.
    pub extra: MariaGtidExtra,
}

impl MariaGtid {
    /// The transaction's name; `server_id` is that of the event.
    pub fn name(&self, server_id: u32) -> MariaGtidName {
        MariaGtidName { domain_id: self.domain_id, server_id, seq_no: self.seq_no }
    }
}

/// The later part of MariaDB's GTID. The bits that say what follows are made from what is there; what a still later version
/// puts behind it is not taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MariaGtidExtra {
    /// How many engines beyond one took part; 255: not counted.
    pub engines: Option<u8>,
    /// Which part of an ALTER in two phases it is.
    pub alter: Option<AlterPhase>,
    /// The connection that executed it (from 11.5 on).
    pub thread_id: Option<u32>,
}

/// A part of an ALTER TABLE in two phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlterPhase {
    /// It begins.
    Start,
    /// It succeeded: the one with this `seq_no`.
    Commit(u64),
    /// It failed: the one with this `seq_no`.
    Rollback(u64),
}

impl MariaGtidExtra {
    fn decode(cursor: &mut Cursor<'_>) -> Result<Self, DecodeError> {
        let flags = if cursor.is_empty() { 0 } else { cursor.u8()? };
        let engines = if flags & EXTRA_MULTI_ENGINE != 0 { Some(cursor.u8()?) } else { None };
        let alter = match flags & (2 | EXTRA_ALTER_ENDS) {
            0 => None,
            2 => Some(AlterPhase::Start),
            4 => Some(AlterPhase::Commit(cursor.u64()?)),
            8 => Some(AlterPhase::Rollback(cursor.u64()?)),
            _ => return Err(DecodeError::new("MariaDB GTID: several phases of an ALTER")),
        };
        let thread_id = if flags & EXTRA_THREAD_ID != 0 { Some(cursor.u32()?) } else { None };
        Ok(MariaGtidExtra { engines, alter, thread_id })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let alter = match self.alter {
            None => 0,
            Some(AlterPhase::Start) => 2,
            Some(AlterPhase::Commit(_)) => 4,
            Some(AlterPhase::Rollback(_)) => 8,
        };
        let flags =
            self.engines.map_or(0, |_| EXTRA_MULTI_ENGINE) | alter | self.thread_id.map_or(0, |_| EXTRA_THREAD_ID);
        if flags == 0 {
            return;
        }
        out.push(flags);
        out.extend(self.engines);
        if let Some(AlterPhase::Commit(seq_no) | AlterPhase::Rollback(seq_no)) = self.alter {
            out.extend_from_slice(&seq_no.to_le_bytes());
        }
        if let Some(thread_id) = self.thread_id {
            out.extend_from_slice(&thread_id.to_le_bytes());
        }
    }
}

impl MariaGtid {
    /// Reads the body.
    pub fn decode(body: &[u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "MariaDB GTID");
        let (seq_no, domain_id, flags) = (cursor.u64()?, cursor.u32()?, cursor.u8()?);
        let commit_id = if flags & GROUP_COMMIT_ID != 0 { Some(cursor.u64()?) } else { None };
        let xid = if flags & (PREPARED_XA | COMPLETED_XA) != 0 {
            let format_id = cursor.u32()?;
            let (gtrid, bqual) = (cursor.u8()?, cursor.u8()?);
            let gtrid = cursor.take(gtrid.into())?.to_vec();
            Some(Xid { format_id, gtrid, bqual: cursor.take(bqual.into())?.to_vec() })
        } else {
            None
        };
        Ok(MariaGtid { seq_no, domain_id, flags, commit_id, xid, extra: MariaGtidExtra::decode(&mut cursor)? })
    }

    /// Appends the body. Flags that say what follows are set where it is there. Parts of an XID have at most 255 bytes; what
    /// is longer is cut.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.seq_no.to_le_bytes());
        out.extend_from_slice(&self.domain_id.to_le_bytes());
        out.push(self.stored_flags());
        if let Some(commit_id) = self.commit_id {
            out.extend_from_slice(&commit_id.to_le_bytes());
        }
        if let Some(xid) = &self.xid {
            let [gtrid, bqual] = [&xid.gtrid, &xid.bqual].map(|part| &part[..part.len().min(255)]);
            out.extend_from_slice(&xid.format_id.to_le_bytes());
            out.extend_from_slice(&[gtrid.len() as u8, bqual.len() as u8]);
            out.extend_from_slice(gtrid);
            out.extend_from_slice(bqual);
        }
        self.extra.encode(out);
        out.resize(out.len().max(start + GTID_SIZE_MIN), 0);
    }

    /// The flags, with those for what follows as it follows.
    fn stored_flags(&self) -> u8 {
        const XA: u8 = PREPARED_XA | COMPLETED_XA;
        let mut flags = self.flags & !GROUP_COMMIT_ID | self.commit_id.map_or(0, |_| GROUP_COMMIT_ID);
        match &self.xid {
            None => flags &= !XA,
            Some(_) if flags & XA == 0 => flags |= PREPARED_XA,
            Some(_) => {}
        }
        flags
    }

    /// Whether the group is one statement without a commit event behind it.
    pub fn is_standalone(&self) -> bool {
        self.flags & STANDALONE != 0
    }

    /// The flags in words, as MariaDB's tools print them.
    pub fn flag_words(&self) -> String {
        let words = [
            (GROUP_COMMIT_ID, "cid"),
            (DDL, "ddl"),
            (TRANSACTIONAL, "trans"),
            (WAITED, "waited"),
            (PREPARED_XA, "prepared XA"),
            (COMPLETED_XA, "completed XA"),
        ];
        let mut text = String::new();
        for (flag, word) in words {
            if self.flags & flag == 0 {
                continue;
            }
            text.push(' ');
            match (flag, self.commit_id) {
                (GROUP_COMMIT_ID, Some(id)) => text.push_str(&format!("cid={id}")),
                _ => text.push_str(word),
            }
        }
        match self.extra.alter {
            None => {}
            Some(AlterPhase::Start) => text.push_str(" START ALTER"),
            Some(AlterPhase::Commit(seq_no)) => text.push_str(&format!(" COMMIT ALTER id={seq_no}")),
            Some(AlterPhase::Rollback(seq_no)) => text.push_str(&format!(" ROLLBACK ALTER id={seq_no}")),
        }
        if let Some(thread_id) = self.extra.thread_id {
            text.push_str(&format!(" thread_id={thread_id}"));
        }
        text
    }
}

/// MariaDB's GTID_LIST: what was in the files before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MariaGtidList {
    /// 1: made up for a replica that is to stop there; 2: to be ignored. Four bits.
    pub flags: u8,
    /// Domain, server and number; several per domain, the last is the newest.
    pub gtids: Vec<(u32, u32, u64)>,
}

impl MariaGtidList {
    /// Reads the body.
    pub fn decode(body: &[u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "GTID_LIST");
        let head = cursor.u32()?;
        let (flags, count) = ((head >> 28) as u8, head & 0x0fff_ffff);
        let mut gtids = Vec::new();
        for _ in 0..count {
            gtids.push((cursor.u32()?, cursor.u32()?, cursor.u64()?));
        }
        Ok(MariaGtidList { flags, gtids })
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&(u32::from(self.flags) << 28 | self.gtids.len() as u32).to_le_bytes());
        for (domain, server, seq_no) in &self.gtids {
            out.extend_from_slice(&domain.to_le_bytes());
            out.extend_from_slice(&server.to_le_bytes());
            out.extend_from_slice(&seq_no.to_le_bytes());
        }
        out.resize(out.len().max(start + GTID_LIST_SIZE_MIN), 0);
    }
}

/// The file name in a BINLOG_CHECKPOINT.
pub fn decode_binlog_checkpoint(body: &[u8]) -> Result<String, DecodeError> {
    let name = Cursor::new(body, "BINLOG_CHECKPOINT").bytes32()?;
    Ok(String::from_utf8_lossy(name).into_owned())
}

/// Appends the body of a BINLOG_CHECKPOINT.
pub fn encode_binlog_checkpoint(file: &str, out: &mut Vec<u8>) {
    put_bytes32(out, file.as_bytes());
}

/// START_ENCRYPTION: all events behind it in the file are encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartEncryption {
    /// How; 1 is the only one that there is.
    pub scheme: u8,
    /// Which version of the server's key.
    pub key_version: u32,
    /// Of this file.
    pub nonce: [u8; 12],
}

impl StartEncryption {
    /// Reads the body.
    pub fn decode(body: &[u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "START_ENCRYPTION");
        Ok(StartEncryption { scheme: cursor.u8()?, key_version: cursor.u32()?, nonce: cursor.array()? })
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        out.push(self.scheme);
        out.extend_from_slice(&self.key_version.to_le_bytes());
        out.extend_from_slice(&self.nonce);
    }
}
