//! The text of a document, on one line and as JSON_PRETTY() lays it out.

use std::fmt::Write as _;

use super::{Json, Object};
use crate::value::NOT_FIXED;

impl Json {
    /// Appends the text, as MySQL writes it: `{"a": [1, 2]}`.
    pub fn write(&self, out: &mut String) {
        match self {
            Json::Array(elements) => {
                out.push('[');
                for (at, element) in elements.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    element.write(out);
                }
                out.push(']');
            }
            Json::Object(object) => {
                out.push('{');
                for (at, (key, value)) in object.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    quote(key, out);
                    out.push_str(": ");
                    value.write(out);
                }
                out.push('}');
            }
            Json::String(text) => quote(text, out),
            Json::Date(_) | Json::Time(_) | Json::DateTime(_) | Json::Timestamp(_) | Json::Opaque(..) => {
                let mut text = String::new();
                self.write_unquoted(&mut text);
                quote(&text, out);
            }
            _ => self.write_unquoted(out),
        }
    }

    /// Appends the text of a scalar as JSON_UNQUOTE() gives it; of others the text.
    pub fn write_unquoted(&self, out: &mut String) {
        let mut bytes = Vec::new();
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
            Json::Int(n) => crate::number::write_i64(*n, &mut bytes),
            Json::UInt(n) => crate::number::write_u64(*n, &mut bytes),
            Json::Double(n) => {
                crate::number::write_f64(*n, NOT_FIXED, &mut bytes);
                // A point or an exponent says that it is no integer.
                if !bytes.contains(&b'.') && !bytes.contains(&b'e') {
                    bytes.extend_from_slice(b".0");
                }
            }
            Json::Decimal(n) => n.write_text(&mut bytes),
            Json::String(text) => out.push_str(text),
            Json::Date(date) => date.write_text(&mut bytes),
            Json::Time(time) => time.write_text(6, &mut bytes),
            Json::DateTime(datetime) | Json::Timestamp(datetime) => datetime.write_text(6, &mut bytes),
            Json::Opaque(code, content) => {
                let _ = write!(out, "base64:type{code}:");
                base::base64::encode_lines(content, &mut bytes);
            }
            Json::Array(_) | Json::Object(_) => self.write(out),
        }
        // All of the above are ASCII.
        out.push_str(&String::from_utf8_lossy(&bytes));
    }

    /// As JSON_PRETTY() lays it out.
    pub fn to_pretty(&self) -> String {
        let mut out = String::new();
        self.write_pretty(0, &mut out);
        out
    }

    fn write_pretty(&self, depth: usize, out: &mut String) {
        match self {
            Json::Array(elements) if !elements.is_empty() => {
                out.push('[');
                for (at, element) in elements.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    new_line(depth + 1, out);
                    element.write_pretty(depth + 1, out);
                }
                new_line(depth, out);
                out.push(']');
            }
            Json::Object(object) if !object.is_empty() => pretty_object(object, depth, out),
            other => other.write(out),
        }
    }
}

fn pretty_object(object: &Object, depth: usize, out: &mut String) {
    out.push('{');
    for (at, (key, value)) in object.iter().enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        new_line(depth + 1, out);
        quote(key, out);
        out.push_str(": ");
        value.write_pretty(depth + 1, out);
    }
    new_line(depth, out);
    out.push('}');
}

fn new_line(depth: usize, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

/// Appends a JSON string.
pub fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\x1f' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Appends a key as a path names it: with quotes unless it is an identifier.
pub fn write_key(key: &str, out: &mut String) {
    if super::path::is_identifier(key) { out.push_str(key) } else { quote(key, out) }
}
