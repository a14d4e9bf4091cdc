use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};

use futures_core::Stream;
use windlass_core::{DispatchId, Entry, Event, EventKind, Timestamp, TurnId, Wakers};

/// How many deltas a session remembers for subscribers that are not quite up to date.
pub const DELTA_RING: usize = 256;

/// What subscribers of a session read: its facts, and a ring of the newest deltas.
///
/// It owns nothing of the turn. The driver writes to it and never waits for anybody who reads; a reader
/// holds a position and comes when it likes.
#[derive(Default)]
pub(crate) struct Log(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    entries: Vec<Arc<Entry>>,
    deltas: VecDeque<Event>,
    /// The `part` of the next delta.
    next_part: u32,
    next_reader: u64,
    /// How often something was shown.
    changes: u64,
    waiting: Wakers,
    /// True once the session is gone: nothing will be shown any more.
    is_closed: bool,
}

impl Log {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows facts. They must be in the journal already.
    pub(crate) fn publish(&self, entries: &[Arc<Entry>]) {
        self.change(|inner| {
            inner.entries.extend_from_slice(entries);
            inner.next_part = entries.last().map_or(inner.next_part, |entry| entry.parts());
        });
    }

    /// Shows a delta.
    pub(crate) fn delta(&self, turn: TurnId, dispatch: Option<DispatchId>, at: Timestamp, kind: EventKind) {
        self.change(|inner| {
            let place = (inner.entries.len() as u64, inner.next_part);
            inner.next_part += 1;
            if inner.deltas.len() == DELTA_RING {
                inner.deltas.pop_front();
            }
            inner.deltas.push_back(Event::delta(place, 1, (turn, dispatch), at, kind));
        });
    }

    /// Says that nobody drives the turn any more.
    pub(crate) fn close_turn(&self, turn: &Only) {
        self.change(|_| turn.is_over.store(true, Ordering::Relaxed));
    }

    /// Says that the session is gone.
    pub(crate) fn close(&self) {
        self.change(|inner| inner.is_closed = true);
    }

    fn change(&self, change: impl FnOnce(&mut Inner)) {
        let woken = {
            let mut inner = self.inner();
            change(&mut inner);
            inner.changes += 1;
            std::mem::take(&mut inner.waiting)
        };
        // Outside the lock: a waker may run code that reads this log.
        woken.wake();
    }

    /// Differs from an earlier answer if something was shown in between.
    pub(crate) fn changes(&self) -> u64 {
        self.inner().changes
    }

    /// How many facts there are.
    pub(crate) fn len(&self) -> u64 {
        self.inner().entries.len() as u64
    }

    /// The facts after the first `after`.
    pub(crate) fn entries(&self, after: u64) -> Vec<Arc<Entry>> {
        let after = usize::try_from(after).unwrap_or(usize::MAX);
        self.inner().entries.get(after..).unwrap_or_default().to_vec()
    }

    /// A reader that starts after the first `after` facts.
    pub(crate) fn subscribe(self: &Arc<Self>, after: u64, only: Option<Only>) -> Subscription {
        let mut inner = self.inner();
        inner.next_reader += 1;
        Subscription {
            log: self.clone(),
            reader: inner.next_reader,
            // A reader cannot have seen more than there is.
            seq: after.min(inner.entries.len() as u64),
            part: 0,
            only,
            unread: VecDeque::new(),
            is_over: false,
        }
    }
}

/// One turn of a session, and whether anybody still drives it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Only {
    /// Set when the turn begins.
    pub(crate) turn: Arc<OnceLock<TurnId>>,
    is_over: Arc<AtomicBool>,
}

/// A reader of a session's events: a position in the journal, and what is new in the ring of deltas.
///
/// Joining late, joining again and asking for what was missed are the same thing: a subscription from
/// an earlier position. A subscription that is not read holds nobody up; it misses deltas, never facts.
pub struct Subscription {
    log: Arc<Log>,
    reader: u64,
    /// The last fact whose events were read, or are in `unread`.
    seq: u64,
    /// The part that comes next at this position.
    part: u32,
    only: Option<Only>,
    unread: VecDeque<Event>,
    is_over: bool,
}

impl Subscription {
    fn accepts(&self, turn: TurnId) -> bool {
        self.only.as_ref().is_none_or(|only| only.turn.get() == Some(&turn))
    }

    /// Moves on to the next event, if there is one.
    fn advance(&mut self, inner: &Inner) -> Option<Event> {
        loop {
            if let Some(event) = self.unread.pop_front() {
                return Some(event);
            }
            let place = (self.seq, self.part);
            let newer = inner.deltas.partition_point(|delta| (delta.seq, delta.part) < place);
            if let Some(delta) = inner.deltas.get(newer).filter(|delta| delta.seq == self.seq) {
                self.part = delta.part + 1;
                if self.accepts(delta.turn_id) {
                    return Some(delta.clone());
                }
                continue;
            }
            let entry = inner.entries.get(usize::try_from(self.seq).unwrap_or(usize::MAX))?;
            self.seq = entry.seq;
            self.part = entry.parts();
            if self.accepts(entry.turn_id) {
                self.unread.extend(entry.events());
            }
        }
    }
}

impl Stream for Subscription {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        let this = &mut *self;
        if this.is_over {
            return Poll::Ready(None);
        }
        let log = this.log.clone();
        let waker = cx.waker().clone();
        let mut inner = log.inner();
        if let Some(event) = this.advance(&inner) {
            let is_last = matches!(event.kind, EventKind::TurnEnd(_) | EventKind::Detached { .. });
            this.is_over = this.only.is_some() && is_last;
            return Poll::Ready(Some(event));
        }
        // The flag changes under the lock of the log, so no wake is lost between this look and the wait.
        let is_turn_over = this.only.as_ref().is_some_and(|only| only.is_over.load(Ordering::Relaxed));
        if is_turn_over || inner.is_closed {
            this.is_over = true;
            return Poll::Ready(None);
        }
        let replaced = inner.waiting.put(this.reader, waker);
        drop(inner);
        drop(replaced);
        Poll::Pending
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let removed = self.log.inner().waiting.take(self.reader);
        drop(removed);
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("seq", &self.seq)
            .field("part", &self.part)
            .finish_non_exhaustive()
    }
}
