use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Event, EventKind, TextContent};
use crate::error::{Code, Error};
use crate::identity::{DispatchId, TurnId};
use crate::model::{FinishReason, Usage};
use crate::record::{Message, ToolCall, TurnToolCallContent};
use crate::time::Timestamp;
use crate::tool::{Disposition, ExecutionEnd, ExecutionStart, Span};

/// A fact at its place in a session's journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Entry {
    /// The position in the session's journal: 1, 2, 3, …
    pub seq: u64,
    /// The turn that it belongs to.
    pub turn_id: TurnId,
    /// The dispatch that it belongs to, if it lies inside one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch_id: Option<DispatchId>,
    /// When it was written.
    pub at: Timestamp,
    /// What happened.
    pub fact: Fact,
}

impl Entry {
    /// A fact at a position.
    pub fn new(
        seq: u64,
        turn_id: TurnId,
        dispatch_id: Option<DispatchId>,
        at: Timestamp,
        fact: Fact,
    ) -> Self {
        Self { seq, turn_id, dispatch_id, at, fact }
    }

    /// The events that show this fact, in order.
    pub fn events(&self) -> Vec<Event> {
        let shown = |(part, kind)| Event {
            seq: self.seq,
            part,
            attempt: None,
            turn_id: self.turn_id,
            dispatch_id: self.dispatch_id,
            at: self.at,
            kind,
        };
        (0..).zip(self.fact.shown(self.at)).map(shown).collect()
    }
}

impl Entry {
    /// How many events show this fact, without making them.
    pub fn parts(&self) -> u32 {
        let parts = match &self.fact {
            Fact::Replied { thought, message, calls, .. } => {
                usize::from(thought.is_some()) + usize::from(message.is_some()) + calls.len() + 1
            }
            Fact::ReplyFailed { retracted, .. } | Fact::AbortRequested { retracted } => {
                1 + usize::from(!retracted.is_empty())
            }
            Fact::CallSettled { ran, .. } => 1 + usize::from(ran.is_some()),
            _ => 1,
        };
        u32::try_from(parts).unwrap_or(u32::MAX)
    }
}

/// Something that happened in a turn and is kept. A turn is the fold of its facts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
// Adjacent tags: internal ones buffer their content, and numbers do not survive that when another crate
// switches on `arbitrary_precision`.
#[serde(tag = "type", content = "data", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Fact {
    /// The turn began with this message of the user.
    TurnStarted {
        /// What the user said.
        message: Message,
    },
    /// The dispatch began.
    DispatchStarted {
        /// Its id.
        dispatch: DispatchId,
    },
    /// The model is about to be asked.
    IterationStarted {
        /// 1 for the first.
        iteration: u32,
    },
    /// The model's reply is whole, with the calls that it proposes.
    Replied {
        /// The reasoning, if there was any.
        thought: Option<Spoken>,
        /// The text, if there was any.
        message: Option<Spoken>,
        /// The calls, in request order.
        calls: Vec<Proposal>,
        /// Which model replied.
        model: Arc<str>,
        /// Why it stopped.
        finish: FinishReason,
        /// What it cost.
        usage: Option<Usage>,
        /// How long it took.
        duration_ms: u64,
    },
    /// The model did not give a whole reply.
    ReplyFailed {
        /// Why.
        error: Failure,
        /// The ids of messages and thoughts that were shown in part and will not come.
        retracted: Vec<Arc<str>>,
    },
    /// A handler is about to run.
    CallStarted(ExecutionStart),
    /// A call has its result.
    CallSettled {
        /// The record.
        call: ToolCall,
        /// From its written start to its end; a handler that was kept from running after its start was written
        /// has both, and the outcome `notRun`.
        ran: Option<Span>,
        /// What happens next, if it failed.
        disposition: Option<Disposition>,
        /// The names of the arguments that only the handler may see.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        secret: Vec<Arc<str>>,
    },
    /// Somebody asked the turn to stop.
    AbortRequested {
        /// The ids of messages and thoughts that were shown in part and will not come.
        retracted: Vec<Arc<str>>,
    },
    /// Every call of the reply has settled.
    IterationEnded {
        /// Which one.
        iteration: u32,
    },
    /// The dispatch is over.
    DispatchEnded {
        /// How.
        outcome: DispatchOutcome,
    },
    /// The turn is over.
    TurnEnded(TurnEnd),
}

impl Fact {
    fn shown(&self, at: Timestamp) -> Vec<EventKind> {
        match self {
            Self::TurnStarted { .. } => vec![EventKind::TurnStart {}],
            Self::DispatchStarted { .. } => vec![EventKind::DispatchStart {}],
            Self::IterationStarted { iteration } => vec![EventKind::IterationStart { iteration: *iteration }],
            Self::Replied { thought, message, calls, model, finish, usage, duration_ms } => {
                let thought = thought
                    .iter()
                    .map(|spoken| EventKind::Thought { content: TextContent::full(spoken, at) });
                let message = message
                    .iter()
                    .map(|spoken| EventKind::Message { content: TextContent::full(spoken, at) });
                let calls = calls.iter().map(|proposal| EventKind::ToolCall { content: proposal.shown() });
                let stats = EventKind::GenerationStats {
                    model: model.clone(),
                    finish_reason: *finish,
                    usage: *usage,
                    duration_ms: *duration_ms,
                };
                thought.chain(message).chain(calls).chain([stats]).collect()
            }
            Self::ReplyFailed { error, retracted } => {
                with_retracted(EventKind::Error { error: error.clone() }, retracted)
            }
            Self::CallStarted(start) => vec![EventKind::ToolExecutionStart(start.without_secrets())],
            Self::CallSettled { call, ran, secret, .. } => {
                let call = call.without_secrets(secret);
                ran.iter()
                    .map(|span| EventKind::ToolExecutionEnd(ExecutionEnd::settled(&call, *span)))
                    .chain([EventKind::ToolCall { content: call.to_content() }])
                    .collect()
            }
            Self::AbortRequested { retracted } => with_retracted(EventKind::AbortRequested {}, retracted),
            Self::IterationEnded { iteration } => vec![EventKind::IterationEnd { iteration: *iteration }],
            Self::DispatchEnded { outcome } => vec![EventKind::DispatchEnd { outcome: *outcome }],
            Self::TurnEnded(end) => vec![EventKind::TurnEnd(end.clone())],
        }
    }
}

fn with_retracted(kind: EventKind, ids: &[Arc<str>]) -> Vec<EventKind> {
    let retracted = (!ids.is_empty()).then(|| EventKind::Retracted { ids: ids.to_vec() });
    [kind].into_iter().chain(retracted).collect()
}

/// A call that the model asked for.
///
/// Arguments that were no object stand in it as `{"$raw": …}`, and the reason is kept beside them: the
/// object alone would not tell them from a tool that really has an argument of that name.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Proposal {
    /// The call, with all of its arguments.
    pub call: TurnToolCallContent,
    /// The names of the arguments that only the handler may see.
    pub secret: Vec<Arc<str>>,
}

impl Proposal {
    /// A call that was just announced.
    pub fn new(call: TurnToolCallContent) -> Self {
        Self { call, secret: Vec::new() }
    }

    /// Names the arguments that only the handler may see.
    #[must_use]
    pub fn with_secret(self, secret: Vec<Arc<str>>) -> Self {
        Self { secret, ..self }
    }

    /// The call as it is announced.
    pub fn shown(&self) -> TurnToolCallContent {
        self.call.without_secrets(&self.secret)
    }
}

#[derive(Serialize, Deserialize)]
struct StoredProposal {
    call: TurnToolCallContent,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    defect: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    secret: Vec<Arc<str>>,
}

impl Serialize for Proposal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let defect = self.call.shared_args().defect().map(str::to_owned);
        StoredProposal { call: self.call.clone(), defect, secret: self.secret.clone() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Proposal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let StoredProposal { call, defect, secret } = StoredProposal::deserialize(deserializer)?;
        Ok(Self { call: if defect.is_some() { call.with_defect(defect) } else { call }, secret })
    }
}

/// A whole text of the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Spoken {
    /// The id under which its deltas were shown.
    pub id: Arc<str>,
    /// The text.
    pub text: Arc<str>,
    /// When its first piece came.
    pub created_at: Timestamp,
}

impl Spoken {
    /// A text whose first piece came at `created_at`.
    pub fn new(id: Arc<str>, text: impl Into<Arc<str>>, created_at: Timestamp) -> Self {
        Self { id, text: text.into(), created_at }
    }
}

/// An error, as far as a journal keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Failure {
    /// The stable code.
    pub code: Arc<str>,
    /// The message.
    pub message: Arc<str>,
    /// True if trying again may help.
    #[serde(default)]
    pub is_transient: bool,
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        let (code, text) = (error.code().as_str(), error.to_string());
        let message = text.strip_prefix(code).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&text);
        Self { code: code.into(), message: message.into(), is_transient: error.is_transient() }
    }
}

impl Failure {
    /// The error again, without its cause. A code of a later version becomes `E_MODEL_FAILED`.
    pub fn to_error(&self) -> Error {
        let known = Code::ALL.iter().find(|code| code.as_str() == &*self.code).copied();
        let error = Error::new(known.unwrap_or(Code::ModelFailed), &*self.message);
        if self.is_transient { error.transient() } else { error }
    }
}

/// How a dispatch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum DispatchOutcome {
    /// It came to its natural end, or a limit stopped it.
    Ack,
    /// It failed.
    Nack,
    /// Somebody stopped it.
    Aborted,
}

/// How a turn ended, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Status {
    /// It came to its natural end.
    Completed,
    /// A limit stopped it.
    Stopped,
    /// It failed.
    Failed,
    /// Somebody stopped it.
    Aborted,
}

/// Why a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum StopReason {
    /// The model answered without calling a tool.
    Answered,
    /// The limit of iterations was reached.
    Iterations,
    /// Somebody stopped it.
    Aborted,
    /// The model, or a tool that must not fail, failed.
    Failed,
}

impl StopReason {
    /// The status that goes with this reason.
    pub fn status(self) -> Status {
        match self {
            Self::Answered => Status::Completed,
            Self::Iterations => Status::Stopped,
            Self::Aborted => Status::Aborted,
            Self::Failed => Status::Failed,
        }
    }

    /// How the dispatch ends that ends for this reason.
    pub fn dispatch_outcome(self) -> DispatchOutcome {
        match self {
            Self::Answered | Self::Iterations => DispatchOutcome::Ack,
            Self::Aborted => DispatchOutcome::Aborted,
            Self::Failed => DispatchOutcome::Nack,
        }
    }
}

/// The end of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TurnEnd {
    /// How it ended.
    pub status: Status,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// What all its replies cost together.
    pub usage: Usage,
    /// How long it took.
    pub duration_ms: u64,
    /// What went wrong, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

impl TurnEnd {
    /// The end of a turn that ends for this reason.
    pub fn new(stop_reason: StopReason, usage: Usage, duration_ms: u64, error: Option<Failure>) -> Self {
        Self { status: stop_reason.status(), stop_reason, usage, duration_ms, error }
    }
}
