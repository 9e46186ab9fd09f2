//! What an expression can see besides its row.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use base::memory;
use base::{Cancel, SqlError, UnixMicros, codes};
use io::{Clock, Spawner};
use jiff::tz::TimeZone;
use parking_lot::Mutex;
use types::charset::Charset;
use types::{CollationId, Value};

use crate::expr::function::Pattern;
use crate::expr::function::cipher::CipherMode;
use crate::expr::locale::Locale;
use crate::expr::tree::VariableScope;
use crate::expr::types::ExprType;
use types::SqlMode;

/// What expressions ask of the server.
pub trait Host: Send + Sync {
    /// The value of `@@name` now; 1193 if there is no such variable.
    fn system_variable(&self, scope: VariableScope, name: &str) -> Result<Value, SqlError>;

    /// The clock (SYSDATE, UUID); everything else uses the statement's own time.
    fn clock_now(&self) -> UnixMicros;

    /// Random bytes (RAND, UUID, RANDOM_BYTES).
    fn fill_random(&self, bytes: &mut [u8]);

    /// ROLES_GRAPHML(); 1235 where there is no session.
    fn roles_graph(&self) -> Result<String, SqlError> {
        Err(SqlError::not_supported("ROLES_GRAPHML() outside of a session"))
    }
}

/// The session's state, as far as expressions depend on it. Owned by the session, which keeps it up to date; no
/// statement changes it while it is being evaluated, except for user variables and `LAST_INSERT_ID(n)`.
pub struct SessionInfo {
    /// `sql_mode`
    pub sql_mode: SqlMode,
    /// `time_zone`
    pub time_zone: TimeZone,
    /// CONNECTION_ID()
    pub connection_id: u32,
    /// USER(): the name that the client gave, and where it is.
    pub user: String,
    /// CURRENT_USER(): the account.
    pub current_user: String,
    /// CURRENT_ROLE(): whose privileges the session has too, by user and host.
    pub active_roles: Vec<crate::parse::ast::UserName>,
    /// It has every right whatever account that is: what a replica executes.
    pub has_every_right: bool,
    /// How the client's connection is protected and compressed.
    pub stream: crate::session::StreamFacts,
    /// DATABASE()
    pub database: Option<String>,
    /// VERSION()
    pub version: String,
    /// LAST_INSERT_ID() as of the previous statement.
    pub last_insert_id: u64,
    /// ROW_COUNT()
    pub row_count: i64,
    /// FOUND_ROWS()
    pub found_rows: u64,
    /// `character_set_client`: of the statement's bytes, before they became UTF-8.
    pub character_set_client: Charset,
    /// `collation_connection`: of literals, and of text made from numbers.
    pub collation_connection: CollationId,
    /// `div_precision_increment`
    pub div_precision_increment: u8,
    /// `group_concat_max_len`
    pub group_concat_max_len: u64,
    /// `max_allowed_packet`
    pub max_allowed_packet: u64,
    /// `lc_time_names`
    pub locale: &'static Locale,
    /// `explicit_defaults_for_timestamp=0`: NULL for a TIMESTAMP that may not be NULL is the time.
    pub implicit_timestamps: bool,
    /// Whether a statement may name a temporary table more than once, as in the log of a MariaDB.
    pub reopens_temporary: bool,
    /// `default_week_format`
    pub default_week_format: u8,
    /// `block_encryption_mode`
    pub block_encryption_mode: CipherMode,
    /// `@name`, by lower case name, with the type last assigned.
    pub user_variables: Mutex<HashMap<String, (Value, ExprType)>>,
    /// What `LAST_INSERT_ID(n)` set during this statement; the session takes it at the statement's end.
    pub set_last_insert_id: Mutex<Option<u64>>,
    /// State of RAND() without a seed, made on first use.
    pub random: Mutex<Option<RandomState>>,
    /// States of each RAND(seed) of the statement, by its place in memory; the session forgets them when the next one begins.
    pub seeded_random: Mutex<HashMap<usize, RandomState>>,
    /// The regular expression that was compiled last; most rows of a statement have the same one.
    pub last_pattern: Mutex<Option<Arc<Pattern>>>,
}

/// MySQL's generator for RAND().
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomState {
    /// First half.
    pub seed1: u32,
    /// Second half.
    pub seed2: u32,
}

impl Default for SessionInfo {
    fn default() -> Self {
        SessionInfo {
            stream: Default::default(),
            sql_mode: SqlMode::DEFAULT,
            time_zone: TimeZone::UTC,
            connection_id: 0,
            user: String::new(),
            current_user: String::new(),
            active_roles: Vec::new(),
            has_every_right: false,
            database: None,
            version: String::new(),
            last_insert_id: 0,
            row_count: 0,
            found_rows: 0,
            character_set_client: Charset::Utf8Mb4,
            collation_connection: CollationId::DEFAULT,
            div_precision_increment: 4,
            group_concat_max_len: 1024,
            max_allowed_packet: 64 << 20,
            locale: Locale::english(),
            implicit_timestamps: false,
            reopens_temporary: false,
            default_week_format: 0,
            block_encryption_mode: CipherMode::default(),
            user_variables: Mutex::default(),
            set_last_insert_id: Mutex::default(),
            random: Mutex::default(),
            seeded_random: Mutex::default(),
            last_pattern: Mutex::default(),
        }
    }
}

/// SHOW WARNINGS' levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarningLevel {
    /// For information.
    Note,
    /// Something was changed or ignored.
    Warning,
    /// The statement failed.
    Error,
}

impl WarningLevel {
    /// As SHOW WARNINGS prints it.
    pub fn name(self) -> &'static str {
        match self {
            WarningLevel::Note => "Note",
            WarningLevel::Warning => "Warning",
            WarningLevel::Error => "Error",
        }
    }
}

/// A line of SHOW WARNINGS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// How bad.
    pub level: WarningLevel,
    /// MySQL's number.
    pub code: u16,
    /// Text.
    pub message: String,
}

/// The warnings of one statement; keeps the first `max_error_count` and counts all.
#[derive(Debug, Default)]
pub struct Warnings {
    inner: Mutex<WarningList>,
}

#[derive(Debug)]
struct WarningList {
    kept: Vec<Warning>,
    count: u64,
    /// Columns and codes that are warned of once in a statement.
    once: HashSet<(String, u16)>,
    /// `max_error_count`
    kept_max: usize,
    /// `sql_notes`
    has_notes: bool,
}

impl Default for WarningList {
    fn default() -> Self {
        let (kept, once) = (Vec::new(), HashSet::new());
        WarningList { kept, count: 0, once, kept_max: Warnings::KEPT_MAX, has_notes: true }
    }
}

impl Warnings {
    /// `max_error_count`'s default.
    pub const KEPT_MAX: usize = 1024;

    /// Keeps so many from here on, and notes only if they are wanted; those that are not do not count.
    pub fn keep(&mut self, kept_max: usize, has_notes: bool) {
        let list = self.inner.get_mut();
        (list.kept_max, list.has_notes) = (kept_max, has_notes);
    }

    /// Adds one.
    pub fn push(&self, level: WarningLevel, code: codes::Code, message: impl Into<String>) {
        let mut list = self.inner.lock();
        if level == WarningLevel::Note && !list.has_notes {
            return;
        }
        list.count += 1;
        if list.kept.len() < list.kept_max {
            list.kept.push(Warning { level, code: code.0, message: message.into() });
        }
    }

    /// Adds one unless the statement has said the same of that column before.
    pub fn push_once(&self, column: &str, code: codes::Code, message: String) {
        if self.inner.lock().once.insert((column.to_owned(), code.0)) {
            self.push(WarningLevel::Warning, code, message);
        }
    }

    /// Adds an error as a warning (INSERT IGNORE).
    pub fn push_error(&self, level: WarningLevel, error: &SqlError) {
        self.push(level, (error.code, "HY000"), error.message.clone());
    }

    /// None at all?
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.inner.lock().count
    }

    /// Adds those of another list, of which nothing is left.
    pub fn append(&self, other: &Warnings) {
        let mut other = std::mem::take(&mut *other.inner.lock());
        let mut list = self.inner.lock();
        if !list.has_notes {
            let before = other.kept.len();
            other.kept.retain(|warning| warning.level != WarningLevel::Note);
            other.count -= (before - other.kept.len()) as u64;
        }
        list.count += other.count;
        let room = list.kept_max.saturating_sub(list.kept.len());
        list.kept.extend(other.kept.into_iter().take(room));
    }

    /// Takes those that were kept; nothing is left but what is to be kept of those to come.
    pub fn take(&self) -> Vec<Warning> {
        let mut list = self.inner.lock();
        let (kept_max, has_notes) = (list.kept_max, list.has_notes);
        std::mem::replace(&mut *list, WarningList { kept_max, has_notes, ..WarningList::default() }).kept
    }
}

/// What may end a statement before it is done.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// KILL, shutdown.
    pub cancel: &'a Cancel,
    /// For `deadline`.
    pub clock: &'a dyn Clock,
    /// Whose thread the statement computes on.
    pub spawner: &'a dyn Spawner,
    /// When the statement ends by itself.
    pub deadline: Option<Deadline>,
}

/// The end of a statement's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// By the clock that never goes back.
    pub at: Duration,
    /// Which limit it is of.
    pub limit: TimeLimit,
}

/// What limits the time of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeLimit {
    /// MySQL's `max_execution_time` and its hint, of a SELECT.
    Execution,
    /// MariaDB's `max_statement_time`.
    Statement,
}

impl TimeLimit {
    /// 3024 or 1969.
    pub fn error(self) -> SqlError {
        let (code, limit) = match self {
            TimeLimit::Execution => (codes::QUERY_TIMEOUT, ", maximum statement execution time exceeded"),
            TimeLimit::Statement => (codes::STATEMENT_TIMEOUT, " (max_statement_time exceeded)"),
        };
        SqlError::new(code, format!("Query execution was interrupted{limit}"))
    }
}

impl Watch<'_> {
    /// 1317 if the statement was killed, 3024 or 1969 if it has taken its time.
    pub fn check(&self) -> Result<(), SqlError> {
        self.cancel.check().map_err(|_| interrupted())?;
        match self.deadline {
            Some(deadline) if self.clock.monotonic() >= deadline.at => Err(deadline.limit.error()),
            _ => Ok(()),
        }
    }
}

/// 1317
pub(crate) fn interrupted() -> SqlError {
    SqlError::new(codes::QUERY_INTERRUPTED, "Query execution was interrupted")
}

/// 1301
pub(crate) fn packet_overflow(function: &str, max: u64) -> SqlError {
    let message = format!("Result of {function}() was larger than max_allowed_packet ({max}) - truncated");
    SqlError::new(codes::WARN_ALLOWED_PACKET_OVERFLOWED, message)
}

/// Everything an evaluation sees besides its row. Made per execution of a statement; cheap.
#[derive(Clone, Copy)]
pub struct EvalContext<'a> {
    /// Values of `?`.
    pub params: &'a [Value],
    /// The session.
    pub session: &'a SessionInfo,
    /// The server.
    pub host: &'a dyn Host,
    /// When the statement began: NOW().
    pub now: UnixMicros,
    /// Where warnings go.
    pub warnings: &'a Warnings,
    /// The statement changes data, so that a division by zero is an error in strict mode, not a warning.
    pub strict: bool,
    /// Who may end it; nobody can for what takes no time.
    pub watch: Option<Watch<'a>>,
    /// The statement is an INSERT or REPLACE, which says once only that a column cannot be NULL.
    pub inserts: bool,
}

impl<'a> EvalContext<'a> {
    /// Of what changes nothing and has no parameters.
    pub fn new(session: &'a SessionInfo, host: &'a dyn Host, now: UnixMicros, warnings: &'a Warnings) -> Self {
        EvalContext { params: &[], session, host, now, warnings, strict: false, watch: None, inserts: false }
    }

    /// 1317 or 3024 if the statement has to end, 4082 if its connection has too much memory; asked by what may take long.
    pub fn check_cancelled(&self) -> Result<(), SqlError> {
        memory::check()?;
        self.watch.map_or(Ok(()), |watch| watch.check())
    }

    /// 1301: a function's result is longer than a packet may be.
    pub(crate) fn packet_overflow(&self, function: &str) -> SqlError {
        packet_overflow(function, self.session.max_allowed_packet)
    }

    /// The same as a warning; the result is NULL.
    pub(crate) fn warn_of_overflow(&self, function: &str) {
        let overflow = self.packet_overflow(function);
        self.warn(codes::WARN_ALLOWED_PACKET_OVERFLOWED, overflow.message);
    }

    /// Adds a warning.
    pub fn warn(&self, code: codes::Code, message: impl Into<String>) {
        self.warnings.push(WarningLevel::Warning, code, message);
    }
}
