//! Names of result columns that have no alias: as in MySQL the text that the statement has for them.

use sqlparser::ast as sql;
use sqlparser::ast::Spanned;

/// The name of a column without an alias.
pub(crate) fn column_name(expr: &sql::Expr, text: &str) -> String {
    match expr {
        sql::Expr::Identifier(name) => name.value.clone(),
        sql::Expr::CompoundIdentifier(names) => match names.last() {
            Some(name) if !names[0].value.starts_with('@') => name.value.clone(),
            _ => source_text(expr, text),
        },
        sql::Expr::Value(value) => match &value.value {
            sql::Value::SingleQuotedString(text) | sql::Value::DoubleQuotedString(text) => text.clone(),
            sql::Value::Null => "NULL".into(),
            sql::Value::Placeholder(_) => "?".into(),
            _ => source_text(expr, text),
        },
        _ => source_text(expr, text),
    }
}

/// The expression as it was written.
///
/// The parser knows where an expression begins, but not always where it ends; so the end is found by following its printed
/// form through the text, without regard to case and white space.
fn source_text(expr: &sql::Expr, text: &str) -> String {
    let printed = expr.to_string();
    let start = (expr.span().start.column as usize).saturating_sub(1);
    let follow = |start: usize| {
        let rest = text.get(start..)?;
        let mut wanted = printed.chars().filter(|c| !c.is_whitespace()).peekable();
        let mut end = 0;
        for (at, c) in rest.char_indices() {
            let Some(&next) = wanted.peek() else { break };
            if c.is_whitespace() {
                continue;
            }
            if !c.eq_ignore_ascii_case(&next) {
                return None;
            }
            wanted.next();
            end = at + c.len_utf8();
        }
        wanted.peek().is_none().then(|| rest[..end].to_string())
    };
    follow(start).unwrap_or_else(|| printed.replace("?0", "?"))
}
