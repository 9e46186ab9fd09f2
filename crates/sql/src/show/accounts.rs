//! Accounts and privileges.

use base::{SqlError, codes};
use types::Value;

use super::Rows;
use crate::account::{Account, Level, Privilege, chosen, find, with_roles};
use crate::ddl;
use crate::parse::ast::{RoleChoice, TableName, UserName};
use crate::session::Session;

/// The account that is asked for; another's only with the right to see the table of accounts.
fn account_of(
    session: &mut Session,
    user: Option<&UserName>,
    may_see: impl Fn(&mut Session) -> Result<(), SqlError>,
) -> Result<Account, SqlError> {
    let own = session.client().account.clone();
    let name = user.unwrap_or(&own);
    if *name != own {
        may_see(session)?;
    }
    find(&session.catalog(), name).ok_or_else(|| {
        let (user, host) = (&name.user, &name.host);
        let message = format!("There is no such grant defined for user '{user}' on host '{host}'");
        SqlError::new(codes::NONEXISTING_GRANT, message)
    })
}

pub(super) fn grants(session: &mut Session, user: Option<&UserName>, using: &[UserName]) -> Result<Rows, SqlError> {
    let mut account = account_of(session, user, |session| {
        let users = TableName { schema: Some("mysql".into()), name: "user".into() };
        session.check_table(Privilege::Select, &users)
    })?;
    let catalog = session.catalog();
    let mandatory = session.mandatory_roles(&catalog);
    if !using.is_empty() {
        let roles = chosen(&account, &RoleChoice::These(using.to_vec()), &mandatory)?;
        account = with_roles(&catalog, account, &roles, &mandatory);
    } else if user.is_none() {
        // Of one's own: what counts now, with the roles that everybody has.
        account = (*session.account()).clone();
        mandatory.iter().for_each(|role| account.add_role(role, false));
    }
    let mut rows = Rows::new("Grants v1024");
    rows.columns[0].name = format!("Grants for {}@{}", account.user, account.host);
    for line in ddl::grants(&account) {
        rows.push(vec![Value::str(line)]);
    }
    Ok(rows)
}

pub(super) fn create_user(session: &mut Session, user: Option<&UserName>) -> Result<Rows, SqlError> {
    let may_see = |session: &mut Session| session.check_database(Privilege::Select, "mysql");
    let account = account_of(session, user, may_see).map_err(|error| match user {
        Some(name) if error.code == codes::NONEXISTING_GRANT.0 => {
            let message = format!("Operation SHOW CREATE USER failed for {name} (User account does not exist)");
            SqlError::new(codes::CANNOT_USER, message)
        }
        _ => error,
    })?;
    let mut rows = Rows::new("CREATE USER v1024");
    rows.columns[0].name = format!("CREATE USER for {}@{}", account.user, account.host);
    rows.push(vec![Value::str(ddl::create_user(&account))]);
    Ok(rows)
}

pub(super) fn privileges() -> Rows {
    let mut rows = Rows::new("Privilege v32, Context v32, Comment v96");
    let fixed = Privilege::all().filter(|privilege| !privilege.is_dynamic());
    for privilege in fixed.chain(Privilege::all().filter(|privilege| privilege.is_dynamic())) {
        let context = match privilege.level() {
            Level::Global => "Server Admin",
            Level::Database => "Databases",
            Level::Table => "Databases,Tables",
        };
        let name = capitalised(privilege.name());
        rows.push(vec![Value::str(name), Value::str(context), Value::str(privilege.comment())]);
    }
    rows
}

/// `CREATE USER` as `Create user`.
fn capitalised(name: &str) -> String {
    if name.contains('_') {
        return name.to_string();
    }
    let lower = name.to_lowercase();
    let mut chars = lower.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
