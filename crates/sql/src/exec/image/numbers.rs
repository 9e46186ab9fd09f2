//! Exact numbers that are computed of images, in units of their last digit.

use types::{ColumnType, TypeError, Value};

use crate::exec::image::ImageOf;
use crate::exec::image::compile::Compiler;
use crate::expr::{ArithmeticOp, Expr, ExprKind, Kind};

/// Most digits after the point of a product that is exact.
const SCALE_MAX: u8 = types::decimal::MAX_SCALE;

/// Digits of the longest integer.
const DIGITS_OF_BIGINT: u32 = 20;
/// Of ten thousand million numbers with so many digits the sum fits.
const DIGITS_TO_SUM: u32 = 28;

/// What makes a number.
pub(crate) struct Number {
    kind: NumberKind,
    /// Digits after the point.
    scale: u8,
    /// Digits that it has at most.
    digits: u32,
}

enum NumberKind {
    Column(usize),
    Constant(i128),
    /// Sides with what each is multiplied by, so that both have one scale.
    Add(Box<[(Number, i128); 2]>),
    Subtract(Box<[(Number, i128); 2]>),
    Multiply(Box<[Number; 2]>),
    /// The same with more digits after the point.
    Scaled(Box<Number>, i128),
}

/// A number, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Units {
    Null,
    Number(i128),
    /// It does not fit: the expression has to say what it is.
    TooGreat,
}

impl Number {
    /// The number that an expression is, in units of `scale` digits after the point, if it can be said so. Integers are computed in the
    /// domain of DECIMAL only where the expression does.
    pub(crate) fn new(expr: &Expr, scale: u8, compiler: &Compiler<'_>) -> Option<Number> {
        let number = Number::of(expr, compiler)?;
        let more = scale.checked_sub(number.scale)?;
        let digits = number.digits + u32::from(more);
        let kind = NumberKind::Scaled(Box::new(number), power(more)?);
        Some(Number { kind, scale, digits })
    }

    fn of(expr: &Expr, compiler: &Compiler<'_>) -> Option<Number> {
        if let Some(place) = compiler.place(expr) {
            let is_number = !matches!(compiler.of.def(place).ty, ColumnType::Year);
            let scale = compiler.of.field(place).scale_of_units().filter(|_| is_number)?;
            let digits = match compiler.of.def(place).ty {
                ColumnType::Decimal { precision, .. } => precision.into(),
                _ => DIGITS_OF_BIGINT,
            };
            return Some(Number { kind: NumberKind::Column(place), scale, digits });
        }
        if let ExprKind::Arithmetic { op, args } = &expr.kind
            && expr.ty.kind == Kind::Decimal
            && matches!(op, ArithmeticOp::Add | ArithmeticOp::Subtract | ArithmeticOp::Multiply)
        {
            let sides = [Number::of(&args[0], compiler)?, Number::of(&args[1], compiler)?];
            return Number::computed(*op, sides);
        }
        let (units, scale) = match compiler.constant(expr)? {
            Value::Int(n) => (n.into(), 0),
            Value::UInt(n) => (n.into(), 0),
            Value::Decimal(n) => (n.units(n.scale())?, n.scale()),
            _ => return None,
        };
        let digits = units.unsigned_abs().checked_ilog10().map_or(1, |more| more + 1);
        Some(Number { kind: NumberKind::Constant(units), scale, digits })
    }

    fn computed(op: ArithmeticOp, sides: [Number; 2]) -> Option<Number> {
        if op == ArithmeticOp::Multiply {
            let scale = sides[0].scale.checked_add(sides[1].scale).filter(|scale| *scale <= SCALE_MAX)?;
            let digits = sides[0].digits + sides[1].digits;
            return Some(Number { kind: NumberKind::Multiply(Box::new(sides)), scale, digits });
        }
        let scale = sides[0].scale.max(sides[1].scale);
        let digits = sides.iter().map(|side| side.digits + u32::from(scale - side.scale)).max()? + 1;
        let [left, right] = sides;
        let factors = (power(scale - left.scale)?, power(scale - right.scale)?);
        let sides = Box::new([(left, factors.0), (right, factors.1)]);
        let kind = if op == ArithmeticOp::Add { NumberKind::Add(sides) } else { NumberKind::Subtract(sides) };
        Some(Number { kind, scale, digits })
    }

    /// Whether a sum of so many of them that no table has as many fits.
    pub(crate) fn sums_fit(&self) -> bool {
        self.digits <= DIGITS_TO_SUM
    }

    /// Its value for an image.
    pub(crate) fn units(&self, of: &ImageOf, image: &[u8]) -> Result<Units, TypeError> {
        let both = |sides: &[(Number, i128); 2], compute: fn(i128, i128) -> Option<i128>| {
            let (left, right) = (sides[0].0.units(of, image)?, sides[1].0.units(of, image)?);
            Ok(combine(left, right, |left, right| {
                compute(left.checked_mul(sides[0].1)?, right.checked_mul(sides[1].1)?)
            }))
        };
        match &self.kind {
            NumberKind::Column(place) => Ok(of.field(*place).units(image)?.map_or(Units::Null, Units::Number)),
            NumberKind::Constant(units) => Ok(Units::Number(*units)),
            NumberKind::Add(sides) => both(sides, i128::checked_add),
            NumberKind::Subtract(sides) => both(sides, i128::checked_sub),
            NumberKind::Multiply(sides) => {
                Ok(combine(sides[0].units(of, image)?, sides[1].units(of, image)?, i128::checked_mul))
            }
            NumberKind::Scaled(number, more) => {
                Ok(combine(number.units(of, image)?, Units::Number(*more), i128::checked_mul))
            }
        }
    }
}

fn combine(left: Units, right: Units, compute: impl Fn(i128, i128) -> Option<i128>) -> Units {
    match (left, right) {
        (Units::TooGreat, _) | (_, Units::TooGreat) => Units::TooGreat,
        (Units::Null, _) | (_, Units::Null) => Units::Null,
        (Units::Number(left), Units::Number(right)) => compute(left, right).map_or(Units::TooGreat, Units::Number),
    }
}

fn power(digits: u8) -> Option<i128> {
    10i128.checked_pow(digits.into())
}
