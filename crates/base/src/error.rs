//! Errors as a client sees them: MySQL's code, SQLSTATE and text; and the classes on which callers act.
//!
//! Every crate has typed errors of its own; each can say its [`ErrorClass`] and become a [`SqlError`] at the edge.

use std::fmt;

/// What a caller can do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// The statement is wrong; the client is told.
    User,
    /// Trying the transaction again may work (deadlock, lock wait timeout).
    Retry,
    /// Bytes on disk or wire are not what their checksum says; the message names file and offset.
    Corrupt,
    /// The operating system failed an operation. After a failed sync the server stops.
    Io,
    /// A configured bound or the disk is full.
    Full,
    /// The wait was cancelled: KILL, shutdown, client gone.
    Cancelled,
    /// A broken invariant of ours.
    Bug,
}

/// An error on its way to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlError {
    /// MySQL's number, as in `mysqld_error.h`; see [`codes`].
    pub code: u16,
    /// Five characters.
    pub sqlstate: [u8; 5],
    /// Without the `ERROR 1064 (42000):` in front.
    pub message: String,
}

impl SqlError {
    /// An error with a code of [`codes`] and its SQLSTATE.
    pub fn new((code, sqlstate): (u16, &str), message: impl Into<String>) -> Self {
        let mut state = *b"HY000";
        state.copy_from_slice(sqlstate.as_bytes());
        SqlError { code, sqlstate: state, message: message.into() }
    }

    /// 1235: "This version of commuter doesn't yet support '…'".
    pub fn not_supported(what: impl fmt::Display) -> Self {
        SqlError::new(codes::NOT_SUPPORTED_YET, format!("This version of commuter doesn't yet support '{what}'"))
    }

    /// 1105, for what has no code of its own.
    pub fn unknown(message: impl fmt::Display) -> Self {
        SqlError::new(codes::UNKNOWN_ERROR, message.to_string())
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = String::from_utf8_lossy(&self.sqlstate);
        write!(f, "ERROR {} ({}): {}", self.code, state, self.message)
    }
}

impl std::error::Error for SqlError {}

/// MySQL's error codes with their SQLSTATE. Add one here when it is first needed; the names are those of MySQL's
/// `ER_…` without the prefix.
#[allow(missing_docs, reason = "the names are MySQL's own, documented in its error reference")]
pub mod codes {
    pub type Code = (u16, &'static str);

    pub const EE_STAT: Code = (13, "HY000");
    pub const EE_FILE_NOT_FOUND: Code = (29, "HY000");
    pub const CANT_CREATE_TABLE: Code = (1005, "HY000");
    pub const DB_CREATE_EXISTS: Code = (1007, "HY000");
    pub const DB_DROP_EXISTS: Code = (1008, "HY000");
    pub const DISK_FULL: Code = (1021, "HY000");
    pub const DUP_KEY: Code = (1022, "23000");
    pub const ERROR_ON_READ: Code = (1024, "HY000");
    pub const ERROR_ON_WRITE: Code = (1026, "HY000");
    pub const ILLEGAL_HA: Code = (1031, "HY000");
    pub const KEY_NOT_FOUND: Code = (1032, "HY000");
    pub const CON_COUNT_ERROR: Code = (1040, "08004");
    pub const OUT_OF_RESOURCES: Code = (1041, "08004");
    pub const HANDSHAKE_ERROR: Code = (1043, "08S01");
    pub const DBACCESS_DENIED_ERROR: Code = (1044, "42000");
    pub const ACCESS_DENIED_ERROR: Code = (1045, "28000");
    pub const NO_DB_ERROR: Code = (1046, "3D000");
    pub const UNKNOWN_COM_ERROR: Code = (1047, "08S01");
    pub const BAD_NULL_ERROR: Code = (1048, "23000");
    pub const BAD_DB_ERROR: Code = (1049, "42000");
    pub const TABLE_EXISTS_ERROR: Code = (1050, "42S01");
    pub const BAD_TABLE_ERROR: Code = (1051, "42S02");
    pub const NON_UNIQ_ERROR: Code = (1052, "23000");
    pub const SERVER_SHUTDOWN: Code = (1053, "08S01");
    pub const BAD_FIELD_ERROR: Code = (1054, "42S22");
    pub const WRONG_FIELD_WITH_GROUP: Code = (1055, "42000");
    pub const WRONG_GROUP_FIELD: Code = (1056, "42000");
    pub const WRONG_SUM_SELECT: Code = (1057, "42000");
    pub const WRONG_VALUE_COUNT: Code = (1058, "21S01");
    pub const TOO_LONG_IDENT: Code = (1059, "42000");
    pub const DUP_FIELDNAME: Code = (1060, "42S21");
    pub const DUP_KEYNAME: Code = (1061, "42000");
    pub const DUP_ENTRY: Code = (1062, "23000");
    pub const WRONG_FIELD_SPEC: Code = (1063, "42000");
    pub const PARSE_ERROR: Code = (1064, "42000");
    pub const EMPTY_QUERY: Code = (1065, "42000");
    pub const NONUNIQ_TABLE: Code = (1066, "42000");
    pub const INVALID_DEFAULT: Code = (1067, "42000");
    pub const MULTIPLE_PRI_KEY: Code = (1068, "42000");
    pub const TOO_MANY_KEYS: Code = (1069, "42000");
    pub const TOO_MANY_KEY_PARTS: Code = (1070, "42000");
    pub const TOO_LONG_KEY: Code = (1071, "42000");
    pub const KEY_COLUMN_DOES_NOT_EXIST: Code = (1072, "42000");
    pub const BLOB_USED_AS_KEY: Code = (1073, "42000");
    pub const TOO_BIG_FIELDLENGTH: Code = (1074, "42000");
    pub const WRONG_AUTO_KEY: Code = (1075, "42000");
    pub const FORCING_CLOSE: Code = (1080, "08S01");
    pub const WRONG_FIELD_TERMINATORS: Code = (1083, "42000");
    pub const BLOBS_AND_NO_TERMINATED: Code = (1084, "42000");
    pub const TEXTFILE_NOT_READABLE: Code = (1085, "HY000");
    pub const FILE_EXISTS_ERROR: Code = (1086, "HY000");
    pub const WRONG_SUB_KEY: Code = (1089, "HY000");
    pub const CANT_REMOVE_ALL_FIELDS: Code = (1090, "42000");
    pub const CANT_DROP_FIELD_OR_KEY: Code = (1091, "42000");
    pub const UPDATE_TABLE_USED: Code = (1093, "HY000");
    pub const NO_SUCH_THREAD: Code = (1094, "HY000");
    pub const KILL_DENIED_ERROR: Code = (1095, "HY000");
    pub const NO_TABLES_USED: Code = (1096, "HY000");
    pub const TOO_BIG_SET: Code = (1097, "HY000");
    pub const TABLE_NOT_LOCKED_FOR_WRITE: Code = (1099, "HY000");
    pub const TABLE_NOT_LOCKED: Code = (1100, "HY000");
    pub const BLOB_CANT_HAVE_DEFAULT: Code = (1101, "42000");
    pub const WRONG_DB_NAME: Code = (1102, "42000");
    pub const WRONG_TABLE_NAME: Code = (1103, "42000");
    pub const UNKNOWN_ERROR: Code = (1105, "HY000");
    pub const UNKNOWN_PROCEDURE: Code = (1106, "42000");
    pub const UNKNOWN_TABLE: Code = (1109, "42S02");
    pub const FIELD_SPECIFIED_TWICE: Code = (1110, "42000");
    pub const INVALID_GROUP_FUNC_USE: Code = (1111, "HY000");
    pub const UNSUPPORTED_EXTENSION: Code = (1112, "42000");
    pub const TABLE_MUST_HAVE_COLUMNS: Code = (1113, "42000");
    pub const RECORD_FILE_FULL: Code = (1114, "HY000");
    pub const UNKNOWN_CHARACTER_SET: Code = (1115, "42000");
    pub const TOO_MANY_TABLES: Code = (1116, "HY000");
    pub const TOO_MANY_FIELDS: Code = (1117, "HY000");
    pub const TOO_BIG_ROWSIZE: Code = (1118, "42000");
    pub const PASSWORD_NO_MATCH: Code = (1133, "42000");
    pub const WRONG_VALUE_COUNT_ON_ROW: Code = (1136, "21S01");
    pub const CANT_REOPEN_TABLE: Code = (1137, "HY000");
    pub const INVALID_USE_OF_NULL: Code = (1138, "22004");
    pub const MIX_OF_GROUP_FUNC_AND_FIELDS: Code = (1140, "42000");
    pub const NONEXISTING_GRANT: Code = (1141, "42000");
    pub const TABLEACCESS_DENIED_ERROR: Code = (1142, "42000");
    pub const COLUMNACCESS_DENIED_ERROR: Code = (1143, "42000");
    pub const ILLEGAL_GRANT_FOR_TABLE: Code = (1144, "42000");
    pub const NO_SUCH_TABLE: Code = (1146, "42S02");
    pub const NONEXISTING_TABLE_GRANT: Code = (1147, "42000");
    pub const SYNTAX_ERROR: Code = (1149, "42000");
    pub const NET_PACKET_TOO_LARGE: Code = (1153, "08S01");
    pub const NET_PACKETS_OUT_OF_ORDER: Code = (1156, "08S01");
    pub const NET_READ_ERROR: Code = (1158, "08S01");
    pub const NET_READ_INTERRUPTED: Code = (1159, "08S01");
    pub const NET_ERROR_ON_WRITE: Code = (1160, "08S01");
    pub const WRONG_COLUMN_NAME: Code = (1166, "42000");
    pub const WRONG_KEY_COLUMN: Code = (1167, "42000");
    pub const BLOB_KEY_WITHOUT_LENGTH: Code = (1170, "42000");
    pub const PRIMARY_CANT_HAVE_NULL: Code = (1171, "42000");
    pub const TOO_MANY_ROWS: Code = (1172, "42000");
    pub const UPDATE_WITHOUT_KEY_IN_SAFE_MODE: Code = (1175, "HY000");
    pub const KEY_DOES_NOT_EXIST: Code = (1176, "42000");
    pub const CHECK_NO_SUCH_TABLE: Code = (1177, "42000");
    pub const CANT_DO_THIS_DURING_AN_TRANSACTION: Code = (1179, "25000");
    pub const LOCK_OR_ACTIVE_TRANSACTION: Code = (1192, "HY000");
    pub const UNKNOWN_SYSTEM_VARIABLE: Code = (1193, "HY000");
    pub const CRASHED_ON_USAGE: Code = (1194, "HY000");
    pub const TRANS_CACHE_FULL: Code = (1197, "HY000");
    pub const REPLICA_MUST_STOP: Code = (1198, "HY000");
    pub const REPLICA_NOT_RUNNING: Code = (1199, "HY000");
    pub const BAD_REPLICA: Code = (1200, "HY000");
    pub const TOO_MANY_USER_CONNECTIONS: Code = (1203, "42000");
    pub const LOCK_WAIT_TIMEOUT: Code = (1205, "HY000");
    pub const LOCK_TABLE_FULL: Code = (1206, "HY000");
    pub const READ_ONLY_TRANSACTION: Code = (1207, "25000");
    pub const WRONG_ARGUMENTS: Code = (1210, "HY000");
    pub const LOCK_DEADLOCK: Code = (1213, "40001");
    pub const CANNOT_ADD_FOREIGN: Code = (1215, "HY000");
    pub const ERROR_WHEN_EXECUTING_COMMAND: Code = (1220, "HY000");
    pub const WRONG_USAGE: Code = (1221, "HY000");
    pub const WRONG_NUMBER_OF_COLUMNS_IN_SELECT: Code = (1222, "21000");
    pub const CANT_UPDATE_WITH_READLOCK: Code = (1223, "HY000");
    pub const DUP_ARGUMENT: Code = (1225, "HY000");
    pub const USER_LIMIT_REACHED: Code = (1226, "42000");
    pub const SPECIFIC_ACCESS_DENIED_ERROR: Code = (1227, "42000");
    pub const LOCAL_VARIABLE: Code = (1228, "HY000");
    pub const GLOBAL_VARIABLE: Code = (1229, "HY000");
    pub const NO_DEFAULT: Code = (1230, "42000");
    pub const WRONG_VALUE_FOR_VAR: Code = (1231, "42000");
    pub const WRONG_TYPE_FOR_VAR: Code = (1232, "42000");
    pub const VAR_CANT_BE_READ: Code = (1233, "HY000");
    pub const CANT_USE_OPTION_HERE: Code = (1234, "42000");
    pub const NOT_SUPPORTED_YET: Code = (1235, "42000");
    pub const SOURCE_FATAL_ERROR_READING_BINLOG: Code = (1236, "HY000");
    pub const INCORRECT_GLOBAL_LOCAL_VAR: Code = (1238, "HY000");
    pub const WRONG_FK_DEF: Code = (1239, "42000");
    pub const OPERAND_COLUMNS: Code = (1241, "21000");
    pub const SUBQUERY_NO_1_ROW: Code = (1242, "21000");
    pub const UNKNOWN_STMT_HANDLER: Code = (1243, "HY000");
    pub const AUTO_CONVERT: Code = (1246, "HY000");
    pub const ILLEGAL_REFERENCE: Code = (1247, "42S22");
    pub const DERIVED_MUST_HAVE_ALIAS: Code = (1248, "42000");
    pub const COLLATION_CHARSET_MISMATCH: Code = (1253, "42000");
    pub const TOO_BIG_FOR_UNCOMPRESS: Code = (1256, "HY000");
    pub const ZLIB_Z_DATA_ERROR: Code = (1259, "HY000");
    pub const CUT_VALUE_GROUP_CONCAT: Code = (1260, "HY000");
    pub const WARN_TOO_FEW_RECORDS: Code = (1261, "01000");
    pub const WARN_TOO_MANY_RECORDS: Code = (1262, "01000");
    pub const WARN_NULL_TO_NOTNULL: Code = (1263, "22004");
    pub const WARN_DATA_OUT_OF_RANGE: Code = (1264, "22003");
    pub const WARN_DATA_TRUNCATED: Code = (1265, "01000");
    pub const WARN_USING_OTHER_HANDLER: Code = (1266, "HY000");
    pub const CANT_AGGREGATE_2COLLATIONS: Code = (1267, "HY000");
    pub const REVOKE_GRANTS: Code = (1269, "HY000");
    pub const CANT_AGGREGATE_3COLLATIONS: Code = (1270, "HY000");
    pub const CANT_AGGREGATE_NCOLLATIONS: Code = (1271, "HY000");
    pub const UNKNOWN_COLLATION: Code = (1273, "HY000");
    pub const WRONG_NAME_FOR_INDEX: Code = (1280, "42000");
    pub const UNKNOWN_STORAGE_ENGINE: Code = (1286, "42000");
    pub const WARN_DEPRECATED_SYNTAX: Code = (1287, "HY000");
    pub const NON_UPDATABLE_TABLE: Code = (1288, "HY000");
    pub const OPTION_PREVENTS_STATEMENT: Code = (1290, "HY000");
    pub const DUPLICATED_VALUE_IN_TYPE: Code = (1291, "HY000");
    pub const TRUNCATED_WRONG_VALUE: Code = (1292, "22007");
    pub const INVALID_ON_UPDATE: Code = (1294, "HY000");
    pub const UNSUPPORTED_PS: Code = (1295, "HY000");
    pub const UNKNOWN_TIME_ZONE: Code = (1298, "HY000");
    pub const WARN_INVALID_TIMESTAMP: Code = (1299, "HY000");
    pub const INVALID_CHARACTER_STRING: Code = (1300, "HY000");
    pub const WARN_ALLOWED_PACKET_OVERFLOWED: Code = (1301, "HY000");
    pub const CONFLICTING_DECLARATIONS: Code = (1302, "HY000");
    pub const SP_NO_RECURSIVE_CREATE: Code = (1303, "2F003");
    pub const SP_DOES_NOT_EXIST: Code = (1305, "42000");
    pub const SP_LILABEL_MISMATCH: Code = (1308, "42000");
    pub const SP_LABEL_REDEFINE: Code = (1309, "42000");
    pub const SP_LABEL_MISMATCH: Code = (1310, "42000");
    pub const SP_BADRETURN: Code = (1313, "42000");
    pub const SP_BADSTATEMENT: Code = (1314, "0A000");
    pub const QUERY_INTERRUPTED: Code = (1317, "70100");
    pub const SP_COND_MISMATCH: Code = (1319, "42000");
    pub const SP_NORETURN: Code = (1320, "42000");
    pub const SP_BAD_CURSOR_SELECT: Code = (1323, "42000");
    pub const SP_CURSOR_MISMATCH: Code = (1324, "42000");
    pub const SP_FETCH_NO_DATA: Code = (1329, "02000");
    pub const SP_UNDECLARED_VAR: Code = (1327, "42000");
    pub const SP_DUP_PARAM: Code = (1330, "42000");
    pub const SP_DUP_VAR: Code = (1331, "42000");
    pub const SP_DUP_COND: Code = (1332, "42000");
    pub const SP_DUP_CURS: Code = (1333, "42000");
    pub const STMT_NOT_ALLOWED_IN_SF_OR_TRG: Code = (1336, "0A000");
    pub const SP_VARCOND_AFTER_CURSHNDLR: Code = (1337, "42000");
    pub const SP_CURSOR_AFTER_HANDLER: Code = (1338, "42000");
    pub const WRONG_OBJECT: Code = (1347, "HY000");
    pub const VIEW_NONUPD_CHECK: Code = (1348, "HY000");
    pub const VIEW_WRONG_LIST: Code = (1353, "HY000");
    pub const SP_NO_DROP_SP: Code = (1357, "HY000");
    pub const TRG_DOES_NOT_EXIST: Code = (1360, "HY000");
    pub const TRG_CANT_CHANGE_ROW: Code = (1362, "HY000");
    pub const TRG_NO_SUCH_ROW_IN_TRG: Code = (1363, "HY000");
    pub const NO_DEFAULT_FOR_FIELD: Code = (1364, "HY000");
    pub const DIVISION_BY_ZERO: Code = (1365, "22012");
    pub const TRUNCATED_WRONG_VALUE_FOR_FIELD: Code = (1366, "HY000");
    pub const ILLEGAL_VALUE_FOR_TYPE: Code = (1367, "22007");
    pub const PASSWD_LENGTH: Code = (1372, "HY000");
    pub const UNKNOWN_TARGET_BINLOG: Code = (1373, "HY000");
    pub const NO_BINARY_LOGGING: Code = (1381, "HY000");
    pub const PS_MANY_PARAM: Code = (1390, "HY000");
    pub const KEY_PART_0: Code = (1391, "HY000");
    pub const CANNOT_USER: Code = (1396, "HY000");
    pub const XAER_NOTA: Code = (1397, "XAE04");
    pub const XAER_INVAL: Code = (1398, "XAE05");
    pub const XAER_RMFAIL: Code = (1399, "XAE07");
    pub const XAER_OUTSIDE: Code = (1400, "XAE09");
    pub const XA_RBROLLBACK: Code = (1402, "XA100");
    pub const DATA_TOO_LONG: Code = (1406, "22001");
    pub const SP_BAD_SQLSTATE: Code = (1407, "42000");
    pub const LOAD_FROM_FIXED_SIZE_ROWS_TO_VAR: Code = (1409, "HY000");
    pub const CANT_CREATE_USER_WITH_GRANT: Code = (1410, "42000");
    pub const WRONG_VALUE_FOR_TYPE: Code = (1411, "HY000");
    pub const TABLE_DEF_CHANGED: Code = (1412, "HY000");
    pub const SP_DUP_HANDLER: Code = (1413, "42000");
    pub const SP_NO_RETSET: Code = (1415, "0A000");
    pub const STMT_HAS_NO_OPEN_CURSOR: Code = (1421, "HY000");
    pub const COMMIT_NOT_ALLOWED_IN_SF_OR_TRG: Code = (1422, "HY000");
    pub const TOO_BIG_SCALE: Code = (1425, "42000");
    pub const TOO_BIG_PRECISION: Code = (1426, "42000");
    pub const M_BIGGER_THAN_D: Code = (1427, "42000");
    pub const STACK_OVERRUN: Code = (1436, "HY000");
    pub const TOO_BIG_DISPLAYWIDTH: Code = (1439, "42000");
    pub const XAER_DUPID: Code = (1440, "XAE08");
    pub const DATETIME_FUNCTION_OVERFLOW: Code = (1441, "22008");
    pub const SP_CANT_SET_AUTOCOMMIT: Code = (1445, "HY000");
    pub const ROW_IS_REFERENCED_2: Code = (1451, "23000");
    pub const NO_REFERENCED_ROW_2: Code = (1452, "23000");
    pub const SP_WRONG_NAME: Code = (1458, "42000");
    pub const MAX_PREPARED_STMT_COUNT_REACHED: Code = (1461, "42000");
    pub const AUTOINC_READ_FAILED: Code = (1467, "HY000");
    pub const WRONG_STRING_LENGTH: Code = (1470, "HY000");
    pub const NON_INSERTABLE_TABLE: Code = (1471, "HY000");
    pub const TOO_HIGH_NESTING_OF_SELECT: Code = (1473, "HY000");
    pub const ILLEGAL_HA_CREATE_OPTION: Code = (1478, "HY000");
    pub const PLUGIN_IS_NOT_LOADED: Code = (1524, "HY000");
    pub const WRONG_VALUE: Code = (1525, "HY000");
    pub const EVENT_DOES_NOT_EXIST: Code = (1539, "HY000");
    pub const DROP_INDEX_FK: Code = (1553, "HY000");
    pub const CANT_CHANGE_TX_CHARACTERISTICS: Code = (1568, "25001");
    pub const BASE64_DECODE_ERROR: Code = (1575, "HY000");
    pub const EVENT_RECURSION_FORBIDDEN: Code = (1576, "HY000");
    pub const WRONG_PARAMCOUNT_TO_NATIVE_FCT: Code = (1582, "42000");
    pub const WRONG_PARAMETERS_TO_NATIVE_FCT: Code = (1583, "42000");
    pub const REPLICA_INCIDENT: Code = (1590, "HY000");
    pub const REPLICA_RELAY_LOG_READ_FAILURE: Code = (1594, "HY000");
    pub const NO_FORMAT_DESCRIPTION_EVENT_BEFORE_BINLOG_STATEMENT: Code = (1609, "HY000");
    pub const REPLICA_CORRUPT_EVENT: Code = (1610, "HY000");
    pub const XA_RBTIMEOUT: Code = (1613, "XA106");
    pub const XA_RBDEADLOCK: Code = (1614, "XA102");
    pub const WARN_OPTION_IGNORED: Code = (1618, "HY000");
    pub const VARIABLE_IS_READONLY: Code = (1621, "HY000");
    pub const TOO_LONG_TABLE_COMMENT: Code = (1628, "HY000");
    pub const TOO_LONG_FIELD_COMMENT: Code = (1629, "HY000");
    pub const WARN_NON_ASCII_SEPARATOR_NOT_IMPLEMENTED: Code = (1638, "HY000");
    pub const DUP_SIGNAL_SET: Code = (1641, "42000");
    pub const SIGNAL_BAD_CONDITION_TYPE: Code = (1646, "HY000");
    pub const UNKNOWN_LOCALE: Code = (1649, "HY000");
    pub const REPLICA_CONVERSION_FAILED: Code = (1677, "HY000");
    pub const WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT: Code = (1681, "HY000");
    pub const TOO_LONG_INDEX_COMMENT: Code = (1688, "HY000");
    pub const DATA_OUT_OF_RANGE: Code = (1690, "22003");
    pub const INSIDE_TRANSACTION_PREVENTS_SWITCH_SQL_LOG_BIN: Code = (1694, "HY000");
    pub const TRUNCATE_ILLEGAL_FK: Code = (1701, "42000");
    pub const MULTI_UPDATE_KEY_CONFLICT: Code = (1706, "HY000");
    pub const SOURCE_DELAY_VALUE_OUT_OF_RANGE: Code = (1729, "HY000");
    pub const ONLY_FD_AND_RBR_EVENTS_ALLOWED_IN_BINLOG_STATEMENT: Code = (1730, "HY000");
    pub const NETWORK_READ_EVENT_CHECKSUM_FAILURE: Code = (1743, "HY000");
    pub const WARNING_NOT_COMPLETE_ROLLBACK_WITH_CREATED_TEMP_TABLE: Code = (1751, "HY000");
    pub const WARNING_NOT_COMPLETE_ROLLBACK_WITH_DROPPED_TEMP_TABLE: Code = (1752, "HY000");
    pub const FOREIGN_DUPLICATE_KEY: Code = (1761, "23000");
    pub const VARIABLE_NOT_SETTABLE_IN_TRANSACTION: Code = (1766, "HY000");
    pub const MALFORMED_GTID_SET_SPECIFICATION: Code = (1772, "HY000");
    pub const MALFORMED_GTID_SPECIFICATION: Code = (1774, "HY000");
    pub const GNO_EXHAUSTED: Code = (1775, "HY000");
    pub const BAD_REPLICA_AUTO_POSITION: Code = (1776, "HY000");
    pub const CANT_DO_IMPLICIT_COMMIT_IN_TRX_WHEN_GTID_NEXT_IS_SET: Code = (1778, "HY000");
    pub const CANT_SET_GTID_NEXT_TO_ANONYMOUS_WHEN_GTID_MODE_IS_ON: Code = (1782, "HY000");
    pub const GTID_UNSAFE_CREATE_SELECT: Code = (1786, "HY000");
    pub const CANT_SET_GTID_NEXT_WHEN_OWNING_GTID: Code = (1790, "HY000");
    pub const CANT_EXECUTE_IN_READ_ONLY_TRANSACTION: Code = (1792, "25006");
    pub const UNKNOWN_EXPLAIN_FORMAT: Code = (1791, "HY000");
    pub const DUP_INDEX: Code = (1831, "HY000");
    pub const FK_COLUMN_CANNOT_CHANGE: Code = (1832, "HY000");
    pub const FK_COLUMN_CANNOT_CHANGE_CHILD: Code = (1833, "HY000");
    pub const UNKNOWN_ALTER_ALGORITHM: Code = (1800, "HY000");
    pub const UNKNOWN_ALTER_LOCK: Code = (1801, "HY000");
    pub const INTERNAL_ERROR: Code = (1815, "HY000");
    pub const INVALID_YEAR_COLUMN_LENGTH: Code = (1818, "HY000");
    pub const MUST_CHANGE_PASSWORD: Code = (1820, "HY000");
    pub const FK_CANNOT_OPEN_PARENT: Code = (1824, "HY000");
    pub const FK_DUP_NAME: Code = (1826, "HY000");
    pub const PASSWORD_FORMAT: Code = (1827, "HY000");
    pub const FK_COLUMN_CANNOT_DROP: Code = (1828, "HY000");
    pub const FK_COLUMN_CANNOT_DROP_CHILD: Code = (1829, "HY000");
    pub const FK_COLUMN_NOT_NULL: Code = (1830, "HY000");
    pub const MALFORMED_PACKET: Code = (1835, "HY000");
    pub const GTID_NEXT_CANT_BE_SET: Code = (1836, "HY000");
    pub const GTID_NEXT_TYPE_UNDEFINED_GTID: Code = (1837, "HY000");
    pub const ALTER_OPERATION_NOT_SUPPORTED: Code = (1845, "0A000");
    pub const ALTER_OPERATION_NOT_SUPPORTED_REASON: Code = (1846, "0A000");
    pub const MUST_CHANGE_PASSWORD_LOGIN: Code = (1862, "HY000");
    pub const WARN_PURGE_LOG_IN_USE: Code = (1867, "HY000");
    pub const WARN_PURGE_LOG_IS_ACTIVE: Code = (1868, "HY000");
    pub const AUTO_INCREMENT_CONFLICT: Code = (1869, "HY000");
    pub const AES_INVALID_IV: Code = (1882, "HY000");
    pub const CONNECTION_KILLED: Code = (1927, "70100");
    pub const INCORRECT_GTID_STATE: Code = (1941, "HY000");
    pub const BAD_BASE64_DATA: Code = (1958, "HY000");
    pub const STATEMENT_TIMEOUT: Code = (1969, "70100");
    /// The system variable … cannot be set in SET STATEMENT (MariaDB).
    pub const SET_STATEMENT_NOT_SUPPORTED: Code = (1971, "42000");
    pub const INCONSISTENT_ERROR: Code = (3002, "HY000");
    pub const WARN_LEGACY_SYNTAX_CONVERTED: Code = (3005, "HY000");
    pub const FK_DEPTH_EXCEEDED: Code = (3008, "HY000");
    pub const EXPLAIN_NOT_SUPPORTED: Code = (3012, "HY000");
    pub const INVALID_FIELD_SIZE: Code = (3013, "42000");
    pub const INVALID_ARGUMENT_FOR_LOGARITHM: Code = (3020, "2201E");
    pub const REPLICA_CHANNEL_IO_THREAD_MUST_STOP: Code = (3021, "HY000");
    pub const WARN_OPEN_TEMP_TABLES_MUST_BE_ZERO: Code = (3022, "HY000");
    pub const QUERY_TIMEOUT: Code = (3024, "HY000");
    pub const AGGREGATE_ORDER_FOR_UNION: Code = (3028, "HY000");
    pub const SERVER_OFFLINE_MODE: Code = (3032, "HY000");
    pub const USER_LOCK_WRONG_NAME: Code = (3057, "42000");
    pub const USER_LOCK_DEADLOCK: Code = (3058, "HY000");
    pub const INCORRECT_TYPE: Code = (3064, "HY000");
    pub const FIELD_IN_ORDER_NOT_SELECT: Code = (3065, "HY000");
    pub const REPLICA_CHANNEL_DOES_NOT_EXIST: Code = (3074, "HY000");
    pub const REPLICA_CHANNEL_NAME_INVALID_OR_TOO_LONG: Code = (3076, "HY000");
    pub const REPLICA_MULTIPLE_CHANNELS_CMD: Code = (3079, "HY000");
    pub const REPLICA_MAX_CHANNELS_EXCEEDED: Code = (3080, "HY000");
    pub const REPLICA_CHANNEL_MUST_STOP: Code = (3081, "HY000");
    pub const REPLICA_CHANNEL_SQL_THREAD_MUST_STOP: Code = (3085, "HY000");
    pub const REPLICA_CHANNEL_SQL_SKIP_COUNTER: Code = (3086, "HY000");
    pub const ACCOUNT_HAS_BEEN_LOCKED: Code = (3118, "HY000");
    /// `ER_WARN_UNSUPPORTED_MAX_EXECUTION_TIME`
    pub const UNSUPPORTED_MAX_EXECUTION_TIME: Code = (3125, "HY000");
    /// `ER_WARN_CONFLICTING_HINT`
    pub const WARN_CONFLICTING_HINT: Code = (3126, "HY000");
    /// `ER_WARN_UNKNOWN_QB_NAME`
    pub const WARN_UNKNOWN_QB_NAME: Code = (3127, "HY000");
    /// `ER_UNRESOLVED_HINT_NAME`
    pub const WARN_UNKNOWN_NAME_IN_HINT: Code = (3128, "HY000");
    pub const COULD_NOT_APPLY_JSON_DIFF: Code = (3138, "HY000");
    pub const INVALID_JSON_TEXT: Code = (3140, "22032");
    pub const INVALID_JSON_TEXT_IN_PARAM: Code = (3141, "22032");
    pub const INVALID_JSON_BINARY_DATA: Code = (3142, "22032");
    pub const INVALID_JSON_PATH: Code = (3143, "42000");
    pub const INVALID_JSON_CHARSET: Code = (3144, "22032");
    pub const INVALID_TYPE_FOR_JSON: Code = (3146, "22032");
    pub const INVALID_JSON_PATH_WILDCARD: Code = (3149, "42000");
    pub const JSON_VALUE_TOO_BIG: Code = (3150, "22032");
    pub const JSON_KEY_TOO_BIG: Code = (3151, "22032");
    pub const JSON_USED_AS_KEY: Code = (3152, "42000");
    pub const JSON_VACUOUS_PATH: Code = (3153, "42000");
    pub const JSON_BAD_ONE_OR_ALL_ARG: Code = (3154, "42000");
    pub const INVALID_JSON_VALUE_FOR_CAST: Code = (3156, "22018");
    pub const JSON_DOCUMENT_TOO_DEEP: Code = (3157, "22032");
    pub const JSON_DOCUMENT_NULL_KEY: Code = (3158, "22032");
    pub const SECURE_TRANSPORT_REQUIRED: Code = (3159, "HY000");
    pub const USER_DOES_NOT_EXIST: Code = (3162, "HY000");
    pub const USER_ALREADY_EXISTS: Code = (3163, "HY000");
    pub const INVALID_JSON_PATH_ARRAY_CELL: Code = (3165, "42000");
    pub const AES_INVALID_KDF_NAME: Code = (3235, "HY000");
    pub const AES_INVALID_KDF_ITERATIONS: Code = (3236, "HY000");
    pub const WARN_AES_KEY_SIZE: Code = (3237, "HY000");
    pub const AES_INVALID_KDF_OPTION_SIZE: Code = (3238, "HY000");
    pub const UNSUPPORTED_INDEX_ALGORITHM: Code = (3502, "HY000");
    pub const NO_SUCH_DB: Code = (3503, "42Y07");
    pub const TOO_MANY_ENUM_VALUES: Code = (3504, "HY000");
    pub const INVALID_BITWISE_OPERANDS_SIZE: Code = (3513, "HY000");
    pub const BITWISE_AGGREGATE_TOO_LONG: Code = (3514, "HY000");
    pub const PK_INDEX_CANT_BE_INVISIBLE: Code = (3522, "HY000");
    pub const UNKNOWN_AUTHID: Code = (3523, "HY000");
    pub const ROLE_NOT_GRANTED: Code = (3530, "HY000");
    pub const RENAME_ROLE: Code = (3532, "HY000");
    pub const CANT_SET_GTID_PURGED_DUE_SETS_CONSTRAINTS: Code = (3546, "HY000");
    pub const UNRESOLVED_TABLE_LOCK: Code = (3568, "HY000");
    pub const DUPLICATE_TABLE_LOCK: Code = (3569, "HY000");
    pub const LOCK_NOWAIT: Code = (3572, "HY000");
    pub const WINDOW_NO_SUCH_WINDOW: Code = (3579, "HY000");
    pub const WINDOW_CIRCULARITY_IN_WINDOW_GRAPH: Code = (3580, "HY000");
    pub const WINDOW_NO_CHILD_PARTITIONING: Code = (3581, "HY000");
    pub const WINDOW_NO_INHERIT_FRAME: Code = (3582, "HY000");
    pub const WINDOW_NO_REDEFINE_ORDER_BY: Code = (3583, "HY000");
    pub const WINDOW_FRAME_END_ILLEGAL: Code = (3585, "HY000");
    pub const WINDOW_FRAME_ILLEGAL: Code = (3586, "HY000");
    pub const WINDOW_RANGE_FRAME_ORDER_TYPE: Code = (3587, "HY000");
    pub const WINDOW_RANGE_FRAME_TEMPORAL_TYPE: Code = (3588, "HY000");
    pub const WINDOW_RANGE_FRAME_NUMERIC_TYPE: Code = (3589, "HY000");
    pub const WINDOW_RANGE_BOUND_NOT_CONSTANT: Code = (3590, "HY000");
    pub const WINDOW_DUPLICATE_NAME: Code = (3591, "HY000");
    pub const WINDOW_ILLEGAL_ORDER_BY: Code = (3592, "HY000");
    pub const WINDOW_INVALID_WINDOW_FUNC_USE: Code = (3593, "HY000");
    pub const WINDOW_INVALID_WINDOW_FUNC_ALIAS_USE: Code = (3594, "HY000");
    pub const WINDOW_NESTED_WINDOW_FUNC_USE_IN_WINDOW_SPEC: Code = (3595, "HY000");
    pub const WINDOW_ROWS_INTERVAL_USE: Code = (3596, "HY000");
    pub const TOO_MANY_ARGUMENTS: Code = (3601, "HY000");
    pub const FIELD_IN_GROUPING_NOT_GROUP_BY: Code = (3602, "HY000");
    pub const ILLEGAL_PRIVILEGE_LEVEL: Code = (3619, "HY000");
    pub const MANDATORY_ROLE: Code = (3628, "HY000");
    pub const NOT_HINT_UPDATABLE_VARIABLE: Code = (3637, "HY000");
    pub const RESOURCE_GROUP_NOT_EXISTS: Code = (3651, "HY000");
    pub const CREDENTIALS_CONTRADICT_TO_HISTORY: Code = (3638, "HY000");
    pub const MISSING_JSON_TABLE_VALUE: Code = (3665, "22035");
    pub const WRONG_JSON_TABLE_VALUE: Code = (3666, "2203F");
    pub const TF_MUST_HAVE_ALIAS: Code = (3667, "42000");
    pub const JT_VALUE_OUT_OF_RANGE: Code = (3669, "22003");
    pub const JT_MAX_NESTED_PATH: Code = (3670, "42000");
    pub const PARSE_ERROR_IN_DIGEST_FN: Code = (3676, "HY000");
    pub const REGEXP_BUFFER_OVERFLOW: Code = (3684, "HY000");
    pub const REGEXP_ERROR: Code = (3685, "HY000");
    pub const REGEXP_INDEX_OUTOFBOUNDS_ERROR: Code = (3686, "HY000");
    pub const REGEXP_RULE_SYNTAX: Code = (3688, "HY000");
    pub const REGEXP_BAD_ESCAPE_SEQUENCE: Code = (3689, "HY000");
    pub const REGEXP_MISMATCHED_PAREN: Code = (3691, "HY000");
    pub const REGEXP_MAX_LT_MIN: Code = (3693, "HY000");
    pub const REGEXP_MISSING_CLOSE_BRACKET: Code = (3696, "HY000");
    pub const REGEXP_INVALID_RANGE: Code = (3697, "HY000");
    pub const REGEXP_STACK_OVERFLOW: Code = (3698, "HY000");
    pub const REGEXP_TIME_OUT: Code = (3699, "HY000");
    pub const FK_CANNOT_DROP_PARENT: Code = (3730, "HY000");
    pub const FK_NO_COLUMN_PARENT: Code = (3734, "HY000");
    pub const TABLE_WITHOUT_PK: Code = (3750, "HY000");
    pub const FK_INCOMPATIBLE_COLUMNS: Code = (3780, "HY000");
    pub const UNSUPPORTED_USE_OF_GRANT_AS: Code = (3835, "HY000");
    pub const UNKNOWN_AUTHID_OR_ACCESS_DENIED_IN_GRANT_AS: Code = (3836, "HY000");
    pub const INVALID_JSON_TYPE: Code = (3853, "22032");
    pub const CANNOT_CONVERT_STRING: Code = (3854, "HY000");
    pub const CANNOT_GRANT_ROLES_TO_ANONYMOUS_USER: Code = (3876, "HY000");
    pub const SECOND_PASSWORD_CANNOT_BE_EMPTY: Code = (3878, "HY000");
    pub const DB_ACCESS_DENIED: Code = (3879, "HY000");
    pub const AUTHID_WITH_SYSTEM_USER: Code = (3880, "HY000");
    pub const REGEXP_INVALID_CAPTURE_GROUP_NAME: Code = (3887, "HY000");
    pub const INCORRECT_CURRENT_PASSWORD: Code = (3891, "HY000");
    pub const MISSING_CURRENT_PASSWORD: Code = (3892, "HY000");
    pub const CURRENT_PASSWORD_NOT_REQUIRED: Code = (3893, "HY000");
    pub const PASSWORD_CANNOT_BE_RETAINED_ON_PLUGIN_CHANGE: Code = (3894, "HY000");
    pub const CURRENT_PASSWORD_CANNOT_BE_RETAINED: Code = (3895, "HY000");
    pub const PARTIAL_REVOKES_EXIST: Code = (3896, "HY000");
    pub const CANNOT_GRANT_SYSTEM_USER_TO_MANDATORY_ROLE: Code = (3897, "HY000");
    pub const WRONG_COMPRESSION_ALGORITHM_CLIENT: Code = (3922, "HY000");
    pub const WRONG_COMPRESSION_LEVEL_CLIENT: Code = (3923, "HY000");
    pub const CONSTRAINT_NOT_FOUND: Code = (3940, "HY000");
    pub const EMPTY_ROW: Code = (3942, "HY000");
    pub const CLIENT_LOCAL_FILES_DISABLED: Code = (3948, "42000");
    pub const USER_ACCESS_DENIED_FOR_USER_ACCOUNT_BLOCKED_BY_PASSWORD_LOCK: Code = (3955, "HY000");
    pub const MISSING_JSON_VALUE: Code = (3966, "22035");
    pub const MULTIPLE_JSON_VALUES: Code = (3967, "22034");
    pub const INVALID_USER_ATTRIBUTE_JSON: Code = (3982, "HY000");
    pub const FUNCTION_DOES_NOT_SUPPORT_CHARACTER_SET: Code = (3987, "HY000");
    pub const CHARACTER_SET_MISMATCH: Code = (3995, "HY000");
    pub const AUTOEXTEND_SIZE_NOT_MULTIPLE: Code = (4023, "HY000");
    pub const ROLE_GRANTED_TO_ITSELF: Code = (4027, "HY000");
    pub const TABLE_MUST_HAVE_A_VISIBLE_COLUMN: Code = (4028, "HY000");
    pub const CLIENT_INTERACTION_TIMEOUT: Code = (4031, "HY000");
    pub const GLOBAL_CONNECTION_MEMORY_LIMIT: Code = (4081, "HY000");
    pub const CONNECTION_MEMORY_LIMIT: Code = (4082, "HY000");
    pub const TOO_MANY_WINDOWS: Code = (4086, "HY000");
    /// … is not a SEQUENCE (MariaDB).
    pub const NOT_SEQUENCE: Code = (4090, "42S02");
    pub const XA_TEMP_TABLE: Code = (4091, "HY000");
    /// Unknown SEQUENCE: … (MariaDB).
    pub const UNKNOWN_SEQUENCES: Code = (4091, "42S02");
    pub const GIPK_COLUMN_EXISTS: Code = (4108, "HY000");
    pub const GIPK_ALTER_NOT_ALLOWED: Code = (4110, "HY000");
    pub const DROP_PK_COLUMN_TO_DROP_GIPK: Code = (4111, "HY000");
    pub const CTE_RECURSIVE_REQUIRES_UNION: Code = (3573, "HY000");
    pub const CTE_RECURSIVE_REQUIRES_NONRECURSIVE_FIRST: Code = (3574, "HY000");
    pub const CTE_RECURSIVE_FORBIDS_AGGREGATION: Code = (3575, "HY000");
    pub const CTE_RECURSIVE_FORBIDDEN_JOIN_ORDER: Code = (3576, "HY000");
    pub const CTE_RECURSIVE_REQUIRES_SINGLE_REFERENCE: Code = (3577, "HY000");
    pub const CTE_MAX_RECURSION_DEPTH: Code = (3636, "HY000");
    pub const MISPLACED_INTO: Code = (3954, "HY000");
    pub const WRONG_PARAMCOUNT_TO_CURSOR: Code = (4080, "42000");
    /// These of MariaDB.
    pub const NOT_CONSTANT_EXPRESSION: Code = (4102, "HY000");
    pub const ARGUMENT_OUT_OF_RANGE: Code = (4103, "HY000");
    pub const WRONG_TYPE_OF_ARGUMENT: Code = (4104, "HY000");
    pub const NOT_AGGREGATE_FUNCTION: Code = (4105, "HY000");
    pub const INVALID_AGGREGATE_FUNCTION: Code = (4106, "HY000");
    pub const CTE_EXPANSION_LIMIT: Code = (4169, "HY000");
    pub const EXPLAIN_INTO_IMPLICIT_FORMAT: Code = (6006, "0A000");
    pub const EXPLAIN_INTO_FORMAT: Code = (6007, "0A000");
    pub const EXPLAIN_INTO_FOR_CONNECTION: Code = (6009, "0A000");
    pub const MISSING_GTID_TAG_PRIVILEGE: Code = (6038, "HY000");
    pub const FK_NO_UNIQUE_INDEX_PARENT: Code = (6125, "HY000");
    pub const EXPLAIN_ANALYZE_JSON_FORMAT: Code = (6412, "0A000");
    pub const PARAMETERS_OUTSIDE_DML: Code = (6413, "HY000");
    pub const TEMPORAL_OUT_OF_RANGE: Code = (6527, "22008");
    pub const SERVER_REPLICA_INCIDENT: Code = (13119, "HY000");
    pub const SERVER_REPLICA_CONVERSION_FAILED: Code = (13146, "HY000");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_supported_names_the_thing() {
        let error = SqlError::not_supported("XA");
        assert_eq!(error.to_string(), "ERROR 1235 (42000): This version of commuter doesn't yet support 'XA'");
    }
}
