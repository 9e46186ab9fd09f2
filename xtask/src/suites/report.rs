//! What a run of the suites came to, for people and for programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;

use serde_json::json;

use super::answers::{Expected, Outcome, Said, kind_of_difference};
use super::interpreter::Ran;
use super::ratchet::{Count, Counts};

/// Statements that differ, worst kinds first; those last that differ because an earlier one about the same table or routine does.
const KINDS: [&str; 6] = ["lost", "accepted", "values", "refused", "other error", FOLLOWS];
const FOLLOWS: &str = "follows";

/// See the module.
#[derive(Default)]
pub(crate) struct Report {
    differences: BTreeMap<&'static str, Vec<String>>,
    deaths: Vec<String>,
    skipped: usize,
}

impl Report {
    /// Takes what one file came to.
    pub(crate) fn add(&mut self, file: &str, ran: &Ran, compared: &[&Said], expected: &Expected) {
        self.skipped += ran.skipped;
        self.deaths.extend(ran.deaths.iter().map(|sql| format!("{file}: {sql}")));
        let failed_inside =
            |said: &&Said| matches!(&said.outcome, Outcome::Failed(_, text) if text.starts_with("Internal error"));
        self.deaths.extend(ran.said.iter().filter(failed_inside).map(|said| format!("{file}: {}", said.sql)));
        let mut touched = Touched::default();
        for said in compared {
            if expected.allows(said) {
                touched.forget(said);
                continue;
            }
            let theirs = expected.at(&said.key);
            let mut text = format!("{} in {file}\n  {}\n    ours: {}\n", said.key, said.sql, said.outcome.shown());
            for peer in theirs {
                let _ = writeln!(text, "    peer: {}", peer.outcome.shown());
            }
            let kind = if touched.is_in(said) { FOLLOWS } else { kind_of_difference(&said.outcome, theirs) };
            touched.note(said);
            self.differences.entry(kind).or_default().push(text);
        }
    }

    /// Statements that differ: of all kinds or of one.
    pub(crate) fn differences(&self, kind: &str) -> String {
        let mut text = String::new();
        for of in KINDS.iter().filter(|of| kind == "all" || kind == **of) {
            for difference in self.differences.get(of).into_iter().flatten() {
                let _ = writeln!(text, "{of}: {difference}");
            }
        }
        text
    }

    /// Whether our server has ended at a statement.
    pub(crate) fn has_deaths(&self) -> bool {
        !self.deaths.is_empty()
    }

    /// Why the run has failed.
    pub(crate) fn failure(&self, complaints: &[String]) -> String {
        let mut lines: Vec<String> = self.deaths.iter().map(|death| format!("the server ended at {death}")).collect();
        lines.extend_from_slice(complaints);
        lines.push("`cargo xtask suites FILE --show` shows what differs".into());
        lines.join("\n")
    }

    /// Prints the numbers.
    pub(crate) fn print(&self, is_json: bool, counts: &Counts, complaints: &[String], took: Duration) {
        let sum = |of: fn(&Count) -> usize| counts.values().map(of).sum::<usize>();
        let (statements, equal) = (sum(|count| count.statements), sum(|count| count.equal));
        let of_kind = |kind: &str| self.differences.get(kind).map_or(0, Vec::len);
        if is_json {
            let kinds: BTreeMap<&str, usize> = KINDS.iter().map(|kind| (*kind, of_kind(kind))).collect();
            let files: BTreeMap<&String, _> =
                counts.iter().map(|(file, count)| (file, json!([count.statements, count.equal]))).collect();
            let value = json!({
                "files": files, "statements": statements, "equal": equal, "different": kinds, "skipped": self.skipped,
                "deaths": self.deaths, "worse": complaints, "seconds": took.as_secs(),
            });
            println!("{value}");
            return;
        }
        println!(
            "{} files, {statements} statements, {equal} equal, {} commands skipped, {took:.0?}",
            counts.len(),
            self.skipped
        );
        for kind in KINDS {
            println!("  {:7} {kind}", of_kind(kind));
        }
    }
}

/// Names of tables, routines and variables that are not here what they are on the peers.
#[derive(Default)]
struct Touched(BTreeSet<String>);

impl Touched {
    /// A statement that differs leaves what it changes different.
    fn note(&mut self, said: &Said) {
        const BEHIND: &str = " table into from update join view trigger on procedure function exists call replace insert set prepare ignore delete ";
        let words = words(&said.sql);
        if words.first().is_some_and(|word| word == "select" || word == "show") && !said.sql.contains(":=") {
            return;
        }
        for pair in words.windows(2) {
            if BEHIND.contains(&format!(" {} ", pair[0])) {
                self.0.insert(pair[1].clone());
            }
        }
    }

    /// A table that is dropped or made as on the peers is the same again.
    fn forget(&mut self, said: &Said) {
        let words = words(&said.sql);
        if words.first().is_some_and(|word| word == "drop" || word == "create" || word == "truncate") {
            words.iter().for_each(|word| {
                self.0.remove(word);
            });
        }
    }

    fn is_in(&self, said: &Said) -> bool {
        words(&said.sql).iter().any(|word| self.0.contains(word))
    }
}

fn words(sql: &str) -> Vec<String> {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_' || c == '@';
    sql.split(|c| !is_of_word(c)).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_difference_is_known() {
        let said = |sql: &str| Said { key: String::new(), sql: sql.into(), outcome: Outcome::Done(None) };
        let mut touched = Touched::default();
        touched.note(&said("INSERT INTO t1 VALUES (f())"));
        assert!(touched.is_in(&said("SELECT * FROM t1")) && !touched.is_in(&said("SELECT * FROM t2")));
        touched.forget(&said("DROP TABLE t1"));
        assert!(!touched.is_in(&said("SELECT * FROM t1")));
    }
}
