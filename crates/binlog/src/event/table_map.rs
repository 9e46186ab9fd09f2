//! TABLE_MAP: the shape of a table, in front of the rows events that use it.
//!
//! ```text
//! | table id u48 | flags u16 | len u8, schema, NUL | len u8, table, NUL | column count lenenc | type u8 per column |
//! | metadata length lenenc | metadata … | nullable bitmap | optional: (type u8, length lenenc, data)* |
//! ```
//! Bitmaps over columns begin with the lowest bit, except those in the optional part, which begin with the highest.

use types::binlog_meta;
use types::{ColumnDef, ColumnType, TableDef};

use super::format::Dialect;
use super::table_meta::{DefaultCharset, MetadataField, TableMapEvent};
use crate::cursor::{Cursor, bit, put_lenenc};
use crate::error::DecodeError;

pub use types::binlog_meta::type_code as column_type;

/// MariaDB's compressed columns.
const BLOB_COMPRESSED: u8 = 140;
pub(crate) const VARCHAR_COMPRESSED: u8 = 141;
/// The most columns that a table of MySQL or MariaDB can have; a bound for what is allocated.
pub(super) const MAX_COLUMNS: usize = 4096;

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
    /// Members of ENUM or SET in the column's character set, with full metadata.
    pub members: Vec<Vec<u8>>,
    /// Not in `SELECT *`; true only with full metadata.
    pub invisible: bool,
    /// Of a GEOMETRY column which type exactly, with full metadata: 0 any, 1 point, 2 line string, 3 polygon, 4 to 6 several
    /// of these, 7 collection.
    pub geometry_type: Option<u64>,
    /// The most numbers that a value of a VECTOR column has, with full metadata.
    pub vector_dimensions: Option<u64>,
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
            let charset = column.collation.charset();
            this.members = members.iter().map(|member| charset.encode_lossy(member.as_bytes()).into_owned()).collect();
        }
        this
    }

    /// Counts in SIGNEDNESS.
    fn is_numeric(&self) -> bool {
        use column_type::*;
        matches!(self.type_code, TINY | SHORT | INT24 | LONG | LONGLONG | NEWDECIMAL | FLOAT | DOUBLE | YEAR)
    }

    /// Counts in the character sets of columns: strings, and by dialect what is stored as they are.
    fn has_charset(&self, dialect: Dialect) -> bool {
        let is_stored_alike = match dialect {
            Dialect::Mysql => self.type_code == column_type::VECTOR,
            Dialect::Maria => self.type_code == column_type::GEOMETRY,
        };
        self.is_string() || is_stored_alike
    }

    /// Strings and blobs.
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
            // To a MySQL it is none without a counter of its own: it would leave the column out of every row.
            flags: if table.generated_pk && table.counted_pk().is_none() { 1 | FLAG_GENERATED_PK } else { 1 },
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

    /// Reads the body, in MySQL's dialect.
    pub fn decode(body: &[u8]) -> Result<Self, DecodeError> {
        Self::of(&TableMapEvent::decode(body)?, Dialect::Mysql)
    }

    /// Puts what an event says to the columns that it says it of.
    pub fn of(event: &TableMapEvent<'_>, dialect: Dialect) -> Result<Self, DecodeError> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut map = TableMap {
            table_id: event.table_id,
            flags: event.flags,
            schema: text(event.schema),
            table: text(event.table),
            ..TableMap::default()
        };
        let mut meta = Cursor::new(event.metadata, "metadata of columns");
        for (i, &type_code) in event.types.iter().enumerate() {
            let meta = meta.uint(ColumnMeta::meta_size(type_code))? as u16;
            let nullable = bit(event.nullable, i);
            map.columns.push(ColumnMeta { type_code, meta, nullable, ..ColumnMeta::default() });
        }
        event.optional.iter().try_for_each(|field| map.take_optional(field, dialect))?;
        Ok(map)
    }

    fn take_optional(&mut self, field: &MetadataField<'_>, dialect: Dialect) -> Result<(), DecodeError> {
        let text = |bytes: &&[u8]| String::from_utf8_lossy(bytes).into_owned();
        let copies = |members: &Vec<&[u8]>| members.iter().map(|member| member.to_vec()).collect();
        let columns = self.columns.iter_mut();
        match field {
            MetadataField::Signedness(bits) => {
                let numeric = columns.filter(|column| column.is_numeric());
                numeric.enumerate().for_each(|(i, column)| column.unsigned = Some(high_bit(bits, i)));
            }
            MetadataField::Visibility(bits) => {
                columns.enumerate().for_each(|(i, column)| column.invisible = !high_bit(bits, i));
            }
            MetadataField::DefaultCharset(charsets) => {
                charsets.put(columns.filter(|column| column.has_charset(dialect)));
            }
            MetadataField::EnumAndSetDefaultCharset(charsets) => {
                charsets.put(columns.filter(|column| column.is_enum_or_set()));
            }
            MetadataField::ColumnCharset(ids) => {
                let strings = columns.filter(|column| column.has_charset(dialect));
                each(ids, strings, |column, id| column.collation = Some(*id))?;
            }
            MetadataField::EnumAndSetColumnCharset(ids) => {
                each(ids, columns.filter(|column| column.is_enum_or_set()), |column, id| column.collation = Some(*id))?;
            }
            MetadataField::ColumnNames(names) => each(names, columns, |column, name| column.name = Some(text(name)))?,
            MetadataField::SetMembers(members) => {
                let sets = columns.filter(|column| column.real_type().0 == column_type::SET);
                each(members, sets, |column, members| column.members = copies(members))?;
            }
            MetadataField::EnumMembers(members) => {
                let enums = columns.filter(|column| column.real_type().0 == column_type::ENUM);
                each(members, enums, |column, members| column.members = copies(members))?;
            }
            MetadataField::GeometryTypes(types) => {
                let geometries = columns.filter(|column| column.type_code == column_type::GEOMETRY);
                each(types, geometries, |column, id| column.geometry_type = Some(*id))?;
            }
            MetadataField::VectorDimensions(dimensions) => {
                let vectors = columns.filter(|column| column.type_code == column_type::VECTOR);
                each(dimensions, vectors, |column, count| column.vector_dimensions = Some(*count))?;
            }
            MetadataField::PrimaryKey(columns) => {
                self.primary_key.extend(columns.iter().map(|&column| (column as usize, 0)));
            }
            MetadataField::PrimaryKeyWithPrefix(parts) => {
                self.primary_key.extend(parts.iter().map(|&(column, prefix)| (column as usize, prefix as u32)));
            }
            // What later versions add.
            MetadataField::Unknown { .. } => {}
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

    /// The bits of an image's null bitmap that are never set: of present columns that cannot be NULL.
    pub(super) fn never_null(&self, present: &[u8]) -> Vec<u8> {
        let present_columns = self.columns.iter().enumerate().filter(|&(i, _)| bit(present, i));
        let mut bits = vec![0; self.columns.len().div_ceil(8)];
        for (slot, (_, column)) in present_columns.enumerate() {
            bits[slot / 8] |= u8::from(!column.nullable) << (slot % 8);
        }
        bits
    }

    /// Appends the body, with full metadata for all that is known.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        self.encode_shape(out);
        self.encode_optional(out);
    }

    /// Appends the body without optional metadata.
    pub fn encode_shape(&self, out: &mut Vec<u8>) {
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
    }

    /// The optional metadata of all that is known, in the order in which MySQL writes it.
    fn encode_optional(&self, out: &mut Vec<u8>) {
        let columns = || self.columns.iter();
        let of_type = |wanted: u8| columns().filter(move |column| column.real_type().0 == wanted);
        let members = |wanted: u8| -> Vec<Vec<&[u8]>> {
            of_type(wanted).map(|column| column.members.iter().map(Vec::as_slice).collect()).collect()
        };
        let strings = DefaultCharset::of(columns().filter(|column| column.has_charset(Dialect::Mysql)));
        let enums = DefaultCharset::of(columns().filter(|column| column.is_enum_or_set()));
        let signedness = high_bitmap(columns().filter_map(|column| column.unsigned));
        let visibility = high_bitmap(columns().map(|column| !column.invisible));
        let names = columns().filter_map(|column| column.name.as_deref()).map(str::as_bytes).collect();
        let key = if self.primary_key.iter().any(|&(_, prefix)| prefix != 0) {
            let part = |&(column, prefix): &(usize, u32)| (column as u64, prefix.into());
            MetadataField::PrimaryKeyWithPrefix(self.primary_key.iter().map(part).collect())
        } else {
            MetadataField::PrimaryKey(self.primary_key.iter().map(|&(column, _)| column as u64).collect())
        };
        let fields = [
            Some(MetadataField::Signedness(&signedness)),
            strings.map(MetadataField::DefaultCharset),
            Some(MetadataField::GeometryTypes(columns().filter_map(|column| column.geometry_type).collect())),
            Some(MetadataField::VectorDimensions(columns().filter_map(|column| column.vector_dimensions).collect())),
            Some(MetadataField::ColumnNames(names)),
            enums.map(MetadataField::EnumAndSetDefaultCharset),
            Some(MetadataField::SetMembers(members(column_type::SET))),
            Some(MetadataField::EnumMembers(members(column_type::ENUM))),
            Some(key),
            Some(MetadataField::Visibility(&visibility)),
        ];
        fields.iter().flatten().filter(|field| !field.is_empty()).for_each(|field| field.encode(out));
    }
}

/// Gives each column its value; fewer values than columns are an error.
fn each<'c, T>(
    values: &[T],
    columns: impl Iterator<Item = &'c mut ColumnMeta>,
    mut put: impl FnMut(&mut ColumnMeta, &T),
) -> Result<(), DecodeError> {
    let mut values = values.iter();
    for column in columns {
        put(column, values.next().ok_or_else(|| DecodeError::short("TABLE_MAP"))?);
    }
    Ok(())
}

/// What is in front of the columns of a TABLE_MAP.
pub(super) fn take_name<'a>(cursor: &mut Cursor<'a>) -> Result<(TableName<'a>, u16), DecodeError> {
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
