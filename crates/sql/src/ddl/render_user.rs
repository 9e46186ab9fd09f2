//! CREATE USER and ALTER USER as text: as the log has them, and SHOW CREATE USER.
//!
//! In the log, what MariaDB does not know is in comments that MySQL executes.

use std::fmt::Write;

use super::render::{quote_string, user};
use super::role;
use crate::account::{Account, Requirement, ReusePolicy, UNBOUNDED};
use crate::expr::SqlMode;
use crate::parse::ast::{AuthSecret, Expire, KeepPassword, OrDefault, UserAttribute, UserName, UserOptions, UserSpec};

/// Who is to read a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    /// Both kinds of servers: what MariaDB does not know is in comments.
    Both,
    /// A MySQL, perhaps in a comment itself.
    Mysql,
    /// A MariaDB, in a comment.
    Maria,
}

/// CREATE USER and ALTER USER for the log.
pub(super) struct UserText<'a> {
    /// CREATE USER, ALTER USER.
    pub(super) verb: &'a str,
    pub(super) users: &'a [UserSpec],
    /// IF NOT EXISTS, IF EXISTS.
    pub(super) conditional: bool,
    /// DEFAULT ROLE.
    pub(super) roles: &'a [UserName],
    pub(super) options: &'a UserOptions,
    /// What the server's settings say of old passwords, for accounts that say nothing themselves.
    pub(super) reuse_policy: ReusePolicy,
    pub(super) sql_mode: SqlMode,
    /// Which of the accounts are roles.
    pub(super) are_roles: &'a [UserName],
}

impl UserText<'_> {
    /// The statement: with hashes, never with passwords.
    pub(super) fn render(&self) -> String {
        let is_role = |spec: &&UserSpec| spec.name.as_ref().is_some_and(|name| self.are_roles.contains(name));
        let mut text = self.statement(self.users.iter(), For::Both);
        if self.users.iter().any(|spec| is_role(&spec)) {
            // MariaDB changes none of its roles so.
            let whole = self.statement(self.users.iter(), For::Mysql);
            text = if whole.contains("*/") { whole } else { format!("/*!80021 {whole} */") };
            let others = self.statement(self.users.iter().filter(|spec| !is_role(spec)), For::Maria);
            if self.users.iter().any(|spec| !is_role(&spec)) && text.starts_with("/*") && !others.contains("*/") {
                text += &format!(" /*M!100402 {others} */");
            }
        }
        if !self.reuse_policy.is_none() && self.users.iter().any(has_secret) {
            let ReusePolicy { history, days } = self.reuse_policy;
            let _ = write!(text, " /* {HISTORY}{history} {REUSE}{days} */");
        }
        text
    }

    fn statement<'u>(&self, users: impl Iterator<Item = &'u UserSpec>, reader: For) -> String {
        let condition = match (self.conditional, self.verb) {
            (false, _) => "",
            (true, "CREATE USER") => " IF NOT EXISTS",
            (true, _) => " IF EXISTS",
        };
        let users: Vec<String> = users.filter_map(|spec| self.user(spec, reader)).collect();
        let mut text = format!("{}{condition} {}", self.verb, users.join(","));
        if !self.roles.is_empty() {
            text.push_str(&for_mysql(reader, "50700", &format!("DEFAULT ROLE {}", role::list(self.roles))));
        }
        self.for_both(&mut text);
        text.push_str(&for_mysql(reader, "80021", self.for_mysql().trim_start()));
        text
    }

    fn user(&self, spec: &UserSpec, reader: For) -> Option<String> {
        let mut text = spec.name.as_ref()?.to_string();
        if let Some(auth) = &spec.auth {
            let plugin = auth.plugin.as_deref().map(|plugin| self.quoted(plugin));
            match (&auth.secret, plugin) {
                (AuthSecret::Hash(hash), Some(plugin)) => {
                    let _ = write!(text, " IDENTIFIED WITH {plugin} AS {}", self.quoted(hash));
                }
                (AuthSecret::Hash(hash), None) => _ = write!(text, " IDENTIFIED AS {}", self.quoted(hash)),
                (_, Some(plugin)) => _ = write!(text, " IDENTIFIED WITH {plugin}"),
                // An empty password: BY '' gives nothing away.
                (_, None) => text.push_str(" IDENTIFIED BY ''"),
            }
        }
        let keep = match spec.keep {
            KeepPassword::No => return Some(text),
            KeepPassword::Retain => "RETAIN CURRENT PASSWORD",
            KeepPassword::Discard => "DISCARD OLD PASSWORD",
        };
        text.push_str(&for_mysql(reader, "80014", keep));
        Some(text)
    }

    /// REQUIRE, WITH, PASSWORD EXPIRE, ACCOUNT.
    fn for_both(&self, text: &mut String) {
        let options = self.options;
        if let Some(requires) = &options.requires {
            text.push_str(&requirement(requires, |text| self.quoted(text)));
        }
        let limits = [options.queries, options.updates, options.connections, options.at_once];
        let limits = limits.iter().zip(LIMITS).filter_map(|(limit, name)| limit.map(|limit| (name, limit)));
        text.push_str(&with(limits));
        match options.expire {
            None => {}
            Some(Expire::Now) => text.push_str(" PASSWORD EXPIRE"),
            Some(Expire::Never) => text.push_str(" PASSWORD EXPIRE NEVER"),
            Some(Expire::Default) => text.push_str(" PASSWORD EXPIRE DEFAULT"),
            Some(Expire::Days(days)) => _ = write!(text, " PASSWORD EXPIRE INTERVAL {days} DAY"),
        }
        match options.locked {
            None => {}
            Some(true) => text.push_str(" ACCOUNT LOCK"),
            Some(false) => text.push_str(" ACCOUNT UNLOCK"),
        }
    }

    /// What a MariaDB does not know.
    fn for_mysql(&self) -> String {
        let (options, mut text) = (self.options, String::new());
        if let Some(history) = options.history {
            let _ = write!(text, " PASSWORD HISTORY {}", or_default(history.own(), ""));
        }
        if let Some(days) = options.reuse_days {
            let _ = write!(text, " PASSWORD REUSE INTERVAL {}", or_default(days.own(), " DAY"));
        }
        match options.require_current {
            None => {}
            Some(OrDefault::Default) => text.push_str(" PASSWORD REQUIRE CURRENT DEFAULT"),
            Some(OrDefault::Value(true)) => text.push_str(" PASSWORD REQUIRE CURRENT"),
            Some(OrDefault::Value(false)) => text.push_str(" PASSWORD REQUIRE CURRENT OPTIONAL"),
        }
        if let Some(attempts) = options.attempts {
            let _ = write!(text, " FAILED_LOGIN_ATTEMPTS {attempts}");
        }
        if let Some(days) = options.lock_days {
            text.push_str(&lock_time(days));
        }
        match &options.attribute {
            None => {}
            Some(UserAttribute::Comment(comment)) => _ = write!(text, " COMMENT {}", self.quoted(comment)),
            Some(UserAttribute::Attribute(json)) => _ = write!(text, " ATTRIBUTE {}", self.quoted(json)),
        }
        text
    }

    /// A literal, as the statement's mode reads it; without the end of a comment in it, if that can be.
    fn quoted(&self, text: &str) -> String {
        match self.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES) {
            true => format!("'{}'", text.replace('\'', "''")),
            false => quote_string(text).replace("*/", "*\\/"),
        }
    }
}

/// What a MariaDB does not know, with the space in front of it.
fn for_mysql(reader: For, version: &str, text: &str) -> String {
    match reader {
        _ if text.is_empty() => String::new(),
        For::Maria => String::new(),
        // A comment would end in it.
        For::Both if !text.contains("*/") => format!(" /*!{version} {text} */"),
        For::Both | For::Mysql => format!(" {text}"),
    }
}

fn has_secret(spec: &UserSpec) -> bool {
    spec.auth.as_ref().is_some_and(|auth| matches!(auth.secret, AuthSecret::Hash(_)))
}

const HISTORY: &str = "password_history=";
const REUSE: &str = "password_reuse_interval=";

/// What the settings were where a statement of a log was made, as [`UserText::render`] has written it behind it.
pub(super) fn reuse_policy(text: &str) -> ReusePolicy {
    let read = || {
        let comment = text.strip_suffix(" */")?;
        let (history, days) = comment[comment.rfind("/* ")? + 3..].strip_prefix(HISTORY)?.split_once(' ')?;
        Some(ReusePolicy { history: history.parse().ok()?, days: days.strip_prefix(REUSE)?.parse().ok()? })
    };
    read().unwrap_or_default()
}

/// SHOW CREATE USER.
pub(crate) fn create_user(account: &Account) -> String {
    let mut text = format!("CREATE USER {} IDENTIFIED WITH {}", user(account), quote_string(&account.plugin));
    if !account.authentication.is_empty() {
        let _ = write!(text, " AS {}", escaped(&account.authentication, true));
    }
    let roles: Vec<String> = account.default_roles.iter().map(|role| role.account().quoted()).collect();
    if !roles.is_empty() {
        let _ = write!(text, " DEFAULT ROLE {}", roles.join(","));
    }
    text.push_str(&requirement(&account.requires, |text| escaped(text, true)));
    let limits = [account.limits.queries, account.limits.updates, account.limits.connections, account.limits.at_once];
    text.push_str(&with(LIMITS.into_iter().zip(limits).filter(|(_, limit)| *limit > 0)));
    let rules = &account.password;
    text.push_str(&match rules.lifetime {
        _ if account.is_made_to_expire() => " PASSWORD EXPIRE".to_owned(),
        None => " PASSWORD EXPIRE DEFAULT".to_owned(),
        Some(0) => " PASSWORD EXPIRE NEVER".to_owned(),
        Some(days) => format!(" PASSWORD EXPIRE INTERVAL {days} DAY"),
    });
    let _ = write!(
        text,
        " ACCOUNT {} PASSWORD HISTORY {} PASSWORD REUSE INTERVAL {} PASSWORD REQUIRE CURRENT{}",
        if account.locked { "LOCK" } else { "UNLOCK" },
        or_default(rules.history, ""),
        or_default(rules.reuse_days, " DAY"),
        match rules.require_current {
            None => " DEFAULT",
            Some(true) => "",
            Some(false) => " OPTIONAL",
        }
    );
    if rules.attempts > 0 {
        let _ = write!(text, " FAILED_LOGIN_ATTEMPTS {}", rules.attempts);
    }
    if rules.lock_days != 0 {
        text.push_str(&lock_time(rules.lock_days));
    }
    if let Some(attribute) = &account.attribute {
        let _ = write!(text, " ATTRIBUTE {}", escaped(attribute, false));
    }
    text
}

const LIMITS: [&str; 4] =
    ["MAX_QUERIES_PER_HOUR", "MAX_UPDATES_PER_HOUR", "MAX_CONNECTIONS_PER_HOUR", "MAX_USER_CONNECTIONS"];

fn with(limits: impl Iterator<Item = (&'static str, u32)>) -> String {
    let limits: String = limits.map(|(name, limit)| format!(" {name} {limit}")).collect();
    if limits.is_empty() { limits } else { format!(" WITH{limits}") }
}

fn requirement(requires: &Requirement, quoted: impl Fn(&str) -> String) -> String {
    let mut text = " REQUIRE".to_owned();
    match requires {
        Requirement::None => text.push_str(" NONE"),
        Requirement::Ssl => text.push_str(" SSL"),
        Requirement::X509 => text.push_str(" X509"),
        Requirement::Specified { cipher, issuer, subject } => {
            for (name, value) in [("SUBJECT", subject), ("ISSUER", issuer), ("CIPHER", cipher)] {
                if let Some(value) = value {
                    let _ = write!(text, " {name} {}", quoted(value));
                }
            }
        }
    }
    text
}

fn or_default(number: Option<u16>, unit: &str) -> String {
    number.map_or_else(|| "DEFAULT".to_owned(), |number| format!("{number}{unit}"))
}

fn lock_time(days: i16) -> String {
    match days {
        UNBOUNDED => " PASSWORD_LOCK_TIME UNBOUNDED".to_owned(),
        days => format!(" PASSWORD_LOCK_TIME {days}"),
    }
}

/// A literal as MySQL prints it of accounts, with double quotes escaped or not.
fn escaped(text: &str, double_quotes: bool) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    for c in text.chars() {
        match c {
            '\'' => quoted.push_str("\\'"),
            '"' if double_quotes => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\0' => quoted.push_str("\\0"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\x1a' => quoted.push_str("\\Z"),
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_behind_a_statement() {
        let policy = ReusePolicy { history: 3, days: 70_000 };
        let text =
            "ALTER USER 'u'@'%' IDENTIFIED WITH 'p' AS 'h' /* password_history=3 password_reuse_interval=70000 */";
        assert_eq!(reuse_policy(text), policy);
        for other in
            ["ALTER USER 'u'@'%'", "ALTER USER u /* password_history=3 */", "", "x */", "/* password_history=a b */"]
        {
            assert_eq!(reuse_policy(other), ReusePolicy::default(), "{other}");
        }
    }
}
