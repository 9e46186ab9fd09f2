//! The virtual tables: names, columns, where the rows come from.

use base::SqlError;
use engine::Table;
use types::Value;

use super::rows::{self, Source};
use super::{accounts, keys, server};
use super::{replication, roles, transactions};
use crate::virtual_table::Wanted;

/// A virtual table.
pub(super) struct TableSpec {
    pub(super) database: &'static str,
    pub(super) name: &'static str,
    pub(super) columns: &'static str,
    pub(super) rows: RowsOf,
}

/// Where the rows of a virtual table come from.
pub(super) enum RowsOf {
    /// The server: all of them are made at once.
    Server(fn(&Source<'_>) -> Result<Vec<Vec<Value>>, SqlError>),
    /// The tables of the catalog, of which there may be very many: they are made table by table.
    Tables(Described),
}

/// Rows that describe tables.
pub(super) struct Described {
    /// Nobody sees them without PROCESS.
    pub(super) needs_process: bool,
    /// They say what is known of the tables' contents.
    pub(super) needs_statistics: bool,
    /// Those of a virtual table, by its database and name.
    pub(super) of_virtual: Option<OfVirtual>,
    pub(super) of_table: OfTable,
}

type OfVirtual = fn(&Source<'_>, &'static str, &str) -> Vec<Vec<Value>>;
type OfTable = fn(&Source<'_>, &Table, &Wanted<'_>) -> Vec<Vec<Value>>;

impl Described {
    const fn of(of_table: OfTable) -> RowsOf {
        RowsOf::Tables(Described { needs_process: false, needs_statistics: false, of_virtual: None, of_table })
    }

    /// The same, of what is in the tables.
    const fn of_contents(of_table: OfTable) -> RowsOf {
        RowsOf::Tables(Described { needs_process: false, needs_statistics: true, of_virtual: None, of_table })
    }
}

const fn schema(
    name: &'static str,
    columns: &'static str,
    rows: fn(&Source<'_>) -> Result<Vec<Vec<Value>>, SqlError>,
) -> TableSpec {
    TableSpec { database: "information_schema", name, columns, rows: RowsOf::Server(rows) }
}

/// One that describes tables.
const fn described(name: &'static str, columns: &'static str, rows: RowsOf) -> TableSpec {
    TableSpec { database: "information_schema", name, columns, rows }
}

const fn performance(
    name: &'static str,
    columns: &'static str,
    rows: fn(&Source<'_>) -> Result<Vec<Vec<Value>>, SqlError>,
) -> TableSpec {
    TableSpec { database: "performance_schema", name, columns, rows: RowsOf::Server(rows) }
}

pub(super) const TABLES: &[TableSpec] = &[
    schema("ADMINISTRABLE_ROLE_AUTHORIZATIONS", roles::APPLICABLE, roles::administrable),
    schema("APPLICABLE_ROLES", roles::APPLICABLE, roles::applicable),
    schema(
        "CHARACTER_SETS",
        "CHARACTER_SET_NAME v64, DEFAULT_COLLATE_NAME v64, DESCRIPTION v2048, MAXLEN n",
        rows::character_sets,
    ),
    schema(
        "CHECK_CONSTRAINTS",
        "CONSTRAINT_CATALOG w64, CONSTRAINT_SCHEMA w64, CONSTRAINT_NAME v64, CHECK_CLAUSE x",
        rows::none,
    ),
    schema(
        "COLLATIONS",
        "COLLATION_NAME v64, CHARACTER_SET_NAME v64, ID u, IS_DEFAULT v3, IS_COMPILED v3, SORTLEN n, PAD_ATTRIBUTE w9",
        rows::collations,
    ),
    schema(
        "COLLATION_CHARACTER_SET_APPLICABILITY",
        "COLLATION_NAME v64, CHARACTER_SET_NAME v64",
        rows::collation_applicability,
    ),
    described(
        "COLUMNS",
        "TABLE_CATALOG w64, TABLE_SCHEMA w64, TABLE_NAME w64, COLUMN_NAME v64?, ORDINAL_POSITION n, COLUMN_DEFAULT x?, \
         IS_NULLABLE v3, DATA_TYPE x?, CHARACTER_MAXIMUM_LENGTH b?, CHARACTER_OCTET_LENGTH b?, NUMERIC_PRECISION u?, \
         NUMERIC_SCALE u?, DATETIME_PRECISION n?, CHARACTER_SET_NAME v64?, COLLATION_NAME v64?, COLUMN_TYPE x, \
         COLUMN_KEY w3, EXTRA v256?, PRIVILEGES v154?, COLUMN_COMMENT x, GENERATION_EXPRESSION x, SRS_ID n?",
        RowsOf::Tables(Described {
            needs_process: false,
            needs_statistics: false,
            of_virtual: Some(rows::virtual_columns),
            of_table: rows::columns,
        }),
    ),
    schema(
        "COLUMN_PRIVILEGES",
        "GRANTEE v292, TABLE_CATALOG v512, TABLE_SCHEMA v64, TABLE_NAME v64, COLUMN_NAME v64, PRIVILEGE_TYPE v64, IS_GRANTABLE v3",
        accounts::column_privileges,
    ),
    described(
        "COLUMN_STATISTICS",
        "SCHEMA_NAME w64, TABLE_NAME w64, COLUMN_NAME v64, HISTOGRAM t",
        Described::of(rows::column_statistics),
    ),
    schema("ENABLED_ROLES", roles::ENABLED, roles::enabled),
    schema("ENGINES", "ENGINE v64, SUPPORT v8, COMMENT v80, TRANSACTIONS v3?, XA v3?, SAVEPOINTS v3?", rows::engines),
    schema(
        "EVENTS",
        "EVENT_CATALOG w64, EVENT_SCHEMA w64, EVENT_NAME v64, DEFINER w288, TIME_ZONE w64, EVENT_BODY v3, EVENT_DEFINITION x, \
         EVENT_TYPE v9, EXECUTE_AT s?, INTERVAL_VALUE v256?, INTERVAL_FIELD w18?, SQL_MODE w600, STARTS s?, ENDS s?, STATUS w18, \
         ON_COMPLETION v12, CREATED s, LAST_ALTERED s, LAST_EXECUTED s?, EVENT_COMMENT w2048, ORIGINATOR n, \
         CHARACTER_SET_CLIENT v64, COLLATION_CONNECTION v64, DATABASE_COLLATION v64",
        rows::none,
    ),
    schema(
        "FILES",
        "FILE_ID b?, FILE_NAME x?, FILE_TYPE v256?, TABLESPACE_NAME w268, TABLE_CATALOG v0, TABLE_SCHEMA v64?, TABLE_NAME v64?, \
         LOGFILE_GROUP_NAME v256?, LOGFILE_GROUP_NUMBER b?, ENGINE v64, FULLTEXT_KEYS v0?, DELETED_ROWS v0?, UPDATE_COUNT v0?, \
         FREE_EXTENTS b?, TOTAL_EXTENTS b?, EXTENT_SIZE b?, INITIAL_SIZE b?, MAXIMUM_SIZE b?, AUTOEXTEND_SIZE b?, \
         CREATION_TIME v0?, LAST_UPDATE_TIME v0?, LAST_ACCESS_TIME v0?, RECOVER_TIME v0?, TRANSACTION_COUNTER v0?, VERSION b?, \
         ROW_FORMAT v256?, TABLE_ROWS v0?, AVG_ROW_LENGTH v0?, DATA_LENGTH v0?, MAX_DATA_LENGTH v0?, INDEX_LENGTH v0?, \
         DATA_FREE b?, CREATE_TIME v0?, UPDATE_TIME v0?, CHECK_TIME v0?, CHECKSUM v0?, STATUS v256?, EXTRA v256?",
        rows::none,
    ),
    schema("INNODB_CMP", server::INNODB_CMP, server::innodb_cmp),
    schema("INNODB_CMPMEM", server::INNODB_CMPMEM, server::innodb_cmp),
    schema("INNODB_METRICS", server::INNODB_METRICS, server::innodb_metrics),
    described(
        "INNODB_TABLES",
        server::INNODB_TABLES,
        RowsOf::Tables(Described {
            needs_process: true,
            needs_statistics: false,
            of_virtual: None,
            of_table: server::innodb_table,
        }),
    ),
    described(
        "INNODB_TABLESPACES",
        server::INNODB_TABLESPACES,
        RowsOf::Tables(Described {
            needs_process: true,
            needs_statistics: false,
            of_virtual: None,
            of_table: server::innodb_tablespace,
        }),
    ),
    schema("INNODB_TRX", transactions::INNODB_TRX, transactions::innodb_trx),
    // Only those that are reserved here.
    schema("KEYWORDS", "WORD v128, RESERVED i", rows::keywords),
    described(
        "KEY_COLUMN_USAGE",
        "CONSTRAINT_CATALOG w64, CONSTRAINT_SCHEMA w64, CONSTRAINT_NAME v64?, TABLE_CATALOG w64, TABLE_SCHEMA w64, \
         TABLE_NAME w64, COLUMN_NAME v64?, ORDINAL_POSITION n, POSITION_IN_UNIQUE_CONSTRAINT n?, \
         REFERENCED_TABLE_SCHEMA w64?, REFERENCED_TABLE_NAME w64?, REFERENCED_COLUMN_NAME v64?",
        Described::of(keys::key_column_usage),
    ),
    schema(
        "PARAMETERS",
        "SPECIFIC_CATALOG w64, SPECIFIC_SCHEMA w64, SPECIFIC_NAME v64, ORDINAL_POSITION u, PARAMETER_MODE w5?, \
         PARAMETER_NAME v64?, DATA_TYPE x?, CHARACTER_MAXIMUM_LENGTH b?, CHARACTER_OCTET_LENGTH b?, NUMERIC_PRECISION n?, \
         NUMERIC_SCALE b?, DATETIME_PRECISION n?, CHARACTER_SET_NAME v64?, COLLATION_NAME v64?, DTD_IDENTIFIER x, ROUTINE_TYPE w9",
        rows::none,
    ),
    described(
        "PARTITIONS",
        "TABLE_CATALOG w64, TABLE_SCHEMA w64, TABLE_NAME w64, PARTITION_NAME v64?, SUBPARTITION_NAME v64?, \
         PARTITION_ORDINAL_POSITION n?, SUBPARTITION_ORDINAL_POSITION n?, SECONDARY_LOAD w3?, PARTITION_METHOD v13?, SUBPARTITION_METHOD v13?, \
         PARTITION_EXPRESSION w2048?, SUBPARTITION_EXPRESSION w2048?, PARTITION_DESCRIPTION x?, TABLE_ROWS u?, \
         AVG_ROW_LENGTH u?, DATA_LENGTH u?, MAX_DATA_LENGTH u?, INDEX_LENGTH u?, DATA_FREE u?, CREATE_TIME s?, UPDATE_TIME s?, \
         CHECK_TIME s?, CHECKSUM b?, PARTITION_COMMENT x, NODEGROUP v256?, TABLESPACE_NAME w268?",
        RowsOf::Tables(Described {
            needs_process: false,
            needs_statistics: false,
            of_virtual: Some(rows::virtual_partition),
            of_table: rows::partition,
        }),
    ),
    schema(
        "PLUGINS",
        "PLUGIN_NAME v64, PLUGIN_VERSION v20, PLUGIN_STATUS v10, PLUGIN_TYPE v80, PLUGIN_TYPE_VERSION v20, \
         PLUGIN_LIBRARY v64?, PLUGIN_LIBRARY_VERSION v20?, PLUGIN_AUTHOR v64?, PLUGIN_DESCRIPTION t?, PLUGIN_LICENSE v80?, \
         LOAD_OPTION v64",
        rows::plugins,
    ),
    schema(
        "PROCESSLIST",
        "ID u, USER v32, HOST v261, DB v64?, COMMAND v16, TIME i, STATE v64?, INFO t?",
        rows::processlist,
    ),
    // Statements are not profiled.
    schema("PROFILING", server::PROFILING, rows::none),
    described(
        "REFERENTIAL_CONSTRAINTS",
        "CONSTRAINT_CATALOG w64, CONSTRAINT_SCHEMA w64, CONSTRAINT_NAME v64?, UNIQUE_CONSTRAINT_CATALOG w64, \
         UNIQUE_CONSTRAINT_SCHEMA w64, UNIQUE_CONSTRAINT_NAME v64?, MATCH_OPTION w7, UPDATE_RULE w11, DELETE_RULE w11, \
         TABLE_NAME w64, REFERENCED_TABLE_NAME w64",
        Described::of(keys::referential_constraints),
    ),
    schema("ROLE_COLUMN_GRANTS", roles::COLUMN_GRANTS, roles::column_grants),
    // There are no routines.
    schema("ROLE_ROUTINE_GRANTS", roles::ROUTINE_GRANTS, rows::none),
    schema("ROLE_TABLE_GRANTS", roles::TABLE_GRANTS, roles::table_grants),
    schema(
        "ROUTINES",
        "SPECIFIC_NAME v64, ROUTINE_CATALOG w64, ROUTINE_SCHEMA w64, ROUTINE_NAME v64, ROUTINE_TYPE w9, DATA_TYPE x?, \
         CHARACTER_MAXIMUM_LENGTH b?, CHARACTER_OCTET_LENGTH b?, NUMERIC_PRECISION n?, NUMERIC_SCALE n?, DATETIME_PRECISION n?, \
         CHARACTER_SET_NAME v64?, COLLATION_NAME v64?, DTD_IDENTIFIER x?, ROUTINE_BODY v8, ROUTINE_DEFINITION x?, \
         EXTERNAL_NAME v64?, EXTERNAL_LANGUAGE w64, PARAMETER_STYLE v3, IS_DETERMINISTIC v3, SQL_DATA_ACCESS w17, SQL_PATH v64?, \
         SECURITY_TYPE w7, CREATED s, LAST_ALTERED s, SQL_MODE w600, ROUTINE_COMMENT x, DEFINER w288, CHARACTER_SET_CLIENT v64, \
         COLLATION_CONNECTION v64, DATABASE_COLLATION v64",
        rows::none,
    ),
    schema(
        "SCHEMATA",
        "CATALOG_NAME w64, SCHEMA_NAME w64, DEFAULT_CHARACTER_SET_NAME v64, DEFAULT_COLLATION_NAME v64, SQL_PATH v64?, DEFAULT_ENCRYPTION w3",
        rows::schemata,
    ),
    schema(
        "SCHEMA_PRIVILEGES",
        "GRANTEE v292, TABLE_CATALOG v512, TABLE_SCHEMA v64, PRIVILEGE_TYPE v64, IS_GRANTABLE v3",
        accounts::schema_privileges,
    ),
    described(
        "STATISTICS",
        "TABLE_CATALOG w64, TABLE_SCHEMA w64, TABLE_NAME w64, NON_UNIQUE i, INDEX_SCHEMA w64, INDEX_NAME v64?, SEQ_IN_INDEX n, \
         COLUMN_NAME v64?, COLLATION v1?, CARDINALITY b?, SUB_PART b?, PACKED v10?, NULLABLE v3, INDEX_TYPE w11, COMMENT v8, \
         INDEX_COMMENT w2048, IS_VISIBLE v3, EXPRESSION x?",
        Described::of_contents(rows::statistics),
    ),
    described(
        "TABLES",
        "TABLE_CATALOG w64, TABLE_SCHEMA w64, TABLE_NAME w64, TABLE_TYPE w11, ENGINE v64?, VERSION i?, ROW_FORMAT w10?, \
         TABLE_ROWS u?, AVG_ROW_LENGTH u?, DATA_LENGTH u?, MAX_DATA_LENGTH u?, INDEX_LENGTH u?, DATA_FREE u?, \
         AUTO_INCREMENT u?, CREATE_TIME s?, UPDATE_TIME s?, CHECK_TIME s?, TABLE_COLLATION v64?, CHECKSUM b?, \
         CREATE_OPTIONS v256?, TABLE_COMMENT t?",
        RowsOf::Tables(Described {
            needs_process: false,
            needs_statistics: false,
            of_virtual: Some(rows::virtual_table),
            of_table: rows::table,
        }),
    ),
    described(
        "TABLE_CONSTRAINTS",
        "CONSTRAINT_CATALOG w64, CONSTRAINT_SCHEMA w64, CONSTRAINT_NAME v64?, TABLE_SCHEMA w64, TABLE_NAME w64, \
         CONSTRAINT_TYPE w11, ENFORCED w3",
        Described::of(keys::table_constraints),
    ),
    schema(
        "TABLE_PRIVILEGES",
        "GRANTEE v292, TABLE_CATALOG v512, TABLE_SCHEMA v64, TABLE_NAME v64, PRIVILEGE_TYPE v64, IS_GRANTABLE v3",
        accounts::table_privileges,
    ),
    schema(
        "TRIGGERS",
        "TRIGGER_CATALOG w64, TRIGGER_SCHEMA w64, TRIGGER_NAME v64, EVENT_MANIPULATION w6, EVENT_OBJECT_CATALOG w64, \
         EVENT_OBJECT_SCHEMA w64, EVENT_OBJECT_TABLE w64, ACTION_ORDER n, ACTION_CONDITION t?, ACTION_STATEMENT x, \
         ACTION_ORIENTATION v3, ACTION_TIMING w6, ACTION_REFERENCE_OLD_TABLE v64?, ACTION_REFERENCE_NEW_TABLE v64?, \
         ACTION_REFERENCE_OLD_ROW v3, ACTION_REFERENCE_NEW_ROW v3, CREATED s?, SQL_MODE w600, DEFINER w288, \
         CHARACTER_SET_CLIENT v64, COLLATION_CONNECTION v64, DATABASE_COLLATION v64",
        rows::none,
    ),
    schema("USER_ATTRIBUTES", "USER w32, HOST v255, ATTRIBUTE x?", accounts::user_attributes),
    schema(
        "USER_PRIVILEGES",
        "GRANTEE v292, TABLE_CATALOG v512, PRIVILEGE_TYPE v64, IS_GRANTABLE v3",
        accounts::user_privileges,
    ),
    schema(
        "VIEWS",
        "TABLE_CATALOG w64, TABLE_SCHEMA w64, TABLE_NAME w64, VIEW_DEFINITION x?, CHECK_OPTION w8?, IS_UPDATABLE w3?, \
         DEFINER w288?, SECURITY_TYPE w7?, CHARACTER_SET_CLIENT v64, COLLATION_CONNECTION v64",
        rows::none,
    ),
    performance("global_status", "VARIABLE_NAME v64, VARIABLE_VALUE v1024?", rows::status),
    performance("session_status", "VARIABLE_NAME v64, VARIABLE_VALUE v1024?", server::session_status),
    performance("session_connect_attrs", server::CONNECT_ATTRS, server::session_connect_attrs),
    performance("session_account_connect_attrs", server::CONNECT_ATTRS, server::session_account_connect_attrs),
    performance("processlist", server::PROCESSES, server::processes),
    performance("threads", server::THREADS, server::threads),
    // Nothing is measured that could be switched on.
    performance("setup_consumers", "NAME v64, ENABLED v3", rows::none),
    performance("setup_instruments", server::SETUP_INSTRUMENTS, rows::none),
    performance(
        "user_defined_functions",
        "UDF_NAME v64, UDF_RETURN_TYPE v20, UDF_TYPE v20, UDF_LIBRARY v1024?, UDF_USAGE_COUNT b?",
        rows::none,
    ),
    performance("global_variables", "VARIABLE_NAME v64, VARIABLE_VALUE v1024?", rows::global_variables),
    performance("session_variables", "VARIABLE_NAME v64, VARIABLE_VALUE v1024?", rows::session_variables),
    performance(
        "replication_connection_configuration",
        replication::CONNECTION_CONFIGURATION,
        replication::connection_configuration,
    ),
    performance("replication_connection_status", replication::CONNECTION_STATUS, replication::connection_status),
    performance(
        "replication_applier_configuration",
        replication::APPLIER_CONFIGURATION,
        replication::applier_configuration,
    ),
    performance("replication_applier_filters", replication::APPLIER_FILTERS, replication::applier_filters),
    performance(
        "replication_applier_global_filters",
        replication::APPLIER_GLOBAL_FILTERS,
        replication::applier_global_filters,
    ),
    performance("replication_applier_status", replication::APPLIER_STATUS, replication::applier_status),
    performance(
        "replication_applier_status_by_coordinator",
        replication::APPLIER_STATUS_BY_COORDINATOR,
        replication::applier_status_by_coordinator,
    ),
    performance(
        "replication_applier_status_by_worker",
        replication::APPLIER_STATUS_BY_WORKER,
        replication::applier_status_by_worker,
    ),
    // There are no groups, and a channel has one source.
    performance(
        "replication_asynchronous_connection_failover",
        "CHANNEL_NAME v64, HOST v255, PORT i, NETWORK_NAMESPACE v64?, WEIGHT n, MANAGED_NAME v64",
        rows::none,
    ),
    performance(
        "replication_asynchronous_connection_failover_managed",
        "CHANNEL_NAME v64, MANAGED_NAME v64, MANAGED_TYPE v64, CONFIGURATION t?",
        rows::none,
    ),
    performance(
        "replication_group_members",
        "CHANNEL_NAME v64, MEMBER_ID v36, MEMBER_HOST v255, MEMBER_PORT i?, MEMBER_STATE v64, MEMBER_ROLE v64, MEMBER_VERSION v64, \
         MEMBER_COMMUNICATION_STACK v64",
        rows::none,
    ),
    performance(
        "replication_group_member_stats",
        "CHANNEL_NAME v64, VIEW_ID v60, MEMBER_ID v36, COUNT_TRANSACTIONS_IN_QUEUE u, COUNT_TRANSACTIONS_CHECKED u, \
         COUNT_CONFLICTS_DETECTED u, COUNT_TRANSACTIONS_ROWS_VALIDATING u, TRANSACTIONS_COMMITTED_ALL_MEMBERS t, \
         LAST_CONFLICT_FREE_TRANSACTION t, COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE u, COUNT_TRANSACTIONS_REMOTE_APPLIED u, \
         COUNT_TRANSACTIONS_LOCAL_PROPOSED u, COUNT_TRANSACTIONS_LOCAL_ROLLBACK u",
        rows::none,
    ),
    performance("replication_lag", replication::LAG, replication::lag),
    performance("replication_parallelism", replication::PARALLELISM, replication::parallelism),
    performance("replication_applier_barriers", replication::APPLIER_BARRIERS, replication::applier_barriers),
    performance("replication_applier_crossings", replication::APPLIER_CROSSINGS, replication::applier_crossings),
    performance("replication_applier_queue", replication::APPLIER_QUEUE, replication::applier_queue),
    TableSpec {
        database: "mysql",
        name: "user",
        columns: "Host v255, User v32, Select_priv v1, Insert_priv v1, Update_priv v1, Delete_priv v1, Create_priv v1, Drop_priv \
                  v1, Reload_priv v1, Shutdown_priv v1, Process_priv v1, File_priv v1, Grant_priv v1, References_priv v1, \
                  Index_priv v1, Alter_priv v1, Show_db_priv v1, Super_priv v1, Create_tmp_table_priv v1, Lock_tables_priv v1, \
                  Execute_priv v1, Repl_slave_priv v1, Repl_client_priv v1, Create_view_priv v1, Show_view_priv v1, \
                  Create_routine_priv v1, Alter_routine_priv v1, Create_user_priv v1, Event_priv v1, Trigger_priv v1, \
                  Create_tablespace_priv v1, ssl_type v9, ssl_cipher t, x509_issuer t, x509_subject t, max_questions u, \
                  max_updates u, max_connections u, max_user_connections u, plugin v64, authentication_string t?, \
                  password_expired v1, password_last_changed s?, password_lifetime u?, account_locked v1, Create_role_priv v1, \
                  Drop_role_priv v1, Password_reuse_history u?, Password_reuse_time u?, Password_require_current v1?, \
                  User_attributes t?",
        rows: RowsOf::Server(accounts::users),
    },
    TableSpec {
        database: "mysql",
        name: "db",
        columns: DATABASE_GRANTS,
        rows: RowsOf::Server(accounts::database_grants),
    },
    TableSpec {
        database: "mysql",
        name: "global_grants",
        columns: "USER v32, HOST v255, PRIV v32, WITH_GRANT_OPTION v1",
        rows: RowsOf::Server(accounts::global_grants),
    },
    TableSpec {
        database: "mysql",
        name: "password_history",
        columns: "Host v255, User v32, Password_timestamp p, Password t?",
        rows: RowsOf::Server(accounts::password_history),
    },
    TableSpec { database: "mysql", name: "role_edges", columns: roles::EDGES, rows: RowsOf::Server(roles::role_edges) },
    TableSpec {
        database: "mysql",
        name: "default_roles",
        columns: roles::DEFAULTS,
        rows: RowsOf::Server(roles::default_roles),
    },
    TableSpec {
        database: "mysql",
        name: "tables_priv",
        columns: "Host v255, Db v64, User v32, Table_name v64, Grantor v288, Timestamp s?, Table_priv v300, Column_priv v60",
        rows: RowsOf::Server(accounts::tables_priv),
    },
    TableSpec {
        database: "mysql",
        name: "columns_priv",
        columns: "Host v255, Db v64, User v32, Table_name v64, Column_name v64, Timestamp s?, Column_priv v60",
        rows: RowsOf::Server(accounts::columns_priv),
    },
    // There are no routines.
    TableSpec {
        database: "mysql",
        name: "procs_priv",
        columns: "Host v255, Db v64, User v32, Routine_name v64, Routine_type v9, Grantor v288, Proc_priv v60, Timestamp s",
        rows: RowsOf::Server(rows::none),
    },
    // There are no functions of libraries.
    TableSpec {
        database: "mysql",
        name: "func",
        columns: "name v64, ret i, dl v128, type v9",
        rows: RowsOf::Server(rows::none),
    },
    TableSpec {
        database: "mysql",
        name: "gtid_executed",
        columns: server::GTID_EXECUTED,
        rows: RowsOf::Server(server::gtid_executed),
    },
    TableSpec {
        database: "mysql",
        name: "innodb_index_stats",
        columns: server::INDEX_STATS,
        rows: Described::of_contents(server::innodb_index_stats),
    },
    TableSpec {
        database: "mysql",
        name: "innodb_table_stats",
        columns: server::TABLE_STATS,
        rows: Described::of_contents(server::innodb_table_stats),
    },
    TableSpec {
        database: "mysql",
        name: "general_log",
        columns: "event_time s, user_host t, thread_id u, server_id u, command_type v64, argument t",
        rows: RowsOf::Server(rows::none),
    },
    TableSpec {
        database: "mysql",
        name: "slow_log",
        columns: "start_time s, user_host t, query_time v15, lock_time v15, rows_sent i, rows_examined i, db v512, \
                  last_insert_id i, insert_id i, server_id u, sql_text t, thread_id u",
        rows: RowsOf::Server(rows::none),
    },
];

const DATABASE_GRANTS: &str = "Host v255, Db v64, User v32, Select_priv v1, Insert_priv v1, Update_priv v1, Delete_priv v1, Create_priv v1, \
                  Drop_priv v1, Grant_priv v1, References_priv v1, Index_priv v1, Alter_priv v1, Create_tmp_table_priv v1, \
                  Lock_tables_priv v1, Create_view_priv v1, Show_view_priv v1, Create_routine_priv v1, Alter_routine_priv v1, \
                  Execute_priv v1, Event_priv v1, Trigger_priv v1";

/// As MySQL says that it has made the tables of the logs. Statements are not logged to tables, but `mariadb-dump` does not go
/// without their definitions.
pub(super) const DEFINITIONS: [(&str, &str); 2] = [
    (
        "general_log",
        "CREATE TABLE `general_log` (
  `event_time` timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
  `user_host` mediumtext NOT NULL,
  `thread_id` bigint unsigned NOT NULL,
  `server_id` int unsigned NOT NULL,
  `command_type` varchar(64) NOT NULL,
  `argument` mediumblob NOT NULL
) ENGINE=CSV DEFAULT CHARSET=utf8mb3 COMMENT='General log'",
    ),
    (
        "slow_log",
        "CREATE TABLE `slow_log` (
  `start_time` timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
  `user_host` mediumtext NOT NULL,
  `query_time` time(6) NOT NULL,
  `lock_time` time(6) NOT NULL,
  `rows_sent` int NOT NULL,
  `rows_examined` int NOT NULL,
  `db` varchar(512) NOT NULL,
  `last_insert_id` int NOT NULL,
  `insert_id` int NOT NULL,
  `server_id` int unsigned NOT NULL,
  `sql_text` mediumblob NOT NULL,
  `thread_id` bigint unsigned NOT NULL
) ENGINE=CSV DEFAULT CHARSET=utf8mb3 COMMENT='Slow log'",
    ),
];
