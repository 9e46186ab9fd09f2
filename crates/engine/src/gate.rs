//! [`CommitGate`]: whoever commits passes it; who wants nothing to be committed for a while holds it shut
//! (`FLUSH TABLES WITH READ LOCK`, a server that changes its role).
//!
//! Passing costs two counts on the way of each commit. A commit that finds the gate shut waits before it has done anything
//! that others could see, with its row locks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{Cancel, Cancelled};
use event_listener::{Event, EventListener};
use futures_lite::future;

use crate::turn::Turn;

/// See the module.
#[derive(Debug, Default)]
pub struct CommitGate {
    passing: AtomicU64,
    /// How many of them are definitions, which may wait for the locks of transactions that want to pass.
    definitions: AtomicU64,
    /// Who holds the gate or waits until nobody is passing.
    holders: AtomicU64,
    /// Who holds it.
    held: AtomicU64,
    /// Of those who want to hold it: two at once would wake each other for ever.
    turn: Turn,
    /// For who wants to pass.
    opened: Event,
    /// For who wants to hold it. Apart from the other, or those who are turned away would wake each other.
    emptied: Event,
}

/// Who passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// A transaction, with its locks.
    Transaction,
    /// A definition, before it has any lock.
    Definition,
}

/// Somebody commits.
#[derive(Debug)]
pub struct Passing(Arc<CommitGate>, Passage);

/// Wants the gate shut.
struct Wish(Arc<CommitGate>);

/// The gate is shut until this is dropped.
pub struct CommitHold(Wish);

impl CommitGate {
    /// Waits until nobody holds the gate.
    pub async fn pass(self: &Arc<Self>, passage: Passage, cancel: &Cancel) -> Result<Passing, Cancelled> {
        loop {
            let passing = Passing::new(self, passage);
            if self.is_open_for(passage) {
                return Ok(passing);
            }
            drop(passing);
            let opened = self.opened.listen();
            if !self.is_open_for(passage) {
                wait(opened, cancel).await?;
            }
        }
    }

    /// While a holder waits for a definition, that may wait for a transaction: transactions must go on then.
    fn is_open_for(&self, passage: Passage) -> bool {
        if self.holders.load(Ordering::SeqCst) == 0 {
            return true;
        }
        let waits_for_definition = self.definitions.load(Ordering::SeqCst) > 0;
        passage == Passage::Transaction && waits_for_definition && self.held.load(Ordering::SeqCst) == 0
    }

    /// Shuts the gate, and waits until nobody is passing any more. Several may hold it at once.
    pub async fn hold(self: &Arc<Self>, cancel: &Cancel) -> Result<CommitHold, Cancelled> {
        self.holders.fetch_add(1, Ordering::SeqCst);
        let wish = Wish(self.clone());
        let _turn = future::or(async { Ok(self.turn.take().await) }, async { Err(cancel.cancelled().await) }).await?;
        loop {
            // Who passes counts itself and then looks whether the gate is held; we say that it is and then count.
            self.held.fetch_add(1, Ordering::SeqCst);
            if self.passing.load(Ordering::SeqCst) == 0 {
                return Ok(CommitHold(wish));
            }
            self.held.fetch_sub(1, Ordering::SeqCst);
            // Who was turned away in this moment may have to go on for our sake.
            if self.definitions.load(Ordering::SeqCst) > 0 {
                self.opened.notify(usize::MAX);
            }
            let emptied = self.emptied.listen();
            if self.passing.load(Ordering::SeqCst) > 0 {
                wait(emptied, cancel).await?;
            }
        }
    }
}

impl Passing {
    fn new(gate: &Arc<CommitGate>, passage: Passage) -> Self {
        if passage == Passage::Definition {
            gate.definitions.fetch_add(1, Ordering::SeqCst);
        }
        gate.passing.fetch_add(1, Ordering::SeqCst);
        Passing(gate.clone(), passage)
    }
}

async fn wait(changed: EventListener, cancel: &Cancel) -> Result<(), Cancelled> {
    let changed = async {
        changed.await;
        Ok(())
    };
    future::or(changed, async { Err(cancel.cancelled().await) }).await
}

impl Drop for Passing {
    fn drop(&mut self) {
        let was_last = self.0.passing.fetch_sub(1, Ordering::SeqCst) == 1;
        if self.1 == Passage::Definition {
            self.0.definitions.fetch_sub(1, Ordering::SeqCst);
        }
        if was_last && self.0.holders.load(Ordering::SeqCst) > 0 {
            self.0.emptied.notify(usize::MAX);
        }
    }
}

impl Drop for Wish {
    fn drop(&mut self) {
        self.0.holders.fetch_sub(1, Ordering::SeqCst);
        self.0.opened.notify(usize::MAX);
    }
}

impl Drop for CommitHold {
    /// Before the wish goes, which wakes those who wait.
    fn drop(&mut self) {
        self.0.0.held.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use io::sim::SimMachine;

    use super::*;

    #[test]
    fn nobody_passes_while_it_is_held() {
        for seed in 0..200 {
            let machine = SimMachine::new(seed);
            let (env, world) = (machine.env(), machine.world().clone());
            let gate = Arc::new(CommitGate::default());
            let inside = Arc::new(AtomicU64::new(0));
            for _ in 0..5 {
                let (env2, world, gate, inside) = (env.clone(), world.clone(), gate.clone(), inside.clone());
                env.spawner.spawn(
                    "commit",
                    Box::pin(async move {
                        loop {
                            env2.clock.sleep(Duration::from_micros(world.below(50))).await;
                            let _passing = gate.pass(Passage::Transaction, &Cancel::new()).await;
                            inside.fetch_add(1, Ordering::SeqCst);
                            env2.clock.sleep(Duration::from_micros(world.below(50))).await;
                            inside.fetch_sub(1, Ordering::SeqCst);
                        }
                    }),
                );
            }
            let holder = async {
                for _ in 0..20 {
                    env.clock.sleep(Duration::from_micros(world.below(200))).await;
                    let hold = gate.hold(&Cancel::new()).await.unwrap();
                    assert_eq!(inside.load(Ordering::SeqCst), 0, "seed {seed}");
                    env.clock.sleep(Duration::from_micros(world.below(200))).await;
                    assert_eq!(inside.load(Ordering::SeqCst), 0, "seed {seed}");
                    drop(hold);
                }
                // Who waits can be killed, and leaves nothing behind.
                let hold = gate.hold(&Cancel::new()).await.unwrap();
                let cancel = Cancel::new();
                cancel.cancel(Cancelled::Statement);
                assert_eq!(gate.pass(Passage::Transaction, &cancel).await.map(drop), Err(Cancelled::Statement));
                drop(hold);
                // A definition under way may wait for a transaction.
                let definition = gate.pass(Passage::Definition, &Cancel::new()).await.unwrap();
                let later = {
                    let gate = gate.clone();
                    async move { drop(gate.hold(&Cancel::new()).await) }
                };
                env.spawner.spawn("holder", Box::pin(later));
                env.clock.sleep(Duration::from_millis(1)).await;
                gate.pass(Passage::Transaction, &Cancel::new()).await.map(drop).unwrap();
                drop(definition);
                gate.pass(Passage::Definition, &Cancel::new()).await.map(drop).unwrap();
            };
            machine.run(holder).unwrap();
        }
    }
}
