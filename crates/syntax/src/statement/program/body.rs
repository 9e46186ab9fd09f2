//! Bodies of stored programs: compound statements, and the single ones in them.

use crate::ast::{ColumnPath, Expr, Mention, Name, Query};
use crate::statement::{Ddl, SetItem, Statement, TableName, TypeSpec};

use super::Param;
use super::condition::{Condition, HandlerCondition};

/// A statement of a body, with the names that its own expressions have of the program. Those of statements in it are theirs.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyStatement {
    /// What it is.
    pub kind: BodyKind,
    /// Names of variables, and of rows of a trigger, in the order of the text.
    pub mentions: Vec<Mention>,
}

/// What a statement of a body is.
#[derive(Clone, Debug, PartialEq)]
pub enum BodyKind {
    /// One that there is outside of programs, too.
    Single(Box<Single>),
    /// MariaDB's `SET STATEMENT settings FOR statement`.
    With(Box<WithSettings>),
    /// `[label:] BEGIN … END`
    Block(Box<Block>),
    /// IF.
    If(Box<If>),
    /// CASE.
    Case(Box<Case>),
    /// LOOP, WHILE, REPEAT, FOR.
    Loop(Box<Loop>),
    /// LEAVE: the label of a loop or a block.
    Leave(Name),
    /// ITERATE: the label of a loop.
    Iterate(Name),
    /// RETURN.
    Return(Expr),
    /// OPEN.
    Open {
        /// The cursor.
        cursor: Name,
        /// Arguments of a cursor that has parameters (MariaDB).
        args: Vec<Expr>,
    },
    /// FETCH.
    Fetch {
        /// The cursor.
        cursor: Name,
        /// Variables.
        into: Vec<Name>,
    },
    /// MariaDB's `FETCH GROUP NEXT ROW` of an aggregate function.
    FetchGroup,
    /// CLOSE: a cursor.
    Close(Name),
}

impl BodyStatement {
    /// The words with which it begins outside of programs.
    pub fn name(&self) -> &'static str {
        match &self.kind {
            BodyKind::Block(_) => "BEGIN NOT ATOMIC",
            BodyKind::If(_) => "IF",
            BodyKind::Case(_) => "CASE",
            BodyKind::Loop(the_loop) => match the_loop.kind {
                LoopKind::Forever => "LOOP",
                LoopKind::While(_) => "WHILE",
                LoopKind::Repeat(_) => "REPEAT",
                LoopKind::For(..) => "FOR",
            },
            _ => "stored programs",
        }
    }
}

/// A statement that there is outside of programs, too.
#[derive(Clone, Debug, PartialEq)]
pub struct Single {
    /// The statement.
    pub statement: Statement,
    /// CREATE OR REPLACE: what is dropped first.
    pub replaced: Option<Box<Ddl>>,
    /// Its text, without comments, if its tree cannot be printed.
    pub text: Option<Box<str>>,
}

/// `SET STATEMENT settings FOR statement`
#[derive(Clone, Debug, PartialEq)]
pub struct WithSettings {
    /// What is set for the statement alone.
    pub settings: Vec<SetItem>,
    /// How it is written, up to its FOR.
    pub text: Box<str>,
    /// The statement.
    pub statement: BodyStatement,
}

/// `[label:] BEGIN [NOT ATOMIC] declarations; statements; END [label]`
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Its label.
    pub label: Label,
    /// MariaDB's NOT ATOMIC.
    pub not_atomic: bool,
    /// DECLARE.
    pub declarations: Vec<Declaration>,
    /// The statements; there need not be any.
    pub statements: Vec<BodyStatement>,
}

/// A label before a block or loop, and the one behind it, which is the same one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// The one before.
    pub begin: Option<Name>,
    /// The one behind.
    pub end: Option<Name>,
}

/// IF.
#[derive(Clone, Debug, PartialEq)]
pub struct If {
    /// IF and ELSEIF: one at least.
    pub arms: Vec<Arm>,
    /// ELSE.
    pub otherwise: Option<Vec<BodyStatement>>,
}

/// A condition and what is done if it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// The condition, or what is compared with an operand.
    pub condition: Expr,
    /// One statement at least.
    pub statements: Vec<BodyStatement>,
}

/// CASE.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// What the conditions are compared with.
    pub operand: Option<Expr>,
    /// WHEN: one at least.
    pub arms: Vec<Arm>,
    /// ELSE.
    pub otherwise: Option<Vec<BodyStatement>>,
}

/// A loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// Its label.
    pub label: Label,
    /// How long it goes on.
    pub kind: LoopKind,
    /// One statement at least.
    pub statements: Vec<BodyStatement>,
}

/// How long a loop goes on.
#[derive(Clone, Debug, PartialEq)]
pub enum LoopKind {
    /// LOOP.
    Forever,
    /// `WHILE condition DO`
    While(Expr),
    /// `REPEAT … UNTIL condition`
    Repeat(Expr),
    /// MariaDB's `FOR variable IN …`
    For(Name, Box<ForSource>),
}

/// What a FOR goes through.
#[derive(Clone, Debug, PartialEq)]
pub enum ForSource {
    /// `[REVERSE] first..last`
    Range {
        /// From the last one to the first one.
        reverse: bool,
        /// The first number.
        first: Expr,
        /// The last one.
        last: Expr,
    },
    /// A cursor.
    Cursor {
        /// Its name.
        name: Name,
        /// Its arguments.
        args: Vec<Expr>,
    },
    /// The rows of a query.
    Query(Query),
}

/// `DECLARE …`
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// What.
    pub kind: DeclarationKind,
    /// As of a statement.
    pub mentions: Vec<Mention>,
}

/// What is declared.
#[derive(Clone, Debug, PartialEq)]
pub enum DeclarationKind {
    /// Variables of one type.
    Variables {
        /// One at least.
        names: Vec<Name>,
        /// Their type.
        ty: DataType,
        /// DEFAULT.
        default: Option<Expr>,
    },
    /// `name CONDITION FOR condition`
    Condition {
        /// Its name.
        name: Name,
        /// What it is.
        condition: Condition,
    },
    /// `name CURSOR [(parameters)] FOR query`
    Cursor {
        /// Its name.
        name: Name,
        /// Parameters (MariaDB).
        params: Vec<Param>,
        /// What it goes through.
        query: Box<Query>,
    },
    /// `CONTINUE HANDLER FOR conditions statement`
    Handler {
        /// CONTINUE instead of EXIT.
        goes_on: bool,
        /// One at least.
        conditions: Vec<HandlerCondition>,
        /// What is done.
        action: Box<BodyStatement>,
    },
}

/// The type of a variable, a parameter, or what a function returns.
#[derive(Clone, Debug, PartialEq)]
pub enum DataType {
    /// A type as columns have them.
    Plain(Box<TypeSpec>),
    /// MariaDB's `TYPE OF`: that of a variable or a column.
    Of(Box<ColumnPath>),
    /// MariaDB's `ROW TYPE OF`: that of a table or a cursor.
    RowOf(Box<TableName>),
    /// MariaDB's `ROW (name type, …)`.
    Row(Vec<Field>),
}

/// A field of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: TypeSpec,
}
