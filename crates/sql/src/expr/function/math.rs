//! Functions of numbers.

use base::{SqlError, codes};
use types::decimal::Rounding;
use types::{Value, value::NOT_FIXED};

use super::{Args, FunctionInfo, double, int, line, some};
use crate::expr::ArithmeticOp;
use crate::expr::arithmetic;
use crate::expr::coerce;
use crate::expr::context::{RandomState, SessionInfo};
use crate::expr::tree::{Constancy, Expr, ExprKind};
use crate::expr::types::{ExprType, Kind};

pub(super) static TABLE: &[FunctionInfo] = &[
    line("abs", 1, 1, |args, _| number_like(&args[0].ty), abs),
    line("ceil", 1, 1, |args, _| whole(&args[0].ty), |args| to_whole(args, Rounding::Ceiling)),
    line("ceiling", 1, 1, |args, _| whole(&args[0].ty), |args| to_whole(args, Rounding::Ceiling)),
    line("floor", 1, 1, |args, _| whole(&args[0].ty), |args| to_whole(args, Rounding::Floor)),
    line("round", 1, 2, rounded, |args| round(args, Rounding::HalfUp)),
    line("truncate", 2, 2, rounded, |args| round(args, Rounding::Truncate)),
    line(
        "mod",
        2,
        2,
        |args, session| arithmetic::infer(ArithmeticOp::Modulo, &args[0].ty, &args[1].ty, session),
        |args| arithmetic::eval(ArithmeticOp::Modulo, &*args.value(0)?, &*args.value(1)?, args.ty, args.ctx),
    ),
    line("sign", 1, 1, int, |args| {
        let n = some!(args.double(0)?);
        Ok(Value::Int(if n == 0.0 { 0 } else { n.signum() as i64 }))
    }),
    line("pow", 2, 2, double, pow),
    line("power", 2, 2, double, pow),
    line("sqrt", 1, 1, double, |args| of_double(args, |n| if n < 0.0 { f64::NAN } else { n.sqrt() })),
    line("exp", 1, 1, double, |args| of_double(args, f64::exp)),
    line("ln", 1, 1, double, |args| logarithm(args, 0, f64::ln)),
    line("log", 1, 2, double, log),
    line("log2", 1, 1, double, |args| logarithm(args, 0, f64::log2)),
    line("log10", 1, 1, double, |args| logarithm(args, 0, f64::log10)),
    line("sin", 1, 1, double, |args| of_double(args, f64::sin)),
    line("cos", 1, 1, double, |args| of_double(args, f64::cos)),
    line("tan", 1, 1, double, |args| of_double(args, f64::tan)),
    line("cot", 1, 1, double, |args| of_double(args, |n| 1.0 / n.tan())),
    line("asin", 1, 1, double, |args| of_double(args, f64::asin)),
    line("acos", 1, 1, double, |args| of_double(args, f64::acos)),
    line("atan", 1, 2, double, atan),
    line("atan2", 2, 2, double, atan),
    // Zero has no sign here.
    line("degrees", 1, 1, double, |args| of_double(args, |n| n.to_degrees() + 0.0)),
    line("radians", 1, 1, double, |args| of_double(args, |n| n.to_radians() + 0.0)),
    line(
        "pi",
        0,
        0,
        |_, _| ExprType { decimals: 6, length: 8, ..ExprType::of_kind(Kind::Double) }.nullable(false),
        |_| Ok(Value::Double(std::f64::consts::PI)),
    ),
    line("rand", 0, 1, |_, _| ExprType::of_kind(Kind::Double).nullable(false), rand).volatile(),
];

/// The type of a number that keeps its kind; text, dates and times become DOUBLE.
fn number_like(arg: &ExprType) -> ExprType {
    let ty = match arg.kind {
        Kind::Int | Kind::UInt | Kind::Decimal | Kind::Any => ExprType { origin: None, ..arg.clone() },
        Kind::Date | Kind::Time | Kind::DateTime => ExprType::double(arg.decimals),
        _ => ExprType::of_kind(Kind::Double),
    };
    ty.nullable(arg.nullable)
}

/// The type of what is rounded: dates and times are DOUBLE there, with as much of their fraction as that holds.
fn rounded_number(arg: &ExprType) -> ExprType {
    match arg.kind {
        Kind::Date | Kind::Time | Kind::DateTime => ExprType::of_kind(Kind::Double).nullable(arg.nullable),
        _ => number_like(arg),
    }
}

fn whole(arg: &ExprType) -> ExprType {
    let ty = match arg.kind {
        Kind::Decimal if arg.int_digits() < 18 => ExprType::of_kind(Kind::Int),
        Kind::Decimal => ExprType::decimal(arg.int_digits() + 1, 0),
        Kind::Int | Kind::UInt => ExprType::of_kind(arg.kind),
        _ => rounded_number(arg),
    };
    ty.nullable(arg.nullable)
}

fn rounded(args: &[Expr], _: &SessionInfo) -> ExprType {
    let mut ty = rounded_number(&args[0].ty);
    if ty.kind == Kind::Decimal {
        let places = places(args);
        let scale = places.map_or(ty.decimals as i64, |places| places.clamp(0, ty.decimals as i64)) as u8;
        ty = ExprType::decimal(ty.int_digits() + 1 + scale as u32, scale);
    }
    if ty.kind.is_integer() {
        // It may be rounded up to one digit more.
        ty = ExprType::of_kind(ty.kind);
    }
    ty.nullable(args.iter().any(|arg| arg.ty.nullable))
}

/// How many digits ROUND and TRUNCATE leave, if the statement says it.
fn places(args: &[Expr]) -> Option<i64> {
    match args.get(1).map(|arg| &arg.kind) {
        None => Some(0),
        Some(ExprKind::Literal(Value::Int(n))) => Some(*n),
        Some(ExprKind::Literal(Value::Str(text))) => i64::try_from(types::number::parse_integer(text).0).ok(),
        Some(ExprKind::Literal(Value::Decimal(n))) => n.to_i128().and_then(|n| i64::try_from(n).ok()),
        Some(_) => None,
    }
}

fn abs(args: &Args<'_>) -> Result<Value, SqlError> {
    let value = args.value(0)?;
    Ok(match &*value {
        Value::Int(n) => {
            let too_great =
                || SqlError::new(codes::DATA_OUT_OF_RANGE, format!("BIGINT value is out of range in 'abs({n})'"));
            Value::Int(n.checked_abs().ok_or_else(too_great)?)
        }
        Value::UInt(n) => Value::UInt(*n),
        Value::Decimal(n) => Value::Decimal(n.abs()),
        other => Value::Double(some!(coerce::to_f64(other, args.ctx)?).abs()),
    })
}

/// CEIL and FLOOR.
fn to_whole(args: &Args<'_>, rounding: Rounding) -> Result<Value, SqlError> {
    let value = args.value(0)?;
    Ok(match &*value {
        Value::Null => Value::Null,
        Value::Int(_) | Value::UInt(_) => value.into_owned(),
        Value::Decimal(n) => {
            let n = some!(n.rounded(0, rounding));
            match n.to_i128().and_then(|n| i64::try_from(n).ok()) {
                Some(n) if args.ty.kind != Kind::Decimal => Value::Int(n),
                _ => Value::Decimal(n),
            }
        }
        other => {
            let n = some!(coerce::to_f64(other, args.ctx)?);
            Value::Double(if rounding == Rounding::Floor { n.floor() } else { n.ceil() })
        }
    })
}

fn round(args: &Args<'_>, rounding: Rounding) -> Result<Value, SqlError> {
    let value = args.value(0)?;
    let places = some!(args.int_or(1, 0)?);
    let result = arithmetic::round(&value, places, rounding, args.ctx)?;
    Ok(match result {
        // A place that is only known now cannot change the column's scale.
        Value::Decimal(n) if args.ty.kind == Kind::Decimal && n.scale() < args.ty.decimals => {
            Value::Decimal(n.rounded(args.ty.decimals, Rounding::Truncate).unwrap_or(n))
        }
        other => other,
    })
}

fn of_double(args: &Args<'_>, function: fn(f64) -> f64) -> Result<Value, SqlError> {
    let n = some!(args.double(0)?);
    finite(function(n), args)
}

/// NULL for what is no number; 1690 for what is too great.
fn finite(n: f64, args: &Args<'_>) -> Result<Value, SqlError> {
    if n.is_nan() {
        return Ok(Value::Null);
    }
    if n.is_infinite() {
        let shown: Vec<String> = (0..args.len())
            .map(|at| {
                args.value(at).map(|value| String::from_utf8_lossy(&coerce::plain_text(&value, NOT_FIXED)).into_owned())
            })
            .collect::<Result<_, _>>()?;
        let message = format!("DOUBLE value is out of range in '{}({})'", args.name, shown.join(","));
        return Err(SqlError::new(codes::DATA_OUT_OF_RANGE, message));
    }
    Ok(Value::Double(n))
}

fn pow(args: &Args<'_>) -> Result<Value, SqlError> {
    let (base, exponent) = (some!(args.double(0)?), some!(args.double(1)?));
    finite(base.powf(exponent), args)
}

/// 3020 and NULL for a logarithm of what has none.
fn logarithm(args: &Args<'_>, at: usize, function: fn(f64) -> f64) -> Result<Value, SqlError> {
    let n = some!(args.double(at)?);
    if n <= 0.0 {
        return no_logarithm(args);
    }
    Ok(Value::Double(function(n)))
}

fn no_logarithm(args: &Args<'_>) -> Result<Value, SqlError> {
    args.ctx.complain(codes::INVALID_ARGUMENT_FOR_LOGARITHM, "Invalid argument for logarithm".into())?;
    Ok(Value::Null)
}

fn log(args: &Args<'_>) -> Result<Value, SqlError> {
    if args.len() == 1 {
        return logarithm(args, 0, f64::ln);
    }
    match (logarithm(args, 0, f64::ln)?, logarithm(args, 1, f64::ln)?) {
        // That of 1 is none of a base.
        (Value::Double(0.0), Value::Double(_)) => no_logarithm(args),
        (Value::Double(base), Value::Double(n)) => Ok(Value::Double(n / base)),
        _ => Ok(Value::Null),
    }
}

fn atan(args: &Args<'_>) -> Result<Value, SqlError> {
    let y = some!(args.double(0)?);
    if args.len() == 1 {
        return Ok(Value::Double(y.atan()));
    }
    Ok(Value::Double(y.atan2(some!(args.double(1)?))))
}

const RANDOM_MAX: u64 = 0x3fff_ffff;

impl RandomState {
    fn of_seed(seed: u32) -> Self {
        let seed1 = seed.wrapping_mul(0x10001).wrapping_add(55_555_555) as u64 % RANDOM_MAX;
        let seed2 = seed.wrapping_mul(0x1000_0001) as u64 % RANDOM_MAX;
        RandomState { seed1: seed1 as u32, seed2: seed2 as u32 }
    }

    /// The next number from 0 up to but not including 1.
    fn next(&mut self) -> f64 {
        let seed1 = (self.seed1 as u64 * 3 + self.seed2 as u64) % RANDOM_MAX;
        let seed2 = (seed1 + self.seed2 as u64 + 33) % RANDOM_MAX;
        *self = RandomState { seed1: seed1 as u32, seed2: seed2 as u32 };
        seed1 as f64 / RANDOM_MAX as f64
    }
}

/// RAND() goes on through the session. Each RAND(n) of a statement has numbers of its own, which begin with the statement; where n differs
/// from row to row they begin anew for each row.
fn rand(args: &Args<'_>) -> Result<Value, SqlError> {
    let session = args.ctx.session;
    if let [seed] = args.args {
        let number = args.int(0)?.unwrap_or(0) as u32;
        if seed.constancy() > Constancy::Execution {
            return Ok(Value::Double(RandomState::of_seed(number).next()));
        }
        // The expression stays where it is while the statement is executed.
        let call = std::ptr::from_ref(seed) as usize;
        let mut states = session.seeded_random.lock();
        let state = states.entry(call).or_insert_with(|| RandomState::of_seed(number));
        return Ok(Value::Double(state.next()));
    }
    let mut state = session.random.lock();
    let state = state.get_or_insert_with(|| {
        let mut bytes = [0; 8];
        args.ctx.host.fill_random(&mut bytes);
        let seed = |at: usize| {
            (u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as u64 % RANDOM_MAX) as u32
        };
        RandomState { seed1: seed(0), seed2: seed(4) }
    });
    Ok(Value::Double(state.next()))
}
