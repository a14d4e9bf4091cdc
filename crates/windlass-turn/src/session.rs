use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::Mutex;
use windlass_core::event::{Entry, Fact};
use windlass_core::{
    ArtifactRef, Conversation, Error, SessionId, Timestamp, ToolCallId, TranscriptMessage, render,
};

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
    pub(crate) state: Arc<Mutex<State>>,
    pub(crate) log: Arc<Log>,
    spool: Arc<std::sync::Mutex<MemorySpool>>,
}

/// What the turns of a session leave to each other. It is all derived from the journal and the spool.
pub(crate) struct State {
    /// The turn that was begun last, as far as it has come.
    pub(crate) machine: Option<Machine>,
    pub(crate) conversation: Box<dyn Conversation>,
    pub(crate) transcript: Vec<TranscriptMessage>,
    pub(crate) spool: Arc<std::sync::Mutex<MemorySpool>>,
    pub(crate) seen: HashSet<ToolCallId>,
    /// How many entries of the journal are taken in.
    pub(crate) position: u64,
    /// When the newest of them was written: times in a journal never run backwards.
    pub(crate) newest_at: Timestamp,
    /// True while an append is under way; still true if it was cut off, and nobody knows how far it got.
    pub(crate) is_in_doubt: bool,
}

impl OpenSession {
    pub(crate) fn new(id: Result<SessionId, Error>, conversation: Box<dyn Conversation>) -> Self {
        let spool = Arc::<std::sync::Mutex<MemorySpool>>::default();
        let state = State {
            machine: None,
            conversation,
            transcript: Vec::new(),
            spool: spool.clone(),
            seen: HashSet::new(),
            position: 0,
            newest_at: Timestamp::MIN,
            is_in_doubt: false,
        };
        Self { id, state: Arc::new(Mutex::new(state)), log: Arc::default(), spool }
    }
}

impl State {
    /// Takes in entries that the journal has.
    pub(crate) fn absorb(&mut self, entries: &[Arc<Entry>], new_machine: impl Fn() -> Machine) {
        for entry in entries {
            self.position = entry.seq;
            self.newest_at = entry.at;
            if let Fact::TurnStarted { .. } = entry.fact {
                self.machine = Some(new_machine());
            }
            if let Fact::Replied { calls, .. } = &entry.fact {
                self.seen.extend(calls.iter().map(|proposal| proposal.call.id().clone()));
            }
            let additions = self.machine.as_mut().map(|machine| machine.absorb(entry)).unwrap_or_default();
            for addition in additions {
                let message = self.message(addition);
                self.conversation.push(&render::message(&message));
                self.transcript.push(message);
            }
        }
        self.is_in_doubt = false;
    }

    fn message(&self, addition: Addition) -> TranscriptMessage {
        match addition {
            Addition::User(message) => TranscriptMessage::User(message),
            Addition::Assistant(message) => TranscriptMessage::Assistant(message),
            Addition::Result(call) => {
                let text = lock(&self.spool).text(&call);
                TranscriptMessage::Tool(call.to_message(text))
            }
        }
    }
}

pub(crate) fn lock(spool: &std::sync::Mutex<MemorySpool>) -> std::sync::MutexGuard<'_, MemorySpool> {
    spool.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
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

    /// What a model would read of this session, in order, without the instructions. Waits for a turn
    /// that runs.
    pub async fn transcript(&self) -> Vec<TranscriptMessage> {
        self.open.state.lock().await.transcript.clone()
    }

    /// The decisions of the newest turn, as far as it has come: the fold of its facts. Waits for a turn
    /// that runs.
    pub async fn machine(&self) -> Option<Machine> {
        self.open.state.lock().await.machine.clone()
    }

    /// The bytes of a result.
    pub fn read(&self, artifact: &ArtifactRef) -> Option<Bytes> {
        lock(&self.open.spool).get(artifact).cloned()
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("id", &self.open.id).finish_non_exhaustive()
    }
}
