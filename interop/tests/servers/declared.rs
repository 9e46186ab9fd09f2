//! Differences from a peer that are declared, each with its reason: a comparison may find these, has to find all of them, and no others.

use std::collections::BTreeSet;
use std::fs;

use interop::workspace_root;

/// The lines of a file under `interop/` that say something, with their numbers.
pub(crate) fn lines(file: &str) -> Vec<(usize, String)> {
    let text = fs::read_to_string(workspace_root().join("interop").join(file)).unwrap();
    let lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#') && !line.is_empty());
    lines.map(|(at, line)| (at + 1, line.to_owned())).collect()
}

/// The declared differences of a comparison, and what it has found so far.
pub(crate) struct Declared {
    known: Vec<String>,
    used: BTreeSet<String>,
    found: Vec<String>,
}

impl Declared {
    /// Those of a folder's `differences.txt`.
    pub(crate) fn of(folder: &str) -> Self {
        let known = lines(&format!("{folder}/differences.txt")).into_iter().map(|(_, line)| line).collect();
        Declared { known, used: BTreeSet::new(), found: Vec::new() }
    }

    /// A difference, which may be declared by any of its labels; `text` says what it is if it is not.
    pub(crate) fn differs(&mut self, labels: &[&str], text: impl FnOnce() -> String) {
        match self.known.iter().find(|known| labels.contains(&known.as_str())) {
            Some(known) => drop(self.used.insert(known.clone())),
            None => self.found.push(text()),
        }
    }

    /// The end of the comparison.
    ///
    /// # Panics
    /// If there were other differences, or a declared one was not there.
    pub(crate) fn check(mut self) {
        let stale = self.known.iter().filter(|label| !self.used.contains(*label));
        self.found.extend(stale.map(|label| format!("{label}\n  is listed as different and is not")));
        assert!(self.found.is_empty(), "{} differ:\n{}", self.found.len(), self.found.join("\n"));
    }
}
