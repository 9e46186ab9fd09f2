//! `proto/commuter.proto` and the messages in Rust say the same: names, numbers, types, labels.

use std::collections::BTreeMap;

/// Message or enum, and of each of its fields or values: number, and type with label.
type Shapes = BTreeMap<String, BTreeMap<String, (u32, String)>>;

fn camel(name: &str) -> String {
    let capital = |part: &str| part[..1].to_uppercase() + &part[1..].to_lowercase();
    name.split('_').map(capital).collect()
}

fn of_proto(text: &str) -> Shapes {
    let mut shapes = Shapes::new();
    let (mut current, mut oneof, mut is_enum) = (String::new(), None, false);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["message" | "enum", name, "{"] => {
                (current, is_enum) = (name.to_owned(), words[0] == "enum");
                assert!(shapes.insert(current.clone(), BTreeMap::new()).is_none(), "{name} twice");
            }
            ["oneof", name, "{"] => oneof = Some(name.to_owned()),
            ["}"] => drop(oneof.take()),
            ["syntax" | "package", ..] => {}
            [.., "=", number] => {
                let number = number.trim_end_matches(';').parse().unwrap();
                let (name, ty) = match words[..] {
                    [name, "=", _] if is_enum => (name.to_owned(), String::new()),
                    [ty, name, "=", _] if oneof.is_some() => (camel(name), format!("oneof {ty}")),
                    [ty, name, "=", _] => (name.to_owned(), ty.to_owned()),
                    [label, ty, name, "=", _] => (name.to_owned(), format!("{label} {ty}")),
                    _ => panic!("{line}"),
                };
                let fields = shapes.get_mut(&current).unwrap();
                assert!(fields.values().all(|(known, _)| *known != number), "{current}: {number} twice");
                assert!(fields.insert(name, (number, ty)).is_none(), "{line}");
            }
            _ => panic!("{line}"),
        }
    }
    shapes.into_iter().map(|(name, fields)| (name, without_prefix(fields))).collect()
}

/// Values of an enum begin with its name, or nearly; in Rust they do not.
fn without_prefix(fields: BTreeMap<String, (u32, String)>) -> BTreeMap<String, (u32, String)> {
    let is_enum = fields.values().all(|(_, ty)| ty.is_empty());
    if !is_enum {
        return fields;
    }
    let names: Vec<&String> = fields.keys().collect();
    let mut ends = names[0].match_indices('_').map(|(at, _)| &names[0][..=at]);
    let prefix = ends.rfind(|prefix| names.iter().all(|name| name.starts_with(prefix))).unwrap().len();
    fields.iter().map(|(name, field)| (camel(&name[prefix..]), field.clone())).collect()
}

/// The type in the proto of an attribute such as `bytes = "vec", optional`, with the Rust type of its field.
fn proto_type(attribute: &str, rust: &str) -> String {
    let parts: Vec<&str> = attribute.split(", ").collect();
    let label = parts.iter().find(|part| matches!(**part, "optional" | "repeated")).copied();
    let inner = |ty: &str| ty.rsplit('<').next().unwrap().trim_end_matches('>').to_owned();
    let ty = match parts[0] {
        "message" => inner(rust),
        kind if kind.starts_with("enumeration") => kind.split('"').nth(1).unwrap().to_owned(),
        kind => kind.split(' ').next().unwrap().to_owned(),
    };
    match label {
        // In proto3 a message is always optional, and says nothing of it.
        Some("optional") if parts[0] == "message" => ty,
        Some(label) => format!("{label} {ty}"),
        None => ty,
    }
}

fn of_rust(text: &str) -> Shapes {
    let (mut shapes, mut oneofs) = (Shapes::new(), BTreeMap::new());
    let (mut current, mut attribute) = (String::new(), String::new());
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
        if let Some(name) = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum ")) {
            current = name.trim_end_matches(" {").to_owned();
            // The parts of a oneof are fields of its message.
            let home = oneofs.get(&current).cloned().unwrap_or_else(|| current.clone());
            shapes.entry(home).or_default();
        } else if let Some(inner) = line.strip_prefix("#[prost(").and_then(|line| line.strip_suffix(")]")) {
            attribute = inner.to_owned();
        } else if line.starts_with("#[derive")
            || line.starts_with("#[repr")
            || line.ends_with(';')
            || line.is_empty()
            || line == "}"
        {
        } else if let Some(oneof) = attribute.strip_prefix("oneof = \"") {
            oneofs.insert(oneof.split('"').next().unwrap().to_owned(), current.clone());
            attribute.clear();
        } else if let Some((name, number)) = line.split_once(" = ") {
            let number = number.trim_end_matches(',').parse().unwrap();
            shapes.get_mut(&current).unwrap().insert(name.to_owned(), (number, String::new()));
        } else if !attribute.is_empty() {
            let (kind, tag) = attribute.split_once(", tag = \"").unwrap();
            let number = tag.trim_end_matches('"').parse().unwrap();
            let (home, name, ty) = match line.strip_prefix("pub ") {
                Some(field) => {
                    let (name, rust) = field.trim_end_matches(',').split_once(": ").unwrap();
                    (current.clone(), name.trim_start_matches("r#").to_owned(), proto_type(kind, rust))
                }
                None => {
                    let (name, rust) = line.trim_end_matches("),").split_once('(').unwrap();
                    (oneofs[&current].clone(), name.to_owned(), format!("oneof {}", proto_type(kind, rust)))
                }
            };
            shapes.get_mut(&home).unwrap().insert(name, (number, ty));
            attribute.clear();
        }
    }
    shapes
}

#[test]
fn proto_and_rust_agree() {
    let proto = of_proto(include_str!("../../proto/commuter.proto"));
    let rust = [include_str!("../form/messages.rs"), include_str!("../form/messages/rows.rs")];
    let rust = of_rust(&rust.concat());
    assert!(proto.len() > 30, "{}", proto.len());
    for (name, fields) in &proto {
        assert_eq!(rust.get(name), Some(fields), "{name}");
    }
    assert_eq!(proto.len(), rust.len());
}

/// Every field says in the proto what it means.
#[test]
fn every_field_is_described() {
    let text = include_str!("../../proto/commuter.proto");
    let mut before = "";
    for line in text.lines().map(str::trim) {
        let is_one = line.contains(" = ") && line.ends_with(';') && !line.starts_with("syntax");
        let is_group = line.ends_with('{');
        assert!(!(is_one || is_group) || before.starts_with("//"), "{line}");
        before = line;
    }
}
