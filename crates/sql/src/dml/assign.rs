//! Values on their way into rows: assignments, defaults, ON UPDATE.

use base::{SqlError, codes, memory};
use bytes::Bytes;
use engine::Table;
use types::{CollationId, ColumnDef, ColumnDefault, ColumnType, Value};

use crate::bind::Binder;
use crate::bind::expr::{Clause, ExprScope};
use crate::ddl::local_default;
use crate::expr::copied::Copied;
use crate::expr::zero::implicit_default;
use crate::expr::{
    EvalContext, Expr, ExprKind, ExprType, Kind, Strictness, build, convert_for_column, function, name_table,
};
use crate::parse::{ParseContext, parse_expr};
use crate::plan::layout::Layout;

/// What a column gets when the statement gives it nothing, or DEFAULT.
#[derive(Clone, Debug)]
pub(crate) enum DefaultValue {
    /// In the column's own form.
    Stored(Value),
    /// To be evaluated and converted.
    Computed(Expr),
    /// The next number.
    AutoIncrement,
    /// 1364 in strict mode.
    Missing,
}

impl DefaultValue {
    pub(crate) fn of(binder: &Binder<'_>, column: &ColumnDef) -> Result<Self, SqlError> {
        if column.auto_increment {
            return Ok(DefaultValue::AutoIncrement);
        }
        Ok(match &column.default {
            Some(ColumnDefault::Literal(value)) => DefaultValue::Stored(value.clone()),
            Some(_) => DefaultValue::Computed(default_expr(binder, column)?),
            None if column.nullable => DefaultValue::Stored(Value::Null),
            // Its first member is meant.
            None if matches!(column.ty, ColumnType::Enum { .. }) => DefaultValue::Stored(implicit_default(column)),
            None => DefaultValue::Missing,
        })
    }

    /// What another column of the same row reads before this one is set: the default, or the implicit one where there is none.
    pub(crate) fn before_it_is_set(&self, column: &ColumnDef, eval: &EvalContext<'_>) -> Result<Value, SqlError> {
        match self {
            DefaultValue::AutoIncrement | DefaultValue::Missing => Ok(implicit_default(column)),
            DefaultValue::Stored(_) | DefaultValue::Computed(_) => self.value(column, Strictness::Lenient, 1, eval),
        }
    }

    /// The value for a row; AUTO_INCREMENT is NULL until its number is taken.
    pub(crate) fn value(
        &self,
        column: &ColumnDef,
        strictness: Strictness,
        row_number: u64,
        eval: &EvalContext<'_>,
    ) -> Result<Value, SqlError> {
        match self {
            DefaultValue::Stored(value) => Ok(value.clone()),
            DefaultValue::Computed(expr) => {
                convert_for_column(expr.eval(&[], eval)?, column, strictness, row_number, eval)
            }
            DefaultValue::AutoIncrement => Ok(Value::Null),
            DefaultValue::Missing => {
                let message = format!("Field '{}' doesn't have a default value", column.name);
                match strictness {
                    Strictness::Strict => Err(SqlError::new(codes::NO_DEFAULT_FOR_FIELD, message)),
                    Strictness::Lenient => {
                        eval.warn(codes::NO_DEFAULT_FOR_FIELD, message);
                        Ok(implicit_default(column))
                    }
                }
            }
        }
    }
}

/// The DEFAULT of a column as an expression.
pub(crate) fn default_expr(binder: &Binder<'_>, column: &ColumnDef) -> Result<Expr, SqlError> {
    match &column.default {
        Some(ColumnDefault::Literal(value)) => {
            let local = local_default(column, &binder.context.session.time_zone);
            let ty = ExprType { utc: false, ..ExprType::of_column(column) };
            Ok(Expr::literal(local.unwrap_or_else(|| value.clone()), ty))
        }
        Some(ColumnDefault::CurrentTimestamp { fsp }) => now(*fsp, binder),
        Some(ColumnDefault::Expression(text)) => {
            let sql_mode = binder.context.session.sql_mode;
            let expr = parse_expr(text, &ParseContext { sql_mode, ..ParseContext::default() })?;
            let mut inner = Binder::new(binder.context);
            inner.scope();
            inner.bind_expr(&expr, ExprScope::new(Clause::FieldList))
        }
        None if column.nullable => Ok(Expr::null()),
        None => {
            let message = format!("Field '{}' doesn't have a default value", column.name);
            Err(SqlError::new(codes::NO_DEFAULT_FOR_FIELD, message))
        }
    }
}

fn now(fsp: u8, binder: &Binder<'_>) -> Result<Expr, SqlError> {
    function::resolve("now", vec![Expr::int(i64::from(fsp))], binder.context.session)
}

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

/// The assignments to one table, with what they entail.
#[derive(Debug)]
pub(crate) struct Assignments {
    pub(crate) list: Vec<Assignment>,
    /// Columns with ON UPDATE CURRENT_TIMESTAMP that are not assigned, and the time as an expression.
    on_update: Vec<(usize, Expr)>,
    /// NULL for a column that takes none is an error whatever `sql_mode` says.
    pub(crate) refuses_null: bool,
}

impl Assignments {
    pub(crate) fn new(binder: &Binder<'_>, table: &Table, list: Vec<Assignment>) -> Result<Self, SqlError> {
        let mut on_update = Vec::new();
        for (number, column) in table.def.columns.iter().enumerate() {
            if column.on_update_now && !list.iter().any(|assignment| assignment.column == number) {
                let fsp = match column.ty {
                    types::ColumnType::Timestamp { fsp } | types::ColumnType::DateTime { fsp } => fsp,
                    _ => 0,
                };
                on_update.push((number, now(fsp, binder)?));
            }
        }
        Ok(Assignments { list, on_update, refuses_null: false })
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

    /// Whether a column is changed.
    pub(crate) fn touches(&self, column: usize) -> bool {
        self.list.iter().any(|assignment| assignment.column == column)
            || self.on_update.iter().any(|(number, _)| *number == column)
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

    /// The new image of a row; `None` if nothing is different. `frame` has the row, and gets the new values.
    pub(crate) fn apply(
        &self,
        table: &Table,
        old: &Bytes,
        frame: &mut [Value],
        strictness: Strictness,
        row_number: u64,
        eval: &EvalContext<'_>,
    ) -> Result<Option<Bytes>, SqlError> {
        let mut changes: Vec<(usize, Value)> = Vec::with_capacity(self.list.len() + self.on_update.len());
        for assignment in &self.list {
            let column = &table.def.columns[assignment.column];
            let value = match &assignment.value {
                Assigned::Expr(expr) => match assignment.kept.value(expr, frame, eval)? {
                    Some(kept) => kept,
                    None => {
                        let value = expr.eval(frame, eval)?;
                        let refused = self.refuses_null && value.is_null();
                        let strictness = if refused { Strictness::Strict } else { strictness };
                        convert_for_column(value, column, strictness, row_number, eval)
                            .map_err(|error| name_table(error, column, &table.def.name))?
                    }
                },
                // Numbers are made for new rows only.
                Assigned::Default(DefaultValue::AutoIncrement) => implicit_default(column),
                Assigned::Default(default) => default.value(column, strictness, row_number, eval)?,
            };
            if let Some(slot) = assignment.slot {
                frame[slot] = value.clone();
            }
            match changes.iter_mut().find(|(changed, _)| *changed == assignment.column) {
                Some((_, known)) => *known = value,
                None => changes.push((assignment.column, value)),
            }
        }
        changes.sort_unstable_by_key(|(column, _)| *column);
        let bytes = changes.iter().filter_map(|(_, value)| value.as_bytes()).map(|bytes| bytes.len()).sum::<usize>();
        memory::check_more((old.len() + bytes) as u64)?;
        let layout = &table.codec.row;
        let new = layout.replace(old, &changes)?;
        if new == *old {
            return Ok(None);
        }
        if self.on_update.is_empty() {
            return Ok(Some(new));
        }
        for (column, time) in &self.on_update {
            let def = &table.def.columns[*column];
            let value = convert_for_column(time.eval(&[], eval)?, def, strictness, row_number, eval)?;
            changes.push((*column, value));
        }
        changes.sort_unstable_by_key(|(column, _)| *column);
        Ok(Some(layout.replace(old, &changes)?))
    }
}

/// A value on its way to a column: `0x41` is a number for one of numbers, text in latin1 is its bytes for one of bytes, and text of no
/// character set (SET NAMES binary) the bytes of the column's own.
pub(super) fn for_column(value: Expr, column: &ColumnDef) -> Expr {
    match &value.kind {
        ExprKind::Literal(_) if takes_numbers(column) => build::numeric_arg(value),
        ExprKind::Literal(Value::Str(text)) if value.ty.collation == CollationId::BINARY && column.ty.is_string() => {
            build::bytes_literal(text.to_vec())
        }
        ExprKind::Literal(Value::Double(_)) => copied(value, column),
        ExprKind::Literal(_) if column.ty.is_binary() => build::as_bytes(value),
        ExprKind::Literal(_) => value,
        // A parameter may be text, which has other bytes in the client's character set.
        _ if value.ty.kind == Kind::Any && column.ty.is_binary() => build::cast_to_bytes(value),
        _ => copied(value, column),
    }
}

fn copied(value: Expr, column: &ColumnDef) -> Expr {
    match Copied::by_dml(&value.ty, &column.ty, value.as_column().is_some()) {
        None | Some(Copied::Member { .. }) => value,
        Some(Copied::Bytes(_)) => build::as_bytes(value),
        Some(_) => function::copied(value, &column.ty),
    }
}

/// Whether a bit or hexadecimal literal is a number for it. A BIT takes its bytes, which are the same.
pub(super) fn takes_numbers(column: &ColumnDef) -> bool {
    column.ty.is_numeric() || column.ty == ColumnType::Year
}
