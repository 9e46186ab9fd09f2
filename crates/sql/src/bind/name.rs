//! Names of result columns that have no alias: as in MySQL the text that the statement has for them.

use sqlparser::ast as sql;

use crate::bind::call::expr_of;
use crate::parse::{ParseContext, first_string, select_items};

/// So many bytes of its text name a column.
const TITLE_BYTES: usize = 255;
/// So many bytes of an alias do.
const ALIAS_BYTES: usize = 256;

/// A name as it is written in a select list.
pub(crate) fn alias(written: &str) -> &str {
    cut(written, ALIAS_BYTES)
}

/// The beginning of a name, of whole characters; spaces in front are no part of it.
fn cut(name: &str, bytes: usize) -> &str {
    let name = name.trim_start_matches(|first: char| first.is_ascii() && !first.is_ascii_graphic());
    &name[..name.floor_char_boundary(bytes)]
}

/// The names of a SELECT's items, without regard to aliases.
pub(crate) fn item_names(select: &sql::Select, text: &str, context: &ParseContext) -> Vec<String> {
    let offset = (select.select_token.0.span.start.column as usize).saturating_sub(1);
    // A query that was made here has no text.
    let written = select_items(text, offset, context).filter(|written| written.len() == select.projection.len());
    let name = |(at, item): (usize, &sql::SelectItem)| match item {
        sql::SelectItem::UnnamedExpr(expr) => {
            let written = written.as_ref().map(|written| &text[written[at].clone()]);
            let first = || written.filter(|_| is_text(expr)).and_then(|written| first_string(written, context));
            let own = first().or_else(|| own_name(expr));
            let whole = own.unwrap_or_else(|| written.map_or_else(|| expr.to_string(), str::to_owned));
            cut(&whole, TITLE_BYTES).to_owned()
        }
        _ => String::new(),
    };
    select.projection.iter().enumerate().map(name).collect()
}

/// Whether it is a text, which may be written in several parts: the first of them names it.
fn is_text(expr: &sql::Expr) -> bool {
    match expr {
        sql::Expr::Nested(inner) | sql::Expr::Prefixed { value: inner, .. } => is_text(inner),
        sql::Expr::Value(value) => matches!(
            value.value,
            sql::Value::SingleQuotedString(_)
                | sql::Value::DoubleQuotedString(_)
                | sql::Value::NationalStringLiteral(_)
        ),
        _ => false,
    }
}

fn is_name_const(function: &sql::Function) -> bool {
    matches!(&function.name.0[..], [sql::ObjectNamePart::Identifier(name)] if name.value.eq_ignore_ascii_case("name_const"))
}

/// The name that NAME_CONST gives.
fn named_by_call(function: &sql::Function) -> Option<String> {
    match &function.args {
        sql::FunctionArguments::List(list) => own_name(expr_of(list.args.first()?)?),
        _ => None,
    }
}

/// The name of a column or a literal, parentheses and plus signs apart; everything else is named as it is written.
fn own_name(expr: &sql::Expr) -> Option<String> {
    match expr {
        sql::Expr::Nested(inner) | sql::Expr::UnaryOp { op: sql::UnaryOperator::Plus, expr: inner } => own_name(inner),
        sql::Expr::Identifier(name) => (!name.value.starts_with('@')).then(|| name.value.clone()),
        sql::Expr::CompoundIdentifier(names) => {
            names.last().filter(|_| !names[0].value.starts_with('@')).map(|name| name.value.clone())
        }
        sql::Expr::Prefixed { value, .. } => own_name(value),
        sql::Expr::Function(function) if is_name_const(function) => named_by_call(function),
        sql::Expr::Value(value) => match &value.value {
            sql::Value::SingleQuotedString(text)
            | sql::Value::DoubleQuotedString(text)
            | sql::Value::NationalStringLiteral(text) => Some(text.clone()),
            sql::Value::Number(digits, _) => Some(digits.clone()),
            sql::Value::Null => Some("NULL".into()),
            sql::Value::Placeholder(_) => Some("?".into()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_between_characters() {
        assert_eq!(alias(" \n a b "), "a b ");
        assert_eq!((alias(&"a".repeat(300)).len(), cut(&"a".repeat(300), TITLE_BYTES).len()), (256, 255));
        assert_eq!((alias(&"é".repeat(300)).len(), cut(&"é".repeat(300), TITLE_BYTES).len()), (256, 254));
    }
}
