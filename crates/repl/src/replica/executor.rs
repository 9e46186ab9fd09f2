//! Executes the events of another server's log in a session of this one.
//!
//! ```text
//! GTID …          the next transaction has this GTID here too; if it is executed already, all of it is left out
//! BEGIN           a transaction begins
//! TABLE_MAP, rows applied to the tables as they are here
//! QUERY           run, as what the events in front of it say
//! XID, COMMIT     its place in our log is taken; the sync is waited for by another
//! XA_PREPARE      the same of a first phase; XA COMMIT or XA ROLLBACK of the second is a statement like others
//! ```
//! # Invariants
//! - A source's transaction is one of ours, or (a schema change with rows, CREATE TABLE … SELECT) two of which the last one has its GTID.
//! - What is not understood, or not here, is an error before anything of its transaction is committed.

mod end;
mod grouped;
mod load;
mod table_maps;
mod user_variable;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use base::{Gtid, SqlError, UnixMicros, codes};
use binlog::event::{
    AlterPhase, ChecksumAlgorithm, CompressedQuery, EventBody, EventType, FLAG_IGNORABLE, IntVar, MariaGtid,
    PartialUpdateRows, PayloadLimits, QueryEvent, RowsEvent, TableMap, TransactionPayload,
};
use binlog::{DecodeError, FormatDescription, GtidEvent, GtidSet, Origin, RawEvent};
use sql::replay::{ReplicationFilter, RowDifferences};
use sql::session::{Applier, ReplicatedStatement};

pub(super) use self::grouped::{Contents, Wanted};
use self::table_maps::TableMaps;
use super::commits::Commits;
use super::origins::{Fate, Origins};
use super::until::Until;
use super::work::Progress;

/// Bytes that a compressed event may unfold to.
const INFLATED_MAX: usize = 1 << 30;
/// Version of a server whose log does not say it.
const UNKNOWN_VERSION: u32 = 999_999;

/// See the module.
pub(super) struct Executor {
    session: Applier,
    commits: Arc<Commits>,
    /// Under which our log says how far it is, without GTIDs.
    position_name: Option<String>,
    format: Arc<FormatDescription>,
    /// By number in their TABLE_MAP.
    tables: HashMap<u64, Arc<TableMap>>,
    maps: TableMaps,
    file: Arc<str>,
    /// Behind the event that is executed.
    offset: u64,
    group: Group,
    /// What is executed at all; `None` for everything.
    filter: Option<ReplicationFilter>,
    origins: Arc<Origins>,
    until: Option<Until>,
    /// What [`Executor::is_at_the_end`] says.
    is_at_the_end: bool,
    /// Events to leave out yet (`sql_replica_skip_counter`).
    skip: u64,
    has_skipped: bool,
    /// Of the event that was executed, and a sentence about them.
    differences: Option<(RowDifferences, String)>,
    /// Where it tells what it does.
    progress: Arc<Progress>,
    /// It executes whole transactions beside other executors, and commits when it is told to; see [`grouped`].
    grouped: Option<grouped::Grouped>,
}

/// A transaction of the source, between its GTID and its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Group {
    /// Its GTID as the source writes it; empty if it has none.
    name: String,
    commit_time: UnixMicros,
    gtid: Option<Gtid>,
    /// It is left out: it was executed before, or see `without_effect`.
    is_skipped: bool,
    /// It is left out, and becomes a transaction that does nothing.
    without_effect: Option<WithoutEffect>,
    /// It was begun, and an event will end it.
    is_open: bool,
    /// MariaDB's, which are begun by their GTID.
    is_maria: bool,
}

/// Why a transaction does nothing here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WithoutEffect {
    /// An administrator said so.
    Counter,
    /// The first phase of a MariaDB's ALTER TABLE, or the second one of one that failed.
    Announces,
    /// It was born where nothing is wanted from.
    Origin,
}

impl Group {
    fn shown_name(&self) -> &str {
        if self.name.is_empty() { "ANONYMOUS" } else { &self.name }
    }
}

/// Why the executor cannot go on.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ExecuteError {
    /// MySQL's number.
    pub code: u16,
    /// Which transaction, where, and why.
    pub message: String,
    /// Beginning the transaction again may help.
    pub may_pass: bool,
}

impl Executor {
    /// Begins between two transactions. `position_name` is given where there are no GTIDs. Transactions that have any of the next
    /// `skip` events are left out.
    pub(super) fn new(
        session: Applier,
        commits: Arc<Commits>,
        position_name: Option<String>,
        (filter, origins): (ReplicationFilter, Arc<Origins>),
        until: Option<Until>,
        skip: u64,
    ) -> Self {
        let is_at_the_end = until.as_ref().is_some_and(|until| until.is_reached("", 0));
        Executor {
            session,
            commits,
            position_name,
            format: Arc::new(FormatDescription::new("", 0)),
            tables: HashMap::new(),
            maps: TableMaps::default(),
            file: "".into(),
            offset: 0,
            group: Group::default(),
            filter: Some(filter).filter(|filter| !filter.is_empty()),
            origins,
            until,
            is_at_the_end,
            skip,
            has_skipped: false,
            differences: None,
            progress: Arc::default(),
            grouped: None,
        }
    }

    /// Rows that it applies are told there.
    pub(super) fn telling(self, progress: &Arc<Progress>) -> Self {
        Executor { progress: progress.clone(), ..self }
    }

    /// Whether no transaction is begun that is executed.
    pub(super) fn is_between(&self) -> bool {
        self.group.is_skipped || self.group == Group::default()
    }

    /// Whether it has come to where START REPLICA UNTIL says; nothing is open then.
    pub(super) fn is_at_the_end(&self) -> bool {
        self.is_at_the_end
    }

    /// What is left to skip, if that has changed.
    pub(super) fn skipped_meanwhile(&mut self) -> Option<u64> {
        std::mem::take(&mut self.has_skipped).then_some(self.skip)
    }

    /// How many rows were not as their source had them, and a sentence about the first, if any were since the last time.
    pub(super) fn found_differences(&mut self) -> Option<(u64, String)> {
        self.differences.take().map(|(differences, sentence)| (differences.rows, sentence))
    }

    /// A connection begins, to a source that has executed this, if that had to be known: what was begun and not ended comes again.
    pub(super) fn begin(&mut self, announced: ChecksumAlgorithm, source_has: Option<&GtidSet>) {
        self.abandon();
        if let (Some(until), Some(executed)) = (&mut self.until, source_has) {
            until.source_has(executed);
            self.is_at_the_end |= until.is_reached(&self.file, self.offset);
        }
        Arc::make_mut(&mut self.format).checksum = announced;
        self.tables.clear();
    }

    /// Undoes what has no end yet.
    pub(super) fn abandon(&mut self) {
        self.session.roll_back_replicated();
        self.group = Group::default();
    }

    /// Of the events that come.
    pub(super) fn format(&self) -> &FormatDescription {
        &self.format
    }

    /// Executes an event, as it was received.
    pub(super) async fn event(&mut self, bytes: &[u8]) -> Result<(), ExecuteError> {
        let result = self.received(bytes).await;
        result.map_err(|error| self.named(&error))
    }

    pub(super) fn named(&self, error: &SqlError) -> ExecuteError {
        let (file, offset) = (&self.file, self.offset);
        let transaction = self.group.shown_name();
        ExecuteError {
            code: error.code,
            message: format!(
                "Replica failed executing transaction '{transaction}' at source log {file}, end_log_pos {offset}; {}",
                error.message
            ),
            may_pass: [codes::LOCK_DEADLOCK.0, codes::LOCK_WAIT_TIMEOUT.0].contains(&error.code),
        }
    }

    async fn received(&mut self, bytes: &[u8]) -> Result<(), SqlError> {
        let event = RawEvent::first_of(bytes, self.format.checksum).map_err(malformed)?;
        if event.header.next_position > 0 {
            self.offset = event.header.next_position.into();
        }
        self.execute(&event).await
    }

    async fn execute(&mut self, event: &RawEvent<'_>) -> Result<(), SqlError> {
        if self.is_at_the_end {
            return Ok(());
        }
        if event.header.event_type == EventType::TABLE_MAP {
            return self.map_table(event);
        }
        let body = EventBody::decode(event, &self.format).map_err(malformed)?;
        match body {
            EventBody::FormatDescription(format) => {
                self.session.source_file_begins(&self.file, format.created);
                self.set_format(Arc::new(format));
                Ok(())
            }
            EventBody::Rotate(to) => {
                self.file = to.file.into();
                self.tables.clear();
                self.look_at_until(to.position);
                Ok(())
            }
            EventBody::Gtid(gtid) => self.begin_mysql(event, &gtid).await,
            EventBody::MariaGtid(gtid) => self.begin_maria(event, &gtid).await,
            EventBody::MariaStartEncryption(_)
            | EventBody::PreviousGtids(_)
            | EventBody::MariaGtidList(_)
            | EventBody::MariaBinlogCheckpoint(_)
            | EventBody::Stop
            | EventBody::Heartbeat(..)
            | EventBody::ViewChange(_)
            | EventBody::TransactionContext(_) => Ok(()),
            body if self.group.without_effect.is_some() => self.leave_out(&body).await,
            _ if self.group.is_skipped => self.executed_before(&body),
            body => self.execute_in_group(event, body).await,
        }
    }

    async fn execute_in_group(&mut self, event: &RawEvent<'_>, body: EventBody<'_>) -> Result<(), SqlError> {
        match body {
            EventBody::TransactionPayload(payload) => Box::pin(self.unpack(&payload)).await,
            EventBody::Query(query) => self.query(event, query, query.sql).await,
            EventBody::MariaCompressedQuery(query) => self.compressed_query(event, &query).await,
            EventBody::Rows(rows) => self.rows(&rows, false).await,
            EventBody::PartialUpdateRows(rows) => self.rows(&rows.update, true).await,
            EventBody::MariaCompressedRows(rows) => {
                let bytes = rows.rows(INFLATED_MAX).map_err(malformed)?;
                self.rows(&rows.with_rows(&bytes), false).await
            }
            EventBody::Xid(_) => self.commit().await,
            EventBody::XaPrepare(prepare) if prepare.one_phase => self.commit().await,
            EventBody::XaPrepare(prepare) => self.prepare(&prepare.xid).await,
            EventBody::BeginLoadQuery(_)
            | EventBody::AppendBlock(_)
            | EventBody::DeleteFile(_)
            | EventBody::ExecuteLoadQuery(_) => self.file(event, &body).await,
            EventBody::IntVar(variable) => {
                match variable.kind {
                    IntVar::INSERT_ID => self.session.set_insert_id(variable.value),
                    _ => self.session.set_replicated_last_insert_id(variable.value),
                }
                Ok(())
            }
            EventBody::Rand(seeds) => {
                self.session.set_random_seeds(seeds.seeds);
                Ok(())
            }
            EventBody::UserVar(variable) => self.user_variable(&variable),
            EventBody::RowsQuery(_) | EventBody::MariaAnnotateRows(_) | EventBody::Ignorable(_) => Ok(()),
            EventBody::Incident(incident) => {
                let why = String::from_utf8_lossy(incident.message).into_owned();
                Err(SqlError::new(
                    codes::SERVER_REPLICA_INCIDENT,
                    format!("The incident LOST_EVENTS occurred on the source. Message: {why}"),
                ))
            }
            _ if event.header.flags & FLAG_IGNORABLE != 0 => Ok(()),
            _ => {
                Err(SqlError::not_supported(format!("an event of type {} of a source", event.header.event_type.name())))
            }
        }
    }

    /// GTID, GTID_TAGGED, ANONYMOUS_GTID
    async fn begin_mysql(&mut self, event: &RawEvent<'_>, gtid: &GtidEvent) -> Result<(), SqlError> {
        self.end_unended()?;
        let known_time = Some(gtid.original_commit_time).filter(|time| time.0 > 0);
        let origin = Origin {
            server_id: event.header.server_id,
            commit_time: known_time,
            server_version: gtid.original_server_version,
        };
        let name = gtid.gtid.map(|gtid| gtid.to_string()).unwrap_or_default();
        let group = Group { name, commit_time: commit_time(event, known_time), ..Group::default() };
        self.begin_group(group, origin, gtid.gtid, None).await
    }

    async fn begin_maria(&mut self, event: &RawEvent<'_>, gtid: &MariaGtid) -> Result<(), SqlError> {
        self.end_unended()?;
        let server_id = event.header.server_id;
        let name = gtid.name(server_id);
        let origin = Origin { server_id, commit_time: None, server_version: UNKNOWN_VERSION };
        // An ALTER in two phases is executed where it is committed, which has the statement once more.
        let announces = matches!(gtid.extra.alter, Some(AlterPhase::Start | AlterPhase::Rollback(_)));
        let group = Group {
            name: name.to_string(),
            commit_time: commit_time(event, None),
            without_effect: announces.then_some(WithoutEffect::Announces),
            is_maria: true,
            ..Group::default()
        };
        self.begin_group(group, origin, Some(name.gtid()), Some(gtid.domain_id)).await?;
        if !gtid.is_standalone() {
            self.open_group();
        }
        Ok(())
    }

    /// `domain` is that of a MariaDB's GTID.
    async fn begin_group(
        &mut self,
        group: Group,
        origin: Origin,
        gtid: Option<Gtid>,
        domain: Option<u32>,
    ) -> Result<(), SqlError> {
        if gtid.is_some_and(|gtid| self.until.as_ref().is_some_and(|until| until.stops_before(gtid))) {
            self.is_at_the_end = true;
            return Ok(());
        }
        self.group = Group { gtid, ..group };
        let fate = self.origins.fate(origin.server_id, gtid, domain);
        if fate == Fate::PassedOver {
            (self.group.is_skipped, self.group.without_effect) = (true, None);
            return Ok(());
        }
        self.session.set_origin(Some(origin));
        match gtid {
            Some(gtid) if self.grouped.is_some() => self.own(gtid).await?,
            Some(gtid) => self.group.is_skipped = !self.session.begin_gtid(gtid).await?,
            None => self.session.begin_automatic_gtid(),
        }
        if self.group.is_skipped {
            self.group.without_effect = None;
        } else if fate == Fate::WithoutEffect {
            self.group.without_effect = Some(WithoutEffect::Origin);
        } else if self.skip > 0 {
            self.group.without_effect = Some(WithoutEffect::Counter);
            self.skip_event();
        }
        self.group.is_skipped |= self.group.without_effect.is_some();
        Ok(())
    }

    /// One event less to leave out. The last one counts when its transaction ends, which is left out as a whole.
    fn skip_event(&mut self) {
        if self.skip > 1 {
            (self.skip, self.has_skipped) = (self.skip - 1, true);
        }
    }

    /// An event of a transaction that does nothing here. With its end, it is executed.
    async fn leave_out(&mut self, body: &EventBody<'_>) -> Result<(), SqlError> {
        let by_counter = self.group.without_effect == Some(WithoutEffect::Counter);
        if by_counter {
            self.skip_event();
        }
        if !self.ends_group(body) {
            return Ok(());
        }
        if by_counter {
            (self.skip, self.has_skipped) = (self.skip - 1, true);
            tracing::warn!("replica: {} is left out, as sql_replica_skip_counter says", self.group.shown_name());
        }
        self.end_without_effect().await
    }

    async fn end_without_effect(&mut self) -> Result<(), SqlError> {
        if self.group.without_effect.take().is_none() {
            // It was executed before.
            self.group = Group::default();
            return Ok(());
        }
        self.group.is_skipped = false;
        self.roll_back().await
    }

    /// A transaction begins where another has no end.
    fn end_unended(&self) -> Result<(), SqlError> {
        if self.group.is_open && !self.group.is_skipped {
            let message = "Relay log read failure: a transaction of the source begins inside another".to_owned();
            return Err(SqlError::new(codes::REPLICA_RELAY_LOG_READ_FAILURE, message));
        }
        Ok(())
    }

    fn open_group(&mut self) {
        self.group.is_open = true;
        if !self.group.is_skipped {
            self.session.begin_replicated();
        }
    }

    /// A transaction in one compressed event.
    async fn unpack(&mut self, payload: &TransactionPayload<'_>) -> Result<(), SqlError> {
        let mut events = payload.events(PayloadLimits::default()).map_err(malformed)?;
        let format = Arc::make_mut(&mut self.format);
        let checksum = std::mem::replace(&mut format.checksum, ChecksumAlgorithm::Off);
        let mut result = Ok(());
        while result.is_ok() {
            result = match events.next_event() {
                Ok(Some(event)) => self.execute(&event).await,
                Ok(None) => break,
                Err(error) => Err(malformed(error)),
            };
        }
        Arc::make_mut(&mut self.format).checksum = checksum;
        result
    }

    async fn compressed_query(&mut self, event: &RawEvent<'_>, query: &CompressedQuery<'_>) -> Result<(), SqlError> {
        let sql = query.sql(INFLATED_MAX).map_err(malformed)?;
        self.query(event, query.head, &sql).await
    }

    async fn query(&mut self, event: &RawEvent<'_>, query: QueryEvent<'_>, sql: &[u8]) -> Result<(), SqlError> {
        if query.begins_transaction() {
            self.open_group();
            return Ok(());
        }
        if self.group.is_open && sql.starts_with(b"XA END") {
            return Ok(());
        }
        if self.group.is_open && sql.eq_ignore_ascii_case(b"COMMIT") {
            return self.commit().await;
        }
        if self.group.is_open && sql.eq_ignore_ascii_case(b"ROLLBACK") {
            // Tables without transactions were changed at the source; what is left of that here is nothing.
            return self.roll_back().await;
        }
        if !self.group.is_open {
            let position = self.position();
            self.session.set_source_position(position);
        }
        let is_maria = self.format.is_maria();
        let schema = match &self.filter {
            None => Cow::Borrowed(query.schema),
            Some(filter) => Cow::Owned(filter.rewritten(&String::from_utf8_lossy(query.schema)).as_bytes().to_vec()),
        };
        let query = QueryEvent { schema: &schema, ..query };
        let (timestamp, server_id) = (event.header.timestamp, event.header.server_id);
        let version = self.format.version_number();
        let statement = ReplicatedStatement { event: query, sql, timestamp, server_id, is_maria, version };
        let known = self.grouped.as_mut().and_then(|grouped| grouped.definition.take());
        let read = self.session.read_replicated(&statement, known);
        if let Some(filter) = &self.filter
            && self.session.leaves_out(filter, &statement, &read)
        {
            return if self.group.is_open { Ok(()) } else { self.roll_back().await };
        }
        let read = read.map_err(|error| of_statement(&error, &query, sql))?;
        self.check_alone()?;
        // Unlike rows, a statement reads what can be seen: what has its place only is not there yet.
        self.commits.idle().await?;
        let ran = match self.group.is_open && creates_table(sql) {
            true => self.session.create_before_rows(read).await,
            false => self.session.run_replicated(&statement, read).await,
        };
        ran.map_err(|error| of_statement(&error, &query, sql))?;
        // Beside others, whose turn it is says that it has its place.
        if self.group.is_open || self.grouped.is_some() { Ok(()) } else { self.ended(None).await }
    }

    /// The transaction changed nothing; with a GTID it is executed all the same.
    async fn roll_back(&mut self) -> Result<(), SqlError> {
        self.session.undo_replicated();
        self.commit().await
    }

    fn map_table(&mut self, event: &RawEvent<'_>) -> Result<(), SqlError> {
        if self.group.is_skipped {
            return Ok(());
        }
        let map = self.maps.get(event, &self.format, self.filter.as_ref())?;
        self.tables.insert(map.table_id, map);
        Ok(())
    }

    fn set_format(&mut self, format: Arc<FormatDescription>) {
        self.format = format;
        self.maps.forget();
    }

    /// `is_partial`: after images may say of JSON documents only what changed.
    async fn rows(&mut self, event: &RowsEvent<'_>, is_partial: bool) -> Result<(), SqlError> {
        let Some(map) = self.tables.get(&event.table_id) else {
            let message = format!("rows of table number {} without a TABLE_MAP", event.table_id);
            return Err(malformed(DecodeError(message)));
        };
        if self.filter.as_ref().is_some_and(|filter| !filter.wants_rows(&map.schema, &map.table)) {
            return Ok(());
        }
        let applied = match is_partial {
            false => self.session.apply_rows(map, event).await,
            true => self.session.apply_partial_rows(map, &PartialUpdateRows { update: *event }).await,
        };
        let applied = applied.map_err(as_of_replica)?;
        self.progress.applied(map);
        if let Some(differences) = applied {
            self.note(differences);
        }
        Ok(())
    }

    /// The first of a transaction's is told; all of them are counted.
    fn note(&mut self, mut differences: RowDifferences) {
        let sentence = match self.differences.take() {
            Some((before, sentence)) => {
                differences.rows += before.rows;
                sentence
            }
            None => {
                let RowDifferences { rows, table, column } = &differences;
                let (name, file, offset) = (self.group.shown_name(), &self.file, self.offset);
                let number = if *rows == 1 { "a row" } else { "rows" };
                format!(
                    "transaction '{name}' at source log {file}, end_log_pos {offset} changes {number} of {table} with another value of column {column} here than there"
                )
            }
        };
        self.differences = Some((differences, sentence));
    }
}

/// When it was committed at its source: to the microsecond, or as its event's header says.
fn commit_time(event: &RawEvent<'_>, known: Option<UnixMicros>) -> UnixMicros {
    known.unwrap_or(UnixMicros(u64::from(event.header.timestamp) * 1_000_000))
}

pub(super) fn malformed(error: DecodeError) -> SqlError {
    let message = format!("Relay log read failure: Could not parse an event of the source: {error}");
    SqlError::new(codes::REPLICA_RELAY_LOG_READ_FAILURE, message)
}

/// In a transaction: CREATE TABLE … SELECT.
fn creates_table(sql: &[u8]) -> bool {
    let words = |words: &[u8]| sql.get(..words.len()).is_some_and(|start| start.eq_ignore_ascii_case(words));
    words(b"CREATE TABLE") || words(b"CREATE OR REPLACE TABLE")
}

/// As MySQL's applier says it.
fn of_statement(error: &SqlError, query: &QueryEvent<'_>, sql: &[u8]) -> SqlError {
    const SHOWN: usize = 1024;
    let text = String::from_utf8_lossy(&sql[..sql.len().min(SHOWN)]);
    let database = String::from_utf8_lossy(query.schema);
    let message = format!("Error '{}' on query. Default database: '{database}'. Query: '{text}'", error.message);
    SqlError { message, ..error.clone() }
}

/// A conversion that is refused has a number of its own where a replica refuses it.
fn as_of_replica(mut error: SqlError) -> SqlError {
    if error.code == codes::REPLICA_CONVERSION_FAILED.0 {
        error.code = codes::SERVER_REPLICA_CONVERSION_FAILED.0;
    }
    error
}
