//! LOAD DATA as a statement: the file goes ahead in blocks, then the statement that reads it.
//!
//! ```text
//! BEGIN_LOAD_QUERY    | file id u32 | first block … |
//! APPEND_BLOCK        | file id u32 | block … |
//! EXECUTE_LOAD_QUERY  | head of a QUERY, 13 bytes | file id u32 | name from u32 | name to u32 | duplicates u8 |
//!                     | the rest of a QUERY … |
//! DELETE_FILE         | file id u32 |
//! ```
//! The statement fails or succeeds as a whole; DELETE_FILE in its place says that nothing came of it.

use super::query::{QueryEvent, QueryHead};
use crate::cursor::Cursor;
use crate::error::DecodeError;

/// BEGIN_LOAD_QUERY or APPEND_BLOCK: a part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileBlock<'a> {
    /// Tells files that are loaded at once apart.
    pub file_id: u32,
    /// The next bytes of the file.
    pub block: &'a [u8],
}

impl<'a> FileBlock<'a> {
    /// Reads the body.
    pub fn decode(body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "block of a file");
        Ok(FileBlock { file_id: cursor.u32()?, block: cursor.rest() })
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.file_id.to_le_bytes());
        out.extend_from_slice(self.block);
    }
}

/// The file id that is the body of a DELETE_FILE (and of the obsolete EXEC_LOAD).
pub fn decode_file_id(body: &[u8]) -> Result<u32, DecodeError> {
    Cursor::new(body, "file id").u32()
}

/// EXECUTE_LOAD_QUERY: the statement, and which of its characters are the file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecuteLoadQuery<'a> {
    /// The statement.
    pub query: QueryEvent<'a>,
    /// Of the blocks before.
    pub file_id: u32,
    /// Where the file's name begins in the statement, in bytes; the word LOCAL may be part of it.
    pub name_start: u32,
    /// Where it ends.
    pub name_end: u32,
    /// 0: duplicates are errors; 1: IGNORE; 2: REPLACE.
    pub duplicates: u8,
}

impl<'a> ExecuteLoadQuery<'a> {
    /// Reads the body.
    pub fn decode(body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "EXECUTE_LOAD_QUERY");
        let head = QueryHead::decode(&mut cursor)?;
        let (file_id, name_start, name_end) = (cursor.u32()?, cursor.u32()?, cursor.u32()?);
        let duplicates = cursor.u8()?;
        Ok(ExecuteLoadQuery { query: head.rest(&mut cursor)?, file_id, name_start, name_end, duplicates })
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        self.query.encode_head(out);
        out.extend_from_slice(&self.file_id.to_le_bytes());
        out.extend_from_slice(&self.name_start.to_le_bytes());
        out.extend_from_slice(&self.name_end.to_le_bytes());
        out.push(self.duplicates);
        self.query.encode_rest(out);
    }
}
