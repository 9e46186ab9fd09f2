//! Columns in a line of text: `NAME type, NAME type?, …`.
//!
//! | letter | type |
//! |---|---|
//! | `v64` | VARCHAR(64) |
//! | `w64` | the same, compared by the codes of its characters |
//! | `t` | LONGTEXT |
//! | `x` | the same, compared by the codes of its characters |
//! | `i` | INT |
//! | `n` | INT UNSIGNED |
//! | `b` | BIGINT |
//! | `u` | BIGINT UNSIGNED |
//! | `d` | DOUBLE |
//! | `s` | DATETIME |
//! | `p` | DATETIME(6) |
//!
//! A `?` behind it: may be NULL. Names may have spaces.

use types::{BlobSize, CollationId, ColumnDef, ColumnType};

/// The columns that a line describes.
///
/// # Panics
/// If the line is not of this form; all lines are constants, and a test reads them.
pub(crate) fn column_spec(line: &str) -> Vec<ColumnDef> {
    line.split(',').map(|column| one(column.trim())).collect()
}

fn one(column: &str) -> ColumnDef {
    let (name, ty) = column.rsplit_once(' ').unwrap_or_else(|| panic!("'{column}' has no type"));
    let nullable = ty.ends_with('?');
    let ty = ty.trim_end_matches('?');
    let column_type = match ty.split_at(1) {
        ("v" | "w", chars) => {
            ColumnType::VarChar { chars: chars.parse().unwrap_or_else(|_| panic!("'{column}' has no length")) }
        }
        ("t" | "x", _) => ColumnType::Text { size: BlobSize::Long },
        ("i", _) => ColumnType::Int { unsigned: false },
        ("n", _) => ColumnType::Int { unsigned: true },
        ("b", _) => ColumnType::BigInt { unsigned: false },
        ("u", _) => ColumnType::BigInt { unsigned: true },
        ("d", _) => ColumnType::Double { unsigned: false },
        ("s", _) => ColumnType::DateTime { fsp: 0 },
        ("p", _) => ColumnType::DateTime { fsp: 6 },
        _ => panic!("'{column}' has an unknown type"),
    };
    let mut def = ColumnDef::new(name, column_type);
    def.nullable = nullable;
    if def.ty.has_charset() {
        def.collation = match ty.starts_with(['w', 'x']) {
            true => CollationId::UTF8MB4_BIN,
            false => CollationId::UTF8MB4_GENERAL_CI,
        };
    }
    def
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::information_schema::TABLES;

    #[test]
    fn all_lines_can_be_read() {
        for table in TABLES {
            assert!(!column_spec(table.columns).is_empty(), "{}", table.name);
        }
        let columns = column_spec("Default collation v64, Maxlen u?");
        assert_eq!(columns[0].name, "Default collation");
        assert!(columns[1].nullable && columns[1].ty == ColumnType::BigInt { unsigned: true });
    }
}
