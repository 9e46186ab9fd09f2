//! Functions that wait for something of the server, as statements call them.

use std::time::Duration;

use base::{SqlError, codes};
use types::Value;

use crate::services::Services;

/// Calls a function by its name in lower case.
pub(crate) async fn call(services: &dyn Services, function: &str, args: Vec<Value>) -> Result<Value, SqlError> {
    match function {
        "wait_for_executed_gtid_set" => wait_for_gtids(services, &args).await,
        "binlog_gtid_pos" => binlog_gtid_pos(services, &args).await,
        "master_gtid_wait" => wait_for_position(services, &args).await,
        name => Err(SqlError::not_supported(format!("{}()", name.to_uppercase()))),
    }
}

/// BINLOG_GTID_POS(file, position): MariaDB's name of what is before a position; NULL if there is no such position.
async fn binlog_gtid_pos(services: &dyn Services, args: &[Value]) -> Result<Value, SqlError> {
    let mut texts = args.iter().map(|value| {
        let mut text = Vec::new();
        value.write_text(types::value::NOT_FIXED, &mut text);
        (!matches!(value, Value::Null)).then(|| String::from_utf8_lossy(&text).into_owned())
    });
    let (Some(Some(file)), Some(Some(position))) = (texts.next(), texts.next()) else { return Ok(Value::Null) };
    let Ok(position) = position.trim().parse() else { return Ok(Value::Null) };
    let found = services.binlog_gtid_pos(&file, position).await?;
    Ok(found.map_or(Value::Null, |text| Value::str(&text)))
}

/// WAIT_FOR_EXECUTED_GTID_SET(set [, timeout]): 0 when they are there, 1 when the time is over.
async fn wait_for_gtids(services: &dyn Services, args: &[Value]) -> Result<Value, SqlError> {
    let Some(set) = args.first().and_then(Value::as_bytes) else {
        let message = "Incorrect arguments to WAIT_FOR_EXECUTED_GTID_SET";
        return Err(SqlError::new(codes::WRONG_ARGUMENTS, message));
    };
    let set = String::from_utf8_lossy(set).into_owned();
    let timeout = match args.get(1) {
        None | Some(Value::Null) => None,
        Some(value) => Some(seconds(value)?),
    }
    // No time at all means no limit, as in MySQL.
    .filter(|timeout| !timeout.is_zero());
    let reached = services.wait_for_gtids(&set, timeout).await?;
    Ok(Value::Int(i64::from(!reached)))
}

/// MASTER_GTID_WAIT(position [, timeout]): 0 when it is reached, -1 when the time is over; NULL for no position, as in MariaDB. There no
/// timeout, or one below 0, means no limit.
async fn wait_for_position(services: &dyn Services, args: &[Value]) -> Result<Value, SqlError> {
    let Some(position) = args.first().and_then(Value::as_bytes) else { return Ok(Value::Null) };
    let position = String::from_utf8_lossy(position).into_owned();
    let timeout = match args.get(1) {
        None | Some(Value::Null) => None,
        Some(value) => seconds(value).ok(),
    };
    let reached = services.wait_for_position(&position, timeout).await?;
    Ok(Value::Int(if reached { 0 } else { -1 }))
}

fn seconds(value: &Value) -> Result<Duration, SqlError> {
    let mut text = Vec::new();
    value.write_text(types::value::NOT_FIXED, &mut text);
    let seconds: f64 = String::from_utf8_lossy(&text).trim().parse().unwrap_or(-1.0);
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| SqlError::new(codes::WRONG_ARGUMENTS, "Incorrect arguments to WAIT_FOR_EXECUTED_GTID_SET"))
}
