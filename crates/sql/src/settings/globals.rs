//! The server's values.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwap;
use base::SqlError;
use parking_lot::Mutex;

use crate::charsets;

use super::{Setting, SettingId, SettingValue, table};

const SECONDS_PER_DAY: f64 = 86_400.0;

/// The values that hold for the server, and with which sessions begin.
pub struct Globals {
    values: ArcSwap<Vec<SettingValue>>,
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
            values: ArcSwap::from_pointee(table::all().iter().map(default).collect()),
            writing: Mutex::new(()),
            read_only: AtomicBool::new(false),
            super_read_only: AtomicBool::new(false),
            partial_revokes: AtomicBool::new(false),
        }
    }

    /// All values now, in the table's order: what a new session begins with.
    pub fn snapshot(&self) -> Arc<Vec<SettingValue>> {
        self.values.load_full()
    }

    /// One value.
    pub fn get(&self, id: SettingId) -> SettingValue {
        self.values.load()[usize::from(id.0)].clone()
    }

    /// One value by a name that is known to be in the table.
    ///
    /// # Panics
    /// If it is not.
    pub fn named(&self, name: &str) -> SettingValue {
        self.get(super::find(name).unwrap_or_else(|| panic!("no setting '{name}'")))
    }

    /// Stores a value that was checked.
    pub fn set(&self, id: SettingId, value: SettingValue) {
        let _writing = self.writing.lock();
        let mut values = (**self.values.load()).clone();
        let on = value.as_bool();
        values[usize::from(id.0)] = value;
        match id.setting().name {
            "read_only" => {
                self.read_only.store(on, Ordering::SeqCst);
                if !on {
                    // As in MySQL: super_read_only cannot be ON without read_only.
                    values[index_of("super_read_only")] = SettingValue::Bool(false);
                    self.super_read_only.store(false, Ordering::SeqCst);
                }
            }
            "super_read_only" => {
                self.super_read_only.store(on, Ordering::SeqCst);
                if on {
                    values[index_of("read_only")] = SettingValue::Bool(true);
                    self.read_only.store(true, Ordering::SeqCst);
                }
            }
            "partial_revokes" => self.partial_revokes.store(on, Ordering::SeqCst),
            // As in MariaDB, they are one: in days with a fraction, and in seconds.
            "expire_logs_days" => {
                let seconds = values[usize::from(id.0)].as_f64() * SECONDS_PER_DAY;
                values[index_of("binlog_expire_logs_seconds")] = SettingValue::UInt(seconds.round() as u64);
            }
            "binlog_expire_logs_seconds" => {
                let days = values[usize::from(id.0)].as_f64() / SECONDS_PER_DAY;
                values[index_of("expire_logs_days")] = SettingValue::Double(days);
            }
            name => {
                let value = values[usize::from(id.0)].clone();
                if let Some((other, value)) = charsets::paired(name, &value) {
                    values[index_of(other)] = value;
                }
            }
        }
        self.values.store(Arc::new(values));
    }

    /// The same by a name that is known to be in the table.
    ///
    /// # Panics
    /// If it is not.
    pub(super) fn set_named(&self, name: &str, value: SettingValue) {
        self.set(super::find(name).unwrap_or_else(|| panic!("no setting '{name}'")), value);
    }

    /// Stores a value that the server itself finds out, as it would be written; what people give is taken by [`super::GivenSettings`].
    pub fn configure(&self, name: &str, text: &str) -> Result<(), SqlError> {
        let id = super::find_or_suggest(name)?;
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

fn index_of(name: &str) -> usize {
    usize::from(super::find(name).map_or(0, |id| id.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configured_values_are_checked() {
        let globals = Globals::new();
        globals.configure("innodb-buffer-pool-size", "64M").unwrap();
        assert_eq!(globals.named("innodb_buffer_pool_size"), SettingValue::UInt(64 << 20));
        let error = globals.configure("sync_binlog", "often").unwrap_err();
        assert_eq!(error.message, "Variable 'sync_binlog' can't be set to the value of 'often'");
    }

    #[test]
    fn a_character_set_and_its_collation_follow_one_another() {
        let globals = Globals::new();
        let both = |globals: &Globals| {
            ["character_set_server", "collation_server"].map(|name| globals.named(name).as_str().to_owned())
        };
        globals.configure("character_set_server", "latin1").unwrap();
        assert_eq!(both(&globals), ["latin1", "latin1_swedish_ci"]);
        globals.configure("collation_server", "utf8mb4_bin").unwrap();
        assert_eq!(both(&globals), ["utf8mb4", "utf8mb4_bin"]);
    }

    #[test]
    fn days_and_seconds_of_log_files_are_one() {
        let globals = Globals::new();
        let both =
            || (globals.named("expire_logs_days").as_f64(), globals.named("binlog_expire_logs_seconds").as_u64());
        assert_eq!(both(), (30.0, 2_592_000));
        globals.configure("expire_logs_days", "0.5").unwrap();
        assert_eq!(both(), (0.5, 43_200));
        globals.configure("binlog_expire_logs_seconds", "864000").unwrap();
        assert_eq!(both(), (10.0, 864_000));
    }

    #[test]
    fn super_read_only_brings_read_only_with_it() {
        let globals = Globals::new();
        globals.configure("super_read_only", "ON").unwrap();
        assert!(globals.read_only() && globals.named("read_only").as_bool());
        globals.configure("read_only", "OFF").unwrap();
        assert!(!globals.super_read_only() && !globals.named("super_read_only").as_bool());
    }
}
