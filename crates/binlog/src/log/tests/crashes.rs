//! The power fails at random moments, with several groups in flight: what was acknowledged is there, what is there is a
//! prefix of what was placed, and what was cut never comes back.

use std::sync::Arc;

use futures_lite::future;
use io::sim::Faults;
use parking_lot::Mutex;

use super::*;

/// What the test knows of the log across crashes.
#[derive(Default)]
struct Model {
    /// Texts that recovery found, or that were acknowledged since.
    acknowledged: Vec<String>,
    /// Texts placed since the last recovery, in order, after the acknowledged ones of that moment.
    placed: Vec<String>,
    counter: u64,
}

/// Places and syncs with up to three groups in flight until the machine crashes.
async fn load(machine: &SimMachine, model: &Arc<Mutex<Model>>) -> Result<()> {
    let Opened { log, mut writer, .. } = open(&machine.env(), OpenAs::Source).await?;
    let found = read_texts(&log, LogPosition::default()).await?;
    check(&model.lock(), &found, machine);
    {
        let mut model = model.lock();
        model.acknowledged = found.clone();
        model.placed = found;
    }
    loop {
        let mut groups = Vec::new();
        for _ in 0..1 + machine.world().below(3) {
            for _ in 0..1 + machine.world().below(4) {
                let number = log.gtid_executed().count() + writer.group.buf.len() as u64 + 1;
                let text = {
                    let mut model = model.lock();
                    model.counter += 1;
                    let text = text_of(model.counter);
                    model.placed.push(text.clone());
                    text
                };
                place(&mut writer, number.max(1), &text).await?;
            }
            while let Some(group) = writer.take_group() {
                groups.push((group, model.lock().placed.len()));
            }
        }
        // All are written and synced at once; announced in order.
        let stores = groups.into_iter().map(|(mut group, placed)| async move {
            group.write(IoMode::Inline, false).await?;
            group.sync(IoMode::Inline).await?;
            Ok::<_, BinlogError>((group, placed))
        });
        for (group, placed) in join(stores.collect()).await? {
            log.make_durable(&group);
            let mut model = model.lock();
            model.acknowledged = model.placed[..placed].to_vec();
            writer.recycle(group);
        }
    }
}

/// Polls all in turn until each is ready.
async fn join<T>(futures: Vec<impl Future<Output = Result<T>>>) -> Result<Vec<T>> {
    let mut futures: Vec<_> = futures.into_iter().map(|future| (Box::pin(future), None)).collect();
    future::poll_fn(|context| {
        for (future, result) in futures.iter_mut().filter(|(_, result)| result.is_none()) {
            if let std::task::Poll::Ready(value) = future.as_mut().poll(context) {
                *result = Some(value);
            }
        }
        if futures.iter().all(|(_, result)| result.is_some()) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    futures.into_iter().filter_map(|(_, result)| result).collect()
}

fn check(model: &Model, found: &[String], machine: &SimMachine) {
    let seed = machine.world().seed();
    assert!(found.len() >= model.acknowledged.len(), "seed {seed}: an acknowledged transaction is lost");
    assert!(model.placed.starts_with(found), "seed {seed}: not a prefix of what was placed");
}

/// An open that fails in its middle, at any sync, leaves nothing that the next one takes for durable and that is not: not even
/// the mark that says that a file is complete.
#[test]
fn an_open_that_failed_costs_nothing_later() {
    let mut failed = 0;
    for seed in 0..300 {
        let machine = machine(seed);
        let first = async {
            let Opened { mut writer, .. } = open(&machine.env(), OpenAs::Source).await?;
            write(&mut writer, 1..4).await
        };
        machine.run(first).unwrap().unwrap();
        machine.kill();
        machine.set_faults(Faults { sync_error: 0.3, ..Faults::default() });
        failed += u32::from(machine.run(open(&machine.env(), OpenAs::Source)).unwrap().is_err());
        machine.kill();
        machine.set_faults(Faults::default());
        let second = async {
            let Opened { mut writer, .. } = open(&machine.env(), OpenAs::Source).await?;
            write(&mut writer, 4..8).await
        };
        machine.run(second).unwrap().unwrap();
        machine.crash();
        let found = async {
            let Opened { log, .. } = open(&machine.env(), OpenAs::Source).await?;
            read_texts(&log, LogPosition::default()).await
        };
        assert_eq!(machine.run(found).unwrap().unwrap(), texts(1..8), "seed {seed}");
    }
    assert!(failed > 100, "only {failed} failed");
}

#[test]
fn crashes_lose_nothing_acknowledged() {
    for seed in 0..500 {
        let machine = machine(seed);
        let model = Arc::new(Mutex::new(Model::default()));
        for _ in 0..4 {
            machine.crash_after(20 + machine.world().below(150));
            match machine.run(load(&machine, &model)) {
                // Who finds what a killed process has left finds it in the system's cache, and it may not be on the medium.
                Err(io::sim::Crashed) if machine.world().below(3) == 0 => machine.kill(),
                Err(io::sim::Crashed) => machine.crash(),
                Ok(result) => panic!("seed {seed}: {result:?}"),
            }
        }
    }
}
