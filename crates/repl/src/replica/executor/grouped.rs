//! Executing a transaction of which all events are here, beside other executors: up to its commit, which is its own step.
//!
//! # Invariants
//! - Until it is told to commit, all of it can be undone and done again; the GTID stays its own meanwhile.
//! - Only rows are executed so. What reads what others have committed, or says something for statements to come, is executed by itself.

use std::collections::HashMap;
use std::sync::Arc;

use base::{Gtid, SqlError, codes};
use binlog::event::{Dialect, EventBody, RowsEvent, TableMap};
use binlog::{FormatDescription, RawEvent};
use engine::{OwnedGtid, Turn, TurnWait};
use sql::replay::RowKeys;

use super::super::commits::Executed;
use super::super::parallel::{Group, Job};
use super::{ExecuteError, Executor, Group as Open, INFLATED_MAX, malformed};

/// Of an executor that executes groups.
#[derive(Default)]
pub(super) struct Grouped {
    /// Of the transaction that is about to begin, until the session has it.
    owned: Option<OwnedGtid>,
}

/// What a transaction is about.
#[derive(Default)]
pub(in super::super) struct Contents {
    pub(in super::super) schemas: Vec<String>,
    pub(in super::super) keys: RowKeys,
    /// By number in their TABLE_MAP.
    tables: HashMap<u64, TableMap>,
}

impl Contents {
    fn clear(&mut self) {
        self.schemas.clear();
        self.keys.clear();
        self.tables.clear();
    }
}

impl Executor {
    /// It executes groups from now on.
    pub(in super::super) fn grouped(mut self) -> Self {
        self.grouped = Some(Grouped::default());
        self.session.read_committed();
        self
    }

    /// Executes a transaction up to its commit.
    ///
    /// # Errors
    /// Out of turn any error may mean only that those before it have not committed.
    pub(in super::super) async fn execute_group(
        &mut self,
        job: &Job,
        line: u64,
        is_in_turn: bool,
    ) -> Result<(), ExecuteError> {
        let group = &job.group;
        let owned = job.owned.lock().take();
        if let (Some(grouped), Some(owned)) = (&mut self.grouped, owned) {
            grouped.owned = Some(owned);
        }
        self.session.set_turn(Some(Turn { line, number: job.turn }), is_in_turn);
        self.tables.clear();
        if !Arc::ptr_eq(&self.format, &group.format) {
            self.format = group.format.clone();
        }
        if !Arc::ptr_eq(&self.file, &group.file) {
            self.file = group.file.clone();
        }
        let result = self.execute_events(group).await;
        result.map_err(|error| self.named(&error))
    }

    async fn execute_events(&mut self, group: &Group) -> Result<(), SqlError> {
        for (number, bytes) in group.events.iter().enumerate() {
            let event = RawEvent::first_of(bytes, group.checksum(number)).map_err(malformed)?;
            if number + 1 == group.events.len() {
                self.offset = group.end;
            } else if number < group.unfolded_from && event.header.next_position > 0 {
                self.offset = event.header.next_position.into();
            }
            self.execute(&event).await?;
            self.session.shared().env.step().await;
        }
        Ok(())
    }

    /// The GTID of the transaction that begins. It is executed already if somebody has committed it while this one was tried again.
    pub(super) async fn own(&mut self, gtid: Gtid) -> Result<(), SqlError> {
        if let Some(owned) = self.grouped.as_mut().and_then(|grouped| grouped.owned.take()) {
            self.session.begin_owned(owned);
        } else if !self.session.owns(gtid) {
            self.group.is_skipped = !self.session.begin_gtid(gtid).await?;
        }
        Ok(())
    }

    /// An error for what is executed by itself only.
    pub(super) fn check_alone(&self) -> Result<(), SqlError> {
        match self.grouped {
            None => Ok(()),
            Some(_) => {
                let message = "a statement among rows was about to be executed beside other transactions";
                Err(SqlError::new(codes::INTERNAL_ERROR, message))
            }
        }
    }

    /// Undoes what was executed of a group; it can be executed again.
    pub(in super::super) fn undo_group(&mut self) {
        self.session.undo_for_retry();
        self.group = Open::default();
        self.differences = None;
    }

    /// Ready when the group has to be undone: one before it waits for what it holds. `None` if it holds nothing.
    pub(in super::super) fn wait_for_turn(&self) -> Option<TurnWait> {
        self.session.wait_for_turn()
    }

    /// The group that was executed takes its place in our log.
    pub(in super::super) async fn commit_group(&mut self) -> Result<Executed, ExecuteError> {
        let pending = match self.group.is_skipped {
            true => None,
            false => Some(self.session.enqueue_commit().await.map_err(|error| self.named(&error))?),
        };
        let commit_time = std::mem::take(&mut self.group).commit_time;
        Ok(Executed { pending, file: self.file.clone(), offset: self.offset, commit_time })
    }

    /// What a group is about, as far as it is asked for; nothing of it is executed. `false` if not all of it could be seen.
    pub(in super::super) fn look_into(&mut self, group: &Group, with_keys: bool, contents: &mut Contents) -> bool {
        contents.clear();
        (0..group.events.len()).all(|number| self.look_at(group, number, with_keys, contents).is_ok())
    }

    fn look_at(
        &mut self,
        group: &Group,
        number: usize,
        with_keys: bool,
        contents: &mut Contents,
    ) -> Result<(), SqlError> {
        let event = RawEvent::first_of(&group.events[number], group.checksum(number)).map_err(malformed)?;
        match EventBody::decode(&event, &group.format).map_err(malformed)? {
            EventBody::TableMap(event) => {
                let map = self.table_map(&event, dialect_of(&group.format))?;
                if !contents.schemas.contains(&map.schema) {
                    contents.schemas.push(map.schema.clone());
                }
                contents.tables.insert(map.table_id, map);
                Ok(())
            }
            EventBody::Rows(rows) if with_keys => self.look_at_rows(&rows, false, contents),
            EventBody::PartialUpdateRows(rows) if with_keys => self.look_at_rows(&rows.update, true, contents),
            EventBody::MariaCompressedRows(rows) if with_keys => {
                let bytes = rows.rows(INFLATED_MAX).map_err(malformed)?;
                self.look_at_rows(&rows.with_rows(&bytes), false, contents)
            }
            _ => Ok(()),
        }
    }

    fn look_at_rows(
        &mut self,
        event: &RowsEvent<'_>,
        is_partial: bool,
        contents: &mut Contents,
    ) -> Result<(), SqlError> {
        let Some(map) = contents.tables.get(&event.table_id) else { return Ok(()) };
        if self.filter.as_ref().is_some_and(|filter| !filter.wants_rows(&map.schema, &map.table)) {
            return Ok(());
        }
        self.session.row_keys(map, event, is_partial, &mut contents.keys)
    }
}

fn dialect_of(format: &FormatDescription) -> Dialect {
    if format.is_maria() { Dialect::Maria } else { Dialect::Mysql }
}
