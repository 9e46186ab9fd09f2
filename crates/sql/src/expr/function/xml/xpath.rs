//! An XPath as MySQL reads it: paths, predicates, operators, and some of the functions.
//!
//! Its words are keywords only where an operator can stand, a name before a parenthesis is a function if it is a known one, and axes that lead to
//! siblings lead to children. What has values is an expression ([`Expr`]) whose slots are what it needs of the document, its *leaves*; each predicate has
//! leaves of its own.
//!
//! Invariant: a leaf stands behind those that its own test reads, so that they can be computed in their order.

mod function;
mod token;

use base::{SqlError, codes};
use types::{CollationId, Value};

use self::token::{Kind as T, Tokens};
use crate::expr::context::SessionInfo;
use crate::expr::tree::{CastType, Expr};
use crate::expr::types::{ExprType, Kind};
use crate::expr::{ArithmeticOp, CompareOp, build};

/// Where a step leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    Child,
    Attribute,
    Itself,
    Parent,
    Ancestor { or_self: bool },
    Descendant { or_self: bool },
}

#[derive(Debug)]
pub(super) enum Step {
    /// To nodes of a name, or of any.
    Axis(Axis, Option<String>),
    /// Of those the ones for which it is true.
    Where(Scalar),
    /// Of those the ones at a place.
    At(Scalar),
}

#[derive(Debug)]
pub(super) enum Base {
    Root,
    /// The node that a predicate is asked of.
    Context,
    Union(Vec<Set>),
}

/// A set of nodes.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) base: Base,
    pub(super) steps: Vec<Step>,
}

/// What an expression needs of the document.
#[derive(Debug)]
pub(super) enum Leaf {
    Text(Set),
    Exists(Set),
    Count(Set),
    Sum(Set),
    Position,
    Last,
    /// What an [`Leaf::Any`] puts there.
    Given,
    /// Whether any text of the set, in the slot `given`, makes the test true.
    Any {
        set: Set,
        given: usize,
        test: Expr,
    },
}

/// An expression and its leaves.
#[derive(Debug)]
pub(super) struct Scalar {
    pub(super) expr: Expr,
    pub(super) leaves: Vec<Leaf>,
}

#[derive(Debug)]
pub(super) enum Item {
    Set(Set),
    Value(Scalar),
}

/// An XPath.
#[derive(Debug)]
pub(super) struct XPath {
    pub(super) item: Item,
}

/// As many operators, parentheses and predicates may be in one.
const SIZE_MAX: usize = 5000;

/// What has been read.
enum Read {
    Set(Set),
    Value(Expr, Truth),
}

/// Whether a value is a condition's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Truth {
    Yes,
    No,
}

/// Why reading ended.
enum Stop {
    /// It is no XPath from the current token on.
    Syntax,
    Error(SqlError),
}

impl From<SqlError> for Stop {
    fn from(error: SqlError) -> Self {
        Stop::Error(error)
    }
}

type Reading<R> = Result<R, Stop>;

impl XPath {
    /// # Errors
    /// 1105 for a text that is none, 1436 for one that is too large.
    pub(super) fn parse(text: &str, collation: CollationId, session: &SessionInfo) -> Result<Self, SqlError> {
        let mut parser =
            Parser { tokens: Tokens::new(text), collation, session, leaves: Vec::new(), context: None, size: 0 };
        let read = parser.or().and_then(|read| if parser.tokens.is(T::End) { Ok(read) } else { Err(Stop::Syntax) });
        match read {
            Ok(Read::Set(set)) => Ok(XPath { item: Item::Set(set) }),
            Ok(Read::Value(expr, _)) => Ok(XPath { item: Item::Value(Scalar { expr, leaves: parser.leaves }) }),
            Err(Stop::Error(error)) => Err(error),
            Err(Stop::Syntax) => Err(SqlError::unknown(format!("XPATH syntax error: '{}'", parser.tokens.shown()))),
        }
    }
}

struct Parser<'a> {
    tokens: Tokens<'a>,
    collation: CollationId,
    session: &'a SessionInfo,
    /// Of the expression that is being read.
    leaves: Vec<Leaf>,
    /// The path so far, which a step goes on; in a predicate what it is asked of. None at the beginning.
    context: Option<Set>,
    size: usize,
}

fn context_set() -> Set {
    Set { base: Base::Context, steps: Vec::new() }
}

impl Parser<'_> {
    fn count(&mut self) -> Reading<()> {
        self.size += 1;
        if self.size > SIZE_MAX {
            let message = "Thread stack overrun: an XPATH of so many operators";
            return Err(Stop::Error(SqlError::new(codes::STACK_OVERRUN, message)));
        }
        Ok(())
    }

    fn leaf(&mut self, leaf: Leaf, ty: ExprType) -> Expr {
        self.leaves.push(leaf);
        Expr::column(self.leaves.len() - 1, ty)
    }

    fn text_type(&self) -> ExprType {
        ExprType::text(super::super::LONG_TEXT, self.collation)
    }

    /// A set is the text of its nodes.
    fn value(&mut self, read: Read) -> Expr {
        match read {
            Read::Value(expr, _) => expr,
            Read::Set(set) => {
                let ty = self.text_type();
                self.leaf(Leaf::Text(set), ty)
            }
        }
    }

    /// A set is true if it is not empty.
    fn condition(&mut self, read: Read) -> Expr {
        match read {
            Read::Value(expr, _) => expr,
            Read::Set(set) => self.leaf(Leaf::Exists(set), ExprType::truth(false)),
        }
    }

    fn or(&mut self) -> Reading<Read> {
        self.count()?;
        self.chain(&["or"], Self::and, |parser, _, a, b| {
            let conditions = vec![parser.condition(a), parser.condition(b)];
            Ok(Read::Value(build::or(conditions), Truth::Yes))
        })
    }

    fn and(&mut self) -> Reading<Read> {
        self.chain(&["and"], Self::equality, |parser, _, a, b| {
            let conditions = vec![parser.condition(a), parser.condition(b)];
            Ok(Read::Value(build::and(conditions), Truth::Yes))
        })
    }

    fn equality(&mut self) -> Reading<Read> {
        let mut left = self.relation()?;
        loop {
            let from = self.tokens.shown();
            let op = if self.tokens.take(T::Sign('=')) {
                CompareOp::Eq
            } else if self.tokens.take_both('!', '=') {
                CompareOp::NotEq
            } else {
                return Ok(left);
            };
            let right = self.relation()?;
            left = self.compare(op, left, right, &from)?;
        }
    }

    fn relation(&mut self) -> Reading<Read> {
        let mut left = self.sum()?;
        loop {
            let from = self.tokens.shown();
            let op = match () {
                () if self.tokens.take_both('<', '=') => CompareOp::LessEq,
                () if self.tokens.take(T::Sign('<')) => CompareOp::Less,
                () if self.tokens.take_both('>', '=') => CompareOp::GreaterEq,
                () if self.tokens.take(T::Sign('>')) => CompareOp::Greater,
                () => return Ok(left),
            };
            let right = self.sum()?;
            left = self.compare(op, left, right, &from)?;
        }
    }

    /// Any text of a set may be what makes it true.
    fn compare(&mut self, op: CompareOp, left: Read, right: Read, from: &str) -> Reading<Read> {
        self.count()?;
        let ty = self.text_type();
        let (set, given, test) = match (left, right) {
            (Read::Value(left, _), Read::Value(right, _)) => {
                return Ok(Read::Value(build::compare(op, left, right)?, Truth::Yes));
            }
            (Read::Set(_), Read::Set(_)) => {
                let message = format!("XPATH error: comparison of two nodesets is not supported: '{from}'");
                return Err(Stop::Error(SqlError::unknown(message)));
            }
            (Read::Set(set), Read::Value(value, _)) => {
                let given = self.leaf(Leaf::Given, ty);
                (set, self.leaves.len() - 1, build::compare(op, given, value)?)
            }
            (Read::Value(value, _), Read::Set(set)) => {
                let given = self.leaf(Leaf::Given, ty);
                (set, self.leaves.len() - 1, build::compare(op, value, given)?)
            }
        };
        let any = self.leaf(Leaf::Any { set, given, test }, ExprType::truth(false));
        Ok(Read::Value(any, Truth::Yes))
    }

    /// Operands with operators of one rank between them.
    fn chain(
        &mut self,
        operators: &[&'static str],
        operand: fn(&mut Self) -> Reading<Read>,
        join: fn(&mut Self, &str, Read, Read) -> Reading<Read>,
    ) -> Reading<Read> {
        let mut left = operand(self)?;
        while let Some(operator) = operators.iter().find(|operator| self.tokens.take_operator(operator)) {
            self.count()?;
            let right = operand(self)?;
            left = join(self, operator, left, right)?;
        }
        Ok(left)
    }

    fn sum(&mut self) -> Reading<Read> {
        self.chain(&["+", "-"], Self::product, Self::arithmetic)
    }

    fn product(&mut self) -> Reading<Read> {
        self.chain(&["*", "div", "mod"], Self::negation, Self::arithmetic)
    }

    fn arithmetic(&mut self, operator: &str, left: Read, right: Read) -> Reading<Read> {
        let op = match operator {
            "+" => ArithmeticOp::Add,
            "-" => ArithmeticOp::Subtract,
            "*" => ArithmeticOp::Multiply,
            "div" => ArithmeticOp::IntDivide,
            _ => ArithmeticOp::Modulo,
        };
        let (left, right) = (self.value(left), self.value(right));
        Ok(Read::Value(build::arithmetic(op, left, right, self.session)?, Truth::No))
    }

    fn negation(&mut self) -> Reading<Read> {
        if !self.tokens.take(T::Sign('-')) {
            return self.union();
        }
        self.count()?;
        let read = self.negation()?;
        let value = self.value(read);
        Ok(Read::Value(build::negate(value)?, Truth::No))
    }

    fn union(&mut self) -> Reading<Read> {
        let mut first = self.path()?;
        while self.tokens.take(T::Sign('|')) {
            self.count()?;
            let Read::Set(set) = first else { return Err(Stop::Syntax) };
            let Read::Set(other) = self.path()? else { return Err(Stop::Syntax) };
            let mut sets = match set {
                Set { base: Base::Union(sets), steps } if steps.is_empty() => sets,
                set => vec![set],
            };
            sets.push(other);
            first = Read::Set(Set { base: Base::Union(sets), steps: Vec::new() });
        }
        Ok(first)
    }

    /// A path from the context or the root, or a value, or a path behind a set in parentheses.
    fn path(&mut self) -> Reading<Read> {
        if self.begins_step() || self.tokens.is(T::Sign('/')) {
            let before = self.context.as_ref().map(|_| context_set());
            self.context.get_or_insert(Set { base: Base::Root, steps: Vec::new() });
            match self.tokens.take(T::Sign('/')) {
                false => self.relative()?,
                true => self.absolute()?,
            }
            let set = std::mem::replace(&mut self.context, before);
            return set.map(Read::Set).ok_or(Stop::Syntax);
        }
        let primary = self.primary()?;
        if !self.tokens.is(T::Sign('/')) {
            return Ok(primary);
        }
        let Read::Set(set) = primary else { return Err(Stop::Syntax) };
        self.tokens.take(T::Sign('/'));
        let before = self.context.replace(set);
        if self.tokens.take(T::Sign('/')) {
            self.push(Step::Axis(Axis::Descendant { or_self: true }, None));
        }
        self.relative()?;
        let set = std::mem::replace(&mut self.context, before);
        set.map(Read::Set).ok_or(Stop::Syntax)
    }

    fn push(&mut self, step: Step) {
        if let Some(context) = &mut self.context {
            context.steps.push(step);
        }
    }

    /// Behind a `/` at the beginning.
    fn absolute(&mut self) -> Reading<()> {
        self.context = Some(Set { base: Base::Root, steps: Vec::new() });
        if self.tokens.take(T::Sign('/')) {
            self.push(Step::Axis(Axis::Descendant { or_self: true }, None));
            return self.relative();
        }
        if self.begins_step() { self.relative() } else { Ok(()) }
    }

    fn begins_step(&self) -> bool {
        let is_sign = |sign| self.tokens.is(T::Sign(sign));
        let is_kind = [T::Name, T::Axis, T::NodeType].iter().any(|kind| self.tokens.is(*kind));
        is_kind || is_sign('*') || is_sign('@') || is_sign('.')
    }

    fn relative(&mut self) -> Reading<()> {
        self.step()?;
        while self.tokens.take(T::Sign('/')) {
            if self.tokens.take(T::Sign('/')) {
                self.push(Step::Axis(Axis::Descendant { or_self: true }, None));
            }
            self.step()?;
        }
        Ok(())
    }

    fn step(&mut self) -> Reading<()> {
        self.count()?;
        if self.tokens.take(T::Sign('.')) {
            if self.tokens.take(T::Sign('.')) {
                self.push(Step::Axis(Axis::Parent, None));
            }
            return Ok(());
        }
        let axis = self.axis()?;
        self.node_test(axis)?;
        while self.tokens.take(T::Sign('[')) {
            self.predicate()?;
        }
        Ok(())
    }

    fn axis(&mut self) -> Reading<Axis> {
        if self.tokens.take(T::Sign('@')) {
            return Ok(Axis::Attribute);
        }
        if !self.tokens.is(T::Axis) {
            return Ok(Axis::Child);
        }
        let axis = match &*self.tokens.text().to_ascii_lowercase() {
            "ancestor" => Axis::Ancestor { or_self: false },
            "ancestor-or-self" => Axis::Ancestor { or_self: true },
            "attribute" => Axis::Attribute,
            "descendant" => Axis::Descendant { or_self: false },
            "descendant-or-self" => Axis::Descendant { or_self: true },
            "parent" => Axis::Parent,
            "self" => Axis::Itself,
            _ => Axis::Child,
        };
        self.tokens.take(T::Axis);
        if self.tokens.take_both(':', ':') { Ok(axis) } else { Err(Stop::Syntax) }
    }

    /// A name, any name, or a kind of nodes, of which every kind is what the path has led to.
    fn node_test(&mut self, axis: Axis) -> Reading<()> {
        if self.tokens.take(T::NodeType) {
            return if self.tokens.take_both('(', ')') { Ok(()) } else { Err(self.behind_parenthesis()) };
        }
        if self.tokens.take(T::Sign('*')) {
            self.push(Step::Axis(axis, None));
            return Ok(());
        }
        if !self.tokens.is(T::Name) {
            return Err(Stop::Syntax);
        }
        let begin = self.tokens.begin();
        let mut end = self.tokens.end();
        self.tokens.take(T::Name);
        if self.tokens.take(T::Sign(':')) {
            end = self.tokens.end();
            if !self.tokens.take(T::Name) {
                self.tokens.take(T::Sign('*'));
                return Err(Stop::Syntax);
            }
        }
        let name = self.tokens.between(begin, end).to_owned();
        self.push(Step::Axis(axis, Some(name)));
        Ok(())
    }

    fn behind_parenthesis(&mut self) -> Stop {
        self.tokens.take(T::Sign('('));
        Stop::Syntax
    }

    fn predicate(&mut self) -> Reading<()> {
        self.count()?;
        let path = self.context.replace(context_set());
        let leaves = std::mem::take(&mut self.leaves);
        let read = self.or()?;
        if !self.tokens.take(T::Sign(']')) {
            return Err(Stop::Syntax);
        }
        let is_truth = matches!(read, Read::Set(_) | Read::Value(_, Truth::Yes));
        let expr = self.condition(read);
        // The number of a place is a whole one.
        let expr = if is_truth { expr } else { build::cast(expr, CastType::Signed, self.collation)? };
        let scalar = Scalar { expr, leaves: std::mem::replace(&mut self.leaves, leaves) };
        self.context = path;
        self.push(if is_truth { Step::Where(scalar) } else { Step::At(scalar) });
        Ok(())
    }

    fn primary(&mut self) -> Reading<Read> {
        if self.tokens.take(T::Sign('(')) {
            let read = self.or()?;
            return if self.tokens.take(T::Sign(')')) { Ok(read) } else { Err(Stop::Syntax) };
        }
        if self.tokens.is(T::Function) {
            return self.function();
        }
        if self.tokens.is(T::Sign('$')) {
            return self.variable();
        }
        if self.tokens.is(T::Text) {
            let text = build::string_literal(self.tokens.inside(), self.collation);
            self.tokens.take(T::Text);
            return Ok(Read::Value(text, Truth::No));
        }
        self.number()
    }

    fn number(&mut self) -> Reading<Read> {
        if !self.tokens.is(T::Digits) {
            return Err(Stop::Syntax);
        }
        let (begin, mut end) = (self.tokens.begin(), self.tokens.end());
        let whole = self.tokens.text().parse::<u64>().unwrap_or(u64::MAX) as i64;
        self.tokens.take(T::Digits);
        if !self.tokens.take(T::Sign('.')) {
            return Ok(Read::Value(build::integer_literal(whole), Truth::No));
        }
        let mut decimals = 0;
        if self.tokens.is(T::Digits) {
            end = self.tokens.end();
            decimals = self.tokens.text().len().min(usize::from(types::decimal::MAX_SCALE)) as u8;
            self.tokens.take(T::Digits);
        }
        let text: String = self.tokens.between(begin, end).chars().filter(|c| !c.is_whitespace()).collect();
        let number = types::number::parse_f64(text.as_bytes()).0;
        let literal = Expr::literal(Value::Double(number), ExprType::double(decimals).nullable(false));
        Ok(Read::Value(literal, Truth::No))
    }

    /// `$@name`, a variable of the session. Those of stored programs are not there.
    fn variable(&mut self) -> Reading<Read> {
        let from = self.tokens.shown();
        self.tokens.take(T::Sign('$'));
        let is_of_session = self.tokens.take(T::Sign('@'));
        if !self.tokens.is(T::Name) {
            return Err(Stop::Syntax);
        }
        let name = self.tokens.text().to_owned();
        self.tokens.take(T::Name);
        if !is_of_session {
            return Err(Stop::Error(SqlError::unknown(format!("Unknown XPATH variable at: '{from}'"))));
        }
        let variable = build::user_variable(&name, self.session);
        // It has its value while the statement is executed: the type is known then.
        let known = variable.ty.kind != Kind::Any;
        let ty = if known { variable.ty.clone() } else { self.text_type().nullable(true) };
        Ok(Read::Value(Expr { ty, ..variable }, Truth::No))
    }
}
