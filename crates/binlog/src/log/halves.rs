//! Walking through a long file in two halves, side by side: the last file of a log has to be checked from its beginning before anything
//! else can be done, so a start after a crash would use one processor for as long as that takes.
//!
//! ```text
//!   | head | transactions …            | a transaction that begins about here | … end or damage |
//!     └────── this task ───────────────┘└────── a thread of its own ───────────┘
//! ```
//!
//! # Invariants
//! - What is found is what [`scan`] finds: the halves count only if the first one ends, whole, just where the second began, and they have no
//!   transaction in common. Otherwise the file is walked through again, in one go; it is damaged, or what looked like a transaction in its
//!   middle were bytes of a row.

use std::sync::Arc;

use event_listener::Event;
use io::Env;
use parking_lot::Mutex;

use super::options::LogOptions;
use super::scan::{FileHead, Scan, Window, find_transaction, scan, scan_between};
use crate::error::Result;

/// Files from this size on are halved. All of them in tests, which know what is to be found.
const HALVED_BYTES: u64 = if cfg!(test) { 1 } else { 64 << 20 };

/// What the thread has found.
#[derive(Default)]
struct Found {
    scan: Mutex<Option<Result<Scan>>>,
    ended: Event,
}

/// Says that the thread has ended, with a result or by a panic.
struct Ending(Arc<Found>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.ended.notify(usize::MAX);
    }
}

/// As [`scan`], with two processors.
pub(super) async fn scan_halves(env: &Env, window: &mut Window, options: &LogOptions, head: &FileHead) -> Result<Scan> {
    if window.len < HALVED_BYTES {
        return scan(window, options, head).await;
    }
    let mut behind = Window::new(window.file.clone(), &window.name, window.len);
    let Some(middle) = find_transaction(&mut behind, (window.len / 2).max(head.end), options).await? else {
        return scan(window, options, head).await;
    };
    let found = Arc::<Found>::default();
    let ended = found.ended.listen();
    let task = {
        let (ending, options, head) = (Ending(found.clone()), options.clone(), head.clone());
        async move {
            let second = scan_between(&mut behind, &options, &head, middle..u64::MAX).await;
            *ending.0.scan.lock() = Some(second);
        }
    };
    env.spawner.spawn_thread("log-scan", Box::pin(task));
    let first = scan_between(window, options, head, 0..middle).await;
    ended.await;
    let second = found.scan.lock().take();
    if let (Ok(first), Some(Ok(second))) = (first, second)
        && first.end == middle
        && first.gtids.is_disjoint(&second.gtids)
    {
        return Ok(joined(first, second));
    }
    scan(window, options, head).await
}

fn joined(first: Scan, second: Scan) -> Scan {
    let Scan { mut gtids, transactions, ending, .. } = first;
    gtids.union(&second.gtids);
    let ending = if second.end > first.end { second.ending } else { ending };
    Scan { gtids, transactions: transactions + second.transactions, ending, ..second }
}

#[cfg(test)]
mod tests {
    use io::sim::SimMachine;
    use io::{IoBuf, OpenOptions};

    use super::super::OpenAs;
    use super::super::scan::read_head;
    use super::super::tests::{open, options, write};
    use super::*;
    use crate::event::EventHeader;

    /// A file of statements, not cut at its end, and where they begin.
    fn written() -> (Vec<u8>, Vec<usize>) {
        let machine = SimMachine::new(1);
        let run = async { write(&mut open(&machine.env(), OpenAs::Source).await?.writer, 1..9).await };
        machine.run(run).unwrap().unwrap();
        let bytes = machine.contents("binlog.000001").unwrap();
        let events = events(&bytes, 4);
        let begins = |at: &usize| EventHeader::decode(&bytes[*at..]).unwrap().event_type.is_gtid();
        let starts = events.into_iter().filter(begins).collect();
        (bytes, starts)
    }

    /// Where the events from a place on begin.
    fn events(bytes: &[u8], from: usize) -> Vec<usize> {
        let length = |at: usize| EventHeader::decode(bytes.get(at..)?).ok().map(|header| header.event_length as usize);
        let next =
            |at: &usize| length(*at).map(|length| at + length).filter(|at| length(*at).is_some_and(|next| next > 0));
        std::iter::successors(Some(from), next).collect()
    }

    /// These events as they would be at another place.
    fn moved(bytes: &[u8], to: usize) -> Vec<u8> {
        let mut moved = bytes.to_vec();
        let mut at = 0;
        while at < moved.len() {
            let length = EventHeader::decode(&moved[at..]).unwrap().event_length as usize;
            moved[at + 13..at + 17].copy_from_slice(&((to + at + length) as u32).to_le_bytes());
            sign(&mut moved[at..at + length]);
            at += length;
        }
        moved
    }

    /// Makes an event's checksum right.
    fn sign(event: &mut [u8]) {
        let (content, checksum) = event.split_at_mut(event.len() - 4);
        checksum.copy_from_slice(&crc32fast::hash(content).to_le_bytes());
    }

    /// What both ways find.
    fn found(bytes: &[u8]) -> [String; 2] {
        let machine = SimMachine::new(1);
        let env = machine.env();
        let run = async {
            let how = OpenOptions { create: true, write: true, ..OpenOptions::default() };
            let file = env.disk.open("log", how).await.unwrap();
            file.write_at(0, IoBuf::copy_of(bytes)).await.unwrap();
            let mut window = Window::new(file, "log", bytes.len() as u64);
            let head = read_head(&mut window, &options()).await.unwrap().unwrap();
            let whole = scan(&mut window, &options(), &head).await.unwrap();
            let halves = scan_halves(&env, &mut window, &options(), &head).await.unwrap();
            [format!("{whole:?}"), format!("{halves:?}")]
        };
        machine.run(run).unwrap()
    }

    #[test]
    fn halves_find_what_there_is() {
        let (mut bytes, starts) = written();
        let [whole, halves] = found(&bytes);
        assert_eq!(whole, halves);
        assert!(whole.contains("transactions: 8"), "{whole}");
        for at in starts[0]..starts[7] {
            bytes[at] ^= 0x10;
            let [whole, halves] = found(&bytes);
            assert_eq!(whole, halves, "another bit at {at}");
            bytes[at] ^= 0x10;
        }
    }

    #[test]
    fn a_transaction_that_is_in_both_halves_went_astray() {
        let (mut bytes, starts) = written();
        let end = *starts.last().unwrap();
        bytes.truncate(end);
        let again = moved(&bytes[starts[1]..starts[2]], end);
        bytes.extend(again);
        let [whole, halves] = found(&bytes);
        assert_eq!(whole, halves);
        assert!(whole.contains("a write went astray"), "{whole}");
    }

    /// The bytes of a transaction in a statement's text, just where they would be right.
    #[test]
    fn what_looks_like_a_transaction_in_the_middle() {
        let (mut bytes, starts) = written();
        let number = (2..7).max_by_key(|&number| starts[number + 1] - starts[number]).unwrap();
        let statement = events(&bytes, starts[number])[1];
        let (end, short) = (starts[number + 1], bytes[starts[0]..events(&bytes, starts[0])[1]].to_vec());
        let place = end - 10 - short.len();
        assert!(place > statement + 60);
        let inside = moved(&short, place);
        bytes[place..place + short.len()].copy_from_slice(&inside);
        sign(&mut bytes[statement..end]);
        // So that it is what the second half would begin with.
        bytes.resize(2 * (place - 5), 0);
        let [whole, halves] = found(&bytes);
        assert_eq!(whole, halves);
        assert!(whole.contains("transactions: "), "{whole}");
    }
}
