//! A ratchet on how far the methods of a type are spread: no type has methods in more than a few files. One that has is several types that
//! have not been told apart.
//!
//! `xtask/lengths.txt` lists the types over the limit with the number of their files. What is not listed must keep the limit; what is listed
//! must not grow.

use std::collections::{BTreeMap, BTreeSet};

use super::SourceFile;

const FILES_MAX: usize = 4;

/// The types of each crate that are over the limit, with the number of their files.
pub(super) fn measure(files: &[SourceFile]) -> BTreeMap<String, usize> {
    let mut spread: BTreeMap<(String, String), Spread> = BTreeMap::new();
    for file in files.iter().filter(|file| !file.is_test()) {
        for (_, line) in file.production_lines() {
            let key = |name: &str| (file.crate_name().to_owned(), name.to_owned());
            if let Some(name) = implemented(line) {
                spread.entry(key(name)).or_default().files.insert(&file.path);
            }
            if let Some(name) = defined(line) {
                spread.entry(key(name)).or_default().definitions += 1;
            }
        }
    }
    let over = spread.into_iter().filter(|(_, spread)| spread.files.len() > FILES_MAX * spread.definitions.max(1));
    over.map(|((of, name), spread)| (format!("{of} files with methods of {name}"), spread.files.len())).collect()
}

#[derive(Default)]
struct Spread<'a> {
    files: BTreeSet<&'a str>,
    /// Modules may have types of the same name; each has its own files.
    definitions: usize,
}

/// The type of an `impl` of methods of its own. Those of traits are the traits'.
fn implemented(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl")?;
    let rest = match rest.strip_prefix('<') {
        Some(parameters) => parameters.split_once("> ")?.1,
        None => rest.strip_prefix(' ')?,
    };
    let is_of_trait = rest.contains(" for ");
    let path = rest.split([' ', '<', '{']).next()?;
    path.rsplit("::").next().filter(|name| !is_of_trait && !name.is_empty())
}

fn defined(line: &str) -> Option<&str> {
    let words = line.split_once("struct ").or_else(|| line.split_once("enum "))?;
    let is_item = matches!(words.0.trim(), "" | "pub" | "pub(crate)" | "pub(super)") || words.0.starts_with("pub(in ");
    let name = words.1.split([' ', '<', '(', ';', '{']).next()?;
    (is_item && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn types_in_many_files() {
        let defined = file("crates/a/src/lib.rs", "pub struct Wide<'a> {\nstruct Few;\n");
        let method = |number: usize| {
            let text = "impl<'a> Wide<'a> {\nimpl Few {\nimpl Display for Few {\n";
            file(&format!("crates/a/src/f{number}.rs"), if number < 4 { text } else { "impl super::Wide<'_> {\n" })
        };
        let files: Vec<SourceFile> = (0..6).map(method).chain([defined]).collect();
        assert_eq!(measure(&files), BTreeMap::from([("a files with methods of Wide".to_owned(), 6)]));
    }

    #[test]
    fn types_of_the_same_name() {
        let method = |number: usize| file(&format!("crates/a/src/f{number}.rs"), "struct State {\nimpl State {\n");
        let files: Vec<SourceFile> = (0..6).map(method).collect();
        assert!(measure(&files).is_empty());
    }
}
