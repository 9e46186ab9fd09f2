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
    // Of several those that are not there are named in one error.
    let mut absent: Vec<String> = Vec::new();
    let unknown = |names: &[String]| match kind {
        AbsentKind::Sequence => {
            SqlError::new(codes::UNKNOWN_SEQUENCES, format!("Unknown SEQUENCE: '{}'", names.join(",")))
        }
        _ => SqlError::new(codes::BAD_TABLE_ERROR, format!("Unknown table '{}'", names.join(","))),
    };
    for name in names {
        let schema = match (name.schema.as_deref().or(context.database), kind) {
            (Some(schema), _) => Some(schema),
            (None, AbsentKind::Function) => None,
            (None, _) => return Err(no_database()),
        };
        match error(kind, schema, &name.name, context) {
            Some(error) if !if_exists => return Err(error),
            Some(_) if kind == AbsentKind::Event => {
                let message = format!("Event {} does not exist", name.name);
                context.warnings.push(WarningLevel::Note, codes::SP_DOES_NOT_EXIST, message);
            }
            Some(error) => context.warnings.push_error(WarningLevel::Note, &error),
            None => absent.push(format!("{}.{}", schema.unwrap_or_default(), name.name)),
        }
    }
    if absent.is_empty() {
        return Ok(PlannedDdl::nothing());
    }
    if !if_exists {
        return Err(unknown(&absent));
    }
    match kind {
        AbsentKind::Sequence => context.warnings.push_error(WarningLevel::Note, &unknown(&absent)),
        _ => absent.chunks(1).for_each(|name| context.warnings.push_error(WarningLevel::Note, &unknown(name))),
    }
    Ok(PlannedDdl::nothing())
}

/// What is said of one name; `None` for those that are named together.
fn error(kind: AbsentKind, schema: Option<&str>, name: &str, context: &DdlContext<'_>) -> Option<SqlError> {
    let program = |kind: &str| {
        let of = schema.map_or_else(String::new, |schema| format!("{schema}."));
        SqlError::new(codes::SP_DOES_NOT_EXIST, format!("{kind} {of}{name} does not exist"))
    };
    let of_schema = format!("{}.{name}", schema.unwrap_or_default());
    let is_table = context.catalog.table(schema.unwrap_or_default(), name).is_some();
    Some(match kind {
        AbsentKind::View if is_table => SqlError::new(codes::WRONG_OBJECT, format!("'{of_schema}' is not VIEW")),
        AbsentKind::Sequence if is_table => {
            SqlError::new(codes::NOT_SEQUENCE, format!("'{of_schema}' is not a SEQUENCE"))
        }
        AbsentKind::View | AbsentKind::Sequence => return None,
        AbsentKind::Procedure => program("PROCEDURE"),
        AbsentKind::Function if schema.is_none() => program("FUNCTION (UDF)"),
        AbsentKind::Function => program("FUNCTION"),
        AbsentKind::Package => program("PACKAGE"),
        AbsentKind::PackageBody => program("PACKAGE BODY"),
        AbsentKind::Trigger => SqlError::new(codes::TRG_DOES_NOT_EXIST, "Trigger does not exist"),
        AbsentKind::Event => SqlError::new(codes::EVENT_DOES_NOT_EXIST, format!("Unknown event '{name}'")),
    })
}
