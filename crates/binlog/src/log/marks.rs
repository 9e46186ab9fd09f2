//! What was durable when a group was written, in the log itself: how recovery tells a lost write from damage.
//!
//! A hole in front of valid transactions is either a group that was not synced when the power failed, while later groups were
//! written already; nobody was told of it, and all from there on goes. Or it had been durable, and something happened to it since;
//! then nothing may go. So the first GTID event of each group (with a tag or without), or PREVIOUS_GTIDS where a group begins a file, says how many groups
//! before it were not yet known to be durable:
//!
//! ```text
//! flags of the event's header    0x0400 × (n + 1)    n groups before this one may be missing, everything before those is there
//!                                0                   not the first of its group, or from a server that does not say it
//! ```
//! MySQL and MariaDB use none of these three bits.
//!
//! # Invariants
//! - A mark never says more than is true: what it calls durable was synced before its group was written. Where groups are left
//!   unsynced ([`super::unsynced`]) marks say nothing, and recovery does not look at them.
//! - They are of the server that wrote the group: a follower writes its source's marks with other groups, and ignores them.

use std::collections::VecDeque;

use base::LogPosition;

use super::options::LogOptions;
use super::scan::{Window, find_event};
use crate::error::Result;
use crate::event::{self, EventHeader, EventType, FLAGS_OFFSET, LENGTH_OFFSET};

const UNIT: u16 = 0x0400;
const BITS: u16 = 0x1c00;

/// The writer's half: groups that were handed out and are not known to be durable.
#[derive(Debug, Default)]
pub(super) struct Unsynced(VecDeque<LogPosition>);

impl Unsynced {
    /// A group is complete: marks the event at the beginning of `event`, which begins at `offset` of the file.
    pub(super) fn mark(&mut self, event: &mut [u8], offset: u64, durable_end: LogPosition) {
        while self.0.front().is_some_and(|end| *end <= durable_end) {
            self.0.pop_front();
        }
        let flags = (self.0.len() as u16 + 1).saturating_mul(UNIT);
        if flags & !BITS != 0 {
            return;
        }
        let length = &event[LENGTH_OFFSET..LENGTH_OFFSET + 4];
        let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize;
        event[FLAGS_OFFSET + 1] |= flags.to_le_bytes()[1];
        event::finish_at(&mut event[..length], offset);
    }

    /// A group that ends here is handed out.
    pub(super) fn push(&mut self, end: LogPosition) {
        self.0.push_back(end);
    }
}

fn of(header: &EventHeader) -> Option<u16> {
    (header.flags & BITS).checked_sub(UNIT).map(|rest| rest / UNIT)
}

/// Recovery's half: looks behind a hole for a group that was written when the hole was durable.
#[derive(Debug)]
pub(super) struct Proof {
    /// The number of the server that wrote the end of the log.
    writer_id: u32,
    /// Groups that begin behind the hole, so far.
    seen: u16,
}

impl Proof {
    /// By groups of the server with this number.
    pub(super) fn of(writer_id: u32) -> Self {
        Proof { writer_id, seen: 0 }
    }

    /// Looks from an offset of a file on, which holds the hole or is behind it; where such a group begins.
    pub(super) async fn find(
        &mut self,
        window: &mut Window,
        from: u64,
        has_hole: bool,
        options: &LogOptions,
    ) -> Result<Option<u64>> {
        let mut from = from;
        let may_have_mark = |event_type: EventType| event_type.is_gtid() || event_type == EventType::PREVIOUS_GTIDS;
        while let Some((at, header)) = find_event(window, from, options, may_have_mark).await? {
            from = at + u64::from(header.event_length);
            let Some(unsynced) = of(&header).filter(|_| header.server_id == self.writer_id) else { continue };
            // This group has the whole head of its file, and the hole may be in that.
            if has_hole && header.event_type == EventType::PREVIOUS_GTIDS {
                continue;
            }
            if self.seen >= unsynced {
                return Ok(Some(at));
            }
            self.seen += 1;
        }
        Ok(None)
    }
}
