//! QUERY: a statement as text. In commuter's own log: `BEGIN` in front of rows, and DDL.
//!
//! ```text
//! | thread id u32 | exec time u32 | schema length u8 | error code u16 | status length u16 | status variables … |
//! | schema, NUL | statement … |
//! ```
//! Status variables are a code and a value each, whose length depends on the code: a reader stops at the first code
//! it does not know, so they are written in ascending order.

use super::status::StatusVars;
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

/// The 13 bytes in front of a QUERY (and of an EXECUTE_LOAD_QUERY).
pub(super) struct QueryHead {
    thread_id: u32,
    exec_time: u32,
    schema_len: u8,
    error_code: u16,
    status_len: u16,
}

impl QueryHead {
    pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<Self, DecodeError> {
        Ok(QueryHead {
            thread_id: cursor.u32()?,
            exec_time: cursor.u32()?,
            schema_len: cursor.u8()?,
            error_code: cursor.u16()?,
            status_len: cursor.u16()?,
        })
    }

    /// Takes what the head announces, and the statement.
    pub(super) fn rest<'a>(&self, cursor: &mut Cursor<'a>) -> Result<QueryEvent<'a>, DecodeError> {
        let QueryHead { thread_id, exec_time, error_code, .. } = *self;
        let status = cursor.take(self.status_len.into())?;
        let schema = cursor.take(self.schema_len.into())?;
        cursor.take(1)?;
        Ok(QueryEvent { thread_id, exec_time, error_code, status, schema, sql: cursor.rest() })
    }
}

impl<'a> QueryEvent<'a> {
    /// Reads the body.
    pub fn decode(body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "QUERY");
        let head = QueryHead::decode(&mut cursor)?;
        head.rest(&mut cursor)
    }

    /// Appends the body. A schema has at most 255 bytes, status variables together 65,535; what is longer is cut, because
    /// the format has no room for it.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        self.encode_head(out);
        self.encode_rest(out);
    }

    fn lengths(&self) -> (u8, u16) {
        (self.schema.len().min(255) as u8, self.status.len().min(usize::from(u16::MAX)) as u16)
    }

    pub(super) fn encode_head(&self, out: &mut Vec<u8>) {
        let (schema_len, status_len) = self.lengths();
        out.extend_from_slice(&self.thread_id.to_le_bytes());
        out.extend_from_slice(&self.exec_time.to_le_bytes());
        out.push(schema_len);
        out.extend_from_slice(&self.error_code.to_le_bytes());
        out.extend_from_slice(&status_len.to_le_bytes());
    }

    pub(super) fn encode_rest(&self, out: &mut Vec<u8>) {
        let (schema_len, status_len) = self.lengths();
        out.extend_from_slice(&self.status[..status_len.into()]);
        out.extend_from_slice(&self.schema[..schema_len.into()]);
        out.push(0);
        out.extend_from_slice(self.sql);
    }

    /// The status variables that are most asked for.
    pub fn status(&self) -> StatusVars {
        StatusVars::of(self.status)
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
