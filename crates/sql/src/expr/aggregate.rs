//! Aggregates: COUNT, SUM, … over a group of rows.

use base::SqlError;
use bytes::Bytes;
use types::Value;

use crate::expr::context::{EvalContext, SessionInfo};
use crate::expr::expr::Expr;
use crate::expr::types::ExprType;

/// Which aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "MySQL's own names")]
pub enum AggregateFunction {
    /// `COUNT(*)`, without arguments, or `COUNT(x)`, `COUNT(DISTINCT x, y)`.
    Count,
    Sum,
    Avg,
    Min,
    Max,
    GroupConcat,
    BitAnd,
    BitOr,
    BitXor,
    StdPop,
    StdSamp,
    VarPop,
    VarSamp,
    AnyValue,
}

/// One aggregate of a query block.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    /// Which.
    pub function: AggregateFunction,
    /// Arguments, over the rows of the group; none is `COUNT(*)`.
    pub args: Vec<Expr>,
    /// DISTINCT
    pub distinct: bool,
    /// ORDER BY of GROUP_CONCAT: expression and DESC.
    pub order_by: Vec<(Expr, bool)>,
    /// SEPARATOR of GROUP_CONCAT.
    pub separator: Bytes,
    /// Type of the result.
    pub ty: ExprType,
}

/// An aggregate's clauses besides its arguments.
#[derive(Clone, Debug, Default)]
pub struct AggregateClauses {
    /// DISTINCT
    pub distinct: bool,
    /// ORDER BY
    pub order_by: Vec<(Expr, bool)>,
    /// SEPARATOR
    pub separator: Option<Bytes>,
}

/// What an aggregate has seen of one group.
#[derive(Debug)]
pub struct AggregateState {
    count: u64,
}

/// Whether this is the name of an aggregate (any case).
pub fn is_aggregate(name: &str) -> bool {
    let _ = name;
    todo!()
}

impl Aggregate {
    /// The aggregate of that name.
    pub fn resolve(
        name: &str,
        args: Vec<Expr>,
        clauses: AggregateClauses,
        session: &SessionInfo,
    ) -> Result<Aggregate, SqlError> {
        let _ = (name, args, clauses, session);
        todo!()
    }

    /// An empty group.
    pub fn start(&self) -> AggregateState {
        todo!()
    }

    /// Takes in a row.
    pub fn add(&self, state: &mut AggregateState, row: &[Value], ctx: &EvalContext<'_>) -> Result<(), SqlError> {
        let _ = (state.count, row, ctx);
        todo!()
    }

    /// The result for the group.
    pub fn finish(&self, state: AggregateState, ctx: &EvalContext<'_>) -> Result<Value, SqlError> {
        let _ = (state, ctx);
        todo!()
    }
}
