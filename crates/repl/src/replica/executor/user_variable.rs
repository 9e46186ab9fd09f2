//! What user variables were when a statement was run.

use base::{SqlError, codes};
use binlog::DecodeError;
use binlog::event::{UserData, UserVar};
use bytes::Bytes;
use types::decimal::Decimal;
use types::{CollationId, Value};

use super::{Executor, malformed};

impl Executor {
    pub(super) fn user_variable(&mut self, variable: &UserVar<'_>) -> Result<(), SqlError> {
        let name = String::from_utf8_lossy(variable.name);
        let (value, collation) = value_of(variable)?;
        self.session.set_user_variable(&name, value, collation);
        Ok(())
    }
}

/// The value of a user's variable, and its collation.
fn value_of(variable: &UserVar<'_>) -> Result<(Value, CollationId), SqlError> {
    let Some(value) = &variable.value else { return Ok((Value::Null, CollationId::DEFAULT)) };
    let number = match value.data {
        UserData::String(bytes) => {
            let collation = types::collation::by_id(value.collation as u16).ok_or_else(|| {
                let name = String::from_utf8_lossy(variable.name);
                let message = format!("Unknown collation: '#{}' of the user variable @{name}", value.collation);
                SqlError::new(codes::UNKNOWN_COLLATION, message)
            })?;
            let text = Bytes::from(collation.charset().decode(bytes).into_owned());
            let is_binary = collation == CollationId::BINARY;
            return Ok((if is_binary { Value::Bytes(text) } else { Value::Str(text) }, collation));
        }
        UserData::Real(number) => Value::Double(number),
        UserData::Int(number) if value.is_unsigned() => Value::UInt(number as u64),
        UserData::Int(number) => Value::Int(number),
        UserData::Decimal { precision, scale, bytes } => {
            let bad = || malformed(DecodeError("USER_VAR: a malformed DECIMAL".to_owned()));
            Value::Decimal(Decimal::read_binary(bytes, precision, scale).ok_or_else(bad)?)
        }
        UserData::Row(_) => return Err(SqlError::not_supported("a user variable that is a row")),
    };
    Ok((number, CollationId::DEFAULT))
}
