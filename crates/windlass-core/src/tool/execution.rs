use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Disposition;
use crate::error::{Code, Error};
use crate::identity::{Args, Checksum, EffectiveChecksum, OperationId, SessionId, ToolCallId, TurnId};
use crate::record::{Outcome, ToolCall};
use crate::time::Timestamp;

/// Where a call happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The session.
    pub session: SessionId,
    /// The turn.
    pub turn: TurnId,
}

/// The start of a handler's run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExecutionStart {
    /// The tool.
    pub tool_name: Arc<str>,
    /// The checksum of the call: equal to that of its stream form and its record.
    pub call_id: Checksum,
    /// The id of the call.
    pub tool_call_id: ToolCallId,
    /// The arguments as the model sent them.
    pub args: Args,
    /// The arguments that the handler gets, where defaults and coercion made them differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_args: Option<Args>,
    /// The names of the arguments that only the handler may see. What is shown to others is blanked out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secret: Vec<Arc<str>>,
    /// When the handler was started.
    pub started_at: Timestamp,
    /// What runs.
    pub effective_checksum: EffectiveChecksum,
    /// Which run this is.
    pub operation_id: OperationId,
}

impl ExecutionStart {
    /// A copy for whoever may not see the secret arguments.
    #[must_use]
    pub fn without_secrets(&self) -> Self {
        let blanked = |args: &Args| args.without_secrets(&self.secret);
        let effective_args = self.effective_args.as_ref().map(blanked);
        Self { args: blanked(&self.args), effective_args, ..self.clone() }
    }

    /// The arguments that the handler gets.
    pub fn effective_args(&self) -> &Map<String, Value> {
        self.effective_args.as_ref().unwrap_or(&self.args).object()
    }
}

/// From when to when a handler ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    /// When it was started.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
}

/// The end of a handler's run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExecutionEnd {
    /// The tool.
    pub tool_name: Arc<str>,
    /// The checksum of the call, as in the start.
    pub call_id: Checksum,
    /// The id of the call.
    pub tool_call_id: ToolCallId,
    /// The arguments, as in the start.
    pub args: Args,
    /// When the handler was started.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// How long it ran.
    pub duration_ms: u64,
    /// True if it did not return a result.
    pub is_error: bool,
}

impl ExecutionEnd {
    /// The end of a run that started so.
    pub fn of(start: &ExecutionStart, ended_at: Timestamp, is_error: bool) -> Self {
        let ended_at = ended_at.max(start.started_at);
        Self {
            tool_name: start.tool_name.clone(),
            call_id: start.call_id,
            tool_call_id: start.tool_call_id.clone(),
            args: start.args.clone(),
            started_at: start.started_at,
            ended_at,
            duration_ms: ended_at.millis_since(start.started_at),
            is_error,
        }
    }

    /// The end of the run that led to this record.
    pub(crate) fn settled(call: &ToolCall, span: Span) -> Self {
        Self {
            tool_name: call.tool().into(),
            call_id: call.checksum(),
            tool_call_id: call.id().clone(),
            args: call.shared_args().clone(),
            started_at: span.started_at,
            ended_at: span.ended_at,
            duration_ms: span.ended_at.millis_since(span.started_at),
            is_error: call.is_error(),
        }
    }

    /// From when to when the handler ran.
    pub fn span(&self) -> Span {
        Span { started_at: self.started_at, ended_at: self.ended_at }
    }
}

/// Why a call has no output.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallError {
    /// What went wrong, in words for the model.
    pub error: Error,
    /// What happens next.
    pub disposition: Disposition,
    /// Whether the handler ran, and whether that is known.
    pub outcome: Outcome,
}

impl CallError {
    /// A call that came out so; the model is told, and the turn goes on.
    pub fn new(error: Error, outcome: Outcome) -> Self {
        Self { error, disposition: Disposition::Failed, outcome }
    }

    /// A call whose handler has done its work and returned, but whose result could not be kept.
    pub fn result_lost(tool: &str, cause: Error) -> Self {
        let message = format!(
            "`{tool}` ran and took effect, but its result could not be kept: {}. Do not call it again to get it",
            cause.message()
        );
        Self::new(Error::new(Code::ToolDownstream, message).with_cause(cause), Outcome::Succeeded)
    }

    /// A call that did not run; the model is told, and the turn goes on.
    pub(super) fn not_run(error: Error) -> Self {
        Self::new(error, Outcome::NotRun)
    }

    /// A call that did not run because its arguments do not fit; the model may correct them.
    pub(super) fn refused(error: Error) -> Self {
        Self { error, disposition: Disposition::Retry, outcome: Outcome::NotRun }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
