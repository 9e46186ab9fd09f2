//! LOAD DATA: planning.

use std::ops::Range;
use std::sync::Arc;

use base::{SqlError, codes};
use bytes::Bytes;
use engine::{Table, TableMode};
use types::charset::Charset;
use types::{ColumnDef, ColumnType, Value};

use crate::bind::Binder;
use crate::bind::from::target_table;
use crate::bind::scope::{ColumnName, Scope, unknown_column};
use crate::charsets;
use crate::dml::foreign::ForeignKeys;
use crate::dml::insert_plan::{InsertPlan, InsertSource, bind_assigned};
use crate::expr::{SqlMode, VariableScope, build};
use crate::load::Rules;
use crate::parse::ast::{LoadData, LoadDuplicates, LoadTarget};
use crate::plan::layout::Layout;
use crate::plan::node::SubqueryPlan;
use crate::plan::{PlanContext, Privilege, UsedColumns, block};
use crate::write::{Assigned, RowMaker};

/// A planned LOAD DATA.
#[derive(Debug)]
pub(crate) struct LoadPlan {
    /// How rows are written.
    pub(crate) insert: InsertPlan,
    pub(crate) file: String,
    pub(crate) rules: Rules,
    /// The name of the file's character set.
    pub(crate) charset: &'static str,
    pub(crate) skip_lines: u64,
    /// Lines are skipped by their ends alone; where they have none, as they are read.
    pub(crate) has_line_ends: bool,
    /// Where fields go.
    pub(crate) targets: Vec<Target>,
    pub(crate) set: Vec<SetColumn>,
    /// Values per row of the frame that SET is evaluated over.
    pub(crate) width: usize,
    /// (column, slot) of columns that SET reads.
    pub(crate) reads: Vec<(usize, usize)>,
    pub(crate) subqueries: Vec<SubqueryPlan>,
    /// A separator is not ASCII (1638).
    pub(crate) warns: bool,
}

/// Where a field goes.
#[derive(Debug)]
pub(crate) enum Target {
    Column(usize),
    /// In lower case.
    Variable(String),
}

/// `column = value` of SET.
#[derive(Debug)]
pub(crate) struct SetColumn {
    pub(crate) column: usize,
    pub(crate) value: Assigned,
    /// What is to be run for it.
    pub(crate) subqueries: Range<usize>,
}

impl LoadPlan {
    pub(crate) fn sets_variables(&self) -> bool {
        self.targets.iter().any(|target| matches!(target, Target::Variable(_)))
    }
}

/// Plans LOAD DATA.
pub(crate) async fn plan_load<'a>(
    context: &'a PlanContext<'a>,
    binder: &mut Binder<'a>,
    load: &'a LoadData,
) -> Result<LoadPlan, SqlError> {
    let format = &load.format;
    // Without a word of it, it is what strings of statements are escaped by.
    let no_escapes = context.session.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES);
    let escaped = format.escaped.as_deref().unwrap_or(if no_escapes { b"" } else { b"\\" });
    if escaped.len() > 1 || format.enclosed.len() > 1 {
        let message = "Field separator argument is not what is expected; check the manual";
        return Err(SqlError::new(codes::WRONG_FIELD_TERMINATORS, message));
    }
    let charset = charset_of(context, load)?;
    let replace = load.duplicates == LoadDuplicates::Replace;
    let table = binder.base_table(load.table.schema.as_deref(), &load.table.name)?;
    binder.lock_table(&table, TableMode::IntentExclusive);
    binder.use_columns(&table, Privilege::Insert, UsedColumns::Named(Vec::new()));
    binder.needs = Privilege::Select;
    if replace {
        binder.use_table(&table, Privilege::Delete, TableMode::IntentExclusive);
    }
    let mut scope = Scope { sees: Some(0), ..Scope::default() };
    scope.add_table(target_table(binder.columns.add_table(), &table, &load.table.name))?;
    scope.see(scope.visible_columns_of(0));
    binder.scopes.push(scope);
    let targets = targets(binder, load, &table)?;
    let rules = Rules::new(format, escaped, charset, fixed_length(load, &table, &targets)?);
    let mut set = bind_set(binder, load, &table, &targets, rules.charset())?;
    let of_file = targets.iter().filter_map(|target| match target {
        Target::Column(column) => Some(*column),
        Target::Variable(_) => None,
    });
    let written = of_file.chain(set.iter().map(|set| set.column)).collect();
    binder.use_columns(&table, Privilege::Insert, UsedColumns::Named(written));
    let scope = binder.scopes.pop().unwrap_or_default();
    if binder.reads(&table) {
        let message = format!("You can't specify target table '{}' for update in FROM clause", load.table.name);
        return Err(SqlError::new(codes::UPDATE_TABLE_USED, message));
    }
    let layout = Layout::of_exprs(set.iter().filter_map(|set| set.value.expr()), &scope.subqueries);
    set.iter_mut().filter_map(|set| set.value.expr_mut()).for_each(|expr| layout.lay(expr));
    let (width, reads) = (layout.width(), layout.of_table(&scope.tables[0], &binder.columns));
    let subqueries = block::plan_subqueries(context, &mut binder.columns, scope.subqueries, &layout).await?;
    let separators = [&format.field_end, &format.enclosed, escaped, &format.line_start, &format.line_end];
    Ok(LoadPlan {
        insert: insert_plan(binder, load, table, replace)?,
        file: load.file.clone(),
        rules,
        charset,
        skip_lines: load.skip_lines,
        has_line_ends: !format.line_end.is_empty(),
        targets,
        set,
        width,
        reads,
        subqueries,
        warns: separators.iter().any(|text| !text.is_ascii()),
    })
}

/// The file's: as it was said, or that of the default database.
fn charset_of(context: &PlanContext<'_>, load: &LoadData) -> Result<&'static str, SqlError> {
    let name = match &load.charset {
        Some(name) => name.clone(),
        None => {
            let value = context.host.system_variable(VariableScope::Default, "character_set_database")?;
            value.as_bytes().map(|text| String::from_utf8_lossy(text).into_owned()).unwrap_or_default()
        }
    };
    charsets::static_name(&name).ok_or_else(|| charsets::unknown_charset(&name))
}

fn insert_plan(
    binder: &mut Binder<'_>,
    load: &LoadData,
    table: Arc<Table>,
    replace: bool,
) -> Result<InsertPlan, SqlError> {
    Ok(InsertPlan {
        foreign: ForeignKeys::planned(binder, &table, replace),
        columns: Vec::new(),
        source: InsertSource::File,
        maker: RowMaker::without_complaints(binder, &table)?,
        // What a client is sending cannot be stopped.
        ignore: load.duplicates == LoadDuplicates::Ignore || load.local && !replace,
        replace,
        on_duplicate: None,
        table,
    })
}

/// The column of a name, which is the target's.
fn column_of(binder: &mut Binder<'_>, table: &Table, name: &ColumnName<'_>) -> Result<usize, SqlError> {
    let is_its_own = name.table.is_none_or(|named| binder.scope().tables[0].is_named(name.schema, named));
    let column = table.def.column_index(name.column).filter(|_| is_its_own);
    column.ok_or_else(|| unknown_column(&name.text(), "field list"))
}

fn targets(binder: &mut Binder<'_>, load: &LoadData, table: &Table) -> Result<Vec<Target>, SqlError> {
    let Some(written) = &load.targets else {
        let visible = |column: &usize| !table.def.columns[*column].invisible;
        return Ok((0..table.def.columns.len()).filter(visible).map(Target::Column).collect());
    };
    let mut targets = Vec::with_capacity(written.len());
    for target in written {
        targets.push(match target {
            LoadTarget::Column(name) => Target::Column(column_of(binder, table, &ColumnName::of(name))?),
            LoadTarget::Variable(name) => Target::Variable(name.to_lowercase()),
        });
    }
    Ok(targets)
}

/// The length of a line of a file without separators; 0 if it has some.
fn fixed_length(load: &LoadData, table: &Table, targets: &[Target]) -> Result<usize, SqlError> {
    let format = &load.format;
    let is_fixed = format.field_end.is_empty() && format.enclosed.is_empty();
    let mut length = 0;
    for target in targets {
        let Target::Column(column) = target else {
            if is_fixed {
                let message = "Can't load value from file with fixed size rows to variable";
                return Err(SqlError::new(codes::LOAD_FROM_FIXED_SIZE_ROWS_TO_VAR, message));
            }
            continue;
        };
        let column = &table.def.columns[*column];
        let is_blob = matches!(column.ty, ColumnType::Blob { .. } | ColumnType::Text { .. });
        if is_blob && format.field_end.is_empty() && format.line_end.is_empty() {
            let message = "You can't use fixed rowlength with BLOBs; please use 'fields terminated by'";
            return Err(SqlError::new(codes::BLOBS_AND_NO_TERMINATED, message));
        }
        length += if is_blob { BLOB_BYTES } else { field_length(column) };
    }
    Ok(if is_fixed { length } else { 0 })
}

/// What a BLOB counts in a line of fields without separators.
const BLOB_BYTES: usize = 256;

/// The length of a column's field where fields have no separators: as long as its longest value is as text.
pub(crate) fn field_length(column: &ColumnDef) -> usize {
    use ColumnType::*;
    let fraction = |fsp: u8| if fsp > 0 { 1 + usize::from(fsp) } else { 0 };
    let bytes = |chars: usize| chars * column.collation.charset().max_bytes_per_char() as usize;
    let chars = |member: &String| member.chars().count();
    match &column.ty {
        TinyInt { unsigned } => 4 - usize::from(*unsigned),
        SmallInt { unsigned } => 6 - usize::from(*unsigned),
        MediumInt { unsigned } => 9 - usize::from(*unsigned),
        Int { unsigned } => 11 - usize::from(*unsigned),
        BigInt { .. } => 20,
        Float { .. } => 12,
        Double { .. } => 22,
        Decimal { precision, scale, unsigned } => {
            usize::from(*precision) + usize::from(*scale > 0) + usize::from(!unsigned)
        }
        Date => 10,
        Time { fsp } => 10 + fraction(*fsp),
        DateTime { fsp } | Timestamp { fsp } => 19 + fraction(*fsp),
        Year => 4,
        Bit { bits } => usize::from(*bits),
        Enum { members } => bytes(members.iter().map(chars).max().unwrap_or(0)),
        Set { members } => bytes(members.iter().map(chars).sum::<usize>() + members.len().saturating_sub(1)),
        _ => column.max_bytes() as usize,
    }
}

/// Binds SET. Variables that take fields are texts there, whatever they are now.
fn bind_set<'a>(
    binder: &mut Binder<'a>,
    load: &'a LoadData,
    table: &Table,
    targets: &[Target],
    charset: Charset,
) -> Result<Vec<SetColumn>, SqlError> {
    let session = binder.context.session;
    let text = match charset {
        Charset::Binary => Value::Bytes(Bytes::new()),
        Charset::Utf8Mb4 | Charset::Single(_) => Value::Str(Bytes::new()),
    };
    let text = build::type_of_value(&text, charset.default_collation()).nullable(true);
    let mut before = Vec::new();
    for target in targets {
        let Target::Variable(name) = target else { continue };
        let old = session.user_variables.lock().insert(name.clone(), (Value::Null, text.clone()));
        before.push((name.clone(), old));
    }
    let bound = bind_set_items(binder, load, table);
    let mut variables = session.user_variables.lock();
    for (name, old) in before.into_iter().rev() {
        match old {
            Some(old) => variables.insert(name, old),
            None => variables.remove(&name),
        };
    }
    bound
}

fn bind_set_items<'a>(binder: &mut Binder<'a>, load: &'a LoadData, table: &Table) -> Result<Vec<SetColumn>, SqlError> {
    let mut set = Vec::with_capacity(load.set.len());
    for syntax::ast::Assignment { column: name, value } in &load.set {
        let column = column_of(binder, table, &ColumnName::of(name))?;
        let first = binder.scope().subqueries.len();
        let value = bind_assigned(binder, table, column, value)?;
        let subqueries = first..binder.scope().subqueries.len();
        set.push(SetColumn { column, value, subqueries });
    }
    Ok(set)
}
