//! What is equal to a column that is equal to a constant is equal to that constant: `a.x = b.x AND a.x = 5` asks for `b.x = 5` too. So the
//! condition reaches an index of `b`, or goes into it if it is a subquery.
//!
//! Only where equality is the same whichever of them is asked: columns and constants of one kind, texts of one collation.

use base::SqlError;

use crate::bind::columns::{ColumnId, Columns};
use crate::bind::tree::{Block, BoundTable, FromTree};
use crate::expr::{CompareOp, Constancy, Expr, ExprKind, ExprType, Kind, build, order};
use crate::plan::rules::Rewrite;
use crate::plan::rules::substitute::Room;

/// So many equalities are looked at: what follows from them may be as many again.
const EQUALITIES_MAX: usize = 64;

pub(super) fn apply(block: &mut Block, rewrite: &mut Rewrite<'_>) -> Result<(), SqlError> {
    let new = Equalities::of(block, rewrite.columns).new_constants()?;
    block.filter.extend(new);
    Ok(())
}

/// The equalities that hold for all rows of a block.
pub(super) struct Equalities<'b> {
    columns: &'b Columns,
    tables: &'b [BoundTable],
    pub(super) pairs: Vec<(Expr, Expr)>,
    /// Columns with the constants that they are equal to.
    known: Vec<(ColumnId, Expr)>,
}

impl<'b> Equalities<'b> {
    /// Those of WHERE, and of joins that are in no outer one.
    pub(super) fn of(block: &'b Block, columns: &'b Columns) -> Self {
        let mut found = Equalities { columns, tables: &block.tables, pairs: Vec::new(), known: Vec::new() };
        block.filter.iter().for_each(|condition| found.add(condition));
        block.from.iter().for_each(|from| found.add_joins(from));
        found
    }

    fn add_joins(&mut self, tree: &FromTree) {
        let FromTree::Join { left, right, kind, on } = tree else { return };
        self.add_joins(left);
        // What an outer join's ON says holds for the rows only that it finds.
        if kind.is_inner() {
            self.add_joins(right);
            on.iter().for_each(|condition| self.add(condition));
        }
    }

    fn add(&mut self, condition: &Expr) {
        let ExprKind::Compare { op: CompareOp::Eq, args } = &condition.kind else { return };
        if !is_one_equality(&args[0].ty, &args[1].ty) || self.pairs.len() + self.known.len() >= EQUALITIES_MAX {
            return;
        }
        let is_constant = |expr: &Expr| {
            expr.constancy() <= Constancy::Execution && Room::default().takes(expr) && expr.slots().is_empty()
        };
        match (self.own(&args[0]), self.own(&args[1])) {
            (Some(_), Some(_)) => self.pairs.push((args[0].clone(), args[1].clone())),
            (Some(id), None) if is_constant(&args[1]) => self.known.push((id, args[1].clone())),
            (None, Some(id)) if is_constant(&args[0]) => self.known.push((id, args[0].clone())),
            _ => {}
        }
    }

    /// The column of one of the block's tables that an expression is.
    fn own(&self, expr: &Expr) -> Option<ColumnId> {
        expr.as_column().filter(|id| self.columns.place(*id, self.tables).is_some())
    }

    pub(super) fn constant_of(&self, id: Option<ColumnId>) -> Option<&Expr> {
        let id = id?;
        self.known.iter().find(|(known, _)| *known == id).map(|(_, constant)| constant)
    }

    /// The conditions that follow from those that are written.
    fn new_constants(mut self) -> Result<Vec<Expr>, SqlError> {
        let mut new = Vec::new();
        loop {
            let next = self.pairs.iter().find_map(|(left, right)| {
                let of = |expr: &Expr| self.constant_of(expr.as_column()).cloned();
                match (of(left), of(right)) {
                    (Some(constant), None) => Some((right.clone(), constant)),
                    (None, Some(constant)) => Some((left.clone(), constant)),
                    _ => None,
                }
            });
            let Some((column, constant)) = next else { return Ok(new) };
            self.known.extend(column.as_column().map(|id| (id, constant.clone())));
            if is_one_equality(&column.ty, &constant.ty) {
                new.push(build::compare(CompareOp::Eq, column, constant)?);
            }
        }
    }
}

/// Whether values of these types are equal in one way, which is that of each of them.
pub(crate) fn is_one_equality(left: &ExprType, right: &ExprType) -> bool {
    let Some(comparison) = order::comparison(left, right) else { return false };
    let is_list = order::is_member_list(left) || order::is_member_list(right);
    let is_own = comparison.kind != Kind::Str
        || comparison.collation == left.collation && comparison.collation == right.collation;
    left.kind == right.kind && is_own && !is_list
}
