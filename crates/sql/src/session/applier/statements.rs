//! Statements of another server's log, with everything of the session there that they depend on.
//!
//! A QUERY event says it in its status variables; events in front of it say what AUTO_INCREMENT, LAST_INSERT_ID, RAND and user variables
//! were. The session becomes what the other one was, as far as that is not so already.
//!
//! # Invariants
//! - What a statement needs and this server does not have (a character set, a mode) is an error that names it; nothing was done then.
//! - A statement that failed at its source has to fail here, with the same error; any other outcome is an error.

use std::borrow::Cow;

use base::{SqlError, UnixMicros, codes};
use binlog::charset_of_collation;
use binlog::event::{QueryEvent, StatusVars, flags2};
use types::charset::Charset;
use types::{CollationId, Value};

use super::Applier;
use crate::expr::SqlMode;
use crate::expr::build::type_of_value;
use crate::expr::context::RandomState;
use crate::expr::locale::Locale;
use crate::parse::ast::{Ddl, Statement, TableName};
use crate::parse::{self, Foreign, ParsedStatement, Reader};
use crate::replay::ReplicationFilter;
use crate::result::{Collected, Outcome};
use crate::session::gtid::NextGtid;
use crate::session::log_settings::maria_sql_mode;
use crate::session::run::LONG_STATEMENT;
use crate::settings::{SettingId, SettingValue, check_modes, sql_mode};

/// Errors of statements that somebody ended: how far they came nobody knows.
const INTERRUPTED: [u16; 3] = [codes::QUERY_INTERRUPTED.0, codes::SERVER_SHUTDOWN.0, codes::CONNECTION_KILLED.0];

/// A statement as an event has it.
#[derive(Clone, Copy, Debug)]
pub struct ReplicatedStatement<'a> {
    /// The event.
    pub event: QueryEvent<'a>,
    /// The statement: the event's, or what was compressed there.
    pub sql: &'a [u8],
    /// Of the event's header, seconds since 1970.
    pub timestamp: u32,
    /// Of the event's header: the server at which it was run.
    pub server_id: u32,
    /// The source is a MariaDB.
    pub is_maria: bool,
    /// The source's version, as 90704 for 9.7.4.
    pub version: u32,
}

impl ReplicatedStatement<'_> {
    /// Which comments for versions the source has executed.
    fn reader(&self) -> Reader {
        match self.is_maria {
            true => Reader::Maria(self.version),
            false => Reader::Mysql(self.version),
        }
    }
}

/// Such a statement, read: who filters, who finds what may run beside it, who runs it and who logs it have the same tree.
#[derive(Debug)]
pub struct ReadStatement(Result<ParsedStatement, Unread>);

/// A statement that could not be read.
#[derive(Debug)]
struct Unread {
    text: String,
    error: SqlError,
}

impl ReadStatement {
    fn text(&self) -> &str {
        match &self.0 {
            Ok(parsed) => &parsed.text,
            Err(unread) => &unread.text,
        }
    }
}

/// What the session was last made to be for a statement.
#[derive(Debug, Default)]
pub(super) struct LastSession {
    status: Vec<u8>,
    schema: Vec<u8>,
    is_valid: bool,
    /// The next statement is one that depends on LAST_INSERT_ID at its source.
    has_last_insert_id: bool,
}

/// What a session knows of the source of the statement that it runs; of a client's there is none.
#[derive(Debug, Default)]
pub(in crate::session) struct StatementSource {
    /// The error that the statement that runs had at its source, 0 if none. Only one that keeps what it has changed until then is logged
    /// with one: its table was of an engine without transactions.
    expected_error: u16,
    /// What the source is.
    reader: Reader,
    /// What the words of its definitions mean there.
    foreign: Foreign,
}

impl StatementSource {
    /// Whether comparisons and calls of the statement only warn where MySQL's fail in strict mode, as they did at its source.
    pub(in crate::session) fn only_warns(&self) -> bool {
        self.is_of_maria()
    }

    /// Whether the statement is from the log of a MariaDB.
    pub(in crate::session) fn is_of_maria(&self) -> bool {
        self.foreign.is_maria
    }

    /// Whose comments for versions are read.
    pub(in crate::session) fn reader(&self) -> Reader {
        self.reader
    }

    /// What words of definitions mean, as far as the source's session does not say it.
    pub(in crate::session) fn foreign(&self) -> Foreign {
        self.foreign
    }

    /// Whether a statement that ends with this error keeps what it has changed, as it did at its source.
    pub(in crate::session) fn keeps_changes(&self, error: &SqlError) -> bool {
        self.expected_error == error.code
    }
}

impl Applier {
    /// What the next statement was to know: the value of LAST_INSERT_ID().
    pub fn set_replicated_last_insert_id(&mut self, value: u64) {
        self.session.info.last_insert_id = value;
        self.last.has_last_insert_id = true;
    }

    /// The first value that AUTO_INCREMENT makes in the next statement.
    pub fn set_insert_id(&mut self, value: u64) {
        self.session.settings.set(SettingId::insert_id, SettingValue::UInt(value));
    }

    /// Where RAND() goes on.
    pub fn set_random_seeds(&mut self, seeds: [u64; 2]) {
        let [seed1, seed2] = seeds.map(|seed| seed as u32);
        *self.session.info.random.lock() = Some(RandomState { seed1, seed2 });
    }

    /// `@name`; a text in its own collation.
    pub fn set_user_variable(&mut self, name: &str, value: Value, collation: CollationId) {
        let ty = type_of_value(&value, collation);
        self.session.info.user_variables.lock().insert(name.to_lowercase(), (value, ty));
    }

    /// Begins a transaction whose changes and end come as events.
    pub fn begin_replicated(&mut self) {
        self.session.begin_transaction(true, Some(false));
    }

    /// Rolls back what is open; the GTID, if there is one, was not executed.
    pub fn roll_back_replicated(&mut self) {
        self.forget_kept_files();
        self.session.rollback();
        self.tables.forget(&mut self.session.temporary);
        self.session.next_gtid = NextGtid::default();
    }

    /// Undoes what the transaction has changed; it stays open.
    pub fn undo_replicated(&mut self) {
        // Not a rollback: the GTID is still to be committed.
        self.session.take_transaction();
        self.begin_replicated();
    }

    /// Runs a CREATE TABLE whose rows follow in the same transaction of the source (CREATE TABLE … SELECT). Here it is a transaction by
    /// itself, with a GTID of this server; the rows' has the source's. A table that is there already and empty is what an earlier
    /// attempt has left.
    ///
    /// # Errors
    /// The statement's own.
    #[io::boxed]
    pub async fn create_before_rows(&mut self, read: ReadStatement) -> Result<(), SqlError> {
        let name = match &read.0 {
            Ok(ParsedStatement { statement: Statement::Ddl(Ddl::CreateTable(create)), .. }) => {
                Some(create.name.clone())
            }
            _ => None,
        };
        self.session.take_transaction();
        let gtid = self.session.put_gtid_aside();
        let mut result = self.run_source(read).await.map(drop);
        if let (Err(error), Some(name)) = (&result, name)
            && error.code == codes::TABLE_EXISTS_ERROR.0
            && self.session.is_empty(&self.session.schema_of(&name)?, &name.name).await?
        {
            result = Ok(());
        }
        self.session.next_gtid = gtid;
        self.begin_replicated();
        result
    }

    /// Runs a statement that was read.
    async fn run_source(&mut self, ReadStatement(read): ReadStatement) -> Result<Outcome, SqlError> {
        let mut sink = Collected::default();
        let parsed = match read {
            Ok(parsed) => parsed,
            Err(Unread { text, error }) => {
                self.session.begin_statement(&text);
                return self.session.run_read(Err((&text, error)), &mut sink).await;
            }
        };
        self.session.begin_statement(&parsed.text);
        let text = parsed.text.clone();
        // Not before it is run: what it says may depend on columns that a definition before it makes.
        let mut parsed = self.session.in_our_words(parsed).map_err(|error| (&*text, error));
        if let Ok(parsed) = &mut parsed {
            parsed.forget_client();
        }
        self.session.run_read(parsed, &mut sink).await
    }

    /// The next transaction gets a GTID of this server.
    pub fn begin_automatic_gtid(&mut self) {
        self.session.next_gtid = NextGtid::default();
    }

    /// Reads a statement, in a session that becomes what it was at the source. `known` is its tree, if it was read already.
    ///
    /// # Errors
    /// What the statement needs and this server does not have. A text that cannot be parsed is an error when it is run.
    pub fn read_replicated(
        &mut self,
        statement: &ReplicatedStatement<'_>,
        known: Option<ReadStatement>,
    ) -> Result<ReadStatement, SqlError> {
        if let Err(error) = self.become_source(statement) {
            self.last.has_last_insert_id = false;
            return Err(error);
        }
        if let Some(known) = known {
            return Ok(known);
        }
        if statement.sql.len() >= LONG_STATEMENT {
            self.session.shared.env.spawner.step_aside();
        }
        let client = statement.event.status().charsets.map(|[client, ..]| client);
        let text = utf8_of(statement.sql, client, self.session.info.sql_mode)?;
        let parsed = parse::parse_one(&text, &self.session.parse_context());
        Ok(ReadStatement(parsed.map_err(|error| Unread { text: text.into_owned(), error })))
    }

    /// Whether a statement is one that is not executed here. What was said for it alone is forgotten then.
    pub fn leaves_out(
        &mut self,
        filter: &ReplicationFilter,
        statement: &ReplicatedStatement<'_>,
        read: &Result<ReadStatement, SqlError>,
    ) -> bool {
        let database = String::from_utf8_lossy(statement.event.schema);
        let database = Some(&*database).filter(|database| !database.is_empty());
        let is_left_out = match read {
            Ok(ReadStatement(Ok(parsed))) => !filter.wants_statement(database, &parsed.statement),
            // What we do not know may be left out all the same.
            _ => !filter.wants_database(database.unwrap_or_default()),
        };
        if is_left_out {
            self.session.settings.set(SettingId::insert_id, SettingValue::UInt(0));
            self.last.has_last_insert_id = false;
        }
        is_left_out
    }

    /// The tables that a statement defines, if it does nothing else, and temporary tables have nothing to do with it: then it may run beside
    /// transactions that are about other tables.
    pub fn defined_tables(&self, read: &ReadStatement) -> Option<Vec<(String, String)>> {
        if self.tables.are_there() {
            return None;
        }
        let Ok(ParsedStatement { statement: Statement::Ddl(ddl), .. }) = &read.0 else { return None };
        let full = |table: TableName| Some((table.schema.or_else(|| self.session.info.database.clone())?, table.name));
        ddl.tables()?.into_iter().map(full).collect()
    }

    /// Runs a statement as it was run at its source. One that is a transaction by itself is committed when this returns.
    ///
    /// # Errors
    /// The statement's own, or 3002 if it had another outcome there. What it has changed is undone: by the statement itself, or in a
    /// transaction that is rolled back for it.
    #[io::boxed]
    pub async fn run_replicated(
        &mut self,
        statement: &ReplicatedStatement<'_>,
        read: ReadStatement,
    ) -> Result<(), SqlError> {
        let has_last_insert_id = std::mem::take(&mut self.last.has_last_insert_id);
        check_session(&statement.event.status(), read.text(), has_last_insert_id)?;
        let expected = statement.event.error_code;
        self.session.source.expected_error = if INTERRUPTED.contains(&expected) { 0 } else { expected };
        let outcome = self.run_source(read).await;
        self.session.source.expected_error = 0;
        if self.session.settings.insert_id.is_some() {
            self.session.settings.set(SettingId::insert_id, SettingValue::UInt(0));
        }
        match (expected, outcome) {
            (0, Ok(_)) => {}
            (0, Err(error)) => return Err(error),
            (expected, _) if INTERRUPTED.contains(&expected) => {
                let message = format!(
                    "Query partially completed on the source (error on source: {expected}) and was aborted. There is a \
                     chance that your source is inconsistent at this point."
                );
                return Err(SqlError::new(codes::INCONSISTENT_ERROR, message));
            }
            (expected, Err(error)) if error.code == expected => {}
            (expected, outcome) => {
                let (code, text) =
                    outcome.err().map_or((0, "no error".to_owned()), |error| (error.code, error.message));
                let message = format!(
                    "Query caused different errors on source and replica. Error on source: message (format)='' error \
                     code={expected}; Error on replica: actual message='{text}', error code={code}."
                );
                return Err(SqlError::new(codes::INCONSISTENT_ERROR, message));
            }
        }
        // One that has changed nothing is executed all the same.
        if !self.session.in_transaction() {
            self.session.commit_nothing().await?;
            self.tables.keep(&mut self.session.temporary);
        }
        Ok(())
    }

    /// Makes the session what it was at the source.
    fn become_source(&mut self, statement: &ReplicatedStatement<'_>) -> Result<(), SqlError> {
        let event = &statement.event;
        let status = event.status();
        self.tables.enter((statement.server_id, event.thread_id), &mut self.session.temporary);
        self.session.info.connection_id = event.thread_id;
        let last = &self.last;
        let is_same = last.is_valid && self.session.source.is_of_maria() == statement.is_maria;
        if !is_same || last.status != event.status || last.schema != event.schema {
            self.last.is_valid = false;
            self.take_status(&status, statement.is_maria)?;
            let schema = String::from_utf8_lossy(event.schema);
            self.session.info.database = (!schema.is_empty()).then(|| schema.into_owned());
            self.session.settings_changed();
            self.session.database_changed();
            self.session.info.reopens_temporary = statement.is_maria;
            let utf8mb3 = types::collation::by_id(status.default_collation(StatusVars::UTF8MB3));
            let utf8mb3 = utf8mb3.filter(|collation| *collation != CollationId::UTF8MB4_GENERAL_CI);
            self.last.status = event.status.to_vec();
            self.last.schema = event.schema.to_vec();
            self.last.is_valid = true;
            self.session.source.expected_error = 0;
            self.session.source.foreign = Foreign { is_maria: statement.is_maria, utf8mb3, ..Foreign::default() };
        }
        self.session.source.reader = statement.reader();
        let micros = u64::from(statement.timestamp) * 1_000_000 + u64::from(status.microseconds.unwrap_or(0));
        self.session.settings.set(SettingId::timestamp, SettingValue::Double(micros as f64 / 1e6));
        self.session.now = UnixMicros(micros);
        Ok(())
    }

    fn take_status(&mut self, status: &StatusVars, is_maria: bool) -> Result<(), SqlError> {
        if let Some(flags) = status.flags2 {
            self.session
                .settings
                .set(SettingId::foreign_key_checks, SettingValue::Bool(flags & flags2::NO_FOREIGN_KEY_CHECKS == 0));
            self.session
                .settings
                .set(SettingId::unique_checks, SettingValue::Bool(flags & flags2::RELAXED_UNIQUE_CHECKS == 0));
            self.session
                .settings
                .set(SettingId::sql_auto_is_null, SettingValue::Bool(flags & flags2::AUTO_IS_NULL != 0));
        }
        if let Some(bits) = status.sql_mode {
            let mode = SqlMode(if is_maria { maria_sql_mode(bits)? } else { bits });
            check_modes(mode)?;
            self.session.settings.set(SettingId::sql_mode, SettingValue::text(sql_mode::words(mode)));
        }
        if let Some([client, connection, server]) = status.charsets {
            if let Some(client) = types::collation::by_id(client) {
                self.session.settings.set(SettingId::character_set_client, SettingValue::text(client.charset().name()));
            }
            self.session
                .settings
                .set(SettingId::collation_connection, SettingValue::text(known_collation(connection)?.name()));
            self.session.settings.set(SettingId::collation_server, SettingValue::text(known_collation(server)?.name()));
        }
        let utf8mb4 = known_collation(status.default_collation(StatusVars::UTF8MB4))?;
        self.session.settings.set(SettingId::default_collation_for_utf8mb4, SettingValue::text(utf8mb4.name()));
        let (increment, offset) = status.auto_increment.unwrap_or((1, 1));
        self.session.settings.set(SettingId::auto_increment_increment, SettingValue::UInt(increment.into()));
        self.session.settings.set(SettingId::auto_increment_offset, SettingValue::UInt(offset.into()));
        if let Some(zone) = &status.time_zone {
            if zone != "SYSTEM" && crate::settings::time_zone(zone).is_none() {
                return Err(SqlError::new(
                    codes::UNKNOWN_TIME_ZONE,
                    format!("Unknown or incorrect time zone: '{zone}'"),
                ));
            }
            self.session.settings.set(SettingId::time_zone, SettingValue::text(zone.clone()));
        }
        let number = u64::from(status.lc_time_names.unwrap_or(0));
        let locale = Locale::by_number(number).ok_or_else(|| Locale::unknown(number))?;
        self.session.settings.set(SettingId::lc_time_names, SettingValue::text(locale.name));
        // A MySQL says it of definitions alone: of anything else this server's own value decides, as on a MySQL.
        let maria_flags = status.flags2.filter(|_| is_maria);
        let explicit =
            maria_flags.map(|flags| flags & flags2::EXPLICIT_DEFAULTS != 0).or(status.explicit_defaults_for_timestamp);
        match explicit {
            Some(on) => self.session.settings.set(SettingId::explicit_defaults_for_timestamp, SettingValue::Bool(on)),
            None => {
                let own = self.session.shared.globals.get(SettingId::explicit_defaults_for_timestamp);
                self.session.settings.set(SettingId::explicit_defaults_for_timestamp, own);
            }
        }
        Ok(())
    }
}

/// 1235 for what a session has that is not here, if the statement may depend on it. Where IS NULL finds the last row that AUTO_INCREMENT has made,
/// its source has said which one that was; where it has not, IS NULL is what it is here.
fn check_session(status: &StatusVars, text: &str, has_last_insert_id: bool) -> Result<(), SqlError> {
    let has =
        |words: &str| text.as_bytes().windows(words.len()).any(|part| part.eq_ignore_ascii_case(words.as_bytes()));
    if status.flags2.is_some_and(|flags| flags & flags2::AUTO_IS_NULL != 0) && has_last_insert_id && has("is null") {
        return Err(SqlError::not_supported("a statement that asks for IS NULL with sql_auto_is_null=1"));
    }
    Ok(())
}

fn known_collation(id: u16) -> Result<CollationId, SqlError> {
    types::collation::by_id(id).ok_or_else(|| {
        let message = format!("Unknown collation: '#{id}', which a statement of the source depends on");
        SqlError::new(codes::UNKNOWN_COLLATION, message)
    })
}

/// A statement's text; one in a character set that is not known may have ASCII only.
fn utf8_of(sql: &[u8], client: Option<u16>, mode: SqlMode) -> Result<Cow<'_, str>, SqlError> {
    let charset = client.and_then(|client| charset_of_collation(client.into())).and_then(Charset::by_name);
    match charset {
        Some(charset @ Charset::Single(_)) => Ok(parse::to_utf8(sql, charset, mode)),
        None if !sql.is_ascii() && client.is_some() => Err(SqlError::new(
            codes::UNKNOWN_CHARACTER_SET,
            format!(
                "Unknown character set of collation #{}, in which a statement of the source is",
                client.unwrap_or(0)
            ),
        )),
        _ => Ok(parse::to_utf8(sql, Charset::Utf8Mb4, mode)),
    }
}
