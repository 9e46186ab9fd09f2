//! The functions: their names, arguments, types and evaluation.

use std::fmt;

use base::SqlError;
use types::Value;

use crate::expr::context::{EvalContext, SessionInfo};
use crate::expr::expr::{Constancy, Expr};
use crate::expr::types::ExprType;

/// A function that a [`call`](crate::expr::ExprKind::Call) names: a line of the table of functions.
#[derive(Clone, Copy)]
pub struct Function(&'static FunctionInfo);

/// A line of the table.
pub(crate) struct FunctionInfo {
    pub(crate) name: &'static str,
    pub(crate) constancy: Constancy,
    pub(crate) waits: bool,
    pub(crate) infer: fn(&[Expr], &SessionInfo) -> Result<ExprType, SqlError>,
    pub(crate) eval: fn(&[Expr], &ExprType, &[Value], &EvalContext<'_>) -> Result<Value, SqlError>,
}

impl Function {
    /// Its name, in lower case.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The executor computes it (SLEEP and the like): the planner moves the call into a slot; [`Expr::eval`] refuses it.
    pub fn waits(self) -> bool {
        self.0.waits
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

/// The call of a function by name (any case). 1305 if there is none, 1582 if the number of arguments is wrong. Aggregates are
/// found by [`crate::expr::Aggregate::resolve`]; ask that first.
pub fn resolve(name: &str, args: Vec<Expr>, session: &SessionInfo) -> Result<Expr, SqlError> {
    let _ = (name, args, session);
    todo!()
}

/// Whether there is such a function.
pub fn exists(name: &str) -> bool {
    let _ = name;
    todo!()
}
