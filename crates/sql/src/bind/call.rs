//! Function calls and aggregates.

use base::{SqlError, codes};
use sqlparser::ast as sql;

use crate::bind::Binder;
use crate::bind::alias::NO_ALIASES;
use crate::bind::enclosing::misplaced;
use crate::bind::expr::{ExprScope, interval_unit};
use crate::bind::frame::SlotSource;
use crate::bind::literal::bytes_of;
use crate::bind::scope::ColumnName;
use crate::bind::tree::{Subquery, SubqueryKind};
use crate::expr::aggregate::{AggregateClauses, Separator, is_aggregate, wrong_argument_count};
use crate::expr::choice::condition_of_if;
use crate::expr::function::json::{Behavior, JsonValue};
use crate::expr::{
    Aggregate, CastType, Constancy, Expr, ExprKind, ExprType, IntervalUnit, Kind, WarningLevel, build, function,
};

impl<'a> Binder<'a> {
    pub(crate) fn bind_function(
        &mut self,
        function: &'a sql::Function,
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        if function.over.is_some() {
            return Err(SqlError::not_supported("window functions"));
        }
        let name = match function.name.0.as_slice() {
            [part] => part.as_ident().map(|ident| ident.value.to_ascii_lowercase()).unwrap_or_default(),
            _ => return Err(unknown_function(function)),
        };
        let args = match &function.args {
            sql::FunctionArguments::None => &[][..],
            sql::FunctionArguments::List(list) => &list.args[..],
            sql::FunctionArguments::Subquery(_) => return Err(SqlError::not_supported(function)),
        };
        if is_aggregate(&name) {
            return self.bind_aggregate(&name, function, args, scope);
        }
        match (name.as_str(), args) {
            ("date_add" | "adddate", [date, amount]) if interval_of(amount).is_some() => {
                self.bind_date_add(date, amount, false, scope)
            }
            ("date_sub" | "subdate", [date, amount]) if interval_of(amount).is_some() => {
                self.bind_date_add(date, amount, true, scope)
            }
            ("timestampadd", [unit, amount, date]) => {
                let unit = interval_unit(&unit.to_string())?;
                let amount = self.bind_arg(amount, scope)?;
                build::interval(self.bind_arg(date, scope)?, amount, unit, false)
            }
            ("get_format", [of, region]) => {
                let name = of.to_string().to_ascii_lowercase();
                if !matches!(name.as_str(), "date" | "time" | "datetime" | "timestamp") {
                    return Err(SqlError::new(codes::PARSE_ERROR, format!("GET_FORMAT() of {of}")));
                }
                let of = build::string_literal(&name, types::CollationId::DEFAULT);
                let args = vec![of, self.bind_arg(region, scope)?];
                self.call("get_format", args)
            }
            ("timestampdiff", [unit, from, to]) => {
                let unit = interval_unit(&unit.to_string())?;
                build::timestamp_diff(unit, self.bind_arg(from, scope)?, self.bind_arg(to, scope)?)
            }
            ("json_value", [document, path, returning, on_empty, on_error]) => {
                self.bind_json_value(document, path, returning, [on_empty, on_error], scope)
            }
            ("json_merge", _) => {
                let message = "'JSON_MERGE' is deprecated and will be removed in a future release. Please use \
                               JSON_MERGE_PRESERVE/JSON_MERGE_PATCH instead";
                self.context.warnings.push(WarningLevel::Warning, codes::WARN_DEPRECATED_SYNTAX, message);
                let args = args.iter().map(|arg| self.bind_arg(arg, scope)).collect::<Result<Vec<_>, _>>()?;
                self.call(&name, args)
            }
            ("name_const", args) if !args.iter().all(|arg| expr_of(arg).is_some_and(is_constant)) => {
                Err(SqlError::new(codes::WRONG_ARGUMENTS, "Incorrect arguments to NAME_CONST"))
            }
            // VALUE is MariaDB's name of it.
            ("values" | "value", [arg]) => self.bind_values_function(arg),
            ("default", [arg]) => self.bind_default_function(arg),
            ("if" | "ifnull" | "coalesce", _) => {
                let args = self.bind_branches(&name, args, scope)?;
                self.call(&name, args)
            }
            ("nvl", [_, _]) => {
                let args = self.bind_branches("ifnull", args, scope)?;
                self.call("ifnull", args)
            }
            _ => {
                let args = args.iter().map(|arg| self.bind_arg(arg, scope)).collect::<Result<Vec<_>, _>>()?;
                self.call_of_maria(&name, args)
            }
        }
    }

    /// Functions that MariaDB has and MySQL has not, or not with so many arguments, in our words; all others as they are.
    fn call_of_maria(&mut self, name: &str, mut args: Vec<Expr>) -> Result<Expr, SqlError> {
        match (name, args.len()) {
            ("nvl2", 3) => {
                let condition = build::not(build::is_null(args.remove(0)));
                args.insert(0, condition);
                self.call("if", args)
            }
            ("lengthb", 1) => self.call("length", args),
            ("lpad" | "rpad", 2) => {
                args.push(build::string_literal(" ", types::CollationId::DEFAULT));
                self.call(name, args)
            }
            ("add_months", 2) => match <[Expr; 2]>::try_from(args) {
                Ok([date, months]) => build::interval(date, months, IntervalUnit::Month, false),
                Err(args) => self.call(name, args),
            },
            _ => self.call(name, args),
        }
    }

    /// The arguments of IF, IFNULL and COALESCE, of which not each is looked at.
    fn bind_branches(
        &mut self,
        name: &str,
        args: &'a [sql::FunctionArg],
        scope: ExprScope<'_>,
    ) -> Result<Vec<Expr>, SqlError> {
        let mut bound: Vec<Expr> = Vec::with_capacity(args.len());
        for arg in args {
            let from = self.scope().subqueries.len();
            let next = self.bind_arg(arg, scope)?;
            self.guard_calls(from, || match (name, &bound[..]) {
                (_, []) => None,
                ("if", [condition]) => Some(build::is_truth(condition_of_if(condition.clone()), true)),
                ("if", [condition, ..]) => Some(build::not(build::is_truth(condition_of_if(condition.clone()), true))),
                (_, before) => Some(build::and(before.iter().cloned().map(build::is_null).collect())),
            })?;
            bound.push(next);
        }
        Ok(bound)
    }

    /// Calls that wait, among what was bound from that subquery on, are run only where `guard` is true: they are in a branch.
    pub(crate) fn guard_calls(&mut self, from: usize, guard: impl FnOnce() -> Option<Expr>) -> Result<(), SqlError> {
        if !self.scope().subqueries[from..].iter().any(Subquery::waits) {
            return Ok(());
        }
        let Some(guard) = guard() else { return Ok(()) };
        if guard.constancy() == Constancy::Volatile {
            let place = "a function that waits, in a branch whose condition has another value each time";
            return Err(SqlError::not_supported(place));
        }
        for subquery in self.scope().subqueries[from..].iter_mut().filter(|subquery| subquery.waits()) {
            let all = std::iter::once(guard.clone()).chain(subquery.guard.take()).collect();
            subquery.guard = Some(build::and(all));
        }
        Ok(())
    }

    /// A function that is no aggregate. One that waits becomes a slot.
    pub(crate) fn call(&mut self, name: &str, args: Vec<Expr>) -> Result<Expr, SqlError> {
        const OF_ITS_ARGUMENTS: [&str; 6] = ["if", "ifnull", "coalesce", "nullif", "greatest", "least"];
        let of_arguments = OF_ITS_ARGUMENTS.iter().any(|known| known.eq_ignore_ascii_case(name));
        self.types_params |= of_arguments && args.iter().any(|arg| matches!(arg.kind, ExprKind::Param(_)));
        let bound = function::resolve(name, args, self.context.session)?;
        match bound.kind {
            ExprKind::Call { function, args } if function.waits() => {
                let ty = bound.ty.clone();
                let kind = SubqueryKind::Call { function: function.name(), args };
                Ok(self.add_subquery(None, kind, ty, true))
            }
            _ => Ok(bound),
        }
    }

    /// A slot for what the executor computes.
    pub(crate) fn add_subquery(
        &mut self,
        query: Option<crate::bind::tree::BoundQuery>,
        kind: SubqueryKind,
        ty: ExprType,
        correlated: bool,
    ) -> Expr {
        let scope = self.scope();
        let index = scope.subqueries.len();
        let slot = scope.frame.slot(SlotSource::Subquery { index }, || ty.clone());
        scope.subqueries.push(Subquery { query, kind, slot, correlated, late: false, guard: None, per_row: false });
        Expr::column(slot, ty)
    }

    pub(super) fn bind_arg(&mut self, arg: &'a sql::FunctionArg, scope: ExprScope<'_>) -> Result<Expr, SqlError> {
        match arg {
            sql::FunctionArg::Unnamed(sql::FunctionArgExpr::Expr(expr)) => self.bind_expr(expr, scope),
            other => Err(SqlError::not_supported(format_args!("the argument {other}"))),
        }
    }

    /// `JSON_VALUE(document, path [RETURNING type] [… ON EMPTY] [… ON ERROR])`, of which the parser made five arguments.
    fn bind_json_value(
        &mut self,
        document: &'a sql::FunctionArg,
        path: &'a sql::FunctionArg,
        returning: &'a sql::FunctionArg,
        behaviors: [&'a sql::FunctionArg; 2],
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        let (document, path) = (self.bind_arg(document, scope)?, self.bind_arg(path, scope)?);
        let sample = self.bind_arg(returning, scope)?;
        // Without a length it may have any.
        let ty = match &sample.kind {
            ExprKind::Cast { to: CastType::Char { chars: None }, .. } => {
                ExprType { length: u32::MAX / 4, ..sample.ty.clone() }
            }
            ExprKind::Cast { to: CastType::Binary { bytes: None }, .. } => {
                ExprType { length: u32::MAX, ..sample.ty.clone() }
            }
            ExprKind::Cast { .. } => sample.ty.clone(),
            _ => ExprType::text(512, types::CollationId::UTF8MB4_BIN),
        };
        let mut bound = Vec::with_capacity(2);
        for arg in behaviors {
            bound.push(match arg {
                sql::FunctionArg::Unnamed(sql::FunctionArgExpr::Expr(sql::Expr::Tuple(default))) => {
                    let value = default.first().map(|default| self.bind_expr(default, scope)).transpose()?;
                    (Behavior::Default, value.map(|value| build::coerce_to(value, &ty)))
                }
                arg => match &self.bind_arg(arg, scope)?.kind {
                    ExprKind::Literal(types::Value::Int(1)) => (Behavior::Error, None),
                    _ => (Behavior::Null, None),
                },
            });
        }
        let on_error = bound.pop().unwrap_or((Behavior::Null, None));
        let on_empty = bound.pop().unwrap_or((Behavior::Null, None));
        JsonValue { document, path, ty, on_empty, on_error }.build()
    }

    fn bind_date_add(
        &mut self,
        date: &'a sql::FunctionArg,
        amount: &'a sql::FunctionArg,
        subtract: bool,
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        let date = self.bind_arg(date, scope)?;
        match interval_of(amount) {
            Some(interval) => self.bind_interval(date, interval, subtract, scope),
            None => Err(SqlError::not_supported(amount)),
        }
    }

    pub(super) fn bind_aggregate(
        &mut self,
        name: &str,
        function: &'a sql::Function,
        args: &'a [sql::FunctionArg],
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        if let Some(level) = self.aggregate_level(function, args, scope)? {
            return self.bind_in_enclosing(level, name, function, args, scope.clause);
        }
        if !scope.aggregates {
            return Err(misplaced());
        }
        let inner = ExprScope { aggregates: false, in_aggregate: true, aliases: &NO_ALIASES, ..scope };
        let mut clauses = AggregateClauses::default();
        if let sql::FunctionArguments::List(list) = &function.args {
            clauses.distinct = list.duplicate_treatment == Some(sql::DuplicateTreatment::Distinct);
            for clause in &list.clauses {
                self.bind_aggregate_clause(clause, &mut clauses, inner)?;
            }
        }
        let is_star = |arg: &sql::FunctionArg| matches!(arg, sql::FunctionArg::Unnamed(sql::FunctionArgExpr::Wildcard));
        let counts_rows = name == "count" && !clauses.distinct && matches!(args, [arg] if is_star(arg));
        if !counts_rows && (args.is_empty() || args.iter().any(is_star)) {
            return Err(wrong_argument_count(name));
        }
        let mut bound = Vec::with_capacity(args.len());
        for arg in args.iter().filter(|_| !counts_rows) {
            bound.push(self.bind_arg(arg, inner)?);
        }
        for (expr, _) in &mut clauses.order_by {
            // A number is the place of an argument.
            if let ExprKind::Literal(types::Value::Int(place)) = expr.kind {
                let argument = usize::try_from(place - 1).ok().and_then(|at| bound.get(at));
                *expr = argument
                    .ok_or_else(|| crate::bind::scope::unknown_column(&place.to_string(), "order clause"))?
                    .clone();
            }
        }
        let aggregate = Aggregate::resolve(name, bound, clauses, self.context.session)?;
        let ty = aggregate.ty.clone();
        Ok(Expr::column(self.scope().aggregate_slot(aggregate), ty))
    }

    fn bind_aggregate_clause(
        &mut self,
        clause: &'a sql::FunctionArgumentClause,
        clauses: &mut AggregateClauses,
        scope: ExprScope<'_>,
    ) -> Result<(), SqlError> {
        match clause {
            sql::FunctionArgumentClause::OrderBy(items) => {
                for item in items {
                    let descending = matches!(item.options.sort, Some(sql::OrderBySort::Desc));
                    clauses.order_by.push((self.bind_expr(&item.expr, scope)?, descending));
                }
                Ok(())
            }
            sql::FunctionArgumentClause::Separator(value) => {
                clauses.separator = Some(match bytes_of(&value.value) {
                    Some(bytes) => Separator::Bytes(bytes.into()),
                    None => Separator::Text(value.value.clone().into_string().unwrap_or_default().into()),
                });
                Ok(())
            }
            other => Err(SqlError::not_supported(other)),
        }
    }

    /// `VALUES(column)` in ON DUPLICATE KEY UPDATE; NULL anywhere else.
    fn bind_values_function(&mut self, arg: &'a sql::FunctionArg) -> Result<Expr, SqlError> {
        let name = column_of(arg).ok_or_else(|| SqlError::not_supported(arg))?;
        let warnings = self.context.warnings;
        let scope = self.scope();
        let Some(new_row) = scope.new_row else { return Ok(Expr::null()) };
        let message = "'VALUES function' is deprecated and will be removed in a future release. Please use an alias (INSERT \
                       INTO ... VALUES (...) AS alias) and replace VALUES(col) in the ON DUPLICATE KEY UPDATE clause with \
                       alias.col instead";
        warnings.push(WarningLevel::Warning, codes::WARN_DEPRECATED_SYNTAX, message);
        let columns = &scope.tables[0].columns;
        let column = columns.iter().position(|column| types::schema::same_name(&column.name, name));
        let column = column.ok_or_else(|| crate::bind::scope::unknown_column(name, "field list"))?;
        let (slot, ty) = scope.column_slot(new_row, column);
        Ok(Expr::column(slot, ty))
    }

    /// `DEFAULT(column)`
    fn bind_default_function(&mut self, arg: &'a sql::FunctionArg) -> Result<Expr, SqlError> {
        let name = expr_of(arg).and_then(qualified_name).ok_or_else(|| SqlError::not_supported(arg))?;
        let unknown = || crate::bind::scope::unknown_column(&name.text(), "field list");
        let scope = self.scope();
        let (number, column) = scope.find(name, "field list")?.ok_or_else(unknown)?;
        let crate::bind::tree::TableSource::Base(table) = &scope.tables[number].source else {
            return Err(SqlError::not_supported("DEFAULT() of a derived table"));
        };
        let table = table.clone();
        // Its default is for those who may read the column.
        scope.column_slot(number, column);
        crate::dml::default_expr(self, &table.def.columns[column])
    }
}

pub(crate) fn expr_of(arg: &sql::FunctionArg) -> Option<&sql::Expr> {
    match arg {
        sql::FunctionArg::Unnamed(sql::FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    }
}

fn qualified_name(expr: &sql::Expr) -> Option<ColumnName<'_>> {
    let parts: &[sql::Ident] = match expr {
        sql::Expr::Identifier(name) => std::slice::from_ref(name),
        sql::Expr::CompoundIdentifier(names) => names,
        _ => return None,
    };
    let parts: Vec<&str> = parts.iter().map(|part| part.value.as_str()).collect();
    match parts[..] {
        [column] => Some(ColumnName { schema: None, table: None, column }),
        [table, column] => Some(ColumnName { schema: None, table: Some(table), column }),
        [schema, table, column] => Some(ColumnName { schema: Some(schema), table: Some(table), column }),
        _ => None,
    }
}

fn column_of(arg: &sql::FunctionArg) -> Option<&str> {
    column_name(expr_of(arg)?)
}

/// The name of a column, without those of its table and database.
pub(super) fn column_name(expr: &sql::Expr) -> Option<&str> {
    match expr {
        sql::Expr::Identifier(name) => Some(&name.value),
        sql::Expr::CompoundIdentifier(names) => names.last().map(|name| name.value.as_str()),
        _ => None,
    }
}

/// What NAME_CONST takes: a literal, one with a sign, a collation or a type.
fn is_constant(expr: &sql::Expr) -> bool {
    match expr {
        sql::Expr::Value(value) => !matches!(value.value, sql::Value::Placeholder(_)),
        sql::Expr::TypedString(_) => true,
        sql::Expr::Nested(inner)
        | sql::Expr::Prefixed { value: inner, .. }
        | sql::Expr::Collate { expr: inner, .. }
        | sql::Expr::UnaryOp { op: sql::UnaryOperator::Minus | sql::UnaryOperator::Plus, expr: inner } => {
            is_constant(inner)
        }
        _ => false,
    }
}

fn interval_of(arg: &sql::FunctionArg) -> Option<&sql::Interval> {
    match arg {
        sql::FunctionArg::Unnamed(sql::FunctionArgExpr::Expr(sql::Expr::Interval(interval))) => Some(interval),
        _ => None,
    }
}

fn unknown_function(function: &sql::Function) -> SqlError {
    SqlError::new(codes::SP_DOES_NOT_EXIST, format!("FUNCTION {} does not exist", function.name))
}

/// Whether an expression may be computed without any row; what LIMIT takes.
pub(crate) fn is_number_or_param(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Param(_))
        || matches!(&expr.kind, ExprKind::Literal(_) if matches!(expr.ty.kind, Kind::Int | Kind::UInt))
}
