//! Window functions: `function(…) OVER …` becomes a column of the block, which is computed over rows that HAVING has left.
//!
//! # Invariants
//! - A window's expressions read no window function. So all windows of a block are over the same rows, in whatever order they are computed.
//! - A block has at most [`WINDOWS_MAX`] windows, and each of them, and each call, once: what is written alike is computed once.

use base::{SqlError, codes};
use syntax::ast as sql;
use types::CollationId;

use crate::bind::Binder;
use crate::bind::columns::{ColumnId, ColumnSource};
use crate::bind::enclosing::misplaced;
use crate::bind::expr::{ExprScope, Windows};
use crate::bind::tree::OrderItem;
use crate::expr::aggregate::{AggregateClauses, is_aggregate, wrong_argument_count};
use crate::expr::window::{WindowCall, WindowFunction, by_name, check_aggregate};
use crate::expr::{Aggregate, CastType, Constancy, Expr, ExprKind, ExprType, Kind, build};

/// As many windows as MySQL computes in one SELECT.
const WINDOWS_MAX: usize = 127;

/// A window, with what is computed over it.
#[derive(Debug)]
pub(crate) struct BoundWindow {
    /// As error messages name it.
    pub(crate) name: String,
    pub(crate) partition: Vec<Expr>,
    pub(crate) order: Vec<OrderItem>,
    pub(crate) frame: Frame,
    pub(crate) calls: Vec<BoundCall>,
}

/// One call.
#[derive(Debug)]
pub(crate) struct BoundCall {
    pub(crate) call: WindowCall,
    /// Its result.
    pub(crate) id: ColumnId,
}

/// A window as OVER or WINDOW defines it.
#[derive(Clone, Debug)]
pub(crate) struct WindowSpec {
    /// As error messages name it.
    pub(crate) name: String,
    pub(crate) partition: Vec<Expr>,
    pub(crate) order: Vec<OrderItem>,
    /// If one is written.
    pub(crate) frame: Option<Frame>,
}

/// The rows around a row over which something is computed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    /// Bounds count rows; otherwise they are values of the one ORDER BY, or rows with equal ones.
    pub(crate) rows: bool,
    pub(crate) start: Bound,
    pub(crate) end: Bound,
}

/// Where a frame begins or ends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Bound {
    /// At the partition's beginning, or its end.
    Unbounded,
    /// At the row, or at those that the order takes for equal to it.
    Current,
    /// ROWS: so many rows before the row, or behind it. The name is the window's, for error messages.
    Rows { distance: Expr, following: bool, window: String },
    /// RANGE: at a value.
    Value(Box<ValueBound>),
}

/// A bound of RANGE that is a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ValueBound {
    /// What was written: not negative, and not NULL.
    pub(crate) distance: Expr,
    /// It is behind the row.
    pub(crate) following: bool,
    /// The value, over the row that the frame is for.
    pub(crate) limit: Expr,
    /// Whether a row comes before the limit, and whether behind it, over the row's value of the ORDER BY and the limit.
    pub(crate) before: Expr,
    pub(crate) behind: Expr,
    /// Of the window, for error messages.
    pub(crate) window: String,
}

impl Frame {
    /// The one of a window that has none written: up to the row's peers if there is an order, and all rows otherwise.
    fn unwritten(is_ordered: bool) -> Frame {
        Frame { rows: false, start: Bound::Unbounded, end: if is_ordered { Bound::Current } else { Bound::Unbounded } }
    }

    /// Whether it is the one of a window that has none written.
    pub(crate) fn is_unwritten(&self, is_ordered: bool) -> bool {
        *self == Frame::unwritten(is_ordered)
    }

    /// What it has to be computed of each row.
    pub(crate) fn exprs(&self) -> impl Iterator<Item = &Expr> {
        [&self.start, &self.end].into_iter().filter_map(|bound| match bound {
            Bound::Value(bound) => Some(&bound.limit),
            _ => None,
        })
    }

    /// The same, to be changed.
    pub(crate) fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        [&mut self.start, &mut self.end].into_iter().filter_map(|bound| match bound {
            Bound::Value(bound) => Some(&mut bound.limit),
            _ => None,
        })
    }

    /// Whether it is known where it is as soon as the row itself is: what is behind the row does not matter, nor where it ends.
    pub(crate) fn is_running(&self) -> bool {
        self.rows && self.start == Bound::Unbounded && self.end == Bound::Current
    }
}

impl BoundWindow {
    /// Every expression over rows of the block.
    pub(crate) fn for_each_expr(&self, visit: &mut dyn FnMut(&Expr)) {
        self.partition.iter().for_each(&mut *visit);
        self.order.iter().for_each(|item| visit(&item.expr));
        self.frame.exprs().for_each(&mut *visit);
        self.calls.iter().flat_map(|call| call.call.args()).for_each(visit);
    }

    /// The same, to be changed.
    pub(crate) fn for_each_expr_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        self.partition.iter_mut().for_each(&mut *visit);
        self.order.iter_mut().for_each(|item| visit(&mut item.expr));
        self.frame.exprs_mut().for_each(&mut *visit);
        self.calls.iter_mut().flat_map(|call| call.call.args_mut()).for_each(visit);
    }

    /// By what its rows have to be sorted.
    pub(crate) fn sort_keys(&self) -> impl Iterator<Item = OrderItem> + '_ {
        let partition = self.partition.iter().map(|expr| OrderItem { expr: expr.clone(), descending: false });
        partition.chain(self.order.iter().cloned())
    }
}

impl<'a> Binder<'a> {
    /// A call with OVER; its name is in lower case.
    pub(super) fn bind_window_function(
        &mut self,
        name: &str,
        function: &'a sql::Call,
        (clauses, over): (&'a sql::CallClauses, &'a sql::Over),
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        let of_windows = by_name(name);
        if of_windows.is_none() && !is_aggregate(name) {
            return Err(SqlError::new(codes::PARSE_ERROR, format!("'{name}' is no window function")));
        }
        match scope.windows {
            Windows::Refused => return Err(refused(name)),
            Windows::Nested(window) => return Err(nested(window)),
            Windows::OfUnion => return Err(misplaced()),
            Windows::Allowed => {}
        }
        match clauses {
            sql::CallClauses { from_last: true, .. } => return Err(SqlError::not_supported("FROM LAST")),
            sql::CallClauses { ignore_nulls: true, .. } => return Err(SqlError::not_supported("IGNORE NULLS")),
            _ => {}
        }
        if let Some(percentile @ (WindowFunction::PercentileCont | WindowFunction::PercentileDisc)) = of_windows {
            return self.bind_percentile(percentile, function, (clauses, over), scope);
        }
        let spec = self.bind_over(over, scope)?;
        let inner = ExprScope { windows: Windows::Refused, in_aggregate: true, ..scope };
        let call = match of_windows {
            Some(function_of_windows) => self.bind_call_of_window(function_of_windows, function, inner)?,
            None => WindowCall::of_aggregate(self.bind_aggregate_of_window(name, function, clauses, inner)?),
        };
        let ty = call.ty.clone();
        Ok(Expr::column(self.window_id(spec, call)?, ty))
    }

    fn bind_call_of_window(
        &mut self,
        function: WindowFunction,
        call: &'a sql::Call,
        scope: ExprScope<'_>,
    ) -> Result<WindowCall, SqlError> {
        let (mut args, mut number) = (Vec::with_capacity(call.args.len()), None);
        for (at, arg) in call.args.iter().enumerate() {
            if function.number_at() == Some(at) {
                number = Some(self.bind_number(arg, scope)?);
            } else {
                args.push(self.bind_expr(arg, scope)?);
            }
        }
        let types = args.iter().any(|arg| matches!(arg.kind, ExprKind::Param(_)));
        self.types_params |= types;
        WindowCall::resolve(function, args, number)
    }

    /// `PERCENTILE_CONT(share) WITHIN GROUP (ORDER BY x) OVER (PARTITION BY …)`, and `MEDIAN(x) OVER (PARTITION BY …)`: its window is ordered by `x`.
    fn bind_percentile(
        &mut self,
        function: WindowFunction,
        call: &'a sql::Call,
        (clauses, over): (&'a sql::CallClauses, &'a sql::Over),
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        let wrong =
            || SqlError::new(codes::PARSE_ERROR, "A percentile has one value, and a window that only partitions");
        let mut spec = match over {
            sql::Over::Window(window) if window.order_by.is_empty() && window.frame.is_none() => {
                self.bind_over(over, scope)?
            }
            _ => return Err(wrong()),
        };
        let inner = ExprScope { windows: Windows::Refused, in_aggregate: true, ..scope };
        let (value, descending, share) = match (&clauses.within_group, &call.args[..]) {
            (Some(item), [share]) => (&item.expr, item.descending, self.bind_expr(share, inner)?),
            (None, [value]) if call.name.text.eq_ignore_ascii_case("median") => {
                (value, false, build::number_literal("0.5")?)
            }
            _ => return Err(wrong()),
        };
        if share.constancy() > Constancy::Execution {
            let message = format!("Argument to the {} function is not a constant for a partition", function.name());
            return Err(SqlError::new(codes::NOT_CONSTANT_EXPRESSION, message));
        }
        let expr = self.bind_expr(value, inner)?;
        if !spec.order.is_empty() {
            return Err(wrong());
        }
        let arg = match function {
            WindowFunction::PercentileCont => build::cast(expr.clone(), CastType::Double, CollationId::BINARY)?,
            _ => expr.clone(),
        };
        spec.order = vec![OrderItem { expr, descending }];
        let call = WindowCall::resolve(function, vec![arg], Some(share))?;
        let ty = call.ty.clone();
        Ok(Expr::column(self.window_id(spec, call)?, ty))
    }

    /// The number of NTILE, NTH_VALUE, LAG and LEAD, which may be computed as in MariaDB. One that is different from row to row is none.
    fn bind_number(&mut self, written: &'a sql::Expr, scope: ExprScope<'_>) -> Result<Expr, SqlError> {
        let number = self.bind_expr(written, scope)?;
        self.describe_param(&number, &ExprType::of_kind(Kind::UInt));
        Ok(if number.constancy() > Constancy::Execution { Expr::null() } else { number })
    }

    fn bind_aggregate_of_window(
        &mut self,
        name: &str,
        function: &'a sql::Call,
        clauses: &'a sql::CallClauses,
        scope: ExprScope<'_>,
    ) -> Result<Aggregate, SqlError> {
        if !clauses.star && function.args.is_empty() {
            return Err(wrong_argument_count(name));
        }
        let of_aggregate = AggregateClauses { distinct: clauses.distinct, ..AggregateClauses::default() };
        let args = function.args.iter().map(|arg| self.bind_expr(arg, scope)).collect::<Result<Vec<_>, _>>()?;
        let aggregate = Aggregate::resolve(name, args, of_aggregate, self.context.session)?;
        check_aggregate(&aggregate)?;
        match clauses.order_by.is_empty() {
            true => Ok(aggregate),
            false => Err(SqlError::not_supported("ORDER BY in an aggregate over a window")),
        }
    }

    /// The number of a call's value; what is called alike over the same window has one only.
    fn window_id(&mut self, spec: WindowSpec, call: WindowCall) -> Result<ColumnId, SqlError> {
        let WindowSpec { name, partition, order, frame } = spec;
        let frame = match frame {
            Some(frame) if call.function.is_framed() => frame,
            _ => Frame::unwritten(!order.is_empty()),
        };
        let ty = call.ty.clone();
        let is_repeatable = call.args().iter().all(|arg| arg.constancy() < Constancy::Volatile);
        let windows = &self.scope().windows;
        let same =
            |window: &BoundWindow| window.partition == partition && window.order == order && window.frame == frame;
        let found = windows.iter().position(same).unwrap_or(windows.len());
        if found == WINDOWS_MAX {
            return Err(too_many_windows());
        }
        let known = windows.get(found).and_then(|window| window.calls.iter().find(|known| known.call == call));
        if let Some(known) = known.filter(|_| is_repeatable) {
            return Ok(known.id);
        }
        let id = self.add_column(ColumnSource::Window, ty);
        let windows = &mut self.scope().windows;
        if found == windows.len() {
            windows.push(BoundWindow { name, partition, order, frame, calls: Vec::new() });
        }
        windows[found].calls.push(BoundCall { call, id });
        Ok(id)
    }
}

/// Whether an expression may be the one ORDER BY of a window whose frame has values for bounds.
pub(super) fn may_have_values(expr: &Expr) -> bool {
    let is_ordered_by_value = expr.ty.kind.is_numeric() || expr.ty.kind.is_temporal();
    (is_ordered_by_value || expr.ty.kind == Kind::Any) && expr.constancy() < Constancy::Volatile
}

/// 1064 for a window function without a window.
pub(super) fn without_over(name: &str) -> SqlError {
    SqlError::new(codes::PARSE_ERROR, format!("'{name}' is a window function: OVER is missing"))
}

/// 3593
pub(crate) fn refused(name: &str) -> SqlError {
    let message = format!("You cannot use the window function '{name}' in this context.'");
    SqlError::new(codes::WINDOW_INVALID_WINDOW_FUNC_USE, message)
}

/// 3594
pub(super) fn alias_of_window(alias: &str) -> SqlError {
    let message =
        format!("You cannot use the alias '{alias}' of an expression containing a window function in this context.'");
    SqlError::new(codes::WINDOW_INVALID_WINDOW_FUNC_ALIAS_USE, message)
}

/// 3595
fn nested(window: &str) -> SqlError {
    let message = format!("You cannot nest a window function in the specification of window '{window}'.");
    SqlError::new(codes::WINDOW_NESTED_WINDOW_FUNC_USE_IN_WINDOW_SPEC, message)
}

/// 4086
fn too_many_windows() -> SqlError {
    let message = format!(
        "Too many windows in SELECT: {}. Maximum allowed is {WINDOWS_MAX}. Use named windows to share windows between window functions.",
        WINDOWS_MAX + 1
    );
    SqlError::new(codes::TOO_MANY_WINDOWS, message)
}
