//! Stack for what recurses as deep as a statement is nested.
//!
//! The nesting of a statement is bounded where its text is read. Up to that bound its trees are walked by recursion, on a stack of
//! their own if they are deep: threads have stacks for what is usual, and how large those are is not for us to say where we are
//! embedded. The stack is mapped for one call, or for one poll, and takes memory only for what is used of it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Bytes of address space of a large stack: what the deepest statement needs in a build without optimisation, with some to spare.
const LARGE_STACK_BYTES: usize = 512 << 20;

/// Calls on a large stack.
pub fn on_large_stack<R>(call: impl FnOnce() -> R) -> R {
    stacker::grow(LARGE_STACK_BYTES, call)
}

/// A future that is polled, and dropped, on a large stack.
pub struct OnLargeStack<F>(Option<Pin<Box<F>>>);

impl<F: Future> OnLargeStack<F> {
    /// Wraps a future.
    pub fn new(future: F) -> Self {
        OnLargeStack(Some(Box::pin(future)))
    }
}

impl<F: Future> Future for OnLargeStack<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Some(future) = &mut self.0 else { return Poll::Pending };
        on_large_stack(|| future.as_mut().poll(cx))
    }
}

impl<F> Drop for OnLargeStack<F> {
    fn drop(&mut self) {
        if let Some(future) = self.0.take() {
            on_large_stack(|| drop(future));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(depth: u64) -> u64 {
        let weight = std::hint::black_box([depth; 64]);
        if depth == 0 { 0 } else { sum(depth - 1) + weight[63] }
    }

    #[test]
    fn recursion_beyond_a_threads_own_stack() {
        const DEPTH: u64 = 50_000;
        assert_eq!(on_large_stack(|| sum(DEPTH)), DEPTH * (DEPTH + 1) / 2);
        let mut future = OnLargeStack::new(async { sum(DEPTH) });
        let mut cx = Context::from_waker(std::task::Waker::noop());
        assert!(Pin::new(&mut future).poll(&mut cx).is_ready());
    }
}
