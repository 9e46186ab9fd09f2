//! From conditions of a plan to conditions on images, when the values of parameters and outer rows are known.

use types::{CollationId, ColumnType, Value};

use crate::exec::image::ImageOf;
use crate::exec::image::conditions::{ImageCondition, TextOf, is_text};
use crate::exec::ranges::{Fit, fit};
use crate::expr::function::string;
use crate::expr::pattern::Pattern;
use crate::expr::{CompareOp, EvalContext, Expr, ExprKind, Kind, Warnings};

/// What conditions are compiled for.
pub(crate) struct Compiler<'a> {
    pub(crate) of: &'a ImageOf,
    /// Columns of the image: (position in it, slot), by slot.
    pub(crate) places: &'a [(usize, usize)],
    /// The row on top of which the images' values come.
    pub(crate) seed: &'a [Value],
    pub(crate) eval: &'a EvalContext<'a>,
}

/// Ends of ranges of ranks, both included.
type Ranges = Vec<(u64, u64)>;

const ALL: (u64, u64) = (0, u64::MAX);

impl Compiler<'_> {
    /// The condition (or where it is false, if not `wanted`), if it can be said of images.
    pub(crate) fn condition(&self, expr: &Expr, wanted: bool) -> Option<ImageCondition> {
        match &expr.kind {
            ExprKind::And(parts) | ExprKind::Or(parts) => {
                let conditions = parts.iter().map(|part| self.condition(part, wanted)).collect::<Option<_>>()?;
                let is_all = matches!(expr.kind, ExprKind::And(_)) == wanted;
                Some(if is_all { ImageCondition::All(conditions) } else { ImageCondition::Any(conditions) })
            }
            ExprKind::Not(arg) => self.condition(arg, !wanted),
            ExprKind::IsNull(arg) => Some(ImageCondition::Null { place: self.place(arg)?, wanted }),
            ExprKind::Compare { op, args } => self.comparison(*op, args, expr.ty.collation, wanted),
            ExprKind::Between { args } => self.between(args, wanted),
            ExprKind::In { value, list } => self.one_of(value, list, expr.ty.collation, wanted),
            ExprKind::Like { args, escape } => {
                let text = self.text(&args[0])?;
                let Value::Str(pattern) = self.constant(&args[1])? else { return None };
                let pattern = Box::new(Pattern::new(&pattern, *escape, expr.ty.collation));
                Some(ImageCondition::Like { text, pattern, wanted })
            }
            _ => None,
        }
    }

    /// The column's position in the image.
    pub(crate) fn place(&self, expr: &Expr) -> Option<usize> {
        let ExprKind::Column { slot, utc: false } = expr.kind else { return None };
        let at = self.places.iter().find(|(_, other)| *other == slot)?;
        Some(at.0)
    }

    /// The same of a text that is stored as it is compared, or of some of its characters.
    fn text(&self, expr: &Expr) -> Option<TextOf> {
        if let Some((column, skip, take)) = string::characters_of(expr) {
            let (skip, take) = (self.constant(skip)?, take.map(|take| self.constant(take)));
            let (Value::Int(from), take) = (skip, take.unwrap_or(Some(Value::Int(i64::MAX)))?) else { return None };
            let Value::Int(take) = take else { return None };
            let part = (usize::try_from(from).ok()?.checked_sub(1)?, usize::try_from(take).unwrap_or(0));
            let whole = self.text(column).filter(|text| text.part.is_none())?;
            return Some(TextOf { part: Some(part), ..whole });
        }
        let place = self.place(expr)?;
        (expr.ty.kind == Kind::Str && is_text(self.of.def(place))).then_some(TextOf { place, part: None })
    }

    /// The same of a column whose values are compared by their ranks with values of kinds that [`Compiler::fit`] takes.
    fn ranked(&self, expr: &Expr) -> Option<usize> {
        let place = self.place(expr)?;
        let ty = &self.of.def(place).ty;
        let is_plain = !matches!(ty, ColumnType::Year | ColumnType::Bit { .. } | ColumnType::Timestamp { .. });
        (is_plain && self.of.field(place).has_ranks()).then_some(place)
    }

    /// Whether it has one value for all images.
    fn is_constant(&self, expr: &Expr) -> bool {
        let mut is_constant = match &expr.kind {
            ExprKind::Column { slot, .. } => self.places.iter().all(|(_, other)| other != slot),
            ExprKind::UserVariable(_) | ExprKind::SystemVariable { .. } | ExprKind::AssignVariable { .. } => false,
            ExprKind::Call { function, .. } => function.constancy() <= crate::expr::Constancy::Execution,
            _ => true,
        };
        expr.for_each_child(&mut |child| is_constant &= self.is_constant(child));
        is_constant
    }

    /// The value of what is constant; none of what has something to say about it.
    pub(crate) fn constant(&self, expr: &Expr) -> Option<Value> {
        if !self.is_constant(expr) {
            return None;
        }
        let warnings = Warnings::default();
        let value = expr.eval(self.seed, &EvalContext { warnings: &warnings, ..*self.eval }).ok()?;
        warnings.is_empty().then_some(value)
    }

    /// Where a constant is among the values of a column with ranks, if they are compared by their own kind.
    fn fit(&self, place: usize, expr: &Expr) -> Option<Fit> {
        use ColumnType::{BigInt, Date, DateTime, Decimal, Double, Float, Int, MediumInt, SmallInt, Time, TinyInt};
        let value = self.constant(expr)?;
        let is_number = matches!(value, Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_));
        let is_own = match &self.of.def(place).ty {
            _ if value.is_null() => true,
            TinyInt { .. } | SmallInt { .. } | MediumInt { .. } | Int { .. } | BigInt { .. } => is_number,
            Decimal { .. } | Float { .. } | Double { .. } => is_number,
            Date | DateTime { .. } => matches!(value, Value::Date(_) | Value::DateTime(_)),
            Time { .. } => matches!(value, Value::Time(_)),
            _ => false,
        };
        if !is_own {
            return None;
        }
        let fit = fit(expr, value, &self.of.table, self.of.column(place), self.eval);
        (!matches!(fit, Fit::Unknown)).then_some(fit)
    }

    fn comparison(
        &self,
        op: CompareOp,
        [left, right]: &[Expr; 2],
        collation: CollationId,
        wanted: bool,
    ) -> Option<ImageCondition> {
        let op = if wanted { op } else { negated(op)? };
        if op == CompareOp::NullSafeEq {
            return None;
        }
        if let (Some(left), Some(right)) = (self.place(left), self.place(right)) {
            return self.columns(left, op, right);
        }
        let (column, op, value) = match self.is_constant(left) {
            false => (left, op, right),
            true => (right, op.mirrored(), left),
        };
        if let Some(text) = self.text(column) {
            return match self.constant(value)? {
                Value::Str(value) => Some(ImageCondition::Text { text, op, value, collation }),
                Value::Null => Some(ImageCondition::Never),
                _ => None,
            };
        }
        let place = self.ranked(column)?;
        let ranges = self.ranges(place, op, &self.fit(place, value)?)?;
        Some(ImageCondition::Ranks { place, ranges })
    }

    /// Two columns whose ranks are of one kind.
    fn columns(&self, left: usize, op: CompareOp, right: usize) -> Option<ImageCondition> {
        let [a, b] = [left, right].map(|place| &self.of.def(place).ty);
        let is_one_kind = match (a.integer(), b.integer()) {
            (Some((_, unsigned)), Some((_, other))) => unsigned == other,
            (None, None) => a == b && !matches!(a, ColumnType::Year | ColumnType::Bit { .. }),
            _ => false,
        };
        let have_ranks = [left, right].iter().all(|place| self.of.field(*place).has_ranks());
        (is_one_kind && have_ranks).then_some(ImageCondition::Columns { left, op, right })
    }

    /// The ranks of the values that are so beside a constant.
    fn ranges(&self, place: usize, op: CompareOp, fit: &Fit) -> Option<Ranges> {
        let rank = |value: &Value| self.of.field(place).rank_of(value);
        // The largest rank below the constant, the constant's own, and the smallest above: each if there is one.
        let (below, own, above) = match fit {
            Fit::Null => return Some(Vec::new()),
            Fit::Unknown => return None,
            Fit::Exact(value) => {
                let own = rank(value)?;
                (own.checked_sub(1), Some(own), own.checked_add(1))
            }
            Fit::Below(value) => (rank(value)?.checked_sub(1), None, Some(rank(value)?)),
            Fit::Above(value) => (Some(rank(value)?), None, rank(value)?.checked_add(1)),
        };
        let less = below.map(|to| (0, to));
        let greater = above.map(|from| (from, u64::MAX));
        let equal = own.map(|own| (own, own));
        let up_to = own.or(below).map(|to| (0, to));
        let from = own.or(above).map(|from| (from, u64::MAX));
        Some(match op {
            CompareOp::Eq => equal.into_iter().collect(),
            CompareOp::NotEq if own.is_none() => vec![ALL],
            CompareOp::NotEq => less.into_iter().chain(greater).collect(),
            CompareOp::Less => less.into_iter().collect(),
            CompareOp::LessEq => up_to.into_iter().collect(),
            CompareOp::Greater => greater.into_iter().collect(),
            CompareOp::GreaterEq => from.into_iter().collect(),
            CompareOp::NullSafeEq => return None,
        })
    }

    fn between(&self, [value, low, high]: &[Expr; 3], wanted: bool) -> Option<ImageCondition> {
        let place = self.ranked(value)?;
        let (low, high) = (self.fit(place, low)?, self.fit(place, high)?);
        if matches!(low, Fit::Null) || matches!(high, Fit::Null) {
            return None;
        }
        let of = |op, fit: &Fit| self.ranges(place, op, fit);
        let ranges = match wanted {
            true => match (of(CompareOp::GreaterEq, &low)?.first(), of(CompareOp::LessEq, &high)?.first()) {
                (Some((from, _)), Some((_, to))) if from <= to => vec![(*from, *to)],
                _ => Vec::new(),
            },
            false => joined(of(CompareOp::Less, &low)?.into_iter().chain(of(CompareOp::Greater, &high)?).collect()),
        };
        Some(ImageCondition::Ranks { place, ranges })
    }

    fn one_of(&self, value: &Expr, list: &[Expr], collation: CollationId, wanted: bool) -> Option<ImageCondition> {
        if let Some(text) = self.text(value) {
            let mut values = Vec::with_capacity(list.len());
            for item in list {
                match self.constant(item)? {
                    Value::Str(value) => values.push(value),
                    Value::Null if wanted => {}
                    Value::Null => return Some(ImageCondition::Never),
                    _ => return None,
                }
            }
            return Some(ImageCondition::OneOf { text, values, collation, wanted });
        }
        let place = self.ranked(value)?;
        let mut ranks = Vec::with_capacity(list.len());
        for item in list {
            let fit = self.fit(place, item)?;
            if matches!(fit, Fit::Null) && !wanted {
                return Some(ImageCondition::Never);
            }
            ranks.extend(self.ranges(place, CompareOp::Eq, &fit)?);
        }
        let ranges = joined(ranks);
        let ranges = if wanted { ranges } else { gaps(&ranges) };
        Some(ImageCondition::Ranks { place, ranges })
    }
}

/// The operator that holds where this one does not; `None` of the one that says something of NULLs.
fn negated(op: CompareOp) -> Option<CompareOp> {
    Some(match op {
        CompareOp::Eq => CompareOp::NotEq,
        CompareOp::NotEq => CompareOp::Eq,
        CompareOp::Less => CompareOp::GreaterEq,
        CompareOp::LessEq => CompareOp::Greater,
        CompareOp::Greater => CompareOp::LessEq,
        CompareOp::GreaterEq => CompareOp::Less,
        CompareOp::NullSafeEq => return None,
    })
}

/// The same ranks in ranges that are ascending and apart.
fn joined(mut ranges: Ranges) -> Ranges {
    ranges.sort_unstable();
    let mut joined: Ranges = Vec::with_capacity(ranges.len());
    for (from, to) in ranges {
        match joined.last_mut() {
            Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    joined
}

/// The ranks that are in none of these ranges.
fn gaps(ranges: &Ranges) -> Ranges {
    let mut gaps = Vec::with_capacity(ranges.len() + 1);
    let mut next = Some(0);
    for &(from, to) in ranges {
        if let Some(next) = next
            && next < from
        {
            gaps.push((next, from - 1));
        }
        next = to.checked_add(1);
    }
    gaps.extend(next.map(|next| (next, u64::MAX)));
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_ranks() {
        assert_eq!(joined(vec![(5, 7), (0, 2), (3, 3), (7, 9)]), [(0, 3), (5, 9)]);
        assert_eq!(gaps(&vec![(0, 3), (5, 9)]), [(4, 4), (10, u64::MAX)]);
        assert_eq!(gaps(&Vec::new()), [ALL]);
        assert_eq!(gaps(&vec![ALL]), []);
        assert_eq!(gaps(&vec![(1, u64::MAX)]), [(0, 0)]);
    }
}
