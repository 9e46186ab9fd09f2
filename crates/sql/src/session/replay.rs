//! Rows of another server's log, applied in the session's transaction.
//!
//! A rows event is one statement of the transaction: it takes effect whole or not at all, and only a deadlock ends the
//! transaction. Neither privileges nor `read_only` are asked: who applies a log has been asked before.

use std::sync::Arc;

use base::{SqlError, UnixMicros, codes};
use binlog::event::{PartialUpdateRows, RowsEvent, TableMap, rows_flags};
use engine::EngineError;

use super::Session;
use super::transaction::Open;
use crate::exec::ExecContext;
use crate::expr::{EvalContext, Warnings, Watch};
use crate::plan::PlanContext;
use crate::replay::{ApplyModes, ExecMode, MappedTable, OnDifference, RowDifferences, TypeConversions, apply_event};
use crate::virtual_table::NoVirtualTables;

/// How often an event is begun anew because its table changed before it was locked.
const ATTEMPTS_MAX: usize = 10;

impl Session {
    /// Applies a rows event in the transaction that is open; begins one, explicit, if none is. Never commits.
    ///
    /// Told is of which rows were not as the event says before. An error undoes all rows of the event; after a deadlock there is no
    /// transaction any more.
    #[io::boxed]
    pub async fn apply_rows(
        &mut self,
        map: &Arc<TableMap>,
        event: &RowsEvent<'_>,
    ) -> Result<Option<RowDifferences>, SqlError> {
        self.apply_any_rows(map, event, false).await
    }

    /// The same for an update whose after images may say of JSON documents only what changed.
    #[io::boxed]
    pub async fn apply_partial_rows(
        &mut self,
        map: &Arc<TableMap>,
        event: &PartialUpdateRows<'_>,
    ) -> Result<Option<RowDifferences>, SqlError> {
        self.apply_any_rows(map, &event.update, true).await
    }

    async fn apply_any_rows(
        &mut self,
        map: &Arc<TableMap>,
        event: &RowsEvent<'_>,
        is_partial: bool,
    ) -> Result<Option<RowDifferences>, SqlError> {
        for _ in 0..ATTEMPTS_MAX {
            let mapped = self.mapped_table(map)?;
            match self.apply_mapped(&mapped, event, is_partial).await {
                Err(error)
                    if error.code == codes::TABLE_DEF_CHANGED.0
                        && !mapped.holds(map, &self.catalog(), self.conversions()) => {}
                result => return result,
            }
        }
        Err(SqlError::new(codes::TABLE_DEF_CHANGED, "Table definition has changed, please retry transaction"))
    }

    /// `replica_type_conversions`
    fn conversions(&self) -> TypeConversions {
        self.shared.globals.now().replica.replica_type_conversions
    }

    /// A table of the log as it is here now.
    pub(super) fn mapped_table(&mut self, map: &Arc<TableMap>) -> Result<Arc<MappedTable>, SqlError> {
        let (catalog, modes) = (self.catalog(), self.conversions());
        match self.replay.get(map, &catalog, modes) {
            Some(mapped) => Ok(mapped),
            None => {
                let mapped = self.map_table(map, modes)?;
                Ok(self.replay.put(mapped))
            }
        }
    }

    fn map_table(&self, map: &Arc<TableMap>, modes: TypeConversions) -> Result<MappedTable, SqlError> {
        let (catalog, host) = (self.catalog(), self.host());
        let warnings = Warnings::default();
        let context = PlanContext {
            catalog: &catalog,
            database: Some(&map.schema),
            session: &self.info,
            host: &host,
            virtual_tables: &NoVirtualTables,
            engine: &self.shared.engine,
            transaction: None,
            text: "",
            param_count: 0,
            param_types: &[],
            warnings: &warnings,
            uses_until_error: None,
            watch: None,
        };
        MappedTable::new(map, &context, modes)
    }

    async fn apply_mapped(
        &mut self,
        mapped: &MappedTable,
        event: &RowsEvent<'_>,
        is_partial: bool,
    ) -> Result<Option<RowDifferences>, SqlError> {
        self.handle.cancel.next_statement();
        self.transaction_for_replay();
        let Some(mut open) = self.take_transaction() else { return Err(EngineError::RolledBack.into()) };
        open.transaction.start_statement();
        self.renew_options(&mut open.transaction, false);
        open.transaction.options_mut().relaxed_unique_checks = event.flags & rows_flags::NO_UNIQUE_CHECKS != 0;
        let result = self.apply_in(mapped, event, is_partial, &mut open).await;
        if !open.transaction.is_active() {
            // A deadlock: the whole transaction is gone.
            drop(open);
            return result.and(Err(EngineError::RolledBack.into()));
        }
        if result.is_err() {
            open.transaction.rollback_statement();
        }
        self.put_transaction(open);
        result
    }

    async fn apply_in(
        &self,
        mapped: &MappedTable,
        event: &RowsEvent<'_>,
        is_partial: bool,
        open: &mut Open,
    ) -> Result<Option<RowDifferences>, SqlError> {
        let host = self.host();
        let warnings = Warnings::default();
        let waiting = self.waiting(&warnings);
        let settings = &self.settings;
        let clock = &*self.shared.env.clock;
        let mut context = ExecContext {
            engine: &self.shared.engine,
            transaction: &mut open.transaction,
            eval: EvalContext {
                params: &[],
                session: &self.info,
                host: &host,
                now: settings.timestamp.map_or_else(|| clock.now(), UnixMicros),
                warnings: &warnings,
                strict: false,
                watch: Some(Watch {
                    cancel: &self.handle.cancel,
                    clock,
                    spawner: &*self.shared.env.spawner,
                    deadline: None,
                }),
                inserts: false,
            },
            env: &self.shared.env,
            limits: settings.limits(),
            waiting: &waiting,
            client_found_rows: false,
            foreign_key_checks: true,
            parents_first: false,
            auto_increment: (settings.auto_increment_increment, settings.auto_increment_offset),
            insert_id: None,
            select_limit: None,
            load: None,
            turn: Default::default(),
            ctes: Default::default(),
            found_rows: 0,
        };
        apply_event(mapped, event, is_partial, self.apply_modes(), &mut context).await
    }

    fn apply_modes(&self) -> ApplyModes {
        let globals = self.shared.globals.now();
        let exec = match self.is_applier {
            true => globals.replica.replica_exec_mode,
            false => self.settings.rbr_exec_mode,
        };
        let on_difference = match globals.replica.replica_row_differences {
            _ if !self.is_applier => OnDifference::Ignore,
            OnDifference::Error if exec == ExecMode::Idempotent => OnDifference::Warn,
            as_set => as_set,
        };
        match (self.in_order.is_out_of_turn, on_difference) {
            (false, _) => ApplyModes { exec, on_difference },
            // What is other than the log says may be so only because those before it have not committed.
            (true, OnDifference::Ignore) => ApplyModes { exec: ExecMode::Strict, on_difference },
            (true, _) => ApplyModes { exec: ExecMode::Strict, on_difference: OnDifference::Error },
        }
    }
}
