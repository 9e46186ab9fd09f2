//! [`Database`]: a database without listeners, for the program that opened it.

use std::path::Path;
use std::sync::Mutex;

use base::SqlError;
use server::{Core, ServeOptions, ServerError};
use session::Registered;
use sql::Outcome;
use sql::parse::ast::UserName;
use sql::result::Collected;
use sql::session::Client;
use tokio::runtime::Runtime;
use types::Value;

/// An open database. Dropping it closes it; [`Database::close`] also says how that went.
///
/// Calls wait on the thread that makes them, so they must not be made from a task of an asynchronous runtime.
pub struct Database {
    /// Used by [`Database::query`]; made when first needed.
    connection: Mutex<Option<Connection>>,
    core: Option<Core>,
    runtime: Runtime,
}

/// A session of its own in a [`Database`]: with its own transaction, default database and variables.
pub struct Connection {
    session: sql::Session,
    /// Its place in SHOW PROCESSLIST.
    _entry: Registered,
    runtime: tokio::runtime::Handle,
}

/// What a statement gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Names of the columns; empty if the statement has no rows.
    pub columns: Vec<String>,
    /// The rows, with a value per column.
    pub rows: Vec<Vec<Value>>,
    /// Rows that were changed.
    pub affected_rows: u64,
    /// The first value that AUTO_INCREMENT made, or 0.
    pub last_insert_id: u64,
    /// Number of warnings (`SHOW WARNINGS`).
    pub warnings: u16,
}

impl Database {
    /// Opens a data directory with the default settings, and makes it if it is missing.
    pub fn open(datadir: impl AsRef<Path>) -> Result<Self, ServerError> {
        Database::open_with(&ServeOptions { datadir: datadir.as_ref().to_owned(), ..ServeOptions::default() })
    }

    /// Opens with settings (`set: vec!["innodb_buffer_pool_size=1G".into()]`). What concerns listeners means nothing here.
    pub fn open_with(options: &ServeOptions) -> Result<Self, ServerError> {
        let cannot = |error| ServerError::Io { what: "cannot start the runtime".into(), error };
        let runtime = server::runtime(0).map_err(cannot)?;
        let core = runtime.block_on(Core::open(options))?;
        Ok(Database { connection: Mutex::new(None), core: Some(core), runtime })
    }

    /// Runs one statement in the database's own connection.
    pub fn query(&self, sql: &str) -> Result<Rows, SqlError> {
        let mut connection = self.connection.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let connection = match &mut *connection {
            Some(connection) => connection,
            none => none.insert(self.connect()?),
        };
        connection.query(sql)
    }

    /// A connection of its own, for transactions beside those of others.
    pub fn connect(&self) -> Result<Connection, SqlError> {
        let shared = self.core.as_ref().ok_or_else(closed)?.shared();
        let max = shared.sql.globals.now().connections.max_connections;
        let entry = shared.registry.connect("embedded".into(), max)?;
        let root = UserName { user: "root".into(), host: session::auth::LOCALHOST.into() };
        let client = Client {
            user: root.user.clone(),
            host: root.host.clone(),
            account: root,
            found_rows: false,
            interactive: false,
            collation: wire::flags::COLLATION_UTF8MB4_0900_AI_CI,
            stream: Default::default(),
        };
        entry.logged_in(&client.user, client.account.to_string(), 0)?;
        let session = sql::Session::new(shared.sql.clone(), entry.handle.clone(), client);
        Ok(Connection { session, _entry: entry, runtime: self.runtime.handle().clone() })
    }

    /// Makes a last checkpoint and closes. Connections that are still there fail from now on.
    pub fn close(mut self) -> Result<(), ServerError> {
        self.close_core()
    }

    fn close_core(&mut self) -> Result<(), ServerError> {
        *self.connection.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = None;
        self.core.take().map_or(Ok(()), |core| self.runtime.block_on(core.close()))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Err(error) = self.close_core() {
            tracing::error!("{error}");
        }
    }
}

impl Connection {
    /// Runs one statement.
    pub fn query(&mut self, sql: &str) -> Result<Rows, SqlError> {
        let mut collected = Collected::default();
        self.session.handle().cancel.next_statement();
        let outcome = self.runtime.block_on(self.session.query(sql.as_bytes(), &mut collected))?;
        Ok(Rows::new(collected, &outcome))
    }
}

impl Rows {
    fn new(collected: Collected, outcome: &Outcome) -> Self {
        Rows {
            columns: collected.columns.iter().map(|column| column.name.to_string()).collect(),
            rows: collected.rows,
            affected_rows: if outcome.has_rows { 0 } else { outcome.affected_rows },
            last_insert_id: outcome.last_insert_id,
            warnings: outcome.warnings,
        }
    }
}

fn closed() -> SqlError {
    SqlError::new(base::codes::SERVER_SHUTDOWN, "Server shutdown in progress")
}
