//! Golden tests of the parser.

use super::{ParseContext, parse_one};
use crate::golden;
use crate::statement::Statement;

fn parsed(text: &str) -> String {
    match parse_one(text, &ParseContext::default()) {
        Err(error) => error.to_string(),
        Ok(parsed) => match &parsed.statement {
            Statement::Explain(explain) => {
                format!("{:?} {} {:?} {:?}", explain.format, explain.analyze, explain.into, explain.schema)
            }
            Statement::Query(query) => query.to_string(),
            Statement::Insert(insert) => insert.to_string(),
            Statement::Update(update) => update.to_string(),
            Statement::Delete(delete) => delete.to_string(),
            Statement::Program(program) => program.to_string(),
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

/// MySQL 9.7 and MariaDB 11.8 were asked for each of them: what is read here is read by one of them, and an error has a code that one of them gives.
#[test]
fn programs() {
    golden::check("golden/parse_program.txt", parsed);
}

#[test]
fn errors() {
    golden::check("golden/parse_errors.txt", parsed);
}
