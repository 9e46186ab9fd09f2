//! The server's values.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::{ArcSwap, Guard};
use base::SqlError;
use parking_lot::Mutex;

use crate::charsets;

use super::{GlobalValues, Setting, SettingId, SettingValue, table};

const SECONDS_PER_DAY: f64 = 86_400.0;

/// The values that hold for the server, and with which sessions begin.
pub struct Globals {
    values: ArcSwap<GlobalValues>,
    /// Held while a value is changed, so that two changes do not lose one another.
    writing: Mutex<()>,
    /// `super_read_only` or `read_only`: asked by every write.
    read_only: AtomicBool,
    super_read_only: AtomicBool,
    /// `partial_revokes`: asked by every check of privileges.
    partial_revokes: AtomicBool,
}

impl Default for Globals {
    fn default() -> Self {
        Globals::new()
    }
}

impl Globals {
    /// The defaults.
    pub fn new() -> Self {
        let default = |setting: &Setting| match setting.parse(setting.default) {
            Ok(value) => value,
            // A test holds that every default is valid; only an empty text is not parsed.
            Err(_) => SettingValue::text(setting.default),
        };
        Globals {
            values: ArcSwap::from_pointee(GlobalValues::of(table::by_number().iter().map(default).collect())),
            writing: Mutex::new(()),
            read_only: AtomicBool::new(false),
            super_read_only: AtomicBool::new(false),
            partial_revokes: AtomicBool::new(false),
        }
    }

    /// All values as they are, to read one and be done with them.
    pub fn now(&self) -> Guard<Arc<GlobalValues>> {
        self.values.load()
    }

    /// All values as they are, to keep: what a new session begins with.
    pub fn snapshot(&self) -> Arc<GlobalValues> {
        self.values.load_full()
    }

    /// A value as it is stored.
    pub fn get(&self, id: SettingId) -> SettingValue {
        self.now().get(id).clone()
    }

    /// Stores a value that was checked, and what follows from it.
    pub fn set(&self, id: SettingId, value: SettingValue) {
        let _writing = self.writing.lock();
        let mut values = (**self.values.load()).clone();
        if let Some((other, value)) = tied(id, &value) {
            values.set(other, value);
        }
        values.set(id, value);
        self.read_only.store(values.role.read_only, Ordering::SeqCst);
        self.super_read_only.store(values.role.super_read_only, Ordering::SeqCst);
        self.partial_revokes.store(values.accounts.partial_revokes, Ordering::SeqCst);
        self.values.store(Arc::new(values));
    }

    /// Stores a value that the server itself finds out, as it would be written; what people give is taken by [`super::GivenSettings`].
    pub fn configure(&self, id: SettingId, text: &str) -> Result<(), SqlError> {
        let value = id.setting().parse(text)?;
        self.set(id, value);
        Ok(())
    }

    /// `read_only`
    pub fn read_only(&self) -> bool {
        self.read_only.load(Ordering::Relaxed)
    }

    /// `super_read_only`
    pub fn super_read_only(&self) -> bool {
        self.super_read_only.load(Ordering::Relaxed)
    }

    /// `partial_revokes`
    pub fn partial_revokes(&self) -> bool {
        self.partial_revokes.load(Ordering::Relaxed)
    }
}

/// The setting that follows another one, and its value then.
fn tied(id: SettingId, value: &SettingValue) -> Option<(SettingId, SettingValue)> {
    match id {
        // As in MySQL: super_read_only cannot be ON without read_only.
        SettingId::read_only if !value.as_bool() => Some((SettingId::super_read_only, SettingValue::Bool(false))),
        SettingId::super_read_only if value.as_bool() => Some((SettingId::read_only, SettingValue::Bool(true))),
        // As in MariaDB, they are one: in days with a fraction, and in seconds.
        SettingId::expire_logs_days => {
            let seconds = (value.as_f64() * SECONDS_PER_DAY).round() as u64;
            Some((SettingId::binlog_expire_logs_seconds, SettingValue::UInt(seconds)))
        }
        SettingId::binlog_expire_logs_seconds => {
            Some((SettingId::expire_logs_days, SettingValue::Double(value.as_f64() / SECONDS_PER_DAY)))
        }
        id => charsets::paired(id, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configured_values_are_checked() {
        let globals = Globals::new();
        globals.configure(SettingId::innodb_buffer_pool_size, "64M").unwrap();
        assert_eq!(globals.get(SettingId::innodb_buffer_pool_size), SettingValue::UInt(64 << 20));
        let error = globals.configure(SettingId::sync_binlog, "often").unwrap_err();
        assert_eq!(error.message, "Variable 'sync_binlog' can't be set to the value of 'often'");
    }

    #[test]
    fn a_character_set_and_its_collation_follow_one_another() {
        let globals = Globals::new();
        let both = |globals: &Globals| {
            [SettingId::character_set_server, SettingId::collation_server].map(|id| globals.get(id).as_str().to_owned())
        };
        globals.configure(SettingId::character_set_server, "latin1").unwrap();
        assert_eq!(both(&globals), ["latin1", "latin1_swedish_ci"]);
        globals.configure(SettingId::collation_server, "utf8mb4_bin").unwrap();
        assert_eq!(both(&globals), ["utf8mb4", "utf8mb4_bin"]);
    }

    #[test]
    fn days_and_seconds_of_log_files_are_one() {
        let globals = Globals::new();
        let both = || {
            (
                globals.get(SettingId::expire_logs_days).as_f64(),
                globals.get(SettingId::binlog_expire_logs_seconds).as_u64(),
            )
        };
        assert_eq!(both(), (30.0, 2_592_000));
        globals.configure(SettingId::expire_logs_days, "0.5").unwrap();
        assert_eq!(both(), (0.5, 43_200));
        globals.configure(SettingId::binlog_expire_logs_seconds, "864000").unwrap();
        assert_eq!(both(), (10.0, 864_000));
    }

    #[test]
    fn super_read_only_brings_read_only_with_it() {
        let globals = Globals::new();
        globals.configure(SettingId::super_read_only, "ON").unwrap();
        assert!(globals.read_only() && globals.get(SettingId::read_only).as_bool());
        globals.configure(SettingId::read_only, "OFF").unwrap();
        assert!(!globals.super_read_only() && !globals.get(SettingId::super_read_only).as_bool());
    }
}
