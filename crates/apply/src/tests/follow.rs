//! A follower beside its source: the same bytes in its log, the same states in its engine.

use std::time::Duration;

use base::Gtid;
use binlog::LogReceiver;
use engine::RowImage;
use futures_lite::future;
use io::sim::SimWorld;

use super::*;

/// Copies the source's log, as a connection would: whole events, flushed now and then.
async fn copy_log(source: &Arc<Engine>, follower: &Arc<Engine>, receiver: &mut LogReceiver, until: base::LogPosition) {
    let mut reader = source.log().reader(receiver.position());
    while reader.position() < until {
        let Some(event) = reader.next_event().await.unwrap() else { break };
        receiver.start_file(&source.log().file_name(event.start.file)).await.unwrap();
        receiver.append(&event.bytes).await.unwrap();
        if receiver.unflushed() > 2000 {
            receiver.flush().await.unwrap();
        }
    }
    receiver.flush().await.unwrap();
    assert_eq!(follower.log().durable_end(), until);
}

/// Looks at the states that it shows, for ever.
async fn look(follower: &Arc<Engine>, world: &SimWorld) {
    loop {
        if follower.catalog().table("d", "marks").is_some() {
            check(follower).await;
        }
        follower.env().clock.sleep(Duration::from_micros(world.below(500))).await;
    }
}

async fn wait_for(follower: &Arc<Engine>, applier: &Applier, end: base::LogPosition) {
    while follower.visible().1 < end {
        assert!(applier.status().error.is_none(), "{:?}", applier.status());
        follower.env().clock.sleep(Duration::from_millis(1)).await;
    }
}

#[test]
fn a_follower_shows_only_prefixes_and_ends_where_its_source_is() {
    for seed in 0..20 {
        let world = SimWorld::new(seed);
        let (source, follower) = (world.machine(), world.machine());
        world
            .run(async {
                let (source, _) = open_source(source.env()).await.unwrap();
                let follower_options = EngineOptions { follower: true, ..options() };
                let (engine, _) = open(follower.env(), follower_options.clone()).await.unwrap();
                let applier = Applier::new(
                    engine.clone(),
                    ApplyOptions { workers: 1 + (seed % 3) as usize, ..Default::default() },
                );
                applier.start();
                let mut receiver = LogReceiver::new(engine.take_writer().unwrap());
                make_tables(&source).await.unwrap();
                for round in 0..6 {
                    for id in 0..40 {
                        let row_image = if world.below(3) == 0 { RowImage::Minimal } else { RowImage::Full };
                        let gtid = gtid_of(id);
                        let options = TxnOptions { row_image, gtid, ..TxnOptions::new(SessionHandle::internal()) };
                        count_up_in(source.begin(options), &source, round * 100 + id, "note").await.unwrap();
                    }
                    let end = source.visible().1;
                    let copies = copy_log(&source, &engine, &mut receiver, end);
                    future::or(copies, look(&engine, &world)).await;
                    match world.below(3) {
                        0 => {
                            applier.stop().await;
                            assert!(!applier.status().is_running);
                            check(&engine).await;
                            applier.start();
                        }
                        1 => drop(engine.checkpoint().await.unwrap()),
                        _ => ddl(&source, &table_sql(&format!("t{round}"))).await.unwrap(),
                    }
                }
                let end = source.visible().1;
                copy_log(&source, &engine, &mut receiver, end).await;
                future::or(wait_for(&engine, &applier, end), look(&engine, &world)).await;
                assert_eq!(check(&engine).await, 240);
                assert_eq!(engine.visible(), source.visible());
                assert_eq!(engine.gtid_executed(), source.gtid_executed());
                assert!(engine.gtid_executed().has_tags());
                let status = applier.status();
                assert!(status.error.is_none() && status.is_running, "{status:?}");
                assert!(status.transactions >= 240 && status.schema_changes >= 3, "{status:?}");
                applier.stop().await;
            })
            .unwrap();
    }
}

#[test]
fn what_cannot_be_applied_stops_it_and_says_why() {
    let machine = machine(1);
    machine
        .run(async {
            let (engine, _) = open(machine.env(), options()).await.unwrap();
            let mut writer = engine.take_writer().unwrap();
            let text = "nonsense from elsewhere";
            let transaction =
                binlog::TransactionEncoder::ddl(&Default::default(), &Default::default(), text, &[], None).unwrap();
            let reservation = engine.log().reserve(transaction.max_size()).await.unwrap();
            let number = engine.visible().0.next();
            let stamp = binlog::PlaceStamp {
                commit_number: number,
                last_committed: engine.visible().0,
                commit_time: engine.env().clock.now(),
            };
            let placed = writer.place(&transaction, &stamp, reservation);
            writer.flush(io::IoMode::Offload).await.unwrap();
            let applier = Applier::new(engine.clone(), ApplyOptions::default());
            applier.start();
            while applier.status().is_running {
                engine.env().clock.sleep(Duration::from_millis(1)).await;
            }
            let error = applier.status().error.unwrap();
            let ApplyError::Ddl { at, sql, .. } = &error else { panic!("{error}") };
            assert_eq!((*at, sql.as_str()), (placed.start, text));
            assert!(engine.visible().0 < number);
        })
        .unwrap();
}

/// Stops before or behind the transaction that is so many further on.
struct Behind {
    left: u64,
    before: bool,
}

impl StopAt for Behind {
    fn stops_before(&self, _: Gtid) -> bool {
        self.before && self.left == 1
    }

    fn applied(&mut self, _: Gtid) {
        self.left -= 1;
    }

    fn is_reached(&self, _: base::LogPosition) -> bool {
        self.left == 0
    }
}

#[test]
fn stops_exactly_where_it_is_told_and_goes_on() {
    for seed in 0..20 {
        let world = SimWorld::new(seed);
        let (source, follower) = (world.machine(), world.machine());
        let run = async {
            let (source, _) = open_source(source.env()).await.unwrap();
            let (engine, _) = open(follower.env(), EngineOptions { follower: true, ..options() }).await.unwrap();
            let mut receiver = LogReceiver::new(engine.take_writer().unwrap());
            make_tables(&source).await.unwrap();
            for id in 0..300 {
                count_up(&source, id, "note").await.unwrap();
                if world.below(40) == 0 {
                    ddl(&source, &table_sql(&format!("t{id}"))).await.unwrap();
                }
            }
            let end = source.visible();
            copy_log(&source, &engine, &mut receiver, end.1).await;
            let applier = Applier::new(engine.clone(), ApplyOptions { workers: 2, ..Default::default() });
            while engine.visible().0 < end.0 {
                let (from, left) = (engine.visible().0.0, 1 + world.below(120));
                let before = world.below(2) == 0;
                assert!(applier.start_until(Some(Box::new(Behind { left, before })), Duration::ZERO));
                assert!(!applier.start_until(None, Duration::ZERO), "it runs, and goes on as it was told");
                let wanted = from + left - u64::from(before);
                while applier.status().is_running && engine.visible() != end {
                    engine.env().clock.sleep(Duration::from_millis(1)).await;
                }
                assert_eq!(engine.visible().0.0, wanted.min(end.0.0), "seed {seed}");
            }
            assert_eq!(check(&engine).await, 300);
            // All of it is applied where that is wanted, whatever was said before.
            applier.stop().await;
            applier.finish().await.unwrap();
        };
        world.run(run).unwrap();
    }
}

#[test]
fn takes_nothing_before_it_is_due() {
    const DELAY: Duration = Duration::from_secs(5);
    for seed in 0..20 {
        let world = SimWorld::new(seed);
        let (source, follower) = (world.machine(), world.machine());
        let run = async {
            let (source, _) = open_source(source.env()).await.unwrap();
            let (engine, _) = open(follower.env(), EngineOptions { follower: true, ..options() }).await.unwrap();
            let clock = engine.env().clock.clone();
            let mut receiver = LogReceiver::new(engine.take_writer().unwrap());
            make_tables(&source).await.unwrap();
            let mut commits = Vec::new();
            for id in 0..50 {
                clock.sleep(Duration::from_micros(world.below(1_000_000))).await;
                let before = clock.now();
                count_up(&source, id, "note").await.unwrap();
                commits.push((before, source.visible().0));
            }
            let end = source.visible();
            copy_log(&source, &engine, &mut receiver, end.1).await;
            let applier = Applier::new(engine.clone(), ApplyOptions { workers: 2, ..Default::default() });
            assert!(applier.start_until(None, DELAY));
            let mut waited = 0;
            while engine.visible().0 < commits[40].1 {
                clock.sleep(Duration::from_micros(world.below(50_000))).await;
                let (now, visible) = (clock.now().0, engine.visible().0);
                let status = applier.status();
                assert!(status.error.is_none(), "{:?}", status.error);
                waited += u32::from(status.delayed_until.is_some_and(|due| due.0 > now));
                for (before, number) in &commits {
                    assert!(*number > visible || before.0 + DELAY.as_micros() as u64 <= now, "seed {seed}: early");
                }
                if world.below(20) == 0 {
                    applier.stop().await;
                    assert!(applier.start_until(None, DELAY));
                }
            }
            assert!(waited > 0, "seed {seed}: {waited}");
            // Whoever is to become the source waits for nothing.
            let before = clock.now();
            applier.finish().await.unwrap();
            assert!(clock.now().0 - before.0 < 1_000_000);
            assert_eq!(engine.visible(), end);
        };
        world.run(run).unwrap();
    }
}
