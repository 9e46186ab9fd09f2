//! FORMAT=JSON, version 2: the tree as a document, with what kind of statement it is of.

use types::json::{Json, Object};

use crate::plan::PlanKind;
use crate::plan::explain::build;
use crate::plan::explain::shown::text as json_text;

/// The version of its members' names.
const SCHEMA_VERSION: &str = "2.0";

/// The whole statement; `query` is its text, where that is known.
pub(super) fn text(kind: &PlanKind, query: Option<&str>) -> String {
    let query_type = match kind {
        PlanKind::Insert(insert) if insert.replace => "replace",
        PlanKind::Insert(_) => "insert",
        PlanKind::Update(_) => "update",
        PlanKind::Delete(_) => "delete",
        _ => "select",
    };
    let mut members = vec![
        ("query_plan".to_owned(), build::shown(kind).json()),
        ("query_type".to_owned(), json_text(query_type)),
        ("json_schema_version".to_owned(), json_text(SCHEMA_VERSION)),
    ];
    if let Some(query) = query {
        members.push(("query".to_owned(), json_text(query)));
    }
    Json::Object(Object::from_members(members)).to_pretty()
}
