//! [`Expr`]: the tree, and what the planner asks of it.

use std::sync::Arc;

use syntax::ast::{ArithmeticOp, BitOp, CompareOp, IntervalUnit};
use types::Value;

use crate::expr::function::Function;
use crate::expr::in_list::InList;
use crate::expr::slots::SlotSet;
use crate::expr::types::ExprType;

/// An expression with its type. Equal trees are equal expressions (GROUP BY and select list).
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type.
    pub ty: ExprType,
}

/// The nodes that planners look into have variants of their own; everything else is a [`Call`](ExprKind::Call).
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A constant.
    Literal(Value),
    /// `?`, from 0.
    Param(usize),
    /// A slot of the row; until a block has its plan, a column of the statement by its number. With `utc` in its type it is given in the session's
    /// time zone.
    Column {
        /// Which.
        slot: usize,
        /// It holds UTC.
        utc: bool,
    },
    /// `=`, `<`, … and `<=>`.
    Compare {
        /// Which.
        op: CompareOp,
        /// Left and right.
        args: Box<[Expr; 2]>,
    },
    /// All of them (two or more; nested ANDs are flattened).
    And(Vec<Expr>),
    /// Any of them (two or more; nested ORs are flattened).
    Or(Vec<Expr>),
    /// XOR
    Xor(Box<[Expr; 2]>),
    /// NOT
    Not(Box<Expr>),
    /// IS NULL; `IS NOT NULL` is its NOT.
    IsNull(Box<Expr>),
    /// IS TRUE, IS FALSE; with NOT, its NOT.
    IsTruth {
        /// Of what.
        arg: Box<Expr>,
        /// TRUE or FALSE.
        wanted: bool,
    },
    /// `value IN (list)`; NOT IN is its NOT.
    In {
        /// What is looked for.
        value: Box<Expr>,
        /// Where.
        list: InList,
    },
    /// `value BETWEEN low AND high`; NOT BETWEEN is its NOT.
    Between {
        /// value, low, high
        args: Box<[Expr; 3]>,
    },
    /// `text LIKE pattern ESCAPE escape`; NOT LIKE is its NOT.
    Like {
        /// text, pattern
        args: Box<[Expr; 2]>,
        /// `None` switches escapes off (`ESCAPE ''`).
        escape: Option<char>,
    },
    /// `+ - * / DIV %`
    Arithmetic {
        /// Which.
        op: ArithmeticOp,
        /// Left and right.
        args: Box<[Expr; 2]>,
    },
    /// `-x`
    Negate(Box<Expr>),
    /// `| & ^ << >>`
    Bit {
        /// Which.
        op: BitOp,
        /// Left and right.
        args: Box<[Expr; 2]>,
    },
    /// CASE with and without an operand.
    Case {
        /// `CASE operand WHEN …`
        operand: Option<Box<Expr>>,
        /// WHEN and THEN.
        arms: Vec<(Expr, Expr)>,
        /// ELSE
        otherwise: Option<Box<Expr>>,
    },
    /// CAST and CONVERT.
    Cast {
        /// Of what.
        arg: Box<Expr>,
        /// To what.
        to: CastType,
    },
    /// `text COLLATE name`: the value unchanged, the type with another collation.
    Collate(Box<Expr>),
    /// `date ± INTERVAL amount unit`
    Interval {
        /// date, amount
        args: Box<[Expr; 2]>,
        /// Unit.
        unit: IntervalUnit,
        /// Minus.
        subtract: bool,
    },
    /// `@name`
    UserVariable(Arc<str>),
    /// `@name := value`
    AssignVariable {
        /// Lower case name.
        name: Arc<str>,
        /// Value.
        value: Box<Expr>,
    },
    /// `@@scope.name`
    SystemVariable {
        /// Which one.
        scope: VariableScope,
        /// Lower case name.
        name: Arc<str>,
    },
    /// A function.
    Call {
        /// Which.
        function: Function,
        /// Arguments.
        args: Vec<Expr>,
    },
}

/// What CAST makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastType {
    /// SIGNED
    Signed,
    /// UNSIGNED
    Unsigned,
    /// CHAR(n) in the connection's collation; `CONVERT(x USING utf8mb4)` without a length.
    Char {
        /// Characters; all if `None`.
        chars: Option<u32>,
    },
    /// BINARY(n)
    Binary {
        /// Bytes; all if `None`.
        bytes: Option<u32>,
    },
    /// DATE
    Date,
    /// TIME(fsp)
    Time {
        /// Digits of the fraction.
        fsp: u8,
    },
    /// DATETIME(fsp)
    DateTime {
        /// Digits of the fraction.
        fsp: u8,
    },
    /// DECIMAL(precision, scale)
    Decimal {
        /// All digits.
        precision: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// FLOAT
    Float,
    /// DOUBLE, REAL
    Double,
    /// YEAR
    Year,
    /// JSON: text is parsed, other values become scalars.
    Json,
}

/// Which value of a system variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VariableScope {
    /// `@@name`: the session's if it has one.
    Default,
    /// `@@session.name`
    Session,
    /// `@@global.name`
    Global,
}

/// How long an expression keeps its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Constancy {
    /// For ever: it can be computed when the statement is planned.
    Literal,
    /// For one execution of the statement: parameters, NOW(), session values.
    Execution,
    /// For a row.
    Row,
    /// Not even that: RAND(), UUID(), `@a := …`.
    Volatile,
}

impl Expr {
    /// A constant with its type.
    pub fn literal(value: Value, ty: ExprType) -> Expr {
        Expr { kind: ExprKind::Literal(value), ty }
    }

    /// A constant truth value or number.
    pub fn int(n: i64) -> Expr {
        crate::expr::build::integer_literal(n)
    }

    /// NULL
    pub fn null() -> Expr {
        Expr::literal(Value::Null, ExprType::of_kind(crate::expr::types::Kind::Null))
    }

    /// `?`, of a type if it is known.
    pub fn param(number: usize, ty: Option<&ExprType>) -> Expr {
        let ty = ty.cloned().unwrap_or_else(|| ExprType::of_kind(crate::expr::types::Kind::Any));
        Expr { kind: ExprKind::Param(number), ty }
    }

    /// Whether there is a parameter in it.
    pub fn has_param(&self) -> bool {
        let mut found = matches!(self.kind, ExprKind::Param(_));
        self.for_each_child(&mut |child| found |= child.has_param());
        found
    }

    /// Whether it assigns to a variable.
    pub(crate) fn assigns(&self) -> bool {
        let mut found = matches!(self.kind, ExprKind::AssignVariable { .. });
        self.for_each_child(&mut |child| found |= child.assigns());
        found
    }

    /// The value of a slot whose values are of type `ty`.
    pub fn column(slot: usize, mut ty: ExprType) -> Expr {
        let utc = std::mem::take(&mut ty.utc);
        Expr { kind: ExprKind::Column { slot, utc }, ty }
    }

    /// The slot, if it is nothing but a column.
    pub fn as_column(&self) -> Option<usize> {
        match self.kind {
            ExprKind::Column { slot, .. } => Some(slot),
            _ => None,
        }
    }

    /// How long it keeps its value.
    pub fn constancy(&self) -> Constancy {
        let mut constancy = match &self.kind {
            ExprKind::Param(_) | ExprKind::UserVariable(_) | ExprKind::SystemVariable { .. } => Constancy::Execution,
            ExprKind::Column { .. } => Constancy::Row,
            ExprKind::AssignVariable { .. } => Constancy::Volatile,
            ExprKind::Call { function, .. } => function.constancy(),
            _ => Constancy::Literal,
        };
        self.for_each_child(&mut |child| constancy = constancy.max(child.constancy()));
        constancy
    }

    /// Whether some part of it has to be computed asynchronously ([`Function::waits`]): the planner moves such calls into
    /// slots.
    pub fn waits(&self) -> bool {
        let mut waits = matches!(&self.kind, ExprKind::Call { function, .. } if function.waits());
        self.for_each_child(&mut |child| waits |= child.waits());
        waits
    }

    /// Calls `visit` with every direct part.
    pub fn for_each_child<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        use ExprKind::*;
        match &self.kind {
            Literal(_) | Param(_) | Column { .. } | UserVariable(_) | SystemVariable { .. } => {}
            Compare { args, .. } | Xor(args) | Arithmetic { args, .. } | Bit { args, .. } => {
                args.iter().for_each(visit)
            }
            Like { args, .. } | Interval { args, .. } => args.iter().for_each(visit),
            And(parts) | Or(parts) => parts.iter().for_each(visit),
            Not(arg) | IsNull(arg) | Negate(arg) | Collate(arg) => visit(arg),
            IsTruth { arg, .. } | Cast { arg, .. } => visit(arg),
            AssignVariable { value, .. } => visit(value),
            Between { args } => args.iter().for_each(visit),
            Call { args, .. } => args.iter().for_each(visit),
            In { value, list } => {
                visit(value);
                list.iter().for_each(visit);
            }
            Case { operand, arms, otherwise } => {
                operand.iter().for_each(|operand| visit(operand));
                for (when, then) in arms {
                    visit(when);
                    visit(then);
                }
                otherwise.iter().for_each(|otherwise| visit(otherwise));
            }
        }
    }

    /// Calls `visit` with every direct part, to be changed.
    pub fn for_each_child_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        use ExprKind::*;
        match &mut self.kind {
            Literal(_) | Param(_) | Column { .. } | UserVariable(_) | SystemVariable { .. } => {}
            Compare { args, .. } | Xor(args) | Arithmetic { args, .. } | Bit { args, .. } => {
                args.iter_mut().for_each(visit);
            }
            Like { args, .. } | Interval { args, .. } => args.iter_mut().for_each(visit),
            And(parts) | Or(parts) => parts.iter_mut().for_each(visit),
            Not(arg) | IsNull(arg) | Negate(arg) | Collate(arg) => visit(arg),
            IsTruth { arg, .. } | Cast { arg, .. } => visit(arg),
            AssignVariable { value, .. } => visit(value),
            Between { args } => args.iter_mut().for_each(visit),
            Call { args, .. } => args.iter_mut().for_each(visit),
            In { value, list } => {
                visit(value);
                list.iter_mut().for_each(visit);
            }
            Case { operand, arms, otherwise } => {
                operand.iter_mut().for_each(|operand| visit(operand));
                for (when, then) in arms {
                    visit(when);
                    visit(then);
                }
                otherwise.iter_mut().for_each(|otherwise| visit(otherwise));
            }
        }
    }

    /// The slots that it reads.
    pub fn slots(&self) -> SlotSet {
        let mut slots = SlotSet::default();
        self.collect_slots(&mut slots);
        slots
    }

    /// Adds the slots that it reads to `slots`.
    pub fn collect_slots(&self, slots: &mut SlotSet) {
        if let ExprKind::Column { slot, .. } = self.kind {
            slots.insert(slot);
        }
        self.for_each_child(&mut |child| child.collect_slots(slots));
    }

    /// Gives every slot the number that `map` says.
    pub fn map_slots(&mut self, map: &dyn Fn(usize) -> usize) {
        if let ExprKind::Column { slot, .. } = &mut self.kind {
            *slot = map(*slot);
        }
        self.for_each_child_mut(&mut |child| child.map_slots(map));
    }

    /// The AND of these; TRUE of none.
    pub fn and(conditions: Vec<Expr>) -> Expr {
        crate::expr::build::and(conditions)
    }
}
