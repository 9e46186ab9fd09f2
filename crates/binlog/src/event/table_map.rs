//! TABLE_MAP: the shape of a table, in front of the rows events that use it.
//!
//! ```text
//! | table id u48 | flags u16 | len u8, schema, NUL | len u8, table, NUL | column count lenenc | type u8 per column |
//! | metadata length lenenc | metadata … | nullable bitmap | optional: (type u8, length lenenc, data)* |
//! ```
//! Bitmaps over columns begin with the lowest bit, except those in the optional part, which begin with the highest.

use std::collections::BTreeMap;

use types::binlog_meta;
use types::schema::{ColumnDef, ColumnType, TableDef};

use crate::cursor::{Cursor, bit, put_lenenc};
use crate::error::DecodeError;

pub use types::binlog_meta::type_code as column_type;

/// MySQL's type for vectors, unknown to `types`.
const VECTOR: u8 = 242;
/// MariaDB's compressed columns.
const BLOB_COMPRESSED: u8 = 140;
const VARCHAR_COMPRESSED: u8 = 141;
/// The most columns that a table of MySQL or MariaDB can have; a bound for what is allocated.
const MAX_COLUMNS: usize = 4096;

// Types of the optional metadata.
const SIGNEDNESS: u8 = 1;
const DEFAULT_CHARSET: u8 = 2;
const COLUMN_CHARSET: u8 = 3;
const COLUMN_NAME: u8 = 4;
const SET_STR_VALUE: u8 = 5;
const ENUM_STR_VALUE: u8 = 6;
const SIMPLE_PRIMARY_KEY: u8 = 8;
const PRIMARY_KEY_WITH_PREFIX: u8 = 9;
const ENUM_AND_SET_DEFAULT_CHARSET: u8 = 10;
const ENUM_AND_SET_COLUMN_CHARSET: u8 = 11;
const COLUMN_VISIBILITY: u8 = 12;

/// What is known of one column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnMeta {
    /// The type as in the event, see [`column_type`]; CHAR, ENUM and SET are all STRING there.
    pub type_code: u8,
    /// The type's metadata as in the event, its first byte lowest.
    pub meta: u16,
    /// May be NULL.
    pub nullable: bool,
    /// For numeric types, if the event says so.
    pub unsigned: Option<bool>,
    /// Collation id of strings, ENUM and SET, if the event says so.
    pub collation: Option<u32>,
    /// Name, with full metadata.
    pub name: Option<String>,
    /// Members of ENUM or SET, with full metadata.
    pub members: Vec<String>,
    /// In `SELECT *`; false only with full metadata.
    pub invisible: bool,
}

impl ColumnMeta {
    /// The real type behind STRING, and for it the longest value in bytes.
    pub fn real_type(&self) -> (u8, usize) {
        if self.type_code != column_type::STRING {
            return (self.type_code, usize::from(self.meta));
        }
        let [real, len] = self.meta.to_le_bytes();
        // Lengths above 255 have their upper bits, inverted, in two bits of the type.
        if real & 0x30 == 0x30 {
            (real, usize::from(len))
        } else {
            (real | 0x30, usize::from(len) | usize::from(real & 0x30 ^ 0x30) << 4)
        }
    }

    /// How many bytes the value at the front of `bytes` takes, its length prefix included.
    pub fn value_len(&self, bytes: &[u8]) -> Result<usize, DecodeError> {
        use column_type::*;
        let fraction = |fsp: u16| match fsp {
            0..=6 => Ok(usize::from(fsp).div_ceil(2)),
            _ => Err(DecodeError::new(format!("fraction of a second with {fsp} digits"))),
        };
        let prefixed = |prefix: usize| -> Result<usize, DecodeError> {
            let mut cursor = Cursor::new(bytes, "value");
            Ok(prefix + cursor.uint(prefix)? as usize)
        };
        let len = match self.type_code {
            TINY | YEAR => 1,
            SHORT => 2,
            INT24 | DATE | TIME | 14 => 3,
            LONG | FLOAT | TIMESTAMP => 4,
            LONGLONG | DOUBLE | DATETIME => 8,
            NULL => 0,
            TIMESTAMP2 => 4 + fraction(self.meta)?,
            DATETIME2 => 5 + fraction(self.meta)?,
            TIME2 => 3 + fraction(self.meta)?,
            NEWDECIMAL => decimal_size(self.meta as u8, (self.meta >> 8) as u8)?,
            BIT => usize::from(self.meta >> 8) + usize::from(self.meta & 0xff != 0),
            VARCHAR | VAR_STRING | VARCHAR_COMPRESSED => prefixed(if self.meta > 255 { 2 } else { 1 })?,
            BLOB | TINY_BLOB | MEDIUM_BLOB | LONG_BLOB | JSON | GEOMETRY | VECTOR | BLOB_COMPRESSED => {
                prefixed(usize::from(self.meta))?
            }
            ENUM | SET => usize::from(self.meta >> 8),
            STRING => match self.real_type() {
                (ENUM | SET, len) => len,
                (_, len) => prefixed(if len > 255 { 2 } else { 1 })?,
            },
            other => return Err(DecodeError::new(format!("column of unknown type {other}"))),
        };
        if len > bytes.len() { Err(DecodeError::short("row")) } else { Ok(len) }
    }

    fn from_def(column: &ColumnDef) -> Self {
        let mut bytes = Vec::new();
        binlog_meta::metadata(column, &mut bytes);
        let meta = bytes.iter().rev().fold(0, |meta: u16, &byte| meta << 8 | u16::from(byte));
        let mut this = ColumnMeta {
            type_code: binlog_meta::type_byte(column),
            meta,
            nullable: column.nullable,
            name: Some(column.name.clone()),
            invisible: column.invisible,
            ..ColumnMeta::default()
        };
        this.unsigned = this.is_numeric().then(|| column.ty.is_unsigned());
        this.collation = (this.is_string() || this.is_enum_or_set()).then(|| column.collation.0.into());
        if let ColumnType::Enum { members } | ColumnType::Set { members } = &column.ty {
            this.members = members.to_vec();
        }
        this
    }

    /// Counts in SIGNEDNESS.
    fn is_numeric(&self) -> bool {
        use column_type::*;
        matches!(self.type_code, TINY | SHORT | INT24 | LONG | LONGLONG | NEWDECIMAL | FLOAT | DOUBLE | YEAR)
    }

    /// Counts in the character sets of columns: strings and blobs.
    pub(crate) fn is_string(&self) -> bool {
        use column_type::*;
        match self.type_code {
            STRING => !self.is_enum_or_set(),
            VARCHAR | VAR_STRING | BLOB | TINY_BLOB | MEDIUM_BLOB | LONG_BLOB => true,
            other => matches!(other, BLOB_COMPRESSED | VARCHAR_COMPRESSED),
        }
    }

    pub(crate) fn is_enum_or_set(&self) -> bool {
        matches!(self.real_type().0, column_type::ENUM | column_type::SET)
    }

    fn meta_size(type_code: u8) -> usize {
        use column_type::*;
        match type_code {
            BIT | ENUM | SET | NEWDECIMAL | VARCHAR | VAR_STRING | STRING | VARCHAR_COMPRESSED => 2,
            BLOB | TINY_BLOB | MEDIUM_BLOB | LONG_BLOB | FLOAT | DOUBLE | TIME2 | DATETIME2 | TIMESTAMP2 | JSON
            | GEOMETRY | VECTOR | BLOB_COMPRESSED => 1,
            _ => 0,
        }
    }
}

/// Bytes of a NEWDECIMAL: nine digits take four bytes, fewer take as many as they need.
fn decimal_size(precision: u8, scale: u8) -> Result<usize, DecodeError> {
    if scale > precision || precision > 65 {
        return Err(DecodeError::new(format!("DECIMAL({precision},{scale})")));
    }
    let part = |digits: u8| usize::from(digits / 9) * 4 + usize::from(digits % 9).div_ceil(2);
    Ok(part(precision - scale) + part(scale))
}

/// A table as the rows events after it see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableMap {
    /// What the rows events name.
    pub table_id: u64,
    /// 1: generated invisible primary key; the rest is history.
    pub flags: u16,
    /// Database.
    pub schema: String,
    /// Name.
    pub table: String,
    /// In order.
    pub columns: Vec<ColumnMeta>,
    /// Columns of the primary key with the length of a prefix (0 for the whole), with full metadata.
    pub primary_key: Vec<(usize, u32)>,
}

/// Only which table it is: all that an applier needs that has the table's definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableName<'a> {
    /// What the rows events name.
    pub table_id: u64,
    /// Database.
    pub schema: &'a [u8],
    /// Name.
    pub table: &'a [u8],
    /// How many columns.
    pub column_count: usize,
}

/// "The table has a generated invisible primary key", in MySQL's numbering of the flags.
const FLAG_GENERATED_PK: u16 = 1 << 2;
/// Numbers of tables have six bytes; the highest of three is a dummy to MySQL.
const TABLE_ID_MASK: u64 = 0xffff_ffff_ffff;

impl TableMap {
    /// The map of a table of ours, with full metadata.
    pub fn from_def(table: &TableDef) -> Self {
        TableMap {
            table_id: table.id.0 & TABLE_ID_MASK,
            flags: if table.generated_pk { 1 | FLAG_GENERATED_PK } else { 1 },
            schema: table.schema.clone(),
            table: table.name.clone(),
            columns: table.columns.iter().map(ColumnMeta::from_def).collect(),
            primary_key: table
                .primary()
                .parts
                .iter()
                .map(|part| (part.column, part.prefix_chars.unwrap_or(0)))
                .collect(),
        }
    }

    /// Whether the primary key is one that was generated because the table had none.
    pub fn has_generated_primary_key(&self) -> bool {
        self.flags & FLAG_GENERATED_PK != 0
    }

    /// Reads only the names.
    pub fn decode_name(body: &[u8]) -> Result<TableName<'_>, DecodeError> {
        let mut cursor = Cursor::new(body, "TABLE_MAP");
        let (name, _) = take_name(&mut cursor)?;
        Ok(name)
    }

    /// Reads the body.
    pub fn decode(body: &[u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "TABLE_MAP");
        let (name, flags) = take_name(&mut cursor)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut map = TableMap {
            table_id: name.table_id,
            flags,
            schema: text(name.schema),
            table: text(name.table),
            ..TableMap::default()
        };
        let type_codes = cursor.take(name.column_count)?;
        let meta_len = cursor.lenenc_len()?;
        let mut meta = cursor.sub(meta_len)?;
        let nullable = cursor.take(name.column_count.div_ceil(8))?;
        for (i, &type_code) in type_codes.iter().enumerate() {
            let meta = meta.uint(ColumnMeta::meta_size(type_code))? as u16;
            let nullable = bit(nullable, i);
            map.columns.push(ColumnMeta { type_code, meta, nullable, ..ColumnMeta::default() });
        }
        while !cursor.is_empty() {
            let kind = cursor.u8()?;
            let len = cursor.lenenc_len()?;
            map.decode_optional(kind, cursor.sub(len)?)?;
        }
        Ok(map)
    }

    fn decode_optional(&mut self, kind: u8, mut data: Cursor<'_>) -> Result<(), DecodeError> {
        match kind {
            SIGNEDNESS => {
                let numeric = self.columns.iter_mut().filter(|column| column.is_numeric());
                for (i, column) in numeric.enumerate() {
                    column.unsigned = Some(high_bit(data.rest(), i));
                }
            }
            COLUMN_VISIBILITY => {
                for (i, column) in self.columns.iter_mut().enumerate() {
                    column.invisible = !high_bit(data.rest(), i);
                }
            }
            DEFAULT_CHARSET => default_collations(&mut data, self.columns.iter_mut().filter(|c| c.is_string()))?,
            ENUM_AND_SET_DEFAULT_CHARSET => {
                default_collations(&mut data, self.columns.iter_mut().filter(|c| c.is_enum_or_set()))?;
            }
            COLUMN_CHARSET => each_collation(&mut data, self.columns.iter_mut().filter(|c| c.is_string()))?,
            ENUM_AND_SET_COLUMN_CHARSET => {
                each_collation(&mut data, self.columns.iter_mut().filter(|c| c.is_enum_or_set()))?;
            }
            COLUMN_NAME => {
                for column in &mut self.columns {
                    column.name = Some(take_string(&mut data)?);
                }
            }
            SET_STR_VALUE | ENUM_STR_VALUE => {
                let wanted = if kind == SET_STR_VALUE { column_type::SET } else { column_type::ENUM };
                for column in self.columns.iter_mut().filter(|column| column.real_type().0 == wanted) {
                    for _ in 0..data.lenenc_len()? {
                        column.members.push(take_string(&mut data)?);
                    }
                }
            }
            SIMPLE_PRIMARY_KEY | PRIMARY_KEY_WITH_PREFIX => {
                while !data.is_empty() {
                    let column = data.lenenc()? as usize;
                    let prefix = if kind == SIMPLE_PRIMARY_KEY { 0 } else { data.lenenc()? as u32 };
                    self.primary_key.push((column, prefix));
                }
            }
            // Geometry types, dimensions of vectors, what later versions add.
            _ => {}
        }
        Ok(())
    }

    /// The length of the row image at the front of `bytes`: null bitmap and the values of the present columns.
    pub fn image_len(&self, present: &[u8], bytes: &[u8]) -> Result<usize, DecodeError> {
        let present_count = (0..self.columns.len()).filter(|&i| bit(present, i)).count();
        let nulls = bytes.get(..present_count.div_ceil(8)).ok_or_else(|| DecodeError::short("row"))?;
        let mut at = nulls.len();
        let present_columns = self.columns.iter().enumerate().filter(|&(i, _)| bit(present, i));
        for (slot, (_, column)) in present_columns.enumerate() {
            if !bit(nulls, slot) {
                at += column.value_len(&bytes[at..])?;
            }
        }
        Ok(at)
    }

    /// Appends the body, with full metadata for all that is known.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.table_id.to_le_bytes()[..6]);
        out.extend_from_slice(&self.flags.to_le_bytes());
        for name in [&self.schema, &self.table] {
            out.push(name.len() as u8);
            out.extend_from_slice(name.as_bytes());
            out.push(0);
        }
        put_lenenc(out, self.columns.len() as u64);
        out.extend(self.columns.iter().map(|column| column.type_code));
        let mut meta = Vec::new();
        for column in &self.columns {
            meta.extend_from_slice(&column.meta.to_le_bytes()[..ColumnMeta::meta_size(column.type_code)]);
        }
        put_lenenc(out, meta.len() as u64);
        out.extend_from_slice(&meta);
        let mut nullable = vec![0; self.columns.len().div_ceil(8)];
        for (i, _) in self.columns.iter().enumerate().filter(|(_, column)| column.nullable) {
            nullable[i / 8] |= 1 << (i % 8);
        }
        out.extend_from_slice(&nullable);
        self.encode_optional(out);
    }

    fn encode_optional(&self, out: &mut Vec<u8>) {
        let mut put = |kind: u8, data: Vec<u8>| {
            if !data.is_empty() {
                out.push(kind);
                put_lenenc(out, data.len() as u64);
                out.extend_from_slice(&data);
            }
        };
        put(SIGNEDNESS, high_bitmap(self.columns.iter().filter_map(|column| column.unsigned)));
        put(DEFAULT_CHARSET, collations(self.columns.iter().filter(|column| column.is_string())));
        let mut names = Vec::new();
        for name in self.columns.iter().filter_map(|column| column.name.as_deref()) {
            put_string(&mut names, name);
        }
        put(COLUMN_NAME, names);
        for (kind, wanted) in [(SET_STR_VALUE, column_type::SET), (ENUM_STR_VALUE, column_type::ENUM)] {
            let mut members = Vec::new();
            for column in self.columns.iter().filter(|column| column.real_type().0 == wanted) {
                put_lenenc(&mut members, column.members.len() as u64);
                column.members.iter().for_each(|member| put_string(&mut members, member));
            }
            put(kind, members);
        }
        let with_prefix = self.primary_key.iter().any(|&(_, prefix)| prefix != 0);
        let mut key = Vec::new();
        for &(column, prefix) in &self.primary_key {
            put_lenenc(&mut key, column as u64);
            if with_prefix {
                put_lenenc(&mut key, prefix.into());
            }
        }
        put(if with_prefix { PRIMARY_KEY_WITH_PREFIX } else { SIMPLE_PRIMARY_KEY }, key);
        let enums = self.columns.iter().filter(|column| column.is_enum_or_set());
        put(ENUM_AND_SET_DEFAULT_CHARSET, collations(enums));
        put(COLUMN_VISIBILITY, high_bitmap(self.columns.iter().map(|column| !column.invisible)));
    }
}

fn take_name<'a>(cursor: &mut Cursor<'a>) -> Result<(TableName<'a>, u16), DecodeError> {
    let table_id = cursor.uint(6)?;
    let flags = cursor.u16()?;
    let schema = cursor.bytes8()?;
    cursor.u8()?;
    let table = cursor.bytes8()?;
    cursor.u8()?;
    let column_count = cursor.lenenc_len()?;
    if column_count > MAX_COLUMNS {
        return Err(DecodeError::new(format!("TABLE_MAP: {column_count} columns")));
    }
    Ok((TableName { table_id, schema, table, column_count }, flags))
}

/// The `n`-th bit of a bitmap that begins with the highest bit of the first byte.
fn high_bit(bitmap: &[u8], n: usize) -> bool {
    bitmap.get(n / 8).is_some_and(|byte| byte << (n % 8) & 0x80 != 0)
}

fn high_bitmap(bits: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut bitmap = Vec::new();
    for (i, set) in bits.enumerate() {
        if i % 8 == 0 {
            bitmap.push(0);
        }
        bitmap[i / 8] |= u8::from(set) << (7 - i % 8);
    }
    bitmap
}

/// One collation for all, and `(place among the columns, collation)` for those that differ.
fn collations<'a>(columns: impl Iterator<Item = &'a ColumnMeta>) -> Vec<u8> {
    let ids: Vec<u32> = columns.filter_map(|column| column.collation).collect();
    let mut counts = BTreeMap::new();
    ids.iter().for_each(|id| *counts.entry(id).or_insert(0usize) += 1);
    let Some((&&default, _)) = counts.iter().max_by_key(|&(_, count)| count) else { return Vec::new() };
    let mut data = Vec::new();
    put_lenenc(&mut data, default.into());
    for (i, &id) in ids.iter().enumerate().filter(|&(_, &id)| id != default) {
        put_lenenc(&mut data, i as u64);
        put_lenenc(&mut data, id.into());
    }
    data
}

fn default_collations<'a>(
    data: &mut Cursor<'_>,
    columns: impl Iterator<Item = &'a mut ColumnMeta>,
) -> Result<(), DecodeError> {
    let default = data.lenenc()? as u32;
    let mut others = BTreeMap::new();
    while !data.is_empty() {
        others.insert(data.lenenc()? as usize, data.lenenc()? as u32);
    }
    for (i, column) in columns.enumerate() {
        column.collation = Some(others.get(&i).copied().unwrap_or(default));
    }
    Ok(())
}

fn each_collation<'a>(
    data: &mut Cursor<'_>,
    columns: impl Iterator<Item = &'a mut ColumnMeta>,
) -> Result<(), DecodeError> {
    for column in columns {
        column.collation = Some(data.lenenc()? as u32);
    }
    Ok(())
}

fn take_string(data: &mut Cursor<'_>) -> Result<String, DecodeError> {
    let len = data.lenenc_len()?;
    Ok(String::from_utf8_lossy(data.take(len)?).into_owned())
}

fn put_string(out: &mut Vec<u8>, text: &str) {
    put_lenenc(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}
