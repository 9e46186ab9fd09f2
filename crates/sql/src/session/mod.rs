//! [`Session`]: one client's state, and the way of its statements.
//!
//! ```text
//!   bytes ── text ── parse ── run ─┬─ rows: plan, privileges, transaction, execute, commit    (rows)
//!                                  ├─ ddl: implicit commit, plan, log, catalog                 (definition)
//!                                  ├─ SET, PREPARE, BEGIN …                                    (set, prepared, transaction)
//!                                  ├─ SHOW                                                     (crate::show)
//!                                  └─ administration                                           (admin)
//!   rows events of another server's log ── as statements of the transaction                     (replay, binlog_statement)
//!   the rest of what it says ── by a session of its own                                         (applier)
//! ```
//!
//! # Invariants
//! - A failed statement leaves of the transaction what was there before it; only a deadlock ends the transaction.
//! - Dropping a session rolls back its transaction.
//! - The list of warnings is that of the last statement that was not a diagnostic one.
//! - [`SessionInfo`] mirrors the settings that expressions need; whoever changes a setting brings it up to date.

mod account;
mod active_roles;
mod admin;
mod analyze;
mod applier;
mod binlog_statement;
mod changes;
mod checksum;
mod counters;
mod cursor;
mod definition;
mod diagnostics;
mod for_statement;
mod granted;
mod gtid;
mod histograms;
mod host;
mod load;
mod log_settings;
mod maintenance;
mod may_define;
mod passwords;
mod prepared;
mod privileges;
mod repair;
mod replaced;
mod replay;
mod roles;
mod rows;
mod run;
mod running;
mod seen;
mod set;
mod set_var;
mod temporary;
#[cfg(test)]
mod tests;
mod transaction;
mod user_locks;
mod xa;

use std::collections::HashMap;
use std::sync::Arc;

use base::{LogPosition, SqlError, UnixMicros};
use binlog::{Origin, QueryContext, SourcePosition};
use engine::{Catalog, Engine, SessionHandle};
use io::Env;
use types::charset::Charset;

use self::account::AccountCache;
pub use self::active_roles::AllActiveRoles;
use self::active_roles::KnownRoles;
pub use self::admin::holds_commits;
pub use self::applier::{Applier, ReadStatement, ReplicatedStatement, SourceTables};
use self::applier::{InOrder, StatementSource};
pub use self::changes::{Change, TrackGtids};
pub use self::counters::{AllCounters, Traffic};
use self::counters::{Counter, Counters};
pub use self::cursor::Cursor;
use self::diagnostics::Diagnostics;
use self::gtid::NextGtid;
pub use self::gtid::PendingCommit;
pub(crate) use self::host::SessionHost;
use self::maintenance::LockedTables;
pub use self::passwords::must_change_password;
pub use self::prepared::{Prepared, PreparedCount};
pub use self::running::RunningPlans;
pub(crate) use self::temporary::HIDDEN;
use self::transaction::{Open, TransactionState};
use self::user_locks::HeldLocks;
pub use self::user_locks::UserLocks;
pub use self::xa::XaTransactions;
use crate::account::{Account, AllUsage, FailedLogins};
use crate::ddl;
use crate::expr::{SessionInfo, Warnings};
use crate::parse::ast::{TableName, UserName};
use crate::parse::{self, ParseContext};
use crate::replay::ReplayTables;
use crate::result::{ResultColumn, StatusFlags};
use crate::services::Services;
use crate::settings::{Globals, SessionSettings, SettingId, SettingValue};

/// What all sessions of a server share.
pub struct Shared {
    /// Rows, catalog, transactions.
    pub engine: Arc<Engine>,
    /// The rest of the server.
    pub services: Arc<dyn Services>,
    /// The server's settings.
    pub globals: Arc<Globals>,
    /// Clock and random bytes.
    pub env: Env,
    /// Statements by kind.
    pub counters: AllCounters,
    /// Who holds the locks of GET_LOCK.
    pub user_locks: Arc<UserLocks>,
    /// The active roles of sessions.
    pub active_roles: Arc<AllActiveRoles>,
    /// What each session runs at the moment.
    pub running_plans: Arc<RunningPlans>,
    /// What accounts have used of what they may use within an hour.
    pub usage: Arc<AllUsage>,
    /// Prepared statements of all sessions.
    pub prepared_count: PreparedCount,
    /// Logins that failed, by account.
    pub failed_logins: Arc<FailedLogins>,
    /// Distributed transactions: names, and what is prepared.
    pub xa: Arc<XaTransactions>,
}

/// Who the session belongs to: known after the login.
#[derive(Clone, Debug)]
pub struct Client {
    /// The user name that the client gave.
    pub user: String,
    /// Where it comes from: an address, or `localhost` for the socket.
    pub host: String,
    /// The account it logged in to.
    pub account: UserName,
    /// CLIENT_FOUND_ROWS: count rows that were found, not those that were changed.
    pub found_rows: bool,
    /// CLIENT_INTERACTIVE: `interactive_timeout` becomes its `wait_timeout`.
    pub interactive: bool,
    /// The collation of the handshake; a number that is not known is the default one.
    pub collation: u16,
    /// How its connection is protected and compressed.
    pub stream: StreamFacts,
}

/// What SHOW STATUS says of a connection's stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamFacts {
    /// How TLS protects it, if it does.
    pub tls: Option<TlsFacts>,
    /// The algorithm and its level, if it is compressed.
    pub compression: Option<(&'static str, u32)>,
}

/// How TLS protects a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlsFacts {
    /// `TLSv1.3`
    pub version: &'static str,
    /// The cipher suite, as OpenSSL names it.
    pub cipher: &'static str,
}

/// One client's session.
pub struct Session {
    pub(crate) shared: Arc<Shared>,
    pub(crate) client: Client,
    handle: Arc<SessionHandle>,
    pub(crate) settings: SessionSettings,
    /// What expressions see.
    pub(crate) info: SessionInfo,
    /// Of the statement that runs.
    pub(crate) warnings: Warnings,
    pub(crate) diagnostics: Diagnostics,
    account: AccountCache,
    /// Nothing is done but to give the account another password.
    password_expired: bool,
    /// Passwords that the statement has made.
    generated: Vec<(UserName, String)>,
    /// Declared before `locked`, so that it is dropped first.
    transaction: TransactionState,
    /// The transaction is a distributed one.
    xa: Option<xa::Branch>,
    locked: LockedTables,
    temporary: temporary::TemporaryTables,
    /// `gtid_next`
    next_gtid: NextGtid,
    /// Where its transactions were born.
    origin: Option<Origin>,
    /// Where the next definition ends in the log that it comes from.
    source_position: Option<SourcePosition>,
    /// It does what another server's log says: it may do everything, on a server that is read-only as well.
    is_applier: bool,
    /// Of a statement of another server's log.
    source: StatementSource,
    /// Where the file of the LOAD DATA that runs is.
    load_from: Option<crate::load::LoadFrom>,
    /// Released after the transaction.
    user_locks: HeldLocks,
    known_roles: KnownRoles,
    own_plan: running::OwnPlan,
    prepared: HashMap<String, Prepared>,
    /// Forms of its statements, some of them prepared.
    seen: seen::Seen,
    /// Where the snapshot of START TRANSACTION WITH CONSISTENT SNAPSHOT is in the log.
    pub(crate) snapshot_position: Option<LogPosition>,
    /// What the log says of the session, but for the time; made anew when a setting or the database changes.
    log_context: QueryContext,
    /// When the statement that runs began.
    pub(crate) now: UnixMicros,
    /// Counters of this session for SHOW STATUS.
    pub(crate) counters: Counters,
    /// What the statement changes of the session.
    changes: changes::Changes,
    /// Tables of another server's log whose rows are applied here.
    replay: ReplayTables,
    /// `SET @@session.server_id`: where its transactions were born.
    server_id: Option<u32>,
    /// What BINLOG is in the middle of.
    binlog: binlog_statement::BinlogState,
    /// Of a session that executes another server's log beside others.
    in_order: InOrder,
}

impl Session {
    /// A session after its login. `handle` is the connection's: it was there before the login, and KILL reaches the
    /// session through it.
    pub fn new(shared: Arc<Shared>, handle: Arc<SessionHandle>, client: Client) -> Self {
        let mut session = Session {
            settings: SessionSettings::new(shared.globals.snapshot()),
            load_from: None,
            user_locks: HeldLocks::new(shared.engine.locks(), shared.user_locks.clone(), handle.connection_id.0),
            known_roles: KnownRoles::new(shared.active_roles.clone(), handle.connection_id),
            own_plan: running::OwnPlan::new(shared.running_plans.clone(), handle.connection_id),
            shared,
            client,
            handle,
            info: SessionInfo::default(),
            warnings: Warnings::default(),
            diagnostics: Diagnostics::default(),
            account: AccountCache::default(),
            password_expired: false,
            generated: Vec::new(),
            transaction: TransactionState::default(),
            xa: None,
            locked: LockedTables::default(),
            temporary: Default::default(),
            next_gtid: NextGtid::default(),
            origin: None,
            source_position: None,
            is_applier: false,
            source: StatementSource::default(),
            prepared: HashMap::new(),
            seen: Default::default(),
            snapshot_position: None,
            log_context: QueryContext::default(),
            now: UnixMicros(0),
            counters: Counters::default(),
            changes: Default::default(),
            replay: ReplayTables::default(),
            server_id: None,
            binlog: Default::default(),
            in_order: Default::default(),
        };
        session.begin_as(None);
        session.activate_roles_of_login();
        session
    }

    /// A session that does what another server's log says.
    pub fn applier(shared: Arc<Shared>, handle: Arc<SessionHandle>) -> Self {
        let nobody = UserName { user: "system user".to_owned(), host: String::new() };
        let client = Client {
            user: nobody.user.clone(),
            host: String::new(),
            account: nobody,
            found_rows: false,
            interactive: false,
            collation: types::CollationId::DEFAULT.0,
            stream: StreamFacts::default(),
        };
        Session { is_applier: true, ..Session::new(shared, handle, client) }
    }

    /// For KILL and for the end of the connection.
    pub fn handle(&self) -> &Arc<SessionHandle> {
        &self.handle
    }

    /// Its settings (timeouts, character sets, limits).
    pub fn settings(&self) -> &SessionSettings {
        &self.settings
    }

    pub(crate) fn count(&mut self, counter: Counter) {
        self.shared.counters.count(&mut self.counters, self.handle.connection_id, counter);
    }

    /// What its connection has read and sent since the last time, for its own `Bytes_received` and `Bytes_sent`.
    pub fn add_traffic(&mut self, traffic: Traffic) {
        self.counters.add_traffic(traffic);
    }

    /// Who it belongs to.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// What all sessions share.
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The default database.
    pub fn database(&self) -> Option<&str> {
        self.info.database.as_deref()
    }

    /// A table's database: its own or the default one; 1046 if there is none.
    fn schema_of(&self, table: &TableName) -> Result<String, SqlError> {
        let schema = table.schema.as_deref().or_else(|| self.database());
        schema.map(str::to_owned).ok_or_else(ddl::no_database)
    }

    /// The state that OK and EOF packets show.
    pub fn status(&self) -> StatusFlags {
        let settings = &self.settings;
        let mut status = StatusFlags::default();
        if settings.autocommit {
            status = status.with(StatusFlags::AUTOCOMMIT);
        }
        if settings.sql_mode.has(crate::expr::SqlMode::NO_BACKSLASH_ESCAPES) {
            status = status.with(StatusFlags::NO_BACKSLASH_ESCAPES);
        }
        match self.transaction.open() {
            Some(Open { explicit: true, read_only, .. }) => {
                let read_only = if *read_only { StatusFlags::IN_TRANS_READONLY } else { StatusFlags::default() };
                status.with(StatusFlags::IN_TRANS).with(read_only)
            }
            _ => status,
        }
    }

    /// Number of warnings of the last statement.
    pub fn warning_count(&self) -> u16 {
        self.diagnostics.warning_count().min(u64::from(u16::MAX)) as u16
    }

    /// Its user variables, names in lower case: what a replica tells about itself before it asks for the log.
    pub fn user_variables(&self) -> Vec<(String, types::Value)> {
        let variables = self.info.user_variables.lock();
        variables.iter().map(|(name, (value, _))| (name.clone(), value.clone())).collect()
    }

    /// The account that the session logged in to, with its privileges now; one without any if it was dropped.
    pub(crate) fn account(&mut self) -> Arc<Account> {
        match self.is_applier {
            true if self.account.is_unknown() => self.account = AccountCache::of_applier(&self.client.account),
            true => {}
            false => self.account.renew(&self.shared, &self.client.account, &self.info.active_roles),
        }
        self.account.get()
    }

    /// A cursor for a statement that is to be executed next.
    pub fn new_cursor(&self) -> Cursor {
        Cursor::new(self.shared.env.clone(), self.settings.tmp_table_size)
    }

    /// What the last statement changed, as far as the session tracks it.
    pub fn take_changes(&mut self) -> Vec<Change> {
        self.changes.take(&self.settings, self.info.database.as_deref(), &self.shared.engine)
    }

    /// Whether the account has a privilege on everything (dump commands ask for REPLICATION SLAVE).
    pub fn has_global_privilege(&mut self, privilege: crate::account::Privilege) -> bool {
        self.account().global.has(privilege)
    }

    /// Cuts the first statement off a text of one or more: its length with the `;`, or `None` at the end. Multi-statements
    /// are run one by one: `while let Some(length) = session.next_statement(rest) { … }`.
    pub fn next_statement(&self, text: &[u8]) -> Option<usize> {
        parse::next_statement(text, self.settings.sql_mode)
    }

    /// COM_INIT_DB.
    pub fn use_database(&mut self, name: &str) -> Result<(), SqlError> {
        self.change_database(name)
    }

    /// COM_FIELD_LIST: the columns of a table whose names are LIKE `pattern` (all if it is empty).
    pub fn field_list(&mut self, table: &str, pattern: &str) -> Result<Vec<ResultColumn>, SqlError> {
        let name = crate::parse::ast::TableName { schema: None, name: table.to_string() };
        crate::show::field_list(self, &name, pattern)
    }

    /// COM_RESET_CONNECTION: as new, but for the login and the default database.
    pub fn reset(&mut self) {
        let database = self.info.database.take();
        let roles = std::mem::take(&mut self.info.active_roles);
        self.begin_as(database);
        // As in MySQL: they are the login's, and not what a client sets.
        self.info.active_roles = roles;
    }

    /// COM_CHANGE_USER: as new, for another login.
    pub fn change_user(&mut self, client: Client) {
        self.client = client;
        self.begin_as(None);
        self.activate_roles_of_login();
    }

    /// Everything as after a login; the transaction is rolled back.
    fn begin_as(&mut self, database: Option<String>) {
        self.transaction = TransactionState::default();
        self.xa = None;
        self.locked = LockedTables::default();
        self.temporary = Default::default();
        self.next_gtid = NextGtid::default();
        self.user_locks.release_all();
        self.prepared.clear();
        self.diagnostics = Diagnostics::default();
        self.warnings.take();
        self.account = AccountCache::default();
        self.snapshot_position = None;
        self.binlog = Default::default();
        self.server_id = None;
        self.origin = None;
        // Whoever comes now does not depend on what was committed before.
        self.handle.last_commit.store(0, std::sync::atomic::Ordering::Relaxed);
        self.settings = SessionSettings::new(self.shared.globals.snapshot());
        let client = &self.client;
        self.info = SessionInfo {
            connection_id: self.handle.connection_id.0,
            user: format!("{}@{}", client.user, client.host),
            current_user: format!("{}@{}", client.account.user, client.account.host),
            stream: client.stream,
            ..SessionInfo::default()
        };
        let interactive = client.interactive;
        let collation = match self.settings.of_server().start.character_set_client_handshake {
            true => types::collation::by_id(client.collation).unwrap_or(types::CollationId::DEFAULT),
            false => self.settings.collation_server,
        };
        self.set_collation_of_client(collation);
        if interactive {
            let timeout = self.settings.get(SettingId::interactive_timeout).clone();
            self.settings.set(SettingId::wait_timeout, timeout);
        }
        self.settings_changed();
        if let Some(database) = database {
            self.enter_database(&database);
        }
    }

    /// `character_set_client`, `_connection`, `_results` and `collation_connection`, as the handshake and SET NAMES set them.
    fn set_collation_of_client(&mut self, collation: types::CollationId) {
        let charset = collation.charset().name();
        for id in
            [SettingId::character_set_client, SettingId::character_set_connection, SettingId::character_set_results]
        {
            self.settings.set(id, SettingValue::text(charset));
        }
        self.settings.set(SettingId::collation_connection, SettingValue::text(collation.name()));
    }

    /// Brings [`SessionInfo`] up to date with the settings.
    fn settings_changed(&mut self) {
        let settings = &self.settings;
        self.info.sql_mode = settings.sql_mode;
        self.info.time_zone = settings.zone();
        self.info.character_set_client = Charset::by_name(settings.character_set_client).unwrap_or(Charset::Utf8Mb4);
        self.info.collation_connection = settings.collation_connection;
        self.info.div_precision_increment = settings.div_precision_increment;
        self.info.group_concat_max_len = settings.group_concat_max_len;
        self.info.max_allowed_packet = settings.max_allowed_packet as u64;
        self.info.default_week_format = settings.default_week_format;
        self.info.block_encryption_mode = settings.block_encryption_mode;
        self.info.locale = settings.lc_time_names;
        self.info.implicit_timestamps = !settings.explicit_defaults_for_timestamp;
        self.info.has_every_right = self.is_applier;
        self.warnings.keep(settings.max_error_count, settings.sql_notes);
        if self.info.version.is_empty() {
            self.info.version = self.settings.of_server().start.version.to_string();
        }
        self.log_context = self.make_log_context();
        self.seen.clear();
    }

    pub(crate) fn parse_context(&self) -> ParseContext {
        let (sql_mode, reader) = (self.settings.sql_mode, self.source.reader());
        ParseContext { sql_mode, long_accounts: self.is_applier, reader }
    }

    /// What exists for this session, its temporary tables among it.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        self.temporary.shown_in(&self.shared.engine)
    }
}
