//! SET in all its forms.

use crate::Token;
use crate::ast::{ColumnPath, Expr, ExprKind, Name};

use super::tokens::Tokens;
use super::{Parsed, account, role};
use crate::ParseError;
use crate::statement::{AuthSecret, Isolation, SetItem, SetScope, Statement};

/// SET.
pub(super) fn set(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect("SET")?;
    if tokens.next_are("STATEMENT") && !matches!(tokens.peek_at(1), Some(Token::Eq | Token::Assign)) {
        return set_statement(tokens);
    }
    let assigns = matches!(tokens.peek_at(1), Some(Token::Eq | Token::Assign));
    if tokens.next_are("RESOURCE GROUP") {
        return Err(ParseError::not_supported("SET RESOURCE GROUP"));
    } else if tokens.accept("DEFAULT ROLE") {
        return role::set_default(tokens);
    } else if !assigns && tokens.accept("ROLE") {
        return role::set(tokens);
    }
    let mut scope = SetScope::Default;
    let items = tokens.comma_list(|tokens| item(tokens, &mut scope))?;
    Ok(Statement::Set(items))
}

/// MariaDB's SET STATEMENT settings FOR statement: they hold for this statement alone. The log has what it did without them.
fn set_statement(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let place = tokens.place().saturating_sub(1);
    let mut settings = settings_of_statement(tokens)?;
    tokens.decided(place);
    tokens.settings.append(&mut settings);
    tokens.enter()?;
    let statement = super::statement(tokens)?;
    tokens.leave();
    Ok(statement)
}

/// `STATEMENT settings FOR`
pub(super) fn settings_of_statement(tokens: &mut Tokens<'_>) -> Parsed<Vec<SetItem>> {
    tokens.expect("STATEMENT")?;
    let settings = tokens.comma_list(|tokens| {
        if tokens.peek_word().is_none() {
            return tokens.unexpected();
        }
        let name = tokens.any_word()?;
        assignment(tokens, SetScope::Session, name)
    })?;
    tokens.expect("FOR")?;
    Ok(settings)
}

/// One item. A scope in words holds for the items after it too, up to the next one in words.
fn item(tokens: &mut Tokens<'_>, words_scope: &mut SetScope) -> Parsed<SetItem> {
    if let Some(item) = special(tokens)? {
        return Ok(item);
    }
    if let Some(Token::SystemVariable(name)) = tokens.peek() {
        let name = name.clone();
        let (scope, name) = system_variable(tokens, &name)?;
        return assignment(tokens, scope, name);
    }
    if let Some(name) = tokens.accept_variable() {
        expect_equals(tokens)?;
        return Ok(SetItem::UserVariable { name, value: tokens.expr()? });
    }
    if let Some(scope) = tokens.accept_one(&["GLOBAL", "SESSION", "LOCAL", "PERSIST_ONLY", "PERSIST"]) {
        *words_scope = scope_of(scope);
        if tokens.accept("TRANSACTION") {
            return transaction(tokens, *words_scope);
        }
        // `SET GLOBAL @@x` is no SQL, `SET GLOBAL x.y` names a part of a setting.
    } else if tokens.accept("TRANSACTION") {
        return transaction(tokens, SetScope::Next);
    }
    let mut name = tokens.any_word()?;
    while tokens.accept_token(&Token::Period) {
        name = format!("{name}.{}", tokens.any_word()?);
    }
    assignment(tokens, *words_scope, name)
}

/// `@@global.name`, `@@name`: the scope and the name.
fn system_variable(tokens: &mut Tokens<'_>, first: &str) -> Parsed<(SetScope, String)> {
    tokens.next();
    let scope = match first.to_ascii_lowercase().as_str() {
        "global" => SetScope::Global,
        "session" | "local" => SetScope::Session,
        "persist" => SetScope::Persist,
        "persist_only" => SetScope::PersistOnly,
        _ => return Ok((SetScope::Default, first.to_string())),
    };
    tokens.expect_token(&Token::Period)?;
    Ok((scope, tokens.any_word()?))
}

fn scope_of(word: &str) -> SetScope {
    match word {
        "GLOBAL" => SetScope::Global,
        "PERSIST" => SetScope::Persist,
        "PERSIST_ONLY" => SetScope::PersistOnly,
        _ => SetScope::Session,
    }
}

fn expect_equals(tokens: &mut Tokens<'_>) -> Parsed<()> {
    if tokens.accept_token(&Token::Eq) || tokens.accept_token(&Token::Assign) { Ok(()) } else { tokens.unexpected() }
}

fn assignment(tokens: &mut Tokens<'_>, scope: SetScope, name: String) -> Parsed<SetItem> {
    expect_equals(tokens)?;
    let word = tokens.peek_word().unwrap_or_default().to_ascii_uppercase();
    let alone = match tokens.peek_at(1) {
        None | Some(Token::Comma) => true,
        Some(Token::Word(word)) => word.eq_ignore_ascii_case("FOR"),
        Some(_) => false,
    };
    let value = match word.as_str() {
        "DEFAULT" if alone => {
            tokens.next();
            None
        }
        // Words that expressions do not take for names.
        "ON" | "ALL" | "BINARY" | "DATABASE" | "IGNORE" | "ROW" | "SCHEMA" | "SYSTEM" if alone => {
            tokens.next();
            let path = ColumnPath { schema: None, table: None, name: Name::new(&word) };
            Some(Expr::new(ExprKind::Column(Box::new(path))))
        }
        _ => Some(tokens.expr()?),
    };
    Ok(SetItem::Variable { scope, name, value })
}

/// NAMES, CHARACTER SET, PASSWORD.
fn special(tokens: &mut Tokens<'_>) -> Parsed<Option<SetItem>> {
    let followed_by_equals = matches!(tokens.peek_at(1), Some(Token::Eq | Token::Assign));
    if tokens.next_are("NAMES") && !followed_by_equals {
        tokens.next();
        if tokens.accept("DEFAULT") {
            return Ok(Some(SetItem::Names { charset: None, collation: None }));
        }
        let charset = Some(tokens.name_or_string()?);
        let mut collation = None;
        if tokens.accept("COLLATE") && !tokens.accept("DEFAULT") {
            collation = Some(tokens.name_or_string()?);
        }
        return Ok(Some(SetItem::Names { charset, collation }));
    }
    if tokens.accept("CHARACTER SET")
        || tokens.accept("CHAR SET")
        || tokens.next_are("CHARSET") && !followed_by_equals && tokens.accept("CHARSET")
    {
        let charset = if tokens.accept("DEFAULT") { None } else { Some(tokens.name_or_string()?) };
        return Ok(Some(SetItem::CharacterSet(charset)));
    }
    if !tokens.accept("PASSWORD") {
        return Ok(None);
    }
    let user = if tokens.accept("FOR") { tokens.user()? } else { None };
    if tokens.accept("TO RANDOM") {
        let spec = account::set_password(tokens, user, AuthSecret::Random)?;
        return Ok(Some(SetItem::Password(Box::new(spec))));
    }
    expect_equals(tokens)?;
    let old_function = tokens.next_are("PASSWORD") || tokens.next_are("OLD_PASSWORD");
    if old_function {
        tokens.next();
        tokens.expect_token(&Token::LParen)?;
    }
    let password = tokens.string()?;
    if old_function {
        tokens.expect_token(&Token::RParen)?;
    }
    account::set_password(tokens, user, AuthSecret::Password(password))
        .map(|spec| Some(SetItem::Password(Box::new(spec))))
}

fn transaction(tokens: &mut Tokens<'_>, scope: SetScope) -> Parsed<SetItem> {
    let (mut isolation, mut read_only) = (None, None);
    loop {
        let start = tokens.offset();
        let again = match tokens.expect_one(&["ISOLATION LEVEL", "READ ONLY", "READ WRITE"])? {
            "ISOLATION LEVEL" => isolation.replace(level(tokens)?).is_some(),
            access => read_only.replace(access == "READ ONLY").is_some(),
        };
        if again {
            return Err(ParseError::syntax(start));
        }
        if !tokens.accept_token(&Token::Comma) {
            return Ok(SetItem::Transaction { scope, isolation, read_only });
        }
    }
}

fn level(tokens: &mut Tokens<'_>) -> Parsed<Isolation> {
    Ok(match tokens.expect_one(&["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"])? {
        "READ UNCOMMITTED" => Isolation::ReadUncommitted,
        "READ COMMITTED" => Isolation::ReadCommitted,
        "REPEATABLE READ" => Isolation::RepeatableRead,
        _ => Isolation::Serializable,
    })
}
