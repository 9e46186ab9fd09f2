//! `cargo xtask tidy`: the project's habits, as far as a program can check them. Each ban names its replacement;
//! lengths are ratchets (`xtask/lengths.txt`) that may only go down.

mod crates;
mod docs;
mod lengths;
mod settings;
mod source;
mod spread;
mod versions;

use std::fs;
use std::path::PathBuf;

use interop::{Result, workspace_root};

/// A Rust file of the workspace.
pub(crate) struct SourceFile {
    /// Relative to the workspace, as `crates/io/src/lib.rs`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl SourceFile {
    /// The crate's folder name (`io`), or the first folder (`xtask`).
    pub(crate) fn crate_name(&self) -> &str {
        let mut parts = self.path.split('/');
        match parts.next() {
            Some("crates") => parts.next().unwrap_or_default(),
            first => first.unwrap_or_default(),
        }
    }

    /// Tests, benches and their helpers, where fewer rules hold.
    pub(crate) fn is_test(&self) -> bool {
        let parts: Vec<&str> = self.path.split('/').collect();
        parts.iter().any(|part| matches!(*part, "tests" | "benches" | "examples" | "fuzz"))
            || parts.last().is_some_and(|name| name.ends_with("tests.rs") || *name == "golden.rs")
    }

    /// The lines before the first `#[cfg(test)]` module, numbered from 1.
    pub(crate) fn production_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines: Vec<&str> = self.text.lines().collect();
        let end = lines
            .windows(2)
            .position(|pair| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{'))
            .unwrap_or(lines.len());
        lines.into_iter().take(end).enumerate().map(|(at, line)| (at + 1, line))
    }
}

pub(crate) fn run(bless: bool) -> Result<()> {
    let files = source_files()?;
    let mut complaints = Vec::new();
    crates::check(&mut complaints)?;
    source::check(&files, &mut complaints);
    settings::check(&files, &mut complaints);
    docs::check(&files, &mut complaints)?;
    lengths::check(&files, bless, &mut complaints)?;
    if complaints.is_empty() {
        println!("tidy: {} files checked", files.len());
        return Ok(());
    }
    Err(format!("{}\ntidy: {} complaints", complaints.join("\n"), complaints.len()))
}

fn source_files() -> Result<Vec<SourceFile>> {
    let root = workspace_root();
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = ["crates", "interop", "xtask", "fuzz"].map(|name| root.join(name)).into();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                if path.file_name().is_none_or(|name| name != "target") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                let relative = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
                files.push(SourceFile { path: relative, text });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}
