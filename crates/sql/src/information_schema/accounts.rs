//! The rows of the virtual tables about accounts and their privileges.

use types::Value;

use super::rows::{Rows, Source, capitalised, catalog, text, time_of, yes_no};
use crate::account::{Account, Limits, PasswordRules, Privilege, Privileges, Requirement};
use crate::expr::coerce::utc_micros_to_local;

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
        row.extend(requirement(&account.requires));
        let Limits { queries, updates, connections, at_once } = account.limits;
        row.extend([queries, updates, connections, at_once].map(|limit| Value::UInt(limit.into())));
        row.extend([text(account.plugin.clone()), text(account.authentication.clone())]);
        let rules = account.password;
        let number = |number: Option<u16>| number.map_or(Value::Null, |number| Value::UInt(number.into()));
        row.extend([
            flag(account.is_made_to_expire()),
            time_of(rules.changed, source.time_zone()),
            number(rules.lifetime),
            flag(account.locked),
        ]);
        row.extend([Privilege::CreateRole, Privilege::DropRole].map(|it| flag(account.global.contains(it))));
        row.extend([number(rules.history), number(rules.reuse_days), rules.require_current.map_or(Value::Null, flag)]);
        row.push(user_attributes_of(&account));
        row
    };
    Ok(visible_accounts(source).into_iter().map(row).collect())
}

/// `ssl_type`, `ssl_cipher`, `x509_issuer`, `x509_subject`.
fn requirement(requires: &Requirement) -> [Value; 4] {
    let or_empty = |value: &Option<String>| text(value.clone().unwrap_or_default());
    let (cipher, issuer, subject) = match requires {
        Requirement::Specified { cipher, issuer, subject } => (or_empty(cipher), or_empty(issuer), or_empty(subject)),
        _ => (Value::str_static(""), Value::str_static(""), Value::str_static("")),
    };
    [Value::str_static(requires.kind()), cipher, issuer, subject]
}

/// `User_attributes` of `mysql.user`: what has no column of its own there.
fn user_attributes_of(account: &Account) -> Value {
    let mut members = Vec::new();
    if let Some(attribute) = &account.attribute {
        members.push(format!("\"metadata\": {attribute}"));
    }
    if !account.restrictions.is_empty() {
        let restricted: Vec<String> = account.restrictions.iter().map(restriction).collect();
        members.push(format!("\"Restrictions\": [{}]", restricted.join(", ")));
    }
    let PasswordRules { attempts, lock_days, .. } = account.password;
    if (attempts, lock_days) != (0, 0) {
        members.push(format!(
            "\"Password_locking\": {{\"failed_login_attempts\": {attempts}, \"password_lock_time_days\": {lock_days}}}"
        ));
    }
    if !account.second.is_empty() {
        let mut second = String::new();
        types::json::quote(&account.second, &mut second);
        members.push(format!("\"additional_password\": {second}"));
    }
    if members.is_empty() { Value::Null } else { text(format!("{{{}}}", members.join(", "))) }
}

/// `{"Database": "shop", "Privileges": ["INSERT"]}`
fn restriction((database, restricted): (&String, &Privileges)) -> String {
    let mut name = String::new();
    types::json::quote(database, &mut name);
    let privileges: Vec<String> = restricted.list().iter().map(|it| format!("\"{}\"", it.name())).collect();
    format!("{{\"Database\": {name}, \"Privileges\": [{}]}}", privileges.join(", "))
}

/// `information_schema.USER_ATTRIBUTES`. Who makes accounts sees the others' too, of system users only as one of them.
pub(super) fn user_attributes(source: &Source<'_>) -> Rows {
    let own = &source.account;
    let sees = |account: &Account| {
        let is_system_user = |account: &Account| account.global.contains(Privilege::SystemUser);
        own.on_database("mysql").has(Privilege::Select)
            || account.name() == own.name()
            || own.global.has(Privilege::CreateUser) && (is_system_user(own) || !is_system_user(account))
    };
    let row = |account: Account| {
        let attribute = account.attribute.clone().map_or(Value::Null, text);
        vec![text(account.user), text(account.host), attribute]
    };
    Ok(crate::account::all(&source.catalog).into_iter().filter(sees).map(row).collect())
}

/// `mysql.password_history`: the newest first, of each account.
pub(super) fn password_history(source: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for account in visible_accounts(source) {
        for past in account.past.iter().rev() {
            let names = [&account.host, &account.user].map(|name| text(name.clone()));
            let at = utc_micros_to_local(past.at as i64, source.time_zone()).map_or(Value::Null, Value::DateTime);
            rows.push(names.into_iter().chain([at, text(past.hash.clone())]).collect());
        }
    }
    Ok(rows)
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
