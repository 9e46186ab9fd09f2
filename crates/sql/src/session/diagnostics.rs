//! The warnings and the error of the last statement.

use crate::expr::{Warning, WarningLevel};

/// What SHOW WARNINGS, SHOW ERRORS and `@@warning_count` show.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    /// Those that were kept.
    pub(crate) list: Vec<Warning>,
    /// All of them, also those that were not kept.
    pub(crate) total: u64,
    /// The statement that runs is a diagnostic one, which leaves them as they are.
    pub(crate) kept: bool,
}

impl Diagnostics {
    /// Warnings, notes and errors of the last statement.
    pub(crate) fn warning_count(&self) -> u64 {
        self.total
    }

    /// Errors of the last statement.
    pub(crate) fn error_count(&self) -> u64 {
        self.list.iter().filter(|warning| warning.level == WarningLevel::Error).count() as u64
    }

    pub(crate) fn clear(&mut self) {
        if self.total > 0 {
            self.list.clear();
            self.total = 0;
        }
    }
}
