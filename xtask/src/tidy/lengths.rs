//! Ratchets on the length of files and functions, and on how many files have methods of a type.
//!
//! `xtask/lengths.txt` lists the files over the limit with their length, per crate the number of functions over
//! a screen, and the types over theirs ([`spread`](super::spread)). What is not listed must keep the limit; what is listed must not grow.

use std::collections::BTreeMap;
use std::fs;

use interop::{Result, workspace_root};

use super::SourceFile;

const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 70;
const RATCHET: &str = "xtask/lengths.txt";

pub(crate) fn check(files: &[SourceFile], bless: bool, complaints: &mut Vec<String>) -> Result<()> {
    let now = measure(files);
    let path = workspace_root().join(RATCHET);
    if bless {
        let lines: Vec<String> = now.iter().map(|(name, length)| format!("{name} {length}\n")).collect();
        return fs::write(&path, lines.concat()).map_err(|error| error.to_string());
    }
    let limits = read_limits(&fs::read_to_string(&path).unwrap_or_default());
    for (name, length) in now {
        match limits.get(&name) {
            None => complaints.push(format!("{name}: {length}, over the limit; split it by role")),
            Some(limit) if length > *limit => {
                complaints.push(format!("{name}: {length}, was {limit} (cargo xtask tidy --bless, with a reason)"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn read_limits(text: &str) -> BTreeMap<String, usize> {
    let pair = |line: &str| {
        let (name, limit) = line.rsplit_once(' ')?;
        Some((name.to_owned(), limit.parse().ok()?))
    };
    text.lines().filter_map(pair).collect()
}

/// What is over a limit: files by path, functions counted by crate, types by their names.
fn measure(files: &[SourceFile]) -> BTreeMap<String, usize> {
    let mut lengths = super::spread::measure(files);
    for file in files {
        let lines = file.text.lines().count();
        if lines > FILE_LINES_MAX {
            lengths.insert(format!("{} lines", file.path), lines);
        }
        let long = long_functions(&file.text);
        if long > 0 {
            *lengths.entry(format!("{} functions over a screen", file.crate_name())).or_default() += long;
        }
    }
    lengths
}

/// rustfmt puts the closing brace of a function at the indentation of its first line.
fn long_functions(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let mut long = 0;
    for (at, line) in lines.iter().enumerate() {
        let indentation = line.len() - line.trim_start().len();
        let begins = ["fn ", "pub fn ", "pub(crate) fn ", "async fn ", "pub async fn ", "pub(crate) async fn "];
        if !begins.iter().any(|begin| line.trim_start().starts_with(begin)) {
            continue;
        }
        // A trait's method without a body.
        let opens = lines[at..].iter().find(|line| line.ends_with(['{', ';', '}']));
        if opens.is_some_and(|line| line.ends_with(';')) {
            continue;
        }
        let closing = format!("{}}}", &line[..indentation]);
        let length = lines[at..].iter().position(|line| **line == closing);
        long += usize::from(length.is_some_and(|length| length > FUNCTION_LINES_MAX));
    }
    long
}
