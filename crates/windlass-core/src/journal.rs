//! Where facts are kept.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::error::Error;
use crate::event::Entry;
use crate::identity::SessionId;

/// What a journal's methods return.
pub type JournalFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// Keeps the facts of sessions, in order, without gaps.
///
/// # Contract
///
/// - `append` keeps all entries of a batch or none. Their `seq` count on from `position`, which is the
///   number of entries that the session has before; the first entry has `seq == position + 1`.
/// - An append that was made already (same position, same entries) succeeds and changes nothing. One
///   whose position is taken by other entries, or lies past the end, fails with `E_JOURNAL_CONFLICT`.
/// - After `append` has returned, `read` gives the entries back, and so does every later process if the
///   journal is durable.
/// - If the future of an append is dropped, the batch is kept whole or not at all; `read` tells.
pub trait Journal: Send + Sync + 'static {
    /// Keeps a batch.
    fn append<'a>(
        &'a self,
        session: SessionId,
        position: u64,
        batch: &'a [Arc<Entry>],
    ) -> JournalFuture<'a, ()>;

    /// The entries after the first `after`.
    fn read(&self, session: SessionId, after: u64) -> JournalFuture<'_, Vec<Arc<Entry>>>;
}

impl<J: Journal + ?Sized> Journal for Arc<J> {
    fn append<'a>(
        &'a self,
        session: SessionId,
        position: u64,
        batch: &'a [Arc<Entry>],
    ) -> JournalFuture<'a, ()> {
        (**self).append(session, position, batch)
    }

    fn read(&self, session: SessionId, after: u64) -> JournalFuture<'_, Vec<Arc<Entry>>> {
        (**self).read(session, after)
    }
}
