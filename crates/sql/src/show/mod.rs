//! SHOW and DESCRIBE.
//!
//! Each statement makes its rows in memory ([`Rows`]) and sends them through its LIKE or WHERE. A WHERE is run as a query
//! over those rows ([`crate::information_schema::Once`]), so that it means what it means everywhere.

mod accounts;
mod binlog;
mod columns;
mod explain;
mod objects;
pub(crate) mod server;
mod status;
mod variables;

use std::sync::Arc;

use base::SqlError;
use types::{ColumnDef, ColumnType, Value};

pub(crate) use self::columns::{default_of, extra_of, field_list, key_of};
pub(crate) use self::status::stream_lines;
use crate::bind::output;
use crate::expr::ExprType;
use crate::information_schema::{Once, column_spec};
use crate::parse::ast::{Filter, Limit, NothingToShow, Show, UserName};
use crate::result::{Outcome, ResultColumn, ResultSink};
use crate::session::Session;

/// A result in memory.
pub(crate) struct Rows {
    pub(crate) columns: Vec<ColumnDef>,
    pub(crate) rows: Vec<Vec<Value>>,
}

impl Rows {
    /// No rows yet, of columns as [`column_spec`] describes them.
    pub(crate) fn new(spec: &str) -> Self {
        Rows { columns: column_spec(spec), rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, row: Vec<Value>) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }
}

/// The protocol's description of a column of a [`Rows`].
pub(crate) fn result_column(column: &ColumnDef) -> ResultColumn {
    let mut ty = ExprType::of_column(column);
    // MySQL describes these as strings that were computed: long ones have the type of a BLOB.
    if matches!(column.ty, ColumnType::VarChar { .. }) {
        ty.origin = None;
    }
    output::unnamed(Arc::from(column.name.as_str()), &ty)
}

/// Runs a SHOW.
pub(crate) async fn show(
    session: &mut Session,
    show: &Show,
    params: &[Value],
    sink: &mut dyn ResultSink,
) -> Result<Outcome, SqlError> {
    if let Show::Explain { connection, format } = show {
        return explain::of_connection(session, *connection, *format, sink);
    }
    let (rows, filter) = match show {
        Show::Databases(filter) => (objects::databases(session, filter), filter),
        Show::Tables { full, database, filter } => {
            (objects::tables(session, *full, database.as_deref(), filter)?, filter)
        }
        Show::TableStatus { database, filter } => (objects::table_status(session, database.as_deref())?, filter),
        Show::Columns { full, extended, table, filter } => {
            (columns::columns(session, *full, *extended, table)?, filter)
        }
        Show::Index { table, filter } => (columns::indexes(session, table).await?, filter),
        Show::CreateTable(table) => (objects::create_table(session, table)?, &Filter::None),
        Show::CreateView(table) => return Err(objects::no_view(session, table)),
        Show::CreateOfNothing { kind, name } => return Err(objects::nothing_of(session, kind, name)),
        Show::CreateDatabase { name, if_not_exists } => {
            (objects::create_database(session, name, *if_not_exists)?, &Filter::None)
        }
        Show::CreateUser(user) => (accounts::create_user(session, user.as_ref())?, &Filter::None),
        Show::Grants { user, using } => (accounts::grants(session, user.as_ref(), using)?, &Filter::None),
        Show::Privileges => (accounts::privileges(), &Filter::None),
        Show::Variables { global, filter } => (variables::variables(session, *global), filter),
        Show::Status { global, filter } => (status::status(session, *global, filter), filter),
        Show::Explain { .. } => return Ok(Outcome::default()),
        Show::Processlist { full } => (server::processlist(session, *full), &Filter::None),
        Show::Warnings { only_errors, limit } => (server::warnings(session, *only_errors, *limit), &Filter::None),
        Show::WarningCount { only_errors } => (server::warning_count(session, *only_errors), &Filter::None),
        Show::Engines => (server::engines(), &Filter::None),
        Show::EngineStatus(engine) => (server::engine_status(session, engine)?, &Filter::None),
        Show::Plugins => (server::plugins(), &Filter::None),
        Show::CharacterSets(filter) => (server::character_sets(), filter),
        Show::Collations(filter) => (server::collations(), filter),
        Show::Profiles => (Rows::new("Query_ID i, Duration d, Query v300"), &Filter::None),
        Show::Nothing { kind, database, filter } => {
            objects::check_may_list(session, *kind, database.as_deref())?;
            (nothing(*kind), filter)
        }
        Show::BinaryLogs => (binlog::binary_logs(session)?, &Filter::None),
        Show::BinaryLogStatus => (binlog::binary_log_status(session)?, &Filter::None),
        Show::BinlogEvents { file, position, limit } => {
            (binlog::events(session, file.clone(), *position, *limit).await?, &Filter::None)
        }
        Show::Replicas => (binlog::replicas(session)?, &Filter::None),
        Show::ReplicaStatus { old_names, of_connections, channel } => {
            (binlog::replica_status(session, *old_names, *of_connections, channel)?, &Filter::None)
        }
    };
    send(session, rows, (filter, params), sink).await
}

/// The passwords that CREATE USER, ALTER USER or SET PASSWORD has made.
pub(crate) async fn generated_passwords(
    session: &mut Session,
    generated: Vec<(UserName, String)>,
    sink: &mut dyn ResultSink,
) -> Result<Outcome, SqlError> {
    let mut rows = Rows::new("user v32, host v255, generated password v255, auth_factor u");
    for (name, password) in generated {
        rows.push(vec![Value::str(name.user), Value::str(name.host), Value::str(password), Value::UInt(1)]);
    }
    send(session, rows, (&Filter::None, &[]), sink).await
}

/// Sends rows through a filter, which may have parameters.
async fn send(
    session: &mut Session,
    rows: Rows,
    (filter, params): (&Filter, &[Value]),
    sink: &mut dyn ResultSink,
) -> Result<Outcome, SqlError> {
    let Rows { columns, mut rows } = rows;
    match filter {
        Filter::Where(condition) => {
            let once = Once::new(columns, rows);
            return session.query_once(once, condition, params, sink).await;
        }
        Filter::Like(pattern) => {
            let is_exact = columns.first().is_some_and(|column| column.collation == types::CollationId::UTF8MB4_BIN);
            let cased = |text: &str| if is_exact { text.to_owned() } else { text.to_lowercase() };
            let pattern = cased(pattern);
            rows.retain(|row| crate::account::matches_pattern(&pattern, &cased(&text_of(&row[0]))));
        }
        Filter::None => {}
    }
    emit(&columns, &rows, sink).await
}

/// Sends rows as they are.
pub(crate) async fn emit(
    columns: &[ColumnDef],
    rows: &[Vec<Value>],
    sink: &mut dyn ResultSink,
) -> Result<Outcome, SqlError> {
    let columns: Vec<ResultColumn> = columns.iter().map(result_column).collect();
    sink.columns(&columns)?;
    for row in rows {
        sink.row(row)?;
        if sink.needs_flush() {
            sink.flush().await?;
        }
    }
    Ok(Outcome { has_rows: true, affected_rows: rows.len() as u64, ..Outcome::default() })
}

fn text_of(value: &Value) -> String {
    let mut text = Vec::new();
    value.write_text(types::value::NOT_FIXED, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// A text or NULL.
pub(crate) fn opt(text: Option<impl Into<String>>) -> Value {
    text.map_or(Value::Null, |text| Value::str(text))
}

fn limited(rows: Vec<Vec<Value>>, limit: Limit) -> Vec<Vec<Value>> {
    let count = limit.count.map_or(usize::MAX, |count| usize::try_from(count).unwrap_or(usize::MAX));
    rows.into_iter().skip(usize::try_from(limit.offset).unwrap_or(usize::MAX)).take(count).collect()
}

/// Lists of what there is none of.
fn nothing(kind: NothingToShow) -> Rows {
    Rows::new(match kind {
        NothingToShow::Triggers => {
            "Trigger v64, Event v6, Table v64, Statement t, Timing v6, Created s?, sql_mode v600, Definer v288, \
             character_set_client v64, collation_connection v64, Database Collation v64"
        }
        NothingToShow::Events => {
            "Db v64, Name v64, Definer v288, Time zone v64, Type v9, Execute at s?, Interval value v256?, \
             Interval field v18?, Starts s?, Ends s?, Status v18, Originator u, character_set_client v64, \
             collation_connection v64, Database Collation v64"
        }
        NothingToShow::ProcedureStatus | NothingToShow::FunctionStatus => {
            "Db v64, Name v64, Type v9, Language v64, Definer v288, Modified s, Created s, Security_type v7, Comment t, \
             character_set_client v64, collation_connection v64, Database Collation v64"
        }
        NothingToShow::OpenTables => "Database v64, Table v64, In_use i, Name_locked i",
    })
}
