//! CREATE TABLE.

use base::{SqlError, TableId, codes};
use engine::CatalogChange;
use engine::catalog::{compression_named, table_option};
use types::schema::{GENERATED_PK_COLUMN, same_name};
use types::{CollationId, ColumnDef, ColumnType, IndexDef, KeyPart, TableDef};

use super::default::with_local_defaults;
use super::index::PRIMARY;
use super::{
    DdlContext, PlannedDdl, check_comment, check_table_name, column, foreign_key, index, render, table_exists,
};
use crate::bind::from::duplicate_column;
use crate::bind::scope::not_unique;
use crate::expr::WarningLevel;
use crate::information_schema::definition_of;
use crate::parse::ast::{
    ColumnSpec, CreateTable, DefaultSpec, IndexKind, IndexPart, IndexSpec, TableKey, TableOptions,
};

pub(super) const COLUMNS_MAX: usize = 4096;
/// The same for clients, as in InnoDB.
const CLIENT_COLUMNS_MAX: usize = 1017;

pub(super) fn create(create: &CreateTable, context: &DdlContext<'_>) -> Result<PlannedDdl, SqlError> {
    let schema = create.name.schema.as_deref().or(context.database).unwrap_or_default();
    if create.if_not_exists && definition_of(schema, &create.name.name).is_some() {
        return Ok(already_there(&create.name.name, context));
    }
    let name = context.resolve(&create.name)?;
    check_table_name(&name.name)?;
    let like = create.like.as_ref().map(|like| context.resolve(like)).transpose()?;
    if like.as_ref() == Some(&name) {
        return Err(not_unique(&create.name.name));
    }
    let there = match create.temporary {
        true => context.catalog.temporary_table(&name.schema, &name.name),
        false => context.catalog.base_table(&name.schema, &name.name),
    };
    if there.is_some() {
        return if create.if_not_exists {
            Ok(already_there(&name.name, context))
        } else {
            Err(table_exists(&name.name))
        };
    }
    if create.temporary && create.keys.iter().any(|key| key.foreign().is_some()) {
        return Err(SqlError::new(codes::CANNOT_ADD_FOREIGN, "Cannot add foreign key constraint"));
    }
    let model = like.as_ref().map(|like| context.table(like)).transpose()?;
    let mut def = match model {
        Some(model) => like_def(&name, model),
        None => table_def(create, &name, &[], context)?,
    };
    if !create.temporary {
        foreign_key::check_waiting(&name, &def, context)?;
    }
    // The generated key is written out, so that it is the same wherever the log is applied.
    // Of a temporary table the log knows nothing.
    let is_written_out = model.map_or(def.generated_pk, |model| model.is_temporary());
    if is_written_out {
        index::keep_without_foreign_key(&mut def);
    }
    let log_text = is_written_out.then(|| render::create_table_for_log(&with_local_defaults(&def, context.time_zone)));
    Ok(PlannedDdl { log_text, ..PlannedDdl::new(CatalogChange::CreateTable(Box::new(def))) })
}

fn already_there(name: &str, context: &DdlContext<'_>) -> PlannedDdl {
    context.warnings.push(WarningLevel::Note, codes::TABLE_EXISTS_ERROR, table_exists(name).message);
    PlannedDdl::nothing()
}

fn like_def(name: &engine::TableName, source: &engine::Table) -> TableDef {
    let mut def = (*source.def).clone();
    def.id = TableId(0);
    def.schema = name.schema.clone();
    def.name = name.name.clone();
    def.auto_increment_start = 0;
    def.indexes.iter_mut().for_each(|index| index.id = base::IndexId(0));
    def.foreign_keys.clear();
    def
}

/// CREATE TABLE … SELECT: the definition in words, with the query's columns behind those that were written.
pub(crate) fn with_selected(
    create: &CreateTable,
    selected: &[ColumnDef],
    context: &DdlContext<'_>,
) -> Result<String, SqlError> {
    let name = context.resolve(&create.name)?;
    check_table_name(&name.name)?;
    let def = table_def(create, &name, selected, context)?;
    Ok(render::create_table_for_log(&with_local_defaults(&def, context.time_zone)))
}

fn table_def(
    create: &CreateTable,
    name: &engine::TableName,
    selected: &[ColumnDef],
    context: &DdlContext<'_>,
) -> Result<TableDef, SqlError> {
    let database = context.catalog.database(&name.schema);
    let database_collation = database.map_or(context.collation_server, |database| database.collation);
    let options = &create.options;
    let collation = context.collation_of(options.charset.as_deref(), options.collation.as_deref())?;
    let mut def = TableDef {
        id: TableId(0),
        schema: name.schema.clone(),
        name: name.name.clone(),
        columns: Vec::with_capacity(create.columns.len()),
        indexes: Vec::new(),
        collation: collation.unwrap_or(database_collation),
        comment: String::new(),
        generated_pk: false,
        engine_name: "InnoDB".into(),
        foreign_keys: Vec::new(),
        auto_increment_start: 0,
        create_time: 0,
        options: Vec::new(),
    };
    foreign_key::check_number(&def, &create.keys, context)?;
    apply_options(&mut def, options, context)?;
    if refused_option(&def, context).is_some() {
        return Err(has_no_option(&def));
    }
    for spec in &create.columns {
        def.columns.push(column::column_def(spec, def.collation, context)?);
    }
    add_selected(&mut def, selected)?;
    let is_null = |spec: &ColumnSpec| spec.nullable == Some(true) || spec.default == Some(DefaultSpec::Null);
    let explicitly_null = |name: &str| create.columns.iter().any(|spec| same_name(&spec.name, name) && is_null(spec));
    add_indexes(&mut def, &create.keys, &explicitly_null)?;
    foreign_key::add_all(&mut def, None, &create.keys, context)?;
    index::warn_of_hash(&create.keys, context.warnings);
    index::warn_of_duplicates(&def, &[], context.warnings);
    finish(&mut def, context)?;
    foreign_key::check(&def, None, context)?;
    Ok(def)
}

/// Adds the columns of a query; what is in it stands in its order, whether it was written before or not.
fn add_selected(def: &mut TableDef, selected: &[ColumnDef]) -> Result<(), SqlError> {
    if def.columns.len() + selected.len() > 2 * COLUMNS_MAX {
        return Err(too_many_columns());
    }
    check_duplicates(selected)?;
    for column in selected {
        match def.column_index(&column.name) {
            Some(written) => {
                let written = def.columns.remove(written);
                def.columns.push(written);
            }
            None => {
                super::check_selected_name(&column.name)?;
                def.columns.push(column.clone());
            }
        }
    }
    Ok(())
}

/// 1060 for a name that two columns have.
fn check_duplicates(columns: &[ColumnDef]) -> Result<(), SqlError> {
    for (at, column) in columns.iter().enumerate() {
        if columns[..at].iter().any(|before| same_name(&before.name, &column.name)) {
            return Err(duplicate_column(&column.name));
        }
    }
    Ok(())
}

/// Adds indexes, and those that foreign keys need, in the order in which they were written.
pub(super) fn add_indexes(
    def: &mut TableDef,
    keys: &[TableKey],
    explicitly_null: &dyn Fn(&str) -> bool,
) -> Result<(), SqlError> {
    for (place, key) in keys.iter().enumerate() {
        match key {
            TableKey::Index(spec) => index::add(spec, &mut def.columns, explicitly_null, &mut def.indexes)?,
            TableKey::Foreign(spec) => foreign_key::add_index(def, spec, &keys[place + 1..])?,
        }
    }
    Ok(())
}

/// What every definition has to be in the end: a primary key, in order, within the limits. The primary key that is generated
/// where there is none is added here.
pub(super) fn finish(def: &mut TableDef, context: &DdlContext<'_>) -> Result<(), SqlError> {
    check_columns(def, context)?;
    index::drop_covered(&mut def.indexes, context.is_of_maria);
    index::sort(&mut def.indexes, &def.columns);
    check_auto_increment(def)?;
    if def.indexes.first().is_none_or(|index| index.name != PRIMARY) {
        if context.require_primary_key {
            let message = "Unable to create or change a table without a primary key, when the system variable \
                           'sql_require_primary_key' is set.";
            return Err(SqlError::new(codes::TABLE_WITHOUT_PK, message));
        }
        if !context.is_logged {
            check_first_key(def)?;
        }
        generate_primary_key(def)?;
        index::sort(&mut def.indexes, &def.columns);
    }
    def.generated_pk = is_generated_pk(def);
    Ok(())
}

fn check_columns(def: &TableDef, context: &DdlContext<'_>) -> Result<(), SqlError> {
    if def.columns.is_empty() {
        return Err(SqlError::new(codes::TABLE_MUST_HAVE_COLUMNS, "A table must have at least 1 column"));
    }
    if def.columns.iter().all(|column| column.invisible) {
        return Err(SqlError::new(
            codes::TABLE_MUST_HAVE_A_VISIBLE_COLUMN,
            "A table must have at least one visible column.",
        ));
    }
    let max = if context.is_logged { COLUMNS_MAX } else { CLIENT_COLUMNS_MAX };
    if def.columns.len() - usize::from(def.generated_pk) > max {
        return Err(too_many_columns());
    }
    check_duplicates(&def.columns)?;
    let nulls = def.columns.iter().filter(|column| column.nullable).count().div_ceil(8) as u32;
    let bytes: u32 = def.columns.iter().map(column::row_bytes).fold(nulls, u32::saturating_add);
    if bytes > column::ROW_BYTES_MAX {
        let message = "Row size too large. The maximum row size for the used table type, not counting BLOBs, is 65535. \
                       This includes storage overhead, check the manual. You have to change some columns to TEXT or BLOBs";
        return Err(SqlError::new(codes::TOO_BIG_ROWSIZE, message));
    }
    Ok(())
}

/// 1117
pub(super) fn too_many_columns() -> SqlError {
    SqlError::new(codes::TOO_MANY_FIELDS, "Too many columns")
}

fn check_auto_increment(def: &TableDef) -> Result<(), SqlError> {
    let mut auto = def.columns.iter().enumerate().filter(|(_, column)| column.auto_increment);
    let Some((place, _)) = auto.next() else { return Ok(()) };
    let leads_a_key = def.indexes.iter().any(|index| index.parts.first().is_some_and(|part| part.column == place));
    if auto.next().is_some() || !leads_a_key {
        let message = "Incorrect table definition; there can be only one auto column and it must be defined as a key";
        return Err(SqlError::new(codes::WRONG_AUTO_KEY, message));
    }
    Ok(())
}

/// The first unique key without NULL is the primary key of a MySQL where there is no other, and may not be invisible (3522).
pub(super) fn check_first_key(def: &TableDef) -> Result<(), SqlError> {
    let is_hidden = |index: &IndexDef| def.is_candidate(index) && !index.visible;
    match def.indexes.get(usize::from(def.generated_pk)).is_some_and(is_hidden) {
        true => Err(index::primary_is_invisible()),
        false => Ok(()),
    }
}

/// `my_row_id`, as `sql_generate_invisible_primary_key` makes it: first, invisible, counted up.
///
/// Beside an AUTO_INCREMENT column it gets its numbers from a counter of its own ([`TableDef::counted_pk`]).
fn generate_primary_key(def: &mut TableDef) -> Result<(), SqlError> {
    if def.column_index(GENERATED_PK_COLUMN).is_some() {
        let message =
            format!("Failed to generate invisible primary key. Column '{GENERATED_PK_COLUMN}' already exists.");
        return Err(SqlError::new(codes::GIPK_COLUMN_EXISTS, message));
    }
    let mut column = ColumnDef::new(GENERATED_PK_COLUMN, ColumnType::BigInt { unsigned: true }).not_null();
    column.auto_increment = def.auto_increment_column().is_none();
    column.invisible = true;
    column.collation = CollationId::BINARY;
    def.columns.insert(0, column);
    for part in def.indexes.iter_mut().flat_map(|index| &mut index.parts) {
        part.column += 1;
    }
    for column in def.foreign_keys.iter_mut().flat_map(|key| &mut key.columns) {
        *column += 1;
    }
    let mut columns = std::mem::take(&mut def.columns);
    let spec = IndexSpec::new(IndexKind::Primary, None, vec![IndexPart::whole(GENERATED_PK_COLUMN)]);
    let added = index::add(&spec, &mut columns, &|_| false, &mut def.indexes);
    def.columns = columns;
    added
}

/// Whether the primary key is a generated one; written out in a log it is recognised again.
fn is_generated_pk(def: &TableDef) -> bool {
    let column = &def.columns[0];
    let primary = &def.indexes[0];
    column.name == GENERATED_PK_COLUMN
        && column.invisible
        && (column.auto_increment || def.auto_increment_column().is_some())
        && column.ty == ColumnType::BigInt { unsigned: true }
        && matches!(primary.parts[..], [KeyPart { column: 0, prefix_chars: None, descending: false }])
}

/// Engines of MySQL and MariaDB: accepted by name, with a warning, and all of them are ours. BLACKHOLE, which keeps no rows, and engines whose
/// tables are elsewhere are not among them.
const KNOWN_ENGINES: &[&str] =
    &["InnoDB", "MyISAM", "MEMORY", "HEAP", "CSV", "ARCHIVE", "MRG_MYISAM", "Aria", "RocksDB", "TokuDB", "NDBCLUSTER"];

pub(super) fn apply_options(
    def: &mut TableDef,
    options: &TableOptions,
    context: &DdlContext<'_>,
) -> Result<(), SqlError> {
    if let Some(engine) = &options.engine {
        match KNOWN_ENGINES.iter().find(|known| known.eq_ignore_ascii_case(engine)) {
            Some(known) => def.engine_name = (*known).to_string(),
            None => {
                let message = format!("Unknown storage engine '{engine}'");
                let strict = context.sql_mode.has(crate::expr::SqlMode::NO_ENGINE_SUBSTITUTION);
                if strict {
                    return Err(SqlError::new(codes::UNKNOWN_STORAGE_ENGINE, message));
                }
                context.warnings.push(WarningLevel::Warning, codes::UNKNOWN_STORAGE_ENGINE, message);
                def.engine_name = "InnoDB".into();
            }
        }
        if !engine.eq_ignore_ascii_case("InnoDB") {
            let message = format!("Using storage engine InnoDB for table '{}'", def.name);
            context.warnings.push(WarningLevel::Warning, codes::WARN_USING_OTHER_HANDLER, message);
        }
    }
    if let Some(start) = options.auto_increment {
        def.auto_increment_start = start;
    }
    if let Some(comment) = &options.comment {
        check_comment(comment, 2048, &format!("table '{}'", def.name), codes::TOO_LONG_TABLE_COMMENT)?;
        def.comment = comment.clone();
    }
    for (name, value) in &options.recorded {
        def.options.retain(|(known, _)| known != name);
        if value != "DEFAULT" && !(value == "0" && NOTHING_IF_ZERO.contains(&name.as_str())) {
            def.options.push((name.clone(), value.clone()));
        }
    }
    def.options.sort_by_key(|(name, _)| OPTIONS_IN_ORDER.iter().position(|known| known == name));
    Ok(())
}

/// Options whose value 0 is as good as none.
const NOTHING_IF_ZERO: [&str; 7] =
    ["KEY_BLOCK_SIZE", "AVG_ROW_LENGTH", "MAX_ROWS", "MIN_ROWS", "CHECKSUM", "DELAY_KEY_WRITE", "AUTOEXTEND_SIZE"];

/// Options in the order of SHOW CREATE TABLE; those that are not here come before.
const OPTIONS_IN_ORDER: [&str; 11] = [
    "MIN_ROWS",
    "MAX_ROWS",
    "AVG_ROW_LENGTH",
    "PACK_KEYS",
    "STATS_PERSISTENT",
    "STATS_AUTO_RECALC",
    "STATS_SAMPLE_PAGES",
    "CHECKSUM",
    "DELAY_KEY_WRITE",
    "ROW_FORMAT",
    "KEY_BLOCK_SIZE",
];

/// 1031 of an option that InnoDB does not have.
pub(super) fn has_no_option(def: &TableDef) -> SqlError {
    SqlError::new(codes::ILLEGAL_HA, format!("Table storage engine for '{}' doesn't have this option", def.name))
}

/// Options that InnoDB does not take: which of them, as it is named there.
pub(super) fn refused_option(def: &TableDef, context: &DdlContext<'_>) -> Option<&'static str> {
    if refuses_compression(def, context) {
        return Some("COMPRESSION");
    }
    // What a log says was accepted where it was made.
    if context.is_logged || def.engine_name != "InnoDB" {
        return None;
    }
    let format = table_option(def, "ROW_FORMAT");
    if format.is_some_and(|format| matches!(format, "FIXED" | "PAGE")) {
        return Some("ROW_TYPE");
    }
    let size = table_option(def, "KEY_BLOCK_SIZE")?;
    let mut refuses = Vec::new();
    if !["1", "2", "4", "8", "16"].contains(&size) {
        refuses.push(format!("InnoDB: invalid KEY_BLOCK_SIZE = {size}. Valid values are [1, 2, 4, 8, 16]"));
    }
    if let Some(format) = format.filter(|format| *format != "COMPRESSED") {
        refuses.push(format!("InnoDB: cannot specify ROW_FORMAT={format} with KEY_BLOCK_SIZE."));
    }
    for why in &refuses {
        context.warnings.push(WarningLevel::Warning, codes::ILLEGAL_HA_CREATE_OPTION, why.clone());
    }
    (!refuses.is_empty()).then_some("KEY_BLOCK_SIZE")
}

/// Whether what COMPRESSION names is unknown, or does not go together with the other options; a warning says why.
fn refuses_compression(def: &TableDef, context: &DdlContext<'_>) -> bool {
    let Some(name) = table_option(def, "COMPRESSION") else { return false };
    let of_rows = table_option(def, "ROW_FORMAT") == Some("COMPRESSED")
        || table_option(def, "KEY_BLOCK_SIZE").is_some_and(|n| n != "0");
    let why = match compression_named(name) {
        None => format!("InnoDB: Unsupported compression algorithm '{name}'"),
        Some(compression) if of_rows && compression != Default::default() => {
            "InnoDB: Page Compression is not supported with row_format=compressed or key_block_size > 0".to_string()
        }
        Some(_) => return false,
    };
    context.warnings.push(WarningLevel::Warning, codes::UNSUPPORTED_EXTENSION, why);
    true
}
