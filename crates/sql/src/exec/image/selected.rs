//! Rows of a long scan for whose images conditions hold, looked for by several tasks.
//!
//! # Invariants
//! - What is kept here is bounded ([`Cut::in_order`]), allocated by one task and freed by another: no connection's memory has it.

use std::collections::VecDeque;
use std::sync::Arc;

use base::{SqlError, memory};
use engine::{Direction, KeyRange, ReaderPlace, Rows, Snapshot};
use io::Env;
use parking_lot::Mutex;

use crate::exec::context::ExecContext;
use crate::exec::image::ImageOf;
use crate::exec::image::conditions::ImageCondition;
use crate::exec::image::parts::{Cut, Next, PartWork, Parts};

/// Some rows in one piece, and the numbers of those that are wanted, of which there is one.
pub(crate) struct Selected {
    pub(crate) rows: Rows,
    pub(crate) wanted: Vec<u32>,
}

impl Drop for Selected {
    fn drop(&mut self) {
        let wanted = std::mem::take(&mut self.wanted);
        memory::uncounted(|| drop(wanted));
    }
}

/// How rows are selected.
struct Select {
    of: ImageOf,
    conditions: Vec<ImageCondition>,
    /// See [`crate::exec::operator::Operator::cut_off`].
    bound: Mutex<Option<Arc<ImageCondition>>>,
}

/// Those of a part.
#[derive(Default)]
struct PartRows {
    list: VecDeque<Selected>,
    scratch: Vec<u8>,
}

impl PartWork for Select {
    type Given = PartRows;

    fn take_in(&self, rows: &mut Rows, given: &mut PartRows) -> Result<bool, SqlError> {
        memory::uncounted(|| self.select(rows, given)).map(|()| true)
    }
}

impl Select {
    fn select(&self, rows: &mut Rows, given: &mut PartRows) -> Result<(), SqlError> {
        let bound = self.bound.lock().clone();
        let mut wanted = Vec::new();
        let conditions = bound.as_deref().into_iter().chain(&self.conditions);
        ImageCondition::select(conditions, &self.of, rows, &mut given.scratch, &mut wanted)?;
        if !wanted.is_empty() {
            given.list.push_back(Selected { rows: std::mem::take(rows), wanted });
        }
        Ok(())
    }
}

/// Rows of ranges of an index, in its order.
pub(crate) struct SelectedRows {
    parts: Parts<Select>,
    /// Of the part that was taken last.
    list: VecDeque<Selected>,
}

impl SelectedRows {
    /// Rows for which the conditions hold, of ranges with about so many `rows`.
    pub(crate) async fn new(
        (of, conditions): (ImageOf, Vec<ImageCondition>),
        (snapshot, ranges): (Snapshot, Vec<KeyRange>),
        (rows, direction): (f64, Direction),
        (places, env): (Vec<ReaderPlace>, &Env),
    ) -> Result<Self, SqlError> {
        let how = Cut::in_order(rows, places.len(), direction);
        let index = of.index;
        let select = Select { of, conditions, bound: Mutex::new(None) };
        let parts = Parts::new(select, snapshot, (index, ranges), how, (places, env)).await?;
        Ok(SelectedRows { parts, list: VecDeque::new() })
    }

    /// Some more of them; none at the end.
    pub(crate) async fn next(&mut self, context: &ExecContext<'_>) -> Result<Option<Selected>, SqlError> {
        loop {
            if let Some(selected) = self.list.pop_front() {
                return Ok(Some(selected));
            }
            match self.parts.next(context).await? {
                Next::Part(part) => {
                    let PartRows { list, scratch } = part;
                    let before = std::mem::replace(&mut self.list, list);
                    memory::uncounted(|| drop((before, scratch)));
                }
                Next::End => return Ok(None),
                Next::Impossible => return Err(SqlError::unknown("a selection that is none")),
            }
        }
    }

    /// From now on also this is asked of rows.
    pub(crate) fn bound(&self, condition: ImageCondition) {
        *self.parts.work().bound.lock() = Some(Arc::new(condition));
    }
}
