//! What the slots of a block's rows are called: columns by their tables, and all else by what computes it.

use std::collections::BTreeSet;

use crate::bind::tree::{OrderItem, SubqueryKind};
use crate::bind::window::{Bound, BoundCall};
use crate::expr::window::WindowFunction;
use crate::expr::{Aggregate, AggregateFunction, Expr, ExprKind};
use crate::plan::explain::expr_text::{all_of, text_with};
use crate::plan::node::{AggregateNode, BlockPlan, Node, PlannedSource, PlannedTable, SlotSource, WindowNode};
use crate::plan::rules::in_as_join::JOINED_SUBQUERY;

/// A block, and those around it.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    pub(super) block: &'a BlockPlan,
    pub(super) outer: Option<&'a Names<'a>>,
}

impl Names<'_> {
    /// The text of an expression of this block.
    pub(super) fn text(&self, expr: &Expr) -> String {
        text_with(expr, &|slot| self.slot(slot))
    }

    /// The text of conditions that all have to hold.
    pub(super) fn all<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>) -> String {
        all_of(exprs, &|slot| self.slot(slot))
    }

    /// The text of a key of an order.
    pub(super) fn order(&self, item: &OrderItem) -> String {
        self.text(&item.expr) + if item.descending { " DESC" } else { "" }
    }

    fn list<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>, with: &str) -> String {
        exprs.into_iter().map(|expr| self.text(expr)).collect::<Vec<_>>().join(with)
    }

    /// What a slot is called.
    pub(super) fn slot(&self, slot: usize) -> String {
        match self.block.slots[slot] {
            SlotSource::Column { table, column } => {
                let table = &self.block.tables[table];
                format!("{}.{}", called(table), table.columns[column])
            }
            SlotSource::RowImage { table } => format!("<row of {}>", self.block.tables[table].alias),
            SlotSource::Outer { slot } => match self.outer {
                Some(outer) => outer.slot(slot),
                None => format!("<outer {slot}>"),
            },
            SlotSource::Subquery { index } => self.subquery(index),
            SlotSource::Key { index } => {
                let key = self.grouping().and_then(|grouping| grouping.keys.get(index));
                key.map_or_else(|| format!("<key {}>", index + 1), |key| self.text(key))
            }
            SlotSource::Aggregate { index } => {
                match self.grouping().and_then(|grouping| grouping.aggregates.get(index)) {
                    Some((aggregate, _)) => self.aggregate(aggregate),
                    None => format!("<aggregate {}>", index + 1),
                }
            }
            SlotSource::Window { index } => {
                self.made_by_window(slot).unwrap_or_else(|| format!("<window {}>", index + 1))
            }
        }
    }

    fn grouping(&self) -> Option<&AggregateNode> {
        find(&self.block.root, &|node| match node {
            Node::Aggregate(aggregate) => Some(&**aggregate),
            _ => None,
        })
    }

    fn made_by_window(&self, slot: usize) -> Option<String> {
        find(&self.block.root, &|node| match node {
            Node::Window(window) => {
                let (_, call) = window.calls().find(|(_, call)| call.id == slot)?;
                Some(self.window_call(window, call))
            }
            Node::Compute { exprs, .. } => exprs.iter().find(|(_, to)| *to == slot).map(|(expr, _)| self.text(expr)),
            _ => None,
        })
    }

    /// A subquery of an expression, by its number.
    fn subquery(&self, index: usize) -> String {
        let subquery = &self.block.subqueries[index];
        let number = subquery.query.as_ref().map_or(0, super::table::first_number);
        let left = |left: &[Expr]| match left {
            [one] => self.text(one),
            several => format!("({})", self.list(several, ",")),
        };
        let sign = |comparison: &Expr| match &comparison.kind {
            ExprKind::Compare { op, .. } => op.sign(),
            _ => "=",
        };
        match &subquery.kind {
            SubqueryKind::Call { function, args } => format!("{function}({})", self.list(args, ",")),
            SubqueryKind::Exists => format!("exists(select #{number})"),
            SubqueryKind::Any { left: of, equality: true, .. } => {
                format!("<in_optimizer>({0},{0} in (select #{number}))", left(of))
            }
            SubqueryKind::Any { left: of, comparison, .. } => {
                format!("({} {} any (select #{number}))", left(of), sign(comparison))
            }
            SubqueryKind::All { left: of, comparison, .. } => {
                format!("({} {} all (select #{number}))", left(of), sign(comparison))
            }
            SubqueryKind::Row { left: of, .. } => format!("({} = (select #{number}))", left(of)),
            SubqueryKind::Scalar | SubqueryKind::Joined => format!("(select #{number})"),
        }
    }

    /// A call of an aggregate.
    pub(super) fn aggregate(&self, aggregate: &Aggregate) -> String {
        let distinct = if aggregate.distinct { "distinct " } else { "" };
        let args = match &aggregate.args[..] {
            [] => "0".into(),
            args => self.list(args, ","),
        };
        let mut text = format!("{}({distinct}{args}", aggregate.function.name());
        if !aggregate.order_by.is_empty() {
            let keys = aggregate.order_by.iter();
            let keys = keys.map(|(key, descending)| self.text(key) + if *descending { " DESC" } else { " ASC" });
            text += &format!(" order by {}", keys.collect::<Vec<_>>().join(","));
        }
        if aggregate.function == AggregateFunction::GroupConcat {
            text += &format!(" separator '{}'", String::from_utf8_lossy(&aggregate.separator));
        }
        text + ")"
    }

    /// A call of a window function with its window.
    pub(super) fn window_call(&self, window: &WindowNode, bound: &BoundCall) -> String {
        let call = &bound.call;
        let mut text = match &call.function {
            WindowFunction::Aggregate(aggregate) => self.aggregate(aggregate),
            function => format!("{}({})", function.name(), self.list(call.args().iter().chain(&call.number), ",")),
        };
        text += " OVER (";
        if !window.partition.is_empty() {
            text += &format!("PARTITION BY {} ", self.list(&window.partition, ","));
        }
        if !window.order.is_empty() {
            let keys: Vec<String> = window.order.iter().map(|item| self.order(item)).collect();
            text += &format!("ORDER BY {} ", keys.join(","));
        }
        let frame = window.windows.iter().find(|(_, calls)| calls.iter().any(|other| other.id == bound.id));
        if let Some((frame, _)) = frame.filter(|(frame, _)| !frame.is_unwritten(!window.order.is_empty())) {
            let unit = if frame.rows { "ROWS" } else { "RANGE" };
            let (start, end) = (self.bound(&frame.start, "PRECEDING"), self.bound(&frame.end, "FOLLOWING"));
            text += &format!("{unit} BETWEEN {start} AND {end}");
        }
        text + ") "
    }

    fn bound(&self, bound: &Bound, side: &str) -> String {
        match bound {
            Bound::Unbounded => format!("UNBOUNDED {side}"),
            Bound::Current => "CURRENT ROW".into(),
            Bound::Rows { distance, following, .. } => {
                format!("{} {}", self.text(distance), if *following { "FOLLOWING" } else { "PRECEDING" })
            }
            Bound::Value(value) => {
                format!("{} {}", self.text(&value.distance), if value.following { "FOLLOWING" } else { "PRECEDING" })
            }
        }
    }

    /// The columns that expressions read, with their databases unless the table has another name in the statement.
    pub(super) fn columns<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>) -> Vec<String> {
        let mut names = BTreeSet::new();
        for expr in exprs {
            for slot in expr.slots().iter() {
                self.add_column(slot, &mut names);
            }
        }
        names.into_iter().collect()
    }

    fn add_column(&self, slot: usize, names: &mut BTreeSet<String>) {
        match self.block.slots[slot] {
            SlotSource::Column { table, column } => {
                let table = &self.block.tables[table];
                names.insert(format!("{}{}.{}", schema_of(table), called(table), table.columns[column]));
            }
            SlotSource::Outer { slot } => self.outer.iter().for_each(|outer| outer.add_column(slot, names)),
            _ => {}
        }
    }
}

/// What a table is called.
pub(super) fn called(table: &PlannedTable) -> String {
    match &table.source {
        PlannedSource::Derived(query, _) if *table.alias == *JOINED_SUBQUERY => {
            format!("<subquery{}>", super::table::first_number(query))
        }
        _ => table.alias.to_string(),
    }
}

/// The database of a table that has its own name in the statement.
fn schema_of(table: &PlannedTable) -> String {
    match (&table.source, &table.schema) {
        (PlannedSource::Base(base), Some(schema)) if base.def.name == *table.alias => format!("{schema}."),
        _ => String::new(),
    }
}

/// What is found in the nodes above the joins.
pub(super) fn find<'n, T>(node: &'n Node, look: &dyn Fn(&'n Node) -> Option<T>) -> Option<T> {
    look(node).or_else(|| match node {
        Node::Join(_) => None,
        node => node.inputs().find_map(|input| find(input, look)),
    })
}
