//! Privileges and sets of them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! privileges {
    ($($variant:ident $name:literal $levels:ident $comment:literal),* $(,)?) => {
        /// A privilege.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the names are MySQL's own")]
        pub enum Privilege { $($variant),* }

        /// All privileges in SHOW GRANTS' order, with the narrowest level at which each can be granted.
        const TABLE: &[(Privilege, &str, Level, &str)] = &[$((Privilege::$variant, $name, Level::$levels, $comment)),*];
    };
}

/// Where a privilege can be granted: on this and on all that is wider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// On tables.
    Table,
    /// On databases.
    Database,
    /// On everything.
    Global,
}

privileges! {
    Usage "USAGE" Table "No privileges - allow connect only",
    Select "SELECT" Table "To retrieve rows from table",
    Insert "INSERT" Table "To insert data into tables",
    Update "UPDATE" Table "To update existing rows",
    Delete "DELETE" Table "To delete existing rows",
    Create "CREATE" Table "To create new databases and tables",
    Drop "DROP" Table "To drop databases, tables, and views",
    Reload "RELOAD" Global "To reload or refresh tables, logs and privileges",
    Shutdown "SHUTDOWN" Global "To shut down the server",
    Process "PROCESS" Global "To view the plain text of currently executing queries",
    File "FILE" Global "To read and write files on the server",
    References "REFERENCES" Table "To have references on tables",
    Index "INDEX" Table "To create or drop indexes",
    Alter "ALTER" Table "To alter the table",
    ShowDatabases "SHOW DATABASES" Global "To see all databases with SHOW DATABASES",
    Super "SUPER" Global "To use KILL thread, SET GLOBAL, CHANGE MASTER, etc.",
    CreateTemporaryTables "CREATE TEMPORARY TABLES" Database "To use CREATE TEMPORARY TABLE",
    LockTables "LOCK TABLES" Database "To use LOCK TABLES (together with SELECT privilege)",
    Execute "EXECUTE" Database "To execute stored routines",
    ReplicationReplica "REPLICATION SLAVE" Global "To read binary log events from the source",
    ReplicationClient "REPLICATION CLIENT" Global "To ask where the replica or source servers are",
    CreateView "CREATE VIEW" Table "To create new views",
    ShowView "SHOW VIEW" Table "To see views with SHOW CREATE VIEW",
    CreateRoutine "CREATE ROUTINE" Database "To use CREATE FUNCTION/PROCEDURE",
    AlterRoutine "ALTER ROUTINE" Database "To alter or drop stored functions/procedures",
    CreateUser "CREATE USER" Global "To create new users",
    Event "EVENT" Database "To create, alter, drop and execute events",
    Trigger "TRIGGER" Table "To use triggers",
    CreateTablespace "CREATE TABLESPACE" Global "To create/alter/drop tablespaces",
    CreateRole "CREATE ROLE" Global "To create new roles",
    DropRole "DROP ROLE" Global "To drop roles",
    AllowNonexistentDefiner "ALLOW_NONEXISTENT_DEFINER" Global "",
    ApplicationPasswordAdmin "APPLICATION_PASSWORD_ADMIN" Global "",
    AuditAbortExempt "AUDIT_ABORT_EXEMPT" Global "",
    AuditAdmin "AUDIT_ADMIN" Global "",
    AuthenticationPolicyAdmin "AUTHENTICATION_POLICY_ADMIN" Global "",
    BackupAdmin "BACKUP_ADMIN" Global "",
    BinlogAdmin "BINLOG_ADMIN" Global "",
    BinlogEncryptionAdmin "BINLOG_ENCRYPTION_ADMIN" Global "",
    CloneAdmin "CLONE_ADMIN" Global "",
    ConnectionAdmin "CONNECTION_ADMIN" Global "",
    CreateSpatialReferenceSystem "CREATE_SPATIAL_REFERENCE_SYSTEM" Global "",
    EncryptionKeyAdmin "ENCRYPTION_KEY_ADMIN" Global "",
    FirewallExempt "FIREWALL_EXEMPT" Global "",
    FlushOptimizerCosts "FLUSH_OPTIMIZER_COSTS" Global "",
    FlushPrivileges "FLUSH_PRIVILEGES" Global "",
    FlushStatus "FLUSH_STATUS" Global "",
    FlushTables "FLUSH_TABLES" Global "",
    FlushUserResources "FLUSH_USER_RESOURCES" Global "",
    GroupReplicationAdmin "GROUP_REPLICATION_ADMIN" Global "",
    GroupReplicationStream "GROUP_REPLICATION_STREAM" Global "",
    InnodbRedoLogArchive "INNODB_REDO_LOG_ARCHIVE" Global "",
    InnodbRedoLogEnable "INNODB_REDO_LOG_ENABLE" Global "",
    ManageDataMaskingPolicy "MANAGE_DATA_MASKING_POLICY" Global "",
    OptimizeLocalTable "OPTIMIZE_LOCAL_TABLE" Global "",
    PasswordlessUserAdmin "PASSWORDLESS_USER_ADMIN" Global "",
    PersistRoVariablesAdmin "PERSIST_RO_VARIABLES_ADMIN" Global "",
    ReplicationApplier "REPLICATION_APPLIER" Global "",
    ReplicationAdmin "REPLICATION_SLAVE_ADMIN" Global "",
    ResourceGroupAdmin "RESOURCE_GROUP_ADMIN" Global "",
    ResourceGroupUser "RESOURCE_GROUP_USER" Global "",
    RoleAdmin "ROLE_ADMIN" Global "",
    SensitiveVariablesObserver "SENSITIVE_VARIABLES_OBSERVER" Global "",
    ServiceConnectionAdmin "SERVICE_CONNECTION_ADMIN" Global "",
    SessionVariablesAdmin "SESSION_VARIABLES_ADMIN" Global "",
    SetAnyDefiner "SET_ANY_DEFINER" Global "",
    ShowRoutine "SHOW_ROUTINE" Global "",
    SystemUser "SYSTEM_USER" Global "",
    SystemVariablesAdmin "SYSTEM_VARIABLES_ADMIN" Global "",
    TableEncryptionAdmin "TABLE_ENCRYPTION_ADMIN" Global "",
    TelemetryLogAdmin "TELEMETRY_LOG_ADMIN" Global "",
    TransactionGtidTag "TRANSACTION_GTID_TAG" Global "",
    XaRecoverAdmin "XA_RECOVER_ADMIN" Global "",
    GrantOption "GRANT OPTION" Table "To give to other users those privileges you possess",
}

impl Privilege {
    /// The privilege of this name, in any case; MariaDB's and newer names included.
    pub fn by_name(name: &str) -> Option<Privilege> {
        let known =
            TABLE.iter().find(|(_, known, _, _)| known.eq_ignore_ascii_case(name)).map(|(privilege, ..)| *privilege);
        known.or_else(|| match name.to_ascii_uppercase().as_str() {
            "REPLICATION REPLICA" => Some(Privilege::ReplicationReplica),
            "BINLOG MONITOR" => Some(Privilege::ReplicationClient),
            "BINLOG REPLAY" => Some(Privilege::ReplicationApplier),
            "REPLICATION SLAVE ADMIN" | "REPLICATION MASTER ADMIN" => Some(Privilege::ReplicationAdmin),
            "BINLOG ADMIN" => Some(Privilege::BinlogAdmin),
            "CONNECTION ADMIN" | "READ_ONLY ADMIN" => Some(Privilege::ConnectionAdmin),
            _ => None,
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// The narrowest level at which it can be granted.
    pub fn level(self) -> Level {
        TABLE[self as usize].2
    }

    /// SHOW PRIVILEGES' comment.
    pub fn comment(self) -> &'static str {
        TABLE[self as usize].3
    }

    /// Whether it is a dynamic one: on everything only, and with a right to grant it of its own.
    pub fn is_dynamic(self) -> bool {
        self.name().contains('_')
    }

    /// Whether it can be granted on columns.
    pub fn is_of_columns(self) -> bool {
        matches!(self, Privilege::Select | Privilege::Insert | Privilege::Update | Privilege::References)
    }

    /// All of them, in SHOW GRANTS' order.
    pub fn all() -> impl Iterator<Item = Privilege> {
        TABLE.iter().map(|(privilege, ..)| *privilege)
    }
}

/// A set of privileges; names with commas between as JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Privileges(u128);

impl Privileges {
    /// Every privilege, GRANT OPTION included.
    pub const ALL: Privileges = Privileges((1 << TABLE.len()) - 1 - (1 << Privilege::Usage as u32));

    /// One privilege.
    pub const fn of(privilege: Privilege) -> Self {
        Privileges(1 << privilege as u32)
    }

    /// Whether it is in the set. SUPER stands for the administrative ones.
    pub fn has(self, privilege: Privilege) -> bool {
        use Privilege::*;
        let administrative = matches!(
            privilege,
            BackupAdmin
                | BinlogAdmin
                | ConnectionAdmin
                | ReplicationAdmin
                | ReplicationApplier
                | SystemVariablesAdmin
                | SessionVariablesAdmin
        );
        self.contains(privilege) || administrative && self.contains(Super)
    }

    /// Whether this very privilege was granted.
    pub fn contains(self, privilege: Privilege) -> bool {
        privilege == Privilege::Usage || self.0 & Privileges::of(privilege).0 != 0
    }

    /// Both sets.
    pub const fn with(self, other: Privileges) -> Self {
        Privileges(self.0 | other.0)
    }

    /// Those that are in both.
    pub const fn common(self, other: Privileges) -> Self {
        Privileges(self.0 & other.0)
    }

    /// Whether there are any that are given on databases or on what is in them.
    pub fn is_of_databases(self) -> bool {
        let is_of = |privilege: Privilege| {
            !matches!(privilege, Privilege::Usage | Privilege::GrantOption)
                && privilege.level() < Level::Global
                && self.contains(privilege)
        };
        Privilege::all().any(is_of)
    }

    /// The dynamic ones.
    pub fn dynamic(self) -> Self {
        self.filtered(Privilege::is_dynamic)
    }

    fn filtered(self, is_wanted: impl Fn(Privilege) -> bool) -> Self {
        let wanted = Privilege::all().filter(|privilege| self.contains(*privilege) && is_wanted(*privilege));
        wanted.map(Privileges::of).fold(Privileges::default(), Privileges::with)
    }

    /// Without those of `other`.
    pub const fn without(self, other: Privileges) -> Self {
        Privileges(self.0 & !other.0)
    }

    /// None at all.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// What ALL PRIVILEGES means at a level; GRANT OPTION is never part of it.
    pub fn all_at(level: Level) -> Self {
        let grantable =
            Privilege::all().filter(|p| p.level() <= level && !matches!(p, Privilege::GrantOption | Privilege::Usage));
        grantable.map(Privileges::of).fold(Privileges::default(), Privileges::with)
    }

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
    pub(super) const fn is_none(&self) -> bool {
        self.is_empty()
    }

    /// Its privileges but USAGE and GRANT OPTION, in SHOW GRANTS' order.
    pub fn list(self) -> Vec<Privilege> {
        let listed = |p: &Privilege| !matches!(p, Privilege::Usage | Privilege::GrantOption) && self.contains(*p);
        Privilege::all().filter(listed).collect()
    }
}

impl Serialize for Privileges {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut names: Vec<&str> = self.list().into_iter().map(Privilege::name).collect();
        if self.contains(Privilege::GrantOption) {
            names.push(Privilege::GrantOption.name());
        }
        to.serialize_str(&names.join(","))
    }
}

impl<'de> Deserialize<'de> for Privileges {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let names = String::deserialize(from)?;
        let mut privileges = Privileges::default();
        for name in names.split(',').filter(|name| !name.is_empty()) {
            let unknown = || serde::de::Error::custom(format!("unknown privilege '{name}'"));
            privileges = privileges.with(Privileges::of(Privilege::by_name(name).ok_or_else(unknown)?));
        }
        Ok(privileges)
    }
}
