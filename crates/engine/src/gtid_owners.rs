//! Whoever has chosen a GTID (`gtid_next`, a replica) owns it until its transaction has ended: a second one with the same GTID
//! waits, and then finds it executed or may try itself.
//!
//! # Invariant
//! - No GTID is in the log twice: who owns one has seen, while it owned it, that it was not executed.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use base::{Cancel, Gtid, SqlError, codes};
use binlog::{GNO_MAX, MariaGtidName, OWN_GNO_MAX};
use event_listener::Event;
use futures_lite::future;
use parking_lot::Mutex;

use crate::commit::Barrier;
use crate::core::Core;
use crate::engine::Engine;
use crate::error::{EngineError, Result};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct GtidOwners {
    /// With the connection that owns it; 0 for a replica.
    owned: Mutex<BTreeMap<Gtid, u32>>,
    released: Event,
}

impl GtidOwners {
    /// Whether nobody had it.
    fn take(&self, gtid: Gtid, connection: u32) -> bool {
        match self.owned.lock().entry(gtid) {
            Entry::Occupied(_) => false,
            Entry::Vacant(free) => {
                free.insert(connection);
                true
            }
        }
    }
}

/// A GTID that nobody else commits until this is dropped.
pub struct OwnedGtid {
    gtid: Gtid,
    core: Arc<Core>,
}

impl OwnedGtid {
    /// Which one it is.
    pub fn gtid(&self) -> Gtid {
        self.gtid
    }
}

impl std::fmt::Debug for OwnedGtid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OwnedGtid({})", self.gtid)
    }
}

impl Drop for OwnedGtid {
    fn drop(&mut self) {
        let mut owned = self.core.gtid_owners.owned.lock();
        owned.remove(&self.gtid);
        let is_of_tag = |other: &Gtid| (other.uuid, other.tag) == (self.gtid.uuid, self.gtid.tag);
        if self.core.log.numbers_under(self.gtid.uuid) && !owned.keys().any(is_of_tag) {
            self.core.log.forget_numbers(self.gtid.uuid, self.gtid.tag);
        }
        drop(owned);
        self.core.gtid_owners.released.notify(usize::MAX);
    }
}

/// 1775: this server's own numbers would come to their end.
pub fn numbers_exhausted() -> SqlError {
    let message = "Impossible to generate GTID: the integer component reached the maximum value. Restart the server with a new \
                   server_uuid.";
    SqlError::new(codes::GNO_EXHAUSTED, message)
}

/// What the log takes has to be read again by whoever reads it.
fn check_number(gtid: Gtid) -> Result<()> {
    let name = MariaGtidName::of(gtid);
    let max = if name.is_some() { OWN_GNO_MAX } else { GNO_MAX };
    if (1..=max).contains(&gtid.gno) {
        return Ok(());
    }
    let text = name.map_or_else(|| gtid.to_string(), |name| name.to_string());
    let message = format!("Malformed GTID specification '{text}': its number is not one of 1 to {max}.");
    Err(EngineError::Sql(SqlError::new(codes::MALFORMED_GTID_SPECIFICATION, message)))
}

impl Engine {
    /// Waits until nobody owns a GTID, and owns it then, for the connection of that number; `None` if it is executed.
    ///
    /// # Errors
    /// 1774 for one whose number no GTID has, or no domain that goes on here; 1775 for one of this server's own whose number leaves the
    /// log too few of them.
    pub async fn own_gtid(&self, gtid: Gtid, connection: u32, cancel: &Cancel) -> Result<Option<OwnedGtid>> {
        check_number(gtid)?;
        let core = self.core();
        loop {
            let released = core.gtid_owners.released.listen();
            if core.gtid_owners.take(gtid, connection) {
                let owned = OwnedGtid { gtid, core: core.clone() };
                self.keep_number(gtid).await?;
                return Ok((!self.has_executed(gtid)).then_some(owned));
            }
            let released = async {
                released.await;
                Ok(())
            };
            future::or(released, async { Err(cancel.cancelled().await) }).await.map_err(EngineError::Cancelled)?;
        }
    }

    /// Every GTID that somebody owns, in order, with the number of the connection.
    pub fn owned_gtids(&self) -> Vec<(Gtid, u32)> {
        self.core().gtid_owners.owned.lock().iter().map(|(gtid, connection)| (*gtid, *connection)).collect()
    }

    /// A number of this server's own that was chosen is given to nobody else.
    async fn keep_number(&self, gtid: Gtid) -> Result<()> {
        let core = self.core();
        if !core.log.numbers_under(gtid.uuid) || self.has_executed(gtid) {
            return Ok(());
        }
        if gtid.gno > OWN_GNO_MAX {
            return Err(EngineError::Sql(numbers_exhausted()));
        }
        core.log.choose_number(gtid);
        // Whoever was being placed meanwhile may have got just this one; then it is executed behind the barrier.
        if let Some(pipeline) = self.commits() {
            pipeline.barrier(Barrier::Published).await?;
        }
        Ok(())
    }

    /// Whether a GTID has its place in the log, or is of a state that was taken from elsewhere.
    pub fn has_executed(&self, gtid: Gtid) -> bool {
        self.core().order.lock().gtids.contains(gtid) || self.core().log.has_executed(gtid)
    }
}
