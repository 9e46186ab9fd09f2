//! The deterministic executor: one thread, virtual time, and the seed's choice among the tasks that are ready.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use parking_lot::Mutex;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::BoxFuture;

/// The main future of [`Executor::run`], among the tasks.
const MAIN: u64 = 0;

/// A machine reached the operation in which its power fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crashed;

/// Runs tasks of all machines. Shared by everything simulated.
pub(crate) struct Executor {
    seed: u64,
    state: Mutex<State>,
}

struct State {
    rng: StdRng,
    now: Duration,
    next_task: u64,
    /// Futures that are not being polled, with the machine that they belong to.
    tasks: BTreeMap<u64, (u64, BoxFuture<'static, ()>)>,
    /// Machine of the task under way, which may be killed by itself.
    ready: Arc<Mutex<Vec<u64>>>,
    timers: BinaryHeap<Reverse<Timer>>,
    next_timer: u64,
    crashed: bool,
}

struct Timer {
    at: Duration,
    order: u64,
    waker: Waker,
}

impl PartialEq for Timer {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl Eq for Timer {}

impl PartialOrd for Timer {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timer {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

/// Puts its task among the ready ones, once until it is polled.
struct TaskWaker {
    task: u64,
    queued: AtomicBool,
    ready: Arc<Mutex<Vec<u64>>>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        if !self.queued.swap(true, Ordering::SeqCst) {
            self.ready.lock().push(self.task);
        }
    }
}

impl Executor {
    pub(crate) fn new(seed: u64) -> Self {
        let state = State {
            rng: StdRng::seed_from_u64(seed),
            now: Duration::ZERO,
            next_task: MAIN + 1,
            tasks: BTreeMap::new(),
            ready: Arc::default(),
            timers: BinaryHeap::new(),
            next_timer: 0,
            crashed: false,
        };
        Executor { seed, state: Mutex::new(state) }
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    pub(crate) fn now(&self) -> Duration {
        self.state.lock().now
    }

    pub(crate) fn below(&self, bound: u64) -> u64 {
        self.state.lock().rng.random_range(0..bound.max(1))
    }

    pub(crate) fn chance(&self, probability: f64) -> bool {
        probability > 0.0 && self.state.lock().rng.random_bool(probability.min(1.0))
    }

    pub(crate) fn spawn(&self, machine: u64, task: BoxFuture<'static, ()>) {
        let mut state = self.state.lock();
        let id = state.next_task;
        state.next_task += 1;
        state.tasks.insert(id, (machine, task));
        state.ready.lock().push(id);
    }

    /// Drops the tasks of a machine.
    pub(crate) fn kill(&self, machine: u64) {
        let mut state = self.state.lock();
        let dead: Vec<u64> = state.tasks.iter().filter(|(_, (of, _))| *of == machine).map(|(&id, _)| id).collect();
        let futures: Vec<_> = dead.iter().filter_map(|id| state.tasks.remove(id)).collect();
        drop(state);
        drop(futures); // outside the lock: their destructors may wake or spawn
    }

    /// Drops all tasks.
    pub(crate) fn end(&self) {
        // What is dropped may spawn.
        loop {
            let tasks = std::mem::take(&mut self.state.lock().tasks);
            if tasks.is_empty() {
                return;
            }
            drop(tasks);
        }
    }

    /// Makes the run under way end with [`Crashed`].
    pub(crate) fn power_fails(&self) {
        self.state.lock().crashed = true;
    }

    pub(crate) async fn sleep_random(&self, most: Duration) {
        let nanos = self.below(most.as_nanos() as u64 + 1);
        self.sleep_inner(Duration::from_nanos(nanos)).await;
    }

    pub(crate) fn sleep(self: &Arc<Self>, duration: Duration) -> impl Future<Output = ()> + Send + 'static {
        let executor = self.clone();
        async move { executor.sleep_inner(duration).await }
    }

    async fn sleep_inner(&self, duration: Duration) {
        let at = self.now() + duration;
        futures_lite::future::poll_fn(|context| {
            let mut state = self.state.lock();
            if state.now >= at {
                return Poll::Ready(());
            }
            let order = state.next_timer;
            state.next_timer += 1;
            state.timers.push(Reverse(Timer { at, order, waker: context.waker().clone() }));
            Poll::Pending
        })
        .await;
    }

    pub(crate) fn run<T>(&self, main: impl Future<Output = T>) -> Result<T, Crashed> {
        let mut main = pin!(main);
        let ready = {
            let mut state = self.state.lock();
            state.crashed = false;
            state.ready.lock().push(MAIN);
            state.ready.clone()
        };
        loop {
            if self.state.lock().crashed {
                return Err(Crashed);
            }
            let Some(task) = self.next_ready(&ready) else { continue };
            let waker = Arc::new(TaskWaker { task, queued: AtomicBool::new(false), ready: ready.clone() }).into();
            let mut context = Context::from_waker(&waker);
            if task == MAIN {
                if let Poll::Ready(output) = main.as_mut().poll(&mut context) {
                    return Ok(output);
                }
            } else {
                self.poll_task(task, &mut context);
            }
        }
    }

    fn poll_task(&self, task: u64, context: &mut Context<'_>) {
        let Some((machine, mut future)) = self.state.lock().tasks.remove(&task) else { return };
        if Pin::new(&mut future).poll(context).is_pending() {
            self.state.lock().tasks.insert(task, (machine, future));
        }
    }

    /// A ready task of the seed's choice; moves the time on when there is none.
    fn next_ready(&self, ready: &Mutex<Vec<u64>>) -> Option<u64> {
        let mut state = self.state.lock();
        let mut list = ready.lock();
        if !list.is_empty() {
            let at = state.rng.random_range(0..list.len());
            return Some(list.swap_remove(at));
        }
        drop(list);
        let Some(Reverse(timer)) = state.timers.pop() else {
            panic!("nothing can go on and the test is not done: a lost wake-up or a deadlock (seed {})", self.seed);
        };
        state.now = state.now.max(timer.at);
        drop(state);
        timer.waker.wake();
        None
    }
}
