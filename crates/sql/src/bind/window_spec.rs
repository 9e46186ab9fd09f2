//! OVER, WINDOW and frames: what they say, and whether they may say it.

use std::collections::HashMap;

use base::{SqlError, codes};
use syntax::ast as sql;

use crate::bind::Binder;
use crate::bind::alias::NO_ALIASES;
use crate::bind::columns::ColumnSource;
use crate::bind::expr::{Clause, ExprScope, Windows};
use crate::bind::query::position;
use crate::bind::tree::OrderItem;
use crate::bind::window::{Bound, Frame, ValueBound, WindowSpec, may_have_values};
use crate::expr::{ArithmeticOp, CompareOp, Constancy, Expr, ExprKind, ExprType, Kind, build};

/// What error messages call a window without a name.
const UNNAMED: &str = "<unnamed window>";

/// Names of windows, in lower case, with their places in the clause WINDOW.
type Places = HashMap<String, usize>;

impl<'a> Binder<'a> {
    /// The clause WINDOW. A window may begin with one that is defined behind it.
    pub(super) fn bind_named_windows(&mut self, windows: &'a [sql::NamedWindow]) -> Result<(), SqlError> {
        let mut places = Places::with_capacity(windows.len());
        for (at, window) in windows.iter().enumerate() {
            if let Some(first) = places.insert(window.name.text.to_lowercase(), at) {
                let message = format!("Window '{}' is defined twice.", windows[first].name.text);
                return Err(SqlError::new(codes::WINDOW_DUPLICATE_NAME, message));
            }
        }
        let mut bound: Vec<Option<WindowSpec>> = windows.iter().map(|_| None).collect();
        for at in 0..windows.len() {
            for next in chain(windows, &places, &bound, at)?.into_iter().rev() {
                let window = &windows[next];
                let base =
                    window.window.base.as_ref().and_then(|base| bound[*places.get(&base.text.to_lowercase())?].clone());
                bound[next] = Some(self.bind_spec(&window.window, base, &window.name.text)?);
            }
        }
        self.scope().named_windows = bound.into_iter().flatten().collect();
        Ok(())
    }

    /// The window of a call.
    pub(super) fn bind_over(&mut self, over: &'a sql::Over, scope: ExprScope<'_>) -> Result<WindowSpec, SqlError> {
        debug_assert_eq!(scope.windows, Windows::Allowed);
        match over {
            sql::Over::Name(name) => self.named_window(&name.text),
            sql::Over::Window(window) => {
                let base = window.base.as_ref().map(|base| self.named_window(&base.text)).transpose()?;
                self.bind_spec(window, base, UNNAMED)
            }
        }
    }

    fn named_window(&mut self, name: &str) -> Result<WindowSpec, SqlError> {
        let named = self.scope().named_windows.iter().find(|window| types::schema::same_name(&window.name, name));
        named.cloned().ok_or_else(|| not_defined(name))
    }

    fn bind_spec(
        &mut self,
        window: &'a sql::Window,
        base: Option<WindowSpec>,
        name: &str,
    ) -> Result<WindowSpec, SqlError> {
        if let Some(base) = &base {
            check_base(base, window, name)?;
        }
        let partition = self.bind_keys(&window.partition_by, Clause::WindowPartition, name)?;
        let order = self.bind_keys(window.order_by.iter().map(|item| &item.expr), Clause::WindowOrder, name)?;
        let items = order.into_iter().zip(&window.order_by);
        let order = items.map(|(expr, item)| OrderItem { expr, descending: item.descending }).collect();
        let mut spec = match base {
            Some(base) if base.order.is_empty() => WindowSpec { order, ..base },
            Some(base) => base,
            None => WindowSpec { name: String::new(), partition, order, frame: None },
        };
        spec.name = name.to_owned();
        spec.frame = window.frame.as_ref().map(|frame| self.bind_frame(frame, &spec)).transpose()?;
        if spec.frame.as_ref().is_none_or(|frame| !frame.rows) {
            // Peers are equal values, of one collation.
            let mut types = spec.order.iter().map(|item| &item.expr.ty);
            types.try_for_each(|ty| build::agree(&[ty, ty], "", build::Mixed::Refused).map(drop))?;
        }
        Ok(spec)
    }

    fn bind_keys(
        &mut self,
        written: impl IntoIterator<Item = &'a sql::Expr>,
        clause: Clause,
        window: &str,
    ) -> Result<Vec<Expr>, SqlError> {
        let scope = ExprScope { windows: Windows::Nested(window), ..ExprScope::of_groups(clause, &NO_ALIASES) };
        let bind = |expr: &'a sql::Expr| match position(within_parentheses(expr)) {
            Some(_) => Err(SqlError::new(
                codes::WINDOW_ILLEGAL_ORDER_BY,
                format!(
                    "Window '{window}': ORDER BY or PARTITION BY uses legacy position indication which is not supported, use \
                     expression."
                ),
            )),
            None => self.bind_expr(expr, scope),
        };
        written.into_iter().map(bind).collect()
    }

    fn bind_frame(&mut self, frame: &'a sql::Frame, spec: &WindowSpec) -> Result<Frame, SqlError> {
        if frame.unit == sql::FrameUnit::Groups {
            return Err(SqlError::not_supported("GROUPS"));
        }
        if frame.exclude.is_some_and(|excluded| excluded != "NO OTHERS") {
            return Err(SqlError::not_supported("EXCLUDE"));
        }
        let end = frame.end.as_ref().unwrap_or(&sql::Bound::CurrentRow);
        check_bounds(&frame.start, end, &spec.name)?;
        let rows = frame.unit == sql::FrameUnit::Rows;
        let start = self.bind_bound(&frame.start, rows, spec)?;
        Ok(Frame { rows, start, end: self.bind_bound(end, rows, spec)? })
    }

    fn bind_bound(&mut self, bound: &'a sql::Bound, rows: bool, spec: &WindowSpec) -> Result<Bound, SqlError> {
        let (written, following) = match bound {
            sql::Bound::UnboundedPreceding | sql::Bound::UnboundedFollowing => return Ok(Bound::Unbounded),
            sql::Bound::CurrentRow => return Ok(Bound::Current),
            sql::Bound::Preceding(distance) => (distance, false),
            sql::Bound::Following(distance) => (distance, true),
        };
        let scope = ExprScope { windows: Windows::Nested(&spec.name), ..ExprScope::new(Clause::WindowOrder) };
        if let sql::ExprKind::Interval(amount, unit) = &written.kind {
            if rows {
                let message = format!("Window '{}': INTERVAL can only be used with RANGE frames.", spec.name);
                return Err(SqlError::new(codes::WINDOW_ROWS_INTERVAL_USE, message));
            }
            let key = the_key(spec)?;
            if !key.expr.ty.kind.is_temporal() {
                return Err(not_temporal(&spec.name));
            }
            let distance = self.bind_expr(amount, scope)?;
            self.check_constant(&distance, &spec.name)?;
            let limit = build::interval(key.expr.clone(), distance.clone(), *unit, following == key.descending)?;
            return value_bound(key, (distance, following), limit, &spec.name);
        }
        let distance = self.bind_expr(written, scope)?;
        if !is_number(&distance) {
            let message = format!("A frame's bound is a number, a parameter or an INTERVAL, not '{written}'");
            return Err(SqlError::new(codes::PARSE_ERROR, message));
        }
        self.describe_param(&distance, &ExprType::of_kind(Kind::UInt));
        if rows {
            let is_whole = distance.ty.kind.is_integer() || matches!(distance.kind, ExprKind::Param(_));
            return if is_whole {
                Ok(Bound::Rows { distance, following, window: spec.name.clone() })
            } else {
                Err(illegal_frame(&spec.name))
            };
        }
        let key = the_key(spec)?;
        if key.expr.ty.kind.is_temporal() {
            return Err(temporal(&spec.name));
        }
        let op = if following == key.descending { ArithmeticOp::Subtract } else { ArithmeticOp::Add };
        let limit = build::arithmetic(op, key.expr.clone(), distance.clone(), self.context.session)?;
        value_bound(key, (distance, following), limit, &spec.name)
    }

    /// 3590 for a bound that is different from row to row.
    fn check_constant(&mut self, distance: &Expr, window: &str) -> Result<(), SqlError> {
        let scope = self.scopes.last();
        let subqueries = scope.map_or(&[][..], |scope| &scope.subqueries);
        let is_constant = |id| {
            self.columns.source(id) == ColumnSource::Subquery
                && subqueries.iter().any(|subquery| subquery.id == id && !subquery.correlated)
        };
        match distance.constancy() < Constancy::Volatile && distance.slots().iter().all(is_constant) {
            true => Ok(()),
            false => {
                let message = format!("Window '{window}' has a non-constant frame bound.");
                Err(SqlError::new(codes::WINDOW_RANGE_BOUND_NOT_CONSTANT, message))
            }
        }
    }
}

fn within_parentheses(expr: &sql::Expr) -> &sql::Expr {
    match &expr.kind {
        sql::ExprKind::Nested(inner) => within_parentheses(inner),
        _ => expr,
    }
}

/// A window with those that it begins with, as far as they are not bound yet.
fn chain(
    windows: &[sql::NamedWindow],
    places: &Places,
    bound: &[Option<WindowSpec>],
    first: usize,
) -> Result<Vec<usize>, SqlError> {
    let (mut chain, mut next) = (Vec::new(), Some(first));
    while let Some(at) = next.filter(|at| bound[*at].is_none()) {
        if chain.len() == windows.len() {
            let message = "There is a circularity in the window dependency graph.";
            return Err(SqlError::new(codes::WINDOW_CIRCULARITY_IN_WINDOW_GRAPH, message));
        }
        chain.push(at);
        let base = windows[at].window.base.as_ref();
        let place =
            base.map(|base| places.get(&base.text.to_lowercase()).copied().ok_or_else(|| not_defined(&base.text)));
        next = place.transpose()?;
    }
    Ok(chain)
}

/// What a window may not add to the one that it begins with.
fn check_base(base: &WindowSpec, window: &sql::Window, name: &str) -> Result<(), SqlError> {
    if !window.partition_by.is_empty() {
        let message = "A window which depends on another cannot define partitioning.";
        return Err(SqlError::new(codes::WINDOW_NO_CHILD_PARTITIONING, message));
    }
    if base.frame.is_some() {
        let message =
            format!("Window '{}' has a frame definition, so cannot be referenced by another window.", base.name);
        return Err(SqlError::new(codes::WINDOW_NO_INHERIT_FRAME, message));
    }
    if !base.order.is_empty() && !window.order_by.is_empty() {
        let message = format!("Window '{name}' cannot inherit '{}' since both contain an ORDER BY clause.", base.name);
        return Err(SqlError::new(codes::WINDOW_NO_REDEFINE_ORDER_BY, message));
    }
    Ok(())
}

/// Bounds that end before they begin, by what they are.
fn check_bounds(start: &sql::Bound, end: &sql::Bound, window: &str) -> Result<(), SqlError> {
    use sql::Bound::{CurrentRow, Following, Preceding, UnboundedFollowing, UnboundedPreceding};
    match (start, end) {
        (UnboundedFollowing, _) => {
            let message = "A frame does not begin with UNBOUNDED FOLLOWING";
            Err(SqlError::new(codes::PARSE_ERROR, message))
        }
        (_, UnboundedPreceding) => {
            let message = format!("Window '{window}': frame end cannot be UNBOUNDED PRECEDING.");
            Err(SqlError::new(codes::WINDOW_FRAME_END_ILLEGAL, message))
        }
        (CurrentRow, Preceding(_)) | (Following(_), Preceding(_) | CurrentRow) => Err(illegal_frame(window)),
        _ => Ok(()),
    }
}

/// The one ORDER BY of a window whose frame has values for bounds.
fn the_key(spec: &WindowSpec) -> Result<&OrderItem, SqlError> {
    match &spec.order[..] {
        [key] if may_have_values(&key.expr) => Ok(key),
        _ => {
            let message = format!(
                "Window '{}' with RANGE N PRECEDING/FOLLOWING frame requires exactly one deterministic ORDER BY expression, of \
                 numeric or temporal type",
                spec.name
            );
            Err(SqlError::new(codes::WINDOW_RANGE_FRAME_ORDER_TYPE, message))
        }
    }
}

fn value_bound(
    key: &OrderItem,
    (distance, following): (Expr, bool),
    limit: Expr,
    window: &str,
) -> Result<Bound, SqlError> {
    let column = |slot: usize, ty: &ExprType| Expr::column(slot, ExprType { utc: false, ..ty.clone() });
    let compared = |op| build::compare(op, column(0, &key.expr.ty), column(1, &limit.ty));
    let (before, behind) = match key.descending {
        false => (CompareOp::Less, CompareOp::Greater),
        true => (CompareOp::Greater, CompareOp::Less),
    };
    let (before, behind) = (compared(before)?, compared(behind)?);
    Ok(Bound::Value(Box::new(ValueBound { distance, following, limit, before, behind, window: window.to_owned() })))
}

fn is_number(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Param(_)) || matches!(expr.kind, ExprKind::Literal(_)) && expr.ty.kind.is_numeric()
}

/// 3579
fn not_defined(name: &str) -> SqlError {
    SqlError::new(codes::WINDOW_NO_SUCH_WINDOW, format!("Window name '{name}' is not defined."))
}

/// 3586
pub(crate) fn illegal_frame(window: &str) -> SqlError {
    let message = format!("Window '{window}': frame start or end is negative, NULL or of non-integral type");
    SqlError::new(codes::WINDOW_FRAME_ILLEGAL, message)
}

/// 3588
fn temporal(window: &str) -> SqlError {
    let message = format!(
        "Window '{window}' with RANGE frame has ORDER BY expression of datetime type. Only INTERVAL bound value allowed."
    );
    SqlError::new(codes::WINDOW_RANGE_FRAME_TEMPORAL_TYPE, message)
}

/// 3589
fn not_temporal(window: &str) -> SqlError {
    let message = format!(
        "Window '{window}' with RANGE frame has ORDER BY expression of numeric type, INTERVAL bound value not allowed."
    );
    SqlError::new(codes::WINDOW_RANGE_FRAME_NUMERIC_TYPE, message)
}
