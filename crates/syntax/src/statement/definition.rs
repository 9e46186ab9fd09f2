//! Definitions of data and of accounts.

use std::fmt;

use types::ReferentialAction;

use super::{
    AbsentKind, AlterAction, AlterTable, GrantAs, GrantedAccounts, RoleChoice, RoleGrant, TableName, UserOptions,
};

/// Definitions of data and accounts.
#[derive(Clone, Debug, PartialEq)]
pub enum Ddl {
    /// CREATE DATABASE.
    CreateDatabase {
        /// Its name.
        name: String,
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// Character set and collation.
        options: DatabaseOptions,
    },
    /// ALTER DATABASE; the default database if there is no name.
    AlterDatabase {
        /// Its name.
        name: Option<String>,
        /// Character set and collation.
        options: DatabaseOptions,
    },
    /// DROP DATABASE.
    DropDatabase {
        /// Its name.
        name: String,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// CREATE TABLE.
    CreateTable(Box<CreateTable>),
    /// DROP TABLE.
    DropTables {
        /// One or more.
        tables: Vec<TableName>,
        /// IF EXISTS.
        if_exists: bool,
        /// TEMPORARY: no others.
        temporary: bool,
    },
    /// ALTER TABLE, CREATE INDEX, DROP INDEX.
    AlterTable(Box<AlterTable>),
    /// TRUNCATE.
    Truncate(TableName),
    /// RENAME TABLE.
    RenameTables {
        /// From, to.
        pairs: Vec<(TableName, TableName)>,
        /// MariaDB's IF EXISTS: those that are not there are left out.
        if_exists: bool,
    },
    /// CREATE USER.
    CreateUser {
        /// One or more.
        users: Vec<UserSpec>,
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// What is behind them.
        options: Box<UserOptions>,
        /// DEFAULT ROLE: they are granted as well.
        roles: Vec<UserName>,
    },
    /// ALTER USER, SET PASSWORD.
    AlterUser {
        /// One or more.
        users: Vec<UserSpec>,
        /// IF EXISTS.
        if_exists: bool,
        /// What is behind them.
        options: Box<UserOptions>,
    },
    /// DROP USER.
    DropUser {
        /// One or more.
        users: Vec<UserName>,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// DROP of what there is none of here: views, stored programs, events.
    DropAbsent {
        /// What it would be.
        kind: AbsentKind,
        /// Which ones.
        names: Vec<TableName>,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// RENAME USER: from, to.
    RenameUser(Vec<(UserName, UserName)>),
    /// GRANT.
    Grant(Grant),
    /// REVOKE; with `grant_option` the right to grant is revoked as well.
    Revoke(Grant),
    /// CREATE ROLE.
    CreateRole {
        /// One or more.
        roles: Vec<UserName>,
        /// IF NOT EXISTS.
        if_not_exists: bool,
    },
    /// DROP ROLE.
    DropRole {
        /// One or more.
        roles: Vec<UserName>,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// GRANT and REVOKE of roles.
    GrantRoles(RoleGrant),
    /// The same, taken away.
    RevokeRoles(RoleGrant),
    /// SET DEFAULT ROLE, ALTER USER … DEFAULT ROLE.
    DefaultRoles {
        /// Which.
        roles: RoleChoice,
        /// Whose; `None` for CURRENT_USER.
        users: Vec<Option<UserName>>,
    },
}

impl Ddl {
    /// The tables that it is about; `None` if it is about anything else than tables by their names, or about temporary ones.
    pub fn tables(&self) -> Option<Vec<TableName>> {
        match self {
            Ddl::CreateTable(create) if !create.temporary => {
                Some(create.like.iter().chain([&create.name]).cloned().collect())
            }
            Ddl::DropTables { tables, temporary: false, .. } => Some(tables.clone()),
            Ddl::AlterTable(alter) => {
                let renamed = alter.actions.iter().filter_map(|action| match action {
                    AlterAction::Rename(name) => Some(name),
                    _ => None,
                });
                Some(renamed.chain([&alter.table]).cloned().collect())
            }
            Ddl::Truncate(table) => Some(vec![table.clone()]),
            Ddl::RenameTables { pairs, .. } => Some(pairs.iter().flat_map(|(from, to)| [from, to]).cloned().collect()),
            _ => None,
        }
    }
}

/// Options of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatabaseOptions {
    /// CHARACTER SET.
    pub charset: Option<String>,
    /// COLLATE.
    pub collation: Option<String>,
}

/// CREATE TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTable {
    /// Its name.
    pub name: TableName,
    /// TEMPORARY.
    pub temporary: bool,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// LIKE another table; columns, indexes and options are empty then.
    pub like: Option<TableName>,
    /// In order.
    pub columns: Vec<ColumnSpec>,
    /// Indexes and foreign keys in order, with those that stood at a column.
    pub keys: Vec<TableKey>,
    /// ENGINE, AUTO_INCREMENT, ….
    pub options: TableOptions,
    /// What a SELECT behind it does with duplicates.
    pub on_duplicate: OnDuplicate,
}

/// IGNORE or REPLACE in front of the SELECT of CREATE TABLE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDuplicate {
    /// An error.
    #[default]
    Error,
    /// IGNORE.
    Ignore,
    /// REPLACE.
    Replace,
}

/// A column's definition.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSpec {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeSpec,
    /// `Some(true)` for NULL, `Some(false)` for NOT NULL.
    pub nullable: Option<bool>,
    /// DEFAULT.
    pub default: Option<DefaultSpec>,
    /// ON UPDATE CURRENT_TIMESTAMP, with its digits.
    pub on_update_now: Option<u8>,
    /// AUTO_INCREMENT.
    pub auto_increment: bool,
    /// INVISIBLE.
    pub invisible: bool,
    /// COMMENT.
    pub comment: String,
    /// COLUMN_FORMAT or STORAGE, which says nothing here.
    pub without_effect: Option<&'static str>,
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeSpec {
    /// In lower case and without synonyms: `int`, `varchar`, `decimal`, `double`, ….
    pub name: &'static str,
    /// `(10)`, `(10,2)`.
    pub length: Option<u64>,
    /// The second number.
    pub decimals: Option<u64>,
    /// UNSIGNED.
    pub unsigned: bool,
    /// ZEROFILL (which implies UNSIGNED).
    pub zerofill: bool,
    /// Of ENUM and SET.
    pub members: Vec<TextString>,
    /// CHARACTER SET; `binary` for `CHAR BYTE`.
    pub charset: Option<String>,
    /// COLLATE.
    pub collation: Option<String>,
    /// BINARY behind a character type: the `_bin` collation of its character set.
    pub binary: bool,
}

/// DEFAULT.
#[derive(Clone, Debug, PartialEq)]
pub enum DefaultSpec {
    /// DEFAULT NULL.
    Null,
    /// A literal (with its sign).
    Literal(Literal),
    /// A literal in parentheses, which a TEXT or BLOB may have too.
    InParentheses(Literal),
    /// CURRENT_TIMESTAMP(n), NOW(n), ….
    Now(u8),
}

/// A literal in a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// A quoted string.
    String(String),
    /// A number as written, with its sign.
    Number(String),
    /// `x'…'`, `0x…`, `b'…'`, `0b…`.
    Bytes(Vec<u8>),
    /// TRUE, FALSE.
    Bool(bool),
}

/// A text where no other expression may stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextString {
    /// A quoted string.
    Text(String),
    /// `x'…'`, `0x…`, `b'…'`, `0b…`: its bytes, in the character set of what it is for.
    Bytes(Vec<u8>),
}

impl TextString {
    /// Its bytes for what has no character set.
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            TextString::Text(text) => text.into_bytes(),
            TextString::Bytes(bytes) => bytes,
        }
    }
}

/// What an index is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexKind {
    /// PRIMARY KEY.
    Primary,
    /// UNIQUE.
    Unique,
    /// KEY, INDEX.
    Plain,
}

/// An index's definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexSpec {
    /// What it is for.
    pub kind: IndexKind,
    /// Its name, if one was given.
    pub name: Option<String>,
    /// Its columns.
    pub parts: Vec<IndexPart>,
    /// COMMENT.
    pub comment: String,
    /// INVISIBLE.
    pub invisible: bool,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// It is not written, but made for a foreign key.
    pub generated: bool,
    /// USING HASH.
    pub hash: bool,
}

impl IndexSpec {
    /// An index of which nothing but this is said.
    pub fn new(kind: IndexKind, name: Option<String>, parts: Vec<IndexPart>) -> IndexSpec {
        IndexSpec {
            kind,
            name,
            parts,
            comment: String::new(),
            invisible: false,
            if_not_exists: false,
            generated: false,
            hash: false,
        }
    }
}

/// FOREIGN KEY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKeySpec {
    /// CONSTRAINT.
    pub name: Option<String>,
    /// Of the index over its columns, if one has to be made.
    pub index_name: Option<String>,
    /// Its columns.
    pub columns: Vec<String>,
    /// REFERENCES.
    pub parent: TableName,
    /// The parent's columns; none for those of its primary key.
    pub parent_columns: Vec<String>,
    /// ON DELETE.
    pub on_delete: ReferentialAction,
    /// ON UPDATE.
    pub on_update: ReferentialAction,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
}

/// What stands among the columns of a table, or at one of them, and is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableKey {
    /// PRIMARY KEY, UNIQUE, KEY.
    Index(IndexSpec),
    /// FOREIGN KEY, REFERENCES.
    Foreign(ForeignKeySpec),
}

impl TableKey {
    /// The index, if it is one.
    pub fn index(&self) -> Option<&IndexSpec> {
        if let TableKey::Index(index) = self { Some(index) } else { None }
    }

    /// The foreign key, if it is one.
    pub fn foreign(&self) -> Option<&ForeignKeySpec> {
        if let TableKey::Foreign(key) = self { Some(key) } else { None }
    }
}

/// A column of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexPart {
    /// The column.
    pub column: String,
    /// `(10)`.
    pub prefix: Option<u32>,
    /// DESC.
    pub descending: bool,
}

impl IndexPart {
    /// A whole column, in ascending order.
    pub fn whole(column: impl Into<String>) -> IndexPart {
        IndexPart { column: column.into(), prefix: None, descending: false }
    }
}

/// Options of a table; `None` where nothing was said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// ENGINE.
    pub engine: Option<String>,
    /// AUTO_INCREMENT.
    pub auto_increment: Option<u64>,
    /// CHARACTER SET; `Some(None)` is DEFAULT.
    pub charset: Option<String>,
    /// COLLATE.
    pub collation: Option<String>,
    /// COMMENT.
    pub comment: Option<String>,
    /// COMPRESSION, and options that are recorded and shown but change nothing, as `SHOW CREATE TABLE` prints them:
    /// `ROW_FORMAT=DYNAMIC`. The value DEFAULT takes one away.
    pub recorded: Vec<(String, String)>,
    /// START TRANSACTION: rows follow, as a MySQL logs CREATE TABLE … SELECT.
    pub rows_follow: bool,
}

/// `'user'@'host'`; host `%` where none was given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UserName {
    /// Empty for anybody.
    pub user: String,
    /// A pattern.
    pub host: String,
}

impl fmt::Display for UserName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'@'{}'", self.user.replace('\'', "''"), self.host.replace('\'', "''"))
    }
}

impl UserName {
    /// `` `user`@`host` ``
    pub fn quoted(&self) -> String {
        format!("`{}`@`{}`", self.user.replace('`', "``"), self.host.replace('`', "``"))
    }
}

/// A user of CREATE USER or ALTER USER.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserSpec {
    /// Who; `None` for `USER()`.
    pub name: Option<UserName>,
    /// How the user proves it; `None` if nothing was said.
    pub auth: Option<AuthSpec>,
    /// REPLACE: the password that it has, in the clear.
    pub replace: Option<String>,
    /// What becomes of the password that it has.
    pub keep: KeepPassword,
}

/// What becomes of the password that an account has when it gets another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepPassword {
    /// It goes.
    No,
    /// RETAIN CURRENT PASSWORD: it is the second one.
    Retain,
    /// DISCARD OLD PASSWORD: there is no second one any more. (There is no new one then.)
    Discard,
}

/// IDENTIFIED ….
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthSpec {
    /// WITH; the default one if `None`.
    pub plugin: Option<String>,
    /// What is stored or hashed.
    pub secret: AuthSecret,
    /// MariaDB's: other methods, each of which lets in too.
    pub or: Vec<AuthSpec>,
}

/// What follows IDENTIFIED.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthSecret {
    /// Only a plugin.
    None,
    /// BY: in the clear.
    Password(String),
    /// BY RANDOM PASSWORD: the server makes one, and shows it.
    Random,
    /// AS: as stored.
    Hash(String),
}

/// GRANT and REVOKE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// What is given or taken.
    pub privileges: Vec<GrantItem>,
    /// ON.
    pub on: GrantLevel,
    /// TO, FROM.
    pub users: Vec<UserName>,
    /// WITH GRANT OPTION.
    pub grant_option: bool,
    /// REVOKE IF EXISTS.
    pub if_exists: bool,
    /// REVOKE … IGNORE UNKNOWN USER.
    pub ignore_unknown: bool,
    /// GRANT … AS.
    pub grantor: Option<GrantAs>,
    /// What GRANT says of the accounts themselves.
    pub accounts: Box<GrantedAccounts>,
}

/// A privilege of GRANT or REVOKE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantItem {
    /// As written, in upper case: `SELECT`, `REPLICATION SLAVE`, …; `ALL` for ALL PRIVILEGES.
    pub name: String,
    /// The columns on which it is; none for the whole table.
    pub columns: Vec<String>,
}

/// ON of GRANT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantLevel {
    /// Whatever there is, of all levels: REVOKE ALL PRIVILEGES, GRANT OPTION, and REVOKE ALL ON `*.*`.
    Everything,
    /// `*.*`
    Global,
    /// `db.*`, or `*` for the default database (`None`).
    Database(Option<String>),
    /// `db.table`
    Table(TableName),
}
