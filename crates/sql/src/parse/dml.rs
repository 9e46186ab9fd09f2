//! Queries and row changes: `sqlparser`'s grammar, with what it lacks of MySQL's put in its words first.

use base::{SqlError, codes};
use sqlparser::ast as sql;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::Parsed;
use super::ast::{Delete, Explain, ExplainFormat, Insert, Show, Statement, Update};
use super::error::ParseError;
use super::joins;
use super::show::filter;
use super::tokens::Tokens;

/// SELECT, WITH, VALUES, TABLE, or one of these in parentheses. WITH may also begin an UPDATE or DELETE.
pub(super) fn query(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    if !matches!(tokens.peek(), Some(Token::Word(_) | Token::LParen)) {
        return tokens.unexpected();
    }
    if tokens.peek_word().is_none() && tokens.peek() != Some(&Token::LParen) {
        return tokens.unexpected();
    }
    rewrite_table(tokens);
    rewrite(tokens)?;
    rewrite_into(tokens);
    let query = tokens.rest(|parser| parser.parse_query())?;
    match *query.body {
        sql::SetExpr::Insert(_) | sql::SetExpr::Update(_) | sql::SetExpr::Delete(_) | sql::SetExpr::Merge(_) => {
            Err(ParseError::not_supported("WITH in front of a statement that changes rows"))
        }
        _ => Ok(Statement::Query(query)),
    }
}

/// INSERT, REPLACE.
pub(super) fn insert(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    rewrite(tokens)?;
    let replace = tokens.next_are("REPLACE");
    let mut place = tokens.place() + 1;
    let mut delayed = false;
    let mut end = place;
    while let Some(word @ ("LOW_PRIORITY" | "DELAYED" | "HIGH_PRIORITY")) = word_at(tokens, end) {
        delayed |= word == "DELAYED";
        end += 1;
    }
    tokens.tokens_mut().drain(place..end);
    if word_at(tokens, place) == Some("IGNORE") {
        place += 1;
    }
    if word_at(tokens, place) == Some("INTO") {
        place += 1;
    }
    rewrite_insert(tokens, place);
    let statement = tokens.rest(|parser| {
        let token = parser.next_token();
        parser.parse_insert(token)
    })?;
    match statement {
        sql::Statement::Insert(mut insert) => {
            insert.replace_into = replace;
            let literal_rows = std::mem::take(&mut tokens.literal_rows);
            if !literal_rows.is_empty() && plain_values(&insert).is_none() {
                return Err(ParseError::syntax(literal_rows.end()));
            }
            Ok(Statement::Insert(Box::new(Insert { insert, literal_rows, delayed })))
        }
        _ => Err(ParseError::not_supported("this form of INSERT")),
    }
}

/// The rows of `VALUES (…), …`, if that is all that the INSERT takes its rows from.
pub(crate) fn plain_values(insert: &sql::Insert) -> Option<&sql::Values> {
    let query = insert.source.as_deref().filter(|query| query.order_by.is_none() && query.limit_clause.is_none())?;
    match &*query.body {
        sql::SetExpr::Values(values) => Some(values),
        _ => None,
    }
}

/// UPDATE.
pub(super) fn update(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let ignore = take_modifiers(tokens, &["LOW_PRIORITY", "IGNORE"]);
    rewrite(tokens)?;
    let statement = tokens.rest(|parser| {
        let token = parser.next_token();
        parser.parse_update(token)
    })?;
    match statement {
        sql::Statement::Update(update) => Ok(Statement::Update(Update { ignore, update: Box::new(update) })),
        _ => Err(ParseError::not_supported("this form of UPDATE")),
    }
}

/// DELETE.
pub(super) fn delete(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let ignore = take_modifiers(tokens, &["LOW_PRIORITY", "QUICK", "IGNORE"]);
    rewrite(tokens)?;
    take_stars(tokens);
    let statement = tokens.rest(|parser| {
        let token = parser.next_token();
        parser.parse_delete(token)
    })?;
    match statement {
        sql::Statement::Delete(delete) => Ok(Statement::Delete(Delete { ignore, delete: Box::new(delete) })),
        _ => Err(ParseError::not_supported("this form of DELETE")),
    }
}

/// `DELETE t.*, u.* FROM …` and `DELETE FROM t.* USING …` mean the tables.
fn take_stars(tokens: &mut Tokens<'_>) {
    let first = tokens.place() + 1;
    let all = tokens.tokens_mut();
    let is = |at: usize, keyword: Keyword| matches!(all.get(at).map(|token| &token.token), Some(Token::Word(word)) if word.keyword == keyword);
    let (from, end) = if is(first, Keyword::FROM) { (first + 1, Keyword::USING) } else { (first, Keyword::FROM) };
    let is_of_list = |at: &usize| {
        !is(*at, end) && matches!(all[*at].token, Token::Word(_) | Token::Period | Token::Comma | Token::Mul)
    };
    let behind = (from..all.len()).take_while(is_of_list).last().map_or(from, |last| last + 1);
    if !is(behind, end) {
        return;
    }
    let is_star =
        |at: usize| all[at].token == Token::Period && all.get(at + 1).is_some_and(|next| next.token == Token::Mul);
    let mut goes = vec![false; all.len()];
    for at in (from..behind.saturating_sub(1)).filter(|at| is_star(*at)) {
        (goes[at], goes[at + 1]) = (true, true);
    }
    remove(all, &goes);
}

/// Takes the marked tokens away. (One after the other, each would move all that follow it.)
fn remove(all: &mut Vec<TokenWithSpan>, goes: &[bool]) {
    let mut goes = goes.iter();
    all.retain(|_| !goes.next().is_some_and(|goes| *goes));
}

/// Takes modifiers after the first word away; whether IGNORE was among them.
fn take_modifiers(tokens: &mut Tokens<'_>, modifiers: &[&str]) -> bool {
    let place = tokens.place() + 1;
    let (mut ignore, mut end) = (false, place);
    while let Some(word) = word_at(tokens, end).filter(|word| modifiers.contains(word)) {
        ignore |= word == "IGNORE";
        end += 1;
    }
    tokens.tokens_mut().drain(place..end);
    ignore
}

/// The word at an absolute place as one of those that this module asks for.
fn word_at(tokens: &Tokens<'_>, place: usize) -> Option<&'static str> {
    const ASKED: &[&str] =
        &["LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "QUICK", "IGNORE", "INTO", "SET", "VALUE", "VALUES"];
    let word = tokens.peek_word_at(place - tokens.place())?;
    ASKED.iter().find(|asked| asked.eq_ignore_ascii_case(word)).copied()
}

/// `VALUE` is VALUES. (Nothing else of INSERT needs other words.)
fn rewrite_insert(tokens: &mut Tokens<'_>, from: usize) {
    let all = tokens.tokens_mut();
    for place in from..all.len().saturating_sub(1) {
        let follows_name_or_list = matches!(&all[place - 1].token, Token::RParen | Token::Word(_));
        if let Token::Word(word) = &mut all[place].token
            && word.quote_style.is_none()
            && follows_name_or_list
            && word.value.eq_ignore_ascii_case("VALUE")
            && all[place + 1].token == Token::LParen
        {
            all[place].token = Token::make_word("VALUES", None);
            return;
        }
    }
}

/// `… INTO @a, @b` at the end of a query goes before its FROM, where `sqlparser` expects it.
fn rewrite_into(tokens: &mut Tokens<'_>) {
    let from = tokens.place();
    let all = tokens.tokens_mut();
    let is_variable = |token: &Token| matches!(token, Token::Word(word) if word.value.starts_with('@'));
    let mut start = all.len();
    while start > from && (is_variable(&all[start - 1].token) || all[start - 1].token == Token::Comma) {
        start -= 1;
    }
    let is_into = |token: &Token| matches!(token, Token::Word(word) if word.keyword == Keyword::INTO);
    if start == all.len() || start == from || !is_into(&all[start - 1].token) {
        return;
    }
    let mut depth = 0;
    let first_from = all.iter().position(|token| {
        match &token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            Token::Word(word) => return depth == 0 && word.keyword == Keyword::FROM,
            _ => {}
        }
        false
    });
    if let Some(place) = first_from.filter(|place| *place < start - 1) {
        let into: Vec<TokenWithSpan> = all.drain(start - 1..).collect();
        all.splice(place..place, into);
    }
}

/// Clauses that `sqlparser` has in other words: `LOCK IN SHARE MODE` is `FOR SHARE`; and its joins.
fn rewrite(tokens: &mut Tokens<'_>) -> Parsed<()> {
    refuse_into_file(tokens)?;
    let from = tokens.place();
    let all = tokens.tokens_mut();
    let is =
        |token: &TokenWithSpan, keyword: Keyword| matches!(&token.token, Token::Word(word) if word.keyword == keyword);
    let mut goes = Vec::new();
    let mut place = from;
    while place + 3 < all.len() {
        if is(&all[place], Keyword::LOCK) && is(&all[place + 1], Keyword::IN) && is(&all[place + 2], Keyword::SHARE) {
            all[place].token = Token::make_word("FOR", None);
            goes.resize(all.len(), false);
            (goes[place + 1], goes[place + 3]) = (true, true);
            place += 3;
        }
        place += 1;
    }
    if !goes.is_empty() {
        remove(all, &goes);
    }
    joins::prepare(all, from)
}

/// 1235 for INTO OUTFILE and INTO DUMPFILE, wherever they stand.
fn refuse_into_file(tokens: &mut Tokens<'_>) -> Parsed<()> {
    let from = tokens.place();
    let file = tokens.tokens_mut()[from..].windows(3).find_map(|words| match [0, 1, 2].map(|at| &words[at].token) {
        [Token::Word(into), Token::Word(file), Token::SingleQuotedString(_) | Token::DoubleQuotedString(_)]
            if into.keyword == Keyword::INTO && file.quote_style.is_none() =>
        {
            ["OUTFILE", "DUMPFILE"].into_iter().find(|name| file.value.eq_ignore_ascii_case(name))
        }
        _ => None,
    });
    match file {
        Some(file) => Err(ParseError::not_supported(format_args!("SELECT … INTO {file}"))),
        None => Ok(()),
    }
}

/// DO.
pub(super) fn do_statement(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect("DO")?;
    let exprs = tokens.rest(|parser| parser.parse_comma_separated(Parser::parse_select_item))?;
    match query_of(exprs) {
        Some(query) => Ok(Statement::Do(Box::new(query))),
        None => tokens.unexpected(),
    }
}

/// `SELECT exprs`.
fn query_of(items: Vec<sql::SelectItem>) -> Option<sql::Query> {
    let parsed = Parser::parse_sql(&sqlparser::dialect::MySqlDialect {}, "SELECT 1").ok()?;
    let Some(sql::Statement::Query(mut query)) = parsed.into_iter().next() else { return None };
    let sql::SetExpr::Select(select) = &mut *query.body else { return None };
    let is_expr = |item: &sql::SelectItem| {
        matches!(item, sql::SelectItem::UnnamedExpr(_) | sql::SelectItem::ExprWithAlias { .. })
    };
    if !items.iter().all(is_expr) {
        return None;
    }
    select.projection = items;
    Some(*query)
}

/// `TABLE t …` as `SELECT * FROM t …`: `sqlparser` knows nothing that may follow it.
fn rewrite_table(tokens: &mut Tokens<'_>) {
    if !tokens.next_are("TABLE") {
        return;
    }
    let place = tokens.place();
    let all = tokens.tokens_mut();
    let span = all[place].span;
    let words = [Token::make_word("SELECT", None), Token::Mul, Token::make_word("FROM", None)];
    all.splice(place..=place, words.map(|token| TokenWithSpan::new(token, span)));
}

/// EXPLAIN of a statement or of a table.
pub(super) fn explain(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect_one(&["EXPLAIN", "DESCRIBE", "DESC"])?;
    let analyze = tokens.accept("ANALYZE");
    let _ = tokens.accept("EXTENDED") || tokens.accept("PARTITIONS");
    let mut format = if analyze { ExplainFormat::Tree } else { ExplainFormat::Traditional };
    if tokens.next_are("FORMAT") && tokens.peek_at(1) == Some(&Token::Eq) {
        tokens.accept("FORMAT");
        tokens.expect_token(&Token::Eq)?;
        format = match tokens.name_or_string()?.to_ascii_uppercase().as_str() {
            "TRADITIONAL" => ExplainFormat::Traditional,
            "TREE" => ExplainFormat::Tree,
            "JSON" => ExplainFormat::Json,
            other => {
                let message = format!("Unknown EXPLAIN format name: '{}'", other.to_lowercase());
                return Err(SqlError::new(codes::UNKNOWN_EXPLAIN_FORMAT, message).into());
            }
        };
    }
    if tokens.next_are("INTO") {
        return Err(ParseError::not_supported("EXPLAIN INTO"));
    }
    let word = tokens.peek_word().unwrap_or_default().to_ascii_uppercase();
    let statement = match word.as_str() {
        "SELECT" | "WITH" | "VALUES" => query(tokens)?,
        "INSERT" | "REPLACE" => insert(tokens)?,
        "UPDATE" => update(tokens)?,
        "DELETE" => delete(tokens)?,
        "FOR" => return Err(ParseError::not_supported("EXPLAIN FOR CONNECTION")),
        "" if tokens.peek() == Some(&Token::LParen) => query(tokens)?,
        _ if analyze => return tokens.unexpected(),
        _ => return describe(tokens),
    };
    // All tokens have gone to `sqlparser`.
    Ok(Statement::Explain(Explain { format, analyze, statement: Box::new(statement) }))
}

/// DESCRIBE table [column | pattern].
fn describe(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let table = tokens.table_name()?;
    let filter = match tokens.peek() {
        None => super::ast::Filter::None,
        Some(Token::SingleQuotedString(_)) => super::ast::Filter::like(&tokens.string()?),
        Some(Token::Word(_)) => super::ast::Filter::like(&tokens.any_word()?),
        Some(_) => filter(tokens)?,
    };
    Ok(Statement::Show(Show::Columns { full: false, extended: false, table, filter }))
}

/// A query that is the rest of the statement (CREATE TABLE … SELECT).
pub(super) fn query_rest(tokens: &mut Tokens<'_>) -> Parsed<Box<sql::Query>> {
    rewrite(tokens)?;
    tokens.rest(|parser: &mut Parser<'_>| -> Result<_, ParserError> { parser.parse_query() })
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParseContext, parse_one};

    fn error(text: &str) -> Option<u16> {
        parse_one(text, &ParseContext::default()).err().map(|error| error.code)
    }

    #[test]
    fn stars_and_clauses_are_taken_away_once_for_all() {
        assert_eq!(error(&format!("DELETE t.*{} FROM t", ", t.*".repeat(200_000))), None);
        assert_eq!(error(&format!("DELETE {} FROM t", "QUICK ".repeat(500_000))), None);
        assert_eq!(error("SELECT 1 FROM t LOCK IN SHARE MODE"), None);
        assert_eq!(error("DELETE d.t.*, u.* FROM d.t, u"), None);
        assert_eq!(error("DELETE FROM t.*, u USING t, u"), None);
        error(&format!("SELECT 1 {}", ", LOCK IN SHARE x".repeat(200_000)));
    }
}
