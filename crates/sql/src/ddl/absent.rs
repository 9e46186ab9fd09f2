//! DROP of what there is none of here: it is an error, and with IF EXISTS a note, as in a MySQL that has none either.

use base::{SqlError, codes};

use super::{DdlContext, PlannedDdl, no_database};
use crate::expr::WarningLevel;
use crate::parse::ast::{AbsentKind, TableName};

pub(super) fn drop(
    kind: AbsentKind,
    names: &[TableName],
    if_exists: bool,
    context: &DdlContext<'_>,
) -> Result<PlannedDdl, SqlError> {
    let mut absent = Vec::new();
    for name in names {
        let schema = match (name.schema.as_deref().or(context.database), kind) {
            (Some(schema), _) => Some(schema),
            (None, AbsentKind::Function) => None,
            (None, _) => return Err(no_database()),
        };
        let error = error(kind, schema, &name.name, context);
        if !if_exists && error.code != codes::BAD_TABLE_ERROR.0 {
            return Err(error);
        }
        let is_event = kind == AbsentKind::Event;
        match if_exists {
            true if is_event => {
                let message = format!("Event {} does not exist", name.name);
                context.warnings.push(WarningLevel::Note, codes::SP_DOES_NOT_EXIST, message);
            }
            true => context.warnings.push_error(WarningLevel::Note, &error),
            false => absent.push(format!("{}.{}", schema.unwrap_or_default(), name.name)),
        }
    }
    if absent.is_empty() {
        return Ok(PlannedDdl::nothing());
    }
    Err(SqlError::new(codes::BAD_TABLE_ERROR, format!("Unknown table '{}'", absent.join(","))))
}

fn error(kind: AbsentKind, schema: Option<&str>, name: &str, context: &DdlContext<'_>) -> SqlError {
    let program = |kind: &str| {
        let of = schema.map_or_else(String::new, |schema| format!("{schema}."));
        SqlError::new(codes::SP_DOES_NOT_EXIST, format!("{kind} {of}{name} does not exist"))
    };
    let of_schema = format!("{}.{name}", schema.unwrap_or_default());
    match kind {
        AbsentKind::View if context.catalog.table(schema.unwrap_or_default(), name).is_some() => {
            SqlError::new(codes::WRONG_OBJECT, format!("'{of_schema}' is not VIEW"))
        }
        AbsentKind::View => SqlError::new(codes::BAD_TABLE_ERROR, format!("Unknown table '{of_schema}'")),
        AbsentKind::Procedure => program("PROCEDURE"),
        AbsentKind::Function if schema.is_none() => program("FUNCTION (UDF)"),
        AbsentKind::Function => program("FUNCTION"),
        AbsentKind::Trigger => SqlError::new(codes::TRG_DOES_NOT_EXIST, "Trigger does not exist"),
        AbsentKind::Event => SqlError::new(codes::EVENT_DOES_NOT_EXIST, format!("Unknown event '{name}'")),
    }
}
