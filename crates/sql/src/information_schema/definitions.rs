//! What SHOW CREATE TABLE says of tables of `mysql` that are made when they are read: what MySQL says of its own, which tools compare and dumps
//! begin with.

use std::fmt::Write;

use super::tables::{DEFINITIONS, TABLES};

/// What SHOW CREATE TABLE says of a virtual table, of those for which it says anything.
pub(crate) fn definition_of(database: &str, name: &str) -> Option<String> {
    if !database.eq_ignore_ascii_case("mysql") {
        return None;
    }
    if let Some((_, text)) = DEFINITIONS.iter().find(|(table, _)| *table == name) {
        return Some((*text).to_owned());
    }
    GRANTS.iter().find(|grants| grants.name == name).map(Grants::definition)
}

/// A table in which MySQL has accounts and their privileges.
struct Grants {
    name: &'static str,
    keys: &'static str,
    comment: &'static str,
}

const GRANTS: &[Grants] = &[
    Grants { name: "user", keys: "PRIMARY KEY (`Host`,`User`)", comment: "Users and global privileges" },
    Grants {
        name: "db",
        keys: "PRIMARY KEY (`Host`,`User`,`Db`),\n  KEY `User` (`User`)",
        comment: "Database privileges",
    },
    Grants {
        name: "tables_priv",
        keys: "PRIMARY KEY (`Host`,`User`,`Db`,`Table_name`),\n  KEY `Grantor` (`Grantor`)",
        comment: "Table privileges",
    },
    Grants {
        name: "columns_priv",
        keys: "PRIMARY KEY (`Host`,`User`,`Db`,`Table_name`,`Column_name`)",
        comment: "Column privileges",
    },
    Grants { name: "global_grants", keys: "PRIMARY KEY (`USER`,`HOST`,`PRIV`)", comment: "Extended global grants" },
    Grants {
        name: "role_edges",
        keys: "PRIMARY KEY (`FROM_HOST`,`FROM_USER`,`TO_HOST`,`TO_USER`)",
        comment: "Role hierarchy and role grants",
    },
    Grants {
        name: "default_roles",
        keys: "PRIMARY KEY (`HOST`,`USER`,`DEFAULT_ROLE_HOST`,`DEFAULT_ROLE_USER`)",
        comment: "Default roles",
    },
    Grants {
        name: "password_history",
        keys: "PRIMARY KEY (`Host`,`User`,`Password_timestamp` DESC)",
        comment: "Password history for user accounts",
    },
];

/// A text that is compared without case, in these tables.
const PLAIN: &str = " CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci";

impl Grants {
    fn definition(&self) -> String {
        let mut text = format!("CREATE TABLE `{}` (\n", self.name);
        let columns = TABLES.iter().find(|table| table.database == "mysql" && table.name == self.name);
        for column in columns.map_or("", |table| table.columns).split(',') {
            let column = column.trim().split(' ').next().unwrap_or_default();
            let _ = writeln!(text, "  `{column}` {},", self.column_type(column));
        }
        let Grants { keys, comment, .. } = self;
        let _ = write!(
            text,
            "  {keys}\n) /*!50100 TABLESPACE `mysql` */ ENGINE=InnoDB DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_bin \
             STATS_PERSISTENT=0 ROW_FORMAT=DYNAMIC COMMENT='{comment}'"
        );
        text
    }

    fn column_type(&self, column: &str) -> String {
        let of_columns = "set('Select','Insert','Update','References')";
        let name = |chars: u32| format!("char({chars}) COLLATE utf8mb3_bin NOT NULL DEFAULT ''");
        match column.to_ascii_lowercase().as_str() {
            "default_role_host" => "char(255) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL DEFAULT '%'".into(),
            "host" | "from_host" | "to_host" => {
                "char(255) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL DEFAULT ''".into()
            }
            "user" | "from_user" | "to_user" | "default_role_user" => name(32),
            "db" | "table_name" | "column_name" => name(64),
            "grantor" => "varchar(288) COLLATE utf8mb3_bin NOT NULL DEFAULT ''".into(),
            "timestamp" => "timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP".into(),
            "table_priv" => format!(
                "set('Select','Insert','Update','Delete','Create','Drop','Grant','References','Index','Alter','Create View','Show \
                 view','Trigger'){PLAIN} NOT NULL DEFAULT ''"
            ),
            "column_priv" => format!("{of_columns}{PLAIN} NOT NULL DEFAULT ''"),
            "priv" => format!("char(32){PLAIN} NOT NULL DEFAULT ''"),
            "ssl_type" => format!("enum('','ANY','X509','SPECIFIED'){PLAIN} NOT NULL DEFAULT ''"),
            "ssl_cipher" | "x509_issuer" | "x509_subject" => "blob NOT NULL".into(),
            "max_questions" | "max_updates" | "max_connections" | "max_user_connections" => {
                "int unsigned NOT NULL DEFAULT '0'".into()
            }
            "plugin" => "char(64) COLLATE utf8mb3_bin NOT NULL DEFAULT 'caching_sha2_password'".into(),
            "authentication_string" | "password" => "text COLLATE utf8mb3_bin".into(),
            "password_last_changed" => "timestamp NULL DEFAULT NULL".into(),
            "password_timestamp" => "timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)".into(),
            "password_lifetime" | "password_reuse_history" | "password_reuse_time" => {
                "smallint unsigned DEFAULT NULL".into()
            }
            "password_require_current" => format!("enum('N','Y'){PLAIN} DEFAULT NULL"),
            "user_attributes" => "json DEFAULT NULL".into(),
            _ => format!("enum('N','Y'){PLAIN} NOT NULL DEFAULT 'N'"),
        }
    }
}
