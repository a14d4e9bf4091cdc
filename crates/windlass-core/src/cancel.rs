//! Cancellation without a runtime.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// A flag that can be raised once and awaited by many.
///
/// Clones share the flag. Whoever waits registers one waker and takes it back when the wait is dropped,
/// so that waiting in a loop does not grow anything.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use windlass_core::Cancel;
///
/// let cancel = Cancel::new();
/// let seen = cancel.clone();
/// cancel.cancel();
/// seen.cancelled().await;
/// assert!(seen.is_cancelled());
/// # });
/// ```
#[derive(Clone, Default)]
pub struct Cancel(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    is_cancelled: bool,
    next_key: u64,
    waiting: Vec<(u64, Waker)>,
}

impl Cancel {
    /// A flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises the flag and wakes everybody who waits. Raising it again does nothing.
    pub fn cancel(&self) {
        let woken = {
            let mut state = self.state();
            state.is_cancelled = true;
            std::mem::take(&mut state.waiting)
        };
        // Outside the lock: a waker may run code that asks this flag.
        for (_, waker) in woken {
            waker.wake();
        }
    }

    /// True once the flag is raised.
    pub fn is_cancelled(&self) -> bool {
        self.state().is_cancelled
    }

    /// Ready once the flag is raised.
    pub fn cancelled(&self) -> Cancelled<'_> {
        Cancelled { cancel: self, key: None }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancel").field("is_cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}

/// The wait for a [`Cancel`].
#[derive(Debug)]
#[must_use = "a wait does nothing unless it is polled"]
pub struct Cancelled<'a> {
    cancel: &'a Cancel,
    key: Option<u64>,
}

impl Future for Cancelled<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.cancel.state();
        if state.is_cancelled {
            return Poll::Ready(());
        }
        let key = self.key.unwrap_or_else(|| {
            state.next_key += 1;
            state.next_key
        });
        match state.waiting.iter_mut().find(|(waiting, _)| *waiting == key) {
            Some((_, waker)) => waker.clone_from(cx.waker()),
            None => state.waiting.push((key, cx.waker().clone())),
        }
        drop(state);
        self.key = Some(key);
        Poll::Pending
    }
}

impl Drop for Cancelled<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.cancel.state().waiting.retain(|(waiting, _)| *waiting != key);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn everybody_who_waits_is_woken() {
        let cancel = Cancel::new();
        let waits: Vec<_> = (0..3)
            .map(|_| {
                let cancel = cancel.clone();
                tokio::spawn(async move { cancel.cancelled().await })
            })
            .collect();
        tokio::task::yield_now().await;
        cancel.cancel();
        for wait in waits {
            wait.await.unwrap();
        }
    }

    #[test]
    fn a_dropped_wait_leaves_nothing_behind() {
        let cancel = Cancel::new();
        for _ in 0..100 {
            assert!(cancel.cancelled().now_or_never().is_none());
        }
        assert!(cancel.state().waiting.is_empty());
    }
}
