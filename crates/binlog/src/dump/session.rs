//! The session that a log's statements were executed in, as SETs in front of them: each when it is not so already.
//!
//! What only one kind of server has is in comments that only it reads: MySQL `/*!50700 … */` (MariaDB leaves out versions from 50700 to
//! 99999), MariaDB `/*M!100101 … */`.

use std::collections::HashMap;
use std::fmt::Arguments;

use super::charset::{charset_name, collation_name, mysql_collation};
use super::text::line;
use crate::error::DecodeError;
use crate::event::{FLAG_SUPPRESS_USE, QueryEvent, RawEvent, StatusVar, flags2};
use crate::sql_mode::{maria_sql_mode, mysql_sql_mode};

/// What the session is by what was printed so far.
#[derive(Debug, Default)]
pub(super) struct SessionState {
    schema: Vec<u8>,
    settings: HashMap<&'static str, String>,
}

impl SessionState {
    /// Whether a setting is not what was printed last.
    fn changes(&mut self, name: &'static str, value: String) -> bool {
        if self.settings.get(name) == Some(&value) {
            return false;
        }
        self.settings.insert(name, value);
        true
    }

    /// `SET text` if it says something new.
    fn set(&mut self, name: &'static str, text: Arguments<'_>, out: &mut Vec<u8>) {
        let text = text.to_string();
        if self.changes(name, text.clone()) {
            line(out, format_args!("SET {text}/*!*/;"));
        }
    }

    /// The same in a comment of some version.
    fn set_in(&mut self, version: &str, name: &'static str, text: Arguments<'_>, out: &mut Vec<u8>) {
        let text = text.to_string();
        if self.changes(name, text.clone()) {
            line(out, format_args!("/*{version} SET {text}*//*!*/;"));
        }
    }

    pub(super) fn timestamp(&mut self, event: &RawEvent<'_>, query: &QueryEvent<'_>, out: &mut Vec<u8>) {
        let micros = query.status().microseconds.filter(|&micros| micros != 0).map(|micros| format!(".{micros:06}"));
        let seconds = event.header.timestamp;
        self.set("timestamp", format_args!("TIMESTAMP={seconds}{}", micros.unwrap_or_default()), out);
    }

    /// The default database.
    pub(super) fn use_schema(&mut self, event: &RawEvent<'_>, query: &QueryEvent<'_>, out: &mut Vec<u8>) {
        let suppressed = event.header.flags & FLAG_SUPPRESS_USE != 0;
        if suppressed || query.schema.is_empty() || query.schema == self.schema {
            return;
        }
        self.schema = query.schema.to_vec();
        let name = String::from_utf8_lossy(query.schema).replace('`', "``");
        line(out, format_args!("use `{name}`/*!*/;"));
    }

    /// A statement that may have taken the default database away, so that it has to be named again.
    pub(super) fn executed(&mut self, sql: &[u8]) {
        const START: usize = 32;
        let start = sql[..sql.len().min(START)].to_ascii_uppercase();
        let has = |word: &[u8]| start.windows(word.len()).any(|part| part == word);
        if start.starts_with(b"DROP") && (has(b"DATABASE") || has(b"SCHEMA")) {
            self.schema.clear();
        }
    }

    /// All that is said in front of a statement.
    pub(super) fn before(
        &mut self,
        event: &RawEvent<'_>,
        query: &QueryEvent<'_>,
        is_maria: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        self.use_schema(event, query, out);
        self.timestamp(event, query, out);
        self.set("pseudo_thread_id", format_args!("@@session.pseudo_thread_id={}", query.thread_id), out);
        let (mut increment, mut locale, mut database) = ((1, 1), 0, None);
        let mut collations = Vec::new();
        for var in StatusVar::decode_all(query.status) {
            match var {
                StatusVar::AutoIncrement(by, from) => increment = (by, from),
                StatusVar::LcTimeNames(number) => locale = number,
                StatusVar::CharsetDatabase(id) => database = Some(id),
                StatusVar::CharacterSetCollations(pairs) => collations = pairs,
                var => self.status(&var, is_maria, out),
            }
        }
        let (by, from) = increment;
        let text = format_args!("@@session.auto_increment_increment={by}, @@session.auto_increment_offset={from}");
        self.set("auto_increment", text, out);
        self.set("lc_time_names", format_args!("@@session.lc_time_names={locale}"), out);
        self.collation_database(database, out);
        self.character_set_collations(&collations, out)
    }

    fn status(&mut self, var: &StatusVar<'_>, is_maria: bool, out: &mut Vec<u8>) {
        match var {
            StatusVar::Flags2(bits) => self.flags2(*bits, is_maria, out),
            StatusVar::SqlMode(mode) => self.sql_mode(*mode, is_maria, out),
            StatusVar::Charsets(ids) => self.charsets(*ids, out),
            StatusVar::TimeZone(zone) => {
                let zone = String::from_utf8_lossy(zone).replace('\'', "''");
                self.set("time_zone", format_args!("@@session.time_zone='{zone}'"), out);
            }
            StatusVar::ExplicitDefaultsForTimestamp(on) => {
                self.explicit_defaults(*on, out);
            }
            StatusVar::DefaultCollationForUtf8mb4(id) => {
                let text = format_args!("@@session.default_collation_for_utf8mb4={id}");
                self.set_in("!80011", "default_collation_for_utf8mb4", text, out);
            }
            StatusVar::RequirePrimaryKey(on) => {
                let text = format_args!("@@session.sql_require_primary_key={on}");
                self.set_in("!80013", "sql_require_primary_key", text, out);
            }
            StatusVar::DefaultTableEncryption(on) => {
                let text = format_args!("@@session.default_table_encryption={on}");
                self.set_in("!80016", "default_table_encryption", text, out);
            }
            // What is no setting of a session: names for schedulers, parts of the time, numbers of transactions.
            _ => {}
        }
    }

    fn explicit_defaults(&mut self, on: bool, out: &mut Vec<u8>) {
        let text = format_args!("@@session.explicit_defaults_for_timestamp={}", u8::from(on));
        self.set("explicit_defaults_for_timestamp", text, out);
    }

    fn flags2(&mut self, bits: u32, is_maria: bool, out: &mut Vec<u8>) {
        let is = |flag: u32| u8::from(bits & flag != 0);
        // Two of the bits say that something is off. Transactions of the log are framed, whatever autocommit was.
        let text = format_args!(
            "@@session.foreign_key_checks={}, @@session.sql_auto_is_null={}, @@session.unique_checks={}, @@session.autocommit=1",
            1 - is(flags2::NO_FOREIGN_KEY_CHECKS),
            is(flags2::AUTO_IS_NULL),
            1 - is(flags2::RELAXED_UNIQUE_CHECKS),
        );
        self.set("flags2", text, out);
        if is_maria {
            self.explicit_defaults(bits & flags2::EXPLICIT_DEFAULTS != 0, out);
            let text = format_args!(
                "@@session.check_constraint_checks={}, @@session.sql_if_exists={}, @@session.system_versioning_insert_history={}",
                1 - is(flags2::NO_CHECK_CONSTRAINTS),
                is(flags2::IF_EXISTS),
                is(flags2::INSERT_HISTORY),
            );
            self.set_in("M!100101", "maria_flags2", text, out);
        }
    }

    fn sql_mode(&mut self, mode: u64, is_maria: bool, out: &mut Vec<u8>) {
        // By names, where the log is MariaDB's: behind its FORMAT_DESCRIPTION a commuter takes numbers for MariaDB's.
        let mysql = if is_maria { mysql_sql_mode(mode, true) } else { mode.to_string() };
        let maria = maria_sql_mode(mode, is_maria);
        self.set_in("!50700", "sql_mode", format_args!("@@session.sql_mode={mysql}"), out);
        self.set_in("M!100401", "maria_sql_mode", format_args!("@@session.sql_mode={maria}"), out);
    }

    /// Of MariaDB's own collations MySQL is told what it has in their place.
    fn in_both(
        &mut self,
        name: (&'static str, &'static str),
        ids: &[u16],
        out: &mut Vec<u8>,
        text: fn(&[u16]) -> String,
    ) {
        let mysql: Vec<u16> = ids.iter().map(|id| mysql_collation(*id)).collect();
        if mysql == ids {
            self.settings.remove(name.1);
            return self.set(name.0, format_args!("{}", text(ids)), out);
        }
        self.set_in("!50700", name.0, format_args!("{}", text(&mysql)), out);
        self.set_in("M!100500", name.1, format_args!("{}", text(ids)), out);
    }

    fn charsets(&mut self, ids: [u16; 3], out: &mut Vec<u8>) {
        let client = charset_name(ids[0]);
        if let Some(client) = client
            && self.changes("client", client.to_owned())
        {
            // The client has to know where a character ends.
            line(out, format_args!("/*!\\C {client} *//*!*/;"));
        }
        let text = |ids: &[u16]| {
            let client = charset_name(ids[0]).map_or_else(|| ids[0].to_string(), str::to_owned);
            format!(
                "@@session.character_set_client={client},@@session.collation_connection={},@@session.collation_server={}",
                ids[1], ids[2]
            )
        };
        self.in_both(("charsets", "maria_charsets"), &ids, out, text);
    }

    fn collation_database(&mut self, id: Option<u16>, out: &mut Vec<u8>) {
        let Some(id) = id.filter(|id| *id != 0) else {
            self.settings.remove("maria_collation_database");
            return self.set("collation_database", format_args!("@@session.collation_database=DEFAULT"), out);
        };
        let text = |ids: &[u16]| format!("@@session.collation_database={}", ids[0]);
        self.in_both(("collation_database", "maria_collation_database"), &[id], out, text);
    }

    /// MariaDB's, which takes names only.
    fn character_set_collations(&mut self, pairs: &[(u16, u16)], out: &mut Vec<u8>) -> Result<(), DecodeError> {
        if pairs.is_empty() && !self.settings.contains_key("character_set_collations") {
            return Ok(());
        }
        let mut names = Vec::with_capacity(pairs.len());
        for (charset, collation) in pairs {
            let unknown =
                || DecodeError::new(format!("character_set_collations: {charset}={collation} has no name here"));
            let charset = charset_name(*charset).ok_or_else(unknown)?;
            names.push(format!("{charset}={}", collation_name(*collation).ok_or_else(unknown)?));
        }
        let text = format_args!("@@session.character_set_collations='{}'", names.join(","));
        self.set_in("M!100101", "character_set_collations", text, out);
        Ok(())
    }
}
