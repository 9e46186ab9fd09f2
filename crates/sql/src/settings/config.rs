//! Configuration files: TOML, or the `[mysqld]` section of a my.cnf.
//!
//! Both give pairs of name and value; what a name means and whether a value is valid is the table's matter. Reading the file
//! is the caller's.

use super::{Globals, find, nearest};

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

/// The settings of a file, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigFile {
    /// Line, name, value.
    pub settings: Vec<(usize, String, String)>,
}

impl ConfigFile {
    /// Reads the text of a file. Sections other than `[mysqld]`, `[server]`, `[commuter]` and `[mariadb]` are somebody else's; what stands
    /// before the first section is ours.
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
                ours = matches!(section.trim(), "mysqld" | "server" | "commuter" | "mariadb");
                continue;
            }
            if line.starts_with('!') {
                return Err(ConfigError::Syntax { line: number, what: format!("'{line}' is not supported") });
            }
            if ours {
                let (name, value) = setting_of(line).map_err(|what| ConfigError::Syntax { line: number, what })?;
                file.settings.push((number, name, value));
            }
        }
        Ok(file)
    }

    /// Puts the settings into `globals`, each checked.
    pub fn apply(&self, globals: &Globals) -> Result<(), ConfigError> {
        for (line, name, value) in &self.settings {
            let unknown = || ConfigError::Unknown { line: *line, name: name.clone(), nearest: nearest(name) };
            let known = match find(name) {
                Some(_) => Some((name.as_str(), value.as_str())),
                None => prefixed(name, value).ok_or_else(unknown)?,
            };
            let Some((name, value)) = known else { continue };
            globals
                .configure(name, value)
                .map_err(|error| ConfigError::Value { line: *line, message: error.message })?;
        }
        Ok(())
    }
}

/// my.cnf's prefixes: `skip-name` is `name=OFF`, `loose-name` of an unknown name is nothing (`Some(None)`).
fn prefixed<'a>(name: &'a str, value: &'a str) -> Option<Option<(&'a str, &'a str)>> {
    let without = |prefix: &str| {
        let start = name.get(..prefix.len()).filter(|start| start.eq_ignore_ascii_case(prefix))?;
        Some(&name[start.len()..])
    };
    for prefix in ["skip-", "skip_", "disable-", "disable_"] {
        if let Some(rest) = without(prefix).filter(|rest| find(rest).is_some()) {
            return Some(Some((rest, "OFF")));
        }
    }
    let rest = ["loose-", "loose_"].into_iter().find_map(without)?;
    Some(find(rest).map(|_| (rest, value)))
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
        let file = ConfigFile::parse(text).unwrap();
        file.settings.into_iter().map(|(_, name, value)| (name, value)).collect()
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
        let apply =
            |text: &str| ConfigFile::parse(text).and_then(|file| file.apply(&Globals::new())).unwrap_err().to_string();
        assert_eq!(apply("\nserver_idd = 1"), "line 2: unknown setting 'server_idd'; did you mean 'server_id'?");
        assert_eq!(apply("port = many"), "line 1: Variable 'port' can't be set to the value of 'many'");
        assert_eq!(apply("socket = \"x"), "line 1: a value without its closing quote");
        assert_eq!(apply("[mysqld"), "line 1: a section without ']'");
    }

    #[test]
    fn prefixes_of_my_cnf() {
        let globals = Globals::new();
        let file = ConfigFile::parse("skip-autocommit\nloose-no-such=1\nloose-port=5").unwrap();
        file.apply(&globals).unwrap();
        assert!(!globals.named("autocommit").as_bool());
        assert_eq!(globals.named("port").as_u64(), 5);
    }
}
