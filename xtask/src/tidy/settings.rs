//! A setting that can be given has an effect: its name is in code besides the table of settings, or the table says that
//! it is only understood, or which values are the only ones, or that the server finds it out.

use super::SourceFile;

const TABLE: &str = "crates/sql/src/settings/table/";
/// The constructors of settings: those that SET can change, and those that a configuration file can.
const CONSTRUCTORS: [&str; 4] = ["global", "both", "session", "fixed"];

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
        for name in giveable(&file.text) {
            found += 1;
            if !code.iter().any(|text| has_name(text, &name)) {
                complaints.push(format!(
                    "{}: {name} can be given and nothing reads it; make it only(…), no_option() or understood()",
                    file.path
                ));
            }
        }
    }
    if found < 50 {
        complaints.push(format!("{TABLE}: found only {found} settings that can be given; has their form changed?"));
    }
}

/// Names of the settings of a table that can be given and do something.
fn giveable(table: &str) -> Vec<String> {
    // Each setting begins a line of this depth with its constructor.
    let mut items: Vec<String> = Vec::new();
    for piece in table.split("\n    ") {
        match items.last_mut() {
            Some(item) if piece.starts_with([' ', '.', ')']) => item.push_str(piece),
            _ => items.push(piece.to_owned()),
        }
    }
    let is_idle = |item: &str| [".understood()", ".only(", ".no_option()"].iter().any(|mark| item.contains(mark));
    let constructor = |item: &str| item.split('(').next().unwrap_or_default().to_owned();
    let items = items.iter().filter(|item| CONSTRUCTORS.contains(&&*constructor(item)) && !is_idle(item));
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
                     session(\"d\", U32, \"1\").read_only().doc(\"x\"),\n    \
                     fixed(\"e\", BOOL, \"ON\").only(&[\"ON\"]).doc(\"x\"),\n    fixed(\"f\", TEXT, \"\").no_option().doc(\"x\"),\n];";
        assert_eq!(giveable(table), ["a", "c", "d"]);
        assert!(has_name("hot.c += 1", "c") && !has_name("cc c_d", "c"));
    }
}
