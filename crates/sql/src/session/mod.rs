//! [`Session`]: one client's state, and the way of its statements.
//!
//! ```text
//!   bytes ── text (character set) ── parse ── privileges ── run ──> Outcome
//!                                               │
//!        transaction: begun by the first statement that needs one, kept until COMMIT unless autocommit
//!        before DDL and what behaves like it: an implicit COMMIT
//! ```
//!
//! # Invariants
//! - A failed statement leaves of the transaction what was there before it; only a deadlock (and a lock wait timeout, if so
//!   set) ends the transaction.
//! - Dropping a session rolls back its transaction.
//! - The list of warnings is that of the last statement that was not a diagnostic one.

use std::sync::Arc;

use base::SqlError;
use engine::{Engine, SessionHandle};
use io::Env;
use types::Value;

use crate::parse::ast::UserName;
use crate::result::{Outcome, ResultColumn, ResultSink, StatusFlags};
use crate::services::Services;
use crate::settings::{Globals, SessionSettings};

/// What all sessions of a server share.
pub struct Shared {
    /// Rows, catalog, transactions.
    pub engine: Arc<Engine>,
    /// The rest of the server.
    pub services: Arc<dyn Services>,
    /// The server's settings.
    pub globals: Arc<Globals>,
    /// Clock and random bytes.
    pub env: Env,
}

/// Who the session belongs to: known after the login.
#[derive(Clone, Debug)]
pub struct Client {
    /// The user name that the client gave.
    pub user: String,
    /// Where it comes from: an address, or `localhost` for the socket.
    pub host: String,
    /// The account it logged in to.
    pub account: UserName,
    /// CLIENT_FOUND_ROWS: count rows that were found, not those that were changed.
    pub found_rows: bool,
    /// CLIENT_INTERACTIVE: `interactive_timeout` becomes its `wait_timeout`.
    pub interactive: bool,
    /// The collation of the handshake; a number that is not known is the default one.
    pub collation: u16,
}

/// A prepared statement: parsed once, planned once for as long as the catalog stays the same.
pub struct Prepared {
    /// Number of `?`.
    pub param_count: usize,
    /// The shape of its rows; empty if it has none.
    pub columns: Vec<ResultColumn>,
}

/// One client's session.
pub struct Session {
    shared: Arc<Shared>,
    handle: Arc<SessionHandle>,
    settings: SessionSettings,
}

#[expect(unused_variables, clippy::unused_async, reason = "the bodies follow")]
impl Session {
    /// A session after its login. `handle` is the connection's: it was there before the login, and KILL reaches the
    /// session through it.
    pub fn new(shared: Arc<Shared>, handle: Arc<SessionHandle>, client: Client) -> Self {
        let settings = SessionSettings::new(shared.globals.snapshot());
        Session { shared, handle, settings }
    }

    /// For KILL and for the end of the connection.
    pub fn handle(&self) -> &Arc<SessionHandle> {
        &self.handle
    }

    /// Its settings (timeouts, character sets, limits).
    pub fn settings(&self) -> &SessionSettings {
        &self.settings
    }

    /// The default database.
    pub fn database(&self) -> Option<&str> {
        None
    }

    /// Its user variables, names in lower case: what a replica tells about itself before it asks for the log.
    pub fn user_variables(&self) -> Vec<(String, Value)> {
        Vec::new()
    }

    /// The state that OK and EOF packets show.
    pub fn status(&self) -> StatusFlags {
        StatusFlags::default()
    }

    /// Number of warnings of the last statement.
    pub fn warning_count(&self) -> u16 {
        0
    }

    /// Cuts the first statement off a text of one or more: its length with the `;`, or `None` at the end. Multi-statements
    /// are run one by one: `while let Some(length) = session.next_statement(rest) { … }`.
    pub fn next_statement(&self, text: &[u8]) -> Option<usize> {
        None
    }

    /// Runs one statement (what follows a `;` is an error).
    pub async fn query(&mut self, text: &[u8], sink: &mut dyn ResultSink) -> Result<Outcome, SqlError> {
        Err(SqlError::not_supported("statements"))
    }

    /// Prepares a statement.
    pub async fn prepare(&mut self, text: &[u8]) -> Result<Prepared, SqlError> {
        Err(SqlError::not_supported("statements"))
    }

    /// Runs a prepared statement. `prepared` is planned anew if the catalog has changed; its columns may then differ from
    /// those that PREPARE gave, the sink gets those that hold.
    pub async fn execute(
        &mut self,
        prepared: &mut Prepared,
        params: &[Value],
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        Err(SqlError::not_supported("statements"))
    }

    /// COM_INIT_DB.
    pub fn use_database(&mut self, name: &str) -> Result<(), SqlError> {
        Err(SqlError::not_supported("statements"))
    }

    /// COM_FIELD_LIST: the columns of a table whose names are LIKE `pattern` (all if it is empty).
    pub fn field_list(&mut self, table: &str, pattern: &str) -> Result<Vec<ResultColumn>, SqlError> {
        Err(SqlError::not_supported("statements"))
    }

    /// COM_RESET_CONNECTION: as new, but for the login and the default database.
    pub fn reset(&mut self) {}

    /// COM_CHANGE_USER: as new, for another login.
    pub fn change_user(&mut self, client: Client) {}
}
