//! [`Once`]: rows in memory as a table, for the WHERE of a SHOW.

use std::sync::Arc;

use base::SqlError;
use io::BoxFuture;
use types::{ColumnDef, Value};

use crate::exec::ExecContext;
use crate::exec::spill::RowStore;
use crate::virtual_table::{VirtualTable, VirtualTables, Wanted};

/// The database and name under which the rows are found.
const SCHEMA: &str = "information_schema";
const NAME: &str = "SHOW";

/// Rows in memory.
#[derive(Clone, Debug)]
pub(crate) struct Once(Arc<OnceRows>);

#[derive(Debug)]
struct OnceRows {
    columns: Vec<ColumnDef>,
    rows: Vec<Vec<Value>>,
}

impl Once {
    /// The query that gives all of it.
    pub(crate) const QUERY: &str = "SELECT * FROM `information_schema`.`SHOW`";

    pub(crate) fn new(columns: Vec<ColumnDef>, rows: Vec<Vec<Value>>) -> Self {
        Once(Arc::new(OnceRows { columns, rows }))
    }
}

impl VirtualTables for Once {
    fn table(&self, schema: &str, name: &str) -> Option<Arc<dyn VirtualTable>> {
        (schema == SCHEMA && name == NAME).then(|| Arc::new(self.clone()) as Arc<dyn VirtualTable>)
    }

    fn is_virtual(&self, schema: &str) -> bool {
        schema == SCHEMA
    }
}

impl VirtualTable for Once {
    fn schema(&self) -> &str {
        SCHEMA
    }

    fn name(&self) -> &str {
        NAME
    }

    fn columns(&self) -> &[ColumnDef] {
        &self.0.columns
    }

    fn rows<'a>(
        &'a self,
        context: &'a mut ExecContext<'_>,
        _wanted: &'a Wanted<'a>,
        kept: &'a mut RowStore,
    ) -> BoxFuture<'a, Result<(), SqlError>> {
        Box::pin(super::keep(&self.0.rows, context, kept))
    }
}
