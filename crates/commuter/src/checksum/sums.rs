//! Two of our servers compared by the sums that they keep: equal ones in a question per table, others down to the rows in which
//! they differ.
//!
//! ```text
//!   a range whose sums differ ── large ── one server cuts it where its tree is cut, both sum the parts ── again, part by part
//!                             └─ small ── the hashes of its rows, side by side
//! ```

use std::collections::{BTreeMap, BTreeSet};

use commuter::client::{Client, ClientError, QueryResult};

use super::report::{Compared, Row, Rows, What};
use super::{Sum, Table, values};
use crate::cli::CommandError;

/// Ranges of up to so many rows are compared row by row.
const SMALL_ROWS: u64 = 400;
/// In the definition of a table with a generated key.
const INVISIBLE_COLUMN: &str = "/*!80023 INVISIBLE */";
/// Tables in one question.
const TABLES_AT_ONCE: usize = 100;

/// Whether a server is one of ours, which keep sums.
pub(super) fn are_kept(client: &mut Client) -> Result<bool, ClientError> {
    Ok(client.query("SELECT @@version_comment")?.text(0, 0) == "commuter")
}

/// What two servers have in a range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    first: Sum,
    second: Sum,
}

/// The sums of tables that both servers define alike.
pub(super) fn whole(
    first: &mut Client,
    second: &mut Client,
    tables: &[Table],
) -> Result<BTreeMap<Table, Pair>, CommandError> {
    let mut alike = Vec::new();
    for table in tables {
        if definition(first, table)? == definition(second, table)? {
            alike.push(table.clone());
        }
    }
    let mut pairs = BTreeMap::new();
    for some in alike.chunks(TABLES_AT_ONCE) {
        let names = some.iter().map(Table::quoted).collect::<Vec<_>>().join(", ");
        let question = format!("CHECKSUM TABLE {names} RANGES");
        let (ours, theirs) = (parts(&first.query(&question)?)?, parts(&second.query(&question)?)?);
        for (table, (ours, theirs)) in some.iter().zip(ours.iter().zip(&theirs)) {
            pairs.insert(table.clone(), Pair { first: ours.sum, second: theirs.sum });
        }
    }
    Ok(pairs)
}

/// How a table is defined, but for the next number that it gives.
fn definition(client: &mut Client, table: &Table) -> Result<String, ClientError> {
    let text = client.query(&format!("SHOW CREATE TABLE {}", table.quoted()))?.text(0, 1);
    Ok(match text.split_once(" AUTO_INCREMENT=") {
        Some((before, after)) => format!("{before}{}", after.trim_start_matches(|c: char| c.is_ascii_digit())),
        None => text,
    })
}

/// Compares a table, and names up to so many rows in which it differs.
pub(super) fn compare(
    first: &mut Client,
    second: &mut Client,
    table: &Table,
    whole: Pair,
    rows_max: usize,
) -> Result<Compared, CommandError> {
    if whole.first == whole.second {
        return Ok(Compared::Same(whole.first));
    }
    // Numbers that two servers gave on their own to equal rows are no difference.
    if definition(first, table)?.contains(INVISIBLE_COLUMN)
        && let Some(sum) = values::are_same(first, second, table)?
    {
        return Ok(Compared::Same(sum));
    }
    let mut descent = Descent { first, second, table: table.quoted(), rows_max, found: Vec::new(), more: false };
    descent.range(&Range::default(), whole)?;
    let rows = Some(Rows { rows: descent.found, more: descent.more });
    Ok(Compared::Differs { first: whole.first, second: whole.second, rows })
}

/// Keys in hexadecimal: from one on, and before another.
#[derive(Clone, Debug, Default)]
struct Range {
    from: Option<String>,
    to: Option<String>,
}

impl Range {
    fn clause(&self) -> String {
        let from = self.from.as_ref().map(|key| format!(" FROM x'{key}'"));
        let to = self.to.as_ref().map(|key| format!(" TO x'{key}'"));
        from.unwrap_or_default() + &to.unwrap_or_default()
    }
}

/// A part of a range, and what a server has in it.
struct Part {
    from: Option<String>,
    sum: Sum,
}

/// The answer of CHECKSUM TABLE … RANGES.
fn parts(answer: &QueryResult) -> Result<Vec<Part>, CommandError> {
    let number = |row: usize, column: usize| -> Result<u64, CommandError> {
        let gone = || format!("table {} has gone or changed meanwhile", answer.text(row, 0));
        answer.text(row, column).parse().map_err(|_| gone().into())
    };
    let part = |row: usize| {
        let from = answer.rows[row][1].is_some().then(|| answer.text(row, 1));
        Ok(Part { from, sum: Sum { rows: number(row, 2)?, hash: number(row, 3)? } })
    };
    (0..answer.rows.len()).map(part).collect()
}

/// The search for the rows in which a table differs.
struct Descent<'a> {
    first: &'a mut Client,
    second: &'a mut Client,
    table: String,
    rows_max: usize,
    found: Vec<Row>,
    more: bool,
}

impl Descent<'_> {
    /// Looks through a range whose sums differ.
    fn range(&mut self, range: &Range, pair: Pair) -> Result<(), CommandError> {
        if pair.first.rows.max(pair.second.rows) <= SMALL_ROWS {
            return self.rows(range);
        }
        let split = format!("CHECKSUM TABLE {} RANGES{} SPLIT", self.table, range.clause());
        // Who has more knows better where to cut.
        let first_splits = pair.first.rows >= pair.second.rows;
        let splitter = if first_splits { &mut *self.first } else { &mut *self.second };
        let cut = parts(&splitter.query(&split)?)?;
        if cut.len() < 2 {
            return self.rows(range);
        }
        let keys: Vec<String> = cut[1..].iter().flat_map(|part| &part.from).map(|key| format!("x'{key}'")).collect();
        let at = format!("CHECKSUM TABLE {} RANGES{} AT ({})", self.table, range.clause(), keys.join(", "));
        let other = if first_splits { &mut *self.second } else { &mut *self.first };
        let same_cut = parts(&other.query(&at)?)?;
        let ends = cut[1..].iter().map(|part| part.from.clone()).chain([range.to.clone()]);
        for ((part, same_part), to) in cut.iter().zip(&same_cut).zip(ends) {
            if part.sum == same_part.sum {
                continue;
            }
            if self.more {
                return Ok(());
            }
            let (first, second) = if first_splits { (part.sum, same_part.sum) } else { (same_part.sum, part.sum) };
            self.range(&Range { from: part.from.clone(), to }, Pair { first, second })?;
        }
        Ok(())
    }

    /// Compares the rows of a range, side by side.
    fn rows(&mut self, range: &Range) -> Result<(), CommandError> {
        let question = format!("CHECKSUM TABLE {} ROWS{}", self.table, range.clause());
        let (ours, theirs) = (hashes(&self.first.query(&question)?), hashes(&self.second.query(&question)?));
        let keys: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
        for key in keys {
            let (what, (condition, _)) = match (ours.get(key), theirs.get(key)) {
                (Some(a), Some(b)) if a.1 == b.1 => continue,
                (Some(row), Some(_)) => (What::Different, row),
                (Some(row), None) => (What::OnlyFirst, row),
                (None, Some(row)) => (What::OnlySecond, row),
                (None, None) => continue,
            };
            if self.found.len() == self.rows_max {
                self.more = true;
                return Ok(());
            }
            self.found.push(Row { what, condition: condition.clone() });
        }
        Ok(())
    }
}

/// The answer of CHECKSUM TABLE … ROWS: by key, the condition that finds the row, and its hash.
fn hashes(answer: &QueryResult) -> BTreeMap<String, (String, String)> {
    let row = |row: usize| (answer.text(row, 1), (answer.text(row, 2), answer.text(row, 3)));
    (0..answer.rows.len()).map(row).collect()
}
