//! How many statements of each file have to be equal: a number that may not fall.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use interop::{Result, workspace_root};

/// A file's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// Statements that were executed and compared.
    pub(crate) statements: usize,
    /// Of them, those with a peer's answer.
    pub(crate) equal: usize,
}

/// Numbers by file.
pub(crate) type Counts = BTreeMap<String, Count>;

const HEAD: &str = "# Statements of MariaDB's test files, and how many of them give what MySQL 9.7 or MariaDB 11.8 gives.\n\
                    # The last number may not fall; `cargo xtask suites --update` writes this file.\n";

fn path() -> PathBuf {
    workspace_root().join("xtask/suites.txt")
}

/// The committed numbers.
pub(crate) fn read() -> Result<Counts> {
    let text = fs::read_to_string(path()).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| parse(line).ok_or_else(|| format!("{}: not a file and two numbers: {line}", path().display())))
        .collect()
}

fn parse(line: &str) -> Option<(String, Count)> {
    let mut words = line.split(' ');
    let (file, statements, equal) = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    words.next().is_none().then(|| (file.to_owned(), Count { statements, equal }))
}

/// Writes new numbers over those of the same files.
pub(crate) fn write(counts: &Counts) -> Result<()> {
    let mut all = read()?;
    all.extend(counts.iter().map(|(file, count)| (file.clone(), *count)));
    let lines = all.iter().map(|(file, Count { statements, equal })| format!("{file} {statements} {equal}\n"));
    fs::write(path(), HEAD.to_owned() + &lines.collect::<String>()).map_err(|error| error.to_string())
}

/// Whether a file has become worse.
pub(crate) fn is_worse(before: &Counts, now: &Counts, file: &str) -> bool {
    before.get(file).zip(now.get(file)).is_some_and(|(before, now)| now.equal < before.equal)
}

/// What has become worse.
pub(crate) fn complaints(before: &Counts, now: &Counts) -> Vec<String> {
    let worse = now.iter().filter_map(|(file, count)| {
        let limit = before.get(file)?.equal;
        (count.equal < limit).then(|| format!("{file}: {} statements are equal, {limit} were", count.equal))
    });
    worse.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_equal_statements_are_a_complaint() {
        let counts = |equal| Counts::from([("main/a.test".to_owned(), Count { statements: 9, equal })]);
        assert!(complaints(&counts(5), &counts(5)).is_empty());
        assert_eq!(complaints(&counts(5), &counts(4)).len(), 1);
        assert!(complaints(&Counts::new(), &counts(4)).is_empty());
    }

    #[test]
    fn lines_are_read() {
        assert_eq!(parse("a.test 3 2"), Some(("a.test".into(), Count { statements: 3, equal: 2 })));
        assert_eq!(parse("a.test 3"), None);
    }
}
