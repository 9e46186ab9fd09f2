//! [`StorageEngine`]: what it takes to be a state along the log.
//!
//! A log of transactions, each with a number, is given; an engine is whatever holds the state at a number and can move along.
//! Because the order is the log's, several engines at one log agree on every state without a protocol between them, and one
//! read position is a snapshot of all.
//!
//! ```text
//!   open ─► position() ─► install(n, …) in any order ─► publish(≤ n) in log order ─► checkpoint() ─► position()
//!                                sessions: prepare_ordered(n) ─► commit_ordered(≤ n)
//! ```

use base::{CommitNumber, LogPosition};
use io::BoxFuture;

use crate::catalog::DdlText;
use crate::commit::{CommitEnv, Place};
use crate::core::{CommitHooks, Payload};
use crate::engine::Engine;
use crate::error::Result;
use crate::install::{PublishPoint, RowChange};

/// See the module.
pub trait StorageEngine: Send + Sync {
    /// What it keeps of a session's transaction between its installation and its place.
    type Pending: Send;

    /// The state on disk: the log has to be applied from here.
    fn position(&self) -> (CommitNumber, LogPosition);

    /// The state that readers see.
    fn visible(&self) -> (CommitNumber, LogPosition);

    /// Takes a transaction of the log, whose number is known. In any order; nobody sees it before it is published.
    fn install<'a>(&'a self, number: CommitNumber, changes: &'a [RowChange]) -> BoxFuture<'a, Result<()>>;

    /// Takes a DDL statement of the log, after everything before it.
    fn install_ddl<'a>(&'a self, number: CommitNumber, text: &'a DdlText) -> BoxFuture<'a, Result<()>>;

    /// Lets transactions of the log be seen, in log order.
    fn publish(&self, points: &[PublishPoint]);

    /// A session's transaction, installed already, has its place in the order. In log order; cannot fail.
    fn prepare_ordered(&self, pending: &mut Self::Pending, place: &Place);

    /// Everything up to `last` is in the log, as durable as it was asked to be: lets it be seen. In log order; cannot fail.
    fn commit_ordered(&self, last: &Place);

    /// Makes the state of now durable; which one that was.
    fn checkpoint(&self) -> BoxFuture<'_, Result<(CommitNumber, LogPosition)>>;
}

impl StorageEngine for Engine {
    type Pending = Payload;

    fn position(&self) -> (CommitNumber, LogPosition) {
        self.durable_checkpoint()
    }

    fn visible(&self) -> (CommitNumber, LogPosition) {
        Engine::visible(self)
    }

    fn install<'a>(&'a self, number: CommitNumber, changes: &'a [RowChange]) -> BoxFuture<'a, Result<()>> {
        Box::pin(Engine::install(self, number, changes))
    }

    fn install_ddl<'a>(&'a self, number: CommitNumber, text: &'a DdlText) -> BoxFuture<'a, Result<()>> {
        Box::pin(Engine::install_ddl(self, number, text))
    }

    fn publish(&self, points: &[PublishPoint]) {
        Engine::publish(self, points);
    }

    fn prepare_ordered(&self, pending: &mut Payload, place: &Place) {
        CommitHooks::of(self).prepare_ordered(pending, place);
    }

    fn commit_ordered(&self, last: &Place) {
        CommitHooks::of(self).commit_ordered(last);
    }

    fn checkpoint(&self) -> BoxFuture<'_, Result<(CommitNumber, LogPosition)>> {
        Box::pin(Engine::checkpoint(self))
    }
}
