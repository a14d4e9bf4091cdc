use std::sync::Arc;

use serde::Serialize;

use super::{DispatchOutcome, Failure, Spoken, TurnEnd};
use crate::identity::{DispatchId, TurnId};
use crate::model::{FinishReason, Usage};
use crate::record::TurnToolCallContent;
use crate::time::Timestamp;
use crate::tool::{ExecutionEnd, ExecutionProgress, ExecutionStart};

/// Something that a subscriber sees.
///
/// `(seq, part)` orders the events of a session. As JSON an event is one flat object with a `type`; what
/// the turn is *for* stands under `content`, what is said *about* the turn beside the other fields.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Event {
    /// The position of the fact that is shown; for a delta, of the last fact before it.
    pub seq: u64,
    /// Tells the events of one position apart.
    pub part: u32,
    /// For a delta: which attempt at this reply it belongs to. Absent for facts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The turn.
    pub turn_id: TurnId,
    /// The dispatch, if the event lies inside one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatch_id: Option<DispatchId>,
    /// When it happened.
    pub at: Timestamp,
    /// What it shows.
    #[serde(flatten)]
    pub kind: EventKind,
}

impl Event {
    /// A delta after the fact at `seq`.
    pub fn delta(
        (seq, part): (u64, u32),
        attempt: u32,
        (turn_id, dispatch_id): (TurnId, Option<DispatchId>),
        at: Timestamp,
        kind: EventKind,
    ) -> Self {
        Self { seq, part, attempt: Some(attempt), turn_id, dispatch_id, at, kind }
    }

    /// True if this event shows a fact, which a journal keeps.
    pub fn is_fact(&self) -> bool {
        self.attempt.is_none()
    }

    /// Which of the two buses the event belongs to.
    pub fn bus(&self) -> Bus {
        match self.kind {
            EventKind::Message { .. }
            | EventKind::Thought { .. }
            | EventKind::ToolCall { .. }
            | EventKind::ToolCallPreview { .. } => Bus::Functional,
            _ => Bus::Observability,
        }
    }
}

/// What an event is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bus {
    /// What the turn produces: messages, thoughts, calls.
    Functional,
    /// What is said about the turn.
    Observability,
}

/// The kinds of events.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum EventKind {
    /// The model says something: a piece, or the whole.
    Message {
        /// The text.
        content: TextContent,
    },
    /// The model reasons: a piece, or the whole.
    Thought {
        /// The text.
        content: TextContent,
    },
    /// A call was announced, or completed.
    ToolCall {
        /// The call.
        content: TurnToolCallContent,
    },
    /// Arguments are still streaming. Promises nothing: neither that the call comes nor that it is
    /// valid.
    ToolCallPreview {
        /// The piece.
        content: PreviewContent,
    },
    /// The turn began.
    TurnStart {},
    /// The turn is over.
    TurnEnd(TurnEnd),
    /// The dispatch began.
    DispatchStart {},
    /// The dispatch is over.
    DispatchEnd {
        /// How it ended.
        outcome: DispatchOutcome,
    },
    /// The model is about to be asked.
    IterationStart {
        /// 1 for the first.
        iteration: u32,
    },
    /// Every call of the reply has settled.
    IterationEnd {
        /// Which one.
        iteration: u32,
    },
    /// A handler is about to run.
    ToolExecutionStart(ExecutionStart),
    /// A handler has run.
    ToolExecutionEnd(ExecutionEnd),
    /// A handler says how far it has come. Shown, never kept.
    Progress(ExecutionProgress),
    /// What a reply cost.
    GenerationStats {
        /// Which model replied.
        model: Arc<str>,
        /// Why it stopped.
        finish_reason: FinishReason,
        /// What it cost, if the provider said so.
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// How long it took.
        duration_ms: u64,
    },
    /// Something went wrong.
    Error {
        /// What.
        #[serde(flatten)]
        error: Failure,
    },
    /// What was shown in part and will not come.
    Retracted {
        /// The ids of the messages and thoughts.
        ids: Vec<Arc<str>>,
    },
    /// Somebody asked the turn to stop.
    #[serde(rename = "fact.abortRequested")]
    AbortRequested {},
    /// This process can no longer keep facts: the stream ends here, the turn does not.
    Detached {
        /// The code of the error that led to it.
        code: Arc<str>,
    },
}

/// A text of the model, in part or whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TextContent {
    /// The same for all pieces of one text and for the whole.
    pub id: Arc<str>,
    /// The new piece, while it is not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Arc<str>>,
    /// The whole text, once it is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full: Option<Arc<str>>,
    /// True once the text is whole.
    pub is_complete: bool,
    /// When the first piece came.
    pub created_at: Timestamp,
    /// When this piece came.
    pub updated_at: Timestamp,
}

impl TextContent {
    /// One piece of a text.
    pub fn piece(id: Arc<str>, delta: impl Into<Arc<str>>, created_at: Timestamp, at: Timestamp) -> Self {
        Self { id, delta: Some(delta.into()), full: None, is_complete: false, created_at, updated_at: at }
    }

    pub(super) fn full(spoken: &Spoken, at: Timestamp) -> Self {
        Self {
            id: spoken.id.clone(),
            delta: None,
            full: Some(spoken.text.clone()),
            is_complete: true,
            created_at: spoken.created_at,
            updated_at: at.max(spoken.created_at),
        }
    }
}

/// A piece of a call that is still streaming.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PreviewContent {
    /// Which call of the reply this is.
    pub slot: usize,
    /// The tool, if this piece names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Arc<str>>,
    /// The piece of the arguments' text.
    pub delta: Arc<str>,
}

impl PreviewContent {
    /// One piece of the arguments of a call.
    pub fn new(slot: usize, tool: Option<Arc<str>>, delta: impl Into<Arc<str>>) -> Self {
        Self { slot, tool, delta: delta.into() }
    }
}
