//! SHOW VARIABLES.

use types::Value;

use super::Rows;
use crate::expr::VariableScope;
use crate::session::{Session, SessionHost};
use crate::settings::{self, Scope};

pub(super) fn variables(session: &Session, global: bool) -> Rows {
    let mut rows = Rows::new("Variable_name v64, Value v1024?");
    for (name, value) in variable_rows(&session.host(), global) {
        rows.push(vec![Value::str(name), Value::str(value)]);
    }
    rows
}

/// Names and values, aliases included, by name.
pub(crate) fn variable_rows(host: &SessionHost<'_>, global: bool) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    for setting in settings::all() {
        let scope = match (global, setting.scope) {
            (true, Scope::Session) => continue,
            (true, _) => VariableScope::Global,
            (false, _) => VariableScope::Default,
        };
        let Ok(value) = host.value(scope, setting.id) else { continue };
        let value = value.to_string();
        for alias in setting.aliases {
            rows.push((*alias, value.clone()));
        }
        rows.push((setting.name, value));
    }
    rows.sort();
    rows
}
