//! Documents that name code: the names must be there.

use std::fs;

use interop::{Result, workspace_root};

use super::SourceFile;

pub(crate) fn check(files: &[SourceFile], complaints: &mut Vec<String>) -> Result<()> {
    for walk in ["docs/LIFE_OF_A_COMMIT.md", "docs/LIFE_OF_A_STATEMENT.md"] {
        check_walk(walk, files, complaints)?;
    }
    check_architecture(complaints)
}

fn read(name: &str) -> Result<String> {
    fs::read_to_string(workspace_root().join(name)).map_err(|error| format!("{name}: {error}"))
}

/// Each `` `crate::…::function` `` in a walk is a function of that crate.
fn check_walk(name: &str, files: &[SourceFile], complaints: &mut Vec<String>) -> Result<()> {
    let mut named = 0;
    for quoted in read(name)?.split('`').skip(1).step_by(2).filter(|quoted| quoted.contains("::")) {
        let mut parts = quoted.trim_end_matches("()").split("::").collect::<Vec<_>>().into_iter();
        let (Some(crate_name), Some(item)) = (parts.next(), parts.next_back()) else { continue };
        let definitions = ["fn ", "struct ", "enum ", "trait ", "const "].map(|word| format!("{word}{item}"));
        let defines = |file: &&SourceFile| {
            file.crate_name() == crate_name && definitions.iter().any(|definition| has_word(&file.text, definition))
        };
        named += 1;
        if !files.iter().any(|file| defines(&file)) {
            complaints.push(format!("{name}: `{quoted}` is not in crate {crate_name}"));
        }
    }
    if named < 10 {
        complaints.push(format!("{name}: a walk names its functions; found only {named}"));
    }
    Ok(())
}

/// Whether the text has the definition with nothing of a longer name after it.
fn has_word(text: &str, definition: &str) -> bool {
    let continues = |rest: &str| rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
    text.match_indices(definition).any(|(at, found)| !continues(&text[at + found.len()..]))
}

/// The page lists every crate, and no other.
fn check_architecture(complaints: &mut Vec<String>) -> Result<()> {
    let name = "docs/ARCHITECTURE.md";
    let page = read(name)?;
    for entry in fs::read_dir(workspace_root().join("crates")).map_err(|error| error.to_string())?.flatten() {
        let folder = entry.file_name().to_string_lossy().into_owned();
        if !page.contains(&format!("| `{folder}` |")) {
            complaints.push(format!("{name}: no row for crate `{folder}` in the table of parts"));
        }
    }
    for row in page.lines().filter_map(|line| line.strip_prefix("| `")) {
        let crate_name = row.split('`').next().unwrap_or_default();
        if !workspace_root().join("crates").join(crate_name).exists() {
            complaints.push(format!("{name}: `{crate_name}` is not a crate"));
        }
    }
    Ok(())
}
