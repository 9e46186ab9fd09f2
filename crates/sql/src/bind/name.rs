//! Names of result columns that have no alias: as in MySQL the text that the statement has for them.

use syntax::ast as sql;

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

/// The name of an item of a select list that has no alias; `text` is the statement's, or no text if it was made here.
pub(crate) fn item_name(expr: &sql::Expr, text: &str) -> String {
    let name =
        first_part(expr).map(str::to_owned).or_else(|| own_name(expr)).unwrap_or_else(|| match expr.span.of(text) {
            "" => expr.to_string(),
            written => written.to_owned(),
        });
    cut(&name, TITLE_BYTES).to_owned()
}

/// Of text in several parts the first one, which names it.
fn first_part(expr: &sql::Expr) -> Option<&str> {
    match &expr.kind {
        sql::ExprKind::Nested(inner) => first_part(inner),
        sql::ExprKind::Literal(sql::Literal::Text(text) | sql::Literal::National(text))
        | sql::ExprKind::Introduced(_, sql::Literal::Text(text)) => Some(text.first()),
        _ => None,
    }
}

/// The name of a column or a literal, parentheses and plus signs apart; everything else is named as it is written.
fn own_name(expr: &sql::Expr) -> Option<String> {
    match &expr.kind {
        sql::ExprKind::Nested(inner) | sql::ExprKind::Unary(sql::UnaryOp::Plus, inner) => own_name(inner),
        sql::ExprKind::Column(path) => Some(path.name.text.to_string()),
        sql::ExprKind::Call(call) if call.name.text.eq_ignore_ascii_case("name_const") => own_name(call.args.first()?),
        sql::ExprKind::Param(_) => Some("?".into()),
        sql::ExprKind::Literal(literal) | sql::ExprKind::Introduced(_, literal) => match literal {
            sql::Literal::Text(text) | sql::Literal::National(text) => Some(text.text.to_string()),
            sql::Literal::Number(digits) => Some(digits.to_string()),
            sql::Literal::Null => Some("NULL".into()),
            sql::Literal::Bool(_) | sql::Literal::Hex(_) | sql::Literal::Bits(_) => None,
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
