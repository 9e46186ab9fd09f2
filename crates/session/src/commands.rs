//! What a connection does for each command.

use std::sync::Arc;

use base::{Cancelled, SqlError, codes};
use sql::ResultColumn;
use sql::account::Privilege;
use wire::codec::text;
use wire::command::{Command, PrepareOk};
use wire::flags::{capability, com};
use wire::reply;

use crate::connection::{Connection, Next};
use crate::execute::CHECK;
use crate::link::Ended;
use crate::sink::{Encoding, ReplySink, definition, names_charset, write_columns};

/// Option of COM_SET_OPTION: multi-statements on.
const MULTI_STATEMENTS_ON: u16 = 0;
/// Option of COM_SET_OPTION: multi-statements off.
const MULTI_STATEMENTS_OFF: u16 = 1;

/// What the bits of COM_REFRESH ask for. (Privileges, hosts and threads have nothing here that could be old.)
const REFRESHED: [(u8, &str); 5] = [
    (0x02, "FLUSH LOGS"),
    (0x04, "FLUSH TABLES"),
    (0x10, "FLUSH STATUS"),
    (0x40, "RESET REPLICA"),
    (0x80, "RESET BINARY LOGS AND GTIDS"),
];

impl Connection {
    /// Runs one command and writes its answer.
    pub(crate) async fn command(&mut self, packet: &[u8]) -> Result<Next, Ended> {
        let command = match Command::decode(packet) {
            Ok(command) => command,
            // The packet is whole, so the next one can be understood; but a replica that sends such things is not served.
            Err(error) => {
                self.write_err(&error.into());
                let is_of_a_replica = matches!(packet.first(), Some(&(com::BINLOG_DUMP | com::BINLOG_DUMP_GTID)));
                return Ok(if is_of_a_replica { Next::Close } else { Next::Command });
            }
        };
        if self.session.password_expired() && !works_with_expired_password(&command) {
            self.write_err(&sql::session::must_change_password());
            return Ok(Next::Command);
        }
        self.run_command(command).await
    }

    async fn run_command(&mut self, command: Command<'_>) -> Result<Next, Ended> {
        match command {
            Command::Quit => return Ok(Next::Close),
            Command::Query(text) => self.query(trimmed(text)).await?,
            Command::StmtExecute(execute) => self.execute(execute).await,
            Command::StmtPrepare(text) => self.prepare(trimmed(text)).await,
            Command::StmtSendLongData { id, param, data } => {
                let limit = self.session.settings().max_allowed_packet;
                if let Ok(statement) = self.statements.get(id, CHECK) {
                    statement.add_long_data(param, data, limit);
                }
            }
            Command::StmtClose(id) => self.statements.close(id),
            Command::StmtReset(id) => {
                let result = self.statements.get(id, CHECK).map(|statement| {
                    statement.reset();
                });
                self.write_result(result);
            }
            Command::StmtFetch { id, rows } => self.fetch(id, rows).await,
            Command::Ping => self.write_plain_ok(),
            Command::InitDb(name) => {
                self.entry.busy(command.name(), "");
                let result = self.session.use_database(&text(name));
                if result.is_ok() {
                    self.write_outcome(&self.plain_outcome(), false, false);
                } else {
                    self.write_result(result);
                }
            }
            Command::FieldList { table, wildcard } => self.field_list(&text(table), &text(wildcard)),
            Command::CreateDb(name) => self.query(format!("CREATE DATABASE {}", quoted(name)).as_bytes()).await?,
            Command::DropDb(name) => self.query(format!("DROP DATABASE {}", quoted(name)).as_bytes()).await?,
            Command::Refresh(what) => self.refresh(what).await?,
            Command::ProcessInfo => self.query(b"SHOW PROCESSLIST").await?,
            Command::ProcessKill(id) => self.query(format!("KILL {id}").as_bytes()).await?,
            Command::Statistics => {
                let line = self.shared.statistics();
                self.link.writer.payload(line.as_bytes());
            }
            Command::Debug => self.debug(),
            Command::SetOption(option) => self.set_option(option),
            Command::ResetConnection => {
                self.statements.clear();
                self.session.reset();
                self.write_plain_ok();
            }
            Command::ChangeUser(body) => return self.change_user(body).await,
            Command::RegisterReplica(replica) => self.register_replica(replica),
            Command::BinlogDump(dump) => {
                self.entry.busy(if dump.gtid_set.is_some() { "Binlog Dump GTID" } else { "Binlog Dump" }, "");
                return self.dump(dump).await;
            }
            Command::Unknown(com::STMT_BULK_EXECUTE) => {
                self.write_err(&SqlError::not_supported("COM_STMT_BULK_EXECUTE"));
            }
            Command::Unknown(_) => self.write_err(&SqlError::new(codes::UNKNOWN_COM_ERROR, "Unknown command")),
        }
        Ok(Next::Command)
    }

    /// COM_DEBUG: there is nothing to print, but who may ask is who may on MySQL.
    fn debug(&mut self) {
        if !self.session.has_global_privilege(Privilege::Super) {
            let message = "Access denied; you need (at least one of) the SUPER privilege(s) for this operation";
            return self.write_err(&SqlError::new(codes::SPECIFIC_ACCESS_DENIED_ERROR, message));
        }
        let end = reply::Ok { status: self.session.status().0, ..reply::Ok::default() };
        reply::write_end_of_rows(&mut self.link.writer, self.link.capabilities, &end);
    }

    /// COM_QUERY: one statement, or more if the client may send more; each has its own answer.
    async fn query(&mut self, text: &[u8]) -> Result<(), Ended> {
        let many = self.link.capabilities & capability::MULTI_STATEMENTS != 0 && text.contains(&b';');
        if !many {
            self.statement(text, false).await?;
            return Ok(());
        }
        let mut rest = text;
        loop {
            let length = self.session.next_statement(rest).unwrap_or(rest.len());
            let (first, after) = rest.split_at(length);
            let more = self.session.next_statement(after).is_some();
            let went_well = self.statement(first, more).await?;
            if !more || !went_well {
                return Ok(());
            }
            rest = after;
            // Statements that wait for nothing would shut out the other sessions of the thread.
            futures_lite::future::yield_now().await;
            match self.session.handle().cancel.check() {
                Ok(()) => {}
                Err(Cancelled::Connection) => return Ok(()),
                Err(Cancelled::Statement) => {
                    // Whatever of them it was meant for, it ends them all.
                    self.write_err(&Ended::Interrupted.into());
                    return Ok(());
                }
            }
        }
    }

    /// Runs one statement; whether it succeeded.
    async fn statement(&mut self, text: &[u8], more: bool) -> Result<bool, Ended> {
        self.entry.busy("Query", &String::from_utf8_lossy(text));
        let charset = self.session.settings().character_set_results;
        let status = self.session.status().0;
        let mut sink = ReplySink::new(&mut self.link, Encoding::Text, charset, status);
        let result = self.session.query(text, &mut sink).await;
        let began = sink.began();
        sink.into_file().finish(&mut self.link).await?;
        match result {
            Ok(outcome) => {
                self.write_outcome(&outcome, began, more);
                Ok(true)
            }
            Err(error) => {
                self.write_err(&error);
                Ok(false)
            }
        }
    }

    /// COM_REFRESH: statements whose answers are one OK, or the error of the first that fails.
    async fn refresh(&mut self, what: u8) -> Result<(), Ended> {
        let mut result = self.session.check_may_reload();
        for (bit, statement) in REFRESHED {
            if what & bit == 0 || result.is_err() {
                continue;
            }
            self.entry.busy("Refresh", statement);
            let mut sink = ReplySink::new(&mut self.link, Encoding::Text, None, 0);
            result = self.session.query(statement.as_bytes(), &mut sink).await.map(drop);
        }
        self.write_result(result);
        Ok(())
    }

    async fn prepare(&mut self, statement: &[u8]) {
        let text: Arc<str> = String::from_utf8_lossy(statement).into();
        self.entry.busy("Prepare", &text);
        let prepared = match self.session.prepare(statement).await {
            Ok(prepared) => prepared,
            Err(error) => return self.write_err(&error),
        };
        if prepared.param_count > usize::from(u16::MAX) {
            let text = "Prepared statement contains too many placeholders";
            return self.write_err(&SqlError::new(codes::PS_MANY_PARAM, text));
        }
        let columns = prepared.columns.clone();
        let params = prepared.params();
        let id = self.statements.add(prepared, text);
        self.write_prepared(id, &params, &columns);
    }

    fn write_prepared(&mut self, id: u32, params: &[ResultColumn], columns: &[ResultColumn]) {
        let ok = PrepareOk {
            id,
            columns: columns.len() as u16,
            params: params.len() as u16,
            warnings: self.session.warning_count(),
        };
        let charset = self.session.settings().character_set_results;
        let status = self.session.status().0;
        self.link.writer.packet(|out| ok.encode(out));
        let old_ends = self.link.capabilities & capability::DEPRECATE_EOF == 0;
        if !params.is_empty() {
            write_columns(&mut self.link, params, charset);
            if old_ends {
                reply::write_eof(&mut self.link.writer, 0, status);
            }
        }
        if !columns.is_empty() {
            write_columns(&mut self.link, columns, charset);
            if old_ends {
                reply::write_eof(&mut self.link.writer, 0, status);
            }
        }
    }

    fn field_list(&mut self, table: &str, pattern: &str) {
        self.entry.busy("Field List", table);
        match self.session.field_list(table, pattern) {
            Ok(columns) => {
                let charset = self.session.settings().character_set_results;
                for column in &columns {
                    self.link.writer.packet(|out| {
                        definition(column, charset).encode(out, names_charset(charset));
                        // The default value: NULL, since nothing uses it any more.
                        out.push(0xfb);
                    });
                }
                let end = reply::Ok { status: self.session.status().0, ..reply::Ok::default() };
                reply::write_end_of_rows(&mut self.link.writer, self.link.capabilities, &end);
            }
            Err(error) => self.write_err(&error),
        }
    }

    fn set_option(&mut self, option: u16) {
        match option {
            MULTI_STATEMENTS_ON => self.link.capabilities |= capability::MULTI_STATEMENTS,
            MULTI_STATEMENTS_OFF => self.link.capabilities &= !capability::MULTI_STATEMENTS,
            _ => return self.write_err(&SqlError::new(codes::UNKNOWN_COM_ERROR, "Unknown command")),
        }
        self.write_plain_end();
    }

    /// The end of an answer that is no statement's.
    fn write_plain_end(&mut self) {
        let end = reply::Ok { status: self.session.status().0, ..reply::Ok::default() };
        reply::write_end_of_rows(&mut self.link.writer, self.link.capabilities, &end);
    }

    fn plain_outcome(&self) -> sql::Outcome {
        sql::Outcome { status: self.session.status(), ..sql::Outcome::default() }
    }
}

/// Commands of a client whose password has expired: statements, which are looked at one by one, and what has to do with no data.
fn works_with_expired_password(command: &Command<'_>) -> bool {
    matches!(
        command,
        Command::Quit
            | Command::Query(_)
            | Command::Ping
            | Command::ChangeUser(_)
            | Command::StmtClose(_)
            | Command::StmtSendLongData { .. }
    )
}

/// A statement's text without what clients put behind it: semicolons and space, and the NUL that ends a text in C.
fn trimmed(text: &[u8]) -> &[u8] {
    let is_behind = |byte: &u8| *byte == b';' || byte.is_ascii_whitespace() || *byte == 0x0b;
    let length = text.iter().rposition(|byte| !is_behind(byte)).map_or(0, |last| last + 1);
    text[..length].strip_suffix(&[0]).unwrap_or(&text[..length])
}

/// A name between backticks.
fn quoted(name: &[u8]) -> String {
    format!("`{}`", text(name).replace('`', "``"))
}
