//! What the text of a statement is made of.

use std::borrow::Cow;
use std::fmt;

use crate::span::Span;

/// A word, a literal or a sign. Text is that of the statement where it stands there as it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Token<'a> {
    /// A name or a keyword without quotes.
    Word(&'a str),
    /// A name in quotes.
    Name(Cow<'a, str>),
    /// `@name`, without its `@`.
    Variable(Cow<'a, str>),
    /// `@@name`, without its `@@`; of `@@session.name` the first part.
    SystemVariable(Cow<'a, str>),
    /// A number without sign.
    Number(&'a str),
    /// `'text'`, with its escapes undone.
    Text(Cow<'a, str>),
    /// `N'text'`
    NationalText(Cow<'a, str>),
    /// The digits of `x'4A'` and `0x4A`, an even number of them.
    Hex(Cow<'a, str>),
    /// The digits of `b'01'` and `0b01`.
    Bits(Cow<'a, str>),
    /// `?`, with its number in the statement, which counts from 0.
    Param(usize),
    /// `(`
    LParen,
    /// `)`
    RParen,
    /// `{`
    LBrace,
    /// `}`
    RBrace,
    /// `,`
    Comma,
    /// `.`
    Period,
    /// `..`, between the ends of MariaDB's ranges.
    TwoPeriods,
    /// `;`
    Semicolon,
    /// `:`
    Colon,
    /// `:=`
    Assign,
    /// `=`
    Eq,
    /// `<=>`
    NullSafeEq,
    /// `<>`, `!=`
    NotEq,
    /// `<`
    Less,
    /// `<=`
    LessEq,
    /// `>`
    Greater,
    /// `>=`
    GreaterEq,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// `%`
    Percent,
    /// `&`
    Ampersand,
    /// `&&`, which is AND.
    AndAnd,
    /// `|`
    Pipe,
    /// `||`, which is OR.
    OrOr,
    /// `||` under PIPES_AS_CONCAT.
    Concat,
    /// `^`
    Caret,
    /// `~`
    Tilde,
    /// `!`
    Bang,
    /// `->`
    Arrow,
    /// `->>`
    LongArrow,
}

impl Token<'_> {
    /// As a digest writes it.
    pub(crate) fn sign_of_digest(&self) -> &'static str {
        if *self == Token::NotEq { "!=" } else { self.sign() }
    }

    /// How a sign is written; nothing for what has a text of its own.
    fn sign(&self) -> &'static str {
        match self {
            Token::LParen => "(",
            Token::RParen => ")",
            Token::LBrace => "{",
            Token::RBrace => "}",
            Token::Comma => ",",
            Token::Period => ".",
            Token::TwoPeriods => "..",
            Token::Semicolon => ";",
            Token::Colon => ":",
            Token::Assign => ":=",
            Token::Eq => "=",
            Token::NullSafeEq => "<=>",
            Token::NotEq => "<>",
            Token::Less => "<",
            Token::LessEq => "<=",
            Token::Greater => ">",
            Token::GreaterEq => ">=",
            Token::ShiftLeft => "<<",
            Token::ShiftRight => ">>",
            Token::Plus => "+",
            Token::Minus => "-",
            Token::Star => "*",
            Token::Slash => "/",
            Token::Percent => "%",
            Token::Ampersand => "&",
            Token::AndAnd => "&&",
            Token::Pipe => "|",
            Token::OrOr | Token::Concat => "||",
            Token::Caret => "^",
            Token::Tilde => "~",
            Token::Bang => "!",
            Token::Arrow => "->",
            Token::LongArrow => "->>",
            _ => "",
        }
    }
}

/// As it might be written, for tests and tools.
impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(word) | Token::Number(word) => f.write_str(word),
            Token::Name(name) => write!(f, "`{name}`"),
            Token::Variable(name) => write!(f, "@{name}"),
            Token::SystemVariable(name) => write!(f, "@@{name}"),
            Token::Text(text) => write!(f, "'{text}'"),
            Token::NationalText(text) => write!(f, "N'{text}'"),
            Token::Hex(digits) => write!(f, "X'{digits}'"),
            Token::Bits(digits) => write!(f, "B'{digits}'"),
            Token::Param(number) => write!(f, "?{number}"),
            sign => f.write_str(sign.sign()),
        }
    }
}

/// A token and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenAt<'a> {
    /// The token.
    pub token: Token<'a>,
    /// With its quotes.
    pub span: Span,
}
