//! Column definitions: the shape of a result set, or of a prepared statement's parameters.

use types::charset::Charset;

use crate::WireError;
use crate::codec::{Put, Reader, text};

/// One column, as it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Column<'a> {
    /// Database of the table; empty for an expression.
    pub schema: &'a str,
    /// Alias of the table.
    pub table: &'a str,
    /// The table's own name.
    pub org_table: &'a str,
    /// Alias of the column.
    pub name: &'a str,
    /// The column's own name.
    pub org_name: &'a str,
    /// Collation number; 63 (binary) for what is not text.
    pub collation: u16,
    /// Display width in bytes.
    pub length: u32,
    /// Of [`crate::flags::column_type`].
    pub ty: u8,
    /// Of [`crate::flags::column_flag`].
    pub flags: u16,
    /// Digits after the point; 31 for "not fixed".
    pub decimals: u8,
}

/// Bytes of the fixed fields that follow the names.
const FIXED_BYTES: u64 = 12;

impl Column<'_> {
    /// Appends the packet's payload, names in a character set.
    pub fn encode(&self, out: &mut Vec<u8>, charset: Charset) {
        out.put_lenenc_bytes(b"def");
        for name in [self.schema, self.table, self.org_table, self.name, self.org_name] {
            out.put_lenenc_bytes(&charset.encode_lossy(name.as_bytes()));
        }
        out.put_lenenc(FIXED_BYTES);
        out.put_u16(self.collation);
        out.put_u32(self.length);
        out.push(self.ty);
        out.put_u16(self.flags);
        out.push(self.decimals);
        out.put_u16(0);
    }
}

/// One column, as a client reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedColumn {
    /// See [`Column::schema`].
    pub schema: String,
    /// See [`Column::table`].
    pub table: String,
    /// See [`Column::org_table`].
    pub org_table: String,
    /// See [`Column::name`].
    pub name: String,
    /// See [`Column::org_name`].
    pub org_name: String,
    /// See [`Column::collation`].
    pub collation: u16,
    /// See [`Column::length`].
    pub length: u32,
    /// See [`Column::ty`].
    pub ty: u8,
    /// See [`Column::flags`].
    pub flags: u16,
    /// See [`Column::decimals`].
    pub decimals: u8,
}

impl OwnedColumn {
    /// Reads the packet.
    pub fn decode(packet: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(packet);
        reader.lenenc_bytes("catalog")?;
        let schema = text(reader.lenenc_bytes("schema of a column")?);
        let table = text(reader.lenenc_bytes("table of a column")?);
        let org_table = text(reader.lenenc_bytes("table of a column")?);
        let name = text(reader.lenenc_bytes("name of a column")?);
        let org_name = text(reader.lenenc_bytes("name of a column")?);
        reader.lenenc("fixed fields of a column")?;
        Ok(OwnedColumn {
            schema,
            table,
            org_table,
            name,
            org_name,
            collation: reader.u16("collation of a column")?,
            length: reader.u32("length of a column")?,
            ty: reader.u8("type of a column")?,
            flags: reader.u16("flags of a column")?,
            decimals: reader.u8("decimals of a column")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::{column_flag, column_type};

    #[test]
    fn round_trip() {
        let column = Column {
            schema: "test",
            table: "t",
            org_table: "t1",
            name: "a",
            org_name: "b",
            collation: 45,
            length: 1020,
            ty: column_type::VAR_STRING,
            flags: column_flag::NOT_NULL,
            decimals: 0,
        };
        let mut packet = Vec::new();
        column.encode(&mut packet, Charset::Utf8Mb4);
        let read = OwnedColumn::decode(&packet).unwrap();
        assert_eq!((read.schema.as_str(), read.table.as_str(), read.name.as_str()), ("test", "t", "a"));
        assert_eq!((read.org_table.as_str(), read.org_name.as_str()), ("t1", "b"));
        assert_eq!((read.collation, read.length, read.ty, read.flags), (45, 1020, column_type::VAR_STRING, 1));
    }
}
