//! Edges between crates, and the licences and origins of what others wrote.

use std::fs;
use std::process::Command;

use interop::{Result, workspace_root};

use super::versions;

/// The crates in their order: each may use those before it.
const ORDER: [&str; 18] = [
    "base", "io", "types", "binlog", "events", "analyze", "store", "engine", "apply", "syntax", "sql", "wire",
    "session", "repl", "relay", "server", "sim", "commuter",
];

/// Licences that may be linked into a program under MIT OR Apache-2.0 without further duties than a notice.
const LICENCES: [&str; 14] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "ISC",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "0BSD",
    "CC0-1.0",
    "MIT-0",
    "CDLA-Permissive-2.0",
];

pub(crate) fn check(complaints: &mut Vec<String>) -> Result<()> {
    check_edges(complaints)?;
    let metadata = metadata()?;
    check_origins(&metadata, complaints);
    versions::check(&metadata, complaints)
}

fn check_edges(complaints: &mut Vec<String>) -> Result<()> {
    let root = workspace_root().join("crates");
    let mut found = Vec::new();
    for entry in fs::read_dir(&root).map_err(|error| error.to_string())?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let manifest = fs::read_to_string(entry.path().join("Cargo.toml")).map_err(|error| error.to_string())?;
        if !manifest.contains(&format!("name = \"{name}\"")) {
            complaints.push(format!("crates/{name}: the folder's name is not the crate's"));
        }
        let Some(place) = ORDER.iter().position(|known| *known == name) else {
            complaints.push(format!("crates/{name}: not in the order of crates (xtask/src/tidy/crates.rs)"));
            continue;
        };
        found.push(place);
        for used in dependencies(&manifest) {
            let other = ORDER.iter().position(|known| *known == used);
            if other.is_some_and(|other| other >= place) {
                complaints.push(format!("crates/{name}: must not use {used}, which comes after it in the order"));
            }
        }
    }
    for (place, name) in ORDER.iter().enumerate().filter(|(place, _)| !found.contains(place)) {
        complaints.push(format!("crate {name} (number {place} in the order) is not there"));
    }
    Ok(())
}

/// Names in `[dependencies]`; what tests use may point anywhere.
fn dependencies(manifest: &str) -> Vec<String> {
    let section = manifest.split("[dependencies]").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    let name = |line: &str| line.split(['.', ' ', '=']).next().unwrap_or_default().to_owned();
    section.lines().filter(|line| line.contains('=')).map(name).collect()
}

fn metadata() -> Result<serde_json::Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--locked"])
        .current_dir(workspace_root())
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}

fn check_origins(metadata: &serde_json::Value, complaints: &mut Vec<String>) {
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let Some(source) = package["source"].as_str() else { continue };
        if !source.starts_with("registry+") {
            complaints.push(format!("{name}: from {source}; only released versions of a registry may be used"));
        }
        let licence = package["license"].as_str().unwrap_or("(none)");
        if !is_allowed(licence) {
            complaints.push(format!("{name}: licence {licence} is not in the list (xtask/src/tidy/crates.rs)"));
        }
    }
}

/// Whether one alternative of an SPDX expression has only allowed parts.
fn is_allowed(expression: &str) -> bool {
    let plain = expression.replace(['(', ')'], " ").replace('/', " OR ");
    let listed = |part: &str| LICENCES.contains(&part.trim());
    plain.split(" OR ").any(|alternative| alternative.split(" AND ").all(listed))
        || plain.split(" AND ").all(|part| part.split(" OR ").any(listed))
}
