//! SET in all its forms.
//!
//! As in MySQL, all values of settings are evaluated and checked before the first is stored, so that a statement with a wrong one
//! changes nothing; user variables are assigned in their turn.

use base::{SqlError, codes};
use binlog::GtidSet;
use engine::Isolation;
use syntax::ast as sql;
use types::Value;

use super::Session;
use super::admin::holds_commits;
use super::gtid::local_with_gtid;
use super::log_settings::is_own_server_id;
use super::rows::RowStatement;
use crate::account::Privilege;
use crate::bind::enclosing::misplaced;
use crate::bind::window;
use crate::charsets;
use crate::expr::{ExprType, Kind as ValueKind, WarningLevel};
use crate::information_schema::SystemTables;
use crate::parse::ast::{self, SetItem, SetScope, Statement};
use crate::plan::PlanKind;
use crate::replay::ReplicationFilter;
use crate::result::{Collected, Outcome};
use crate::settings::{self, Change, OnSet, Restricted, Scope, Setting, SettingId, SettingValue, sql_mode};

/// Who may set what is restricted.
const OF_SESSIONS: &[Privilege] = &[Privilege::SystemVariablesAdmin, Privilege::SessionVariablesAdmin];
/// Who may say where a transaction comes from.
const OF_LOGS: &[Privilege] =
    &[Privilege::SystemVariablesAdmin, Privilege::SessionVariablesAdmin, Privilege::ReplicationApplier];
/// An item that was checked.
enum Checked<'a> {
    /// To be done when it is its turn.
    Item(&'a SetItem),
    Setting {
        id: SettingId,
        global: bool,
        value: SettingValue,
    },
    /// `SET @@transaction_isolation = …`: for the next transaction.
    NextIsolation(Isolation),
    NextReadOnly(bool),
    OwnServerId(u32),
}

impl Session {
    /// SET; `params` are those of a prepared one.
    pub(super) async fn set(&mut self, items: &[SetItem], params: &[Value]) -> Result<Outcome, SqlError> {
        let mut checked = Vec::with_capacity(items.len());
        for item in items {
            checked.push(match item {
                SetItem::Variable { scope, name, value } => {
                    self.check_variable(*scope, name, value.as_ref(), params).await?
                }
                item => Checked::Item(item),
            });
        }
        for item in checked {
            match item {
                Checked::Item(item) => self.set_item(item, params).await?,
                Checked::Setting { id, global, value } => {
                    self.warn_without_effect(id, global, &value);
                    if global { self.set_global(id, value).await? } else { self.set_session(id, value).await? }
                }
                Checked::NextIsolation(isolation) => self.set_next(Some(isolation), None)?,
                Checked::NextReadOnly(read_only) => self.set_next(None, Some(read_only))?,
                Checked::OwnServerId(number) => self.set_own_server_id(number),
            }
        }
        self.settings_changed();
        Ok(Outcome::default())
    }

    async fn set_item(&mut self, item: &SetItem, params: &[Value]) -> Result<(), SqlError> {
        match item {
            SetItem::UserVariable { name, value } => {
                let (value, ty) = self.evaluate(value, params).await?;
                let (value, ty) = crate::expr::json::as_variable(value, ty);
                self.info.user_variables.lock().insert(name.to_lowercase(), (value, ty));
                self.changes.state();
                Ok(())
            }
            SetItem::Names { charset, collation } => self.set_names(charset.as_deref(), collation.as_deref()),
            SetItem::CharacterSet(charset) => self.set_character_set(charset.as_deref()),
            SetItem::Transaction { scope: SetScope::Next, isolation, read_only } => {
                self.set_next(isolation.map(level), *read_only)
            }
            SetItem::Transaction { scope, isolation, read_only } => {
                self.set_characteristics(*scope, isolation.map(level), *read_only).await
            }
            SetItem::Password(spec) => self.set_password(spec).await,
            SetItem::Variable { .. } => Ok(()),
        }
    }

    async fn check_variable(
        &mut self,
        scope: SetScope,
        name: &str,
        value: Option<&sql::Expr>,
        params: &[Value],
    ) -> Result<Checked<'static>, SqlError> {
        let id = settings::find_or_suggest(name)?;
        let setting = id.setting();
        if is_own_server_id(scope, id) {
            return self.check_own_server_id(setting, value, params).await;
        }
        let global = check_scope(setting, scope)?;
        self.check_may_set(setting, global)?;
        let value = match value {
            Some(expr) => {
                let value = self.setting_value(setting, expr, params).await?;
                let value = self.by_number(setting, value)?;
                let checked = setting.check(&value)?;
                if checked.adjusted {
                    let message = format!("Truncated incorrect {} value: '{value}'", setting.name);
                    self.warnings.push(WarningLevel::Warning, codes::TRUNCATED_WRONG_VALUE, message);
                }
                checked.value
            }
            None if id == SettingId::gtid_purged => {
                let message = format!("Variable '{}' doesn't have a default value", setting.name);
                return Err(SqlError::new(codes::NO_DEFAULT, message));
            }
            // What a database has, not the server.
            None if id == SettingId::collation_database && !global => self.collation_of_database(),
            None if global || setting.scope == Scope::Session => setting.parse(setting.default)?,
            None => self.shared.globals.get(id),
        };
        let value = normalise(setting, value);
        self.check_supported(setting, &value)?;
        match (id, scope) {
            (SettingId::gtid_purged, _) => self.check_tags(value.as_str())?,
            (SettingId::mandatory_roles, _) => self.check_mandatory_roles(value.as_str())?,
            (SettingId::transaction_isolation, SetScope::Default) => {
                return Ok(Checked::NextIsolation(settings::isolation_of(value.as_str())));
            }
            (SettingId::transaction_read_only, SetScope::Default) => {
                return Ok(Checked::NextReadOnly(value.as_bool()));
            }
            _ => {}
        }
        Ok(Checked::Setting { id, global, value })
    }

    fn check_may_set(&mut self, setting: &Setting, global: bool) -> Result<(), SqlError> {
        if global {
            self.check_global(&[Privilege::SystemVariablesAdmin])?;
            if setting.id == SettingId::gtid_purged && self.in_transaction() {
                let message = "The system variable gtid_purged cannot be set when there is an ongoing transaction.";
                return Err(SqlError::new(codes::VARIABLE_NOT_SETTABLE_IN_TRANSACTION, message));
            }
            return Ok(());
        }
        match setting.restricted {
            Some(Restricted::Session) => self.check_global(OF_SESSIONS)?,
            Some(Restricted::SessionNotSuper) => self.check_global_itself(OF_SESSIONS)?,
            Some(Restricted::Origin) => self.check_global(OF_LOGS)?,
            None => {}
        }
        if setting.is_fixed_in_transactions && self.in_transaction() {
            return Err(not_in_a_transaction(setting));
        }
        if setting.is_fixed_in_sessions {
            let message =
                format!("SESSION variable '{}' is read-only. Use SET GLOBAL to assign the value", setting.name);
            return Err(SqlError::new(codes::VARIABLE_IS_READONLY, message));
        }
        Ok(())
    }

    /// Tags in `SET GLOBAL gtid_purged` need a privilege of their own.
    fn check_tags(&mut self, value: &str) -> Result<(), SqlError> {
        let set = value.trim_start().trim_start_matches('+').parse::<GtidSet>();
        if !set.is_ok_and(|set| set.has_tags()) || self.account().global.has(Privilege::TransactionGtidTag) {
            return Ok(());
        }
        let message = "Access denied; you need (at least one of) the TRANSACTION_GTID_TAG and SYSTEM_VARIABLES_ADMIN privilege(s) for \
                       this operation";
        Err(SqlError::new(codes::SPECIFIC_ACCESS_DENIED_ERROR, message))
    }

    async fn check_own_server_id(
        &mut self,
        setting: &Setting,
        value: Option<&sql::Expr>,
        params: &[Value],
    ) -> Result<Checked<'static>, SqlError> {
        self.check_global(OF_LOGS)?;
        if self.in_transaction() {
            return Err(not_in_a_transaction(setting));
        }
        let number = match value {
            Some(expr) => setting.check(&self.setting_value(setting, expr, params).await?)?.value.as_u64(),
            None => u64::from(self.shared.globals.now().start.server_id),
        };
        Ok(Checked::OwnServerId(number as u32))
    }

    /// The value of an expression for a setting; a bare word is text (`SET sql_mode = ANSI`).
    async fn setting_value(
        &mut self,
        setting: &Setting,
        expr: &sql::Expr,
        params: &[Value],
    ) -> Result<SettingValue, SqlError> {
        let value = match &expr.kind {
            sql::ExprKind::Column(word) if word.table.is_none() => Value::str(word.name.text.to_string()),
            _ => self.evaluate(expr, params).await?.0,
        };
        Ok(match value {
            Value::Null => SettingValue::Null,
            Value::Int(number) => SettingValue::Int(number),
            Value::UInt(number) => SettingValue::UInt(number),
            Value::Float(number) => SettingValue::Double(f64::from(number)),
            Value::Double(number) => SettingValue::Double(number),
            Value::Decimal(number) => {
                let mut text = Vec::new();
                number.write_text(&mut text);
                let number = String::from_utf8_lossy(&text).parse().map_err(|_| setting.wrong_type())?;
                SettingValue::Double(number)
            }
            Value::Str(text) | Value::Bytes(text) => SettingValue::text(String::from_utf8_lossy(&text).into_owned()),
            other => {
                let mut text = Vec::new();
                other.write_text(6, &mut text);
                SettingValue::text(String::from_utf8_lossy(&text).into_owned())
            }
        })
    }

    /// The value of an expression that stands alone, with its type.
    pub(crate) async fn evaluate(&mut self, expr: &sql::Expr, params: &[Value]) -> Result<(Value, ExprType), SqlError> {
        if let Some(literal) = literal(expr) {
            return Ok(literal);
        }
        let statement = Statement::Query(Box::new(sql::Query::of_exprs(vec![expr.clone()])));
        let rows = RowStatement {
            statement: &statement,
            text: "",
            param_count: params.len(),
            params,
            database: self.info.database.clone(),
            may_have_hints: false,
        };
        let (mut plan, mut result) = (None, Collected::default());
        let tables = SystemTables::new(self.shared.clone());
        let (found_rows, row_count) = (self.info.found_rows, self.info.row_count);
        Box::pin(self.run_rows(&rows, &mut plan, &tables, &mut result)).await?;
        (self.info.found_rows, self.info.row_count) = (found_rows, row_count);
        let ty = match plan.as_ref().map(|plan| &plan.kind) {
            Some(PlanKind::Query(query)) if query.has_groups() => return Err(misplaced()),
            Some(PlanKind::Query(query)) => match query.window_function() {
                Some(name) => return Err(window::refused(name)),
                None => query.types.first().cloned(),
            },
            _ => None,
        };
        let value = result.rows.into_iter().flatten().next().unwrap_or_default();
        Ok((value, ty.unwrap_or_else(|| ExprType::of_kind(ValueKind::Null))))
    }

    /// A setting that is only understood says so when it becomes another value than it has.
    fn warn_without_effect(&self, id: SettingId, global: bool, value: &SettingValue) {
        let setting = id.setting();
        let is_same = if global { self.shared.globals.get(id) == *value } else { self.settings.get(id) == value };
        if !setting.effective && !is_same && !setting.is_set_by_tools {
            let message = format!("'{}' has no effect on this server: {}", setting.name, setting.doc);
            self.warnings.push(WarningLevel::Warning, codes::NOT_SUPPORTED_YET, message);
        }
    }

    pub(super) async fn set_global(&mut self, id: SettingId, value: SettingValue) -> Result<(), SqlError> {
        let is_read_only = matches!(id, SettingId::read_only | SettingId::super_read_only);
        if is_read_only && (self.has_locked_tables() || value.as_bool() && self.in_transaction()) {
            return Err(holds_commits());
        }
        if id == SettingId::partial_revokes && !value.as_bool() {
            self.check_no_partial_revokes()?;
        }
        if ReplicationFilter::is_rule(id)
            && let Some(channel) = self.channel(&None)
        {
            ReplicationFilter::check(id, value.as_str())?;
            let rule = (id.name().to_owned(), value.as_str().to_owned());
            return self.shared.services.change_channel_filter(channel, [rule].into()).await;
        }
        if let Some(change) = Change::of(id, &value) {
            self.shared.services.apply_setting(id, change).await?;
        }
        self.shared.globals.set(id, value);
        Ok(())
    }

    pub(super) async fn set_session(&mut self, id: SettingId, mut value: SettingValue) -> Result<(), SqlError> {
        self.changes.setting(id);
        match id.setting().on_set {
            OnSet::Store => {}
            OnSet::CharacterSetPair => {
                if let Some((other, value)) = charsets::paired(id, &value) {
                    self.settings.set(other, value);
                }
            }
            OnSet::Autocommit if value.as_bool() && !self.settings.autocommit => self.commit().await?,
            OnSet::Autocommit => {}
            OnSet::SqlLogBin if !value.as_bool() && self.owned_gtid().is_some() => return Err(local_with_gtid()),
            OnSet::SqlLogBin => {}
            OnSet::GtidNext => value = SettingValue::text(self.set_gtid_next(value.as_str()).await?),
            OnSet::GtidSeqNo => return self.set_gtid_seq_no(value.as_u64()).await,
            OnSet::Origin => {
                self.settings.set(id, value);
                self.origin_changed();
                return Ok(());
            }
            OnSet::DefaultCollations => self.set_character_set_collations(value.as_str())?,
            OnSet::LastInsertId => {
                self.info.last_insert_id = value.as_u64();
                return Ok(());
            }
            OnSet::ThreadId => {
                let thread = value.as_u64() as u32;
                self.temporary.switch(self.info.connection_id, thread);
                self.info.connection_id = thread;
                return Ok(());
            }
            OnSet::FirstSeed => {
                self.set_random_seed(|random| random.seed1 = value.as_u64() as u32);
                return Ok(());
            }
            OnSet::SecondSeed => {
                self.set_random_seed(|random| random.seed2 = value.as_u64() as u32);
                return Ok(());
            }
        }
        self.settings.set(id, value);
        Ok(())
    }

    /// SET NAMES: client, connection and results.
    fn set_names(&mut self, charset: Option<&str>, collation: Option<&str>) -> Result<(), SqlError> {
        let charset = charset.unwrap_or(self.shared.globals.now().session.character_set_client);
        let name = charsets::static_name(charset).ok_or_else(|| charsets::unknown_charset(charset))?;
        let collation = charsets::resolve(Some(charset), collation)?.unwrap_or_default_for(charset);
        for id in
            [SettingId::character_set_client, SettingId::character_set_connection, SettingId::character_set_results]
        {
            self.settings.set(id, SettingValue::text(name));
            self.changes.setting(id);
        }
        self.settings.set(SettingId::collation_connection, SettingValue::text(collation.name()));
        Ok(())
    }

    /// SET CHARACTER SET: client and results; the connection's is that of the database.
    fn set_character_set(&mut self, charset: Option<&str>) -> Result<(), SqlError> {
        let charset = charset.unwrap_or(self.shared.globals.now().session.character_set_client);
        let name = charsets::static_name(charset).ok_or_else(|| charsets::unknown_charset(charset))?;
        for id in [SettingId::character_set_client, SettingId::character_set_results] {
            self.settings.set(id, SettingValue::text(name));
            self.changes.setting(id);
        }
        self.changes.setting(SettingId::character_set_connection);
        let of_database = self.settings.get(SettingId::collation_database).clone();
        let charset = self.settings.get(SettingId::character_set_database).clone();
        self.settings.set(SettingId::collation_connection, of_database);
        self.settings.set(SettingId::character_set_connection, charset);
        Ok(())
    }

    fn set_next(&mut self, isolation: Option<Isolation>, read_only: Option<bool>) -> Result<(), SqlError> {
        if self.in_transaction() {
            let message = "Transaction characteristics can't be changed while a transaction is in progress";
            return Err(SqlError::new(codes::CANT_CHANGE_TX_CHARACTERISTICS, message));
        }
        let next = &mut self.transaction.next;
        next.isolation = isolation.or(next.isolation);
        next.read_only = read_only.or(next.read_only);
        Ok(())
    }

    async fn set_characteristics(
        &mut self,
        scope: SetScope,
        isolation: Option<Isolation>,
        read_only: Option<bool>,
    ) -> Result<(), SqlError> {
        let global = scope == SetScope::Global;
        if global {
            self.check_global(&[Privilege::SystemVariablesAdmin])?;
        }
        let isolation = isolation
            .map(|isolation| (SettingId::transaction_isolation, SettingValue::text(isolation_name(isolation))));
        let read_only = read_only.map(|read_only| (SettingId::transaction_read_only, SettingValue::Bool(read_only)));
        for (id, value) in [isolation, read_only].into_iter().flatten() {
            if global {
                self.set_global(id, value).await?;
            } else {
                self.settings.set(id, value);
                self.changes.setting(id);
            }
        }
        Ok(())
    }
}

fn not_in_a_transaction(setting: &Setting) -> SqlError {
    let message = format!("Cannot modify @@session.{} inside a transaction", setting.name);
    let code = match setting.id {
        SettingId::sql_log_bin => codes::INSIDE_TRANSACTION_PREVENTS_SWITCH_SQL_LOG_BIN,
        _ => codes::VARIABLE_NOT_SETTABLE_IN_TRANSACTION,
    };
    SqlError::new(code, message)
}

trait OrDefault {
    fn unwrap_or_default_for(self, charset: &str) -> types::CollationId;
}

impl OrDefault for Option<types::CollationId> {
    fn unwrap_or_default_for(self, charset: &str) -> types::CollationId {
        self.or_else(|| charsets::default_collation(charset)).unwrap_or(types::CollationId::DEFAULT)
    }
}

/// Whether the global value is meant; the errors are MySQL's.
fn check_scope(setting: &Setting, scope: SetScope) -> Result<bool, SqlError> {
    let name = setting.name;
    if matches!(scope, SetScope::Persist | SetScope::PersistOnly) {
        return Err(SqlError::not_supported("SET PERSIST (put it in the configuration file)"));
    }
    if !setting.dynamic {
        let message = format!("Variable '{name}' is a read only variable");
        return Err(SqlError::new(codes::INCORRECT_GLOBAL_LOCAL_VAR, message));
    }
    match (scope, setting.scope) {
        (SetScope::Global, Scope::Session) => {
            let message = format!("Variable '{name}' is a SESSION variable and can't be used with SET GLOBAL");
            Err(SqlError::new(codes::LOCAL_VARIABLE, message))
        }
        (SetScope::Global, _) => Ok(true),
        (_, Scope::Global) => {
            let message = format!("Variable '{name}' is a GLOBAL variable and should be set with SET GLOBAL");
            Err(SqlError::new(codes::GLOBAL_VARIABLE, message))
        }
        _ => Ok(false),
    }
}

/// What a setting makes of its value: modes bring others with them.
fn normalise(setting: &Setting, value: SettingValue) -> SettingValue {
    match setting.id {
        SettingId::sql_mode => SettingValue::text(sql_mode::expanded_words(value.as_str())),
        _ => value,
    }
}

/// A level as statements name it.
fn level(written: ast::Isolation) -> Isolation {
    match written {
        ast::Isolation::ReadUncommitted => Isolation::ReadUncommitted,
        ast::Isolation::ReadCommitted => Isolation::ReadCommitted,
        ast::Isolation::RepeatableRead => Isolation::RepeatableRead,
        ast::Isolation::Serializable => Isolation::Serializable,
    }
}

fn isolation_name(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadUncommitted => "READ-UNCOMMITTED",
        Isolation::ReadCommitted => "READ-COMMITTED",
        Isolation::RepeatableRead => "REPEATABLE-READ",
        Isolation::Serializable => "SERIALIZABLE",
    }
}

/// Plain literals, which most SETs have, without a plan.
fn literal(expr: &sql::Expr) -> Option<(Value, ExprType)> {
    let sql::ExprKind::Literal(literal) = &expr.kind else { return None };
    match literal {
        sql::Literal::Number(digits) => {
            let number: i64 = digits.parse().ok()?;
            Some((Value::Int(number), ExprType { length: digits.len() as u32, ..ExprType::of_kind(ValueKind::Int) }))
        }
        sql::Literal::Bool(on) => {
            Some((Value::Int(i64::from(*on)), ExprType { length: 1, ..ExprType::of_kind(ValueKind::Int) }))
        }
        sql::Literal::Null => Some((Value::Null, ExprType::of_kind(ValueKind::Null))),
        _ => None,
    }
}
