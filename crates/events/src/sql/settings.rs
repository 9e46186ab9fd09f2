//! The settings that a statement depends on, as SET.

use std::fmt::Write as _;

use binlog::event::{StatusVar, flags2};
use binlog::{maria_sql_mode, mysql_sql_mode};

/// Settings that statements mention only if they are not at their defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Unusual {
    auto_increment: bool,
    lc_time_names: bool,
}

/// From this number on collations are MariaDB's alone.
const MARIA_COLLATIONS: u16 = 576;

/// Appends what sets those of a statement in a MySQL's log, or in a MariaDB's.
pub(super) fn put(timestamp: u32, context: &[StatusVar<'_>], is_maria: bool, unusual: &mut Unusual, out: &mut Vec<u8>) {
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
    context.iter().for_each(|var| put_var(&mut set, var, is_maria));
    set.push_str(";\n");
    context.iter().for_each(|var| put_of_one_kind(&mut set, var, is_maria));
    out.extend_from_slice(set.as_bytes());
}

fn microseconds(var: &StatusVar<'_>) -> Option<u32> {
    match var {
        StatusVar::Microseconds(value) | StatusVar::MariaMicroseconds(value) if *value != 0 => Some(*value),
        _ => None,
    }
}

/// What only one kind of server understands: in comments that the other passes over.
fn put_of_one_kind(out: &mut String, var: &StatusVar<'_>, is_maria: bool) {
    let _ = match var {
        StatusVar::SqlMode(bits) => {
            let [mysql, maria] = [mysql_sql_mode(*bits, is_maria), maria_sql_mode(*bits, is_maria).to_string()];
            writeln!(out, "/*!50700 SET sql_mode={mysql} */;\n/*M!100401 SET sql_mode={maria} */;")
        }
        StatusVar::Flags2(flags) if is_maria => {
            let on = |flag: u32| u8::from(flags & flag != 0);
            writeln!(
                out,
                "/*M!100201 SET check_constraint_checks={} */;\n/*M!100502 SET sql_if_exists={} */;\n\
                 /*M!101100 SET system_versioning_insert_history={} */;",
                1 - on(flags2::NO_CHECK_CONSTRAINTS),
                on(flags2::IF_EXISTS),
                on(flags2::INSERT_HISTORY)
            )
        }
        StatusVar::DefaultCollationForUtf8mb4(id) => {
            writeln!(out, "/*!80011 SET default_collation_for_utf8mb4={id} */;")
        }
        StatusVar::Charsets([_, connection, server]) if (*connection).max(*server) >= MARIA_COLLATIONS => {
            writeln!(out, "/*M!100000 SET collation_connection={connection}, collation_server={server} */;")
        }
        _ => Ok(()),
    };
}

fn put_var(set: &mut String, var: &StatusVar<'_>, is_maria: bool) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace('\\', "\\\\").replace('\'', "''");
    let _ = match var {
        StatusVar::Flags2(flags) => {
            let on = |flag: u32| u8::from(flags & flag != 0);
            let off = |flag: u32| u8::from(flags & flag == 0);
            if is_maria {
                let _ = write!(set, ", explicit_defaults_for_timestamp={}", on(flags2::EXPLICIT_DEFAULTS));
            }
            write!(
                set,
                ", foreign_key_checks={}, unique_checks={}, sql_auto_is_null={}",
                off(flags2::NO_FOREIGN_KEY_CHECKS),
                off(flags2::RELAXED_UNIQUE_CHECKS),
                on(flags2::AUTO_IS_NULL)
            )
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
