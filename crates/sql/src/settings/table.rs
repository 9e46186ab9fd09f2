//! The table of settings, in groups by the part that needs them.
//!
//! To add one: a line in its group, `name: type = …`, from which all else is made: its number [`SettingId`], its line in `SHOW VARIABLES` and the
//! manual, and a field of the group's struct. What needs it reads that field. A part that subscribes to a group gets its changes, and has to
//! say what it does with each, in a `match` of all of them.
//!
//! ```text
//!   settings! { purge: PurgeSettings;             globals.now().purge.binlog_space_limit
//!       binlog_space_limit: u64 = …; }
//!   subscribed_settings! { commit: …, CommitChange;     the same, and CommitChange::sync_binlog(1) when SET GLOBAL changes it
//!       sync_binlog: u64 = …; }
//! ```
//!
//! The type is one of [`typed`](super::typed). A line without one has no field: nothing reads its value but clients. A setting that is only
//! understood (`.understood()`) says so in the manual; one whose other values would change on a MySQL or MariaDB what is kept, protected or
//! executed has `.only(…)`. What else is particular to a setting is said in its line, too ([`Setting`]).

use std::collections::HashMap;
use std::sync::OnceLock;

use ::engine::commit::{DependencyTracking, OnTimeout};
use ::engine::{Isolation, RowImage};
use binlog::SyncMethod;
use types::CollationId;

use super::typed::*;
use super::{Kind, OnSet, Restricted, Scope, ServerState, SessionState, Setting, SettingId, SettingValue};
use crate::expr::SqlMode;
use crate::expr::function::cipher::CipherMode;
use crate::replay::{ExecMode, OnDifference, TypeConversions};
use crate::session::TrackGtids;

/// The lines of a group: their numbers, and what is said of them.
macro_rules! rows {
    ($group:ident; $($name:ident $(: $type:ty)? = $row:expr;)*) => {
        /// In the order of the lines.
        #[allow(non_camel_case_types, reason = "the settings' own names")]
        enum Place {
            $($name,)*
        }

        #[allow(non_upper_case_globals, missing_docs, reason = "the settings' own names")]
        impl SettingId {
            $(pub const $name: SettingId = SettingId(FIRST + Place::$name as u16);)*
        }

        const FIRST: u16 = first_of(Group::$group);
        pub(super) const COUNT: usize = [$(Place::$name as usize),*].len();
        pub(super) const ROWS: &[Setting] =
            &[$(Setting { id: SettingId::$name, name: stringify!($name), ..$row }),*];
    };
}

/// A group whose fields are read where they are needed.
macro_rules! settings {
    ($group:ident: $struct:ident; $($name:ident $(: $type:ty)? = $row:expr;)*) => {
        rows! { $group; $($name $(: $type)? = $row;)* }

        #[doc = concat!("The settings of the group `", stringify!($group), "`.")]
        #[derive(Clone, Debug)]
        #[allow(missing_docs, reason = "the settings' own names")]
        pub struct $struct {
            $($(pub $name: <$type as Typed>::Field,)?)*
        }

        impl $struct {
            /// Of all stored values.
            pub(in crate::settings) fn of(stored: &[SettingValue]) -> Self {
                $struct { $($($name: <$type as Typed>::of(&stored[SettingId::$name.place()]),)?)* }
            }

            /// Changes the field of a setting; those without one, and of other groups, change nothing.
            pub(in crate::settings) fn set(&mut self, id: SettingId, value: &SettingValue) {
                match id {
                    $($(SettingId::$name => self.$name = <$type as Typed>::of(value),)?)*
                    _ => {}
                }
            }
        }
    };
}

/// A group whose changes go to the part of the server that subscribes to it.
macro_rules! subscribed_settings {
    ($group:ident: $struct:ident, $change:ident; $($name:ident $(: $type:ty)? = $row:expr;)*) => {
        settings! { $group: $struct; $($name $(: $type)? = $row;)* }

        #[doc = concat!("What a setting of the group `", stringify!($group), "` becomes.")]
        #[derive(Clone, Debug)]
        #[allow(non_camel_case_types, missing_docs, reason = "the settings' own names")]
        pub enum $change {
            $($($name(<$type as Typed>::Field),)?)*
        }

        impl $change {
            pub(in crate::settings) fn of(id: SettingId, value: &SettingValue) -> Option<Self> {
                match id {
                    $($(SettingId::$name => Some($change::$name(<$type as Typed>::of(value))),)?)*
                    _ => None,
                }
            }
        }

        impl $struct {
            /// All as they are: what a subscriber gets at its start.
            pub fn changes(&self) -> Vec<$change> {
                vec![$($($change::$name(<<$type as Typed>::Field as Clone>::clone(&self.$name)),)?)*]
            }
        }
    };
}

/// All groups: those that are read, those with subscribers, and the others.
macro_rules! groups {
    (
        read { $($read:ident: $read_struct:ident,)* }
        subscribed { $($subscribed:ident: $subscribed_struct:ident, $change:ident,)* }
        rest { $($rest:ident,)* }
    ) => {
        $(mod $read;)*
        $(mod $subscribed;)*
        $(mod $rest;)*

        $(pub use $read::$read_struct;)*
        $(pub use $subscribed::{$subscribed_struct, $change};)*

        #[derive(Clone, Copy)]
        #[allow(non_camel_case_types, reason = "the names of the modules")]
        enum Group {
            $($read,)* $($subscribed,)* $($rest,)*
        }

        const COUNTS: &[usize] = &[$($read::COUNT,)* $($subscribed::COUNT,)* $($rest::COUNT,)*];
        const PARTS: &[&[Setting]] = &[$($read::ROWS,)* $($subscribed::ROWS,)* $($rest::ROWS,)*];

        /// The server's values, each group as a struct.
        #[derive(Clone, Debug)]
        #[allow(missing_docs, reason = "the groups say what they are")]
        pub struct GlobalValues {
            stored: Vec<SettingValue>,
            $(pub $read: $read_struct,)*
            $(pub $subscribed: $subscribed_struct,)*
        }

        impl GlobalValues {
            /// Of values in the table's order.
            pub(super) fn of(stored: Vec<SettingValue>) -> Self {
                GlobalValues {
                    $($read: $read_struct::of(&stored),)*
                    $($subscribed: $subscribed_struct::of(&stored),)*
                    stored,
                }
            }

            /// Stores a value that was checked.
            pub(super) fn set(&mut self, id: SettingId, value: SettingValue) {
                $(self.$read.set(id, &value);)*
                $(self.$subscribed.set(id, &value);)*
                self.stored[id.place()] = value;
            }
        }

        /// What a setting with a subscriber becomes, by the group.
        #[derive(Clone, Debug)]
        #[allow(non_camel_case_types, missing_docs, reason = "the groups' own names")]
        pub enum Change {
            $($subscribed($change),)*
        }

        impl Change {
            /// `None` if it has no subscriber.
            pub fn of(id: SettingId, value: &SettingValue) -> Option<Self> {
                None$(.or_else(|| $change::of(id, value).map(Change::$subscribed)))*
            }
        }
    };
}

groups! {
    read {
        accounts: AccountSettings,
        connections: ConnectionSettings,
        purge: PurgeSettings,
        replica: ReplicaSettings,
        session: SessionValues,
        start: StartSettings,
        statements: StatementSettings,
    }
    subscribed {
        commit: CommitPipelineSettings, CommitChange,
        engine: EngineSettings, EngineChange,
        filters: FilterSettings, FilterChange,
        follower: FollowerSettings, FollowerChange,
        memory: MemorySettings, MemoryChange,
        role: RoleSettings, RoleChange,
        semi_sync: SemiSyncSettings, SemiSyncChange,
    }
    rest {
        understood,
    }
}

pub(super) use session::SQL_MODES;

impl GlobalValues {
    /// A value as it is stored.
    pub fn get(&self, id: SettingId) -> &SettingValue {
        &self.stored[id.place()]
    }
}

/// The place of a group's first line.
const fn first_of(group: Group) -> u16 {
    let (mut first, mut at) = (0, 0);
    while at < group as usize {
        first += COUNTS[at];
        at += 1;
    }
    first as u16
}

/// All settings, by their numbers.
pub(super) fn by_number() -> &'static [Setting] {
    static BY_NUMBER: OnceLock<Vec<Setting>> = OnceLock::new();
    BY_NUMBER.get_or_init(|| PARTS.concat())
}

/// All settings, in the order of their names.
pub fn all() -> &'static [Setting] {
    static ALL: OnceLock<Vec<Setting>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = by_number().to_vec();
        all.sort_by_key(|setting| setting.name);
        all
    })
}

pub(super) fn find(name: &str) -> Option<SettingId> {
    static BY_NAME: OnceLock<HashMap<&'static str, SettingId>> = OnceLock::new();
    let by_name = BY_NAME.get_or_init(|| {
        let names = |setting: &'static Setting| {
            std::iter::once(&setting.name).chain(setting.aliases).map(|name| (*name, setting.id))
        };
        by_number().iter().flat_map(names).collect()
    });
    if let Some(id) = by_name.get(name) {
        return Some(*id);
    }
    let normal = name.to_ascii_lowercase().replace('-', "_");
    by_name.get(normal.as_str()).copied()
}

/// A line; its name and number are put in by [`rows`].
const fn new(kind: Kind, default: &'static str, scope: Scope, dynamic: bool) -> Setting {
    Setting {
        id: SettingId(0),
        name: "",
        aliases: &[],
        kind,
        default,
        scope,
        dynamic,
        effective: true,
        only: &[],
        no_option: false,
        restricted: None,
        is_hint: false,
        is_for_statements: true,
        is_fixed_in_transactions: false,
        is_fixed_in_sessions: false,
        is_set_by_tools: false,
        on_set: OnSet::Store,
        session_state: None,
        server_state: None,
        doc: "",
    }
}

/// The server's, changed by SET GLOBAL.
const fn global(kind: Kind, default: &'static str) -> Setting {
    new(kind, default, Scope::Global, true)
}

/// The server's, fixed at its start.
const fn fixed(kind: Kind, default: &'static str) -> Setting {
    new(kind, default, Scope::Global, false)
}

/// The server's and each session's.
const fn both(kind: Kind, default: &'static str) -> Setting {
    new(kind, default, Scope::Both, true)
}

/// Each session's alone.
const fn session(kind: Kind, default: &'static str) -> Setting {
    new(kind, default, Scope::Session, true)
}

impl Setting {
    const fn doc(mut self, doc: &'static str) -> Setting {
        self.doc = doc;
        self
    }

    const fn alias(mut self, aliases: &'static [&'static str]) -> Setting {
        self.aliases = aliases;
        self
    }

    const fn understood(mut self) -> Setting {
        self.effective = false;
        self
    }

    const fn read_only(mut self) -> Setting {
        self.dynamic = false;
        self
    }

    const fn only(mut self, values: &'static [&'static str]) -> Setting {
        self.only = values;
        self
    }

    const fn no_option(mut self) -> Setting {
        self.no_option = true;
        self
    }

    const fn restricted(mut self, to: Restricted) -> Setting {
        self.restricted = Some(to);
        self
    }

    const fn hint(mut self) -> Setting {
        self.is_hint = true;
        self
    }

    const fn not_for_statements(mut self) -> Setting {
        self.is_for_statements = false;
        self
    }

    const fn outside_transactions(mut self) -> Setting {
        self.is_fixed_in_transactions = true;
        self
    }

    const fn fixed_in_sessions(mut self) -> Setting {
        self.is_fixed_in_sessions = true;
        self
    }

    const fn set_by_tools(mut self) -> Setting {
        self.is_set_by_tools = true;
        self
    }

    const fn on_set(mut self, effect: OnSet) -> Setting {
        self.on_set = effect;
        self
    }

    const fn session_state(mut self, state: SessionState) -> Setting {
        self.session_state = Some(state);
        self
    }

    const fn server_state(mut self, state: ServerState) -> Setting {
        self.server_state = Some(state);
        self
    }
}

const BOOL: Kind = Kind::Bool;
const TEXT: Kind = Kind::Text;
const U32: Kind = uint(0, u32::MAX as u64);
const U64: Kind = uint(0, u64::MAX);

const fn uint(min: u64, max: u64) -> Kind {
    Kind::UInt { min, max, block: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_defaults_are_valid() {
        let mut seen = HashMap::new();
        for (place, setting) in by_number().iter().enumerate() {
            assert_eq!(setting.id.place(), place, "{}", setting.name);
            for name in std::iter::once(&setting.name).chain(setting.aliases) {
                assert_eq!(seen.insert(*name, setting.name), None, "{name} is there twice");
                assert_eq!(*name, name.to_ascii_lowercase());
            }
            assert!(!setting.doc.is_empty(), "{} has no doc", setting.name);
            if !(setting.default.is_empty() && setting.kind == Kind::Text) {
                setting.parse(setting.default).unwrap_or_else(|error| panic!("{}: {error}", setting.name));
            }
        }
    }

    /// [`SessionValues`] is all that a session has values of its own of.
    #[test]
    fn what_sessions_have_is_in_their_group() {
        for setting in session::ROWS {
            assert_ne!(setting.scope, Scope::Global, "{}", setting.name);
        }
        for group in PARTS.iter().filter(|group| group[0].id != session::ROWS[0].id) {
            let own = group.iter().filter(|setting| setting.scope != Scope::Global && setting.effective);
            let own: Vec<_> = own.filter(|setting| setting.only.is_empty()).map(|setting| setting.name).collect();
            assert_eq!(own, [""; 0]);
        }
    }

    #[test]
    fn found_by_any_spelling() {
        let name = |spelling: &str| find(spelling).map(|id| id.setting().name);
        assert_eq!(name("sync_binlog"), Some("sync_binlog"));
        assert_eq!(name("SYNC-BINLOG"), Some("sync_binlog"));
        assert_eq!(name("tx_isolation"), Some("transaction_isolation"));
        assert_eq!(name("no_such"), None);
    }
}
