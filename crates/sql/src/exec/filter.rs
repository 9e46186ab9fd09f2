//! The small operators: one row, no row, conditions, LIMIT.

use base::{SqlError, codes};
use io::BoxFuture;
use types::Value;

use crate::bind::tree::Limit;
use crate::exec::batch::RowBatch;
use crate::exec::context::ExecContext;
use crate::exec::operator::{BoxedOperator, Operator, passes};
use crate::expr::Expr;

/// A SELECT without FROM has one row.
#[derive(Default)]
pub(crate) struct OneRow {
    seed: Option<Vec<Value>>,
}

impl Operator for OneRow {
    fn open(&mut self, seed: &[Value]) {
        self.seed = Some(seed.to_vec());
    }

    fn next_batch<'a>(
        &'a mut self,
        _context: &'a mut ExecContext<'_>,
        out: &'a mut RowBatch,
        _want: usize,
    ) -> BoxFuture<'a, Result<bool, SqlError>> {
        if let Some(mut seed) = self.seed.take() {
            out.push_owned(&mut seed);
        }
        Box::pin(std::future::ready(Ok(false)))
    }
}

/// What the planner has found out to be empty.
pub(crate) struct EmptyRows;

impl Operator for EmptyRows {
    fn open(&mut self, _seed: &[Value]) {}

    fn next_batch<'a>(
        &'a mut self,
        _context: &'a mut ExecContext<'_>,
        _out: &'a mut RowBatch,
        _want: usize,
    ) -> BoxFuture<'a, Result<bool, SqlError>> {
        Box::pin(std::future::ready(Ok(false)))
    }
}

/// Drops the rows for which a condition does not hold.
pub(crate) struct FilterRows<'p> {
    input: BoxedOperator<'p>,
    conditions: &'p [Expr],
}

impl<'p> FilterRows<'p> {
    pub(crate) fn new(input: BoxedOperator<'p>, conditions: &'p [Expr]) -> Self {
        FilterRows { input, conditions }
    }
}

impl Operator for FilterRows<'_> {
    fn open(&mut self, seed: &[Value]) {
        self.input.open(seed);
    }

    fn next_batch<'a>(
        &'a mut self,
        context: &'a mut ExecContext<'_>,
        out: &'a mut RowBatch,
        want: usize,
    ) -> BoxFuture<'a, Result<bool, SqlError>> {
        Box::pin(async move {
            let before = out.len();
            let more = self.input.next_batch(context, out, want).await?;
            out.retain_from(before, |row| passes(self.conditions, row, context))?;
            Ok(more)
        })
    }

    fn keep_only(&mut self, slot: usize, values: &mut dyn Iterator<Item = &Value>) {
        self.input.keep_only(slot, values);
    }
}

/// LIMIT and OFFSET.
pub(crate) struct LimitRows<'p> {
    input: BoxedOperator<'p>,
    limit: &'p Limit,
    count_found_rows: bool,
    /// Rows to skip and to give, once they are known.
    left: Option<(u64, u64)>,
}

impl<'p> LimitRows<'p> {
    pub(crate) fn new(input: BoxedOperator<'p>, limit: &'p Limit, count_found_rows: bool) -> Self {
        LimitRows { input, limit, count_found_rows, left: None }
    }
}

impl Operator for LimitRows<'_> {
    fn open(&mut self, seed: &[Value]) {
        self.input.open(seed);
        self.left = None;
    }

    fn next_batch<'a>(
        &'a mut self,
        context: &'a mut ExecContext<'_>,
        out: &'a mut RowBatch,
        want: usize,
    ) -> BoxFuture<'a, Result<bool, SqlError>> {
        Box::pin(async move {
            let (mut skip, mut give) = match self.left {
                Some(left) => left,
                None => limit_numbers(self.limit, context)?,
            };
            if give == 0 {
                self.left = Some((skip, give));
                return self.count_rest(context, out).await;
            }
            let before = out.len();
            let ask = usize::try_from(skip.saturating_add(give)).unwrap_or(usize::MAX).min(want);
            let more = self.input.next_batch(context, out, ask).await?;
            if self.count_found_rows {
                context.found_rows += (out.len() - before) as u64;
            }
            let skipped = skip.min((out.len() - before) as u64);
            out.remove_range(before, skipped as usize);
            skip -= skipped;
            give -= (out.len() - before) as u64;
            self.left = Some((skip, give));
            Ok(more && (give > 0 || self.count_found_rows))
        })
    }
}

impl LimitRows<'_> {
    /// SQL_CALC_FOUND_ROWS: runs to the end for the number alone.
    async fn count_rest(&mut self, context: &mut ExecContext<'_>, out: &RowBatch) -> Result<bool, SqlError> {
        if !self.count_found_rows {
            return Ok(false);
        }
        let mut rest = RowBatch::new(out.width());
        loop {
            let more = self.input.next_batch(context, &mut rest, crate::exec::batch::BATCH_ROWS).await?;
            context.found_rows += rest.len() as u64;
            rest.clear();
            if !more {
                return Ok(false);
            }
        }
    }
}

/// OFFSET and LIMIT as numbers.
pub(crate) fn limit_numbers(limit: &Limit, context: &ExecContext<'_>) -> Result<(u64, u64), SqlError> {
    let number = |expr: &Option<Expr>, default| match expr {
        None => Ok(default),
        Some(expr) => match expr.eval(&[], &context.eval)? {
            Value::Int(n) if n >= 0 => Ok(n as u64),
            Value::UInt(n) => Ok(n),
            _ => Err(SqlError::new(codes::WRONG_ARGUMENTS, "Incorrect arguments to LIMIT")),
        },
    };
    Ok((number(&limit.offset, 0)?, number(&limit.count, u64::MAX)?))
}
