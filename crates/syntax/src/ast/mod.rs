//! Expressions, queries and statements that change rows, as they are written: names are not looked up, and types are not known.

mod change;
mod expr;
mod json_table;
mod mention;
mod name;
mod query;
mod table;
mod unit;
mod window;

pub use change::{Assignment, Delete, Insert, InsertSource, Priority, RowAlias, Update};
pub use expr::{
    ArithmeticOp, BinaryOp, BitOp, Call, CallClauses, Case, CastCharset, CastType, CompareOp, Expr, ExprKind, IsTest,
    JsonBehavior, JsonValue, Literal, Match, MatchMode, Quantified, TemporalKind, Text, TrimSide, UnaryOp, When,
};
pub use json_table::{JsonColumn, JsonTable, JsonTableValue};
pub use mention::Mention;
pub use name::{ColumnPath, Name, TablePath};
pub use query::{
    Body, Cte, GroupBy, Into, IntoTarget, Limit, Lock, LockWait, OrderItem, Place, Query, Select, SelectItem,
    SelectOptions, SetBranch, SetOp, With,
};
pub use table::{
    Derived, IndexHint, IndexHintKind, IndexHintScope, Join, JoinCondition, JoinKind, TableFactor, TableRef,
};
pub use unit::IntervalUnit;
pub use window::{Bound, Frame, FrameUnit, NamedWindow, Over, Window};
