//! Evaluation: [`Expr::eval`] and its cheaper forms.

use std::borrow::Cow;
use std::cmp::Ordering;

use base::SqlError;
use base::memory;
use types::{CollationId, ColumnType, Value};

use crate::expr::arithmetic;
use crate::expr::bits;
use crate::expr::cast;
use crate::expr::coerce;
use crate::expr::compare::{compare, compare_sides, exactly, have_same_bits, is_by_bits};
use crate::expr::context::EvalContext;
use crate::expr::function::{Args, LONG_ARGUMENT};
use crate::expr::in_list::InList;
use crate::expr::interval::{self, Counted};
use crate::expr::json;
use crate::expr::pattern;
use crate::expr::tree::{CastType, Expr, ExprKind};
use crate::expr::types::{Kind, aggregate_collations};
use crate::expr::whole;
use crate::expr::{ArithmeticOp, CompareOp};

/// Operators and functions read all of a long value, so it counts where it comes from.
#[inline]
fn counted<'v>(value: &'v Value, ctx: &EvalContext<'_>) -> Result<&'v Value, SqlError> {
    match value {
        Value::Str(bytes) | Value::Bytes(bytes) | Value::Json(bytes) if bytes.len() as u64 > LONG_ARGUMENT => {
            ctx.worked(bytes.len() as u64)?;
        }
        _ => {}
    }
    Ok(value)
}

impl Expr {
    /// Its value for a row.
    pub fn eval(&self, row: &[Value], ctx: &EvalContext<'_>) -> Result<Value, SqlError> {
        match &self.kind {
            ExprKind::Column { slot, utc: false } => Ok(counted(&row[*slot], ctx)?.clone()),
            ExprKind::Arithmetic { op: ArithmeticOp::IntDivide, args } => {
                let (left, right) = (args[0].eval_exact(row, ctx)?, args[1].eval_exact(row, ctx)?);
                arithmetic::eval(ArithmeticOp::IntDivide, &left, &right, &self.ty, ctx)
            }
            ExprKind::Arithmetic { op, args } => {
                ctx.visited()?;
                let left = args[0].eval_ref(row, ctx)?;
                if left.is_null() && self.ty.kind == Kind::Decimal {
                    return Ok(Value::Null);
                }
                let right = args[1].eval_ref(row, ctx)?;
                arithmetic::eval(*op, &left, &right, &self.ty, ctx)
            }
            ExprKind::Literal(value) => Ok(counted(value, ctx)?.clone()),
            ExprKind::Param(number) => Ok(counted(param(*number, ctx)?, ctx)?.clone()),
            ExprKind::Column { slot, utc: true } => Ok(match &row[*slot] {
                Value::DateTime(utc) => Value::DateTime(coerce::utc_to_local(*utc, &ctx.session.time_zone)),
                other => other.clone(),
            }),
            ExprKind::Compare { .. }
            | ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Xor(_)
            | ExprKind::Not(_)
            | ExprKind::IsNull(_)
            | ExprKind::IsTruth { .. }
            | ExprKind::In { .. }
            | ExprKind::Between { .. }
            | ExprKind::Like { .. } => {
                Ok(self.eval_condition(row, ctx)?.map_or(Value::Null, |truth| Value::Int(truth as i64)))
            }
            ExprKind::Call { function, args } => {
                ctx.visited()?;
                let value = function.eval(&Args::new(*function, args, &self.ty, row, ctx))?;
                counted(&value, ctx)?;
                Ok(value)
            }
            ExprKind::Negate(arg) => arithmetic::negate(&*arg.eval_ref(row, ctx)?, ctx),
            ExprKind::Bit { op, args } => {
                let value = bits::eval(*op, args, &self.ty, row, ctx)?;
                counted(&value, ctx)?;
                Ok(value)
            }
            ExprKind::Case { operand, arms, otherwise } => {
                eval_case(operand.as_deref(), arms, otherwise.as_deref(), row, ctx)
            }
            ExprKind::Cast { arg, to } => {
                ctx.visited()?;
                let (value, arg) = match to {
                    CastType::Decimal { .. } if arg.is_own_number() => (arg.eval_exact(row, ctx)?, &**arg),
                    CastType::Char { .. } | CastType::Binary { .. } => arg.eval_shown(row, ctx)?,
                    _ => (arg.eval_ref(row, ctx)?, &**arg),
                };
                if matches!(to, CastType::Signed | CastType::Unsigned) {
                    whole::check_whole(arg, &value, ctx)?;
                }
                let is_dated = matches!(to, CastType::Date | CastType::DateTime { .. } | CastType::Time { .. });
                let value = match (is_dated, to) {
                    (true, _) => coerce::dated(arg, value),
                    (false, CastType::Char { .. }) if matches!(*value, Value::Time(_)) => {
                        Cow::Owned(Value::Str(coerce::text_of(arg, &value)))
                    }
                    (false, CastType::Signed) => whole::without_fraction(arg, value),
                    (false, _) => value,
                };
                let value = cast::eval(&value, &arg.ty, *to, &self.ty, ctx)?;
                counted(&value, ctx)?;
                Ok(value)
            }
            ExprKind::Collate(arg) => arg.eval(row, ctx),
            ExprKind::Interval { args, unit, subtract } => {
                let date = coerce::dated(&args[0], args[0].eval_ref(row, ctx)?);
                let amount = || {
                    let amount = match interval::counted(*unit) {
                        Counted::Text => args[1].eval_ref(row, ctx)?,
                        Counted::Exact => args[1].eval_exact(row, ctx)?,
                        Counted::Whole => args[1].eval_whole(row, ctx)?,
                    };
                    whole::check_whole(&args[1], &amount, ctx)?;
                    Ok(amount)
                };
                interval::add(&date, amount, (*unit, *subtract), &self.ty, ctx)
            }
            ExprKind::UserVariable(name) => {
                let variables = ctx.session.user_variables.lock();
                let Some((value, ty)) = variables.get(&**name).cloned() else { return Ok(Value::Null) };
                drop(variables);
                counted(&value, ctx)?;
                coerce::to_type(value, &ty, &self.ty, ctx)
            }
            ExprKind::AssignVariable { name, value: expr } => {
                let (value, mut ty) = json::as_variable(expr.eval(row, ctx)?, expr.ty.clone());
                memory::check()?;
                ty.coercibility = crate::expr::types::Coercibility::Implicit;
                ctx.session.user_variables.lock().insert(name.to_string(), (value.clone(), ty));
                Ok(value)
            }
            ExprKind::SystemVariable { scope, name } => ctx.host.system_variable(*scope, name),
        }
    }

    /// Its value for a row, without a copy if it is a column, a constant or a parameter.
    #[inline]
    pub fn eval_ref<'a>(&'a self, row: &'a [Value], ctx: &EvalContext<'a>) -> Result<Cow<'a, Value>, SqlError> {
        match &self.kind {
            ExprKind::Column { slot, utc: false } => counted(&row[*slot], ctx).map(Cow::Borrowed),
            ExprKind::Literal(value) => counted(value, ctx).map(Cow::Borrowed),
            ExprKind::Param(number) => counted(param(*number, ctx)?, ctx).map(Cow::Borrowed),
            _ => self.eval(row, ctx).map(Cow::Owned),
        }
    }

    /// Its truth for a row; `None` is NULL. For WHERE, ON, HAVING: cheaper than [`Expr::eval`].
    pub fn eval_truth(&self, row: &[Value], ctx: &EvalContext<'_>) -> Result<Option<bool>, SqlError> {
        match &self.kind {
            ExprKind::Compare { .. }
            | ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Xor(_)
            | ExprKind::Not(_)
            | ExprKind::IsNull(_)
            | ExprKind::IsTruth { .. }
            | ExprKind::In { .. }
            | ExprKind::Between { .. }
            | ExprKind::Like { .. } => self.eval_condition(row, ctx),
            // `0x1F` is a number here.
            ExprKind::Literal(Value::Bytes(bytes)) if bytes.len() <= 8 => Ok(Some(bytes.iter().any(|&byte| byte != 0))),
            _ if self.is_choice_of_text() => match self.chosen(row, ctx)? {
                Some(part) => part.eval_truth(row, ctx),
                None => Ok(None),
            },
            // The place of a member, the bits of a set.
            _ if let Some(ColumnType::Enum { members }) = &self.ty.origin
                && members.iter().any(String::is_empty) =>
            {
                let value = self.eval_ref(row, ctx)?;
                Ok((!value.is_null()).then(|| matches!(*value, Value::Str(_))))
            }
            _ if super::order::is_member_list(&self.ty) => {
                Ok(self.eval_ref(row, ctx)?.as_bytes().map(|text| !text.is_empty()))
            }
            // Without a word about what is behind the number.
            _ if self.is_read_silently() => {
                Ok(self.eval_ref(row, ctx)?.as_bytes().map(|text| types::number::parse_f64(text).0 != 0.0))
            }
            _ => coerce::truth(&*self.eval_ref(row, ctx)?, ctx),
        }
    }

    /// The nodes that are true, false or unknown.
    fn eval_condition(&self, row: &[Value], ctx: &EvalContext<'_>) -> Result<Option<bool>, SqlError> {
        ctx.visited()?;
        let collation = self.ty.collation;
        match &self.kind {
            ExprKind::Compare { op, args } => {
                let left = args[0].eval_ref(row, ctx)?;
                if left.is_null() && *op != CompareOp::NullSafeEq {
                    return Ok(None);
                }
                let right = args[1].eval_ref(row, ctx)?;
                if *op == CompareOp::NullSafeEq && (left.is_null() || right.is_null()) {
                    return Ok(Some(left.is_null() && right.is_null()));
                }
                let order = compare_sides((&args[0], &left), (&args[1], &right), collation, ctx)?;
                Ok(order.map(|order| decides(*op, order)))
            }
            ExprKind::And(parts) => all_of(parts, true, row, ctx),
            ExprKind::Or(parts) => all_of(parts, false, row, ctx),
            ExprKind::Xor(args) => {
                let (left, right) = (args[0].eval_truth(row, ctx)?, args[1].eval_truth(row, ctx)?);
                Ok(left.zip(right).map(|(left, right)| left != right))
            }
            ExprKind::Not(arg) => Ok(arg.eval_truth(row, ctx)?.map(|truth| !truth)),
            ExprKind::IsNull(arg) => Ok(Some(arg.eval_ref(row, ctx)?.is_null())),
            ExprKind::IsTruth { arg, wanted } => Ok(Some(arg.eval_truth(row, ctx)? == Some(*wanted))),
            ExprKind::In { value, list } => eval_in(value, list, collation, row, ctx),
            ExprKind::Between { args } => eval_between(args, collation, row, ctx),
            ExprKind::Like { args, escape } => {
                let (text, pattern) = (args[0].eval_ref(row, ctx)?, args[1].eval_ref(row, ctx)?);
                if text.is_null() || pattern.is_null() {
                    return Ok(None);
                }
                let (text, pattern) = (coerce::text(&text, &args[0].ty), coerce::text(&pattern, &args[1].ty));
                let mut worked = |steps| ctx.worked(steps);
                pattern::like_counted(&text, &pattern, *escape, collation, &mut worked).map(Some)
            }
            _ => coerce::truth(&self.eval(row, ctx)?, ctx),
        }
    }
}

fn param<'a>(number: usize, ctx: &EvalContext<'a>) -> Result<&'a Value, SqlError> {
    let missing = || SqlError::new(base::codes::WRONG_ARGUMENTS, "Incorrect arguments to EXECUTE");
    ctx.params.get(number).ok_or_else(missing)
}

/// Whether an operator holds for two values in this order.
pub(crate) fn decides(op: CompareOp, order: Ordering) -> bool {
    match op {
        CompareOp::Eq | CompareOp::NullSafeEq => order == Ordering::Equal,
        CompareOp::NotEq => order != Ordering::Equal,
        CompareOp::Less => order == Ordering::Less,
        CompareOp::LessEq => order != Ordering::Greater,
        CompareOp::Greater => order == Ordering::Greater,
        CompareOp::GreaterEq => order != Ordering::Less,
    }
}

/// AND if `wanted`, else OR: the first part that is not `wanted` decides.
fn all_of(parts: &[Expr], wanted: bool, row: &[Value], ctx: &EvalContext<'_>) -> Result<Option<bool>, SqlError> {
    let mut unknown = false;
    for part in parts {
        match part.eval_truth(row, ctx)? {
            Some(truth) if truth != wanted => return Ok(Some(truth)),
            Some(_) => {}
            None => unknown = true,
        }
    }
    Ok(if unknown { None } else { Some(wanted) })
}

fn eval_in(
    sought: &Expr,
    list: &InList,
    collation: CollationId,
    row: &[Value],
    ctx: &EvalContext<'_>,
) -> Result<Option<bool>, SqlError> {
    let value = sought.eval_ref(row, ctx)?;
    if value.is_null() {
        return Ok(None);
    }
    if let Some(found) = list.find(sought, &value, collation) {
        return Ok(found);
    }
    let mut unknown = false;
    for item in list {
        ctx.visited()?;
        let other = item.eval_ref(row, ctx)?;
        let exact = match &*other {
            // A number among several texts is compared exactly, whatever it is.
            Value::Str(text) if list.len() > 1 => exactly(&value, text),
            _ => None,
        };
        if have_same_bits(&value, &other) && is_by_bits(list) {
            return Ok(Some(true));
        }
        let order = match exact {
            None => compare_sides((sought, &value), (item, &other), collation, ctx)?,
            exact => exact,
        };
        match order {
            Some(Ordering::Equal) => return Ok(Some(true)),
            Some(_) => {}
            None => unknown = true,
        }
    }
    Ok(if unknown { None } else { Some(false) })
}

fn eval_between(
    args: &[Expr; 3],
    collation: CollationId,
    row: &[Value],
    ctx: &EvalContext<'_>,
) -> Result<Option<bool>, SqlError> {
    let value = args[0].eval_ref(row, ctx)?;
    if value.is_null() {
        return Ok(None);
    }
    let beside = |bound: &Expr| {
        let other = bound.eval_ref(row, ctx)?;
        compare_sides((&args[0], &value), (bound, &other), collation, ctx)
    };
    let low = beside(&args[1])?.map(|order| order.is_ge());
    let high = beside(&args[2])?.map(|order| order.is_le());
    Ok(match (low, high) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    })
}

fn eval_case(
    operand: Option<&Expr>,
    arms: &[(Expr, Expr)],
    otherwise: Option<&Expr>,
    row: &[Value],
    ctx: &EvalContext<'_>,
) -> Result<Value, SqlError> {
    match arm_of_case(operand, arms, row, ctx)?.or(otherwise) {
        Some(then) => then.eval(row, ctx),
        None => Ok(Value::Null),
    }
}

/// THEN of the first WHEN that holds.
pub(crate) fn arm_of_case<'e>(
    operand: Option<&Expr>,
    arms: &'e [(Expr, Expr)],
    row: &[Value],
    ctx: &EvalContext<'_>,
) -> Result<Option<&'e Expr>, SqlError> {
    let value = operand.map(|operand| operand.eval_ref(row, ctx)).transpose()?;
    for (when, then) in arms {
        ctx.visited()?;
        let chosen = match (&value, operand) {
            (Some(value), Some(operand)) => {
                let collation = aggregate_collations(&operand.ty, &when.ty).0;
                let other = when.eval_ref(row, ctx)?;
                have_same_bits(value, &other) || compare(value, &other, collation, ctx)? == Some(Ordering::Equal)
            }
            _ => when.eval_truth(row, ctx)? == Some(true),
        };
        if chosen {
            return Ok(Some(then));
        }
    }
    Ok(None)
}
