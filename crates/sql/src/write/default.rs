//! What a column gets when the statement gives it nothing, or DEFAULT.

use base::{SqlError, UnixMicros, codes};
use jiff::tz::TimeZone;
use types::temporal::MICROS_PER_SECOND;
use types::{ColumnDef, ColumnDefault, ColumnType, Value};

use crate::bind::Binder;
use crate::bind::expr::{Clause, ExprScope};
use crate::ddl::local_default;
use crate::expr::convert::TIMESTAMP_MAX_SECONDS;
use crate::expr::zero::implicit_default;
use crate::expr::{EvalContext, Expr, ExprType, Strictness, coerce, convert_for_column, function};
use crate::parse::{ParseContext, parse_expr};

/// What a column gets when the statement gives it nothing, or DEFAULT.
#[derive(Clone, Debug)]
pub(crate) enum DefaultValue {
    /// In the column's own form.
    Stored(Value),
    /// The statement's time.
    Now,
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
            Some(ColumnDefault::CurrentTimestamp { .. }) => DefaultValue::Now,
            Some(ColumnDefault::Expression(_)) => DefaultValue::Computed(default_expr(binder, column)?),
            None if column.nullable => DefaultValue::Stored(Value::Null),
            // Its first member is meant.
            None if matches!(column.ty, ColumnType::Enum { .. }) => DefaultValue::Stored(implicit_default(column)),
            None => DefaultValue::Missing,
        })
    }

    /// That of a column which is added to rows that are there, by a statement of that time.
    pub(crate) fn of_added(column: &ColumnDef, at: UnixMicros, zone: &TimeZone) -> Self {
        match &column.default {
            // A number takes its place.
            _ if column.auto_increment => DefaultValue::AutoIncrement,
            Some(ColumnDefault::Literal(value)) => DefaultValue::Stored(value.clone()),
            Some(ColumnDefault::CurrentTimestamp { .. }) => DefaultValue::Stored(time_at(column, at, zone)),
            _ if column.nullable => DefaultValue::Stored(Value::Null),
            _ => DefaultValue::Stored(implicit_default(column)),
        }
    }

    /// Makes of a missing default the implicit one, of which no word is said.
    pub(super) fn or_implicit(&mut self, column: &ColumnDef) {
        if matches!(self, DefaultValue::Missing) {
            *self = DefaultValue::Stored(implicit_default(column));
        }
    }

    /// Whether it is the same for all rows of a statement.
    pub(super) fn is_constant(&self) -> bool {
        match self {
            DefaultValue::Stored(_) | DefaultValue::Now | DefaultValue::Missing => true,
            DefaultValue::Computed(_) | DefaultValue::AutoIncrement => false,
        }
    }

    /// Whether it is NULL.
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, DefaultValue::Stored(Value::Null))
    }

    /// What another column of the same row reads before this one is set: the default, or the implicit one where there is none.
    pub(crate) fn before_it_is_set(&self, column: &ColumnDef, eval: &EvalContext<'_>) -> Result<Value, SqlError> {
        match self {
            DefaultValue::AutoIncrement | DefaultValue::Missing => Ok(implicit_default(column)),
            DefaultValue::Stored(_) | DefaultValue::Now | DefaultValue::Computed(_) => {
                self.value(column, Strictness::Lenient, 1, eval)
            }
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
            DefaultValue::Now => statement_time(column, strictness, row_number, eval),
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

/// The time of the statement as a column has it. What is beyond a TIMESTAMP's range is converted as any other value.
pub(super) fn statement_time(
    column: &ColumnDef,
    strictness: Strictness,
    row_number: u64,
    eval: &EvalContext<'_>,
) -> Result<Value, SqlError> {
    let seconds = (eval.now.0 as i64).div_euclid(MICROS_PER_SECOND);
    match column.ty {
        ColumnType::Timestamp { fsp } if !(1..=TIMESTAMP_MAX_SECONDS).contains(&seconds) => {
            let local = Value::DateTime(eval.local_now().truncated(fsp));
            convert_for_column(local, column, strictness, row_number, eval)
        }
        _ => Ok(time_at(column, eval.now, &eval.session.time_zone)),
    }
}

/// A point in time as a DATETIME, TIMESTAMP or DATE column holds it. A TIMESTAMP's is in UTC, and has not been what clocks show: they show an hour twice
/// when they are put back.
pub(super) fn time_at(column: &ColumnDef, at: UnixMicros, zone: &TimeZone) -> Value {
    let utc = coerce::utc_time(at);
    Value::DateTime(match column.ty {
        ColumnType::Timestamp { fsp } => utc.truncated(fsp),
        ColumnType::DateTime { fsp } => coerce::local_time(at, zone).truncated(fsp),
        ColumnType::Date => return Value::Date(coerce::local_time(at, zone).date),
        _ => utc,
    })
}

/// The DEFAULT of a column as an expression.
pub(crate) fn default_expr(binder: &Binder<'_>, column: &ColumnDef) -> Result<Expr, SqlError> {
    match &column.default {
        Some(ColumnDefault::Literal(value)) => {
            let local = local_default(column, &binder.context.session.time_zone);
            let ty = ExprType { utc: false, ..ExprType::of_column(column) };
            Ok(Expr::literal(local.unwrap_or_else(|| value.clone()), ty))
        }
        Some(ColumnDefault::CurrentTimestamp { fsp }) => {
            function::resolve("now", vec![Expr::int(i64::from(*fsp))], binder.context.session)
        }
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
