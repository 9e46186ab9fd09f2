//! Commits without an engine, on the real disk: `cargo bench -p engine --bench commit`.
//!
//! Each session commits 600 bytes, waits until that is durable, and begins again, as tasks of a tokio runtime. The log is
//! in `COMMIT_BENCH_DIR`, or the temporary directory. `COMMIT_BENCH_SLOW_SYNC=1000` makes each sync so many microseconds
//! slower, by a sleep, as a cloud volume would.

use std::io::Result;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::{CommitNumber, LogPosition};
use binlog::{BinaryLog, EncodedTransaction, EncoderOptions, LogOptions, OpenAs, QueryContext, TransactionEncoder};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use engine::commit::{CommitEnv, CommitError, CommitSettings, HistogramSnapshot, Pipeline, Place, SemiSync};
use io::os::{Offload, environment};
use io::{BoxFuture, Disk, Env, File, IoBuf, IoMode, LockGuard, OpenOptions};

struct NoEngine;

impl CommitEnv for NoEngine {
    type Payload = ();

    fn prepare_ordered(&self, (): &mut (), _place: &Place) {}

    fn commit_ordered(&self, _last: &Place) {}

    fn failed(&self, error: &CommitError) {
        panic!("{error}");
    }
}

/// A disk whose syncs take longer.
struct SlowDisk(Arc<dyn Disk>, Duration);

struct SlowFile {
    file: Arc<dyn File>,
    slower: Duration,
    mode: IoMode,
}

impl Disk for SlowDisk {
    fn open<'a>(&'a self, path: &'a str, options: OpenOptions) -> BoxFuture<'a, Result<Arc<dyn File>>> {
        Box::pin(async move {
            let file = self.0.open(path, options).await?;
            Ok(Arc::new(SlowFile { file, slower: self.1, mode: options.mode }) as Arc<dyn File>)
        })
    }

    fn list<'a>(&'a self, dir: &'a str) -> BoxFuture<'a, Result<Vec<String>>> {
        self.0.list(dir)
    }

    fn exists<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<bool>> {
        self.0.exists(path)
    }

    fn create_dir<'a>(&'a self, dir: &'a str) -> BoxFuture<'a, Result<()>> {
        self.0.create_dir(dir)
    }

    fn rename<'a>(&'a self, from: &'a str, to: &'a str) -> BoxFuture<'a, Result<()>> {
        self.0.rename(from, to)
    }

    fn remove<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<()>> {
        self.0.remove(path)
    }

    fn sync_dir<'a>(&'a self, dir: &'a str) -> BoxFuture<'a, Result<()>> {
        self.0.sync_dir(dir)
    }

    fn lock<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Box<dyn LockGuard>>> {
        self.0.lock(path)
    }

    fn free_space<'a>(&'a self) -> BoxFuture<'a, Result<u64>> {
        self.0.free_space()
    }
}

impl File for SlowFile {
    fn read_at<'a>(&'a self, offset: u64, buf: IoBuf) -> BoxFuture<'a, Result<IoBuf>> {
        self.file.read_at(offset, buf)
    }

    fn write_at<'a>(&'a self, offset: u64, buf: IoBuf) -> BoxFuture<'a, Result<IoBuf>> {
        self.file.write_at(offset, buf)
    }

    fn sync<'a>(&'a self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.file.sync().await?;
            match self.mode {
                IoMode::Inline => std::thread::sleep(self.slower),
                IoMode::Offload => tokio_sleep(self.slower).await,
            }
            Ok(())
        })
    }

    fn len<'a>(&'a self) -> BoxFuture<'a, Result<u64>> {
        self.file.len()
    }

    fn set_len<'a>(&'a self, len: u64) -> BoxFuture<'a, Result<()>> {
        self.file.set_len(len)
    }
}

/// tokio's own timer counts in milliseconds.
async fn tokio_sleep(duration: Duration) {
    let (done, waiting) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        std::thread::sleep(duration);
        let _ = done.send(());
    });
    let _ = waiting.await;
}

async fn open(env: &Env) -> Pipeline<NoEngine> {
    let options = LogOptions { max_binlog_size: 256 << 20, fill_ahead: 256 << 20, ..LogOptions::default() };
    let opened = BinaryLog::open(env.clone(), options, OpenAs::Source, LogPosition::default()).await.unwrap();
    let last = Place::at(CommitNumber(0), opened.writer.position());
    let pipeline = Pipeline::new(
        NoEngine,
        env.clone(),
        opened.writer,
        last,
        CommitSettings::default(),
        SemiSync::new(env.clone()),
    );
    env.spawner.spawn_thread("log", Box::pin(pipeline.clone().run()));
    pipeline
}

fn transaction(row: u64) -> EncodedTransaction {
    let sql = "x".repeat(480);
    let made = TransactionEncoder::ddl(&EncoderOptions::default(), &QueryContext::default(), &sql, &[], None);
    let hash = xxhash_rust::xxh64::xxh64(&row.to_le_bytes(), 0);
    EncodedTransaction { writeset: vec![hash], depends_on_all: false, ..made.unwrap() }
}

async fn commit(pipeline: &Pipeline<NoEngine>, row: u64) {
    let transaction = transaction(row);
    let reservation = pipeline.reserve(transaction.max_size()).await.unwrap();
    pipeline.enqueue(transaction, reservation, ()).await.unwrap();
}

/// `commits` commits by `sessions` sessions.
async fn load(pipeline: &Pipeline<NoEngine>, sessions: u64, commits: u64) -> Duration {
    let start = Instant::now();
    let each = commits.div_ceil(sessions);
    let tasks: Vec<_> = (0..sessions)
        .map(|session| {
            let pipeline = pipeline.clone();
            tokio::spawn(async move {
                for n in 0..each {
                    commit(&pipeline, session << 32 | n).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    start.elapsed().mul_f64(commits as f64 / (each * sessions) as f64)
}

fn commits(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let dir = std::env::var("COMMIT_BENCH_DIR").map_or_else(|_| std::env::temp_dir(), Into::into);
    let root = dir.join(format!("commuter-commit-bench-{}", std::process::id()));
    let mut env = environment(root.clone(), Offload::Threads(4), runtime.handle().clone()).unwrap();
    if let Some(micros) = std::env::var("COMMIT_BENCH_SLOW_SYNC").ok().and_then(|text| text.parse().ok()) {
        env.disk = Arc::new(SlowDisk(env.disk, Duration::from_micros(micros)));
    }
    let pipeline = runtime.block_on(open(&env));
    let mut group = criterion.benchmark_group("commit");
    group.throughput(Throughput::Elements(1)).sample_size(10);
    group.measurement_time(Duration::from_secs(3)).warm_up_time(Duration::from_secs(1));
    for sessions in [1u64, 8, 64, 256] {
        let before = (pipeline.stats().group_size.snapshot(), pipeline.stats().sync_micros.snapshot());
        group.bench_function(format!("{sessions} sessions"), |bench| {
            bench.iter_custom(|commits| {
                let pipeline = pipeline.clone();
                runtime.block_on(runtime.spawn(async move { load(&pipeline, sessions, commits).await })).unwrap()
            });
        });
        report(&pipeline, &before);
    }
    group.finish();
    std::fs::remove_dir_all(root).unwrap();
}

fn report(pipeline: &Pipeline<NoEngine>, before: &(HistogramSnapshot, HistogramSnapshot)) {
    let groups = pipeline.stats().group_size.snapshot().since(&before.0);
    let syncs = pipeline.stats().sync_micros.snapshot().since(&before.1);
    println!(
        "    group mean {:.1} p50 {} p99 {}; sync us mean {:.0} p50 {} p99 {}; {:.3} syncs per commit",
        groups.mean(),
        groups.percentile(50.0),
        groups.percentile(99.0),
        syncs.mean(),
        syncs.percentile(50.0),
        syncs.percentile(99.0),
        syncs.count as f64 / groups.sum.max(1) as f64
    );
}

criterion_group!(benches, commits);
criterion_main!(benches);
