//! Configuration files: TOML, or the `[mysqld]` section of a my.cnf.
//!
//! Both give pairs of name and value; what a name means and whether a value is valid is the table's matter. Reading the file,
//! and those that it includes, is the caller's.

use super::{Globals, Setting, find, foreign, nearest};

/// What is wrong in a configuration file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A line that is neither a section nor a setting.
    #[error("line {line}: {what}")]
    Syntax {
        /// From 1.
        line: usize,
        /// In words.
        what: String,
    },
    /// A name that is not in the table.
    #[error("line {line}: unknown setting '{name}'{}", .nearest.map(|near| format!("; did you mean '{near}'?")).unwrap_or_default())]
    Unknown {
        /// From 1.
        line: usize,
        /// As written.
        name: String,
        /// The nearest that there is.
        nearest: Option<&'static str>,
    },
    /// A value that does not fit.
    #[error("line {line}: {message}")]
    Value {
        /// From 1.
        line: usize,
        /// In words.
        message: String,
    },
}

/// Sections of a my.cnf that are for a server.
const SECTIONS: [&str; 13] = [
    "mysqld",
    "server",
    "mysqld-8.4",
    "mysqld-9.7",
    "mysql_cluster",
    "mysqld-11.8",
    "mariadb",
    "mariadb-11.8",
    "mariadbd",
    "mariadbd-11.8",
    "client-server",
    "galera",
    "commuter",
];

/// What a file says, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigFile {
    /// With the number of the line, from 1.
    pub entries: Vec<(usize, ConfigEntry)>,
}

/// One line that says something to us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigEntry {
    /// A name and a value.
    Setting(String, String),
    /// `!include FILE`
    Include(String),
    /// `!includedir FOLDER`: its files that end in `.cnf`.
    IncludeFolder(String),
}

impl ConfigFile {
    /// Reads the text of a file. Sections other than those that a MySQL 9.7, a MariaDB 11.8 or a commuter reads are somebody else's; what
    /// stands before the first section is ours.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let mut file = ConfigFile::default();
        let mut ours = true;
        for (number, line) in text.lines().enumerate() {
            let number = number + 1;
            let line = line.trim();
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            if let Some(section) = line.strip_prefix('[') {
                let Some(section) = strip_comment(section).strip_suffix(']') else {
                    return Err(ConfigError::Syntax { line: number, what: "a section without ']'".into() });
                };
                ours = SECTIONS.contains(&section.trim());
                continue;
            }
            let syntax = |what| ConfigError::Syntax { line: number, what };
            // Whatever section they stand in: the file that is included has its own.
            if let Some(directive) = line.strip_prefix('!') {
                file.entries.push((number, include_of(directive).map_err(syntax)?));
            } else if ours {
                let (name, value) = setting_of(line).map_err(syntax)?;
                file.entries.push((number, ConfigEntry::Setting(name, value)));
            }
        }
        Ok(file)
    }
}

/// What became of a setting of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// It holds.
    Taken,
    /// Another value holds, the nearest that there is; in words.
    Adjusted(String),
    /// MySQL or MariaDB know the name; it means nothing here.
    Ignored,
}

/// Puts a setting of a file into `globals`, checked. What another server would start with is no error, unless it asks for something that
/// is not there.
pub fn apply_setting(globals: &Globals, line: usize, name: &str, value: &str) -> Result<Applied, ConfigError> {
    let wrong = |message| ConfigError::Value { line, message };
    let (is_loose, written) = match without(name, &["loose-", "loose_"]) {
        Some(rest) => (true, rest),
        None => (false, name),
    };
    let (name, value) = prefixed(written, value);
    let Some(id) = find(name) else {
        return match is_loose || foreign::is_known(written) {
            true => Ok(Applied::Ignored),
            false => Err(ConfigError::Unknown { line, name: name.to_owned(), nearest: nearest(name) }),
        };
    };
    let setting = id.setting();
    check_is_there(setting, value).map_err(wrong)?;
    // A name for its files is as good as ON; without a log there is no server.
    if setting.name == "log_bin" {
        return Ok(match is_off(value) || !is_on(value) {
            true => Applied::Ignored,
            false => Applied::Taken,
        });
    }
    match globals.configure_nearest(name, value) {
        Ok(None) => Ok(Applied::Taken),
        Ok(Some(held)) => Ok(Applied::Adjusted(format!("{} = {value} is out of range: {held} holds", setting.name))),
        // What it would have changed is not there.
        Err(_) if !setting.effective => Ok(Applied::Ignored),
        Err(error) => Err(wrong(error.message)),
    }
}

fn is_on(value: &str) -> bool {
    ["on", "1", "true", "yes", ""].contains(&value.trim().to_ascii_lowercase().as_str())
}

fn is_off(value: &str) -> bool {
    ["off", "0", "false", "no"].contains(&value.trim().to_ascii_lowercase().as_str())
}

/// Logs of statements, and logging statements, that somebody relies on.
fn check_is_there(setting: &Setting, value: &str) -> Result<(), String> {
    let is_missing = match setting.name {
        "slow_query_log" | "general_log" => !is_off(value),
        "binlog_format" => value.eq_ignore_ascii_case("STATEMENT"),
        _ => false,
    };
    match is_missing {
        true => Err(format!(
            "{} = {value} is not supported yet; take it out of the file, or set it to {}",
            setting.name, setting.default
        )),
        false => Ok(()),
    }
}

fn include_of(directive: &str) -> Result<ConfigEntry, String> {
    let (word, path) = directive.split_once(char::is_whitespace).unwrap_or((directive, ""));
    match (word, path.trim()) {
        ("include" | "includedir", "") => Err(format!("!{word} without a path")),
        ("include", path) => Ok(ConfigEntry::Include(path.to_owned())),
        ("includedir", path) => Ok(ConfigEntry::IncludeFolder(path.to_owned())),
        _ => Err(format!("'!{word}' is neither !include nor !includedir")),
    }
}

/// my.cnf's prefixes: `skip-name` is `name=OFF`, `enable-name` is `name=ON`.
fn prefixed<'a>(name: &'a str, value: &'a str) -> (&'a str, &'a str) {
    if find(name).is_some() {
        return (name, value);
    }
    for (prefixes, meaning) in
        [(["skip-", "skip_", "disable-", "disable_"].as_slice(), "OFF"), (&["enable-", "enable_"], "ON")]
    {
        if let Some(rest) = without(name, prefixes).filter(|rest| find(rest).is_some()) {
            return (rest, meaning);
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

/// `name = value`, `name` alone for ON; values quoted as in TOML or my.cnf.
fn setting_of(line: &str) -> Result<(String, String), String> {
    let Some((name, value)) = line.split_once('=') else {
        return Ok((strip_comment(line).to_string(), "ON".into()));
    };
    let name = name.trim().trim_matches('"');
    if name.is_empty() {
        return Err("a value without a name".into());
    }
    let value = value.trim();
    let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        let value = strip_comment(value);
        // TOML's numbers may have underscores and its booleans are words that every kind understands.
        let plain = match value.bytes().all(|b| b.is_ascii_digit() || b == b'_') && !value.is_empty() {
            true => value.replace('_', ""),
            false => value.to_string(),
        };
        return Ok((name.to_string(), plain));
    };
    match value[1..].split_once(quote) {
        Some((inside, rest)) if strip_comment(rest).is_empty() => Ok((name.to_string(), inside.to_string())),
        Some((_, rest)) => Err(format!("'{rest}' after the value")),
        None => Err("a value without its closing quote".into()),
    }
}

fn strip_comment(text: &str) -> &str {
    let end = text.find('#').unwrap_or(text.len());
    text[..end].trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Vec<(String, String)> {
        let entries = ConfigFile::parse(text).unwrap().entries.into_iter();
        let setting = |(_, entry)| match entry {
            ConfigEntry::Setting(name, value) => (name, value),
            other => panic!("{other:?}"),
        };
        entries.map(setting).collect()
    }

    fn apply(text: &str) -> Result<Globals, ConfigError> {
        apply_all(text).map(|(globals, _)| globals)
    }

    fn apply_all(text: &str) -> Result<(Globals, Vec<Applied>), ConfigError> {
        let (globals, mut all) = (Globals::new(), Vec::new());
        for (line, entry) in ConfigFile::parse(text)?.entries {
            if let ConfigEntry::Setting(name, value) = entry {
                all.push(apply_setting(&globals, line, &name, &value)?);
            }
        }
        Ok((globals, all))
    }

    fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
        of.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
    }

    #[test]
    fn my_cnf() {
        let text = "[client]\nport=1\n[mysqld]\n# comment\nserver-id = 7\nskip-name-resolve\nsql_mode=\"ANSI,STRICT_ALL_TABLES\" # why\n";
        let expected = [("server-id", "7"), ("skip-name-resolve", "ON"), ("sql_mode", "ANSI,STRICT_ALL_TABLES")];
        assert_eq!(settings(text), pairs(&expected));
    }

    #[test]
    fn toml() {
        let text = "port = 3_307\nbind = \"0.0.0.0\"\nautocommit = true\n";
        assert_eq!(settings(text), pairs(&[("port", "3307"), ("bind", "0.0.0.0"), ("autocommit", "true")]));
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| apply(text).err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(error("\nserver_idd = 1"), "line 2: unknown setting 'server_idd'; did you mean 'server_id'?");
        let many = "line 1: Variable 'port' can't be set to the value of 'many'; values: 0 to 65535";
        assert_eq!(error("port = many"), many);
        assert_eq!(error("socket = \"x"), "line 1: a value without its closing quote");
        assert_eq!(error("[mysqld"), "line 1: a section without ']'");
        assert_eq!(error("!includes x"), "line 1: '!includes' is neither !include nor !includedir");
        assert_eq!(error("!include"), "line 1: !include without a path");
    }

    #[test]
    fn includes() {
        let file = ConfigFile::parse("[client]\n!includedir /etc/conf.d/\nport=1\n!include more.cnf").unwrap();
        let folder = ConfigEntry::IncludeFolder("/etc/conf.d/".into());
        assert_eq!(file.entries, [(2, folder), (4, ConfigEntry::Include("more.cnf".into()))]);
    }

    #[test]
    fn prefixes_of_my_cnf() {
        let globals = apply("skip-autocommit\nloose-no-such=1\nloose-port=5").unwrap();
        assert!(!globals.named("autocommit").as_bool());
        assert_eq!(globals.named("port").as_u64(), 5);
    }

    #[test]
    fn what_other_servers_know_is_no_mistake() {
        let text = "[mariadbd]\nuser = mysql\nmyisam-recover-options = BACKUP\n[mysqld-9.7]\nmysqlx-bind-address = 127.0.0.1\n\
                    log-bin = /var/log/mysql/bin\nmax_connections = 1000000\nback_log = 70\nskip-symbolic-links\ninnodb_log_file_size = x";
        let (globals, applied) = apply_all(text).unwrap();
        let adjusted = Applied::Adjusted("max_connections = 1000000 is out of range: 100000 holds".into());
        let (taken, ignored) = (Applied::Taken, Applied::Ignored);
        let expected = [&taken, &ignored, &ignored, &ignored, &adjusted, &taken, &ignored, &ignored];
        assert_eq!(applied.iter().collect::<Vec<_>>(), expected);
        assert!(globals.named("log_bin").as_bool());
        assert_eq!(globals.named("max_connections").as_u64(), 100_000);
    }

    #[test]
    fn what_is_not_there_and_relied_on_is_an_error() {
        for setting in ["slow_query_log", "general_log = 1", "binlog-format = statement", "loose_slow_query_log = ON"] {
            assert!(matches!(apply(setting), Err(ConfigError::Value { .. })), "{setting}");
        }
        apply("slow_query_log = 0\nskip-general-log\nbinlog_format = MIXED").unwrap();
    }
}
