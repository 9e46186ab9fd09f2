//! The settings that a statement depends on, as SET.

use std::fmt::Write as _;

use crate::event::StatusVar;

/// Of `flags2`.
const AUTO_IS_NULL: u32 = 1 << 14;
const NO_FOREIGN_KEY_CHECKS: u32 = 1 << 26;
const RELAXED_UNIQUE_CHECKS: u32 = 1 << 27;

/// Settings that statements mention only if they are not at their defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Unusual {
    auto_increment: bool,
    lc_time_names: bool,
}

/// From this number on collations are MariaDB's alone.
const MARIA_COLLATIONS: u16 = 576;

/// Appends what sets them.
pub(super) fn put(timestamp: u32, context: &[StatusVar<'_>], unusual: &mut Unusual, out: &mut Vec<u8>) {
    let mut set = format!("SET timestamp={timestamp}");
    if let Some(micros) = context.iter().find_map(microseconds) {
        let _ = write!(set, ".{micros:06}");
    }
    let has = |wanted: fn(&StatusVar<'_>) -> bool| context.iter().any(wanted);
    let now = Unusual {
        auto_increment: has(|var| matches!(var, StatusVar::AutoIncrement(..))),
        lc_time_names: has(|var| matches!(var, StatusVar::LcTimeNames(_))),
    };
    let before = std::mem::replace(unusual, now);
    if before.auto_increment && !now.auto_increment {
        set.push_str(", auto_increment_increment=1, auto_increment_offset=1");
    }
    if before.lc_time_names && !now.lc_time_names {
        set.push_str(", lc_time_names=0");
    }
    context.iter().for_each(|var| put_var(&mut set, var));
    set.push_str(";\n");
    context.iter().for_each(|var| put_of_one_kind(&mut set, var));
    out.extend_from_slice(set.as_bytes());
}

fn microseconds(var: &StatusVar<'_>) -> Option<u32> {
    match var {
        StatusVar::Microseconds(value) | StatusVar::MariaMicroseconds(value) if *value != 0 => Some(*value),
        _ => None,
    }
}

/// What only one kind of server understands: in comments that the other passes over.
fn put_of_one_kind(out: &mut String, var: &StatusVar<'_>) {
    let _ = match var {
        StatusVar::DefaultCollationForUtf8mb4(id) => {
            writeln!(out, "/*!80011 SET default_collation_for_utf8mb4={id} */;")
        }
        StatusVar::Charsets([_, connection, server]) if (*connection).max(*server) >= MARIA_COLLATIONS => {
            writeln!(out, "/*M!100000 SET collation_connection={connection}, collation_server={server} */;")
        }
        _ => Ok(()),
    };
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
            write!(set, ", sql_mode='{}'", binlog::shared_sql_modes(*bits).join(","))
        }
        StatusVar::AutoIncrement(increment, offset) => {
            write!(set, ", auto_increment_increment={increment}, auto_increment_offset={offset}")
        }
        StatusVar::Charsets(ids) => {
            let names = ["character_set_client", "character_set_connection", "character_set_server"];
            let collations = ["character_set_client", "collation_connection", "collation_server"];
            ids.iter().zip(names.iter().zip(collations)).try_for_each(|(&id, (name, collation))| {
                match binlog::charset_of_collation(id.into()).filter(|_| id >= MARIA_COLLATIONS) {
                    Some(charset) => write!(set, ", {name}={charset}"),
                    None => write!(set, ", {collation}={id}"),
                }
            })
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
