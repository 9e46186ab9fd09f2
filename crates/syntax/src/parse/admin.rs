//! What administrators say: replication, logs, FLUSH, KILL, and the statements about statements.

use crate::Token;

use super::tokens::Tokens;
use super::{Parsed, checksum, unsupported};
use crate::ParseError;
use crate::names::no_database;
use crate::statement::{
    Admin, BinlogEvents, ChangeSource, ChannelName, FlushTarget, Histogram, HistogramChange, LockTable, PrepareSource,
    ReplicaUntil, StartReplica, Statement, StopReplica, TableMaintenance, TableName,
};

/// A statement that begins with `word` (in upper case), if it is not of the other modules.
pub(super) fn admin(tokens: &mut Tokens<'_>, word: &str) -> Parsed<Statement> {
    let admin = match word {
        "USE" => return use_database(tokens),
        "PREPARE" => return prepare(tokens),
        "EXECUTE" => return execute(tokens),
        "DEALLOCATE" => {
            tokens.expect("DEALLOCATE PREPARE")?;
            return Ok(Statement::Deallocate(tokens.identifier()?));
        }
        "BINLOG" => return binlog(tokens),
        "LOCK" => return lock(tokens),
        "UNLOCK" => return unlock(tokens),
        "CHANGE" => change_source(tokens)?,
        "START" => start_replica(tokens)?,
        "STOP" => stop_replica(tokens)?,
        "RESET" => reset(tokens)?,
        "PURGE" => purge(tokens)?,
        "FLUSH" => flush(tokens)?,
        "KILL" => kill(tokens)?,
        "SHUTDOWN" => {
            tokens.expect("SHUTDOWN")?;
            Admin::Shutdown
        }
        "ANALYZE" | "CHECK" | "OPTIMIZE" | "REPAIR" => maintenance(tokens)?,
        "CHECKSUM" => checksum::checksum(tokens)?,
        _ => return unsupported::statement(tokens),
    };
    Ok(Statement::Admin(admin))
}

fn use_database(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect("USE")?;
    match tokens.peek() {
        Some(Token::Name(name)) if name.is_empty() => Err(no_database().into()),
        _ => tokens.database_name().map(Statement::Use),
    }
}

fn prepare(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect("PREPARE")?;
    let name = tokens.identifier()?;
    tokens.expect("FROM")?;
    let from = match tokens.accept_variable() {
        Some(variable) => PrepareSource::Variable(variable),
        None => PrepareSource::Text(tokens.string()?),
    };
    Ok(Statement::Prepare { name, from })
}

fn execute(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect("EXECUTE")?;
    if tokens.next_are("IMMEDIATE") {
        return Err(ParseError::not_supported("EXECUTE IMMEDIATE"));
    }
    let name = tokens.identifier()?;
    let mut using = Vec::new();
    if tokens.accept("USING") {
        using = tokens.comma_list(variable)?;
    }
    Ok(Statement::Execute { name, using })
}

/// `@a`
fn variable(tokens: &mut Tokens<'_>) -> Parsed<String> {
    match tokens.accept_variable() {
        Some(variable) => Ok(variable),
        None => tokens.unexpected(),
    }
}

fn binlog(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect("BINLOG")?;
    let Some(first) = tokens.accept_variable() else {
        return Ok(Statement::Binlog(BinlogEvents::Text(tokens.string()?)));
    };
    tokens.expect_token(&Token::Comma)?;
    Ok(Statement::Binlog(BinlogEvents::Halves(first, variable(tokens)?)))
}

fn lock(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect("LOCK")?;
    if tokens.next_are("INSTANCE") {
        return Err(ParseError::not_supported("LOCK INSTANCE FOR BACKUP"));
    }
    tokens.expect_one(&["TABLES", "TABLE"])?;
    let tables = tokens.comma_list(|tokens| {
        let table = tokens.table_name()?;
        let kinds = ["READ LOCAL", "READ", "LOW_PRIORITY WRITE", "WRITE"];
        let unnamed = kinds.iter().any(|kind| tokens.next_are(kind));
        let alias = match tokens.accept("AS") || !unnamed {
            true => Some(tokens.identifier()?),
            false => None,
        };
        let kind = tokens.expect_one(&kinds)?;
        Ok(LockTable { table, alias, write: kind.ends_with("WRITE") })
    })?;
    Ok(Statement::LockTables(tables))
}

fn unlock(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    tokens.expect("UNLOCK")?;
    if tokens.next_are("INSTANCE") {
        return Err(ParseError::not_supported("UNLOCK INSTANCE"));
    }
    tokens.expect_one(&["TABLES", "TABLE"])?;
    Ok(Statement::UnlockTables)
}

pub(super) fn channel(tokens: &mut Tokens<'_>) -> Parsed<ChannelName> {
    match tokens.accept("FOR CHANNEL") {
        true => Ok(Some(tokens.name_or_string()?.to_lowercase())),
        false => Ok(None),
    }
}

/// MariaDB's name of a connection, behind MASTER or SLAVE.
pub(super) fn connection(tokens: &mut Tokens<'_>) -> Parsed<ChannelName> {
    match tokens.peek() {
        Some(Token::Text(_)) => Ok(Some(tokens.string()?.to_lowercase())),
        _ => Ok(None),
    }
}

fn change_source(tokens: &mut Tokens<'_>) -> Parsed<Admin> {
    tokens.expect("CHANGE")?;
    if tokens.accept("REPLICATION FILTER") {
        let rules = tokens.comma_list(filter_rule)?;
        return Ok(Admin::ReplicationFilter { rules, channel: channel(tokens)? });
    }
    let mut change = ChangeSource::default();
    if !tokens.accept("REPLICATION SOURCE TO") {
        tokens.expect("MASTER")?;
        change.channel = connection(tokens)?;
        tokens.expect("TO")?;
    }
    tokens.comma_list(|tokens| source_option(tokens, &mut change))?;
    change.channel = channel(tokens)?.or(change.channel);
    Ok(Admin::ChangeSource(Box::new(change)))
}

/// One option, by its new name without `SOURCE_`.
fn source_option(tokens: &mut Tokens<'_>, change: &mut ChangeSource) -> Parsed<()> {
    let offset = tokens.offset();
    let name = tokens.any_word()?.to_ascii_uppercase();
    let name = name.replace("MASTER_", "SOURCE_");
    tokens.expect_token(&Token::Eq)?;
    match name.as_str() {
        "SOURCE_HOST" => change.host = Some(tokens.string()?),
        "SOURCE_PORT" => {
            let port = tokens.number()?;
            change.port = Some(u16::try_from(port).or(Err(ParseError::syntax(offset)))?);
        }
        "SOURCE_USER" => change.user = Some(tokens.string()?),
        "SOURCE_PASSWORD" => change.password = Some(tokens.string()?),
        "SOURCE_LOG_FILE" => change.log_file = Some(tokens.string()?),
        "SOURCE_LOG_POS" => change.log_position = Some(tokens.number()?),
        "SOURCE_AUTO_POSITION" => change.auto_position = Some(tokens.number()? != 0),
        "SOURCE_USE_GTID" => {
            change.auto_position = Some(tokens.expect_one(&["SLAVE_POS", "CURRENT_POS", "REPLICA_POS", "NO"])? != "NO");
        }
        "SOURCE_CONNECT_RETRY" => change.connect_retry_seconds = Some(tokens.number()?),
        "SOURCE_RETRY_COUNT" => change.retry_count = Some(tokens.number()?),
        "SOURCE_DELAY" => change.delay_seconds = Some(tokens.number()?),
        "SOURCE_HEARTBEAT_PERIOD" => change.heartbeat_period_seconds = Some(seconds(tokens)?),
        "SOURCE_SSL" => change.ssl = Some(tokens.number()? != 0),
        "SOURCE_SSL_CA" => change.ssl_ca = Some(tokens.string()?),
        "SOURCE_SSL_CERT" => change.ssl_cert = Some(tokens.string()?),
        "SOURCE_SSL_KEY" => change.ssl_key = Some(tokens.string()?),
        "SOURCE_SSL_VERIFY_SERVER_CERT" => change.ssl_verify_server_cert = Some(tokens.number()? != 0),
        "GET_SOURCE_PUBLIC_KEY" => change.get_public_key = Some(tokens.number()? != 0),
        "SOURCE_PUBLIC_KEY_PATH" => change.public_key_path = Some(tokens.string()?),
        "IGNORE_SERVER_IDS" => change.ignored_server_ids = Some(ids(tokens)?),
        "DO_DOMAIN_IDS" => change.do_domain_ids = Some(ids(tokens)?),
        "IGNORE_DOMAIN_IDS" => change.ignored_domain_ids = Some(ids(tokens)?),
        known if SOURCE_OPTIONS_REFUSED.contains(&known) => {
            return Err(ParseError::not_supported(format!("CHANGE REPLICATION SOURCE TO {known}")));
        }
        _ => return Err(ParseError::syntax(offset)),
    }
    Ok(())
}

const SOURCE_OPTIONS_REFUSED: &[&str] = &[
    "SOURCE_BIND",
    "RELAY_LOG_FILE",
    "RELAY_LOG_POS",
    "SOURCE_COMPRESSION_ALGORITHMS",
    "SOURCE_ZSTD_COMPRESSION_LEVEL",
    "SOURCE_SSL_CAPATH",
    "SOURCE_SSL_CIPHER",
    "SOURCE_SSL_CRL",
    "SOURCE_SSL_CRLPATH",
    "SOURCE_TLS_VERSION",
    "SOURCE_TLS_CIPHERSUITES",
    "PRIVILEGE_CHECKS_USER",
    "REQUIRE_ROW_FORMAT",
    "REQUIRE_TABLE_PRIMARY_KEY_CHECK",
    "SOURCE_CONNECTION_AUTO_FAILOVER",
    "ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS",
    "GTID_ONLY",
    "NETWORK_NAMESPACE",
    "SOURCE_DEMOTE_TO_SLAVE",
];

/// `(1, 2)`, `()`
fn ids(tokens: &mut Tokens<'_>) -> Parsed<Vec<u32>> {
    tokens.expect_token(&Token::LParen)?;
    if tokens.accept_token(&Token::RParen) {
        return Ok(Vec::new());
    }
    let ids = tokens.comma_list(|tokens| {
        let offset = tokens.offset();
        u32::try_from(tokens.number()?).or(Err(ParseError::syntax(offset)))
    })?;
    tokens.expect_token(&Token::RParen)?;
    Ok(ids)
}

fn seconds(tokens: &mut Tokens<'_>) -> Parsed<f64> {
    let Some(Token::Number(digits)) = tokens.peek() else { return tokens.unexpected() };
    match digits.parse() {
        Ok(number) => {
            tokens.next();
            Ok(number)
        }
        Err(_) => tokens.unexpected(),
    }
}

const FILTER_RULES: &[&str] = &[
    "REPLICATE_DO_DB",
    "REPLICATE_IGNORE_DB",
    "REPLICATE_DO_TABLE",
    "REPLICATE_IGNORE_TABLE",
    "REPLICATE_WILD_DO_TABLE",
    "REPLICATE_WILD_IGNORE_TABLE",
    "REPLICATE_REWRITE_DB",
];

/// `REPLICATE_DO_DB = (a, b)`, as the setting has it.
fn filter_rule(tokens: &mut Tokens<'_>) -> Parsed<(String, String)> {
    let rule = tokens.expect_one(FILTER_RULES)?;
    tokens.expect_token(&Token::Eq)?;
    tokens.expect_token(&Token::LParen)?;
    let mut items = Vec::new();
    if !tokens.accept_token(&Token::RParen) {
        items = tokens.comma_list(|tokens| filter_item(tokens, rule))?;
        tokens.expect_token(&Token::RParen)?;
    }
    Ok((rule.to_lowercase(), items.join(",")))
}

fn filter_item(tokens: &mut Tokens<'_>, rule: &str) -> Parsed<String> {
    match rule {
        "REPLICATE_DO_DB" | "REPLICATE_IGNORE_DB" => tokens.identifier(),
        "REPLICATE_DO_TABLE" | "REPLICATE_IGNORE_TABLE" => {
            let schema = tokens.identifier()?;
            tokens.expect_token(&Token::Period)?;
            Ok(format!("{schema}.{}", tokens.identifier()?))
        }
        "REPLICATE_REWRITE_DB" => {
            tokens.expect_token(&Token::LParen)?;
            let from = tokens.identifier()?;
            tokens.expect_token(&Token::Comma)?;
            let to = tokens.identifier()?;
            tokens.expect_token(&Token::RParen)?;
            Ok(format!("{from}->{to}"))
        }
        _ => tokens.string(),
    }
}

/// IO_THREAD, SQL_THREAD; nothing means both.
fn threads(tokens: &mut Tokens<'_>) -> Parsed<(bool, bool)> {
    let (mut receiver, mut applier) = (false, false);
    while let Some(thread) = tokens.accept_one(&["IO_THREAD", "SQL_THREAD", "RELAY_THREAD"]) {
        match thread {
            "SQL_THREAD" => applier = true,
            _ => receiver = true,
        }
        if !tokens.accept_token(&Token::Comma) {
            break;
        }
    }
    Ok(if receiver || applier { (receiver, applier) } else { (true, true) })
}

/// MariaDB's: those of all connections.
const ALL_REPLICAS: &[&str] = &["ALL REPLICAS", "ALL SLAVES"];

fn start_replica(tokens: &mut Tokens<'_>) -> Parsed<Admin> {
    tokens.expect("START")?;
    if tokens.next_are("GROUP_REPLICATION") {
        return Err(ParseError::not_supported("GROUP_REPLICATION"));
    }
    if tokens.accept_one(ALL_REPLICAS).is_some() {
        let (receiver, applier) = threads(tokens)?;
        return Ok(Admin::StartReplica(StartReplica { receiver, applier, all: true, ..StartReplica::default() }));
    }
    tokens.expect_one(&["REPLICA", "SLAVE"])?;
    let connection = connection(tokens)?;
    let (receiver, applier) = threads(tokens)?;
    let mut start = StartReplica { receiver, applier, ..StartReplica::default() };
    if tokens.accept("UNTIL") {
        start.until = Some(until(tokens)?);
    }
    while let Some(option) = tokens.accept_one(&["USER", "PASSWORD", "DEFAULT_AUTH", "PLUGIN_DIR"]) {
        tokens.expect_token(&Token::Eq)?;
        let value = tokens.string()?;
        match option {
            "USER" => start.user = Some(value),
            "PASSWORD" => start.password = Some(value),
            _ => return Err(ParseError::not_supported(format!("START REPLICA … {option}"))),
        }
    }
    start.channel = channel(tokens)?.or(connection);
    Ok(Admin::StartReplica(start))
}

fn until(tokens: &mut Tokens<'_>) -> Parsed<ReplicaUntil> {
    if let Some(kind) = tokens.accept_one(&["SQL_BEFORE_GTIDS", "SQL_AFTER_GTIDS"]) {
        tokens.expect_token(&Token::Eq)?;
        let set = tokens.string()?;
        return Ok(if kind == "SQL_BEFORE_GTIDS" {
            ReplicaUntil::BeforeGtids(set)
        } else {
            ReplicaUntil::AfterGtids(set)
        });
    }
    if tokens.accept("SQL_AFTER_MTS_GAPS") {
        return Ok(ReplicaUntil::AfterGaps);
    }
    if tokens.accept("MASTER_GTID_POS") {
        tokens.expect_token(&Token::Eq)?;
        return Ok(ReplicaUntil::MariaGtids(tokens.string()?));
    }
    let (mut file, mut position) = (None, None);
    tokens.comma_list(|tokens| {
        let option = tokens.expect_one(&["SOURCE_LOG_FILE", "MASTER_LOG_FILE", "SOURCE_LOG_POS", "MASTER_LOG_POS"])?;
        tokens.expect_token(&Token::Eq)?;
        if option.ends_with("FILE") {
            file = Some(tokens.string()?);
        } else {
            position = Some(tokens.number()?);
        }
        Ok(())
    })?;
    match (file, position) {
        (Some(file), Some(position)) => Ok(ReplicaUntil::Position { file, position }),
        _ => tokens.unexpected(),
    }
}

fn stop_replica(tokens: &mut Tokens<'_>) -> Parsed<Admin> {
    tokens.expect("STOP")?;
    if tokens.next_are("GROUP_REPLICATION") {
        return Err(ParseError::not_supported("GROUP_REPLICATION"));
    }
    if tokens.accept_one(ALL_REPLICAS).is_some() {
        let (receiver, applier) = threads(tokens)?;
        return Ok(Admin::StopReplica(StopReplica { receiver, applier, channel: None, all: true }));
    }
    tokens.expect_one(&["REPLICA", "SLAVE"])?;
    let connection = connection(tokens)?;
    let (receiver, applier) = threads(tokens)?;
    Ok(Admin::StopReplica(StopReplica { receiver, applier, channel: channel(tokens)?.or(connection), all: false }))
}

fn reset(tokens: &mut Tokens<'_>) -> Parsed<Admin> {
    tokens.expect("RESET")?;
    if tokens.next_are("PERSIST") || tokens.next_are("QUERY CACHE") {
        return Err(ParseError::not_supported(format!(
            "RESET {}",
            tokens.peek_word().unwrap_or_default().to_ascii_uppercase()
        )));
    }
    if tokens.accept_one(&["BINARY LOGS AND GTIDS", "MASTER"]).is_some() {
        let first = if tokens.accept("TO") { Some(tokens.number()?) } else { None };
        return Ok(Admin::ResetBinaryLogs(first));
    }
    tokens.expect_one(&["REPLICA", "SLAVE"])?;
    let connection = connection(tokens)?;
    let all = tokens.accept("ALL");
    Ok(Admin::ResetReplica { all, channel: channel(tokens)?.or(connection) })
}

fn purge(tokens: &mut Tokens<'_>) -> Parsed<Admin> {
    tokens.expect("PURGE")?;
    tokens.expect_one(&["BINARY LOGS", "MASTER LOGS"])?;
    if tokens.accept("TO") {
        return tokens.string().map(Admin::PurgeTo);
    }
    tokens.expect("BEFORE")?;
    tokens.expr().map(|expr| Admin::PurgeBefore(Box::new(expr)))
}

fn flush(tokens: &mut Tokens<'_>) -> Parsed<Admin> {
    tokens.expect("FLUSH")?;
    let _ = tokens.accept("LOCAL") || tokens.accept("NO_WRITE_TO_BINLOG");
    if tokens.accept("TABLES") || tokens.accept("TABLE") {
        return flush_tables(tokens).map(|target| Admin::Flush(vec![target]));
    }
    let targets = tokens.comma_list(|tokens| {
        let words = [
            "BINARY LOGS",
            "LOGS",
            "STATUS",
            "GLOBAL STATUS",
            "PRIVILEGES",
            "HOSTS",
            "ERROR LOGS",
            "ENGINE LOGS",
            "GENERAL LOGS",
            "SLOW LOGS",
            "RELAY LOGS",
            "USER_RESOURCES",
            "OPTIMIZER_COSTS",
            "DES_KEY_FILE",
            "QUERY CACHE",
        ];
        let target = match tokens.expect_one(&words)? {
            "BINARY LOGS" => FlushTarget::BinaryLogs,
            "LOGS" => FlushTarget::Logs,
            "ERROR LOGS" => FlushTarget::ErrorLogs,
            "STATUS" | "GLOBAL STATUS" => FlushTarget::Status,
            "RELAY LOGS" => {
                channel(tokens)?;
                FlushTarget::RelayLogs
            }
            words => FlushTarget::Nothing(words),
        };
        Ok(target)
    })?;
    Ok(Admin::Flush(targets))
}

fn flush_tables(tokens: &mut Tokens<'_>) -> Parsed<FlushTarget> {
    let tables =
        if tokens.at_end() || tokens.next_are("WITH") { Vec::new() } else { tokens.comma_list(Tokens::table_name)? };
    if tokens.accept("WITH READ LOCK") {
        return Ok(FlushTarget::TablesWithReadLock(tables));
    }
    if tokens.next_are("FOR EXPORT") {
        return Err(ParseError::not_supported("FLUSH TABLES … FOR EXPORT"));
    }
    Ok(FlushTarget::Tables(tables))
}

fn kill(tokens: &mut Tokens<'_>) -> Parsed<Admin> {
    tokens.expect("KILL")?;
    let _ = tokens.accept("HARD") || tokens.accept("SOFT");
    let query_only = tokens.accept("QUERY");
    if !query_only {
        tokens.accept("CONNECTION");
    }
    Ok(Admin::Kill { query_only, id: Box::new(tokens.expr()?) })
}

fn histogram_update(tokens: &mut Tokens<'_>, tables: Vec<TableName>, local: bool) -> Parsed<Histogram> {
    let columns = tokens.comma_list(Tokens::identifier)?;
    if tokens.accept("USING DATA") {
        let change = HistogramChange::Data(tokens.string()?);
        return Ok(Histogram { tables, local, columns, change });
    }
    let mut buckets = None;
    if tokens.accept("WITH") {
        buckets = Some(tokens.whole_number()?);
        tokens.expect("BUCKETS")?;
    }
    let auto = tokens.accept("AUTO UPDATE");
    if !auto {
        tokens.accept("MANUAL UPDATE");
    }
    Ok(Histogram { tables, local, columns, change: HistogramChange::Update { buckets, auto } })
}

fn maintenance(tokens: &mut Tokens<'_>) -> Parsed<Admin> {
    let what = match tokens.expect_one(&["ANALYZE", "CHECK", "OPTIMIZE", "REPAIR"])? {
        "ANALYZE" => TableMaintenance::Analyze,
        "CHECK" => TableMaintenance::Check,
        "OPTIMIZE" => TableMaintenance::Optimize,
        _ => TableMaintenance::Repair,
    };
    let local = tokens.accept("LOCAL") || tokens.accept("NO_WRITE_TO_BINLOG");
    tokens.expect_one(&["TABLES", "TABLE"])?;
    let tables = tokens.comma_list(Tokens::table_name)?;
    if what == TableMaintenance::Analyze && tokens.accept("UPDATE HISTOGRAM ON") {
        return histogram_update(tokens, tables, local).map(Admin::Histogram);
    }
    if what == TableMaintenance::Analyze && tokens.accept("DROP HISTOGRAM ON") {
        let columns = tokens.comma_list(Tokens::identifier)?;
        return Ok(Admin::Histogram(Histogram { tables, local, columns, change: HistogramChange::Drop }));
    }
    if what == TableMaintenance::Analyze && tokens.accept("PERSISTENT FOR") {
        // MariaDB's statistics; here numbers are estimated when they are asked for.
        if !tokens.accept("ALL") {
            for part in ["COLUMNS", "INDEXES"] {
                tokens.expect(part)?;
                if tokens.accept("ALL") {
                    continue;
                }
                // No names at all are allowed, too.
                tokens.expect_token(&Token::LParen)?;
                if !tokens.accept_token(&Token::RParen) {
                    tokens.comma_list(Tokens::any_word)?;
                    tokens.expect_token(&Token::RParen)?;
                }
            }
        }
    }
    let options = ["FOR UPGRADE", "QUICK", "FAST", "MEDIUM", "EXTENDED", "CHANGED", "USE_FRM"];
    while tokens.accept_one(&options).is_some() {}
    let from = match what {
        TableMaintenance::Repair if tokens.accept("FROM") => Some(tokens.string()?),
        _ => None,
    };
    Ok(Admin::Tables { what, tables, local, from })
}
