//! The operating system's files, network and timers do what the traits promise.

use std::io::ErrorKind;
use std::time::Duration;

use super::*;
use crate::{IoBuf, IoMode, OpenOptions};

fn with_env(name: &str, offload: Offload, test: impl AsyncFnOnce(Env)) {
    let root = std::env::temp_dir().join(format!("commuter-io-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&root);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let env = environment(root.clone(), offload, runtime.handle().clone()).unwrap();
    futures_lite::future::block_on(test(env));
    std::fs::remove_dir_all(&root).unwrap();
}

async fn files_work(env: Env, mode: IoMode) {
    let options = OpenOptions { create: true, write: true, mode, ..OpenOptions::default() };
    env.disk.create_dir("sub").await.unwrap();
    let file = env.disk.open("sub/a", options).await.unwrap();
    let data: Vec<u8> = (0..100_000u32).map(|n| n as u8).collect();
    let back = file.write_at(4096, IoBuf::copy_of(&data)).await.unwrap();
    assert_eq!(&back[..], &data[..]);
    file.sync().await.unwrap();
    let read = file.read_at(4096 + 5, IoBuf::zeroed(1000)).await.unwrap();
    assert_eq!(&read[..], &data[5..1005]);
    let beyond = file.read_at(104_000, IoBuf::zeroed(4096)).await.unwrap_err();
    assert_eq!(beyond.kind(), ErrorKind::UnexpectedEof);
    assert_eq!(file.len().await.unwrap(), 104_096);
    file.set_len(10).await.unwrap();
    assert_eq!(file.len().await.unwrap(), 10);
    env.disk.rename("sub/a", "sub/b").await.unwrap();
    env.disk.sync_dir("sub").await.unwrap();
    assert_eq!(env.disk.list("sub").await.unwrap(), ["b"]);
    env.disk.remove("sub/b").await.unwrap();
    assert!(!env.disk.exists("sub/b").await.unwrap());
    let error = env.disk.open("sub/b", OpenOptions::default()).await.map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(env.disk.free_space().await.unwrap() > 0);
}

#[test]
fn inline_files() {
    with_env("inline", Offload::Threads(1), async |env| files_work(env, IoMode::Inline).await);
}

#[test]
fn worker_thread_files() {
    with_env("threads", Offload::Threads(2), async |env| files_work(env, IoMode::Offload).await);
}

#[test]
fn uring_files() {
    with_env("uring", Offload::Uring, async |env| files_work(env, IoMode::Offload).await);
}

#[test]
fn many_uring_operations_at_once() {
    with_env("uring-many", Offload::Uring, async |env| {
        let options = OpenOptions { create: true, write: true, direct: true, ..OpenOptions::default() };
        let file = env.disk.open("a", options).await.unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        for page in 0..1000u64 {
            let (file, sender) = (file.clone(), sender.clone());
            let task = async move {
                let mut buf = IoBuf::zeroed(4096);
                buf.fill(page as u8);
                file.write_at(page * 4096, buf).await.unwrap();
                let read = file.read_at(page * 4096, IoBuf::zeroed(4096)).await.unwrap();
                sender.send(read.iter().all(|&byte| byte == page as u8)).unwrap();
            };
            env.spawner.spawn("page", Box::pin(task));
        }
        drop(sender);
        assert_eq!(receiver.iter().filter(|&right| right).count(), 1000);
    });
}

#[test]
fn lock_is_exclusive() {
    with_env("lock", Offload::Threads(1), async |env| {
        let guard = env.disk.lock("lock").await.unwrap();
        assert_eq!(env.disk.lock("lock").await.map(drop).unwrap_err().kind(), ErrorKind::WouldBlock);
        drop(guard);
        env.disk.lock("lock").await.unwrap();
    });
}

#[test]
fn network_and_timers_work_from_any_thread() {
    with_env("net", Offload::Threads(1), async |env| {
        let listener = env.network.listen("127.0.0.1:0").await.unwrap();
        let mut client = env.network.connect(&listener.address()).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        let (mut reader, mut writer) = server.split();
        client.write_all(b"ping").await.unwrap();
        let mut got = Vec::new();
        reader.read(&mut got, 100).await.unwrap();
        assert_eq!(got, b"ping");
        writer.write_all(b"pong").await.unwrap();
        drop((reader, writer));
        while client.read(&mut got, 3).await.unwrap() > 0 {}
        assert_eq!(got, b"pingpong");
        env.clock.sleep(Duration::from_millis(1)).await;
        let mut random = [0; 16];
        env.random.fill(&mut random);
        assert_ne!(random, [0; 16]);
    });
}
