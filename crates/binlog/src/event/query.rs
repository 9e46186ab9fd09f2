//! QUERY: a statement as text. In commuter's own log: `BEGIN` in front of rows, and DDL.
//!
//! ```text
//! | thread id u32 | exec time u32 | schema length u8 | error code u16 | status length u16 | status variables … |
//! | schema, NUL | statement … |
//! ```
//! Status variables are a code and a value each, whose length depends on the code: a reader stops at the first code
//! it does not know, so they are written in ascending order.

use super::{EventType, Frame, put_event};
use crate::cursor::Cursor;
use crate::error::DecodeError;

/// Session state that a statement's meaning depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryContext {
    /// `CONNECTION_ID()`.
    pub thread_id: u32,
    /// When the statement began, seconds since 1970.
    pub timestamp: u32,
    /// Fraction of `timestamp`, microseconds; written only if not 0.
    pub microseconds: u32,
    /// Default database; empty for none.
    pub schema: String,
    /// As MySQL's bits.
    pub sql_mode: u64,
    /// Bits of OPTION_AUTO_IS_NULL (1<<14), OPTION_NOT_AUTOCOMMIT (1<<19), OPTION_NO_FOREIGN_KEY_CHECKS (1<<26),
    /// OPTION_RELAXED_UNIQUE_CHECKS (1<<27).
    pub flags2: u32,
    /// Collation ids: `character_set_client`, `collation_connection`, `collation_server`.
    pub charsets: [u16; 3],
    /// `time_zone`, if the statement depends on it.
    pub time_zone: Option<String>,
    /// `auto_increment_increment` and `_offset` if they are not both 1.
    pub auto_increment: Option<(u16, u16)>,
    /// `default_collation_for_utf8mb4`.
    pub default_collation_for_utf8mb4: u16,
}

/// MySQL's default `sql_mode`: ONLY_FULL_GROUP_BY, STRICT_TRANS_TABLES, NO_ZERO_IN_DATE, NO_ZERO_DATE,
/// ERROR_FOR_DIVISION_BY_ZERO, NO_ENGINE_SUBSTITUTION.
const DEFAULT_SQL_MODE: u64 = 0x20 | 1 << 21 | 1 << 23 | 1 << 24 | 1 << 26 | 1 << 30;
/// utf8mb4_0900_ai_ci.
const DEFAULT_COLLATION: u16 = 255;

impl Default for QueryContext {
    /// A session in which nothing was set.
    fn default() -> Self {
        QueryContext {
            thread_id: 0,
            timestamp: 0,
            microseconds: 0,
            schema: String::new(),
            sql_mode: DEFAULT_SQL_MODE,
            flags2: 0,
            charsets: [DEFAULT_COLLATION; 3],
            time_zone: None,
            auto_increment: None,
            default_collation_for_utf8mb4: DEFAULT_COLLATION,
        }
    }
}

impl QueryContext {
    /// Appends a QUERY. `updated_schemas` are those that the statement changes (DDL), for replicas that run schemas
    /// in parallel.
    pub(crate) fn encode(&self, out: &mut Vec<u8>, server_id: u32, sql: &[u8], updated_schemas: &[&str]) {
        let flags = if sql == b"BEGIN" { super::FLAG_SUPPRESS_USE } else { 0 };
        let frame = Frame { timestamp: self.timestamp, server_id, flags };
        put_event(out, EventType::QUERY, frame, |out| {
            let schema = &self.schema.as_bytes()[..self.schema.len().min(255)];
            out.extend_from_slice(&self.thread_id.to_le_bytes());
            out.extend_from_slice(&[0; 4]);
            out.push(schema.len() as u8);
            out.extend_from_slice(&[0; 2]);
            let length_at = out.len();
            out.extend_from_slice(&[0; 2]);
            self.encode_status(out, updated_schemas);
            let status_len = (out.len() - length_at - 2) as u16;
            out[length_at..length_at + 2].copy_from_slice(&status_len.to_le_bytes());
            out.extend_from_slice(schema);
            out.push(0);
            out.extend_from_slice(sql);
        });
    }

    fn encode_status(&self, out: &mut Vec<u8>, updated_schemas: &[&str]) {
        let put = |out: &mut Vec<u8>, code: u8, value: &[u8]| {
            out.push(code);
            out.extend_from_slice(value);
        };
        put(out, 0, &self.flags2.to_le_bytes());
        put(out, 1, &self.sql_mode.to_le_bytes());
        if let Some((increment, offset)) = self.auto_increment {
            put(out, 3, &increment.to_le_bytes());
            out.extend_from_slice(&offset.to_le_bytes());
        }
        out.push(4);
        self.charsets.iter().for_each(|id| out.extend_from_slice(&id.to_le_bytes()));
        if let Some(zone) = self.time_zone.as_deref().filter(|zone| zone.len() <= 255) {
            put(out, 5, &[zone.len() as u8]);
            out.extend_from_slice(zone.as_bytes());
        }
        // MySQL writes the catalog "std" with every statement, and its tools expect a catalog to be there.
        put(out, 6, b"\x03std");
        if !updated_schemas.is_empty() {
            const TOO_MANY: u8 = 254;
            const MOST: usize = 16;
            if updated_schemas.len() > MOST {
                put(out, 12, &[TOO_MANY]);
            } else {
                put(out, 12, &[updated_schemas.len() as u8]);
                for schema in updated_schemas {
                    out.extend_from_slice(schema.as_bytes());
                    out.push(0);
                }
            }
        }
        if self.microseconds != 0 {
            put(out, 13, &self.microseconds.to_le_bytes()[..3]);
        }
        put(out, 18, &self.default_collation_for_utf8mb4.to_le_bytes());
    }
}

/// A decoded QUERY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryEvent<'a> {
    /// The connection it came from.
    pub thread_id: u32,
    /// Seconds that it took.
    pub exec_time: u32,
    /// Error that it had on the source.
    pub error_code: u16,
    /// Raw status variables; see [`QueryEvent::status`].
    pub status: &'a [u8],
    /// Default database.
    pub schema: &'a [u8],
    /// The statement.
    pub sql: &'a [u8],
}

impl<'a> QueryEvent<'a> {
    /// Reads the body.
    pub fn decode(body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "QUERY");
        let (thread_id, exec_time) = (cursor.u32()?, cursor.u32()?);
        let schema_len = cursor.u8()?;
        let error_code = cursor.u16()?;
        let status_len = cursor.u16()?;
        let status = cursor.take(status_len.into())?;
        let schema = cursor.take(schema_len.into())?;
        cursor.take(1)?;
        Ok(QueryEvent { thread_id, exec_time, error_code, status, schema, sql: cursor.rest() })
    }

    /// The status variables that we know.
    pub fn status(&self) -> StatusVars {
        let mut vars = StatusVars::default();
        let mut cursor = Cursor::new(self.status, "status variables");
        // Like every reader, stop at what is not understood; the rest of the event stays valid.
        while !cursor.is_empty() && vars.decode_one(&mut cursor).is_ok() {}
        vars
    }

    /// Whether it opens a transaction that a later event ends.
    pub fn begins_transaction(&self) -> bool {
        self.sql == b"BEGIN" || self.sql.starts_with(b"XA START")
    }

    /// Whether it ends the transaction that a `BEGIN` opened.
    pub fn ends_transaction(&self) -> bool {
        self.sql.eq_ignore_ascii_case(b"COMMIT") || self.sql.eq_ignore_ascii_case(b"ROLLBACK")
    }
}

/// Decoded status variables of a QUERY.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusVars {
    /// Code 0.
    pub flags2: Option<u32>,
    /// Code 1.
    pub sql_mode: Option<u64>,
    /// Code 3.
    pub auto_increment: Option<(u16, u16)>,
    /// Code 4.
    pub charsets: Option<[u16; 3]>,
    /// Code 5.
    pub time_zone: Option<String>,
    /// Code 7.
    pub lc_time_names: Option<u16>,
    /// Code 8.
    pub charset_database: Option<u16>,
    /// Code 12; `None` also for "too many".
    pub updated_schemas: Option<Vec<String>>,
    /// Code 13 (MySQL), 128 (MariaDB).
    pub microseconds: Option<u32>,
    /// Code 16.
    pub explicit_defaults_for_timestamp: Option<bool>,
    /// Code 17 (MySQL), 129 (MariaDB).
    pub xid: Option<u64>,
    /// Code 18.
    pub default_collation_for_utf8mb4: Option<u16>,
}

impl StatusVars {
    fn decode_one(&mut self, cursor: &mut Cursor<'_>) -> Result<(), DecodeError> {
        match cursor.u8()? {
            0 => self.flags2 = Some(cursor.u32()?),
            1 => self.sql_mode = Some(cursor.u64()?),
            2 => drop((cursor.bytes8()?, cursor.u8()?)),
            3 => self.auto_increment = Some((cursor.u16()?, cursor.u16()?)),
            4 => self.charsets = Some([cursor.u16()?, cursor.u16()?, cursor.u16()?]),
            5 => self.time_zone = Some(String::from_utf8_lossy(cursor.bytes8()?).into_owned()),
            6 => drop(cursor.bytes8()?),
            7 => self.lc_time_names = Some(cursor.u16()?),
            8 => self.charset_database = Some(cursor.u16()?),
            9 | 14 | 15 => drop(cursor.u64()?),
            10 => drop(cursor.u32()?),
            11 => drop((cursor.bytes8()?, cursor.bytes8()?)),
            12 => self.updated_schemas = decode_schemas(cursor)?,
            13 | 128 => self.microseconds = Some(cursor.uint(3)? as u32),
            16 => self.explicit_defaults_for_timestamp = Some(cursor.u8()? != 0),
            17 | 129 => self.xid = Some(cursor.u64()?),
            18 => self.default_collation_for_utf8mb4 = Some(cursor.u16()?),
            19 | 20 => drop(cursor.u8()?),
            130 => {
                if cursor.u8()? & 0x0c != 0 {
                    cursor.u64()?;
                }
            }
            131 => {
                let count = cursor.u8()?;
                cursor.take(usize::from(count) * 4)?;
            }
            other => return Err(DecodeError::new(format!("unknown status variable {other}"))),
        }
        Ok(())
    }
}

fn decode_schemas(cursor: &mut Cursor<'_>) -> Result<Option<Vec<String>>, DecodeError> {
    let count = cursor.u8()?;
    if count == 254 {
        return Ok(None);
    }
    let mut schemas = Vec::new();
    for _ in 0..count {
        let len = cursor.rest().iter().position(|&b| b == 0).ok_or_else(|| DecodeError::short("schema name"))?;
        schemas.push(String::from_utf8_lossy(cursor.take(len)?).into_owned());
        cursor.take(1)?;
    }
    Ok(Some(schemas))
}
