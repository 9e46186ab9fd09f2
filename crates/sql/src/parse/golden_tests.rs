//! Golden tests of the parser.

use super::ast::Statement;
use super::{ParseContext, parse_one};
use crate::golden;

fn parsed(text: &str) -> String {
    match parse_one(text, &ParseContext::default()) {
        Err(error) => error.to_string(),
        Ok(parsed) => match &parsed.statement {
            Statement::Explain(explain) => format!("{:?} {}", explain.format, explain.analyze),
            Statement::Query(query) => query.to_string(),
            Statement::Insert(insert) => {
                let rows = (0..insert.literal_rows.len())
                    .map(|row| format!(", {}", insert.literal_rows.text_of(row)))
                    .collect::<String>();
                let insert = &insert.insert;
                format!("{}{insert}{rows}", if insert.replace_into { "(REPLACE) " } else { "" })
            }
            Statement::Update(update) => format!("{}{}", if update.ignore { "(IGNORE) " } else { "" }, update.update),
            Statement::Delete(delete) => format!("{}{}", if delete.ignore { "(IGNORE) " } else { "" }, delete.delete),
            other => format!("{other:?}"),
        },
    }
}

#[test]
fn queries() {
    golden::check("golden/parse_query.txt", parsed);
}

#[test]
fn administration() {
    golden::check("golden/parse_admin.txt", parsed);
}

#[test]
fn errors() {
    golden::check("golden/parse_errors.txt", parsed);
}
