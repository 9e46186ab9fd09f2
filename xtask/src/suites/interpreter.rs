//! Runs one test file on one server, statement by statement, and notes what the server says.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use interop::Answer;

use super::answers::{Outcome, Said};
use super::script::{self, Action, Step};
use super::sessions::Sessions;
use super::target::Target;
use super::variables::{self, Variables};

/// Turns of a loop; a condition may depend on what no server here has.
const TURNS: usize = 2000;
/// A file's statements on one server end after this.
const FILE_PATIENCE: Duration = Duration::from_secs(120);
/// How often a condition that a file waits for is asked, and how long the pauses are.
const WAITS: (usize, Duration) = (20, Duration::from_millis(50));
/// Included files within included files.
const DEPTH: usize = 8;

/// What a file came to.
#[derive(Clone)]
pub(crate) struct Ran {
    /// Answers in the order of the statements.
    pub(crate) said: Vec<Said>,
    /// Commands that this interpreter does not know how to do.
    pub(crate) skipped: usize,
    /// Statements at which the server ended.
    pub(crate) deaths: Vec<String>,
}

/// Runs a file in a database of its own.
pub(crate) fn run(target: &mut Target, files: &Path, file: &str) -> interop::Result<Ran> {
    target.clean()?;
    let mut interpreter = Interpreter {
        sessions: Sessions::new(target),
        files,
        variables: Variables::new(&files.display().to_string()),
        said: Vec::new(),
        times: HashMap::new(),
        skipped: 0,
        is_over: false,
        start: Instant::now(),
    };
    interpreter.source(file, None, 0);
    let Interpreter { sessions, said, skipped, .. } = interpreter;
    let deaths = sessions.end();
    Ok(Ran { said, skipped, deaths })
}

struct Interpreter<'a> {
    sessions: Sessions<'a>,
    files: &'a Path,
    variables: Variables,
    said: Vec<Said>,
    times: HashMap<String, usize>,
    skipped: usize,
    is_over: bool,
    start: Instant,
}

/// Where a step stands.
struct Place<'a> {
    file: &'a str,
    depth: usize,
}

impl Interpreter<'_> {
    /// Runs a file that is named by another one, or the first one.
    fn source(&mut self, name: &str, from: Option<&str>, depth: usize) {
        let name = name.trim().trim_end_matches(';').trim();
        let beside = from.and_then(|from| Path::new(from).parent()).map(|folder| folder.join(name));
        let found =
            [Some(PathBuf::from(name)), beside].into_iter().flatten().find(|path| self.files.join(path).exists());
        let Some(path) = found.filter(|_| depth < DEPTH) else {
            self.skipped += 1;
            return;
        };
        let Ok(bytes) = fs::read(self.files.join(&path)) else {
            self.skipped += 1;
            return;
        };
        let steps = script::parse(&String::from_utf8_lossy(&bytes));
        self.steps(&steps, &Place { file: &path.display().to_string(), depth });
    }

    fn steps(&mut self, steps: &[Step], place: &Place) {
        for step in steps {
            if self.is_over || self.start.elapsed() > FILE_PATIENCE {
                return;
            }
            match &step.action {
                Action::Statement(sql) => self.statement(place, step.line, sql),
                Action::Command(name, rest) => self.command(place, step.line, name, rest),
                Action::If(condition, steps) => {
                    if self.holds(condition) {
                        self.steps(steps, place);
                    }
                }
                Action::While(condition, steps) => {
                    let mut turns = 0;
                    while turns < TURNS && !self.is_over && self.holds(condition) {
                        self.steps(steps, place);
                        turns += 1;
                    }
                }
            }
        }
    }

    fn command(&mut self, place: &Place, line: usize, name: &str, rest: &str) {
        match name {
            "let" => self.assign(rest),
            "inc" => self.variables.add(rest, 1),
            "dec" => self.variables.add(rest, -1),
            "eval" | "evalp" | "query" | "query_vertical" | "query_horizontal" => {
                let sql = if name == "query" { rest.to_owned() } else { self.variables.expand(rest) };
                self.statement(place, line, sql.trim_end_matches(';'));
            }
            "send" | "send_eval" => {
                let sql = self.variables.expand(rest);
                self.send(place, line, sql.trim_end_matches(';'));
            }
            "reap" => self.reap(),
            "source" => self.include(place, &self.variables.expand(rest)),
            "connect" => self.sessions.connect(&self.variables.expand(rest)),
            "connection" => self.sessions.choose(&self.variables.expand(rest)),
            "disconnect" | "dirty_close" | "send_quit" => self.sessions.disconnect(&self.variables.expand(rest)),
            "sleep" | "real_sleep" => std::thread::sleep(Duration::from_millis(100)),
            "exit" | "die" | "skip" => self.is_over = true,
            _ if is_about_output(name) => {}
            _ => self.skipped += 1,
        }
    }

    /// What an included file is for is done here where it is about this server only, and left out where it is about the
    /// test program.
    fn include(&mut self, place: &Place, name: &str) {
        let base = name.rsplit('/').next().unwrap_or(name).trim().trim_end_matches(';').trim();
        if base == "wait_condition.inc" || base == "wait_condition_with_debug.inc" {
            let sql = self.variables.expand(self.variables.get("wait_condition"));
            for _ in 0..WAITS.0 {
                if self.sessions.value(&sql, 0).is_some_and(|value| variables::is_true(&value)) {
                    return;
                }
                std::thread::sleep(WAITS.1);
            }
            return;
        }
        let is_of_program =
            ["have_", "not_", "no_", "count_sessions", "wait_until", "default_", "is_", "check_", "long_test"];
        if is_of_program.iter().any(|start| base.starts_with(start)) {
            return;
        }
        self.source(name, Some(place.file), place.depth + 1);
    }

    fn assign(&mut self, text: &str) {
        let Some((name, value)) = text.split_once('=') else {
            self.skipped += 1;
            return;
        };
        let value = value.trim().trim_end_matches(';').trim_end();
        let value = self.value(value);
        self.variables.set(name, value);
    }

    /// A text, a variable's value, or what a query gives.
    fn value(&mut self, text: &str) -> String {
        let text = text.trim();
        if let Some(query) = text.strip_prefix('`') {
            let sql = self.variables.expand(query.trim_end_matches('`'));
            return self.sessions.value(&sql, 0).unwrap_or_default();
        }
        if let Some(call) = text.strip_prefix("query_get_value(") {
            let mut parts =
                call.trim_end_matches(')').rsplitn(3, ',').map(|part| part.trim().trim_matches(['"', '\'']));
            let (_, column, sql) = (parts.next(), parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            return self.sessions.named_value(&self.variables.expand(sql), column).unwrap_or_default();
        }
        self.variables.expand(text)
    }

    fn holds(&mut self, condition: &str) -> bool {
        if let Some((left, operator, right)) = variables::split(condition) {
            let (left, right) = (self.value(left), self.value(right));
            return variables::compare(&left, operator, &right);
        }
        match condition.strip_prefix('!') {
            Some(rest) => !self.holds(rest.trim()),
            None => variables::is_true(&self.value(condition)),
        }
    }

    fn key(&mut self, place: &Place, line: usize) -> String {
        let key = format!("{}:{line}", place.file);
        let times = self.times.entry(key.clone()).or_insert(0);
        *times += 1;
        if *times == 1 { key } else { format!("{key}#{times}") }
    }

    fn statement(&mut self, place: &Place, line: usize, sql: &str) {
        if is_left_out(sql) {
            self.skipped += 1;
            return;
        }
        let key = self.key(place, line);
        let outcome = match self.sessions.ask(sql) {
            Ok(answers) => Outcome::of(sql, &answers),
            Err(why) => Outcome::Lost(why),
        };
        self.said.push(Said { key, sql: sql.to_owned(), outcome });
    }

    fn send(&mut self, place: &Place, line: usize, sql: &str) {
        if is_left_out(sql) {
            self.skipped += 1;
            return;
        }
        let key = self.key(place, line);
        if let Err(why) = self.sessions.send(&key, sql) {
            self.said.push(Said { key, sql: sql.to_owned(), outcome: Outcome::Lost(why) });
        }
    }

    fn reap(&mut self) {
        let Some((key, sql, answers)) = self.sessions.reap() else {
            self.skipped += 1;
            return;
        };
        let outcome = match answers {
            Ok(answers) => Outcome::of(&sql, &answers),
            Err(why) => Outcome::Lost(why),
        };
        self.said.push(Said { key, sql, outcome });
    }
}

/// Commands about how a test program prints, and others that change nothing here: errors are noted, not expected.
fn is_about_output(name: &str) -> bool {
    const OTHERS: &str = " error echo sorted_result partially_sorted_result replace_result replace_column replace_regex horizontal_results \
        vertical_results lowercase_result result_format require output character_set start_timer end_timer ping \
        optimizer_trace ";
    name.starts_with("enable_") || name.starts_with("disable_") || OTHERS.contains(&format!(" {name} "))
}

/// Statements that are about a server's own ways, or that would take the server or its accounts from the files behind this one.
fn is_left_out(sql: &str) -> bool {
    const STARTS: [&str; 28] = [
        "explain",
        "analyze",
        "describe select",
        "desc select",
        "show status",
        "show global status",
        "show session status",
        "show engine",
        "show processlist",
        "show full processlist",
        "show variables",
        "show global variables",
        "shutdown",
        "restart",
        "install",
        "uninstall",
        "reset",
        "change master",
        "start slave",
        "stop slave",
        "flush status",
        "show binlog",
        "set global debug",
        "set debug",
        "set @@debug",
        "set session debug",
        "flush tables with read lock",
        "set password",
    ];
    let lower = sql.trim_start().to_ascii_lowercase();
    let changes =
        ["insert", "update", "delete", "drop", "truncate", "alter", "replace", "rename", "create table mysql"];
    STARTS.iter().any(|start| lower.starts_with(start))
        || lower.contains("last_query_cost")
        || lower.contains("benchmark(")
        || lower.contains("'root'")
        || lower.contains("root@")
        || (lower.contains("mysql.") && changes.iter().any(|start| lower.starts_with(start)))
}

/// A variable that a statement sets for all sessions.
pub(crate) fn global_set(sql: &str) -> Vec<String> {
    let lower = sql.trim_start().to_ascii_lowercase();
    if !lower.starts_with("set") {
        return Vec::new();
    }
    let mut names = Vec::new();
    for start in ["global ", "@@global."] {
        for (at, _) in lower.match_indices(start) {
            let rest = lower[at + start.len()..].trim_start();
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            names.push(rest[..end].to_owned());
        }
    }
    names.retain(|name| !name.is_empty() && name != "transaction");
    names
}

/// All results of one statement were read.
pub(crate) type Answers = interop::Result<Vec<Answer>>;
