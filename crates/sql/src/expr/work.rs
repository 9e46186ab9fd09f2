//! Calls that take long: what a statement computes without waiting for anything is counted, so that it is looked now and then whether it has to end,
//! and so that the other sessions of its thread go on meanwhile.
//!
//! A step is a byte or so that is gone over once. A function whose steps are not bounded by the length of its arguments counts them
//! with [`EvalContext::worked`]; arguments that are long count by themselves, and so does each expression of the tree ([`EvalContext::visited`]): a
//! batch of rows is bounded, and pairs of its rows, but what a condition asks of each is not.

use std::cell::Cell;

use base::SqlError;

use super::context::{EvalContext, interrupted};

/// So many steps, some milliseconds of them, are taken without a look.
const UNWATCHED: u64 = 2 << 20;
/// A constant that takes more is computed when the statement is executed, where it can be ended.
const WHILE_BOUND: u64 = 64 << 20;

/// Steps of an expression of the tree, without those of its arguments: it takes some tens of nanoseconds.
const VISIT: u64 = 32;

thread_local! {
    /// Steps since the last look, or since what is executed was begun.
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

impl EvalContext<'_> {
    /// Counts an expression that is evaluated for a row. While a statement is bound, each is evaluated once.
    ///
    /// # Errors
    /// As [`EvalContext::worked`].
    #[inline]
    pub(crate) fn visited(&self) -> Result<(), SqlError> {
        if self.watch.is_some() { self.worked(VISIT) } else { Ok(()) }
    }

    /// Counts steps.
    ///
    /// # Errors
    /// 1317, 3024, 1969, 4082 if the statement has to end.
    #[inline]
    pub(crate) fn worked(&self, steps: u64) -> Result<(), SqlError> {
        let steps = STEPS.get().saturating_add(steps);
        STEPS.set(steps);
        if steps > UNWATCHED { self.look(steps) } else { Ok(()) }
    }

    #[cold]
    fn look(&self, steps: u64) -> Result<(), SqlError> {
        match &self.watch {
            None if steps > WHILE_BOUND => Err(interrupted()),
            None => Ok(()),
            Some(watch) => {
                STEPS.set(0);
                self.check_cancelled()?;
                watch.spawner.step_aside();
                Ok(())
            }
        }
    }
}

/// A statement is begun, or a constant that is computed while one is bound: what others have done before is not its own.
pub(crate) fn begin() {
    STEPS.set(0);
}
