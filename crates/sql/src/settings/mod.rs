//! The settings: one table of names, types, defaults and meanings, and the values that hold.
//!
//! From the table come `SHOW VARIABLES`, `SET`, the checks of a configuration file, the manual's page of settings, and the
//! nearest name for one that is unknown.
//!
//! ```text
//!   TABLE ── defaults ──> configuration file, command line ──> Globals ── at connect ──> SessionSettings
//!                                                                 ^                          ^
//!                                                             SET GLOBAL                    SET
//! ```
//!
//! # Invariants
//! - A stored value has the type and lies in the range of its setting; whoever stores checks with [`Setting::check`].
//! - What a statement needs often is decoded once, when it is set ([`SessionSettings::hot`]), never looked up by name.
//! - Sessions share the values that they did not set: a session costs a pointer and what it changed.

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
mod value;

pub use config::{ConfigEntry, ConfigFile};
pub use given::{Applied, GivenSettings, SettingError};
pub use globals::Globals;
pub use manual::{manual, values_of};
pub use session::{Hot, SessionSettings};
pub(crate) use session::{isolation_of, time_zone};
pub use suggest::nearest;
pub(crate) use supported::check_modes;
pub use table::all;
pub use value::{Checked, Kind, Scope, SettingValue};

use base::{SqlError, codes};

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
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
    /// What it is for, for the manual.
    pub doc: &'static str,
}

/// A setting's place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SettingId(pub(crate) u16);

impl SettingId {
    /// The setting.
    pub fn setting(self) -> &'static Setting {
        &table::all()[usize::from(self.0)]
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
