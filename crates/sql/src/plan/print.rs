//! A block's tree as text, for those who write rules: what was bound, and what each rule has made of it.
//!
//! ```text
//!   block 1
//!     select d.a, #4
//!     from
//!       inner join on (d.a = t.id)
//!         d
//!           block 2
//!             …
//!         t
//!     where (t.b > 3)
//!     #4 = exists
//!       block 3
//!         …
//! ```

use std::collections::HashMap;
use std::fmt::Write;

use crate::bind::columns::{ColumnId, ColumnSource, Columns, TableId};
use crate::bind::tree::{
    Block, BoundBody, BoundQuery, FromTree, JoinKind, Limit, OrderItem, SetKind, SubqueryKind, TableSource,
};
use crate::bind::window::{Bound, BoundCall, BoundWindow};
use crate::expr::window::WindowFunction;
use crate::expr::{Aggregate, Expr};
use crate::plan::explain::expr_text::text_with;

/// The text of a block; `columns` are those of its statement.
pub(super) fn text(block: &Block, columns: &Columns) -> String {
    let mut names = HashMap::new();
    name_tables(block, &mut names);
    let mut printer = Printer { columns, names, out: String::new(), depth: 0 };
    printer.block(block);
    printer.out
}

/// What its tables are called, and their columns.
fn name_tables(block: &Block, names: &mut HashMap<TableId, (String, Vec<String>)>) {
    for table in &block.tables {
        let columns = table.columns.iter().map(|column| column.name.to_string()).collect();
        names.insert(table.id, (table.alias.to_string(), columns));
        if let TableSource::Derived(query) = &table.source {
            name_tables_of(query, names);
        }
    }
    block
        .subqueries
        .iter()
        .filter_map(|subquery| subquery.query.as_ref())
        .for_each(|query| name_tables_of(query, names));
}

fn name_tables_of(query: &BoundQuery, names: &mut HashMap<TableId, (String, Vec<String>)>) {
    match &query.body {
        BoundBody::Block(block) => name_tables(block, names),
        BoundBody::Set(set) => set.branches.iter().for_each(|branch| name_tables_of(branch, names)),
        BoundBody::Values(_) => {}
    }
}

struct Printer<'p> {
    columns: &'p Columns,
    names: HashMap<TableId, (String, Vec<String>)>,
    out: String,
    depth: usize,
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        let indent = 2 * self.depth;
        // A String takes whatever is written.
        let _ = writeln!(self.out, "{:indent$}{text}", "");
    }

    fn inside(&mut self, print: impl FnOnce(&mut Self)) {
        self.depth += 1;
        print(self);
        self.depth -= 1;
    }

    fn name(&self, id: ColumnId) -> String {
        match self.columns.source(id) {
            ColumnSource::Column { table, column } => match self.names.get(&table) {
                Some((table, columns)) => format!("{table}.{}", columns[column]),
                None => format!("<column {id}>"),
            },
            _ => format!("#{id}"),
        }
    }

    fn expr(&self, expr: &Expr) -> String {
        text_with(expr, &|id| self.name(id))
    }

    fn list<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>, between: &str) -> String {
        exprs.into_iter().map(|expr| self.expr(expr)).collect::<Vec<_>>().join(between)
    }

    fn block(&mut self, block: &Block) {
        self.line(&format!("block {}", block.number));
        self.inside(|printer| printer.parts(block));
    }

    fn parts(&mut self, block: &Block) {
        let distinct = if block.distinct { "distinct " } else { "" };
        self.line(&format!("select {distinct}{}", self.list(&block.select, ", ")));
        if let Some(from) = &block.from {
            self.line("from");
            self.inside(|printer| printer.from(from, block));
        }
        if !block.filter.is_empty() {
            self.line(&format!("where {}", self.list(&block.filter, " and ")));
        }
        if let Some(grouping) = &block.grouping {
            let rollup = if grouping.rollup.is_some() { " with rollup" } else { "" };
            self.line(&format!("group by {}{rollup}", self.list(&grouping.keys, ", ")));
            for aggregate in &grouping.aggregates {
                self.line(&format!("#{} = {}", aggregate.id, self.aggregate(&aggregate.call)));
            }
        }
        if !block.having.is_empty() {
            self.line(&format!("having {}", self.list(&block.having, " and ")));
        }
        block.windows.iter().for_each(|window| self.window(window));
        self.tail(&block.order, &block.limit);
        for subquery in &block.subqueries {
            let left = self.list(subquery.kind.exprs(), ", ");
            let kind = match &subquery.kind {
                SubqueryKind::Scalar => "value of".to_owned(),
                SubqueryKind::Exists => "exists".to_owned(),
                SubqueryKind::Any { .. } => format!("({left}) = any of"),
                SubqueryKind::All { .. } => format!("({left}) <> all of"),
                SubqueryKind::Row { .. } => format!("({left}) beside"),
                SubqueryKind::Call { function, .. } => format!("{function}({left})"),
                SubqueryKind::Joined => continue,
            };
            self.line(&format!("#{} = {kind}", subquery.id));
            self.inside(|printer| subquery.query.iter().for_each(|query| printer.query(query)));
        }
    }

    fn order(&self, order: &[OrderItem]) -> String {
        let item = |item: &OrderItem| self.expr(&item.expr) + if item.descending { " desc" } else { "" };
        format!("order by {}", order.iter().map(item).collect::<Vec<_>>().join(", "))
    }

    fn tail(&mut self, order: &[OrderItem], limit: &Limit) {
        if !order.is_empty() {
            self.line(&self.order(order));
        }
        if let Some(count) = &limit.count {
            self.line(&format!("limit {}", self.list(std::iter::once(count).chain(&limit.offset), " offset ")));
        }
    }

    fn window(&mut self, window: &BoundWindow) {
        let mut parts = Vec::new();
        if !window.partition.is_empty() {
            parts.push(format!("partition by {}", self.list(&window.partition, ", ")));
        }
        if !window.order.is_empty() {
            parts.push(self.order(&window.order));
        }
        let unit = if window.frame.rows { "rows" } else { "range" };
        let (start, end) = (self.bound(&window.frame.start, "first"), self.bound(&window.frame.end, "last"));
        parts.push(format!("{unit} from {start} to {end}"));
        self.line(&format!("window {}", parts.join(" ")));
        for BoundCall { call, id } in &window.calls {
            let text = match &call.function {
                WindowFunction::Aggregate(aggregate) => self.aggregate(aggregate),
                function => {
                    let args = self.list(call.args().iter().chain(&call.number), ", ");
                    format!("{}({args})", format!("{function:?}").to_lowercase())
                }
            };
            self.line(&format!("#{id} = {text}"));
        }
    }

    fn bound(&self, bound: &Bound, outermost: &str) -> String {
        match bound {
            Bound::Unbounded => outermost.into(),
            Bound::Current => "the row".into(),
            Bound::Rows { distance, following, .. } => {
                format!("{} {}", self.expr(distance), if *following { "behind" } else { "before" })
            }
            Bound::Value(bound) => self.expr(&bound.limit),
        }
    }

    fn aggregate(&self, call: &Aggregate) -> String {
        format!("{}({})", format!("{:?}", call.function).to_lowercase(), self.list(&call.args, ", "))
    }

    fn from(&mut self, tree: &FromTree, block: &Block) {
        match tree {
            FromTree::Table(number) => {
                let table = &block.tables[*number];
                self.line(&table.alias);
                if let TableSource::Derived(query) = &table.source {
                    self.inside(|printer| printer.query(query));
                }
            }
            FromTree::Join { left, right, kind, on } => {
                let kind = match kind {
                    JoinKind::Inner => "inner join",
                    JoinKind::Straight => "straight join",
                    JoinKind::Left => "left join",
                    JoinKind::Semi => "semi join",
                    JoinKind::Anti => "anti join",
                };
                let on = if on.is_empty() { String::new() } else { format!(" on {}", self.list(on, " and ")) };
                self.line(&format!("{kind}{on}"));
                self.inside(|printer| {
                    printer.from(left, block);
                    printer.from(right, block);
                });
            }
        }
    }

    fn query(&mut self, query: &BoundQuery) {
        match &query.body {
            BoundBody::Block(block) => self.block(block),
            BoundBody::Set(set) => {
                self.line(match &set.kind {
                    SetKind::Union { distinct_until: None } => "union all",
                    SetKind::Union { .. } => "union distinct",
                    SetKind::Except { all } if all.contains(&true) => "except all",
                    SetKind::Except { .. } => "except",
                    SetKind::Intersect { all: true } => "intersect all",
                    SetKind::Intersect { all: false } => "intersect",
                    SetKind::Recursive(_) => "rounds",
                });
                self.inside(|printer| {
                    set.branches.iter().for_each(|branch| printer.query(branch));
                });
            }
            BoundBody::Values(rows) => self.line(&format!("values of {} rows", rows.len())),
        }
    }
}
