//! The inputs of a changed row: `column = value, …` of UPDATE and ON DUPLICATE KEY UPDATE.

use base::SqlError;
use bytes::Bytes;
use types::{ColumnDef, Value};

use super::{Changes, DefaultValue, RowMaker, Terms};
use crate::expr::copied::Copied;
use crate::expr::zero::implicit_default;
use crate::expr::{EvalContext, Expr, ExprKind, function};
use crate::plan::layout::Layout;

/// `column = value`.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) column: usize,
    pub(crate) value: Assigned,
    /// Where the frame has the column: a later assignment reads the new value.
    pub(crate) slot: Option<usize>,
    /// Which values are taken as they stand in a row, though `sql_mode` does not take them any more.
    pub(crate) kept: Kept,
}

/// What an assignment takes from a row as it stands there.
#[derive(Debug)]
pub(crate) enum Kept {
    Nothing,
    /// The column is given its own value, of this slot.
    Itself(usize),
    /// Of another ENUM what is no member.
    NoMember(Copied),
}

impl Kept {
    /// Of a value that is given to the column which the frame has in `own`.
    pub(crate) fn of(value: &Assigned, own: Option<usize>, column: &ColumnDef) -> Self {
        let Assigned::Expr(value) = value else { return Kept::Nothing };
        let read = match &value.kind {
            ExprKind::Call { args, .. } if matches!(&args[..], [_]) && function::is_copied(value) => &args[0],
            _ => value,
        };
        match read.as_column() {
            Some(slot) if Some(slot) == own => Kept::Itself(slot),
            Some(_) => match Copied::by_dml(&read.ty, &column.ty, true) {
                Some(copied @ Copied::Member { .. }) => Kept::NoMember(copied),
                _ => Kept::Nothing,
            },
            None => Kept::Nothing,
        }
    }

    fn value(&self, expr: &Expr, frame: &[Value], eval: &EvalContext<'_>) -> Result<Option<Value>, SqlError> {
        Ok(match self {
            Kept::Nothing => None,
            Kept::Itself(slot) => Some(frame[*slot].clone()),
            Kept::NoMember(copied) => copied.no_member(&expr.eval(frame, eval)?),
        })
    }
}

/// What is assigned.
#[derive(Debug)]
pub(crate) enum Assigned {
    Expr(Expr),
    Default(DefaultValue),
}

impl Assigned {
    /// What is computed for it.
    pub(crate) fn expr(&self) -> Option<&Expr> {
        match self {
            Assigned::Expr(expr) => Some(expr),
            Assigned::Default(_) => None,
        }
    }

    /// The same, to be changed.
    pub(crate) fn expr_mut(&mut self) -> Option<&mut Expr> {
        match self {
            Assigned::Expr(expr) => Some(expr),
            Assigned::Default(_) => None,
        }
    }
}

/// The assignments to one table.
#[derive(Debug)]
pub(crate) struct Assignments {
    pub(crate) list: Vec<Assignment>,
    /// NULL for a column that takes none is an error whatever `sql_mode` says.
    pub(crate) refuses_null: bool,
}

impl Assignments {
    pub(crate) fn new(list: Vec<Assignment>) -> Self {
        Assignments { list, refuses_null: false }
    }

    /// The assigned expressions.
    pub(crate) fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.list.iter().filter_map(|assignment| assignment.value.expr())
    }

    /// Makes them read and write rows of this layout.
    pub(crate) fn lay(&mut self, layout: &Layout) {
        for assignment in &mut self.list {
            assignment.value.expr_mut().into_iter().for_each(|expr| layout.lay(expr));
            assignment.slot = assignment.slot.and_then(|id| layout.find(id));
            if let Kept::Itself(slot) = &mut assignment.kept {
                *slot = layout.slot(*slot);
            }
        }
    }

    /// Whether a column is assigned.
    pub(crate) fn assigns(&self, column: usize) -> bool {
        self.list.iter().any(|assignment| assignment.column == column)
    }

    /// Whether a column is changed by them, or because they change others.
    pub(crate) fn touches(&self, column: usize, maker: &RowMaker) -> bool {
        self.assigns(column) || maker.column(column).on_update_now
    }

    /// The new values in a row's frame, as far as they count there.
    pub(crate) fn shown(&self, frame: &[Value]) -> Vec<Value> {
        self.list.iter().filter_map(|assignment| Some(frame[assignment.slot?].clone())).collect()
    }

    /// Puts them into the frame of another match of the row.
    pub(crate) fn show(&self, values: &[Value], frame: &mut [Value]) {
        let slots = self.list.iter().filter_map(|assignment| assignment.slot);
        slots.zip(values).for_each(|(slot, value)| frame[slot] = value.clone());
    }

    /// The new image of a row; `None` if nothing is different. `frame` has the row, and gets the new values. `changes` is used again for each row.
    pub(crate) fn apply(
        &self,
        maker: &RowMaker,
        (old, frame): (&Bytes, &mut [Value]),
        changes: &mut Changes,
        row_number: u64,
        terms: Terms,
        eval: &EvalContext<'_>,
    ) -> Result<Option<Bytes>, SqlError> {
        let terms = Terms { refuses_null: self.refuses_null, ..terms };
        changes.clear();
        for assignment in &self.list {
            let value = assignment.new_value(maker, frame, row_number, terms, eval)?;
            if let Some(slot) = assignment.slot {
                frame[slot] = value.clone();
            }
            match changes.iter_mut().find(|(changed, _)| *changed == assignment.column) {
                Some((_, known)) => *known = value,
                None => changes.push((assignment.column, value)),
            }
        }
        maker.changed(old, changes, row_number, terms, eval)
    }
}

impl Assignment {
    fn new_value(
        &self,
        maker: &RowMaker,
        frame: &[Value],
        row_number: u64,
        terms: Terms,
        eval: &EvalContext<'_>,
    ) -> Result<Value, SqlError> {
        match &self.value {
            Assigned::Expr(expr) => match self.kept.value(expr, frame, eval)? {
                Some(kept) => Ok(kept),
                None => maker.converted(self.column, expr.eval(frame, eval)?, row_number, terms, eval),
            },
            // Numbers are made for new rows only.
            Assigned::Default(DefaultValue::AutoIncrement) => Ok(implicit_default(maker.column(self.column))),
            Assigned::Default(default) => default.value(maker.column(self.column), terms.strictness, row_number, eval),
        }
    }
}
