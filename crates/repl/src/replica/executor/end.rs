//! How a transaction ends: its place in our log, and whether that is where to stop.

use base::SqlError;
use binlog::SourcePosition;
use binlog::event::{EventBody, Xid};

use super::super::commits::Executed;
use super::{Executor, Group};

impl Executor {
    /// Between two transactions: whether this is where to stop.
    pub(super) fn look_at_until(&mut self, offset: u64) {
        if let Some(until) = &mut self.until {
            self.group.gtid.take().into_iter().for_each(|gtid| until.executed(gtid));
            self.is_at_the_end |= !self.group.is_open && until.is_reached(&self.file, offset);
        }
    }

    /// The transaction takes its place in our log.
    pub(super) async fn commit(&mut self) -> Result<(), SqlError> {
        let position = self.position();
        self.session.set_source_position(position);
        if self.grouped.is_some() {
            return self.session.encode_commit().await;
        }
        let pending = self.session.enqueue_commit().await?;
        self.ended(Some(pending)).await
    }

    /// The same of the first phase of a distributed transaction.
    pub(super) async fn prepare(&mut self, xid: &Xid) -> Result<(), SqlError> {
        let position = self.position();
        self.session.set_source_position(position);
        let pending = self.session.enqueue_prepare(xid).await?;
        self.ended(Some(pending)).await
    }

    /// What the transaction is to remember of where it ends, where there are no GTIDs to say it.
    pub(super) fn position(&self) -> Option<SourcePosition> {
        let name = self.position_name.clone()?;
        Some(SourcePosition { name, file: self.file.to_string(), offset: self.offset })
    }

    pub(super) async fn ended(&mut self, pending: Option<sql::session::PendingCommit>) -> Result<(), SqlError> {
        let commit_time = self.group.commit_time;
        self.group.is_open = false;
        self.look_at_until(self.offset);
        self.group = Group::default();
        self.commits.push(Executed { pending, file: self.file.clone(), offset: self.offset, commit_time }).await
    }

    /// An event of a transaction that was executed before.
    pub(super) fn executed_before(&mut self, body: &EventBody<'_>) -> Result<(), SqlError> {
        if self.ends_group(body) {
            self.group.is_open = false;
            self.look_at_until(self.offset);
        }
        Ok(())
    }

    /// Whether the transaction ends with this event, which is not executed.
    pub(super) fn ends_group(&mut self, body: &EventBody<'_>) -> bool {
        match body {
            EventBody::Xid(_) | EventBody::XaPrepare(_) | EventBody::TransactionPayload(_) => true,
            EventBody::MariaCompressedQuery(_) | EventBody::ExecuteLoadQuery(_) => !self.group.is_open,
            EventBody::Query(query) if query.begins_transaction() => {
                self.group.is_open = true;
                false
            }
            EventBody::Query(query) if self.group.is_open => query.ends_transaction(),
            EventBody::Query(_) => true,
            _ => false,
        }
    }
}
