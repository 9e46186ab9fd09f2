//! MySQL's text as tokens.
//!
//! It knows quotes, escapes, comments for versions, variables with quotes, names that begin with digits. Space and comments give no tokens.
//! `\\N` is the word NULL; the third `?` has the number 2.
//!
//! # Invariants
//! - Whatever the text, the answer is tokens or an error with its place.
//! - Tokens stand in the order of their spans, which do not overlap.

use std::borrow::Cow;
use std::ops::Range;

use base::memory;
use types::SqlMode;

use crate::error::ParseError;
use crate::literal_rows::Cutter;
use crate::parse::may_hold_semicolons;
use crate::raw::version_comment;
use crate::span::Span;
use crate::token::{Token, TokenAt};
use crate::versions::{Comments, Opening, ReadComment, Reader, unread};

/// The tokens of one statement.
#[derive(Debug)]
pub struct Lexed<'a> {
    /// The tokens.
    pub tokens: Vec<TokenAt<'a>>,
    /// Where the statement ends: at its `;` or at the end of the text. What may be a stored program ends there, and its semicolons
    /// are among the tokens.
    pub end: usize,
    /// Where the next statement begins, if there is one.
    pub after: Option<usize>,
    /// How many `?` there are.
    pub param_count: usize,
    /// Whether there are semicolons among the tokens.
    pub has_semicolons: bool,
    /// Comments for versions.
    pub comments: Comments,
    /// Where the rows of literals are that have no tokens: see [`lex_without_rows`].
    pub literal_rows: Vec<Range<u32>>,
}

/// Bytes of text for whose tokens there is room at once; what is longer may be one long literal.
const RESERVED_FOR: usize = 64 << 10;

/// Reads one statement. Of the modes ANSI_QUOTES, NO_BACKSLASH_ESCAPES and PIPES_AS_CONCAT count.
///
/// # Errors
/// 1064 for what is no token, and for quotes and comments that have no end; 4082 beyond the memory of the session.
pub fn lex(text: &str, sql_mode: SqlMode) -> Result<Lexed<'_>, ParseError> {
    read(Lexer::new(text, sql_mode))
}

/// Reads one statement with the comments that `reader` reads, and without the rows of literals behind the first row of an INSERT: of those only the
/// places are kept.
///
/// # Errors
/// As of [`lex`].
pub fn lex_without_rows(text: &str, sql_mode: SqlMode, reader: Reader) -> Result<Lexed<'_>, ParseError> {
    read(Lexer { cutter: Some(Cutter::new()), reader, ..Lexer::new(text, sql_mode) })
}

fn read(mut lexer: Lexer<'_>) -> Result<Lexed<'_>, ParseError> {
    // A word and its space take about six bytes.
    lexer.tokens.reserve(lexer.text.len().min(RESERVED_FOR) / 6 + 4);
    let mut end = None;
    loop {
        lexer.skip_space()?;
        memory::check_room(&lexer.tokens, 1)?;
        let start = lexer.at;
        let Some(token) = lexer.token()? else { break };
        if end.is_some() {
            // Something after the `;`: this is where the next statement begins.
            let end = end.unwrap_or(start);
            return Ok(lexer.done(end, Some(start)));
        }
        if token == Token::Semicolon && !lexer.holds_semicolons() {
            end = Some(start);
        } else {
            lexer.tokens.push(TokenAt { token, span: Span::new(start, lexer.at) });
            lexer.cut(start)?;
        }
    }
    if lexer.in_version_comment {
        return Err(ParseError::syntax(lexer.at));
    }
    let end = end.unwrap_or(lexer.at);
    Ok(lexer.done(end, None))
}

pub(crate) struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    mode: SqlMode,
    /// Who decides which comments for versions are read.
    reader: Reader,
    /// Between `/*!` and its `*/`.
    in_version_comment: bool,
    comments: Comments,
    param_count: usize,
    tokens: Vec<TokenAt<'a>>,
    cutter: Option<Cutter>,
    /// Whether what is read may be a program, once a semicolon has come.
    is_program: Option<bool>,
}

/// What an identifier may go on with: letters, digits, `_`, `$`, and everything that is not ASCII.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str, mode: SqlMode) -> Self {
        Lexer {
            text,
            bytes: text.as_bytes(),
            at: 0,
            mode,
            reader: Reader::Commuter,
            in_version_comment: false,
            comments: Comments::default(),
            param_count: 0,
            tokens: Vec::new(),
            cutter: None,
            is_program: None,
        }
    }

    fn done(self, end: usize, after: Option<usize>) -> Lexed<'a> {
        let Lexer { tokens, param_count, comments, cutter, is_program, .. } = self;
        let literal_rows = cutter.map(Cutter::places).unwrap_or_default();
        Lexed { tokens, end, after, param_count, has_semicolons: is_program == Some(true), comments, literal_rows }
    }

    /// The next token alone; `None` at the text's end.
    pub(crate) fn next_token(&mut self) -> Result<Option<Token<'a>>, ParseError> {
        self.skip_space()?;
        self.token()
    }

    /// Takes the row of literals away that the last token, which began at `start`, ends.
    fn cut(&mut self, start: usize) -> Result<(), ParseError> {
        let Some(cutter) = &mut self.cutter else { return Ok(()) };
        if !self.comments.is_empty() {
            // A row may end in a comment that is read; and who reads a row again need not know who reads which comments.
            cutter.stop();
        }
        Ok(cutter.follow(&mut self.tokens, start..self.at)?)
    }

    /// Whether a semicolon here may be one of a program.
    fn holds_semicolons(&mut self) -> bool {
        *self.is_program.get_or_insert_with(|| may_hold_semicolons(&self.tokens))
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn starts_with(&self, what: &[u8]) -> bool {
        self.bytes[self.at..].starts_with(what)
    }

    /// Space, comments, and both ends of version comments.
    fn skip_space(&mut self) -> Result<(), ParseError> {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'#' => self.skip_line(),
                b'-' if self.peek(1) == b'-' && (self.peek(2) <= b' ' || self.at + 2 >= self.bytes.len()) => {
                    self.skip_line()
                }
                b'/' if self.peek(1) == b'*' => self.open_comment()?,
                b'*' if self.in_version_comment && self.peek(1) == b'/' => {
                    self.in_version_comment = false;
                    self.comments.read.last_mut().into_iter().for_each(|comment| comment.inside.end = self.at);
                    self.at += 2;
                }
                _ => break,
            }
        }
        Ok(())
    }

    fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| end + 1);
    }

    fn open_comment(&mut self) -> Result<(), ParseError> {
        if !self.in_version_comment
            && let Some(opening) = version_comment(&self.bytes[self.at + 2..], self.reader)
        {
            self.comments.read.push(ReadComment::at(self.at, opening));
            self.at += 2 + opening.length;
            self.in_version_comment = true;
            return Ok(());
        }
        let rest = &self.bytes[self.at..];
        let length = unread(rest).ok_or(ParseError::syntax(self.at))?;
        if Opening::of(&rest[2..]).is_some() {
            self.comments.unread.push(self.at..self.at + length);
        }
        self.at += length;
        Ok(())
    }

    fn token(&mut self) -> Result<Option<Token<'a>>, ParseError> {
        let Some(&byte) = self.bytes.get(self.at) else { return Ok(None) };
        let token = match byte {
            b'\'' => Token::Text(self.quoted(b'\'', true)?),
            b'"' if self.mode.has(SqlMode::ANSI_QUOTES) => Token::Name(self.quoted(b'"', false)?),
            b'"' => Token::Text(self.quoted(b'"', true)?),
            b'`' => Token::Name(self.quoted(b'`', false)?),
            b'@' => self.variable()?,
            b'?' => {
                self.at += 1;
                self.param_count += 1;
                Token::Param(self.param_count - 1)
            }
            b'x' | b'X' if self.peek(1) == b'\'' => self.hex_string()?,
            b'b' | b'B' if self.peek(1) == b'\'' => self.bit_string()?,
            b'n' | b'N' if self.peek(1) == b'\'' => {
                self.at += 1;
                Token::NationalText(self.quoted(b'\'', true)?)
            }
            b'0'..=b'9' => self.number_or_word(),
            b'.' if self.peek(1).is_ascii_digit() && !self.after_name() => self.number(),
            _ if is_word(byte) => self.word(),
            b'\\' if self.peek(1) == b'N' => {
                self.at += 2;
                Token::Word("NULL")
            }
            _ => return self.operator().map(Some),
        };
        Ok(Some(token))
    }

    /// Whether a `.` here would follow a name, so that `t.1a` is a column and `(.5)` a number.
    fn after_name(&self) -> bool {
        let is_name = |token: &TokenAt<'_>| is_name(&token.token) && token.span.end as usize == self.at;
        self.tokens.last().is_some_and(is_name)
    }

    /// Quoted text with its escapes undone; `at` is on the opening quote. What has none is that piece of the text.
    fn quoted(&mut self, quote: u8, escapes: bool) -> Result<Cow<'a, str>, ParseError> {
        let escapes = escapes && !self.mode.has(SqlMode::NO_BACKSLASH_ESCAPES);
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        let mut copied = self.at;
        loop {
            let Some(&byte) = self.bytes.get(self.at) else { return Err(ParseError::syntax(start)) };
            if byte == quote {
                let piece = &self.text[copied..self.at];
                self.at += 1;
                if self.peek(0) != quote {
                    if copied == start + 1 {
                        return Ok(Cow::Borrowed(piece));
                    }
                    text.push_str(piece);
                    return Ok(Cow::Owned(text));
                }
                // Doubled: the second one is part of the text.
                text.push_str(piece);
                copied = self.at;
                self.at += 1;
            } else if byte == b'\\' && escapes {
                text.push_str(&self.text[copied..self.at]);
                self.at += 1;
                copied = self.at;
                if let Some(meant) = self.escaped() {
                    text.push_str(meant);
                    copied += 1;
                }
                // The escaped character is never a closing quote.
                self.at += self.text[self.at..].chars().next().map_or(0, char::len_utf8);
            } else {
                self.at += 1;
            }
        }
    }

    /// What `\` and the character at `at` mean; `None` for the character itself. `\%` and `\_` keep their backslash, which LIKE needs.
    fn escaped(&self) -> Option<&'static str> {
        Some(match self.peek(0) {
            b'0' => "\0",
            b'b' => "\u{8}",
            b'n' => "\n",
            b'r' => "\r",
            b't' => "\t",
            b'Z' => "\u{1a}",
            b'%' => "\\%",
            b'_' => "\\_",
            _ => return None,
        })
    }

    /// `@a`, `@'a b'`, `@@a`
    fn variable(&mut self) -> Result<Token<'a>, ParseError> {
        let start = self.at;
        self.at += 1;
        let is_system = self.peek(0) == b'@';
        self.at += usize::from(is_system);
        let name_start = self.at;
        let name = match self.peek(0) {
            // Names of settings have no quotes of texts.
            b'\'' | b'"' if is_system => return Err(ParseError::syntax(self.at)),
            quote @ (b'\'' | b'"' | b'`') => self.quoted(quote, quote != b'`')?,
            _ => {
                while is_word(self.peek(0)) || !is_system && self.peek(0) == b'.' {
                    self.at += 1;
                }
                Cow::Borrowed(&self.text[name_start..self.at])
            }
        };
        if is_system && name.is_empty() {
            return Err(ParseError::syntax(start));
        }
        Ok(if is_system { Token::SystemVariable(name) } else { Token::Variable(name) })
    }

    fn hex_string(&mut self) -> Result<Token<'a>, ParseError> {
        let start = self.at;
        self.at += 1;
        let digits = self.quoted(b'\'', false)?;
        if digits.len() % 2 != 0 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(ParseError::syntax(start));
        }
        Ok(Token::Hex(digits))
    }

    fn bit_string(&mut self) -> Result<Token<'a>, ParseError> {
        let start = self.at;
        self.at += 1;
        let digits = self.quoted(b'\'', false)?;
        if !digits.bytes().all(|digit| matches!(digit, b'0' | b'1')) {
            return Err(ParseError::syntax(start));
        }
        Ok(Token::Bits(digits))
    }

    /// `0x1F`, `0b01`, `12`, `1.5e3`, `1st_name`.
    fn number_or_word(&mut self) -> Token<'a> {
        if self.after_period() {
            return self.word();
        }
        let digits = |lexer: &Self, skip: usize, is: fn(&u8) -> bool| {
            let rest = &lexer.bytes[lexer.at + skip..];
            let length = rest.iter().take_while(|byte| is(byte)).count();
            (length > 0 && !rest.get(length).copied().is_some_and(is_word)).then_some(length)
        };
        if self.starts_with(b"0x")
            && let Some(length) = digits(self, 2, u8::is_ascii_hexdigit)
        {
            let hex = &self.text[self.at + 2..self.at + 2 + length];
            self.at += 2 + length;
            return Token::Hex(if length % 2 == 0 { Cow::Borrowed(hex) } else { Cow::Owned(format!("0{hex}")) });
        }
        if self.starts_with(b"0b")
            && let Some(length) = digits(self, 2, |byte| matches!(byte, b'0' | b'1'))
        {
            let bits = &self.text[self.at + 2..self.at + 2 + length];
            self.at += 2 + length;
            return Token::Bits(Cow::Borrowed(bits));
        }
        self.number()
    }

    /// Whether the token before is a `.` that touches this one and follows a name.
    fn after_period(&self) -> bool {
        let [.., name, period] = self.tokens.as_slice() else { return false };
        period.token == Token::Period && period.span.end as usize == self.at && is_name(&name.token)
    }

    fn number(&mut self) -> Token<'a> {
        let start = self.at;
        let skip_digits = |lexer: &mut Self| {
            while lexer.peek(0).is_ascii_digit() {
                lexer.at += 1;
            }
        };
        skip_digits(self);
        let mut fraction = false;
        // `1..3` is a range.
        if self.peek(0) == b'.' && self.peek(1) != b'.' {
            fraction = true;
            self.at += 1;
            skip_digits(self);
        }
        if matches!(self.peek(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
            if self.peek(1 + sign).is_ascii_digit() {
                self.at += 1 + sign;
                skip_digits(self);
                return Token::Number(&self.text[start..self.at]);
            }
        }
        if !fraction && is_word(self.peek(0)) {
            // A name that begins with digits.
            self.at = start;
            return self.word();
        }
        Token::Number(&self.text[start..self.at])
    }

    fn word(&mut self) -> Token<'a> {
        let start = self.at;
        while is_word(self.peek(0)) && self.at < self.bytes.len() {
            self.at += 1;
        }
        Token::Word(&self.text[start..self.at])
    }

    fn operator(&mut self) -> Result<Token<'a>, ParseError> {
        let (length, token) = match (self.peek(0), self.peek(1), self.peek(2)) {
            (b'<', b'=', b'>') => (3, Token::NullSafeEq),
            (b'-', b'>', b'>') => (3, Token::LongArrow),
            (b'<', b'=', _) => (2, Token::LessEq),
            (b'<', b'>', _) | (b'!', b'=', _) => (2, Token::NotEq),
            (b'<', b'<', _) => (2, Token::ShiftLeft),
            (b'>', b'=', _) => (2, Token::GreaterEq),
            (b'>', b'>', _) => (2, Token::ShiftRight),
            (b'-', b'>', _) => (2, Token::Arrow),
            (b':', b'=', _) => (2, Token::Assign),
            (b'&', b'&', _) => (2, Token::AndAnd),
            (b'|', b'|', _) if self.mode.has(SqlMode::PIPES_AS_CONCAT) => (2, Token::Concat),
            (b'|', b'|', _) => (2, Token::OrOr),
            (b'<', ..) => (1, Token::Less),
            (b'>', ..) => (1, Token::Greater),
            (b'=', ..) => (1, Token::Eq),
            (b'+', ..) => (1, Token::Plus),
            (b'-', ..) => (1, Token::Minus),
            (b'*', ..) => (1, Token::Star),
            (b'/', ..) => (1, Token::Slash),
            (b'%', ..) => (1, Token::Percent),
            (b'(', ..) => (1, Token::LParen),
            (b')', ..) => (1, Token::RParen),
            (b',', ..) => (1, Token::Comma),
            (b'.', b'.', _) => (2, Token::TwoPeriods),
            (b'.', ..) => (1, Token::Period),
            (b';', ..) => (1, Token::Semicolon),
            (b':', ..) => (1, Token::Colon),
            (b'&', ..) => (1, Token::Ampersand),
            (b'|', ..) => (1, Token::Pipe),
            (b'^', ..) => (1, Token::Caret),
            (b'~', ..) => (1, Token::Tilde),
            (b'!', ..) => (1, Token::Bang),
            (b'{', ..) => (1, Token::LBrace),
            (b'}', ..) => (1, Token::RBrace),
            _ => return Err(ParseError::syntax(self.at)),
        };
        self.at += length;
        Ok(token)
    }
}

/// Whether a `.` behind it may be part of a name; variables have parts, too.
fn is_name(token: &Token<'_>) -> bool {
    matches!(token, Token::Word(_) | Token::Name(_) | Token::Variable(_) | Token::SystemVariable(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens_in(text: &str, sql_mode: SqlMode) -> String {
        match lex(text, sql_mode) {
            Ok(lexed) => lexed.tokens.iter().map(|t| t.token.to_string()).collect::<Vec<_>>().join(" "),
            Err(error) => error.into_sql(text).message.split("near ").last().unwrap_or_default().to_string(),
        }
    }

    fn tokens(text: &str) -> String {
        tokens_in(text, SqlMode::default())
    }

    #[test]
    fn comments_and_versions() {
        assert_eq!(tokens("a -- b\n c # d\n /* e */ f"), "a c f");
        assert_eq!(tokens("a--1"), "a - - 1");
        assert_eq!(tokens("/*!40101 SET a*/ = /*!99999 x */ 1 /*! + 2 */"), "SET a = 1 + 2");
        assert_eq!(tokens("a /* b"), "'/* b' at line 1");
        assert_eq!(tokens("/*!50000 a"), "'' at line 1");
    }

    #[test]
    fn strings_and_names() {
        assert_eq!(
            tokens(r#"'it''s' "a\"b" 'x\ny\%' `a``b` N'n' x'4A' b'01'"#),
            "'it's' 'a\"b' 'x\ny\\%' `a`b` N'n' X'4A' B'01'"
        );
        assert_eq!(tokens_in(r#""a" 'b\'"#, SqlMode::ANSI_QUOTES.with(SqlMode::NO_BACKSLASH_ESCAPES)), "`a` 'b\\'");
        assert_eq!(tokens("'open"), "''open' at line 1");
        assert_eq!(tokens("'\\é'"), "'é'");
        assert_eq!(tokens("grün.名"), "grün . 名");
    }

    #[test]
    fn numbers_and_names_with_digits() {
        assert_eq!(
            tokens("1 1.5 .5 1e3 1.e-2 1a t.1 t.1a 0x1F 0x1 0b1 0xg"),
            "1 1.5 .5 1e3 1.e-2 1a t . 1 t . 1a X'1F' X'01' B'1' 0xg"
        );
        assert_eq!(tokens("1e 5..6 a..b 1.5...5"), "1e 5 .. 6 a .. b 1.5 .. .5");
    }

    #[test]
    fn variables_parameters_operators() {
        assert_eq!(
            tokens("@a.b @'c d' @@global.x 'u'@'%' root@localhost"),
            "@a.b @c d @@global . x 'u' @% root @localhost"
        );
        assert_eq!(tokens("? + ? <=> ?"), "?0 + ?1 <=> ?2");
        assert_eq!(tokens("a || b && !c"), "a || b && ! c");
        assert_eq!(tokens_in("a || b", SqlMode::PIPES_AS_CONCAT), "a || b");
    }

    #[test]
    fn one_statement() {
        let lexed = lex("a ; b", SqlMode::default()).unwrap();
        assert_eq!((lexed.end, lexed.after), (2, Some(4)));
        let lexed = lex("a ; -- b", SqlMode::default()).unwrap();
        assert_eq!((lexed.end, lexed.after), (2, None));
    }
}
