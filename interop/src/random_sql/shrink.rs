//! SQL text with the joints at which it can be made smaller.

use std::fmt;

/// A piece of SQL.
#[derive(Clone, Debug, PartialEq)]
pub enum Sql {
    /// As it is.
    Text(String),
    /// One after the other.
    Parts(Vec<Sql>),
    /// An expression: any expression inside may stand in its place.
    Term(Box<Sql>),
    /// May be left out.
    Maybe(Box<Sql>),
}

impl From<&str> for Sql {
    fn from(text: &str) -> Sql {
        Sql::Text(text.to_owned())
    }
}

impl From<String> for Sql {
    fn from(text: String) -> Sql {
        Sql::Text(text)
    }
}

impl fmt::Display for Sql {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sql::Text(text) => f.write_str(text),
            Sql::Parts(parts) => parts.iter().try_for_each(|part| part.fmt(f)),
            Sql::Term(inner) | Sql::Maybe(inner) => inner.fmt(f),
        }
    }
}

impl Sql {
    /// `pattern` with a part in the place of each `{}`.
    pub fn parts(pattern: &str, parts: impl IntoIterator<Item = Sql>) -> Sql {
        let mut pieces = pattern.split("{}");
        let mut all = vec![Sql::from(pieces.next().unwrap_or_default())];
        for (part, piece) in parts.into_iter().zip(pieces) {
            all.push(part);
            all.push(Sql::from(piece));
        }
        Sql::Parts(all)
    }

    /// An expression with a part in the place of each `{}`.
    pub fn term(pattern: &str, parts: impl IntoIterator<Item = Sql>) -> Sql {
        Sql::Term(Sql::parts(pattern, parts).into())
    }

    /// As [`Sql::parts`]; may be left out.
    pub fn maybe(pattern: &str, parts: impl IntoIterator<Item = Sql>) -> Sql {
        Sql::Maybe(Sql::parts(pattern, parts).into())
    }

    /// Parts with a separator between them; all but the first may be left out.
    pub fn list(separator: &str, parts: impl IntoIterator<Item = Sql>) -> Sql {
        let item = |(at, part)| match at {
            0 => part,
            _ => Sql::Maybe(Sql::Parts(vec![separator.into(), part]).into()),
        };
        Sql::Parts(parts.into_iter().enumerate().map(item).collect())
    }

    /// The smallest text that is still `wrong`, as far as few attempts find it.
    pub fn shrink(self, attempts: usize, mut wrong: impl FnMut(&str) -> bool) -> Sql {
        let (mut smallest, mut left) = (self, attempts);
        'smaller: loop {
            for candidate in smallest.smaller() {
                if left == 0 {
                    return smallest;
                }
                left -= 1;
                if wrong(&candidate.to_string()) {
                    smallest = candidate;
                    continue 'smaller;
                }
            }
            return smallest;
        }
    }

    /// The same with one joint used, the largest cuts first.
    fn smaller(&self) -> Vec<Sql> {
        match self {
            Sql::Text(_) => Vec::new(),
            Sql::Parts(parts) => {
                let mut all = Vec::new();
                for (at, part) in parts.iter().enumerate() {
                    for smaller in part.smaller() {
                        let mut parts = parts.clone();
                        parts[at] = smaller;
                        all.push(Sql::Parts(parts));
                    }
                }
                all
            }
            Sql::Maybe(inner) => {
                let mut all = vec![Sql::Parts(Vec::new())];
                all.extend(inner.smaller().into_iter().map(|inner| Sql::Maybe(inner.into())));
                all
            }
            Sql::Term(inner) => {
                let mut all = Vec::new();
                inner.terms(&mut all);
                let simple = |text: &str| Sql::Text(text.to_owned());
                if self.to_string().len() > 4 {
                    all.extend([simple("NULL"), simple("1")]);
                }
                all.extend(inner.smaller().into_iter().map(|inner| Sql::Term(inner.into())));
                all
            }
        }
    }

    /// The outermost expressions inside.
    fn terms(&self, out: &mut Vec<Sql>) {
        match self {
            Sql::Text(_) => {}
            Sql::Parts(parts) => parts.iter().for_each(|part| part.terms(out)),
            Sql::Maybe(inner) => inner.terms(out),
            Sql::Term(_) => out.push(self.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shrinks_to_the_core() {
        let core = Sql::term("BAD({})", [Sql::term("a", [])]);
        let sum = Sql::term("({} + {})", [Sql::term("f({})", [core]), Sql::term("long_name", [])]);
        let query = Sql::parts("SELECT {}{}", [sum, Sql::maybe(" WHERE {}", [Sql::term("x", [])])]);
        assert_eq!(query.to_string(), "SELECT (f(BAD(a)) + long_name) WHERE x");
        assert_eq!(query.shrink(100, |text| text.contains("BAD(a)")).to_string(), "SELECT BAD(a)");
    }
}
