//! A connection's prepared statements.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{SqlError, codes};
use sql::{Cursor, Prepared};
use wire::params::ParamType;

/// One prepared statement of a client.
pub(crate) struct Statement {
    /// Parsed and planned.
    pub(crate) prepared: Prepared,
    /// Its text, for SHOW PROCESSLIST.
    pub(crate) text: Arc<str>,
    /// The types that the last execution brought.
    pub(crate) types: Vec<ParamType>,
    /// Values sent ahead; empty if there are none.
    pub(crate) long_data: Vec<Option<Vec<u8>>>,
    /// What went wrong with one of them; the next execution says it.
    pub(crate) long_data_error: Option<SqlError>,
    /// The rows of the last execution that were not fetched yet, if it was asked for a cursor.
    pub(crate) cursor: Option<Box<Cursor>>,
}

/// All of a connection.
#[derive(Default)]
pub(crate) struct Statements {
    by_id: BTreeMap<u32, Statement>,
    last_id: u32,
}

impl Statements {
    /// Keeps a statement, and gives its number.
    pub(crate) fn add(&mut self, prepared: Prepared, text: Arc<str>) -> u32 {
        loop {
            // Numbers come round after 2^32 statements; those still in use are left out.
            self.last_id = self.last_id.wrapping_add(1).max(1);
            if !self.by_id.contains_key(&self.last_id) {
                break;
            }
        }
        let (types, long_data) = (Vec::new(), Vec::new());
        let statement = Statement { prepared, text, types, long_data, long_data_error: None, cursor: None };
        self.by_id.insert(self.last_id, statement);
        self.last_id
    }

    /// 1243 if there is no such statement.
    pub(crate) fn get(&mut self, id: u32, command: &str) -> Result<&mut Statement, SqlError> {
        self.by_id.get_mut(&id).ok_or_else(|| {
            let text = format!("Unknown prepared statement handler ({id}) given to {command}");
            SqlError::new(codes::UNKNOWN_STMT_HANDLER, text)
        })
    }

    /// What they take, in bytes; `None` while there are cursors, whose rows are not counted one by one.
    pub(crate) fn held_bytes(&self) -> Option<u64> {
        let bytes = |statement: &Statement| {
            let sent: usize = statement.long_data.iter().flatten().map(Vec::len).sum();
            statement.cursor.is_none().then(|| statement.prepared.held_bytes() + sent as u64)
        };
        self.by_id.values().map(bytes).sum()
    }

    pub(crate) fn close(&mut self, id: u32) {
        self.by_id.remove(&id);
    }

    pub(crate) fn clear(&mut self) {
        self.by_id.clear();
    }
}

impl Statement {
    /// A piece of a parameter's value. There is no answer to it, so an error waits for the execution.
    pub(crate) fn add_long_data(&mut self, param: u16, data: &[u8], limit: usize) {
        let param = usize::from(param);
        if param >= self.prepared.param_count {
            self.long_data_error =
                Some(SqlError::new(codes::WRONG_ARGUMENTS, "Incorrect arguments to mysqld_stmt_send_long_data"));
            return;
        }
        if self.long_data.is_empty() {
            self.long_data = vec![None; self.prepared.param_count];
        }
        let held: usize = self.long_data.iter().flatten().map(Vec::len).sum();
        if held + data.len() > limit {
            self.long_data_error = Some(SqlError::unknown(
                "Parameter of prepared statement which is set through mysql_send_long_data() is longer than \
                 'max_allowed_packet' bytes",
            ));
            return;
        }
        self.long_data[param].get_or_insert_default().extend_from_slice(data);
    }

    /// Forgets what was sent ahead, with its error if there was one, and what was not fetched.
    pub(crate) fn reset(&mut self) -> Option<SqlError> {
        self.cursor = None;
        self.long_data = Vec::new();
        self.long_data_error.take()
    }
}
