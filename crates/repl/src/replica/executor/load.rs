//! LOAD DATA of a source that logs statements.
//!
//! ```text
//! BEGIN_LOAD_QUERY     the first bytes of the file, which go to a temporary file of the session
//! APPEND_BLOCK …       more of it
//! EXECUTE_LOAD_QUERY   the statement, run with that file in the place of the one it names
//! DELETE_FILE          in its place: nothing came of the statement
//! ```
//! # Invariants
//! - A file lasts until its statement, the end of its transaction, or the next start of the server; none of it is in memory.

use base::SqlError;
use binlog::event::{EventBody, ExecuteLoadQuery, QueryEvent};
use binlog::{DecodeError, RawEvent};

use super::{Executor, malformed};

/// `duplicates` of the event.
const IGNORE: u8 = 1;
const REPLACE: u8 = 2;

impl Executor {
    /// An event of a file, or of the statement that reads it.
    pub(super) async fn file(&mut self, event: &RawEvent<'_>, body: &EventBody<'_>) -> Result<(), SqlError> {
        match body {
            EventBody::BeginLoadQuery(file) => self.session.begin_kept_file(file.file_id, file.block).await,
            EventBody::AppendBlock(file) => self.session.append_kept_file(file.file_id, file.block).await,
            EventBody::DeleteFile(file_id) => {
                self.session.forget_kept_file(*file_id);
                Ok(())
            }
            EventBody::ExecuteLoadQuery(load) => self.load(event, load).await,
            _ => Ok(()),
        }
    }

    async fn load(&mut self, event: &RawEvent<'_>, load: &ExecuteLoadQuery<'_>) -> Result<(), SqlError> {
        let sql = statement_of(load)?;
        self.session.next_load_reads(load.file_id)?;
        let query = QueryEvent { sql: &sql, ..load.query };
        let result = self.query(event, query, &sql).await;
        self.session.forget_kept_file(load.file_id);
        result
    }
}

/// The statement without the name of the source's file, which is nowhere here. What is said there of LOCAL and of duplicates the event
/// says instead.
fn statement_of(load: &ExecuteLoadQuery<'_>) -> Result<Vec<u8>, SqlError> {
    let sql = load.query.sql;
    let (start, end) = (load.name_start as usize, load.name_end as usize);
    let Some((before, after)) = sql.get(..start).zip(sql.get(end..)).filter(|_| start <= end) else {
        let message = "LOAD DATA: a file's name outside of the statement";
        return Err(malformed(DecodeError(message.to_owned())));
    };
    let duplicates: &[u8] = match load.duplicates {
        IGNORE => b" IGNORE",
        REPLACE => b" REPLACE",
        _ => b"",
    };
    Ok([before, b" INFILE ''", duplicates, b" INTO", after].concat())
}
