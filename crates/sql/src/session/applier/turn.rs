//! Transactions of another server's log that are executed beside one another, each in a session of its own, and commit in the log's order.
//!
//! ```text
//!   set_turn, begin_owned ── apply_rows … ── encode_commit ── wait_for_turn ── enqueue_commit
//!        ▲                                        │                 │
//!        └──────────────── undo_in_turn ◄─────────┴── an error ─────┘ in the way of one before it
//! ```
//! # Invariants
//! - Out of turn nothing is taken for an answer: an error, a row that is not as the log says, mean only that it is to be tried again when those
//!   before it have committed. So `replica_exec_mode=IDEMPOTENT` leaves out nothing that would have been there in turn.
//! - The GTID stays the session's, however often it tries.

use std::sync::Arc;

use base::{Gtid, SqlError};
use binlog::event::{RowsEvent, TableMap};
use engine::{EngineError, OwnedGtid, Turn, TurnWait};

use super::Applier;
use crate::replay::{RowKeys, add_keys};
use crate::session::gtid::NextGtid;
use crate::settings::{SettingId, SettingValue};

/// Where a session's transactions are in the order of commits.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::session) struct InOrder {
    pub(in crate::session) turn: Option<Turn>,
    /// Those before it have not all committed.
    pub(in crate::session) is_out_of_turn: bool,
}

impl Applier {
    /// The place of the next transactions in an order of commits, if they have one; and whether those before it have committed.
    pub fn set_turn(&mut self, turn: Option<Turn>, is_in_turn: bool) {
        self.session.in_order = InOrder { turn, is_out_of_turn: !is_in_turn };
    }

    /// The next transaction has this GTID.
    pub fn begin_owned(&mut self, owned: OwnedGtid) {
        self.session.next_gtid = NextGtid::Owned(owned);
    }

    /// Whether the next transaction has this GTID already.
    pub fn owns(&self, gtid: Gtid) -> bool {
        self.session.owned_gtid() == Some(gtid)
    }

    /// Rows that are found by their keys need no locks on what is beside them.
    pub fn read_committed(&mut self) {
        self.session.settings.set(SettingId::transaction_isolation, SettingValue::text("READ-COMMITTED"));
    }

    /// Undoes the transaction, which is to be tried again under the same GTID.
    pub fn undo_for_retry(&mut self) {
        self.forget_kept_files();
        self.tables.forget(&mut self.session.temporary);
        drop(self.session.take_transaction());
    }

    /// The transaction will change nothing more: makes its events, which is most of the work of a commit.
    #[io::boxed]
    pub async fn encode_commit(&mut self) -> Result<(), SqlError> {
        match self.session.transaction.open_mut() {
            Some(open) if !open.transaction.is_active() => Err(EngineError::RolledBack.into()),
            Some(open) => Ok(open.transaction.encode_early().await?),
            None => Ok(()),
        }
    }

    /// It has done its work: ready when it has to be undone, because one before it waits for what it holds; `None` if it holds nothing.
    pub fn wait_for_turn(&self) -> Option<TurnWait> {
        self.session.transaction.open()?.transaction.wait_for_turn()
    }

    /// Adds the rows that an event of another server's log is about; nothing is read or locked.
    ///
    /// # Errors
    /// 1146 for a table that is not here, 1677 for one whose columns are others, 1610 for damaged rows.
    pub fn row_keys(
        &mut self,
        map: &Arc<TableMap>,
        event: &RowsEvent<'_>,
        is_partial: bool,
        keys: &mut RowKeys,
    ) -> Result<(), SqlError> {
        let mapped = self.session.mapped_table(map)?;
        add_keys(&mapped, event, is_partial, keys)
    }
}
