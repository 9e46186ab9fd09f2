//! Owners of very many locks: what they take, and that none is lost however packing is interrupted.

use xxhash_rust::xxh3::xxh3_64;

use super::*;

const LONG: WaitPolicy = WaitPolicy::For(Duration::from_secs(50));

fn manager() -> Arc<LockManager> {
    LockManager::new(Arc::<HandClock>::default(), LockOptions::default())
}

fn ascending(number: u64) -> Bytes {
    Bytes::copy_from_slice(&number.to_be_bytes())
}

fn scattered(number: u64) -> Bytes {
    let key = [xxh3_64(&number.to_le_bytes()), number].map(u64::to_be_bytes);
    Bytes::from(key.concat())
}

/// Bytes of memory per inserted row.
fn bytes_per_insert(key: fn(u64) -> Bytes) -> f64 {
    const ROWS: u64 = 1_000_000;
    let (manager, cancel) = (manager(), Cancel::new());
    let mut owner = manager.owner();
    for number in 0..ROWS {
        let wait = Wait { policy: LONG, cancel: &cancel };
        let inserted = futures_lite::future::block_on(owner.insert(INDEX, &key(number), wait));
        assert_eq!(inserted, Ok(Acquired::New));
    }
    let stats = manager.stats();
    assert_eq!((stats.records, stats.pending_inserts), (ROWS as usize, ROWS as usize));
    let loose = 2 * ROWS as usize - stats.packed_records - stats.packed_inserts;
    assert!(loose <= 2 * LockOptions::default().pack_at, "{loose} are not packed");
    assert_eq!(owner.len(), ROWS as usize);
    owner.release_all();
    assert_empty(&manager);
    stats.packed_bytes as f64 / ROWS as f64
}

#[test]
fn a_million_inserts_take_few_bytes_each() {
    let (ascending, scattered) = (bytes_per_insert(ascending), bytes_per_insert(scattered));
    println!("{ascending:.1} bytes for each of a million inserts in order, {scattered:.1} for random keys of 16 bytes");
    assert!(ascending < 16.0, "{ascending} bytes");
    assert!(scattered < 30.0, "{scattered} bytes");
}

/// A statement may be given up in any pause.
#[test]
fn packing_that_is_given_up_loses_nothing() {
    const ROWS: u64 = 200_000;
    let (manager, cancel) = (manager(), Cancel::new());
    let wait = Wait { policy: LONG, cancel: &cancel };
    let mut context = Context::from_waker(Waker::noop());
    let mut owner = manager.owner();
    let mut given_up = 0;
    for number in 0..ROWS {
        let key = scattered(number);
        loop {
            let mut insert = Box::pin(owner.insert(INDEX, &key, wait));
            // After more and more pauses, so that packing comes to its end now and then.
            let mut polls = (0..=given_up % 20).map(|_| insert.as_mut().poll(&mut context));
            let answer = polls.find(Poll::is_ready).unwrap_or(Poll::Pending);
            if let Poll::Ready(answer) = answer {
                assert_eq!(answer, Ok(Acquired::New));
                break;
            }
            given_up += 1;
            drop(insert);
            assert_eq!(manager.stats().records, number as usize);
        }
    }
    assert!(given_up > 10, "it was given up {given_up} times");
    assert!(manager.stats().packed_inserts > 0);
    let mut other = manager.owner();
    let no_wait = Wait { policy: WaitPolicy::NoWait, cancel: &cancel };
    for number in 0..ROWS {
        let key = scattered(number);
        let record = futures_lite::future::block_on(other.record(INDEX, &key, Strength::Shared, no_wait));
        assert_eq!(record, Err(LockError::NotAvailable), "row {number}");
        let alone = (std::ops::Bound::Included(key.clone()), std::ops::Bound::Included(key));
        let gap = futures_lite::future::block_on(other.gap(INDEX, alone, Strength::Shared, no_wait));
        assert_eq!(gap, Err(LockError::NotAvailable), "gap {number}");
    }
    assert_eq!(manager.stats().records, ROWS as usize);
    drop(owner);
    drop(other);
    assert_empty(&manager);
}

/// Many pack at once, and want each other's rows.
#[test]
fn threads_that_pack() {
    let options = LockOptions { pack_at: 50, ..LockOptions::default() };
    let manager = LockManager::new(Arc::<HandClock>::default(), options);
    let rows: Vec<Mutex<()>> = (0..4000).map(|_| Mutex::new(())).collect();
    let work = |seed: u64| {
        let cancel = Cancel::new();
        for round in 0..40 {
            let mut owner = manager.owner();
            let mut mine = Vec::new();
            for number in 0..600u64 {
                let row = xxh3_64(&[seed, round, number].map(u64::to_le_bytes).concat()) % rows.len() as u64;
                let key = ascending(row);
                let policy = if number % 4 == 0 { LONG } else { WaitPolicy::Skip };
                let wait = Wait { policy, cancel: &cancel };
                match futures_lite::future::block_on(owner.insert(INDEX, &key, wait)) {
                    Ok(acquired) if acquired.is_new() => {
                        mine.push(rows[row as usize].try_lock().expect("nobody else has the row"));
                    }
                    Ok(_) => {}
                    Err(LockError::Deadlock) => break,
                    Err(error) => panic!("{error}"),
                }
            }
            drop(mine);
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|seed| drop(scope.spawn(move || work(seed)))));
    assert!(manager.waits().waits > 0);
    assert_empty(&manager);
}
