//! Events that no server of today writes, as the older ones wrote them: START_V3, SLAVE, and LOAD DATA before MySQL 5.0.3.
//!
//! ```text
//! START_V3    | binlog version u16 | server version char[50] | created u32 |
//! SLAVE       | position u64 | port u16 | host, NUL | name of the log, NUL |
//! LOAD        | thread id u32 | exec time u32 | skipped lines u32 | length of table u8, of schema u8 | fields u32 |
//!             | format | length u8 of each field's name | names, NUL each | table, NUL | schema, NUL | file |
//! NEW_LOAD    | the same |
//! CREATE_FILE | head of LOAD | file id u32 | the rest of LOAD, with a NUL behind the file | first block … |
//! EXEC_LOAD   | file id u32 |
//! ```
//! `format` is a byte each of field terminator, enclosing, line terminator, line start and escape, options, and which of them
//! are empty (LOAD); or a length u8 and bytes for each of the five, and options (NEW_LOAD, CREATE_FILE).
//!
//! Rows events before MySQL 5.1.18 (types 20 to 22) had several layouts under one number, so they are refused by name.

use super::EventType;
use crate::cursor::{Cursor, put_bytes8};
use crate::error::DecodeError;

/// Length of the zero-padded version string.
const VERSION_SIZE: usize = 50;

/// START_V3: what FORMAT_DESCRIPTION was before MySQL 5.0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartV3 {
    /// 1 or 3.
    pub binlog_version: u16,
    /// As 4.1.22.
    pub server_version: String,
    /// Seconds since 1970.
    pub created: u32,
}

impl StartV3 {
    /// Bytes of the body.
    pub(crate) const BODY_SIZE: usize = 2 + VERSION_SIZE + 4;

    /// Reads the body.
    pub fn decode(body: &[u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "START_V3");
        let binlog_version = cursor.u16()?;
        let padded = cursor.take(VERSION_SIZE)?;
        let end = padded.iter().position(|&b| b == 0).unwrap_or(padded.len());
        let server_version = String::from_utf8_lossy(&padded[..end]).into_owned();
        Ok(StartV3 { binlog_version, server_version, created: cursor.u32()? })
    }

    /// Appends the body; the version has at most 50 bytes.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.binlog_version.to_le_bytes());
        let mut padded = [0; VERSION_SIZE];
        let len = self.server_version.len().min(VERSION_SIZE);
        padded[..len].copy_from_slice(&self.server_version.as_bytes()[..len]);
        out.extend_from_slice(&padded);
        out.extend_from_slice(&self.created.to_le_bytes());
    }
}

/// SLAVE: where a replica was in its source's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlavePosition<'a> {
    /// Offset in the source's file.
    pub position: u64,
    /// Of the source.
    pub port: u16,
    /// The source.
    pub host: &'a [u8],
    /// The source's file.
    pub log: &'a [u8],
}

impl<'a> SlavePosition<'a> {
    /// Reads the body.
    pub fn decode(body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "SLAVE");
        let (position, port, host) = (cursor.u64()?, cursor.u16()?, cursor.null_terminated()?);
        let log = cursor.rest();
        Ok(SlavePosition { position, port, host, log: log.strip_suffix(b"\0").unwrap_or(log) })
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.position.to_le_bytes());
        out.extend_from_slice(&self.port.to_le_bytes());
        for name in [self.host, self.log] {
            out.extend_from_slice(name);
            out.push(0);
        }
    }
}

/// LOAD, NEW_LOAD or CREATE_FILE: a LOAD DATA in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldLoad<'a> {
    /// LOAD, NEW_LOAD or CREATE_FILE.
    pub event_type: EventType,
    /// The connection it came from.
    pub thread_id: u32,
    /// Seconds that it took.
    pub exec_time: u32,
    /// `IGNORE n LINES`.
    pub skipped_lines: u32,
    /// Field terminator, enclosing, line terminator, line start, escape.
    pub separators: [&'a [u8]; 5],
    /// 1 dumpfile, 2 optionally enclosed, 4 REPLACE, 8 IGNORE.
    pub options: u8,
    /// Columns that are loaded; empty for all.
    pub fields: Vec<&'a [u8]>,
    /// Into which table.
    pub table: &'a [u8],
    /// Of which database.
    pub schema: &'a [u8],
    /// Name of the file.
    pub file: &'a [u8],
    /// CREATE_FILE: file id and first block.
    pub block: Option<(u32, &'a [u8])>,
}

impl<'a> OldLoad<'a> {
    /// Reads the body of a LOAD, NEW_LOAD or CREATE_FILE.
    pub fn decode(event_type: EventType, body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "LOAD");
        let (thread_id, exec_time, skipped_lines) = (cursor.u32()?, cursor.u32()?, cursor.u32()?);
        let (table_len, schema_len, field_count) = (cursor.u8()?, cursor.u8()?, cursor.u32()?);
        let is_create_file = event_type == EventType::CREATE_FILE;
        let file_id = if is_create_file { Some(cursor.u32()?) } else { None };
        let (separators, options) =
            if event_type == EventType::LOAD { short_format(&mut cursor)? } else { long_format(&mut cursor)? };
        let lengths = cursor.take(field_count as usize)?;
        let mut fields = Vec::with_capacity(lengths.len());
        for &len in lengths {
            fields.push(take_name(&mut cursor, len)?);
        }
        let (table, schema) = (take_name(&mut cursor, table_len)?, take_name(&mut cursor, schema_len)?);
        let file = if is_create_file { cursor.null_terminated()? } else { cursor.rest() };
        Ok(OldLoad {
            event_type,
            thread_id,
            exec_time,
            skipped_lines,
            separators,
            options,
            fields,
            table,
            schema,
            file,
            block: file_id.map(|file_id| (file_id, cursor.rest())),
        })
    }

    /// Appends the body. Names and separators have at most 255 bytes, separators of a LOAD one; what is longer is cut.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        for number in [self.thread_id, self.exec_time, self.skipped_lines] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend([self.table, self.schema].map(|name| name.len().min(255) as u8));
        out.extend_from_slice(&(self.fields.len() as u32).to_le_bytes());
        if let Some((file_id, _)) = self.block {
            out.extend_from_slice(&file_id.to_le_bytes());
        }
        if self.event_type == EventType::LOAD {
            out.extend(self.separators.map(|separator| separator.first().copied().unwrap_or(0)));
            let empty = (0..5).filter(|&i| self.separators[i].is_empty()).fold(0, |bits, i| bits | 1 << i);
            out.extend_from_slice(&[self.options, empty]);
        } else {
            self.separators.iter().for_each(|separator| put_bytes8(out, separator));
            out.push(self.options);
        }
        out.extend(self.fields.iter().map(|field| field.len().min(255) as u8));
        for name in self.fields.iter().chain([&self.table, &self.schema]) {
            out.extend_from_slice(&name[..name.len().min(255)]);
            out.push(0);
        }
        out.extend_from_slice(self.file);
        if let Some((_, block)) = self.block {
            out.push(0);
            out.extend_from_slice(block);
        }
    }
}

/// A name of known length and its NUL.
fn take_name<'a>(cursor: &mut Cursor<'a>, len: u8) -> Result<&'a [u8], DecodeError> {
    let name = cursor.take(len.into())?;
    cursor.u8()?;
    Ok(name)
}

fn short_format<'a>(cursor: &mut Cursor<'a>) -> Result<([&'a [u8]; 5], u8), DecodeError> {
    let bytes = cursor.take(5)?;
    let (options, empty) = (cursor.u8()?, cursor.u8()?);
    let separator = |i: usize| if empty >> i & 1 == 1 { &bytes[i..i] } else { &bytes[i..=i] };
    Ok(([separator(0), separator(1), separator(2), separator(3), separator(4)], options))
}

fn long_format<'a>(cursor: &mut Cursor<'a>) -> Result<([&'a [u8]; 5], u8), DecodeError> {
    let mut separators: [&[u8]; 5] = [&[]; 5];
    for separator in &mut separators {
        *separator = cursor.bytes8()?;
    }
    Ok((separators, cursor.u8()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(fields: u32) -> Vec<u8> {
        [&[7u8, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 4][..], &fields.to_le_bytes()].concat()
    }

    #[test]
    fn load_with_single_characters() {
        let body = [&head(2)[..], b",\"\n\0\\\x04\x08", &[1, 2], b"a\0bc\0t\0test\0/tmp/f"].concat();
        let load = OldLoad::decode(EventType::LOAD, &body).unwrap();
        assert_eq!((load.thread_id, load.exec_time, load.skipped_lines, load.options), (7, 1, 2, 4));
        assert_eq!(load.separators, [&b","[..], b"\"", b"\n", b"", b"\\"]);
        let mut again = Vec::new();
        load.encode_body(&mut again);
        assert_eq!(again, body);
        assert_eq!((load.fields, load.table, load.schema), (vec![&b"a"[..], b"bc"], &b"t"[..], &b"test"[..]));
        assert_eq!((load.file, load.block), (&b"/tmp/f"[..], None));
    }

    #[test]
    fn load_with_strings_and_its_first_block() {
        let format = b"\x02||\0\x01\n\0\x01\\\x08";
        let rest = [&format[..], b"t\0test\0/tmp/f"].concat();
        let body = [&head(0)[..], &rest].concat();
        let load = OldLoad::decode(EventType::NEW_LOAD, &body).unwrap();
        assert_eq!(load.separators, [&b"||"[..], b"", b"\n", b"", b"\\"]);
        assert_eq!((load.options, load.file), (8, &b"/tmp/f"[..]));
        let body = [&head(0)[..], &9u32.to_le_bytes(), &rest, b"\x001,2\n"].concat();
        let created = OldLoad::decode(EventType::CREATE_FILE, &body).unwrap();
        let event_type = EventType::CREATE_FILE;
        assert_eq!(created, OldLoad { event_type, block: Some((9, b"1,2\n")), ..load });
        let mut again = Vec::new();
        created.encode_body(&mut again);
        assert_eq!(again, body);
        assert!(OldLoad::decode(EventType::CREATE_FILE, &body[..30]).is_err());
    }

    #[test]
    fn starts_and_positions() {
        let mut body = vec![3, 0];
        body.extend_from_slice(b"4.1.22-log");
        body.resize(52, 0);
        body.extend_from_slice(&5u32.to_le_bytes());
        let start = StartV3::decode(&body).unwrap();
        assert_eq!((start.binlog_version, start.server_version.as_str(), start.created), (3, "4.1.22-log", 5));
        let body = [&4u64.to_le_bytes()[..], &3306u16.to_le_bytes(), b"host\0log.001\0"].concat();
        let at = SlavePosition::decode(&body).unwrap();
        assert_eq!((at.position, at.port, at.host, at.log), (4, 3306, &b"host"[..], &b"log.001"[..]));
    }
}
