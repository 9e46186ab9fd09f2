//! Reading old leaves before their turn comes.
//!
//! The changes that are already known say which of the next leaves will be opened. Those that are not in the page
//! cache are read together, neighbours with one read, all reads at once. They pass by the cache: a merge goes
//! through everything once, and would push out what readers want.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::task::Poll;

use base::IndexId;
use bytes::Bytes;

use crate::Result;
use crate::page::{Expected, PAGE_BLOCKS, Page, PageRef};
use crate::shared::Shared;
use crate::space::Run;

use super::Change;
use super::tree::Frame;

/// Leaves in memory ahead at most (1 MiB).
pub(super) const LEAVES_MAX: usize = 64;

/// Leaves that were read and wait for their turn.
#[derive(Default)]
pub(super) struct ReadAhead {
    pages: HashMap<PageRef, Page>,
}

impl ReadAhead {
    /// The next leaf of a frame, and whether it was in the cache.
    pub(super) async fn leaf<'a>(
        &mut self,
        shared: &Shared,
        index: IndexId,
        at: PageRef,
        frame: &Frame,
        changes: impl Iterator<Item = &'a Change>,
    ) -> Result<(Page, bool)> {
        if let Some(page) = shared.cache.peek(at) {
            self.pages.remove(&at);
            return Ok((page, true));
        }
        if let Some(page) = self.pages.remove(&at) {
            return Ok((page, false));
        }
        let mut wanted = frame.touched(index, changes);
        wanted.retain(|leaf| leaf.at != at && shared.cache.peek(leaf.at).is_none());
        wanted.truncate(LEAVES_MAX - 1);
        wanted.push(Expected::node(at, index, 0));
        wanted.sort_unstable_by_key(|leaf| leaf.at);
        // What was read ahead and never came (its node was in the cache by then) does not pile up.
        self.pages.clear();
        self.read(shared, &wanted).await?;
        let page = self.pages.remove(&at).expect("it was just read");
        Ok((page, false))
    }

    /// Forgets what was read: not all of it was right.
    pub(super) fn clear(&mut self) {
        self.pages.clear();
    }

    async fn read(&mut self, shared: &Shared, wanted: &[Expected]) -> Result<()> {
        let groups: Vec<&[Expected]> = wanted.chunk_by(|a, b| a.at.is_before(b.at)).collect();
        let reads = groups.iter().map(|group| {
            let blocks = group.iter().map(|leaf| u64::from(leaf.at.blocks)).sum();
            let run = Run::new(group[0].at.number.0, blocks);
            Box::pin(shared.file.read(run, Some(group[0].index)))
        });
        let read = all(reads.collect()).await;
        for (group, bytes) in groups.iter().zip(read) {
            let mut rest = bytes?;
            for expected in *group {
                let page = shared.file.check(rest.split_to(expected.at.bytes()), expected)?;
                self.pages.insert(expected.at, page);
                if expected.at.blocks < PAGE_BLOCKS {
                    // Expanding many takes its time.
                    futures_lite::future::yield_now().await;
                }
            }
        }
        Ok(())
    }
}

/// Waits for all of some reads at once.
async fn all<F: Future<Output = Result<Bytes>>>(mut reads: Vec<Pin<Box<F>>>) -> Vec<Result<Bytes>> {
    let mut done: Vec<Option<Result<Bytes>>> = reads.iter().map(|_| None).collect();
    futures_lite::future::poll_fn(|context| {
        for (read, done) in reads.iter_mut().zip(&mut done).filter(|(_, done)| done.is_none()) {
            if let Poll::Ready(result) = read.as_mut().poll(context) {
                *done = Some(result);
            }
        }
        if done.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}
