//! BEGIN, COMMIT and the rest of transactions.

use crate::Token;

use super::tokens::Tokens;
use super::{Parsed, admin};
use crate::statement::{Completion, Statement, TransactionStatement};

pub(super) fn transaction(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let statement = if tokens.accept("START TRANSACTION") {
        start(tokens)?
    } else if tokens.accept("BEGIN") {
        tokens.accept("WORK");
        TransactionStatement::Begin { consistent_snapshot: false, read_only: None }
    } else if tokens.accept("COMMIT") {
        TransactionStatement::Commit(completion(tokens)?)
    } else if tokens.accept("ROLLBACK") {
        let work = tokens.accept("WORK");
        if tokens.accept("TO") {
            tokens.accept("SAVEPOINT");
            TransactionStatement::RollbackTo(tokens.identifier()?)
        } else {
            let _ = work;
            TransactionStatement::Rollback(completion(tokens)?)
        }
    } else if tokens.accept("SAVEPOINT") {
        TransactionStatement::Savepoint(tokens.identifier()?)
    } else if tokens.accept("RELEASE SAVEPOINT") {
        TransactionStatement::ReleaseSavepoint(tokens.identifier()?)
    } else {
        // START REPLICA and the like.
        return admin::admin(tokens, "START");
    };
    Ok(Statement::Transaction(statement))
}

fn start(tokens: &mut Tokens<'_>) -> Parsed<TransactionStatement> {
    let (mut consistent_snapshot, mut read_only) = (false, None);
    while !tokens.at_end() {
        match tokens.expect_one(&["WITH CONSISTENT SNAPSHOT", "READ ONLY", "READ WRITE"])? {
            "READ ONLY" => read_only = Some(true),
            "READ WRITE" => read_only = Some(false),
            _ => consistent_snapshot = true,
        }
        if !tokens.accept_token(&Token::Comma) {
            break;
        }
    }
    Ok(TransactionStatement::Begin { consistent_snapshot, read_only })
}

fn completion(tokens: &mut Tokens<'_>) -> Parsed<Completion> {
    tokens.accept("WORK");
    let mut completion = Completion::default();
    match tokens.accept_one(&["AND CHAIN", "AND NO CHAIN"]) {
        Some("AND CHAIN") => completion.chain = Some(true),
        Some(_) => completion.chain = Some(false),
        None => {}
    }
    match tokens.accept_one(&["RELEASE", "NO RELEASE"]) {
        Some("RELEASE") => completion.release = Some(true),
        Some(_) => completion.release = Some(false),
        None => {}
    }
    if completion.chain == Some(true) && completion.release == Some(true) {
        return tokens.unexpected();
    }
    Ok(completion)
}
