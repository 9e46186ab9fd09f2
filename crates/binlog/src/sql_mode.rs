//! The bits of `sql_mode` in statements' status variables (Q_SQL_MODE_CODE), which mean something else in each kind's log, as each kind of
//! server is told of them.

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

/// Modes with the same bits in both dialects; MariaDB's own are among and above them.
const COMMON: u64 = 0xefff_ffff & !0x3_ff00;
/// MariaDB's ORACLE, EMPTY_STRING_IS_NULL and SIMULTANEOUS_ASSIGNMENT: a statement may mean something else without them.
const MARIA_MEANINGS: u64 = 1 << 9 | 1 << 32 | 1 << 33;
/// MySQL's TIME_TRUNCATE_FRACTIONAL; MariaDB cuts unless its own mode says to round.
const MYSQL_CUTS: u64 = 1 << 32;
const MARIA_ROUNDS: u64 = 1 << 34;

/// The modes of a MySQL's log, or of a MariaDB's, as a text for a MySQL. Where it would do something else under any of its modes the text
/// is none that it takes.
pub fn mysql_sql_mode(bits: u64, is_maria: bool) -> String {
    if is_maria && bits & MARIA_MEANINGS != 0 {
        return format!("'a mode of MariaDB alone: {bits}'");
    }
    let cuts = if is_maria { bits & MARIA_ROUNDS == 0 } else { bits & MYSQL_CUTS != 0 };
    let shared = SHARED.iter().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, name)| *name);
    let names: Vec<&str> = shared.chain(cuts.then_some("TIME_TRUNCATE_FRACTIONAL")).collect();
    format!("'{}'", names.join(","))
}

/// The same as a number for a MariaDB.
pub fn maria_sql_mode(bits: u64, is_maria: bool) -> u64 {
    let rounds = if bits & MYSQL_CUTS == 0 { MARIA_ROUNDS } else { 0 };
    if is_maria { bits } else { bits & COMMON | rounds }
}
