//! What replicas and tools ask before a dump, and the answers.
//!
//! | asked | answered |
//! |---|---|
//! | `SELECT` of settings, user variables, constants, `VERSION()`, `UNIX_TIMESTAMP()`, `BINLOG_GTID_POS()` … | one row |
//! | `SET` of user variables, `NAMES`, and settings of a session | kept, as far as a dump depends on it |
//! | `SHOW VARIABLES` | those of [`super::variables`] |
//! | `SHOW STATUS` | those of semi-synchronous replication |
//! | `SHOW BINARY LOGS`, `SHOW BINARY LOG STATUS`, `SHOW REPLICAS`, `SHOW REPLICA STATUS`, and their older names | the relay's own |
//! | anything else | error 1235 that names it |

use std::ops::Range;

use base::{SqlError, codes};
use types::Value;

use super::Session;
use super::variables::{self, matches_like};
use super::words::{Word, words};
use crate::gtids::Kind;
use crate::relay::Relay;

/// What of a statement an error shows.
const SHOWN_MAX: usize = 80;

/// The answer to a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It was done.
    Ok,
    /// A result set.
    Rows(Rows),
}

/// A result set, as text; `None` is NULL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<Option<String>>>,
}

impl Rows {
    fn new<const N: usize>(columns: [&str; N]) -> Self {
        Rows { columns: columns.map(str::to_owned).into(), rows: Vec::new() }
    }

    fn push<const N: usize>(&mut self, row: [String; N]) {
        self.rows.push(row.map(Some).into());
    }

    /// One more column, the same in all rows.
    fn add_column(&mut self, name: &str, value: &str) {
        self.columns.push(name.to_owned());
        self.rows.iter_mut().for_each(|row| row.push(Some(value.to_owned())));
    }
}

/// Answers a statement.
pub(crate) async fn answer(relay: &Relay, session: &mut Session, sql: &str) -> Result<Answer, SqlError> {
    let mut spans = words(sql);
    while spans.last().is_some_and(|(word, _)| *word == Word::Sign(';')) {
        spans.pop();
    }
    let list: Vec<Word> = spans.iter().map(|(word, _)| word.clone()).collect();
    let unknown = || not_known(sql);
    match list.split_first() {
        None => Err(SqlError::new(codes::EMPTY_QUERY, "Query was empty")),
        Some((first, _)) if first.is("SELECT") => select(relay, session, sql, &spans[1..]).await.map(Answer::Rows),
        Some((first, rest)) if first.is("SET") => {
            set(relay, session, rest).await.ok_or_else(unknown)?.map(|()| Answer::Ok)
        }
        Some((first, rest)) if first.is("SHOW") => show(relay, rest).await.ok_or_else(unknown).map(Answer::Rows),
        Some(_) => Err(unknown()),
    }
}

fn not_known(sql: &str) -> SqlError {
    let shown = &sql[..sql.floor_char_boundary(SHOWN_MAX)];
    let text = format!("A relay has a log and no data; it does not answer '{shown}'");
    SqlError::new(codes::NOT_SUPPORTED_YET, text)
}

type Spanned = (Word, Range<usize>);

async fn select(relay: &Relay, session: &Session, sql: &str, list: &[Spanned]) -> Result<Rows, SqlError> {
    let mut rows = Rows::default();
    let mut row = Vec::new();
    let mut rest = list;
    loop {
        let (item, after) = rest.split_at(item_end(rest));
        let (expression, alias) = split_alias(item);
        let (Some(first), Some(last)) = (expression.first(), expression.last()) else { return Err(not_known(sql)) };
        let text = &sql[first.1.start..last.1.end];
        let words: Vec<Word> = expression.iter().map(|(word, _)| word.clone()).collect();
        row.push(value(relay, session, &words).await?.ok_or_else(|| not_known(sql))?);
        rows.columns.push(alias.unwrap_or_else(|| text.to_owned()));
        match after.split_first() {
            Some(((Word::Sign(','), _), more)) => rest = more,
            // What LIMIT says of one row is that it is wanted.
            _ => break,
        }
    }
    rows.rows.push(row);
    Ok(rows)
}

/// Where an item of a list ends: at a comma that is in no parentheses, or LIMIT.
fn item_end(list: &[Spanned]) -> usize {
    let mut depth = 0;
    let ends = |(word, _): &Spanned| {
        match word {
            Word::Sign('(') => depth += 1,
            Word::Sign(')') => depth -= 1,
            _ => {}
        }
        depth == 0 && (*word == Word::Sign(',') || word.is("LIMIT"))
    };
    list.iter().position(ends).unwrap_or(list.len())
}

/// `expression [AS alias]`
fn split_alias(item: &[Spanned]) -> (&[Spanned], Option<String>) {
    match item {
        [expression @ .., (keyword, _), (Word::Name(name) | Word::Text(name), _)] if keyword.is("AS") => {
            (expression, Some(name.clone()))
        }
        _ => (item, None),
    }
}

/// The value of an expression; `None` if it is none that is known. The inner `None` is NULL.
async fn value(relay: &Relay, session: &Session, list: &[Word]) -> Result<Option<Option<String>>, SqlError> {
    let text = |text: String| Ok(Some(Some(text)));
    match list {
        [Word::SystemVariable(name)] => text(variables::selected(relay, name).await?),
        [Word::UserVariable(name)] => Ok(Some(session.variable(name).and_then(repl::source::text))),
        [Word::Text(literal) | Word::Number(literal)] => text(literal.clone()),
        [null] if null.is("NULL") => Ok(Some(None)),
        [Word::Name(function), Word::Sign('('), arguments @ .., Word::Sign(')')] => {
            let function = function.to_ascii_uppercase();
            match (function.as_str(), arguments) {
                ("UNIX_TIMESTAMP", []) => text((relay.store().env().clock.now().0 / 1_000_000).to_string()),
                ("VERSION", []) => text(relay.version()),
                ("CONNECTION_ID", []) => text(session.id.to_string()),
                ("USER" | "CURRENT_USER" | "SESSION_USER", []) => text(format!("{}@{}", relay.user(), session.host)),
                ("DATABASE" | "SCHEMA", []) => Ok(Some(None)),
                ("BINLOG_GTID_POS", [Word::Text(file), Word::Sign(','), Word::Number(position)]) => {
                    let position = position.parse().unwrap_or(u64::MAX);
                    Ok(Some(super::start::maria_position_at(relay.store(), file, position).await?))
                }
                _ => Ok(None),
            }
        }
        _ => Ok(None),
    }
}

/// `None` if something in it is not known.
async fn set(relay: &Relay, session: &mut Session, list: &[Word]) -> Option<Result<(), SqlError>> {
    if list.first()?.is("NAMES") || list.first()?.is("CHARACTER") {
        return Some(Ok(()));
    }
    for assignment in list.split(|word| *word == Word::Sign(',')) {
        let at = assignment.iter().position(|word| *word == Word::Sign('='))?;
        let (target, value) = (&assignment[..at], &assignment[at + 1..]);
        match target {
            [Word::UserVariable(name)] => match assigned(relay, session, value).await? {
                Ok(value) => session.set(name, value),
                Err(error) => return Some(Err(error)),
            },
            // Settings of the session have no effect here.
            [scope, Word::Name(_)] if scope.is("SESSION") || scope.is("LOCAL") => {}
            [Word::Name(_) | Word::SystemVariable(_)] => {}
            _ => return None,
        }
    }
    Some(Ok(()))
}

/// A value that is assigned to a user variable; `None` if it is not known what it is.
async fn assigned(relay: &Relay, session: &Session, value: &[Word]) -> Option<Result<Value, SqlError>> {
    let text = |text: &str| Value::Str(text.as_bytes().to_vec().into());
    Some(match value {
        [Word::Text(literal)] => Ok(text(literal)),
        [Word::Number(number)] => Ok(number.parse().map_or_else(|_| text(number), Value::UInt)),
        [Word::SystemVariable(name)] => variables::selected(relay, name).await.map(|value| text(&value)),
        [Word::UserVariable(name)] => Ok(session.variable(name).cloned().unwrap_or(Value::Null)),
        [null] if null.is("NULL") => Ok(Value::Null),
        _ => return None,
    })
}

/// `None` if it is not known.
async fn show(relay: &Relay, list: &[Word]) -> Option<Rows> {
    let name = |word: &Word| if let Word::Name(name) = word { Some(name.to_ascii_uppercase()) } else { None };
    let upper: Vec<String> = list.iter().map_while(name).collect();
    let upper: Vec<&str> = upper.iter().map(String::as_str).collect();
    let is_maria = relay.store().kind() == Some(Kind::Maria);
    match upper.as_slice() {
        ["GLOBAL" | "SESSION", "VARIABLES", ..] | ["VARIABLES", ..] => show_pairs(variables::all(relay).await, list),
        ["GLOBAL" | "SESSION", "STATUS", ..] | ["STATUS", ..] => show_pairs(super::status::counters(relay), list),
        ["BINARY" | "MASTER", "LOGS"] => Some(binary_logs(relay, is_maria)),
        ["BINARY", "LOG", "STATUS"] | ["MASTER" | "BINLOG", "STATUS"] => Some(log_status(relay, is_maria)),
        ["REPLICAS"] | ["SLAVE" | "REPLICA", "HOSTS"] => Some(replicas(relay, upper[0] == "SLAVE")),
        ["REPLICA" | "SLAVE", "STATUS"] => Some(super::status::rows(relay, upper[0] == "SLAVE")),
        ["WARNINGS"] => Some(Rows::new(["Level", "Code", "Message"])),
        _ => None,
    }
}

/// All, or those that a pattern or a name says.
fn show_pairs(pairs: Vec<(String, String)>, list: &[Word]) -> Option<Rows> {
    let pattern = |word: &Word| if let Word::Text(text) = word { Some(text.clone()) } else { None };
    let patterns: Vec<String> = list.iter().filter_map(pattern).collect();
    let has_condition = list.iter().any(|word| word.is("LIKE") || word.is("WHERE"));
    if has_condition && patterns.is_empty() {
        return None;
    }
    let mut rows = Rows::new(["Variable_name", "Value"]);
    for (name, value) in pairs {
        if !has_condition || patterns.iter().any(|pattern| matches_like(&name, pattern)) {
            rows.push([name, value]);
        }
    }
    Some(rows)
}

fn binary_logs(relay: &Relay, is_maria: bool) -> Rows {
    let mut rows = Rows::new(["Log_name", "File_size"]);
    relay.store().newest_files().into_iter().for_each(|file| rows.push([file.name, file.size.to_string()]));
    if !is_maria {
        rows.add_column("Encrypted", "No");
    }
    rows
}

fn log_status(relay: &Relay, is_maria: bool) -> Rows {
    let mut rows = Rows::new(["File", "Position", "Binlog_Do_DB", "Binlog_Ignore_DB"]);
    if let Some(live) = relay.store().live() {
        rows.push([live.name, live.size.to_string(), String::new(), String::new()]);
    }
    if !is_maria {
        let gtids = relay.store().gtids().map(|gtids| gtids.to_string()).unwrap_or_default();
        rows.add_column("Executed_Gtid_Set", &gtids);
    }
    rows
}

fn replicas(relay: &Relay, old_names: bool) -> Rows {
    let mut rows = match old_names {
        true => Rows::new(["Server_id", "Host", "Port", "Master_id", "Slave_UUID"]),
        false => Rows::new(["Server_Id", "Host", "Port", "Source_Id", "Replica_UUID"]),
    };
    for replica in relay.replicas().list(base::ServerId(relay.identity().server_id)) {
        let [id, port, source] = [replica.server_id, replica.port.into(), replica.source_id].map(|n| n.to_string());
        rows.push([id, replica.host, port, source, replica.replica_uuid]);
    }
    rows
}
