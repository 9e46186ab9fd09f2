//! Control flow and comparison: IF, IFNULL, COALESCE, GREATEST, ….

use std::cmp::Ordering;

use base::SqlError;
use types::decimal::Rounding;
use types::temporal::parse::Allow;
use types::{CollationId, Date, DateTime, Value};

use crate::expr::copied::Copied;
use types::column::choice_number;

use super::time::fraction_of;
use super::{Args, FunctionInfo, MANY, int, line, short_int, short_nullable_int, some};
use crate::expr::CompareOp;
use crate::expr::SqlMode;
use crate::expr::beside::year_of;
use crate::expr::build::{self, coerce_to, union_of};
use crate::expr::choice::condition_of_if;
use crate::expr::coerce;
use crate::expr::compare::compare;
use crate::expr::context::SessionInfo;
use crate::expr::order::is_member_list;
use crate::expr::stored;
use crate::expr::tree::{Expr, ExprKind};
use crate::expr::types::{ExprType, Kind, Strings, aggregate_collations};

pub(super) static TABLE: &[FunctionInfo] = &[
    line(
        "if",
        3,
        3,
        |args, _| union_of([&args[1].ty, &args[2].ty]),
        |args| {
            let chosen = if args.truth(0)? == Some(true) { 1 } else { 2 };
            args.args[chosen].eval(args.row, args.ctx)
        },
    )
    .joins(1),
    line("ifnull", 2, 2, coalesced, coalesce).joins(0),
    line("coalesce", 1, MANY, coalesced, coalesce).joins(0),
    line("nullif", 2, 2, |args, _| nullif_type(&args[1].ty), nullif).compares(2),
    line("isnull", 1, 1, |_, _| ExprType::truth(false), |args| Ok(Value::from(args.value(0)?.is_null()))),
    line("greatest", 2, MANY, extreme_type, |args| extreme(args, Ordering::Greater)).joins(0),
    line("least", 2, MANY, extreme_type, |args| extreme(args, Ordering::Less)).joins(0),
    line("strcmp", 2, 2, short_int::<2>, strcmp).compares(2),
    line("interval", 2, MANY, |_, _| ExprType { length: 2, ..ExprType::of_kind(Kind::Int) }.nullable(false), interval),
    line("sleep", 1, 1, int, |_| Err(SqlError::not_supported("SLEEP() in this place"))).waiting(),
    line("benchmark", 2, 2, short_nullable_int::<2>, |_| Err(SqlError::not_supported("BENCHMARK() in this place")))
        .waiting(),
    line(
        "any_value",
        1,
        1,
        |args, _| args[0].ty.clone().passed_on().computed(),
        |args| Ok(args.value(0)?.into_owned()),
    ),
];

/// Not by name: see [`super::own_number`]. Like any text's number it is a DOUBLE.
pub(super) static OWN_NUMBER: FunctionInfo = line("own number", 1, 1, own_number_type, |args| {
    let (value, own) = args.args[0].eval_own(args.row, args.ctx)?;
    let number = own.ty.origin.as_ref().and_then(|origin| choice_number(origin, &value));
    let number = match (number, value.as_bytes()) {
        (Some(Value::UInt(number)), _) => Some(number as f64),
        (_, Some(text)) if own.is_read_silently() => Some(types::number::parse_f64(text).0),
        _ => coerce::to_f64(&value, args.ctx)?,
    };
    Ok(number.map_or(Value::Null, Value::Double))
});

/// Not by name: see [`super::copied`]. The type's origin is the column's.
pub(super) static COPIED: FunctionInfo = line(
    "copied",
    1,
    1,
    |args, _| args[0].ty.clone(),
    |args| {
        let (value, from) = (args.value(0)?.into_owned(), &args.args[0]);
        let to = args.ty.origin.as_ref();
        let copied = to.and_then(|to| Copied::by_dml(&from.ty, to, from.as_column().is_some()));
        Ok(match copied {
            Some(copied) => copied.value(value),
            None => value,
        })
    },
);

/// Not by name: see [`super::year_beside`].
pub(super) static YEAR_BESIDE: FunctionInfo = line("year beside", 1, 1, year_type, |args| {
    let value = args.value(0)?;
    Ok(year_of(&value).map_or_else(|| value.into_owned(), Value::Int))
});

/// Not by name: the same of a parameter, where a fraction is none of a year.
pub(super) static WHOLE_YEAR_BESIDE: FunctionInfo = line("whole year beside", 1, 1, year_type, |args| {
    let value = args.value(0)?;
    let is_whole = match &*value {
        Value::Decimal(n) => n.scale() == 0,
        Value::Double(n) => n.fract() == 0.0,
        Value::Str(text) | Value::Bytes(text) => text.trim_ascii().iter().all(u8::is_ascii_digit),
        _ => true,
    };
    let year = if is_whole { year_of(&value) } else { None };
    Ok(year.map_or_else(|| value.into_owned(), Value::Int))
});

fn year_type(args: &[Expr], _: &SessionInfo) -> ExprType {
    ExprType { origin: None, ..args[0].ty.clone() }
}

/// Not by name: see [`super::time_beside`]. The type is that of the column. Where fractions are cut (in the log of a MariaDB, that is) a
/// constant keeps its own, as there.
pub(super) static TIME_BESIDE: FunctionInfo = line(
    "time beside",
    1,
    1,
    |args, _| args[0].ty.clone(),
    |args| {
        let value = args.value(0)?;
        let is_cut = args.ctx.session.sql_mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL);
        let fsp = if is_cut { 6 } else { args.ty.decimals };
        Ok(crate::expr::beside::time_of(&value)
            .map_or_else(|| value.into_owned(), |parsed| Value::Time(parsed.rounded(fsp, is_cut))))
    },
);

fn own_number_type(args: &[Expr], _: &SessionInfo) -> ExprType {
    ExprType::of_kind(Kind::Double).nullable(args[0].ty.nullable)
}

/// Not by name: see [`super::coerced`].
pub(super) static COERCED: FunctionInfo = line(
    "coerced",
    1,
    1,
    |args, _| args[0].ty.clone(),
    |args| {
        let value = args.value(0)?.into_owned();
        coerce::to_type(value, &args.args[0].ty, args.ty, args.ctx)
    },
);

/// Not by name: see [`super::shown`].
pub(super) static SHOWN: FunctionInfo = line(
    "shown",
    1,
    1,
    |args, _| args[0].ty.clone(),
    |args| {
        let (value, _) = args.args[0].eval_shown(args.row, args.ctx)?;
        Ok(coerce::to_decimal(&value, args.ctx)?.map_or(Value::Null, Value::Decimal))
    },
);

/// Not by name: see [`super::stored`].
pub(super) static STORED: FunctionInfo = line(
    "stored",
    1,
    1,
    |args, _| args[0].ty.clone(),
    |args| {
        let is_text = args.ty.kind.is_string();
        let (value, from) = match is_text {
            true => args.args[0].eval_shown(args.row, args.ctx)?,
            false => (args.value(0)?, &args.args[0]),
        };
        stored::stored(value.into_owned(), from, args.ty, (args.row, args.ctx))
    },
);

/// Brings the arguments that a function may give back into one form.
pub(super) fn prepare(name: &str, mut args: Vec<Expr>) -> Vec<Expr> {
    let from = match (name, args.len()) {
        ("if", 3) => 1,
        ("ifnull" | "coalesce", _) => 0,
        _ => return args,
    };
    let ty = union_of(args[from..].iter().map(|arg| &arg.ty));
    if name == "if" {
        args[0] = condition_of_if(std::mem::replace(&mut args[0], Expr::null()));
    }
    let results = args.split_off(from);
    args.extend(results.into_iter().map(|arg| coerce_to(arg, &ty)));
    args
}

fn coalesced(args: &[Expr], _: &SessionInfo) -> ExprType {
    union_of(args.iter().map(|arg| &arg.ty)).nullable(args.iter().all(|arg| arg.ty.nullable))
}

fn coalesce(args: &Args<'_>) -> Result<Value, SqlError> {
    for at in 0..args.len() {
        let value = args.value(at)?;
        if !value.is_null() {
            return Ok(value.into_owned());
        }
    }
    Ok(Value::Null)
}

/// NULLIF's arguments as it is computed: `a = b`, and `a` again.
pub(super) fn compare_first(name: &str, args: Vec<Expr>) -> Result<Vec<Expr>, SqlError> {
    match <[Expr; 2]>::try_from(args) {
        Ok([a, b]) if name == "nullif" => {
            // A constant that is compared as a binary string is one.
            let is_literal = matches!(a.kind, ExprKind::Literal(_)) && a.ty.kind == Kind::Str;
            let is_binary = b.ty.kind == Kind::Bytes && aggregate_collations(&a.ty, &b.ty).0 == CollationId::BINARY;
            let a = if is_literal && is_binary { build::cast_to_bytes(a) } else { a };
            Ok(vec![build::compare(CompareOp::Eq, a.clone(), b)?, a])
        }
        Ok(args) => Ok(args.into()),
        Err(args) => Ok(args),
    }
}

/// What is a member of a list gives a text of fixed length, as in MySQL.
fn nullif_type(ty: &ExprType) -> ExprType {
    let is_member = is_member_list(ty);
    let ty = ExprType { utc: false, nullable: true, ..ty.clone() }.passed_on();
    // It gives a BIT of a column as one.
    let given = ExprType { coercibility: ty.coercibility, ..ty.computed() };
    ExprType { strings: if is_member { Strings::Fixed } else { given.strings }, ..given }
}

fn nullif(args: &Args<'_>) -> Result<Value, SqlError> {
    match args.truth(0)? {
        Some(true) => Ok(Value::Null),
        _ => Ok(args.value(1)?.into_owned()),
    }
}

fn extreme_type(args: &[Expr], _: &SessionInfo) -> ExprType {
    union_of(args.iter().map(|arg| &arg.ty)).nullable(args.iter().any(|arg| arg.ty.nullable))
}

/// Among dates, texts and numbers are dates too, and the result is a date's text.
fn extreme_date(args: &Args<'_>, wanted: Ordering) -> Result<Value, SqlError> {
    let has_time = args.args.iter().any(|arg| matches!(arg.ty.kind, Kind::Time | Kind::DateTime));
    let mut best: Option<DateTime> = None;
    for at in 0..args.len() {
        let value = args.value(at)?;
        if value.is_null() {
            return Ok(Value::Null);
        }
        let day = if has_time { None } else { day_of_number(&value, args)? };
        // What can be read as no date is warned of, and is neither the least nor the greatest.
        let Some(date) =
            day.map_or_else(|| coerce::to_datetime(&value, Allow::ZEROS, args.ctx), |day| Ok(Some(day)))?
        else {
            continue;
        };
        if best.is_none_or(|best| date.cmp(&best) == wanted) {
            best = Some(date);
        }
    }
    let best = some!(best);
    let text = match has_time {
        true => coerce::plain_text(
            &Value::DateTime(best),
            args.args.iter().map(|arg| fraction_of(arg, args.ctx.session)).max().unwrap_or(0),
        ),
        false => coerce::plain_text(&Value::Date(best.date), 0),
    };
    Ok(args.string(text))
}

/// Among dates alone a number is a date even if it has no month, or more days than its month.
fn day_of_number(value: &Value, args: &Args<'_>) -> Result<Option<DateTime>, SqlError> {
    let number = match value {
        Value::Int(_) | Value::UInt(_) => value.clone(),
        Value::Float(n) => Value::Double(f64::from(*n).trunc()),
        Value::Double(n) => Value::Double(n.trunc()),
        Value::Decimal(n) => n.rounded(0, Rounding::Truncate).map_or(Value::Null, Value::Decimal),
        _ => return Ok(None),
    };
    const DAYS_MAX: i128 = 31;
    Ok(match coerce::to_i128(&number, args.ctx)? {
        Some(day @ 0..=DAYS_MAX) => {
            let date = Date { year: 2000, month: 0, day: day as u8 };
            Some(DateTime { date, ..DateTime::ZERO })
        }
        _ => coerce::parse_datetime(&number, Allow::ALL).map(|parsed| parsed.value),
    })
}

fn extreme(args: &Args<'_>, wanted: Ordering) -> Result<Value, SqlError> {
    let is_date = |arg: &Expr| matches!(arg.ty.kind, Kind::Date | Kind::DateTime);
    if args.ty.kind.is_string() && args.args.iter().any(is_date) {
        return extreme_date(args, wanted);
    }
    let mut best: Option<Value> = None;
    for (at, arg) in args.args.iter().enumerate() {
        let value = args.value(at)?.into_owned();
        if value.is_null() {
            return Ok(Value::Null);
        }
        let value = coerce::to_type(value, &arg.ty, args.ty, args.ctx)?;
        let better = match &best {
            None => true,
            // Of texts that are equal GREATEST gives the last one.
            Some(best) => match compare(&value, best, args.ty.collation, args.ctx)? {
                Some(Ordering::Equal) => wanted == Ordering::Greater && args.ty.kind.is_string(),
                order => order == Some(wanted),
            },
        };
        if better {
            best = Some(value);
        }
    }
    Ok(best.unwrap_or(Value::Null))
}

fn strcmp(args: &Args<'_>) -> Result<Value, SqlError> {
    let (a, b) = (some!(args.text(0)?), some!(args.text(1)?));
    let collation = aggregate_collations(&args.args[0].ty, &args.args[1].ty).0;
    Ok(Value::Int(types::collation::compare(collation, &a, &b) as i64))
}

/// `INTERVAL(n, a, b, …)`: how many of the sorted numbers are at most n.
fn interval(args: &Args<'_>) -> Result<Value, SqlError> {
    let Some(n) = args.double(0)? else { return Ok(Value::Int(-1)) };
    for at in 1..args.len() {
        if args.double(at)?.is_some_and(|bound| bound > n) {
            return Ok(Value::Int(at as i64 - 1));
        }
    }
    Ok(Value::Int(args.len() as i64 - 1))
}
