//! Transactions in the format that was asked for: what is wanted of each, and distributed ones when they are committed.

use events::form::FormApply;
use events::json::JsonApply;
use events::sql::SqlApply;
use events::{Apply as _, Completed, EventError, Outcome, Selected, Transaction, form};

use super::columns::ServerLookup;
use super::progress::Progress;
use crate::cli::{CommandError, Tail, TailFormat};

pub(super) struct TailWriter {
    filter: binlog::dump::DumpFilter,
    format: Format,
}

enum Format {
    Json(JsonApply<ServerLookup>),
    Protobuf(FormApply),
    Sql(SqlApply<ServerLookup>),
}

impl TailWriter {
    pub(super) fn new(arguments: &Tail) -> Self {
        let lookup = ServerLookup::new(arguments.source.clone());
        let format = match arguments.format {
            TailFormat::Json => Format::Json(JsonApply::new(lookup)),
            TailFormat::Protobuf => Format::Protobuf(FormApply::default()),
            TailFormat::Sql => Format::Sql(SqlApply::new(lookup)),
        };
        TailWriter { filter: super::filter(arguments), format }
    }

    /// What is to be written for the next transaction of the log. One that is prepared is held; what comes of it is written when it is
    /// committed, at the place of that.
    pub(super) fn transaction(
        &mut self,
        transaction: &dyn Transaction,
        progress: &mut Progress,
    ) -> Result<Vec<u8>, CommandError> {
        match transaction.outcome()? {
            Some(Outcome::Prepared(xid)) => {
                // The same name again: the one before is over, in a part of the log that was not read.
                progress.take_prepared(&xid)?;
                progress.prepared.push(form::Transaction::of(transaction)?);
                Ok(Vec::new())
            }
            Some(Outcome::CommittedPrepared(xid)) => match progress.take_prepared(&xid)? {
                Some(prepared) => self.write(&Completed::new(&prepared, transaction)),
                None => {
                    let place = transaction.position()?.unwrap_or_default();
                    eprintln!(
                        "commuter: XA COMMIT {xid} at {place}: its changes were prepared before the place where this began"
                    );
                    Ok(Vec::new())
                }
            },
            Some(Outcome::RolledBackPrepared(xid)) => {
                progress.take_prepared(&xid)?;
                Ok(Vec::new())
            }
            _ => self.write(transaction),
        }
    }

    fn write(&mut self, transaction: &dyn Transaction) -> Result<Vec<u8>, CommandError> {
        let Some(selected) = Selected::of(transaction, &self.filter)? else { return Ok(Vec::new()) };
        let (applied, bytes) = match &mut self.format {
            Format::Json(apply) => (apply.transaction(&selected), apply.take().into_bytes()),
            Format::Protobuf(apply) => (apply.transaction(&selected), apply.take()),
            Format::Sql(apply) => (apply.transaction(&selected), apply.take()),
        };
        applied.map_err(|error| -> CommandError {
            if matches!(error, EventError::SourceLost(_)) {
                return error.into();
            }
            let place = transaction.position().ok().flatten().unwrap_or_default();
            format!("the transaction that ends at {place}: {error}").into()
        })?;
        Ok(bytes)
    }
}
