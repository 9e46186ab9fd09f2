//! A transaction without what a filter does not want.

use std::cell::RefCell;
use std::collections::HashMap;

use binlog::dump::DumpFilter;

use crate::error::EventError;
use crate::event::*;

/// A transaction of which only what is wanted is seen: rows of wanted tables, statements in or about wanted databases. What begins and
/// ends it stays.
pub struct Selected<'t> {
    transaction: &'t dyn Transaction,
    filter: &'t DumpFilter,
}

impl<'t> Selected<'t> {
    /// What the filter wants of a transaction; `None` if it does not want the transaction at all.
    ///
    /// # Errors
    /// Where the transaction cannot be read.
    pub fn of(transaction: &'t dyn Transaction, filter: &'t DumpFilter) -> Maybe<Self> {
        let is_named = match transaction.name()? {
            Some(TransactionName::Mysql(gtid)) => filter.wants_gtid(Some(gtid)),
            Some(TransactionName::Maria(name)) => filter.wants_gtid(Some(name.gtid())),
            None => filter.wants_gtid(None),
        };
        Ok(is_named.then_some(Selected { transaction, filter }))
    }
}

impl Transaction for Selected<'_> {
    fn position(&self) -> Maybe<Position> {
        self.transaction.position()
    }

    fn dialect(&self) -> Maybe<Dialect> {
        self.transaction.dialect()
    }

    fn name(&self) -> Maybe<TransactionName> {
        self.transaction.name()
    }

    fn commit_time(&self) -> Maybe<CommitTime> {
        self.transaction.commit_time()
    }

    fn envelope(&self) -> Maybe<(Head, Envelope)> {
        self.transaction.envelope()
    }

    fn compressed(&self) -> Maybe<Head> {
        self.transaction.compressed()
    }

    fn outcome(&self) -> Maybe<Outcome> {
        self.transaction.outcome()
    }

    fn changes(&self, each: &mut EachChange<'_>) -> Result<(), EventError> {
        let filter = self.filter;
        if !filter.is_of_tables() {
            return self.transaction.changes(each);
        }
        // Which of the transaction's tables are wanted, by their numbers.
        let tables: RefCell<HashMap<u64, bool>> = RefCell::default();
        // What the next statement needs comes before it.
        self.transaction.changes(&mut |change| {
            let is_wanted = match change.what {
                What::Table(table) => {
                    let (database, name) = table.name()?.ok_or_else(EventError::missing("table", "its name"))?;
                    let is_wanted = filter.wants_table(database, name);
                    tables.borrow_mut().insert(table.id()?.unwrap_or_default(), is_wanted);
                    is_wanted
                }
                What::Rows(rows) => {
                    let id = rows.table_id()?.unwrap_or_default();
                    tables.borrow().get(&id).copied().unwrap_or(false)
                }
                What::Statement(statement) => wants_statement(filter, statement)?,
                // The statement of rows whose tables are not known yet.
                What::RowsStatement(_) => false,
                _ => true,
            };
            if is_wanted { each(change) } else { Ok(()) }
        })
    }
}

/// Whether it is of the transaction itself: `BEGIN` and the like.
pub(crate) fn is_control(sql: &[u8]) -> bool {
    let begins = |word: &[u8]| sql.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let is = |word: &[u8]| sql.eq_ignore_ascii_case(word);
    is(b"BEGIN")
        || is(b"COMMIT")
        || is(b"ROLLBACK")
        || [&b"SAVEPOINT "[..], b"ROLLBACK TO ", b"RELEASE SAVEPOINT ", b"XA "].iter().any(|word| begins(word))
}

fn wants_statement(filter: &DumpFilter, statement: &dyn Statement) -> Result<bool, EventError> {
    let sql = statement.sql()?.unwrap_or_default();
    if is_control(&sql) {
        return Ok(true);
    }
    let context = statement.context()?.unwrap_or_default();
    let changed = context.iter().find_map(|var| match var {
        StatusVar::UpdatedSchemas(names) => names.as_deref(),
        _ => None,
    });
    let database = statement.database()?.unwrap_or_default();
    Ok(match changed {
        Some(names) if !names.is_empty() => names.iter().any(|name| filter.wants_database(name)),
        _ => filter.wants_database(database),
    })
}

/// A distributed transaction that is over: its changes, which were prepared, at the place of the transaction that commits them.
pub struct Completed<'t> {
    prepared: &'t dyn Transaction,
    end: &'t dyn Transaction,
}

impl<'t> Completed<'t> {
    /// What `prepared` did, committed by `end`.
    pub fn new(prepared: &'t dyn Transaction, end: &'t dyn Transaction) -> Self {
        Completed { prepared, end }
    }
}

impl Transaction for Completed<'_> {
    fn position(&self) -> Maybe<Position> {
        self.end.position()
    }

    fn dialect(&self) -> Maybe<Dialect> {
        self.end.dialect()
    }

    fn name(&self) -> Maybe<TransactionName> {
        self.end.name()
    }

    fn commit_time(&self) -> Maybe<CommitTime> {
        self.end.commit_time()
    }

    fn envelope(&self) -> Maybe<(Head, Envelope)> {
        self.end.envelope()
    }

    fn outcome(&self) -> Maybe<Outcome> {
        Ok(Some(Outcome::Committed))
    }

    fn changes(&self, each: &mut EachChange<'_>) -> Result<(), EventError> {
        self.prepared.changes(each)
    }
}
