//! SHOW.

use crate::Token;

use super::tokens::Tokens;
use super::{Parsed, admin};
use crate::ParseError;
use crate::statement::{Filter, Limit, NothingToShow, Show, Statement, TableName};

/// SHOW of anything.
pub(super) fn show(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect("SHOW")?;
    let show = match schema_objects(tokens)? {
        Some(show) => show,
        None => match server(tokens)? {
            Some(show) => show,
            None => replication(tokens)?,
        },
    };
    Ok(Statement::Show(show))
}

/// LIKE or WHERE.
pub(super) fn filter(tokens: &mut Tokens<'_>) -> Parsed<Filter> {
    if tokens.accept("LIKE") {
        return tokens.string().map(|pattern| Filter::like(&pattern));
    }
    if tokens.accept("WHERE") {
        return tokens.expr().map(|expr| Filter::Where(Box::new(expr)));
    }
    Ok(Filter::None)
}

fn limit(tokens: &mut Tokens<'_>) -> Parsed<Limit> {
    if !tokens.accept("LIMIT") {
        return Ok(Limit::default());
    }
    let first = tokens.number()?;
    if tokens.accept_token(&Token::Comma) {
        return Ok(Limit { offset: first, count: Some(tokens.number()?) });
    }
    let offset = if tokens.accept("OFFSET") { tokens.number()? } else { 0 };
    Ok(Limit { offset, count: Some(first) })
}

fn from_database(tokens: &mut Tokens<'_>) -> Parsed<Option<String>> {
    if tokens.accept("FROM") || tokens.accept("IN") { tokens.database_name().map(Some) } else { Ok(None) }
}

/// `FROM table [FROM database]`.
fn from_table(tokens: &mut Tokens<'_>) -> Parsed<TableName> {
    tokens.expect_one(&["FROM", "IN"])?;
    let mut table = tokens.table_name()?;
    if let Some(database) = from_database(tokens)? {
        table.schema = Some(database);
    }
    Ok(table)
}

/// Databases, tables and what is in them.
fn schema_objects(tokens: &mut Tokens<'_>) -> Parsed<Option<Show>> {
    if tokens.accept("DATABASES") || tokens.accept("SCHEMAS") {
        return Ok(Some(Show::Databases(filter(tokens)?)));
    }
    if tokens.accept("CREATE") {
        return create(tokens).map(Some);
    }
    if tokens.accept("TABLE STATUS") {
        return Ok(Some(Show::TableStatus { database: from_database(tokens)?, filter: filter(tokens)? }));
    }
    if tokens.accept("OPEN TABLES") {
        return nothing_of(tokens, NothingToShow::OpenTables).map(Some);
    }
    if tokens.accept_one(&["INDEX", "INDEXES", "KEYS", "EXTENDED INDEX", "EXTENDED INDEXES", "EXTENDED KEYS"]).is_some()
    {
        return Ok(Some(Show::Index { table: from_table(tokens)?, filter: filter(tokens)? }));
    }
    let place = tokens.place();
    let extended = tokens.accept("EXTENDED");
    let full = tokens.accept("FULL");
    if tokens.accept("TABLES") {
        return Ok(Some(Show::Tables { full, database: from_database(tokens)?, filter: filter(tokens)? }));
    }
    if tokens.accept("COLUMNS") || tokens.accept("FIELDS") {
        return Ok(Some(Show::Columns { full, extended, table: from_table(tokens)?, filter: filter(tokens)? }));
    }
    if full && tokens.accept("TRIGGERS") {
        return nothing_of(tokens, NothingToShow::Triggers).map(Some);
    }
    tokens.back_to(place);
    Ok(None)
}

fn create(tokens: &mut Tokens<'_>) -> Parsed<Show> {
    if tokens.accept("TABLE") {
        return tokens.table_name().map(Show::CreateTable);
    }
    if tokens.accept("DATABASE") || tokens.accept("SCHEMA") {
        let if_not_exists = tokens.accept("IF NOT EXISTS");
        return Ok(Show::CreateDatabase { name: tokens.database_name()?, if_not_exists });
    }
    if tokens.accept("USER") {
        return if tokens.at_end() { Ok(Show::CreateUser(None)) } else { tokens.user().map(Show::CreateUser) };
    }
    if tokens.accept("VIEW") {
        return tokens.table_name().map(Show::CreateView);
    }
    if let Some(kind) = tokens.accept_one(&["PROCEDURE", "FUNCTION", "TRIGGER", "EVENT"]) {
        return Ok(Show::CreateOfNothing { kind, name: tokens.table_name()? });
    }
    for what in ["SEQUENCE", "PACKAGE", "LIBRARY"] {
        if tokens.next_are(what) {
            return Err(ParseError::not_supported(format!("SHOW CREATE {what}")));
        }
    }
    tokens.unexpected()
}

/// The server and the session.
fn server(tokens: &mut Tokens<'_>) -> Parsed<Option<Show>> {
    let place = tokens.place();
    let scope = tokens.accept_one(&["GLOBAL", "SESSION", "LOCAL"]);
    let global = scope == Some("GLOBAL");
    if tokens.accept("VARIABLES") {
        return Ok(Some(Show::Variables { global, filter: filter(tokens)? }));
    }
    if tokens.accept("STATUS") {
        return Ok(Some(Show::Status { global, filter: filter(tokens)? }));
    }
    tokens.back_to(place);
    if tokens.accept("COUNT") {
        return warning_count(tokens).map(Some);
    }
    let show = if tokens.accept("WARNINGS") {
        Show::Warnings { only_errors: false, limit: limit(tokens)? }
    } else if tokens.accept("ERRORS") {
        Show::Warnings { only_errors: true, limit: limit(tokens)? }
    } else if tokens.accept("EXPLAIN") {
        super::explain::show(tokens)?
    } else if tokens.accept("FULL PROCESSLIST") {
        Show::Processlist { full: true }
    } else if tokens.accept("PROCESSLIST") {
        Show::Processlist { full: false }
    } else if tokens.accept("ENGINES") || tokens.accept("STORAGE ENGINES") {
        Show::Engines
    } else if tokens.accept("ENGINE") {
        let engine = tokens.name_or_string()?;
        let what = tokens.expect_one(&["STATUS", "MUTEX", "LOGS"])?;
        if what != "STATUS" {
            return Err(ParseError::not_supported(format!("SHOW ENGINE {engine} {what}")));
        }
        Show::EngineStatus(engine)
    } else if tokens.accept("PLUGINS") {
        Show::Plugins
    } else if tokens.accept("PRIVILEGES") {
        Show::Privileges
    } else if tokens.accept("CHARACTER SET") || tokens.accept("CHARSET") {
        Show::CharacterSets(filter(tokens)?)
    } else if tokens.accept("COLLATION") {
        Show::Collations(filter(tokens)?)
    } else if tokens.accept("GRANTS") {
        let user = if tokens.accept("FOR") { tokens.user()? } else { None };
        let using = if tokens.accept("USING") { tokens.comma_list(Tokens::named_user)? } else { Vec::new() };
        Show::Grants { user, using }
    } else if tokens.accept("PROFILES") || tokens.accept("PROFILE") {
        while !tokens.at_end() {
            tokens.next();
        }
        Show::Profiles
    } else {
        return nothing(tokens);
    };
    Ok(Some(show))
}

fn nothing(tokens: &mut Tokens<'_>) -> Parsed<Option<Show>> {
    let kinds = [
        ("TRIGGERS", NothingToShow::Triggers),
        ("EVENTS", NothingToShow::Events),
        ("PROCEDURE STATUS", NothingToShow::ProcedureStatus),
        ("FUNCTION STATUS", NothingToShow::FunctionStatus),
    ];
    for what in ["LIBRARY STATUS", "PROCEDURE CODE", "FUNCTION CODE"] {
        if tokens.next_are(what) {
            return Err(ParseError::not_supported(format!("SHOW {what}")));
        }
    }
    let Some((_, kind)) = kinds.into_iter().find(|(words, _)| tokens.accept(words)) else { return Ok(None) };
    nothing_of(tokens, kind).map(Some)
}

fn nothing_of(tokens: &mut Tokens<'_>, kind: NothingToShow) -> Parsed<Show> {
    Ok(Show::Nothing { kind, database: from_database(tokens)?, filter: filter(tokens)? })
}

fn warning_count(tokens: &mut Tokens<'_>) -> Parsed<Show> {
    for token in [Token::LParen, Token::Star, Token::RParen] {
        tokens.expect_token(&token)?;
    }
    let only_errors = tokens.expect_one(&["WARNINGS", "ERRORS"])? == "ERRORS";
    Ok(Show::WarningCount { only_errors })
}

/// The binary log and replication, in old words and new.
fn replication(tokens: &mut Tokens<'_>) -> Parsed<Show> {
    if tokens.accept_one(&["BINARY LOG STATUS", "MASTER STATUS", "BINLOG STATUS"]).is_some() {
        return Ok(Show::BinaryLogStatus);
    }
    if tokens.accept_one(&["BINARY LOGS", "MASTER LOGS"]).is_some() {
        return Ok(Show::BinaryLogs);
    }
    if tokens.accept("BINLOG EVENTS") {
        let file = if tokens.accept("IN") { Some(tokens.string()?) } else { None };
        let position = if tokens.accept("FROM") { Some(tokens.number()?) } else { None };
        return Ok(Show::BinlogEvents { file, position, limit: limit(tokens)? });
    }
    if tokens.next_are("RELAYLOG EVENTS") {
        return Err(ParseError::not_supported("SHOW RELAYLOG EVENTS (there is no relay log: SHOW BINLOG EVENTS)"));
    }
    if tokens.accept_one(&["REPLICAS", "SLAVE HOSTS", "REPLICA HOSTS"]).is_some() {
        return Ok(Show::Replicas);
    }
    replica_status(tokens)
}

/// `SHOW {REPLICA | SLAVE} ['connection'] STATUS [FOR CHANNEL channel]`, `SHOW ALL {REPLICAS | SLAVES} STATUS`
fn replica_status(tokens: &mut Tokens<'_>) -> Parsed<Show> {
    if let Some(all) = tokens.accept_one(&["ALL SLAVES STATUS", "ALL REPLICAS STATUS"]) {
        let old_names = all == "ALL SLAVES STATUS";
        return Ok(Show::ReplicaStatus { old_names, of_connections: true, channel: None });
    }
    let Some(word) = tokens.accept_one(&["SLAVE", "REPLICA"]) else { return tokens.unexpected() };
    let connection = admin::connection(tokens)?;
    tokens.expect("STATUS")?;
    let channel = admin::channel(tokens)?.or(connection);
    Ok(Show::ReplicaStatus { old_names: word == "SLAVE", of_connections: false, channel })
}
