//! Classes by name in patterns, `[[:alpha:]]`: by Unicode, as in MySQL's library; the `regex` crate's are those of ASCII.

use std::borrow::Cow;
use std::fmt::Write;

/// Each class with what is in it, in the crate's words. Any other name is that of a Unicode property.
const CLASSES: [(&str, &str); 14] = [
    ("alnum", r"\p{Alphabetic}\p{Nd}"),
    ("alpha", r"\p{Alphabetic}"),
    ("ascii", r"\x00-\x7F"),
    ("blank", r"\p{Zs}\t"),
    ("cntrl", r"\p{Cc}"),
    ("digit", r"\p{Nd}"),
    ("graph", r"[^\p{White_Space}\p{Cc}\p{Cn}]"),
    ("lower", r"\p{Lowercase}"),
    ("print", r"[^\p{White_Space}\p{Cc}\p{Cn}]\p{Zs}"),
    ("punct", r"\p{P}"),
    ("space", r"\p{White_Space}"),
    ("upper", r"\p{Uppercase}"),
    ("word", r"\w"),
    ("xdigit", r"\p{Nd}\p{Hex_Digit}"),
];

/// The pattern with sets in the place of such names. A name that is known to neither becomes a pattern that is an error.
pub(super) fn by_unicode(pattern: &str) -> Cow<'_, str> {
    if !pattern.contains("[:") {
        return Cow::Borrowed(pattern);
    }
    let mut out = String::with_capacity(pattern.len() + 32);
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        if let Some((set, after)) = class(rest) {
            out.push_str(&set);
            rest = after;
            continue;
        }
        // What stands behind a backslash opens nothing.
        let escaped = if c == '\\' { rest[1..].chars().next().map_or(0, char::len_utf8) } else { 0 };
        let (taken, after) = rest.split_at(c.len_utf8() + escaped);
        out.push_str(taken);
        rest = after;
    }
    Cow::Owned(out)
}

/// The set that `[:name:]` or `[:^name:]` at the beginning means, and what is behind it.
fn class(text: &str) -> Option<(String, &str)> {
    let inside = text.strip_prefix("[:")?;
    let (name, after) = inside.split_once(":]")?;
    let (name, negated) = name.strip_prefix('^').map_or((name, ""), |name| (name, "^"));
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '=' | ' ' | '<' | '>');
    if name.is_empty() || !name.chars().all(is_of_name) {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    let mut set = format!("[{negated}");
    match CLASSES.iter().find(|(class, _)| *class == lower.trim()) {
        Some((_, members)) => set.push_str(members),
        None => {
            let _ = write!(set, r"\p{{{name}}}");
        }
    }
    set.push(']');
    Some((set, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_sets() {
        assert_eq!(by_unicode("a[b]"), "a[b]");
        assert_eq!(by_unicode("[[:alpha:]_]+"), r"[[\p{Alphabetic}]_]+");
        assert_eq!(by_unicode("[^[:^Digit:]x]"), r"[^[^\p{Nd}]x]");
        assert_eq!(by_unicode(r"\[[:lower:]"), r"\[[\p{Lowercase}]");
        assert_eq!(by_unicode(r"[\[:lower:]"), r"[\[:lower:]");
        assert_eq!(by_unicode("[[:Script=Greek:]]"), r"[[\p{Script=Greek}]]");
        assert_eq!(by_unicode("[:]x[a:]"), "[:]x[a:]");
    }
}
