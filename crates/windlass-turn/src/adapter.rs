use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use futures_core::Stream;
use windlass_core::model::Deltas;
use windlass_core::{Conversation, Error, ModelDelta};

/// A conversation with a model, whose code is somebody else's: whatever of it panics, pushing, sending,
/// streaming or being dropped, breaks the adapter and nothing else.
pub(crate) struct Adapter {
    /// Taken only to be dropped.
    conversation: Option<Box<dyn Conversation>>,
    /// How many messages of the transcript it was told.
    pub(crate) told: usize,
    is_broken: Arc<AtomicBool>,
}

impl Adapter {
    pub(crate) fn new(conversation: Box<dyn Conversation>) -> Self {
        Self { conversation: Some(conversation), told: 0, is_broken: Arc::default() }
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    /// Runs something that must come to its end, or the adapter counts as broken.
    pub(crate) fn guarded(&mut self, run: impl FnOnce(&mut dyn Conversation)) {
        self.is_broken.store(true, Ordering::Relaxed);
        if let Some(conversation) = &mut self.conversation {
            run(conversation.as_mut());
        }
        self.is_broken.store(false, Ordering::Relaxed);
    }

    /// Asks for a reply. A panic of `send` itself is the caller's to catch.
    pub(crate) fn send(&mut self) -> Reply<'_> {
        self.is_broken.store(true, Ordering::Relaxed);
        let deltas = self.conversation.as_mut().map(|conversation| conversation.send());
        self.is_broken.store(false, Ordering::Relaxed);
        Reply { deltas, is_broken: self.is_broken.clone() }
    }
}

impl Drop for Adapter {
    fn drop(&mut self) {
        let conversation = self.conversation.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(conversation)));
    }
}

/// The deltas of one reply.
pub(crate) struct Reply<'a> {
    deltas: Option<Deltas<'a>>,
    is_broken: Arc<AtomicBool>,
}

impl Stream for Reply<'_> {
    type Item = Result<ModelDelta, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.is_broken.store(true, Ordering::Relaxed);
        let polled = self.deltas.as_mut().map_or(Poll::Ready(None), |deltas| deltas.as_mut().poll_next(cx));
        self.is_broken.store(false, Ordering::Relaxed);
        polled
    }
}

impl Drop for Reply<'_> {
    fn drop(&mut self) {
        let deltas = self.deltas.take();
        if catch_unwind(AssertUnwindSafe(|| drop(deltas))).is_err() {
            self.is_broken.store(true, Ordering::Relaxed);
        }
    }
}
