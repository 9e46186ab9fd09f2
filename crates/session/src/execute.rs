//! Prepared statements at work: COM_STMT_EXECUTE, with a cursor or without, and COM_STMT_FETCH.
//!
//! A client that asks for a cursor gets the shape of the rows, and then as many rows at a time as it asks for. The status says
//! whether there is a cursor, and, once a fetch has come to the end, that the last row was sent; then the cursor is closed. A
//! statement without rows has no cursor: it is answered as if none had been asked for.

use base::{SqlError, codes};
use sql::Outcome;
use types::Value;
use types::charset::Charset;
use wire::codec::Put;
use wire::command::StmtExecute;
use wire::flags::{column_type, cursor, status};
use wire::params::ParamType;
use wire::{WireError, params, reply};

use crate::connection::Connection;
use crate::sink::{Encoding, ReplySink, write_columns};

impl Connection {
    /// COM_STMT_EXECUTE
    pub(crate) async fn execute(&mut self, execute: StmtExecute<'_>) {
        let result = match self.take_params(execute) {
            Ok(()) if execute.cursor & cursor::READ_ONLY != 0 => self.open_cursor(execute.id).await,
            Ok(()) => self.run_prepared(execute.id).await,
            Err(error) => Err(error),
        };
        self.params.clear();
        if let Err(error) = result {
            self.write_err(&error);
        }
    }

    /// COM_STMT_FETCH
    pub(crate) async fn fetch(&mut self, id: u32, count: u32) {
        if let Err(error) = self.fetch_rows(id, count as usize).await {
            self.write_err(&error);
        }
    }

    /// The parameters, into `self.params`. What was sent ahead is used up, and an earlier cursor is closed.
    fn take_params(&mut self, execute: StmtExecute<'_>) -> Result<(), SqlError> {
        let statement = self.statements.get(execute.id, CHECK)?;
        self.entry.busy("Execute", &statement.text);
        let (count, types) = (statement.prepared.param_count, &mut statement.types);
        let decoded = params::decode_params(execute.params, count, types, &statement.long_data, &mut self.params);
        if let Some(charset @ Charset::Single(_)) = Charset::by_name(self.session.settings().character_set_client) {
            self.params.iter_mut().zip(types.iter()).for_each(|(value, param)| from_charset(value, *param, charset));
        }
        if let Some(error) = statement.reset() {
            return Err(error);
        }
        decoded.map_err(|error| match error {
            WireError::Truncated(_) => error.into(),
            _ => SqlError::new(codes::WRONG_ARGUMENTS, "Incorrect arguments to mysqld_stmt_execute"),
        })
    }

    async fn run_prepared(&mut self, id: u32) -> Result<(), SqlError> {
        let statement = self.statements.get(id, CHECK)?;
        let charset = self.session.settings().character_set_results;
        let status = self.session.status().0;
        let mut sink = ReplySink::new(&mut self.link, Encoding::Binary, charset, status);
        let outcome = self.session.execute(&mut statement.prepared, &self.params, &mut sink).await?;
        let began = sink.began();
        self.write_outcome(&outcome, began, false);
        Ok(())
    }

    async fn open_cursor(&mut self, id: u32) -> Result<(), SqlError> {
        let mut cursor = Box::new(self.session.new_cursor());
        let statement = self.statements.get(id, CHECK)?;
        let outcome = self.session.execute(&mut statement.prepared, &self.params, &mut *cursor).await?;
        if !outcome.has_rows {
            self.write_outcome(&outcome, false, false);
            return Ok(());
        }
        cursor.finish().await?;
        let charset = self.session.settings().character_set_results;
        // The shape alone. The end of the answer follows it at once, in every version of the protocol.
        self.link.writer.packet(|out| out.put_lenenc(cursor.columns().len() as u64));
        write_columns(&mut self.link, cursor.columns(), charset);
        statement.cursor = Some(cursor);
        self.write_end_of_fetch(&outcome, status::CURSOR_EXISTS);
        Ok(())
    }

    async fn fetch_rows(&mut self, id: u32, count: usize) -> Result<(), SqlError> {
        let statement = self.statements.get(id, CHECK)?;
        self.entry.busy("Fetch", &statement.text);
        let Some(cursor) = &mut statement.cursor else {
            let text = format!("The statement ({id}) has no open cursor.");
            return Err(SqlError::new(codes::STMT_HAS_NO_OPEN_CURSOR, text));
        };
        let charset = self.session.settings().character_set_results;
        let mut sink = ReplySink::resume(&mut self.link, cursor.columns(), charset);
        let is_at_end = cursor.fetch(count, &mut sink).await?;
        if is_at_end {
            statement.cursor = None;
        }
        let outcome = Outcome { status: self.session.status(), ..Outcome::default() };
        self.write_end_of_fetch(&outcome, if is_at_end { status::LAST_ROW_SENT } else { status::CURSOR_EXISTS });
        Ok(())
    }

    /// The end of an answer that says how the cursor is.
    fn write_end_of_fetch(&mut self, outcome: &Outcome, flag: u16) {
        let ok = reply::Ok { status: outcome.status.0 | flag, warnings: outcome.warnings, ..reply::Ok::default() };
        reply::write_end_of_rows(&mut self.link.writer, self.link.capabilities, &ok);
    }
}

/// What MySQL names in the error that there is no such statement.
pub(crate) const CHECK: &str = "mysql_stmt_precheck";

/// Text of a client that writes in this character set; bytes stay as they are, and so does what is no text of it.
fn from_charset(value: &mut Value, param: ParamType, charset: Charset) {
    let is_text = matches!(param.ty, column_type::VARCHAR | column_type::VAR_STRING | column_type::STRING);
    if let Value::Str(bytes) | Value::Bytes(bytes) = value
        && is_text
        && !bytes.is_ascii()
    {
        *value = match charset {
            Charset::Single(_) => match charset.text(bytes) {
                Some(text) => Value::Str(text.into_owned().into()),
                None => Value::Bytes(bytes.clone()),
            },
            Charset::Utf8Mb4 | Charset::Binary => Value::Str(bytes.clone()),
        };
    }
}
