//! Worker threads that make blocking system calls for tasks.

use std::collections::VecDeque;
use std::io::Result;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use super::completion::{Completion, completion};

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Queue {
    jobs: Mutex<(VecDeque<Job>, bool)>,
    changed: Condvar,
}

/// A fixed number of threads and one queue. The queue holds at most one job per waiting task, so what bounds the
/// tasks bounds it. Dropping it lets the threads finish what is queued.
pub(crate) struct WorkerThreads {
    queue: Arc<Queue>,
}

impl WorkerThreads {
    pub(crate) fn start(count: usize) -> Result<Self> {
        let queue = Arc::<Queue>::default();
        for number in 0..count {
            let queue = queue.clone();
            std::thread::Builder::new().name(format!("io-{number}")).spawn(move || work(&queue))?;
        }
        Ok(WorkerThreads { queue })
    }

    /// Runs `job` on a worker thread.
    pub(crate) fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Completion<T> {
        let (completer, done) = completion();
        self.queue.jobs.lock().0.push_back(Box::new(move || completer.complete(job())));
        self.queue.changed.notify_one();
        done
    }
}

impl Drop for WorkerThreads {
    fn drop(&mut self) {
        self.queue.jobs.lock().1 = true;
        self.queue.changed.notify_all();
    }
}

fn work(queue: &Queue) {
    loop {
        let job = {
            let mut jobs = queue.jobs.lock();
            loop {
                if let Some(job) = jobs.0.pop_front() {
                    break job;
                }
                if jobs.1 {
                    return;
                }
                queue.changed.wait(&mut jobs);
            }
        };
        job();
    }
}
