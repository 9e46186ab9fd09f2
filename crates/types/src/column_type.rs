//! The types of columns. Stored in the catalog as JSON (serde), as part of a table's definition.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The four sizes of TEXT and BLOB; they differ in the bytes of their length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum BlobSize {
    /// 255 bytes.
    Tiny,
    /// 64 KiB - 1.
    Normal,
    /// 16 MiB - 1.
    Medium,
    /// 4 GiB - 1.
    Long,
}

impl BlobSize {
    /// How many bytes the length takes in a row image.
    pub fn length_bytes(self) -> usize {
        match self {
            BlobSize::Tiny => 1,
            BlobSize::Normal => 2,
            BlobSize::Medium => 3,
            BlobSize::Long => 4,
        }
    }

    /// The longest value, in bytes.
    pub fn max_bytes(self) -> u32 {
        u32::MAX >> (32 - 8 * self.length_bytes())
    }
}

/// A column's type. Its collation is beside it, in [`ColumnDef`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ColumnType {
    /// 1 byte.
    TinyInt {
        /// UNSIGNED
        unsigned: bool,
    },
    /// 2 bytes.
    SmallInt {
        /// UNSIGNED
        unsigned: bool,
    },
    /// 3 bytes.
    MediumInt {
        /// UNSIGNED
        unsigned: bool,
    },
    /// 4 bytes.
    Int {
        /// UNSIGNED
        unsigned: bool,
    },
    /// 8 bytes.
    BigInt {
        /// UNSIGNED
        unsigned: bool,
    },
    /// 4 bytes, IEEE 754.
    Float {
        /// UNSIGNED
        unsigned: bool,
    },
    /// 8 bytes, IEEE 754.
    Double {
        /// UNSIGNED
        unsigned: bool,
    },
    /// Exact decimal.
    Decimal {
        /// All digits, at most 65.
        precision: u8,
        /// Digits after the point, at most 30.
        scale: u8,
        /// UNSIGNED
        unsigned: bool,
    },
    /// Fixed length, without trailing spaces.
    Char {
        /// Length in characters, at most 255.
        chars: u32,
    },
    /// Variable length.
    VarChar {
        /// Longest length in characters.
        chars: u32,
    },
    /// Fixed length, padded with zero bytes.
    Binary {
        /// Length in bytes, at most 255.
        bytes: u32,
    },
    /// Variable length, bytes.
    VarBinary {
        /// Longest length in bytes.
        bytes: u32,
    },
    /// TINYTEXT, TEXT, MEDIUMTEXT, LONGTEXT.
    Text {
        /// Which of them.
        size: BlobSize,
    },
    /// TINYBLOB, BLOB, MEDIUMBLOB, LONGBLOB.
    Blob {
        /// Which of them.
        size: BlobSize,
    },
    /// A day.
    Date,
    /// A span of time, signed, up to 838 hours.
    Time {
        /// Digits of the fraction of a second, at most 6.
        fsp: u8,
    },
    /// Day and time without a zone.
    DateTime {
        /// Digits of the fraction of a second, at most 6.
        fsp: u8,
    },
    /// A point in time; in [`Value`]s and row images in UTC, shown in the session's zone.
    Timestamp {
        /// Digits of the fraction of a second, at most 6.
        fsp: u8,
    },
    /// 0000 and 1901 to 2155.
    Year,
    /// Bits, an unsigned number as [`Value`].
    Bit {
        /// At most 64.
        bits: u8,
    },
    /// One of the members; the member's text as [`Value`], ordered by its place in the list.
    Enum {
        /// Place 1 is the first; 0 is the error value `''`.
        members: Arc<[String]>,
    },
    /// Some of the members; their texts with commas between as [`Value`], ordered by the bits.
    Set {
        /// Bit 0 is the first.
        members: Arc<[String]>,
    },
    /// A document, in MySQL's binary form.
    Json,
}

impl ColumnType {
    /// Width and signedness of the five integer types.
    pub fn integer(&self) -> Option<(usize, bool)> {
        Some(match *self {
            ColumnType::TinyInt { unsigned } => (1, unsigned),
            ColumnType::SmallInt { unsigned } => (2, unsigned),
            ColumnType::MediumInt { unsigned } => (3, unsigned),
            ColumnType::Int { unsigned } => (4, unsigned),
            ColumnType::BigInt { unsigned } => (8, unsigned),
            _ => return None,
        })
    }

    /// CHAR, VARCHAR, TEXT, ENUM, SET: what has a character set.
    pub fn has_charset(&self) -> bool {
        use ColumnType::*;
        matches!(self, Char { .. } | VarChar { .. } | Text { .. } | Enum { .. } | Set { .. })
    }

    /// BINARY, VARBINARY, BLOB.
    pub fn is_binary(&self) -> bool {
        use ColumnType::*;
        matches!(self, Binary { .. } | VarBinary { .. } | Blob { .. })
    }

    /// CHAR, VARCHAR, TEXT and their binary kin.
    pub fn is_string(&self) -> bool {
        use ColumnType::*;
        matches!(self, Char { .. } | VarChar { .. } | Text { .. } | Binary { .. } | VarBinary { .. } | Blob { .. })
    }

    /// TEXT, BLOB and JSON: no index has the whole of it, and there is no literal DEFAULT.
    pub fn is_blob(&self) -> bool {
        matches!(self, ColumnType::Text { .. } | ColumnType::Blob { .. } | ColumnType::Json)
    }

    /// DATE, TIME, DATETIME, TIMESTAMP.
    pub fn is_temporal(&self) -> bool {
        use ColumnType::*;
        matches!(self, Date | Time { .. } | DateTime { .. } | Timestamp { .. })
    }

    /// Whether it is a number to arithmetic and may be UNSIGNED.
    pub fn is_numeric(&self) -> bool {
        use ColumnType::*;
        self.integer().is_some() || matches!(self, Float { .. } | Double { .. } | Decimal { .. })
    }

    /// Whether its values are numbers: those of arithmetic, YEAR and BIT.
    pub fn has_numbers(&self) -> bool {
        self.is_numeric() || matches!(self, ColumnType::Year | ColumnType::Bit { .. })
    }

    /// UNSIGNED, or a type that has no sign.
    pub fn is_unsigned(&self) -> bool {
        match *self {
            ColumnType::Float { unsigned } | ColumnType::Double { unsigned } | ColumnType::Decimal { unsigned, .. } => {
                unsigned
            }
            ColumnType::Year | ColumnType::Bit { .. } => true,
            _ => self.integer().is_some_and(|(_, unsigned)| unsigned),
        }
    }

    /// How many bytes an ENUM's index or a SET's bits take in a row image.
    pub fn pack_length(&self) -> Option<usize> {
        match self {
            ColumnType::Enum { members } => Some(if members.len() < 256 { 1 } else { 2 }),
            ColumnType::Set { members } => Some(match members.len().div_ceil(8) {
                0 | 1 => 1,
                n @ 2..=4 => n,
                _ => 8,
            }),
            _ => None,
        }
    }
}

/// The type as SHOW CREATE TABLE prints it, without the character set.
impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unsigned = |unsigned: bool| if unsigned { " unsigned" } else { "" };
        match self {
            ColumnType::TinyInt { unsigned: u } => write!(f, "tinyint{}", unsigned(*u)),
            ColumnType::SmallInt { unsigned: u } => write!(f, "smallint{}", unsigned(*u)),
            ColumnType::MediumInt { unsigned: u } => write!(f, "mediumint{}", unsigned(*u)),
            ColumnType::Int { unsigned: u } => write!(f, "int{}", unsigned(*u)),
            ColumnType::BigInt { unsigned: u } => write!(f, "bigint{}", unsigned(*u)),
            ColumnType::Float { unsigned: u } => write!(f, "float{}", unsigned(*u)),
            ColumnType::Double { unsigned: u } => write!(f, "double{}", unsigned(*u)),
            ColumnType::Decimal { precision, scale, unsigned: u } => {
                write!(f, "decimal({precision},{scale}){}", unsigned(*u))
            }
            ColumnType::Char { chars } => write!(f, "char({chars})"),
            ColumnType::VarChar { chars } => write!(f, "varchar({chars})"),
            ColumnType::Binary { bytes } => write!(f, "binary({bytes})"),
            ColumnType::VarBinary { bytes } => write!(f, "varbinary({bytes})"),
            ColumnType::Text { size } => write!(f, "{}text", blob_prefix(*size)),
            ColumnType::Blob { size } => write!(f, "{}blob", blob_prefix(*size)),
            ColumnType::Date => f.write_str("date"),
            ColumnType::Time { fsp } => write_with_fsp(f, "time", *fsp),
            ColumnType::DateTime { fsp } => write_with_fsp(f, "datetime", *fsp),
            ColumnType::Timestamp { fsp } => write_with_fsp(f, "timestamp", *fsp),
            ColumnType::Year => f.write_str("year"),
            ColumnType::Bit { bits } => write!(f, "bit({bits})"),
            ColumnType::Enum { members } => write_members(f, "enum", members),
            ColumnType::Set { members } => write_members(f, "set", members),
            ColumnType::Json => f.write_str("json"),
        }
    }
}

fn blob_prefix(size: BlobSize) -> &'static str {
    match size {
        BlobSize::Tiny => "tiny",
        BlobSize::Normal => "",
        BlobSize::Medium => "medium",
        BlobSize::Long => "long",
    }
}

fn write_with_fsp(f: &mut fmt::Formatter<'_>, name: &str, fsp: u8) -> fmt::Result {
    if fsp == 0 { f.write_str(name) } else { write!(f, "{name}({fsp})") }
}

fn write_members(f: &mut fmt::Formatter<'_>, name: &str, members: &[String]) -> fmt::Result {
    write!(f, "{name}(")?;
    for (i, member) in members.iter().enumerate() {
        if i > 0 {
            f.write_str(",")?;
        }
        write!(f, "'{}'", member.replace('\'', "''"))?;
    }
    f.write_str(")")
}
