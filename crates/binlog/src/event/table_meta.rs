//! TABLE_MAP as it is written: names, types, and the optional metadata field by field. What they mean for each column
//! together is a [`TableMap`](super::TableMap).
//!
//! The optional metadata is `(type u8, length lenenc, data)*`. Bitmaps in it begin with the highest bit of the first byte.
//!
//! | type | data |
//! |---:|---|
//! | 1 | bitmap over the numeric columns, set: unsigned |
//! | 2, 10 | of strings, of ENUM and SET: default collation lenenc, (place among them lenenc, collation lenenc)* |
//! | 3, 11 | of strings, of ENUM and SET: collation lenenc of each |
//! | 4 | name of each column: length lenenc, bytes |
//! | 5, 6 | members of each SET, of each ENUM: count lenenc, (length lenenc, bytes)* |
//! | 7 | of each GEOMETRY column: lenenc |
//! | 8 | columns of the primary key: lenenc |
//! | 9 | the same with prefixes: (column lenenc, characters lenenc)*, 0 for the whole column |
//! | 12 | bitmap over all columns, set: visible |
//! | 13 | of each VECTOR column: lenenc |

use std::collections::BTreeMap;

use super::table_map::{ColumnMeta, take_name};
use crate::cursor::{Cursor, put_bytes8, put_lenenc};
use crate::error::DecodeError;

const SIGNEDNESS: u8 = 1;
const DEFAULT_CHARSET: u8 = 2;
const COLUMN_CHARSET: u8 = 3;
const COLUMN_NAME: u8 = 4;
const SET_STR_VALUE: u8 = 5;
const ENUM_STR_VALUE: u8 = 6;
const GEOMETRY_TYPE: u8 = 7;
const SIMPLE_PRIMARY_KEY: u8 = 8;
const PRIMARY_KEY_WITH_PREFIX: u8 = 9;
const ENUM_AND_SET_DEFAULT_CHARSET: u8 = 10;
const ENUM_AND_SET_COLUMN_CHARSET: u8 = 11;
const COLUMN_VISIBILITY: u8 = 12;
const VECTOR_DIMENSIONALITY: u8 = 13;

/// A TABLE_MAP as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableMapEvent<'a> {
    /// What the rows events name; 48 bits.
    pub table_id: u64,
    /// As in [`TableMap`](super::TableMap).
    pub flags: u16,
    /// Database; at most 255 bytes.
    pub schema: &'a [u8],
    /// Name; at most 255 bytes.
    pub table: &'a [u8],
    /// A [`column_type`](super::column_type) for each column.
    pub types: &'a [u8],
    /// Metadata of the types, 0 to 2 bytes for each.
    pub metadata: &'a [u8],
    /// A bit for each column that may be NULL, the lowest bit first.
    pub nullable: &'a [u8],
    /// In the order of the event.
    pub optional: Vec<MetadataField<'a>>,
}

impl<'a> TableMapEvent<'a> {
    /// Reads the body.
    pub fn decode(body: &'a [u8]) -> Result<Self, DecodeError> {
        let (mut event, optional) = Self::decode_shape(body)?;
        let mut cursor = Cursor::new(optional, "TABLE_MAP");
        while !cursor.is_empty() {
            let kind = cursor.u8()?;
            let len = cursor.lenenc_len()?;
            event.optional.push(MetadataField::decode(kind, cursor.sub(len)?)?);
        }
        Ok(event)
    }

    /// Reads all but the optional metadata, whose bytes it gives: what is needed to take rows apart.
    pub fn decode_shape(body: &'a [u8]) -> Result<(Self, &'a [u8]), DecodeError> {
        let mut cursor = Cursor::new(body, "TABLE_MAP");
        let (name, flags) = take_name(&mut cursor)?;
        let types = cursor.take(name.column_count)?;
        let metadata = take_bytes(&mut cursor)?;
        let nullable = cursor.take(name.column_count.div_ceil(8))?;
        let (table_id, schema, table) = (name.table_id, name.schema, name.table);
        let optional = Vec::new();
        Ok((TableMapEvent { table_id, flags, schema, table, types, metadata, nullable, optional }, cursor.rest()))
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.table_id.to_le_bytes()[..6]);
        out.extend_from_slice(&self.flags.to_le_bytes());
        for name in [self.schema, self.table] {
            put_bytes8(out, name);
            out.push(0);
        }
        put_lenenc(out, self.types.len() as u64);
        out.extend_from_slice(self.types);
        put_bytes(out, self.metadata);
        out.extend_from_slice(self.nullable);
        self.optional.iter().for_each(|field| field.encode(out));
    }
}

/// A field of the optional metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetadataField<'a> {
    /// 1.
    Signedness(&'a [u8]),
    /// 2.
    DefaultCharset(DefaultCharset),
    /// 3.
    ColumnCharset(Vec<u32>),
    /// 4.
    ColumnNames(Vec<&'a [u8]>),
    /// 5.
    SetMembers(Vec<Vec<&'a [u8]>>),
    /// 6.
    EnumMembers(Vec<Vec<&'a [u8]>>),
    /// 7.
    GeometryTypes(Vec<u64>),
    /// 8.
    PrimaryKey(Vec<u64>),
    /// 9.
    PrimaryKeyWithPrefix(Vec<(u64, u64)>),
    /// 10.
    EnumAndSetDefaultCharset(DefaultCharset),
    /// 11.
    EnumAndSetColumnCharset(Vec<u32>),
    /// 12.
    Visibility(&'a [u8]),
    /// 13.
    VectorDimensions(Vec<u64>),
    /// What later versions add.
    Unknown {
        /// The field's type.
        kind: u8,
        /// All of it.
        data: &'a [u8],
    },
}

impl<'a> MetadataField<'a> {
    fn decode(kind: u8, mut data: Cursor<'a>) -> Result<Self, DecodeError> {
        let data = &mut data;
        Ok(match kind {
            SIGNEDNESS => MetadataField::Signedness(data.rest()),
            DEFAULT_CHARSET => MetadataField::DefaultCharset(DefaultCharset::decode(data)?),
            COLUMN_CHARSET => MetadataField::ColumnCharset(take_all(data, take_collation)?),
            COLUMN_NAME => MetadataField::ColumnNames(take_all(data, take_bytes)?),
            SET_STR_VALUE => MetadataField::SetMembers(take_all(data, take_members)?),
            ENUM_STR_VALUE => MetadataField::EnumMembers(take_all(data, take_members)?),
            GEOMETRY_TYPE => MetadataField::GeometryTypes(take_all(data, Cursor::lenenc)?),
            SIMPLE_PRIMARY_KEY => MetadataField::PrimaryKey(take_all(data, Cursor::lenenc)?),
            PRIMARY_KEY_WITH_PREFIX => {
                MetadataField::PrimaryKeyWithPrefix(take_all(data, |data| Ok((data.lenenc()?, data.lenenc()?)))?)
            }
            ENUM_AND_SET_DEFAULT_CHARSET => MetadataField::EnumAndSetDefaultCharset(DefaultCharset::decode(data)?),
            ENUM_AND_SET_COLUMN_CHARSET => MetadataField::EnumAndSetColumnCharset(take_all(data, take_collation)?),
            COLUMN_VISIBILITY => MetadataField::Visibility(data.rest()),
            VECTOR_DIMENSIONALITY => MetadataField::VectorDimensions(take_all(data, Cursor::lenenc)?),
            kind => MetadataField::Unknown { kind, data: data.rest() },
        })
    }

    fn kind(&self) -> u8 {
        match self {
            MetadataField::Signedness(_) => SIGNEDNESS,
            MetadataField::DefaultCharset(_) => DEFAULT_CHARSET,
            MetadataField::ColumnCharset(_) => COLUMN_CHARSET,
            MetadataField::ColumnNames(_) => COLUMN_NAME,
            MetadataField::SetMembers(_) => SET_STR_VALUE,
            MetadataField::EnumMembers(_) => ENUM_STR_VALUE,
            MetadataField::GeometryTypes(_) => GEOMETRY_TYPE,
            MetadataField::PrimaryKey(_) => SIMPLE_PRIMARY_KEY,
            MetadataField::PrimaryKeyWithPrefix(_) => PRIMARY_KEY_WITH_PREFIX,
            MetadataField::EnumAndSetDefaultCharset(_) => ENUM_AND_SET_DEFAULT_CHARSET,
            MetadataField::EnumAndSetColumnCharset(_) => ENUM_AND_SET_COLUMN_CHARSET,
            MetadataField::Visibility(_) => COLUMN_VISIBILITY,
            MetadataField::VectorDimensions(_) => VECTOR_DIMENSIONALITY,
            MetadataField::Unknown { kind, .. } => *kind,
        }
    }

    /// Whether it says nothing; servers leave it out then.
    pub(super) fn is_empty(&self) -> bool {
        let mut data = Vec::new();
        self.encode_data(&mut data);
        data.is_empty()
    }

    /// Appends type, length and data.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut data = Vec::new();
        self.encode_data(&mut data);
        out.push(self.kind());
        put_bytes(out, &data);
    }

    fn encode_data(&self, out: &mut Vec<u8>) {
        match self {
            MetadataField::Signedness(bytes)
            | MetadataField::Visibility(bytes)
            | MetadataField::Unknown { data: bytes, .. } => out.extend_from_slice(bytes),
            MetadataField::DefaultCharset(charset) | MetadataField::EnumAndSetDefaultCharset(charset) => {
                charset.encode(out);
            }
            MetadataField::ColumnCharset(ids) | MetadataField::EnumAndSetColumnCharset(ids) => {
                ids.iter().for_each(|&id| put_lenenc(out, id.into()));
            }
            MetadataField::ColumnNames(names) => names.iter().for_each(|name| put_bytes(out, name)),
            MetadataField::SetMembers(columns) | MetadataField::EnumMembers(columns) => {
                for members in columns {
                    put_lenenc(out, members.len() as u64);
                    members.iter().for_each(|member| put_bytes(out, member));
                }
            }
            MetadataField::GeometryTypes(numbers)
            | MetadataField::PrimaryKey(numbers)
            | MetadataField::VectorDimensions(numbers) => numbers.iter().for_each(|&number| put_lenenc(out, number)),
            MetadataField::PrimaryKeyWithPrefix(parts) => {
                for &(column, prefix) in parts {
                    put_lenenc(out, column);
                    put_lenenc(out, prefix);
                }
            }
        }
    }
}

/// One collation for all columns of a kind, and those that have another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DefaultCharset {
    /// Collation id.
    pub default: u32,
    /// Place among the columns of the kind, and collation id.
    pub others: Vec<(u64, u32)>,
}

impl DefaultCharset {
    fn decode(data: &mut Cursor<'_>) -> Result<Self, DecodeError> {
        let default = take_collation(data)?;
        Ok(DefaultCharset { default, others: take_all(data, |data| Ok((data.lenenc()?, take_collation(data)?)))? })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        put_lenenc(out, self.default.into());
        for &(place, id) in &self.others {
            put_lenenc(out, place);
            put_lenenc(out, id.into());
        }
    }

    /// The shortest way to say the collations of these columns; none if none has one.
    pub(super) fn of<'c>(columns: impl Iterator<Item = &'c ColumnMeta>) -> Option<Self> {
        let ids: Vec<u32> = columns.filter_map(|column| column.collation).collect();
        let mut counts = BTreeMap::new();
        ids.iter().for_each(|id| *counts.entry(id).or_insert(0usize) += 1);
        let (&&default, _) = counts.iter().max_by_key(|&(_, count)| count)?;
        let others = ids.iter().enumerate().filter(|&(_, &id)| id != default).map(|(i, &id)| (i as u64, id)).collect();
        Some(DefaultCharset { default, others })
    }

    /// Gives the columns of the kind their collations.
    pub(super) fn put<'c>(&self, columns: impl Iterator<Item = &'c mut ColumnMeta>) {
        let others: BTreeMap<u64, u32> = self.others.iter().copied().collect();
        for (i, column) in columns.enumerate() {
            column.collation = Some(others.get(&(i as u64)).copied().unwrap_or(self.default));
        }
    }
}

/// Takes things up to the end.
fn take_all<'a, T>(
    data: &mut Cursor<'a>,
    mut take: impl FnMut(&mut Cursor<'a>) -> Result<T, DecodeError>,
) -> Result<Vec<T>, DecodeError> {
    let mut all = Vec::new();
    while !data.is_empty() {
        all.push(take(data)?);
    }
    Ok(all)
}

fn take_bytes<'a>(data: &mut Cursor<'a>) -> Result<&'a [u8], DecodeError> {
    let len = data.lenenc_len()?;
    data.take(len)
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_lenenc(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn take_members<'a>(data: &mut Cursor<'a>) -> Result<Vec<&'a [u8]>, DecodeError> {
    let mut members = Vec::new();
    for _ in 0..data.lenenc()? {
        members.push(take_bytes(data)?);
    }
    Ok(members)
}

fn take_collation(data: &mut Cursor<'_>) -> Result<u32, DecodeError> {
    u32::try_from(data.lenenc()?).map_err(|_| DecodeError::new("TABLE_MAP: bad collation"))
}

#[cfg(test)]
mod tests {
    use types::{CollationId, ColumnDef, ColumnType};

    use super::super::TableMap;
    use super::*;

    /// As MySQL 9.7 writes them: members in the character set that is said of their column.
    #[test]
    fn members_and_the_order_of_fields() {
        let members: std::sync::Arc<[String]> = ["é", "y"].map(str::to_owned).into();
        let mut columns = vec![
            ColumnDef::new("id", ColumnType::Int { unsigned: false }),
            ColumnDef::new("v", ColumnType::VarChar { chars: 20 }),
            ColumnDef::new("e", ColumnType::Enum { members: members.clone() }),
            ColumnDef::new("s", ColumnType::Set { members: members.clone() }),
            ColumnDef::new("u", ColumnType::Enum { members }),
        ];
        for column in &mut columns[2..4] {
            column.collation = CollationId::LATIN1_SWEDISH_CI;
        }
        let mut table = crate::tests::table();
        table.columns = columns;
        let mut body = Vec::new();
        TableMap::from_def(&table).encode_body(&mut body);
        let event = TableMapEvent::decode(&body).unwrap();
        let kinds: Vec<u8> = event.optional.iter().map(MetadataField::kind).collect();
        assert_eq!(kinds, [1, 2, 4, 10, 5, 6, 8, 12]);
        let latin1 = vec![&b"\xe9"[..], b"y"];
        let utf8 = vec!["é".as_bytes(), b"y"];
        assert!(event.optional.contains(&MetadataField::SetMembers(vec![latin1.clone()])), "{event:?}");
        assert!(event.optional.contains(&MetadataField::EnumMembers(vec![latin1, utf8])), "{event:?}");
    }
}
