//! Many clients at once, each on a thread of its own, that run transactions until they are told to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::random_sql::Random;
use crate::{Answer, Client, Connection, Raw, Result};

/// ER_LOCK_DEADLOCK
const DEADLOCK: u16 = 1213;
/// ER_CON_COUNT_ERROR, behind the mark of an error packet.
const TOO_MANY: [u8; 3] = [0xff, 0x10, 0x04];
/// Thousands of threads that do next to nothing.
const STACK_BYTES: usize = 256 << 10;

/// See the module.
pub struct Crowd {
    start: Instant,
    stop: Arc<AtomicBool>,
    members: Vec<JoinHandle<Result<Vec<Turn>>>>,
}

/// A transaction that was committed.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// Since the start of the crowd.
    end: Duration,
    /// From the first statement to the last answer; those that ended in a deadlock before it are in it.
    took: Duration,
    deadlocks: u32,
}

/// What a crowd did, member by member.
pub struct Crowded(Vec<Vec<Turn>>);

/// What a crowd did in some of its time.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Committed transactions a second.
    pub rate: f64,
    /// Deadlocks (1213) a second.
    pub deadlocks: f64,
    /// Half of the transactions took less.
    pub median: Duration,
    /// 99 of 100 took less.
    pub p99: Duration,
    /// The longest.
    pub max: Duration,
    /// Transactions of the member that did least, over those of the one in the middle.
    pub slowest_member: f64,
}

impl Crowd {
    /// Connects so many clients to a database, and lets all of them run transactions; `transaction` makes the statements of one, for
    /// a member's number and a source of chance. After a deadlock (1213) it is run again.
    ///
    /// # Errors
    /// When a client is not let in.
    pub fn start(
        port: u16,
        database: &str,
        count: u64,
        transaction: impl Fn(u64, &mut Random) -> Vec<String> + Clone + Send + 'static,
    ) -> Result<Crowd> {
        let connections = (0..count).map(|_| Connection::open(port, database));
        let connections = connections.collect::<Result<Vec<_>>>()?;
        let (start, stop) = (Instant::now(), Arc::new(AtomicBool::new(false)));
        let members = (0..).zip(connections).map(|(number, mut connection)| {
            let (stop, transaction, mut random) = (stop.clone(), transaction.clone(), Random::new(number));
            let member = move || {
                let mut turns = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    let statements = transaction(number, &mut random);
                    let (begin, mut deadlocks) = (Instant::now(), 0);
                    while !run(&mut connection, &statements)? {
                        deadlocks += 1;
                    }
                    turns.push(Turn { end: start.elapsed(), took: begin.elapsed(), deadlocks });
                }
                Ok(turns)
            };
            Builder::new().stack_size(STACK_BYTES).spawn(member).map_err(|error| error.to_string())
        });
        Ok(Crowd { start, members: members.collect::<Result<Vec<_>>>()?, stop })
    }

    /// How long it has been at it.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Lets everybody end their transaction.
    ///
    /// # Errors
    /// What a member was told instead of OK, or that its connection broke.
    pub fn end(self) -> Result<Crowded> {
        self.stop.store(true, Ordering::Relaxed);
        let turns = self.members.into_iter().map(|member| member.join().map_err(|_| "a client panicked".to_owned())?);
        turns.collect::<Result<Vec<_>>>().map(Crowded)
    }
}

impl Crowded {
    /// Committed transactions by member.
    pub fn commits(&self) -> Vec<u64> {
        self.0.iter().map(|turns| turns.len() as u64).collect()
    }

    /// The figures of what ended in between; `None` if nobody ended anything.
    pub fn between(&self, from: Duration, to: Duration) -> Option<Figures> {
        let inside = |turn: &&Turn| turn.end >= from && turn.end < to;
        let mut by_member: Vec<usize> = self.0.iter().map(|turns| turns.iter().filter(inside).count()).collect();
        by_member.sort_unstable();
        let turns = || self.0.iter().flatten().filter(inside);
        let mut took: Vec<Duration> = turns().map(|turn| turn.took).collect();
        took.sort_unstable();
        let seconds = (to - from).as_secs_f64();
        Some(Figures {
            rate: took.len() as f64 / seconds,
            deadlocks: f64::from(turns().map(|turn| turn.deadlocks).sum::<u32>()) / seconds,
            median: *took.get(took.len() / 2)?,
            p99: *took.get(took.len() * 99 / 100)?,
            max: *took.last()?,
            slowest_member: by_member[0] as f64 / by_member[by_member.len() / 2].max(1) as f64,
        })
    }
}

/// Makes the table `d.t` of so many counters, whose ids begin at 1.
///
/// # Errors
/// When it is there already.
pub fn create_counters(client: &Client, count: u64) -> Result<()> {
    let rows = (1..=count).map(|id| format!("({id}, 0)")).collect::<Vec<_>>().join(",");
    let create = "CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, n INT)";
    client.query(&format!("{create}; INSERT INTO d.t VALUES {rows}")).map(drop)
}

/// Adds one to a counter of the default database.
pub fn count_up(id: u64) -> String {
    format!("UPDATE t SET n = n + 1 WHERE id = {id}")
}

/// A transaction that adds one to two of so many counters, in any order, so that many of them come to deadlocks.
pub fn count_up_two(count: usize, random: &mut Random) -> Vec<String> {
    let first = random.below(count);
    let second = (first + 1 + random.below(count - 1)) % count;
    vec!["BEGIN".to_owned(), count_up(first as u64 + 1), count_up(second as u64 + 1), "COMMIT".to_owned()]
}

/// Connects so often, and is told each time that there are too many connections (1040).
///
/// # Errors
/// When it is told something else.
pub fn be_refused(port: u16, times: u64) -> Result<()> {
    for _ in 0..times {
        let packet = Raw::open(port)?.packet().ok_or("a connection that was not let in was told nothing")?;
        if packet[..3] != TOO_MANY {
            return Err(format!("a connection too many was told {packet:?}"));
        }
    }
    Ok(())
}

/// Runs a transaction's statements; false if it was rolled back because of a deadlock.
fn run(connection: &mut Connection, statements: &[String]) -> Result<bool> {
    for sql in statements {
        match connection.query(sql)? {
            Answer::Failed(DEADLOCK, _) => return Ok(false),
            Answer::Failed(code, message) => return Err(format!("{sql}: {code} {message}")),
            _ => {}
        }
    }
    Ok(true)
}
