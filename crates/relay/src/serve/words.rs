//! A statement as words: just enough of SQL to read what replicas and tools ask.
//!
//! Comments are left out, what stands in a comment with a version (`/*!40100 … */`) is taken as if it stood there.

use std::ops::Range;

/// A piece of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// A name or keyword, as it is written.
    Name(String),
    /// `'…'` or `"…"`, without the quotes.
    Text(String),
    /// Digits, maybe with a point.
    Number(String),
    /// `@name`, in lower case.
    UserVariable(String),
    /// `@@name`, `@@global.name`, …: the name, in lower case.
    SystemVariable(String),
    /// Anything else, a character at a time (`:=` is a `=`).
    Sign(char),
}

impl Word {
    /// Whether it is this keyword.
    pub(crate) fn is(&self, keyword: &str) -> bool {
        matches!(self, Word::Name(name) if name.eq_ignore_ascii_case(keyword))
    }
}

/// The words of a statement, each with where it begins and ends.
pub(crate) fn words(sql: &str) -> Vec<(Word, Range<usize>)> {
    let mut lexer = Lexer { sql, at: 0 };
    let mut found = Vec::new();
    while let Some(start) = lexer.skip_blanks() {
        let word = lexer.word();
        found.push((word, start..lexer.at));
    }
    found
}

struct Lexer<'a> {
    sql: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.sql[self.at..]
    }

    fn take_while(&mut self, takes: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let len = rest.find(|c| !takes(c)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    /// Where the next word begins; `None` at the end.
    fn skip_blanks(&mut self) -> Option<usize> {
        loop {
            self.take_while(char::is_whitespace);
            let rest = self.rest();
            if rest.is_empty() {
                return None;
            } else if rest.starts_with("/*!") {
                self.at += "/*!".len();
                self.take_while(|c| c.is_ascii_digit());
            } else if rest.starts_with("/*") {
                self.at += rest.find("*/").map_or(rest.len(), |end| end + "*/".len());
            } else if rest.starts_with("*/") {
                self.at += "*/".len();
            } else if rest.starts_with('#') || rest.starts_with("-- ") {
                self.take_while(|c| c != '\n');
            } else {
                return Some(self.at);
            }
        }
    }

    fn word(&mut self) -> Word {
        let rest = self.rest();
        let first = rest.chars().next().unwrap_or(' ');
        match first {
            '\'' | '"' => Word::Text(self.quoted(first)),
            '`' => Word::Name(self.quoted(first)),
            '@' if rest.starts_with("@@") => {
                self.at += 2;
                let name = self.dotted().to_ascii_lowercase();
                let scopes = ["global.", "session.", "local."];
                Word::SystemVariable(
                    scopes.iter().find_map(|scope| name.strip_prefix(scope)).unwrap_or(&name).to_owned(),
                )
            }
            '@' => {
                self.at += 1;
                match self.rest().chars().next() {
                    Some(quote @ ('\'' | '"' | '`')) => Word::UserVariable(self.quoted(quote).to_ascii_lowercase()),
                    _ => Word::UserVariable(self.dotted().to_ascii_lowercase()),
                }
            }
            ':' if rest.starts_with(":=") => {
                self.at += 2;
                Word::Sign('=')
            }
            '0'..='9' => Word::Number(self.take_while(|c| c.is_ascii_digit() || c == '.').to_owned()),
            _ if is_of_name(first) => Word::Name(self.take_while(is_of_name).to_owned()),
            sign => {
                self.at += sign.len_utf8();
                Word::Sign(sign)
            }
        }
    }

    fn dotted(&mut self) -> String {
        self.take_while(|c| is_of_name(c) || c == '.' || c == '`').replace('`', "")
    }

    /// Up to the closing quote, which may be missing.
    fn quoted(&mut self, quote: char) -> String {
        self.at += 1;
        let mut text = String::new();
        let mut rest = self.rest().chars();
        while let Some(next) = rest.next() {
            let is_doubled = next == quote && rest.as_str().starts_with(quote);
            if next == quote && !is_doubled {
                break;
            }
            let escapes = next == '\\' && quote != '`';
            text.extend(if is_doubled || escapes { rest.next() } else { Some(next) });
        }
        self.at = self.sql.len() - rest.as_str().len();
        text
    }
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sql: &str) -> Vec<Word> {
        words(sql).into_iter().map(|(word, _)| word).collect()
    }

    #[test]
    fn words_of_what_replicas_say() {
        let name = |text: &str| Word::Name(text.into());
        let (text, sign) = (|text: &str| Word::Text(text.into()), Word::Sign);
        let server_id = Word::SystemVariable("server_id".into());
        assert_eq!(of("SELECT @@GLOBAL.`Server_Id` /* x */ # y"), [name("SELECT"), server_id]);
        let set = [
            name("SET"),
            Word::UserVariable("m".into()),
            sign('='),
            text("it's"),
            sign(','),
            name("b"),
            sign('='),
            text("\""),
        ];
        assert_eq!(of("SET @M := 'it''s', b=\"\\\"\""), set);
        assert_eq!(of("/*!40101 SET NAMES utf8 */;"), [name("SET"), name("NAMES"), name("utf8"), sign(';')]);
        assert_eq!(of("'never closed"), [text("never closed")]);
        assert_eq!(of("/* never closed"), []);
        assert_eq!(of("1.5 ü"), [Word::Number("1.5".into()), name("ü")]);
    }
}
