//! Expressions: operators and names.

use std::collections::HashMap;

use base::{SqlError, codes};
use sqlparser::ast as sql;
use types::{CollationId, ColumnType, Value};

use crate::bind::Binder;
use crate::bind::alias::{Aliases, Grouped, NO_ALIASES};
use crate::bind::frame::SlotSource;
use crate::bind::scope::{ColumnName, Place, Scope, ambiguous, unknown_column};
use crate::bind::tree::TableSource;
use crate::expr::build::{self, TrimSide};
use crate::expr::choice::{Arm, condition_of_if};
use crate::expr::{
    ArithmeticOp, BitOp, CastType, CompareOp, Expr, ExprKind, ExprType, Kind, SessionInfo, VariableScope,
};
use crate::parse::operator;

/// Where an expression stands; error messages name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clause {
    FieldList,
    Where,
    On,
    GroupBy,
    Having,
    OrderBy,
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
    /// It is an argument of an aggregate.
    pub(crate) in_aggregate: bool,
}

impl<'s> ExprScope<'s> {
    /// An expression over rows of the tables.
    pub(crate) fn new(clause: Clause) -> Self {
        ExprScope { clause, aggregates: false, aliases: &NO_ALIASES, grouped: None, in_aggregate: false }
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
        ExprScope { clause, aggregates: true, aliases, grouped: None, in_aggregate: false }
    }

    /// What a name means before the tables' columns are asked for it. Two of one name are left to them, which are ambiguous too.
    fn alias_before_columns(&self, name: &str) -> Option<&Expr> {
        let is_grouped = |grouped: &Grouped| !grouped.names.is_empty() && grouped.names.contains(&name.to_lowercase());
        let comes_first = match self.clause {
            Clause::OrderBy => true,
            Clause::Having => self.aliases.has_one(name) && !self.grouped.is_some_and(is_grouped),
            _ => false,
        };
        if comes_first { self.aliases.find(name) } else { None }
    }
}

impl<'a> Binder<'a> {
    /// Binds an expression in the innermost block.
    pub(crate) fn bind_expr(&mut self, expr: &'a sql::Expr, scope: ExprScope<'_>) -> Result<Expr, SqlError> {
        use sql::Expr as E;
        self.worked(1)?;
        let bind = |binder: &mut Self, expr: &'a sql::Expr| binder.bind_expr(expr, scope);
        match expr {
            E::Identifier(name) => self.bind_identifier(name, scope),
            E::CompoundIdentifier(names) => self.bind_compound(names, scope),
            E::Nested(inner) => bind(self, inner),
            E::Value(value) => self.bind_value(&value.value),
            E::IsNull(arg) => Ok(build::is_null(bind(self, arg)?)),
            E::IsNotNull(arg) => Ok(build::not(build::is_null(bind(self, arg)?))),
            E::IsTrue(arg) => Ok(build::is_truth(bind(self, arg)?, true)),
            E::IsNotTrue(arg) => Ok(build::not(build::is_truth(bind(self, arg)?, true))),
            E::IsFalse(arg) => Ok(build::is_truth(bind(self, arg)?, false)),
            E::IsNotFalse(arg) => Ok(build::not(build::is_truth(bind(self, arg)?, false))),
            E::IsUnknown(arg) => Ok(build::is_null(bind(self, arg)?)),
            E::IsNotUnknown(arg) => Ok(build::not(build::is_null(bind(self, arg)?))),
            E::InList { expr, list, negated } => {
                let bound = self.bind_in_list(expr, list, scope)?;
                Ok(negate_if(*negated, bound))
            }
            E::InSubquery { expr, subquery, negated } => {
                let op = if *negated { CompareOp::NotEq } else { CompareOp::Eq };
                self.bind_quantified(expr, op, *negated, subquery, scope)
            }
            E::Like { negated, expr, pattern, escape_char, .. } => {
                let escape = self.like_escape(escape_char.as_deref(), scope)?;
                let bound = build::like(bind(self, expr)?, bind(self, pattern)?, escape)?;
                Ok(negate_if(*negated, bound))
            }
            E::AnyOp { left, compare_op, right, .. } => self.bind_any_all(left, compare_op, right, false, scope),
            E::AllOp { left, compare_op, right } => self.bind_any_all(left, compare_op, right, true, scope),
            E::Exists { subquery, negated } => {
                self.scope().place = scope.place();
                let bound = self.bind_exists(subquery)?;
                Ok(negate_if(*negated, bound))
            }
            E::Subquery(query) => {
                self.scope().place = scope.place();
                self.bind_scalar_subquery(query)
            }
            E::BinaryOp { left, op, right } => self.bind_binary(left, op, right, scope),
            E::UnaryOp { op, expr } => self.bind_unary(*op, expr, scope),
            E::Case { operand, conditions, else_result, .. } => {
                let operand = operand.as_ref().map(|operand| bind(self, operand)).transpose()?;
                let (arms, otherwise) = self.bind_arms(operand.as_ref(), conditions, else_result.as_deref(), scope)?;
                let results = arms.iter().map(|(_, then)| then).chain(&otherwise);
                self.types_params |= results.into_iter().any(|result| matches!(result.kind, ExprKind::Param(_)));
                build::case(operand, arms, otherwise)
            }
            E::Collate { expr, collation } => {
                let bound = bind(self, expr)?;
                build::collate(bound, collation_named(&collation.to_string())?)
            }
            E::Cast { expr, data_type, .. } => {
                let bound = bind(self, expr)?;
                self.bind_cast(bound, data_type)
            }
            E::Convert { expr, data_type, charset, .. } => {
                let bound = bind(self, expr)?;
                match (data_type, charset) {
                    (Some(data_type), Some(charset)) => self.bind_cast_in(bound, data_type, charset_name(charset)),
                    (Some(data_type), None) => self.bind_cast(bound, data_type),
                    (None, Some(charset)) => self.bind_convert_using(bound, charset_name(charset)),
                    (None, None) => Err(unsupported(expr)),
                }
            }
            E::TypedString(typed) => self.bind_typed_string(typed),
            E::Extract { field, expr, .. } => {
                let unit = interval_unit(&field.to_string())?;
                build::extract(unit, bind(self, expr)?)
            }
            E::Ceil { expr, .. } => {
                let args = vec![bind(self, expr)?];
                self.call("ceil", args)
            }
            E::Floor { expr, .. } => {
                let args = vec![bind(self, expr)?];
                self.call("floor", args)
            }
            E::Position { expr, r#in } => {
                let args = vec![bind(self, expr)?, bind(self, r#in)?];
                self.call("locate", args)
            }
            E::Substring { expr, substring_from, substring_for, .. } => {
                let mut args = vec![bind(self, expr)?];
                for part in [substring_from, substring_for].into_iter().flatten() {
                    args.push(bind(self, part)?);
                }
                self.call("substring", args)
            }
            E::Trim { trim_where, trim_what, expr, .. } => {
                let side = match trim_where {
                    Some(sql::TrimWhereField::Leading) => TrimSide::Leading,
                    Some(sql::TrimWhereField::Trailing) => TrimSide::Trailing,
                    _ => TrimSide::Both,
                };
                let remove = trim_what.as_ref().map(|what| bind(self, what)).transpose()?;
                build::trim(side, bind(self, expr)?, remove)
            }
            E::MemberOf(member) => {
                let args = vec![bind(self, &member.value)?, bind(self, &member.array)?];
                crate::expr::function::call("member of", args, self.context.session)
            }
            E::Prefixed { prefix, value } => self.bind_introducer(&prefix.value, value, scope),
            E::Function(function) => self.bind_function(function, scope),
            E::Tuple(_) => Err(SqlError::new(codes::OPERAND_COLUMNS, "Operand should contain 1 column(s)")),
            other => Err(unsupported(other)),
        }
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
        let scope = self.scope();
        let SlotSource::Column { table, column: number } = scope.frame.slots[column.as_column()?].source else {
            return None;
        };
        let TableSource::Base(table) = &scope.tables[table].source else { return None };
        let column = &table.def.columns[number];
        let (value, kind) = match column.ty {
            ColumnType::Date => (Value::Date(types::Date::ZERO), Kind::Date),
            ColumnType::DateTime { .. } => (Value::DateTime(types::DateTime::ZERO), Kind::DateTime),
            _ => return None,
        };
        (!column.nullable).then(|| Expr::literal(value, ExprType::of_kind(kind).nullable(false)))
    }

    fn bind_identifier(&mut self, name: &'a sql::Ident, scope: ExprScope<'_>) -> Result<Expr, SqlError> {
        if name.quote_style.is_none()
            && let Some(variable) = name.value.strip_prefix('@')
        {
            return match variable.strip_prefix('@') {
                Some(system) => self.system_variable(system, None),
                None => Ok(build::user_variable(variable, self.context.session)),
            };
        }
        if name.quote_style.is_none() && is_function_without_brackets(&name.value) {
            return self.call(&name.value, Vec::new());
        }
        let column = ColumnName { schema: None, table: None, column: &name.value };
        if scope.clause == Clause::OrderBy && scope.aliases.is_ambiguous(&name.value) {
            return Err(ambiguous(&name.value, scope.clause.name()));
        }
        if let Some(expr) = scope.alias_before_columns(&name.value) {
            return Ok(expr.clone());
        }
        match self.resolve_own(column, scope.clause)? {
            Some(expr) => scope.check_shown(expr, column),
            None => match scope.aliases.find(&name.value) {
                Some(expr) => Ok(expr.clone()),
                None => self.resolve_outer(column, scope.clause),
            },
        }
    }

    fn bind_compound(&mut self, names: &'a [sql::Ident], scope: ExprScope<'_>) -> Result<Expr, SqlError> {
        if let Some(system) = names[0].value.strip_prefix("@@") {
            let rest: Vec<&str> = names[1..].iter().map(|name| name.value.as_str()).collect();
            return self.system_variable(system, Some(&rest.join(".")));
        }
        let column = match names {
            [table, column] => ColumnName { schema: None, table: Some(&table.value), column: &column.value },
            [schema, table, column] => {
                ColumnName { schema: Some(&schema.value), table: Some(&table.value), column: &column.value }
            }
            _ => return Err(SqlError::not_supported("names of more than three parts")),
        };
        match self.resolve_own(column, scope.clause)? {
            Some(expr) => scope.check_shown(expr, column),
            None => self.resolve_outer(column, scope.clause),
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
        let (slot, ty) = scope.column_slot(table, column);
        Ok(Some(Expr::column(slot, ty)))
    }

    /// An expression of an enclosing block in the innermost one, which is handed the values that it reads.
    pub(super) fn handed_on(&mut self, mut expr: Expr, level: usize) -> Expr {
        let mut places = HashMap::new();
        for slot in expr.slots().iter() {
            let mut here = (slot, self.scopes[level].frame.slots[slot].ty.clone());
            for scope in &mut self.scopes[level + 1..] {
                here = outer_slot(scope, here.0, here.1);
            }
            places.insert(slot, here.0);
        }
        expr.map_slots(&|slot| places.get(&slot).copied().unwrap_or(slot));
        expr
    }

    /// A column of an enclosing block, or a name of its select list; 1054 if there is neither.
    fn resolve_outer(&mut self, name: ColumnName<'_>, clause: Clause) -> Result<Expr, SqlError> {
        let innermost = self.scopes.len() - 1;
        let mut level = innermost;
        let (mut slot, mut ty) = loop {
            if level == 0 || self.scopes[level].barrier {
                return Err(unknown_column(&name.text(), clause.name()));
            }
            level -= 1;
            let scope = &mut self.scopes[level];
            if let Some((table, column)) = scope.find(name, clause.name())? {
                break scope.column_slot(table, column);
            }
            if let Some(expr) = scope.alias(name, clause.name())?.cloned() {
                return Ok(self.handed_on(expr, level));
            }
        };
        for scope in &mut self.scopes[level + 1..=innermost] {
            (slot, ty) = outer_slot(scope, slot, ty);
        }
        Ok(Expr::column(slot, ty))
    }

    /// The arms of CASE and its ELSE.
    fn bind_arms(
        &mut self,
        operand: Option<&Expr>,
        arms: &'a [sql::CaseWhen],
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

    /// A predicate whose operator is one of our own.
    fn bind_predicate(
        &mut self,
        left: &'a sql::Expr,
        name: &str,
        right: &'a sql::Expr,
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        let (name, negated) = operator::negated(name);
        let resolve = crate::expr::function::resolve;
        let bound = match (name, right) {
            (operator::IN, sql::Expr::Tuple(list)) => self.bind_in_list(left, list, scope)?,
            (operator::BETWEEN, sql::Expr::Tuple(bounds)) => {
                let value = self.bind_expr(left, scope)?;
                let bounds = bounds.iter().map(|bound| self.bind_expr(bound, scope)).collect::<Result<Vec<_>, _>>()?;
                for bound in &bounds {
                    self.note_bound(left, &value, bound);
                    self.describe_compared(&value, bound);
                }
                let Ok([low, high]) = <[Expr; 2]>::try_from(bounds) else { return Err(unsupported(right)) };
                build::between(value, low, high)?
            }
            (operator::REGEXP, _) => {
                let args = vec![self.bind_expr(left, scope)?, self.bind_expr(right, scope)?];
                resolve("regexp_like", args, self.context.session)?
            }
            (operator::SOUNDS_LIKE, _) => {
                let [l, r] = [self.bind_expr(left, scope)?, self.bind_expr(right, scope)?];
                let session = self.context.session;
                build::compare(
                    CompareOp::Eq,
                    resolve("soundex", vec![l], session)?,
                    resolve("soundex", vec![r], session)?,
                )?
            }
            _ => return Err(unsupported(right)),
        };
        Ok(negate_if(negated, bound))
    }

    fn bind_binary(
        &mut self,
        left: &'a sql::Expr,
        op: &'a sql::BinaryOperator,
        right: &'a sql::Expr,
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        use sql::BinaryOperator as O;
        if let Some(op) = compare_op(op) {
            return self.bind_comparison(op, left, right, scope);
        }
        if let (O::Plus | O::Minus, sql::Expr::Interval(interval)) = (op, right) {
            let date = self.bind_expr(left, scope)?;
            return self.bind_interval(date, interval, *op == O::Minus, scope);
        }
        if let (O::Plus, sql::Expr::Interval(interval)) = (op, left) {
            let date = self.bind_expr(right, scope)?;
            return self.bind_interval(date, interval, false, scope);
        }
        if let O::Assignment = op {
            let sql::Expr::Identifier(name) = left else { return Err(unsupported(left)) };
            let name = name.value.trim_start_matches('@');
            return Ok(build::assign_variable(name, self.bind_expr(right, scope)?));
        }
        if let O::Custom(name) = op
            && name != operator::DIV
        {
            return self.bind_predicate(left, name, right, scope);
        }
        let mut l = self.bind_expr(left, scope)?;
        let from = self.scope().subqueries.len();
        let mut r = self.bind_expr(right, scope)?;
        if matches!(op, O::And | O::Or) {
            // Not looked at if the left side has decided.
            self.guard_calls(from, || Some(build::not(build::is_truth(l.clone(), *op == O::Or))))?;
        }
        if is_arithmetic(op) {
            let (left_type, right_type) = (l.ty.clone(), r.ty.clone());
            self.assume_param(&mut l, &right_type, scope);
            self.assume_param(&mut r, &left_type, scope);
        }
        // Of two parameters nothing tells a type: they are DOUBLEs.
        if is_arithmetic(op)
            && !matches!(op, O::Custom(_))
            && [&l, &r].into_iter().all(|side| matches!(side.kind, ExprKind::Param(_)))
        {
            l = build::cast(l, CastType::Double, CollationId::BINARY)?;
            r = build::cast(r, CastType::Double, CollationId::BINARY)?;
        }
        operation(op, l, r, self.context.session)
    }
}

/// An operator between two operands that are bound.
fn operation(op: &sql::BinaryOperator, l: Expr, r: Expr, session: &SessionInfo) -> Result<Expr, SqlError> {
    use sql::BinaryOperator as O;
    match op {
        O::And => Ok(build::and(vec![l, r])),
        O::Or => Ok(build::or(vec![l, r])),
        O::Xor => Ok(build::xor(l, r)),
        O::Plus => build::arithmetic(ArithmeticOp::Add, l, r, session),
        O::Minus => build::arithmetic(ArithmeticOp::Subtract, l, r, session),
        O::Multiply => build::arithmetic(ArithmeticOp::Multiply, l, r, session),
        O::Divide => build::arithmetic(ArithmeticOp::Divide, l, r, session),
        O::Modulo => build::arithmetic(ArithmeticOp::Modulo, l, r, session),
        O::Custom(_) => build::arithmetic(ArithmeticOp::IntDivide, l, r, session),
        O::BitwiseOr => Ok(build::bit(BitOp::Or, l, r)),
        O::BitwiseAnd => Ok(build::bit(BitOp::And, l, r)),
        O::BitwiseXor | O::PGBitwiseXor => Ok(build::bit(BitOp::Xor, l, r)),
        O::PGBitwiseShiftLeft => Ok(build::bit(BitOp::ShiftLeft, l, r)),
        O::PGBitwiseShiftRight => Ok(build::bit(BitOp::ShiftRight, l, r)),
        O::StringConcat => crate::expr::function::resolve("concat", vec![l, r], session),
        O::Arrow => crate::expr::function::resolve("json_extract", vec![l, r], session),
        O::LongArrow => {
            let found = crate::expr::function::resolve("json_extract", vec![l, r], session)?;
            crate::expr::function::resolve("json_unquote", vec![found], session)
        }
        other => Err(SqlError::not_supported(format_args!("operator {other}"))),
    }
}

/// The slot in a block for a slot of the block around it.
pub(crate) fn outer_slot(scope: &mut Scope, slot: usize, ty: ExprType) -> (usize, ExprType) {
    let here = scope.frame.slot(SlotSource::Outer { slot }, || ty.clone());
    (here, ty)
}

/// `+`, `-`, `*`, `/`, `%`, DIV.
fn is_arithmetic(op: &sql::BinaryOperator) -> bool {
    use sql::BinaryOperator as O;
    matches!(op, O::Plus | O::Minus | O::Multiply | O::Divide | O::Modulo)
        || matches!(op, O::Custom(name) if name == operator::DIV)
}

/// Reserved words that are calls without brackets; the parser knows others (CURRENT_DATE) itself.
fn is_function_without_brackets(name: &str) -> bool {
    const WORDS: [&str; 4] = ["utc_date", "utc_time", "utc_timestamp", "current_user"];
    WORDS.iter().any(|word| word.eq_ignore_ascii_case(name))
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

pub(crate) fn compare_op(op: &sql::BinaryOperator) -> Option<CompareOp> {
    use sql::BinaryOperator as O;
    Some(match op {
        O::Eq => CompareOp::Eq,
        O::NotEq => CompareOp::NotEq,
        O::Lt => CompareOp::Less,
        O::LtEq => CompareOp::LessEq,
        O::Gt => CompareOp::Greater,
        O::GtEq => CompareOp::GreaterEq,
        O::Spaceship => CompareOp::NullSafeEq,
        _ => return None,
    })
}

pub(crate) fn negate_if(negated: bool, expr: Expr) -> Expr {
    if negated { build::not(expr) } else { expr }
}

/// 1241
pub(crate) fn wrong_operands(columns: usize) -> SqlError {
    SqlError::new(codes::OPERAND_COLUMNS, format!("Operand should contain {columns} column(s)"))
}

/// The name of a character set, which may stand in quotes of any kind.
fn charset_name(name: &sql::ObjectName) -> &str {
    name.0.last().and_then(|part| part.as_ident()).map_or("", |name| &name.value)
}

/// 1235 for an expression.
pub(crate) fn unsupported(expr: &sql::Expr) -> SqlError {
    SqlError::not_supported(expr)
}

/// The collation of that name; 1273 if there is none.
pub(crate) fn collation_named(name: &str) -> Result<types::CollationId, SqlError> {
    let name = name.trim_matches(|c| matches!(c, '`' | '\'' | '"'));
    types::collation::by_name(name)
        .ok_or_else(|| SqlError::new(codes::UNKNOWN_COLLATION, format!("Unknown collation: '{name}'")))
}

pub(crate) fn interval_unit(name: &str) -> Result<crate::expr::IntervalUnit, SqlError> {
    let unit = crate::expr::IntervalUnit::by_name(name);
    unit.ok_or_else(|| SqlError::not_supported(format_args!("the unit {name}")))
}
