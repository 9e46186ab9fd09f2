//! Changes that are refused because of what they might change: without a key under `sql_safe_updates`, or of one table under two names.

use base::{SqlError, codes};

use crate::dml::{DeletePlan, Target, UpdatePlan};
use crate::expr::Expr;
use crate::plan::node::{AccessMethod, AccessNode, BlockPlan, JoinMethod, Node, PlannedSource, SlotSource};
use crate::write::Assignments;

impl UpdatePlan {
    /// 1175 if it might change rows that no key limits.
    pub(crate) fn check_safe(&self) -> Result<(), SqlError> {
        check_safe(&self.block)
    }
}

impl DeletePlan {
    /// 1175 if it might delete rows that no key limits.
    pub(crate) fn check_safe(&self) -> Result<(), SqlError> {
        check_safe(&self.block)
    }
}

/// `sql_safe_updates`: one table needs a condition over a key, or a LIMIT; of several those that are changed may not be read as a whole.
fn check_safe(block: &BlockPlan) -> Result<(), SqlError> {
    let mut accesses = Vec::new();
    if !all_accesses(&block.root, block, &mut accesses) {
        return Ok(());
    }
    let is_safe = match (&block.tables[..], &accesses[..]) {
        ([_], [access]) => !access.possible.is_empty(),
        _ => accesses.iter().filter(|access| access.row_image.is_some()).all(|access| match &access.method {
            AccessMethod::Index(index, _) => !index.parts.is_empty(),
            AccessMethod::All { .. } => false,
        }),
    };
    if is_safe {
        return Ok(());
    }
    let message =
        "You are using safe update mode and you tried to update a table without a WHERE that uses a KEY column. ";
    Err(SqlError::new(codes::UPDATE_WITHOUT_KEY_IN_SAFE_MODE, message))
}

/// Finds how the tables are read; `false` if there is nothing to read, or a limit to it. What is read for a hash join over a key counts as
/// looked up: that the table is read as a whole is this server's choice.
fn all_accesses<'n>(node: &'n Node, block: &BlockPlan, accesses: &mut Vec<&'n AccessNode>) -> bool {
    match node {
        Node::One => true,
        Node::Nothing(_) | Node::Limit { .. } => false,
        Node::Access(access) => {
            accesses.push(access);
            true
        }
        Node::Join(join) => {
            let keys = match &join.method {
                JoinMethod::Hash(keys) => &keys[..],
                JoinMethod::NestedLoop | JoinMethod::Buffered => &[],
            };
            let mut inner = Vec::new();
            let reads = all_accesses(&join.outer, block, accesses) && all_accesses(&join.inner, block, &mut inner);
            accesses.extend(
                inner.into_iter().filter(|access| !keys.iter().any(|key| begins_index(&key.inner, access, block))),
            );
            reads
        }
        node => node.inputs().all(|input| all_accesses(input, block, accesses)),
    }
}

/// Whether an expression is the first column of an index of the table.
fn begins_index(expr: &Expr, access: &AccessNode, block: &BlockPlan) -> bool {
    let Some(SlotSource::Column { table, column }) = expr.as_column().map(|slot| block.slots[slot]) else {
        return false;
    };
    let PlannedSource::Base(base) = &block.tables[table].source else { return false };
    table == access.table
        && base.def.indexes.iter().any(|index| index.parts.first().is_some_and(|part| part.column == column))
}

/// 1706 if a table is updated under two names and its rows may move: a row that one of them has moved is not found by the other.
pub(super) fn check_key_conflict(
    targets: &[(Target, Assignments)],
    names: &[std::sync::Arc<str>],
) -> Result<(), SqlError> {
    for (number, (target, assignments)) in targets.iter().enumerate() {
        for (other_number, (other, other_assignments)) in targets.iter().enumerate().skip(number + 1) {
            let key = &target.table.def.primary().parts;
            let moves =
                |assignments: &Assignments| key.iter().any(|part| assignments.touches(part.column, &target.maker));
            if target.table.id() == other.table.id() && (moves(assignments) || moves(other_assignments)) {
                let message = format!(
                    "Primary key/partition key update is not allowed since the table is updated both as '{}' and '{}'.",
                    names[number], names[other_number]
                );
                return Err(SqlError::new(codes::MULTI_UPDATE_KEY_CONFLICT, message));
            }
        }
    }
    Ok(())
}
