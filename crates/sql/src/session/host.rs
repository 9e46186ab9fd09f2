//! What expressions ask of the session and the server: `@@variables`, clock, random bytes.

use base::{Gtid, SqlError, UnixMicros, codes};
use types::Value;

use super::Session;
use crate::account::{self, Privilege};
use crate::expr::{Host, SessionInfo, VariableScope};
use crate::services::Services;
use crate::settings::{self, Globals, Scope, SessionSettings, SessionState, SettingValue};

/// The parts of a session that values of variables come from, apart from the transaction.
pub(crate) struct SessionHost<'a> {
    pub(crate) settings: &'a SessionSettings,
    pub(crate) globals: &'a Globals,
    pub(crate) services: &'a dyn Services,
    pub(crate) env: &'a io::Env,
    pub(crate) specials: Specials,
    pub(crate) engine: &'a engine::Engine,
    pub(crate) info: &'a SessionInfo,
}

/// Values that are the session's state, not settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Specials {
    pub(crate) warning_count: u64,
    pub(crate) error_count: u64,
    pub(crate) last_insert_id: u64,
    pub(crate) owned_gtid: Option<Gtid>,
    pub(crate) connection_id: u32,
    pub(crate) now: UnixMicros,
}

impl Session {
    pub(crate) fn host(&self) -> SessionHost<'_> {
        SessionHost {
            settings: &self.settings,
            globals: &self.shared.globals,
            services: &*self.shared.services,
            env: &self.shared.env,
            specials: self.specials(),
            engine: &self.shared.engine,
            info: &self.info,
        }
    }

    pub(crate) fn specials(&self) -> Specials {
        Specials {
            warning_count: self.diagnostics.warning_count(),
            error_count: self.diagnostics.error_count(),
            last_insert_id: self.info.last_insert_id,
            owned_gtid: self.owned_gtid(),
            connection_id: self.info.connection_id,
            now: self.now,
        }
    }
}

impl SessionHost<'_> {
    /// The value of a setting, and whether it is one of the session's state.
    pub(crate) fn value(&self, scope: VariableScope, id: settings::SettingId) -> Result<SettingValue, SqlError> {
        let setting = id.setting();
        match (scope, setting.scope) {
            (VariableScope::Global, Scope::Session) => {
                let message = format!("Variable '{}' is a SESSION variable", setting.name);
                return Err(SqlError::new(codes::INCORRECT_GLOBAL_LOCAL_VAR, message));
            }
            (VariableScope::Session, Scope::Global) => {
                let message = format!("Variable '{}' is a GLOBAL variable", setting.name);
                return Err(SqlError::new(codes::INCORRECT_GLOBAL_LOCAL_VAR, message));
            }
            _ => {}
        }
        let of_server = scope == VariableScope::Global || setting.scope == Scope::Global;
        Ok(match (of_server, setting.session_state, setting.server_state) {
            (false, Some(state), _) => self.state(state),
            (false, None, _) => self.settings.get(id).clone(),
            (true, _, Some(state)) => self.services.server_state(state),
            (true, _, None) => self.globals.get(id),
        })
    }

    fn state(&self, state: SessionState) -> SettingValue {
        let specials = &self.specials;
        match state {
            SessionState::WarningCount => SettingValue::UInt(specials.warning_count),
            SessionState::ErrorCount => SettingValue::UInt(specials.error_count),
            SessionState::LastInsertId => SettingValue::UInt(specials.last_insert_id),
            SessionState::OwnedGtid => {
                SettingValue::text(specials.owned_gtid.map(|gtid| gtid.to_string()).unwrap_or_default())
            }
            SessionState::ThreadId => SettingValue::UInt(u64::from(specials.connection_id)),
            SessionState::Now => SettingValue::Double(specials.now.0 as f64 / 1e6),
        }
    }
}

impl Host for SessionHost<'_> {
    fn system_variable(&self, scope: VariableScope, name: &str) -> Result<Value, SqlError> {
        let id = settings::find_or_suggest(name)?;
        Ok(to_value(self.value(scope, id)?))
    }

    fn clock_now(&self) -> UnixMicros {
        self.env.clock.now()
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        self.env.random.fill(bytes);
    }

    fn roles_graph(&self) -> Result<String, SqlError> {
        let catalog = self.engine.catalog();
        let account = account::effective(&catalog, self.info, self.globals);
        let may = [Privilege::RoleAdmin, Privilege::Super].iter().any(|any| account.global.contains(*any));
        Ok(if may { account::roles_graph(&catalog) } else { account::NO_GRAPH.to_owned() })
    }
}

/// As `SELECT @@name` shows it: ON and OFF are 1 and 0.
pub(crate) fn to_value(value: SettingValue) -> Value {
    match value {
        SettingValue::Null => Value::Null,
        SettingValue::Bool(on) => Value::Int(i64::from(on)),
        SettingValue::Int(number) => Value::Int(number),
        SettingValue::UInt(number) => Value::UInt(number),
        SettingValue::Double(number) => Value::Double(number),
        SettingValue::Text(text) => Value::str(text.to_string()),
    }
}
