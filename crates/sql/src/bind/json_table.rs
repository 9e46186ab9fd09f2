//! JSON_TABLE in FROM. Its document may name columns of the tables before it, as a LATERAL subquery may.

use std::collections::HashSet;
use std::sync::Arc;

use base::{SqlError, codes};
use syntax::ast as sql;
use syntax::statement::{ColumnSpec, TypeSpec};
use types::json::{Json, Path};
use types::{CollationId, ColumnDef};

use crate::bind::Binder;
use crate::bind::expr::{Clause, ExprScope};
use crate::bind::from::{duplicate_column, unnamed_table};
use crate::bind::tree::{BoundTable, ColumnInfo, TableSource};
use crate::ddl::{DdlContext, column_of_function};
use crate::exec::json_table::{as_column, number_as_column};
use crate::expr::json::parse_argument;
use crate::expr::{ExprType, SqlMode, VariableScope, Warning, WarningLevel, Warnings};
use crate::plan::json_table::{JsonColumn, JsonNode, JsonTable, Otherwise};
use crate::plan::planning_eval;

/// So many paths may one table have, its own and NESTED ones: one less than MySQL says when there are more.
const PATHS_MAX: usize = 15;

/// The width of an ordinality in results.
const ORDINALITY_LENGTH: u32 = 10;

/// A table whose columns are being bound.
struct Columns<'t> {
    alias: &'t str,
    infos: Vec<ColumnInfo>,
    names: HashSet<String>,
    nodes: Vec<JsonNode>,
}

impl Columns<'_> {
    fn add(&mut self, name: &str, ty: ExprType) -> Result<usize, SqlError> {
        if !self.names.insert(name.to_lowercase()) {
            return Err(duplicate_column(name));
        }
        self.infos.push(ColumnInfo { name: Arc::from(name), ty, invisible: false });
        Ok(self.infos.len() - 1)
    }
}

impl<'a> Binder<'a> {
    /// The table; the scope sees what stands before it.
    pub(super) fn bind_json_table(&mut self, table: &'a sql::JsonTable) -> Result<BoundTable, SqlError> {
        let document = self.bind_document(&table.document)?;
        let alias = table.alias.as_str();
        let mut columns = Columns { alias, infos: Vec::new(), names: HashSet::new(), nodes: Vec::new() };
        self.bind_json_node(&table.path, &table.columns, &mut columns)?;
        let Columns { infos, nodes, .. } = columns;
        let source = TableSource::Json(Box::new(JsonTable { document, nodes, width: infos.len() }));
        Ok(BoundTable { source, ..unnamed_table("json_table", alias, infos) })
    }

    fn bind_document(&mut self, document: &'a sql::Expr) -> Result<crate::expr::Expr, SqlError> {
        let beside = self.scope().beside.clone();
        let has_tables = !beside.is_empty();
        self.scope().see(beside);
        // A subquery may become a constant, and a call that waits one of the subqueries.
        let before = (self.blocks, self.scope().subqueries.len());
        let bound = self.bind_expr(document, ExprScope::new(Clause::TableFunction)).map_err(|error| {
            let qualified = error.message.split('\'').nth(1).and_then(|name| name.rsplit('.').nth(1));
            match qualified {
                Some(table) if error.code == codes::BAD_FIELD_ERROR.0 && !has_tables => {
                    let message = format!("Unknown table '{table}' in {}", Clause::TableFunction.name());
                    SqlError::new(codes::UNKNOWN_TABLE, message)
                }
                _ => error,
            }
        })?;
        if (self.blocks, self.scope().subqueries.len()) != before {
            return Err(SqlError::new(codes::WRONG_ARGUMENTS, "Incorrect arguments to JSON_TABLE"));
        }
        Ok(bound)
    }

    /// A path with its COLUMNS; the number of its node.
    fn bind_json_node(
        &mut self,
        path: &str,
        written: &'a [sql::JsonColumn],
        columns: &mut Columns<'_>,
    ) -> Result<usize, SqlError> {
        let node = columns.nodes.len();
        if node >= PATHS_MAX {
            let message = format!("More than supported 16 NESTED PATHs were found in JSON_TABLE '{}'", columns.alias);
            return Err(SqlError::new(codes::JT_MAX_NESTED_PATH, message));
        }
        let path = read_path(path)?;
        columns.nodes.push(JsonNode { path, columns: Vec::new(), children: Vec::new() });
        for column in written {
            self.worked(1)?;
            match column {
                sql::JsonColumn::Ordinality(name) => {
                    let ty = ExprType { length: ORDINALITY_LENGTH, ..ordinality_type(name.as_str()) };
                    let at = columns.add(name.as_str(), ty)?;
                    columns.nodes[node].columns.push((at, JsonColumn::Ordinality));
                }
                sql::JsonColumn::Value(value) => {
                    let def = self.column_of(value.name.as_str(), &value.ty)?;
                    let at = columns.add(value.name.as_str(), ExprType::of_column(&def))?;
                    let column = self.bind_json_value_column(value, def)?;
                    columns.nodes[node].columns.push((at, column));
                }
                sql::JsonColumn::Nested(path, nested) => {
                    let child = self.bind_json_node(path, nested, columns)?;
                    columns.nodes[node].children.push(child);
                }
            }
        }
        Ok(node)
    }

    fn bind_json_value_column(
        &mut self,
        value: &'a sql::JsonTableValue,
        def: ColumnDef,
    ) -> Result<JsonColumn, SqlError> {
        if value.is_turned {
            let message = "Specifying an ON EMPTY clause after the ON ERROR clause in a JSON_TABLE column definition is \
                           deprecated syntax and will be removed in a future release. Specify ON EMPTY before ON ERROR \
                           instead.";
            self.context.warnings.push(WarningLevel::Warning, codes::WARN_DEPRECATED_SYNTAX, message);
        }
        let path = read_path(&value.path)?;
        let on_empty = self.otherwise(&value.on_empty, &def)?;
        let on_error = self.otherwise(&value.on_error, &def)?;
        if value.exists {
            let warnings = Warnings::default();
            let eval = planning_eval(self.context, &warnings);
            let (yes, no) = (number_as_column(1, &def, &eval), number_as_column(0, &def, &eval));
            return Ok(JsonColumn::Exists { path, yes, no });
        }
        Ok(JsonColumn::Value { def: Box::new(def), path, on_empty, on_error })
    }

    /// ON EMPTY and ON ERROR; a DEFAULT is a text that is a document.
    fn otherwise(&self, behavior: &sql::JsonBehavior, def: &ColumnDef) -> Result<Otherwise, SqlError> {
        let expr = match behavior {
            sql::JsonBehavior::Null => return Ok(Otherwise::Null),
            sql::JsonBehavior::Error => return Ok(Otherwise::Error),
            sql::JsonBehavior::Default(expr) => expr,
        };
        let sql::ExprKind::Literal(sql::Literal::Text(text)) = &expr.kind else {
            return Err(SqlError::not_supported("non-string DEFAULT value for a column in a JSON_TABLE expression"));
        };
        let json = parse_argument(text.text.as_bytes(), 1, "JSON_TABLE")?;
        if matches!(json, Json::Array(_) | Json::Object(_)) && def.ty != types::ColumnType::Json {
            let message = format!("Invalid default value for '{}'", def.name);
            return Err(SqlError::new(codes::INVALID_DEFAULT, message));
        }
        let warnings = Warnings::default();
        as_column(&json, def, &planning_eval(self.context, &warnings)).map(Otherwise::Default)
    }

    /// What `CHARACTER SET utf8mb4` means in the session.
    fn utf8mb4_collation(&self) -> CollationId {
        let said = self.context.host.system_variable(VariableScope::Session, "default_collation_for_utf8mb4").ok();
        let named = |value: types::Value| types::collation::by_name(std::str::from_utf8(value.as_bytes()?).ok()?);
        said.and_then(named).unwrap_or(CollationId::DEFAULT)
    }

    /// A column as a table would have it. Text is in the connection's character set.
    fn column_of(&self, name: &str, ty: &TypeSpec) -> Result<ColumnDef, SqlError> {
        let (context, session) = (self.context, self.context.session);
        let warnings = Warnings::default();
        let utf8mb4 = self.utf8mb4_collation();
        let ddl = DdlContext {
            catalog: context.catalog,
            database: context.database,
            // What is too long for a VARCHAR becomes a TEXT.
            sql_mode: session.sql_mode.without(SqlMode::STRICT_ALL_TABLES).without(SqlMode::STRICT_TRANS_TABLES),
            character_set: session.collation_connection.charset(),
            collation_server: session.collation_connection,
            utf8mb4_collation: utf8mb4,
            timestamp: 0,
            microseconds: 0,
            time_zone: &session.time_zone,
            require_primary_key: false,
            foreign_key_checks: false,
            is_logged: false,
            is_of_maria: false,
            row_order: None,
            partial_revokes: false,
            mandatory_roles: &[],
            reuse_policy: Default::default(),
            auto_increment: (1, 1),
            warnings: &warnings,
        };
        let spec = ColumnSpec {
            name: name.to_owned(),
            ty: ty.clone(),
            nullable: Some(true),
            default: None,
            on_update_now: None,
            auto_increment: false,
            invisible: false,
            comment: String::new(),
            without_effect: None,
        };
        let column = column_of_function(&spec, session.collation_connection, &ddl)?;
        let is_shown = |warning: &Warning| warning.code == codes::WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT.0;
        for Warning { level, message, .. } in warnings.take().into_iter().filter(is_shown) {
            context.warnings.push(level, codes::WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT, message);
        }
        Ok(column)
    }
}

fn ordinality_type(name: &str) -> ExprType {
    ExprType::of_column(&ColumnDef::new(name.to_owned(), types::ColumnType::BigInt { unsigned: false })).nullable(true)
}

/// 3143
fn read_path(text: &str) -> Result<Path, SqlError> {
    Path::parse(text).map_err(|error| SqlError::new(codes::INVALID_JSON_PATH, error.to_string()))
}
