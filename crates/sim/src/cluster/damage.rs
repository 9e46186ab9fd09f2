//! A disk of a cluster that does wrong without saying so, once in a seed, and what has to come of it.
//!
//! What cannot be found is not asked for: of the log, what happened to the last group before a crash (it looks like a group that was not
//! synced), and to the end of a follower's log (it is asked for again). Before a server starts on such a disk, the bytes are
//! put back.

use io::sim::{Damage, Damaged, SimWorld};

use super::node::Node;
use crate::model::History;

/// Bits that are flipped at once, at most.
const FLIPS_MAX: u64 = 8;
/// Where the in-use flag of a file is, which no checksum has.
const IN_USE_FLAG: u64 = 21;
/// Types of a transaction's first event, without and with a tag.
const GTIDS: [u8; 2] = [33, 42];
/// In the flags of an event's header: all before this group was durable when it was written (`docs/FORMAT.md`).
const ALL_DURABLE: u16 = 0x0400;
const MARKS: u16 = 0x1c00;

/// The damage of a seed.
#[derive(Default)]
pub(super) struct Damages {
    node: Option<usize>,
    /// All files that were ever seen damaged.
    paths: Vec<String>,
    /// Times that somebody found it.
    pub(super) found: u64,
    /// The server could not apply something in its log, for want of rows.
    lacks_rows: bool,
}

impl Damages {
    /// Does damage, if none was done yet.
    pub(super) fn begin(&mut self, nodes: &[Node], world: &SimWorld, files: &[&str]) {
        if self.node.is_some() {
            return;
        }
        let node = world.below(nodes.len() as u64) as usize;
        let damage = Damage::ALL[world.below(Damage::ALL.len() as u64) as usize];
        let times = if damage == Damage::FlippedBit { 1 + world.below(FLIPS_MAX) } else { 1 };
        for _ in 0..times {
            nodes[node].machine.damage(damage, files[world.below(files.len() as u64) as usize]);
        }
        self.node = Some(node);
    }

    fn note(&mut self, node: &Node) -> Vec<Damaged> {
        let damaged = node.machine.damaged();
        self.paths.extend(damaged.iter().map(|one| one.path.clone()).chain(node.machine.wronged()));
        damaged
    }

    /// A server is about to start. Whether it may leave out something of its log: a copy that is damaged in its last file ends there, and asks its
    /// source for the rest again.
    pub(super) fn before_start(&mut self, number: usize, node: &Node) -> bool {
        if self.node != Some(number) {
            return false;
        }
        let damaged = self.note(node);
        let mut logs = damaged.iter().filter(|one| one.path.starts_with("binlog.0"));
        if logs.clone().any(|one| !can_be_proved(node, one)) {
            node.machine.mend();
            return false;
        }
        node.source.is_some() && logs.next().is_some()
    }

    /// Whether a server may have ended because of it: it has to say so.
    pub(super) fn explain(&mut self, number: usize, node: &Node, why: &str) -> bool {
        if self.node != Some(number) {
            return false;
        }
        self.note(node);
        let is_named = |path: &String| {
            // Of the index, the file is named that it has and that is not there.
            let is_listed = path.starts_with("binlog.index") && why.contains("could not find log file");
            is_listed || why.contains(path.trim_end_matches(".new"))
        };
        let is_named = self.paths.iter().any(is_named);
        self.found += u64::from(is_named);
        self.lacks_rows |= why.contains("data.ctr");
        is_named
    }

    /// From here on, what is wrong is what came of it.
    pub(super) fn are_mended(&mut self) {
        self.lacks_rows = false;
    }

    /// Whether a server has lost rows, so that only its log can bring them back.
    pub(super) fn has_cost_rows(&mut self, number: usize, node: &Node) -> bool {
        if self.node != Some(number) {
            return false;
        }
        let has = match node.engine() {
            Some(engine) => !engine.damaged_indexes().is_empty(),
            None => !node.is_up() && std::mem::take(&mut self.lacks_rows),
        };
        self.found += u64::from(has);
        has
    }

    /// Before the bytes are put back: the log is read on every server; damage in it has to be found.
    pub(super) async fn look(&mut self, nodes: &[Node]) -> Result<(), String> {
        let Some(number) = self.node else { return Ok(()) };
        let node = &nodes[number];
        let damaged = self.note(node);
        let Some(engine) = node.engine() else { return Ok(()) };
        let log = engine.log();
        if log.files().is_empty() {
            return Ok(());
        }
        let in_log = |damaged: Vec<Damaged>| -> Vec<Damaged> {
            let size_of = |path: &str| log.files().iter().find(|file| file.name == path).map_or(0, |file| file.size);
            let counts =
                |one: &Damaged| one.from < size_of(&one.path) && (one.from, one.to) != (IN_USE_FLAG, IN_USE_FLAG + 1);
            damaged.into_iter().filter(counts).collect()
        };
        let before = in_log(damaged);
        let error = match History::read(log).await {
            Ok(_) if before.is_empty() => return Ok(()),
            Ok(_) => return Err(format!("the log of {} was read in spite of {before:?}", node.name)),
            Err(error) => error,
        };
        // The write that goes wrong may have come while the log was read.
        let damaged: Vec<Damaged> = before.into_iter().chain(in_log(self.note(node))).collect();
        if !damaged.iter().any(|one| error.contains(&one.path)) {
            return Err(format!("the log of {} cannot be read: {error}; {damaged:?}", node.name));
        }
        self.found += 1;
        Ok(())
    }
}

/// Whether a start can tell that the damage of a file of the log is damage: the file is complete, or something was written when it
/// was durable already.
fn can_be_proved(node: &Node, damaged: &Damaged) -> bool {
    let bytes = node.machine.contents(&damaged.path).unwrap_or_default();
    // All that was ever written is gone: it looks like a file that was prepared.
    if bytes.iter().all(|byte| *byte == 0) {
        return false;
    }
    if bytes.get(IN_USE_FLAG as usize).is_some_and(|flags| flags & 1 == 0) {
        return true;
    }
    let mut at = 4;
    while let Some(header) = bytes.get(at..at + 19).filter(|_| node.source.is_none()) {
        let length = u32::from_le_bytes([header[9], header[10], header[11], header[12]]) as usize;
        let flags = u16::from_le_bytes([header[17], header[18]]);
        if GTIDS.contains(&header[4]) && flags & MARKS == ALL_DURABLE && at as u64 >= damaged.to {
            return true;
        }
        if length < header.len() {
            break;
        }
        at += length;
    }
    false
}
