//! Every known anomaly of isolation as statements of two or three sessions, at each level, here and on MySQL 9.7: who sees
//! what, who waits for whom, and who is told of a deadlock.
//!
//! A script of `interop/isolation/` has a session's name before each statement. A session that waits is given its next statements
//! when it goes on. Whether one waits is asked of the server (`Innodb_row_lock_current_waits`, the states of the process list), not
//! taken from the time that passes.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use interop::{Answer, Connection, Kind, Peer, Server, ServerOptions, workspace_root};

use crate::declared::Declared;

const LEVELS: [&str; 4] = ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"];
/// How a script begins in which only names and whole tables are locked.
const AT_ONE_LEVEL: &str = "-- At REPEATABLE READ alone.";
/// Two that wait may be a deadlock, which MySQL looks for when it has the time: so long, one of them is expected to go on.
const DEADLOCK_PATIENCE: Duration = Duration::from_secs(2);
/// Who is given a lock is counted as waiting until it has woken up: so often in a row the count must be the same.
const LOOKS: u32 = 12;
/// Nothing that a script does takes longer.
const PATIENCE: Duration = Duration::from_secs(30);

fn scripts() -> Vec<PathBuf> {
    let folder = fs::read_dir(workspace_root().join("interop/isolation")).unwrap();
    let mut scripts: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    scripts.retain(|path| path.extension().is_some_and(|extension| extension == "script"));
    scripts.sort();
    scripts
}

/// One session, on a thread of its own, because it may have to wait.
struct Session {
    statements: Sender<String>,
    answers: Receiver<String>,
    /// Statements that it has not answered.
    open: usize,
    thread: JoinHandle<()>,
}

impl Session {
    fn begin(port: u16, level: &str) -> Session {
        let mut connection = Connection::open(port, "d").unwrap();
        done(&mut connection, &format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}"));
        let (statements, inbox) = channel::<String>();
        let (outbox, answers) = channel();
        let thread = thread::spawn(move || {
            for sql in inbox {
                let answer = connection.query(&sql).map_or_else(|error| error, |answer| shown(&answer));
                if outbox.send(answer).is_err() {
                    return;
                }
            }
        });
        Session { statements, answers, open: 0, thread }
    }
}

fn done(connection: &mut Connection, sql: &str) {
    let answer = connection.query(sql).unwrap();
    assert!(matches!(answer, Answer::Done(_)), "{sql}: {answer:?}");
}

fn shown(answer: &Answer) -> String {
    match answer {
        Answer::Rows { rows, .. } if rows.is_empty() => "no rows".to_owned(),
        Answer::Rows { rows, .. } => {
            let value = |value: &Option<Vec<u8>>| {
                value.as_ref().map_or_else(|| "NULL".to_owned(), |bytes| String::from_utf8_lossy(bytes).into_owned())
            };
            let row = |row: &Vec<Option<Vec<u8>>>| row.iter().map(value).collect::<Vec<_>>().join(" ");
            rows.iter().map(row).collect::<Vec<_>>().join(", ")
        }
        Answer::Done(done) => format!("done, {} rows", done.affected_rows),
        Answer::Failed(code, message) => format!("{code} {message}"),
    }
}

/// One server while it goes through a script.
struct Run {
    port: u16,
    level: &'static str,
    monitor: Connection,
    sessions: BTreeMap<String, Session>,
    transcript: Vec<String>,
}

impl Run {
    fn begin(port: u16, level: &'static str) -> Run {
        let mut monitor = Connection::open(port, "").unwrap();
        for sql in [
            "DROP DATABASE IF EXISTS d",
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY, v INT NOT NULL, KEY v (v))",
            "INSERT INTO d.t VALUES (1, 10), (2, 20)",
        ] {
            done(&mut monitor, sql);
        }
        Run { port, level, monitor, sessions: BTreeMap::new(), transcript: Vec::new() }
    }

    fn step(&mut self, name: &str, sql: &str) {
        self.transcript.push(format!("{name}: {sql}"));
        let begin = || Session::begin(self.port, self.level);
        let session = self.sessions.entry(name.to_owned()).or_insert_with(begin);
        session.open += 1;
        session.statements.send(sql.to_owned()).unwrap();
        self.settle();
        if self.sessions[name].open > 0 {
            self.transcript.push(format!("  {name} waits"));
        }
    }

    /// Until everybody has answered or waits for a lock.
    fn settle(&mut self) {
        let begin = Instant::now();
        let (mut answers, mut looks) = (BTreeMap::new(), 0);
        while looks < LOOKS {
            let waiting = self.waiting();
            for (name, session) in &mut self.sessions {
                for answer in session.answers.try_iter() {
                    session.open -= 1;
                    answers.entry(name.clone()).or_insert_with(Vec::new).push(answer);
                }
            }
            let open = self.sessions.values().filter(|session| session.open > 0).count();
            let may_be_deadlock = open > 1 && answers.is_empty() && begin.elapsed() < DEADLOCK_PATIENCE;
            looks = if open == waiting && !may_be_deadlock { looks + 1 } else { 0 };
            if open == 0 && waiting == 0 {
                break;
            }
            assert!(begin.elapsed() < PATIENCE, "{open} are open, {waiting} wait:\n{}", self.transcript.join("\n"));
            thread::sleep(Duration::from_millis(4));
        }
        let lines = answers.iter().flat_map(|(name, all)| all.iter().map(move |answer| format!("  {name}: {answer}")));
        self.transcript.extend(lines);
    }

    /// Who waits for a row, and who waits for a table or the name of a lock.
    fn waiting(&mut self) -> usize {
        let rows = self.monitor.query("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'");
        let states = "SELECT COUNT(*), COUNT(*) FROM information_schema.processlist
            WHERE state LIKE 'Waiting for % lock' OR state = 'User lock'";
        let count = |answer| {
            let Ok(Answer::Rows { rows, .. }) = answer else { panic!("no status: {answer:?}") };
            String::from_utf8_lossy(rows[0][1].as_ref().unwrap()).parse::<usize>().unwrap()
        };
        count(rows) + count(self.monitor.query(states))
    }

    fn end(self) -> String {
        for (name, session) in self.sessions {
            assert_eq!(session.open, 0, "{name} waits at the end:\n{}", self.transcript.join("\n"));
            drop(session.statements);
            session.thread.join().unwrap();
        }
        self.transcript.join("\n")
    }
}

fn run(port: u16, level: &'static str, script: &str) -> String {
    let mut run = Run::begin(port, level);
    for line in script.lines().filter(|line| !line.starts_with("--") && !line.is_empty()) {
        let (name, sql) = line.split_once(": ").unwrap();
        run.step(name, sql);
    }
    run.end()
}

#[test]
fn anomalies_are_mysqls() {
    let ours = Server::start("isolation", ServerOptions::default()).unwrap();
    let peer = Peer::start(Kind::Mysql97, "isolation", Duration::ZERO, &[]).unwrap();
    // As `script, LEVEL`.
    let (mut declared, mut compared) = (Declared::of("isolation"), 0);
    for path in scripts() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let script = fs::read_to_string(&path).unwrap();
        let levels = LEVELS.into_iter().filter(|level| *level == LEVELS[2] || !script.starts_with(AT_ONE_LEVEL));
        for level in levels {
            // READ UNCOMMITTED is MySQL's READ COMMITTED here.
            let theirs = if level == LEVELS[0] { LEVELS[1] } else { level };
            let (ours, theirs) = (run(ours.port(), level, &script), run(peer.port(), theirs, &script));
            compared += 1;
            if ours == theirs {
                continue;
            }
            let label = format!("{name}, {level}");
            declared.differs(&[&label], || format!("{label}\nours:\n{ours}\nMySQL:\n{theirs}\n"));
        }
    }
    assert!(compared >= 80, "the scripts ran");
    declared.check();
}
