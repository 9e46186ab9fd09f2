//! Optimizer hints, where they meet the tables of their blocks.
//!
//! What names no table or index of a block is a warning (3128). A hint that has no meaning for this planner does nothing: which buffers a join
//! uses, say.

use base::{SqlError, codes};
use syntax::ast::{IndexHintKind, IndexHintScope};

use crate::bind::Binder;
use crate::bind::columns::TableId;
use crate::bind::tree::{BoundTable, IndexHint, TableSource};
use crate::expr::WarningLevel;
use crate::parse::hint::{Hint, HintedTable};

/// What hints say of a block.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockHints {
    /// Tables that come one after the other.
    pub(crate) orders: Vec<HintedOrder>,
    /// As a subquery it is run as one, and becomes no table of the block around it.
    pub(crate) stays_subquery: bool,
}

/// An order of tables that is asked for.
#[derive(Clone, Debug)]
pub(crate) struct HintedOrder {
    pub(crate) part: OrderPart,
    pub(crate) tables: Vec<TableId>,
}

/// Which part of the whole order it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OrderPart {
    /// JOIN_PREFIX
    First,
    /// JOIN_ORDER
    Anywhere,
    /// JOIN_SUFFIX
    Last,
}

/// The hints about indexes: what they say, and for what.
const OF_INDEXES: [(&str, IndexHintKind, Option<IndexHintScope>); 8] = [
    ("INDEX", IndexHintKind::Force, None),
    ("NO_INDEX", IndexHintKind::Ignore, None),
    ("JOIN_INDEX", IndexHintKind::Force, Some(IndexHintScope::Join)),
    ("NO_JOIN_INDEX", IndexHintKind::Ignore, Some(IndexHintScope::Join)),
    ("ORDER_INDEX", IndexHintKind::Force, Some(IndexHintScope::OrderBy)),
    ("NO_ORDER_INDEX", IndexHintKind::Ignore, Some(IndexHintScope::OrderBy)),
    ("GROUP_INDEX", IndexHintKind::Force, Some(IndexHintScope::GroupBy)),
    ("NO_GROUP_INDEX", IndexHintKind::Ignore, Some(IndexHintScope::GroupBy)),
];

impl Binder<'_> {
    /// Gives the tables of the innermost block what hints say of them; what they say of the block, and whether its tables are joined in the
    /// order of the text.
    pub(crate) fn hint_block(&mut self, start: usize, number: u32) -> (BlockHints, bool) {
        let (mut of_block, mut is_fixed) = (BlockHints::default(), false);
        if self.hints.of_plans.is_empty() {
            return (of_block, is_fixed);
        }
        let hints: Vec<Hint> = self.hints.of_block(start, number).cloned().collect();
        let mut indexes: Vec<(usize, IndexHint)> = Vec::new();
        for hint in &hints {
            match hint.name {
                "JOIN_FIXED_ORDER" => is_fixed = true,
                "JOIN_PREFIX" => of_block.orders.push(self.hinted_order(hint, OrderPart::First)),
                "JOIN_ORDER" => of_block.orders.push(self.hinted_order(hint, OrderPart::Anywhere)),
                "JOIN_SUFFIX" => of_block.orders.push(self.hinted_order(hint, OrderPart::Last)),
                "NO_SEMIJOIN" => of_block.stays_subquery |= hint.words.is_empty(),
                "SUBQUERY" => of_block.stays_subquery = true,
                "SEMIJOIN" => {}
                _ => self.hint_table(hint, number, &mut indexes),
            }
        }
        let tables = &mut self.scope().tables;
        for (table, _) in &indexes {
            // They count in place of those in FROM.
            tables[*table].hints.clear();
        }
        indexes.into_iter().for_each(|(table, hint)| tables[table].hints.push(hint));
        (of_block, is_fixed)
    }

    /// The same of an UPDATE or a DELETE.
    pub(crate) fn hint_changing_block(&mut self, number: u32) {
        let (hints, straight_join) = self.hint_block(self.hints.statement_start, number);
        self.scope().hints = hints;
        self.scope().straight_join = straight_join;
    }

    fn hinted_order(&mut self, hint: &Hint, part: OrderPart) -> HintedOrder {
        let mut tables = Vec::with_capacity(hint.tables.len());
        for table in &hint.tables {
            match position(&self.scope().tables, &table.name) {
                Some(found) => tables.push(self.scope().tables[found].id),
                // Those of other blocks may become tables of this one, or not.
                None if table.block.as_ref().is_some_and(|block| self.hints.has_block(block)) => {}
                None => self.warn_unresolved(&table.to_string(), hint),
            }
        }
        HintedOrder { part, tables }
    }

    fn hint_table(&mut self, hint: &Hint, number: u32, indexes: &mut Vec<(usize, IndexHint)>) {
        let tables: Vec<Option<usize>> = match &hint.tables[..] {
            [] => (0..self.scope().tables.len()).map(Some).collect(),
            named => named.iter().map(|table| position(&self.scope().tables, &table.name)).collect(),
        };
        for (at, found) in tables.into_iter().enumerate() {
            match found {
                Some(table) if hint.name == "NO_MERGE" => self.scope().tables[table].no_merge = true,
                Some(table) => self.hint_indexes(hint, number, table, indexes),
                None => self.warn_no_table(&hint.tables[at], hint, number),
            }
        }
    }

    fn hint_indexes(&mut self, hint: &Hint, number: u32, table: usize, indexes: &mut Vec<(usize, IndexHint)>) {
        let TableSource::Base(base) = &self.scope().tables[table].source else { return };
        let def = &base.def;
        let found: Vec<Option<usize>> = hint.words.iter().map(|name| def.index_number(name)).collect();
        let all = def.indexes.len();
        for (name, found) in hint.words.iter().zip(&found) {
            if found.is_none() {
                let alias = &self.scope().tables[table].alias;
                let what = format!("`{alias}`@`select#{number}` `{name}`");
                self.warn_unresolved(&what, hint);
            }
        }
        let Some((_, kind, scope)) = OF_INDEXES.iter().find(|(name, ..)| *name == hint.name) else { return };
        let named: Vec<usize> = found.into_iter().flatten().collect();
        let of_all = hint.words.is_empty();
        if named.is_empty() && !of_all {
            return;
        }
        let of = if of_all { (0..all).collect() } else { named };
        indexes.push((table, IndexHint { kind: *kind, scope: *scope, indexes: of }));
    }

    fn warn_no_table(&mut self, table: &HintedTable, hint: &Hint, number: u32) {
        let what = format!("`{}`@`select#{number}`", table.name);
        self.warn_unresolved(&what, hint);
        for index in &hint.words {
            self.warn_unresolved(&format!("{what} `{index}`"), hint);
        }
    }

    /// 3128
    fn warn_unresolved(&self, what: &str, hint: &Hint) {
        let message = format!("Unresolved name {what} for {} hint", hint.name);
        let warning = SqlError::new(codes::WARN_UNKNOWN_NAME_IN_HINT, message);
        self.context.warnings.push_error(WarningLevel::Warning, &warning);
    }
}

fn position(tables: &[BoundTable], name: &str) -> Option<usize> {
    tables.iter().position(|table| *table.alias == *name)
}
