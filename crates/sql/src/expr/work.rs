//! Calls that take long: what a statement computes without waiting for anything is counted, so that it is looked now and then whether it has to end,
//! and so that the other sessions of its thread go on meanwhile.
//!
//! A step is a byte or so that is gone over once. A function whose steps are not bounded by the length of its arguments counts them
//! with [`EvalContext::worked`]; arguments that are long count by themselves.

use std::cell::Cell;

use base::SqlError;

use super::context::{EvalContext, interrupted};

/// So many steps, some milliseconds of them, are taken without a look.
const UNWATCHED: u64 = 2 << 20;
/// A constant that takes more is computed when the statement is executed, where it can be ended.
const WHILE_BOUND: u64 = 64 << 20;

thread_local! {
    /// Steps since the last look, or since the constant that is computed while a statement is bound was begun.
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

impl EvalContext<'_> {
    /// Counts steps.
    ///
    /// # Errors
    /// 1317, 3024, 1969, 4082 if the statement has to end.
    pub(crate) fn worked(&self, steps: u64) -> Result<(), SqlError> {
        let steps = STEPS.get().saturating_add(steps);
        STEPS.set(steps);
        match &self.watch {
            None if steps > WHILE_BOUND => Err(interrupted()),
            Some(watch) if steps > UNWATCHED => {
                STEPS.set(0);
                self.check_cancelled()?;
                watch.spawner.step_aside();
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// A constant is begun that is computed while a statement is bound.
pub(super) fn begin_constant() {
    STEPS.set(0);
}
