//! FROM: tables, derived tables, joins, index hints.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base::{SqlError, codes};
use engine::TableMode;
use syntax::ast as sql;

use crate::bind::columns::TableId;
use crate::bind::expr::{Clause, ExprScope};
use crate::bind::scope::{Visible, ambiguous, empty_name, unknown_column};
use crate::bind::tree::{BoundQuery, BoundTable, ColumnInfo, FromTree, IndexHint, JoinKind, TableSource};
use crate::bind::{Binder, check_table_path};
use crate::expr::types::Coercibility;
use crate::expr::{CompareOp, Expr, ExprType, build};
use crate::plan::{Privilege, UsedColumns};

/// A part of FROM with the columns that it shows.
pub(crate) struct BoundFrom {
    pub(crate) tree: FromTree,
    pub(crate) visible: Vec<Visible>,
}

/// The columns of a side of a join that are not merged with those of the other.
struct Side {
    columns: Vec<Option<Visible>>,
    /// The first of each name, in lower case, and whether it is the only one.
    places: HashMap<String, (usize, bool)>,
}

impl Side {
    fn take_column(&mut self, name: &str) -> Result<Visible, SqlError> {
        let unknown = || unknown_column(name, "from clause");
        let (at, is_one) = *self.places.get(&name.to_lowercase()).ok_or_else(unknown)?;
        match is_one {
            true => self.columns[at].take().ok_or_else(unknown),
            false => Err(ambiguous(name, "from clause")),
        }
    }
}

impl<'a> Binder<'a> {
    /// Binds the whole of FROM; the scope then sees all its columns.
    pub(crate) fn bind_from(&mut self, from: &'a [sql::TableRef]) -> Result<Option<FromTree>, SqlError> {
        let Some(whole) = self.bind_tables(from)? else { return Ok(None) };
        self.scope().see(whole.visible);
        Ok(Some(whole.tree))
    }

    /// Tables with commas between them; `None` if there are none.
    fn bind_tables(&mut self, tables: &'a [sql::TableRef]) -> Result<Option<BoundFrom>, SqlError> {
        let mut whole: Option<BoundFrom> = None;
        let before = self.scope().beside.len();
        for table in tables {
            let next = self.bind_table_ref(table)?;
            if tables.len() > 1 {
                self.scope().beside.extend_from_slice(&next.visible);
            }
            whole = Some(match whole {
                None => next,
                Some(left) => cross(left, next, JoinKind::Inner),
            });
        }
        self.scope().beside.truncate(before);
        Ok(whole)
    }

    fn bind_table_ref(&mut self, table: &'a sql::TableRef) -> Result<BoundFrom, SqlError> {
        match table {
            sql::TableRef::Table(factor) => self.bind_factor(factor),
            sql::TableRef::Derived(derived) => self.bind_derived(derived),
            sql::TableRef::Json(table) => {
                let table = self.bind_json_table(table)?;
                self.add_table(table)
            }
            sql::TableRef::Join(join) => {
                let left = self.bind_table_ref(&join.left)?;
                let before = self.scope().beside.len();
                if join.kind != sql::JoinKind::Right {
                    self.scope().beside.extend_from_slice(&left.visible);
                }
                let right = self.bind_table_ref(&join.right)?;
                self.scope().beside.truncate(before);
                self.bind_join(left, right, join)
            }
            sql::TableRef::List(tables) => {
                let bound = self.bind_tables(tables)?;
                bound.ok_or_else(|| SqlError::unknown("parentheses without a table in them"))
            }
        }
    }

    fn bind_join(&mut self, left: BoundFrom, right: BoundFrom, join: &'a sql::Join) -> Result<BoundFrom, SqlError> {
        let (kind, swap) = match join.kind {
            sql::JoinKind::Inner => (JoinKind::Inner, false),
            sql::JoinKind::Straight => (JoinKind::Straight, false),
            sql::JoinKind::Left => (JoinKind::Left, false),
            sql::JoinKind::Right => (JoinKind::Left, true),
        };
        if kind == JoinKind::Left {
            let tables = tables_of(if swap { &left.tree } else { &right.tree });
            for table in tables {
                self.scope().tables[table].outer_joined = true;
            }
        }
        let (visible, on) = match &join.condition {
            sql::JoinCondition::None => (chain(&left.visible, &right.visible), Vec::new()),
            sql::JoinCondition::On(condition) => {
                let visible = chain(&left.visible, &right.visible);
                self.scope().see(visible.clone());
                (visible, self.bind_condition(condition, ExprScope::new(Clause::On))?)
            }
            sql::JoinCondition::Using(columns) => {
                let names: Vec<String> = columns.iter().map(|column| column.text.to_string()).collect();
                self.bind_using(&left.visible, &right.visible, &names, swap)?
            }
            sql::JoinCondition::Natural => {
                let (side, other) = if swap { (&right, &left) } else { (&left, &right) };
                let names = self.common_names(&side.visible, &other.visible);
                self.bind_using(&left.visible, &right.visible, &names, swap)?
            }
        };
        let (outer, inner) = if swap { (right.tree, left.tree) } else { (left.tree, right.tree) };
        let tree = FromTree::Join { left: Box::new(outer), right: Box::new(inner), kind, on };
        Ok(BoundFrom { tree, visible })
    }

    /// The columns of one side that the other has too.
    fn common_names(&mut self, side: &[Visible], other: &[Visible]) -> Vec<String> {
        let scope = self.scope();
        let shown = |visible: &&Visible| !visible.hidden && !scope.column(visible.table, visible.column).invisible;
        let name = |visible: &Visible| scope.column(visible.table, visible.column).name.to_string();
        let there: HashSet<String> = other.iter().filter(shown).map(|visible| name(visible).to_lowercase()).collect();
        side.iter().filter(shown).map(name).filter(|name| there.contains(&name.to_lowercase())).collect()
    }

    /// USING and NATURAL: equalities, and one merged column for each pair, in front of all others. Columns are in the order of the side
    /// whose columns they are: the right one's for a RIGHT JOIN, whose columns then are before the left one's.
    fn bind_using(
        &mut self,
        left: &[Visible],
        right: &[Visible],
        names: &[String],
        right_first: bool,
    ) -> Result<(Vec<Visible>, Vec<Expr>), SqlError> {
        let (first, second) = if right_first { (right, left) } else { (left, right) };
        let (mut merged, mut taken, mut on) = (Vec::new(), Vec::new(), Vec::new());
        let (mut rest_first, mut rest_second) = (self.side(first), self.side(second));
        for name in names {
            self.worked(1)?;
            let shown = rest_first.take_column(name)?;
            let hidden = rest_second.take_column(name)?;
            let (l, r) = if right_first { (&hidden, &shown) } else { (&shown, &hidden) };
            let (left_id, left_ty) = self.column_id(l.table, l.column);
            let (right_id, right_ty) = self.column_id(r.table, r.column);
            let sides = (Expr::column(left_id, left_ty), Expr::column(right_id, right_ty));
            on.push(build::compare(CompareOp::Eq, sides.0, sides.1)?);
            merged.push(shown);
            taken.push(Visible { hidden: true, ..hidden });
        }
        let places = first.iter().enumerate().map(|(at, column)| ((column.table, column.column), at));
        let places: HashMap<(usize, usize), usize> = places.collect();
        merged.sort_by_key(|column| places.get(&(column.table, column.column)).copied());
        merged.extend(rest_first.columns.into_iter().flatten());
        merged.extend(rest_second.columns.into_iter().flatten());
        merged.extend(taken);
        Ok((merged, on))
    }

    /// The columns of one side of a join, of which USING takes some.
    fn side(&mut self, columns: &[Visible]) -> Side {
        let scope = self.scope();
        let mut places: HashMap<String, (usize, bool)> = HashMap::with_capacity(columns.len());
        for (at, visible) in columns.iter().enumerate().filter(|(_, visible)| !visible.hidden) {
            let name = scope.column(visible.table, visible.column).name.to_lowercase();
            places.entry(name).and_modify(|(_, is_one)| *is_one = false).or_insert((at, true));
        }
        Side { columns: columns.iter().cloned().map(Some).collect(), places }
    }

    fn bind_factor(&mut self, factor: &'a sql::TableFactor) -> Result<BoundFrom, SqlError> {
        if !factor.partitions.is_empty() {
            return Err(SqlError::not_supported("PARTITION"));
        }
        check_table_path(&factor.name)?;
        let (schema, name) = factor.name.parts();
        let alias = factor.alias.as_ref().map_or(name, sql::Name::as_str);
        let table = self.bind_table(schema, name, alias, &factor.hints)?;
        self.add_table(table)
    }

    fn bind_derived(&mut self, derived: &'a sql::Derived) -> Result<BoundFrom, SqlError> {
        let Some(alias) = &derived.alias else {
            let message = "Every derived table must have its own alias";
            return Err(SqlError::new(codes::DERIVED_MUST_HAVE_ALIAS, message));
        };
        let names: Vec<String> = derived.columns.iter().map(|column| column.text.to_string()).collect();
        let around = self.scopes.len() - 1;
        let bound = if derived.lateral {
            let beside = self.scope().beside.clone();
            self.scope().see(beside);
            self.bind_in_from(&derived.query, around + 1)?
        } else {
            self.bind_in_from(&derived.query, around)?
        };
        let columns = named_columns(&bound, &names)?;
        let source = TableSource::Derived(Box::new(bound));
        self.add_table(BoundTable { source, ..unnamed_table(&alias.text, &alias.text, columns) })
    }

    fn add_table(&mut self, table: BoundTable) -> Result<BoundFrom, SqlError> {
        let id = self.columns.add_table();
        let scope = self.scope();
        let number = scope.add_table(BoundTable { id, ..table })?;
        Ok(BoundFrom { tree: FromTree::Table(number), visible: scope.visible_columns_of(number) })
    }

    /// A table by name: a CTE, a virtual table, or one of the engine.
    fn bind_table(
        &mut self,
        schema: Option<&'a str>,
        name: &'a str,
        alias: &'a str,
        hints: &'a [sql::IndexHint],
    ) -> Result<BoundTable, SqlError> {
        if schema.is_none()
            && let Some(table) = self.bind_cte(name, alias)?
        {
            return Ok(table);
        }
        let schema = self.schema_or_default(schema)?.to_string();
        if let Some(table) = self.context.virtual_tables.table(&schema, name) {
            self.use_system_table(&schema, name);
            let columns = table.columns().iter().map(virtual_column_info).collect();
            return Ok(BoundTable {
                source: TableSource::Virtual(table),
                schema: Some(Arc::from(schema)),
                ..unnamed_table(name, alias, columns)
            });
        }
        if self.context.virtual_tables.is_virtual(&schema) {
            self.use_system_table(&schema, name);
            if schema.eq_ignore_ascii_case("mysql") {
                return Err(crate::ddl::no_such_table(&schema, name));
            }
            let upper = schema.eq_ignore_ascii_case("information_schema");
            let name = if upper { name.to_uppercase() } else { name.to_owned() };
            let message = format!("Unknown table '{name}' in {schema}");
            return Err(SqlError::new(codes::UNKNOWN_TABLE, message));
        }
        let table = self.engine_table(&schema, name)?;
        self.name_table(&table, alias)?;
        self.lock_table(&table, TableMode::IntentShared);
        self.use_columns(&table, Privilege::Select, UsedColumns::Named(Vec::new()));
        let columns = table.def.columns.iter().map(column_info).collect();
        let hints = index_hints(&table.def, alias, hints)?;
        let (source, schema) = (TableSource::Base(table), Some(Arc::from(schema)));
        Ok(BoundTable { source, schema, hints, ..unnamed_table(name, alias, columns) })
    }
}

/// The columns of a query in FROM, under these names if there are any.
pub(super) fn named_columns(query: &BoundQuery, names: &[String]) -> Result<Vec<ColumnInfo>, SqlError> {
    if !names.is_empty() && names.len() != query.columns.len() {
        return Err(wrong_column_list());
    }
    let mut columns: Vec<ColumnInfo> = Vec::with_capacity(query.columns.len());
    let mut names_so_far = HashSet::with_capacity(query.columns.len());
    for (at, (column, ty)) in query.columns.iter().zip(&query.types).enumerate() {
        let name: Arc<str> = names.get(at).map_or_else(|| column.name.clone(), |name| Arc::from(name.as_str()));
        if !names_so_far.insert(name.to_lowercase()) {
            return Err(duplicate_column(&name));
        }
        columns.push(ColumnInfo { name, ty: ExprType { utc: false, ..ty.clone() }, invisible: false });
    }
    Ok(columns)
}

/// 1353
pub(crate) fn wrong_column_list() -> SqlError {
    let message = "In definition of view, derived table or common table expression, SELECT list and column names list have \
                   different column counts";
    SqlError::new(codes::VIEW_WRONG_LIST, message)
}

/// 1060
pub(crate) fn duplicate_column(name: &str) -> SqlError {
    SqlError::new(codes::DUP_FIELDNAME, format!("Duplicate column name '{name}'"))
}

/// A table without a definition of its own, whose rows are still to be said.
pub(crate) fn unnamed_table(name: &str, alias: &str, columns: Vec<ColumnInfo>) -> BoundTable {
    BoundTable {
        id: TableId::default(),
        source: TableSource::Virtual(Arc::new(crate::virtual_table::Nowhere)),
        schema: None,
        name: if name.is_empty() { empty_name() } else { Arc::from(name) },
        alias: Arc::from(alias),
        columns,
        outer_joined: false,
        hints: Vec::new(),
        no_merge: false,
        lock: None,
        image: None,
        cte: None,
    }
}

/// What the binder knows of a stored column.
pub(crate) fn column_info(column: &types::ColumnDef) -> ColumnInfo {
    ColumnInfo { name: Arc::from(column.name.as_str()), ty: ExprType::of_column(column), invisible: column.invisible }
}

fn virtual_column_info(column: &types::ColumnDef) -> ColumnInfo {
    let mut info = column_info(column);
    if info.ty.coercibility == Coercibility::Implicit {
        info.ty.coercibility = Coercibility::VirtualColumn;
    }
    info
}

/// A table of the engine as the target of a change. `id` is its number in the statement.
pub(crate) fn target_table(id: TableId, table: &Arc<engine::Table>, alias: &str) -> BoundTable {
    let columns = table.def.columns.iter().map(column_info).collect();
    BoundTable {
        id,
        source: TableSource::Base(table.clone()),
        schema: Some(Arc::from(table.def.schema.as_str())),
        ..unnamed_table(&table.def.name, alias, columns)
    }
}

fn chain(left: &[Visible], right: &[Visible]) -> Vec<Visible> {
    left.iter().chain(right).cloned().collect()
}

fn cross(left: BoundFrom, right: BoundFrom, kind: JoinKind) -> BoundFrom {
    let visible = chain(&left.visible, &right.visible);
    let tree = FromTree::Join { left: Box::new(left.tree), right: Box::new(right.tree), kind, on: Vec::new() };
    BoundFrom { tree, visible }
}

/// The tables of a part of FROM.
pub(crate) fn tables_of(tree: &FromTree) -> Vec<usize> {
    match tree {
        FromTree::Table(table) => vec![*table],
        FromTree::Join { left, right, .. } => {
            let mut tables = tables_of(left);
            tables.extend(tables_of(right));
            tables
        }
    }
}

fn index_hints(table: &types::TableDef, alias: &str, hints: &[sql::IndexHint]) -> Result<Vec<IndexHint>, SqlError> {
    let has = |kind| hints.iter().any(|hint| hint.kind == kind);
    if has(sql::IndexHintKind::Use) && has(sql::IndexHintKind::Force) {
        return Err(SqlError::new(codes::WRONG_USAGE, "Incorrect usage of USE INDEX and FORCE INDEX"));
    }
    let mut bound = Vec::with_capacity(hints.len());
    for hint in hints {
        let mut indexes = Vec::with_capacity(hint.indexes.len());
        for name in &hint.indexes {
            let message = || format!("Key '{}' doesn't exist in table '{alias}'", name.text);
            let index = table.index_number(&name.text);
            indexes.push(index.ok_or_else(|| SqlError::new(codes::KEY_DOES_NOT_EXIST, message()))?);
        }
        bound.push(IndexHint { kind: hint.kind, scope: hint.scope, indexes });
    }
    Ok(bound)
}

/// The table of the innermost block that a name in UPDATE or DELETE means.
pub(crate) fn find_target(tables: &[BoundTable], schema: Option<&str>, name: &str) -> Result<usize, SqlError> {
    tables
        .iter()
        .position(|table| table.is_named(schema, name))
        .ok_or_else(|| SqlError::new(codes::UNKNOWN_TABLE, format!("Unknown table '{name}' in MULTI DELETE")))
}
