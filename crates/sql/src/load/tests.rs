//! Tests of the reader of fields. What is compared with real servers is in `golden/session_load_data.txt`.

use proptest::prelude::*;

use super::{Fields, Found, Rules, Stop};
use crate::parse::ast::FileFormat;

fn format(field_end: &[u8], enclosed: &[u8], line_start: &[u8], line_end: &[u8]) -> FileFormat {
    FileFormat {
        field_end: field_end.to_vec(),
        enclosed: enclosed.to_vec(),
        line_start: line_start.to_vec(),
        line_end: line_end.to_vec(),
        ..FileFormat::default()
    }
}

/// What a step gives when the file comes in parts of `size` bytes.
fn step<T>(
    fields: &mut Fields,
    rest: &mut &[u8],
    size: usize,
    take: impl Fn(&mut Fields) -> Result<T, Stop>,
) -> Option<T> {
    loop {
        match take(fields) {
            Ok(done) => return Some(done),
            Err(Stop::Malformed(_)) => return None,
            Err(Stop::Hungry) if rest.is_empty() => fields.end(),
            Err(Stop::Hungry) => {
                let (part, others) = rest.split_at(rest.len().min(size));
                fields.feed(part);
                *rest = others;
            }
        }
    }
}

/// All lines, at most `width` fields of each; NULL is `None`; with `!` behind what was cut.
fn read(rules: &Rules, file: &[u8], width: usize, size: usize) -> Vec<Vec<Option<Vec<u8>>>> {
    let (mut fields, mut rest, mut lines) = (Fields::new(rules.clone()), file, Vec::new());
    // A line takes a byte at least, and one more is seen behind the last.
    for _ in 0..file.len() + 2 {
        let mut line = Vec::new();
        while line.len() < width {
            let take = if fields.is_fixed() { Fields::fixed_line } else { Fields::field };
            match step(&mut fields, &mut rest, size, take) {
                None => return lines,
                Some(Found::Nothing) => break,
                Some(Found::Field) => line.push((!fields.is_null()).then(|| fields.value().to_vec())),
            }
        }
        if line.is_empty() {
            return lines;
        }
        let Some(ended) = step(&mut fields, &mut rest, size, Fields::next_line) else { return lines };
        if fields.was_cut() && !ended {
            line.push(Some(b"!".to_vec()));
        }
        lines.push(line);
        if ended {
            return lines;
        }
    }
    panic!("no end of {file:?}")
}

fn texts(rules: &Rules, file: &str, width: usize) -> Vec<String> {
    let shown = |field: &Option<Vec<u8>>| {
        field.as_ref().map_or("NULL".into(), |text| format!("{:?}", String::from_utf8_lossy(text)))
    };
    let line = |line: &Vec<Option<Vec<u8>>>| line.iter().map(shown).collect::<Vec<_>>().join(" ");
    read(rules, file.as_bytes(), width, 7).iter().map(line).collect()
}

#[test]
fn ends_of_fields_lines_and_files() {
    let default = Rules::new(&FileFormat::default(), b"\\", "utf8mb4", 0);
    assert_eq!(
        texts(&default, "a\tb\nc\n\td\te\nf\\\tg\\\nh\\N\n\\N", 2),
        [r#""a" "b""#, r#""c""#, r#""" "d" "!""#, r#""f\tg\nhN""#, "NULL"]
    );
    let enclosed = Rules::new(&format(b",", b"\"", b"", b"\n"), b"\\", "utf8mb4", 0);
    assert_eq!(
        texts(&enclosed, "\"a,\nb\",c\n\"d\"\"e\"f\",NULL\n\"NULL\",\"g", 2),
        [r#""a,\nb" "c""#, r#""d\"e\"f" NULL"#, r#""NULL" "\"g""#]
    );
    let long = Rules::new(&format(b"||", b"", b">>", b"##"), b"", "utf8mb4", 0);
    assert_eq!(texts(&long, "x>>a|b||c\\#d##y>z>>e##", 2), [r#""a|b" "c\\#d""#, r#""e""#]);
    let same = Rules::new(&format(b",", b"", b"", b","), b"\\", "utf8mb4", 0);
    assert_eq!(texts(&same, "a,b,c", 2), [r#""a" "b""#, r#""c""#]);
    let fixed = Rules::new(&format(b"", b"", b"", b"\n"), b"\\", "latin1", 4);
    assert_eq!(texts(&fixed, "abcd\nab\nabcdef\n", 1), [r#""abcd""#, r#""ab""#, r#""abcd" "!""#]);
}

#[test]
fn characters_of_many_bytes() {
    let rules = |charset| Rules::new(&format(b"\xa9", b"", b"", b"\n"), b"\\", charset, 0);
    let file = "é\n".as_bytes();
    assert_eq!(read(&rules("utf8mb4"), file, 2, 1), [[Some(file[..2].to_vec())]]);
    assert_eq!(read(&rules("latin1"), file, 2, 1), [[Some(vec![0xc3]), Some(Vec::new())]]);
    let plain = |charset| Rules::new(&FileFormat::default(), b"\\", charset, 0);
    assert!(read(&plain("utf8mb4"), b"a\x80\n", 1, 9).is_empty());
    assert!(read(&plain("utf8mb3"), "🙂\n".as_bytes(), 1, 9).is_empty());
    assert_eq!(read(&plain("binary"), b"a\x80\n", 1, 9), [[Some(b"a\x80".to_vec())]]);
    // The first byte of a character that is none counts for itself.
    assert_eq!(read(&plain("utf8mb4"), b"\xc3\tb\n", 2, 1), [[Some(vec![0xc3]), Some(b"b".to_vec())]]);
}

/// Bytes that mean something, in any order.
fn file_like() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&[u8]> = vec![
        b"a",
        b"\t",
        b"\n",
        b"\"",
        b"\\",
        b",",
        b"|",
        b"||",
        b">",
        b"NULL",
        b"\\N",
        b"x",
        b"\xc3",
        b"\xa9",
        b"\xf0\x9f\x99\x82",
        b"\r\n",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..60).prop_map(|pieces| pieces.concat())
}

fn rules_like() -> impl Strategy<Value = Rules> {
    let of = |texts: Vec<&'static [u8]>| prop::sample::select(texts);
    let ends = (of(vec![b"\t", b",", b"||", b"", b"x"]), of(vec![b"\n", b"\r\n", b"", b"||", b"|"]));
    let others = (of(vec![b"", b"\"", b"x"]), of(vec![b"\\", b"", b"\""]), of(vec![b"", b">", b"||"]));
    let charset = prop::sample::select(vec!["utf8mb4", "utf8mb3", "latin1", "binary"]);
    (ends, others, charset).prop_map(|((field, line), (enclosed, escaped, start), charset)| {
        let fixed = if field.is_empty() && enclosed.is_empty() { 5 } else { 0 };
        Rules::new(&format(field, enclosed, start, line), escaped, charset, fixed)
    })
}

proptest! {
    #[test]
    fn parts_of_any_size_give_the_same(rules in rules_like(), file in file_like(), size in 1usize..9, width in 1usize..4) {
        prop_assert_eq!(read(&rules, &file, width, size), read(&rules, &file, width, usize::MAX));
    }

    #[test]
    fn what_is_escaped_comes_back(lines in prop::collection::vec(prop::collection::vec(prop::option::of(any::<Vec<u8>>()), 2..3), 0..8)) {
        let mut file = Vec::new();
        for line in &lines {
            for (number, field) in line.iter().enumerate() {
                file.extend(if number > 0 { &b","[..] } else { b"" });
                match field {
                    None => file.extend(b"\\N"),
                    Some(bytes) => {
                        file.push(b'"');
                        for byte in bytes {
                            if matches!(byte, b'"' | b'\\') {
                                file.push(b'\\');
                            }
                            file.push(*byte);
                        }
                        file.push(b'"');
                    }
                }
            }
            file.push(b'\n');
        }
        let rules = Rules::new(&format(b",", b"\"", b"", b"\n"), b"\\", "binary", 0);
        prop_assert_eq!(read(&rules, &file, 2, 5), lines);
    }
}
