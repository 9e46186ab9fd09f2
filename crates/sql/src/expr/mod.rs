//! Expressions: types, coercion, evaluation, functions and aggregates, as MySQL has them.
//!
//! The binder makes an [`Expr`] bottom up with the constructors of [`build`] and [`function`]; each knows its
//! [`ExprType`]. An expression reads one row of values by slot numbers, the statement's parameters, and the session through
//! [`EvalContext`]; it never waits. What has to wait (subqueries, `SLEEP`) is computed by the executor before and read from
//! a slot.
//!
//! ```text
//!   AST --binder--> build::compare(op, l, r) / function::resolve("concat", args) / Aggregate::resolve("sum", …)
//!                        |                            each with an ExprType
//!                        v
//!   Expr::eval(&row, &ctx) -> Value          convert::Assignment: value -> column's own form, or 1264, 1265, 1366, 1406, …
//! ```
//!
//! Evaluation goes by the values themselves wherever MySQL's rules allow it (an integer beside an integer is compared as
//! integers, whatever was declared), so parameters need no type before they have a value. Types decide what values cannot say:
//! collations, scales, ENUM order, and the shape of the result.

pub mod aggregate;
mod agree;
mod arithmetic;
mod beside;
mod bits;
pub mod build;
mod cast;
pub(crate) mod choice;
mod chosen;
pub(crate) mod coerce;
mod column_type;
pub(crate) mod compare;
pub(crate) mod constant;
pub mod context;
pub mod convert;
pub(crate) mod copied;
mod eval;
pub mod function;
mod in_list;
mod interval;
pub(crate) mod json;
pub(crate) mod locale;
pub mod order;
pub mod pattern;
mod sliding;
mod slots;
pub(crate) mod stored;
mod summed;
mod tree;
pub mod types;
mod union;
mod whole;
pub(crate) mod window;
pub(crate) mod work;
pub(crate) mod zero;
mod zone;

#[cfg(test)]
mod tests;

pub use ::types::SqlMode;
pub use aggregate::{Aggregate, AggregateFunction, AggregateState};
pub(crate) use beside::{is_number, moment_of, time_of, year_beside_column};
pub use context::{Deadline, EvalContext, Host, SessionInfo, TimeLimit, Warning, WarningLevel, Warnings, Watch};
pub(crate) use context::{interrupted, packet_overflow};
pub use convert::{Strictness, convert_for_column};
pub(crate) use eval::decides;
pub use function::Function;
pub(crate) use function::hex_text;
pub use in_list::InList;
pub(crate) use json::name_table;
pub(crate) use sliding::Sliding;
pub use slots::SlotSet;
pub use syntax::ast::{ArithmeticOp, BitOp, CompareOp, IntervalUnit};
pub use tree::{CastType, Constancy, Expr, ExprKind, VariableScope};
pub use types::{Coercibility, ExprType, Kind};
