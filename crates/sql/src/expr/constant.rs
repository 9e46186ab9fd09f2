//! The value of an expression while its statement is planned.

use base::{SqlError, UnixMicros, codes};
use types::Value;

use crate::expr::context::{EvalContext, Host, SessionInfo, Warnings};
use crate::expr::tree::{Constancy, Expr, ExprKind, VariableScope};
use crate::expr::work;

/// The value of an expression that has it for ever; `None` if it has not, or fails.
pub(crate) fn constant(expr: &Expr, session: &SessionInfo) -> Option<Value> {
    if let ExprKind::Literal(value) = &expr.kind {
        return Some(value.clone());
    }
    if expr.constancy() != Constancy::Literal || expr.waits() {
        return None;
    }
    let warnings = Warnings::default();
    work::begin();
    expr.eval(&[], &EvalContext::new(session, &NoHost, UnixMicros(0), &warnings)).ok()
}

/// The host of what sees neither variables nor clock.
pub(crate) struct NoHost;

impl Host for NoHost {
    fn system_variable(&self, _scope: VariableScope, name: &str) -> Result<Value, SqlError> {
        Err(SqlError::new(codes::UNKNOWN_SYSTEM_VARIABLE, format!("Unknown system variable '{name}'")))
    }

    fn clock_now(&self) -> UnixMicros {
        UnixMicros(0)
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}
