//! INSERT … VALUES and SET: the rows that the statement itself has.
//!
//! The first row and rows with expressions are trees. Rows of literals behind the first one are text, of which one at a time
//! becomes values: see [`crate::parse::LiteralRows`].

use std::ops::Range;
use std::sync::Arc;

use base::{SqlError, memory};
use bytes::Bytes;
use engine::Table;
use syntax::ast as sql;
use syntax::literal_rows::LiteralValue;
use types::charset::Charset;
use types::{CollationId, ColumnDef, Value};

use crate::bind::Binder;
use crate::bind::expr::{Clause, ExprScope};
use crate::bind::from::target_table;
use crate::bind::literal;
use crate::bind::query::wrong_value_count;
use crate::bind::scope::Scope;
use crate::dml::insert::Progress;
use crate::dml::insert_plan::InsertPlan;
use crate::exec::ExecContext;
use crate::exec::apply::SubqueryRun;
use crate::exec::batch::BATCH_ROWS;
use crate::expr::{EvalContext, Expr, ExprType, build};
use crate::parse::{LiteralRows, hex_bytes};
use crate::plan::layout::Layout;
use crate::plan::node::SubqueryPlan;
use crate::plan::{PlanContext, UsedColumns, block};
use crate::write::{for_column, short_integer, takes_numbers};

/// The rows of VALUES or SET.
#[derive(Debug)]
pub(crate) struct ValuesPlan {
    /// A value for each target column.
    rows: Vec<Vec<RowValue>>,
    /// The rows between the first of those and the others.
    literals: LiteralRows,
    /// Of the text in `literals`.
    collation: CollationId,
    client: Charset,
    /// Values per row of the frame that `rows` are evaluated over.
    width: usize,
    /// (column, slot) of columns of the new row that they read.
    reads: Vec<(usize, usize)>,
    subqueries: Vec<SubqueryPlan>,
}

#[derive(Debug)]
struct RowValue {
    /// `None` is DEFAULT.
    expr: Option<Expr>,
    /// Those of the subqueries, and calls that wait, that it reads: they are run when it is their turn, as in MySQL.
    subqueries: Range<usize>,
}

impl ValuesPlan {
    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len() + self.literals.len()
    }
}

/// Plans rows for the target columns.
pub(crate) async fn bind_values<'a>(
    context: &'a PlanContext<'a>,
    binder: &mut Binder<'a>,
    table: &Arc<Table>,
    (rows, literals): (Vec<Vec<&'a sql::Expr>>, &LiteralRows),
    targets: &[usize],
) -> Result<ValuesPlan, SqlError> {
    let mut scope = Scope { sees: Some(0), ..Scope::default() };
    scope.add_table(target_table(binder.columns.add_table(), table, &table.def.name))?;
    scope.see(scope.visible_columns_of(0));
    binder.scopes.push(scope);
    let mut bound = Vec::with_capacity(rows.len());
    for (number, row) in rows.into_iter().enumerate() {
        if row.len() != targets.len() {
            let before = if number == 0 { 0 } else { literals.len() };
            return Err(wrong_value_count(before + number + 1));
        }
        let mut values = Vec::with_capacity(row.len());
        for (expr, &target) in row.into_iter().zip(targets) {
            let before = binder.scope().subqueries.len();
            let bind = |binder: &mut Binder<'a>| binder.bind_expr(expr, ExprScope::new(Clause::FieldList));
            let value = if expr.is_default() { None } else { Some(bind(binder)?) };
            value.iter().for_each(|value| binder.note_params(value));
            let column = &table.def.columns[target];
            if let Some(value) = &value {
                binder.describe_param(value, &ExprType::of_column(column));
            }
            let expr = value.map(|value| for_column(value, column));
            values.push(RowValue { expr, subqueries: before..binder.scope().subqueries.len() });
        }
        bound.push(values);
    }
    let scope = binder.scopes.pop().unwrap_or_default();
    binder.note_reads(&scope, UsedColumns::Read);
    let exprs = bound.iter().flatten().filter_map(|value: &RowValue| value.expr.as_ref());
    let layout = Layout::of_exprs(exprs, &scope.subqueries);
    bound.iter_mut().flatten().flat_map(|value| &mut value.expr).for_each(|expr| layout.lay(expr));
    let (width, reads) = (layout.width(), layout.of_table(&scope.tables[0], &binder.columns));
    let subqueries = block::plan_subqueries(context, &mut binder.columns, scope.subqueries, &layout).await?;
    Ok(ValuesPlan {
        rows: bound,
        literals: literals.clone(),
        collation: context.session.collation_connection,
        client: context.session.character_set_client,
        width,
        reads,
        subqueries,
    })
}

impl InsertPlan {
    /// Inserts all rows of VALUES or SET.
    pub(super) async fn insert_values(
        &self,
        values: &ValuesPlan,
        progress: &mut Progress,
        context: &mut ExecContext<'_>,
    ) -> Result<(), SqlError> {
        let mut frame = vec![Value::Null; values.width];
        let unset = self.unset(values, context)?;
        let (first, others) = values.rows.split_at(values.rows.len().min(1));
        self.insert_trees(first, (values, &unset), &mut frame, progress, context).await?;
        self.insert_literals(values, progress, context).await?;
        self.insert_trees(others, (values, &unset), &mut frame, progress, context).await
    }

    /// What the columns that are read hold before they are set.
    fn unset(&self, values: &ValuesPlan, context: &ExecContext<'_>) -> Result<Vec<Value>, SqlError> {
        let unset = values
            .reads
            .iter()
            .map(|&(column, _)| self.maker.default(column).before_it_is_set(self.maker.column(column), &context.eval));
        unset.collect()
    }

    async fn insert_trees(
        &self,
        rows: &[Vec<RowValue>],
        (values, unset): (&ValuesPlan, &[Value]),
        frame: &mut [Value],
        progress: &mut Progress,
        context: &mut ExecContext<'_>,
    ) -> Result<(), SqlError> {
        for (number, row) in rows.iter().enumerate() {
            progress.begin_row();
            for ((_, slot), value) in values.reads.iter().zip(unset) {
                frame[*slot] = value.clone();
            }
            for (&column, RowValue { expr, subqueries }) in self.columns.iter().zip(row) {
                let Some(expr) = expr else {
                    self.maker.set_default(&mut progress.row, column, progress.terms, &context.eval)?;
                    continue;
                };
                for subquery in &values.subqueries[subqueries.clone()] {
                    let value = SubqueryRun::new(subquery).value(frame, context).await?;
                    frame[subquery.slot] = value;
                }
                let value = expr.eval(frame, &context.eval)?;
                self.maker.set(&mut progress.row, column, value, progress.terms, &context.eval)?;
                if let Some((_, slot)) = values.reads.iter().find(|(read, _)| *read == column) {
                    frame[*slot] = match progress.row.value(column) {
                        // The number that it will be is not known yet.
                        Value::Null if self.maker.auto_increment == Some(column) => Value::Int(0),
                        value => value.clone(),
                    };
                }
            }
            self.insert_row(progress, context).await?;
            if number % BATCH_ROWS == BATCH_ROWS - 1 {
                context.check_cancelled().await?;
            }
        }
        Ok(())
    }

    async fn insert_literals(
        &self,
        values: &ValuesPlan,
        progress: &mut Progress,
        context: &mut ExecContext<'_>,
    ) -> Result<(), SqlError> {
        for number in 0..values.literals.len() {
            memory::check()?;
            progress.begin_row();
            let (row, terms, eval) = (&mut progress.row, progress.terms, &context.eval);
            let mut columns = self.columns.iter();
            values.literals.each(number, |literal| {
                let Some(&column) = columns.next() else { return Ok(()) };
                match values.value(literal, self.maker.column(column), eval)? {
                    None => self.maker.set_default(row, column, terms, eval),
                    Some(value) => self.maker.set(row, column, value, terms, eval),
                }
            })?;
            self.insert_row(progress, context).await?;
            if number % BATCH_ROWS == BATCH_ROWS - 1 {
                context.check_cancelled().await?;
            }
        }
        Ok(())
    }
}

impl ValuesPlan {
    /// A literal on its way to a column; `None` is DEFAULT. Most are integers and texts, which are the same for nearly all columns: those need no
    /// expression.
    fn value(
        &self,
        literal: LiteralValue<'_>,
        column: &ColumnDef,
        eval: &EvalContext<'_>,
    ) -> Result<Option<Value>, SqlError> {
        let takes_text = || {
            let is_plain = self.collation != CollationId::BINARY || !column.ty.is_string();
            is_plain && !column.ty.is_binary() && !takes_numbers(column)
        };
        let expr = match literal {
            LiteralValue::Default => return Ok(None),
            LiteralValue::Number(digits) => match short_integer(digits.as_bytes()).filter(|_| !column.ty.is_binary()) {
                Some(number) => return Ok(Some(Value::Int(number))),
                None => build::number_literal(digits)?,
            },
            LiteralValue::Text(text) if takes_text() => {
                return Ok(Some(Value::Str(Bytes::copy_from_slice(text.as_bytes()))));
            }
            LiteralValue::Text(text) => build::string_literal(&text, self.collation),
            LiteralValue::Negative(digits) => match short_integer(digits.as_bytes()).filter(|_| !column.ty.is_binary())
            {
                Some(number) => return Ok(Some(Value::Int(-number))),
                None => literal::negative_number(digits)?,
            },
            LiteralValue::Binary(text) => literal::binary_text(&text, self.client)?,
            LiteralValue::BinaryDigits(digits) => literal::binary_bytes(hex_bytes(&digits))?,
            LiteralValue::Literal(literal) => literal::plain(&literal, self.collation)?,
        };
        for_column(expr, column).eval(&[], eval).map(Some)
    }
}
