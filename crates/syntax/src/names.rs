//! What can be the name of something.

use base::{SqlError, codes};

/// Characters that a name of a database, a table, a column and the like may have.
const NAME_CHARS_MAX: usize = 64;

/// 1046
pub fn no_database() -> SqlError {
    SqlError::new(codes::NO_DB_ERROR, "No database selected")
}

/// 1059 for a name that nothing can have.
///
/// # Errors
/// That one.
pub fn check_length(name: &str) -> Result<(), SqlError> {
    if name.chars().count() > NAME_CHARS_MAX {
        return Err(SqlError::new(codes::TOO_LONG_IDENT, format!("Identifier name '{name}' is too long")));
    }
    Ok(())
}

/// Checks a name that is given to something new; `wrong` is the error for one that cannot be a name at all.
///
/// # Errors
/// That one, or 1059.
pub fn check_name(name: &str, wrong: impl FnOnce() -> SqlError) -> Result<(), SqlError> {
    check_length(name)?;
    if name.is_empty() || name.ends_with(' ') || name.contains('\0') {
        return Err(wrong());
    }
    Ok(())
}

/// Checks the name of a database.
///
/// # Errors
/// 1102 for what can be none's name, 1059.
pub fn check_database_name(name: &str) -> Result<(), SqlError> {
    check_name(name, || SqlError::new(codes::WRONG_DB_NAME, format!("Incorrect database name '{name}'")))
}

/// Checks the name of a table.
///
/// # Errors
/// 1103 for what can be none's name, 1059.
pub fn check_table_name(name: &str) -> Result<(), SqlError> {
    check_name(name, || SqlError::new(codes::WRONG_TABLE_NAME, format!("Incorrect table name '{name}'")))
}
