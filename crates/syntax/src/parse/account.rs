//! CREATE, ALTER and DROP USER, GRANT, REVOKE.

use crate::Token;
use base::{SqlError, codes};

use super::tokens::Tokens;
use super::{Parsed, role, user_options};
use crate::ParseError;
use crate::digits::hex_bytes;
use crate::names::{check_database_name, check_table_name};
use crate::statement::{
    AuthSecret, AuthSpec, Ddl, Grant, GrantAs, GrantItem, GrantLevel, GrantedAccounts, KeepPassword, Statement,
    TableName, UserName, UserSpec,
};

/// Characters of an account's two parts, as in MySQL.
const USER_CHARS_MAX: usize = 32;
const HOST_CHARS_MAX: usize = 255;

/// 1470 if a part of a name is too long, 1105 for a host with an `@`, unless it is from a log.
pub(super) fn checked_name(name: UserName, may_be_long: bool) -> Parsed<UserName> {
    /// So much of it is shown.
    const SHOWN: usize = 70;
    for (text, what, most) in [(&name.user, "user name", USER_CHARS_MAX), (&name.host, "host name", HOST_CHARS_MAX)] {
        if !may_be_long && text.chars().count() > most {
            let shown: String = text.chars().take(SHOWN).collect();
            let message = format!("String '{shown}' is too long for {what} (should be no longer than {most})");
            return Err(SqlError::new(codes::WRONG_STRING_LENGTH, message).into());
        }
    }
    if !may_be_long && name.host.contains('@') {
        let message = "Malformed hostname (illegal symbol: '@')";
        return Err(SqlError::new(codes::UNKNOWN_ERROR, message).into());
    }
    Ok(name)
}

/// An account that is to go: one with a longer name may have come in the log of a MariaDB.
pub(super) fn dropped(tokens: &mut Tokens<'_>) -> Parsed<UserName> {
    let before = std::mem::replace(&mut tokens.long_accounts, true);
    let user = tokens.named_user();
    tokens.long_accounts = before;
    user
}

/// CREATE USER, after USER.
pub(super) fn create_user(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let if_not_exists = tokens.accept("IF NOT EXISTS");
    let users = tokens.comma_list(|tokens| user_spec(tokens, false))?;
    let roles = role::defaults(tokens)?;
    let options = Box::new(user_options::options(tokens)?);
    Ok(Statement::Ddl(Ddl::CreateUser { users, if_not_exists, options, roles }))
}

/// ALTER USER, after USER.
pub(super) fn alter_user(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let if_exists = tokens.accept("IF EXISTS");
    let start = tokens.place();
    // Oneself, by the function: nothing but the password.
    let is_function = tokens.next_are("USER") && tokens.peek_at(1) == Some(&Token::LParen);
    let user = tokens.user()?;
    if tokens.accept("DEFAULT ROLE") {
        return Ok(Statement::Ddl(Ddl::DefaultRoles { roles: role::choice(tokens)?, users: vec![user] }));
    }
    tokens.back_to(start);
    if is_function {
        let users = vec![user_spec(tokens, true)?];
        return Ok(Statement::Ddl(Ddl::AlterUser { users, if_exists, options: Box::default() }));
    }
    let users = tokens.comma_list(|tokens| user_spec(tokens, true))?;
    let options = Box::new(user_options::options(tokens)?);
    Ok(Statement::Ddl(Ddl::AlterUser { users, if_exists, options }))
}

/// DROP USER, after USER.
pub(super) fn drop_user(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let if_exists = tokens.accept("IF EXISTS");
    let users = tokens.comma_list(dropped)?;
    Ok(Statement::Ddl(Ddl::DropUser { users, if_exists }))
}

fn user_spec(tokens: &mut Tokens<'_>, is_there: bool) -> Parsed<UserSpec> {
    let name = tokens.user()?;
    if tokens.next_are("ADD") || tokens.next_are("MODIFY") {
        return Err(ParseError::not_supported("further factors of accounts"));
    }
    let mut spec = UserSpec { name, auth: None, replace: None, keep: KeepPassword::No };
    if is_there && tokens.accept("DISCARD OLD PASSWORD") {
        spec.keep = KeepPassword::Discard;
        return Ok(spec);
    }
    if !tokens.accept("IDENTIFIED") {
        return Ok(spec);
    }
    let auth = auth(tokens)?;
    if is_there {
        (spec.replace, spec.keep) = replaced(tokens, &auth.secret)?;
    }
    if tokens.next_are("AND IDENTIFIED") {
        return Err(ParseError::not_supported("AND IDENTIFIED"));
    }
    Ok(UserSpec { auth: Some(auth), ..spec })
}

/// REPLACE and RETAIN CURRENT PASSWORD behind a new password.
fn replaced(tokens: &mut Tokens<'_>, secret: &AuthSecret) -> Parsed<(Option<String>, KeepPassword)> {
    let mut replace = None;
    if matches!(secret, AuthSecret::Password(_) | AuthSecret::Random) && tokens.accept("REPLACE") {
        replace = Some(tokens.string()?);
    }
    let retains = *secret != AuthSecret::None && tokens.accept("RETAIN CURRENT PASSWORD");
    Ok((replace, if retains { KeepPassword::Retain } else { KeepPassword::No }))
}

/// The same for SET PASSWORD.
pub(super) fn set_password(tokens: &mut Tokens<'_>, user: Option<UserName>, secret: AuthSecret) -> Parsed<UserSpec> {
    let (replace, keep) = replaced(tokens, &secret)?;
    Ok(UserSpec { name: user, auth: Some(AuthSpec { plugin: None, secret, or: Vec::new() }), replace, keep })
}

/// What follows IDENTIFIED. MariaDB may have several methods, with OR between them.
fn auth(tokens: &mut Tokens<'_>) -> Parsed<AuthSpec> {
    let mut auth = method(tokens)?;
    while auth.plugin.is_some() && tokens.accept("OR") {
        let plugin = Some(tokens.name_or_string()?.to_ascii_lowercase());
        let secret = stored(tokens, true)?.unwrap_or(AuthSecret::None);
        auth.or.push(AuthSpec { plugin, secret, or: Vec::new() });
    }
    Ok(auth)
}

fn method(tokens: &mut Tokens<'_>) -> Parsed<AuthSpec> {
    let mut plugin = None;
    if tokens.accept("WITH") || tokens.accept("VIA") {
        plugin = Some(tokens.name_or_string()?.to_ascii_lowercase());
    }
    let secret = if tokens.accept("BY RANDOM PASSWORD") {
        AuthSecret::Random
    } else if tokens.accept("BY PASSWORD") {
        // MariaDB and old MySQL: the hash of mysql_native_password.
        plugin.get_or_insert_with(|| "mysql_native_password".into());
        AuthSecret::Hash(tokens.string()?)
    } else if tokens.accept("BY") {
        AuthSecret::Password(tokens.string()?)
    } else if let Some(secret) = stored(tokens, plugin.is_some())? {
        secret
    } else if plugin.is_some() {
        AuthSecret::None
    } else {
        return tokens.unexpected();
    };
    Ok(AuthSpec { plugin, secret, or: Vec::new() })
}

/// AS, and behind a method USING: what is stored, or MariaDB's PASSWORD('…'), of which that is made.
fn stored(tokens: &mut Tokens<'_>, has_method: bool) -> Parsed<Option<AuthSecret>> {
    if !(tokens.accept("AS") || has_method && tokens.accept("USING")) {
        return Ok(None);
    }
    if has_method && tokens.next_are("PASSWORD") && tokens.peek_at(1) == Some(&Token::LParen) {
        tokens.next();
        tokens.expect_token(&Token::LParen)?;
        let password = tokens.string()?;
        tokens.expect_token(&Token::RParen)?;
        return Ok(Some(AuthSecret::Password(password)));
    }
    Ok(Some(AuthSecret::Hash(hash(tokens)?)))
}

/// A stored secret: text, or hexadecimal (SHOW CREATE USER may print it so).
fn hash(tokens: &mut Tokens<'_>) -> Parsed<String> {
    let Some(Token::Hex(digits)) = tokens.peek() else { return tokens.string() };
    let bytes = hex_bytes(digits);
    tokens.next();
    Ok(bytes.into_iter().map(char::from).collect())
}

/// GRANT.
pub(super) fn grant(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let start = tokens.place();
    tokens.expect("GRANT")?;
    if role::are_next(tokens, "TO") {
        return role::grant(tokens);
    }
    let privileges = privileges(tokens)?;
    tokens.expect("ON")?;
    let on = level(tokens)?;
    tokens.expect("TO")?;
    let mut accounts = GrantedAccounts::default();
    let users = tokens.comma_list(|tokens| {
        let (user, place) = (tokens.named_user()?, tokens.place());
        if tokens.accept("IDENTIFIED") {
            let auth = Some(auth(tokens)?);
            tokens.decided(place);
            accounts.users.push(UserSpec { name: Some(user.clone()), auth, replace: None, keep: KeepPassword::No });
        }
        Ok(user)
    })?;
    let grant_option = grant_options(tokens, &mut accounts)?;
    let grantor = grant_as(tokens)?;
    if accounts != GrantedAccounts::default() && privileges.iter().any(|item| item.name.contains('_')) {
        return Err(ParseError::not_supported("options of accounts in GRANT beside dynamic privileges"));
    }
    tokens.privileges_read(start);
    Ok(Statement::Ddl(Ddl::Grant(Grant {
        privileges,
        on,
        users,
        grant_option,
        if_exists: false,
        ignore_unknown: false,
        grantor,
        accounts: Box::new(accounts),
    })))
}

/// REQUIRE, and WITH: GRANT OPTION, and limits, which are options of the account, as in MariaDB and old MySQL. The log has those in a
/// statement of their own.
fn grant_options(tokens: &mut Tokens<'_>, accounts: &mut GrantedAccounts) -> Parsed<bool> {
    let (place, options) = (tokens.place(), &mut accounts.options);
    if tokens.accept("REQUIRE") {
        options.requires = Some(user_options::requirement(tokens)?);
        tokens.decided(place);
    }
    let (place, mut grant_option, mut has_limits) = (tokens.place(), false, false);
    if !tokens.accept("WITH") {
        return Ok(false);
    }
    loop {
        if tokens.accept("GRANT OPTION") {
            grant_option = true;
        } else {
            user_options::limit(tokens, options)?;
            has_limits = true;
        }
        if !tokens.next_are("GRANT OPTION") && !user_options::limit_follows(tokens) {
            break;
        }
    }
    if has_limits {
        tokens.instead(place, if grant_option { "WITH GRANT OPTION" } else { "" });
    }
    Ok(grant_option)
}

/// AS user WITH ROLE: whose privileges count.
fn grant_as(tokens: &mut Tokens<'_>) -> Parsed<Option<GrantAs>> {
    let place = tokens.place();
    if !tokens.accept("AS") {
        return Ok(None);
    }
    let user = tokens.named_user()?;
    let mut roles = None;
    if tokens.accept("WITH ROLE") {
        roles = Some(role::all_but(tokens)?);
    }
    tokens.only_mysql(place, "");
    Ok(Some(GrantAs { user, roles }))
}

/// REVOKE.
pub(super) fn revoke(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let start = tokens.place();
    tokens.expect("REVOKE")?;
    let if_exists = tokens.accept("IF EXISTS");
    if role::are_next(tokens, "FROM") {
        return role::revoke(tokens, if_exists);
    }
    let mut privileges = privileges(tokens)?;
    let offset = tokens.offset();
    let is_all = privileges.iter().any(|item| item.name == "ALL");
    let mut on = if tokens.accept("ON") { level(tokens)? } else { GrantLevel::Everything };
    if on == GrantLevel::Everything && !(is_all && privileges.len() == 2 && privileges[1].name == "GRANT OPTION") {
        return Err(ParseError::syntax(offset));
    }
    if is_all && on == GrantLevel::Global {
        on = GrantLevel::Everything;
    }
    tokens.expect("FROM")?;
    let users = tokens.comma_list(Tokens::named_user)?;
    let ignore_unknown = tokens.accept("IGNORE UNKNOWN USER");
    tokens.privileges_read(start);
    let grant_option = privileges.iter().any(|item| item.name == "GRANT OPTION");
    privileges.retain(|item| item.name != "GRANT OPTION");
    Ok(Statement::Ddl(Ddl::Revoke(Grant {
        privileges,
        on,
        users,
        grant_option,
        if_exists,
        ignore_unknown,
        grantor: None,
        accounts: Box::default(),
    })))
}

/// MariaDB's privileges to which none here corresponds.
const MARIA_ONLY: [&str; 5] =
    ["SET USER", "FEDERATED ADMIN", "DELETE HISTORY", "DELETE VERSIONING ROWS", "SHOW CREATE ROUTINE"];

/// Privileges: words up to a comma, ON, TO or FROM, or up to the list of columns.
fn privileges(tokens: &mut Tokens<'_>) -> Parsed<Vec<GrantItem>> {
    let mut items = tokens.comma_list(|tokens| {
        let (place, mut words) = (tokens.place(), Vec::new());
        while !["ON", "FROM", "TO"].iter().any(|end| tokens.next_are(end))
            && matches!(tokens.peek(), Some(Token::Word(_)))
        {
            words.push(tokens.any_word()?.to_ascii_uppercase());
        }
        if words.is_empty() {
            return tokens.unexpected();
        }
        let name: String = words.join(" ");
        if name == "PROXY" {
            return Err(ParseError::not_supported("PROXY users"));
        }
        if MARIA_ONLY.contains(&name.as_str()) {
            return Err(ParseError::not_supported(format!("privilege {name}")));
        }
        let mut columns = Vec::new();
        if tokens.peek() == Some(&Token::LParen) {
            if !["SELECT", "INSERT", "UPDATE", "REFERENCES"].contains(&name.as_str()) {
                return tokens.unexpected();
            }
            columns = tokens.in_parentheses(Tokens::identifier)?;
        }
        tokens.privilege_read(place, &name);
        Ok(GrantItem { name, columns })
    })?;
    for item in &mut items {
        if item.name == "ALL PRIVILEGES" {
            item.name = "ALL".into();
        }
    }
    Ok(items)
}

fn level(tokens: &mut Tokens<'_>) -> Parsed<GrantLevel> {
    tokens.accept("TABLE");
    for refused in ["FUNCTION", "PROCEDURE"] {
        if tokens.next_are(refused) {
            return Err(ParseError::not_supported(format!("privileges on a {refused}")));
        }
    }
    if tokens.accept_token(&Token::Star) {
        if !tokens.accept_token(&Token::Period) {
            return Ok(GrantLevel::Database(None));
        }
        tokens.expect_token(&Token::Star)?;
        return Ok(GrantLevel::Global);
    }
    let first = tokens.identifier()?;
    if !tokens.accept_token(&Token::Period) {
        check_table_name(&first)?;
        return Ok(GrantLevel::Table(TableName { schema: None, name: first }));
    }
    check_database_name(&first)?;
    if tokens.accept_token(&Token::Star) {
        return Ok(GrantLevel::Database(Some(first)));
    }
    let name = tokens.any_word()?;
    check_table_name(&name)?;
    Ok(GrantLevel::Table(TableName { schema: Some(first), name }))
}
