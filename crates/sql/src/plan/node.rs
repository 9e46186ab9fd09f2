//! The plan: what the executor runs, and EXPLAIN prints.
//!
//! A [`Plan`] is immutable and shared: it holds no parameter values, so a prepared statement keeps it as long as the catalog
//! has not changed. Inside a block every node works on rows of one shape, the block's *frame*, and fills in what it knows of them: places in it
//! ([slots](SlotSource)) are given last ([`crate::plan::layout`]).

use std::sync::Arc;

use engine::Table;

use crate::bind::tree::{CteId, Limit, OrderItem, RowLock, SetKind, SubqueryKind};
use crate::bind::window::{BoundCall, Frame};
use crate::exec::measured::Counters;
use crate::expr::order::Comparison;
use crate::expr::{Aggregate, Expr, ExprType};
use crate::plan::access::{Covered, IndexAccess};
use crate::plan::json_table::JsonTable;
use crate::plan::layout::Layout;
use crate::result::ResultColumn;
use crate::virtual_table::VirtualTable;

/// What the value in a slot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotSource {
    /// A column of a table.
    Column {
        /// Position among the block's tables.
        table: usize,
        /// Position among the table's columns.
        column: usize,
    },
    /// The row image of a table that is going to be changed.
    RowImage {
        /// Position among the block's tables.
        table: usize,
    },
    /// A slot of the enclosing block, copied when the block is opened.
    Outer {
        /// The slot there.
        slot: usize,
    },
    /// The result of a subquery.
    Subquery {
        /// Position among the block's subqueries.
        index: usize,
    },
    /// A key of GROUP BY … WITH ROLLUP.
    Key {
        /// Position among the keys.
        index: usize,
    },
    /// An aggregate's result.
    Aggregate {
        /// Position among the block's aggregates.
        index: usize,
    },
    /// A window function's result, or what is computed for windows.
    Window {
        /// Position among the block's.
        index: usize,
    },
}

/// A query: SELECT, UNION and its kin, VALUES.
#[derive(Debug)]
pub(crate) struct QueryPlan {
    /// Of the result.
    pub(crate) columns: Vec<ResultColumn>,
    /// The expressions' types.
    pub(crate) types: Vec<ExprType>,
    /// How its rows are made.
    pub(crate) body: QueryBody,
    /// `SELECT … INTO`: names of user variables.
    pub(crate) into: Vec<String>,
    /// What it does is measured: EXPLAIN ANALYZE, of a query that is not a block's root alone.
    pub(crate) counters: Option<Arc<Counters>>,
}

impl QueryPlan {
    /// How many rows it is expected to give, and what they cost.
    pub(crate) fn expected(&self) -> Expected {
        match &self.body {
            QueryBody::Block(block) => block.expected,
            QueryBody::Values(rows) => Expected { rows: rows.len() as f64, cost: 0.0 },
            QueryBody::Set(set) => {
                let branches = set.branches.iter().map(QueryPlan::expected);
                let rows = branches.clone().map(|branch| branch.rows);
                let rows = match set.kind {
                    SetKind::Union { .. } | SetKind::Recursive(_) => rows.sum(),
                    SetKind::Except { .. } => rows.take(1).sum(),
                    SetKind::Intersect { .. } => rows.fold(f64::INFINITY, f64::min),
                };
                Expected { rows, cost: branches.map(|branch| branch.cost).sum() }
            }
        }
    }

    /// Whether it is a block of groups.
    pub(crate) fn has_groups(&self) -> bool {
        matches!(&self.body, QueryBody::Block(block) if matches!(block.root, Node::Aggregate(_)))
    }

    /// The name of a window function that its outermost block computes.
    pub(crate) fn window_function(&self) -> Option<&'static str> {
        let QueryBody::Block(block) = &self.body else { return None };
        let Node::Window(window) = &block.root else { return None };
        window.windows.iter().flat_map(|(_, calls)| calls).map(|call| call.call.function.name()).next()
    }
}

/// The forms of a query.
#[derive(Debug)]
pub(crate) enum QueryBody {
    Block(Box<BlockPlan>),
    Set(Box<SetPlan>),
    Values(Vec<Vec<Expr>>),
}

/// One SELECT.
#[derive(Debug)]
pub(crate) struct BlockPlan {
    /// `id` of EXPLAIN.
    pub(crate) number: u32,
    /// The order of its joins was not searched to the end.
    pub(crate) is_greedy: bool,
    pub(crate) expected: Expected,
    /// Values per row of the frame.
    pub(crate) width: usize,
    /// What the slots are, for EXPLAIN.
    pub(crate) slots: Vec<SlotSource>,
    /// Where the columns of the statement are in the frame.
    pub(crate) layout: Layout,
    /// Copied from the enclosing block's row when the block is opened: (slot there, slot here).
    pub(crate) outer: Vec<(usize, usize)>,
    pub(crate) tables: Vec<PlannedTable>,
    pub(crate) subqueries: Vec<SubqueryPlan>,
    /// Subqueries that are run once, before the first row is read.
    pub(crate) constants: Vec<usize>,
    pub(crate) root: Node,
    /// The select list, over the rows of `root`.
    pub(crate) output: Vec<Expr>,
    /// SQL_CALC_FOUND_ROWS: count what LIMIT cuts off.
    pub(crate) count_found_rows: bool,
}

/// UNION, EXCEPT, INTERSECT.
#[derive(Debug)]
pub(crate) struct SetPlan {
    /// `id` of its result in EXPLAIN.
    pub(crate) number: u32,
    pub(crate) kind: SetKind,
    pub(crate) branches: Vec<QueryPlan>,
    /// Its columns, as expressions over a row of the result.
    pub(crate) distinct_keys: Vec<Expr>,
    pub(crate) order: Vec<OrderItem>,
    pub(crate) limit: Limit,
    /// SQL_CALC_FOUND_ROWS: count what LIMIT cuts off.
    pub(crate) count_found_rows: bool,
    /// What it does is measured: EXPLAIN ANALYZE.
    pub(crate) counters: Option<Box<SetCounters>>,
}

/// What a set operation does, step by step.
#[derive(Debug)]
pub(crate) struct SetCounters {
    pub(crate) rows: Arc<Counters>,
    pub(crate) sorted: Arc<Counters>,
    pub(crate) limited: Arc<Counters>,
}

/// A table of a block, as the plan knows it.
#[derive(Debug)]
pub(crate) struct PlannedTable {
    pub(crate) source: PlannedSource,
    /// Its database; `None` for a derived table.
    pub(crate) schema: Option<Arc<str>>,
    /// Its name in the statement.
    pub(crate) alias: Arc<str>,
    /// Of a common table expression, its name.
    pub(crate) cte: Option<Arc<str>>,
    /// Names of its columns, for EXPLAIN.
    pub(crate) columns: Vec<Arc<str>>,
}

/// Where rows come from.
#[derive(Debug)]
pub(crate) enum PlannedSource {
    Base(Arc<Table>),
    Virtual(Arc<dyn VirtualTable>),
    /// A subquery in FROM, or a CTE: one that stands in several places and is made once has a number.
    Derived(Box<QueryPlan>, Option<CteId>),
    /// The rows of a recursive CTE's last round, with so many values each.
    Round(CteId, usize),
    /// JSON_TABLE, whose document is over rows of the block.
    Json(Box<JsonTable>),
}

/// A subquery with its plan.
#[derive(Debug)]
pub(crate) struct SubqueryPlan {
    /// `None` for a function that waits.
    pub(crate) query: Option<QueryPlan>,
    pub(crate) kind: SubqueryKind,
    /// Where its result goes.
    pub(crate) slot: usize,
    pub(crate) correlated: bool,
    /// `= ANY` and `<> ALL` without correlation: the left side is looked up in a hash of the rows, compared like this.
    pub(crate) hashed: Option<Vec<Comparison>>,
    /// Where this is not true it is not run, and its value is NULL.
    pub(crate) guard: Option<Expr>,
}

/// An operator with its inputs.
#[derive(Debug)]
pub(crate) enum Node {
    /// One row, without any table.
    One,
    /// No row; why, for EXPLAIN.
    Nothing(&'static str),
    Access(Box<AccessNode>),
    Join(Box<JoinNode>),
    Filter {
        input: Box<Node>,
        conditions: Vec<Expr>,
    },
    /// Runs subqueries per row and puts their results into their slots.
    Apply {
        input: Box<Node>,
        subqueries: Vec<usize>,
    },
    Aggregate(Box<AggregateNode>),
    /// Puts values of expressions into slots.
    Compute {
        input: Box<Node>,
        exprs: Vec<(Expr, usize)>,
    },
    Window(Box<WindowNode>),
    /// Drops rows whose keys were seen before.
    Distinct {
        input: Box<Node>,
        keys: Vec<Expr>,
        /// Rows with equal keys come one after the other.
        together: bool,
    },
    /// With a limit, only so many of the first rows are kept.
    Sort {
        input: Box<Node>,
        keys: Vec<OrderItem>,
        limit: Limit,
    },
    Limit {
        input: Box<Node>,
        limit: Limit,
    },
    /// Does what its node does, and counts it: EXPLAIN ANALYZE.
    Measured(Box<MeasuredNode>),
}

impl Node {
    /// Whether it looks one row up: that is in any order, and within any LIMIT but 0.
    pub(crate) fn gives_one_row(&self) -> bool {
        let Node::Access(node) = self else { return false };
        matches!(&node.method, AccessMethod::Index(access, _) if access.is_single_row())
    }
}

/// A node whose rows and time are counted.
#[derive(Debug)]
pub(crate) struct MeasuredNode {
    pub(crate) node: Node,
    pub(crate) counters: Arc<Counters>,
}

impl Node {
    /// How many rows are expected of a node of joins.
    pub(crate) fn rows(&self) -> f64 {
        match self {
            Node::One => 1.0,
            Node::Nothing(_) => 0.0,
            Node::Access(access) => access.estimate.rows * access.estimate.filtered,
            Node::Join(join) => join.expected_rows,
            _ => self.inputs().map(Node::rows).sum(),
        }
    }

    /// What the rows of a node of joins cost.
    pub(crate) fn cost(&self) -> f64 {
        match self {
            Node::Access(access) => access.estimate.cost,
            Node::Join(join) => {
                let outer = (join.outer.cost(), join.outer.rows());
                match join.method {
                    JoinMethod::NestedLoop => outer.0 + outer.1 * join.inner.cost(),
                    JoinMethod::Buffered | JoinMethod::Hash(_) => {
                        outer.0 + join.inner.cost() + outer.1 + join.inner.rows()
                    }
                }
            }
            _ => self.inputs().map(Node::cost).sum(),
        }
    }

    /// The nodes whose rows it takes: none of a leaf, two of a join.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Node> {
        let (first, second) = match self {
            Node::One | Node::Nothing(_) | Node::Access(_) => (None, None),
            Node::Join(join) => (Some(&join.outer), Some(&join.inner)),
            Node::Aggregate(aggregate) => (Some(&aggregate.input), None),
            Node::Window(window) => (Some(&window.input), None),
            Node::Measured(measured) => (Some(&measured.node), None),
            Node::Filter { input, .. }
            | Node::Apply { input, .. }
            | Node::Compute { input, .. }
            | Node::Distinct { input, .. }
            | Node::Sort { input, .. }
            | Node::Limit { input, .. } => (Some(&**input), None),
        };
        first.into_iter().chain(second)
    }
}

/// Reads one table.
#[derive(Debug)]
pub(crate) struct AccessNode {
    /// Position among the block's tables.
    pub(crate) table: usize,
    pub(crate) method: AccessMethod,
    /// (column, slot) of what is needed from its rows, by column.
    pub(crate) decode: Vec<(usize, usize)>,
    /// Where the row image goes, if the statement changes the row.
    pub(crate) row_image: Option<usize>,
    /// Conditions on what the index holds, checked before the row is fetched.
    pub(crate) index_filter: Vec<Expr>,
    /// (position in the covering image, slot) of what `index_filter` needs.
    pub(crate) index_decode: Vec<(usize, usize)>,
    /// Conditions on the row, with the tables before it.
    pub(crate) filter: Vec<Expr>,
    pub(crate) lock: Option<RowLock>,
    pub(crate) estimate: Estimate,
    /// The index was chosen for the order of its rows.
    pub(crate) for_order: bool,
    /// Indexes that could have served, for EXPLAIN.
    pub(crate) possible: Vec<usize>,
}

/// How the rows of a table are found.
#[derive(Debug)]
pub(crate) enum AccessMethod {
    /// By an index of the engine; index 0 without ranges is the table scan.
    Index(IndexAccess, Covered),
    /// All rows of a virtual or derived table; they are not kept if they are read only once.
    All { streams: bool },
}

/// What the planner expects.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Estimate {
    /// Rows read per execution of the node.
    pub(crate) rows: f64,
    /// Part of them that passes the conditions, 0 to 1.
    pub(crate) filtered: f64,
    /// What that costs, in rows read from a tree.
    pub(crate) cost: f64,
}

/// How many rows something is expected to give, and what that costs, in rows read from a tree.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expected {
    pub(crate) rows: f64,
    pub(crate) cost: f64,
}

/// Joins the rows of two inputs.
#[derive(Debug)]
pub(crate) struct JoinNode {
    pub(crate) outer: Node,
    pub(crate) inner: Node,
    pub(crate) rows: JoinRows,
    pub(crate) method: JoinMethod,
    /// What makes a match, beyond the conditions inside `inner`.
    pub(crate) conditions: Vec<Expr>,
    /// The slots that `inner` fills.
    pub(crate) inner_slots: Vec<usize>,
    /// How many rows the planner expects it to give.
    pub(crate) expected_rows: f64,
}

/// Which rows a join gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JoinRows {
    /// Pairs that match.
    Inner,
    /// Those, and outer rows without a match, with NULLs.
    Left,
    /// Outer rows that have a match, each once.
    Semi,
    /// Outer rows that have none.
    Anti,
}

impl JoinRows {
    /// Whether one match of an outer row is as good as many.
    pub(crate) fn is_decided_by_one(self) -> bool {
        matches!(self, JoinRows::Semi | JoinRows::Anti)
    }

    /// Whether outer rows without a match are given.
    pub(crate) fn has_unmatched(self) -> bool {
        matches!(self, JoinRows::Left | JoinRows::Anti)
    }

    /// Whether an outer row is given as it is, when all of its matches are known.
    pub(crate) fn gives_outer(self, is_matched: bool) -> bool {
        match self {
            JoinRows::Inner => false,
            JoinRows::Left | JoinRows::Anti => !is_matched,
            JoinRows::Semi => is_matched,
        }
    }

    /// Which part of the outer rows can be in the result, if so many match each: what the keys of the inner rows leave of a scan below.
    pub(crate) fn share_given(self, matching: f64) -> f64 {
        if self.has_unmatched() { 1.0 } else { matching.min(1.0) }
    }

    /// How many rows come of one, if so many match it.
    pub(crate) fn of_one(self, matching: f64) -> f64 {
        match self {
            JoinRows::Inner => matching,
            JoinRows::Left => matching.max(1.0),
            JoinRows::Semi => matching.min(1.0),
            JoinRows::Anti => (1.0 - matching).max(0.1),
        }
    }
}

/// How a join is done.
#[derive(Debug)]
pub(crate) enum JoinMethod {
    /// The inner side is opened anew for each outer row, which gives the values to look up.
    NestedLoop,
    /// The inner side is read once; its rows are kept, and all of them are tried with each outer row.
    Buffered,
    /// The inner side is read once into a hash table.
    Hash(Vec<HashKey>),
}

/// One equality of a hash join.
#[derive(Debug)]
pub(crate) struct HashKey {
    pub(crate) outer: Expr,
    pub(crate) inner: Expr,
    pub(crate) comparison: Comparison,
}

/// Groups rows.
#[derive(Debug)]
pub(crate) struct AggregateNode {
    pub(crate) input: Node,
    pub(crate) keys: Vec<Expr>,
    /// Rows come ordered by the keys: a group ends where the keys change.
    pub(crate) ordered: bool,
    /// WITH ROLLUP: the slot of each key, NULL in totals over it.
    pub(crate) rollup: Option<Vec<usize>>,
    /// The slot for by how many keys a row is grouped, if anybody asks.
    pub(crate) grouped: Option<usize>,
    pub(crate) aggregates: Vec<(Arc<Aggregate>, usize)>,
}

/// Computes windows that partition and order their rows alike. Its input comes by partitions, and in that order within each.
#[derive(Debug)]
pub(crate) struct WindowNode {
    pub(crate) input: Node,
    pub(crate) partition: Vec<Expr>,
    /// Rows that are equal by it are peers.
    pub(crate) order: Vec<OrderItem>,
    /// Windows by their frames.
    pub(crate) windows: Vec<(Frame, Vec<BoundCall>)>,
}

impl WindowNode {
    /// All calls, each with its frame.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (&Frame, &BoundCall)> {
        self.windows.iter().flat_map(|(frame, calls)| calls.iter().map(move |call| (frame, call)))
    }

    /// Whether every row is complete as soon as it is read, so that nothing has to be kept.
    pub(crate) fn is_running(&self) -> bool {
        let is_running = |call: &BoundCall, frame: &Frame| {
            call.call.is_running() && (!call.call.function.is_framed() || frame.is_running())
        };
        self.windows.iter().all(|(frame, calls)| calls.iter().all(|call| is_running(call, frame)))
    }
}
