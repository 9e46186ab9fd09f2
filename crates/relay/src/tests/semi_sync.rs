//! Relays as source and as replica of one another, with acknowledgements.

use std::sync::Arc;
use std::time::Duration;

use binlog::event::ChecksumAlgorithm;
use io::sim::{Crashed, SimWorld};

use super::network::{Replica, following_with, options, relay_with, until};
use super::{SourceLog, go_on};
use crate::acks::Place;
use crate::gtids::Kind;
use crate::store::Store;
use crate::{Relay, RelayOptions};

fn asking(source: &str) -> RelayOptions {
    RelayOptions { replicas_wanted: 1, ..options(source, "secret") }
}

fn acknowledging(source: &str) -> RelayOptions {
    RelayOptions { acknowledges: true, ..options(source, "secret") }
}

/// The end of the log, as a place.
fn end(relay: &Relay) -> Place {
    let live = relay.store().live().unwrap();
    Place { file: live.id, offset: live.size }
}

fn is_there(store: &Store, place: Place) -> bool {
    // A stream that begins with a file says nothing of it.
    place.offset <= 4 || store.file(place.file).is_some_and(|file| file.size >= place.offset)
}

/// A machine that loses what is not synced has all that it had acknowledged.
#[test]
fn what_was_acknowledged_outlives_a_crash() {
    let (mut crashes, mut acknowledged) = (0, 0);
    for seed in 0..40 {
        let kind = [Kind::Mysql, Kind::Maria][seed as usize % 2];
        let world = SimWorld::new(seed);
        let (first, second) = (world.machine(), world.machine());
        let mut log = SourceLog::new(kind, ChecksumAlgorithm::Crc32, "a");
        let source = world.run(relay_with(&first.env(), "source", asking("nowhere"))).unwrap();
        second.crash_after(20 + world.below(120));
        let run = async {
            following_with(&second.env(), "relay", acknowledging("source")).await;
            for step in 0.. {
                (0..1 + world.below(4)).for_each(|_| log.transaction());
                if step % 7 == 6 {
                    log.rotate();
                }
                go_on(source.store(), &log, 4).await.unwrap();
                // Mostly there is more before anything is synced.
                if world.below(5) == 0 {
                    first.env().clock.sleep(Duration::from_micros(world.below(3000))).await;
                }
            }
        };
        assert!(matches!(world.run(run), Err(Crashed)));
        crashes += 1;
        let most = source.acks().most();
        second.crash();
        let store = second.run(Store::open(second.env())).unwrap().unwrap();
        if let Some(most) = most {
            assert!(is_there(&store, most), "seed {seed}: {most:?} was acknowledged, {:?} is there", store.live());
            acknowledged += u64::from(most.offset > 4);
        }
        world.end();
    }
    assert!(crashes == 40 && acknowledged > 20, "{acknowledged}");
}

/// Everything is acknowledged in the end, with files that change, transactions that a replica has already, and lost connections; and what a
/// replica behind the relay has to have too, not before it has it.
#[test]
fn all_is_acknowledged_in_the_end_by_the_last_of_a_chain() {
    for seed in 0..16 {
        let kind = [Kind::Mysql, Kind::Maria][seed as usize % 2];
        let world = SimWorld::new(seed);
        let (first, second, third) = (world.machine(), world.machine(), world.machine());
        let env = first.env();
        let run = async {
            let mut log = SourceLog::filled(kind, ChecksumAlgorithm::Crc32, "a");
            let source = relay_with(&env, "source", asking("nowhere")).await;
            go_on(source.store(), &log, 4).await.unwrap();
            let middle = RelayOptions { acknowledges: true, ..asking("source") };
            let middle = following_with(&second.env(), "middle", middle).await;
            until(&env, || middle.store().gtids() == source.store().gtids()).await;
            env.clock.sleep(Duration::from_secs(1)).await;
            // It has begun with something that it had not: nobody has that, beside it.
            assert!(source.acks().most().is_none_or(|most| most < end(&source)), "seed {seed}");
            let last: Arc<Relay> = following_with(&third.env(), "last", acknowledging("middle")).await;
            for step in 0..20 {
                (0..world.below(4)).for_each(|_| log.transaction());
                if step % 5 == 4 {
                    log.rotate();
                }
                go_on(source.store(), &log, 4).await.unwrap();
                env.clock.sleep(Duration::from_micros(world.below(5000))).await;
                // Where a replica begins again counts as what it has.
                let most = source.acks().most().unwrap_or_default();
                assert!(step > 7 || is_there(last.store(), most), "seed {seed}: {most:?}");
                if step % 8 == 7 {
                    world.cut_connections();
                }
            }
            until(&env, || source.acks().most() == Some(end(&source))).await;
            assert_eq!(last.store().gtids(), source.store().gtids());
            assert!(middle.acks().acknowledges() && last.acks().acknowledges());
        };
        world.run(run).unwrap();
        world.end();
    }
}

/// A replica that knows nothing of it is sent what it understands.
#[test]
fn others_are_not_asked() {
    for kind in [Kind::Mysql, Kind::Maria] {
        let world = SimWorld::new(1);
        let machine = world.machine();
        let env = machine.env();
        let run = async {
            let log = SourceLog::filled(kind, ChecksumAlgorithm::Crc32, "a");
            let source = relay_with(&env, "source", asking("nowhere")).await;
            go_on(source.store(), &log, 4).await.unwrap();
            Replica { kind, has: 0 }.follow(&env, "source", 18).await.unwrap();
            assert_eq!(source.acks().clients(), 0);
        };
        world.run(run).unwrap();
        world.end();
    }
}
