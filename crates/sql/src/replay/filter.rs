//! Which databases and tables of a source are executed here: `replicate_do_db` and its kin, by MySQL's rules (Reference Manual, "How Servers
//! Evaluate Replication Filtering Rules").
//!
//! ```text
//! replicate_rewrite_db     the source's database has another name here; what follows sees that name
//! a database               of a row its table's, of a statement the default one
//!   do_db if there are any: one of them, else nothing;  else not one of ignore_db
//! then each table          the first that matches decides: do_table, ignore_table, wild_do_table, wild_ignore_table
//!   none does              left out if there is any of the first or third
//! ```
//!
//! A channel may have rules of its own ([`ChannelRules`]): each takes the place of the setting of its name.
//!
//! # Invariants
//! - What is left out counts as executed: its transaction keeps its GTID, or the source's position, and does nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::SqlError;
use types::CollationId;

use crate::expr::pattern::like;
use crate::parse::ast::{Ddl, Statement, TableName};
use crate::settings::{FilterChange, Globals, SettingId, SettingValue};

/// The rules that one channel has instead of those of all, by the names of the settings (`replicate_do_db`). An empty one is a rule too: the
/// channel has none of that kind.
pub type ChannelRules = BTreeMap<String, String>;

/// What a setting of this family is for a channel.
pub fn channel_rule(globals: &Globals, own: &ChannelRules, rule: SettingId) -> String {
    own.get(rule.name()).cloned().unwrap_or_else(|| globals.get(rule).as_str().to_owned())
}

/// A table, or a pattern of tables, with its database.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Qualified {
    schema: String,
    table: String,
}

/// The settings of this family, in MySQL's order.
pub const FILTER_RULES: [SettingId; 7] = [
    SettingId::replicate_do_db,
    SettingId::replicate_ignore_db,
    SettingId::replicate_do_table,
    SettingId::replicate_ignore_table,
    SettingId::replicate_wild_do_table,
    SettingId::replicate_wild_ignore_table,
    SettingId::replicate_rewrite_db,
];

impl FilterChange {
    /// What the rule becomes, whichever it is.
    pub fn text(&self) -> &str {
        match self {
            FilterChange::replicate_do_db(text)
            | FilterChange::replicate_ignore_db(text)
            | FilterChange::replicate_do_table(text)
            | FilterChange::replicate_ignore_table(text)
            | FilterChange::replicate_wild_do_table(text)
            | FilterChange::replicate_wild_ignore_table(text)
            | FilterChange::replicate_rewrite_db(text) => text,
        }
    }
}

/// Places in [`FILTER_RULES`].
#[derive(Clone, Copy)]
enum Rule {
    DoDb,
    IgnoreDb,
    DoTable,
    IgnoreTable,
    WildDoTable,
    WildIgnoreTable,
    RewriteDb,
}

/// How often the rules of each kind have matched, in the order of [`FILTER_RULES`]. MySQL counts less: whoever looks ahead at what a transaction
/// touches asks the rules too.
#[derive(Debug, Default)]
pub struct RuleUses([AtomicU64; FILTER_RULES.len()]);

impl RuleUses {
    /// How often the rule at a place of [`FILTER_RULES`] has matched.
    pub fn count(&self, rule: usize) -> u64 {
        self.0[rule].load(Ordering::Relaxed)
    }

    /// It is another rule from here on.
    pub fn begin_anew(&self, rule: usize) {
        self.0[rule].store(0, Ordering::Relaxed);
    }

    /// Counts it if it matches.
    fn matches(&self, rule: Rule, is_match: bool) -> bool {
        if is_match {
            self.0[rule as usize].fetch_add(1, Ordering::Relaxed);
        }
        is_match
    }
}

/// The rules of `replicate_…`, from settings.
#[derive(Clone, Debug, Default)]
pub struct ReplicationFilter {
    do_db: Vec<String>,
    ignore_db: Vec<String>,
    do_table: Vec<Qualified>,
    ignore_table: Vec<Qualified>,
    wild_do_table: Vec<Qualified>,
    wild_ignore_table: Vec<Qualified>,
    /// From the source's name to ours.
    rewrite_db: Vec<(String, String)>,
    uses: Arc<RuleUses>,
}

impl ReplicationFilter {
    /// By the settings as they are, and what a channel has instead of some.
    ///
    /// # Errors
    /// 1231 for a value that is no list of what it is to be.
    pub fn of(globals: &Globals, own: &ChannelRules) -> Result<Self, SqlError> {
        let text = |rule: SettingId| channel_rule(globals, own, rule);
        let tables = |rule: SettingId| parse_tables(rule, &text(rule));
        Ok(ReplicationFilter {
            do_db: items(&text(SettingId::replicate_do_db)),
            ignore_db: items(&text(SettingId::replicate_ignore_db)),
            do_table: tables(SettingId::replicate_do_table)?,
            ignore_table: tables(SettingId::replicate_ignore_table)?,
            wild_do_table: tables(SettingId::replicate_wild_do_table)?,
            wild_ignore_table: tables(SettingId::replicate_wild_ignore_table)?,
            rewrite_db: parse_rewrites(SettingId::replicate_rewrite_db, &text(SettingId::replicate_rewrite_db))?,
            uses: Arc::default(),
        })
    }

    /// What matches is counted there.
    #[must_use]
    pub fn counted_by(self, uses: Arc<RuleUses>) -> Self {
        ReplicationFilter { uses, ..self }
    }

    /// Whether a setting is one of this family.
    pub fn is_rule(id: SettingId) -> bool {
        FILTER_RULES.contains(&id)
    }

    /// The value of such a setting as MySQL's tables show it.
    pub fn shown(rule: SettingId, value: &str) -> String {
        match parse_rewrites(rule, value) {
            Ok(pairs) if rule == SettingId::replicate_rewrite_db => {
                pairs.iter().map(|(from, to)| format!("({from},{to})")).collect::<Vec<_>>().join(",")
            }
            _ => items(value).join(","),
        }
    }

    /// Whether a value is one that a setting of this family can have.
    ///
    /// # Errors
    /// 1231 if not.
    pub fn check(rule: SettingId, value: &str) -> Result<(), SqlError> {
        match rule {
            SettingId::replicate_do_db | SettingId::replicate_ignore_db => Ok(()),
            SettingId::replicate_rewrite_db => parse_rewrites(rule, value).map(drop),
            _ => parse_tables(rule, value).map(drop),
        }
    }

    /// Whether everything is executed under its own name.
    pub fn is_empty(&self) -> bool {
        let tables = [&self.do_table, &self.ignore_table, &self.wild_do_table, &self.wild_ignore_table];
        let databases = [&self.do_db, &self.ignore_db];
        tables.iter().all(|rules| rules.is_empty())
            && databases.iter().all(|rules| rules.is_empty())
            && self.rewrite_db.is_empty()
    }

    /// What a database of the source is called here.
    pub fn rewritten<'a>(&'a self, schema: &'a str) -> &'a str {
        let found = self.rewrite_db.iter().find(|(from, _)| from == schema);
        self.uses.matches(Rule::RewriteDb, found.is_some());
        found.map_or(schema, |(_, to)| to)
    }

    /// Whether rows of a table, by its name here, are executed.
    pub fn wants_rows(&self, schema: &str, table: &str) -> bool {
        self.wants_database(schema) && self.wants_tables(&[(schema, table)])
    }

    pub(crate) fn wants_database(&self, schema: &str) -> bool {
        match self.do_db.is_empty() {
            false => self.uses.matches(Rule::DoDb, self.do_db.iter().any(|wanted| wanted == schema)),
            true => !self.uses.matches(Rule::IgnoreDb, self.ignore_db.iter().any(|unwanted| unwanted == schema)),
        }
    }

    fn wants_tables(&self, tables: &[(&str, &str)]) -> bool {
        for (schema, table) in tables {
            let is = |rules: &[Qualified]| rules.iter().any(|rule| rule.schema == *schema && rule.table == *table);
            let is_like = |rules: &[Qualified]| rules.iter().any(|rule| rule.matches(schema, table));
            if self.uses.matches(Rule::DoTable, is(&self.do_table)) {
                return true;
            }
            if self.uses.matches(Rule::IgnoreTable, is(&self.ignore_table)) {
                return false;
            }
            if self.uses.matches(Rule::WildDoTable, is_like(&self.wild_do_table)) {
                return true;
            }
            if self.uses.matches(Rule::WildIgnoreTable, is_like(&self.wild_ignore_table)) {
                return false;
            }
        }
        self.do_table.is_empty() && self.wild_do_table.is_empty()
    }

    /// Whether a statement is executed; `default` is the database that it ran in, by its name here.
    pub(crate) fn wants_statement(&self, default: Option<&str>, statement: &Statement) -> bool {
        // Databases themselves: by their own name, and by patterns for all of their tables.
        if let Statement::Ddl(
            Ddl::CreateDatabase { name, .. }
            | Ddl::DropDatabase { name, .. }
            | Ddl::AlterDatabase { name: Some(name), .. },
        ) = statement
        {
            return self.wants_database(name) && self.wants_whole_database(name);
        }
        // What was left out of it or not, a distributed transaction has an end.
        if let Statement::Xa(_) = statement {
            return true;
        }
        // A session without one is in none of those that are wanted.
        if !self.wants_database(default.unwrap_or("")) {
            return false;
        }
        let written = tables_written(statement);
        let tables: Vec<(&str, &str)> = written
            .iter()
            .filter_map(|table| Some((table.schema.as_deref().or(default)?, table.name.as_str())))
            .collect();
        tables.is_empty() || self.wants_tables(&tables)
    }

    /// By patterns of which the table is `%`: those are of the database too.
    fn wants_whole_database(&self, schema: &str) -> bool {
        let whole = |rules: &[Qualified]| rules.iter().any(|rule| rule.table == "%" && rule.matches(schema, ""));
        if self.uses.matches(Rule::WildDoTable, whole(&self.wild_do_table)) {
            return true;
        }
        if self.uses.matches(Rule::WildIgnoreTable, whole(&self.wild_ignore_table)) {
            return false;
        }
        !self.wild_do_table.iter().any(|rule| rule.table == "%")
    }
}

impl Qualified {
    fn matches(&self, schema: &str, table: &str) -> bool {
        let like =
            |text: &str, pattern: &str| like(text.as_bytes(), pattern.as_bytes(), Some('\\'), CollationId::BINARY);
        like(schema, &self.schema) && like(table, &self.table)
    }
}

/// Parts between commas.
fn items(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

fn parse_tables(rule: SettingId, text: &str) -> Result<Vec<Qualified>, SqlError> {
    let table = |item: String| match item.split_once('.') {
        Some((schema, table)) if !schema.is_empty() && !table.is_empty() => {
            Ok(Qualified { schema: schema.to_owned(), table: table.to_owned() })
        }
        _ => Err(wrong_value(rule, text)),
    };
    items(text).into_iter().map(table).collect()
}

fn parse_rewrites(rule: SettingId, text: &str) -> Result<Vec<(String, String)>, SqlError> {
    let rewrite = |item: String| match item.split_once("->") {
        Some((from, to)) if !from.trim().is_empty() && !to.trim().is_empty() => {
            Ok((from.trim().to_owned(), to.trim().to_owned()))
        }
        _ => Err(wrong_value(rule, text)),
    };
    items(text).into_iter().map(rewrite).collect()
}

fn wrong_value(rule: SettingId, text: &str) -> SqlError {
    rule.setting().wrong_value(&SettingValue::text(text))
}

/// Where accounts and privileges are in MySQL and MariaDB: statements about them change these tables there.
const ACCOUNT_TABLES: [&str; 5] = ["user", "db", "tables_priv", "columns_priv", "procs_priv"];

/// The tables that a statement changes.
fn tables_written(statement: &Statement) -> Vec<TableName> {
    match statement {
        Statement::Insert(insert) => vec![crate::bind::written::table(&insert.table)],
        Statement::Update(update) => crate::bind::written::update(update),
        Statement::Delete(delete) => crate::bind::written::delete(delete),
        Statement::Load(load) => vec![load.table.clone()],
        Statement::CreateTableSelect(create, _) => vec![create.name.clone()],
        Statement::Ddl(Ddl::CreateTable(create)) => vec![create.name.clone()],
        Statement::Ddl(Ddl::DropTables { tables, .. }) => tables.clone(),
        Statement::Ddl(Ddl::AlterTable(alter)) => vec![alter.table.clone()],
        Statement::Ddl(Ddl::Truncate(table)) => vec![table.clone()],
        Statement::Ddl(Ddl::RenameTables { pairs, .. }) => {
            pairs.iter().flat_map(|(from, to)| [from.clone(), to.clone()]).collect()
        }
        Statement::Ddl(
            Ddl::CreateUser { .. }
            | Ddl::AlterUser { .. }
            | Ddl::DropUser { .. }
            | Ddl::RenameUser(_)
            | Ddl::Grant(_)
            | Ddl::Revoke(_)
            | Ddl::CreateRole { .. }
            | Ddl::DropRole { .. }
            | Ddl::GrantRoles(_)
            | Ddl::RevokeRoles(_)
            | Ddl::DefaultRoles { .. },
        ) => ACCOUNT_TABLES.map(|name| TableName { schema: Some("mysql".to_owned()), name: name.to_owned() }).to_vec(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{ParseContext, parse_one};

    fn filter(rules: &[(SettingId, &str)]) -> ReplicationFilter {
        let globals = Globals::default();
        rules.iter().for_each(|(rule, value)| globals.configure(*rule, value).unwrap());
        ReplicationFilter::of(&globals, &ChannelRules::new()).unwrap()
    }

    fn wants(filter: &ReplicationFilter, default: &str, statement: &str) -> bool {
        let parsed = parse_one(statement, &ParseContext::default()).unwrap();
        filter.wants_statement(Some(default).filter(|name| !name.is_empty()), &parsed.statement)
    }

    #[test]
    fn databases() {
        let only = filter(&[(SettingId::replicate_do_db, "a, b")]);
        assert!(only.wants_rows("a", "t") && !only.wants_rows("c", "t"));
        assert!(wants(&only, "a", "INSERT INTO c.t VALUES (1)"), "a statement goes by the default database");
        assert!(!wants(&only, "c", "INSERT INTO a.t VALUES (1)"));
        assert!(wants(&only, "c", "CREATE DATABASE a") && !wants(&only, "a", "DROP DATABASE c"));
        assert!(!wants(&only, "", "CREATE TABLE a.t (id INT)") && !wants(&only, "", "CREATE USER u"));
        assert!(wants(&only, "c", "XA COMMIT 'x'"), "its first phase may have had rows of others");
        let but = filter(&[(SettingId::replicate_ignore_db, "c")]);
        assert!(wants(&but, "", "CREATE TABLE c.t (id INT)") && wants(&but, "", "CREATE USER u"));
        assert!(but.wants_rows("a", "t") && !but.wants_rows("c", "t"));
        assert!(filter(&[]).is_empty() && filter(&[]).wants_rows("c", "t"));
    }

    #[test]
    fn rules_of_a_channel() {
        let globals = Globals::default();
        globals.configure(SettingId::replicate_do_db, "a").unwrap();
        globals.configure(SettingId::replicate_ignore_table, "a.t").unwrap();
        let own = [(SettingId::replicate_do_db, "b"), (SettingId::replicate_rewrite_db, "c->b")];
        let own: ChannelRules = own.map(|(rule, value)| (rule.name().to_owned(), value.to_owned())).into();
        let filter = ReplicationFilter::of(&globals, &own).unwrap();
        assert!(filter.wants_rows("b", "t") && !filter.wants_rows("a", "u"), "one takes the place of the other");
        assert_eq!(filter.rewritten("c"), "b");
        let none = [("replicate_do_db".to_owned(), String::new())].into();
        let filter = ReplicationFilter::of(&globals, &none).unwrap();
        assert!(filter.wants_rows("b", "t") && !filter.wants_rows("a", "t"), "rules of other kinds are everybody's");
    }

    #[test]
    fn tables() {
        let only = filter(&[(SettingId::replicate_do_table, "d.t,d.u")]);
        assert!(only.wants_rows("d", "u") && !only.wants_rows("d", "v"));
        assert!(wants(&only, "d", "UPDATE v, u SET v.n = 1"), "one of them is enough");
        assert!(wants(&only, "", "DROP TABLE d.t") && !wants(&only, "e", "TRUNCATE t"));
        assert!(wants(&only, "d", "DELETE x FROM v, t AS x WHERE v.id = x.id"));
        assert!(!wants(&only, "d", "DELETE v FROM v, t AS x WHERE v.id = x.id"));
        let but = filter(&[(SettingId::replicate_ignore_table, "d.t")]);
        assert!(but.wants_rows("d", "u") && !but.wants_rows("d", "t"));
        assert!(wants(&but, "d", "CREATE TABLE u AS SELECT * FROM t") && !wants(&but, "d", "RENAME TABLE t TO u"));
    }

    #[test]
    fn patterns() {
        let only = filter(&[(SettingId::replicate_wild_do_table, r"d%.t\_%"), (SettingId::replicate_do_table, "e.x")]);
        assert!(
            !wants(&only, "d", "CREATE USER u")
                && wants(&filter(&[(SettingId::replicate_do_table, "mysql.user")]), "d", "DROP USER u")
        );
        assert!(only.wants_rows("d2", "t_1") && !only.wants_rows("d2", "tx1") && only.wants_rows("e", "x"));
        let but = filter(&[(SettingId::replicate_wild_ignore_table, "tmp%.%")]);
        assert!(!but.wants_rows("tmp1", "t") && but.wants_rows("d", "t"));
        assert!(!wants(&but, "", "CREATE DATABASE tmp7") && wants(&but, "", "CREATE DATABASE d"));
    }

    #[test]
    fn what_matches_is_counted() {
        let uses = Arc::new(RuleUses::default());
        let rules = [
            (SettingId::replicate_do_db, "d,e"),
            (SettingId::replicate_wild_ignore_table, "d.t%"),
            (SettingId::replicate_rewrite_db, "a->e"),
        ];
        let filter = filter(&rules).counted_by(uses.clone());
        let copy = filter.clone();
        let all = || (0..FILTER_RULES.len()).map(|rule| uses.count(rule)).collect::<Vec<_>>();
        assert!(!filter.wants_rows("d", "t1") && !filter.wants_rows("x", "t1") && !copy.wants_rows("d", "t2"));
        assert_eq!((copy.rewritten("a"), copy.rewritten("b")), ("e", "b"));
        assert_eq!(all(), [2, 0, 0, 0, 0, 2, 1], "of all copies together");
        uses.begin_anew(5);
        assert_eq!(all(), [2, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn other_names() {
        let filter = filter(&[(SettingId::replicate_rewrite_db, "a->b, c -> d")]);
        assert_eq!((filter.rewritten("a"), filter.rewritten("c"), filter.rewritten("e")), ("b", "d", "e"));
        assert!(ReplicationFilter::check(SettingId::replicate_rewrite_db, "a").is_err());
        assert!(ReplicationFilter::check(SettingId::replicate_do_table, "a").is_err());
        assert_eq!(ReplicationFilter::shown(SettingId::replicate_rewrite_db, "a->b, c -> d"), "(a,b),(c,d)");
        assert_eq!(ReplicationFilter::shown(SettingId::replicate_do_db, "a , b"), "a,b");
        assert!(ReplicationFilter::check(SettingId::replicate_wild_do_table, "a.%,b.c").is_ok());
    }
}
