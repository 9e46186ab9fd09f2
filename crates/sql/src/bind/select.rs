//! One SELECT block.
//!
//! MySQL's order of lookup is kept: GROUP BY looks for a name among the tables' columns first and then among the select list's
//! aliases, ORDER BY the other way round, and HAVING as ORDER BY but for the names of GROUP BY.

use std::collections::HashSet;

use base::{SqlError, codes, memory};
use engine::TableMode;
use syntax::ast as sql;
use syntax::grammar::{SELECTS_MAX, too_many_selects};

use crate::bind::Binder;
use crate::bind::alias::{Aliases, Grouped, NO_ALIASES};
use crate::bind::expr::{Clause, ExprScope, Windows};
use crate::bind::name::{self, item_name};
use crate::bind::output;
use crate::bind::query::{Tail, position};
use crate::bind::rollup::{has_grouping, is_key};
use crate::bind::scope::{Scope, unknown_column};
use crate::bind::tree::{Block, BoundBody, BoundQuery, BoundTable, Grouping, OrderItem, TableSource};
use crate::expr::{Expr, ExprType};
use crate::plan::{Privilege, UsedColumns};
use crate::result::ResultColumn;

/// An item of the select list.
pub(super) struct Item {
    pub(super) name: String,
    pub(super) expr: Expr,
}

impl<'a> Binder<'a> {
    /// Binds a SELECT with what stands around it.
    pub(crate) fn bind_select(&mut self, select: &'a sql::Select, tail: Tail<'a>) -> Result<BoundQuery, SqlError> {
        check_supported(select)?;
        // The parser has bounded what is written; a CTE may stand in another one.
        if self.selects > SELECTS_MAX {
            return Err(too_many_selects());
        }
        let number = self.next_block();
        if number > 1 {
            check_modifiers(select)?;
        }
        self.selects += 1;
        self.scopes.push(Scope::default());
        let depth = self.scopes.len();
        let bound = self.bind_block(select, tail, number);
        self.scopes.truncate(depth - 1);
        self.selects -= 1;
        bound
    }

    fn bind_block(&mut self, select: &'a sql::Select, tail: Tail<'a>, number: u32) -> Result<BoundQuery, SqlError> {
        self.scope().has_group_by = select.group_by.is_some();
        let from = self.bind_from(&select.from)?;
        let (hints, is_fixed) = self.hint_block(select.start.0, number);
        let filter = match &select.filter {
            Some(condition) => self.bind_condition(condition, ExprScope::new(Clause::Where))?,
            None => Vec::new(),
        };
        self.bind_named_windows(&select.windows)?;
        let mut items = self.bind_select_list(select)?;
        self.types_params |= items.iter().any(|item| item.expr.has_param());
        let mut aliases = aliases_of(&items);
        let (keys, rollup) = self.bind_group_by(select.group_by.as_ref(), &aliases)?;
        let written = select.group_by.as_ref().map_or(&[][..], |group_by| &group_by.keys);
        let rollup = self.roll_up((&keys, written, rollup), &mut items)?;
        if rollup.is_some() || self.scope().calls_grouping {
            aliases = aliases_of(&items);
        }
        let mut having = match &select.having {
            Some(condition) => {
                let shown = keys.iter().filter_map(Expr::as_column).chain(aliases.columns()).collect();
                let grouped = Grouped { names: grouped_names(written), shown };
                let scope = ExprScope { grouped: Some(&grouped), ..ExprScope::of_groups(Clause::Having, &aliases) };
                self.bind_condition(condition, scope)?
            }
            None => Vec::new(),
        };
        let of_result = ExprScope { windows: Windows::Allowed, ..ExprScope::of_groups(Clause::OrderBy, &aliases) };
        let mut order = self.bind_order(tail.order, of_result)?;
        let over_groups = having.iter_mut().chain(order.iter_mut().map(|item| &mut item.expr));
        self.read_groups(over_groups, &keys, rollup.as_deref())?;
        let rollup = rollup.map(|columns| columns.iter().filter_map(Expr::as_column).collect());
        let limit = self.bind_limit(tail.limit)?;
        if let Some(clause) = tail.lock {
            self.lock_tables(clause)?;
        }
        let scope = std::mem::take(self.scope());
        self.note_reads(&scope, UsedColumns::Named);
        let (names, select_exprs): (Vec<String>, Vec<Expr>) =
            items.into_iter().map(|item| (item.name, item.expr)).unzip();
        let columns = self.describe(&names, &select_exprs, &scope.tables);
        let types: Vec<ExprType> = select_exprs.iter().map(|expr| expr.ty.clone()).collect();
        let is_grouped = !keys.is_empty() || !scope.aggregates.is_empty();
        let grouping =
            is_grouped.then_some(Grouping { keys, rollup, grouped: scope.grouped, aggregates: scope.aggregates });
        let block = Block {
            number,
            tables: scope.tables,
            from,
            outer: scope.outer,
            filter,
            grouping,
            having,
            windows: scope.windows,
            computed: Vec::new(),
            select: select_exprs,
            distinct: select.options.distinct,
            order,
            limit,
            subqueries: scope.subqueries,
            straight_join: select.options.straight_join || is_fixed,
            hints,
            count_found_rows: select.options.calc_found_rows,
        };
        self.check_grouping(&block, &scope.named_windows)?;
        let into = into_variables(select.into.as_ref().or(tail.into), types.len())?;
        Ok(BoundQuery { body: BoundBody::Block(Box::new(block)), columns, types, into })
    }

    fn describe(&self, names: &[String], exprs: &[Expr], tables: &[BoundTable]) -> Vec<ResultColumn> {
        let column = |(name, expr): (&String, &Expr)| match is_key(expr, &self.columns) {
            // NULL in totals, it is no column of a table any more.
            true => output::unnamed(name.as_str().into(), &expr.ty),
            false => output::named(name.as_str().into(), expr, &self.columns, tables),
        };
        names.iter().zip(exprs).map(column).collect()
    }

    fn bind_select_list(&mut self, select: &'a sql::Select) -> Result<Vec<Item>, SqlError> {
        let mut items = Vec::with_capacity(select.items.len());
        let windows = Windows::Allowed;
        let scope = ExprScope { windows, ..ExprScope::of_groups(Clause::FieldList, &NO_ALIASES) };
        self.scope().later_aliases = select.items.iter().rev().filter_map(alias_of).collect();
        for item in &select.items {
            memory::check_room(&items, 1)?;
            match item {
                sql::SelectItem::Expr { expr: written, alias: None } => {
                    let expr = self.bind_expr(written, scope)?;
                    let text = self.context.text;
                    let name = self.name_in_schema(&expr).unwrap_or_else(|| item_name(written, text));
                    items.push(Item { name, expr });
                }
                sql::SelectItem::Expr { expr, alias: Some(_) } => {
                    let expr = self.bind_expr(expr, scope)?;
                    let name = self.scope().later_aliases.pop().unwrap_or_default();
                    self.scope().aliases.push((name.clone(), expr.clone()));
                    items.push(Item { name, expr });
                }
                sql::SelectItem::Star => self.bind_star(None, &mut items)?,
                sql::SelectItem::TableStar(table) => self.bind_star(Some(table.parts()), &mut items)?,
            }
        }
        Ok(items)
    }

    /// A column of a view of `information_schema`, or of a subquery that is one with the query around it, has its own spelling in results, however the statement spells it.
    fn name_in_schema(&self, expr: &Expr) -> Option<String> {
        let scope = self.scopes.last()?;
        let (table, column) = self.columns.place(expr.as_column()?, &scope.tables)?;
        let table = &scope.tables[table];
        match &table.source {
            TableSource::Derived(query) if query.may_be_merged() => Some(table.columns[column].name.to_string()),
            TableSource::Virtual(source)
                if crate::information_schema::spells_columns(source.schema(), source.name()) =>
            {
                Some(source.columns()[column].name.clone())
            }
            _ => None,
        }
    }

    fn bind_star(&mut self, of: Option<(Option<&str>, &str)>, items: &mut Vec<Item>) -> Result<(), SqlError> {
        let scope = self.scope();
        if scope.tables.is_empty() {
            return Err(match of {
                Some((_, table)) => unknown_table(table),
                None => SqlError::new(codes::NO_TABLES_USED, "No tables used"),
            });
        }
        let visible = scope.visible().to_vec();
        let wanted: Vec<_> = match of {
            None => visible.into_iter().filter(|visible| !visible.hidden).collect(),
            Some((schema, name)) => {
                let table = scope.tables.iter().position(|table| table.is_named(schema, name));
                scope.visible_columns_of(table.ok_or_else(|| unknown_table(name))?)
            }
        };
        for visible in wanted {
            self.worked(1)?;
            let scope = self.scope();
            if scope.stars.last() != Some(&visible.table) {
                scope.stars.push(visible.table);
            }
            let column = scope.column(visible.table, visible.column);
            if column.invisible {
                continue;
            }
            let name = column.name.to_string();
            let (id, ty) = self.column_id(visible.table, visible.column);
            items.push(Item { name, expr: Expr::column(id, ty) });
        }
        Ok(())
    }

    fn bind_group_by(
        &mut self,
        group_by: Option<&'a sql::GroupBy>,
        aliases: &Aliases,
    ) -> Result<(Vec<Expr>, bool), SqlError> {
        let Some(group_by) = group_by else { return Ok((Vec::new(), false)) };
        let scope = ExprScope { aliases, ..ExprScope::new(Clause::GroupBy) };
        let mut keys = Vec::with_capacity(group_by.keys.len());
        for expr in &group_by.keys {
            let key = match position(expr) {
                Some(number) => match aliases.at(number) {
                    Some(expr) => expr.clone(),
                    None => return Err(unknown_column(&number.to_string(), Clause::GroupBy.name())),
                },
                None => self.bind_expr(expr, scope)?,
            };
            if has_grouping(&key) {
                return Err(no_key("GROUPING function"));
            }
            if self.reads_aggregate(&key) || self.reads_own_window(&key) {
                let name = position(expr).and_then(|number| aliases.name_at(number));
                return Err(no_key(name.unwrap_or(expr.span.of(self.context.text))));
            }
            keys.push(key);
        }
        Ok((keys, group_by.rollup))
    }

    fn reads_aggregate(&self, expr: &Expr) -> bool {
        expr.slots().iter().any(|id| self.is_own_aggregate(id))
    }

    /// ORDER BY of a block (and of UPDATE and DELETE, which have neither aliases nor groups).
    pub(crate) fn bind_order(
        &mut self,
        items: &'a [sql::OrderItem],
        scope: ExprScope<'_>,
    ) -> Result<Vec<OrderItem>, SqlError> {
        let mut order = Vec::with_capacity(items.len());
        for item in items {
            let expr = match position(&item.expr) {
                Some(number) => match scope.aliases.at(number) {
                    Some(expr) => expr.clone(),
                    None => return Err(unknown_column(&number.to_string(), Clause::OrderBy.name())),
                },
                None => self.bind_expr(&item.expr, scope)?,
            };
            order.push(OrderItem { expr, descending: item.descending });
        }
        Ok(order)
    }

    /// FOR UPDATE and FOR SHARE, of all tables or of the named one.
    fn lock_tables(&mut self, clause: &sql::Lock) -> Result<(), SqlError> {
        let lock = self.bind_lock(clause)?;
        let mut locked = Vec::new();
        let mut found = vec![false; clause.of.len()];
        for table in &mut self.scope().tables {
            let of = clause.of.iter().position(|of| {
                let (schema, name) = of.parts();
                table.is_named(schema, name)
            });
            match of {
                Some(of) => found[of] = true,
                None if !clause.of.is_empty() => continue,
                None => {}
            }
            if let TableSource::Base(base) = &table.source {
                locked.push(base.clone());
            }
            table.lock = Some(lock);
        }
        if let Some((of, _)) = clause.of.iter().zip(&found).find(|(_, found)| !**found) {
            let message = format!("Unresolved table name '{}' in locking clause.", of.name.text);
            return Err(SqlError::new(codes::UNRESOLVED_TABLE_LOCK, message));
        }
        for table in locked.iter().filter(|_| lock.exclusive) {
            self.lock_table(table, TableMode::IntentExclusive);
            self.use_columns(table, Privilege::Select, UsedColumns::Locked);
        }
        Ok(())
    }
}

/// 1056
pub(super) fn no_key(what: &str) -> SqlError {
    SqlError::new(codes::WRONG_GROUP_FIELD, format!("Can't group on '{what}'"))
}

fn alias_of(item: &sql::SelectItem) -> Option<String> {
    match item {
        sql::SelectItem::Expr { alias: Some(alias), .. } => Some(name::alias(&alias.text).to_owned()),
        _ => None,
    }
}

fn aliases_of(items: &[Item]) -> Aliases {
    Aliases::new(items.iter().map(|item| (item.name.clone(), item.expr.clone())).collect())
}

fn unknown_table(name: &str) -> SqlError {
    SqlError::new(codes::BAD_TABLE_ERROR, format!("Unknown table '{name}'"))
}

/// What is read and not there yet.
fn check_supported(select: &sql::Select) -> Result<(), SqlError> {
    match select.qualify {
        Some(_) => Err(SqlError::not_supported("QUALIFY")),
        None => Ok(()),
    }
}

/// 1234 for words that are about the whole statement, anywhere but in its first SELECT.
fn check_modifiers(select: &sql::Select) -> Result<(), SqlError> {
    let options = &select.options;
    let words = [
        (options.high_priority, "HIGH_PRIORITY"),
        (options.buffer_result, "SQL_BUFFER_RESULT"),
        (options.calc_found_rows, "SQL_CALC_FOUND_ROWS"),
    ];
    match words.iter().find(|(present, _)| *present) {
        Some((_, word)) => {
            Err(SqlError::new(codes::CANT_USE_OPTION_HERE, format!("Incorrect usage/placement of '{word}'")))
        }
        None => Ok(()),
    }
}

/// INTO @a, @b.
pub(super) fn into_variables(into: Option<&sql::Into>, columns: usize) -> Result<Vec<String>, SqlError> {
    let Some(into) = into else { return Ok(Vec::new()) };
    let mut names = Vec::with_capacity(into.targets.len());
    for target in &into.targets {
        match target {
            sql::IntoTarget::Variable(name) => names.push(name.to_string()),
            sql::IntoTarget::Local(name) | sql::IntoTarget::Field(name, _) => {
                let message = format!("Undeclared variable: {}", name.text);
                return Err(SqlError::new(codes::SP_UNDECLARED_VAR, message));
            }
        }
    }
    if names.len() != columns {
        let message = "The used SELECT statements have a different number of columns";
        return Err(SqlError::new(codes::WRONG_NUMBER_OF_COLUMNS_IN_SELECT, message));
    }
    Ok(names)
}

/// Names of columns that stand alone in GROUP BY, in lower case.
fn grouped_names(keys: &[sql::Expr]) -> HashSet<String> {
    let names = keys.iter().filter_map(|key| match &key.kind {
        sql::ExprKind::Column(path) => Some(path.name.text.to_lowercase()),
        _ => None,
    });
    names.collect()
}
