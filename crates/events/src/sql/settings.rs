//! The settings that a statement depends on, as SET.

use std::fmt::Write as _;

use crate::event::StatusVar;

/// Names of `sql_mode`'s bits that MySQL and MariaDB share and that still mean something. Others say how a server was
/// configured long ago, and would be refused.
const SQL_MODES: [(u32, &str); 16] = [
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
];

/// Of `flags2`.
const AUTO_IS_NULL: u32 = 1 << 14;
const NO_FOREIGN_KEY_CHECKS: u32 = 1 << 26;
const RELAXED_UNIQUE_CHECKS: u32 = 1 << 27;

/// Appends what sets them.
pub(super) fn put(timestamp: u32, context: &[StatusVar<'_>], out: &mut Vec<u8>) {
    let mut set = format!("SET timestamp={timestamp}");
    let mut micros = 0;
    let mut of_mysql = String::new();
    for var in context {
        match var {
            StatusVar::Microseconds(value) | StatusVar::MariaMicroseconds(value) => micros = *value,
            StatusVar::DefaultCollationForUtf8mb4(id) => {
                // MariaDB does not know it, and passes over what is for such versions of MySQL.
                of_mysql = format!("/*!80011 SET default_collation_for_utf8mb4={id} */;\n");
            }
            var => put_var(&mut set, var),
        }
    }
    if micros != 0 {
        set = set.replacen(&timestamp.to_string(), &format!("{timestamp}.{micros:06}"), 1);
    }
    set.push_str(";\n");
    out.extend_from_slice(set.as_bytes());
    out.extend_from_slice(of_mysql.as_bytes());
}

fn put_var(set: &mut String, var: &StatusVar<'_>) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace('\\', "\\\\").replace('\'', "''");
    let _ = match var {
        StatusVar::Flags2(flags) => {
            let on = |flag: u32| u8::from(flags & flag != 0);
            let off = |flag: u32| u8::from(flags & flag == 0);
            write!(
                set,
                ", foreign_key_checks={}, unique_checks={}, sql_auto_is_null={}",
                off(NO_FOREIGN_KEY_CHECKS),
                off(RELAXED_UNIQUE_CHECKS),
                on(AUTO_IS_NULL)
            )
        }
        StatusVar::SqlMode(bits) => {
            let names = SQL_MODES.iter().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, name)| *name);
            write!(set, ", sql_mode='{}'", names.collect::<Vec<_>>().join(","))
        }
        StatusVar::AutoIncrement(increment, offset) => {
            write!(set, ", auto_increment_increment={increment}, auto_increment_offset={offset}")
        }
        StatusVar::Charsets([client, connection, server]) => {
            write!(set, ", character_set_client={client}, collation_connection={connection}, collation_server={server}")
        }
        StatusVar::TimeZone(zone) => write!(set, ", time_zone='{}'", text(zone)),
        StatusVar::LcTimeNames(number) => write!(set, ", lc_time_names={number}"),
        StatusVar::ExplicitDefaultsForTimestamp(on) => {
            write!(set, ", explicit_defaults_for_timestamp={}", u8::from(*on))
        }
        // The catalog, the invoker, clocks, XIDs, names of databases: nothing that a statement's meaning depends on; and
        // `collation_database`, which goes with USE.
        _ => Ok(()),
    };
}
