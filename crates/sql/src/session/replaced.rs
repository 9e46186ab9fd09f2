//! CREATE OR REPLACE: what it takes the place of is dropped, then it is CREATE.
//!
//! # Invariants
//! - Nothing is dropped for a definition that cannot be made: it is planned beforehand, as if what it replaces were gone. Rows of a query that
//!   cannot be read are found out afterwards, as in MariaDB.
//! - An index is replaced by one ALTER TABLE, because whether its rows are distinct is only known once it is built.

use base::{SqlError, codes};
use syntax::ast as sql;
use types::Value;

use super::Session;
use super::definition::selected_columns;
use super::prepared::rows_of;
use crate::ddl::{self, plan_ddl};
use crate::information_schema::SystemTables;
use crate::parse::ast::{AlterAction, AlterTable, CreateTable, Ddl, Statement, TableName, UserName};
use crate::parse::{ParsedStatement, parse_one};

impl Session {
    /// Makes room for what CREATE OR REPLACE makes. An index and its replacement are one statement, which is given back.
    pub(super) async fn make_room(
        &mut self,
        replaced: &Ddl,
        parsed: &ParsedStatement,
        params: &[Value],
    ) -> Result<Option<Ddl>, SqlError> {
        match (&parsed.statement, replaced) {
            (Statement::Ddl(Ddl::AlterTable(added)), _) => return Ok(self.with_replaced_index(added)),
            (Statement::Ddl(made @ Ddl::CreateTable(create)), Ddl::DropTables { .. }) => {
                self.check_definition(replaced)?;
                self.check_definition(made)?;
                self.check_can_replace(&create.name, |context| plan_ddl(made, context).map(drop))?;
            }
            (Statement::CreateTableSelect(create, query), Ddl::DropTables { .. }) => {
                self.check_definition(replaced)?;
                self.check_can_select_into(create, query, (parsed, params)).await?;
            }
            (Statement::Ddl(made), _) => self.check_definition(made)?,
            _ => {}
        }
        self.drop_replaced(replaced).await?;
        Ok(None)
    }

    /// `None` if there is no index to replace.
    fn with_replaced_index(&self, added: &AlterTable) -> Option<Ddl> {
        let [AlterAction::AddIndex(index)] = &added.actions[..] else { return None };
        let schema = self.schema_of(&added.table).ok()?;
        let catalog = self.catalog();
        let table = catalog.table(&schema, &added.table.name)?;
        let name = index.name.as_ref().filter(|name| table.def.index_number(name).is_some())?;
        let mut both = added.clone();
        both.actions.insert(0, AlterAction::DropIndex(name.clone()));
        Some(Ddl::AlterTable(Box::new(both)))
    }

    /// Whether a definition could be made if there were no table of its name.
    fn check_can_replace(
        &mut self,
        name: &TableName,
        plan: impl FnOnce(&ddl::DdlContext<'_>) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        let catalog = self.catalog().without_table(&self.schema_of(name)?, &name.name);
        let warnings = std::mem::take(&mut self.warnings);
        let planned = plan(&self.ddl_context(&catalog, &warnings));
        // It is planned again, and tells of the same then.
        self.warnings = warnings;
        self.warnings.take();
        planned
    }

    /// The same with the columns of a query, which cannot read the table that it replaces (1093).
    async fn check_can_select_into(
        &mut self,
        create: &CreateTable,
        query: &sql::Query,
        (parsed, params): (&ParsedStatement, &[Value]),
    ) -> Result<(), SqlError> {
        self.check_may_select_into(create)?;
        let mut select = parsed.clone();
        select.statement = Statement::Query(Box::new(query.clone()));
        let tables = SystemTables::new(self.shared.clone());
        let rows = rows_of(&select, params, &self.info.database.clone());
        let plan = self.plan(&rows, &[], &tables).await?;
        self.check_table_uses(plan.uses())?;
        let (schema, name) = (self.schema_of(&create.name)?, &create.name.name);
        if plan.uses().iter().any(|used| used.schema == schema && used.table == *name) {
            let message = format!("You can't specify target table '{name}' for update in FROM clause");
            return Err(SqlError::new(codes::UPDATE_TABLE_USED, message));
        }
        let columns = selected_columns(&plan, &self.catalog(), self.source.is_of_maria());
        self.check_can_replace(&create.name, |context| ddl::with_selected(create, &columns, context).map(drop))
    }

    /// It is a transaction by itself; a GTID that was chosen, or a place in another log, is that of what is made.
    async fn drop_replaced(&mut self, ddl: &Ddl) -> Result<(), SqlError> {
        let text = match ddl {
            Ddl::DropDatabase { name, .. } => Some(format!("DROP DATABASE IF EXISTS {}", ddl::quote_identifier(name))),
            Ddl::DropUser { users, .. } => {
                let users: Vec<String> = users.iter().map(UserName::to_string).collect();
                Some(format!("DROP USER IF EXISTS {}", users.join(",")))
            }
            // Rendered when it is planned.
            _ => None,
        };
        let written = text.map(|text| parse_one(&text, &self.parse_context())).transpose()?;
        let (gtid, position) = (self.put_gtid_aside(), self.source_position.take());
        let dropped = self.define(ddl, written.as_ref()).await;
        (self.next_gtid, self.source_position) = (gtid, position);
        dropped?;
        // A warning that it was not there says nothing.
        self.warnings.take();
        Ok(())
    }
}
