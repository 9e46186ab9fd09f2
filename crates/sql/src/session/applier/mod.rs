//! [`Applier`]: a session that does what another server's log says, and what it keeps of that server.
//!
//! ```text
//!   events ──┬─ of statements: become what the session there was, run                (statements)
//!            ├─ of files for LOAD DATA: kept until their statement                   (files)
//!            └─ of rows ── Session::apply_rows
//!   transactions beside others, which commit in the log's order                      (turn)
//!   temporary tables of the connections there                                        (source_tables)
//! ```
//!
//! What any session does an applier does as a [`Session`]; a client's session knows nothing of what is here.

mod files;
mod source_tables;
mod statements;
mod turn;

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use base::SqlError;
use binlog::event::Xid;
use engine::SessionHandle;

pub use self::source_tables::SourceTables;
pub(super) use self::statements::StatementSource;
pub use self::statements::{ReadStatement, ReplicatedStatement};
pub(super) use self::turn::InOrder;
use super::{PendingCommit, Session, Shared};

/// A session that executes another server's log.
pub struct Applier {
    session: Session,
    /// What the session was last made to be for a statement.
    last: statements::LastSession,
    /// Files of LOAD DATA statements, by their numbers in the log.
    files: files::KeptFiles,
    /// Temporary tables of the connections there.
    tables: source_tables::ThreadTables,
}

impl Deref for Applier {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl DerefMut for Applier {
    fn deref_mut(&mut self) -> &mut Session {
        &mut self.session
    }
}

impl Applier {
    /// One of a server; `tables` are the temporary tables of its source's connections.
    pub fn new(shared: Arc<Shared>, handle: Arc<SessionHandle>, tables: Arc<SourceTables>) -> Self {
        Applier {
            session: Session::applier(shared, handle),
            last: Default::default(),
            files: Default::default(),
            tables: source_tables::ThreadTables::new(tables),
        }
    }

    /// The log that is executed goes on in a file; see [`SourceTables`]. `created` is what its FORMAT_DESCRIPTION says.
    pub fn source_file_begins(&mut self, file: &str, created: u32) {
        self.tables.file_begins(file, created);
    }

    /// As of a session; what the transaction has made of temporary tables stays.
    pub async fn enqueue_commit(&mut self) -> Result<PendingCommit, SqlError> {
        let pending = self.session.enqueue_commit().await?;
        self.tables.keep(&mut self.session.temporary);
        Ok(pending)
    }

    /// The transaction that events of a source have begun is the first phase of a distributed one.
    ///
    /// # Errors
    /// As of `XA PREPARE`; the transaction is rolled back then.
    pub async fn enqueue_prepare(&mut self, xid: &Xid) -> Result<PendingCommit, SqlError> {
        let pending = self.session.enqueue_prepare_of(xid).await?;
        self.tables.keep(&mut self.session.temporary);
        Ok(pending)
    }
}
