//! The rows of the virtual tables about accounts and their privileges.

use types::Value;

use super::rows::{Rows, Source, capitalised, catalog, text, yes_no};
use crate::account::{Account, Privilege, Privileges};

/// The accounts that the account may see: all with the right to make accounts, otherwise itself.
pub(super) fn visible_accounts(source: &Source<'_>) -> Vec<Account> {
    let all = source.account.on_database("mysql").has(Privilege::Select);
    let accounts = crate::account::all(&source.catalog).into_iter();
    accounts.filter(|account| all || account.name() == source.account.name()).collect()
}

fn grantee(account: &Account) -> Value {
    text(account.name().to_string())
}

fn privilege_rows(head: &[Value], privileges: Privileges, grantable: bool) -> Vec<Vec<Value>> {
    let names: Vec<&str> = match privileges.list() {
        list if list.is_empty() => vec!["USAGE"],
        list => list.into_iter().map(Privilege::name).collect(),
    };
    let row = |name: &str| head.iter().cloned().chain([text(name), yes_no(grantable)]).collect();
    names.into_iter().map(row).collect()
}

pub(super) fn user_privileges(source: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for account in visible_accounts(source) {
        let (head, dynamic) = ([grantee(&account), catalog()], account.global.dynamic());
        let fixed = account.global.without(dynamic);
        if !fixed.list().is_empty() || dynamic.is_empty() {
            rows.extend(privilege_rows(&head, fixed, fixed.contains(Privilege::GrantOption)));
        }
        for privilege in dynamic.list() {
            let grantable = account.grantable.contains(privilege);
            rows.extend(privilege_rows(&head, Privileges::of(privilege), grantable));
        }
    }
    Ok(rows)
}

pub(super) fn schema_privileges(source: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for account in visible_accounts(source) {
        for (database, privileges) in &account.databases {
            let head = [grantee(&account), catalog(), text(database.clone())];
            rows.extend(privilege_rows(&head, *privileges, privileges.contains(Privilege::GrantOption)));
        }
    }
    Ok(rows)
}

pub(super) fn table_privileges(source: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for account in visible_accounts(source) {
        for (database, tables) in &account.tables {
            for (table, privileges) in tables {
                let head = [grantee(&account), catalog(), text(database.clone()), text(table.clone())];
                rows.extend(privilege_rows(&head, *privileges, privileges.contains(Privilege::GrantOption)));
            }
        }
    }
    Ok(rows)
}

pub(super) fn column_privileges(source: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for account in visible_accounts(source) {
        for (database, table, column, privileges) in account.all_columns() {
            let head = [grantee(&account), catalog(), text(database), text(table), text(column)];
            let grantable = account.tables.get(database).and_then(|tables| tables.get(table));
            let grantable = grantable.is_some_and(|held| held.contains(Privilege::GrantOption));
            rows.extend(privilege_rows(&head, privileges, grantable));
        }
    }
    Ok(rows)
}

/// `mysql.columns_priv`. Who granted, and when, is not kept.
pub(super) fn columns_priv(source: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for account in visible_accounts(source) {
        for (database, table, column, privileges) in account.all_columns() {
            let names = [&account.host, database, &account.user, table, column].map(|name| text(name.clone()));
            rows.push(names.into_iter().chain([Value::Null, text(set_of(privileges))]).collect());
        }
    }
    Ok(rows)
}

/// Privileges as a SET of `mysql` has them.
pub(super) fn set_of(privileges: Privileges) -> String {
    // GRANT OPTION stands behind DROP there.
    let (first, last): (Vec<Privilege>, Vec<Privilege>) =
        privileges.list().into_iter().partition(|privilege| *privilege as u8 <= Privilege::Drop as u8);
    let mut names: Vec<String> = first.into_iter().map(|it| capitalised(it.name())).collect();
    if privileges.contains(Privilege::GrantOption) {
        names.push("Grant".to_owned());
    }
    names.extend(last.into_iter().map(|it| capitalised(it.name())));
    names.join(",")
}

/// `mysql.global_grants`: dynamic privileges.
pub(super) fn global_grants(source: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for account in visible_accounts(source) {
        for privilege in account.global.dynamic().list() {
            let grantable = Value::str_static(if account.grantable.contains(privilege) { "Y" } else { "N" });
            rows.push(vec![text(account.user.clone()), text(account.host.clone()), text(privilege.name()), grantable]);
        }
    }
    Ok(rows)
}

/// `mysql.tables_priv`. Who granted, and when, is not kept.
pub(super) fn tables_priv(source: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for account in visible_accounts(source) {
        for (database, table) in account.granted_tables() {
            let own = account.tables.get(database).and_then(|tables| tables.get(table)).copied().unwrap_or_default();
            let columns = account.columns_of(database, table).into_iter().flatten();
            let of_columns = columns.fold(Privileges::default(), |all, (_, privileges)| all.with(*privileges));
            rows.push(vec![
                text(account.host.clone()),
                text(database),
                text(account.user.clone()),
                text(table),
                Value::str_static(""),
                Value::Null,
                text(set_of(own)),
                text(set_of(of_columns)),
            ]);
        }
    }
    Ok(rows)
}

/// The columns of `mysql.user` and `mysql.db` that are privileges, in their order there.
const FLAGS: &[Privilege] = &[
    Privilege::Select,
    Privilege::Insert,
    Privilege::Update,
    Privilege::Delete,
    Privilege::Create,
    Privilege::Drop,
    Privilege::Reload,
    Privilege::Shutdown,
    Privilege::Process,
    Privilege::File,
    Privilege::GrantOption,
    Privilege::References,
    Privilege::Index,
    Privilege::Alter,
    Privilege::ShowDatabases,
    Privilege::Super,
    Privilege::CreateTemporaryTables,
    Privilege::LockTables,
    Privilege::Execute,
    Privilege::ReplicationReplica,
    Privilege::ReplicationClient,
    Privilege::CreateView,
    Privilege::ShowView,
    Privilege::CreateRoutine,
    Privilege::AlterRoutine,
    Privilege::CreateUser,
    Privilege::Event,
    Privilege::Trigger,
    Privilege::CreateTablespace,
];

fn flag(on: bool) -> Value {
    Value::str_static(if on { "Y" } else { "N" })
}

/// `mysql.user`.
pub(super) fn users(source: &Source<'_>) -> Rows {
    let row = |account: Account| {
        let mut row = vec![text(account.host.clone()), text(account.user.clone())];
        row.extend(FLAGS.iter().map(|privilege| flag(account.global.contains(*privilege))));
        row.extend([""; 4].map(Value::str_static));
        row.extend([Value::UInt(0), Value::UInt(0), Value::UInt(0), Value::UInt(0)]);
        row.extend([text(account.plugin.clone()), text(account.authentication.clone())]);
        row.extend([flag(account.is_expired()), Value::Null, Value::Null, flag(account.locked)]);
        row.extend([Privilege::CreateRole, Privilege::DropRole].map(|it| flag(account.global.contains(it))));
        row.extend([Value::Null, Value::Null, Value::Null, Value::Null]);
        row
    };
    Ok(visible_accounts(source).into_iter().map(row).collect())
}

/// `mysql.db`.
pub(super) fn database_grants(source: &Source<'_>) -> Rows {
    let columns = [Privilege::Select, Privilege::Insert, Privilege::Update, Privilege::Delete, Privilege::Create]
        .into_iter()
        .chain([Privilege::Drop, Privilege::GrantOption, Privilege::References, Privilege::Index, Privilege::Alter])
        .chain([Privilege::CreateTemporaryTables, Privilege::LockTables, Privilege::CreateView, Privilege::ShowView])
        .chain([Privilege::CreateRoutine, Privilege::AlterRoutine, Privilege::Execute, Privilege::Event])
        .chain([Privilege::Trigger]);
    let mut rows = Vec::new();
    for account in visible_accounts(source) {
        for (database, held) in &account.databases {
            let names = [&account.host, database, &account.user].map(|name| text(name.clone()));
            rows.push(
                names.into_iter().chain(columns.clone().map(|privilege| flag(held.contains(privilege)))).collect(),
            );
        }
    }
    Ok(rows)
}
