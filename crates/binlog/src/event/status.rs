//! Status variables of a QUERY: the session's state that the statement's meaning depends on.
//!
//! Each is a code and a value, whose length depends on the code, so a reader ends at the first code that it does not know.
//! Codes from 128 on are MariaDB's. Servers write them in ascending order, but for the catalog, which they write behind
//! `sql_mode`, and `character_set_collations`, which MariaDB writes in front of the character sets.

use crate::cursor::{Cursor, put_bytes8};
use crate::error::DecodeError;

/// In place of the number of schemas: more than a server names.
const TOO_MANY_SCHEMAS: u8 = 254;
/// MariaDB's flags that a number follows: COMMIT ALTER and ROLLBACK ALTER.
const ALTER_ENDS: u8 = 4 | 8;

/// Bits of [`StatusVar::Flags2`]. Of what is on by default they say that it is off.
pub mod flags2 {
    /// `sql_auto_is_null`
    pub const AUTO_IS_NULL: u32 = 1 << 14;
    /// Not `check_constraint_checks`: MariaDB's, as all that follow but two.
    pub const NO_CHECK_CONSTRAINTS: u32 = 1 << 15;
    /// `explicit_defaults_for_timestamp`, which MySQL says elsewhere.
    pub const EXPLICIT_DEFAULTS: u32 = 1 << 24;
    /// Not `foreign_key_checks`, of both.
    pub const NO_FOREIGN_KEY_CHECKS: u32 = 1 << 26;
    /// Not `unique_checks`, of both.
    pub const RELAXED_UNIQUE_CHECKS: u32 = 1 << 27;
    /// `sql_if_exists`
    pub const IF_EXISTS: u32 = 1 << 28;
    /// `system_versioning_insert_history`
    pub const INSERT_HISTORY: u32 = 1 << 30;
}

/// One status variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatusVar<'a> {
    /// 0: bits of options, see [`flags2`].
    Flags2(u32),
    /// 1: bits of `sql_mode`.
    SqlMode(u64),
    /// 2: the catalog with a NUL behind it (before MySQL 5.0.4).
    CatalogNul(&'a [u8]),
    /// 3: `auto_increment_increment` and `_offset`.
    AutoIncrement(u16, u16),
    /// 4: collation ids of `character_set_client`, `collation_connection`, `collation_server`.
    Charsets([u16; 3]),
    /// 5: `time_zone`.
    TimeZone(&'a [u8]),
    /// 6: the catalog; always `std`.
    Catalog(&'a [u8]),
    /// 7: number of `lc_time_names`.
    LcTimeNames(u16),
    /// 8: collation id of `collation_database`.
    CharsetDatabase(u16),
    /// 9: bits of the tables that an UPDATE of several tables changes.
    TableMapForUpdate(u64),
    /// 10: length of the event on its first source.
    SourceDataWritten(u32),
    /// 11: user and host for which an object is defined.
    Invoker {
        /// Name.
        user: &'a [u8],
        /// May be empty (roles).
        host: &'a [u8],
    },
    /// 12: schemas that the statement changes; `None`: too many to be named.
    UpdatedSchemas(Option<Vec<&'a [u8]>>),
    /// 13: fraction of the timestamp, 24 bits.
    Microseconds(u32),
    /// 14: a logical clock of early versions of MySQL 5.7.
    CommitTimestamp(u64),
    /// 15: another.
    CommitTimestamp2(u64),
    /// 16: `explicit_defaults_for_timestamp`.
    ExplicitDefaultsForTimestamp(bool),
    /// 17: the XID of a DDL statement, which has no XID event.
    DdlXid(u64),
    /// 18: collation id of `default_collation_for_utf8mb4`.
    DefaultCollationForUtf8mb4(u16),
    /// 19: `sql_require_primary_key`.
    RequirePrimaryKey(u8),
    /// 20: `default_table_encryption`.
    DefaultTableEncryption(u8),
    /// 21: `enable_cascade_triggers` (MySQL 9.7).
    EnableCascadeTriggers(u8),
    /// 128 (MariaDB): fraction of the timestamp, 24 bits.
    MariaMicroseconds(u32),
    /// 129 (MariaDB): XID of a DDL statement.
    MariaXid(u64),
    /// 130 (MariaDB): what [`super::MariaGtid::extra`] says of an ALTER in two phases, repeated.
    MariaAlter {
        /// 2 START, 4 COMMIT, 8 ROLLBACK.
        flags: u8,
        /// The number of the GTID that started it, for the latter two.
        start_seq_no: Option<u64>,
    },
    /// 131 (MariaDB): `character_set_collations`: ids of a character set and of its collation.
    CharacterSetCollations(Vec<(u16, u16)>),
    /// A code that is not known (or a value that is cut off), and all that is behind it.
    Unknown(&'a [u8]),
}

impl<'a> StatusVar<'a> {
    /// All of them, in their order. Whatever is not understood is the last one, [`StatusVar::Unknown`].
    pub fn decode_all(status: &'a [u8]) -> Vec<Self> {
        let mut vars = Vec::new();
        let mut cursor = Cursor::new(status, "status variables");
        while !cursor.is_empty() {
            let rest = cursor.rest();
            // Like every reader, stop at what is not understood; the rest of the event stays valid.
            match Self::decode(&mut cursor) {
                Ok(var) => vars.push(var),
                Err(_) => {
                    vars.push(StatusVar::Unknown(rest));
                    break;
                }
            }
        }
        vars
    }

    /// Appends them in ascending order of their codes, so that readers which know only the older ones get those.
    pub fn encode_all(vars: &[Self], out: &mut Vec<u8>) {
        let mut sorted: Vec<&Self> = vars.iter().collect();
        sorted.sort_by_key(|var| var.code());
        sorted.into_iter().for_each(|var| var.encode(out));
    }

    fn decode(cursor: &mut Cursor<'a>) -> Result<Self, DecodeError> {
        Ok(match cursor.u8()? {
            0 => StatusVar::Flags2(cursor.u32()?),
            1 => StatusVar::SqlMode(cursor.u64()?),
            2 => {
                let catalog = cursor.bytes8()?;
                match cursor.u8()? {
                    0 => StatusVar::CatalogNul(catalog),
                    _ => return Err(DecodeError::new("catalog without its NUL")),
                }
            }
            3 => StatusVar::AutoIncrement(cursor.u16()?, cursor.u16()?),
            4 => StatusVar::Charsets([cursor.u16()?, cursor.u16()?, cursor.u16()?]),
            5 => StatusVar::TimeZone(cursor.bytes8()?),
            6 => StatusVar::Catalog(cursor.bytes8()?),
            7 => StatusVar::LcTimeNames(cursor.u16()?),
            8 => StatusVar::CharsetDatabase(cursor.u16()?),
            9 => StatusVar::TableMapForUpdate(cursor.u64()?),
            10 => StatusVar::SourceDataWritten(cursor.u32()?),
            11 => StatusVar::Invoker { user: cursor.bytes8()?, host: cursor.bytes8()? },
            12 => StatusVar::UpdatedSchemas(decode_schemas(cursor)?),
            13 => StatusVar::Microseconds(cursor.uint(3)? as u32),
            14 => StatusVar::CommitTimestamp(cursor.u64()?),
            15 => StatusVar::CommitTimestamp2(cursor.u64()?),
            16 => StatusVar::ExplicitDefaultsForTimestamp(cursor.u8()? != 0),
            17 => StatusVar::DdlXid(cursor.u64()?),
            18 => StatusVar::DefaultCollationForUtf8mb4(cursor.u16()?),
            19 => StatusVar::RequirePrimaryKey(cursor.u8()?),
            20 => StatusVar::DefaultTableEncryption(cursor.u8()?),
            21 => StatusVar::EnableCascadeTriggers(cursor.u8()?),
            128 => StatusVar::MariaMicroseconds(cursor.uint(3)? as u32),
            129 => StatusVar::MariaXid(cursor.u64()?),
            130 => {
                let flags = cursor.u8()?;
                let start_seq_no = if flags & ALTER_ENDS != 0 { Some(cursor.u64()?) } else { None };
                StatusVar::MariaAlter { flags, start_seq_no }
            }
            131 => {
                let mut pairs = Vec::new();
                for _ in 0..cursor.u8()? {
                    pairs.push((cursor.u16()?, cursor.u16()?));
                }
                StatusVar::CharacterSetCollations(pairs)
            }
            other => return Err(DecodeError::new(format!("unknown status variable {other}"))),
        })
    }

    /// Its number in the format; of what is not known the number that it has there.
    pub fn code(&self) -> u8 {
        match self {
            StatusVar::Flags2(_) => 0,
            StatusVar::SqlMode(_) => 1,
            StatusVar::CatalogNul(_) => 2,
            StatusVar::AutoIncrement(..) => 3,
            StatusVar::Charsets(_) => 4,
            StatusVar::TimeZone(_) => 5,
            StatusVar::Catalog(_) => 6,
            StatusVar::LcTimeNames(_) => 7,
            StatusVar::CharsetDatabase(_) => 8,
            StatusVar::TableMapForUpdate(_) => 9,
            StatusVar::SourceDataWritten(_) => 10,
            StatusVar::Invoker { .. } => 11,
            StatusVar::UpdatedSchemas(_) => 12,
            StatusVar::Microseconds(_) => 13,
            StatusVar::CommitTimestamp(_) => 14,
            StatusVar::CommitTimestamp2(_) => 15,
            StatusVar::ExplicitDefaultsForTimestamp(_) => 16,
            StatusVar::DdlXid(_) => 17,
            StatusVar::DefaultCollationForUtf8mb4(_) => 18,
            StatusVar::RequirePrimaryKey(_) => 19,
            StatusVar::DefaultTableEncryption(_) => 20,
            StatusVar::EnableCascadeTriggers(_) => 21,
            StatusVar::MariaMicroseconds(_) => 128,
            StatusVar::MariaXid(_) => 129,
            StatusVar::MariaAlter { .. } => 130,
            StatusVar::CharacterSetCollations(_) => 131,
            StatusVar::Unknown(bytes) => bytes.first().copied().unwrap_or(u8::MAX),
        }
    }

    /// Appends code and value. Texts have at most 255 bytes, lists at most 253 schemas or 255 pairs; what is more is cut.
    pub fn encode(&self, out: &mut Vec<u8>) {
        if let StatusVar::Unknown(bytes) = self {
            return out.extend_from_slice(bytes);
        }
        out.push(self.code());
        match self {
            StatusVar::Flags2(value) | StatusVar::SourceDataWritten(value) => {
                out.extend_from_slice(&value.to_le_bytes());
            }
            StatusVar::SqlMode(value)
            | StatusVar::TableMapForUpdate(value)
            | StatusVar::CommitTimestamp(value)
            | StatusVar::CommitTimestamp2(value)
            | StatusVar::DdlXid(value)
            | StatusVar::MariaXid(value) => out.extend_from_slice(&value.to_le_bytes()),
            StatusVar::LcTimeNames(value)
            | StatusVar::CharsetDatabase(value)
            | StatusVar::DefaultCollationForUtf8mb4(value) => out.extend_from_slice(&value.to_le_bytes()),
            StatusVar::Microseconds(value) | StatusVar::MariaMicroseconds(value) => {
                out.extend_from_slice(&value.to_le_bytes()[..3]);
            }
            StatusVar::RequirePrimaryKey(value)
            | StatusVar::DefaultTableEncryption(value)
            | StatusVar::EnableCascadeTriggers(value) => out.push(*value),
            StatusVar::ExplicitDefaultsForTimestamp(value) => out.push((*value).into()),
            StatusVar::TimeZone(text) | StatusVar::Catalog(text) => put_bytes8(out, text),
            StatusVar::CatalogNul(text) => {
                put_bytes8(out, text);
                out.push(0);
            }
            StatusVar::AutoIncrement(increment, offset) => put_u16s(out, &[*increment, *offset]),
            StatusVar::Charsets(ids) => put_u16s(out, ids),
            StatusVar::Invoker { user, host } => {
                put_bytes8(out, user);
                put_bytes8(out, host);
            }
            StatusVar::UpdatedSchemas(schemas) => put_schemas(out, schemas.as_deref()),
            StatusVar::MariaAlter { flags, start_seq_no } => {
                out.push(*flags);
                if flags & ALTER_ENDS != 0 {
                    out.extend_from_slice(&start_seq_no.unwrap_or(0).to_le_bytes());
                }
            }
            StatusVar::CharacterSetCollations(pairs) => {
                let pairs = &pairs[..pairs.len().min(255)];
                out.push(pairs.len() as u8);
                pairs.iter().for_each(|&(charset, collation)| put_u16s(out, &[charset, collation]));
            }
            // Written above.
            StatusVar::Unknown(_) => {}
        }
    }
}

fn put_u16s(out: &mut Vec<u8>, values: &[u16]) {
    values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
}

fn put_schemas(out: &mut Vec<u8>, schemas: Option<&[&[u8]]>) {
    let Some(schemas) = schemas else { return out.push(TOO_MANY_SCHEMAS) };
    let schemas = &schemas[..schemas.len().min(usize::from(TOO_MANY_SCHEMAS) - 1)];
    out.push(schemas.len() as u8);
    for schema in schemas {
        out.extend_from_slice(schema);
        out.push(0);
    }
}

fn decode_schemas<'a>(cursor: &mut Cursor<'a>) -> Result<Option<Vec<&'a [u8]>>, DecodeError> {
    let count = cursor.u8()?;
    if count == TOO_MANY_SCHEMAS {
        return Ok(None);
    }
    let mut schemas = Vec::new();
    for _ in 0..count {
        schemas.push(cursor.null_terminated()?);
    }
    Ok(Some(schemas))
}

/// The status variables that are most asked for, by name.
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
    /// Code 131 (MariaDB).
    pub character_set_collations: Vec<(u16, u16)>,
}

impl StatusVars {
    /// Of the raw status variables.
    pub fn of(status: &[u8]) -> Self {
        let mut vars = StatusVars::default();
        let mut cursor = Cursor::new(status, "status variables");
        while !cursor.is_empty() {
            let Ok(var) = StatusVar::decode(&mut cursor) else { break };
            vars.take(var);
        }
        vars
    }

    /// utf8mb3, by the number of its first collation.
    pub const UTF8MB3: u16 = 33;
    /// utf8mb4, by the number of its first collation.
    pub const UTF8MB4: u16 = 45;

    /// The collation that a character set has where none is said. The set is named by its first one, which is also what it was before servers
    /// wrote what they have: MySQL since 8.0, MariaDB since 11.3.
    pub fn default_collation(&self, charset: u16) -> u16 {
        let pair = self.character_set_collations.iter().find(|(first, _)| *first == charset);
        let own = self.default_collation_for_utf8mb4.filter(|_| charset == Self::UTF8MB4);
        pair.map(|(_, default)| *default).or(own).unwrap_or(charset)
    }

    fn take(&mut self, var: StatusVar<'_>) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match var {
            StatusVar::Flags2(value) => self.flags2 = Some(value),
            StatusVar::SqlMode(value) => self.sql_mode = Some(value),
            StatusVar::AutoIncrement(increment, offset) => self.auto_increment = Some((increment, offset)),
            StatusVar::Charsets(ids) => self.charsets = Some(ids),
            StatusVar::TimeZone(zone) => self.time_zone = Some(text(zone)),
            StatusVar::LcTimeNames(value) => self.lc_time_names = Some(value),
            StatusVar::CharsetDatabase(value) => self.charset_database = Some(value),
            StatusVar::UpdatedSchemas(schemas) => {
                self.updated_schemas = schemas.map(|all| all.iter().map(|schema| text(schema)).collect());
            }
            StatusVar::Microseconds(value) | StatusVar::MariaMicroseconds(value) => self.microseconds = Some(value),
            StatusVar::ExplicitDefaultsForTimestamp(value) => self.explicit_defaults_for_timestamp = Some(value),
            StatusVar::DdlXid(value) | StatusVar::MariaXid(value) => self.xid = Some(value),
            StatusVar::DefaultCollationForUtf8mb4(value) => self.default_collation_for_utf8mb4 = Some(value),
            StatusVar::CharacterSetCollations(pairs) => self.character_set_collations = pairs,
            _ => {}
        }
    }
}
