//! What is known of a table's columns: what the log says, and where it does not, what somebody else knows ([`Lookup`]).
//!
//! A log with `binlog_row_metadata=FULL` says all. MySQL's default says signedness and collations, but neither names nor members nor the
//! primary key; MariaDB's default says nothing but types.

use std::borrow::Cow;
use std::sync::Arc;

use binlog::event::column_type;

use crate::charset::text_of;
use crate::error::EventError;
use crate::event::{ColumnMeta, Table, TableMap};
use crate::value::Value;

/// A column as a server's information_schema knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Name.
    pub name: String,
    /// `DATA_TYPE`, in lower case.
    pub data_type: String,
    /// Of numbers.
    pub unsigned: bool,
    /// Of strings; empty for none.
    pub charset: String,
    /// Of ENUM and SET.
    pub members: Vec<String>,
    /// Computed from others: it cannot be assigned.
    pub generated: bool,
}

/// A table as a server's information_schema knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableInfo {
    /// In order.
    pub columns: Vec<ColumnInfo>,
    /// Columns of the primary key.
    pub primary_key: Vec<usize>,
}

/// Knows tables that the log says too little of. What it says is of today, and the log may be of yesterday: it is taken only for a table
/// that has as many columns.
pub trait Lookup {
    /// The table, if it is there.
    ///
    /// # Errors
    /// When it cannot be asked.
    fn table(&mut self, database: &str, table: &str) -> Result<Option<Arc<TableInfo>>, EventError>;

    /// A statement may have changed a definition.
    fn changed(&mut self) {}
}

/// The member of an ENUM, or the members of a SET that a value has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Chosen<'d> {
    /// Text.
    Text(Cow<'d, str>),
    /// What is no text of the column's character set, or of one that cannot be read here.
    Bytes(Vec<u8>),
}

/// Knows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLookup;

impl Lookup for NoLookup {
    fn table(&mut self, _: &str, _: &str) -> Result<Option<Arc<TableInfo>>, EventError> {
        Ok(None)
    }
}

/// A table's columns, as far as they are known.
#[derive(Clone, Debug)]
pub struct Described {
    /// Database.
    pub database: String,
    /// Name.
    pub table: String,
    /// What the log says.
    pub map: TableMap,
    /// What somebody else knows, if that was needed and it is a table of as many columns.
    pub info: Option<Arc<TableInfo>>,
    /// Columns of the primary key, without those of which only a prefix counts; empty if it is not known or there is none.
    pub key: Vec<usize>,
    /// Of each column; empty for what has none.
    charsets: Vec<String>,
}

impl Described {
    /// Asks a table, and `lookup` if the table does not say all. No table says which columns are generated: who needs that asks for it.
    ///
    /// # Errors
    /// Where the table cannot be read, or `lookup` cannot be asked.
    pub fn of(table: &dyn Table, lookup: &mut dyn Lookup, wants_generated: bool) -> Result<Self, EventError> {
        let map = table.definition()?.ok_or_else(EventError::missing("table", "its columns"))?.clone();
        let lacks_something = |column: &ColumnMeta| {
            let is_list = matches!(column.real_type().0, column_type::ENUM | column_type::SET);
            column.name.is_none()
                || (is_integer(column) && column.unsigned.is_none())
                || (is_list && column.members.is_empty())
                || may_be_address_or_vector(column)
        };
        let info = match wants_generated || map.columns.iter().any(lacks_something) {
            false => None,
            true => lookup.table(&map.schema, &map.table)?.filter(|info| info.columns.len() == map.columns.len()),
        };
        let key = match &info {
            _ if !map.primary_key.is_empty() => {
                let whole = map.primary_key.iter().all(|&(_, prefix)| prefix == 0);
                if whole { map.primary_key.iter().map(|&(column, _)| column).collect() } else { Vec::new() }
            }
            Some(info) => info.primary_key.clone(),
            None => Vec::new(),
        };
        let charsets = map.columns.iter().enumerate().map(|(i, column)| match (column.collation, &info) {
            (Some(id), _) => binlog::charset_of_collation(id).unwrap_or_default().to_owned(),
            (None, Some(info)) if is_binary(&info.columns[i].data_type) => "binary".to_owned(),
            (None, Some(info)) => info.columns[i].charset.clone(),
            (None, None) => String::new(),
        });
        let charsets = charsets.collect();
        let key = if key.iter().all(|&column| column < map.columns.len()) { key } else { Vec::new() };
        Ok(Described { database: map.schema.clone(), table: map.table.clone(), info, key, charsets, map })
    }

    /// The column's name, `@1` for the first if it is not known.
    pub fn name(&self, column: usize) -> String {
        let told = self.map.columns.get(column).and_then(|column| column.name.clone());
        let known = || self.info.as_ref().and_then(|info| info.columns.get(column)).map(|column| column.name.clone());
        told.or_else(known).unwrap_or_else(|| format!("@{}", column + 1))
    }

    /// Whether all names are known.
    pub fn has_names(&self) -> bool {
        self.info.is_some() || self.map.columns.iter().all(|column| column.name.is_some())
    }

    /// The character set of a string; empty if it is not known, `binary` for bytes.
    pub fn charset(&self, column: usize) -> &str {
        self.charsets.get(column).map_or("", String::as_str)
    }

    /// The members of an ENUM or SET with these places among them, with commas between them; `None` if one is not known.
    pub(crate) fn chosen(&self, column: usize, places: impl Iterator<Item = usize>) -> Option<Chosen<'_>> {
        match self.map.columns.get(column) {
            Some(told) if !told.members.is_empty() => {
                let members =
                    places.map(|place| told.members.get(place).map(Vec::as_slice)).collect::<Option<Vec<_>>>()?;
                Some(chosen_of(self.charset(column), &members))
            }
            _ => {
                let members = &self.known(column)?.members;
                let members = places.map(|place| members.get(place).map(String::as_str)).collect::<Option<Vec<_>>>()?;
                let text = match members[..] {
                    [member] => member.into(),
                    _ => members.join(",").into(),
                };
                Some(Chosen::Text(text))
            }
        }
    }

    /// Whether the members of an ENUM or SET are known.
    pub(crate) fn has_members(&self, column: usize) -> bool {
        let told = self.map.columns.get(column).is_some_and(|told| !told.members.is_empty());
        told || self.known(column).is_some_and(|known| !known.members.is_empty())
    }

    /// Whether the column is computed and cannot be assigned; false if that is not known.
    pub fn is_generated(&self, column: usize) -> bool {
        self.known(column).is_some_and(|known| known.generated)
    }

    /// Whether its bytes are a vector's numbers.
    pub(crate) fn is_vector(&self, column: usize) -> bool {
        self.real_type(column) == column_type::VECTOR || self.data_type(column) == Some("vector")
    }

    /// Its type by name, if somebody was asked.
    pub fn data_type(&self, column: usize) -> Option<&str> {
        self.known(column).map(|known| known.data_type.as_str())
    }

    fn known(&self, column: usize) -> Option<&ColumnInfo> {
        self.info.as_ref()?.columns.get(column)
    }

    /// The type of the column, and whether it is an ENUM or a SET.
    pub fn real_type(&self, column: usize) -> u8 {
        self.map.columns.get(column).map_or(column_type::NULL, |column| column.real_type().0)
    }

    /// A value with the sign that the column gives it.
    pub fn signed<'v>(&self, column: usize, value: Value<'v>) -> Value<'v> {
        let unsaid = self.map.columns.get(column).is_some_and(|column| column.unsigned.is_none());
        match value {
            Value::Int(number) if unsaid && self.known(column).is_some_and(|known| known.unsigned) => {
                let bits = match self.real_type(column) {
                    column_type::TINY => 8,
                    column_type::SHORT => 16,
                    column_type::INT24 => 24,
                    column_type::LONG => 32,
                    _ => 64,
                };
                Value::UInt(number as u64 & (u64::MAX >> (64 - bits)))
            }
            value => value,
        }
    }
}

/// Types whose bytes have no character set.
fn is_binary(data_type: &str) -> bool {
    data_type.ends_with("blob") || matches!(data_type, "binary" | "varbinary")
}

/// Whether a log says of the column what MariaDB's says of an INET4, INET6, UUID or VECTOR as well: that it has bytes.
fn may_be_address_or_vector(column: &ColumnMeta) -> bool {
    const BINARY: u32 = 63;
    let has_size = match column.real_type() {
        (column_type::STRING, size) => matches!(size, 4 | 16),
        (column_type::VARCHAR, size) => size > 0 && size.is_multiple_of(size_of::<f32>()),
        _ => false,
    };
    has_size && column.collation == Some(BINARY)
}

/// Members in a character set as one value; without a character set they are text if they are UTF-8.
fn chosen_of<'d>(charset: &str, members: &[&'d [u8]]) -> Chosen<'d> {
    let text = |member: &&'d [u8]| match charset {
        "" | "binary" => std::str::from_utf8(member).ok().map(Cow::Borrowed),
        charset => text_of(charset, member),
    };
    match members {
        [member] => text(member).map_or_else(|| Chosen::Bytes(member.to_vec()), Chosen::Text),
        _ => match members.iter().map(text).collect::<Option<Vec<_>>>() {
            Some(texts) => Chosen::Text(texts.join(",").into()),
            None => Chosen::Bytes(members.join(&b","[..])),
        },
    }
}

fn is_integer(column: &ColumnMeta) -> bool {
    use column_type::*;
    matches!(column.type_code, TINY | SHORT | INT24 | LONG | LONGLONG)
}

impl Described {
    /// What is stored as bytes and shown otherwise: MariaDB's UUID, INET4 and INET6, if somebody says that the column is one.
    pub(crate) fn address_text(&self, column: usize, bytes: &[u8]) -> Option<String> {
        // The log leaves out zeros at the end.
        let whole = |len: usize| (bytes.len() <= len).then(|| [bytes, &vec![0; len - bytes.len()]].concat());
        match self.data_type(column)? {
            "uuid" => Some(base::Uuid(whole(16)?.try_into().ok()?).to_string()),
            "inet4" => Some(std::net::Ipv4Addr::from(<[u8; 4]>::try_from(whole(4)?).ok()?).to_string()),
            "inet6" => Some(std::net::Ipv6Addr::from(<[u8; 16]>::try_from(whole(16)?).ok()?).to_string()),
            _ => None,
        }
    }

    /// Bytes of a BINARY column with the zeros at their end, which a log leaves out.
    pub(crate) fn padded<'b>(&self, column: usize, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let Some(meta) = self.map.columns.get(column) else { return Cow::Borrowed(bytes) };
        let (real_type, len) = meta.real_type();
        let is_fixed = meta.type_code == column_type::STRING && real_type == column_type::STRING;
        if !is_fixed || self.charset(column) != "binary" || bytes.len() >= len {
            return Cow::Borrowed(bytes);
        }
        let mut padded = bytes.to_vec();
        padded.resize(len, 0);
        Cow::Owned(padded)
    }
}
