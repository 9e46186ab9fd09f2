//! Definitions: privileges, implicit commit, plan, log.

use std::sync::Arc;

use base::{SqlError, codes};
use binlog::QueryContext;
use binlog::event::flags2;
use engine::lock::{Target, Wait, WaitPolicy};
use engine::{DdlText, EngineError, LockOwner, TableMode, TxnOptions};
use types::charset::Charset;
use types::schema::ColumnDefault;
use types::{CollationId, Value};

use super::Session;
use super::prepared::rows_of;
use super::rows::RowStatement;
use crate::charsets;
use crate::ddl::{self, DdlContext, PlannedDdl, plan_ddl};
use crate::expr::{ExprType, Kind, SqlMode};
use crate::information_schema::SystemTables;
use crate::parse::ast::{AlterAction, AlterTable, CreateTable, Ddl, OnDuplicate, RowOrder, Statement, TableName};
use crate::parse::{self, ParsedStatement};
use crate::result::{Collected, Outcome};
use crate::settings::SettingId;

/// How often a definition is planned anew because its tables changed between the plan and the locks.
const REPLANS_MAX: usize = 10;

impl Session {
    /// Runs a definition. `written` is the statement that says it; none where the plan says what is logged.
    pub(super) async fn define(&mut self, ddl: &Ddl, written: Option<&ParsedStatement>) -> Result<Outcome, SqlError> {
        self.check_may_define(ddl)?;
        if let Some(outcome) = self.define_temporary(ddl).await? {
            return Ok(outcome);
        }
        self.check_no_hold()?;
        self.check_definition(ddl)?;
        let ddl = self.resolve_accounts(ddl.clone())?;
        // The implicit commit comes before anything can fail for the definition itself.
        self.commit().await?;
        self.check_writable()?;
        let defined = self.define_in_turn(&ddl, written).await;
        self.gtid_ended();
        self.source_position = None;
        let affected_rows = defined?;
        self.after_definition(&ddl);
        self.after_accounts(&ddl);
        self.info.row_count = affected_rows as i64;
        let info = match ddl {
            Ddl::AlterTable(alter) if !alter.actions.iter().all(AlterAction::says_nothing) => {
                format!("Records: {affected_rows}  Duplicates: 0  Warnings: {}", self.warnings.count())
            }
            _ => String::new(),
        };
        Ok(Outcome { affected_rows, info, ..Outcome::default() })
    }

    /// 1792 for a definition in a session whose transactions are read-only. A transaction that was begun so does not count, nor does
    /// SET TRANSACTION for the next one, unless the table is temporary: a definition ends both before it begins.
    fn check_may_define(&self, ddl: &Ddl) -> Result<(), SqlError> {
        let is_temporary = match ddl {
            Ddl::CreateTable(create) => create.temporary,
            Ddl::DropTables { temporary, .. } => *temporary,
            _ => false,
        };
        let next_is_read_only = self.transaction.next.read_only == Some(true);
        let in_read_only = is_temporary && self.transaction.open().map_or(next_is_read_only, |open| open.read_only);
        match !self.is_applier && (self.settings.transaction_read_only || in_read_only) {
            true => Err(EngineError::ReadOnlyTransaction.into()),
            false => Ok(()),
        }
    }

    /// OPTIMIZE TABLE: all of a table is written anew. It is a definition, because followers do the same.
    pub(super) async fn rebuild(&mut self, table: &TableName) -> Result<(), SqlError> {
        self.check_no_hold()?;
        if self.settings.transaction_read_only {
            return Err(EngineError::ReadOnlyTransaction.into());
        }
        self.check_writable()?;
        let schema = table.schema.clone().unwrap_or_default();
        let name = format!("{}.{}", ddl::quote_identifier(&schema), ddl::quote_identifier(&table.name));
        let written = parse::parse_one(&format!("ALTER TABLE {name} FORCE"), &self.parse_context())?;
        self.define_in_turn(&forced(table), Some(&written)).await?;
        // What is in the log now is the transaction of a GTID that was chosen. After a failure it ends with the statement.
        self.gtid_ended();
        self.source_position = None;
        Ok(())
    }

    /// Plans and executes, again if others change the same tables meanwhile. How many rows that affects.
    async fn define_in_turn(&mut self, ddl: &Ddl, written: Option<&ParsedStatement>) -> Result<u64, SqlError> {
        let mut locks = None;
        for _ in 0..REPLANS_MAX {
            match self.define_once(ddl, written, locks.as_ref()).await {
                Err(error) if error.code == codes::TABLE_DEF_CHANGED.0 => {}
                Err(error) if error.code == codes::TABLE_EXISTS_ERROR.0 && locks.is_none() => {
                    locks = Some(self.lock_renamed(ddl).await?.ok_or(error)?);
                }
                result => return result,
            }
        }
        Err(SqlError::new(codes::TABLE_DEF_CHANGED, "Table definition has changed, please retry transaction"))
    }

    /// RENAME TABLE, and ALTER TABLE … RENAME, wait for those who have locked one of its tables before it finds that a name is taken: they may be about to drop the
    /// table of that name. `None` for other statements, and under LOCK TABLES, where others have none of its tables.
    async fn lock_renamed(&self, ddl: &Ddl) -> Result<Option<Arc<LockOwner>>, SqlError> {
        let renamed = matches!(ddl, Ddl::RenameTables { .. } | Ddl::AlterTable(_)).then(|| ddl.tables()).flatten();
        let Some(tables) = renamed else { return Ok(None) };
        if self.is_applier || self.locked.owner.is_some() {
            return Ok(None);
        }
        let catalog = self.shared.engine.catalog();
        let id = |table: &TableName| Some(catalog.table(&self.schema_of(table).ok()?, &table.name)?.id());
        let mut ids: Vec<_> = tables.iter().filter_map(id).collect();
        ids.sort_unstable();
        ids.dedup();
        let policy = WaitPolicy::For(self.ddl_options().lock_wait_timeout);
        let mut owner = self.shared.engine.locks().owner();
        for id in ids {
            let wait = Wait { policy, cancel: &self.handle.cancel };
            owner.table(Target::Table(id), TableMode::Exclusive, wait).await.map_err(EngineError::from)?;
        }
        Ok(Some(Arc::new(owner)))
    }

    async fn define_once(
        &mut self,
        ddl: &Ddl,
        written: Option<&ParsedStatement>,
        locks: Option<&Arc<LockOwner>>,
    ) -> Result<u64, SqlError> {
        let text = written.map_or("", |written| &*written.text);
        // Temporary tables only matter as the model of a new table.
        let catalog = match ddl {
            Ddl::CreateTable(_) => self.catalog(),
            _ => self.shared.engine.catalog(),
        };
        let warnings = std::mem::take(&mut self.warnings);
        let mandatory_roles = self.mandatory_roles_for(ddl, &catalog);
        // Passwords are kept by the microsecond, and CURRENT_TIMESTAMP(6) is put into existing rows.
        let has_fraction = matches!(ddl, Ddl::CreateUser { .. } | Ddl::AlterUser { .. } | Ddl::AlterTable(_));
        let context = self.ddl_context(&catalog, &warnings);
        let microseconds = if has_fraction { context.microseconds } else { 0 };
        let partial_revokes = context.partial_revokes || self.is_applier && ddl::says_partial_revokes(text);
        let is_of_maria = context.is_of_maria || self.is_applier && ddl::says_as_in_mariadb(text);
        let row_order = ddl::row_order_said(text).filter(|_| self.is_applier);
        let mandatory_roles = &mandatory_roles;
        let context = DdlContext { mandatory_roles, microseconds, partial_revokes, is_of_maria, row_order, ..context };
        let planned = plan_ddl(ddl, &context);
        self.warnings = warnings;
        let PlannedDdl { change, log_text, log_changes, affected_rows, is_copied, row_warnings } = planned?;
        if !changes_anything(&change) {
            // Nothing to do and nothing to log: a replica would have nothing to do either.
            self.commit_nothing().await?;
            return Ok(affected_rows);
        }
        let affected_rows = match &change {
            engine::CatalogChange::AlterTable(alter) if is_copied => self.shared.engine.estimate_rows(&alter.table),
            _ => affected_rows,
        };
        let log_changes = parse::LogChanges { is_as_written: log_text.is_none(), ..log_changes };
        let mut sql = self.text_for_log(log_text, written, &log_changes)?;
        let marks = [
            (ddl::PARTIAL_REVOKES, log_changes.is_partial_revoke),
            (RowOrder::GeneratedKey.mark(), log_changes.row_order == Some(RowOrder::GeneratedKey)),
            (RowOrder::UniqueKey.mark(), log_changes.row_order == Some(RowOrder::UniqueKey)),
            (ddl::AS_IN_MARIADB, log_changes.is_as_in_mariadb),
        ];
        mark(&mut sql, &marks);
        let logged = DdlText { sql, context: QueryContext { microseconds, ..self.query_context() } };
        let options = self.ddl_options();
        let options = TxnOptions { under: locks.cloned().or(options.under), ..options };
        let pending = self.shared.engine.enqueue_ddl(change, logged, &options).await;
        self.warnings.append(&row_warnings);
        let pending = pending.map_err(|error| ddl::collision(error, is_copied))?;
        self.wait_for_commit(pending.ended()).await?;
        Ok(affected_rows)
    }

    /// What the log says of a definition: what its plan says, or else what was written.
    fn text_for_log(
        &self,
        planned: Option<String>,
        written: Option<&ParsedStatement>,
        changes: &parse::LogChanges,
    ) -> Result<String, SqlError> {
        if let Some(text) = planned {
            let parsed = parse::parse_one(&text, &self.parse_context()).ok();
            return Ok(parsed.and_then(|parsed| parse::for_log(&parsed, changes)).unwrap_or(text));
        }
        let written = written.ok_or_else(|| SqlError::unknown("a definition without a text for the log"))?;
        let changed = parse::for_log(written, changes);
        Ok(changed.as_deref().unwrap_or(&written.text).trim().to_owned())
    }

    pub(super) fn ddl_context<'a>(
        &'a self,
        catalog: &'a engine::Catalog,
        warnings: &'a crate::expr::Warnings,
    ) -> DdlContext<'a> {
        let settings = &self.settings;
        DdlContext {
            catalog,
            database: self.info.database.as_deref(),
            sql_mode: self.info.sql_mode,
            character_set: self.info.collation_connection.charset(),
            collation_server: settings.collation_server,
            utf8mb4_collation: settings.default_collation_for_utf8mb4,
            timestamp: (self.now.0 / 1_000_000) as u32,
            microseconds: (self.now.0 % 1_000_000) as u32,
            time_zone: &self.info.time_zone,
            require_primary_key: settings.sql_require_primary_key,
            foreign_key_checks: settings.foreign_key_checks,
            is_logged: self.is_applier,
            is_of_maria: self.source.is_of_maria(),
            row_order: None,
            partial_revokes: self.shared.globals.partial_revokes(),
            mandatory_roles: &[],
            reuse_policy: self.reuse_policy(),
            auto_increment: (settings.auto_increment_increment, settings.auto_increment_offset),
            warnings,
        }
    }

    /// The session's part of a QUERY event that is logged now.
    pub(super) fn query_context(&self) -> QueryContext {
        QueryContext { timestamp: (self.now.0 / 1_000_000) as u32, ..self.log_context.clone() }
    }

    /// The session's part of QUERY events; a time of 0 is that of the commit.
    pub(super) fn make_log_context(&self) -> QueryContext {
        let settings = &self.settings;
        // The text in the log is UTF-8, whatever the client's character set was.
        let client = charsets::default_collation(settings.character_set_client);
        let client = client.filter(|client| client.charset() == Charset::Utf8Mb4).unwrap_or(CollationId::DEFAULT);
        let zone = match self.settings.get(SettingId::time_zone).as_str() {
            // The zone of this machine, not of the one that applies the log. An offset needs no table of zones there.
            "SYSTEM" => match self.settings.get(SettingId::system_time_zone).as_str() {
                "UTC" => "+00:00",
                zone => zone,
            },
            zone => zone,
        };
        let checks = if settings.foreign_key_checks { 0 } else { flags2::NO_FOREIGN_KEY_CHECKS };
        let unique = if settings.unique_checks { 0 } else { flags2::RELAXED_UNIQUE_CHECKS };
        // Both are 65535 at most.
        let numbering = (settings.auto_increment_increment as u16, settings.auto_increment_offset as u16);
        QueryContext {
            thread_id: self.handle.connection_id.0,
            timestamp: 0,
            microseconds: 0,
            schema: self.info.database.clone().unwrap_or_default(),
            sql_mode: self.info.sql_mode.0,
            flags2: checks | unique,
            charsets: [client.0, settings.collation_connection.0, settings.collation_server.0],
            time_zone: Some(zone.to_string()),
            auto_increment: (numbering != (1, 1)).then_some(numbering),
            default_collation_for_utf8mb4: settings.default_collation_for_utf8mb4.0,
        }
    }

    /// Whether a table has no row.
    pub(super) async fn is_empty(&mut self, schema: &str, table: &str) -> Result<bool, SqlError> {
        let (schema, table) = (ddl::quote_identifier(schema), ddl::quote_identifier(table));
        let mut rows = Collected::default();
        let query = format!("SELECT 1 FROM {schema}.{table} LIMIT 1");
        Box::pin(self.query(query.as_bytes(), &mut rows)).await?;
        Ok(rows.rows.is_empty())
    }

    fn after_definition(&mut self, ddl: &Ddl) {
        match ddl {
            Ddl::DropDatabase { name, .. } if self.info.database.as_deref() == Some(name) => {
                self.info.database = None;
                self.changes.schema_gone();
                self.database_changed();
            }
            Ddl::AlterDatabase { .. } => self.database_changed(),
            _ => {}
        }
    }

    /// CREATE TABLE … SELECT: the table, made of what was written and of the query's columns, then the rows.
    pub(super) async fn create_table_select(
        &mut self,
        create: &CreateTable,
        query: &syntax::ast::Query,
        (parsed, params): (&ParsedStatement, &[Value]),
    ) -> Result<Outcome, SqlError> {
        self.check_may_select_into(create)?;
        if !create.temporary && self.any_temporary(std::slice::from_ref(&create.name)) {
            // Its rows would go to the temporary table, which is in front of the new one.
            let what = "CREATE TABLE … SELECT of a name that a temporary table of the session has";
            return Err(SqlError::not_supported(what));
        }
        if !create.temporary {
            self.commit().await?;
        }
        let catalog = self.catalog();
        let schema = create.name.schema.clone().or_else(|| self.info.database.clone()).ok_or_else(ddl::no_database)?;
        let is_there = match create.temporary {
            true => catalog.temporary_table(&schema, &create.name.name),
            false => catalog.base_table(&schema, &create.name.name),
        };
        let is_there = is_there.is_some();
        // What an earlier attempt of the applier has left, which was interrupted between the table and its rows, is empty.
        let is_left_over =
            is_there && !create.temporary && self.is_applier && self.is_empty(&schema, &create.name.name).await?;
        if is_there && !is_left_over && !create.temporary {
            // An error, or with IF NOT EXISTS nothing at all.
            return self.define(&Ddl::CreateTable(Box::new(create.clone())), None).await;
        }
        let mut select = parsed.clone();
        select.statement = crate::parse::ast::Statement::Query(Box::new(query.clone()));
        let tables = SystemTables::new(self.shared.clone());
        let rows = rows_of(&select, params, &self.info.database.clone());
        let mut plan = self.plan(&rows, &[], &tables).await?;
        if plan.depends_on_params() {
            let types: Vec<_> = self.types_of(params).into_iter().map(stored_param).collect();
            plan = self.plan(&rows, &types, &tables).await?;
        }
        if is_there && create.temporary {
            return self.create_temporary_again(create, &schema, &plan).await;
        }
        self.check_table_uses(plan.uses())?;
        let columns = selected_columns(&plan, &catalog, self.source.is_of_maria());
        let warnings = std::mem::take(&mut self.warnings);
        let text = ddl::with_selected(create, &columns, &self.ddl_context(&catalog, &warnings));
        self.warnings = warnings;
        let text = text?;
        let mut reparsed = crate::parse::parse_one(&text, &crate::parse::ParseContext::default())?;
        if let Statement::Ddl(Ddl::CreateTable(definition)) = &mut reparsed.statement {
            definition.temporary = create.temporary;
        }
        let crate::parse::ast::Statement::Ddl(definition) = &reparsed.statement else {
            return Err(SqlError::unknown("CREATE TABLE … SELECT gave no definition"));
        };
        // The table is a transaction by itself; a GTID that was chosen, or a place in another log, is that of the rows.
        let (gtid, position) = (self.put_gtid_aside(), self.source_position.take());
        let changes = self.transaction.temporary;
        // A default that a column had is taken, though sql_mode may refuse a new one.
        let mode = self.info.sql_mode;
        if columns.iter().any(has_date_by_default) {
            self.info.sql_mode = mode.without(SqlMode::NO_ZERO_DATE).without(SqlMode::NO_ZERO_IN_DATE);
        }
        let defined =
            if is_left_over { Ok(Outcome::default()) } else { self.define(definition, Some(&reparsed)).await };
        self.info.sql_mode = mode;
        self.next_gtid = gtid;
        defined?;
        let hidden = if create.temporary { self.hide_temporary(&create.name)? } else { None };
        let is_own = position.is_some() && !self.in_transaction();
        if is_own {
            self.begin_transaction(true, Some(false));
            self.set_source_position(position);
        }
        let filled = self.fill_table(create, hidden.as_ref(), &columns, query, &rows).await;
        if filled.is_err() && (!create.temporary || is_own) {
            self.rollback();
        }
        if let Some(hidden) = &hidden {
            self.unhide_temporary(hidden, filled.is_ok());
        }
        match &filled {
            // Like all definitions it leaves no transaction open.
            Ok(_) if !create.temporary || is_own => self.commit().await?,
            Err(_) if create.temporary => self.transaction.temporary = changes,
            Err(_) => {
                let drop = Ddl::DropTables { tables: vec![create.name.clone()], if_exists: true, temporary: false };
                self.define(&drop, None).await?;
            }
            Ok(_) => {}
        }
        filled
    }

    /// CREATE TEMPORARY TABLE … SELECT of a name that the session has given already: an error, or with IF NOT EXISTS nothing at all.
    async fn create_temporary_again(
        &mut self,
        create: &CreateTable,
        schema: &str,
        plan: &crate::plan::Plan,
    ) -> Result<Outcome, SqlError> {
        let name = &create.name.name;
        if plan.uses().iter().any(|used| used.temporary && used.schema == schema && used.table == *name) {
            return Err(SqlError::new(codes::CANT_REOPEN_TABLE, format!("Can't reopen table: '{name}'")));
        }
        let changes = self.transaction.temporary;
        let outcome = self.define(&Ddl::CreateTable(Box::new(create.clone())), None).await;
        self.transaction.temporary = changes;
        outcome
    }

    /// Whether a statement of a log that is executed is a CREATE TABLE, in a transaction in which rows of the table come next.
    pub(super) fn rows_follow(&self, statement: &Statement) -> bool {
        let Statement::Ddl(Ddl::CreateTable(create)) = statement else { return false };
        let replays = || self.settings.pseudo_replica_mode;
        !self.is_applier && (create.options.rows_follow || self.in_transaction() && replays())
    }

    /// Such a CREATE TABLE. Here it is a transaction by itself, with a GTID of this server; the rows' is the one that was chosen.
    pub(super) async fn define_before_rows(&mut self, parsed: &ParsedStatement) -> Result<Outcome, SqlError> {
        let Statement::Ddl(definition) = &parsed.statement else { return Ok(Outcome::default()) };
        if !self.settings.pseudo_replica_mode {
            return Err(SqlError::not_supported("CREATE TABLE … START TRANSACTION without pseudo_replica_mode"));
        }
        if self.transaction.open().is_some_and(|open| open.transaction.has_writes()) {
            return Err(SqlError::not_supported("CREATE TABLE behind rows of the same transaction"));
        }
        let was_open = self.in_transaction();
        self.take_transaction();
        let (gtid, origin) = (self.put_gtid_aside(), self.origin);
        let result = self.define(definition, Some(parsed)).await;
        (self.next_gtid, self.origin) = (gtid, origin);
        if was_open {
            self.begin_transaction(true, None);
        }
        result
    }

    async fn fill_table(
        &mut self,
        create: &CreateTable,
        hidden: Option<&TableName>,
        columns: &[types::ColumnDef],
        query: &syntax::ast::Query,
        select: &RowStatement<'_>,
    ) -> Result<Outcome, SqlError> {
        let verb = match create.on_duplicate {
            OnDuplicate::Error => "INSERT INTO",
            OnDuplicate::Ignore => "INSERT IGNORE INTO",
            OnDuplicate::Replace => "REPLACE INTO",
        };
        let table = match &create.name.schema {
            Some(schema) => format!("{}.{}", ddl::quote_identifier(schema), ddl::quote_identifier(&create.name.name)),
            None => ddl::quote_identifier(&create.name.name),
        };
        let names: Vec<String> = columns.iter().map(|column| ddl::quote_identifier(&column.name)).collect();
        let text = format!("{verb} {table} ({}) SELECT 1", names.join(","));
        let mut insert = crate::parse::parse_one(&text, &crate::parse::ParseContext::default())?;
        if let crate::parse::ast::Statement::Insert(insert) = &mut insert.statement {
            insert.source = syntax::ast::InsertSource::Query(Box::new(query.clone()));
            if let Some(TableName { schema: Some(schema), name }) = hidden {
                let [schema, name] = [schema, name].map(|part| syntax::ast::Name::new(part));
                insert.table = syntax::ast::TablePath { schema: Some(schema), name };
            }
        }
        let tables = SystemTables::new(self.shared.clone());
        let database = select.database.clone();
        let rows = RowStatement { statement: &insert.statement, database, ..*select };
        let mut result = Collected::default();
        Box::pin(self.run_rows(&rows, &mut None, &tables, &mut result)).await
    }
}

/// ALTER TABLE … FORCE.
pub(super) fn forced(table: &TableName) -> Ddl {
    Ddl::AlterTable(Box::new(AlterTable {
        table: table.clone(),
        if_exists: false,
        actions: vec![AlterAction::Force],
        of_index: false,
        online: None,
    }))
}

/// Puts the marks that are so behind a statement of the log, in place of a client's comments that look like marks.
fn mark(sql: &mut String, marks: &[(&str, bool)]) {
    while let Some(length) = marks.iter().find_map(|(mark, _)| sql.strip_suffix(mark)).map(str::len) {
        sql.truncate(length);
    }
    marks.iter().filter(|(_, is_so)| *is_so).for_each(|(mark, _)| sql.push_str(mark));
}

fn changes_anything(change: &engine::CatalogChange) -> bool {
    !matches!(change, engine::CatalogChange::Nothing)
}

/// A text that a prepared statement is given, or NULL, makes a TEXT of a column.
fn stored_param(ty: ExprType) -> ExprType {
    let origin = Some(types::ColumnType::Text { size: types::BlobSize::Normal });
    match ty.kind {
        Kind::Str => ExprType { origin, ..ty },
        Kind::Any => ExprType { origin, ..ExprType::text(ty.length, CollationId::DEFAULT) },
        _ => ty,
    }
}

fn has_date_by_default(column: &types::ColumnDef) -> bool {
    matches!(&column.default, Some(ColumnDefault::Literal(Value::Date(_) | Value::DateTime(_))))
}

/// The columns that the query gives. One that is a column of a table keeps what that says of it; a number that AUTO_INCREMENT makes there
/// is 0 by default. Of a BIT nothing is kept but its type, as in MySQL; a MariaDB keeps all of it.
pub(super) fn selected_columns(
    plan: &crate::plan::Plan,
    catalog: &engine::Catalog,
    is_of_maria: bool,
) -> Vec<types::ColumnDef> {
    let crate::plan::PlanKind::Query(query) = &plan.kind else { return Vec::new() };
    let origin = |column: &crate::result::ResultColumn| {
        let def = &catalog.table(&column.schema, &column.org_table)?.def;
        def.columns.iter().find(|found| types::schema::same_name(&found.name, &column.org_name)).cloned()
    };
    let columns = plan.columns().iter().zip(&query.types);
    let column = |(column, ty): (&crate::result::ResultColumn, &crate::expr::ExprType)| {
        let mut new = ty.to_column(&column.name);
        let is_bit = matches!(new.ty, types::ColumnType::Bit { .. });
        if is_bit && !is_of_maria && !new.nullable {
            new.default = Some(ColumnDefault::Literal(Value::UInt(0)));
        }
        if let Some(old) = origin(column).filter(|_| !is_bit || is_of_maria) {
            new.default = if old.auto_increment { Some(ColumnDefault::Literal(Value::Int(0))) } else { old.default };
            (new.on_update_now, new.comment) = (old.on_update_now, old.comment);
        }
        new
    };
    columns.map(column).collect()
}
