//! Events that only MariaDB writes; they are read, never made.

use crate::cursor::Cursor;
use crate::error::DecodeError;

const FLAG_GROUP_COMMIT_ID: u8 = 2;
const FLAG_PREPARED_XA: u8 = 64;
const FLAG_COMPLETED_XA: u8 = 128;

/// MariaDB's GTID: begins a group of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MariaGtid {
    /// Number in the domain.
    pub seq_no: u64,
    /// Independent stream of transactions.
    pub domain_id: u32,
    /// 1 standalone, 2 has a group commit id, 4 transactional, 8 allow parallel, 16 waited, 32 DDL, 64 and 128 XA.
    pub flags: u8,
    /// Equal for all that shared one sync.
    pub commit_id: Option<u64>,
}

impl MariaGtid {
    /// Reads the body.
    pub fn decode(body: &[u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "MariaDB GTID");
        let (seq_no, domain_id, flags) = (cursor.u64()?, cursor.u32()?, cursor.u8()?);
        let commit_id = if flags & FLAG_GROUP_COMMIT_ID != 0 { Some(cursor.u64()?) } else { None };
        Ok(MariaGtid { seq_no, domain_id, flags, commit_id })
    }

    /// Whether the group is one statement without a commit event behind it.
    pub fn is_standalone(&self) -> bool {
        self.flags & 1 != 0
    }

    /// The flags in words, as MariaDB's tools print them.
    pub fn flag_words(&self) -> String {
        let words = [
            (FLAG_GROUP_COMMIT_ID, "cid"),
            (32, "ddl"),
            (4, "trans"),
            (16, "waited"),
            (FLAG_PREPARED_XA, "prepared XA"),
            (FLAG_COMPLETED_XA, "completed XA"),
        ];
        let mut text = String::new();
        for (flag, word) in words {
            if self.flags & flag == 0 {
                continue;
            }
            text.push(' ');
            match (flag, self.commit_id) {
                (FLAG_GROUP_COMMIT_ID, Some(id)) => text.push_str(&format!("cid={id}")),
                _ => text.push_str(word),
            }
        }
        text
    }
}

/// MariaDB's GTID_LIST: what was in the files before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MariaGtidList {
    /// Domain, server and number; several per domain, the last is the newest.
    pub gtids: Vec<(u32, u32, u64)>,
}

impl MariaGtidList {
    /// Reads the body.
    pub fn decode(body: &[u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "GTID_LIST");
        let count = cursor.u32()? & 0x0fff_ffff;
        let mut gtids = Vec::new();
        for _ in 0..count {
            gtids.push((cursor.u32()?, cursor.u32()?, cursor.u64()?));
        }
        Ok(MariaGtidList { gtids })
    }
}

/// The file name in a BINLOG_CHECKPOINT.
pub fn decode_binlog_checkpoint(body: &[u8]) -> Result<String, DecodeError> {
    let mut cursor = Cursor::new(body, "BINLOG_CHECKPOINT");
    let len = cursor.u32()? as usize;
    Ok(String::from_utf8_lossy(cursor.take(len)?).into_owned())
}
