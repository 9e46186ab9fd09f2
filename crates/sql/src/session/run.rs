//! One statement, from its bytes to its outcome.

use std::borrow::Cow;
use std::sync::Arc;

use base::{OnLargeStack, SqlError, UnixMicros, codes, memory};
use types::charset::Charset;
use types::{ColumnDef, ColumnType};

use super::Session;
use super::counters::Counter;
use super::gtid::GtidCheck;
use super::prepared::rows_of;
use super::seen::{Form, Known};
use super::transaction::Next;
use crate::ddl::no_database;
use crate::expr::WarningLevel;
use crate::information_schema::SystemTables;
use crate::parse::ast::TableName;
use crate::parse::ast::{Ddl, Show, Statement};
use crate::parse::{Foreign, OldColumn, ParsedStatement, in_our_words, parse_one, to_utf8};
use crate::result::{Outcome, ResultSink};
use crate::services::Activity;
use crate::settings::{SettingId, SettingValue};

/// Bytes of a statement that may take long to read, to bind or to compute, even over one row: the other tasks of the thread are left to another one.
pub(super) const LONG_STATEMENT: usize = 64 << 10;

impl Session {
    /// Runs one statement (what follows a `;` is an error).
    #[io::boxed]
    pub async fn query(&mut self, text: &[u8], sink: &mut dyn ResultSink) -> Result<Outcome, SqlError> {
        if text.len() >= LONG_STATEMENT {
            self.shared.env.spawner.step_aside();
        }
        let text = self.statement_text(text);
        self.begin_statement(&text);
        let form = Form::of(&text).filter(|_| !self.is_applier);
        if let Some(form) = &form
            && let Some(known) = self.known(form)
        {
            return self.run_known(&known, form, sink).await;
        }
        let read = self.read(&text).map_err(|error| (&*text, error));
        let result = self.run_read(read, sink).await;
        if let Some(form) = form.filter(|form| result.is_ok() && self.seen.note(form)) {
            let known = Box::pin(self.prepare_form(&form)).await;
            self.seen.keep(form, known);
        }
        result
    }

    /// What a statement of this form can be run with, if its plan still holds.
    fn known(&mut self, form: &Form) -> Option<Arc<Known>> {
        let known = self.seen.known(form)?;
        if !known.plan.is_current(&self.catalog(), &self.shared.engine) {
            self.seen.forget(form);
            return None;
        }
        Some(known)
    }

    /// Runs a statement as an execution of its form.
    async fn run_known(&mut self, known: &Known, form: &Form, sink: &mut dyn ResultSink) -> Result<Outcome, SqlError> {
        let database = self.info.database.clone();
        let mut plan = Some(known.plan.clone());
        let result = self.run_statement(&known.parsed, &form.values, &database, &mut plan, sink).await;
        // It was planned anew, because a table changed just then.
        if !plan.is_some_and(|plan| Arc::ptr_eq(&plan, &known.plan)) {
            self.seen.forget(form);
        }
        self.end_statement(result)
    }

    /// Prepares the form of a statement that has succeeded; `None` if it cannot serve all of its values. Nobody hears of errors and warnings.
    async fn prepare_form(&mut self, form: &Form) -> Option<Known> {
        let before = memory::now();
        let parsed = self.read(&form.text).ok()?;
        if !matches!(parsed.statement, Statement::Query(_))
            || parsed.param_count != form.values.len()
            || parsed.is_deep()
        {
            return None;
        }
        let tables = SystemTables::new(self.shared.clone());
        let database = self.info.database.clone();
        let planned = self.plan(&rows_of(&parsed, &[], &database), &[], &tables).await;
        self.warnings.take();
        Known::new(parsed, planned.ok()?, memory::now().saturating_sub(before))
    }

    /// Runs what was read of a text, or says with the text why it could not be read.
    pub(super) async fn run_read(
        &mut self,
        read: Result<ParsedStatement, (&str, SqlError)>,
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        let result = match read {
            Ok(parsed) if parsed.is_deep() => OnLargeStack::new(self.run_parsed(&parsed, sink)).await,
            Ok(parsed) => self.run_parsed(&parsed, sink).await,
            // Comments alone are a statement that does nothing, as in MySQL: clients that keep comments send those of dumps.
            Err((text, error)) if error.code == codes::EMPTY_QUERY.0 && !is_blank(text) => {
                self.forget_diagnostics();
                Ok(Outcome::default())
            }
            Err((_, error)) => {
                self.forget_diagnostics();
                Err(error)
            }
        };
        self.end_statement(result)
    }

    /// A statement in UTF-8, from the client's character set. Those of a source come in UTF-8.
    pub(super) fn statement_text<'t>(&self, text: &'t [u8]) -> Cow<'t, str> {
        let settings = &self.settings;
        let charset = match Charset::by_name(settings.character_set_client) {
            Some(charset @ Charset::Single(_)) if !self.is_applier => charset,
            _ => Charset::Utf8Mb4,
        };
        to_utf8(text, charset, settings.sql_mode)
    }

    /// Parses a statement, which then says what it means to who gave it.
    pub(super) fn read(&self, text: &str) -> Result<ParsedStatement, SqlError> {
        parse_one(text, &self.parse_context()).and_then(|parsed| self.in_our_words(parsed))
    }

    /// A statement that was parsed as one for us. Only a definition in other words is parsed again.
    pub(super) fn in_our_words(&self, parsed: ParsedStatement) -> Result<ParsedStatement, SqlError> {
        let settings = &self.settings;
        let foreign = match self.is_applier {
            true => Foreign { implicit_timestamps: !settings.explicit_defaults_for_timestamp, ..self.source.foreign() },
            false => {
                let (utf8mb3, implicit_timestamps) =
                    (settings.character_set_collations, !settings.explicit_defaults_for_timestamp);
                Foreign { utf8mb3, implicit_timestamps, ..Foreign::default() }
            }
        };
        if foreign == Foreign::default() {
            return Ok(parsed);
        }
        match in_our_words(&parsed, foreign, &|table| self.columns_before(table)) {
            None => Ok(parsed),
            Some(text) => parse_one(&text, &self.parse_context()),
        }
    }

    /// The columns of a table that is about to be altered; none if there is no such table.
    pub(super) fn columns_before(&self, table: &TableName) -> Vec<OldColumn> {
        let Ok(schema) = self.schema_of(table) else { return Vec::new() };
        let catalog = self.catalog();
        let columns = catalog.table(&schema, &table.name).map_or(&[][..], |table| &table.def.columns);
        let old = |column: &ColumnDef| OldColumn {
            name: column.name.clone(),
            is_timestamp: matches!(column.ty, ColumnType::Timestamp { .. }),
        };
        columns.iter().map(old).collect()
    }

    /// Time, cancellation, processlist.
    pub(super) fn begin_statement(&mut self, text: &str) {
        self.handle.cancel.next_statement();
        self.changes.clear();
        self.take_time();
        self.count(Counter::Queries);
        self.diagnostics.kept = false;
        let activity = Activity::Statement { text: text.trim(), database: self.info.database.as_deref() };
        self.shared.services.report(self.handle.connection_id, activity);
    }

    /// When the statement runs, and that it has given no random numbers and compiled no patterns yet.
    pub(super) fn take_time(&mut self) {
        self.info.seeded_random.get_mut().clear();
        self.info.last_pattern.get_mut().take();
        self.now = match self.settings.timestamp {
            Some(micros) => UnixMicros(micros),
            None => self.shared.env.clock.now(),
        };
    }

    /// Warnings, status, processlist.
    pub(super) fn end_statement(&mut self, result: Result<Outcome, SqlError>) -> Result<Outcome, SqlError> {
        if let Err(error) = &result {
            self.warnings.push_error(WarningLevel::Error, error);
            self.info.row_count = -1;
        }
        if self.warnings.count() > 0 {
            self.diagnostics.total = self.warnings.count();
            self.diagnostics.list = self.warnings.take();
        }
        self.shared.services.report(self.handle.connection_id, Activity::Idle);
        let mut outcome = result?;
        if outcome.has_rows {
            self.info.row_count = -1;
        }
        // A diagnostic statement has no warnings of its own.
        outcome.warnings = if self.diagnostics.kept { 0 } else { self.warning_count() };
        outcome.status = self.status();
        Ok(outcome)
    }

    /// The list of the statement before is gone as soon as another begins, unless it is a diagnostic one.
    fn forget_diagnostics(&mut self) {
        self.diagnostics.clear();
    }

    async fn run_parsed(&mut self, parsed: &ParsedStatement, sink: &mut dyn ResultSink) -> Result<Outcome, SqlError> {
        if parsed.param_count > 0 {
            // A `?` outside of a prepared statement.
            let offset = parsed.text.find('?').unwrap_or(0);
            return Err(crate::parse::syntax_error(&parsed.text, offset));
        }
        let database = self.info.database.clone();
        self.run_statement(parsed, &[], &database, &mut None, sink).await
    }

    /// Runs any statement; `plan` is kept for statements over rows.
    pub(super) async fn run_statement(
        &mut self,
        parsed: &ParsedStatement,
        params: &[types::Value],
        database: &Option<String>,
        plan: &mut Option<Arc<crate::plan::Plan>>,
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        if parsed.settings.is_empty() && !parsed.may_have_hints {
            return self.run_itself(parsed, params, database, plan, sink).await;
        }
        if !reads_diagnostics(parsed) {
            self.forget_diagnostics();
        }
        let mut before = match parsed.settings.is_empty() {
            true => Vec::new(),
            false => self.set_for_statement(&parsed.settings).await?,
        };
        if parsed.may_have_hints {
            before.extend(self.set_by_hints(parsed).await?);
        }
        let outcome = Box::pin(self.run_itself(parsed, params, database, plan, sink)).await;
        self.set_back(before).await?;
        outcome
    }

    async fn run_itself(
        &mut self,
        parsed: &ParsedStatement,
        params: &[types::Value],
        database: &Option<String>,
        plan: &mut Option<Arc<crate::plan::Plan>>,
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        let statement = &parsed.statement;
        if !matches!(statement, Statement::Show(Show::Warnings { .. } | Show::WarningCount { .. }))
            && !reads_diagnostics(parsed)
        {
            self.forget_diagnostics();
        } else {
            self.diagnostics.kept = true;
        }
        if let Some(counter) = Counter::of(statement) {
            self.count(counter);
        }
        if self.password_expired {
            self.check_not_expired(statement)?;
        }
        // What EXECUTE executes counts.
        if !matches!(statement, Statement::Execute { .. }) {
            self.account();
            self.account.count(statement, &*self.shared.env.clock)?;
        }
        self.check_xa(statement)?;
        if self.check_gtid(statement)? == GtidCheck::LeaveOut {
            return Ok(Outcome::default());
        }
        if matches!(statement, Statement::Prepare { .. } | Statement::Deallocate(_)) {
            self.changes.state();
        }
        match statement {
            Statement::Query(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Explain(_)
            | Statement::Do(_) => {
                let rows = rows_of(parsed, params, database);
                let tables = SystemTables::new(self.shared.clone());
                self.run_rows(&rows, plan, &tables, sink).await
            }
            Statement::Load(load) => Box::pin(self.load_data(load, parsed, sink)).await,
            // The rest may be large: off the hot path's stack, and made where it is to be (BEGIN and COMMIT are often run).
            _ => Box::into_pin(Box::write(Box::new_uninit(), self.run_other(parsed, params, sink))).await,
        }
    }

    async fn run_other(
        &mut self,
        parsed: &ParsedStatement,
        params: &[types::Value],
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        self.info.row_count = 0;
        if matches!(&parsed.statement, Statement::Show(show) if show.reads_definitions()) && !self.in_transaction() {
            self.transaction.next = Next::default();
        }
        if let Some(replaced) = &parsed.replaced
            && let Some(both) = self.make_room(replaced, parsed, params).await?
        {
            return self.define(&both, Some(parsed)).await;
        }
        match &parsed.statement {
            Statement::Set(items) => {
                let outcome = self.set(items, params).await?;
                self.show_generated(outcome, sink).await
            }
            Statement::SetRole(roles) => self.set_role(roles),
            Statement::Show(show) => crate::show::show(self, show, params, sink).await,
            statement if self.rows_follow(statement) => self.define_before_rows(parsed).await,
            Statement::Ddl(ddl @ (Ddl::CreateUser { .. } | Ddl::AlterUser { .. })) => {
                let outcome = self.define(ddl, Some(parsed)).await?;
                self.show_generated(outcome, sink).await
            }
            Statement::Ddl(ddl) => {
                if let Ddl::Grant(grant) = ddl {
                    self.define_granted(grant).await?;
                }
                self.define(ddl, Some(parsed)).await
            }
            Statement::CreateTableSelect(create, query) => {
                self.create_table_select(create, query, (parsed, params)).await
            }
            Statement::Transaction(statement) => self.transaction_statement(statement).await,
            Statement::Xa(statement) => self.xa_statement(statement, sink).await,
            Statement::LockTables(tables) => self.lock_tables(tables).await,
            Statement::UnlockTables => self.unlock_tables_statement().await,
            Statement::Use(name) => {
                self.change_database(name)?;
                Ok(Outcome::default())
            }
            Statement::Prepare { name, from } => self.prepare_named(name, from).await,
            Statement::Execute { name, using } => self.execute_named(name, using, sink).await,
            Statement::Deallocate(name) => self.deallocate(name),
            Statement::Binlog(events) => self.binlog(events).await,
            Statement::Admin(admin) => self.administer(admin, sink).await,
            Statement::Program(program) => Err(SqlError::not_supported(program.name())),
            Statement::Query(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Explain(_)
            | Statement::Load(_)
            | Statement::Do(_) => Err(SqlError::unknown("a statement over rows took the wrong way")),
        }
    }

    /// USE.
    pub(super) fn change_database(&mut self, name: &str) -> Result<(), SqlError> {
        if name.is_empty() {
            return Err(no_database());
        }
        let system = crate::information_schema::system_database(name);
        if !self.enters_database(name) {
            return Err(self.database_denied(name));
        }
        if system.is_none() && self.catalog().database(name).is_none() {
            return Err(crate::ddl::unknown_database(name));
        }
        self.enter_database(system.unwrap_or(name));
        Ok(())
    }

    /// Makes a database the default one.
    pub(super) fn enter_database(&mut self, name: &str) {
        self.info.database = Some(name.to_string());
        self.changes.schema();
        self.database_changed();
    }

    /// `character_set_database` and `collation_database`.
    pub(super) fn database_changed(&mut self) {
        let collation = self.collation_of_database();
        let charset =
            types::collation::by_name(collation.as_str()).map_or("utf8mb4", |collation| collation.charset().name());
        self.settings.set(SettingId::collation_database, collation);
        self.settings.set(SettingId::character_set_database, SettingValue::text(charset));
        self.log_context = self.make_log_context();
        self.seen.clear();
    }
}

impl Session {
    /// Of the default database, or else of new ones.
    pub(super) fn collation_of_database(&self) -> SettingValue {
        let catalog = self.catalog();
        let database = self.info.database.as_deref().and_then(|name| catalog.database(name));
        match database {
            Some(database) => SettingValue::text(database.collation.name()),
            None => self.settings.get(SettingId::collation_server).clone(),
        }
    }
}

/// Whether a text without a statement has no comments either.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == ';')
}

/// `SELECT @@warning_count` and the like must not forget what they ask for.
fn reads_diagnostics(parsed: &ParsedStatement) -> bool {
    let has = |name: &str| {
        parsed.text.as_bytes().windows(name.len()).any(|window| window.eq_ignore_ascii_case(name.as_bytes()))
    };
    matches!(parsed.statement, Statement::Query(_))
        && parsed.text.len() < 256
        && parsed.text.contains("@@")
        && (has("@@warning_count")
            || has("@@error_count")
            || has("@@session.warning_count")
            || has("@@session.error_count"))
}
