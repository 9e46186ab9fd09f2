//! INTVAR, RAND and USER_VAR: values that the statement after them reads, so that it does the same everywhere.
//!
//! ```text
//! INTVAR    | kind u8 | value u64 |
//! RAND      | seed u64 | seed u64 |
//! USER_VAR  | name length u32, name | is_null u8 | [type u8 | collation u32 | length u32, value | [flags u8 | more …]] |
//! ```
//! Servers write a USER_VAR's flags behind numbers, and none behind strings.

use crate::cursor::{Cursor, put_bytes32};
use crate::error::DecodeError;

/// INTVAR: what LAST_INSERT_ID() gives, or the next AUTO_INCREMENT value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntVar {
    /// 1: LAST_INSERT_ID; 2: INSERT_ID.
    pub kind: u8,
    /// The value.
    pub value: u64,
}

impl IntVar {
    /// The kind that sets LAST_INSERT_ID().
    pub const LAST_INSERT_ID: u8 = 1;
    /// The kind that sets the next AUTO_INCREMENT value.
    pub const INSERT_ID: u8 = 2;

    /// Reads the body.
    pub fn decode(body: &[u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "INTVAR");
        Ok(IntVar { kind: cursor.u8()?, value: cursor.u64()? })
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        out.push(self.kind);
        out.extend_from_slice(&self.value.to_le_bytes());
    }

    /// The variable's name.
    pub fn name(&self) -> &'static str {
        match self.kind {
            Self::LAST_INSERT_ID => "LAST_INSERT_ID",
            Self::INSERT_ID => "INSERT_ID",
            _ => "INVALID_INT",
        }
    }
}

/// RAND: the seeds of RAND().
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandSeeds {
    /// `rand_seed1` and `rand_seed2`.
    pub seeds: [u64; 2],
}

impl RandSeeds {
    /// Reads the body.
    pub fn decode(body: &[u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "RAND");
        Ok(RandSeeds { seeds: [cursor.u64()?, cursor.u64()?] })
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        self.seeds.iter().for_each(|seed| out.extend_from_slice(&seed.to_le_bytes()));
    }
}

/// USER_VAR: a variable of the user.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UserVar<'a> {
    /// Without the `@`.
    pub name: &'a [u8],
    /// `None`: NULL.
    pub value: Option<UserValue<'a>>,
}

/// A value of a user's variable that is not NULL.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UserValue<'a> {
    /// The value by its type.
    pub data: UserData<'a>,
    /// Collation id.
    pub collation: u32,
    /// Bit 0: the integer is unsigned. `None` where nothing is behind the value.
    pub flags: Option<u8>,
    /// What later servers put behind the flags.
    pub more: &'a [u8],
}

/// The value of a user's variable as it is stored, by its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UserData<'a> {
    /// Type 0: bytes in the collation's character set.
    String(&'a [u8]),
    /// Type 1.
    Real(f64),
    /// Type 2; the bits of a `u64` if the flags say that it is unsigned.
    Int(i64),
    /// Type 3: a row; no server makes one.
    Row(&'a [u8]),
    /// Type 4: digits as in a row image's DECIMAL.
    Decimal {
        /// Digits.
        precision: u8,
        /// Digits behind the point.
        scale: u8,
        /// As NEWDECIMAL in a row image.
        bytes: &'a [u8],
    },
}

impl<'a> UserVar<'a> {
    /// Reads the body.
    pub fn decode(body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "USER_VAR");
        let name = cursor.bytes32()?;
        if cursor.u8()? != 0 {
            return Ok(UserVar { name, value: None });
        }
        let (kind, collation) = (cursor.u8()?, cursor.u32()?);
        let data = UserData::decode(kind, cursor.bytes32()?)?;
        let flags = if cursor.is_empty() { None } else { Some(cursor.u8()?) };
        Ok(UserVar { name, value: Some(UserValue { data, collation, flags, more: cursor.rest() }) })
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        put_bytes32(out, self.name);
        let Some(value) = &self.value else { return out.push(1) };
        out.push(0);
        out.push(value.data.kind());
        out.extend_from_slice(&value.collation.to_le_bytes());
        let mut data = Vec::new();
        value.data.encode(&mut data);
        put_bytes32(out, &data);
        if let Some(flags) = value.flags {
            out.push(flags);
            out.extend_from_slice(value.more);
        }
    }
}

impl UserValue<'_> {
    /// Whether an integer is unsigned.
    pub fn is_unsigned(&self) -> bool {
        self.flags.is_some_and(|flags| flags & 1 != 0)
    }
}

impl<'a> UserData<'a> {
    fn decode(kind: u8, bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(bytes, "value of a USER_VAR");
        Ok(match kind {
            0 => UserData::String(bytes),
            1 => {
                let value = UserData::Real(f64::from_bits(cursor.u64()?));
                cursor.end()?;
                value
            }
            2 => {
                let value = UserData::Int(cursor.u64()? as i64);
                cursor.end()?;
                value
            }
            3 => UserData::Row(bytes),
            4 => UserData::Decimal { precision: cursor.u8()?, scale: cursor.u8()?, bytes: cursor.rest() },
            other => return Err(DecodeError::new(format!("USER_VAR: unknown type {other}"))),
        })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match *self {
            UserData::String(bytes) | UserData::Row(bytes) => out.extend_from_slice(bytes),
            UserData::Real(value) => out.extend_from_slice(&value.to_bits().to_le_bytes()),
            UserData::Int(value) => out.extend_from_slice(&value.to_le_bytes()),
            UserData::Decimal { precision, scale, bytes } => {
                out.extend_from_slice(&[precision, scale]);
                out.extend_from_slice(bytes);
            }
        }
    }

    fn kind(&self) -> u8 {
        match self {
            UserData::String(_) => 0,
            UserData::Real(_) => 1,
            UserData::Int(_) => 2,
            UserData::Row(_) => 3,
            UserData::Decimal { .. } => 4,
        }
    }
}
