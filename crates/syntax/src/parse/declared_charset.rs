//! CHARACTER SET and COLLATE of a table or database, which may be said more than once if they do not contradict.

use base::{SqlError, codes};

use super::Parsed;
use super::tokens::Tokens;
use crate::ParseError;
use crate::charsets;

/// What was said so far.
pub(super) struct DeclaredCharset<'a> {
    pub(super) charset: &'a mut Option<String>,
    pub(super) collation: &'a mut Option<String>,
}

impl DeclaredCharset<'_> {
    /// The character set behind CHARACTER SET (1302).
    pub(super) fn charset(&mut self, tokens: &mut Tokens<'_>) -> Parsed<()> {
        let new = tokens.charset()?;
        let collation = self.collation.as_deref().and_then(charset_of);
        if let Some(before) = self.charset.as_deref().or(collation)
            && let Some(error) = conflict(before, &new)
        {
            return Err(ParseError::Sql(Box::new(error)));
        }
        *self.charset = Some(new);
        Ok(())
    }

    /// The collation behind COLLATE (1253); the last one counts.
    pub(super) fn collation(&mut self, tokens: &mut Tokens<'_>) -> Parsed<()> {
        let new = tokens.collation()?;
        let before = self.collation.as_deref().and_then(charset_of).filter(|_| self.charset.is_none());
        if let (Some(before), Some(charset)) = (before, charset_of(&new))
            && before != charset
        {
            let message = format!("COLLATION '{new}' is not valid for CHARACTER SET '{before}'");
            let error = SqlError::new(codes::COLLATION_CHARSET_MISMATCH, message);
            return Err(ParseError::Sql(Box::new(error)));
        }
        *self.collation = Some(new);
        Ok(())
    }
}

/// 1302 for two character sets of one table or database. `utf8mb3` is `utf8mb4` here, so that these two go together.
pub fn conflict(before: &str, now: &str) -> Option<SqlError> {
    let (first, second) = (charsets::static_name(before)?, charsets::static_name(now)?);
    if first == second || first.starts_with("utf8mb") && second.starts_with("utf8mb") {
        return None;
    }
    let message = format!("Conflicting declarations: 'CHARACTER SET {first}' and 'CHARACTER SET {second}'");
    Some(SqlError::new(codes::CONFLICTING_DECLARATIONS, message))
}

fn charset_of(collation: &str) -> Option<&'static str> {
    types::collation::by_name(collation).map(|collation| collation.charset().name())
}
