//! Golden files for tests: inputs with what they gave, one file a human can read and review as a diff.
//!
//! ```text
//! # a comment
//! SELECT 1
//! => what it gave
//! => on several lines
//! ```
//!
//! `UPDATE_GOLDEN=1 cargo test -p CRATE` writes them anew.

use std::fmt::Write;

/// Runs every input of the file (under its crate's folder) and compares what it gives.
pub(crate) fn check(path: &str, run: impl FnMut(&str) -> String) {
    let (path, stored, made) = walk(path, run);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &made).unwrap();
        return;
    }
    let differ = stored.lines().zip(made.lines()).find(|(a, b)| a != b);
    if let Some((stored, made)) = differ {
        panic!("{path} differs:\n  stored: {stored}\n  now:    {made}");
    }
    assert!(stored.lines().count() == made.lines().count(), "{path} has another length now");
}

/// Path, text as it is stored, text as it is made now.
fn walk(path: &str, mut run: impl FnMut(&str) -> String) -> (String, String, String) {
    let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
    let stored = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut made = String::new();
    let mut input = String::new();
    for line in stored.lines() {
        if line.starts_with("=>") {
            continue;
        }
        if line.is_empty() || line.starts_with('#') {
            flush(&mut made, &mut input, &mut run);
            let _ = writeln!(made, "{line}");
            continue;
        }
        if !input.is_empty() {
            input.push('\n');
        }
        input.push_str(line);
    }
    flush(&mut made, &mut input, &mut run);
    (path, stored, made)
}

/// Calls `each` with every input of the file.
#[allow(dead_code, reason = "the tests of `sql` have it, too")]
pub(crate) fn read(path: &str, mut each: impl FnMut(&str)) {
    walk(path, |input| {
        each(input);
        String::new()
    });
}

fn flush(made: &mut String, input: &mut String, run: &mut impl FnMut(&str) -> String) {
    if input.is_empty() {
        return;
    }
    let _ = writeln!(made, "{input}");
    for line in run(input).lines() {
        let _ = writeln!(made, "=> {line}");
    }
    input.clear();
}
