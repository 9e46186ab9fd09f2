//! Functions of MySQL 9.7 and MariaDB 11.8 that are not here yet, and whose error says so. MariaDB's have MySQL's error number, which is that
//! of functions that do not exist.

/// In lower case, in alphabetical order.
const MISSING: &[&str] = &[
    "asymmetric_decrypt",
    "asymmetric_encrypt",
    "asynchronous_connection_failover_add_source",
    "can_access_column",
    "etag",
    "geomcollection",
    "geometrycollection",
    "get_dd_create_options",
    "group_replication_get_write_concurrency",
    "icu_version",
    "json_duality_object",
    "json_table",
    "linestring",
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
    "string_to_vector",
    "to_vector",
    "vector_dim",
    "vector_to_string",
    "wait_until_sql_thread_after_gtids",
];

/// Of MariaDB 11.8.
const MISSING_OF_MARIA: &[&str] = &[
    "column_add",
    "column_check",
    "column_create",
    "column_delete",
    "column_exists",
    "column_get",
    "column_json",
    "column_list",
    "concat_operator_oracle",
    "decode_histogram",
    "decode_oracle",
    "des_decrypt",
    "des_encrypt",
    "encrypt",
    "json_array_intersect",
    "json_compact",
    "json_detailed",
    "json_key_value",
    "json_loose",
    "json_normalize",
    "json_object_filter_keys",
    "json_object_to_array",
    "json_query",
    "kdf",
    "lastval",
    "lpad_oracle",
    "ltrim_oracle",
    "natural_sort_key",
    "nextval",
    "old_password",
    "password",
    "replace_oracle",
    "rownum",
    "rpad_oracle",
    "rtrim_oracle",
    "setval",
    "sformat",
    "substr_oracle",
    "to_char",
    "trim_oracle",
    "vec_distance",
    "vec_distance_cosine",
    "vec_distance_euclidean",
    "vec_fromtext",
    "vec_totext",
];

/// Families by the beginning of their names.
const FAMILIES: &[&str] = &["st_"];

/// Whether MySQL has a function of this name (in lower case) that is not here.
pub(super) fn is_missing(name: &str) -> bool {
    MISSING.binary_search(&name).is_ok() || FAMILIES.iter().any(|family| name.starts_with(family))
}

/// Whether MariaDB alone has it.
pub(super) fn is_of_mariadb(name: &str) -> bool {
    MISSING_OF_MARIA.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_here_is_not_missing() {
        assert!(MISSING.is_sorted() && MISSING_OF_MARIA.is_sorted());
        let here: Vec<_> =
            super::super::BY_NAME.keys().filter(|name| is_missing(name) || is_of_mariadb(name)).collect();
        assert!(here.is_empty(), "{here:?}");
    }
}
