//! Functions of MySQL 9.7 that are not here yet: they get an error that says so, and not that they do not exist.

/// In lower case, in alphabetical order.
const MISSING: &[&str] = &[
    "aes_decrypt",
    "aes_encrypt",
    "asymmetric_decrypt",
    "asymmetric_encrypt",
    "asynchronous_connection_failover_add_source",
    "can_access_column",
    "extractvalue",
    "format_bytes",
    "format_pico_time",
    "geomcollection",
    "geometrycollection",
    "get_dd_create_options",
    "group_replication_get_write_concurrency",
    "grouping",
    "json_duality_object",
    "json_schema_valid",
    "json_schema_validation_report",
    "json_table",
    "linestring",
    "load_file",
    "mbrcontains",
    "mbrcoveredby",
    "mbrcovers",
    "mbrdisjoint",
    "mbrequals",
    "mbrintersects",
    "mbroverlaps",
    "mbrtouches",
    "mbrwithin",
    "multilinestring",
    "multipoint",
    "multipolygon",
    "point",
    "polygon",
    "ps_thread_id",
    "statement_digest",
    "statement_digest_text",
    "string_to_vector",
    "to_vector",
    "updatexml",
    "validate_password_strength",
    "vector_dim",
    "vector_to_string",
    "wait_until_sql_thread_after_gtids",
];

/// Families by the beginning of their names.
const FAMILIES: &[&str] = &["st_"];

/// Whether MySQL has a function of this name (in lower case) that is not here.
pub(super) fn is_missing(name: &str) -> bool {
    MISSING.binary_search(&name).is_ok() || FAMILIES.iter().any(|family| name.starts_with(family))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_here_is_not_missing() {
        assert!(MISSING.is_sorted());
        let here: Vec<_> = super::super::BY_NAME.keys().filter(|name| is_missing(name)).collect();
        assert!(here.is_empty(), "{here:?}");
    }
}
