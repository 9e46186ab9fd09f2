//! Devices that fail, fill up and flip bits.

use std::ops::Bound;
use std::sync::Arc;

use base::{ErrorClass, IndexId};
use io::sim::{Faults, SimMachine};
use rand::Rng;
use store::{Compression, Direction, MergeOptions, Pacer, Store, StoreError};

use crate::support::*;

const INDEX: IndexId = IndexId(7);
const PAGE_SIZE: u64 = 16384;

fn rows(count: u64, salt: u64) -> Batch {
    let mut rng = rng(salt);
    (0..count).map(|n| (number_key(n), Some(value(&mut rng, 184)))).collect()
}

async fn store_with_rows(machine: &SimMachine, count: u64) -> Arc<Store> {
    let store = open(&machine.env()).await;
    merge(&store, &[(INDEX, rows(count, 1))].into()).await.unwrap();
    store.commit_checkpoint(&store.roots(), checkpoint(1)).await.unwrap();
    store
}

#[test]
fn a_flipped_bit_is_named_and_nothing_else_is_lost() {
    let machine = SimMachine::new(1);
    machine.run(store_with_rows(&machine, 1000)).unwrap();
    // The first pages after the superblocks are leaves.
    machine.flip_bit(PATH, (3 * PAGE_SIZE + 5000) * 8);
    let done = machine.run(async {
        let store = open(&machine.env()).await;
        let scanned = scan(&store.roots(), INDEX, Bound::Unbounded, Bound::Unbounded, Direction::Forward, 100).await;
        let error = scanned.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Corrupt);
        let text = error.to_string();
        for part in ["data.ctr", "page 12", "offset 49152", "index 7", "checksum"] {
            assert!(text.contains(part), "{part} is missing in: {text}");
        }
        assert!(store.verify(&store.roots()).await.is_err());
        assert!(store.roots().get(INDEX, &number_key(999)).await.unwrap().is_some(), "other leaves can be read");
        let options = MergeOptions { vital: Some(INDEX), ..MergeOptions::default() };
        let mut merge = store.merge(&store.roots(), options).await.unwrap();
        let merged = merge.apply(INDEX, Compression::None, &mut changes(rows(1000, 2))).await;
        assert_eq!(merged.unwrap_err().class(), ErrorClass::Corrupt);
    });
    done.unwrap();
}

/// Of the rows that can be read: how many, and how many of them are these. The others are errors that name the damage.
async fn readable(store: &Store, expected: &Batch) -> (usize, usize) {
    let (mut read, mut right) = (0, 0);
    for (key, value) in expected {
        match store.roots().get(INDEX, key).await {
            Ok(found) => {
                read += 1;
                right += usize::from(found == *value);
            }
            Err(error) => assert_eq!(error.class(), ErrorClass::Corrupt),
        }
    }
    (read, right)
}

/// Merges everything but what belongs to a page with this bit wrong; what is left, after a restart, with the bit as it was again.
fn merged_around(machine: &SimMachine, count: u64, bit: u64, new: &Batch) -> Arc<Store> {
    machine.run(store_with_rows(machine, count)).unwrap();
    machine.flip_bit(PATH, bit);
    let merged = machine.run(async {
        let store = open(&machine.env()).await;
        let mut merge = store.merge(&store.roots(), MergeOptions::default()).await.unwrap();
        merge.apply(INDEX, Compression::None, &mut changes(new.clone())).await.unwrap();
        merge.apply(IndexId(8), Compression::None, &mut changes(new.clone())).await.unwrap();
        let damaged: Vec<String> = merge.damaged().iter().map(ToString::to_string).collect();
        assert_eq!(damaged.len(), 1, "{damaged:?}");
        assert!(damaged[0].contains(&format!("offset {} is corrupt (index 7)", bit / 8 / PAGE_SIZE * PAGE_SIZE)));
        let roots = merge.finish().await.unwrap();
        store.commit_checkpoint(&roots, checkpoint(2)).await.unwrap();
    });
    merged.unwrap();
    machine.kill();
    machine.flip_bit(PATH, bit);
    machine.run(open(&machine.env())).unwrap()
}

#[test]
fn a_damaged_leaf_is_set_aside_for_ever() {
    let (machine, new) = (SimMachine::new(4), rows(1000, 2));
    let store = merged_around(&machine, 1000, (3 * PAGE_SIZE + 5000) * 8, &new);
    let done = machine.run(async {
        let (read, right) = readable(&store, &new).await;
        assert!(read == right && (800..1000).contains(&read), "{read} of 1000 can be read, {right} are right");
        assert_eq!(store.roots().damaged().collect::<Vec<_>>(), [INDEX]);
        let sum = store.roots().sum(INDEX, Bound::Unbounded, Bound::Unbounded).await.unwrap_err();
        assert!(sum.to_string().contains("were left out"), "{sum}");
        let scanned = scan(&store.roots(), INDEX, Bound::Unbounded, Bound::Unbounded, Direction::Forward, 100).await;
        assert_eq!(scanned.unwrap_err().class(), ErrorClass::Corrupt);
        let other = scan(&store.roots(), IndexId(8), Bound::Unbounded, Bound::Unbounded, Direction::Forward, 100).await;
        assert_eq!(other.unwrap().len(), 1000);
        // It is neither found nor written again by later merges, and goes with its tree.
        let newer = rows(1000, 3);
        merge(&store, &[(INDEX, newer.clone())].into()).await.unwrap();
        assert_eq!(readable(&store, &newer).await, (read, read));
        let mut merge = store.merge(&store.roots(), MergeOptions::default()).await.unwrap();
        merge.drop_tree(INDEX).await.unwrap();
        merge.apply(INDEX, Compression::None, &mut changes(new.clone())).await.unwrap();
        merge.finish().await.unwrap();
        assert_eq!(readable(&store, &new).await, (1000, 1000));
        let verified = store.verify(&store.roots()).await.unwrap();
        assert_eq!((verified.rows, verified.lost), (2000, 0));
    });
    done.unwrap();
}

/// Nothing was left out, so what the disk finds again is right.
#[test]
fn a_damaged_leaf_that_nothing_falls_into_stays_what_it_is() {
    let machine = SimMachine::new(5);
    machine.run(store_with_rows(&machine, 1000)).unwrap();
    let bit = (3 * PAGE_SIZE + 5000) * 8;
    machine.flip_bit(PATH, bit);
    let done = machine.run(async {
        let store = open(&machine.env()).await;
        let mut unreadable = Batch::new();
        let mut others = Batch::new();
        for (key, value) in rows(1000, 2) {
            let is_there = store.roots().get(INDEX, &key).await.is_ok();
            (if is_there { &mut others } else { &mut unreadable }).insert(key, value);
        }
        assert!(unreadable.len() > 10);
        merge(&store, &[(INDEX, others.clone())].into()).await.unwrap();
        assert_eq!(store.roots().damaged().count(), 0);
        machine.flip_bit(PATH, bit);
        assert_eq!(readable(&store, &others).await, (others.len(), others.len()));
        assert_eq!(readable(&store, &unreadable).await, (unreadable.len(), 0), "they are as they were");
        store.verify(&store.roots()).await.unwrap();
    });
    done.unwrap();
}

/// What is below a damaged inner node goes with it, and nothing else.
#[test]
fn a_damaged_inner_node_is_set_aside() {
    const ROWS: u64 = 60_000;
    let find = SimMachine::new(6);
    find.run(store_with_rows(&find, ROWS)).unwrap();
    let file = find.contents(PATH).unwrap();
    let is_inner = |page: &[u8]| page[32] == 2 && page[33] == 1 && page[16] == 7;
    let inner: Vec<usize> = (2..file.len() / 16384).filter(|at| is_inner(&file[at * 16384..])).collect();
    assert!(inner.len() > 1, "{inner:?}");
    let (machine, new) = (SimMachine::new(6), rows(ROWS, 2));
    let store = merged_around(&machine, ROWS, (inner[0] as u64 * PAGE_SIZE + 5000) * 8, &new);
    let done = machine.run(async {
        let (read, right) = readable(&store, &new).await;
        assert!(read == right && read > 1000 && read < ROWS as usize - 1000, "{read} can be read, {right} are right");
        let mut merge = store.merge(&store.roots(), MergeOptions::default()).await.unwrap();
        merge.drop_tree(INDEX).await.unwrap();
        assert_eq!(merge.damaged().len(), 1);
        merge.finish().await.unwrap();
        let verified = store.verify(&store.roots()).await.unwrap();
        assert!(verified.rows == ROWS && verified.lost > 100, "{verified:?}");
    });
    done.unwrap();
}

/// Whatever bit of a compressed page is another: named as in any other page, before anything is decompressed.
#[test]
fn damage_in_compressed_pages_is_named() {
    for (compression, seed) in [Compression::Lz4, Compression::Zstd].into_iter().flat_map(|how| [(how, 1), (how, 2)]) {
        let machine = SimMachine::new(seed);
        let stored = machine.run(async {
            let store = open(&machine.env()).await;
            let rows: Batch = (0..1000).map(|n| (number_key(n), Some(vec![n as u8; 180].into()))).collect();
            merge_as(&store, compression, &[(INDEX, rows)].into()).await.unwrap();
            store.commit_checkpoint(&store.roots(), checkpoint(1)).await.unwrap();
            (store.roots().pages(INDEX).0, store.roots().bytes(INDEX))
        });
        let (leaves, bytes) = stored.unwrap();
        assert!(bytes < leaves * PAGE_SIZE / 2, "{bytes} bytes for {leaves} leaves");
        let page = 8 + seed % leaves;
        machine.flip_bit(PATH, page * 4096 * 8 + machine.world().below(4096 * 8));
        let failed = machine.run(async {
            let store = open(&machine.env()).await;
            let all = scan(&store.roots(), INDEX, Bound::Unbounded, Bound::Unbounded, Direction::Forward, 100).await;
            assert!(store.verify(&store.roots()).await.is_err());
            all.unwrap_err()
        });
        let error = failed.unwrap();
        assert_eq!(error.class(), ErrorClass::Corrupt);
        let (page, offset) = (format!("page {page} "), format!("offset {}", page * 4096));
        for part in ["data.ctr", &page, &offset, "index 7", "checksum"] {
            assert!(error.to_string().contains(part), "{part} is missing in: {error}");
        }
    }
}

#[test]
fn a_superblock_that_decays_is_no_loss_and_two_are_named() {
    for slot in 0..2 {
        let machine = SimMachine::new(slot);
        machine.run(store_with_rows(&machine, 1000)).unwrap();
        machine.flip_bit(PATH, (slot * PAGE_SIZE + 100) * 8);
        let checked = machine.run(async {
            let store = open(&machine.env()).await;
            assert_eq!(*store.checkpoint(), checkpoint(1));
            store.verify(&store.roots()).await.unwrap()
        });
        assert_eq!(checked.unwrap().rows, 1000);
        machine.flip_bit(PATH, ((1 - slot) * PAGE_SIZE + 100) * 8);
        let opened = machine.run(async { Store::open(&machine.env(), PATH, options()).await.map(drop) });
        let error = opened.unwrap().unwrap_err();
        assert!(matches!(error, StoreError::Unusable { .. }), "{error}");
        assert!(error.to_string().contains("offset 16384"), "{error}");
    }
}

#[test]
fn a_failed_sync_is_final() {
    let machine = SimMachine::new(3);
    let done = machine.run(async {
        let store = store_with_rows(&machine, 1000).await;
        merge(&store, &[(INDEX, rows(500, 2))].into()).await.unwrap();
        machine.set_faults(Faults { sync_error: 1.0, ..Faults::default() });
        let failed = store.commit_checkpoint(&store.roots(), checkpoint(2)).await;
        assert!(matches!(failed, Err(StoreError::Io { operation: "sync", .. })), "{failed:?}");
        machine.set_faults(Faults::default());
        let again = store.commit_checkpoint(&store.roots(), checkpoint(2)).await;
        assert!(matches!(again, Err(StoreError::Failed { .. })), "{again:?}");
        let merged = merge(&store, &[(INDEX, rows(10, 3))].into()).await;
        assert!(matches!(merged, Err(StoreError::Failed { .. })));
        assert!(store.roots().get(INDEX, &number_key(1)).await.unwrap().is_some(), "reading goes on");
    });
    done.unwrap();
    machine.crash();
    let checked = machine.run(async {
        let store = open(&machine.env()).await;
        assert_eq!(*store.checkpoint(), checkpoint(1));
        store.verify(&store.roots()).await.unwrap()
    });
    assert_eq!((checked.unwrap().rows, checked.unwrap().lost), (1000, 0));
}

#[test]
fn failed_writes_and_a_full_disk_leave_everything_as_it_was() {
    for seed in 0..20 {
        let machine = SimMachine::new(seed);
        let done = machine.run(async {
            let store = store_with_rows(&machine, 1000).await;
            let before = store.roots();
            let faults = match seed % 2 {
                0 => Faults { write_error: 0.5, ..Faults::default() },
                _ => Faults { capacity: Some(200 * PAGE_SIZE), ..Faults::default() },
            };
            machine.set_faults(faults);
            let merged = merge(&store, &[(INDEX, rows(20_000, 2))].into()).await;
            let class = merged.unwrap_err().class();
            assert_eq!(class, if seed % 2 == 0 { ErrorClass::Io } else { ErrorClass::Full });
            machine.set_faults(Faults::default());
            assert_eq!(store.roots().generation(), before.generation());
            merge(&store, &[(INDEX, rows(5000, 3))].into()).await.unwrap();
            store.commit_checkpoint(&store.roots(), checkpoint(2)).await.unwrap();
            let verified = store.verify(&store.roots()).await.unwrap();
            assert_eq!((verified.rows, verified.lost), (5000, 0));
            assert_eq!(before.entries(INDEX), 1000);
            store.verify(&before).await.unwrap();
        });
        done.unwrap();
    }
}

#[test]
fn readers_of_one_missing_page_share_one_read() {
    let machine = SimMachine::new(4);
    machine.run(store_with_rows(&machine, 10)).unwrap();
    let done = machine.run(async {
        let store = open(&machine.env()).await;
        let reads = store.statistics().pages_read;
        let (read, total) = (Arc::new(event_listener::Event::new()), 20);
        let found = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        for number in 0..total {
            let (roots, read, found) = (store.roots(), read.clone(), found.clone());
            let get = async move {
                assert!(roots.get(INDEX, &number_key(number as u64 % 10)).await.unwrap().is_some());
                found.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                read.notify(usize::MAX);
            };
            machine.env().spawner.spawn("reader", Box::pin(get));
        }
        while found.load(std::sync::atomic::Ordering::SeqCst) < total {
            read.listen().await;
        }
        assert_eq!(store.statistics().pages_read, reads + 1);
        assert_eq!(store.statistics().cache_misses, 1);
    });
    done.unwrap();
}

#[test]
fn a_reader_that_gives_up_hands_the_page_to_the_next() {
    let machine = SimMachine::new(5);
    machine.run(store_with_rows(&machine, 10)).unwrap();
    let done = machine.run(async {
        let store = open(&machine.env()).await;
        let (roots, key) = (store.roots(), number_key(3));
        let mut first = Box::pin(roots.get(INDEX, &key));
        assert!(futures_lite::future::poll_once(&mut first).await.is_none());
        let mut second = Box::pin(roots.get(INDEX, &key));
        assert!(futures_lite::future::poll_once(&mut second).await.is_none());
        drop(first);
        assert!(second.await.unwrap().is_some());
    });
    done.unwrap();
}

#[test]
fn wrong_uses_are_errors() {
    let machine = SimMachine::new(6);
    let done = machine.run(async {
        let store = store_with_rows(&machine, 10).await;
        let old = store.roots();
        merge(&store, &[(INDEX, rows(20, 2))].into()).await.unwrap();
        assert!(matches!(store.merge(&old, MergeOptions::default()).await, Err(StoreError::NotNewest { .. })));
        let committed = store.commit_checkpoint(&old, checkpoint(2)).await;
        assert!(matches!(committed, Err(StoreError::NotNewest { .. })));
        let mut merge = store.merge(&store.roots(), MergeOptions::default()).await.unwrap();
        let change = |key: &'static [u8]| store::Change { key: key.into(), value: None };
        let mut unsorted = store::SortedChanges([change(b"b"), change(b"a")].into_iter());
        assert!(matches!(merge.apply(INDEX, Compression::None, &mut unsorted).await, Err(StoreError::Unsorted { .. })));
        assert!(matches!(merge.drop_tree(INDEX).await, Err(StoreError::BrokenMerge)));
        drop(merge);
        let mut merge = store.merge(&store.roots(), MergeOptions::default()).await.unwrap();
        let long = store::Change { key: vec![0; store::MAX_KEY_SIZE + 1].into(), value: None };
        let applied = merge.apply(INDEX, Compression::None, &mut store::SortedChanges([long].into_iter())).await;
        assert!(matches!(applied, Err(StoreError::KeyTooLong { size: 5121, .. })));
    });
    done.unwrap();
}

#[test]
fn a_pacer_holds_a_merge_to_its_rate() {
    let machine = SimMachine::new(7);
    let done = machine.run(async {
        let store = open(&machine.env()).await;
        let clock = machine.env().clock;
        let begin = clock.monotonic();
        let options = MergeOptions { pacer: Some(Pacer::new(100)), ..MergeOptions::default() };
        let mut merge = store.merge(&store.roots(), options).await.unwrap();
        merge.apply(INDEX, Compression::None, &mut changes(rows(64 * 200, 1))).await.unwrap();
        merge.finish().await.unwrap();
        let seconds = (clock.monotonic() - begin).as_secs_f64();
        assert!((1.5..2.5).contains(&seconds), "about 160 pages at 100 a second took {seconds} s");
    });
    done.unwrap();
}

/// Whoever commits says so again and again: the merge rests as long as it writes.
#[test]
fn a_considerate_merge_leaves_the_disk_to_others() {
    let machine = SimMachine::new(7);
    let done = machine.run(async {
        let clock = machine.env().clock;
        let mut took = Vec::new();
        for commits in [false, true] {
            let store = open(&machine.env()).await;
            let pacer = Pacer::new(0);
            let options = MergeOptions { pacer: Some(pacer.clone()), ..MergeOptions::default() };
            let merge_all = async {
                let begin = clock.monotonic();
                let mut merge = store.merge(&store.roots(), options).await.unwrap();
                merge.apply(INDEX, Compression::None, &mut changes(rows(100_000, 1))).await.unwrap();
                merge.finish().await.unwrap();
                clock.monotonic() - begin
            };
            let others = async {
                loop {
                    match commits {
                        true => pacer.be_considerate(clock.monotonic()),
                        false => pacer.hurry(),
                    }
                    clock.sleep(std::time::Duration::from_millis(1)).await;
                }
            };
            took.push(futures_lite::future::or(merge_all, others).await);
        }
        assert!(took[1] > took[0] * 3 / 2, "{took:?}");
    });
    done.unwrap();
}

#[test]
fn a_merge_that_is_given_up_anywhere_leaves_nothing_behind() {
    let machine = SimMachine::new(8);
    let done = machine.run(async {
        let store = store_with_rows(&machine, 5000).await;
        let roots = store.roots();
        for polls in (1..400).step_by(7) {
            let mut merge = store.merge(&roots, MergeOptions::default()).await.unwrap();
            let mut changed = changes(rows(5000, 2));
            let mut apply = merge.apply(INDEX, Compression::None, &mut changed);
            let mut ended = false;
            for _ in 0..polls {
                ended = ended || futures_lite::future::poll_once(&mut apply).await.is_some();
                futures_lite::future::yield_now().await;
                machine.env().clock.sleep(std::time::Duration::from_micros(20)).await;
            }
            drop(apply);
            if !ended {
                assert!(matches!(merge.drop_tree(INDEX).await, Err(StoreError::BrokenMerge)));
            }
            drop(merge);
            // Waits until the last write of the merge has ended.
            assert_eq!(store.verify(&roots).await.unwrap().lost, 0);
        }
        let checkpointed = store.commit_checkpoint(&roots, checkpoint(2));
        let mut checkpointed = Box::pin(checkpointed);
        for _ in 0..3 {
            assert!(futures_lite::future::poll_once(&mut checkpointed).await.is_none());
            machine.env().clock.sleep(std::time::Duration::from_micros(50)).await;
        }
        drop(checkpointed);
        assert_eq!(store.verify(&roots).await.unwrap().lost, 0);
    });
    done.unwrap();
    machine.crash();
    let verified = machine.run(async {
        let store = open(&machine.env()).await;
        store.verify(&store.roots()).await.unwrap()
    });
    assert_eq!((verified.unwrap().rows, verified.unwrap().lost), (5000, 0));
}

#[test]
fn values_of_megabytes_come_back_whole_and_damage_in_them_is_found() {
    [Compression::None, Compression::Lz4, Compression::Zstd].into_iter().for_each(values_of_megabytes);
}

/// Pages that can be compressed and pages that cannot, one after the other.
fn mixed(rng: &mut impl Rng, size: usize) -> bytes::Bytes {
    let mut bytes = vec![7; size];
    bytes.chunks_mut(50_000).step_by(2).for_each(|chunk| rng.fill(chunk));
    bytes.into()
}

fn values_of_megabytes(compression: Compression) {
    let machine = SimMachine::new(9);
    let mut rng = rng(1);
    let sizes = [4060, 4080, 16_320, 16_321, 130_560, 130_561, 5_000_000];
    let batch: Batch = sizes.iter().map(|&size| (number_key(size as u64), Some(mixed(&mut rng, size)))).collect();
    let done = machine.run(async {
        let store = open(&machine.env()).await;
        merge_as(&store, compression, &[(INDEX, batch.clone())].into()).await.unwrap();
        store.commit_checkpoint(&store.roots(), checkpoint(1)).await.unwrap();
        let store = open(&machine.env()).await;
        for (key, value) in &batch {
            assert!(store.roots().get(INDEX, key).await.unwrap() == *value, "{} bytes", key.len());
        }
        assert_eq!(store.verify(&store.roots()).await.unwrap().lost, 0);
        (store.roots().pages(INDEX).2, store.roots().bytes(INDEX))
    });
    let (pages, bytes) = done.unwrap();
    assert_eq!(pages, 1 + 1 + 2 + 8 + 9 + 307);
    let small = bytes * 4 < pages * PAGE_SIZE * 3;
    assert_eq!(small, compression != Compression::None, "{compression:?}: {bytes} bytes for {pages} pages");
    // A block in the middle of the largest one, which was written last but for the leaf.
    machine.flip_bit(PATH, (bytes / 2 / 4096 * 4096 + 2000) * 8);
    let error = machine.run(async {
        let store = open(&machine.env()).await;
        store.roots().get(INDEX, &number_key(5_000_000)).await.unwrap_err()
    });
    let error = error.unwrap();
    assert_eq!(error.class(), ErrorClass::Corrupt);
    assert!(error.to_string().contains("index 7"), "{error}");
}
