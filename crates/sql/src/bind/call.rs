//! Function calls and aggregates.

use base::{SqlError, codes};
use syntax::ast as sql;

use crate::bind::Binder;
use crate::bind::columns::ColumnSource;
use crate::bind::enclosing::misplaced;
use crate::bind::expr::ExprScope;
use crate::bind::literal::bytes_of;
use crate::bind::scope::{ColumnName, unknown_column};
use crate::bind::tree::{Subquery, SubqueryKind};
use crate::bind::window::without_over;
use crate::expr::aggregate::{AggregateClauses, Separator, is_aggregate, wrong_argument_count};
use crate::expr::choice::condition_of_if;
use crate::expr::function::json::{Behavior, JsonValue};
use crate::expr::window;
use crate::expr::{
    Aggregate, CastType, Constancy, Expr, ExprKind, ExprType, IntervalUnit, Kind, WarningLevel, build, function,
};

impl<'a> Binder<'a> {
    pub(crate) fn bind_function(&mut self, function: &'a sql::Call, scope: ExprScope<'_>) -> Result<Expr, SqlError> {
        if let Some(schema) = &function.schema {
            return Err(unknown_function(&schema.text, &function.name.text));
        }
        let name = function.name.text.to_ascii_lowercase();
        let args = &function.args[..];
        if let Some(clauses) = &function.clauses
            && let Some(over) = &clauses.over
        {
            return self.bind_window_function(&name, function, (clauses, over), scope);
        }
        if window::by_name(&name).is_some() {
            return Err(without_over(&name));
        }
        if is_aggregate(&name) {
            return self.bind_aggregate(&name, function, scope);
        }
        match (name.as_str(), args) {
            ("date_add" | "adddate" | "date_sub" | "subdate", [date, amount])
                if let sql::ExprKind::Interval(amount, unit) = &amount.kind =>
            {
                let date = self.bind_expr(date, scope)?;
                self.bind_interval(date, (amount, *unit), matches!(&*name, "date_sub" | "subdate"), scope)
            }
            ("timestampadd", [amount, date]) if let Some(unit) = unit_of(function) => {
                let amount = self.bind_expr(amount, scope)?;
                build::interval(self.bind_expr(date, scope)?, amount, unit, false)
            }
            ("timestampdiff", [from, to]) if let Some(unit) = unit_of(function) => {
                build::timestamp_diff(unit, self.bind_expr(from, scope)?, self.bind_expr(to, scope)?)
            }
            ("get_format", [region]) if let Some(word) = function.word => {
                let of = build::string_literal(&word.to_ascii_lowercase(), types::CollationId::DEFAULT);
                let args = vec![of, self.bind_expr(region, scope)?];
                self.call("get_format", args)
            }
            ("weight_string", [text, length]) if function.word == Some("BINARY") => {
                let length = self.bind_expr(length, scope)?;
                let bytes = match length.kind {
                    ExprKind::Literal(types::Value::Int(bytes)) => u32::try_from(bytes).ok(),
                    _ => None,
                };
                let text = self.bind_expr(text, scope)?;
                let text = build::cast(text, CastType::Binary { bytes }, types::CollationId::BINARY)?;
                self.call("weight_string", vec![text])
            }
            ("json_merge", _) => {
                let message = "'JSON_MERGE' is deprecated and will be removed in a future release. Please use \
                               JSON_MERGE_PRESERVE/JSON_MERGE_PATCH instead";
                self.context.warnings.push(WarningLevel::Warning, codes::WARN_DEPRECATED_SYNTAX, message);
                let args = args.iter().map(|arg| self.bind_expr(arg, scope)).collect::<Result<Vec<_>, _>>()?;
                self.call(&name, args)
            }
            ("grouping", _) => self.bind_grouping(args, scope),
            ("name_const", args) if !args.iter().all(is_constant) => {
                Err(SqlError::new(codes::WRONG_ARGUMENTS, "Incorrect arguments to NAME_CONST"))
            }
            ("if" | "ifnull" | "coalesce", _) => {
                let args = self.bind_branches(&name, args, scope)?;
                self.call(&name, args)
            }
            ("nvl", [_, _]) => {
                let args = self.bind_branches("ifnull", args, scope)?;
                self.call("ifnull", args)
            }
            _ => self.bind_native(&name, function, scope),
        }
    }

    /// A function whose arguments are expressions.
    fn bind_native(&mut self, name: &str, call: &'a sql::Call, scope: ExprScope<'_>) -> Result<Expr, SqlError> {
        let args = call.args.iter().map(|arg| self.bind_expr(arg, scope)).collect::<Result<Vec<_>, _>>()?;
        self.call_of_maria(name, args).map_err(|error| match error.code {
            // It shows the name as it is written.
            code if code == codes::SP_DOES_NOT_EXIST.0 && !function::exists(name) => {
                function::no_such_function(&call.name.text, self.context.session)
            }
            _ => error,
        })
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
        args: &'a [sql::Expr],
        scope: ExprScope<'_>,
    ) -> Result<Vec<Expr>, SqlError> {
        let mut bound: Vec<Expr> = Vec::with_capacity(args.len());
        for arg in args {
            let from = self.scope().subqueries.len();
            let next = self.bind_expr(arg, scope)?;
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

    /// A function that is no aggregate. One that waits becomes a column.
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

    /// A column for what the executor computes.
    pub(crate) fn add_subquery(
        &mut self,
        query: Option<crate::bind::tree::BoundQuery>,
        kind: SubqueryKind,
        ty: ExprType,
        correlated: bool,
    ) -> Expr {
        let id = self.add_column(ColumnSource::Subquery, ty.clone());
        let subquery = Subquery { query, kind, id, correlated, late: false, guard: None, per_row: false };
        self.scope().subqueries.push(subquery);
        Expr::column(id, ty)
    }

    /// `JSON_VALUE(document, path [RETURNING type] [… ON EMPTY] [… ON ERROR])`
    pub(super) fn bind_json_value(
        &mut self,
        value: &'a sql::JsonValue,
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        let (document, path) = (self.bind_expr(&value.document, scope)?, self.bind_expr(&value.path, scope)?);
        let sample = match &value.returning {
            Some(ty) => self.bind_cast(Expr::null(), ty)?,
            None => Expr::null(),
        };
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
        let mut behavior = |of: &'a sql::JsonBehavior| match of {
            sql::JsonBehavior::Null => Ok((Behavior::Null, None)),
            sql::JsonBehavior::Error => Ok((Behavior::Error, None)),
            sql::JsonBehavior::Default(value) => {
                let value = self.bind_expr(value, scope)?;
                Ok::<_, SqlError>((Behavior::Default, Some(build::coerce_to(value, &ty))))
            }
        };
        let (on_empty, on_error) = (behavior(&value.on_empty)?, behavior(&value.on_error)?);
        JsonValue { document, path, ty, on_empty, on_error }.build()
    }

    pub(super) fn bind_aggregate(
        &mut self,
        name: &str,
        function: &'a sql::Call,
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        if let Some(level) = self.aggregate_level(function, scope)? {
            return self.bind_in_enclosing(level, name, function, scope.clause);
        }
        if !scope.aggregates {
            return Err(misplaced());
        }
        let inner = scope.of_aggregate();
        let mut clauses = AggregateClauses::default();
        let mut counts_rows = false;
        if let Some(written) = &function.clauses {
            counts_rows = written.star;
            self.bind_aggregate_clauses(written, &mut clauses, inner)?;
        }
        if !counts_rows && function.args.is_empty() {
            return Err(wrong_argument_count(name));
        }
        let mut bound = Vec::with_capacity(function.args.len());
        for arg in &function.args {
            bound.push(self.bind_expr(arg, inner)?);
        }
        for (expr, _) in &mut clauses.order_by {
            // A number is the place of an argument.
            if let ExprKind::Literal(types::Value::Int(place)) = expr.kind {
                let argument = usize::try_from(place - 1).ok().and_then(|at| bound.get(at));
                *expr = argument.ok_or_else(|| unknown_column(&place.to_string(), "order clause"))?.clone();
            }
        }
        let aggregate = Aggregate::resolve(name, bound, clauses, self.context.session)?;
        let ty = aggregate.ty.clone();
        Ok(Expr::column(self.aggregate_id(aggregate), ty))
    }

    fn bind_aggregate_clauses(
        &mut self,
        written: &'a sql::CallClauses,
        clauses: &mut AggregateClauses,
        scope: ExprScope<'_>,
    ) -> Result<(), SqlError> {
        if written.limit.is_some() {
            return Err(SqlError::not_supported("LIMIT in GROUP_CONCAT"));
        }
        clauses.distinct = written.distinct;
        for item in &written.order_by {
            clauses.order_by.push((self.bind_expr(&item.expr, scope)?, item.descending));
        }
        clauses.separator = written.separator.as_ref().map(|separator| match (bytes_of(separator), separator) {
            (Some(bytes), _) => Separator::Bytes(bytes.into()),
            (None, sql::Literal::Text(text)) => Separator::Text(text.text.to_string().into()),
            (None, other) => Separator::Text(other.to_string().into()),
        });
        Ok(())
    }

    /// `VALUES(column)` in ON DUPLICATE KEY UPDATE; NULL anywhere else.
    pub(super) fn bind_values_function(&mut self, column: &'a sql::ColumnPath) -> Result<Expr, SqlError> {
        let name = column.name.as_str();
        let message = "'VALUES function' is deprecated and will be removed in a future release. Please use an alias (INSERT \
                       INTO ... VALUES (...) AS alias) and replace VALUES(col) in the ON DUPLICATE KEY UPDATE clause with \
                       alias.col instead";
        self.context.warnings.push(WarningLevel::Warning, codes::WARN_DEPRECATED_SYNTAX, message);
        let scope = self.scope();
        let Some(new_row) = scope.new_row else {
            let written = ColumnName::of(column);
            let found = scope.find(written, "field list")?;
            return found.map(|_| Expr::null()).ok_or_else(|| unknown_column(&written.text(), "field list"));
        };
        let columns = &scope.tables[0].columns;
        let column = columns.iter().position(|column| types::schema::same_name(&column.name, name));
        let column = column.ok_or_else(|| unknown_column(name, "field list"))?;
        let (id, ty) = self.column_id(new_row, column);
        Ok(Expr::column(id, ty))
    }

    /// `DEFAULT(column)`
    pub(super) fn bind_default_function(&mut self, column: &'a sql::ColumnPath) -> Result<Expr, SqlError> {
        let name = ColumnName::of(column);
        let unknown = || unknown_column(&name.text(), "field list");
        let scope = self.scope();
        let (number, column) = scope.find(name, "field list")?.ok_or_else(unknown)?;
        let crate::bind::tree::TableSource::Base(table) = &scope.tables[number].source else {
            return Err(SqlError::not_supported("DEFAULT() of a derived table"));
        };
        let table = table.clone();
        // Its default is for those who may read the column.
        self.column_id(number, column);
        crate::write::default_expr(self, &table.def.columns[column])
    }
}

/// The unit of TIMESTAMPADD and TIMESTAMPDIFF.
fn unit_of(function: &sql::Call) -> Option<IntervalUnit> {
    function.word.and_then(IntervalUnit::by_name)
}

/// The name of a column, without those of its table and database.
pub(super) fn column_name(expr: &sql::Expr) -> Option<&str> {
    match &expr.kind {
        sql::ExprKind::Column(path) => Some(path.name.as_str()),
        _ => None,
    }
}

/// What NAME_CONST takes: a literal, one with a sign, a collation or a type.
fn is_constant(expr: &sql::Expr) -> bool {
    use sql::ExprKind as E;
    match &expr.kind {
        E::Literal(_) | E::Introduced(..) | E::Temporal(..) => true,
        E::Nested(inner) | E::Collate(inner, _) | E::Unary(sql::UnaryOp::Minus | sql::UnaryOp::Plus, inner) => {
            is_constant(inner)
        }
        _ => false,
    }
}

/// 1305
fn unknown_function(schema: &str, name: &str) -> SqlError {
    SqlError::new(codes::SP_DOES_NOT_EXIST, format!("FUNCTION {schema}.{name} does not exist"))
}

/// Whether an expression may be computed without any row; what LIMIT takes.
pub(crate) fn is_number_or_param(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Param(_))
        || matches!(&expr.kind, ExprKind::Literal(_) if matches!(expr.ty.kind, Kind::Int | Kind::UInt))
}
