//! Aggregates: COUNT, SUM, … over a group of rows.
//!
//! | aggregate | of integers and DECIMAL | of floats and text | of nothing |
//! |---|---|---|---|
//! | COUNT | BIGINT | BIGINT | 0 |
//! | SUM | DECIMAL, 22 more digits | DOUBLE | NULL |
//! | AVG | DECIMAL, `div_precision_increment` more after the point | DOUBLE | NULL |
//! | MIN, MAX | as the argument | as the argument | NULL |
//! | BIT_AND, BIT_OR, BIT_XOR | BIGINT UNSIGNED | | all ones, 0, 0 |
//! | STD, VARIANCE, … | DOUBLE | DOUBLE | NULL |
//! | JSON_ARRAYAGG, JSON_OBJECTAGG | JSON, no longer than a packet (3150) | | NULL |
//! | GROUP_CONCAT | text, cut at `group_concat_max_len` (1260) | | NULL |
//!
//! NULLs are not counted. Which rows come, and in what order, is the executor's affair: it leaves out what DISTINCT saw
//! before ([`Aggregate::key`]) and sorts for GROUP_CONCAT's ORDER BY, with files where memory is too small.

use std::borrow::Cow;
use std::cmp::Ordering;

use base::memory;
use base::{SqlError, codes};
use bytes::Bytes;
use types::{CollationId, Decimal, Json, Value};

use crate::charsets;
use crate::expr::bits::{self, BitsSoFar};
use crate::expr::build::{Mixed, agree, bytes_together, cast};
use crate::expr::coerce;
use crate::expr::context::{EvalContext, SessionInfo};
use crate::expr::tree::{CastType, Expr};
use crate::expr::types::{ExprType, Kind, aggregate_collations};
use crate::expr::{function, json, order};

/// Which aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "MySQL's own names")]
pub enum AggregateFunction {
    /// `COUNT(*)`, without arguments, or `COUNT(x)`, `COUNT(DISTINCT x, y)`.
    Count,
    Sum,
    Avg,
    Min,
    Max,
    GroupConcat,
    BitAnd,
    BitOr,
    BitXor,
    StdPop,
    StdSamp,
    VarPop,
    VarSamp,
    JsonArrayAgg,
    JsonObjectAgg,
}

impl AggregateFunction {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        NAMES.iter().find(|(_, function)| *function == self).map_or("", |(name, _)| name)
    }
}

/// One aggregate of a query block.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    /// Which.
    pub function: AggregateFunction,
    /// Arguments, over the rows of the group; none is `COUNT(*)`.
    pub args: Vec<Expr>,
    /// DISTINCT
    pub distinct: bool,
    /// ORDER BY of GROUP_CONCAT: expression and DESC.
    pub order_by: Vec<(Expr, bool)>,
    /// SEPARATOR of GROUP_CONCAT.
    pub separator: Bytes,
    /// Type of the result.
    pub ty: ExprType,
}

/// An aggregate's clauses besides its arguments.
#[derive(Clone, Debug, Default)]
pub struct AggregateClauses {
    /// DISTINCT
    pub distinct: bool,
    /// ORDER BY
    pub order_by: Vec<(Expr, bool)>,
    /// SEPARATOR
    pub separator: Option<Separator>,
}

/// SEPARATOR of GROUP_CONCAT as written.
#[derive(Clone, Debug)]
pub enum Separator {
    /// A text of the connection.
    Text(Bytes),
    /// Hexadecimal or binary digits: bytes in the character set of the result.
    Bytes(Bytes),
}

impl Separator {
    /// What stands between the values of a result of type `ty`.
    fn within(self, ty: &ExprType, session: &SessionInfo) -> Result<Bytes, SqlError> {
        Ok(match (self, ty.kind) {
            (Separator::Text(text), Kind::Bytes) => session.collation_connection.charset().encode_shared(&text),
            (Separator::Text(same), _) | (Separator::Bytes(same), Kind::Bytes) => same,
            (Separator::Bytes(bytes), _) => charsets::text_of(&bytes, ty.collation.charset())?.into_owned().into(),
        })
    }
}

/// What an aggregate has seen of one group.
#[derive(Clone, Debug)]
pub struct AggregateState(pub(super) SoFar);

#[derive(Clone, Debug)]
pub(super) enum SoFar {
    Count(u64),
    /// Sum of exact numbers: in units of the argument's last digit, and what does not fit there.
    Exact {
        units: i128,
        decimals: Decimal,
        count: u64,
    },
    Double {
        sum: f64,
        count: u64,
    },
    /// MIN, MAX.
    One(Option<Value>),
    Bits(BitsSoFar),
    /// Count, mean and sum of squared distances from it (Welford).
    Variance {
        count: u64,
        mean: f64,
        squares: f64,
    },
    /// GROUP_CONCAT: of so many rows, and whether it has reached its end (`group_concat_max_len`).
    Text {
        joined: Vec<u8>,
        rows: u64,
        cut: bool,
    },
    /// JSON_ARRAYAGG, JSON_OBJECTAGG: the elements, or keys and values, and their size.
    Json {
        elements: Vec<(String, Json)>,
        bytes: u64,
    },
}

const NAMES: [(&str, AggregateFunction); 18] = {
    use AggregateFunction::*;
    [
        ("json_arrayagg", JsonArrayAgg),
        ("json_objectagg", JsonObjectAgg),
        ("count", Count),
        ("sum", Sum),
        ("avg", Avg),
        ("min", Min),
        ("max", Max),
        ("group_concat", GroupConcat),
        ("bit_and", BitAnd),
        ("bit_or", BitOr),
        ("bit_xor", BitXor),
        ("std", StdPop),
        ("stddev", StdPop),
        ("stddev_pop", StdPop),
        ("stddev_samp", StdSamp),
        ("var_pop", VarPop),
        ("variance", VarPop),
        ("var_samp", VarSamp),
    ]
};

fn by_name(name: &str) -> Option<AggregateFunction> {
    let is = |other: &&(&str, AggregateFunction)| name.eq_ignore_ascii_case(other.0);
    NAMES.iter().find(is).map(|(_, function)| *function)
}

/// Whether this is the name of an aggregate (any case).
pub fn is_aggregate(name: &str) -> bool {
    by_name(name).is_some()
}

/// 1064, since MySQL's grammar knows how many arguments each of them has.
pub(crate) fn wrong_argument_count(name: &str) -> SqlError {
    let message = format!("Incorrect parameter count in the call to native function '{name}'");
    SqlError::new(codes::PARSE_ERROR, message)
}

impl Aggregate {
    /// The aggregate of that name.
    pub fn resolve(
        name: &str,
        args: Vec<Expr>,
        clauses: AggregateClauses,
        session: &SessionInfo,
    ) -> Result<Aggregate, SqlError> {
        let does_not_exist = || SqlError::new(codes::SP_DOES_NOT_EXIST, format!("FUNCTION {name} does not exist"));
        let function = by_name(name).ok_or_else(does_not_exist)?;
        let count_is_right = match function {
            AggregateFunction::Count => args.len() <= 1 || clauses.distinct,
            AggregateFunction::GroupConcat => !args.is_empty(),
            AggregateFunction::JsonObjectAgg => args.len() == 2,
            _ => args.len() == 1,
        };
        if !count_is_right {
            return Err(wrong_argument_count(name));
        }
        let takes_numbers = !matches!(
            function,
            AggregateFunction::Count
                | AggregateFunction::Min
                | AggregateFunction::Max
                | AggregateFunction::GroupConcat
                | AggregateFunction::JsonArrayAgg
                | AggregateFunction::JsonObjectAgg
        );
        let is_of_bits =
            matches!(function, AggregateFunction::BitAnd | AggregateFunction::BitOr | AggregateFunction::BitXor);
        let form = if is_of_bits { bits::argument } else { crate::expr::build::numeric_arg };
        let mut args: Vec<Expr> = if takes_numbers { args.into_iter().map(form).collect() } else { args };
        if let (AggregateFunction::Sum | AggregateFunction::Avg, true, [arg]) =
            (function, clauses.distinct, &mut args[..])
            && arg.ty.kind.is_string()
        {
            // The numbers are distinct, whatever their texts are.
            *arg = cast(std::mem::replace(arg, Expr::null()), CastType::Double, CollationId::BINARY)?;
        }
        if let (AggregateFunction::Min | AggregateFunction::Max, [arg]) = (function, &args[..]) {
            agree(&[&arg.ty, &arg.ty], &name.to_ascii_lowercase(), Mixed::Refused)?;
        }
        if function == AggregateFunction::GroupConcat {
            args = args.into_iter().map(function::bits_as_bytes).collect();
            bytes_together(&mut args);
            let types: Vec<&ExprType> = args.iter().map(|arg| &arg.ty).collect();
            agree(&types, "group_concat", Mixed::Allowed)?;
        }
        let ty = infer(function, &args, session)?;
        // DISTINCT changes nothing in these, and would only remember all values.
        let distinct = clauses.distinct && !matches!(function, AggregateFunction::Min | AggregateFunction::Max);
        let separator = clauses.separator.unwrap_or(Separator::Text(Bytes::from_static(b",")));
        let separator = separator.within(&ty, session)?;
        let mut order_by = clauses.order_by;
        if distinct && order_by.is_empty() && function == AggregateFunction::GroupConcat {
            // Values of which each is there once come in their own order, as from the tree in which MySQL keeps them.
            order_by = args.iter().map(|arg| (arg.clone(), false)).collect();
        }
        Ok(Aggregate { function, args, distinct, order_by, separator, ty })
    }

    /// Whether what it holds of a group grows with the group's rows, so that few groups should be open at once.
    pub fn grows(&self) -> bool {
        use AggregateFunction::{GroupConcat, JsonArrayAgg, JsonObjectAgg};
        self.distinct || matches!(self.function, GroupConcat | JsonArrayAgg | JsonObjectAgg)
    }

    /// The order of two values for MIN and MAX: of members of an ENUM or SET that of their texts, though what is found is a member.
    pub(super) fn order(&self, value: &Value, best: &Value) -> Ordering {
        match (value, best) {
            (Value::Str(value), Value::Str(best)) => types::collation::compare(self.ty.collation, value, best),
            _ => order::compare(&self.ty, value, best),
        }
    }

    /// An empty group.
    pub fn start(&self) -> AggregateState {
        use AggregateFunction::*;
        let so_far = match self.function {
            Count => SoFar::Count(0),
            Sum | Avg if self.ty.kind == Kind::Decimal => SoFar::Exact { units: 0, decimals: Decimal::ZERO, count: 0 },
            Sum | Avg => SoFar::Double { sum: 0.0, count: 0 },
            Min | Max => SoFar::One(None),
            BitAnd | BitOr | BitXor => SoFar::Bits(BitsSoFar::start(self.function, &self.ty)),
            StdPop | StdSamp | VarPop | VarSamp => SoFar::Variance { count: 0, mean: 0.0, squares: 0.0 },
            GroupConcat => SoFar::Text { joined: Vec::new(), rows: 0, cut: false },
            JsonArrayAgg | JsonObjectAgg => SoFar::Json { elements: Vec::new(), bytes: 0 },
        };
        AggregateState(so_far)
    }

    /// Takes in a row.
    pub fn add(&self, state: &mut AggregateState, row: &[Value], ctx: &EvalContext<'_>) -> Result<(), SqlError> {
        if let (SoFar::Count(count), []) = (&mut state.0, &self.args[..]) {
            *count += 1;
            return Ok(());
        }
        memory::check()?;
        if let SoFar::Text { joined, rows, cut } = &mut state.0 {
            return if *cut { Ok(()) } else { self.add_text(joined, rows, cut, row, ctx) };
        }
        if let SoFar::Json { elements, bytes } = &mut state.0 {
            return self.add_json(elements, bytes, row, ctx);
        }
        match self.counted(row, ctx)? {
            Some(value) => self.add_value(&mut state.0, &value, ctx),
            None => Ok(()),
        }
    }

    /// The first argument of a row that counts.
    fn counted<'r>(&'r self, row: &'r [Value], ctx: &EvalContext<'r>) -> Result<Option<Cow<'r, Value>>, SqlError> {
        let value = self.args[0].eval_ref(row, ctx)?;
        if value.is_null() {
            return Ok(None);
        }
        for other in &self.args[1..] {
            if other.eval_ref(row, ctx)?.is_null() {
                return Ok(None);
            }
        }
        Ok(Some(value))
    }

    /// Takes a row away that was taken in, of what is exact: COUNT, sums of exact numbers, BIT_XOR of numbers.
    pub(super) fn take_away(
        &self,
        state: &mut AggregateState,
        row: &[Value],
        ctx: &EvalContext<'_>,
    ) -> Result<(), SqlError> {
        if let (SoFar::Count(count), []) = (&mut state.0, &self.args[..]) {
            *count -= 1;
            return Ok(());
        }
        let Some(value) = self.counted(row, ctx)? else { return Ok(()) };
        match &mut state.0 {
            SoFar::Count(count) => *count -= 1,
            SoFar::Exact { units, decimals, count } => {
                *count -= 1;
                match self.units(&value).and_then(|n| units.checked_sub(n)) {
                    Some(less) => *units = less,
                    None => {
                        let n = coerce::to_decimal(&value, ctx)?.unwrap_or_default();
                        *decimals = decimals.subtract(&n).ok_or_else(too_great)?;
                    }
                }
            }
            // What was added twice is not there.
            SoFar::Bits(bits) => bits.add(self.function, &self.args[0], &value, ctx)?,
            _ => {}
        }
        Ok(())
    }

    /// Appends equal bytes for rows that are the same to DISTINCT; false for a row that does not count.
    pub fn key(&self, row: &[Value], ctx: &EvalContext<'_>, key: &mut Vec<u8>) -> Result<bool, SqlError> {
        for arg in &self.args {
            let value = arg.eval_ref(row, ctx)?;
            if value.is_null() {
                return Ok(false);
            }
            order::encode(&arg.ty, &value, false, key);
        }
        Ok(true)
    }

    /// Where the row comes in the ORDER BY, as bytes in that order.
    pub fn sort_key(&self, row: &[Value], ctx: &EvalContext<'_>) -> Result<Vec<u8>, SqlError> {
        let mut key = Vec::new();
        for (expr, descending) in &self.order_by {
            order::encode(&expr.ty, &*expr.eval_ref(row, ctx)?, *descending, &mut key);
        }
        Ok(key)
    }

    /// Whether no further row can change the result.
    pub fn is_complete(&self, state: &AggregateState) -> bool {
        matches!(state.0, SoFar::Text { cut: true, .. })
    }

    fn add_value(&self, so_far: &mut SoFar, value: &Value, ctx: &EvalContext<'_>) -> Result<(), SqlError> {
        match so_far {
            SoFar::Count(count) => *count += 1,
            SoFar::Exact { units, decimals, count } => {
                *count += 1;
                match self.units(value).and_then(|n| units.checked_add(n)) {
                    Some(more) => *units = more,
                    None => {
                        let n = coerce::to_decimal(value, ctx)?.unwrap_or_default();
                        *decimals = decimals.add(&n).ok_or_else(too_great)?;
                    }
                }
            }
            SoFar::Double { sum, count } => {
                *sum += coerce::to_f64(value, ctx)?.unwrap_or(0.0);
                *count += 1;
            }
            SoFar::One(best) => {
                if best.as_ref().is_none_or(|best| self.prefers(self.order(value, best))) {
                    *best = Some(value.clone());
                }
            }
            SoFar::Bits(bits) => bits.add(self.function, &self.args[0], value, ctx)?,
            SoFar::Variance { count, mean, squares } => {
                let n = coerce::to_f64(value, ctx)?.unwrap_or(0.0);
                *count += 1;
                let distance = n - *mean;
                *mean += distance / *count as f64;
                *squares += distance * (n - *mean);
            }
            SoFar::Text { .. } | SoFar::Json { .. } => {}
        }
        Ok(())
    }

    fn add_text(
        &self,
        joined: &mut Vec<u8>,
        rows: &mut u64,
        cut: &mut bool,
        row: &[Value],
        ctx: &EvalContext<'_>,
    ) -> Result<(), SqlError> {
        let before = joined.len();
        if *rows > 0 {
            joined.extend_from_slice(&self.separator);
        }
        for arg in &self.args {
            let value = arg.eval_ref(row, ctx)?;
            if value.is_null() {
                joined.truncate(before);
                return Ok(());
            }
            let text = coerce::text(&value, &arg.ty);
            memory::check_room(joined, text.len())?;
            joined.extend_from_slice(&text);
        }
        *rows += 1;
        let max = ctx.session.group_concat_max_len as usize;
        if joined.len() > max {
            let message = format!("Row {rows} was cut by GROUP_CONCAT()");
            if ctx.strict {
                return Err(SqlError::new(codes::CUT_VALUE_GROUP_CONCAT, message));
            }
            ctx.warn(codes::CUT_VALUE_GROUP_CONCAT, message);
            let valid = std::str::from_utf8(&joined[..max]).map_or_else(|error| error.valid_up_to(), str::len);
            joined.truncate(valid);
            *cut = true;
        }
        Ok(())
    }

    /// NULLs count; a document is at most as long as a packet.
    fn add_json(
        &self,
        elements: &mut Vec<(String, Json)>,
        bytes: &mut u64,
        row: &[Value],
        ctx: &EvalContext<'_>,
    ) -> Result<(), SqlError> {
        let (key, value) = match &self.args[..] {
            [key, value] => {
                let name = key.eval_ref(row, ctx)?;
                if name.is_null() {
                    return Err(function::json::null_key());
                }
                (String::from_utf8_lossy(&coerce::text(&name, &key.ty)).into_owned(), value)
            }
            [value, ..] => (String::new(), value),
            [] => return Ok(()),
        };
        let evaluated = value.eval_ref(row, ctx)?;
        const OF_AN_ENTRY: usize = 8;
        *bytes += (key.len() + evaluated.as_bytes().map_or(OF_AN_ENTRY, |bytes| bytes.len())) as u64;
        if let Value::Json(binary) = &*evaluated {
            *bytes += binary.len() as u64;
        }
        if *bytes > ctx.session.max_allowed_packet {
            return Err(json::error(types::json::JsonError::TooLong));
        }
        elements.push((key, function::json::json_of(&evaluated, value)?));
        Ok(())
    }

    /// 1690
    fn out_of_range(&self) -> SqlError {
        let function = match self.function {
            AggregateFunction::StdPop => "std",
            AggregateFunction::StdSamp => "stddev_samp",
            AggregateFunction::VarSamp => "var_samp",
            _ => "variance",
        };
        let message = format!("DOUBLE value is out of range in '{function}()'");
        SqlError::new(codes::DATA_OUT_OF_RANGE, message)
    }

    /// The result for the group.
    pub fn finish(&self, state: AggregateState) -> Result<Value, SqlError> {
        use AggregateFunction::*;
        Ok(match state.0 {
            SoFar::Count(count) => Value::Int(count as i64),
            SoFar::Exact { count: 0, .. } | SoFar::Double { count: 0, .. } => Value::Null,
            SoFar::Exact { units, decimals, count } => {
                let units = Decimal::from_units(units, self.scale_of_sum()).ok_or_else(too_great)?;
                let sum = units.add(&decimals).ok_or_else(too_great)?;
                let result = match self.function {
                    Avg => sum.divide(&Decimal::from(count), self.ty.decimals),
                    _ => sum.rounded(self.ty.decimals, types::decimal::Rounding::HalfUp),
                };
                Value::Decimal(result.ok_or_else(too_great)?)
            }
            SoFar::Double { sum, count } => Value::Double(if self.function == Avg { sum / count as f64 } else { sum }),
            SoFar::One(value) => value.unwrap_or(Value::Null),
            SoFar::Bits(bits) => bits.finish(self.function, &self.ty),
            SoFar::Variance { count, squares, .. } => {
                let divisor = count as f64 - matches!(self.function, StdSamp | VarSamp) as u8 as f64;
                let variance = squares / divisor;
                match self.function {
                    _ if divisor <= 0.0 => Value::Null,
                    _ if !variance.is_finite() => return Err(self.out_of_range()),
                    StdPop | StdSamp => Value::Double(variance.sqrt()),
                    _ => Value::Double(variance),
                }
            }
            SoFar::Json { elements, .. } if elements.is_empty() => Value::Null,
            SoFar::Json { elements, .. } if self.function == JsonObjectAgg => {
                json::value(&Json::Object(types::json::Object::from_members(elements)))?
            }
            SoFar::Json { elements, .. } => {
                json::value(&Json::Array(elements.into_iter().map(|(_, value)| value).collect()))?
            }
            SoFar::Text { rows: 0, .. } => Value::Null,
            SoFar::Text { joined, .. } if self.ty.kind == Kind::Bytes => Value::Bytes(joined.into()),
            SoFar::Text { joined, .. } => Value::Str(joined.into()),
        })
    }
}

fn infer(function: AggregateFunction, args: &[Expr], session: &SessionInfo) -> Result<ExprType, SqlError> {
    use AggregateFunction::*;
    const MORE_DIGITS_OF_SUM: u32 = 22;
    let arg = args.first().map(|arg| &arg.ty);
    let is_exact = arg.is_some_and(|ty| {
        ty.kind.is_integer() || ty.kind.is_temporal() || matches!(ty.kind, Kind::Decimal | Kind::Null)
    });
    let digits = arg.map_or(0, |ty| ty.int_digits() + ty.decimals as u32);
    let scale = arg.map_or(0, |ty| if is_exact { ty.decimals } else { 0 });
    Ok(match function {
        Count => ExprType { length: 21, ..ExprType::of_kind(Kind::Int) }.nullable(false),
        Sum if is_exact => ExprType::decimal(digits + MORE_DIGITS_OF_SUM, scale),
        Avg if is_exact => {
            let more = session.div_precision_increment;
            ExprType::decimal(digits + more as u32, scale + more)
        }
        Sum => ExprType::double(arg.map_or(0, ExprType::decimals_of_double)),
        Avg => {
            let decimals = arg.map_or(0, ExprType::decimals_of_double);
            ExprType::double(decimals.saturating_add(session.div_precision_increment))
        }
        StdPop | StdSamp | VarPop | VarSamp => ExprType::of_kind(Kind::Double),
        BitAnd | BitOr | BitXor => {
            let of = arg.cloned().unwrap_or_else(|| ExprType::of_kind(Kind::Null));
            bits::aggregate_type(&of)?
        }
        Min | Max => {
            let ty = arg.cloned().unwrap_or_else(|| ExprType::of_kind(Kind::Null)).nullable(true);
            if ty.kind == Kind::Json { ExprType::json() } else { ty }
        }
        JsonArrayAgg | JsonObjectAgg => ExprType::json(),
        GroupConcat => {
            // In bytes; so many characters if each takes one.
            let length = u32::try_from(session.group_concat_max_len).unwrap_or(u32::MAX);
            let collation = args.iter().fold(None::<ExprType>, |all, arg| match all {
                None => Some(arg.ty.clone()),
                Some(all) => {
                    let (collation, coercibility) = aggregate_collations(&all, &arg.ty);
                    Some(ExprType { collation, coercibility, kind: Kind::Str, ..all })
                }
            });
            let ty = match collation.filter(|ty| ty.kind.is_string()) {
                Some(ty) if args.iter().any(|arg| arg.ty.kind == Kind::Bytes) => {
                    ExprType { coercibility: ty.coercibility, ..ExprType::bytes(length) }
                }
                Some(ty) => ExprType { coercibility: ty.coercibility, ..ExprType::text(length, ty.collation) },
                // Numbers alone.
                None => ExprType::text(length, session.collation_connection),
            };
            ty.nullable(true)
        }
    })
}

/// 1690
pub(super) fn too_great() -> SqlError {
    SqlError::new(codes::DATA_OUT_OF_RANGE, "DECIMAL value is out of range in 'sum'")
}
