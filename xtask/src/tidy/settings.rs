//! A setting that can be given has an effect: it has a field, and code besides the table of settings has its name; or the table says that it is
//! only understood, or which values are the only ones, or that the server finds it out, or what else it does.

use super::SourceFile;

const TABLE: &str = "crates/sql/src/settings/table/";

/// A line of the table: `name: type = constructor(…)…;`, or without a type.
struct Line {
    name: String,
    has_field: bool,
    /// What is said of it.
    row: String,
}

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
        for line in lines(&file.text).into_iter().filter(Line::is_giveable) {
            found += 1;
            if !line.has_field || !code.iter().any(|text| has_name(text, &line.name)) {
                complaints.push(format!(
                    "{}: {} can be given and nothing reads it; make it only(…), no_option() or understood()",
                    file.path, line.name
                ));
            }
        }
    }
    if found < 50 {
        complaints.push(format!("{TABLE}: found only {found} settings that can be given; has their form changed?"));
    }
}

impl Line {
    fn is_giveable(&self) -> bool {
        let idle = [".understood()", ".only(", ".no_option()", ".read_only()", ".on_set(", ".session_state("];
        !idle.iter().any(|mark| self.row.contains(mark)) || self.has_field
    }
}

fn lines(table: &str) -> Vec<Line> {
    // Each begins a line of this depth, and what belongs to it is deeper.
    let mut items: Vec<String> = Vec::new();
    for piece in table.split("\n    ") {
        match items.last_mut() {
            Some(item) if piece.starts_with([' ', '.', ')']) => item.push_str(piece),
            _ => items.push(piece.to_owned()),
        }
    }
    items.iter().filter_map(|item| line(item)).collect()
}

fn line(item: &str) -> Option<Line> {
    let (head, row) = item.split_once(" = ")?;
    let (name, has_field) = match head.split_once(": ") {
        Some((name, _)) => (name, true),
        None => (head, false),
    };
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    is_name.then(|| Line { name: name.to_owned(), has_field, row: row.to_owned() })
}

/// Whether the name is there as a word: as a field, or as a setting's number.
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
        let table = "settings! {\n    start: StartSettings;\n\n    a: Text = fixed(TEXT, \"\").doc(\"x\");\n    b = global(U32, \"0\")\n        \
                     .understood()\n        .doc(\"x\");\n    c: u32 = both(\n        U32,\n        \"0\",\n    )\n    .doc(\"x\");\n    \
                     d = session(U32, \"1\").doc(\"x\");\n    e = fixed(BOOL, \"ON\").only(&[\"ON\"]).doc(\"x\");\n}\n";
        let giveable = |table: &str| lines(table).into_iter().filter(Line::is_giveable).collect::<Vec<_>>();
        let found: Vec<(String, bool)> = giveable(table).into_iter().map(|line| (line.name, line.has_field)).collect();
        assert_eq!(found, [("a".to_owned(), true), ("c".to_owned(), true), ("d".to_owned(), false)]);
        assert!(has_name("settings.c += 1", "c") && !has_name("cc c_d", "c"));
    }
}
