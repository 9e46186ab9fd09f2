//! Common table expressions: what WITH names, and what stands for such a name.
//!
//! Each place in which a name stands has the query bound anew, since it may be merged into the block there. One that is not merged and stands in
//! several places is made once ([`CteUses`]).
//!
//! A recursive one is a UNION. Its first branches, the *seeds*, do not name it and give its columns their types; each of the others, the *steps*,
//! names it once, and reads there the rows that the round before has given, as from a table into which they were inserted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::{SqlError, codes};
use syntax::ast as sql;
use types::ColumnDef;

use crate::bind::Binder;
use crate::bind::from::{named_columns, unnamed_table};
use crate::bind::query::Tail;
use crate::bind::scope::{Scope, not_unique};
use crate::bind::set_operation::{column_of, conform, wrong_column_count};
use crate::bind::tree::{
    Block, BoundBody, BoundQuery, BoundTable, ColumnInfo, CteId, CteUses, FromTree, JoinKind, Recursion, SetKind,
    SetOperation, TableSource,
};
use crate::expr::{ExprType, Kind};

/// How often the CTEs of a statement may stand in the place of their names, as in MySQL: each time they are bound and planned anew.
const CTE_EXPANSIONS_MAX: usize = 1024;

/// A common table expression that is in scope.
pub(super) struct Cte<'a> {
    name: String,
    /// Names of its columns; the query's own if there are none.
    columns: Vec<String>,
    query: &'a sql::Query,
    /// How many CTEs its own query may see.
    visible: usize,
    /// Columns of how many of the outermost blocks it may read: those around the query that has the WITH.
    sees: usize,
    /// WITH RECURSIVE
    may_recur: bool,
    uses: Arc<CteUses>,
    /// How many blocks there were when it was bound first: they have the same numbers each time.
    first_block: Option<u32>,
    /// While its own query is bound.
    under_way: Option<UnderWay>,
}

/// What is known of a recursive CTE while its query is bound.
#[derive(Default)]
struct UnderWay {
    /// It is a UNION.
    is_union: bool,
    /// From the seeds so far; `None` before the first.
    columns: Option<Vec<ColumnInfo>>,
    /// The rows that a step reads.
    rows: CteId,
    /// How often the branch that is being bound has named it.
    references: usize,
    /// How many scopes there are in a step's own FROM.
    depth: usize,
}

impl<'a> Binder<'a> {
    /// Adds what WITH names to the names that a query may have for tables.
    pub(crate) fn add_ctes(&mut self, with: &'a sql::With) -> Result<(), SqlError> {
        let before = self.ctes.len();
        for cte in &with.ctes {
            let name = cte.name.text.to_string();
            if self.ctes[before..].iter().any(|other| other.name == name) {
                return Err(not_unique(&name));
            }
            let columns = cte.columns.iter().map(|column| column.text.to_string()).collect();
            let visible = self.ctes.len() + usize::from(with.recursive);
            let uses = Arc::new(CteUses { id: self.next_cte(), name: Arc::from(&*name), count: AtomicUsize::new(0) });
            let (may_recur, query, sees) = (with.recursive, &cte.query, self.scopes.len());
            self.ctes.push(Cte {
                name,
                columns,
                query,
                visible,
                sees,
                may_recur,
                uses,
                first_block: None,
                under_way: None,
            });
        }
        Ok(())
    }

    fn next_cte(&mut self) -> CteId {
        self.cte_ids += 1;
        CteId(self.cte_ids)
    }

    /// The table that a name without a database stands for, if WITH gives it.
    pub(super) fn bind_cte(&mut self, name: &str, alias: &str) -> Result<Option<BoundTable>, SqlError> {
        let Some(at) = self.ctes.iter().rposition(|cte| cte.name == name) else { return Ok(None) };
        if self.ctes[at].under_way.is_some() {
            return self.bind_itself(at, alias).map(Some);
        }
        self.expand_cte()?;
        let Cte { query, visible, sees, may_recur, .. } = self.ctes[at];
        let blocks = self.blocks;
        self.blocks = *self.ctes[at].first_block.get_or_insert(blocks);
        let hidden = self.ctes.split_off(visible);
        let bound = if may_recur { self.bind_recursive(at) } else { self.bind_in_from(query, sees) };
        self.ctes.truncate(visible);
        self.ctes.extend(hidden);
        self.blocks = self.blocks.max(blocks);
        let (bound, cte) = (bound?, &self.ctes[at]);
        let columns = named_columns(&bound, &cte.columns)?;
        cte.uses.count.fetch_add(1, Ordering::Relaxed);
        let (source, uses) = (TableSource::Derived(Box::new(bound)), Some(cte.uses.clone()));
        Ok(Some(BoundTable { source, cte: uses, ..unnamed_table(alias, alias, columns) }))
    }

    /// Counts one more place in which a query is bound that is written once: CTEs that name others twice become many.
    pub(super) fn expand_cte(&mut self) -> Result<(), SqlError> {
        self.expansions += 1;
        if self.expansions <= CTE_EXPANSIONS_MAX {
            return Ok(());
        }
        let message = "Common table expression expansion exceeded an implementation limit. Simplify the query.";
        Err(SqlError::new(codes::CTE_EXPANSION_LIMIT, message))
    }

    /// A CTE that may name itself.
    fn bind_recursive(&mut self, at: usize) -> Result<BoundQuery, SqlError> {
        let query = self.ctes[at].query;
        let under_way = UnderWay { rows: self.next_cte(), depth: self.scopes.len() + 2, ..UnderWay::default() };
        self.ctes[at].under_way = Some(under_way);
        self.scopes.push(Scope { sees: Some(self.ctes[at].sees), ..Scope::default() });
        let depth = self.scopes.len();
        let bound = match &query.body {
            sql::Body::Set(first, others) if others.iter().all(|branch| branch.op == sql::SetOp::Union) => {
                self.bind_rounds(at, query, (first, others))
            }
            _ => self.bind_query(query),
        };
        self.scopes.truncate(depth - 1);
        self.ctes[at].under_way = None;
        bound
    }

    /// A UNION whose branches may name the CTE.
    fn bind_rounds(
        &mut self,
        at: usize,
        query: &'a sql::Query,
        (first, others): (&'a sql::Body, &'a [sql::SetBranch]),
    ) -> Result<BoundQuery, SqlError> {
        if let Some(with) = &query.with {
            self.add_ctes(with)?;
        }
        self.under_way(at).is_union = true;
        let (mut seeds, mut steps) = (Vec::new(), Vec::new());
        for (number, body) in [first].into_iter().chain(others.iter().map(|branch| &branch.body)).enumerate() {
            self.under_way(at).references = 0;
            let lock = query.locks.first().filter(|_| number == others.len());
            let branch = self.bind_body(body, Tail { lock, ..Tail::default() })?;
            match self.under_way(at).references {
                0 if !steps.is_empty() => return Err(self.seeds_first(at)),
                0 => {
                    seeds.push(branch);
                    let columns = seed_columns(&seeds, &self.ctes[at].columns)?;
                    self.under_way(at).columns = Some(columns);
                }
                _ => steps.push(self.checked_step(at, branch)?),
            }
        }
        self.ctes.truncate(at + 1);
        let distinct_until = others.iter().rposition(|branch| !branch.all).map(|last| last + 1);
        let tail = Tail { order: &query.order_by, limit: query.limit.as_ref(), lock: None, into: query.into.as_ref() };
        match steps.is_empty() {
            true => self.bind_operation(seeds, SetKind::Union { distinct_until }, false, tail),
            false => self.bind_recursion(at, (seeds, steps), distinct_until, tail),
        }
    }

    fn bind_recursion(
        &mut self,
        at: usize,
        (seeds, steps): (Vec<BoundQuery>, Vec<BoundQuery>),
        distinct_until: Option<usize>,
        tail: Tail<'a>,
    ) -> Result<BoundQuery, SqlError> {
        if !tail.order.is_empty() {
            return Err(SqlError::not_supported("ORDER BY over UNION in recursive Common Table Expression"));
        }
        let count = seeds.len();
        let is_distinct = distinct_until.is_some_and(|last| last >= count);
        if is_distinct && distinct_until != Some(count + steps.len() - 1) {
            let what =
                "recursive query blocks with UNION DISTINCT then UNION ALL, in recursive Common Table Expression";
            return Err(SqlError::not_supported(what));
        }
        let kind = SetKind::Union { distinct_until: distinct_until.filter(|_| count > 1 && !is_distinct) };
        let mut seed = match <[BoundQuery; 1]>::try_from(seeds) {
            Ok([seed]) => seed,
            Err(seeds) => self.bind_operation(seeds, kind, false, Tail::default())?,
        };
        let infos = self.under_way(at).columns.take().unwrap_or_default();
        let types: Vec<ExprType> = infos.iter().map(|info| info.ty.clone()).collect();
        if steps.iter().any(|step| step.types.len() != types.len()) {
            return Err(wrong_column_count());
        }
        conform(&mut seed, &types, &self.columns)?;
        let stored = infos.iter().map(|info| info.ty.to_column(&info.name)).collect();
        let recursion = Recursion { rows: self.under_way(at).rows, is_distinct, columns: stored };
        let columns = seed.columns.iter().zip(&types);
        let columns = columns.map(|(column, ty)| crate::bind::output::of_union(column.name.clone(), ty)).collect();
        let set = SetOperation {
            number: self.next_block(),
            kind: SetKind::Recursive(Arc::new(recursion)),
            branches: [seed].into_iter().chain(steps).collect(),
            distinct: types.clone(),
            order: Vec::new(),
            limit: self.bind_limit(tail.limit)?,
            count_found_rows: false,
        };
        Ok(BoundQuery { body: BoundBody::Set(Box::new(set)), columns, types, into: Vec::new() })
    }

    /// The CTE's own name in its query: the rows of the round before.
    fn bind_itself(&mut self, at: usize, alias: &str) -> Result<BoundTable, SqlError> {
        let scopes = self.scopes.len();
        let name = self.ctes[at].name.clone();
        let under_way = self.under_way(at);
        if !under_way.is_union {
            let message = format!("Recursive Common Table Expression '{name}' should contain a UNION");
            return Err(SqlError::new(codes::CTE_RECURSIVE_REQUIRES_UNION, message));
        }
        under_way.references += 1;
        let Some(columns) = under_way.columns.clone() else { return Err(self.seeds_first(at)) };
        if under_way.references > 1 || under_way.depth != scopes {
            let message = format!(
                "In recursive query block of Recursive Common Table Expression '{name}', the recursive table must be \
                 referenced only once, and not in any subquery"
            );
            return Err(SqlError::new(codes::CTE_RECURSIVE_REQUIRES_SINGLE_REFERENCE, message));
        }
        Ok(BoundTable { source: TableSource::Round(under_way.rows), ..unnamed_table(alias, alias, columns) })
    }

    fn under_way(&mut self, at: usize) -> &mut UnderWay {
        self.ctes[at].under_way.get_or_insert_default()
    }

    /// 3574
    fn seeds_first(&self, at: usize) -> SqlError {
        let message = format!(
            "Recursive Common Table Expression '{}' should have one or more non-recursive query blocks followed by one or \
             more recursive ones",
            self.ctes[at].name
        );
        SqlError::new(codes::CTE_RECURSIVE_REQUIRES_NONRECURSIVE_FIRST, message)
    }

    /// A step that is one SELECT which gives its rows as they are.
    fn checked_step(&self, at: usize, step: BoundQuery) -> Result<BoundQuery, SqlError> {
        let name = &self.ctes[at].name;
        let BoundBody::Block(block) = &step.body else { return Err(self.seeds_first(at)) };
        if !block.gives_rows_of_tables() {
            let message = format!(
                "Recursive Common Table Expression '{name}' can contain neither aggregation nor window functions in \
                 recursive query block"
            );
            return Err(SqlError::new(codes::CTE_RECURSIVE_FORBIDS_AGGREGATION, message));
        }
        if block.distinct || !block.order.is_empty() || !block.limit.is_none() {
            let what = "ORDER BY / LIMIT / SELECT DISTINCT in recursive query block of Common Table Expression";
            return Err(SqlError::not_supported(what));
        }
        if !may_be_read_first(block) {
            let message = format!(
                "In recursive query block of Recursive Common Table Expression '{name}', the recursive table must neither be \
                 in the right argument of a LEFT JOIN, nor be forced to be non-first with join order hints"
            );
            return Err(SqlError::new(codes::CTE_RECURSIVE_FORBIDDEN_JOIN_ORDER, message));
        }
        Ok(step)
    }
}

/// Whether the rows of the round before may be read before all other tables.
fn may_be_read_first(block: &Block) -> bool {
    let is_round = |table: usize| matches!(block.tables[table].source, TableSource::Round(_));
    let is_forced = |tree: &FromTree| match tree {
        FromTree::Join { right, kind: JoinKind::Straight, .. } => {
            crate::bind::from::tables_of(right).into_iter().any(is_round)
        }
        _ => false,
    };
    let mut may_be = true;
    let mut left: Vec<&FromTree> = block.from.iter().collect();
    while let Some(tree) = left.pop() {
        may_be &= !is_forced(tree);
        if let FromTree::Join { left: a, right: b, .. } = tree {
            left.extend([&**a, &**b]);
        }
    }
    let round = (0..block.tables.len()).find(|table| is_round(*table));
    may_be && !round.is_some_and(|round| block.tables[round].outer_joined || block.straight_join && round > 0)
}

/// The columns that the seeds give, as those of a table in which each may be NULL.
fn seed_columns(seeds: &[BoundQuery], names: &[String]) -> Result<Vec<ColumnInfo>, SqlError> {
    let first = &seeds[0];
    let mut types: Vec<ExprType> = first.types.iter().map(|ty| column_of(ty, ty)).collect();
    for seed in &seeds[1..] {
        if seed.types.len() != types.len() {
            return Err(wrong_column_count());
        }
        types = types.iter().zip(&seed.types).map(|(a, b)| column_of(a, b)).collect();
    }
    let of_table = |(at, (info, ty)): (usize, (ColumnInfo, &ExprType))| {
        // A whole number has the room of a BIGINT, if it is no column's.
        let is_number = matches!(ty.kind, Kind::Int | Kind::UInt);
        let ty =
            ExprType { origin: ty.origin.clone().or_else(|| is_number.then(|| ty.to_column_type())), ..ty.clone() };
        let column = ColumnDef { nullable: true, ..ty.to_column(names.get(at).map_or(&*info.name, |name| name)) };
        ColumnInfo { ty: ExprType::of_column(&column), ..info }
    };
    let infos = named_columns(first, names)?;
    Ok(infos.into_iter().zip(&types).enumerate().map(of_table).collect())
}
