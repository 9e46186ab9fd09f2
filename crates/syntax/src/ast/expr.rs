//! Expressions.

use std::sync::Arc;

use super::{ColumnPath, IntervalUnit, Limit, Name, OrderItem, Over, Query};
use crate::span::Span;

/// An expression and where it stands. Its `Debug` is what is printed of it.
#[derive(Clone, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// From its first token to its last, parentheses included.
    pub span: Span,
}

impl Expr {
    /// One that stands nowhere.
    pub fn new(kind: ExprKind) -> Self {
        Expr { kind, span: Span::default() }
    }

    /// A call of a function that stands nowhere.
    pub fn call(name: &str, args: Vec<Expr>) -> Self {
        Expr::new(ExprKind::Call(Box::new(Call::new(Name::new(name), args))))
    }

    /// What is in its parentheses, if it has some.
    pub fn inner(&self) -> &Expr {
        let mut inner = self;
        while let ExprKind::Nested(next) = &inner.kind {
            inner = next;
        }
        inner
    }

    /// Whether it is the word DEFAULT, which stands for a value.
    pub fn is_default(&self) -> bool {
        matches!(self.kind, ExprKind::Default(None))
    }
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A name of a column, or of the select list.
    Column(Box<ColumnPath>),
    /// `@name`
    UserVariable(Arc<str>),
    /// `@@name`, `@@global.name`: the first part and the others.
    SystemVariable(Arc<str>, Option<Arc<str>>),
    /// A literal.
    Literal(Literal),
    /// `?`, with its number in the statement, which counts from 0.
    Param(usize),
    /// `_utf8mb4'text'`: the character set, without its `_`, and a literal of text, hexadecimal or binary digits.
    Introduced(Arc<str>, Literal),
    /// `DATE'2020-01-01'`
    Temporal(TemporalKind, Box<Text>),
    /// `DEFAULT`, which is no value but stands for one, and `DEFAULT(column)`.
    Default(Option<Box<ColumnPath>>),
    /// `VALUES(column)`
    Values(Box<ColumnPath>),
    /// `(a)`
    Nested(Box<Expr>),
    /// `(a, b)`, `ROW(a, b)`: of two values at least.
    Row(Vec<Expr>),
    /// An operator before its operand.
    Unary(UnaryOp, Box<Expr>),
    /// An operator between its operands.
    Binary(Box<Expr>, BinaryOp, Box<Expr>),
    /// `a AND b AND c`: two operands at least.
    And(Vec<Expr>),
    /// `a OR b OR c`: two operands at least.
    Or(Vec<Expr>),
    /// `a IS [NOT] NULL`: whether there is a NOT.
    Is(Box<Expr>, IsTest, bool),
    /// `a [NOT] IN (b, c)`
    In(Box<Expr>, Vec<Expr>, bool),
    /// `a [NOT] IN (SELECT …)`
    InQuery(Box<Expr>, Box<Query>, bool),
    /// `a [NOT] BETWEEN b AND c`
    Between(Box<[Expr; 3]>, bool),
    /// `a [NOT] LIKE b [ESCAPE c]`
    Like(Box<[Expr; 2]>, Option<Box<Expr>>, bool),
    /// `a [NOT] REGEXP b`
    Regexp(Box<[Expr; 2]>, bool),
    /// `a = ANY (SELECT …)`
    Quantified(Box<Quantified>),
    /// `EXISTS (SELECT …)`
    Exists(Box<Query>),
    /// `(SELECT …)`
    Subquery(Box<Query>),
    /// `CASE … END`
    Case(Box<Case>),
    /// `a COLLATE b`
    Collate(Box<Expr>, Name),
    /// `CAST(a AS type)`, `CONVERT(a, type)`, `BINARY a`
    Cast(Box<Expr>, CastType),
    /// `CONVERT(a USING charset)`
    ConvertUsing(Box<Expr>, Name),
    /// `INTERVAL a unit`, which only stands beside a date.
    Interval(Box<Expr>, IntervalUnit),
    /// `@name := a`
    Assign(Arc<str>, Box<Expr>),
    /// `EXTRACT(unit FROM a)`
    Extract(IntervalUnit, Box<Expr>),
    /// `TRIM(side what FROM a)`: side, what, a.
    Trim(TrimSide, Option<Box<Expr>>, Box<Expr>),
    /// `JSON_VALUE(document, path …)`
    JsonValue(Box<JsonValue>),
    /// `MATCH (columns) AGAINST (text)`
    Match(Box<Match>),
    /// A call of a function.
    Call(Box<Call>),
}

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `NULL`
    Null,
    /// `TRUE`, `FALSE`
    Bool(bool),
    /// A number without sign.
    Number(Box<str>),
    /// `'text'`
    Text(Text),
    /// `N'text'`
    National(Text),
    /// The digits of `x'4A'`, an even number of them.
    Hex(Box<str>),
    /// The digits of `b'01'`.
    Bits(Box<str>),
}

/// Text, which may be written in several parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// All parts.
    pub text: Box<str>,
    /// How many bytes the first one has, which is what names a column.
    pub first: usize,
}

impl Text {
    /// Text in one part.
    pub fn new(text: &str) -> Self {
        Text { text: text.into(), first: text.len() }
    }

    /// The first part.
    pub fn first(&self) -> &str {
        self.text.get(..self.first).unwrap_or_default()
    }
}

/// Of what kind a literal of a date or time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemporalKind {
    /// `DATE'…'`, `{d '…'}`
    Date,
    /// `TIME'…'`, `{t '…'}`
    Time,
    /// `TIMESTAMP'…'`, `{ts '…'}`
    Timestamp,
}

/// An operator before its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `~`
    BitNot,
    /// `NOT`
    Not,
    /// `!`, which binds more tightly than NOT.
    Bang,
}

/// An operator of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `=`
    Eq,
    /// `<=>`
    NullSafeEq,
    /// `<>`
    NotEq,
    /// `<`
    Less,
    /// `<=`
    LessEq,
    /// `>`
    Greater,
    /// `>=`
    GreaterEq,
}

impl CompareOp {
    /// As it is written.
    pub fn sign(self) -> &'static str {
        match self {
            CompareOp::Eq => "=",
            CompareOp::NullSafeEq => "<=>",
            CompareOp::NotEq => "<>",
            CompareOp::Less => "<",
            CompareOp::LessEq => "<=",
            CompareOp::Greater => ">",
            CompareOp::GreaterEq => ">=",
        }
    }

    /// The operator with its sides exchanged.
    pub fn mirrored(self) -> Self {
        match self {
            CompareOp::Less => CompareOp::Greater,
            CompareOp::LessEq => CompareOp::GreaterEq,
            CompareOp::Greater => CompareOp::Less,
            CompareOp::GreaterEq => CompareOp::LessEq,
            other => other,
        }
    }
}

/// An operator of arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArithmeticOp {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`: DECIMAL or DOUBLE.
    Divide,
    /// `DIV`
    IntDivide,
    /// `%`, `MOD`
    Modulo,
}

impl ArithmeticOp {
    /// As it is written.
    pub fn sign(self) -> &'static str {
        match self {
            ArithmeticOp::Add => "+",
            ArithmeticOp::Subtract => "-",
            ArithmeticOp::Multiply => "*",
            ArithmeticOp::Divide => "/",
            ArithmeticOp::IntDivide => "DIV",
            ArithmeticOp::Modulo => "%",
        }
    }
}

/// An operator on bits; `~x` is `x ^ 2^64-1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitOp {
    /// `|`
    Or,
    /// `&`
    And,
    /// `^`
    Xor,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
}

impl BitOp {
    /// As it is written.
    pub fn sign(self) -> &'static str {
        match self {
            BitOp::Or => "|",
            BitOp::And => "&",
            BitOp::Xor => "^",
            BitOp::ShiftLeft => "<<",
            BitOp::ShiftRight => ">>",
        }
    }
}

/// An operator between two operands, AND and OR apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// A comparison.
    Compare(CompareOp),
    /// `XOR`
    Xor,
    /// Arithmetic.
    Arithmetic(ArithmeticOp),
    /// On bits.
    Bit(BitOp),
    /// `||` under PIPES_AS_CONCAT.
    Concat,
    /// `SOUNDS LIKE`
    SoundsLike,
    /// `MEMBER OF`
    MemberOf,
    /// `->`
    Arrow,
    /// `->>`
    LongArrow,
}

/// What IS asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsTest {
    /// `NULL`
    Null,
    /// `TRUE`
    True,
    /// `FALSE`
    False,
    /// `UNKNOWN`
    Unknown,
}

/// `left op ANY (query)`, `left op ALL (query)`
#[derive(Clone, Debug, PartialEq)]
pub struct Quantified {
    /// What is compared.
    pub left: Expr,
    /// How.
    pub op: CompareOp,
    /// ALL instead of ANY.
    pub all: bool,
    /// With the rows of this.
    pub query: Query,
}

/// `CASE [operand] WHEN … THEN … [ELSE …] END`
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// What the conditions are compared with.
    pub operand: Option<Expr>,
    /// One at least.
    pub arms: Vec<When>,
    /// ELSE.
    pub otherwise: Option<Expr>,
}

/// `WHEN condition THEN result`
#[derive(Clone, Debug, PartialEq)]
pub struct When {
    /// The condition, or what is compared with the operand.
    pub condition: Expr,
    /// The value.
    pub result: Expr,
}

/// The type of a CAST, with what is in its parentheses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CastType {
    /// BINARY: bytes.
    Binary(Option<u64>),
    /// CHAR: characters, and their set.
    Char(Option<u64>, CastCharset),
    /// SIGNED, and MariaDB's INT.
    Signed,
    /// UNSIGNED.
    Unsigned,
    /// DATE.
    Date,
    /// TIME: digits of its fraction.
    Time(Option<u64>),
    /// DATETIME: digits of its fraction.
    DateTime(Option<u64>),
    /// YEAR.
    Year,
    /// DECIMAL: digits, and those of its fraction.
    Decimal(Option<(u64, Option<u64>)>),
    /// FLOAT: bits of its precision.
    Float(Option<u64>),
    /// DOUBLE.
    Double,
    /// REAL: DOUBLE, or FLOAT under REAL_AS_FLOAT.
    Real,
    /// JSON.
    Json,
    /// What is known and not supported.
    Other(&'static str),
}

/// The character set of a CAST to CHAR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CastCharset {
    /// The connection's.
    Connection,
    /// A named one.
    Named(Name),
}

/// Of which ends TRIM takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimSide {
    /// BOTH, or nothing said.
    Both,
    /// LEADING.
    Leading,
    /// TRAILING.
    Trailing,
}

/// `JSON_VALUE(document, path [RETURNING type] [… ON EMPTY] [… ON ERROR])`
#[derive(Clone, Debug, PartialEq)]
pub struct JsonValue {
    /// The document.
    pub document: Expr,
    /// The path in it.
    pub path: Expr,
    /// RETURNING.
    pub returning: Option<CastType>,
    /// ON EMPTY.
    pub on_empty: JsonBehavior,
    /// ON ERROR.
    pub on_error: JsonBehavior,
}

/// What JSON_VALUE does without a value.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonBehavior {
    /// NULL, or nothing said.
    Null,
    /// ERROR.
    Error,
    /// DEFAULT.
    Default(Expr),
}

/// `MATCH (columns) AGAINST (text [mode])`
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The columns.
    pub columns: Vec<Expr>,
    /// What is looked for.
    pub against: Expr,
    /// How.
    pub mode: MatchMode,
}

/// How MATCH reads its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchMode {
    /// Nothing said, or IN NATURAL LANGUAGE MODE.
    Natural,
    /// WITH QUERY EXPANSION.
    Expansion,
    /// IN BOOLEAN MODE.
    Boolean,
}

/// A call of a function. What is written with words between the arguments is here with commas, where a function takes both.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The database of a stored function.
    pub schema: Option<Name>,
    /// The function.
    pub name: Name,
    /// A word that stands for an argument: the unit of TIMESTAMPADD, the type of GET_FORMAT, of WEIGHT_STRING.
    pub word: Option<&'static str>,
    /// The arguments.
    pub args: Vec<Expr>,
    /// There are parentheses, which CURRENT_USER can do without.
    pub has_parentheses: bool,
    /// What only aggregates and window functions have.
    pub clauses: Option<Box<CallClauses>>,
}

impl Call {
    /// A call with arguments alone.
    pub(crate) fn new(name: Name, args: Vec<Expr>) -> Self {
        Call { schema: None, name, word: None, args, has_parentheses: true, clauses: None }
    }
}

/// What stands in a call beside its arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallClauses {
    /// `COUNT(*)`
    pub star: bool,
    /// DISTINCT.
    pub distinct: bool,
    /// ORDER BY of GROUP_CONCAT.
    pub order_by: Vec<OrderItem>,
    /// SEPARATOR of GROUP_CONCAT.
    pub separator: Option<Literal>,
    /// LIMIT of MariaDB's GROUP_CONCAT.
    pub limit: Option<Limit>,
    /// WITHIN GROUP (ORDER BY …) of MariaDB's PERCENTILE_CONT and PERCENTILE_DISC.
    pub within_group: Option<OrderItem>,
    /// FROM LAST of NTH_VALUE.
    pub from_last: bool,
    /// IGNORE NULLS.
    pub ignore_nulls: bool,
    /// OVER.
    pub over: Option<Over>,
}
