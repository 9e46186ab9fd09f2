//! A block's windows: in which order they are computed, and what has to be sorted for that.
//!
//! ```text
//!   rows ── what windows read, computed once ── sort ── windows of one order ── sort ── windows of another ── …
//! ```
//!
//! Windows are computed in the order in which they are written, as by MySQL, but that those whose keys begin another one's come right behind it: its
//! rows are in their order too. So there are as many sorts as there are orders of which none begins another.
//!
//! Each row's values are computed before the first sort: an argument, a key or a bound has one value wherever it is looked at (RAND()), and
//! its warnings come once. The default of LAG and LEAD is computed only where it is given.

use types::ColumnType;

use crate::bind::columns::{ColumnSource, Columns};
use crate::bind::tree::{Block, Limit, OrderItem};
use crate::bind::window::BoundWindow;
use crate::expr::{Constancy, Expr, ExprType, Kind};
use crate::plan::block::apply_for;
use crate::plan::node::{Node, WindowNode};

/// So many computed expressions are compared with a new one.
const COMPARED_MAX: usize = 256;

/// Puts the windows in the order in which they are computed, and what they read into columns.
pub(super) fn prepare_windows(block: &mut Block, columns: &mut Columns) {
    if block.windows.is_empty() {
        return;
    }
    let mut computed = std::mem::take(&mut block.computed);
    let mut compute = |expr: &mut Expr| {
        if expr.as_column().is_some() || expr.constancy() <= Constancy::Execution {
            return;
        }
        // Kept in a column, a condition's value is a number, and a double a column's where bits are wanted of it.
        let origin = match expr.ty.kind {
            _ if expr.ty.is_truth() => Some(ColumnType::Int { unsigned: false }),
            Kind::Double => Some(ColumnType::Double { unsigned: false }),
            _ => None,
        };
        let ty = ExprType { origin: origin.or(expr.ty.origin.clone()), ..expr.ty.clone() };
        let is_repeatable = expr.constancy() < Constancy::Volatile;
        let known = computed.iter().take(COMPARED_MAX).find(|(known, _)| is_repeatable && known == expr);
        let id = known.map_or_else(|| columns.add(ColumnSource::Window, ty.clone(), 0), |(_, id)| *id);
        let is_new = known.is_none();
        let written = std::mem::replace(expr, Expr::column(id, ty));
        if is_new {
            computed.push((written, id));
        }
    };
    for window in &mut block.windows {
        window.partition.iter_mut().chain(window.order.iter_mut().map(|item| &mut item.expr)).for_each(&mut compute);
    }
    for window in &mut block.windows {
        window.frame.exprs_mut().for_each(&mut compute);
        window.calls.iter_mut().flat_map(|call| call.call.read_of_others_mut()).for_each(&mut compute);
    }
    block.computed = computed;
    block.windows = arranged(std::mem::take(&mut block.windows));
}

fn arranged(windows: Vec<BoundWindow>) -> Vec<BoundWindow> {
    let mut waiting: Vec<(Vec<OrderItem>, BoundWindow)> =
        windows.into_iter().map(|window| (sort_keys(&window), window)).collect();
    let mut arranged = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let first = &waiting[0].0;
        let leads =
            |keys: &[OrderItem]| first.is_empty() && keys.is_empty() || !first.is_empty() && keys.starts_with(first);
        let longest = waiting.iter().filter(|(keys, _)| leads(keys)).max_by_key(|(keys, _)| keys.len());
        let longest = longest.map_or_else(Vec::new, |(keys, _)| keys.clone());
        let shares =
            |keys: &[OrderItem]| longest.is_empty() && keys.is_empty() || !keys.is_empty() && longest.starts_with(keys);
        let (mut next, rest): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|(keys, _)| shares(keys));
        next.sort_by_key(|(keys, _)| std::cmp::Reverse(keys.len()));
        arranged.extend(next.into_iter().map(|(_, window)| window));
        waiting = rest;
    }
    arranged
}

/// By what a window's rows are sorted.
fn sort_keys(window: &BoundWindow) -> Vec<OrderItem> {
    window.sort_keys().filter(|item| item.expr.constancy() > Constancy::Execution).collect()
}

/// The order in which a block wants its rows from the joins.
pub(super) fn wanted_by_windows(block: &Block) -> Vec<OrderItem> {
    match block.windows.first() {
        Some(_) if block.windows.iter().all(|window| sort_keys(window).is_empty()) => block.order.clone(),
        Some(first) => sort_keys(first),
        None => Vec::new(),
    }
}

/// The nodes that compute a block's windows, on top of rows that come in the order that its windows wanted or not; and whether the block's own order
/// is that of the rows then.
pub(super) fn windows(
    block: &mut Block,
    columns: &Columns,
    (mut node, arrives_ordered): (Node, bool),
    applied: &mut Vec<usize>,
) -> (Node, bool) {
    let mut sorted = if arrives_ordered { wanted_by_windows(block) } else { Vec::new() };
    let (list, computed) = (std::mem::take(&mut block.windows), std::mem::take(&mut block.computed));
    let mut read = Vec::new();
    list.iter().for_each(|window| window.for_each_expr(&mut |expr| read.push(expr.clone())));
    node = apply_for((block, columns), node, computed.iter().map(|(expr, _)| expr).chain(&read), applied);
    if !computed.is_empty() {
        node = Node::Compute { input: Box::new(node), exprs: computed.clone() };
    }
    let mut list = list.into_iter().peekable();
    while let Some(window) = list.next() {
        let keys = sort_keys(&window);
        if !sorted.starts_with(&keys) {
            sorted = keys.clone();
            node = Node::Sort { input: Box::new(node), keys, limit: Limit::default() };
        }
        let BoundWindow { partition, order, frame, calls, .. } = window;
        let mut windows = vec![(frame, calls)];
        while let Some(other) = list.next_if(|other| other.partition == partition && other.order == order) {
            windows.push((other.frame, other.calls));
        }
        node = Node::Window(Box::new(WindowNode { input: node, partition, order, windows }));
    }
    let meant = |expr: &Expr| {
        let of_column = computed.iter().find(|(_, id)| expr.as_column() == Some(*id));
        of_column.map_or_else(|| expr.clone(), |(written, _)| written.clone())
    };
    let by: Vec<OrderItem> =
        sorted.iter().map(|item| OrderItem { expr: meant(&item.expr), descending: item.descending }).collect();
    // What is made distinct may come in another order.
    (node, block.order.is_empty() || !block.distinct && by.starts_with(&block.order))
}
