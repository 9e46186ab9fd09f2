//! Scripts from seeds for two servers, one of them ours: what is defined and written at a source is the same at its replica; and what a MySQL does with a
//! script, ours does too.
//!
//! A script grows with what its source says: what builds on a statement that was refused would be refused, too. A seed that fails is run again with fewer
//! statements, as long as it fails in the same way.

mod alter;
mod changes;
mod contents;
mod nodes;
mod script;
mod tables;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use crate::{Answer, Connection, Kind, Result};
use nodes::Nodes;
use script::Script;

/// Statements of a script, beside those of its beginning.
const STATEMENTS: usize = 70;
/// Runs that a script which fails may take to become smaller.
const SHRINK_RUNS: usize = 60;
/// What is not here says so; what is always as it is (`sql_generate_invisible_primary_key`), too.
const NOT_HERE: [u16; 2] = [1235, 1238];

/// A new primary key over rows with NULLs and with values that are there twice: MySQL looks for the first in all rows before it sorts them.
const EITHER: [u16; 2] = [1062, 1138];
/// DROP PRIMARY KEY where there is none but the generated one (docs/DIFFERENCES.md).
const NO_KEY: [u16; 2] = [1091, 4111];

/// A source and a replica, or two servers that run the same statements.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// How it is called on the command line.
    pub name: &'static str,
    source: Option<Kind>,
    second: Option<Kind>,
    direct: bool,
}

const fn pair(name: &'static str, source: Option<Kind>, second: Option<Kind>) -> Pair {
    Pair { name, source, second, direct: false }
}

/// All pairs that have one of ours.
pub const PAIRS: [Pair; 6] = [
    pair("mysql-commuter", Some(Kind::Mysql97), None),
    pair("mariadb-commuter", Some(Kind::Maria118), None),
    pair("commuter-mysql", None, Some(Kind::Mysql97)),
    pair("commuter-mariadb", None, Some(Kind::Maria118)),
    pair("commuter-commuter", None, None),
    Pair { name: "mysql-beside-commuter", source: Some(Kind::Mysql97), second: None, direct: true },
];

/// What seeds came to.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Seeds in which both were equal.
    pub clean: usize,
    /// Of the others, what is to be read.
    pub failures: Vec<String>,
    /// Statements that the source took, and that it refused.
    pub statements: (usize, usize),
    /// How often the source refused one with each code.
    pub refused: BTreeMap<u16, usize>,
}

/// What a statement came to: the code of its error, or 0.
type Said = Vec<u16>;

/// A script and what its source said.
struct Run {
    statements: Vec<String>,
    said: Said,
}

impl Pair {
    /// Runs seeds, each on the servers of the one before unless that failed. `shrinks`: failures are made small, which takes a while,
    /// and printed at once.
    ///
    /// # Errors
    /// When servers do not come up.
    pub fn run(self, seeds: Range<u64>, shrinks: bool) -> Result<Outcome> {
        let mut nodes = Nodes::start(self)?;
        let mut outcome = Outcome::default();
        for seed in seeds {
            let mut run = Run { statements: Vec::new(), said: Vec::new() };
            let failed = self.grow(seed, &nodes, &mut run).and_then(|()| self.compare(&mut nodes, &run));
            run.said.iter().filter(|&&code| code != 0).for_each(|&code| *outcome.refused.entry(code).or_default() += 1);
            let refused = run.said.iter().filter(|&&code| code != 0).count();
            outcome.statements.0 += run.said.len() - refused;
            outcome.statements.1 += refused;
            match failed {
                Ok(()) => outcome.clean += 1,
                Err(error) => {
                    let (mut statements, mut error) = (run.statements, error);
                    if shrinks {
                        (statements, error) = match self.shrink(&mut nodes, statements.clone(), error.clone()) {
                            Ok(small) => small,
                            Err(ended) => (statements, format!("{error} (and then: {ended})")),
                        };
                    }
                    let report = self.report(seed, &statements, &error);
                    if shrinks {
                        println!("{report}\n");
                    }
                    outcome.failures.push(report);
                    // A real server may have ended, too.
                    if nodes.renew().is_err() {
                        drop(nodes);
                        nodes = Nodes::start(self)?;
                    }
                }
            }
        }
        Ok(outcome)
    }

    /// The script of a seed, as it is done by the source.
    fn grow(self, seed: u64, nodes: &Nodes, run: &mut Run) -> Result<()> {
        let mut connection = nodes.source()?;
        let maria = Some(Kind::Maria118);
        let mut script = Script::new(seed, self.source, self.direct);
        script.has_maria = self.source == maria || self.second == maria;
        while run.statements.len() < STATEMENTS || !script.may_end() {
            let sql = script.next();
            run.statements.push(sql);
            let sql = &run.statements[run.statements.len() - 1];
            let code = done(&mut connection, sql)?;
            run.said.push(code);
            script.settle(code == 0);
        }
        Ok(())
    }

    /// The same statements again.
    fn again(self, nodes: &mut Nodes, statements: &[String]) -> Result<()> {
        let mut run = Run { statements: statements.to_vec(), said: Vec::new() };
        let mut connection = nodes.source()?;
        for sql in statements {
            run.said.push(done(&mut connection, sql)?);
        }
        drop(connection);
        self.compare(nodes, &run)
    }

    fn compare(self, nodes: &mut Nodes, run: &Run) -> Result<()> {
        if self.direct {
            // It ends with the script, and what it has not committed goes with it.
            let mut second = nodes.second()?;
            for (sql, &code) in run.statements.iter().zip(&run.said) {
                let ours = done(&mut second, sql)?;
                let is_either = [EITHER, NO_KEY].iter().any(|pair| pair.contains(&code) && pair.contains(&ours));
                if ours != code && !NOT_HERE.contains(&ours) && !is_either {
                    return Err(format!("answers differ: {sql}\n  MySQL {code}, ours {ours}"));
                }
            }
        } else {
            nodes.catch_up()?;
        }
        let (mut source, mut second) = (nodes.source()?, nodes.second()?);
        let beside_mariadb = [self.source, self.second].contains(&Some(Kind::Maria118));
        let first = contents::read(&mut source, beside_mariadb)?;
        let second = contents::read(&mut second, beside_mariadb)?;
        contents::difference(&first, &second).map_or(Ok(()), Err)
    }

    /// Fewer statements that fail in the same way.
    fn shrink(self, nodes: &mut Nodes, statements: Vec<String>, error: String) -> Result<(Vec<String>, String)> {
        let (mut statements, mut error, mut runs) = (statements, error, 0);
        let mut size = statements.len() / 2;
        while size > 0 {
            let mut at = 0;
            while at < statements.len() && runs < SHRINK_RUNS {
                let end = (at + size).min(statements.len());
                let fewer: Vec<String> = statements[..at].iter().chain(&statements[end..]).cloned().collect();
                runs += 1;
                nodes.renew()?;
                match self.again(nodes, &fewer) {
                    Err(other) if kind(&other) == kind(&error) => (statements, error) = (fewer, other),
                    _ => at = end,
                }
            }
            size /= 2;
        }
        Ok((statements, error))
    }

    fn report(self, seed: u64, statements: &[String], error: &str) -> String {
        let mut text = format!("{}, seed {seed}: {error}\n", self.name);
        for sql in statements {
            let _ = writeln!(text, "  {sql};");
        }
        let _ = write!(text, "again: cargo xtask soak --pairs --pair {} --seed {seed} --seeds 1", self.name);
        text
    }
}

/// A statement's code, or 0. A connection that breaks is an error.
fn done(connection: &mut Connection, sql: &str) -> Result<u16> {
    match connection.query(sql).map_err(|error| format!("the connection broke: {error}: {sql}"))? {
        Answer::Failed(code, _) => Ok(code),
        _ => Ok(0),
    }
}

/// The words of an error without names and numbers: what is to stay while a script becomes smaller.
fn kind(error: &str) -> String {
    let line = error.lines().next().unwrap_or_default();
    if let Some((_, kind)) = line.split_once(", rows:").map(|_| ("", "rows")) {
        return kind.into();
    }
    if line.contains(", definition:") {
        return "definition".into();
    }
    if let Some(code) = error.lines().nth(1).filter(|_| line.starts_with("answers differ")) {
        return code.into();
    }
    // What the server says of the statement, behind where it happened.
    let line = line.split_once("Error '").or_else(|| line.split_once("end_log_pos ")).map_or(line, |(_, said)| said);
    let letters = |byte: &char| byte.is_alphabetic() || *byte == ' ';
    line.chars().filter(letters).take(60).collect()
}
