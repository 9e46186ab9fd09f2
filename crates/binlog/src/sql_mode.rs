//! The bits of `sql_mode` in statements' status variables (Q_SQL_MODE_CODE), by the names that both servers have for them.

/// Bits that MySQL and MariaDB share and that still mean something. Others say how a server was configured long ago, and would be refused.
const SHARED: [(u32, &str); 17] = [
    (0, "REAL_AS_FLOAT"),
    (1, "PIPES_AS_CONCAT"),
    (2, "ANSI_QUOTES"),
    (3, "IGNORE_SPACE"),
    (5, "ONLY_FULL_GROUP_BY"),
    (6, "NO_UNSIGNED_SUBTRACTION"),
    (19, "NO_AUTO_VALUE_ON_ZERO"),
    (20, "NO_BACKSLASH_ESCAPES"),
    (21, "STRICT_TRANS_TABLES"),
    (22, "STRICT_ALL_TABLES"),
    (23, "NO_ZERO_IN_DATE"),
    (24, "NO_ZERO_DATE"),
    (25, "ALLOW_INVALID_DATES"),
    (26, "ERROR_FOR_DIVISION_BY_ZERO"),
    (29, "HIGH_NOT_PRECEDENCE"),
    (30, "NO_ENGINE_SUBSTITUTION"),
    (31, "PAD_CHAR_TO_FULL_LENGTH"),
];

/// The names of those modes that MySQL and MariaDB share.
pub fn shared_sql_modes(bits: u64) -> Vec<&'static str> {
    SHARED.iter().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, name)| *name).collect()
}
