//! Room in the log, reserved before a transaction has its place.
//!
//! `free` is what the current segment has been filled with ahead of its end, less what is reserved. A transaction is
//! placed only under a reservation of at least its size, so nothing after the reservation can run out of space:
//!
//! # Invariants
//! - The current segment's zero-filled room holds all outstanding reservations, and [`SLACK`] for a ROTATE or STOP.
//! - The log moves on to a prepared segment only if that one holds them too; else the current one goes on growing.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::BinaryLog;

/// Room that is never given away: for a ROTATE or STOP at the end of each file, bytes.
pub(crate) const SLACK: u64 = 512;

/// The counter. May be negative for a moment after a segment was opened with little room.
#[derive(Debug, Default)]
pub(crate) struct Space(AtomicI64);

impl Space {
    pub(crate) fn free(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    pub(crate) fn set(&self, free: i64) {
        self.0.store(free, Ordering::SeqCst);
    }

    pub(crate) fn add(&self, bytes: u64) {
        self.0.fetch_add(bytes as i64, Ordering::SeqCst);
    }

    pub(crate) fn try_reserve(&self, bytes: u64) -> bool {
        let take = |free: i64| (free >= bytes as i64).then(|| free - bytes as i64);
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok()
    }

    /// Moves to a segment with `difference` more (or less) room, if all reservations still fit.
    pub(crate) fn try_switch(&self, difference: i64) -> bool {
        let fits = |free: i64| (free + difference >= 0).then_some(free + difference);
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fits).is_ok()
    }
}

/// Room for one transaction; given back when dropped unused.
#[derive(Debug)]
pub struct Reservation {
    log: Arc<BinaryLog>,
    bytes: u64,
}

impl Reservation {
    pub(crate) fn new(log: Arc<BinaryLog>, bytes: u64) -> Self {
        Reservation { log, bytes }
    }

    /// How many bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Uses `bytes` of it and gives back the rest.
    pub(crate) fn spend(mut self, bytes: u64) {
        assert!(bytes <= self.bytes, "a transaction of {bytes} bytes under a reservation of {}", self.bytes);
        self.bytes -= bytes;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.log.space.add(self.bytes);
    }
}
