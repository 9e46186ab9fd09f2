//! Runs against maps.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use base::IndexId;
use bytes::Bytes;
use io::sim::SimMachine;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::{Run, RunFile, RunWriter, Runs};
use crate::memtable::Key;
use crate::txn::Write;

type Map = BTreeMap<Vec<u8>, Write>;

const INDEX: IndexId = IndexId(7);

async fn write(file: &Arc<RunFile>, before: &Runs, map: &Map) -> Arc<Run> {
    let mut writer = RunWriter::new(file, before);
    for index in [IndexId(3), INDEX, IndexId(9)] {
        writer.begin_index(index, map.len());
        for (key, write) in map {
            let write = if index == INDEX { write.clone() } else { None };
            writer.put(&Key::new(key), &write).await.unwrap();
        }
    }
    writer.finish().await.unwrap()
}

fn random_map(rng: &mut StdRng, keys: u32) -> Map {
    let count = rng.random_range(1..300);
    let entry = |rng: &mut StdRng| {
        let key = rng.random_range(0..keys).to_be_bytes().repeat(rng.random_range(1..3));
        let length = if rng.random_bool(0.05) { 40_000 } else { rng.random_range(0..900) };
        (key, rng.random_bool(0.8).then(|| Bytes::from(vec![rng.random(); length])))
    };
    (0..count).map(|_| entry(rng)).collect()
}

fn random_bound(rng: &mut StdRng, keys: u32) -> Bound<Vec<u8>> {
    let key = rng.random_range(0..keys).to_be_bytes().to_vec();
    match rng.random_range(0..4) {
        0 => Bound::Unbounded,
        1 => Bound::Included(key),
        _ => Bound::Excluded(key),
    }
}

async fn compare(machine: &SimMachine, rng: &mut StdRng) {
    let keys = [20, 400, 100_000][rng.random_range(0..3)];
    let file = RunFile::create(&machine.env()).await.unwrap();
    let (mut runs, mut newest) = (Runs::default(), Map::new());
    for _ in 0..rng.random_range(1..5) {
        let map = random_map(rng, keys);
        let run = write(&file, &runs, &map).await;
        runs.0.push(run);
        // Now and then it is taken back, and another is in its place.
        if rng.random_bool(0.2) {
            runs.get(INDEX, map.keys().next().unwrap()).await.unwrap();
            runs.0.pop();
        } else {
            newest.extend(map);
        }
    }
    assert!(runs.touches(INDEX) != runs.0.is_empty() && !runs.touches(IndexId(8)));
    for key in 0..200.min(keys) {
        let key = key.to_be_bytes();
        assert_eq!(runs.get(INDEX, &key).await.unwrap(), newest.get(&key[..]).cloned());
    }
    for key in newest.keys() {
        assert_eq!(runs.get(INDEX, key).await.unwrap().as_ref(), newest.get(key));
        assert_eq!(runs.get(IndexId(9), key).await.unwrap(), Some(None));
    }
    for _ in 0..20 {
        let (lower, upper) = (random_bound(rng, keys), random_bound(rng, keys));
        let backward = rng.random_bool(0.5);
        let is_in = |key: &Vec<u8>| {
            let above = match &lower {
                Bound::Unbounded => true,
                Bound::Included(bound) => key >= bound,
                Bound::Excluded(bound) => key > bound,
            };
            above
                && match &upper {
                    Bound::Unbounded => true,
                    Bound::Included(bound) => key <= bound,
                    Bound::Excluded(bound) => key < bound,
                }
        };
        let mut expected: Vec<_> = newest.iter().filter(|(key, _)| is_in(key)).collect();
        if backward {
            expected.reverse();
        }
        let range = (lower.clone().map(Bytes::from), upper.clone().map(Bytes::from));
        let mut cursor = runs.cursor(INDEX, range, backward);
        let mut found = Vec::new();
        loop {
            cursor.fill().await.unwrap();
            let Some((key, write)) = cursor.pop() else { break };
            found.push((key.to_vec(), write));
        }
        assert!(found.iter().map(|(key, write)| (key, write)).eq(expected), "{lower:?} {upper:?} {backward}");
    }
}

#[test]
fn runs_are_maps() {
    for seed in 0..40 {
        let machine = SimMachine::new(seed);
        let mut rng = StdRng::seed_from_u64(seed);
        machine.run(compare(&machine, &mut rng)).unwrap();
        machine.run(machine.env().clock.sleep(std::time::Duration::from_secs(1))).unwrap();
        assert!(machine.files().is_empty(), "files go with their runs: {:?}", machine.files());
    }
}

#[test]
fn a_flipped_bit_is_found() {
    let machine = SimMachine::new(1);
    let map = Map::from([(vec![1], Some(Bytes::from_static(b"one"))), (vec![2], None)]);
    let file = machine.run(RunFile::create(&machine.env())).unwrap().unwrap();
    let run = machine.run(write(&file, &Runs::default(), &map)).unwrap();
    let name = machine.files().into_iter().next().unwrap();
    // The first block is that of index 3.
    let offset = machine.contents(&name).unwrap().len() as u64 / 3;
    machine.flip_bit(&name, (offset + 30) * 8);
    let runs = Runs(vec![run]);
    assert_eq!(machine.run(runs.get(IndexId(3), &[1])).unwrap().unwrap(), Some(None));
    let found = [machine.run(runs.get(INDEX, &[1])).unwrap(), machine.run(runs.get(IndexId(9), &[1])).unwrap()];
    assert!(found.iter().any(|found| found.as_ref().is_err_and(|error| error.to_string().contains("damaged"))));
}

/// Blocks of equal length, with right checksums, of another file, of another place, of a run that was there before.
#[test]
fn a_block_of_another_place_is_not_taken_for_this_one() {
    let machine = SimMachine::new(2);
    let map = |byte: u8| Map::from([(vec![1], Some(Bytes::from(vec![byte; 50])))]);
    let mut runs = Vec::new();
    let mut contents = Vec::new();
    for byte in [1, 2] {
        let file = machine.run(RunFile::create(&machine.env())).unwrap().unwrap();
        runs.push((file.clone(), machine.run(write(&file, &Runs::default(), &map(byte))).unwrap()));
        contents.push((file.path.clone(), machine.contents(&file.path).unwrap()));
    }
    let put = |path: &str, bytes: &[u8]| {
        let (env, path, bytes) = (machine.env(), path.to_owned(), io::IoBuf::copy_of(bytes));
        let how = io::OpenOptions { write: true, ..io::OpenOptions::default() };
        machine.run(async move { env.disk.open(&path, how).await.unwrap().write_at(0, bytes).await.unwrap() }).unwrap();
    };
    let get = |run: &Arc<Run>| machine.run(Runs(vec![run.clone()]).get(INDEX, &[1])).unwrap();
    let (file, run) = &runs[0];
    put(&contents[0].0, &contents[1].1);
    assert!(get(run).unwrap_err().to_string().contains(&format!("{} is damaged at offset", file.path)));
    // The place is used again; the write is lost.
    let later = machine.run(write(file, &Runs::default(), &map(3))).unwrap();
    put(&contents[0].0, &contents[0].1);
    assert!(get(&later).unwrap_err().to_string().contains("is damaged at offset"));
}
