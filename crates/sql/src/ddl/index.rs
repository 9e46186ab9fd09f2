//! Indexes: from what was written to an [`IndexDef`], with MySQL's limits.

use base::{IndexId, SqlError, codes};
use types::schema::same_name;
use types::{ColumnDef, ColumnType, IndexDef, KeyPart, TableDef};

use super::{check_comment, check_name};
use crate::expr::{WarningLevel, Warnings};
use crate::parse::ast::{IndexKind, IndexPart, IndexSpec, TableKey};

/// Longest key in bytes, as InnoDB has it.
const KEY_BYTES_MAX: u32 = 3072;
const PARTS_MAX: usize = 16;
const INDEXES_MAX: usize = 64;

/// The name of every clustered index.
pub(super) const PRIMARY: &str = "PRIMARY";

/// Adds an index to those of a table. The primary key goes first and makes its columns NOT NULL.
pub(super) fn add(
    spec: &IndexSpec,
    columns: &mut [ColumnDef],
    explicitly_null: &dyn Fn(&str) -> bool,
    indexes: &mut Vec<IndexDef>,
) -> Result<(), SqlError> {
    let parts = parts(&spec.parts, columns)?;
    check_comment(
        &spec.comment,
        1024,
        &format!("index '{}'", spec.name.as_deref().unwrap_or_default()),
        codes::TOO_LONG_INDEX_COMMENT,
    )?;
    let primary = spec.kind == IndexKind::Primary;
    if primary {
        if indexes.iter().any(|index| index.name == PRIMARY) {
            return Err(SqlError::new(codes::MULTIPLE_PRI_KEY, "Multiple primary key defined"));
        }
        for part in &parts {
            let column = &mut columns[part.column];
            if explicitly_null(&column.name) {
                return Err(primary_takes_no_null());
            }
            column.nullable = false;
        }
        if spec.invisible {
            return Err(primary_is_invisible());
        }
    }
    let name = if primary { PRIMARY.to_string() } else { name(spec, columns, &parts, indexes)? };
    if indexes.len() >= INDEXES_MAX {
        return Err(SqlError::new(
            codes::TOO_MANY_KEYS,
            format!("Too many keys specified; max {INDEXES_MAX} keys allowed"),
        ));
    }
    let index = IndexDef {
        id: IndexId(0),
        name,
        parts,
        unique: spec.kind != IndexKind::Plain,
        comment: spec.comment.clone(),
        visible: !spec.invisible,
        generated: spec.generated,
    };
    let place = if primary { 0 } else { indexes.len() };
    indexes.insert(place, index);
    Ok(())
}

/// A note for each index that is to be a hash table: it is a B-tree, as in InnoDB.
pub(super) fn warn_of_hash(keys: &[TableKey], warnings: &Warnings) {
    for _ in keys.iter().filter_map(TableKey::index).filter(|index| index.hash) {
        let message =
            "This storage engine does not support the HASH index algorithm, storage engine default was used instead.";
        warnings.push(WarningLevel::Note, codes::UNSUPPORTED_INDEX_ALGORITHM, message.to_owned());
    }
}

/// A warning for each index that another of the table does as well; of `old` indexes nothing is said.
pub(super) fn warn_of_duplicates(def: &TableDef, old: &[IndexDef], warnings: &Warnings) {
    let is_same = |a: &IndexDef, b: &IndexDef| a.unique == b.unique && a.parts == b.parts && b.name != PRIMARY;
    for (place, index) in def.indexes.iter().enumerate() {
        let is_new = !old.iter().any(|known| same_name(&known.name, &index.name));
        if is_new && !index.generated && def.indexes[..place].iter().any(|before| is_same(index, before)) {
            let message = format!(
                "Duplicate index '{}' defined on the table '{}.{}'. This is deprecated and will be disallowed in a future release.",
                index.name, def.schema, def.name
            );
            warnings.push(WarningLevel::Warning, codes::DUP_INDEX, message);
        }
    }
}

/// Indexes that were made for foreign keys go where others can take their place, as in MySQL and MariaDB.
pub(super) fn drop_covered(indexes: &mut Vec<IndexDef>, is_of_maria: bool) {
    let is_covered =
        |index: &IndexDef, others: &[IndexDef]| others.iter().any(|other| other.covers(index, is_of_maria));
    while let Some(at) = indexes.iter().position(|index| is_covered(index, indexes)) {
        indexes.remove(at);
    }
}

/// An index that was made for a foreign key of the table's model is an index like others in a table that is written out.
pub(super) fn keep_without_foreign_key(def: &mut TableDef) {
    for index in &mut def.indexes {
        let columns: Vec<usize> = index.parts.iter().map(|part| part.column).collect();
        index.generated &= def.foreign_keys.iter().any(|key| key.columns == columns);
    }
}

/// MySQL's order: the primary key, unique keys without NULL, other unique keys, the rest; of the unique ones, those that have
/// whole columns alone come first. Those of one kind are as they were written.
pub(super) fn sort(indexes: &mut [IndexDef], columns: &[ColumnDef]) {
    indexes.sort_by_key(|index| {
        if index.name == PRIMARY {
            (0, false)
        } else if index.unique {
            let is_nullable = index.parts.iter().any(|part| columns[part.column].nullable);
            (if is_nullable { 2 } else { 1 }, index.parts.iter().any(|part| part.prefix_chars.is_some()))
        } else {
            (3, false)
        }
    });
}

/// The parts of an index over these columns, within the limits.
pub(super) fn parts(specs: &[IndexPart], columns: &[ColumnDef]) -> Result<Vec<KeyPart>, SqlError> {
    if specs.len() > PARTS_MAX {
        let message = format!("Too many key parts specified; max {PARTS_MAX} parts allowed");
        return Err(SqlError::new(codes::TOO_MANY_KEY_PARTS, message));
    }
    let mut parts: Vec<KeyPart> = Vec::with_capacity(specs.len());
    let mut bytes = 0;
    for spec in specs {
        let missing = || {
            let message = format!("Key column '{}' doesn't exist in table", spec.column);
            SqlError::new(codes::KEY_COLUMN_DOES_NOT_EXIST, message)
        };
        let at = columns.iter().position(|column| same_name(&column.name, &spec.column)).ok_or_else(missing)?;
        if parts.iter().any(|part| part.column == at) {
            return Err(SqlError::new(codes::DUP_FIELDNAME, format!("Duplicate column name '{}'", spec.column)));
        }
        let part = KeyPart { column: at, prefix_chars: prefix(spec, &columns[at])?, descending: spec.descending };
        bytes += part_bytes(&part, &columns[at]);
        parts.push(part);
    }
    if bytes > KEY_BYTES_MAX {
        let message = format!("Specified key was too long; max key length is {KEY_BYTES_MAX} bytes");
        return Err(SqlError::new(codes::TOO_LONG_KEY, message));
    }
    Ok(parts)
}

/// The prefix of a part, `None` for the whole column.
fn prefix(spec: &IndexPart, column: &ColumnDef) -> Result<Option<u32>, SqlError> {
    let wrong = || {
        let message = "Incorrect prefix key; the used key part isn't a string, the used length is longer than the key \
                       part, or the storage engine doesn't support unique prefix keys";
        SqlError::new(codes::WRONG_SUB_KEY, message)
    };
    let whole = match column.ty {
        ColumnType::Char { chars: 0 } | ColumnType::VarChar { chars: 0 } => {
            let message = format!("The used storage engine can't index column '{}'", column.name);
            return Err(SqlError::new(codes::WRONG_KEY_COLUMN, message));
        }
        ColumnType::Char { chars } | ColumnType::VarChar { chars } => chars,
        ColumnType::Binary { bytes } | ColumnType::VarBinary { bytes } => bytes,
        ColumnType::Text { .. } | ColumnType::Blob { .. } => {
            let missing = || {
                let message =
                    format!("BLOB/TEXT column '{}' used in key specification without a key length", column.name);
                SqlError::new(codes::BLOB_KEY_WITHOUT_LENGTH, message)
            };
            return match spec.prefix.ok_or_else(missing)? {
                0 => Err(zero_length(&column.name)),
                prefix => Ok(Some(prefix)),
            };
        }
        ColumnType::Json => {
            let message = format!(
                "JSON column '{}' supports indexing only via generated columns on a specified JSON path.",
                column.name
            );
            return Err(SqlError::new(codes::JSON_USED_AS_KEY, message));
        }
        _ if spec.prefix.is_some() => return Err(wrong()),
        _ => return Ok(None),
    };
    match spec.prefix {
        Some(0) => Err(zero_length(&column.name)),
        Some(prefix) if prefix > whole => Err(wrong()),
        Some(prefix) if prefix < whole => Ok(Some(prefix)),
        _ => Ok(None),
    }
}

fn zero_length(name: &str) -> SqlError {
    SqlError::new(codes::KEY_PART_0, format!("Key part '{name}' length cannot be 0"))
}

fn part_bytes(part: &KeyPart, column: &ColumnDef) -> u32 {
    let width = match column.ty {
        ColumnType::Text { .. } => column.collation.charset().max_bytes_per_char(),
        ColumnType::Char { .. } | ColumnType::VarChar { .. } => column.collation.charset().max_bytes_per_char(),
        _ => 1,
    };
    match part.prefix_chars {
        Some(prefix) => prefix.saturating_mul(width),
        None if column.ty.is_string() => column.max_bytes(),
        None => 8,
    }
}

/// The name that was given, or one made of the first column.
fn name(spec: &IndexSpec, columns: &[ColumnDef], parts: &[KeyPart], indexes: &[IndexDef]) -> Result<String, SqlError> {
    let taken = |name: &str| indexes.iter().any(|index| same_name(&index.name, name));
    if let Some(name) = &spec.name {
        let wrong = || SqlError::new(codes::WRONG_NAME_FOR_INDEX, format!("Incorrect index name '{name}'"));
        check_name(name, wrong)?;
        if same_name(name, PRIMARY) {
            return Err(wrong());
        }
        if taken(name) {
            return Err(duplicate(name));
        }
        return Ok(name.clone());
    }
    let first = parts.first().map_or("key", |part| columns[part.column].name.as_str());
    if !taken(first) && !same_name(first, PRIMARY) {
        return Ok(first.to_string());
    }
    let numbered = (2..).map(|number| format!("{first}_{number}")).find(|name| !taken(name));
    numbered.ok_or_else(|| duplicate(first))
}

pub(super) fn primary_is_invisible() -> SqlError {
    SqlError::new(codes::PK_INDEX_CANT_BE_INVISIBLE, "A primary key index cannot be invisible")
}

/// 1171.
pub(super) fn primary_takes_no_null() -> SqlError {
    let message = "All parts of a PRIMARY KEY must be NOT NULL; if you need NULL in a key, use UNIQUE instead";
    SqlError::new(codes::PRIMARY_CANT_HAVE_NULL, message)
}

/// 1061.
pub(super) fn duplicate(name: &str) -> SqlError {
    SqlError::new(codes::DUP_KEYNAME, format!("Duplicate key name '{name}'"))
}
