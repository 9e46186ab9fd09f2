//! Expressions: operators and names.

use base::{SqlError, codes};
use syntax::ast as sql;
use types::{CollationId, ColumnType, Value};

use crate::bind::Binder;
use crate::bind::alias::{Aliases, Grouped, NO_ALIASES};
use crate::bind::scope::{ColumnName, Place, ambiguous, unknown_column};
use crate::bind::tree::TableSource;
use crate::bind::window::alias_of_window;
use crate::expr::build;
use crate::expr::choice::{Arm, condition_of_if};
use crate::expr::function::resolve;
use crate::expr::{ArithmeticOp, CastType, CompareOp, Expr, ExprKind, ExprType, Kind, SessionInfo, VariableScope};

/// Where an expression stands; error messages name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clause {
    FieldList,
    Where,
    On,
    GroupBy,
    Having,
    OrderBy,
    WindowPartition,
    WindowOrder,
    TableFunction,
}

impl Clause {
    /// As error messages name it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Clause::FieldList => "field list",
            Clause::Where => "where clause",
            Clause::On => "on clause",
            Clause::GroupBy => "group statement",
            Clause::Having => "having clause",
            Clause::OrderBy => "order clause",
            Clause::WindowPartition => "window partition by",
            Clause::WindowOrder => "window order by",
            Clause::TableFunction => "a table function argument",
        }
    }
}

/// What may stand in an expression.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExprScope<'s> {
    pub(crate) clause: Clause,
    /// Aggregates may be called.
    pub(crate) aggregates: bool,
    /// Names of the select list, with their expressions.
    pub(crate) aliases: &'s Aliases,
    /// What HAVING takes for columns, and may show of them.
    pub(crate) grouped: Option<&'s Grouped>,
    /// It is an argument of an aggregate, or of a window function.
    pub(crate) in_aggregate: bool,
    /// Whether window functions may be called.
    pub(crate) windows: Windows<'s>,
}

/// Whether window functions may be called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Windows<'s> {
    /// Not there (3593).
    #[default]
    Refused,
    /// In what this window is made of they may not (3595).
    Nested(&'s str),
    /// In the ORDER BY of a UNION, whose names are those of its columns (3028).
    OfUnion,
    /// In a select list, and in its ORDER BY.
    Allowed,
}

impl<'s> ExprScope<'s> {
    /// An expression over rows of the tables.
    pub(crate) fn new(clause: Clause) -> Self {
        let windows = Windows::Refused;
        ExprScope { clause, aggregates: false, aliases: &NO_ALIASES, grouped: None, in_aggregate: false, windows }
    }

    /// What a subquery that stands there may do to the block.
    pub(super) fn place(&self) -> Place {
        match (self.aggregates, self.in_aggregate) {
            (true, _) => Place::Groups,
            (false, true) => Place::Aggregate,
            (false, false) => Place::Rows,
        }
    }

    /// An expression over groups, if there are any.
    pub(crate) fn of_groups(clause: Clause, aliases: &'s Aliases) -> Self {
        ExprScope { aggregates: true, aliases, ..ExprScope::new(clause) }
    }

    /// An argument of an aggregate that stands here.
    pub(super) fn of_aggregate(self) -> ExprScope<'s> {
        let windows = Windows::Refused;
        ExprScope { aggregates: false, in_aggregate: true, aliases: &NO_ALIASES, windows, ..self }
    }

    /// What a name means before the tables' columns are asked for it. Two of one name are left to them, which are ambiguous too.
    fn alias_before_columns(&self, name: &str) -> Option<&Expr> {
        let is_grouped = |grouped: &Grouped| !grouped.names.is_empty() && grouped.names.contains(&name.to_lowercase());
        let comes_first = match self.clause {
            Clause::OrderBy => !self.in_aggregate,
            Clause::Having => self.aliases.has_one(name) && !self.grouped.is_some_and(is_grouped),
            _ => false,
        };
        if comes_first { self.aliases.find(name) } else { None }
    }
}

impl<'a> Binder<'a> {
    /// Binds an expression in the innermost block.
    pub(crate) fn bind_expr(&mut self, expr: &'a sql::Expr, scope: ExprScope<'_>) -> Result<Expr, SqlError> {
        use sql::ExprKind as E;
        self.worked(1)?;
        let bind = |binder: &mut Self, expr: &'a sql::Expr| binder.bind_expr(expr, scope);
        match &expr.kind {
            E::Column(path) => self.bind_column(path, scope),
            E::UserVariable(name) => Ok(build::user_variable(name, self.context.session)),
            E::SystemVariable(first, rest) => self.system_variable(first, rest.as_deref()),
            E::Nested(inner) => bind(self, inner),
            E::Literal(literal) => self.bind_literal(literal),
            E::Param(number) => Ok(Expr::param(*number, self.context.param_types.get(*number))),
            E::Introduced(charset, literal) => self.bind_introducer(charset, literal),
            E::Temporal(kind, text) => self.bind_temporal(*kind, &text.text),
            E::Default(Some(column)) => self.bind_default_function(column),
            E::Values(column) => self.bind_values_function(column),
            E::Subquery(query) => {
                self.scope().place = scope.place();
                self.bind_scalar_subquery(query)
            }
            E::And(operands) => self.bind_chain(operands, false, scope),
            E::Or(operands) => self.bind_chain(operands, true, scope),
            E::Binary(left, op, right) => self.bind_binary(left, *op, right, scope),
            E::Unary(op, operand) => self.bind_unary(*op, operand, scope),
            E::Assign(name, value) => Ok(build::assign_variable(name, bind(self, value)?)),
            E::Case(case) => self.bind_case(case, scope),
            E::Collate(expr, collation) => {
                let bound = bind(self, expr)?;
                build::collate(bound, collation_named(&collation.text)?)
            }
            E::Cast(expr, ty) => {
                let bound = bind(self, expr)?;
                self.bind_cast(bound, ty)
            }
            E::ConvertUsing(expr, charset) => {
                let bound = bind(self, expr)?;
                self.bind_convert_using(bound, &charset.text)
            }
            E::Extract(unit, expr) => build::extract(*unit, bind(self, expr)?),
            E::Trim(side, what, expr) => {
                let remove = what.as_ref().map(|what| bind(self, what)).transpose()?;
                build::trim(*side, bind(self, expr)?, remove)
            }
            E::JsonValue(value) => self.bind_json_value(value, scope),
            E::Call(call) => self.bind_function(call, scope),
            E::Row(_) => Err(SqlError::new(codes::OPERAND_COLUMNS, "Operand should contain 1 column(s)")),
            E::Match(_) => Err(SqlError::not_supported("MATCH … AGAINST")),
            E::Interval(..) | E::Default(None) => Err(unsupported(expr)),
            _ => self.bind_predicate(expr, scope),
        }
    }

    /// IS, IN, BETWEEN, LIKE, REGEXP, EXISTS, and a comparison with the rows of a query.
    fn bind_predicate(&mut self, expr: &'a sql::Expr, scope: ExprScope<'_>) -> Result<Expr, SqlError> {
        use sql::ExprKind as E;
        let bind = |binder: &mut Self, expr: &'a sql::Expr| binder.bind_expr(expr, scope);
        match &expr.kind {
            E::Is(arg, test, negated) => Ok(negate_if(*negated, is_test(bind(self, arg)?, *test))),
            E::In(expr, list, negated) => {
                let bound = self.bind_in_list(expr, list, scope)?;
                Ok(negate_if(*negated, bound))
            }
            E::InQuery(expr, query, negated) => {
                let op = if *negated { CompareOp::NotEq } else { CompareOp::Eq };
                self.bind_quantified(expr, op, *negated, query, scope)
            }
            E::Between(operands, negated) => Ok(negate_if(*negated, self.bind_between(operands, scope)?)),
            E::Like(operands, escape, negated) => {
                let [expr, pattern] = &**operands;
                let escape = self.like_escape(escape.as_deref(), scope)?;
                let bound = build::like(bind(self, expr)?, bind(self, pattern)?, escape)?;
                Ok(negate_if(*negated, bound))
            }
            E::Regexp(operands, negated) => {
                let [expr, pattern] = &**operands;
                let args = vec![bind(self, expr)?, bind(self, pattern)?];
                Ok(negate_if(*negated, resolve("regexp_like", args, self.context.session)?))
            }
            E::Quantified(quantified) => {
                let op = quantified.op;
                self.bind_quantified(&quantified.left, op, quantified.all, &quantified.query, scope)
            }
            E::Exists(query) => {
                self.scope().place = scope.place();
                self.bind_exists(query)
            }
            _ => Err(unsupported(expr)),
        }
    }

    /// `a AND b AND c`, `a OR b OR c`: what comes later is not looked at if what comes before has decided.
    fn bind_chain(&mut self, operands: &'a [sql::Expr], is_or: bool, scope: ExprScope<'_>) -> Result<Expr, SqlError> {
        let all = |bound: Vec<Expr>| if is_or { build::or(bound) } else { build::and(bound) };
        let mut bound: Vec<Expr> = Vec::with_capacity(operands.len());
        for operand in operands {
            base::memory::check_room(&bound, 1)?;
            let from = self.scope().subqueries.len();
            let next = self.bind_expr(operand, scope)?;
            if !bound.is_empty() {
                self.guard_calls(from, || Some(build::not(build::is_truth(all(bound.clone()), is_or))))?;
            }
            bound.push(next);
        }
        Ok(all(bound))
    }

    fn bind_between(&mut self, operands: &'a [sql::Expr; 3], scope: ExprScope<'_>) -> Result<Expr, SqlError> {
        let [written, low, high] = operands;
        let value = self.bind_expr(written, scope)?;
        let (low, high) = (self.bind_expr(low, scope)?, self.bind_expr(high, scope)?);
        for bound in [&low, &high] {
            self.note_bound(written, &value, bound);
            self.describe_compared(&value, bound);
        }
        build::between(value, low, high)
    }

    fn bind_case(&mut self, case: &'a sql::Case, scope: ExprScope<'_>) -> Result<Expr, SqlError> {
        let operand = case.operand.as_ref().map(|operand| self.bind_expr(operand, scope)).transpose()?;
        let (arms, otherwise) = self.bind_arms(operand.as_ref(), &case.arms, case.otherwise.as_ref(), scope)?;
        let results = arms.iter().map(|(_, then)| then).chain(&otherwise);
        self.types_params |= results.into_iter().any(|result| matches!(result.kind, ExprKind::Param(_)));
        build::case(operand, arms, otherwise)
    }

    /// A condition: its conjuncts.
    pub(crate) fn bind_condition(&mut self, expr: &'a sql::Expr, scope: ExprScope<'_>) -> Result<Vec<Expr>, SqlError> {
        let bound = self.bind_expr(expr, scope)?;
        let mut all = conjuncts(bound);
        if scope.clause == Clause::Where {
            for condition in &mut all {
                if let Some(column) = is_null_of(condition)
                    && let Some(zero) = self.zero_of_date(column)
                {
                    let column = column.clone();
                    *condition = if column.ty.nullable {
                        build::or(vec![condition.clone(), build::compare(CompareOp::Eq, column, zero)?])
                    } else {
                        build::compare(CompareOp::Eq, column, zero)?
                    };
                }
            }
        }
        Ok(all)
    }

    /// In a select list a parameter has a type before it has a value, so that the answer to PREPARE can tell the column's.
    pub(crate) fn assume_param(&mut self, arg: &mut Expr, beside: &ExprType, scope: ExprScope<'_>) {
        self.describe_param(arg, beside);
        let unknown = matches!(arg.kind, ExprKind::Param(_)) && arg.ty.kind == Kind::Any;
        if unknown && scope.clause == Clause::FieldList && self.context.param_types.is_empty() {
            arg.ty = build::assumed_param(beside);
            self.types_params = true;
        }
    }

    /// For a DATE or DATETIME column that is NOT NULL the zero date: in WHERE, IS NULL finds that, as ODBC's clients expect.
    fn zero_of_date(&mut self, column: &Expr) -> Option<Expr> {
        let scope = self.scopes.last()?;
        let (table, number) = self.columns.place(column.as_column()?, &scope.tables)?;
        let TableSource::Base(table) = &scope.tables[table].source else { return None };
        let column = &table.def.columns[number];
        let (value, kind) = match column.ty {
            ColumnType::Date => (Value::Date(types::Date::ZERO), Kind::Date),
            ColumnType::DateTime { .. } => (Value::DateTime(types::DateTime::ZERO), Kind::DateTime),
            _ => return None,
        };
        (!column.nullable).then(|| Expr::literal(value, ExprType::of_kind(kind).nullable(false)))
    }

    fn bind_column(&mut self, path: &'a sql::ColumnPath, scope: ExprScope<'_>) -> Result<Expr, SqlError> {
        let column = ColumnName::of(path);
        if column.table.is_some() {
            return match self.resolve_own(column, scope.clause)? {
                Some(expr) => scope.check_shown(expr, column),
                None => self.resolve_outer(column, scope.clause),
            };
        }
        let name = column.column;
        if scope.clause == Clause::OrderBy && scope.aliases.is_ambiguous(name) {
            return Err(ambiguous(name, scope.clause.name()));
        }
        if let Some(expr) = scope.alias_before_columns(name) {
            return self.named_by_alias(expr, name, scope);
        }
        match self.resolve_own(column, scope.clause)? {
            Some(expr) => scope.check_shown(expr, column),
            None => match scope.aliases.find(name) {
                Some(expr) => self.named_by_alias(expr, name, scope),
                None => self.resolve_outer(column, scope.clause),
            },
        }
    }

    /// What a name of the select list means, if that may be read where the name is.
    fn named_by_alias(&self, expr: &Expr, name: &str, scope: ExprScope<'_>) -> Result<Expr, SqlError> {
        // GROUP BY has an error of its own for it.
        let is_refused = matches!(scope.windows, Windows::Refused | Windows::Nested(_));
        match is_refused && scope.clause != Clause::GroupBy && self.reads_own_window(expr) {
            true => Err(alias_of_window(name)),
            false => Ok(expr.clone()),
        }
    }

    fn system_variable(&mut self, first: &str, rest: Option<&str>) -> Result<Expr, SqlError> {
        let (scope, name) = match (first.to_ascii_lowercase().as_str(), rest) {
            ("session" | "local", Some(name)) => (VariableScope::Session, name.to_string()),
            ("global", Some(name)) => (VariableScope::Global, name.to_string()),
            (_, Some(rest)) => (VariableScope::Default, format!("{first}.{rest}")),
            (_, None) => (VariableScope::Default, first.to_string()),
        };
        let sample = self.context.host.system_variable(scope, &name)?;
        Ok(build::system_variable(scope, &name, &sample, self.context.session))
    }

    /// A column of this block's own tables.
    fn resolve_own(&mut self, name: ColumnName<'_>, clause: Clause) -> Result<Option<Expr>, SqlError> {
        let scope = self.scope();
        let Some((table, column)) = scope.find(name, clause.name())? else { return Ok(None) };
        let (id, ty) = self.column_id(table, column);
        Ok(Some(Expr::column(id, ty)))
    }

    /// An expression of an enclosing block in the innermost one: the blocks between hand on the values that it reads.
    pub(super) fn handed_on(&mut self, expr: Expr, level: usize) -> Expr {
        let slots = expr.slots();
        for scope in &mut self.scopes[level + 1..] {
            slots.iter().for_each(|id| _ = scope.outer.insert(id));
        }
        expr
    }

    /// A column of an enclosing block, or a name of its select list; 1054 if there is neither.
    fn resolve_outer(&mut self, name: ColumnName<'_>, clause: Clause) -> Result<Expr, SqlError> {
        let mut level = self.scopes.len() - 1;
        loop {
            let seen = self.scopes[level].sees.unwrap_or(level);
            if seen == 0 {
                return Err(unknown_column(&name.text(), clause.name()));
            }
            level = seen - 1;
            let scope = &self.scopes[level];
            if let Some((table, column)) = scope.find(name, clause.name())? {
                let (id, ty) = self.column_id_at(level, table, column);
                return Ok(self.handed_on(Expr::column(id, ty), level));
            }
            if let Some(expr) = scope.alias(name, clause.name(), &self.columns)?.cloned() {
                return Ok(self.handed_on(expr, level));
            }
        }
    }

    /// The arms of CASE and its ELSE.
    fn bind_arms(
        &mut self,
        operand: Option<&Expr>,
        arms: &'a [sql::When],
        otherwise: Option<&'a sql::Expr>,
        scope: ExprScope<'_>,
    ) -> Result<(Vec<Arm>, Option<Expr>), SqlError> {
        let is_chosen = |when: &Expr| match operand {
            None => Ok(build::is_truth(condition_of_if(when.clone()), true)),
            Some(operand) => {
                build::compare(CompareOp::Eq, operand.clone(), when.clone()).map(|equal| build::is_truth(equal, true))
            }
        };
        let none_chosen = |arms: &[(Expr, Expr)]| {
            let chosen: Result<Vec<_>, _> = arms.iter().map(|(when, _)| is_chosen(when)).collect();
            chosen.map(|chosen| build::not(build::or(chosen))).ok()
        };
        let mut bound = Vec::with_capacity(arms.len());
        for arm in arms {
            let from = self.scope().subqueries.len();
            let when = self.bind_expr(&arm.condition, scope)?;
            let before_result = self.scope().subqueries.len();
            let then = self.bind_expr(&arm.result, scope)?;
            self.guard_calls(before_result, || is_chosen(&when).ok())?;
            self.guard_calls(from, || none_chosen(&bound))?;
            bound.push((when, then));
        }
        let from = self.scope().subqueries.len();
        let otherwise = otherwise.map(|otherwise| self.bind_expr(otherwise, scope)).transpose()?;
        self.guard_calls(from, || none_chosen(&bound))?;
        Ok((bound, otherwise))
    }

    fn bind_binary(
        &mut self,
        left: &'a sql::Expr,
        op: sql::BinaryOp,
        right: &'a sql::Expr,
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        use ArithmeticOp::{Add, Subtract};
        use sql::BinaryOp as O;
        if let O::Compare(op) = op {
            return self.bind_comparison(op, left, right, scope);
        }
        if let (O::Arithmetic(Add | Subtract), sql::ExprKind::Interval(amount, unit)) = (op, &right.kind) {
            let date = self.bind_expr(left, scope)?;
            return self.bind_interval(date, (amount, *unit), op == O::Arithmetic(Subtract), scope);
        }
        if let (O::Arithmetic(Add), sql::ExprKind::Interval(amount, unit)) = (op, &left.kind) {
            let date = self.bind_expr(right, scope)?;
            return self.bind_interval(date, (amount, *unit), false, scope);
        }
        let mut l = self.bind_expr(left, scope)?;
        let mut r = self.bind_expr(right, scope)?;
        let is_arithmetic = matches!(op, O::Arithmetic(_));
        if is_arithmetic {
            let (left_type, right_type) = (l.ty.clone(), r.ty.clone());
            self.assume_param(&mut l, &right_type, scope);
            self.assume_param(&mut r, &left_type, scope);
        }
        // Of two parameters nothing tells a type: they are DOUBLEs.
        if is_arithmetic
            && op != O::Arithmetic(ArithmeticOp::IntDivide)
            && [&l, &r].into_iter().all(|side| matches!(side.kind, ExprKind::Param(_)))
        {
            l = build::cast(l, CastType::Double, CollationId::BINARY)?;
            r = build::cast(r, CastType::Double, CollationId::BINARY)?;
        }
        operation(op, l, r, self.context.session)
    }
}

/// `arg IS test`
fn is_test(arg: Expr, test: sql::IsTest) -> Expr {
    match test {
        sql::IsTest::Null | sql::IsTest::Unknown => build::is_null(arg),
        sql::IsTest::True => build::is_truth(arg, true),
        sql::IsTest::False => build::is_truth(arg, false),
    }
}

/// An operator between two operands that are bound.
fn operation(op: sql::BinaryOp, l: Expr, r: Expr, session: &SessionInfo) -> Result<Expr, SqlError> {
    use sql::BinaryOp as O;
    match op {
        O::Compare(op) => build::compare(op, l, r),
        O::Xor => Ok(build::xor(l, r)),
        O::Arithmetic(op) => build::arithmetic(op, l, r, session),
        O::Bit(op) => Ok(build::bit(op, l, r)),
        O::Concat => resolve("concat", vec![l, r], session),
        O::SoundsLike => {
            build::compare(CompareOp::Eq, resolve("soundex", vec![l], session)?, resolve("soundex", vec![r], session)?)
        }
        O::MemberOf => crate::expr::function::call("member of", vec![l, r], session),
        O::Arrow => resolve("json_extract", vec![l, r], session),
        O::LongArrow => {
            let found = resolve("json_extract", vec![l, r], session)?;
            resolve("json_unquote", vec![found], session)
        }
    }
}

/// The operand of IS NULL, IS UNKNOWN or ISNULL().
fn is_null_of(condition: &Expr) -> Option<&Expr> {
    match &condition.kind {
        ExprKind::IsNull(arg) => Some(arg),
        ExprKind::Call { function, args } if function.name() == "isnull" => args.first(),
        _ => None,
    }
}

/// The ANDed parts of a condition.
pub(crate) fn conjuncts(expr: Expr) -> Vec<Expr> {
    match expr.kind {
        crate::expr::ExprKind::And(parts) => parts.into_iter().flat_map(conjuncts).collect(),
        _ => vec![expr],
    }
}

pub(crate) fn negate_if(negated: bool, expr: Expr) -> Expr {
    if negated { build::not(expr) } else { expr }
}

/// 1241
pub(crate) fn wrong_operands(columns: usize) -> SqlError {
    SqlError::new(codes::OPERAND_COLUMNS, format!("Operand should contain {columns} column(s)"))
}

/// 1235 for an expression.
pub(crate) fn unsupported(expr: &sql::Expr) -> SqlError {
    SqlError::not_supported(expr)
}

/// The collation of that name; 1273 if there is none.
pub(crate) fn collation_named(name: &str) -> Result<types::CollationId, SqlError> {
    types::collation::by_name(name)
        .ok_or_else(|| SqlError::new(codes::UNKNOWN_COLLATION, format!("Unknown collation: '{name}'")))
}
