//! Tokens as text that gives them again, whatever `sql_mode` they were read in: for statements whose trees cannot be printed.

use std::fmt::{self, Display, Formatter, Write};

use super::{quoted, quoted_text};
use crate::token::{Token, TokenAt};

/// The text of these tokens, with a space where something was between two of them.
pub(crate) fn written(tokens: &[TokenAt<'_>]) -> String {
    let mut text = String::new();
    let mut last: Option<&TokenAt<'_>> = None;
    for next in tokens {
        if last.is_some_and(|last| last.span.end != next.span.start || reads_as_one(&last.token, &next.token)) {
            text.push(' ');
        }
        let _ = write!(text, "{}", Written(&next.token));
        last = Some(next);
    }
    text
}

/// Whether a text that touches what is before it might be read with that: `N'a'`, `'a''b'`.
fn reads_as_one(last: &Token<'_>, next: &Token<'_>) -> bool {
    matches!(next, Token::Text(_))
        && matches!(last, Token::Word(_) | Token::Text(_) | Token::NationalText(_) | Token::Number(_))
}

/// A token as it is written.
struct Written<'t>(&'t Token<'t>);

impl Display for Written<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Token::Name(name) => quoted(name, f),
            Token::Text(text) => quoted_text(text, f),
            Token::NationalText(text) => {
                f.write_str("N")?;
                quoted_text(text, f)
            }
            Token::Hex(digits) => write!(f, "x'{digits}'"),
            Token::Bits(digits) => write!(f, "b'{digits}'"),
            Token::Variable(name) => {
                f.write_str("@")?;
                if is_plain(name) { f.write_str(name) } else { quoted_text(name, f) }
            }
            Token::SystemVariable(name) => {
                f.write_str("@@")?;
                if is_plain(name) { f.write_str(name) } else { quoted(name, f) }
            }
            Token::Param(_) => f.write_str("?"),
            other => write!(f, "{other}"),
        }
    }
}

/// Whether a variable's name needs no quotes.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
