use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use windlass_core::{Code, Entry, Error, Journal, JournalFuture, SessionId};

/// A journal that lives as long as its process.
#[derive(Default)]
pub struct MemoryJournal {
    sessions: Mutex<HashMap<SessionId, Vec<Arc<Entry>>>>,
}

impl MemoryJournal {
    /// An empty journal.
    pub fn new() -> Self {
        Self::default()
    }

    fn keep(&self, session: SessionId, position: u64, batch: &[Arc<Entry>]) -> Result<(), Error> {
        let conflict = |message: String| Error::new(Code::JournalConflict, message);
        let is_counted = (position + 1..).zip(batch).all(|(seq, entry)| entry.seq == seq);
        if !is_counted {
            return Err(conflict(format!("the batch does not count on from position {position}")));
        }
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = sessions.entry(session).or_default();
        let start = usize::try_from(position).unwrap_or(usize::MAX);
        match kept.get(start..) {
            Some([]) => {
                kept.extend_from_slice(batch);
                Ok(())
            }
            Some(present) if present.starts_with(batch) => Ok(()),
            Some(_) => {
                Err(conflict(format!("position {position} of the session holds other entries already")))
            }
            None => Err(conflict(format!(
                "position {position} lies past the {} entries of the session",
                kept.len()
            ))),
        }
    }
}

impl Journal for MemoryJournal {
    fn append<'a>(
        &'a self,
        session: SessionId,
        position: u64,
        batch: &'a [Arc<Entry>],
    ) -> JournalFuture<'a, ()> {
        Box::pin(std::future::ready(self.keep(session, position, batch)))
    }

    fn read(&self, session: SessionId, after: u64) -> JournalFuture<'_, Vec<Arc<Entry>>> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let after = usize::try_from(after).unwrap_or(usize::MAX);
        let entries = sessions.get(&session).and_then(|kept| kept.get(after..)).unwrap_or_default().to_vec();
        Box::pin(std::future::ready(Ok(entries)))
    }
}

impl fmt::Debug for MemoryJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("MemoryJournal").field("sessions", &sessions.len()).finish_non_exhaustive()
    }
}
