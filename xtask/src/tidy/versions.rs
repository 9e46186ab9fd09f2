//! Versions of what others wrote: none twice but those of `xtask/duplicates.txt`, none that `xtask/advisories.txt` names.
//!
//! Both lists are read here and not by a tool that would have to be built first (minutes) and to fetch a database. A line in either that
//! holds of no dependency any more is a complaint too, where the line says that it is here: so the lists stay short and true.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use interop::{Result, workspace_root};
use serde_json::Value;

const DUPLICATES: &str = "xtask/duplicates.txt";
const ADVISORIES: &str = "xtask/advisories.txt";

/// Names, and the versions that a build for this machine would use.
type Versions = BTreeMap<String, BTreeSet<String>>;

pub(super) fn check(metadata: &Value, complaints: &mut Vec<String>) -> Result<()> {
    let versions = versions(metadata);
    check_duplicates(&versions, &lines(DUPLICATES)?, complaints);
    for line in lines(ADVISORIES)? {
        match Advisory::parse(&line) {
            Some(advisory) => advisory.check(&versions, complaints),
            None => complaints.push(format!("{ADVISORIES}: `{line}` is not `CRATE BOUNDS ID: reason`")),
        }
    }
    Ok(())
}

fn versions(metadata: &Value) -> Versions {
    let mut versions = Versions::new();
    for package in metadata["packages"].as_array().into_iter().flatten().filter(|package| package["source"].is_string())
    {
        let text = |field: &str| package[field].as_str().unwrap_or_default().to_owned();
        versions.entry(text("name")).or_default().insert(text("version"));
    }
    versions
}

/// Lines of a list, without what is behind `#`.
fn lines(name: &str) -> Result<Vec<String>> {
    let text = fs::read_to_string(workspace_root().join(name)).map_err(|error| format!("{name}: {error}"))?;
    let plain = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim().to_owned());
    Ok(plain.filter(|line| !line.is_empty()).collect())
}

/// A line is `CRATE VERSION VERSION …`.
fn check_duplicates(versions: &Versions, declared: &[String], complaints: &mut Vec<String>) {
    let twice = versions.iter().filter(|(_, versions)| versions.len() > 1);
    let found: BTreeSet<String> = twice
        .map(|(name, versions)| {
            let places: BTreeSet<String> = versions.iter().map(|version| series(version)).collect();
            format!("{name} {}", places.into_iter().collect::<Vec<_>>().join(" "))
        })
        .collect();
    let declared: BTreeSet<String> = declared.iter().cloned().collect();
    for line in found.difference(&declared) {
        complaints.push(format!(
            "{line}: a crate in several versions; use one, or declare it in {DUPLICATES} with its reason"
        ));
    }
    for line in declared.difference(&found) {
        complaints.push(format!("{DUPLICATES}: `{line}` is not so any more; remove the line"));
    }
}

/// What two releases have in common that may take each other's place: `1` of 1.4.2, `0.9` of 0.9.5.
fn series(version: &str) -> String {
    let mut numbers = version.split('.');
    let first = numbers.next().unwrap_or_default();
    if first == "0" { format!("0.{}", numbers.next().unwrap_or_default()) } else { first.to_owned() }
}

/// What is known against some versions of a crate: a line `CRATE >=1.2,<1.4.5 ID: reason`; without a lower bound all earlier ones, and `*` all.
struct Advisory<'line> {
    name: &'line str,
    bounds: Vec<(&'line str, [u64; 3])>,
    reason: &'line str,
}

impl<'line> Advisory<'line> {
    fn parse(line: &'line str) -> Option<Self> {
        let (name, rest) = line.split_once(' ')?;
        let (bounds, reason) = rest.trim().split_once(' ')?;
        reason.contains(": ").then_some(())?;
        let bound = |bound: &'line str| {
            let (how, version) =
                bound.strip_prefix(">=").map(|v| (">=", v)).or_else(|| bound.strip_prefix('<').map(|v| ("<", v)))?;
            Some((how, numbers(version)?))
        };
        let bounds = if bounds == "*" { Vec::new() } else { bounds.split(',').map(bound).collect::<Option<_>>()? };
        Some(Advisory { name, bounds, reason: reason.trim() })
    }

    fn holds_of(&self, version: &str) -> bool {
        let Some(version) = numbers(version) else { return true };
        self.bounds.iter().all(|(how, bound)| if *how == "<" { version < *bound } else { version >= *bound })
    }

    fn check(&self, versions: &Versions, complaints: &mut Vec<String>) {
        for version in versions.get(self.name).into_iter().flatten().filter(|version| self.holds_of(version)) {
            complaints.push(format!("{} {version}: {} ({ADVISORIES})", self.name, self.reason));
        }
    }
}

/// The three numbers of a version; what is behind them (`-rc.1`, `+build`) does not count.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let plain = version.split(['-', '+']).next()?;
    let mut numbers = plain.split('.').map(|number| number.parse::<u64>().ok());
    let mut next = || numbers.next().unwrap_or(Some(0));
    Some([next()?, next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_those_of_the_line() {
        let advisory = Advisory::parse("a >=1.2,<1.4.5 RUSTSEC-0: why").unwrap();
        let holds = ["1.1.9", "1.2.0", "1.4.4-rc.1", "1.4.5"].map(|version| advisory.holds_of(version));
        assert_eq!(holds, [false, true, true, false]);
        assert!(Advisory::parse("a * RUSTSEC-0: why").unwrap().holds_of("7.0.0"));
        assert!(Advisory::parse("a =1 RUSTSEC-0: why").is_none());
    }

    #[test]
    fn duplicates_are_declared_by_series_and_nothing_else_is() {
        let versions = Versions::from([
            ("a".to_owned(), ["0.9.1", "0.10.0"].map(str::to_owned).into()),
            ("b".to_owned(), ["1.0.0"].map(str::to_owned).into()),
        ]);
        let mut complaints = Vec::new();
        check_duplicates(&versions, &["a 0.10 0.9".to_owned()], &mut complaints);
        assert!(complaints.is_empty(), "{complaints:?}");
        check_duplicates(&versions, &["b 1 2".to_owned()], &mut complaints);
        assert_eq!(complaints.len(), 2, "{complaints:?}");
    }
}
