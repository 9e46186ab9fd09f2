//! The manual's page of settings, made from the table.

use std::fmt::Write;

use super::config::SECTIONS;
use super::{Kind, Scope, Setting, all};

/// The page, as Markdown. A test holds that `docs/SETTINGS.md` is what this gives.
pub fn manual() -> String {
    let mut page = String::from(
        "# Settings\n\nMade from the table in `crates/sql/src/settings`; do not edit.\n\n\
         A setting is given in the configuration file (TOML, or a my.cnf), as `--set NAME=VALUE`, or with \
         `SET GLOBAL` and `SET SESSION` where the table says that it can be changed.\n\n",
    );
    let sections: Vec<String> = SECTIONS.iter().map(|section| format!("`[{section}]`")).collect();
    let _ = writeln!(
        page,
        "Of a my.cnf these sections are read, and what stands before the first: {}. Others are left out, those of other \
         versions too (`[mysqld-5.7]`, `[mariadb-10.5]`). `!include` and `!includedir` are followed wherever they stand. Names are as the \
         option parsers of MySQL and MariaDB take them: `-` for `_`, `skip-`, `disable-`, `enable-`, `loose-` before them, numbers with \
         K, M, G, T, P, E behind them, `default-time-zone` for time_zone. Later ones win, but the rules `replicate_…_db` and \
         `replicate_…_table` add up. All errors are reported at once. What is computed by the server or belongs to one session is no \
         option.\n\n## Settings that do something",
        sections.join(", ")
    );
    all().iter().filter(|setting| setting.effective).for_each(|setting| section(&mut page, setting));
    page.push_str(
        "\n## Settings that are only understood\n\nClients ask for them, or files written for other servers name them. They \
         can be read, and set where that is harmless, which changes nothing, and is warning 1235 where the value is another one.\n\n\
         Given in a configuration file or with `--set`, one that would only tune another server is named once in the log, and \
         keeps the value that is in force. One that would change what is kept, protected or executed has its values below, and any other is \
         an error.\n\n| name | default | values | |\n|---|---|---|---|\n",
    );
    for setting in all().iter().filter(|setting| !setting.effective) {
        let only: Vec<String> = setting.only.iter().map(|value| code(value)).collect();
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} |",
            setting.name,
            code(setting.default),
            only.join(", "),
            setting.doc
        );
    }
    page
}

fn section(page: &mut String, setting: &Setting) {
    let _ = writeln!(page, "\n### {}\n\n{}\n", setting.name, setting.doc);
    if !setting.aliases.is_empty() {
        let names: Vec<String> = setting.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        let _ = writeln!(page, "- also: {}", names.join(", "));
    }
    let _ = writeln!(page, "- values: {}", values_of(setting));
    let _ = writeln!(page, "- default: {}", code(setting.default));
    let scope = match setting.scope {
        Scope::Global => "the server",
        Scope::Both => "the server, and each session",
        Scope::Session => "each session",
    };
    let _ = writeln!(page, "- of: {scope}; {}", if setting.dynamic { "can be changed with SET" } else { "fixed" });
}

/// The values that a setting takes, in words.
pub fn values_of(setting: &Setting) -> String {
    match setting.only {
        [] => values(setting.kind),
        only => only.join(", "),
    }
}

fn values(kind: Kind) -> String {
    match kind {
        Kind::Bool => "ON, OFF".into(),
        Kind::Int { min, max } => format!("{min} to {max}"),
        Kind::UInt { min, max, block: 1 } => format!("{min} to {max}"),
        Kind::UInt { min, max, block } => format!("{min} to {max}, multiples of {block}"),
        Kind::Double { min, max } => format!("{min} to {max}"),
        Kind::Text => "text".into(),
        Kind::Enum(words) => words.join(", "),
        Kind::Set(words) => {
            let words: Vec<&str> = words.iter().filter(|word| !word.starts_with("NOT_USED")).copied().collect();
            format!("any of {}", words.join(", "))
        }
        Kind::CharacterSet => "a character set".into(),
        Kind::Collation => "a collation".into(),
        Kind::Locale => "a locale's name, such as de_DE, or its number".into(),
        Kind::TimeZone => "SYSTEM, an offset such as +02:00, or a time zone's name".into(),
    }
}

fn code(text: &str) -> String {
    if text.is_empty() { "empty".into() } else { format!("`{text}`") }
}

#[cfg(test)]
mod tests {
    /// `UPDATE_GOLDEN=1 cargo test -p sql settings` writes it anew.
    #[test]
    fn the_page_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/SETTINGS.md");
        let page = super::manual();
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(path, &page).unwrap();
        }
        let stored = std::fs::read_to_string(path).unwrap_or_default();
        assert!(stored == page, "docs/SETTINGS.md is stale; run with UPDATE_GOLDEN=1");
    }
}
