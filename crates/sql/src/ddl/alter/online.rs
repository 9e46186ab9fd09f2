//! ALGORITHM and LOCK of ALTER TABLE: what they ask for is kept, or is an error.
//!
//! What changes the catalog alone is instant. Everything else has the table to itself until it is done, so no weaker lock can be kept;
//! new indexes are built beside the rows, and rows that change their form are written anew.

use base::{SqlError, codes};
use types::{IndexDef, TableDef};

use super::copying::Copying;
use crate::parse::ast::{AlterAction, AlterTable, Online};

/// What an ALTER TABLE has to do.
pub(super) struct Work<'a> {
    pub(super) copying: &'a Copying,
    /// All rows are written anew.
    pub(super) is_copied: bool,
    /// Indexes are built, if not all of them.
    pub(super) is_built: bool,
    /// It names nothing else to be done.
    pub(super) is_nothing: bool,
    /// Columns of foreign keys, or columns to which some refer, get another name.
    pub(super) renames_keys: bool,
}

/// Whether the words are known, and go together (1800, 1801, 1221, 1846).
pub(super) fn check(online: &Online) -> Result<(), SqlError> {
    let algorithm = online.algorithm.as_deref().unwrap_or("DEFAULT");
    let lock = online.lock.as_deref().unwrap_or("DEFAULT");
    if !["DEFAULT", "INSTANT", "INPLACE", "COPY", "NOCOPY"].contains(&algorithm) {
        let message = format!("Unknown ALGORITHM '{}'", algorithm.to_lowercase());
        return Err(SqlError::new(codes::UNKNOWN_ALTER_ALGORITHM, message));
    }
    if !["DEFAULT", "NONE", "SHARED", "EXCLUSIVE"].contains(&lock) {
        let message = format!("Unknown LOCK type '{}'", lock.to_lowercase());
        return Err(SqlError::new(codes::UNKNOWN_ALTER_LOCK, message));
    }
    match (algorithm, lock) {
        ("INSTANT", "NONE" | "SHARED" | "EXCLUSIVE") => {
            let message = "Incorrect usage of ALGORITHM=INSTANT and LOCK=NONE/SHARED/EXCLUSIVE";
            Err(SqlError::new(codes::WRONG_USAGE, message))
        }
        ("COPY", "NONE") => {
            let message = "LOCK=NONE is not supported. Reason: COPY algorithm requires a lock. Try LOCK=SHARED.";
            Err(SqlError::new(codes::ALTER_OPERATION_NOT_SUPPORTED_REASON, message))
        }
        _ => Ok(()),
    }
}

/// ALGORITHM=COPY
pub(super) fn asks_copy(alter: &AlterTable) -> bool {
    alter.online.as_ref().and_then(|online| online.algorithm.as_deref()) == Some("COPY")
}

/// Whether the primary key goes and no other key comes that could be it, but a generated one, which the log names: MySQL copies the table.
pub(super) fn drops_key(alter: &AlterTable, old: &TableDef, new: &TableDef) -> bool {
    let is_old = |index: &IndexDef| old.indexes.iter().any(|old| old.id == index.id);
    let mut added = new.indexes.iter().skip(usize::from(new.generated_pk)).filter(|index| !is_old(index));
    alter.says(|action| matches!(action, AlterAction::DropPrimaryKey)) && !added.any(|index| new.is_candidate(index))
}

/// Whether what has to be done can be done so (1845, 1846). MySQL copies a table whose values get another type, and does not rename columns of
/// foreign keys then.
pub(super) fn check_kept(online: Option<&Online>, work: &Work<'_>) -> Result<(), SqlError> {
    let not_supported = |what: &str, instead: &str| {
        let message = format!("{what} is not supported for this operation. Try {instead}.");
        Err(SqlError::new(codes::ALTER_OPERATION_NOT_SUPPORTED, message))
    };
    let because = |what: &str, reason: &str, instead: &str| {
        let message = format!("{what} is not supported. Reason: {reason}. Try {instead}.");
        Err(SqlError::new(codes::ALTER_OPERATION_NOT_SUPPORTED_REASON, message))
    };
    let copying = work.copying;
    let (algorithm, lock) = online.map_or((None, None), |online| (online.algorithm.as_deref(), online.lock.as_deref()));
    if copying.silences_null {
        let silently = "cannot silently convert NULL values, as required in this SQL_MODE";
        match (algorithm, lock) {
            (Some("INPLACE"), _) => return because("ALGORITHM=INPLACE", silently, "ALGORITHM=COPY"),
            (Some("INSTANT"), _) => return because("ALGORITHM=INSTANT", silently, "ALGORITHM=COPY/INPLACE"),
            (_, Some("NONE")) => return because("LOCK=NONE", silently, "LOCK=SHARED"),
            _ => {}
        }
    }
    const KEY_GOES: &str = "Dropping a primary key is not allowed without also adding a new primary key";
    match algorithm {
        Some("INSTANT") if copying.converts => {
            let reason = "Need to rebuild the table to change column type";
            return because("ALGORITHM=INSTANT", reason, "ALGORITHM=COPY/INPLACE");
        }
        Some("INSTANT") if copying.drops_key => {
            return because("ALGORITHM=INSTANT", KEY_GOES, "ALGORITHM=COPY/INPLACE");
        }
        Some("INSTANT") if work.is_built => return not_supported("ALGORITHM=INSTANT", "ALGORITHM=COPY/INPLACE"),
        Some("NOCOPY") if work.is_copied => return not_supported("ALGORITHM=NOCOPY", "ALGORITHM=COPY/INPLACE"),
        Some("COPY" | "DEFAULT") | None if work.renames_keys && copying.is_done => {
            let reason = "Columns participating in a foreign key are renamed";
            return because("ALGORITHM=COPY", reason, "ALGORITHM=INPLACE");
        }
        Some("INPLACE") if copying.converts => {
            return because("ALGORITHM=INPLACE", "Cannot change column type INPLACE", "ALGORITHM=COPY");
        }
        Some("INPLACE") if copying.drops_key => return because("ALGORITHM=INPLACE", KEY_GOES, "ALGORITHM=COPY"),
        _ => {}
    }
    if work.is_nothing && matches!(lock, Some("NONE" | "SHARED")) {
        return not_supported("LOCK=NONE/SHARED", "LOCK=EXCLUSIVE");
    }
    match lock {
        Some("NONE") if copying.converts => because("LOCK=NONE", "Cannot change column type INPLACE", "LOCK=SHARED"),
        Some("NONE") if copying.drops_key => because("LOCK=NONE", KEY_GOES, "LOCK=SHARED"),
        Some(lock @ ("NONE" | "SHARED")) if work.is_built => not_supported(&format!("LOCK={lock}"), "LOCK=EXCLUSIVE"),
        _ => Ok(()),
    }
}
