//! Configuration files: TOML, or the `[mysqld]` section of a my.cnf.
//!
//! Both give pairs of name and value; what a name means and whether a value is valid is the table's matter. Reading the file,
//! and those that it includes, is the caller's.

/// Sections of a my.cnf that are for a server.
pub(super) const SECTIONS: [&str; 13] = [
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
    /// With the number of the line, from 1; or what is wrong in that line, in words.
    pub entries: Vec<(usize, Result<ConfigEntry, String>)>,
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
    /// stands before the first section is ours. A line that is wrong does not hide those behind it.
    pub fn parse(text: &str) -> Self {
        let mut file = ConfigFile::default();
        let mut ours = true;
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            let entry = match (line.strip_prefix('['), line.strip_prefix('!')) {
                (Some(section), _) => match strip_comment(section).strip_suffix(']') {
                    Some(section) => {
                        ours = SECTIONS.contains(&section.trim());
                        continue;
                    }
                    None => Err("a section without ']'".into()),
                },
                // Whatever section they stand in: the file that is included has its own.
                (_, Some(directive)) => include_of(directive),
                _ if ours => setting_of(line).map(|(name, value)| ConfigEntry::Setting(name, value)),
                _ => continue,
            };
            file.entries.push((number + 1, entry));
        }
        file
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
        let entries = ConfigFile::parse(text).entries.into_iter();
        let setting = |(_, entry)| match entry {
            Ok(ConfigEntry::Setting(name, value)) => (name, value),
            other => panic!("{other:?}"),
        };
        entries.map(setting).collect()
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
    fn sections_of_others() {
        let text = "[mysqld-5.7]\na=1\n[mysqld-8.4]\nb=2\n[mariadb-10.5]\nc=3\n[server] # all\nd=4\n[mysqldump]\ne\n[mariadb]\nf=5";
        assert_eq!(settings(text), pairs(&[("b", "2"), ("d", "4"), ("f", "5")]));
    }

    #[test]
    fn toml() {
        let text = "port = 3_307\nbind = \"0.0.0.0\"\nautocommit = true\n";
        assert_eq!(settings(text), pairs(&[("port", "3307"), ("bind", "0.0.0.0"), ("autocommit", "true")]));
    }

    #[test]
    fn all_that_is_wrong_is_told_by_its_line() {
        let text = "= 5\nsocket = \"x\n[mysqld\nport=1\n!includes x\n!include\nuser = 'a' b\n";
        let entries = ConfigFile::parse(text).entries;
        let wrong: Vec<_> = entries.into_iter().filter_map(|(line, entry)| Some((line, entry.err()?))).collect();
        let expected = [
            (1, "a value without a name"),
            (2, "a value without its closing quote"),
            (3, "a section without ']'"),
            (5, "'!includes' is neither !include nor !includedir"),
            (6, "!include without a path"),
            (7, "' b' after the value"),
        ];
        assert_eq!(wrong, expected.map(|(line, what)| (line, what.to_owned())));
    }

    #[test]
    fn includes() {
        let file = ConfigFile::parse("[client]\n!includedir /etc/conf.d/\nport=1\n!include more.cnf");
        let folder = ConfigEntry::IncludeFolder("/etc/conf.d/".into());
        assert_eq!(file.entries, [(2, Ok(folder)), (4, Ok(ConfigEntry::Include("more.cnf".into())))]);
    }
}
