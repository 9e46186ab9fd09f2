//! Window functions: which there are, what they take, and what type they give.
//!
//! | function | of a row gives | type |
//! |---|---|---|
//! | ROW_NUMBER, RANK, DENSE_RANK, NTILE | where it stands in its partition | BIGINT UNSIGNED |
//! | PERCENT_RANK, CUME_DIST | the same as a part of the whole | DOUBLE |
//! | LAG, LEAD | the value of a row before or behind it, or another one if there is no such row | that holds both |
//! | FIRST_VALUE, LAST_VALUE, NTH_VALUE | the value of a row of its frame | as the argument |
//! | MariaDB's MEDIAN, PERCENTILE_CONT | what is between two values of the partition | DOUBLE with ten digits |
//! | PERCENTILE_DISC | a value of the partition | as the argument |
//! | an aggregate | the aggregate over its frame | the aggregate's |
//!
//! MySQL keeps what they give in a table, so a member of an ENUM or SET is plain text, and a YEAR a number; of integers there are two kinds.

use base::{SqlError, codes};
use types::{ColumnType, Value};

use crate::expr::aggregate::{Aggregate, AggregateFunction, wrong_argument_count};
use crate::expr::build::{coerce_to, union_of};
use crate::expr::coerce;
use crate::expr::context::EvalContext;
use crate::expr::tree::Expr;
use crate::expr::types::{ExprType, Kind, Strings};

/// Which window function.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "MySQL's own names")]
pub(crate) enum WindowFunction {
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
    Ntile,
    Lag,
    Lead,
    FirstValue,
    LastValue,
    NthValue,
    /// MariaDB's, and its MEDIAN: between two values of the partition, or one of them.
    PercentileCont,
    PercentileDisc,
    /// An aggregate, over the rows of the frame.
    Aggregate(Aggregate),
}

/// A call of a window function.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WindowCall {
    /// Which.
    pub(crate) function: WindowFunction,
    /// Over the rows of the window: the value, and LAG's and LEAD's default. Those of an aggregate are its own.
    args: Vec<Expr>,
    /// The number that NTILE, NTH_VALUE, LAG and LEAD take, the same for all rows.
    pub(crate) number: Option<Expr>,
    /// Type of the result.
    pub(crate) ty: ExprType,
}

const NAMES: [(&str, WindowFunction); 14] = [
    ("row_number", WindowFunction::RowNumber),
    ("rank", WindowFunction::Rank),
    ("dense_rank", WindowFunction::DenseRank),
    ("percent_rank", WindowFunction::PercentRank),
    ("cume_dist", WindowFunction::CumeDist),
    ("ntile", WindowFunction::Ntile),
    ("lag", WindowFunction::Lag),
    ("lead", WindowFunction::Lead),
    ("first_value", WindowFunction::FirstValue),
    ("last_value", WindowFunction::LastValue),
    ("nth_value", WindowFunction::NthValue),
    ("percentile_cont", WindowFunction::PercentileCont),
    ("percentile_disc", WindowFunction::PercentileDisc),
    ("median", WindowFunction::PercentileCont),
];

/// As MariaDB shows them.
const DIGITS_OF_PERCENTILE: u8 = 10;

/// The window function of that name (lower case) that is no aggregate.
pub(crate) fn by_name(name: &str) -> Option<WindowFunction> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, function)| function.clone())
}

impl WindowFunction {
    /// As error messages name it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            WindowFunction::Aggregate(aggregate) => aggregate.function.name(),
            _ => NAMES.iter().find(|(_, function)| function == self).map_or("", |(name, _)| name),
        }
    }

    /// Whether it looks at its frame; the others look at the whole partition.
    pub(crate) fn is_framed(&self) -> bool {
        use WindowFunction::{Aggregate, FirstValue, LastValue, NthValue};
        matches!(self, Aggregate(_) | FirstValue | LastValue | NthValue)
    }

    /// Which of the arguments is the number that is the same for all rows.
    pub(crate) fn number_at(&self) -> Option<usize> {
        use WindowFunction::{Lag, Lead, NthValue, Ntile};
        match self {
            Ntile => Some(0),
            Lag | Lead | NthValue => Some(1),
            _ => None,
        }
    }

    fn takes(&self) -> std::ops::RangeInclusive<usize> {
        use WindowFunction::{FirstValue, Lag, LastValue, Lead, NthValue, Ntile, PercentileCont, PercentileDisc};
        match self {
            Ntile | FirstValue | LastValue => 1..=1,
            PercentileCont | PercentileDisc => 2..=2,
            NthValue => 2..=2,
            Lag | Lead => 1..=3,
            _ => 0..=0,
        }
    }
}

impl WindowCall {
    /// A call with what it was given, without the number.
    ///
    /// # Errors
    /// 1064 if there are too many or too few arguments.
    pub(crate) fn resolve(
        function: WindowFunction,
        args: Vec<Expr>,
        number: Option<Expr>,
    ) -> Result<WindowCall, SqlError> {
        use WindowFunction::{CumeDist, FirstValue, Lag, LastValue, Lead, NthValue};
        use WindowFunction::{PercentRank, PercentileCont, PercentileDisc};
        if !function.takes().contains(&(args.len() + usize::from(number.is_some()))) {
            return Err(wrong_argument_count(function.name()));
        }
        let (args, ty) = match function {
            PercentRank | CumeDist => (args, ExprType::of_kind(Kind::Double).nullable(false)),
            Lag | Lead => beside(args),
            PercentileCont => (args, ExprType::double(DIGITS_OF_PERCENTILE).nullable(true)),
            FirstValue | LastValue | NthValue | PercentileDisc => {
                let ty = args[0].ty.clone().nullable(true);
                (args, ty)
            }
            _ => (args, ExprType { length: 21, ..ExprType::of_kind(Kind::UInt) }.nullable(false)),
        };
        Ok(WindowCall { function, args, number, ty: kept(ty) })
    }

    /// An aggregate over a window.
    pub(crate) fn of_aggregate(aggregate: Aggregate) -> WindowCall {
        let ty = kept(aggregate.ty.clone());
        WindowCall { function: WindowFunction::Aggregate(aggregate), args: Vec::new(), number: None, ty }
    }

    /// What it reads of the rows of its window.
    pub(crate) fn args(&self) -> &[Expr] {
        match &self.function {
            WindowFunction::Aggregate(aggregate) => &aggregate.args,
            _ => &self.args,
        }
    }

    /// The same, to be changed.
    pub(crate) fn args_mut(&mut self) -> &mut [Expr] {
        match &mut self.function {
            WindowFunction::Aggregate(aggregate) => &mut aggregate.args,
            _ => &mut self.args,
        }
    }

    /// The arguments that are read of other rows than the one that is made: all but the default of LAG and LEAD.
    pub(crate) fn read_of_others_mut(&mut self) -> &mut [Expr] {
        let count = match self.function {
            WindowFunction::Aggregate(_) => usize::MAX,
            _ => 1,
        };
        let args = self.args_mut();
        let count = count.min(args.len());
        &mut args[..count]
    }

    /// The number that is the same for all rows: 1 if none is given to LAG and LEAD.
    ///
    /// # Errors
    /// 1210 for what is no such number.
    pub(crate) fn number(&self, ctx: &EvalContext<'_>) -> Result<u64, SqlError> {
        use WindowFunction::{PercentileCont, PercentileDisc};
        let is_share = matches!(self.function, PercentileCont | PercentileDisc);
        let Some(number) = self.number.as_ref().filter(|_| !is_share) else { return Ok(1) };
        let is_from_zero = matches!(self.function, WindowFunction::Lag | WindowFunction::Lead);
        let number = match number.eval(&[], ctx)? {
            Value::Int(n) => u64::try_from(n).ok(),
            Value::UInt(n) => i64::try_from(n).ok().map(|_| n),
            _ => None,
        };
        number.filter(|number| *number > 0 || is_from_zero).ok_or_else(|| {
            SqlError::new(codes::WRONG_ARGUMENTS, format!("Incorrect arguments to {}", self.function.name()))
        })
    }

    /// The part of a partition that a percentile is asked of; 0 for other functions.
    ///
    /// # Errors
    /// 4103 for what is not between 0 and 1, 4104 for what is no number.
    pub(crate) fn share(&self, ctx: &EvalContext<'_>) -> Result<f64, SqlError> {
        use WindowFunction::{PercentileCont, PercentileDisc};
        let (PercentileCont | PercentileDisc, Some(share)) = (&self.function, &self.number) else { return Ok(0.0) };
        let name = self.function.name();
        let value = share.eval(&[], ctx)?;
        let number = if value.as_bytes().is_some() { None } else { coerce::to_f64(&value, ctx)? };
        match number {
            Some(share) if (0.0..=1.0).contains(&share) => Ok(share),
            Some(_) => {
                let message = format!("Argument to the {name} function does not belong to the range [0,1]");
                Err(SqlError::new(codes::ARGUMENT_OUT_OF_RANGE, message))
            }
            None => {
                let message =
                    format!("{name} function only accepts arguments that can be converted to numerical types");
                Err(SqlError::new(codes::WRONG_TYPE_OF_ARGUMENT, message))
            }
        }
    }

    /// Whether its value in a row is known when the rows up to that one are.
    pub(crate) fn is_running(&self) -> bool {
        use WindowFunction::{CumeDist, Lag, Lead, Ntile, PercentRank, PercentileCont, PercentileDisc};
        !matches!(self.function, Ntile | PercentRank | CumeDist | Lag | Lead | PercentileCont | PercentileDisc)
    }
}

/// The arguments of LAG and LEAD as values of one type.
fn beside(args: Vec<Expr>) -> (Vec<Expr>, ExprType) {
    let types: Vec<&ExprType> = args.iter().map(|arg| &arg.ty).collect();
    let is_nullable = args.len() == 1 || args.iter().any(|arg| arg.ty.nullable);
    let ty = match &types[..] {
        [value] => ExprType { utc: false, ..(*value).clone() },
        _ => union_of(types),
    };
    let ty = ty.nullable(is_nullable);
    (args.into_iter().map(|arg| coerce_to(arg, &ty)).collect(), ty)
}

/// The type of a value that was kept in a table.
pub(crate) fn kept(ty: ExprType) -> ExprType {
    const INT_CHARS_MAX: u32 = 9;
    let ty = ExprType { utc: false, ..ty.passed_on() };
    let unsigned = ty.kind == Kind::UInt;
    let origin = match &ty.origin {
        Some(ColumnType::Bit { .. }) => ty.origin,
        _ if !ty.kind.is_integer() => ty.origin,
        _ if ty.length <= INT_CHARS_MAX => Some(ColumnType::Int { unsigned }),
        _ => Some(ColumnType::BigInt { unsigned }),
    };
    let strings = if ty.strings == Strings::Fixed { Strings::Varying } else { ty.strings };
    ExprType { origin, strings, ..ty }
}

/// 1235 for an aggregate that MySQL does not compute over windows.
pub(crate) fn check_aggregate(aggregate: &Aggregate) -> Result<(), SqlError> {
    if aggregate.function == AggregateFunction::GroupConcat {
        return Err(SqlError::not_supported("group_concat as window function"));
    }
    match aggregate.distinct {
        true => Err(SqlError::not_supported("<window function>(DISTINCT ..)")),
        false => Ok(()),
    }
}
