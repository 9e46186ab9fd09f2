//! Expressions.

use std::fmt::{self, Display, Formatter};

use super::{Clause, List, ListClause, quoted, quoted_text};
use crate::ast::{
    BinaryOp, Bound, Call, CallClauses, Case, CastCharset, CastType, Expr, ExprKind, Frame, FrameUnit, IsTest,
    JsonBehavior, JsonValue, Literal, Match, MatchMode, Name, NamedWindow, Over, Quantified, TemporalKind, Text,
    TrimSide, UnaryOp, Window,
};

/// NOT and a space, or nothing.
fn not(negated: bool) -> &'static str {
    if negated { "NOT " } else { "" }
}

/// Operands with a word between them.
fn joined(operands: &[Expr], word: &str, f: &mut Formatter<'_>) -> fmt::Result {
    for (at, operand) in operands.iter().enumerate() {
        if at > 0 {
            write!(f, " {word} ")?;
        }
        operand.fmt(f)?;
    }
    Ok(())
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "«{self}»")
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl Display for ExprKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ExprKind::Column(path) => path.fmt(f),
            ExprKind::UserVariable(name) => user_variable(name, f),
            ExprKind::SystemVariable(first, None) => write!(f, "@@{first}"),
            ExprKind::SystemVariable(first, Some(rest)) => write!(f, "@@{first}.{rest}"),
            ExprKind::Literal(literal) => literal.fmt(f),
            ExprKind::Param(_) => f.write_str("?"),
            ExprKind::Introduced(charset, literal) => write!(f, "_{charset} {literal}"),
            ExprKind::Temporal(kind, text) => write!(f, "{kind}{text}"),
            ExprKind::Default(None) => f.write_str("DEFAULT"),
            ExprKind::Default(Some(path)) => write!(f, "DEFAULT({path})"),
            ExprKind::Values(path) => write!(f, "VALUES({path})"),
            ExprKind::Nested(inner) => write!(f, "({inner})"),
            ExprKind::Row(parts) => write!(f, "({})", List(parts)),
            ExprKind::Unary(op, operand) => write!(f, "{op}{operand}"),
            ExprKind::Binary(left, BinaryOp::MemberOf, array) => write!(f, "{left} MEMBER OF ({array})"),
            ExprKind::Binary(left, op, right) => write!(f, "{left} {op} {right}"),
            ExprKind::And(operands) => joined(operands, "AND", f),
            ExprKind::Or(operands) => joined(operands, "OR", f),
            ExprKind::Quantified(quantified) => quantified.fmt(f),
            ExprKind::Exists(query) => write!(f, "EXISTS ({query})"),
            ExprKind::Subquery(query) => write!(f, "({query})"),
            ExprKind::Case(case) => case.fmt(f),
            ExprKind::Collate(inner, collation) => write!(f, "{inner} COLLATE {collation}"),
            ExprKind::Cast(inner, ty) => write!(f, "CAST({inner} AS {ty})"),
            ExprKind::ConvertUsing(inner, charset) => write!(f, "CONVERT({inner} USING {charset})"),
            ExprKind::Interval(amount, unit) => write!(f, "INTERVAL {amount} {}", unit.name()),
            ExprKind::Assign(name, value) => {
                user_variable(name, f)?;
                write!(f, " := {value}")
            }
            ExprKind::Extract(unit, inner) => write!(f, "EXTRACT({} FROM {inner})", unit.name()),
            ExprKind::Trim(side, what, inner) => trim(*side, what.as_deref(), inner, f),
            ExprKind::JsonValue(value) => value.fmt(f),
            ExprKind::Match(matched) => matched.fmt(f),
            ExprKind::Call(call) => call.fmt(f),
            predicate => fmt_predicate(predicate, f),
        }
    }
}

/// IS, IN, BETWEEN, LIKE and REGEXP.
fn fmt_predicate(predicate: &ExprKind, f: &mut Formatter<'_>) -> fmt::Result {
    match predicate {
        ExprKind::Is(inner, test, negated) => write!(f, "{inner} IS {}{test}", not(*negated)),
        ExprKind::In(inner, list, negated) => write!(f, "{inner} {}IN ({})", not(*negated), List(list)),
        ExprKind::InQuery(inner, query, negated) => write!(f, "{inner} {}IN ({query})", not(*negated)),
        ExprKind::Between(operands, negated) => {
            let [inner, low, high] = &**operands;
            write!(f, "{inner} {}BETWEEN {low} AND {high}", not(*negated))
        }
        ExprKind::Like(operands, escape, negated) => {
            let [inner, pattern] = &**operands;
            write!(f, "{inner} {}LIKE {pattern}{}", not(*negated), Clause("ESCAPE", escape.as_deref()))
        }
        ExprKind::Regexp(operands, negated) => {
            let [inner, pattern] = &**operands;
            write!(f, "{inner} {}REGEXP {pattern}", not(*negated))
        }
        _ => Err(fmt::Error),
    }
}

fn user_variable(name: &str, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_str("@")?;
    quoted(name, f)
}

fn trim(side: TrimSide, what: Option<&Expr>, inner: &Expr, f: &mut Formatter<'_>) -> fmt::Result {
    match (side, what) {
        (TrimSide::Both, None) => return write!(f, "TRIM({inner})"),
        (TrimSide::Both, Some(what)) => return write!(f, "TRIM({what} FROM {inner})"),
        (TrimSide::Leading, _) => f.write_str("TRIM(LEADING ")?,
        (TrimSide::Trailing, _) => f.write_str("TRIM(TRAILING ")?,
    }
    if let Some(what) = what {
        write!(f, "{what} ")?;
    }
    write!(f, "FROM {inner})")
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Null => f.write_str("NULL"),
            Literal::Bool(true) => f.write_str("TRUE"),
            Literal::Bool(false) => f.write_str("FALSE"),
            Literal::Number(digits) => f.write_str(digits),
            Literal::Text(text) => text.fmt(f),
            Literal::National(text) => write!(f, "N{text}"),
            Literal::Hex(digits) => write!(f, "X'{digits}'"),
            Literal::Bits(digits) => write!(f, "B'{digits}'"),
        }
    }
}

/// In two parts, if it was written in several: the first one names a column.
impl Display for Text {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        quoted_text(self.first(), f)?;
        match self.text.get(self.first..) {
            None | Some("") => Ok(()),
            Some(rest) => {
                f.write_str(" ")?;
                quoted_text(rest, f)
            }
        }
    }
}

impl Display for TemporalKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TemporalKind::Date => "DATE",
            TemporalKind::Time => "TIME",
            TemporalKind::Timestamp => "TIMESTAMP",
        })
    }
}

impl Display for UnaryOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UnaryOp::Plus => "+",
            UnaryOp::Minus => "-",
            UnaryOp::BitNot => "~",
            UnaryOp::Not => "NOT ",
            UnaryOp::Bang => "!",
        })
    }
}

impl Display for BinaryOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BinaryOp::Compare(op) => op.sign(),
            BinaryOp::Arithmetic(op) => op.sign(),
            BinaryOp::Bit(op) => op.sign(),
            BinaryOp::Xor => "XOR",
            BinaryOp::Concat => "||",
            BinaryOp::SoundsLike => "SOUNDS LIKE",
            BinaryOp::MemberOf => "MEMBER OF",
            BinaryOp::Arrow => "->",
            BinaryOp::LongArrow => "->>",
        })
    }
}

impl Display for IsTest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IsTest::Null => "NULL",
            IsTest::True => "TRUE",
            IsTest::False => "FALSE",
            IsTest::Unknown => "UNKNOWN",
        })
    }
}

impl Display for Quantified {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let word = if self.all { "ALL" } else { "ANY" };
        write!(f, "{} {} {word} ({})", self.left, self.op.sign(), self.query)
    }
}

impl Display for Case {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("CASE")?;
        if let Some(operand) = &self.operand {
            write!(f, " {operand}")?;
        }
        for arm in &self.arms {
            write!(f, " WHEN {} THEN {}", arm.condition, arm.result)?;
        }
        write!(f, "{} END", Clause("ELSE", self.otherwise.as_ref()))
    }
}

/// A word, and a number in parentheses behind it.
fn with_length(word: &str, length: Option<u64>, f: &mut Formatter<'_>) -> fmt::Result {
    match length {
        Some(length) => write!(f, "{word}({length})"),
        None => f.write_str(word),
    }
}

impl Display for CastType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            CastType::Binary(length) => with_length("BINARY", *length, f),
            CastType::Char(length, charset) => {
                with_length("CHAR", *length, f)?;
                match charset {
                    CastCharset::Connection => Ok(()),
                    CastCharset::Named(name) => write!(f, " CHARACTER SET {name}"),
                }
            }
            CastType::Signed => f.write_str("SIGNED"),
            CastType::Unsigned => f.write_str("UNSIGNED"),
            CastType::Date => f.write_str("DATE"),
            CastType::Time(digits) => with_length("TIME", *digits, f),
            CastType::DateTime(digits) => with_length("DATETIME", *digits, f),
            CastType::Year => f.write_str("YEAR"),
            CastType::Decimal(None) => f.write_str("DECIMAL"),
            CastType::Decimal(Some((digits, None))) => write!(f, "DECIMAL({digits})"),
            CastType::Decimal(Some((digits, Some(fraction)))) => write!(f, "DECIMAL({digits},{fraction})"),
            CastType::Float(bits) => with_length("FLOAT", *bits, f),
            CastType::Double => f.write_str("DOUBLE"),
            CastType::Real => f.write_str("REAL"),
            CastType::Json => f.write_str("JSON"),
            CastType::Other(name) => f.write_str(name),
        }
    }
}

impl Display for JsonValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "JSON_VALUE({}, {}{}", self.document, self.path, Clause("RETURNING", self.returning.as_ref()))?;
        for (behavior, on) in [(&self.on_empty, "EMPTY"), (&self.on_error, "ERROR")] {
            match behavior {
                JsonBehavior::Null => {}
                JsonBehavior::Error => write!(f, " ERROR ON {on}")?,
                JsonBehavior::Default(value) => write!(f, " DEFAULT {value} ON {on}")?,
            }
        }
        f.write_str(")")
    }
}

impl Display for Match {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mode = match self.mode {
            MatchMode::Natural => "",
            MatchMode::Expansion => " WITH QUERY EXPANSION",
            MatchMode::Boolean => " IN BOOLEAN MODE",
        };
        write!(f, "MATCH ({}) AGAINST ({}{mode})", List(&self.columns), self.against)
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(schema) = &self.schema {
            write!(f, "{schema}.")?;
        }
        // A function of the server loses what is its own if its name has quotes.
        let is_word = self.name.text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if is_word {
            f.write_str(&self.name.text)?
        } else {
            self.name.fmt(f)?
        }
        if !self.has_parentheses {
            return Ok(());
        }
        f.write_str("(")?;
        match (self.word, &self.args[..]) {
            (Some(word @ ("CHAR" | "BINARY")), [text, length]) => write!(f, "{text} AS {word}({length})")?,
            (Some(word), args) => write!(f, "{word}, {}", List(args))?,
            (None, args) => {
                let clauses = self.clauses.as_deref();
                if clauses.is_some_and(|clauses| clauses.distinct) {
                    f.write_str("DISTINCT ")?;
                }
                f.write_str(if clauses.is_some_and(|clauses| clauses.star) { "*" } else { "" })?;
                List(args).fmt(f)?;
            }
        }
        match &self.clauses {
            Some(clauses) => clauses.fmt(f),
            None => f.write_str(")"),
        }
    }
}

/// From what stands behind the arguments on.
impl Display for CallClauses {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        ListClause("ORDER BY", &self.order_by).fmt(f)?;
        Clause("SEPARATOR", self.separator.as_ref()).fmt(f)?;
        Clause("LIMIT", self.limit.as_ref()).fmt(f)?;
        f.write_str(")")?;
        if let Some(item) = &self.within_group {
            write!(f, " WITHIN GROUP (ORDER BY {item})")?;
        }
        f.write_str(if self.from_last { " FROM LAST" } else { "" })?;
        f.write_str(if self.ignore_nulls { " IGNORE NULLS" } else { "" })?;
        Clause("OVER", self.over.as_ref()).fmt(f)
    }
}

impl Display for Over {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Over::Name(name) => name.fmt(f),
            Over::Window(window) => window.fmt(f),
        }
    }
}

impl Display for NamedWindow {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} AS {}", self.name, self.window)
    }
}

impl Display for Window {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = self.base.iter().map(Name::to_string).collect();
        if !self.partition_by.is_empty() {
            parts.push(format!("PARTITION BY {}", List(&self.partition_by)));
        }
        if !self.order_by.is_empty() {
            parts.push(format!("ORDER BY {}", List(&self.order_by)));
        }
        parts.extend(self.frame.iter().map(Frame::to_string));
        write!(f, "({})", parts.join(" "))
    }
}

impl Display for Frame {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self.unit {
            FrameUnit::Rows => "ROWS ",
            FrameUnit::Range => "RANGE ",
            FrameUnit::Groups => "GROUPS ",
        })?;
        match &self.end {
            Some(end) => write!(f, "BETWEEN {} AND {end}", self.start)?,
            None => self.start.fmt(f)?,
        }
        Clause("EXCLUDE", self.exclude.as_ref()).fmt(f)
    }
}

impl Display for Bound {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Bound::UnboundedPreceding => f.write_str("UNBOUNDED PRECEDING"),
            Bound::Preceding(distance) => write!(f, "{distance} PRECEDING"),
            Bound::CurrentRow => f.write_str("CURRENT ROW"),
            Bound::Following(distance) => write!(f, "{distance} FOLLOWING"),
            Bound::UnboundedFollowing => f.write_str("UNBOUNDED FOLLOWING"),
        }
    }
}
