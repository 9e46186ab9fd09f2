//! A relay that copies another relay, in a simulated world: crashes, lost connections, another history.

use std::sync::Arc;
use std::time::Duration;

use io::sim::{Crashed, SimMachine, SimWorld};
use io::{Env, OpenOptions};
use session::Peer;
use session::transport::StreamTransport;
use wire::client::Credentials;

use super::store::{FILES, Log};
use crate::status::Running;
use crate::store::Store;
use crate::{Relay, RelayError, RelayOptions, Source};

fn options(host: &str, password: &str) -> RelayOptions {
    let (user, password) = ("repl".to_owned(), password.to_owned());
    let credentials = Credentials { user: user.clone(), password: password.clone(), ..Credentials::default() };
    RelayOptions {
        source: Source { host: host.to_owned(), port: 3306, credentials, tls: None },
        start_file: None,
        server_id: None,
        port: 3306,
        user,
        password,
        max_connections: 10,
        expire: None,
        space_limit: None,
    }
}

/// A relay that has a whole log, and serves it under that name.
async fn source(env: Env, name: &'static str, log: &Log) {
    let mut writer = Store::open(env.clone()).await.unwrap();
    log.copy(&mut writer, |_| {}).await.unwrap();
    drop(writer);
    let relay = Relay::open(env.clone(), options("nowhere", "secret")).await.unwrap();
    let listener = env.network.listen(&format!("{name}:3306")).await.unwrap();
    let accept = {
        let env = env.clone();
        async move {
            while let Ok((stream, _)) = listener.accept().await {
                let transport = StreamTransport::new(stream, Peer::default());
                env.spawner.spawn("connection", Box::pin(Arc::clone(&relay).serve(transport)));
            }
        }
    };
    env.spawner.spawn("listener", Box::pin(accept));
}

fn is_copy(machine: &SimMachine, log: &Log) -> bool {
    FILES.iter().enumerate().all(|(at, name)| machine.contents(name).is_some_and(|bytes| bytes == log.bytes(at)))
}

/// Copies until all is here.
async fn copy(machine: &SimMachine, log: &Log) {
    let relay = Relay::open(machine.env(), options("source", "secret")).await.unwrap();
    while !is_copy(machine, log) {
        let status = relay.status.get();
        assert_ne!(status.running, Running::No, "{:?}", status.error);
        machine.env().clock.sleep(Duration::from_millis(20)).await;
    }
}

#[test]
fn a_copy_over_the_network_survives_crashes_and_lost_connections() {
    let log = Log::new();
    let mut crashes = 0;
    for seed in 0..60 {
        let world = SimWorld::new(seed);
        let (first, second) = (world.machine(), world.machine());
        world.run(source(first.env(), "source", &log)).unwrap();
        for attempt in 0.. {
            if attempt < 5 {
                second.crash_after(1 + world.below(60));
            } else {
                second.crash_after(u64::MAX);
            }
            match world.run(copy(&second, &log)) {
                Ok(()) => break,
                Err(Crashed) => {
                    crashes += 1;
                    second.crash();
                }
            }
        }
        assert!(is_copy(&second, &log), "seed {seed}");
        world.end();
    }
    assert!(crashes > 60, "only {crashes}");
}

#[test]
fn another_history_is_refused_and_nothing_is_changed() {
    let (log, other) = (Log::new(), Log::with_size(51));
    let world = SimWorld::new(1);
    let (first, second, third) = (world.machine(), world.machine(), world.machine());
    let run = async {
        source(first.env(), "source", &log).await;
        source(third.env(), "other", &other).await;
        copy(&second, &log).await;
    };
    world.run(run).unwrap();
    second.kill();
    let again = async {
        let relay = Relay::open(second.env(), options("other", "secret")).await.unwrap();
        while relay.status.get().running != Running::No {
            second.env().clock.sleep(Duration::from_millis(20)).await;
        }
        relay.status.get().error.unwrap().0
    };
    let error = world.run(again).unwrap();
    assert!(matches!(error, RelayError::OtherHistory { .. }), "{error}");
    assert!(error.to_string().contains("bin.000003"), "{error}");
    assert!(is_copy(&second, &log));
    world.end();
}

#[test]
fn a_wrong_password_is_told_and_tried_again() {
    let log = Log::new();
    let world = SimWorld::new(2);
    let (first, second) = (world.machine(), world.machine());
    let run = async {
        source(first.env(), "source", &log).await;
        let relay = Relay::open(second.env(), options("source", "wrong")).await.unwrap();
        second.env().clock.sleep(Duration::from_secs(3)).await;
        let status = relay.status.get();
        assert_eq!(status.running, Running::Connecting);
        assert_eq!(status.error.unwrap().0.code(), 1045);
        // Without a file there is nothing to serve, and nothing was made.
        let options = OpenOptions::default();
        assert!(second.env().disk.open(FILES[0], options).await.is_err());
    };
    world.run(run).unwrap();
    world.end();
}
