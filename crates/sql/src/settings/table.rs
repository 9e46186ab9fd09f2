//! The table of settings, in parts by what they are about.
//!
//! To add one: a line in the part where a reader would look for it, in the order of names; then whoever uses it reads it by
//! name when it changes. A setting that is only understood (`.understood()`) says so in the manual; one whose other values would change
//! on a MySQL or MariaDB what is kept, protected or executed has `.only(…)`.

mod engine;
mod log;
mod network;
mod replication;
mod session;
mod understood;

pub(super) use session::SQL_MODES;

use std::collections::HashMap;
use std::sync::OnceLock;

use super::{Kind, Scope, Setting, SettingId};

/// All settings, in the order of their names.
pub fn all() -> &'static [Setting] {
    static ALL: OnceLock<Vec<Setting>> = OnceLock::new();
    ALL.get_or_init(|| {
        let parts = [engine::ALL, log::ALL, network::ALL, replication::ALL, session::ALL, understood::ALL];
        let mut all = parts.concat();
        all.sort_by_key(|setting| setting.name);
        all
    })
}

pub(super) fn find(name: &str) -> Option<SettingId> {
    static BY_NAME: OnceLock<HashMap<&'static str, SettingId>> = OnceLock::new();
    let by_name = BY_NAME.get_or_init(|| {
        let mut by_name = HashMap::new();
        for (place, setting) in all().iter().enumerate() {
            for name in std::iter::once(&setting.name).chain(setting.aliases) {
                by_name.insert(*name, SettingId(place as u16));
            }
        }
        by_name
    });
    if let Some(id) = by_name.get(name) {
        return Some(*id);
    }
    let normal = name.to_ascii_lowercase().replace('-', "_");
    by_name.get(normal.as_str()).copied()
}

const fn new(name: &'static str, kind: Kind, default: &'static str, scope: Scope, dynamic: bool) -> Setting {
    Setting { name, aliases: &[], kind, default, scope, dynamic, effective: true, only: &[], no_option: false, doc: "" }
}

/// The server's, changed by SET GLOBAL.
const fn global(name: &'static str, kind: Kind, default: &'static str) -> Setting {
    new(name, kind, default, Scope::Global, true)
}

/// The server's, fixed at its start.
const fn fixed(name: &'static str, kind: Kind, default: &'static str) -> Setting {
    new(name, kind, default, Scope::Global, false)
}

/// The server's and each session's.
const fn both(name: &'static str, kind: Kind, default: &'static str) -> Setting {
    new(name, kind, default, Scope::Both, true)
}

/// Each session's alone.
const fn session(name: &'static str, kind: Kind, default: &'static str) -> Setting {
    new(name, kind, default, Scope::Session, true)
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

    /// Other values would change what is kept, protected or executed, and do not here.
    const fn only(mut self, values: &'static [&'static str]) -> Setting {
        self.only = values;
        self
    }

    const fn no_option(mut self) -> Setting {
        self.no_option = true;
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
        for setting in all() {
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

    #[test]
    fn found_by_any_spelling() {
        let name = |spelling: &str| find(spelling).map(|id| id.setting().name);
        assert_eq!(name("sync_binlog"), Some("sync_binlog"));
        assert_eq!(name("SYNC-BINLOG"), Some("sync_binlog"));
        assert_eq!(name("tx_isolation"), Some("transaction_isolation"));
        assert_eq!(name("no_such"), None);
    }
}
