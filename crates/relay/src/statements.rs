//! The few statements that replicas and tools send before they ask for the log. Everything else is refused by name (1235).
//!
//! ```text
//! SELECT value [AS name], … [LIMIT n]      values: @@variable, @variable, 'text', number, NULL, UNIX_TIMESTAMP(), VERSION(),
//!                                          CONNECTION_ID(), CURRENT_USER(), USER(), DATABASE(), BINLOG_GTID_POS('file', n)
//! SET @variable = value, …                 SET NAMES …, SET of session variables: taken, and without effect
//! SHOW [GLOBAL | SESSION] VARIABLES [LIKE 'pattern' | WHERE Variable_name {= | LIKE | IN} …]
//! SHOW BINARY LOGS, SHOW BINARY LOG STATUS, SHOW REPLICA STATUS, SHOW WARNINGS, and the old names of these
//! ```

use std::sync::Arc;

use base::{SqlError, codes};
use types::Value;

use crate::Relay;
use crate::connection::Session;
use crate::variables;

/// What a statement gives.
pub(crate) enum Answer {
    Done,
    /// Names of columns, and rows.
    Rows(Vec<String>, Vec<Vec<Option<String>>>),
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// In lower case.
    Word(String),
    Number(String),
    Text(String),
    /// `@name`, in lower case.
    User(String),
    /// `@@name` without its scope, in lower case.
    System(String),
    Sign(char),
}

/// Where each token begins and ends in the text.
type Spans = Vec<(Token, usize, usize)>;

/// Runs a statement.
pub(crate) async fn execute(relay: &Arc<Relay>, session: &mut Session, text: &str) -> Result<Answer, SqlError> {
    let text = text.trim().trim_end_matches(';').trim_end();
    let tokens = tokens(text).ok_or_else(|| refused(text))?;
    let mut cursor = Cursor { text, tokens: &tokens, at: 0 };
    let answer = match cursor.word().as_str() {
        "select" => select(relay, session, &mut cursor).await,
        "set" => set(relay, session, &mut cursor).await,
        "show" => show(relay, &mut cursor),
        _ => None,
    };
    answer.unwrap_or_else(|| Err(refused(text)))
}

fn refused(text: &str) -> SqlError {
    let short: String = text.chars().take(100).collect();
    SqlError::not_supported(short)
}

/// `None` for what is no statement of ours.
type Outcome = Option<Result<Answer, SqlError>>;

async fn select(relay: &Arc<Relay>, session: &Session, cursor: &mut Cursor<'_>) -> Outcome {
    let (mut columns, mut row) = (Vec::new(), Vec::new());
    loop {
        let start = cursor.at;
        let value = match value(relay, session, cursor).await? {
            Ok(value) => value,
            Err(error) => return Some(Err(error)),
        };
        let mut name = cursor.text_of(start, cursor.at).to_owned();
        if cursor.take_word("as") {
            name = cursor.name()?;
        }
        columns.push(name);
        row.push(crate::dump::text(&value));
        if !cursor.take_sign(',') {
            break;
        }
    }
    if cursor.take_word("limit") {
        cursor.next();
    }
    cursor.is_over().then_some(Ok(Answer::Rows(columns, vec![row])))
}

async fn value(relay: &Arc<Relay>, session: &Session, cursor: &mut Cursor<'_>) -> Option<Result<Value, SqlError>> {
    let value = match cursor.next()? {
        Token::Number(text) | Token::Text(text) => Value::Str(text.into()),
        Token::User(name) => session.variable(&[&name]).cloned().unwrap_or(Value::Null),
        Token::System(name) => match variables::value(relay, session, &name).await {
            Some(value) => value.map_or(Value::Null, |text| Value::Str(text.into())),
            None => {
                let text = format!("Unknown system variable '{name}'");
                return Some(Err(SqlError::new(codes::UNKNOWN_SYSTEM_VARIABLE, text)));
            }
        },
        Token::Word(word) if word == "null" => Value::Null,
        Token::Word(word) if matches!(word.as_str(), "on" | "off" | "true" | "false") => Value::Str(word.into()),
        Token::Word(function) => return function_of(relay, session, &function, cursor).await,
        Token::Sign(_) => return None,
    };
    Some(Ok(value))
}

async fn function_of(
    relay: &Arc<Relay>,
    session: &Session,
    function: &str,
    cursor: &mut Cursor<'_>,
) -> Option<Result<Value, SqlError>> {
    let has_brackets = cursor.take_sign('(');
    if !has_brackets && function != "current_user" {
        return None;
    }
    let text = match function {
        "unix_timestamp" => (relay.env().clock.now().0 / 1_000_000).to_string(),
        "version" => variables::version(relay),
        "connection_id" => session.id.to_string(),
        "user" | "current_user" | "session_user" | "system_user" => format!("{}@%", relay.options.user),
        "database" | "schema" => {
            return cursor.take_sign(')').then_some(Ok(Value::Null));
        }
        "binlog_gtid_pos" => {
            let (Token::Text(file), true, Token::Number(at)) = (cursor.next()?, cursor.take_sign(','), cursor.next()?)
            else {
                return None;
            };
            let found = variables::maria_position(relay, &file, at.parse().ok()?).await;
            return cursor.take_sign(')').then_some(Ok(found.map_or(Value::Null, |text| Value::Str(text.into()))));
        }
        _ => return None,
    };
    (!has_brackets || cursor.take_sign(')')).then_some(Ok(Value::Str(text.into())))
}

async fn set(relay: &Arc<Relay>, session: &mut Session, cursor: &mut Cursor<'_>) -> Outcome {
    if matches!(cursor.peek(), Some(Token::Word(word)) if word == "names" || word == "character") {
        return Some(Ok(Answer::Done));
    }
    loop {
        if cursor.take_word("global") || cursor.take_word("persist") {
            return None;
        }
        let _ = cursor.take_word("session") || cursor.take_word("local");
        let target = cursor.next()?;
        cursor.take_sign(':');
        if !cursor.take_sign('=') {
            return None;
        }
        let value = match value(relay, session, cursor).await {
            Some(Ok(value)) => value,
            Some(Err(error)) => return Some(Err(error)),
            // DEFAULT, or a word such as utf8mb4.
            None => Value::Null,
        };
        match target {
            Token::User(name) => {
                /// A client has no use for more.
                const VARIABLES_MAX: usize = 256;
                session.variables.retain(|(known, _)| *known != name);
                if session.variables.len() < VARIABLES_MAX {
                    session.variables.push((name, value));
                }
            }
            Token::Word(_) | Token::System(_) => {}
            _ => return None,
        }
        if !cursor.take_sign(',') {
            return cursor.is_over().then_some(Ok(Answer::Done));
        }
    }
}

fn show(relay: &Arc<Relay>, cursor: &mut Cursor<'_>) -> Outcome {
    let _ = cursor.take_word("global") || cursor.take_word("session") || cursor.take_word("local");
    let words = cursor.words();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["variables", ..] => {
            cursor.next();
            let filter = Filter::of(cursor)?;
            Some(Ok(variables::list(relay, |name| filter.takes(name))))
        }
        ["warnings" | "errors"] => {
            let columns = ["Level", "Code", "Message"].map(str::to_owned).to_vec();
            Some(Ok(Answer::Rows(columns, Vec::new())))
        }
        ["binary" | "master", "logs"] => Some(Ok(variables::binary_logs(relay))),
        ["binary", "log", "status"] | ["master" | "binlog", "status"] => Some(Ok(variables::log_status(relay))),
        ["replica" | "slave", "status", ..] | ["all", "replicas" | "slaves", "status"] => {
            Some(Ok(variables::replica_status(relay)))
        }
        ["replicas"] | ["slave", "hosts"] => Some(Ok(relay.dumps.list(relay.identity.server_id))),
        _ => None,
    }
}

/// Which variables are wanted.
enum Filter {
    All,
    Like(String),
    Names(Vec<String>),
}

impl Filter {
    fn of(cursor: &mut Cursor<'_>) -> Option<Self> {
        let text = |token: Token| if let Token::Text(text) = token { Some(text) } else { None };
        let filter = if cursor.is_over() {
            Filter::All
        } else if cursor.take_word("like") {
            Filter::Like(text(cursor.next()?)?)
        } else if cursor.take_word("where") && cursor.take_word("variable_name") {
            if cursor.take_word("like") {
                Filter::Like(text(cursor.next()?)?)
            } else if cursor.take_sign('=') {
                Filter::Names(vec![text(cursor.next()?)?])
            } else if cursor.take_word("in") && cursor.take_sign('(') {
                let mut names = vec![text(cursor.next()?)?];
                while cursor.take_sign(',') {
                    names.push(text(cursor.next()?)?);
                }
                cursor.take_sign(')').then_some(Filter::Names(names))?
            } else {
                return None;
            }
        } else {
            return None;
        };
        cursor.is_over().then_some(filter)
    }

    fn takes(&self, name: &str) -> bool {
        match self {
            Filter::All => true,
            Filter::Like(pattern) => is_like(name.as_bytes(), pattern.to_ascii_lowercase().as_bytes()),
            Filter::Names(names) => names.iter().any(|wanted| wanted.eq_ignore_ascii_case(name)),
        }
    }
}

/// `%` for anything, `_` for one; a `\` before one of these for itself.
fn is_like(text: &[u8], pattern: &[u8]) -> bool {
    match pattern {
        [] => text.is_empty(),
        [b'%', rest @ ..] => (0..=text.len()).any(|at| is_like(&text[at..], rest)),
        [b'\\', wanted, rest @ ..] | [wanted, rest @ ..] => match text {
            [found, others @ ..] => {
                let is_any = *wanted == b'_' && pattern[0] != b'\\';
                (is_any || found == wanted) && is_like(others, rest)
            }
            [] => false,
        },
    }
}

struct Cursor<'a> {
    text: &'a str,
    tokens: &'a Spans,
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _, _)| token)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.peek().cloned();
        self.at += 1;
        token
    }

    fn is_over(&self) -> bool {
        self.at >= self.tokens.len()
    }

    fn word(&mut self) -> String {
        match self.next() {
            Some(Token::Word(word)) => word,
            _ => String::new(),
        }
    }

    /// The words from here on, which stay.
    fn words(&self) -> Vec<String> {
        let rest = self.tokens.iter().skip(self.at);
        let words =
            rest.map_while(|(token, _, _)| if let Token::Word(word) = token { Some(word.clone()) } else { None });
        words.collect()
    }

    /// A column's alias.
    fn name(&mut self) -> Option<String> {
        let at = self.at;
        match self.next()? {
            Token::Word(_) => Some(self.text_of(at, self.at).to_owned()),
            Token::Text(text) => Some(text),
            _ => None,
        }
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_there = matches!(self.peek(), Some(Token::Word(found)) if found == word);
        self.at += usize::from(is_there);
        is_there
    }

    fn take_sign(&mut self, sign: char) -> bool {
        let is_there = self.peek() == Some(&Token::Sign(sign));
        self.at += usize::from(is_there);
        is_there
    }

    /// The text of some tokens.
    fn text_of(&self, from: usize, to: usize) -> &str {
        match (self.tokens.get(from), self.tokens.get(to.saturating_sub(1))) {
            (Some((_, start, _)), Some((_, _, end))) => &self.text[*start..*end],
            _ => "",
        }
    }
}

/// `None` if something is no token of ours. Comments are left out.
fn tokens(text: &str) -> Option<Spans> {
    let mut found = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some(&(start, first)) = rest.peek() {
        if text[start..].starts_with("/*") {
            let end = start + 2 + text[start + 2..].find("*/")? + 2;
            while rest.next_if(|(at, _)| *at < end).is_some() {}
            continue;
        }
        rest.next();
        let mut take = |from: usize| {
            while rest.next_if(|(_, c)| c.is_alphanumeric() || matches!(c, '_' | '$' | '.')).is_some() {}
            text[from..rest.peek().map_or(text.len(), |(at, _)| *at)].to_ascii_lowercase()
        };
        let token = match first {
            c if c.is_whitespace() => continue,
            '@' if text[start..].starts_with("@@") => {
                let name = take(start + 1);
                // The second @ stopped it: it goes on behind that.
                let name = if name.is_empty() || name == "@" { system_name(text, &mut rest) } else { name };
                let name = name.trim_start_matches('@');
                let scopes = ["global.", "session.", "local."];
                let scope = scopes.into_iter().find(|scope| name.starts_with(scope)).unwrap_or("");
                Token::System(name[scope.len()..].to_owned())
            }
            '@' => Token::User(take(start + 1)),
            c if c.is_ascii_digit() || c == '-' => Token::Number(take(start)),
            c if c.is_alphabetic() || c == '_' => Token::Word(take(start)),
            '\'' | '"' | '`' => {
                let mut content = String::new();
                loop {
                    match rest.next()?.1 {
                        c if c == first && rest.next_if(|(_, next)| *next == first).is_none() => break,
                        '\\' if first != '`' => content.push(rest.next()?.1),
                        c => content.push(c),
                    }
                }
                if first == '`' { Token::Word(content.to_ascii_lowercase()) } else { Token::Text(content) }
            }
            c => Token::Sign(c),
        };
        let end = rest.peek().map_or(text.len(), |(at, _)| *at);
        found.push((token, start, end));
    }
    Some(found)
}

/// The name behind the second `@`.
fn system_name(text: &str, rest: &mut std::iter::Peekable<std::str::CharIndices<'_>>) -> String {
    rest.next();
    let start = rest.peek().map_or(text.len(), |(at, _)| *at);
    while rest.next_if(|(_, c)| c.is_alphanumeric() || matches!(c, '_' | '$' | '.')).is_some() {}
    text[start..rest.peek().map_or(text.len(), |(at, _)| *at)].to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_what_replicas_say() {
        let of = |text: &str| tokens(text).unwrap().into_iter().map(|(token, _, _)| token).collect::<Vec<_>>();
        let user = |name: &str| Token::User(name.to_owned());
        assert_eq!(
            of("SET @a = @@GLOBAL.Server_ID, @b='x''y'"),
            [
                Token::Word("set".into()),
                user("a"),
                Token::Sign('='),
                Token::System("server_id".into()),
                Token::Sign(','),
                user("b"),
                Token::Sign('='),
                Token::Text("x'y".into()),
            ]
        );
        assert_eq!(of("/* x */ 30000001024"), [Token::Number("30000001024".into())]);
        assert_eq!(tokens("'open"), None);
    }

    #[test]
    fn patterns() {
        assert!(is_like(b"server_id", b"server\\_id") && is_like(b"server_id", b"server_id"));
        assert!(is_like(b"binlog_checksum", b"%log%sum") && !is_like(b"x", b"y") && !is_like(b"xy", b"x"));
    }
}
