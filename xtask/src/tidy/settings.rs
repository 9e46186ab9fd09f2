//! A setting that can be changed has an effect: its name is in code besides the table of settings, or the table says that
//! it is only understood.

use super::SourceFile;

const TABLE: &str = "crates/sql/src/settings/table/";
/// The constructors of settings that can be changed.
const DYNAMIC: [&str; 3] = ["global", "both", "session"];

pub(crate) fn check(files: &[SourceFile], complaints: &mut Vec<String>) {
    // A comment that names a setting reads nothing.
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let is_table = |file: &&SourceFile| file.path.starts_with(TABLE);
    let code: Vec<String> = files
        .iter()
        .filter(|file| file.path.starts_with("crates/") && !is_table(file) && !file.is_test())
        .map(|file| file.production_lines().map(|(_, line)| line).filter(is_code).collect::<Vec<_>>().join("\n"))
        .collect();
    let mut found = 0;
    for file in files.iter().filter(is_table) {
        for name in changeable(&file.text) {
            found += 1;
            if !code.iter().any(|text| has_name(text, &name)) {
                complaints.push(format!(
                    "{}: {name} can be set and nothing reads it; make it fixed, or understood()",
                    file.path
                ));
            }
        }
    }
    if found < 50 {
        complaints.push(format!("{TABLE}: found only {found} settings that can be changed; has their form changed?"));
    }
}

/// Names of the settings of a table that can be changed and do something.
fn changeable(table: &str) -> Vec<String> {
    // Each setting begins a line of this depth with its constructor.
    let mut items: Vec<String> = Vec::new();
    for piece in table.split("\n    ") {
        match items.last_mut() {
            Some(item) if piece.starts_with([' ', '.', ')']) => item.push_str(piece),
            _ => items.push(piece.to_owned()),
        }
    }
    let is_idle = |item: &str| item.contains(".understood()") || item.contains(".read_only()");
    let constructor = |item: &str| item.split('(').next().unwrap_or_default().to_owned();
    let items = items.iter().filter(|item| DYNAMIC.contains(&&*constructor(item)) && !is_idle(item));
    items.filter_map(|item| item.split('"').nth(1).map(str::to_owned)).collect()
}

/// Whether the name is there as a word: in quotes, or as a field.
fn has_name(text: &str, name: &str) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    text.match_indices(name)
        .any(|(at, _)| !is_part(text.as_bytes()[..at].last()) && !is_part(text.as_bytes().get(at + name.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_do_something() {
        let table = "const ALL: &[Setting] = &[\n    fixed(\"a\", TEXT, \"\").doc(\"x\"),\n    global(\"b\", U32, \"0\")\n        \
                     .understood()\n        .doc(\"x\"),\n    both(\n        \"c\",\n        U32,\n    )\n    .doc(\"x\"),\n    \
                     session(\"d\", U32, \"1\").read_only().doc(\"x\"),\n];";
        assert_eq!(changeable(table), ["c"]);
        assert!(has_name("hot.c += 1", "c") && !has_name("cc c_d", "c"));
    }
}
