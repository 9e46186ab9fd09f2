//! What configuration files and the command line give: names and values as the option parsers of MySQL and MariaDB take them.
//!
//! # Invariants
//! - Nothing is taken and ignored: what is given holds, or is an error that names it, or is named in the server's log.
//! - A value that SET GLOBAL would refuse is refused here, too.
//! - What is only understood keeps the value that is in force, so that `@@` shows no other.

use super::{Globals, Setting, SettingId, SettingValue, find, foreign, manual, nearest, sql_mode};
use crate::charsets;
use crate::replay::ReplicationFilter;

/// Why what is given cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// A name that is neither in the table nor one of MySQL's or MariaDB's.
    #[error("unknown setting '{name}'{}", .nearest.map(|near| format!("; did you mean '{near}'?")).unwrap_or_default())]
    Unknown {
        /// As written.
        name: String,
        /// The nearest that there is.
        nearest: Option<&'static str>,
    },
    /// A value that does not fit, or is not there; in words.
    #[error("{0}")]
    Value(String),
}

/// What became of a setting that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// It holds.
    Taken,
    /// Another value holds, the nearest that there is; in words.
    Adjusted(String),
    /// MySQL or MariaDB know the name; it means nothing here.
    Ignored,
}

/// Names of options that are not the names of their variables.
const OPTIONS: [(&str, SettingId); 1] = [("default_time_zone", SettingId::time_zone)];
/// What the files of the log are called, before their numbers.
const LOG_NAME: &str = "binlog";

/// The server's values while they are given, one after the other; later ones win.
#[derive(Default)]
pub struct GivenSettings {
    globals: Globals,
    /// `character_set_server` and `collation_server`: whether they fit is known when both are.
    charset: Option<SettingValue>,
    collation: Option<SettingValue>,
}

impl GivenSettings {
    /// The values so far.
    pub fn globals(&self) -> &Globals {
        &self.globals
    }

    /// The values, if they fit together.
    pub fn finish(self) -> Result<Globals, (Globals, SettingError)> {
        let charset = self.charset.unwrap_or_else(|| self.globals.get(SettingId::character_set_server));
        let Some(collation) = self.collation else {
            self.globals.set(SettingId::character_set_server, charset);
            return Ok(self.globals);
        };
        match charsets::resolve(Some(charset.as_str()), Some(collation.as_str())) {
            Ok(_) => {
                self.globals.set(SettingId::character_set_server, charset);
                self.globals.set(SettingId::collation_server, collation);
                Ok(self.globals)
            }
            // As MySQL and MariaDB: a collation alone does not change the character set.
            Err(error) => {
                let message = format!("{} (collation_server, character_set_server)", error.message);
                Err((self.globals, SettingError::Value(message)))
            }
        }
    }

    /// Takes a setting, checked. What another server would start with is no error, unless it would change there what is kept, protected or
    /// executed, and cannot here.
    pub fn apply(&mut self, name: &str, value: &str) -> Result<Applied, SettingError> {
        let (is_loose, written) = match without(name, &["loose-", "loose_"]) {
            Some(rest) => (true, rest),
            None => (false, name),
        };
        let (name, value) = prefixed(written, value);
        match find(&name) {
            Some(id) => self.apply_known(id, value),
            None if foreign::is_known(&name) => {
                let is_so = foreign::check(&name, value, is_loose).map_err(SettingError::Value)?;
                Ok(if is_so { Applied::Taken } else { Applied::Ignored })
            }
            None if is_loose || foreign::is_known(written) => Ok(Applied::Ignored),
            None => Err(SettingError::Unknown { name: written.to_owned(), nearest: nearest(written) }),
        }
    }

    fn apply_known(&mut self, id: SettingId, value: &str) -> Result<Applied, SettingError> {
        let setting = id.setting();
        let wrong = |message| Err(SettingError::Value(message));
        if !setting.is_option() {
            return wrong(format!(
                "{} is no option: the server or a session says it, no configuration does",
                setting.name
            ));
        }
        if id == SettingId::log_bin {
            return log_bin(setting, value).map_err(SettingError::Value);
        }
        let value = &self.with_earlier_rules(setting, value);
        let checked = match setting.parse_nearest(value) {
            Ok((_, checked)) => checked,
            Err(_) if !setting.only.is_empty() => return wrong(setting.refusal(value)),
            // What it would have changed is not there.
            Err(_) if !setting.effective => return Ok(Applied::Ignored),
            Err(error) => return wrong(format!("{}; values: {}", error.message, manual::values_of(setting))),
        };
        setting.check_configured(value, &checked).map_err(SettingError::Value)?;
        if !setting.effective {
            let is_in_force = self.globals.get(id) == checked.value;
            return Ok(if is_in_force { Applied::Taken } else { Applied::Ignored });
        }
        self.store(id, checked.value.clone());
        match checked.adjusted {
            true => {
                Ok(Applied::Adjusted(format!("{} = {value} is out of range: {} holds", setting.name, checked.value)))
            }
            false => Ok(Applied::Taken),
        }
    }

    fn store(&mut self, id: SettingId, value: SettingValue) {
        match id {
            SettingId::character_set_server => self.charset = Some(value),
            SettingId::collation_server => self.collation = Some(value),
            SettingId::sql_mode => self.globals.set(id, SettingValue::text(sql_mode::expanded_words(value.as_str()))),
            _ => self.globals.set(id, value),
        }
    }

    /// Rules of replication add up, as in MySQL, where each option names one database or table.
    fn with_earlier_rules(&self, setting: &Setting, value: &str) -> String {
        if !ReplicationFilter::is_rule(setting.id) {
            return value.to_owned();
        }
        match self.globals.get(setting.id).as_str() {
            "" => value.to_owned(),
            before => format!("{before},{value}"),
        }
    }
}

/// A name for its files is as good as ON; without a log there is no server.
fn log_bin(setting: &Setting, value: &str) -> Result<Applied, String> {
    match value.trim() {
        off if is_off(off) => Err(setting.refusal(value)),
        on if is_on(on) || on == LOG_NAME => Ok(Applied::Taken),
        name => Ok(Applied::Adjusted(format!(
            "log_bin = {name}: the binary log is ON, and its files are {LOG_NAME}.NNNNNN in the data directory"
        ))),
    }
}

pub(super) fn is_on(value: &str) -> bool {
    ["on", "1", "true", "yes", ""].contains(&value.trim().to_ascii_lowercase().as_str())
}

pub(super) fn is_off(value: &str) -> bool {
    ["off", "0", "false", "no"].contains(&value.trim().to_ascii_lowercase().as_str())
}

/// my.cnf's prefixes: `skip-name` is `name=OFF`, `enable-name` is `name=ON`, and 0 as their value turns that round. Gives the name of the
/// setting, where there is one.
fn prefixed<'a>(written: &str, value: &'a str) -> (String, &'a str) {
    let name = written.to_ascii_lowercase().replace('-', "_");
    let is_name = |name: &str| find(name).is_some() || foreign::is_name(name);
    if let Some((_, variable)) = OPTIONS.iter().find(|(option, _)| *option == name) {
        return (variable.name().to_owned(), value);
    }
    if is_name(&name) {
        return (name, value);
    }
    for (prefix, on) in [("skip_", false), ("disable_", false), ("enable_", true)] {
        if let Some(rest) = name.strip_prefix(prefix).filter(|rest| is_name(rest)) {
            let on = on != (value.trim() == "0");
            return (rest.to_owned(), if on { "ON" } else { "OFF" });
        }
    }
    (name, value)
}

fn without<'a>(name: &'a str, prefixes: &[&str]) -> Option<&'a str> {
    prefixes.iter().find_map(|prefix| {
        let start = name.get(..prefix.len()).filter(|start| start.eq_ignore_ascii_case(prefix))?;
        Some(&name[start.len()..])
    })
}

#[cfg(test)]
mod tests;
