//! INSERT and REPLACE: planning.

use std::sync::Arc;

use base::{SqlError, codes};
use engine::{Table, TableMode};
use syntax::ast as sql;
use types::Value;

use crate::bind::columns::{Columns, TableId};
use crate::bind::expr::{Clause, ExprScope};
use crate::bind::from::{duplicate_column, target_table, wrong_column_list};
use crate::bind::query::wrong_value_count;
use crate::bind::scope::{ColumnName, Scope, Visible, not_unique, row_id, unknown_column};
use crate::bind::tree::{Block, BoundBody, BoundQuery, BoundTable, ColumnInfo, TableSource};
use crate::bind::{Binder, check_table_path};
use crate::dml::foreign::ForeignKeys;
use crate::dml::values::{ValuesPlan, bind_values};
use crate::expr::copied::Copied;
use crate::expr::{Expr, ExprKind, ExprType, WarningLevel, build};
use crate::parse::LiteralRows;
use crate::plan::layout::Layout;
use crate::plan::node::QueryPlan;
use crate::plan::{PlanContext, Privilege, UsedColumns, block};
use crate::write::{Assigned, Assignment, Assignments, DefaultValue, Kept, RowMaker, for_column, takes_numbers};

/// A planned INSERT or REPLACE.
#[derive(Debug)]
pub(crate) struct InsertPlan {
    pub(crate) table: Arc<Table>,
    /// The columns that get the source's values, in its order.
    pub(crate) columns: Vec<usize>,
    pub(crate) source: InsertSource,
    pub(crate) maker: RowMaker,
    pub(crate) ignore: bool,
    pub(crate) replace: bool,
    pub(crate) on_duplicate: Option<OnDuplicate>,
    pub(crate) foreign: Option<ForeignKeys>,
}

/// Where the rows come from.
#[derive(Debug)]
pub(crate) enum InsertSource {
    /// VALUES and SET.
    Values(ValuesPlan),
    Query {
        plan: QueryPlan,
        /// It reads the table that is inserted into: its rows are all fetched first.
        reads_target: bool,
        /// How the values of each of its columns change their form on the way, if they do.
        copied: Vec<Option<Copied>>,
    },
    /// LOAD DATA.
    File,
}

/// ON DUPLICATE KEY UPDATE.
#[derive(Debug)]
pub(crate) struct OnDuplicate {
    /// Values per row of its frame.
    pub(crate) width: usize,
    /// (column, slot) of the row that is there, by column.
    pub(crate) old: Vec<(usize, usize)>,
    /// (column, slot) of the row that could not be inserted.
    pub(crate) new: Vec<(usize, usize)>,
    /// Slots of what the SELECT gives behind its own columns: those of its tables that are named here.
    pub(crate) beside: Vec<usize>,
    pub(crate) assignments: Assignments,
}

/// A name that no statement can write.
const NO_NAME: &str = "\0new";

/// Where the rows come from, before ON DUPLICATE KEY UPDATE has said what else it reads of a SELECT.
enum Given {
    Values(ValuesPlan),
    Query(BoundQuery),
}

impl Given {
    fn query(&mut self) -> Option<&mut BoundQuery> {
        match self {
            Given::Query(query) => Some(query),
            Given::Values(_) => None,
        }
    }
}

/// Plans INSERT and REPLACE.
pub(crate) async fn plan_insert<'a>(
    context: &'a PlanContext<'a>,
    binder: &mut Binder<'a>,
    insert: &'a sql::Insert,
) -> Result<InsertPlan, SqlError> {
    if insert.priority == Some(sql::Priority::Delayed) {
        let what = if insert.replace { "REPLACE" } else { "INSERT" };
        let message = format!("{what} DELAYED is no longer supported. The statement was converted to {what}.");
        context.warnings.push(WarningLevel::Warning, codes::WARN_LEGACY_SYNTAX_CONVERTED, message);
    }
    if insert.returning.is_some() {
        return Err(SqlError::not_supported("RETURNING"));
    }
    if !insert.partitions.is_empty() {
        return Err(SqlError::not_supported("PARTITION"));
    }
    check_table_path(&insert.table)?;
    let (schema, name) = insert.table.parts();
    let table = binder.base_table(schema, name)?;
    binder.name_table(&table, name)?;
    binder.lock_table(&table, TableMode::IntentExclusive);
    binder.use_columns(&table, Privilege::Insert, UsedColumns::Named(Vec::new()));
    binder.needs = Privilege::Select;
    let columns = target_columns(&table, insert)?;
    binder.use_columns(&table, Privilege::Insert, named_columns(&table, insert, &columns));
    let mut given = match bind_query(binder, insert, &columns)? {
        Some(query) => Given::Query(query),
        None => Given::Values(plan_values(context, binder, insert, &table, &columns).await?),
    };
    let mut on_duplicate = match &insert.on_duplicate {
        None if insert.alias.is_none() => None,
        // The alias has to be one, though nothing reads it.
        None => named_row(&table, insert, &columns).map(|_| None)?,
        Some(assignments) => {
            let new_row = named_row(&table, insert, &columns)?;
            Some(plan_on_duplicate(binder, insert, &table, assignments, new_row, given.query())?)
        }
    };
    let source = match given {
        Given::Query(query) => plan_selected(context, binder, query, &table, &columns).await?,
        Given::Values(values) => InsertSource::Values(values),
    };
    if let Some(on_duplicate) = &mut on_duplicate {
        // As of an inserted row, only several rows of values get the column's zero.
        let has_many = matches!(&source, InsertSource::Values(values) if values.len() > 1);
        on_duplicate.assignments.refuses_null = !insert.ignore && !has_many;
    }
    if insert.replace {
        binder.use_table(&table, Privilege::Delete, TableMode::IntentExclusive);
    }
    let maker = RowMaker::of_new_rows(binder, &table)?;
    let foreign = ForeignKeys::planned(binder, &table, insert.replace || on_duplicate.is_some());
    Ok(InsertPlan {
        foreign,
        columns,
        source,
        maker,
        ignore: insert.ignore,
        replace: insert.replace,
        on_duplicate,
        table,
    })
}

/// The columns for which an INSERT needs its privilege: without a list all of them.
fn named_columns(table: &Table, insert: &sql::Insert, columns: &[usize]) -> UsedColumns {
    let names_none = insert.columns.as_ref().is_none_or(Vec::is_empty);
    if names_none && !matches!(insert.source, sql::InsertSource::Set(_)) {
        return UsedColumns::All((0..table.def.columns.len()).collect());
    }
    UsedColumns::Named(columns.to_vec())
}

/// A column of the table, or the one that `_rowid` is.
fn column_named(table: &Table, name: &str) -> Option<usize> {
    table.def.column_index(name).or_else(|| row_id(&table.def).filter(|_| name.eq_ignore_ascii_case("_rowid")))
}

/// The named columns, or all visible ones; with SET those that it assigns.
fn target_columns(table: &Table, insert: &sql::Insert) -> Result<Vec<usize>, SqlError> {
    let find = |name: &str| column_named(table, name).ok_or_else(|| unknown_column(name, "field list"));
    let mut columns = Vec::new();
    match &insert.source {
        sql::InsertSource::Set(assignments) => {
            for assignment in assignments {
                columns.push(find(&assignment.column.name.text)?);
            }
        }
        _ => {
            for name in insert.columns.iter().flatten() {
                columns.push(find(&name.name.text)?);
            }
            if columns.is_empty() && !has_empty_rows(insert) {
                columns = (0..table.def.columns.len()).filter(|&column| !table.def.columns[column].invisible).collect();
            }
        }
    }
    for (at, column) in columns.iter().enumerate() {
        if columns[..at].contains(column) {
            let message = format!("Column '{}' specified twice", table.def.columns[*column].name);
            return Err(SqlError::new(codes::FIELD_SPECIFIED_TWICE, message));
        }
    }
    Ok(columns)
}

/// `INSERT INTO t VALUES ()`: every column gets its default. The first row says how many values all of them have.
fn has_empty_rows(insert: &sql::Insert) -> bool {
    match &insert.source {
        sql::InsertSource::Values(rows, _) => rows.first().is_none_or(Vec::is_empty),
        sql::InsertSource::Set(assignments) => assignments.is_empty(),
        sql::InsertSource::Query(_) => false,
    }
}

/// The query that gives the rows, if it is no list of values.
fn bind_query<'a>(
    binder: &mut Binder<'a>,
    insert: &'a sql::Insert,
    columns: &[usize],
) -> Result<Option<BoundQuery>, SqlError> {
    let sql::InsertSource::Query(query) = &insert.source else { return Ok(None) };
    let bound = binder.bind_query(query)?;
    if bound.types.len() != columns.len() {
        return Err(wrong_value_count(1));
    }
    Ok(Some(bound))
}

async fn plan_values<'a>(
    context: &'a PlanContext<'a>,
    binder: &mut Binder<'a>,
    insert: &'a sql::Insert,
    table: &Arc<Table>,
    columns: &[usize],
) -> Result<ValuesPlan, SqlError> {
    let none = LiteralRows::default();
    let (rows, literal_rows): (Vec<Vec<&'a sql::Expr>>, &LiteralRows) = match &insert.source {
        sql::InsertSource::Values(rows, literals) => (rows.iter().map(|row| row.iter().collect()).collect(), literals),
        sql::InsertSource::Set(assignments) => {
            (vec![assignments.iter().map(|assignment| &assignment.value).collect()], &none)
        }
        sql::InsertSource::Query(_) => (Vec::new(), &none),
    };
    bind_values(context, binder, table, (rows, literal_rows), columns).await
}

async fn plan_selected<'a>(
    context: &'a PlanContext<'a>,
    binder: &mut Binder<'a>,
    mut bound: BoundQuery,
    table: &Arc<Table>,
    columns: &[usize],
) -> Result<InsertSource, SqlError> {
    let reads_target = binder.reads(table);
    count_literals(&mut bound, table, columns);
    let both = columns.iter().zip(&bound.types);
    let copied = both.map(|(&column, from)| Copied::by_dml(from, &table.def.columns[column].ty, true)).collect();
    let plan = block::plan_query(context, &mut binder.columns, bound).await?;
    Ok(InsertSource::Query { plan, reads_target, copied })
}

/// A bit or hexadecimal literal of the select list is a number for a column of numbers.
fn count_literals(query: &mut BoundQuery, table: &Table, columns: &[usize]) {
    let BoundBody::Block(block) = &mut query.body else { return };
    for ((&column, value), ty) in columns.iter().zip(&mut block.select).zip(&mut query.types) {
        let is_literal = matches!(value.kind, ExprKind::Literal(Value::Bytes(_)));
        if is_literal && takes_numbers(&table.def.columns[column]) {
            *value = build::numeric_arg(std::mem::replace(value, Expr::null()));
            *ty = value.ty.clone();
        }
    }
}

/// The new row as ON DUPLICATE KEY UPDATE sees it: under its alias, with the columns that the statement names, in the order and by the
/// names that it gives them.
fn named_row(table: &Arc<Table>, insert: &sql::Insert, columns: &[usize]) -> Result<BoundTable, SqlError> {
    let mut row = target_table(TableId::default(), table, NO_NAME);
    let Some(alias) = &insert.alias else { return Ok(row) };
    row.alias = alias.name.text.clone();
    if *row.alias == *table.def.name {
        return Err(not_unique(&row.alias));
    }
    row.schema = None;
    let visible = || (0..row.columns.len()).filter(|&column| !row.columns[column].invisible).collect();
    let named: Vec<usize> = if columns.is_empty() { visible() } else { columns.to_vec() };
    let mut names = vec![Arc::from(NO_NAME); row.columns.len()];
    match &alias.columns[..] {
        [] => named.iter().for_each(|&column| names[column] = row.columns[column].name.clone()),
        aliases if aliases.len() != named.len() => return Err(wrong_column_list()),
        aliases => {
            for (at, (&column, name)) in named.iter().zip(aliases).enumerate() {
                let is_again = |after: &sql::Name| types::schema::same_name(&after.text, &name.text);
                if aliases[at + 1..].iter().any(is_again) {
                    return Err(duplicate_column(&name.text));
                }
                names[column] = name.text.clone();
            }
        }
    }
    row.columns = row.columns.iter().zip(names).map(|(column, name)| ColumnInfo { name, ..column.clone() }).collect();
    Ok(row)
}

fn plan_on_duplicate<'a>(
    binder: &mut Binder<'a>,
    insert: &'a sql::Insert,
    table: &Arc<Table>,
    assignments: &'a [sql::Assignment],
    new_row: BoundTable,
    query: Option<&mut BoundQuery>,
) -> Result<OnDuplicate, SqlError> {
    let mut scope = Scope { sees: Some(0), new_row: Some(1), ..Scope::default() };
    scope.add_table(target_table(binder.columns.add_table(), table, &table.def.name))?;
    scope.see(scope.visible_columns_of(0));
    let number = scope.add_table(BoundTable { id: binder.columns.add_table(), ..new_row })?;
    let hidden = insert.alias.is_none();
    let columns = scope.visible_columns_of(number).into_iter().map(|visible| Visible { hidden, ..visible });
    scope.see_more(columns);
    let mut query = query;
    if let Some(block) = query.as_deref_mut().and_then(named_block) {
        see_tables(&mut scope, block);
    }
    binder.scopes.push(scope);
    let list = bind_assignments(binder, table, 0, assignments)?;
    let scope = binder.scopes.pop().unwrap_or_default();
    if !scope.subqueries.is_empty() {
        return Err(SqlError::not_supported("subqueries in ON DUPLICATE KEY UPDATE"));
    }
    binder.use_columns(
        table,
        Privilege::Update,
        UsedColumns::Named(list.iter().map(|assignment| assignment.column).collect()),
    );
    binder.note_reads(&scope, UsedColumns::Read);
    let list = with_columns(list, &binder.columns, scope.tables[0].id, table);
    let mut assignments = Assignments::new(list);
    let layout = Layout::of_exprs(assignments.exprs(), &[]);
    assignments.lay(&layout);
    let [mut old, new] = [0, 1].map(|number| layout.of_table(&scope.tables[number], &binder.columns));
    old.sort_unstable();
    let beside = query.map(|query| select_beside(query, &scope, &layout, &binder.columns)).unwrap_or_default();
    Ok(OnDuplicate { width: layout.width(), old, new, beside, assignments })
}

/// Tables of the scope that are not the SELECT's: the row that is there, and the new one.
const OWN_ROWS: usize = 2;

/// The SELECT whose tables' columns ON DUPLICATE KEY UPDATE may name: one without groups.
fn named_block(query: &mut BoundQuery) -> Option<&mut Block> {
    match &mut query.body {
        BoundBody::Block(block) if block.grouping.is_none() => Some(block),
        _ => None,
    }
}

/// Adds the tables of the SELECT, which may be the target itself again.
fn see_tables(scope: &mut Scope, block: &Block) {
    for table in &block.tables {
        let source = match &table.source {
            TableSource::Base(table) => TableSource::Base(table.clone()),
            TableSource::Virtual(table) => TableSource::Virtual(table.clone()),
            TableSource::Round(rows) => TableSource::Round(*rows),
            TableSource::Json(table) => TableSource::Json(table.clone()),
            TableSource::Derived(query) => {
                let (types, columns) = (query.types.clone(), query.columns.clone());
                let body = BoundBody::Values(Vec::new());
                TableSource::Derived(Box::new(BoundQuery { body, columns, types, into: Vec::new() }))
            }
        };
        scope.tables.push(BoundTable {
            id: table.id,
            source,
            schema: table.schema.clone(),
            name: table.name.clone(),
            alias: table.alias.clone(),
            columns: table.columns.clone(),
            outer_joined: table.outer_joined,
            hints: Vec::new(),
            no_merge: false,
            lock: None,
            image: None,
            cte: None,
        });
        scope.see_more(scope.visible_columns_of(scope.tables.len() - 1));
    }
}

/// Makes the SELECT give the columns of its tables that are named, behind its own: their slots.
fn select_beside(query: &mut BoundQuery, scope: &Scope, layout: &Layout, columns: &Columns) -> Vec<usize> {
    let mut slots = Vec::new();
    let mut types = Vec::new();
    let Some(block) = named_block(query) else { return slots };
    for table in scope.tables.iter().skip(OWN_ROWS) {
        for (_, id) in columns.of_table(table.id) {
            // Those that the SELECT alone names have no slot.
            let Some(slot) = layout.find(id) else { continue };
            let ty = columns.ty(id).clone();
            block.select.push(Expr { kind: ExprKind::Column { slot: id, utc: false }, ty: ty.clone() });
            types.push(ty);
            slots.push(slot);
        }
    }
    query.types.extend(types);
    slots
}

/// Binds `column = value, …` for one table of the innermost block.
pub(crate) fn bind_assignments<'a>(
    binder: &mut Binder<'a>,
    table: &Table,
    number: usize,
    assignments: &'a [sql::Assignment],
) -> Result<Vec<Assignment>, SqlError> {
    let mut list = Vec::with_capacity(assignments.len());
    for assignment in assignments {
        let name = ColumnName::of(&assignment.column);
        let named_table = name.table.is_none_or(|table| binder.scope().tables[number].is_named(name.schema, table));
        let column = column_named(table, name.column).filter(|_| named_table);
        let column = column.ok_or_else(|| unknown_column(&name.text(), "field list"))?;
        let value = bind_assigned(binder, table, column, &assignment.value)?;
        list.push(Assignment { column, value, slot: None, kept: Kept::Nothing });
    }
    Ok(list)
}

/// Binds the right side of an assignment.
pub(crate) fn bind_assigned<'a>(
    binder: &mut Binder<'a>,
    table: &Table,
    column: usize,
    value: &'a sql::Expr,
) -> Result<Assigned, SqlError> {
    if value.is_default() {
        return Ok(Assigned::Default(DefaultValue::of(binder, &table.def.columns[column])?));
    }
    let value = binder.bind_expr(value, ExprScope::new(Clause::FieldList))?;
    binder.note_params(&value);
    let column = &table.def.columns[column];
    binder.describe_param(&value, &ExprType::of_column(column));
    Ok(Assigned::Expr(for_column(value, column)))
}

/// Assignments to a table of the statement, which is `base`, with the numbers of those columns that are named.
pub(crate) fn with_columns(
    mut list: Vec<Assignment>,
    columns: &Columns,
    table: TableId,
    base: &Table,
) -> Vec<Assignment> {
    for assignment in &mut list {
        assignment.slot = columns.find(table, assignment.column);
        let column = &base.def.columns[assignment.column];
        assignment.kept = Kept::of(&assignment.value, assignment.slot, column);
    }
    list
}
