//! Variables of a test file and the conditions that are made of them.

use std::collections::HashMap;

/// Values by name, without the dollar sign.
pub(crate) struct Variables(HashMap<String, String>);

impl Variables {
    /// What files expect of their runner.
    pub(crate) fn new(files: &str) -> Variables {
        let mut values = HashMap::new();
        for (name, value) in [
            ("MYSQL_TEST_DIR", files),
            ("MYSQLTEST_VARDIR", "/nowhere"),
            ("MYSQL_TMP_DIR", "/nowhere/tmp"),
            ("ENGINE", "InnoDB"),
            ("engine", "InnoDB"),
            ("engine_type", "InnoDB"),
            ("other_engine_type", "InnoDB"),
            ("default_engine", "InnoDB"),
            ("MASTER_MYPORT", "3306"),
        ] {
            values.insert(name.to_owned(), value.to_owned());
        }
        Variables(values)
    }

    /// Gives one a value.
    pub(crate) fn set(&mut self, name: &str, value: String) {
        self.0.insert(name.trim().trim_start_matches('$').to_owned(), value);
    }

    /// Its value; empty if it has none.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name.trim().trim_start_matches('$')).map_or("", String::as_str)
    }

    /// Adds to a number.
    pub(crate) fn add(&mut self, name: &str, count: i64) {
        let number: i64 = self.get(name).trim().parse().unwrap_or(0);
        self.set(name, (number + count).to_string());
    }

    /// A text with values in place of names.
    pub(crate) fn expand(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['$', '\\']) {
            out.push_str(&rest[..at]);
            let behind = &rest[at + 1..];
            if rest[at..].starts_with('\\') {
                // A backslash takes its meaning from a dollar sign.
                if !behind.starts_with('$') {
                    out.push('\\');
                    rest = behind;
                    continue;
                }
                out.push('$');
                rest = &behind[1..];
                continue;
            }
            let end = behind.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(behind.len());
            if end == 0 {
                out.push('$');
            } else {
                out.push_str(self.get(&behind[..end]));
            }
            rest = &behind[end..];
        }
        out.push_str(rest);
        out
    }
}

/// Compares two values as `if` and `while` do: as numbers where both are.
pub(crate) fn compare(left: &str, operator: &str, right: &str) -> bool {
    let (left, right) = (left.trim().trim_matches('\''), right.trim().trim_matches('\''));
    let order = match (left.parse::<f64>(), right.parse::<f64>()) {
        (Ok(left), Ok(right)) => left.partial_cmp(&right),
        _ => Some(left.to_ascii_lowercase().cmp(&right.to_ascii_lowercase())),
    };
    let Some(order) = order else { return false };
    match operator {
        "==" => order.is_eq(),
        "!=" => order.is_ne(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        _ => order.is_ge(),
    }
}

/// Whether a value counts as true: a number other than 0, or a text that is not empty.
pub(crate) fn is_true(value: &str) -> bool {
    let value = value.trim();
    value.parse::<f64>().map_or(!value.is_empty(), |number| number != 0.0)
}

/// A condition's two sides and what is between them.
pub(crate) fn split(condition: &str) -> Option<(&str, &str, &str)> {
    let mut quote = None;
    for (at, c) in condition.char_indices() {
        match quote {
            Some(open) if open == c => quote = None,
            Some(_) => {}
            None if matches!(c, '\'' | '"' | '`') => quote = Some(c),
            None => {
                for operator in ["==", "!=", "<=", ">=", "<", ">"] {
                    if condition[at..].starts_with(operator) {
                        return Some((&condition[..at], operator, &condition[at + operator.len()..]));
                    }
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_values() {
        let mut variables = Variables::new("/files");
        variables.set("$a", "7".into());
        variables.add("$a", 1);
        assert_eq!(variables.expand(r"x$a, \$a, $, \n $b."), r"x8, $a, $, \n .");
    }

    #[test]
    fn conditions_compare() {
        assert_eq!(split("$a == 'x==y'"), Some(("$a ", "==", " 'x==y'")));
        assert_eq!(split("!$a"), None);
        assert!(compare("10", ">", "9") && !compare("b", "==", "c") && is_true("x") && !is_true("0"));
    }
}
