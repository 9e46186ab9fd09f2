//! Golden scripts: sessions on one engine, command by command, with what each is told.
//!
//! A line is `SESSION command arguments`. A command that has to wait says so, and the line at which it goes on shows its
//! answer. Without a session: `checkpoint`, `restart`, `crash`, `ddl WORDS`, `layers`, `next_id TABLE`, `wait`.
//! `UPDATE_GOLDENFILES=1` rewrites them.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use event_listener::Event;
use goldenscript::{Argument, Command, Context, Runner};
use io::sim::SimMachine;
use parking_lot::Mutex;
use types::Value;

use super::fixture;
use crate::error::Result;
use crate::{
    Direction, Engine, EngineError, EngineOptions, Isolation, KeyRange, LockStrength, LockWait, ReadMode,
    SessionHandle, Table, TableMode, Transaction, TxnOptions,
};

/// Long enough for everything that can go on to have gone on.
const QUIET: Duration = Duration::from_millis(700);

/// Between a script and the task of a session.
#[derive(Default)]
struct Mailbox {
    commands: Mutex<VecDeque<Vec<String>>>,
    replies: Mutex<VecDeque<String>>,
    event: Event,
}

struct Script {
    machine: SimMachine,
    engine: Option<Arc<Engine>>,
    sessions: BTreeMap<String, Arc<Mailbox>>,
    waiting: Vec<String>,
    transaction_memory_bytes: usize,
}

impl Runner for Script {
    type Command = Command;

    fn run(&mut self, command: &Command, _: &Context) -> Result<String, Box<dyn std::error::Error>> {
        let words: Vec<String> = command.args.iter().map(word).collect();
        let reply = match command.name.as_str() {
            name if name.chars().all(char::is_uppercase) => self.send(name, words.clone()),
            name => self.global(name, &words),
        };
        let mut output = String::new();
        writeln!(output, "{}: {reply}", [std::slice::from_ref(&command.name), &words].concat().join(" "))?;
        // Whoever could go on because of this.
        self.settle();
        for session in std::mem::take(&mut self.waiting) {
            match self.reply(&session) {
                Some(reply) => writeln!(output, "  {session} goes on: {reply}")?,
                None => self.waiting.push(session),
            }
        }
        Ok(output)
    }
}

fn word(argument: &Argument) -> String {
    match argument {
        Argument::Positional(word) => word.clone(),
        other => panic!("no such argument: {other}"),
    }
}

impl Script {
    fn new(transaction_memory_bytes: usize) -> Self {
        let machine = fixture::machine(1);
        let mut script =
            Script { machine, engine: None, sessions: BTreeMap::new(), waiting: Vec::new(), transaction_memory_bytes };
        script.open();
        script
    }

    fn open(&mut self) {
        let options = EngineOptions { transaction_memory_bytes: self.transaction_memory_bytes, ..fixture::options() };
        let opened = self.machine.run(fixture::open(self.machine.env(), options));
        self.engine = Some(opened.unwrap().unwrap());
    }

    fn engine(&self) -> &Arc<Engine> {
        self.engine.as_ref().unwrap()
    }

    /// Lets time pass until nothing moves.
    fn settle(&self) {
        let clock = self.machine.env().clock;
        self.machine.run(clock.sleep(QUIET)).unwrap();
    }

    fn send(&mut self, session: &str, words: Vec<String>) -> String {
        if !self.sessions.contains_key(session) {
            let mailbox = Arc::new(Mailbox::default());
            let task = serve(self.engine().clone(), mailbox.clone());
            self.machine.env().spawner.spawn(session, Box::pin(task));
            self.sessions.insert(session.to_string(), mailbox);
        }
        let mailbox = &self.sessions[session];
        mailbox.commands.lock().push_back(words);
        mailbox.event.notify(usize::MAX);
        self.settle();
        self.reply(session).unwrap_or_else(|| {
            self.waiting.push(session.to_string());
            "waits".to_string()
        })
    }

    fn reply(&self, session: &str) -> Option<String> {
        self.sessions[session].replies.lock().pop_front()
    }

    fn global(&mut self, name: &str, words: &[String]) -> String {
        let result = match name {
            "checkpoint" => {
                let number = self.machine.run(self.engine().checkpoint()).unwrap();
                number.map(|(number, _)| format!("at {number}"))
            }
            "ddl" => {
                let done = self.machine.run(fixture::ddl(self.engine(), &words.join(" "))).unwrap();
                done.map(|()| "done".to_string())
            }
            "restart" => self.restart(),
            "crash" => Ok(self.crash()),
            "next_id" => {
                let catalog = self.engine().catalog();
                Ok(catalog.table("test", &words[0]).unwrap().auto_increment().peek().to_string())
            }
            "layers" => Ok(self.layers()),
            "wait" => {
                let clock = self.machine.env().clock;
                self.machine.run(clock.sleep(Duration::from_secs(60))).unwrap();
                Ok("a minute".to_string())
            }
            other => panic!("no command '{other}'"),
        };
        result.unwrap_or_else(|error| format!("error: {error}"))
    }

    fn restart(&mut self) -> Result<String> {
        self.sessions.clear();
        self.machine.run(self.engine().close()).unwrap()?;
        self.engine = None;
        self.machine.kill();
        self.open();
        Ok("open".to_string())
    }

    fn crash(&mut self) -> String {
        self.sessions.clear();
        self.waiting.clear();
        self.engine = None;
        self.machine.crash();
        self.open();
        "open".to_string()
    }

    fn layers(&self) -> String {
        let layers = self.engine().core().views.layers().clone();
        let (memtables, trees) = (layers.memtables.len(), layers.roots.indexes().count());
        format!("memtables: {memtables}, trees: {trees}, views: {}", self.engine().read_views())
    }
}

/// The task of a session.
async fn serve(engine: Arc<Engine>, mailbox: Arc<Mailbox>) {
    let mut session = Session { engine, transaction: None, savepoint: None };
    loop {
        let listener = mailbox.event.listen();
        let Some(command) = mailbox.commands.lock().pop_front() else {
            listener.await;
            continue;
        };
        let reply = match session.execute(&command).await {
            Ok(reply) => reply,
            Err(error) => format!("error: {error}"),
        };
        mailbox.replies.lock().push_back(reply);
    }
}

struct Session {
    engine: Arc<Engine>,
    transaction: Option<Transaction>,
    savepoint: Option<crate::Savepoint>,
}

/// A number, or NULL.
fn number(text: &str) -> Option<i64> {
    (text != "null").then(|| text.parse().unwrap())
}

impl Session {
    async fn execute(&mut self, command: &[String]) -> Result<String> {
        let words: Vec<&str> = command[1..].iter().map(String::as_str).collect();
        match command[0].as_str() {
            "begin" => return Ok(self.begin(&words)),
            "commit" => {
                let transaction = self.transaction.take().unwrap();
                let place = transaction.commit().await?.place;
                return Ok(place.map_or("nothing".to_string(), |place| format!("at {}", place.commit_number)));
            }
            "rollback" => {
                self.transaction = None;
                return Ok("done".to_string());
            }
            _ => {}
        }
        let autocommit = self.transaction.is_none();
        if autocommit {
            self.begin(&[]);
        }
        let result = self.statement(&command[0], &words).await;
        if let Err(error) = &result {
            let transaction = self.transaction.as_mut().unwrap();
            transaction.rollback_statement();
            if autocommit || error.rolls_back_transaction() {
                self.transaction = None;
            }
        }
        let reply = result?;
        if autocommit {
            self.transaction.take().unwrap().commit().await?;
        }
        Ok(reply)
    }

    fn begin(&mut self, words: &[&str]) -> String {
        let mut options = TxnOptions::new(SessionHandle::internal());
        for word in words {
            match *word {
                "rc" => options.isolation = Isolation::ReadCommitted,
                "ro" => options.read_only = true,
                _ => {}
            }
        }
        let mut transaction = self.engine.begin(options);
        let mut reply = "done".to_string();
        if words.contains(&"snapshot") {
            reply = format!("at {}", transaction.take_snapshot().0);
        }
        self.transaction = Some(transaction);
        reply
    }

    async fn statement(&mut self, name: &str, words: &[&str]) -> Result<String> {
        let table = self.engine.catalog().table("test", "t").unwrap().clone();
        let transaction = self.transaction.as_mut().unwrap();
        transaction.start_statement();
        let reads = matches!(name, "get" | "scan");
        let mode = if reads { TableMode::IntentShared } else { TableMode::IntentExclusive };
        transaction.lock_table(&table, mode).await?;
        match name {
            "insert" => {
                let row = fixture::row(&table, words[0].parse().unwrap(), number(words[1]), number(words[2]));
                transaction.insert(&table, row).await?;
                Ok("done".to_string())
            }
            "update" | "delete" => change(transaction, &table, name, words).await,
            "get" => {
                let key = fixture::key(&table, words[0].parse().unwrap());
                let found = transaction.get(&table, &key, read_mode(words)).await?;
                Ok(found.map_or("none".to_string(), |row| fixture::show(&table, &row)))
            }
            "scan" => scan(transaction, &table, words).await,
            "savepoint" => {
                self.savepoint = Some(transaction.savepoint());
                Ok("done".to_string())
            }
            "rollback_to" => {
                transaction.rollback_to(self.savepoint.unwrap());
                Ok("done".to_string())
            }
            other => Err(EngineError::Bug(format!("no command '{other}'"))),
        }
    }
}

fn read_mode(words: &[&str]) -> ReadMode {
    let wait = match () {
        () if words.contains(&"nowait") => LockWait::NoWait,
        () if words.contains(&"skip") => LockWait::SkipLocked,
        () => LockWait::Wait,
    };
    match () {
        () if words.contains(&"update") => ReadMode::Locking { strength: LockStrength::Exclusive, wait },
        () if words.contains(&"share") => ReadMode::Locking { strength: LockStrength::Shared, wait },
        () => ReadMode::Consistent,
    }
}

async fn change(transaction: &mut Transaction, table: &Arc<Table>, name: &str, words: &[&str]) -> Result<String> {
    let id = words[0].parse().unwrap();
    let Some(old) = transaction.get(table, &fixture::key(table, id), ReadMode::FOR_UPDATE).await? else {
        return Ok("none".to_string());
    };
    if name == "delete" {
        transaction.delete(table, &old).await?;
        return Ok("done".to_string());
    }
    let id = words.get(3).map_or(id, |id| id.parse().unwrap());
    transaction.update(table, &old, fixture::row(table, id, number(words[1]), number(words[2]))).await?;
    Ok("done".to_string())
}

/// `scan [k|u] [FROM TO] [back] [limit] [share|update …]`
async fn scan(transaction: &mut Transaction, table: &Arc<Table>, words: &[&str]) -> Result<String> {
    let index_number = match () {
        () if words.contains(&"k") => 1,
        () if words.contains(&"u") => 2,
        () => 0,
    };
    let bounds: Vec<i64> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let mut range = KeyRange::all();
    if let [from, to] = bounds[..] {
        let prefix = |n| table.codec.prefix(index_number, &[Value::Int(n)]).unwrap();
        range = KeyRange { lower: KeyRange::prefix(prefix(from)).lower, upper: KeyRange::prefix(prefix(to)).upper };
    }
    let direction = if words.contains(&"back") { Direction::Backward } else { Direction::Forward };
    let mut scan = transaction.scan(table, index_number, range, direction, read_mode(words));
    let max = if words.contains(&"limit") { 1 } else { 100 };
    let (mut entries, mut shown) = (Vec::new(), Vec::new());
    while transaction.next_batch(&mut scan, &mut entries, max).await? {
        for entry in entries.drain(..) {
            let mut values = Vec::new();
            table.codec.indexes[index_number].layout.decode(&entry.value, &mut values)?;
            shown.push(fixture::show_values(&values));
        }
        if max == 1 {
            break;
        }
    }
    Ok(if shown.is_empty() { "none".to_string() } else { shown.join(" ") })
}

macro_rules! scripts {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            let path = concat!("src/tests/scripts/", stringify!($name));
            goldenscript::run(&mut Script::new(16 << 20), path).unwrap_or_else(|error| panic!("{error}"));
        })*
    };
}

/// Sessions are told the same if everything that they write goes to files at once.
#[test]
fn the_same_with_files() {
    for name in ["isolation", "locks", "gaps", "unique", "savepoints"] {
        let path = format!("src/tests/scripts/{name}");
        goldenscript::run(&mut Script::new(0), path).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

scripts! { indexes isolation locks gaps unique savepoints checkpoints ddl recovery }

/// A locking scan trusts what it read before its locks if nothing was installed since; one who commits may still be installing
/// into the memtable that a checkpoint has frozen.
#[test]
fn an_install_in_the_frozen_memtable_is_noticed() {
    let machine = fixture::machine(1);
    let run = async {
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        let table = engine.catalog().table("test", "t").unwrap().clone();
        let index = table.indexes[0].id;
        let core = engine.core();
        let guard = core.guard();
        let mut checkpoint = Box::pin(engine.checkpoint());
        assert!(futures_lite::future::poll_once(&mut checkpoint).await.is_none());
        let layers = core.views.layers().clone();
        assert_eq!(layers.memtables.len(), 2, "the checkpoint waits for the guard");
        let (before, stamp) = (layers.installs(index), crate::memtable::stamp::Stamp::new());
        let pending = crate::memtable::stamp::VersionStamp::Shared(stamp.clone());
        guard.memtable().install(index, b"k", None, pending, || core.views.floor());
        assert_ne!(layers.installs(index), before);
        stamp.abort();
        drop(guard);
        checkpoint.await.unwrap();
    };
    machine.run(run).unwrap();
}
