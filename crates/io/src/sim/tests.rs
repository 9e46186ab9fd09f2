//! The simulation keeps its own promises.

use std::io::ErrorKind;

use super::*;
use crate::{IoBuf, OpenOptions};

const WRITE: OpenOptions = OpenOptions {
    create: true,
    create_new: false,
    write: true,
    direct: false,
    dsync: false,
    mode: crate::IoMode::Inline,
};

#[test]
fn synced_bytes_survive_and_unsynced_ones_may_not() {
    let mut lost = 0;
    for seed in 0..100 {
        let machine = SimMachine::new(seed);
        let env = machine.env();
        machine
            .run(async {
                let file = env.disk.open("a", WRITE).await.unwrap();
                file.write_at(0, IoBuf::copy_of(&[1; 2000])).await.unwrap();
                file.sync().await.unwrap();
                env.disk.sync_dir("").await.unwrap();
                file.write_at(2000, IoBuf::copy_of(&[2; 2000])).await.unwrap();
            })
            .unwrap();
        machine.crash();
        let contents = machine.contents("a").expect("the name was synced");
        assert_eq!(&contents[..2000], &[1; 2000], "seed {seed}");
        lost += u64::from(contents.len() < 4000 || contents[2000..] != [2; 2000]);
    }
    assert!((20..100).contains(&lost), "{lost} of 100 seeds lost or tore the unsynced write");
}

#[test]
fn a_seed_repeats() {
    let run = |seed| {
        let machine = SimMachine::new(seed);
        let env = machine.env();
        machine
            .run(async {
                let file = env.disk.open("a", WRITE).await.unwrap();
                for n in 0..20u8 {
                    file.write_at(u64::from(n) * 600, IoBuf::copy_of(&[n; 1200])).await.unwrap();
                }
                env.disk.sync_dir("").await.unwrap();
            })
            .unwrap();
        machine.crash();
        (machine.contents("a"), machine.world().elapsed())
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}

#[test]
fn unsynced_names_roll_back() {
    let missing = (0..50)
        .filter(|&seed| {
            let machine = SimMachine::new(seed);
            let env = machine.env();
            machine.run(async { env.disk.open("a", WRITE).await.map(drop) }).unwrap().unwrap();
            machine.crash();
            !machine.files().contains("a")
        })
        .count();
    assert!((10..40).contains(&missing));
}

#[test]
fn power_fails_in_the_chosen_operation_and_old_handles_are_dead() {
    let machine = SimMachine::new(1);
    let env = machine.env();
    let file = machine.run(async { env.disk.open("a", WRITE).await.unwrap() }).unwrap();
    machine.crash_after(2);
    let result = machine.run(async {
        file.write_at(0, IoBuf::copy_of(b"x")).await.unwrap();
        file.sync().await.unwrap();
    });
    assert_eq!(result, Err(Crashed));
    machine.crash();
    assert!(machine.run(async { file.sync().await }).unwrap().is_err());
}

#[test]
fn full_disk_and_locks() {
    let machine = SimMachine::new(1);
    machine.set_faults(Faults { capacity: Some(1000), ..Faults::default() });
    let env = machine.env();
    machine
        .run(async {
            let file = env.disk.open("a", WRITE).await.unwrap();
            file.write_at(0, IoBuf::zeroed(990)).await.unwrap();
            let error = file.write_at(980, IoBuf::copy_of(&[7; 30])).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::StorageFull);
            assert_eq!(machine.contents("a").unwrap()[980..], [7; 20], "what fits was written");
            assert_eq!(machine.used_bytes(), 1000);
            file.write_at(0, IoBuf::zeroed(1000)).await.unwrap();
            let guard = env.disk.lock("lock").await.unwrap();
            assert_eq!(env.disk.lock("lock").await.map(drop).unwrap_err().kind(), ErrorKind::WouldBlock);
            drop(guard);
            env.disk.lock("lock").await.unwrap();
        })
        .unwrap();
}

#[test]
fn connections_carry_bytes_in_order_until_they_are_cut() {
    let world = SimWorld::new(3);
    let (server, client) = (world.machine(), world.machine());
    let sent: Vec<u8> = (0..200_000u32).map(|n| n as u8).collect();
    let data = sent.clone();
    let env = server.env();
    world
        .run(async {
            let listener = env.network.listen("server:0").await.unwrap();
            let address = listener.address();
            let client_env = client.env();
            client.env().spawner.spawn(
                "client",
                Box::pin(async move {
                    let mut stream = client_env.network.connect(&address).await.unwrap();
                    stream.write_all(&data).await.unwrap();
                }),
            );
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut received = Vec::new();
            while stream.read(&mut received, 5000).await.unwrap() > 0 {}
            assert_eq!(received, sent);

            let mut near = env.network.connect(&listener.address()).await.unwrap();
            world.cut_connections();
            assert!(near.read(&mut received, 1).await.is_err());
        })
        .unwrap();
}

#[test]
fn time_is_virtual() {
    let machine = SimMachine::new(1);
    let env = machine.env();
    machine.run(env.clock.sleep(Duration::from_secs(3600))).unwrap();
    assert_eq!(machine.world().elapsed(), Duration::from_secs(3600));
}

/// A write through `O_DSYNC` says nothing of the writes before it.
#[test]
fn a_durable_write_takes_its_own_pages_along_and_no_others() {
    let mut lost = 0;
    for seed in 0..50 {
        let machine = SimMachine::new(seed);
        let run = async {
            let disk = machine.env().disk;
            let how = OpenOptions { create: true, write: true, ..OpenOptions::default() };
            let plain = disk.open("f", how).await.unwrap();
            disk.sync_dir("").await.unwrap();
            plain.write_at(0, IoBuf::zeroed(12288)).await.unwrap();
            plain.sync().await.unwrap();
            plain.write_at(0, IoBuf::copy_of(&[1; 4100])).await.unwrap();
            let through = disk.open("f", OpenOptions { dsync: true, ..how }).await.unwrap();
            through.write_at(4200, IoBuf::copy_of(&[2; 100])).await.unwrap();
        };
        machine.run(run).unwrap();
        machine.crash();
        let bytes = machine.contents("f").unwrap();
        assert_eq!(&bytes[4096..4100], [1; 4], "seed {seed}: written before, on the same page");
        assert!(bytes[4200..4300].iter().all(|&b| b == 2), "seed {seed}");
        lost += u32::from(bytes[..4096] != [1; 4096]);
    }
    assert!(lost > 10, "{lost}");
}

/// What the disk does wrong shows at once and after a crash, and is mended without taking later writes along.
#[test]
fn damage_is_done_and_mended() {
    for seed in 0..200 {
        for damage in Damage::ALL {
            let machine = SimMachine::new(seed);
            let env = machine.env();
            let write = async |name: &str, at: u64, byte: u8| {
                let how = OpenOptions { dsync: seed % 2 == 0, ..WRITE };
                let file = env.disk.open(name, how).await.unwrap();
                file.write_at(at, IoBuf::copy_of(&[byte; 4096])).await.unwrap();
                file.sync().await.unwrap();
            };
            let run = async {
                for block in 0..3 {
                    write("a", block * 4096, 1).await;
                    write("b", block * 4096, 2).await;
                }
                env.disk.sync_dir("").await.unwrap();
                if damage == Damage::FlippedBit {
                    write("a", 4096, 3).await;
                    machine.damage(damage, "a");
                } else {
                    machine.damage(damage, "a");
                    write("a", 4096, 3).await;
                }
                assert!(!machine.damaged().is_empty(), "seed {seed}: {damage:?}");
                write("b", 8192, 4).await;
            };
            machine.run(run).unwrap();
            if seed % 3 == 0 {
                machine.crash();
            }
            let damaged = machine.damaged();
            machine.mend();
            let right = |first: u8, second: u8, third: u8| [[first; 4096], [second; 4096], [third; 4096]].concat();
            assert_eq!(machine.contents("a").unwrap(), right(1, 3, 1), "seed {seed}: {damage:?} {damaged:?}");
            assert_eq!(machine.contents("b").unwrap(), right(2, 2, 4), "seed {seed}: {damage:?} {damaged:?}");
            assert!(machine.damaged().is_empty());
        }
    }
}

#[test]
fn clocks_jump_and_time_goes_on() {
    let machine = SimMachine::new(1);
    let clock = machine.env().clock;
    let (now, since) = (clock.now(), clock.monotonic());
    machine.set_clock(-3_600_000_000);
    machine.run(clock.sleep(Duration::from_secs(1))).unwrap();
    assert_eq!(clock.now().0, now.0 - 3_599_000_000);
    assert_eq!(clock.monotonic() - since, Duration::from_secs(1));
}

/// Nobody hears of a silent death: reads wait, writes go nowhere.
#[test]
fn a_silent_death_is_not_told() {
    let world = SimWorld::new(5);
    let (a, b) = (world.machine(), world.machine());
    let run = async {
        let listener = b.env().network.listen("b:1").await.unwrap();
        let mut stream = a.env().network.connect("b:1").await.unwrap();
        let (mut far, _) = listener.accept().await.unwrap();
        far.write_all(b"late").await.unwrap();
        world.set_silent_deaths(true);
        b.kill();
        stream.write_all(b"anybody there?").await.unwrap();
        let clock = a.env().clock;
        let read = async { stream.read(&mut Vec::new(), 100).await.is_ok() };
        let late = async {
            clock.sleep(Duration::from_secs(100)).await;
            false
        };
        assert!(!futures_lite::future::or(read, late).await);
    };
    world.run(run).unwrap();
}

#[test]
fn large_stale_files_are_removed_by_and_by() {
    let machine = SimMachine::new(3);
    let done = machine.run(async {
        let env = machine.env();
        for (name, size) in
            [("stale.1", 100), ("stale.2", 64 << 20), ("stale.3.removed", 64 << 20), ("other", 64 << 20)]
        {
            env.disk.open(name, WRITE).await.unwrap().set_len(size).await.unwrap();
        }
        env.remove_stale("", "stale.").await.unwrap();
        let left = machine.files();
        assert!(!left.contains("stale.1") && !left.contains("stale.2"), "{left:?}");
        env.clock.sleep(std::time::Duration::from_secs(1)).await;
        assert_eq!(machine.files().into_iter().collect::<Vec<_>>(), ["other"]);
    });
    done.unwrap();
}

/// No step gives back so much that a sync would have to wait for it.
#[test]
fn large_files_are_removed_in_pieces() {
    let machine = SimMachine::new(3);
    let done = machine.run(async {
        let env = machine.env();
        env.disk.open("large", WRITE).await.unwrap().set_len(200 << 20).await.unwrap();
        env.remove_aside("large", "aside".to_owned()).await.unwrap();
        let file = env.disk.open("aside", OpenOptions::default()).await.unwrap();
        let (mut before, mut pieces) = (200 << 20, 0);
        while machine.files().contains("aside") {
            env.clock.sleep(std::time::Duration::from_millis(1)).await;
            let now = file.len().await.unwrap();
            assert!(before - now <= 32 << 20, "{before} became {now}");
            pieces += usize::from(now < before);
            before = now;
        }
        assert!(pieces >= 6 && !machine.files().contains("large"), "{pieces}");
    });
    done.unwrap();
}
