//! `sql_mode`, with MySQL's own bits (QUERY events carry them).

/// A set of modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SqlMode(pub u64);

#[allow(missing_docs, reason = "MySQL's own names")]
impl SqlMode {
    pub const REAL_AS_FLOAT: SqlMode = SqlMode(1);
    pub const PIPES_AS_CONCAT: SqlMode = SqlMode(2);
    pub const ANSI_QUOTES: SqlMode = SqlMode(4);
    pub const IGNORE_SPACE: SqlMode = SqlMode(8);
    pub const ONLY_FULL_GROUP_BY: SqlMode = SqlMode(32);
    pub const NO_UNSIGNED_SUBTRACTION: SqlMode = SqlMode(64);
    pub const NO_DIR_IN_CREATE: SqlMode = SqlMode(128);
    pub const NO_AUTO_VALUE_ON_ZERO: SqlMode = SqlMode(1 << 19);
    pub const NO_BACKSLASH_ESCAPES: SqlMode = SqlMode(1 << 20);
    pub const STRICT_TRANS_TABLES: SqlMode = SqlMode(1 << 21);
    pub const STRICT_ALL_TABLES: SqlMode = SqlMode(1 << 22);
    pub const NO_ZERO_IN_DATE: SqlMode = SqlMode(1 << 23);
    pub const NO_ZERO_DATE: SqlMode = SqlMode(1 << 24);
    pub const ALLOW_INVALID_DATES: SqlMode = SqlMode(1 << 25);
    pub const ERROR_FOR_DIVISION_BY_ZERO: SqlMode = SqlMode(1 << 26);
    pub const TRADITIONAL: SqlMode = SqlMode(1 << 27);
    pub const HIGH_NOT_PRECEDENCE: SqlMode = SqlMode(1 << 29);
    pub const NO_ENGINE_SUBSTITUTION: SqlMode = SqlMode(1 << 30);
    pub const PAD_CHAR_TO_FULL_LENGTH: SqlMode = SqlMode(1 << 31);
    pub const TIME_TRUNCATE_FRACTIONAL: SqlMode = SqlMode(1 << 32);

    /// What MySQL 8.4 has by default.
    pub const DEFAULT: SqlMode = SqlMode(
        Self::ONLY_FULL_GROUP_BY.0
            | Self::STRICT_TRANS_TABLES.0
            | Self::NO_ZERO_IN_DATE.0
            | Self::NO_ZERO_DATE.0
            | Self::ERROR_FOR_DIVISION_BY_ZERO.0
            | Self::NO_ENGINE_SUBSTITUTION.0,
    );

    /// Whether all modes of `other` are set.
    pub const fn has(self, other: SqlMode) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets.
    pub const fn with(self, other: SqlMode) -> SqlMode {
        SqlMode(self.0 | other.0)
    }

    /// Without the modes of `other`.
    pub const fn without(self, other: SqlMode) -> SqlMode {
        SqlMode(self.0 & !other.0)
    }

    /// `STRICT_TRANS_TABLES` or `STRICT_ALL_TABLES`.
    pub const fn is_strict(self) -> bool {
        self.0 & (Self::STRICT_TRANS_TABLES.0 | Self::STRICT_ALL_TABLES.0) != 0
    }
}
