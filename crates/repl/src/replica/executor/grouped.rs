//! Executing a transaction of which all events are here, beside other executors: up to its commit, which is its own step.
//!
//! # Invariants
//! - Until it is told to commit, all of it can be undone and done again; the GTID stays its own meanwhile.
//! - Only rows are executed so. What reads what others have committed, or says something for statements to come, is executed by itself.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use base::{Gtid, SqlError, codes};
use binlog::RawEvent;
use binlog::event::{EventBody, EventType, RowsEvent, TableMap};
use engine::{OwnedGtid, Turn, TurnWait};
use sql::replay::RowKeys;
use sql::session::{ReadStatement, ReplicatedStatement};

use super::super::commits::Executed;
use super::super::origins::Fate;
use super::super::parallel::{Group, Head, Job};
use super::{ExecuteError, Executor, Group as Open, INFLATED_MAX, malformed};

/// Of an executor that executes groups.
#[derive(Default)]
pub(super) struct Grouped {
    /// Of the transaction that is about to begin, until the session has it.
    owned: Option<OwnedGtid>,
    /// What is executed is a definition, in its turn; it commits by itself.
    is_definition: bool,
    /// Its tree, until it is executed for the first time.
    pub(super) definition: Option<ReadStatement>,
}

/// What is to be known of a transaction.
#[derive(Clone, Copy)]
pub(in super::super) struct Wanted {
    pub(in super::super) schemas: bool,
    pub(in super::super) keys: bool,
    pub(in super::super) tables: bool,
}

/// What a transaction is about.
#[derive(Default)]
pub(in super::super) struct Contents {
    pub(in super::super) schemas: Vec<String>,
    pub(in super::super) keys: RowKeys,
    /// Schemas and names of tables.
    pub(in super::super) names: Vec<(String, String)>,
    /// The tree of what defines them.
    pub(in super::super) definition: Option<ReadStatement>,
    /// By number in their TABLE_MAP.
    tables: HashMap<u64, Arc<TableMap>>,
}

impl Contents {
    fn clear(&mut self) {
        self.schemas.clear();
        self.keys.clear();
        self.names.clear();
        self.definition = None;
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
        if let Some(grouped) = &mut self.grouped {
            grouped.owned = owned.or_else(|| grouped.owned.take());
            grouped.is_definition = group.is_statement;
            grouped.definition = job.definition.lock().take();
        }
        self.session.set_turn(Some(Turn { line, number: job.turn }), is_in_turn);
        self.tables.clear();
        if !Arc::ptr_eq(&self.format, &group.format) {
            self.set_format(group.format.clone());
        }
        if !Arc::ptr_eq(&self.file, &group.file) {
            self.file = group.file.clone();
        }
        let result = self.execute_events(group).await;
        result.map_err(|error| self.named(&error))
    }

    async fn execute_events(&mut self, group: &Group) -> Result<(), SqlError> {
        for (number, bytes) in group.events.iter().enumerate() {
            self.execute_event(group, number, bytes).await?;
        }
        if let Some(rest) = &group.rest {
            let mut reader = rest.reader();
            while let Some(bytes) = reader.next().await? {
                self.execute_event(group, group.events.len(), bytes).await?;
            }
        }
        Ok(())
    }

    async fn execute_event(&mut self, group: &Group, number: usize, bytes: &[u8]) -> Result<(), SqlError> {
        let event = RawEvent::first_of(bytes, group.checksum(number)).map_err(malformed)?;
        if number >= group.unfolded_from {
            self.offset = group.end;
        } else if event.header.next_position > 0 {
            self.offset = event.header.next_position.into();
        }
        self.execute(&event).await?;
        self.session.shared().env.step().await;
        Ok(())
    }

    /// Executes the events of a transaction that is not executed beside others, as they were received.
    pub(in super::super) async fn events_of(&mut self, group: &Group) -> Result<(), ExecuteError> {
        for bytes in &group.events {
            self.event(bytes).await?;
        }
        if let Some(rest) = &group.rest {
            let mut reader = rest.reader();
            while let Some(bytes) = reader.next().await.map_err(|error| self.named(&error))? {
                self.event(bytes).await?;
            }
        }
        Ok(())
    }

    /// What becomes of a transaction because of where it was born.
    pub(in super::super) fn fate(&self, head: &Head) -> Fate {
        self.origins.fate(head.server_id, head.gtid, head.flags.map(|_| head.domain))
    }

    /// A transaction that does nothing because of where it was born, of which all events are here.
    pub(in super::super) async fn leave_out_group(&mut self, group: &Group) -> Result<(), ExecuteError> {
        if let Some(begin) = group.events.first() {
            self.event(begin).await?;
        }
        self.offset = group.end;
        self.end_without_effect().await.map_err(|error| self.named(&error))
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
        match &self.grouped {
            Some(grouped) if !grouped.is_definition => {
                let message = "a statement among rows was about to be executed beside other transactions";
                Err(SqlError::new(codes::INTERNAL_ERROR, message))
            }
            _ => Ok(()),
        }
    }

    /// Whether a group is a definition of tables and nothing else; of which ones is in `contents` then.
    pub(in super::super) fn defines(&mut self, group: &Group, contents: &mut Contents) -> bool {
        contents.clear();
        let Some(bytes) = group.events.last().filter(|_| self.filter.is_none()) else { return false };
        let Ok(event) = RawEvent::first_of(bytes, group.checksum(group.events.len() - 1)) else { return false };
        let (query, sql) = match EventBody::decode(&event, &group.format) {
            Ok(EventBody::Query(query)) => (query, Cow::Borrowed(query.sql)),
            Ok(EventBody::MariaCompressedQuery(query)) => match query.sql(INFLATED_MAX) {
                Ok(sql) => (query.head, Cow::Owned(sql)),
                Err(_) => return false,
            },
            _ => return false,
        };
        let (timestamp, server_id) = (event.header.timestamp, event.header.server_id);
        let is_maria = group.format.is_maria();
        let version = group.format.version_number();
        let statement = ReplicatedStatement { event: query, sql: &sql, timestamp, server_id, is_maria, version };
        let Ok(read) = self.session.read_replicated(&statement, None) else { return false };
        let Some(names) = self.session.defined_tables(&read) else { return false };
        contents.names = names;
        contents.definition = Some(read);
        true
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

    /// The group that was executed takes its place in our log; `is_patient` if many are behind it.
    pub(in super::super) async fn commit_group(&mut self, is_patient: bool) -> Result<Executed, ExecuteError> {
        if is_patient {
            self.session.be_patient();
        }
        let is_committed = self.grouped.as_ref().is_some_and(|grouped| grouped.is_definition);
        let pending = match self.group.is_skipped || is_committed {
            true => None,
            false => Some(self.session.enqueue_commit().await.map_err(|error| self.named(&error))?),
        };
        let commit_time = std::mem::take(&mut self.group).commit_time;
        Ok(Executed { pending, file: self.file.clone(), offset: self.offset, commit_time })
    }

    /// What a group is about, as far as it is asked for; nothing of it is executed. `false` if not all of it could be seen: then schemas and names
    /// are all there, and keys are not.
    pub(in super::super) fn look_into(&mut self, group: &Group, wanted: Wanted, contents: &mut Contents) -> bool {
        contents.clear();
        let mut is_seen = true;
        for number in 0..group.events.len() {
            let wanted = Wanted { keys: wanted.keys && is_seen, ..wanted };
            is_seen &= self.look_at(group, number, wanted, contents).is_ok();
        }
        is_seen && group.rest.is_none()
    }

    fn look_at(
        &mut self,
        group: &Group,
        number: usize,
        wanted: Wanted,
        contents: &mut Contents,
    ) -> Result<(), SqlError> {
        let event = RawEvent::first_of(&group.events[number], group.checksum(number)).map_err(malformed)?;
        match event.header.event_type {
            EventType::TABLE_MAP => {
                let map = self.maps.get(&event, &group.format, self.filter.as_ref())?;
                if wanted.schemas && !contents.schemas.contains(&map.schema) {
                    contents.schemas.push(map.schema.clone());
                }
                if wanted.tables {
                    contents.names.push((map.schema.clone(), map.table.clone()));
                }
                contents.tables.insert(map.table_id, map);
                return Ok(());
            }
            event_type if !wanted.keys || !event_type.has_rows() => return Ok(()),
            _ => {}
        }
        match EventBody::decode(&event, &group.format).map_err(malformed)? {
            EventBody::Rows(rows) => self.look_at_rows(&rows, false, contents),
            EventBody::PartialUpdateRows(rows) => self.look_at_rows(&rows.update, true, contents),
            EventBody::MariaCompressedRows(rows) => {
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
