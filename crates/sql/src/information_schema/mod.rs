//! `information_schema`, and the few tables of `performance_schema` and `mysql` that clients ask for, as virtual tables.
//!
//! A table is a description of its columns and a function that makes its rows from the catalog, as the session's account may
//! see it. Tables that would describe what does not exist here (views, triggers, routines) are there and empty.

mod accounts;
mod definitions;
mod keys;
mod once;
mod replication;
mod roles;
mod rows;
mod server;
mod spec;
mod tables;
mod transactions;

use std::fmt;
use std::sync::Arc;

use base::SqlError;
use io::BoxFuture;
use types::{ColumnDef, Value};

pub(crate) use self::definitions::definition_of;
pub(crate) use self::once::Once;
pub(crate) use self::rows::{index_rows, privileges_text, table_numbers};
pub(crate) use self::spec::column_spec;
use self::tables::{Described, RowsOf, TABLES, TableSpec};
use crate::exec::ExecContext;
use crate::exec::spill::RowStore;
use crate::session::Shared;
use crate::virtual_table::{VirtualTable, VirtualTables, Wanted};

/// Virtual databases, as they are written.
pub(crate) const DATABASES: &[&str] = &["information_schema", "mysql", "performance_schema"];

/// Whether results name the columns of a table in capitals, however the statement writes them: those of the views that MySQL's dictionary has.
pub(crate) fn spells_columns(schema: &str, table: &str) -> bool {
    const VIEWS: [&str; 21] = [
        "ADMINISTRABLE_ROLE_AUTHORIZATIONS",
        "CHARACTER_SETS",
        "CHECK_CONSTRAINTS",
        "COLLATION_CHARACTER_SET_APPLICABILITY",
        "COLUMNS",
        "EVENTS",
        "FILES",
        "KEYWORDS",
        "KEY_COLUMN_USAGE",
        "PARAMETERS",
        "PARTITIONS",
        "REFERENTIAL_CONSTRAINTS",
        "ROUTINES",
        "SCHEMATA",
        "STATISTICS",
        "TABLES",
        "TABLE_CONSTRAINTS",
        "TRIGGERS",
        "VIEWS",
        "VIEW_ROUTINE_USAGE",
        "VIEW_TABLE_USAGE",
    ];
    schema == "information_schema" && VIEWS.contains(&table)
}

/// The virtual database of that name, whatever its case.
pub(crate) fn system_database(name: &str) -> Option<&'static str> {
    DATABASES.iter().find(|database| database.eq_ignore_ascii_case(name)).copied()
}

/// The virtual database of that name if its table is one that SELECT is needed for: none of `information_schema`, and of
/// `performance_schema` not those that MySQL lets everybody read, nor those of replication, which ask for privileges themselves.
pub(crate) fn guarded_database(schema: &str, table: &str) -> Option<&'static str> {
    const OF_EVERYBODY: &[&str] = &[
        "global_status",
        "global_variables",
        "persisted_variables",
        "processlist",
        "session_account_connect_attrs",
        "session_status",
        "session_variables",
        "variables_info",
    ];
    let is_of_everybody = |system: &str| match system {
        "information_schema" => true,
        "performance_schema" => {
            let table = table.to_ascii_lowercase();
            OF_EVERYBODY.contains(&table.as_str()) || table.starts_with("replication_")
        }
        _ => false,
    };
    system_database(schema).filter(|system| !is_of_everybody(system))
}

/// Names of the tables of a virtual database, by name.
pub(crate) fn table_names(database: &str) -> Vec<String> {
    let mut names: Vec<String> =
        TABLES.iter().filter(|table| table.database == database).map(|table| table.name.to_string()).collect();
    names.sort();
    names
}

/// Steps that making and keeping a row takes.
const ROW_STEPS: u64 = 1000;

/// The columns of a virtual table.
pub(crate) fn columns_of(database: &str, name: &str) -> Option<Vec<ColumnDef>> {
    find(database, name).map(|table| column_spec(table.columns))
}

fn find(database: &str, name: &str) -> Option<&'static TableSpec> {
    TABLES.iter().find(|table| table.database.eq_ignore_ascii_case(database) && table.name.eq_ignore_ascii_case(name))
}

/// The virtual tables of a server.
pub(crate) struct SystemTables {
    shared: Arc<Shared>,
}

impl SystemTables {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        SystemTables { shared }
    }
}

impl VirtualTables for SystemTables {
    fn table(&self, schema: &str, name: &str) -> Option<Arc<dyn VirtualTable>> {
        let spec = find(schema, name)?;
        Some(Arc::new(SystemTable { shared: self.shared.clone(), spec, columns: column_spec(spec.columns) }))
    }

    fn is_virtual(&self, schema: &str) -> bool {
        system_database(schema).is_some()
    }
}

struct SystemTable {
    shared: Arc<Shared>,
    spec: &'static TableSpec,
    columns: Vec<ColumnDef>,
}

impl fmt::Debug for SystemTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.spec.database, self.spec.name)
    }
}

impl VirtualTable for SystemTable {
    fn schema(&self) -> &str {
        self.spec.database
    }

    fn name(&self) -> &str {
        self.spec.name
    }

    fn columns(&self) -> &[ColumnDef] {
        &self.columns
    }

    fn rows<'a>(
        &'a self,
        context: &'a mut ExecContext<'_>,
        wanted: &'a Wanted<'a>,
        kept: &'a mut RowStore,
    ) -> BoxFuture<'a, Result<(), SqlError>> {
        Box::pin(async move {
            let source = rows::Source::new(&self.shared, context);
            match &self.spec.rows {
                RowsOf::Server(rows) => keep(&rows(&source)?, context, kept).await,
                RowsOf::Tables(described) => described.rows(&source, context, wanted, kept).await,
            }
        })
    }
}

impl Described {
    /// The rows of all tables that are wanted, table by table.
    async fn rows(
        &self,
        source: &rows::Source<'_>,
        context: &mut ExecContext<'_>,
        wanted: &Wanted<'_>,
        kept: &mut RowStore,
    ) -> Result<(), SqlError> {
        if self.needs_process {
            server::check_process(source)?;
        }
        if let Some(rows) = self.of_virtual {
            for &database in DATABASES {
                if !wanted.database(database, &context.eval) {
                    continue;
                }
                for name in table_names(database) {
                    if wanted.table(database, &name, &context.eval) {
                        keep(&rows(source, database, &name), context, kept).await?;
                    }
                }
            }
        }
        let [databases, tables] = wanted.names(&context.eval);
        for table in source.tables(databases, tables) {
            if wanted.table(&table.def.schema, &table.def.name, &context.eval) {
                if self.needs_statistics {
                    // Of a damaged table nothing may be known.
                    source.engine().statistics(table).await.ok();
                }
                keep(&(self.of_table)(source, table, wanted), context, kept).await?;
            }
        }
        Ok(())
    }
}

/// Keeps rows, and looks whether the statement has to end.
async fn keep(rows: &[Vec<Value>], context: &mut ExecContext<'_>, kept: &mut RowStore) -> Result<(), SqlError> {
    context.eval.worked(rows.len() as u64 * ROW_STEPS)?;
    for row in rows {
        kept.push(context.env, row).await?;
    }
    Ok(())
}
