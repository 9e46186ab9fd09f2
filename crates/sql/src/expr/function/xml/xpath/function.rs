//! The functions of an XPath.

use super::*;
use crate::expr::function::call;

/// Name, and how many arguments there are at least and at most.
const KNOWN: [(&str, usize, usize); 16] = [
    ("boolean", 1, 1),
    ("ceiling", 1, 1),
    ("concat", 2, usize::MAX),
    ("contains", 2, 2),
    ("count", 1, 1),
    ("false", 0, 0),
    ("floor", 1, 1),
    ("last", 0, 0),
    ("not", 1, 1),
    ("number", 0, 1),
    ("position", 0, 0),
    ("round", 1, 1),
    ("string-length", 0, 1),
    ("substring", 2, 3),
    ("sum", 1, 1),
    ("true", 0, 0),
];

fn known(name: &str) -> Option<(&'static str, usize, usize)> {
    KNOWN.into_iter().find(|(known, ..)| known.eq_ignore_ascii_case(name))
}

pub(super) fn is_known(name: &str) -> bool {
    known(name).is_some()
}

impl Parser<'_> {
    pub(super) fn function(&mut self) -> Reading<Read> {
        self.count()?;
        let (name, least, most) = known(self.tokens.text()).ok_or(Stop::Syntax)?;
        self.tokens.take(T::Function);
        self.tokens.take(T::Sign('('));
        let mut args = Vec::new();
        let has_none = least == 0 && self.tokens.is(T::Sign(')'));
        while args.len() < most && !has_none {
            args.push(self.or()?);
            if !self.tokens.take(T::Sign(',')) {
                if args.len() < least {
                    return Err(Stop::Syntax);
                }
                break;
            }
        }
        if !self.tokens.take(T::Sign(')')) {
            return Err(Stop::Syntax);
        }
        let mut args = args.into_iter();
        let (first, second, third) = (args.next(), args.next(), args.next());
        match name {
            "position" | "last" | "count" | "sum" | "true" | "false" | "not" | "boolean" => self.of_nodes(name, first),
            _ => self.of_values(name, first, second, third),
        }
    }

    /// Functions of sets and conditions.
    fn of_nodes(&mut self, name: &str, of: Option<Read>) -> Reading<Read> {
        let count = ExprType::of_kind(Kind::Int).nullable(false);
        let (value, truth) = match (name, of) {
            ("true" | "false", _) => (build::integer_literal(i64::from(name == "true")), Truth::Yes),
            ("position" | "last", _) => {
                if self.context.is_none() {
                    return Err(Stop::Syntax);
                }
                let leaf = if name == "last" { Leaf::Last } else { Leaf::Position };
                (self.leaf(leaf, count), Truth::No)
            }
            ("count", Some(Read::Set(set))) => (self.leaf(Leaf::Count(set), count), Truth::No),
            ("sum", Some(Read::Set(set))) => {
                (self.leaf(Leaf::Sum(set), ExprType::of_kind(Kind::Double).nullable(false)), Truth::No)
            }
            ("not", Some(of)) => (build::not(self.condition(of)), Truth::Yes),
            ("boolean", Some(of @ Read::Set(_))) => (self.condition(of), Truth::Yes),
            ("boolean", Some(of)) => {
                let number = build::cast(self.value(of), CastType::Double, CollationId::BINARY)?;
                (build::compare(CompareOp::NotEq, number, build::integer_literal(0))?, Truth::Yes)
            }
            _ => return Err(Stop::Syntax),
        };
        Ok(Read::Value(value, truth))
    }

    /// Functions of texts and numbers.
    fn of_values(
        &mut self,
        name: &str,
        first: Option<Read>,
        second: Option<Read>,
        third: Option<Read>,
    ) -> Reading<Read> {
        let session = self.session;
        let value = match (name, first, second) {
            ("number", of, _) => {
                // Without a node there is 0.
                let of = of.or_else(|| self.node_itself());
                let number = of.map(|of| build::cast(self.value(of), CastType::Double, CollationId::BINARY));
                number.unwrap_or_else(|| Ok(build::integer_literal(0)))?
            }
            ("string-length", of, _) => {
                let of = of.or_else(|| self.node_itself()).ok_or(Stop::Syntax)?;
                call("char_length", vec![self.value(of)], session)?
            }
            ("contains", Some(text), Some(part)) => {
                let (text, part) = (self.value(text), self.value(part));
                let place = call("locate", vec![part, text], session)?;
                let is_in = build::compare(CompareOp::NotEq, place, build::integer_literal(0))?;
                return Ok(Read::Value(is_in, Truth::Yes));
            }
            ("concat", Some(a), Some(b)) => call("concat", vec![self.value(a), self.value(b)], session)?,
            ("substring", Some(text), Some(from)) => {
                let mut values = vec![self.value(text), self.value(from)];
                values.extend(third.map(|length| self.value(length)));
                call("substring", values, session)?
            }
            ("floor" | "ceiling" | "round", Some(of), _) => call(name, vec![self.value(of)], session)?,
            _ => return Err(Stop::Syntax),
        };
        Ok(Read::Value(value, Truth::No))
    }

    /// What a predicate is asked of.
    fn node_itself(&self) -> Option<Read> {
        self.context.as_ref().map(|_| Read::Set(context_set()))
    }
}
