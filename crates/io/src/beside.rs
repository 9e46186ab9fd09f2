//! Futures whose polls may take long.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::Spawner;

/// A future that is polled beside the other tasks of its thread, which another thread has meanwhile.
pub struct Beside<F> {
    spawner: Arc<dyn Spawner>,
    future: Pin<Box<F>>,
}

impl<F: Future> Beside<F> {
    /// Wraps a future.
    pub fn new(spawner: &Arc<dyn Spawner>, future: F) -> Self {
        Beside { spawner: Arc::clone(spawner), future: Box::pin(future) }
    }
}

impl<F: Future> Future for Beside<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Beside { spawner, future } = &mut *self;
        let mut polled = Poll::Pending;
        spawner.beside(&mut || polled = future.as_mut().poll(cx));
        polled
    }
}
