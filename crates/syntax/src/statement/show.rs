//! SHOW and DESCRIBE.

use crate::ast as sql;

use super::{ChannelName, TableName, UserName};

/// SHOW and DESCRIBE.
#[derive(Clone, Debug, PartialEq)]
pub enum Show {
    /// SHOW DATABASES.
    Databases(Filter),
    /// SHOW [FULL] TABLES.
    Tables {
        /// FULL.
        full: bool,
        /// FROM.
        database: Option<String>,
        /// LIKE, WHERE.
        filter: Filter,
    },
    /// SHOW TABLE STATUS.
    TableStatus {
        /// FROM.
        database: Option<String>,
        /// LIKE, WHERE.
        filter: Filter,
    },
    /// SHOW [FULL] COLUMNS, DESCRIBE.
    Columns {
        /// FULL.
        full: bool,
        /// EXTENDED: with invisible ones of the server's own.
        extended: bool,
        /// Of this table.
        table: TableName,
        /// LIKE, WHERE.
        filter: Filter,
    },
    /// SHOW INDEX.
    Index {
        /// Of this table.
        table: TableName,
        /// WHERE.
        filter: Filter,
    },
    /// SHOW CREATE TABLE.
    CreateTable(TableName),
    /// SHOW CREATE VIEW.
    CreateView(TableName),
    /// SHOW CREATE of a PROCEDURE, FUNCTION, TRIGGER or EVENT: there are none.
    CreateOfNothing {
        /// What it would be.
        kind: &'static str,
        /// Its name.
        name: TableName,
    },
    /// SHOW CREATE DATABASE.
    CreateDatabase {
        /// Its name.
        name: String,
        /// IF NOT EXISTS.
        if_not_exists: bool,
    },
    /// SHOW CREATE USER; `None` for the session's own.
    CreateUser(Option<UserName>),
    /// SHOW VARIABLES.
    Variables {
        /// GLOBAL.
        global: bool,
        /// LIKE, WHERE.
        filter: Filter,
    },
    /// SHOW STATUS.
    Status {
        /// GLOBAL.
        global: bool,
        /// LIKE, WHERE.
        filter: Filter,
    },
    /// EXPLAIN FOR CONNECTION: the plan of what another connection runs. SHOW EXPLAIN of MariaDB.
    Explain {
        /// Which.
        connection: u64,
        /// How to print, if it says so.
        format: Option<super::ExplainFormat>,
    },
    /// SHOW [FULL] PROCESSLIST.
    Processlist {
        /// FULL.
        full: bool,
    },
    /// SHOW WARNINGS; only errors for SHOW ERRORS.
    Warnings {
        /// SHOW ERRORS.
        only_errors: bool,
        /// LIMIT.
        limit: Limit,
    },
    /// SHOW COUNT(*) WARNINGS / ERRORS.
    WarningCount {
        /// ERRORS.
        only_errors: bool,
    },
    /// SHOW [STORAGE] ENGINES.
    Engines,
    /// SHOW ENGINE … STATUS.
    EngineStatus(String),
    /// SHOW PLUGINS.
    Plugins,
    /// SHOW PRIVILEGES.
    Privileges,
    /// SHOW CHARACTER SET.
    CharacterSets(Filter),
    /// SHOW COLLATION.
    Collations(Filter),
    /// SHOW GRANTS.
    Grants {
        /// FOR; `None` for the session's own.
        user: Option<UserName>,
        /// USING: roles that count.
        using: Vec<UserName>,
    },
    /// SHOW BINARY LOGS.
    BinaryLogs,
    /// SHOW BINARY LOG STATUS.
    BinaryLogStatus,
    /// SHOW BINLOG EVENTS.
    BinlogEvents {
        /// IN.
        file: Option<String>,
        /// FROM.
        position: Option<u64>,
        /// LIMIT.
        limit: Limit,
    },
    /// SHOW REPLICAS.
    Replicas,
    /// SHOW REPLICA STATUS.
    ReplicaStatus {
        /// With the old names of columns (SHOW SLAVE STATUS).
        old_names: bool,
        /// With MariaDB's names of connections (SHOW ALL SLAVES STATUS).
        of_connections: bool,
        /// FOR CHANNEL.
        channel: ChannelName,
    },
    /// SHOW of things that there are none of: TRIGGERS, EVENTS, PROCEDURE STATUS, FUNCTION STATUS, OPEN TABLES.
    Nothing {
        /// What there is none of.
        kind: NothingToShow,
        /// FROM.
        database: Option<String>,
        /// LIKE, WHERE.
        filter: Filter,
    },
    /// SHOW PROFILES, SHOW PROFILE.
    Profiles,
}

/// Things that do not exist here but whose lists clients ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are MySQL's own")]
pub enum NothingToShow {
    Triggers,
    Events,
    ProcedureStatus,
    FunctionStatus,
    OpenTables,
}

impl Show {
    /// Whether MySQL reads its dictionary's tables for it, which is a transaction.
    pub fn reads_definitions(&self) -> bool {
        use Show::*;
        matches!(self, Databases(_) | Tables { .. } | TableStatus { .. } | Columns { .. } | Index { .. })
    }
}

/// LIKE or WHERE of a SHOW.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// Everything.
    None,
    /// LIKE on the first column.
    Like(String),
    /// WHERE.
    Where(Box<sql::Expr>),
}

impl Filter {
    /// LIKE. What is listed are names, so that a pattern of very many characters fits none; it is kept short, whatever was written.
    pub fn like(pattern: &str) -> Filter {
        const LONGEST: usize = 1024;
        if pattern.len() <= LONGEST {
            return Filter::Like(pattern.to_owned());
        }
        let (mut short, mut chars, mut count) = (String::new(), pattern.chars(), 0);
        while let Some(next) = chars.next().filter(|_| count <= LONGEST) {
            if next == '%' && short.ends_with('%') && !short.ends_with("\\%") {
                continue;
            }
            short.push(next);
            count += usize::from(next != '%');
            if next == '\\' {
                short.extend(chars.next());
            }
        }
        Filter::Like(short)
    }
}

/// LIMIT of an administrative statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// Rows to skip.
    pub offset: u64,
    /// At most so many.
    pub count: Option<u64>,
}
