//! A file's connections by name.

use std::collections::HashMap;

use interop::{Answer, Connection};

use super::interpreter::{Answers, global_set};
use super::target::Target;

/// Where a file begins.
const DEFAULT: &str = "default";

/// One of a file's connections.
struct Session {
    connection: Option<Connection>,
    sent: Option<(String, String)>,
}

/// See the module.
pub(crate) struct Sessions<'a> {
    target: &'a mut Target,
    by_name: HashMap<String, Session>,
    current: String,
    globals: Vec<String>,
    deaths: Vec<String>,
}

impl Sessions<'_> {
    /// With the connection that a file begins with.
    pub(crate) fn new(target: &mut Target) -> Sessions<'_> {
        let connection = target.open("root", "", "test").ok();
        let by_name = HashMap::from([(DEFAULT.to_owned(), Session { connection, sent: None })]);
        Sessions { target, by_name, current: DEFAULT.into(), globals: Vec::new(), deaths: Vec::new() }
    }

    /// Closes all; what was set for all sessions has its default again. Gives the statements at which the server ended.
    pub(crate) fn end(mut self) -> Vec<String> {
        self.by_name.clear();
        self.target.reset_globals(&self.globals);
        self.deaths
    }

    /// `(name, host, user, password, database, …)`.
    pub(crate) fn connect(&mut self, arguments: &str) {
        let inner = arguments.trim().trim_end_matches(';').trim();
        let inner = inner.strip_prefix('(').map_or(inner, |rest| rest.trim_end_matches(')'));
        let parts: Vec<&str> = inner.split(',').map(|part| part.trim().trim_matches(['\'', '"'])).collect();
        let part = |at: usize, default: &'static str| parts.get(at).map_or(default, |part| *part).to_owned();
        let database = match part(4, "test") {
            database if database == "*NO-ONE*" => String::new(),
            database if database.is_empty() => "test".into(),
            database => database,
        };
        let connection = self.target.open(&part(2, "root"), &part(3, ""), &database).ok();
        self.current = part(0, DEFAULT);
        self.by_name.insert(self.current.clone(), Session { connection, sent: None });
    }

    /// Makes one the current connection.
    pub(crate) fn choose(&mut self, name: &str) {
        self.current = name.trim().trim_end_matches(';').trim().to_owned();
    }

    /// Closes one.
    pub(crate) fn disconnect(&mut self, name: &str) {
        self.by_name.remove(name.trim().trim_end_matches(';').trim());
    }

    /// Runs a statement on the current connection.
    pub(crate) fn ask(&mut self, sql: &str) -> Answers {
        self.globals.extend(global_set(sql));
        let answers = match self.connection() {
            Some(connection) => connection.ask(sql).and_then(|()| all_answers(connection)),
            None => return Err("there is no connection".into()),
        };
        if answers.is_err() {
            self.lose(sql);
        }
        answers
    }

    /// Sends a statement whose answer is read later.
    pub(crate) fn send(&mut self, key: &str, sql: &str) -> interop::Result<()> {
        let Some(session) = self.by_name.get_mut(&self.current) else { return Err("there is no connection".into()) };
        let Some(connection) = &mut session.connection else { return Err("there is no connection".into()) };
        session.sent = Some((key.to_owned(), sql.to_owned()));
        connection.ask(sql)
    }

    /// The statement that was sent, and its answer.
    pub(crate) fn reap(&mut self) -> Option<(String, String, Answers)> {
        let session = self.by_name.get_mut(&self.current)?;
        let (key, sql) = session.sent.take()?;
        let answers = all_answers(session.connection.as_mut()?);
        if answers.is_err() {
            self.lose(&sql);
        }
        Some((key, sql, answers))
    }

    /// The value in the first row of a query's result.
    pub(crate) fn value(&mut self, sql: &str, column: usize) -> Option<String> {
        let answers = self.ask(sql).ok()?;
        let Some(Answer::Rows { rows, .. }) = answers.first() else { return None };
        let value = rows.first()?.get(column)?.as_ref()?;
        Some(String::from_utf8_lossy(value).into_owned())
    }

    /// The same by the column's name.
    pub(crate) fn named_value(&mut self, sql: &str, name: &str) -> Option<String> {
        let answers = self.ask(sql).ok()?;
        let Some(Answer::Rows { columns, rows, .. }) = answers.first() else { return None };
        let at = columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))?;
        Some(String::from_utf8_lossy(rows.first()?.get(at)?.as_ref()?).into_owned())
    }

    fn connection(&mut self) -> Option<&mut Connection> {
        self.by_name.get_mut(&self.current)?.connection.as_mut()
    }

    /// A connection is of no use any more: another one takes its place, on a server that was started again if it had ended.
    fn lose(&mut self, sql: &str) {
        if self.target.revive() {
            self.deaths.push(sql.to_owned());
            self.by_name.values_mut().for_each(|session| session.connection = None);
        }
        let connection = self.target.open("root", "", "test").ok();
        self.by_name.insert(self.current.clone(), Session { connection, sent: None });
    }
}

fn all_answers(connection: &mut Connection) -> Answers {
    let mut answers = vec![connection.text_answer()?];
    while connection.has_more_answers() {
        answers.push(connection.text_answer()?);
    }
    Ok(answers)
}
