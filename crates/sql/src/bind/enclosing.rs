//! Aggregates in subqueries over nothing but columns of an enclosing block: they are that block's.

use base::{SqlError, codes};
use syntax::ast as sql;

use crate::bind::Binder;
use crate::bind::alias::NO_ALIASES;
use crate::bind::expr::{Clause, ExprScope};
use crate::bind::scope::Place;
use crate::expr::{Expr, SlotSet};

/// An aggregate where it is bound: its address, the blocks that were begun before it, and those around it. A CTE's is in several places.
pub(super) type Occurrence = (usize, u32, usize);

impl<'a> Binder<'a> {
    /// Which enclosing block an aggregate is of; `None` if it is of the innermost one. It is the block of the innermost columns that
    /// it reads, or, if none of its may be called there, the next block inside of that where it may.
    ///
    /// Its arguments are bound to find that out, and once more afterwards. The answer is kept, so that one in another's arguments is not
    /// looked for twice as often with each level.
    pub(super) fn aggregate_level(
        &mut self,
        function: &'a sql::Call,
        scope: ExprScope<'_>,
    ) -> Result<Option<usize>, SqlError> {
        let occurrence = (std::ptr::from_ref(function).addr(), self.blocks, self.scopes.len());
        if let Some(level) = self.aggregate_levels.get(&occurrence) {
            return Ok(*level);
        }
        let level = self.find_aggregate_level(function, scope)?;
        self.aggregate_levels.insert(occurrence, level);
        Ok(level)
    }

    fn find_aggregate_level(
        &mut self,
        function: &'a sql::Call,
        scope: ExprScope<'_>,
    ) -> Result<Option<usize>, SqlError> {
        let innermost = self.scopes.len().saturating_sub(1);
        if innermost == 0 || self.scopes[innermost].sees.is_some() {
            return Ok(None);
        }
        let Some(deepest) = self.deepest_read(function, scope) else { return Ok(None) };
        if deepest < innermost && self.scopes[deepest].place == Place::Aggregate {
            return Err(misplaced());
        }
        Ok((deepest..innermost).find(|level| self.scopes[*level].place == Place::Groups))
    }

    /// The innermost block of which the arguments read columns; `None` if they read none, or cannot be bound. They are bound for that, and
    /// nothing of it stays.
    fn deepest_read(&mut self, function: &'a sql::Call, scope: ExprScope<'_>) -> Option<usize> {
        let before: Vec<_> = self
            .scopes
            .iter()
            .map(|scope| (scope.outer.len(), scope.subqueries.len(), scope.aggregates.len(), scope.place))
            .collect();
        let columns = self.columns.mark();
        let noted = (self.constants.len(), self.uses.len(), self.temporary.len());
        let counted = (self.blocks, self.expansions);
        let inner = scope.of_aggregate();
        let order_by = function.clauses.as_ref().map_or(&[][..], |clauses| &clauses.order_by);
        let mut bound: Vec<Result<Expr, SqlError>> =
            function.args.iter().map(|arg| self.bind_expr(arg, inner)).collect();
        bound.extend(order_by.iter().map(|item| self.bind_expr(&item.expr, inner)));
        let mut slots = SlotSet::default();
        let is_bound = bound.iter().all(Result::is_ok);
        bound.iter().flatten().for_each(|expr| expr.collect_slots(&mut slots));
        let deepest = self.deepest_of(slots).filter(|_| is_bound);
        for (scope, (outer, subqueries, aggregates, place)) in self.scopes.iter_mut().zip(before) {
            scope.outer.truncate(outer);
            scope.subqueries.truncate(subqueries);
            scope.aggregates.truncate(aggregates);
            scope.place = place;
        }
        self.columns.back_to(columns);
        self.constants.truncate(noted.0);
        self.uses.truncate(noted.1);
        self.temporary.truncate(noted.2);
        (self.blocks, self.expansions) = counted;
        deepest
    }

    /// The innermost block that has one of these columns. The result of a subquery of the innermost block is of those that the subquery reads.
    fn deepest_of(&self, columns: SlotSet) -> Option<usize> {
        let subqueries = self.scopes.last().map_or(&[][..], |scope| &scope.subqueries);
        let (mut deepest, mut left, mut seen) = (None, columns.into_vec(), SlotSet::default());
        while let Some(id) = left.pop() {
            match subqueries.iter().find(|subquery| subquery.id == id) {
                Some(subquery) if seen.insert(id) => {
                    let mut read = SlotSet::default();
                    subquery.collect_read(&mut read);
                    left.extend(read.into_vec());
                }
                Some(_) => {}
                None => deepest = deepest.max(Some(self.columns.level(id))),
            }
        }
        deepest
    }

    /// Binds an aggregate as that block's, and hands its value on to the innermost one.
    pub(super) fn bind_in_enclosing(
        &mut self,
        level: usize,
        name: &str,
        function: &'a sql::Call,
        clause: Clause,
    ) -> Result<Expr, SqlError> {
        let inner = self.scopes.split_off(level + 1);
        let bound = self.bind_aggregate(name, function, ExprScope::of_groups(clause, &NO_ALIASES));
        self.scopes.extend(inner);
        Ok(self.handed_on(bound?, level))
    }
}

/// 1111
pub(crate) fn misplaced() -> SqlError {
    SqlError::new(codes::INVALID_GROUP_FUNC_USE, "Invalid use of group function")
}
