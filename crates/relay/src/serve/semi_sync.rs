//! The stream of a semi-synchronous replica: each event has a header that says whether it is to be acknowledged.
//!
//! A replica that has asked for such headers needs them, whether we want acknowledgements or not. If we do, the last event that is sent
//! before nothing else can be sent is the one that asks; so each event is held back until it is known what follows it.

use std::collections::VecDeque;
use std::sync::Arc;

use base::SqlError;
use repl::source::fatal;
use wire::replication::SemiSyncAck;

use super::link::Link;
use crate::acks::{Acks, Place};

/// Memory that is kept for the next event.
const HELD_KEPT: usize = 128 << 10;

/// See the module.
pub(super) struct SemiSync {
    acks: Arc<Acks>,
    connection: u32,
    /// An event that is not sent yet, and where it ends.
    held: Vec<u8>,
    held_end: (String, Place),
    /// What was asked for and is not acknowledged, in its order.
    asked: VecDeque<(String, Place)>,
    /// The replica has all before this once it has acknowledged what it was asked for.
    at: Place,
}

impl SemiSync {
    /// For a replica that has all before a place.
    pub(super) fn new(acks: Arc<Acks>, connection: u32, at: Place) -> Self {
        let (held, asked) = (Vec::new(), VecDeque::new());
        let mut stream = SemiSync { acks, connection, held, held_end: Default::default(), asked, at };
        stream.is_at(at);
        stream
    }

    /// Sends an event that is of no file.
    pub(super) fn artificial(&mut self, link: &mut Link, event: &[u8]) {
        self.let_go(link, false);
        link.semi_sync_event(event, false);
    }

    /// Sends an event that ends there, or holds it back until the next.
    pub(super) fn event(&mut self, link: &mut Link, event: &[u8], file: &str, end: Place) {
        if self.acks.wanted() == 0 {
            return link.semi_sync_event(event, false);
        }
        self.let_go(link, false);
        self.held.extend_from_slice(event);
        self.held_end.1 = end;
        if self.held_end.0 != file {
            file.clone_into(&mut self.held_end.0);
        }
    }

    /// Nothing is sent of what comes next, up to this place, or there is nothing.
    pub(super) fn pause(&mut self, link: &mut Link, at: Place) {
        self.let_go(link, true);
        self.is_at(at);
    }

    fn let_go(&mut self, link: &mut Link, asks: bool) {
        if self.held.is_empty() {
            return;
        }
        link.semi_sync_event(&self.held, asks);
        self.held.clear();
        self.held.shrink_to(HELD_KEPT);
        if asks {
            self.asked.push_back(self.held_end.clone());
        }
    }

    fn is_at(&mut self, at: Place) {
        self.at = at;
        if self.acks.wanted() > 0 && self.asked.is_empty() {
            self.acks.reached(self.connection, at);
        }
    }

    /// Takes an acknowledgement.
    pub(super) fn said(&mut self, packet: &[u8]) -> Result<(), SqlError> {
        let ack = SemiSyncAck::decode(packet).map_err(|error| fatal(error.to_string()))?;
        // Events say where they end modulo 4 GiB, and so may their replica.
        let is_it = |(file, place): &(String, Place)| *file == ack.file && place.offset as u32 == ack.position as u32;
        let Some(found) = self.asked.iter().position(is_it) else {
            return Err(fatal(format!(
                "Replica acknowledged {}:{}, which it was not asked for",
                ack.file, ack.position
            )));
        };
        let last = self.asked.drain(..=found).next_back();
        if let Some((_, place)) = last {
            let all = self.asked.is_empty() && self.held.is_empty();
            self.acks.reached(self.connection, if all { self.at } else { place });
        }
        Ok(())
    }
}

impl Drop for SemiSync {
    fn drop(&mut self) {
        self.acks.left(self.connection);
    }
}
