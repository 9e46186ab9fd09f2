//! ALGORITHM and LOCK of ALTER TABLE: what they ask for is kept, or is an error.
//!
//! What changes the catalog alone is instant. Everything else has the table to itself until it is done, so no weaker lock can be kept;
//! new indexes are built beside the rows, and rows that change their form are written anew.

use base::{SqlError, codes};

use crate::parse::ast::Online;

/// What an ALTER TABLE has to do.
pub(super) struct Work {
    /// All rows are written anew.
    pub(super) is_copied: bool,
    /// Indexes are built, if not all of them.
    pub(super) is_built: bool,
    /// It names nothing else to be done.
    pub(super) is_nothing: bool,
    /// Values get another type.
    pub(super) converts: bool,
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

/// Whether what has to be done can be done so (1845, 1846). MySQL copies a table whose values get another type, and does not rename columns of
/// foreign keys then.
pub(super) fn check_kept(online: Option<&Online>, work: &Work) -> Result<(), SqlError> {
    let not_supported = |what: &str, instead: &str| {
        let message = format!("{what} is not supported for this operation. Try {instead}.");
        Err(SqlError::new(codes::ALTER_OPERATION_NOT_SUPPORTED, message))
    };
    let (algorithm, lock) = online.map_or((None, None), |online| (online.algorithm.as_deref(), online.lock.as_deref()));
    match algorithm {
        Some("INSTANT") if work.is_built => return not_supported("ALGORITHM=INSTANT", "ALGORITHM=COPY/INPLACE"),
        Some("NOCOPY") if work.is_copied => return not_supported("ALGORITHM=NOCOPY", "ALGORITHM=COPY/INPLACE"),
        Some("COPY" | "DEFAULT") | None if work.renames_keys && (work.converts || algorithm == Some("COPY")) => {
            let message = "ALGORITHM=COPY is not supported. Reason: Columns participating in a foreign key are renamed. Try \
                           ALGORITHM=INPLACE.";
            return Err(SqlError::new(codes::ALTER_OPERATION_NOT_SUPPORTED_REASON, message));
        }
        Some("INPLACE") if work.converts => {
            let message = "ALGORITHM=INPLACE is not supported. Reason: Cannot change column type INPLACE. Try \
                           ALGORITHM=COPY.";
            return Err(SqlError::new(codes::ALTER_OPERATION_NOT_SUPPORTED_REASON, message));
        }
        _ => {}
    }
    if work.is_nothing && matches!(lock, Some("NONE" | "SHARED")) {
        return not_supported("LOCK=NONE/SHARED", "LOCK=EXCLUSIVE");
    }
    match lock {
        Some(lock @ ("NONE" | "SHARED")) if work.is_built => not_supported(&format!("LOCK={lock}"), "LOCK=EXCLUSIVE"),
        _ => Ok(()),
    }
}
