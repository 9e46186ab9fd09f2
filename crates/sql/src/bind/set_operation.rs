//! UNION, EXCEPT and INTERSECT: the types of their columns, and the values of each branch in them.
//!
//! Operators stand from left to right, but for INTERSECT, which binds more tightly: what is before an operator of another kind is one branch of it.
//!
//! MySQL stores what a branch gives in a temporary table, and a column of text holds a number in another way than CONCAT would write it
//! ([`function::stored`]). Where a UNION is all of a statement, the rows that it has made distinct are such a table by themselves, before UNION ALL puts others
//! behind them.

use base::{SqlError, codes};
use syntax::ast as sql;
use types::{ColumnType, Value};

use crate::bind::Binder;
use crate::bind::alias::Aliases;
use crate::bind::columns::Columns;
use crate::bind::expr::{Clause, ExprScope, Windows};
use crate::bind::query::{Tail, position};
use crate::bind::scope::{Scope, unknown_column};
use crate::bind::select::into_variables;
use crate::bind::tree::{BoundBody, BoundQuery, OrderItem, SetKind, SetOperation};
use crate::expr::order::is_member_list;
use crate::expr::{CastType, Coercibility, Expr, ExprKind, ExprType, Kind, build, function};

impl<'a> Binder<'a> {
    /// Branches with operators between them. A locking clause at the end is the last branch's.
    pub(super) fn bind_set(
        &mut self,
        first: &'a sql::Body,
        others: &'a [sql::SetBranch],
        tail: Tail<'a>,
    ) -> Result<BoundQuery, SqlError> {
        let mut operands = vec![self.bind_body(first, Tail::default())?];
        for (at, branch) in others.iter().enumerate() {
            let lock = tail.lock.filter(|_| at + 1 == others.len());
            operands.push(self.bind_body(&branch.body, Tail { lock, ..Tail::default() })?);
        }
        let mut operands = operands.into_iter();
        let mut branches: Vec<BoundQuery> = operands.by_ref().take(1).collect();
        let mut kind: Option<SetKind> = None;
        for (operand, branch) in operands.zip(others) {
            kind = Some(match (kind, kind_of(branch, branches.len())) {
                (None, next) => next,
                (Some(SetKind::Union { distinct_until }), SetKind::Union { distinct_until: more }) => {
                    SetKind::Union { distinct_until: more.or(distinct_until) }
                }
                (Some(SetKind::Except { mut all }), SetKind::Except { all: more }) => {
                    all.extend(more);
                    SetKind::Except { all }
                }
                (Some(SetKind::Intersect { all }), SetKind::Intersect { all: more }) => {
                    SetKind::Intersect { all: all && more }
                }
                (Some(kind), _) => {
                    branches = vec![self.bind_operation(branches, kind, false, Tail::default())?];
                    kind_of(branch, 1)
                }
            });
            branches.push(operand);
        }
        let kind = kind.unwrap_or(SetKind::Union { distinct_until: None });
        let is_whole_statement = self.scopes.is_empty() && tail.order.is_empty();
        self.bind_operation(branches, kind, is_whole_statement, Tail { lock: None, ..tail })
    }

    /// One query with an ORDER BY or LIMIT around it.
    pub(super) fn bind_alone(&mut self, query: BoundQuery, tail: Tail<'a>) -> Result<BoundQuery, SqlError> {
        self.bind_operation(vec![query], SetKind::Union { distinct_until: None }, false, tail)
    }

    /// An operation on branches, which is `is_whole_statement` or a part of one.
    pub(super) fn bind_operation(
        &mut self,
        mut branches: Vec<BoundQuery>,
        kind: SetKind,
        is_whole_statement: bool,
        tail: Tail<'a>,
    ) -> Result<BoundQuery, SqlError> {
        let (types, distinct) = settle_types(&mut branches, &kind, is_whole_statement, &self.columns)?;
        let columns: Vec<_> = branches[0].columns.clone();
        let columns: Vec<_> = if branches.len() == 1 {
            columns
        } else {
            columns
                .iter()
                .zip(&types)
                .map(|(column, ty)| crate::bind::output::of_union(column.name.clone(), ty))
                .collect()
        };
        let order = self.bind_set_order(tail.order, &columns, &types)?;
        let limit = self.bind_limit(tail.limit)?;
        let count_found_rows = take_found_rows(&mut branches);
        let number = self.next_block();
        let set = SetOperation { number, kind, branches, distinct, order, limit, count_found_rows };
        let into = into_variables(tail.into, types.len())?;
        Ok(BoundQuery { body: BoundBody::Set(Box::new(set)), columns, types, into })
    }

    /// ORDER BY of an operation names columns of the result.
    fn bind_set_order(
        &mut self,
        items: &'a [sql::OrderItem],
        columns: &[crate::result::ResultColumn],
        types: &[ExprType],
    ) -> Result<Vec<OrderItem>, SqlError> {
        let named = |(slot, (column, ty)): (usize, (&crate::result::ResultColumn, &ExprType))| {
            (column.name.to_string(), Expr::column(slot, ty.clone()))
        };
        let names = Aliases::new(columns.iter().zip(types).enumerate().map(named).collect());
        let mut order = Vec::with_capacity(items.len());
        for (number, item) in items.iter().enumerate() {
            let expr = match position(&item.expr) {
                Some(number) => names
                    .at(number)
                    .cloned()
                    .ok_or_else(|| unknown_column(&number.to_string(), Clause::OrderBy.name()))?,
                None => {
                    self.scopes.push(Scope { sees: Some(0), ..Scope::default() });
                    let windows = Windows::OfUnion;
                    let scope = ExprScope { windows, aliases: &names, ..ExprScope::new(Clause::OrderBy) };
                    let bound = self.bind_expr(&item.expr, scope);
                    let left = self.scopes.pop().unwrap_or_default();
                    if !left.subqueries.is_empty() {
                        return Err(SqlError::not_supported("subqueries in the ORDER BY of a UNION"));
                    }
                    bound.map_err(|error| aggregate_of_union(error, number + 1))?
                }
            };
            order.push(OrderItem { expr, descending: item.descending });
        }
        Ok(order)
    }
}

/// 3028 for an aggregate in the ORDER BY of a UNION.
fn aggregate_of_union(error: SqlError, number: usize) -> SqlError {
    if error.code != codes::INVALID_GROUP_FUNC_USE.0 {
        return error;
    }
    let message = format!(
        "Expression #{number} of ORDER BY contains aggregate function and applies to a UNION, EXCEPT or INTERSECT"
    );
    SqlError::new(codes::AGGREGATE_ORDER_FOR_UNION, message)
}

/// 1222
pub(super) fn wrong_column_count() -> SqlError {
    let message = "The used SELECT statements have a different number of columns";
    SqlError::new(codes::WRONG_NUMBER_OF_COLUMNS_IN_SELECT, message)
}

/// What an operator with its right operand asks for, of so many branches before it.
fn kind_of(branch: &sql::SetBranch, before: usize) -> SetKind {
    match branch.op {
        sql::SetOp::Union => SetKind::Union { distinct_until: (!branch.all).then_some(before) },
        sql::SetOp::Except => SetKind::Except { all: vec![branch.all] },
        sql::SetOp::Intersect => SetKind::Intersect { all: branch.all },
    }
}

/// The types of the columns, and those by which rows are compared. The branches' values are given the columns' types. Where a UNION is all of a
/// statement, those of branches that are made distinct go by way of types of their own, whose collations decide which rows are the same.
fn settle_types(
    branches: &mut [BoundQuery],
    kind: &SetKind,
    is_whole_statement: bool,
    columns: &Columns,
) -> Result<(Vec<ExprType>, Vec<ExprType>), SqlError> {
    let distinct_until = match kind {
        SetKind::Union { distinct_until } if is_whole_statement => *distinct_until,
        _ => None,
    };
    let mut types = branches[0].types.clone();
    let mut distinct = types.clone();
    for (number, branch) in branches.iter().enumerate().skip(1) {
        if branch.types.len() != types.len() {
            return Err(wrong_column_count());
        }
        types = types.iter().zip(&branch.types).map(|(a, b)| with_nulls(column_of(a, b), kind, [a, b])).collect();
        if Some(number) == distinct_until {
            distinct = types.clone();
        }
    }
    if branches.len() > 1 {
        check_collations(branches, &types, kind)?;
    }
    if let Some(last) = distinct_until {
        branches[..=last].iter_mut().try_for_each(|branch| conform(branch, &distinct, columns))?;
    }
    branches.iter_mut().try_for_each(|branch| conform(branch, &types, columns))?;
    let distinct = match distinct_until {
        Some(_) => types.iter().zip(&distinct).map(|(ty, distinct)| compared_as(ty, distinct)).collect(),
        None => types.clone(),
    };
    Ok((types, distinct))
}

/// How values are compared that were of the type `own` and now are of another: texts by their own collation.
fn compared_as(ty: &ExprType, own: &ExprType) -> ExprType {
    match ty.kind.is_string() && own.kind.is_string() {
        true => ExprType { kind: own.kind, collation: own.collation, ..ty.clone() },
        false => ty.clone(),
    }
}

/// Whether there may be NULLs in a column: all of EXCEPT's come from its first branch, all of INTERSECT's from every branch.
fn with_nulls(ty: ExprType, kind: &SetKind, [a, b]: [&ExprType; 2]) -> ExprType {
    match kind {
        SetKind::Union { .. } | SetKind::Recursive(_) => ty,
        SetKind::Except { .. } => ty.nullable(a.nullable),
        SetKind::Intersect { .. } => ty.nullable(a.nullable && b.nullable),
    }
}

/// The type of a column that holds the values of both.
pub(super) fn column_of(a: &ExprType, b: &ExprType) -> ExprType {
    let all = union_of_columns(a, b);
    let all = ExprType { zerofill: all.origin == Some(ColumnType::Year), ..all };
    if is_member_list(&all) {
        return all;
    }
    let all = ExprType { length: length_in_column(&all, [a, b]), ..all }.in_column_of_union();
    let is_fixed = |ty: &ExprType| matches!(ty.origin, Some(ColumnType::Binary { .. } | ColumnType::Char { .. }));
    let fits_fixed = |ty: &ExprType| is_fixed(ty) || is_member_list(ty) || !ty.kind.is_text();
    if all.kind != Kind::Bytes || !(is_fixed(a) || is_fixed(b)) || !fits_fixed(a) || !fits_fixed(b) {
        return all;
    }
    // A BINARY makes a BINARY of everything but text of variable length.
    let length = a.byte_length().max(b.byte_length());
    ExprType { length, origin: Some(ColumnType::Binary { bytes: length }), ..all }
}

/// The length of such a column. A FLOAT or DOUBLE has no more digits in a text there than MySQL has room for.
fn length_in_column(all: &ExprType, of: [&ExprType; 2]) -> u32 {
    const FLOAT_CHARS: u32 = 12;
    const DOUBLE_CHARS: u32 = 22;
    if !all.kind.is_string() || !of.iter().any(|ty| matches!(ty.kind, Kind::Float | Kind::Double)) {
        return all.length;
    }
    let length = |ty: &ExprType| match ty.kind {
        Kind::Float => FLOAT_CHARS,
        Kind::Double => DOUBLE_CHARS,
        _ => ty.length_as(all.kind),
    };
    length(of[0]).max(length(of[1]))
}

/// SQL_CALC_FOUND_ROWS of the first branch is about the whole result.
fn take_found_rows(branches: &mut [BoundQuery]) -> bool {
    match &mut branches[0].body {
        BoundBody::Block(block) => std::mem::take(&mut block.count_found_rows),
        BoundBody::Set(set) => std::mem::take(&mut set.count_found_rows),
        BoundBody::Values(_) => false,
    }
}

/// The type of such a column before its length is known. Members of ENUM and SET are plain text in it, and in the order of text, but beside NULL.
fn union_of_columns(a: &ExprType, b: &ExprType) -> ExprType {
    let ty = a.union(b);
    let is_null = |ty: &ExprType| ty.kind == Kind::Null;
    match is_member_list(&ty) && !is_null(a) && !is_null(b) {
        true => ExprType { origin: None, ..ty },
        false => ty,
    }
}

/// 1267 or 1271 if columns of branches have collations that do not go together.
fn check_collations(branches: &[BoundQuery], types: &[ExprType], kind: &SetKind) -> Result<(), SqlError> {
    for (column, ty) in types.iter().enumerate() {
        let all: Vec<&ExprType> = branches.iter().map(|branch| &branch.types[column]).collect();
        build::agree(&all, kind.name(), build::Mixed::Allowed)?;
        // A branch that has settled for none by itself may stand beside NULL. A number settles a conflict only where a part is made distinct.
        let texts: Vec<&ExprType> = all.iter().copied().filter(|ty| ty.kind.is_string()).collect();
        let of_texts =
            if kind.compares() { ty.coercibility } else { build::union_of(texts.iter().copied()).coercibility };
        if ty.kind == Kind::Str && of_texts == Coercibility::None && texts.len() > 1 {
            let message = format!("Illegal mix of collations for operation '{}'", kind.name());
            return Err(SqlError::new(codes::CANT_AGGREGATE_NCOLLATIONS, message));
        }
    }
    Ok(())
}

/// Makes a branch's values those of the result's types.
pub(super) fn conform(query: &mut BoundQuery, types: &[ExprType], columns: &Columns) -> Result<(), SqlError> {
    match &mut query.body {
        BoundBody::Block(block) => {
            let is_own = |id| columns.place(id, &block.tables).is_some();
            bits_as_bytes(&mut block.select, types, is_own);
            conform_row(&mut block.select, types)?;
        }
        BoundBody::Set(set) => {
            set.branches.iter_mut().try_for_each(|branch| conform(branch, types, columns))?;
            let by = types.iter().zip(&set.distinct).map(|(ty, own)| compared_as(ty, own));
            set.distinct = by.collect();
        }
        BoundBody::Values(rows) => rows.iter_mut().try_for_each(|row| conform_row(row, types))?,
    }
    query.types = types.to_vec();
    Ok(())
}

/// A BIT is a number beside short text, and a binary string beside a TEXT or BLOB if it is a table's column.
fn bits_as_bytes(row: &mut [Expr], types: &[ExprType], is_of_table: impl Fn(usize) -> bool) {
    for (expr, ty) in row.iter_mut().zip(types) {
        let is_long = matches!(ty.origin, Some(ColumnType::Text { .. } | ColumnType::Blob { .. }));
        if is_long && expr.as_column().is_some_and(&is_of_table) {
            *expr = function::bits_as_bytes(std::mem::replace(expr, Expr::null()));
        }
    }
}

fn conform_row(row: &mut [Expr], types: &[ExprType]) -> Result<(), SqlError> {
    for (expr, ty) in row.iter_mut().zip(types) {
        if expr.ty == *ty || matches!(expr.kind, ExprKind::Literal(Value::Null)) {
            continue;
        }
        let plain = std::mem::replace(expr, Expr::null());
        *expr = conformed(plain, ty)?;
    }
    Ok(())
}

/// The expression with values of another type.
fn conformed(expr: Expr, ty: &ExprType) -> Result<Expr, SqlError> {
    let becomes_text = ty.kind.is_string() && (expr.ty.kind.is_numeric() || expr.ty.kind == Kind::Time);
    let is_other_moment = expr.ty.kind != ty.kind || expr.ty.decimals != ty.decimals;
    let becomes_moment = ty.kind.is_temporal() && expr.ty.kind.is_temporal() && is_other_moment;
    // Bytes that are no text are an error.
    let is_read = expr.ty.kind == Kind::Bytes && ty.kind == Kind::Str;
    let expr = if becomes_text || becomes_moment || is_read { function::stored(expr, ty) } else { expr };
    match needed_cast(&expr.ty, ty) {
        Some(to) => build::cast(expr, to, ty.collation),
        None => Ok(expr),
    }
}

/// The cast that makes values of one type those of another, if one is needed.
fn needed_cast(from: &ExprType, to: &ExprType) -> Option<CastType> {
    if let Some(ColumnType::Binary { bytes }) = to.origin {
        return (from.origin != to.origin && from.kind != Kind::Null)
            .then_some(CastType::Binary { bytes: Some(bytes) });
    }
    let same_scale = from.kind == to.kind && (from.kind != Kind::Decimal || from.decimals == to.decimals);
    if same_scale || from.kind == Kind::Null || from.kind == Kind::Any {
        return None;
    }
    Some(match to.kind {
        Kind::Null | Kind::Any => return None,
        Kind::Json => CastType::Json,
        Kind::Int => CastType::Signed,
        Kind::UInt => CastType::Unsigned,
        Kind::Float => CastType::Float,
        Kind::Double => CastType::Double,
        Kind::Decimal => CastType::Decimal { precision: to.length.clamp(1, 65) as u8, scale: to.decimals.min(30) },
        Kind::Str => CastType::Char { chars: None },
        Kind::Bytes => CastType::Binary { bytes: None },
        Kind::Date => CastType::Date,
        Kind::Time => CastType::Time { fsp: to.decimals.min(6) },
        Kind::DateTime => CastType::DateTime { fsp: to.decimals.min(6) },
    })
}
