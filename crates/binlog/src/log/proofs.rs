//! What tells damage from a torn tail: proofs that something was durable before what is to be cut off.

use base::LogPosition;

use super::index;
use super::marks::Proof;
use super::open::Survey;
use super::options::LogOptions;
use super::scan::{Window, find_transaction, read_head};
use crate::error::{BinlogError, Result};

impl Survey<'_> {
    /// Makes sure that what a cut discards can have been unsynced.
    pub(super) async fn check_cut(
        &self,
        at: usize,
        window: &mut Window,
        cut: LogPosition,
        known_durable: LogPosition,
        reason: &str,
    ) -> Result<()> {
        let damaged = |why: String| BinlogError::corrupt(&window_name(self.options, cut.file), cut.offset, why);
        if cut < known_durable {
            return Err(damaged(format!("{reason}, but the log was durable up to {known_durable}")));
        }
        let from = cut.offset.saturating_add(self.window);
        if let Some(offset) = find_transaction(window, from, self.options).await? {
            let name = &window.name;
            return Err(damaged(format!("{reason}, but a valid transaction follows at {offset} of {name}")));
        }
        for &later in &self.numbers[at + 1..] {
            let mut window = self.window(later).await?;
            if let Some(offset) = find_transaction(&mut window, self.window, self.options).await? {
                let name = &window.name;
                return Err(damaged(format!("{reason}, but a valid transaction follows at {offset} of {name}")));
            }
        }
        Ok(())
    }

    /// Makes sure that nothing behind a hole was written when the hole was durable. The hole is in this file, or behind it.
    pub(super) async fn check_marks(
        &self,
        at: usize,
        hole: Option<(&mut Window, u64)>,
        cut: LogPosition,
        reason: &str,
    ) -> Result<()> {
        if !self.heeds_marks {
            return Ok(());
        }
        let mut proof = Proof::of(self.writer_id);
        let damaged = |name: &str, offset: u64| {
            let why = format!("{reason}, but the transaction at {offset} of {name} was written when this was durable");
            Err(BinlogError::corrupt(&window_name(self.options, cut.file), cut.offset, why))
        };
        if let Some((window, from)) = hole {
            window.len = from + stale_bytes(window, from).await?;
            if let Some(offset) = proof.find(window, from + 1, true, self.options).await? {
                return damaged(&window.name, offset);
            }
        }
        for &later in &self.numbers[at + 1..] {
            let mut window = self.window(later).await?;
            window.len = stale_bytes(&mut window, 0).await?;
            if let Some(offset) = proof.find(&mut window, 0, false, self.options).await? {
                return damaged(&window.name, offset);
            }
        }
        Ok(())
    }

    /// Makes sure that no file behind the cut was begun by a copy: a follower writes nothing to a file before all of the ones before
    /// it is synced and sealed. Files of this server's own, which was a source once, may have been written beside the ones before.
    pub(super) async fn check_copied(&self, at: usize, cut: LogPosition, reason: &str) -> Result<()> {
        if !self.is_copy {
            return Ok(());
        }
        for &later in &self.numbers[at + 1..] {
            let mut window = self.window(later).await?;
            let head = read_head(&mut window, self.options).await?;
            if head.is_some_and(|head| head.server_id != self.writer_id) {
                let why = format!(
                    "{reason}, but {} was begun when this was durable. Restore the file from its source (the bytes are the \
                     same), or begin with an empty data directory",
                    window.name
                );
                return Err(BinlogError::corrupt(&window_name(self.options, cut.file), cut.offset, why));
            }
        }
        Ok(())
    }
}

fn window_name(options: &LogOptions, number: u64) -> String {
    index::file_name(&options.basename, number)
}

/// How far behind `from` the last byte lies that is not zero.
pub(super) async fn stale_bytes(window: &mut Window, from: u64) -> Result<u64> {
    let mut at = from;
    let mut last = from;
    while at < window.len {
        let bytes = window.at(at, 1).await?;
        if let Some(i) = bytes.iter().rposition(|&b| b != 0) {
            last = at + i as u64 + 1;
        }
        at += bytes.len() as u64;
    }
    Ok(last - from)
}
