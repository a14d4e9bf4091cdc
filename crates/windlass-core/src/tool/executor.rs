use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Admission, Disposition, Effect, Running, Tool, ToolContext, ToolError, ToolOutput};
use crate::cancel::Cancel;
use crate::entropy::Entropy;
use crate::error::{Code, Error, Problem, shorten};
use crate::identity::{
    Args, Checksum, EffectiveChecksum, OperationId, SessionId, ToolCallId, TurnId, exact_object,
};
use crate::record::{Outcome, ToolCall};
use crate::time::{Clock, Timestamp};

/// How long a handler may go on after its turn was aborted, before its future is dropped.
pub const ABORT_GRACE: Duration = Duration::from_secs(5);

/// The most bytes of a handler's own words that an error quotes, beside a note that says how many are
/// missing.
pub const MAX_DETAIL_BYTES: usize = 4096;

/// What a model is told about a call that may have done its work without returning.
pub const UNKNOWN_EFFECT: &str = "Whether it took effect is unknown: find out before you call it again";

/// Where a call happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The session.
    pub session: SessionId,
    /// The turn.
    pub turn: TurnId,
}

/// The surroundings of an executor: where it is, who decides, and who is told.
///
/// # Contract
///
/// `authorise` is asked once per call, after validation and before anything runs; an error means *no*.
/// `started` returns once the start is kept, and an error stops the call before its handler runs.
/// `ended` is called exactly once for each `started` that succeeded, whatever happens to the handler.
pub trait Host: Send + Sync + 'static {
    /// Session and turn.
    fn scope(&self) -> Scope;

    /// Time.
    fn clock(&self) -> &dyn Clock;

    /// Random bytes, for ids of calls that have none.
    fn entropy(&self) -> &dyn Entropy;

    /// Raised when the turn is aborted.
    fn cancel(&self) -> &Cancel;

    /// May this operation run?
    fn authorise(&self, start: &ExecutionStart) -> impl Future<Output = Result<(), Error>> + Send;

    /// The handler is about to run.
    fn started(&self, start: &ExecutionStart) -> impl Future<Output = Result<(), Error>> + Send;

    /// The handler has run.
    fn ended(&self, end: ExecutionEnd);
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
    /// The arguments.
    pub args: Args,
    /// When the handler was started.
    pub started_at: Timestamp,
    /// What runs.
    pub effective_checksum: EffectiveChecksum,
    /// Which run this is.
    pub operation_id: OperationId,
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

    fn not_run(error: Error) -> Self {
        Self::new(error, Outcome::NotRun)
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

/// A tool bound to its surroundings. The only way to run a handler.
///
/// Each call goes through the same steps: hash the raw arguments, validate, ask for permission, report
/// the start, run, report the end, wrap what went wrong. Invalid or refused calls have no execution
/// events at all.
pub struct Executor<H> {
    tool: Tool,
    host: Arc<H>,
}

impl<H> Clone for Executor<H> {
    fn clone(&self) -> Self {
        Self { tool: self.tool.clone(), host: self.host.clone() }
    }
}

impl<H> fmt::Debug for Executor<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor").field("tool", &self.tool).finish_non_exhaustive()
    }
}

impl<H: Host> Executor<H> {
    pub(super) fn new(tool: Tool, host: Arc<H>) -> Self {
        Self { tool, host }
    }

    /// Runs a call that has no id yet; a fresh one is minted.
    pub async fn call(&self, args: Args) -> Result<ToolOutput, CallError> {
        let id = ToolCallId::mint(self.host.entropy()).map_err(CallError::not_run)?;
        self.call_as(id, args).await
    }

    /// Runs the call with this id.
    pub async fn call_as(&self, id: ToolCallId, args: Args) -> Result<ToolOutput, CallError> {
        let (tool, host) = (&self.tool, &*self.host);
        let call_id = args.checksum(tool.name());
        if let Some(defect) = args.defect() {
            return Err(self.invalid(Problem::at("", defect)));
        }
        let checked = match &tool.0.check {
            Some(check) => check.check(tool.name(), args.object()).map(Cow::Owned).map_err(refused)?,
            None => Cow::Borrowed(args.object()),
        };
        // Computed once: these bytes are hashed, shown to whoever approves, and read by the handler.
        let effective = exact_object(&checked);
        drop(checked);
        let ready = match tool.admit(&effective) {
            Ok(ready) => ready,
            Err(Admission::Refused(problem)) => return Err(self.invalid(problem)),
            Err(Admission::Panicked(message)) => {
                let cause = Error::new(Code::ToolPanicked, message);
                return Err(CallError { outcome: Outcome::NotRun, ..self.downstream(cause) });
            }
        };
        let effective_checksum = EffectiveChecksum::of(tool.name(), tool.0.digest, &effective);
        let Scope { session, turn } = host.scope();
        let operation_id = OperationId::of(session, turn, &id, effective_checksum);
        let mut start = ExecutionStart {
            tool_name: tool.name().into(),
            call_id,
            tool_call_id: id.clone(),
            args,
            started_at: host.clock().now(),
            effective_checksum,
            operation_id,
        };
        host.authorise(&start).await.map_err(CallError::not_run)?;
        if host.cancel().is_cancelled() {
            return Err(CallError::not_run(aborted(tool.name())));
        }
        start.started_at = host.clock().now();
        host.started(&start).await.map_err(CallError::not_run)?;
        let context =
            ToolContext { tool_call_id: id, checksum: call_id, operation_id, cancel: host.cancel().clone() };
        let mut ending = Ending { host, start: &start, is_error: true };
        let result = self.run(|| ready(context)).await;
        ending.is_error = result.is_err();
        drop(ending);
        result
    }

    /// Runs the handler and contains it: panics, time, cancellation.
    async fn run(&self, begin: impl FnOnce() -> Running) -> Result<ToolOutput, CallError> {
        let host = &*self.host;
        let timeout = self.tool.definition().timeout;
        match supervise(begin, host.clock(), timeout, host.cancel()).await {
            End::Returned(Ok(Ok(output))) => Ok(output),
            End::Returned(Ok(Err(error))) => {
                let cause = Error::new(Code::ToolDownstream, error.to_string());
                Err(CallError::result_lost(self.tool.name(), cause))
            }
            End::Returned(Err(error)) => Err(self.failed(error)),
            End::Panicked(message) => Err(self.unfinished(Error::new(Code::ToolPanicked, message))),
            End::TimedOut => {
                let message = format!("it did not return within {} s", timeout.as_secs_f64());
                Err(self.unfinished(Error::new(Code::ToolTimedOut, message).transient()))
            }
            End::Aborted => Err(self.unfinished(Error::new(Code::TurnAborted, "the turn was aborted"))),
        }
    }

    fn invalid(&self, problem: Problem) -> CallError {
        let name = self.tool.name();
        let message =
            format!("the arguments of `{name}` are not valid, so it did not run; call it again, corrected");
        refused(Error::new(Code::InvalidToolArgs, message).with_problems(vec![problem]))
    }

    /// The handler returned an error.
    fn failed(&self, error: ToolError) -> CallError {
        let disposition = error.disposition();
        let mut wrapped = Error::new(Code::ToolDownstream, format!("`{}` failed: {error}", self.tool.name()));
        if let Some(cause) = error.into_cause() {
            if cause.downcast_ref::<Error>().is_some_and(Error::is_transient) {
                wrapped = wrapped.transient();
            }
            wrapped = wrapped.with_shared_cause(cause);
        }
        CallError { error: wrapped, disposition, outcome: Outcome::Failed }
    }

    /// The handler was started and did not return.
    fn unfinished(&self, cause: Error) -> CallError {
        let effect = self.tool.effect();
        let CallError { error: plain, .. } = self.downstream(cause);
        if effect == Effect::Pure {
            return CallError::new(plain, Outcome::Failed);
        }
        let message = format!("{}. {UNKNOWN_EFFECT}", plain.message());
        let is_transient = plain.is_transient() && effect != Effect::Once;
        let error = Error::new(Code::ToolDownstream, message).with_cause(plain);
        CallError::new(
            if is_transient { error.transient() } else { error },
            if effect == Effect::Once { Outcome::Unknown } else { Outcome::Failed },
        )
    }

    fn downstream(&self, cause: Error) -> CallError {
        let reason = match cause.code() {
            Code::ToolPanicked => format!("it panicked: {}", cause.message()),
            _ => cause.message().to_owned(),
        };
        let is_transient = cause.is_transient();
        let error = Error::new(Code::ToolDownstream, format!("`{}` failed: {reason}", self.tool.name()))
            .with_cause(cause);
        CallError {
            error: if is_transient { error.transient() } else { error },
            disposition: Disposition::Failed,
            outcome: Outcome::Failed,
        }
    }
}

/// The arguments do not fit; the model may correct them.
fn refused(error: Error) -> CallError {
    CallError { error, disposition: Disposition::Retry, outcome: Outcome::NotRun }
}

/// The error of a call that an abort kept from running.
pub(crate) fn aborted(tool: &str) -> Error {
    Error::new(Code::TurnAborted, format!("the turn was aborted before `{tool}` ran"))
}

/// Reports the end when it goes out of scope: also when the executor's own future is dropped.
struct Ending<'a, H: Host> {
    host: &'a H,
    start: &'a ExecutionStart,
    is_error: bool,
}

impl<H: Host> Drop for Ending<'_, H> {
    fn drop(&mut self) {
        self.host.ended(ExecutionEnd::of(self.start, self.host.clock().now(), self.is_error));
    }
}

enum End {
    Returned(Result<Result<ToolOutput, ToolError>, ToolError>),
    Panicked(String),
    TimedOut,
    Aborted,
}

/// The future of a handler. Its destructor is the handler's code too: a panic in it changes nothing about
/// how the call ended.
struct Contained(Running);

impl Drop for Contained {
    fn drop(&mut self) {
        let running = std::mem::replace(&mut self.0, Box::pin(pending()));
        let _ = catch_unwind(AssertUnwindSafe(|| drop(running)));
    }
}

async fn supervise(
    begin: impl FnOnce() -> Running,
    clock: &dyn Clock,
    timeout: Duration,
    cancel: &Cancel,
) -> End {
    let mut running = match catch_unwind(AssertUnwindSafe(begin)) {
        Ok(running) => Contained(running),
        Err(payload) => return End::Panicked(panic_message(&*payload)),
    };
    // Timers are made when the handler first waits: many never do.
    let mut deadline = None;
    let mut grace = None;
    let mut cancelled = pin!(cancel.cancelled());
    poll_fn(|cx| {
        // The handler first: a result that is there is never thrown away.
        match catch_unwind(AssertUnwindSafe(|| running.0.as_mut().poll(cx))) {
            Ok(Poll::Ready(result)) => return Poll::Ready(End::Returned(result)),
            Err(payload) => return Poll::Ready(End::Panicked(panic_message(&*payload))),
            Ok(Poll::Pending) => {}
        }
        if grace.is_none() && cancelled.as_mut().poll(cx).is_ready() {
            grace = Some(clock.sleep(ABORT_GRACE));
        }
        if grace.as_mut().is_some_and(|grace| grace.as_mut().poll(cx).is_ready()) {
            return Poll::Ready(End::Aborted);
        }
        if deadline.get_or_insert_with(|| clock.sleep(timeout)).as_mut().poll(cx).is_ready() {
            return Poll::Ready(End::TimedOut);
        }
        Poll::Pending
    })
    .await
}

/// The words of a panic, as far as it has any.
pub(super) fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned());
    shorten(text, MAX_DETAIL_BYTES)
}
