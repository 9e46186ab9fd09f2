//! Roles: CREATE and DROP ROLE, GRANT and REVOKE of roles, SET ROLE, SET DEFAULT ROLE.

use super::tokens::Tokens;
use super::{Parsed, account};
use crate::ParseError;
use crate::statement::{Ddl, RoleChoice, RoleGrant, Statement, UserName};

/// CREATE ROLE, after ROLE.
pub(super) fn create(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let if_not_exists = tokens.accept("IF NOT EXISTS");
    let roles = tokens.comma_list(name)?;
    if tokens.next_are("WITH ADMIN") {
        return Err(ParseError::not_supported("CREATE ROLE … WITH ADMIN"));
    }
    Ok(Statement::Ddl(Ddl::CreateRole { roles, if_not_exists }))
}

/// DROP ROLE, after ROLE.
pub(super) fn drop(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let if_exists = tokens.accept("IF EXISTS");
    let roles = tokens.comma_list(|tokens| checked(tokens, account::dropped))?;
    Ok(Statement::Ddl(Ddl::DropRole { roles, if_exists }))
}

/// Whether a GRANT or REVOKE, of which the next tokens are the list, is one of roles: no ON comes before `end`.
pub(super) fn are_next(tokens: &Tokens<'_>, end: &str) -> bool {
    if ["ALL", "PROXY", "GRANT OPTION"].iter().any(|words| tokens.next_are(words)) {
        return false;
    }
    let mut at = 0;
    while tokens.peek_at(at).is_some() {
        match tokens.peek_word_at(at) {
            Some(word) if word.eq_ignore_ascii_case(end) => return true,
            Some(word) if word.eq_ignore_ascii_case("ON") => return false,
            _ => at += 1,
        }
    }
    false
}

/// GRANT of roles, behind GRANT.
pub(super) fn grant(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let roles = tokens.comma_list(name)?;
    tokens.expect("TO")?;
    let users = tokens.comma_list(Tokens::user)?;
    let mut admin = false;
    if tokens.accept("WITH") {
        tokens.expect("ADMIN OPTION")?;
        admin = true;
    }
    Ok(Statement::Ddl(Ddl::GrantRoles(RoleGrant { roles, users, admin, if_exists: false, ignore_unknown: false })))
}

/// REVOKE of roles, behind REVOKE and IF EXISTS.
pub(super) fn revoke(tokens: &mut Tokens<'_>, if_exists: bool) -> Parsed<Statement> {
    if tokens.next_are("ADMIN OPTION FOR") {
        return Err(ParseError::not_supported("REVOKE ADMIN OPTION FOR"));
    }
    let roles = tokens.comma_list(name)?;
    tokens.expect("FROM")?;
    let users = tokens.comma_list(Tokens::user)?;
    let ignore_unknown = tokens.accept("IGNORE UNKNOWN USER");
    Ok(Statement::Ddl(Ddl::RevokeRoles(RoleGrant { roles, users, admin: false, if_exists, ignore_unknown })))
}

/// SET ROLE, behind ROLE.
pub(super) fn set(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    all_but(tokens).map(Statement::SetRole)
}

/// NONE, DEFAULT, ALL [EXCEPT …] or a list.
pub(super) fn all_but(tokens: &mut Tokens<'_>) -> Parsed<RoleChoice> {
    Ok(match tokens.accept_one(&["NONE", "DEFAULT", "ALL"]) {
        Some("NONE") => RoleChoice::None,
        Some("DEFAULT") => RoleChoice::Default,
        Some(_) => {
            let except = if tokens.accept("EXCEPT") { tokens.comma_list(name)? } else { Vec::new() };
            RoleChoice::All { except }
        }
        None => RoleChoice::These(tokens.comma_list(name)?),
    })
}

/// SET DEFAULT ROLE, behind ROLE. MariaDB has FOR in place of TO, one user behind it, and 'NONE' as a text in its logs.
pub(super) fn set_default(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let roles = choice(tokens)?;
    if tokens.accept("FOR") {
        let roles = match roles {
            RoleChoice::These(names) if matches!(&names[..], [name] if name.user == "NONE") => RoleChoice::None,
            roles => roles,
        };
        return Ok(Statement::Ddl(Ddl::DefaultRoles { roles, users: vec![tokens.user()?] }));
    }
    tokens.expect("TO")?;
    let users = tokens.comma_list(|tokens| tokens.named_user().map(Some))?;
    Ok(Statement::Ddl(Ddl::DefaultRoles { roles, users }))
}

/// NONE, ALL or a list.
pub(super) fn choice(tokens: &mut Tokens<'_>) -> Parsed<RoleChoice> {
    Ok(match tokens.accept_one(&["NONE", "ALL"]) {
        Some("NONE") => RoleChoice::None,
        Some(_) => RoleChoice::All { except: Vec::new() },
        None => RoleChoice::These(tokens.comma_list(name)?),
    })
}

/// DEFAULT ROLE of CREATE USER, if that comes next.
pub(super) fn defaults(tokens: &mut Tokens<'_>) -> Parsed<Vec<UserName>> {
    let place = tokens.place();
    if !tokens.accept("DEFAULT ROLE") {
        return Ok(Vec::new());
    }
    let roles = tokens.comma_list(name)?;
    tokens.only_mysql(place, "");
    Ok(roles)
}

/// What is no name of a role unless it is quoted.
const WORDS: [&str; 3] = ["NONE", "ALL", "DEFAULT"];

/// `role`, `'role'@'host'`.
pub(super) fn name(tokens: &mut Tokens<'_>) -> Parsed<UserName> {
    checked(tokens, Tokens::named_user)
}

fn checked<'a>(tokens: &mut Tokens<'a>, user: impl Fn(&mut Tokens<'a>) -> Parsed<UserName>) -> Parsed<UserName> {
    if WORDS.iter().any(|word| tokens.next_are(word)) {
        return tokens.unexpected();
    }
    user(tokens)
}
