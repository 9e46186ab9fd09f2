//! Constants beside a DATE, TIME, DATETIME or TIMESTAMP column that are no value of it.
//!
//! MySQL stores such a constant into the column to compare it: once when a statement begins, whatever rows there are. One that does
//! not fit is compared as a number or as text, with warning 1292; a statement that changes rows in strict mode fails.

use base::{SqlError, codes};
use syntax::ast as sql;
use types::temporal::parse::Allow;
use types::value::NOT_FIXED;
use types::{ColumnType, DateTime, Time, Value};

use crate::bind::Binder;
use crate::bind::call::column_name;
use crate::expr::coerce::{fsp_of, parse_datetime, parse_time, plain_text, printable};
use crate::expr::compare::wrong_value;
use crate::expr::constant::constant;
use crate::expr::{Constancy, EvalContext, Expr, ExprKind, ExprType, Kind, SqlMode, is_number, moment_of, time_of};

/// A constant that a statement compares with a column of dates or times.
#[derive(Debug)]
pub(crate) struct ConstantBeside {
    /// `None` for one of a list.
    column: Option<String>,
    ty: ColumnType,
    value: Expr,
    place: Place,
}

/// Where a constant stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Beside an operator.
    Compared,
    /// In BETWEEN, where zeros are dates in any mode.
    Bound,
    /// In the list of IN; of dates these are only those that are none.
    Listed,
    /// The same of a number among numbers, which are taken for what they are compared with, a column or not.
    ListedNumber,
}

/// How well a constant fits a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    Whole,
    /// A part of it does: the day of a date with a time, the time of one in a TIME.
    Part,
    Not,
}

impl<'a> Binder<'a> {
    /// Notes the constant of a comparison of a column with one.
    pub(crate) fn note_constant(&mut self, written: (&sql::Expr, &sql::Expr), left: &Expr, right: &Expr) {
        self.note_constant_beside(written.0, left, right);
        self.note_constant_beside(written.1, right, left);
    }

    /// A date that is constant beside a TIME column, as a literal: it is what it is in that column.
    pub(crate) fn folded_beside_time(&self, value: Expr, column: &Expr) -> Expr {
        let is_date = matches!(value.ty.kind, Kind::Date | Kind::DateTime);
        if !is_date || column.ty.kind != Kind::Time || column.as_column().is_none() {
            return value;
        }
        match constant(&value, self.context.session) {
            Some(folded) => Expr::literal(folded, value.ty),
            None => value,
        }
    }

    /// Notes a bound of BETWEEN, whose zeros are dates in any mode.
    pub(crate) fn note_bound(&mut self, written: &sql::Expr, column: &Expr, value: &Expr) {
        let before = self.constants.len();
        self.note_constant_beside(written, column, value);
        self.constants[before..].iter_mut().for_each(|constant| constant.place = Place::Bound);
    }

    /// Notes a constant beside what may be a column.
    pub(crate) fn note_constant_beside(&mut self, written: &sql::Expr, column: &Expr, value: &Expr) {
        let Some(ty) = column.ty.origin.as_ref().filter(|ty| column.as_column().is_some() && ty.is_temporal()) else {
            return;
        };
        let is_value = !matches!(value.kind, ExprKind::UserVariable(_)) && value.constancy() <= Constancy::Execution;
        let fits_anyway = value.ty.kind.is_temporal() || matches!(value.ty.kind, Kind::Null | Kind::Json);
        let Some(column) = name_of(written).filter(|_| is_value && !fits_anyway && !value.waits()) else { return };
        let (column, ty, value) = (Some(column.to_owned()), ty.clone(), value.clone());
        self.constants.push(ConstantBeside { column, ty, value, place: Place::Compared });
    }
}

impl Binder<'_> {
    /// The literals of `column IN (…, …)` as what MySQL makes of them where all of a list are constants.
    pub(crate) fn listed(&mut self, written: &sql::Expr, value: &Expr, list: Vec<Expr>) -> Vec<Expr> {
        let is_number = |item: &Expr| matches!(&item.kind, ExprKind::Literal(value) if is_number(value));
        let is_null = |item: &Expr| matches!(item.kind, ExprKind::Literal(Value::Null));
        let is_numbers = list.iter().any(is_number) && list.iter().all(|item| is_number(item) || is_null(item));
        match value.ty.kind {
            Kind::Date | Kind::DateTime | Kind::Time if is_numbers => {
                list.into_iter().filter_map(|item| self.listed_number(value.ty.kind, item)).collect()
            }
            Kind::Time => self.listed_times(list),
            Kind::Date | Kind::DateTime => self.listed_dates(written, value, list),
            _ => list,
        }
    }

    /// A number of a list of numbers as the date or time that it is. One that is none equals no DATE and no TIME, and is a zero for a DATETIME.
    fn listed_number(&mut self, kind: Kind, item: Expr) -> Option<Expr> {
        let ExprKind::Literal(number) = &item.kind else { return Some(item) };
        if *number == Value::Null {
            return Some(item);
        }
        let literal = |value, fsp| Some(Expr::literal(value, ExprType::temporal(kind, fsp).nullable(false)));
        if kind == Kind::Time {
            if let Some(parsed) = time_of(number) {
                return literal(Value::Time(parsed.value), fsp_of(parsed.value.parts().4));
            }
            self.note_listed(ColumnType::Time { fsp: 0 }, item);
            return None;
        }
        match (kind, moment_of(number).map(|parsed| parsed.value)) {
            (Kind::Date, moment) => literal(Value::Date(moment.filter(|moment| !moment.date.is_zero())?.date), 0),
            (_, Some(moment)) => literal(Value::DateTime(moment), fsp_of(moment.micros)),
            (_, None) => {
                self.note_listed(ColumnType::DateTime { fsp: 0 }, item);
                literal(Value::DateTime(DateTime::ZERO), 0)
            }
        }
    }

    fn note_listed(&mut self, ty: ColumnType, value: Expr) {
        self.constants.push(ConstantBeside { column: None, ty, value, place: Place::ListedNumber });
    }

    /// The literals of `time IN (…, …)` as times: MySQL makes them so where all of a list are constants, and text that is none is 00:00:00.
    fn listed_times(&mut self, list: Vec<Expr>) -> Vec<Expr> {
        let is_text = |item: &Expr| matches!(&item.kind, ExprKind::Literal(Value::Str(_) | Value::Null));
        if !list.iter().all(is_text) {
            return list;
        }
        let as_time = |item: Expr| {
            let ExprKind::Literal(value @ Value::Str(_)) = &item.kind else { return item };
            let parsed = parse_time(value).map_or_else(Time::default, |parsed| parsed.value);
            let ty = ExprType::temporal(Kind::Time, fsp_of(parsed.parts().4)).nullable(false);
            let ty_of_list = ColumnType::Time { fsp: 0 };
            self.constants.push(ConstantBeside { column: None, ty: ty_of_list, value: item, place: Place::Listed });
            Expr::literal(Value::Time(parsed), ty)
        };
        list.into_iter().map(as_time).collect()
    }

    /// The literals of `column IN (…, …)` without those that are no dates: in MySQL such a text equals no DATE, and is a zero for other columns.
    fn listed_dates(&mut self, written: &sql::Expr, value: &Expr, list: Vec<Expr>) -> Vec<Expr> {
        let is_constant = |item: &Expr| {
            matches!(&item.kind, ExprKind::Literal(Value::Str(_) | Value::Null | Value::Date(_) | Value::DateTime(_)))
        };
        let (Some(ty), Some(column)) = (value.ty.origin.as_ref(), name_of(written)) else { return list };
        let is_date = *ty == ColumnType::Date;
        let is_such = is_date || matches!(ty, ColumnType::DateTime { .. } | ColumnType::Timestamp { .. });
        if !is_such || value.as_column().is_none() || !list.iter().all(is_constant) {
            return list;
        }
        let sql_mode = self.context.session.sql_mode;
        let refused = if is_date { sql_mode.without(SqlMode::NO_ZERO_IN_DATE) } else { sql_mode };
        let as_date = |item: Expr| {
            let is_none = match &item.kind {
                ExprKind::Literal(text @ Value::Str(_)) => {
                    parse_datetime(text, Allow::ZEROS).is_none() || has_refused_zeros(text, refused)
                }
                _ => false,
            };
            if !is_none {
                return Some(item);
            }
            let column = (!is_date).then(|| column.to_owned());
            self.constants.push(ConstantBeside { column, ty: ty.clone(), value: item, place: Place::Listed });
            let zero = ExprType::temporal(Kind::DateTime, 0).nullable(false);
            (!is_date).then(|| Expr::literal(Value::DateTime(DateTime::ZERO), zero))
        };
        list.into_iter().filter_map(as_date).collect()
    }
}

/// The name of a column, in parentheses or not.
fn name_of(written: &sql::Expr) -> Option<&str> {
    column_name(written.inner())
}

impl ConstantBeside {
    /// 1292 for a constant that is no value of its column: an error where rows are changed in strict mode, but if a part of it is one.
    pub(crate) fn check(&self, ctx: &EvalContext<'_>) -> Result<(), SqlError> {
        let value = self.value.eval(&[], ctx)?;
        let fit = self.fit(&value, ctx);
        match &self.column {
            _ if fit == Fit::Whole => Ok(()),
            Some(column) => self.complain_beside(column, fit, &value, ctx),
            None => self.complain_in_list(&value, ctx),
        }
    }

    fn fit(&self, value: &Value, ctx: &EvalContext<'_>) -> Fit {
        match (value, &self.ty) {
            (Value::Null, _) => Fit::Whole,
            _ if self.place == Place::ListedNumber => Fit::Not,
            (_, ColumnType::Time { .. }) if self.column.is_none() => match parse_time(value) {
                Some(parsed) if !parsed.trailing && !parsed.clamped => Fit::Whole,
                _ => Fit::Not,
            },
            (_, ColumnType::Time { .. }) => as_time(value),
            _ if self.place == Place::Listed => Fit::Not,
            (Value::Str(_) | Value::Bytes(_), _)
                if self.place != Place::Bound && has_refused_zeros(value, ctx.session.sql_mode) =>
            {
                Fit::Not
            }
            (Value::Str(_) | Value::Bytes(_), _) => Fit::Whole,
            _ => as_datetime(value, &self.ty, ctx),
        }
    }

    fn kind(&self) -> &'static str {
        match self.ty {
            ColumnType::Date => "date",
            ColumnType::Time { .. } => "time",
            _ => "datetime",
        }
    }

    /// A number that is no DATETIME is an error in strict mode; what else a list has is never one.
    fn complain_in_list(&self, value: &Value, ctx: &EvalContext<'_>) -> Result<(), SqlError> {
        let (kind, text) = (self.kind(), plain_text(value, NOT_FIXED));
        if (self.place, kind) == (Place::ListedNumber, "datetime") {
            let message = format!("Incorrect datetime value: '{}'", printable(&text));
            return ctx.complain(codes::TRUNCATED_WRONG_VALUE, message);
        }
        ctx.truncated(kind, &text)
    }

    fn complain_beside(&self, column: &str, fit: Fit, value: &Value, ctx: &EvalContext<'_>) -> Result<(), SqlError> {
        let (kind, text) = (self.kind(), plain_text(value, NOT_FIXED));
        let message = format!("Incorrect {kind} value: '{}' for column '{column}' at row 1", printable(&text));
        let is_time = matches!(self.ty, ColumnType::Time { .. });
        if fit == Fit::Part {
            ctx.warn(codes::TRUNCATED_WRONG_VALUE, message);
            return Ok(());
        }
        // Text that is no date is an error in any statement.
        if !ctx.strict && self.place != Place::Listed && value.as_bytes().is_some() && !is_time {
            let name = match self.ty {
                ColumnType::Timestamp { .. } => "TIMESTAMP".into(),
                _ => kind.to_uppercase(),
            };
            return Err(wrong_value(&name, value));
        }
        ctx.complain(codes::TRUNCATED_WRONG_VALUE, message)
    }
}

/// Whether text is a date with zeros that `sql_mode` does not allow.
fn has_refused_zeros(text: &Value, sql_mode: SqlMode) -> bool {
    let Some(parsed) = parse_datetime(text, Allow::ZEROS) else { return false };
    let date = parsed.value.date;
    match date.is_zero() {
        true => sql_mode.has(SqlMode::NO_ZERO_DATE),
        false => (date.month == 0 || date.day == 0) && sql_mode.has(SqlMode::NO_ZERO_IN_DATE),
    }
}

fn as_time(value: &Value) -> Fit {
    if value.as_bytes().is_some_and(|text| text.trim_ascii().is_empty()) {
        return Fit::Whole;
    }
    match parse_time(value).filter(|parsed| !parsed.trailing && !parsed.clamped) {
        None => Fit::Not,
        Some(_) if is_long(value) && parse_datetime(value, Allow::ALL).is_some_and(|parsed| parsed.has_time) => {
            Fit::Part
        }
        Some(_) => Fit::Whole,
    }
}

/// Whether a number, or text, has more digits than a TIME.
fn is_long(value: &Value) -> bool {
    let text = plain_text(value, NOT_FIXED);
    text.iter().take_while(|byte| **byte != b'.').filter(|byte| byte.is_ascii_digit()).count() > 7
}

fn as_datetime(value: &Value, ty: &ColumnType, ctx: &EvalContext<'_>) -> Fit {
    let is_timestamp = matches!(ty, ColumnType::Timestamp { .. });
    let zero_in_date = !ctx.session.sql_mode.has(SqlMode::NO_ZERO_IN_DATE);
    let allow = Allow { zero_date: true, zero_in_date, invalid_dates: !is_timestamp };
    let Some(parsed) = parse_datetime(value, allow) else { return Fit::Not };
    let moment = parsed.value;
    if !parsed.has_time && moment.micros != 0 || is_timestamp && !is_in_timestamp(moment) {
        return Fit::Not;
    }
    let has_time = (moment.hour, moment.minute, moment.second, moment.micros) != (0, 0, 0, 0);
    if *ty == ColumnType::Date && has_time { Fit::Part } else { Fit::Whole }
}

/// Zero, or a year that a TIMESTAMP can be of.
fn is_in_timestamp(moment: DateTime) -> bool {
    moment.date.is_zero() || (1970..=2106).contains(&moment.date.year)
}
