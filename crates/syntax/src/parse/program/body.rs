//! Statements of bodies.

use base::{SqlError, codes, memory};

use super::Parsed;
use super::declare::declaration;
use crate::ast::{ExprKind, Name};
use crate::parse::tokens::Tokens;
use crate::parse::{set, statement as any_statement};
use crate::print::written;
use crate::statement::Statement;
use crate::statement::program::body::{
    Arm, Block, BodyKind, BodyStatement, Case, ForSource, If, Label, Loop, LoopKind, Single, WithSettings,
};
use crate::{ParseError, Token};

/// Words that are names, and no labels: statements begin with them, or blocks end.
const NO_LABELS: [&str; 36] = [
    "ASCII",
    "BEGIN",
    "BYTE",
    "CACHE",
    "CHARSET",
    "CHECKSUM",
    "COMMENT",
    "COMMIT",
    "CONTAINS",
    "DEALLOCATE",
    "DO",
    "END",
    "EXECUTE",
    "FLUSH",
    "FOLLOWS",
    "GET",
    "HANDLER",
    "HELP",
    "INSTALL",
    "LANGUAGE",
    "NO",
    "PRECEDES",
    "PREPARE",
    "REPAIR",
    "RESET",
    "ROLLBACK",
    "SAVEPOINT",
    "SHUTDOWN",
    "SIGNED",
    "SLAVE",
    "START",
    "STOP",
    "TRUNCATE",
    "UNICODE",
    "UNINSTALL",
    "XA",
];

/// A statement of a body, without the semicolon behind it.
pub(super) fn statement(tokens: &mut Tokens<'_>) -> Parsed<BodyStatement> {
    read(tokens, |tokens| {
        let label = label(tokens)?;
        match kind(tokens, label)? {
            Some(kind) => Ok(kind),
            None => single(tokens),
        }
    })
}

/// A compound statement outside of programs, which has no label.
pub(super) fn compound(tokens: &mut Tokens<'_>) -> Parsed<BodyStatement> {
    read(tokens, |tokens| match kind(tokens, None)? {
        Some(kind) => Ok(kind),
        None => tokens.unexpected(),
    })
}

/// Reads a statement with the names in it that are not those of statements in it.
fn read(tokens: &mut Tokens<'_>, kind: impl FnOnce(&mut Tokens<'_>) -> Parsed<BodyKind>) -> Parsed<BodyStatement> {
    tokens.enter()?;
    let around = tokens.swap_mentions(Vec::new());
    let kind = kind(tokens)?;
    let mentions = tokens.swap_mentions(around);
    tokens.leave();
    Ok(BodyStatement { kind, mentions })
}

/// `name:`, if it comes next.
fn label(tokens: &mut Tokens<'_>) -> Parsed<Option<Name>> {
    if tokens.peek_at(1) != Some(&Token::Colon) || !may_be_label(tokens) {
        return Ok(None);
    }
    let name = tokens.name()?;
    tokens.expect_token(&Token::Colon)?;
    if !["BEGIN", "LOOP", "WHILE", "REPEAT", "FOR"].iter().any(|word| tokens.next_are(word)) {
        return tokens.unexpected();
    }
    Ok(Some(name))
}

/// Whether the next token may be a label.
fn may_be_label(tokens: &Tokens<'_>) -> bool {
    match tokens.peek() {
        Some(Token::Name(_)) => true,
        Some(Token::Word(word)) => {
            crate::words::may_be_name(word) && !NO_LABELS.iter().any(|known| word.eq_ignore_ascii_case(known))
        }
        _ => false,
    }
}

/// The label behind a block or loop that has one before it.
fn with_end_label(tokens: &mut Tokens<'_>, begin: Option<Name>) -> Parsed<Label> {
    let end = if begin.is_some() && may_be_label(tokens) { Some(tokens.name()?) } else { None };
    Ok(Label { begin, end })
}

/// A statement that only programs have; `None` for any other. A label that was taken belongs to a block or loop.
fn kind(tokens: &mut Tokens<'_>, label: Option<Name>) -> Parsed<Option<BodyKind>> {
    let word = tokens.peek_word().unwrap_or_default().to_ascii_uppercase();
    Ok(Some(match word.as_str() {
        "BEGIN" => block(tokens, label)?,
        "IF" => if_statement(tokens)?,
        "CASE" => case(tokens)?,
        "LOOP" | "WHILE" | "REPEAT" | "FOR" => BodyKind::Loop(Box::new(loop_statement(tokens, &word, label)?)),
        "LEAVE" => {
            tokens.expect("LEAVE")?;
            BodyKind::Leave(label_name(tokens)?)
        }
        "ITERATE" => {
            tokens.expect("ITERATE")?;
            BodyKind::Iterate(label_name(tokens)?)
        }
        "RETURN" => {
            tokens.expect("RETURN")?;
            let stop = tokens.narrow();
            let value = tokens.expr()?;
            tokens.widen(stop);
            BodyKind::Return(value)
        }
        "OPEN" => {
            tokens.expect("OPEN")?;
            let cursor = tokens.name()?;
            let has_args = tokens.next_is(&Token::LParen);
            BodyKind::Open {
                cursor,
                args: if has_args { tokens.in_parentheses(|tokens| tokens.expr())? } else { Vec::new() },
            }
        }
        "FETCH" => fetch(tokens)?,
        "CLOSE" => {
            tokens.expect("CLOSE")?;
            BodyKind::Close(tokens.name()?)
        }
        _ => return Ok(None),
    }))
}

fn label_name(tokens: &mut Tokens<'_>) -> Parsed<Name> {
    if may_be_label(tokens) { tokens.name() } else { tokens.unexpected() }
}

/// `BEGIN … END`
fn block(tokens: &mut Tokens<'_>, label: Option<Name>) -> Parsed<BodyKind> {
    tokens.expect("BEGIN")?;
    let not_atomic = tokens.accept("NOT ATOMIC");
    let mut block = Block { label: Label::default(), not_atomic, declarations: Vec::new(), statements: Vec::new() };
    while tokens.accept("DECLARE") {
        memory::check_room(&block.declarations, 1)?;
        block.declarations.push(declaration(tokens)?);
        tokens.expect_token(&Token::Semicolon)?;
    }
    while !tokens.accept("END") {
        memory::check_room(&block.statements, 1)?;
        block.statements.push(statement(tokens)?);
        tokens.expect_token(&Token::Semicolon)?;
    }
    block.label = with_end_label(tokens, label)?;
    Ok(BodyKind::Block(Box::new(block)))
}

/// Statements up to one of these words, which stays: one at least.
fn statements(tokens: &mut Tokens<'_>, ends: &[&str]) -> Parsed<Vec<BodyStatement>> {
    let mut statements = Vec::new();
    loop {
        memory::check_room(&statements, 1)?;
        statements.push(statement(tokens)?);
        tokens.expect_token(&Token::Semicolon)?;
        if ends.iter().any(|end| tokens.next_are(end)) {
            return Ok(statements);
        }
    }
}

fn if_statement(tokens: &mut Tokens<'_>) -> Parsed<BodyKind> {
    let ends = ["ELSEIF", "ELSE", "END"];
    tokens.expect("IF")?;
    let mut arms = Vec::new();
    loop {
        memory::check_room(&arms, 1)?;
        arms.push(arm(tokens, &ends)?);
        if !tokens.accept("ELSEIF") {
            break;
        }
    }
    let otherwise = otherwise(tokens)?;
    tokens.expect("END IF")?;
    Ok(BodyKind::If(Box::new(If { arms, otherwise })))
}

/// `condition THEN statements`, up to one of these words.
fn arm(tokens: &mut Tokens<'_>, ends: &[&str]) -> Parsed<Arm> {
    let condition = tokens.expr()?;
    tokens.expect("THEN")?;
    Ok(Arm { condition, statements: statements(tokens, ends)? })
}

/// ELSE, if it comes next.
fn otherwise(tokens: &mut Tokens<'_>) -> Parsed<Option<Vec<BodyStatement>>> {
    if tokens.accept("ELSE") { statements(tokens, &["END"]).map(Some) } else { Ok(None) }
}

fn case(tokens: &mut Tokens<'_>) -> Parsed<BodyKind> {
    let ends = ["WHEN", "ELSE", "END"];
    tokens.expect("CASE")?;
    let operand = if tokens.next_are("WHEN") { None } else { Some(tokens.expr()?) };
    let mut arms = Vec::new();
    loop {
        memory::check_room(&arms, 1)?;
        tokens.expect("WHEN")?;
        arms.push(arm(tokens, &ends)?);
        if !tokens.next_are("WHEN") {
            break;
        }
    }
    let otherwise = otherwise(tokens)?;
    tokens.expect("END CASE")?;
    Ok(BodyKind::Case(Box::new(Case { operand, arms, otherwise })))
}

/// A loop that begins with this word.
fn loop_statement(tokens: &mut Tokens<'_>, word: &str, label: Option<Name>) -> Parsed<Loop> {
    tokens.expect(word)?;
    let (kind, statements) = match word {
        "LOOP" => (LoopKind::Forever, statements(tokens, &["END"])?),
        "WHILE" => {
            let condition = tokens.expr()?;
            tokens.expect("DO")?;
            (LoopKind::While(condition), statements(tokens, &["END"])?)
        }
        "REPEAT" => {
            let statements = statements(tokens, &["UNTIL"])?;
            tokens.expect("UNTIL")?;
            (LoopKind::Repeat(tokens.expr()?), statements)
        }
        _ => {
            let variable = tokens.name()?;
            tokens.expect("IN")?;
            let source = for_source(tokens)?;
            tokens.expect("DO")?;
            (LoopKind::For(variable, Box::new(source)), statements(tokens, &["END"])?)
        }
    };
    tokens.expect("END")?;
    tokens.expect(word)?;
    Ok(Loop { label: with_end_label(tokens, label)?, kind, statements })
}

/// What a FOR goes through: numbers, a cursor, or the rows of a query.
fn for_source(tokens: &mut Tokens<'_>) -> Parsed<ForSource> {
    let start = tokens.offset();
    let reverse = tokens.accept("REVERSE");
    let first = tokens.expr()?;
    if tokens.accept_token(&Token::TwoPeriods) {
        return Ok(ForSource::Range { reverse, first, last: tokens.expr()? });
    }
    if reverse {
        return tokens.unexpected();
    }
    match first.kind {
        ExprKind::Subquery(query) => Ok(ForSource::Query(*query)),
        ExprKind::Column(path) if path.table.is_none() => Ok(ForSource::Cursor { name: path.name, args: Vec::new() }),
        ExprKind::Call(call) if call.schema.is_none() && call.clauses.is_none() && call.word.is_none() => {
            Ok(ForSource::Cursor { name: call.name, args: call.args })
        }
        _ => Err(ParseError::syntax(start)),
    }
}

/// `FETCH [[NEXT] FROM] cursor INTO variables`
fn fetch(tokens: &mut Tokens<'_>) -> Parsed<BodyKind> {
    tokens.expect("FETCH")?;
    if tokens.accept("GROUP NEXT ROW") {
        return Ok(BodyKind::FetchGroup);
    }
    let _ = tokens.accept("NEXT FROM") || tokens.accept("FROM");
    let cursor = tokens.name()?;
    tokens.expect("INTO")?;
    let into = tokens.comma_list(|tokens| tokens.name())?;
    Ok(BodyKind::Fetch { cursor, into })
}

/// A statement that there is outside of programs, too.
fn single(tokens: &mut Tokens<'_>) -> Parsed<BodyKind> {
    if tokens.next_are("SET STATEMENT") && !matches!(tokens.peek_at(2), Some(Token::Eq | Token::Assign)) {
        return with_settings(tokens);
    }
    refuse(tokens)?;
    let place = tokens.place();
    let (outer_replaced, outer_settings) = (tokens.replaced.take(), std::mem::take(&mut tokens.settings));
    let statement = any_statement(tokens)?;
    let replaced = std::mem::replace(&mut tokens.replaced, outer_replaced);
    if !std::mem::replace(&mut tokens.settings, outer_settings).is_empty() {
        return Err(not_allowed("[NO]WAIT").into());
    }
    let is_printed = matches!(
        statement,
        Statement::Query(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Program(_)
    );
    let text = if is_printed { None } else { Some(written(tokens.tokens_since(place)).into()) };
    Ok(BodyKind::Single(Box::new(Single { statement, replaced, text })))
}

/// 1314 for what this server does not have, and no program may have.
fn refuse(tokens: &Tokens<'_>) -> Parsed<()> {
    let refused = ["HANDLER", "HELP", "LOAD XML", "ALTER VIEW"];
    match refused.iter().find(|words| tokens.next_are(words)) {
        Some(words) => Err(not_allowed(words).into()),
        None => Ok(()),
    }
}

/// 1314
fn not_allowed(what: &str) -> SqlError {
    SqlError::new(codes::SP_BADSTATEMENT, format!("{what} is not allowed in stored procedures"))
}

/// MariaDB's SET STATEMENT.
fn with_settings(tokens: &mut Tokens<'_>) -> Parsed<BodyKind> {
    let place = tokens.place();
    tokens.expect("SET")?;
    let settings = set::settings_of_statement(tokens)?;
    let text = written(tokens.tokens_since(place)).into();
    let statement = statement(tokens)?;
    Ok(BodyKind::With(Box::new(WithSettings { settings, text, statement })))
}
