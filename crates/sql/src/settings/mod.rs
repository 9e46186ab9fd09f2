//! The settings: one table of names, types, defaults and meanings, and the values that hold.
//!
//! From the table come `SHOW VARIABLES`, `SET`, the checks of a configuration file, the manual's page of settings, and the
//! nearest name for one that is unknown.
//!
//! ```text
//!   TABLE ── defaults ──> configuration file, command line ──> Globals ── at connect ──> SessionSettings
//!                                                                 ^  |                       ^
//!                                                         SET GLOBAL └─ Change ──> parts    SET
//! ```
//!
//! The table makes a struct of typed fields for each group of settings ([`GlobalValues`], [`SessionValues`]), which is what reads them, and the
//! [`Change`]s that parts of the server subscribe to. Names are for those who speak to clients: SET, SHOW, configuration files.
//!
//! # Invariants
//! - A stored value has the type and lies in the range of its setting; whoever stores checks with [`Setting::check`].
//! - A field is what the stored value says, and is changed with it: reading a setting is reading a field.
//! - Sessions share the stored values that they did not set: a session has its fields, a pointer and what it changed.

mod config;
mod foreign;
mod given;
mod globals;
mod manual;
mod session;
pub(crate) mod sql_mode;
mod suggest;
mod supported;
mod table;
mod typed;
mod value;

pub use config::{ConfigEntry, ConfigFile};
pub use given::{Applied, GivenSettings, SettingError};
pub use globals::Globals;
pub use manual::{manual, values_of};
pub use session::SessionSettings;
pub(crate) use session::time_zone;
pub use suggest::nearest;
pub(crate) use supported::check_modes;
pub use table::{
    AccountSettings, Change, CommitChange, CommitPipelineSettings, ConnectionSettings, EngineChange, EngineSettings,
    FilterChange, FilterSettings, FollowerChange, FollowerSettings, GlobalValues, MemoryChange, MemorySettings,
    PurgeSettings, ReplicaSettings, RoleChange, RoleSettings, SemiSyncChange, SemiSyncSettings, SessionValues,
    StartSettings, StatementSettings, all,
};
pub(crate) use typed::isolation_of;
pub use typed::{CompletionType, IoMethod, Zone};
pub use value::{Checked, Kind, Scope, SettingValue};

use base::{SqlError, codes};

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its place.
    pub id: SettingId,
    /// MySQL's name, where it has one.
    pub name: &'static str,
    /// Other names for the same: older ones, MariaDB's.
    pub aliases: &'static [&'static str],
    /// Type and range.
    pub kind: Kind,
    /// The default, as it would be written in a configuration file.
    pub default: &'static str,
    /// Who has a value of their own.
    pub scope: Scope,
    /// Whether SET can change it.
    pub dynamic: bool,
    /// Whether it does something here (`true`) or is only understood, because clients ask for it or old files name it.
    pub effective: bool,
    /// The values that there are, if it has others elsewhere: those are refused (1235, and in a configuration file).
    pub only: &'static [&'static str],
    /// Whether the server finds it out, or a session sets it, and no configuration file can.
    pub no_option: bool,
    /// Who alone may set the session's value, if not everybody may.
    pub restricted: Option<Restricted>,
    /// Whether the hint SET_VAR may set it: where MySQL's may.
    pub is_hint: bool,
    /// Whether SET STATEMENT may set it: not what MariaDB's may not, and not what does something when it is set, or is what the next statement
    /// takes.
    pub is_for_statements: bool,
    /// Whether a session cannot set its value while it has a transaction.
    pub is_fixed_in_transactions: bool,
    /// Whether SET SESSION is refused, though sessions have the value (1238).
    pub is_fixed_in_sessions: bool,
    /// Whether dumps and the output of mysqlbinlog set it, to permit something or to say where a transaction comes from: it asks for nothing, so
    /// nobody is warned that it does nothing.
    pub is_set_by_tools: bool,
    /// What SET SESSION does.
    pub on_set: OnSet,
    /// What of the session it is, if the session's value is none that is stored.
    pub session_state: Option<SessionState>,
    /// What of the server it is, if the server's value is none that is stored.
    pub server_state: Option<ServerState>,
    /// What it is for, for the manual.
    pub doc: &'static str,
}

/// Who may set a setting of a session that not everybody may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restricted {
    /// SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN.
    Session,
    /// The same, and SUPER is not enough.
    SessionNotSuper,
    /// Who may say where a transaction comes from: the same, or REPLICATION_APPLIER.
    Origin,
}

/// What SET of a session's value does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnSet {
    /// It stores the value.
    Store,
    /// It stores the value, and that of a collation's character set or a character set's collation.
    CharacterSetPair,
    /// ON commits, and the value is stored.
    Autocommit,
    /// Stored, if no GTID was chosen.
    SqlLogBin,
    /// A GTID is chosen, and what was chosen is stored.
    GtidNext,
    /// A GTID of MariaDB's is chosen.
    GtidSeqNo,
    /// Stored; the next transactions were born elsewhere.
    Origin,
    /// Stored, and what follows from it for the character sets that it names.
    DefaultCollations,
    /// What LAST_INSERT_ID() gives.
    LastInsertId,
    /// The connection's number, and with it the temporary tables.
    ThreadId,
    /// The first half of where RAND() goes on.
    FirstSeed,
    /// The second half.
    SecondSeed,
}

/// Values that are the state of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionState {
    /// Warnings of the last statement.
    WarningCount,
    /// Errors of the last statement.
    ErrorCount,
    /// What LAST_INSERT_ID() gives.
    LastInsertId,
    /// The GTID that was chosen for the next transaction, if there is one.
    OwnedGtid,
    /// The connection's number.
    ThreadId,
    /// When the statement began.
    Now,
}

/// Values that are the state of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// All transactions that were ever committed here.
    GtidExecuted,
    /// GTIDs that were chosen for transactions that have not ended.
    GtidOwned,
    /// MariaDB's position of what is executed here.
    GtidSlavePos,
    /// What is executed and not in the log any more.
    GtidPurged,
    /// NULL where none is given, as in MySQL.
    ReportHost,
    /// The port that is served where none is given, as in MySQL.
    ReportPort,
}

/// A setting's place in the table. Each has a constant of its own name: [`SettingId::autocommit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SettingId(u16);

impl SettingId {
    /// The setting.
    pub fn setting(self) -> &'static Setting {
        &table::by_number()[self.place()]
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.setting().name
    }

    const fn place(self) -> usize {
        self.0 as usize
    }
}

/// Finds a setting by its name or one of its aliases, in any case; `-` and `_` are the same.
pub fn find(name: &str) -> Option<SettingId> {
    table::find(name)
}

/// As [`find`], with MySQL's error 1193 (and the nearest name, where there is one).
pub fn find_or_suggest(name: &str) -> Result<SettingId, SqlError> {
    find(name).ok_or_else(|| {
        let hint = match nearest(name) {
            Some(near) => format!("; did you mean '{near}'?"),
            None => String::new(),
        };
        SqlError::new(codes::UNKNOWN_SYSTEM_VARIABLE, format!("Unknown system variable '{name}'{hint}"))
    })
}
