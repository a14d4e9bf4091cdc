use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use windlass_core::event::{Entry, Fact, Proposal};
use windlass_core::{
    ArtifactRef, Error, Journal, SessionId, Timestamp, ToolCallId, TranscriptMessage, render,
};

use crate::adapter::Adapter;
use crate::agent::Shared;
use crate::log::{Log, Subscription};
use crate::machine::{Addition, Machine};
use crate::spool::MemorySpool;
use crate::turn::Turn;

/// A conversation: the turns that share a history. A clone is a reference.
#[derive(Clone)]
pub struct Session {
    pub(crate) agent: Arc<Shared>,
    pub(crate) open: Arc<OpenSession>,
}

/// A session that lives in this process.
pub(crate) struct OpenSession {
    /// An error if no random bits could be had for it; every turn then reports that.
    pub(crate) id: Result<SessionId, Error>,
    /// Held by the driver of the turn that runs, so that there is never a second one.
    pub(crate) state: Arc<tokio::sync::Mutex<State>>,
    pub(crate) log: Arc<Log>,
    pub(crate) journal: Arc<dyn Journal>,
    transcript: Shelf<Vec<TranscriptMessage>>,
    spool: MemorySpool,
}

/// Something that the driver fills and that anybody may look at meanwhile.
type Shelf<T> = Arc<Mutex<T>>;

/// What the turns of a session leave to each other. It is all derived from the journal and the spool.
pub(crate) struct State {
    /// The turn that was begun last, as far as it has come.
    pub(crate) machine: Option<Machine>,
    /// `None` until the model is first asked.
    pub(crate) adapter: Option<Adapter>,
    pub(crate) transcript: Shelf<Vec<TranscriptMessage>>,
    pub(crate) spool: MemorySpool,
    pub(crate) seen: HashSet<ToolCallId>,
    /// What was shown of a reply that is not whole yet.
    pub(crate) shown: Shown,
    /// How many entries of the journal are taken in.
    pub(crate) position: u64,
    /// No entry and no call is newer: times in a journal never run backwards.
    pub(crate) newest_at: Timestamp,
    /// True while an append is under way; still true if it was cut off, and nobody knows how far it got.
    pub(crate) is_in_doubt: bool,
}

/// The texts of a reply of which pieces were shown: id, and when the first piece came.
#[derive(Default)]
pub(crate) struct Shown {
    pub(crate) message: Option<(Arc<str>, Timestamp)>,
    pub(crate) thought: Option<(Arc<str>, Timestamp)>,
}

impl Shown {
    /// The ids, for telling that the rest will not come.
    pub(crate) fn ids(&self) -> Vec<Arc<str>> {
        [&self.thought, &self.message].into_iter().flatten().map(|(id, _)| id.clone()).collect()
    }
}

impl OpenSession {
    pub(crate) fn new(id: Result<SessionId, Error>, journal: Arc<dyn Journal>) -> Self {
        let transcript = Shelf::default();
        let spool = MemorySpool::new();
        let state = State {
            machine: None,
            adapter: None,
            transcript: Arc::clone(&transcript),
            spool: spool.clone(),
            seen: HashSet::new(),
            shown: Shown::default(),
            position: 0,
            newest_at: Timestamp::MIN,
            is_in_doubt: false,
        };
        let state = Arc::new(tokio::sync::Mutex::new(state));
        Self { id, state, log: Arc::default(), journal, transcript, spool }
    }
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        self.log.close();
    }
}

impl State {
    /// Takes in entries that the journal has.
    pub(crate) fn absorb(&mut self, entries: &[Arc<Entry>], new_machine: impl Fn() -> Machine) {
        for entry in entries {
            self.position = entry.seq;
            self.newest_at = self.newest_at.max(entry.at);
            match &entry.fact {
                Fact::TurnStarted { .. } => self.machine = Some(new_machine()),
                Fact::Replied { calls, .. } => {
                    self.shown = Shown::default();
                    for Proposal { call, .. } in calls {
                        self.seen.insert(call.id().clone());
                        self.newest_at = self.newest_at.max(call.created_at());
                    }
                }
                Fact::ReplyFailed { .. } | Fact::AbortRequested { .. } => self.shown = Shown::default(),
                _ => {}
            }
            let additions = self.machine.as_mut().map(|machine| machine.absorb(entry)).unwrap_or_default();
            let messages: Vec<_> = additions.into_iter().map(|addition| self.message(addition)).collect();
            lock(&self.transcript).extend(messages);
        }
        self.is_in_doubt = false;
    }

    fn message(&self, addition: Addition) -> TranscriptMessage {
        match addition {
            Addition::User(message) => TranscriptMessage::User(message),
            Addition::Assistant(message) => TranscriptMessage::Assistant(message),
            Addition::Result(call) => {
                let text = self.spool.text(&call);
                TranscriptMessage::Tool(call.to_message(text))
            }
        }
    }

    /// Tells the model everything that was said since it was last asked. An adapter that has panicked is
    /// replaced by a new one, which is told everything.
    pub(crate) fn catch_up(&mut self, agent: &Shared) {
        if self.adapter.as_ref().is_some_and(Adapter::is_broken) {
            self.adapter = None;
        }
        let adapter = self.adapter.get_or_insert_with(|| Adapter::new(agent.converse()));
        // Copied out: the adapter's code must not run under a lock that others wait for.
        let news = lock(&self.transcript)[adapter.told..].to_vec();
        adapter.guarded(|conversation| {
            for message in &news {
                conversation.push(&render::message(message));
            }
        });
        adapter.told += news.len();
    }
}

pub(crate) fn lock<T>(shelf: &Mutex<T>) -> MutexGuard<'_, T> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// The id of this session.
    pub fn id(&self) -> Result<SessionId, Error> {
        self.open.id.clone()
    }

    /// A turn that begins when it is first polled.
    pub fn turn(&self, prompt: impl Into<String>) -> Turn {
        Turn::new(self.clone(), prompt.into())
    }

    /// Runs a turn to its end and returns the answer.
    pub async fn ask(&self, prompt: impl Into<String>) -> Result<crate::Answer, Error> {
        self.turn(prompt).await?.into_answer()
    }

    /// The events of all turns after the first `after` facts: 0 for all. It does not end by itself.
    pub fn subscribe(&self, after: u64) -> Subscription {
        self.open.log.subscribe(after, None)
    }

    /// The facts after the first `after`.
    pub fn facts(&self, after: u64) -> Vec<Arc<Entry>> {
        self.open.log.entries(after)
    }

    /// What was said in this session so far, in order, without the instructions. A model reads what others wrote
    /// in it as a quotation, which [`render`] makes when it is asked.
    pub fn transcript(&self) -> Vec<TranscriptMessage> {
        lock(&self.open.transcript).clone()
    }

    /// The decisions of the newest turn, as far as it has come: the fold of its facts. `None` before the
    /// first turn, and while one is held by whoever polls it.
    pub fn machine(&self) -> Option<Machine> {
        self.open.state.try_lock().ok()?.machine.clone()
    }

    /// The bytes of a result.
    pub fn read(&self, artifact: &ArtifactRef) -> Option<Bytes> {
        self.open.spool.get(artifact.digest)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("id", &self.open.id).finish_non_exhaustive()
    }
}
