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
    waiting: Wakers,
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
        woken.wake();
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

/// The wakers of those who wait, each under its own key.
///
/// A waker that is replaced or taken out is handed back instead of dropped: dropping the last waker of a
/// task may drop the task, which may wait on the same lock. So it must happen outside.
#[derive(Debug, Default)]
pub struct Wakers(Vec<(u64, Waker)>);

impl Wakers {
    /// Keeps a waker, and hands back the one that was kept under this key.
    #[must_use = "drop it outside the lock"]
    pub fn put(&mut self, key: u64, waker: Waker) -> Option<Waker> {
        match self.0.iter_mut().find(|(kept, _)| *kept == key) {
            Some((_, kept)) => Some(std::mem::replace(kept, waker)),
            None => {
                self.0.push((key, waker));
                None
            }
        }
    }

    /// Takes out the waker under this key.
    #[must_use = "drop it outside the lock"]
    pub fn take(&mut self, key: u64) -> Option<Waker> {
        let at = self.0.iter().position(|(kept, _)| *kept == key)?;
        Some(self.0.swap_remove(at).1)
    }

    /// True if nobody waits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Wakes everybody.
    pub fn wake(self) {
        self.0.into_iter().for_each(|(_, waker)| waker.wake());
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
        let waker = cx.waker().clone();
        let mut state = self.cancel.state();
        if state.is_cancelled {
            return Poll::Ready(());
        }
        let key = self.key.unwrap_or_else(|| {
            state.next_key += 1;
            state.next_key
        });
        let replaced = state.waiting.put(key, waker);
        drop(state);
        drop(replaced);
        self.key = Some(key);
        Poll::Pending
    }
}

impl Drop for Cancelled<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let removed = self.cancel.state().waiting.take(key);
            drop(removed);
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
    fn a_waker_that_owns_a_wait_can_be_dropped_by_another_wait() {
        /// A task whose last waker owns it, and which waits on the same flag.
        struct Task {
            _future: Mutex<Pin<Box<dyn Future<Output = ()> + Send>>>,
        }
        impl std::task::Wake for Task {
            fn wake(self: Arc<Self>) {}
        }
        fn waiting(cancel: Cancel) -> Pin<Box<dyn Future<Output = ()> + Send>> {
            let mut future: Pin<Box<dyn Future<Output = ()> + Send>> =
                Box::pin(async move { cancel.cancelled().await });
            assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            future
        }
        let cancel = Cancel::new();
        let task = Waker::from(Arc::new(Task { _future: Mutex::new(waiting(cancel.clone())) }));
        let mut wait = Box::pin(cancel.cancelled());
        assert!(wait.as_mut().poll(&mut Context::from_waker(&task)).is_pending());
        drop(task);
        assert!(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(cancel.state().waiting.0.len(), 1);
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
