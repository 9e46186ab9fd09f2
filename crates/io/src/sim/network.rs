//! The simulated network: byte streams with latency, in order, that can be cut or held up; and what garbles them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{Error, ErrorKind, Result};
use std::sync::{Arc, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;

use super::executor::Executor;
use crate::{BoxFuture, Listener, Network, ReadHalf, Stream, WriteHalf};

const LATENCY: Duration = Duration::from_micros(500);
/// How long an attempt to connect to a machine lasts that cannot be reached, and between two looks at that.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const CONNECT_STEP: Duration = Duration::from_millis(50);
/// Bytes under way in one direction before a writer waits.
const WINDOW: usize = 64 << 10;
const FIRST_FREE_PORT: u16 = 40_000;

#[derive(Default)]
struct State {
    listeners: BTreeMap<String, Accepting>,
    pipes: Vec<Weak<Pipe>>,
    next_port: u16,
}

struct Accepting {
    machine: u64,
    waiting: Arc<Mutex<Backlog>>,
}

#[derive(Default)]
struct Backlog {
    connections: VecDeque<Duplex>,
    waker: Option<Waker>,
    closed: bool,
}

/// What lies between the machines.
struct Links {
    latency: Duration,
    /// Pairs of machines between which nothing arrives, the smaller number first.
    blocked: BTreeSet<[u64; 2]>,
    /// With which probability a piece is garbled, by such pairs.
    garbling: BTreeMap<[u64; 2], f64>,
    /// Nobody is told that the other end is gone.
    silent_deaths: bool,
}

impl Links {
    fn are_blocked(&self, machines: [u64; 2]) -> bool {
        !self.blocked.is_empty() && self.blocked.contains(&sorted(machines))
    }
}

fn sorted([a, b]: [u64; 2]) -> [u64; 2] {
    [a.min(b), a.max(b)]
}

/// All connections of a world.
pub(crate) struct SimNetwork {
    executor: Arc<Executor>,
    state: Mutex<State>,
    links: Arc<Mutex<Links>>,
}

impl SimNetwork {
    pub(crate) fn new(executor: Arc<Executor>) -> Self {
        let links =
            Links { latency: LATENCY, blocked: BTreeSet::new(), garbling: BTreeMap::new(), silent_deaths: false };
        SimNetwork { executor, state: Mutex::default(), links: Arc::new(Mutex::new(links)) }
    }

    pub(crate) fn handle(self: &Arc<Self>, machine: u64) -> Arc<dyn Network> {
        Arc::new(Handle { network: self.clone(), machine })
    }

    /// Breaks the connections whose two machines the predicate chooses.
    pub(crate) fn cut(&self, which: impl Fn(&[u64; 2]) -> bool) {
        let mut state = self.state.lock();
        state.pipes.retain(|pipe| pipe.strong_count() > 0);
        let pipes: Vec<_> = state.pipes.iter().filter_map(Weak::upgrade).collect();
        drop(state);
        for pipe in pipes.iter().filter(|pipe| which(&pipe.machines)) {
            pipe.state.lock().broken = true;
            pipe.wake();
        }
    }

    /// A machine, or its process, is gone.
    pub(crate) fn leave(&self, machine: u64) {
        if self.links.lock().silent_deaths {
            let pipes: Vec<_> = self.state.lock().pipes.iter().filter_map(Weak::upgrade).collect();
            for pipe in pipes.iter().filter(|pipe| pipe.machines.contains(&machine)) {
                pipe.state.lock().silent = true;
            }
        } else {
            self.cut(|machines| machines.contains(&machine));
        }
        self.stop_listening(machine);
    }

    pub(crate) fn set_silent_deaths(&self, silent: bool) {
        self.links.lock().silent_deaths = silent;
    }

    pub(crate) fn set_garbling(&self, machines: [u64; 2], probability: f64) {
        self.links.lock().garbling.insert(sorted(machines), probability);
    }

    /// Whether anything gets through between two machines; what is under way waits until it does again.
    pub(crate) fn set_blocked(&self, machines: [u64; 2], blocked: bool) {
        {
            let mut links = self.links.lock();
            let pair = sorted(machines);
            if blocked {
                links.blocked.insert(pair)
            } else {
                links.blocked.remove(&pair)
            };
        }
        let pipes: Vec<_> = self.state.lock().pipes.iter().filter_map(Weak::upgrade).collect();
        pipes.iter().for_each(|pipe| pipe.wake());
    }

    pub(crate) fn set_latency(&self, latency: Duration) {
        self.links.lock().latency = latency;
    }

    fn latency(&self) -> Duration {
        self.links.lock().latency
    }

    /// Waits until the machines can reach each other.
    async fn reach(&self, machines: [u64; 2]) -> Result<()> {
        let until = self.executor.now() + CONNECT_TIMEOUT;
        while self.links.lock().are_blocked(machines) {
            if self.executor.now() >= until {
                return Err(ErrorKind::TimedOut.into());
            }
            self.executor.sleep(CONNECT_STEP).await;
        }
        Ok(())
    }

    pub(crate) fn stop_listening(&self, machine: u64) {
        self.state.lock().listeners.retain(|_, accepting| {
            let stays = accepting.machine != machine;
            if !stays {
                accepting.waiting.lock().closed = true;
            }
            stays
        });
    }

    fn pair(&self, machines: [u64; 2]) -> (Duplex, Duplex) {
        let pipe = || {
            let (executor, links) = (self.executor.clone(), self.links.clone());
            Arc::new(Pipe { executor, links, machines, state: Mutex::default() })
        };
        let (there, back) = (pipe(), pipe());
        self.state.lock().pipes.extend([Arc::downgrade(&there), Arc::downgrade(&back)]);
        let near = Duplex { read: Reading(back.clone()), write: Writing(there.clone()) };
        (near, Duplex { read: Reading(there), write: Writing(back) })
    }
}

struct Handle {
    network: Arc<SimNetwork>,
    machine: u64,
}

impl Network for Handle {
    fn connect<'a>(&'a self, address: &'a str) -> BoxFuture<'a, Result<Box<dyn Stream>>> {
        Box::pin(async move {
            let latency = self.network.latency();
            self.network.executor.sleep_random(latency).await;
            let listening = self.network.state.lock().listeners.get(address).map(|accepting| accepting.machine);
            if let Some(machine) = listening {
                self.network.reach([self.machine, machine]).await?;
            }
            let (machine, backlog) = match self.network.state.lock().listeners.get(address) {
                Some(accepting) => (accepting.machine, accepting.waiting.clone()),
                None => return Err(ErrorKind::ConnectionRefused.into()),
            };
            let (near, far) = self.network.pair([self.machine, machine]);
            let mut waiting = backlog.lock();
            waiting.connections.push_back(far);
            if let Some(waker) = waiting.waker.take() {
                waker.wake();
            }
            Ok(Box::new(near) as Box<dyn Stream>)
        })
    }

    fn listen<'a>(&'a self, address: &'a str) -> BoxFuture<'a, Result<Box<dyn Listener>>> {
        Box::pin(async move {
            let mut state = self.network.state.lock();
            let address = match address.strip_suffix(":0") {
                Some(host) => {
                    state.next_port += 1;
                    format!("{host}:{}", FIRST_FREE_PORT + state.next_port)
                }
                None => address.to_owned(),
            };
            if state.listeners.contains_key(&address) {
                return Err(ErrorKind::AddrInUse.into());
            }
            let waiting = Arc::<Mutex<Backlog>>::default();
            state.listeners.insert(address.clone(), Accepting { machine: self.machine, waiting: waiting.clone() });
            drop(state);
            let listener = SimListener { network: self.network.clone(), machine: self.machine, address, waiting };
            Ok(Box::new(listener) as Box<dyn Listener>)
        })
    }
}

struct SimListener {
    network: Arc<SimNetwork>,
    machine: u64,
    address: String,
    waiting: Arc<Mutex<Backlog>>,
}

impl Drop for SimListener {
    fn drop(&mut self) {
        let mut state = self.network.state.lock();
        if state.listeners.get(&self.address).is_some_and(|accepting| accepting.machine == self.machine) {
            state.listeners.remove(&self.address);
        }
    }
}

impl Listener for SimListener {
    fn accept<'a>(&'a self) -> BoxFuture<'a, Result<(Box<dyn Stream>, String)>> {
        Box::pin(futures_lite::future::poll_fn(|context| {
            let mut waiting = self.waiting.lock();
            if waiting.closed {
                return Poll::Ready(Err(Error::other("the machine has crashed")));
            }
            let Some(stream) = waiting.connections.pop_front() else {
                waiting.waker = Some(context.waker().clone());
                return Poll::Pending;
            };
            Poll::Ready(Ok((Box::new(stream) as Box<dyn Stream>, "127.0.0.1:1".to_owned())))
        }))
    }

    fn address(&self) -> String {
        self.address.clone()
    }
}

/// One direction of a connection.
struct Pipe {
    executor: Arc<Executor>,
    links: Arc<Mutex<Links>>,
    machines: [u64; 2],
    state: Mutex<PipeState>,
}

#[derive(Default)]
struct PipeState {
    /// Pieces with the time at which they arrive.
    pieces: VecDeque<(Duration, Vec<u8>)>,
    bytes: usize,
    closed: bool,
    broken: bool,
    /// The other end is gone, and nobody is told.
    silent: bool,
    wakers: Vec<Waker>,
}

impl Pipe {
    fn wake(&self) {
        let wakers = std::mem::take(&mut self.state.lock().wakers);
        wakers.into_iter().for_each(Waker::wake);
    }

    async fn changed(&self) {
        let mut waited = false;
        futures_lite::future::poll_fn(|context| {
            if std::mem::replace(&mut waited, true) {
                return Poll::Ready(());
            }
            self.state.lock().wakers.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    async fn read(&self, into: &mut Vec<u8>, max: usize) -> Result<usize> {
        loop {
            let arrival = {
                let mut guard = self.state.lock();
                let state = &mut *guard;
                if state.broken && !state.silent {
                    return Err(ErrorKind::ConnectionReset.into());
                }
                let is_blocked = self.links.lock().are_blocked(self.machines);
                match state.pieces.front_mut() {
                    _ if is_blocked || state.silent => None,
                    None if state.closed => return Ok(0),
                    None => None,
                    Some((at, _)) if *at > self.executor.now() => Some(*at),
                    Some((_, piece)) => {
                        let taken = piece.len().min(max);
                        into.extend(piece.drain(..taken));
                        if piece.is_empty() {
                            state.pieces.pop_front();
                        }
                        state.bytes -= taken;
                        drop(guard);
                        self.wake();
                        return Ok(taken);
                    }
                }
            };
            match arrival {
                Some(at) => self.executor.sleep_random(at.saturating_sub(self.executor.now())).await,
                None => self.changed().await,
            }
        }
    }

    async fn write(&self, mut data: &[u8]) -> Result<()> {
        while !data.is_empty() {
            let room = {
                let state = self.state.lock();
                if !state.silent && (state.broken || state.closed) {
                    return Err(ErrorKind::BrokenPipe.into());
                }
                WINDOW.saturating_sub(state.bytes)
            };
            if room == 0 {
                self.changed().await;
                continue;
            }
            let latency = self.links.lock().latency;
            let piece = data.len().min(room).min(1 + self.executor.below(4096) as usize);
            let delay = Duration::from_nanos(self.executor.below(latency.as_nanos() as u64));
            let mut state = self.state.lock();
            let earliest = state.pieces.back().map_or(Duration::ZERO, |(at, _)| *at);
            let at = earliest.max(self.executor.now() + delay);
            let garbling = self.links.lock().garbling.get(&sorted(self.machines)).copied().unwrap_or(0.0);
            state.pieces.push_back((at, data[..piece].to_vec()));
            if self.executor.chance(garbling) {
                self.garble(&mut state.pieces);
            }
            state.bytes = state.pieces.iter().map(|(_, piece)| piece.len()).sum();
            drop(state);
            self.wake();
            data = &data[piece..];
        }
        Ok(())
    }
}

impl Pipe {
    /// What a box on the way makes of the last piece.
    fn garble(&self, pieces: &mut VecDeque<(Duration, Vec<u8>)>) {
        let last = pieces.len() - 1;
        match self.executor.below(4) {
            0 => pieces.push_back(pieces[last].clone()),
            1 if last > 0 => {
                let (earlier, later) = (pieces[last - 1].0, pieces[last].0);
                pieces.swap(last - 1, last);
                (pieces[last - 1].0, pieces[last].0) = (earlier, later);
            }
            2 => drop(pieces.pop_back()),
            _ => {
                let piece = &mut pieces[last].1;
                let at = self.executor.below(piece.len() as u64) as usize;
                piece[at] ^= 1 << self.executor.below(8);
            }
        }
    }
}

struct Reading(Arc<Pipe>);

struct Writing(Arc<Pipe>);

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.state.lock().broken = true;
        self.0.wake();
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.0.state.lock().closed = true;
        self.0.wake();
    }
}

struct Duplex {
    read: Reading,
    write: Writing,
}

impl Stream for Duplex {
    fn read<'a>(&'a mut self, into: &'a mut Vec<u8>, max: usize) -> BoxFuture<'a, Result<usize>> {
        Box::pin(self.read.0.read(into, max))
    }

    fn write_all<'a>(&'a mut self, data: &'a [u8]) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.write.0.write(data))
    }

    fn split(self: Box<Self>) -> (Box<dyn ReadHalf>, Box<dyn WriteHalf>) {
        (Box::new(self.read), Box::new(self.write))
    }
}

impl ReadHalf for Reading {
    fn read<'a>(&'a mut self, into: &'a mut Vec<u8>, max: usize) -> BoxFuture<'a, Result<usize>> {
        Box::pin(self.0.read(into, max))
    }
}

impl WriteHalf for Writing {
    fn write_all<'a>(&'a mut self, data: &'a [u8]) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.0.write(data))
    }
}
