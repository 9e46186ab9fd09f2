//! What must be true after a recovery.

use std::sync::Arc;

use engine::{Engine, SessionHandle, TxnOptions};
use io::sim::SimWorld;

use crate::model::{History, State};
use crate::workload::{Known, state_of};

/// Compares the recovered engine with the log, and both with what clients know.
pub(crate) async fn check(engine: &Arc<Engine>, world: &SimWorld, known: &Known) -> Result<History, String> {
    let history = History::read(engine.log()).await?;
    let visible = engine.visible().0.0;
    let in_log = history.states.len() as u64 - 1;
    if visible != in_log {
        return Err(format!("the log has {in_log} transactions, the engine is at {visible}"));
    }
    for (id, told) in &known.acknowledged {
        match history.numbers.get(id) {
            None => return Err(format!("transaction {id} was acknowledged as number {told} and is lost")),
            Some(number) if number != told => {
                return Err(format!("transaction {id} was told number {told} and is number {number} in the log"));
            }
            Some(_) => {}
        }
    }
    if let Some(id) = history.numbers.keys().find(|id| !known.attempted.contains_key(id)) {
        return Err(format!("transaction {id} is in the log, and nobody wrote it"));
    }
    for (number, state) in &known.seen {
        let expected = history
            .states
            .get(*number as usize)
            .ok_or_else(|| format!("a reader saw the state at {number}, and the log has only {in_log} transactions"))?;
        same(&format!("what a reader saw at {number}"), state, expected)?;
    }
    let mut transaction = engine.begin(TxnOptions::new(SessionHandle::internal()));
    let state = state_of(&mut transaction, world).await.map_err(|error| format!("reading everything: {error}"))?;
    same("the recovered engine", &state, history.last())?;
    Ok(history)
}

pub(crate) fn same(what: &str, found: &State, expected: &State) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    let missing: Vec<_> = expected.ledger.keys().filter(|id| !found.ledger.contains_key(id)).collect();
    let extra: Vec<_> = found.ledger.keys().filter(|id| !expected.ledger.contains_key(id)).collect();
    let cells: Vec<_> = (0..64).filter(|cell| found.cells.get(cell) != expected.cells.get(cell)).collect();
    Err(format!(
        "{what} is not what the log says: ledger lacks {missing:?}, has also {extra:?}; cells {cells:?} differ:\n\
         found    {:?}\nexpected {:?}",
        found.cells, expected.cells
    ))
}
