//! How many syncs at once, and how long to wait for company: by the measured sync time.
//!
//! | sync (write and sync of a group) | active sessions | what is done |
//! |---|---|---|
//! | shorter than [`SLOW_SYNC`] | any | one at a time, never a wait |
//! | longer | up to [`GATHER_SESSIONS_MAX`] | one at a time; before it, waits for as many as were active, [`GATHER_SHARE`] of a sync at most |
//! | longer | more | up to [`OVERLAP_DEPTH`] at once, evenly spaced |
//!
//! One sync at a time splits a closed loop of clients in two halves that take turns; with 1 ms syncs and 8 clients
//! gathering measured 5.1k commits/s against 3.1k for neither and 4.8k for three at once, with 64 clients 23k, 22.5k
//! and 30.6k. On fast storage (0.15 ms) gathering costs 4-7 % and overlap 2-8 %, so neither is done there.
//!
//! A sync's time is what the disk takes, not what the log thread waits for a processor before it goes on: with all processors
//! busy half of the measured time may be that, and waiting for company would cost more of them. So it is a low quantile of
//! the measured times ([`low_quantile`]).
//!
//! A disk that works off syncs one after the other gains nothing by overlap: when overlapped syncs take much longer
//! than single ones did, overlap rests for a while.

use std::time::Duration;

use super::settings::Overlap;

/// Syncs below this are short. Fast storage was 0.1-0.2 ms, a cloud volume is 0.5-2 ms.
pub(super) const SLOW_SYNC: Duration = Duration::from_micros(300);
/// Up to so many active sessions one sync takes them all if it waits a little.
const GATHER_SESSIONS_MAX: usize = 16;
/// The part of a sync's duration to wait at most: 1/5.
const GATHER_SHARE: u32 = 5;
/// Syncs at once.
const OVERLAP_DEPTH: usize = 3;
/// Overlapped syncs that take longer than single ones by this factor show a disk that serialises them.
const SERIAL_FACTOR: f64 = 1.8;
/// For so many groups overlap rests then.
const REST_GROUPS: u32 = 1000;

/// What to do for the next group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Groups that may be in flight, this one included.
    pub(super) depth: usize,
    /// The least time between the starts of two groups in flight.
    pub(super) spacing: Duration,
    /// Wait until so many are queued, and how long at most.
    pub(super) gather: Option<(usize, Duration)>,
}

/// Measurements of the last groups.
#[derive(Debug, Default)]
pub(super) struct Tuner {
    /// In seconds; 0 before the first.
    single: f64,
    overlapped: f64,
    /// Sessions that were committing when the last group was done.
    active: usize,
    rest: u32,
}

/// Follows the faster ones of the measured times (about one in ten is below): a shorter one counts at once, a longer one little,
/// and one that stands out (a disk that stops for 10 ms now and then) hardly more.
fn low_quantile(old: f64, new: f64) -> f64 {
    match new < old {
        _ if old == 0.0 => new,
        true => old + (new - old) / 4.0,
        false => old + (new.min(old * 4.0) - old) / 64.0,
    }
}

impl Tuner {
    /// A group is durable: how long that took, whether others were in flight, and how many sessions were committing.
    pub(super) fn synced(&mut self, duration: Duration, was_overlapped: bool, active: usize) {
        let seconds = duration.as_secs_f64();
        if was_overlapped {
            self.overlapped = low_quantile(self.overlapped, seconds);
            if self.single > 0.0 && self.overlapped > self.single * SERIAL_FACTOR {
                (self.rest, self.overlapped) = (REST_GROUPS, 0.0);
            }
        } else {
            self.single = low_quantile(self.single, seconds);
        }
        self.rest = self.rest.saturating_sub(1);
        self.active = active;
    }

    /// Whether a session may block for a sync.
    pub(super) fn is_short(&self) -> bool {
        self.single > 0.0 && self.single < SLOW_SYNC.as_secs_f64()
    }

    /// What to do next. `committing` is the number of sessions queued or in flight now.
    pub(super) fn plan(&self, overlap: Overlap, committing: usize) -> Plan {
        let sync = Duration::from_secs_f64(self.single);
        let plain = Plan { depth: 1, spacing: Duration::ZERO, gather: None };
        match overlap {
            Overlap::Fixed(depth) => Plan { depth: usize::from(depth.max(1)), ..plain },
            Overlap::Auto if sync < SLOW_SYNC => plain,
            Overlap::Auto if self.active.max(committing) > GATHER_SESSIONS_MAX && self.rest == 0 => {
                Plan { depth: OVERLAP_DEPTH, spacing: sync / OVERLAP_DEPTH as u32, ..plain }
            }
            Overlap::Auto => Plan { gather: Some((self.active, sync / GATHER_SHARE)), ..plain },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuner(micros: u64, active: usize) -> Tuner {
        let mut tuner = Tuner::default();
        tuner.synced(Duration::from_micros(micros), false, active);
        tuner
    }

    #[test]
    fn by_sync_time_and_sessions() {
        let plain = Plan { depth: 1, spacing: Duration::ZERO, gather: None };
        assert_eq!(Tuner::default().plan(Overlap::Auto, 5), plain, "nothing measured yet");
        assert!(!Tuner::default().is_short());
        assert_eq!(tuner(150, 200).plan(Overlap::Auto, 200), plain);
        assert!(tuner(150, 1).is_short() && !tuner(1100, 1).is_short());
        assert_eq!(tuner(1000, 8).plan(Overlap::Auto, 3).gather, Some((8, Duration::from_micros(200))));
        assert_eq!(tuner(1000, 64).plan(Overlap::Auto, 30).depth, 3);
        assert_eq!(tuner(100, 64).plan(Overlap::Fixed(2), 30).depth, 2);
    }

    /// Every third sync waits for a processor; then the disk itself becomes slow.
    #[test]
    fn busy_processors_do_not_make_a_slow_disk() {
        let mut tuner = tuner(200, 8);
        (0..300).for_each(|n| tuner.synced(Duration::from_micros(if n % 3 == 0 { 900 } else { 210 }), false, 8));
        assert!(tuner.is_short());
        (0..100).for_each(|_| tuner.synced(Duration::from_micros(1000), false, 8));
        assert!(!tuner.is_short());
    }

    #[test]
    fn a_disk_that_serialises_is_left_alone_for_a_while() {
        let mut tuner = tuner(1000, 64);
        (0..20).for_each(|_| tuner.synced(Duration::from_micros(3000), true, 64));
        assert_eq!(tuner.plan(Overlap::Auto, 64).depth, 1);
        (0..REST_GROUPS).for_each(|_| tuner.synced(Duration::from_micros(1000), false, 64));
        assert_eq!(tuner.plan(Overlap::Auto, 64).depth, 3);
    }
}
