//! EXPLAIN.

use base::SqlError;

use crate::parse::ast::Explain;
use crate::plan::{Plan, PlanContext};

/// The plan of EXPLAIN: rows that describe another plan.
pub(crate) fn explain(context: &PlanContext<'_>, plan: Plan, explain: &Explain) -> Result<Plan, SqlError> {
    let _ = (context, plan, explain);
    Err(SqlError::not_supported("EXPLAIN"))
}
