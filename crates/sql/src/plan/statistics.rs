//! What is known of tables' contents, as the planner asks for it: which part of the rows a condition leaves, and how many values a column has.
//!
//! Of a condition on one table whose values are known it is tried on a sample of the table's rows, whatever it is made of; for any other
//! there is the number of different values of its columns; and where nothing is known, what MySQL guesses.

use std::sync::Arc;

use engine::{Catalog, RowSample, Table, TableStatistics};
use types::Value;

use crate::bind::columns::Columns;
use crate::bind::tree::Block;
use crate::expr::{CompareOp, Constancy, EvalContext, Expr, ExprKind};
use crate::histogram::{self, Histogram};
use crate::plan::PlanContext;
use crate::plan::access::{Interval, TableFacts};
use crate::plan::conditions::{Condition, TableSet};
use crate::plan::nest::Nest;
use crate::plan::rules::branch_filters::is_part_of;

/// How much what no row of a sample meets counts, in rows of the sample.
const NONE_FOUND: f64 = 0.5;

/// How different the values of a column are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values {
    /// Different values, at least 1, without NULL.
    pub(crate) distinct: f64,
    /// The part of the rows with NULL.
    pub(crate) null_share: f64,
}

/// What is known of a table's contents.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) statistics: Option<Arc<TableStatistics>>,
    sample: Option<Arc<RowSample>>,
}

impl Known {
    /// What the engine knows. Of pages that are damaged nothing is known: the statement may need none of them.
    pub(super) async fn of(context: &PlanContext<'_>, table: &Table, with_rows: bool) -> Self {
        let statistics = context.engine.statistics(table).await.unwrap_or_default();
        let sample = match with_rows {
            true => context.engine.row_sample(table).await.unwrap_or_default(),
            false => None,
        };
        Known { statistics, sample }
    }

    /// The values of a column: by an index that begins with it, or else by the sample.
    fn values(&self, table: &Table, column: usize) -> Option<Values> {
        if let Some(statistics) = &self.statistics {
            let begins =
                |index: &&types::IndexDef| index.parts[0].column == column && index.parts[0].prefix_chars.is_none();
            let index = table.def.indexes.iter().find(begins);
            if let Some(prefix) = index.and_then(|index| statistics.indexes.get(&index.id)?.prefixes.first()) {
                return Some(Values { distinct: prefix.distinct_not_null.max(1.0), null_share: prefix.null_share });
            }
        }
        sampled_values(self.sample.as_ref()?, table, column)
    }
}

/// The number of different values in all rows, from those in some: values that are there once stand for others that are not there.
fn sampled_values(sample: &RowSample, table: &Table, column: usize) -> Option<Values> {
    let column = sample.column(table, column).filter(|column| column.not_null > 0)?;
    let (all, rows) = (sample.rows.len() as f64, column.not_null as f64);
    let part = (all / (sample.of as f64).max(all)).min(1.0);
    let distinct = column.distinct as f64 / (1.0 - (1.0 - part) * column.once as f64 / rows);
    Some(Values { distinct: distinct.max(1.0), null_share: 1.0 - rows / all })
}

impl TableFacts {
    /// The values of a column, if anything is known of them.
    pub(crate) fn values(&self, column: usize) -> Option<Values> {
        let values = self.known.values(&self.table, column)?;
        Some(Values { distinct: values.distinct.min(self.rows), ..values })
    }

    /// About how many rows have one value of so many first parts of an index; with NULL if that is asked for.
    pub(crate) fn rows_of_value(&self, index: usize, parts: usize, null: bool) -> Option<f64> {
        let statistics = self.known.statistics.as_ref()?;
        let of_index = statistics.indexes.get(&self.table.def.indexes[index].id)?;
        let prefix = of_index.prefixes.get(parts - 1).or(of_index.prefixes.last())?;
        let rows = match null {
            true => self.rows / prefix.distinct.max(1.0),
            false => self.rows * (1.0 - prefix.null_share) / prefix.distinct_not_null.max(1.0),
        };
        Some(rows.min(self.rows))
    }

    /// Different combinations of values that columns have together: of an index that begins with some of them, times those of the others.
    pub(crate) fn combinations(&self, columns: &[usize]) -> Option<f64> {
        let mut best: Option<f64> = None;
        let mut product = 1.0;
        for &column in columns {
            product *= self.values(column)?.distinct;
        }
        let statistics = self.known.statistics.as_ref();
        for index in &self.table.def.indexes {
            let parts =
                index.parts.iter().take_while(|part| columns.contains(&part.column) && part.prefix_chars.is_none());
            let parts = parts.count();
            let known = statistics.and_then(|known| known.indexes.get(&index.id)?.prefixes.get(parts.checked_sub(1)?));
            let Some(known) = known else { continue };
            let covered: Vec<usize> = index.parts[..parts].iter().map(|part| part.column).collect();
            let others = columns.iter().filter(|column| !covered.contains(column));
            let others: f64 = others.filter_map(|column| Some(self.values(*column)?.distinct)).product();
            let together = known.distinct_not_null.max(1.0) * others;
            best = Some(best.map_or(together, |best: f64| best.min(together)));
        }
        Some(best.unwrap_or(product).min(product).clamp(1.0, self.rows))
    }
}

/// What a condition says of a sample's rows.
struct Tried {
    table: usize,
    /// Row by row: whether it holds.
    met: Vec<bool>,
    /// They are all that the table has.
    are_all: bool,
}

impl Tried {
    /// The part of the rows for which it holds, and whether it is so for any.
    fn share(&self) -> (f64, bool) {
        share_of(self.met.iter().copied(), self.are_all)
    }
}

/// The part of a sample's rows that are met, and whether any is.
fn share_of(met: impl ExactSizeIterator<Item = bool>, are_all: bool) -> (f64, bool) {
    let all = met.len() as f64;
    let count = met.filter(|met| *met).count();
    let is_known = count > 0 || are_all;
    (if is_known { count as f64 } else { NONE_FOUND } / all, is_known)
}

/// Says of the conditions of a block which part of the rows they leave.
pub(crate) struct Shares<'s> {
    pub(crate) block: &'s Block,
    pub(crate) columns: &'s Columns,
    pub(crate) facts: &'s [Option<TableFacts>],
    pub(crate) catalog: &'s Catalog,
    pub(crate) eval: EvalContext<'s>,
}

impl Shares<'_> {
    /// Of all conditions of a nest, and of those in it.
    pub(crate) fn tell(&self, nest: &mut Nest) {
        let mut tried = Vec::with_capacity(nest.conditions.len());
        for condition in &mut nest.conditions {
            let is_alone = condition.needs.subqueries.is_empty();
            let own = if is_alone { self.tried(&condition.expr) } else { None };
            condition.share = is_alone.then(|| self.share_beside(&condition.expr, own.as_ref()).clamp(0.0, 1.0));
            tried.push(own);
        }
        self.tell_together(nest, &tried);
        self.tell_of_branches(nest);
        nest.outer.iter_mut().for_each(|outer| self.tell(&mut outer.nest));
    }

    /// What conditions on one table leave together may be less, or more, than their shares multiplied (both ends of a range, columns that depend on each other):
    /// they are tried together, and each has a part in the difference.
    fn tell_together(&self, nest: &mut Nest, tried: &[Option<Tried>]) {
        for table in 0..self.block.tables.len() {
            let of_table = tried.iter().enumerate().filter_map(|(number, tried)| Some((number, tried.as_ref()?)));
            let those: Vec<(usize, &Tried)> = of_table.filter(|(_, tried)| tried.table == table).collect();
            let [(_, first), _, ..] = &those[..] else { continue };
            let meets_all = |row: usize| those.iter().all(|(_, tried)| tried.met[row]);
            let (together, _) = share_of((0..first.met.len()).map(meets_all), first.are_all);
            let apart: f64 = those.iter().filter_map(|(number, _)| nest.conditions[*number].share).product();
            if apart <= 0.0 || apart >= 1.0 || together <= 0.0 {
                continue;
            }
            let power = together.ln() / apart.ln();
            for (number, _) in those {
                nest.conditions[number].share.iter_mut().for_each(|share| *share = share.powf(power));
            }
        }
    }

    /// What an OR leaves of rows that have met what it asks of single tables.
    fn tell_of_branches(&self, nest: &mut Nest) {
        for at in 0..nest.conditions.len() {
            let condition = &nest.conditions[at];
            let ExprKind::Or(_) = condition.expr.kind else { continue };
            let parts = nest.conditions.iter().enumerate().filter(|(other, part)| {
                *other != at && part.needs.tables != condition.needs.tables && is_part_of(&part.expr, &condition.expr)
            });
            let asked: f64 = parts.filter_map(|(_, part)| part.share).product();
            if let Some(share) = &mut nest.conditions[at].share {
                *share = if asked > 0.0 { (*share / asked).min(1.0) } else { 1.0 };
            }
        }
    }

    fn share(&self, expr: &Expr) -> f64 {
        self.share_beside(expr, self.tried(expr).as_ref())
    }

    /// The same, when it has been tried.
    fn share_beside(&self, expr: &Expr, tried: Option<&Tried>) -> f64 {
        if let Some(share) = self.by_histogram(expr) {
            return share;
        }
        if let Some((share, is_met)) = tried.map(Tried::share) {
            // Whatever it is, it is rare; one value of a column that has many is rarer still.
            let one_value = match &expr.kind {
                ExprKind::Compare { op: CompareOp::Eq, args } if !is_met => {
                    args.iter().find_map(|arg| self.values(arg)).map(|values| 1.0 / values.distinct)
                }
                _ => None,
            };
            return one_value.unwrap_or(1.0).min(share);
        }
        match &expr.kind {
            ExprKind::And(parts) => parts.iter().map(|part| self.share(part)).product(),
            ExprKind::Or(parts) => 1.0 - parts.iter().map(|part| 1.0 - self.share(part)).product::<f64>(),
            ExprKind::Compare { op: CompareOp::Eq | CompareOp::NullSafeEq, args } => {
                let sides = [self.values(&args[0]), self.values(&args[1])];
                let left = sides.iter().flatten().map(|values| 1.0 - values.null_share).product::<f64>();
                let distinct = sides.iter().flatten().map(|values| values.distinct).reduce(f64::max);
                distinct.map_or_else(|| Condition::guess(expr), |distinct| left / distinct)
            }
            ExprKind::In { value, list } => match self.values(value) {
                Some(values) => (list.len() as f64 * (1.0 - values.null_share) / values.distinct).min(1.0),
                None => Condition::guess(expr),
            },
            ExprKind::IsNull(arg) => {
                self.values(arg).map_or_else(|| Condition::guess(expr), |values| values.null_share)
            }
            ExprKind::Not(inner) => 1.0 - self.share(inner),
            _ => Condition::guess(expr),
        }
    }

    /// The values of an expression that is a column of the block.
    fn values(&self, expr: &Expr) -> Option<Values> {
        let (table, column) = self.columns.place(expr.as_column()?, &self.block.tables)?;
        self.facts[table].as_ref()?.values(column)
    }

    /// The one table on whose rows a condition can be tried, and the columns that it reads: (position, number).
    fn one_table(&self, expr: &Expr) -> Option<(usize, Vec<(usize, usize)>)> {
        if expr.constancy() != Constancy::Row || expr.has_param() || expr.waits() || expr.assigns() {
            return None;
        }
        let (mut wanted, mut of): (Vec<(usize, usize)>, _) = (Vec::new(), None);
        for id in expr.slots().iter() {
            let (table, column) = self.columns.place(id, &self.block.tables)?;
            if *of.get_or_insert(table) != table {
                return None;
            }
            wanted.push((column, id));
        }
        wanted.sort_unstable();
        Some((of?, wanted))
    }

    /// Tries a condition on the rows of a sample; `None` if it cannot be, of one table's rows alone.
    fn tried(&self, expr: &Expr) -> Option<Tried> {
        let (table, wanted) = self.one_table(expr)?;
        let facts = self.facts[table].as_ref()?;
        let sample = facts.known.sample.as_ref().filter(|sample| !sample.rows.is_empty())?;
        let mut row = vec![Value::Null; wanted.iter().map(|(_, id)| id + 1).max()?];
        let columns = wanted.iter().map(|(column, id)| Some((*id, &sample.column(&facts.table, *column)?.values)));
        let columns: Vec<(usize, &Vec<Value>)> = columns.collect::<Option<_>>()?;
        let mut met = Vec::with_capacity(sample.rows.len());
        for at in 0..sample.rows.len() {
            for (id, values) in &columns {
                row[*id] = values[at].clone();
            }
            met.push(expr.eval_truth(&row, &self.eval).ok()? == Some(true));
        }
        Some(Tried { table, met, are_all: sample.rows.len() as f64 >= sample.of as f64 })
    }

    /// The part that a condition leaves by the histogram of the one column that it reads.
    fn by_histogram(&self, expr: &Expr) -> Option<f64> {
        let (table, wanted) = self.one_table(expr)?;
        let &[(column, slot)] = &wanted[..] else { return None };
        let facts = self.facts[table].as_ref()?;
        let column = &facts.table.def.columns[column];
        let json = self.catalog.histogram(facts.table.id(), &column.name)?;
        histogram::share(&Histogram::parse(json, column)?, expr, slot, &self.eval)
    }

    /// Which part of a table's rows has the values that equalities ask for with rows that are there, all of them together.
    pub(crate) fn equal_share(&self, table: usize, conditions: &[&Condition], present: TableSet) -> EqualShare {
        let mut equal = EqualShare::default();
        let (mut inner, mut outer): (Vec<usize>, Vec<(usize, usize, usize)>) = (Vec::new(), Vec::new());
        for (number, condition) in conditions.iter().enumerate() {
            let joins = |ask: &&crate::plan::conditions::Asked| {
                ask.table == table
                    && ask.needs.meets(present)
                    && matches!(&ask.intervals[..], [Interval::Point(_) | Interval::NullSafePoint(_)])
            };
            let Some(ask) = condition.asks.iter().find(joins) else { continue };
            equal.used.push(number);
            let other = condition.asks.iter().find(|ask| ask.table != table && present.meets(TableSet::one(ask.table)));
            let place = inner.iter().position(|column| *column == ask.column).unwrap_or_else(|| {
                inner.push(ask.column);
                inner.len() - 1
            });
            outer.extend(other.map(|other| (place, other.table, other.column)));
        }
        let outer = of_few_tables(outer);
        if inner.is_empty() {
            return equal;
        }
        let here = self.facts[table].as_ref().and_then(|facts| facts.combinations(&inner));
        let mut tables: Vec<usize> = outer.iter().map(|(table, _)| *table).collect();
        tables.sort_unstable();
        tables.dedup();
        let there = |table: &usize| {
            let columns: Vec<usize> = outer.iter().filter(|(of, _)| of == table).map(|(_, column)| *column).collect();
            self.facts[*table].as_ref()?.combinations(&columns)
        };
        let there: Option<f64> = tables.iter().map(there).product();
        let there = there.filter(|_| !tables.is_empty());
        let distinct = here.into_iter().chain(there).reduce(f64::max);
        equal.share = distinct.map_or_else(|| 0.1_f64.powi(inner.len() as i32), |distinct| 1.0 / distinct);
        if let Some(facts) = &self.facts[table] {
            let nulls = inner.iter().filter_map(|column| Some(1.0 - facts.values(*column)?.null_share));
            equal.share *= nulls.product::<f64>();
        }
        equal
    }
}

/// For each place one of the columns that stand for it (place, table, column), of as few tables as possible: the columns of one table are seldom
/// independent of each other. Gives (table, column).
fn of_few_tables(mut outer: Vec<(usize, usize, usize)>) -> Vec<(usize, usize)> {
    let mut chosen = Vec::new();
    while !outer.is_empty() {
        let places_of = |of: usize| {
            let mut places: Vec<usize> =
                outer.iter().filter(|(_, table, _)| *table == of).map(|(place, ..)| *place).collect();
            places.sort_unstable();
            places.dedup();
            places.len()
        };
        let Some(best) =
            outer.iter().map(|(_, table, _)| *table).max_by_key(|table| (places_of(*table), usize::MAX - table))
        else {
            break;
        };
        let mut done = Vec::new();
        for (place, table, column) in &outer {
            if *table == best && !done.contains(place) {
                done.push(*place);
                chosen.push((*table, *column));
            }
        }
        outer.retain(|(place, ..)| !done.contains(place));
    }
    chosen
}

/// See [`Shares::equal_share`].
#[derive(Debug)]
pub(crate) struct EqualShare {
    pub(crate) share: f64,
    /// The conditions that it stands for.
    pub(crate) used: Vec<usize>,
}

impl Default for EqualShare {
    fn default() -> Self {
        EqualShare { share: 1.0, used: Vec::new() }
    }
}
