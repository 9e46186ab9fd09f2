//! Scripts of lock conflicts: `src/lock/testscripts`. `UPDATE_GOLDENFILES=1` rewrites them.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::ops::Bound;

use goldenscript::{Command, Context as ScriptContext};

use super::*;

struct Stage {
    clock: Arc<HandClock>,
    manager: Arc<LockManager>,
    actors: BTreeMap<String, (Actor, Arc<Cancel>)>,
    /// Those that wait for their turn to commit.
    turns: BTreeMap<String, TurnWait>,
}

fn stage(options: LockOptions) -> Stage {
    let clock = Arc::<HandClock>::default();
    let manager = LockManager::new(clock.clone(), options);
    Stage { clock, manager, actors: BTreeMap::new(), turns: BTreeMap::new() }
}

impl goldenscript::Runner for Stage {
    type Command = Command;

    /// `NAME record|gap|insert|table|unlock|work|release|kill|drop …`, `NAME turn NUMBER`, `NAME waits-for-turn`, `NAME child-of NAME`,
    /// `sleep SECONDS`, `detect on|off`, `stats`, `packed`.
    fn run(&mut self, command: &Command, _context: &ScriptContext) -> Result<String, Box<dyn Error>> {
        let args: Vec<String> = command.args.iter().map(ToString::to_string).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut output = String::new();
        match command.name.as_str() {
            "sleep" => self.clock.advance(Duration::from_secs(args[0].parse()?)),
            "detect" => self.manager.set_deadlock_detect(args[0] == "on"),
            "stats" => writeln!(output, "{}", self.stats())?,
            "packed" => {
                let stats = self.manager.stats();
                writeln!(output, "records {} pending {}", stats.packed_records, stats.packed_inserts)?;
            }
            name if args[0] == "child-of" => {
                let (parent, _) = self.actors.get_mut(args[1]).ok_or("no such owner")?;
                let child = parent.owner().ok_or("it waits")?.child();
                self.actors.insert(name.to_owned(), (Actor::Free(child), Arc::new(Cancel::new())));
            }
            name => output = self.act(name, &args)?,
        }
        self.settle(&mut output);
        Ok(output)
    }

    fn end_script(&mut self) -> Result<(), Box<dyn Error>> {
        self.turns.clear();
        self.actors.clear();
        assert_empty(&self.manager);
        Ok(())
    }
}

impl Stage {
    fn stats(&self) -> String {
        let (stats, waits) = (self.manager.stats(), self.manager.waits());
        format!(
            "records {} gap_segments {} pending {} tables {} waiting {} deadlocks {} timeouts {}",
            stats.records,
            stats.gap_segments,
            stats.pending_inserts,
            stats.tables,
            stats.waiting,
            waits.deadlocks,
            waits.timeouts
        )
    }

    fn act(&mut self, name: &str, args: &[&str]) -> Result<String, Box<dyn Error>> {
        let manager = self.manager.clone();
        let new = || (Actor::Free(manager.owner()), Arc::new(Cancel::new()));
        let (actor, cancel) = self.actors.entry(name.to_owned()).or_insert_with(new);
        match args[0] {
            "kill" => cancel.cancel(base::Cancelled::Statement),
            "drop" => drop(self.actors.remove(name)),
            "release" => {
                self.turns.remove(name);
                actor.owner().ok_or("it waits")?.release_all();
            }
            "turn" => {
                actor.owner().ok_or("it waits")?.set_turn(Some(Turn { line: 1, number: args[1].parse()? }));
            }
            "waits-for-turn" => match actor.owner().ok_or("it waits")?.wait_for_turn() {
                Some(wait) => drop(self.turns.insert(name.to_owned(), wait)),
                None => return Ok("in nobody's way\n".to_owned()),
            },
            "unlock" => actor.owner().ok_or("it waits")?.unlock_record(INDEX, args[1].as_bytes()),
            "work" => actor.owner().ok_or("it waits")?.add_work(args[1].parse()?),
            _ => {
                let (request, policy) = parse(args)?;
                return Ok(match actor.ask(request, policy, cancel) {
                    Some(result) => format!("{}\n", describe(result)),
                    None => "waits\n".to_owned(),
                });
            }
        }
        Ok(String::new())
    }

    /// Lets everybody go on who can, and tells who did.
    fn settle(&mut self, output: &mut String) {
        loop {
            let mut moved = false;
            let mut context = Context::from_waker(Waker::noop());
            let mut gives_up = |wait: &mut TurnWait| Pin::new(wait).poll(&mut context).is_ready();
            let in_the_way: Vec<String> =
                self.turns.extract_if(.., |_, wait| gives_up(wait)).map(|(name, _)| name).collect();
            for name in in_the_way {
                writeln!(output, "{name}: is in the way").unwrap();
            }
            for (name, (actor, _)) in &mut self.actors {
                if let Some(result) = actor.poll() {
                    writeln!(output, "{name}: {}", describe(result)).unwrap();
                    moved = true;
                }
            }
            if !moved {
                return;
            }
        }
    }
}

fn describe(result: Result<Acquired, LockError>) -> String {
    match result {
        Ok(acquired) => format!("{acquired:?}"),
        Err(error) => format!("error {error:?}"),
    }
}

fn parse(args: &[&str]) -> Result<(Request, WaitPolicy), Box<dyn Error>> {
    let key = |at: usize| args.get(at).map(|text| Bytes::copy_from_slice(text.as_bytes())).ok_or("key missing");
    let bound = |at: usize, limit: &str| match args.get(at) {
        Some(text) if *text == limit => Ok(Bound::Unbounded),
        _ => key(at).map(Bound::Excluded),
    };
    let request = match args[0] {
        "record" if args[2] == "S" => Request::Record(key(1)?, Strength::Shared),
        "record" => Request::Record(key(1)?, Strength::Exclusive),
        "insert" => Request::Insert(key(1)?),
        "gap" if args.contains(&"closed") => Request::Gap(bound(1, "min")?, Bound::Included(key(2)?)),
        "gap" => Request::Gap(bound(1, "min")?, bound(2, "max")?),
        "table" => {
            let mode = match args[2] {
                "IS" => TableMode::IntentShared,
                "IX" => TableMode::IntentExclusive,
                "S" => TableMode::Shared,
                _ => TableMode::Exclusive,
            };
            Request::Table(args[1].to_owned(), mode)
        }
        other => return Err(format!("unknown: {other}").into()),
    };
    let policy = match args.last() {
        Some(&"nowait") => WaitPolicy::NoWait,
        Some(&"skip") => WaitPolicy::Skip,
        _ => WaitPolicy::For(Duration::from_secs(50)),
    };
    Ok((request, policy))
}

fn script(name: &str) {
    script_with(name, LockOptions::default());
}

fn script_with(name: &str, options: LockOptions) {
    let path = format!("{}/src/lock/testscripts/{name}", env!("CARGO_MANIFEST_DIR"));
    goldenscript::run(&mut stage(options), path).unwrap();
}

#[test]
fn records() {
    script("records");
}

#[test]
fn gaps() {
    script("gaps");
}

#[test]
fn deadlocks() {
    script("deadlocks");
}

#[test]
fn turns() {
    script("turns");
}

#[test]
fn tables() {
    script("tables");
}

#[test]
fn giving_up() {
    script("giving_up");
}

/// Whoever has two locks packs them when it asks for the third.
#[test]
fn packed() {
    script_with("packed", LockOptions { pack_at: 2, ..LockOptions::default() });
}

/// The other scripts as they are: nobody sees what is packed.
#[test]
fn packed_or_not() {
    for name in ["records", "gaps", "deadlocks", "turns", "tables", "giving_up"] {
        script_with(name, LockOptions { pack_at: 1, ..LockOptions::default() });
    }
}

#[test]
fn too_many() {
    script_with("too_many", LockOptions { owner_locks_max: 5, pack_at: 2 });
}
