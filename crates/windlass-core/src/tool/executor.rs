use std::any::Any;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use super::erased::{Admitted, Running, Work};
use super::refusal::Reason;
use super::{
    CallError, Disposition, Effect, ExecutionEnd, ExecutionProgress, ExecutionStart, Refusal, Scope, Tool,
    ToolContext, ToolError, ToolOutput, Values,
};
use crate::cancel::{Cancel, Cancelled};
use crate::entropy::Entropy;
use crate::error::{Code, Error, Problem, shorten};
use crate::identity::{Args, EffectiveChecksum, OperationId, ToolCallId};
use crate::record::Outcome;
use crate::spool::{Pass, Spool};
use crate::time::Clock;

/// How long a handler may go on after its turn was aborted, before its future is dropped.
pub const ABORT_GRACE: Duration = Duration::from_secs(5);

/// The most bytes of a handler's own words that an error quotes, beside a note that says how many are
/// missing.
pub const MAX_DETAIL_BYTES: usize = 4096;

/// What a model is told about a call that may have done its work without returning.
pub const UNKNOWN_EFFECT: &str = "Whether it took effect is unknown: find out before you call it again";

/// The surroundings of an executor: where it is, who decides, and who is told.
///
/// # Contract
///
/// `authorise` is asked once per call, after validation and before anything runs; an error means *no*. It is
/// shown the arguments that the handler would get, and whether the tool's author wants somebody to agree.
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
    fn authorise(
        &self,
        tool: &Tool,
        start: &ExecutionStart,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// The handler is about to run.
    fn started(&self, start: &ExecutionStart) -> impl Future<Output = Result<(), Error>> + Send;

    /// The handler has run.
    fn ended(&self, end: ExecutionEnd);

    /// What the program gave to the handlers of this turn.
    fn values(&self) -> &Values {
        const NONE: &Values = &Values::new();
        NONE
    }

    /// A handler says how far it has come. Called from its thread, so it must not block.
    fn progressed(&self, progress: ExecutionProgress) {
        let _ = progress;
    }

    /// Where handlers may write results as they come.
    fn spool(&self) -> Option<Arc<dyn Spool>> {
        None
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
        let Admitted { args: effective, bytes, ready } = tool.admit(&args)?;
        // Nothing has run, so an abort need not wait for anything.
        let watch = Watch { grace: Duration::ZERO, ..self.watch() };
        judge(tool, contain(|| ready.check(), Some(watch)).await)?;
        let effective_checksum = EffectiveChecksum::of(tool.name(), tool.digest(), &bytes);
        drop(bytes);
        let Scope { session, turn } = host.scope();
        let mut start = ExecutionStart {
            tool_name: tool.shared_name(),
            call_id,
            effective_args: (effective != *args.object()).then(|| Args::checked(effective)),
            secret: tool.definition().secrets_in(&args),
            args,
            started_at: host.clock().now(),
            effective_checksum,
            operation_id: OperationId::of(session, turn, &id, effective_checksum),
            tool_call_id: id,
        };
        host.authorise(tool, &start).await.map_err(CallError::not_run)?;
        if host.cancel().is_cancelled() {
            return Err(CallError::not_run(aborted(tool.name())));
        }
        start.started_at = host.clock().now();
        host.started(&start).await.map_err(CallError::not_run)?;
        let start = Arc::new(start);
        let pass = Pass::default();
        let context = ToolContext::new(tool.clone(), start.clone(), self.host.clone(), pass);
        let mut ending = Ending { host, start: &start, is_error: true };
        let result = self.run(|| ready.run(context)).await;
        ending.is_error = result.is_err();
        drop(ending);
        result
    }

    /// What ends a handler that does not end by itself.
    fn watch(&self) -> Watch<'_> {
        let host = &*self.host;
        let timeout = self.tool.definition().timeout;
        Watch { clock: host.clock(), timeout, cancel: host.cancel(), grace: ABORT_GRACE }
    }

    /// Runs the handler and contains it: panics, time, cancellation.
    async fn run(&self, begin: impl FnOnce() -> Running) -> Result<ToolOutput, CallError> {
        match contain(begin, Some(self.watch())).await {
            End::Returned(Ok(Ok(output))) => Ok(output),
            End::Returned(Ok(Err(error))) => {
                let cause = Error::new(Code::ToolDownstream, error.to_string());
                Err(CallError::result_lost(self.tool.name(), cause))
            }
            End::Returned(Err(error)) => Err(self.failed(error)),
            End::Panicked(message) => Err(self.unfinished(Error::new(Code::ToolPanicked, message))),
            End::TimedOut => Err(self.unfinished(out_of_time(&self.tool))),
            End::Aborted => Err(self.unfinished(Error::new(Code::TurnAborted, "the turn was aborted"))),
        }
    }

    /// The handler returned an error.
    fn failed(&self, error: ToolError) -> CallError {
        let disposition = error.disposition();
        let name = self.tool.name();
        let message = match disposition {
            Disposition::Retry => format!("`{name}` asks to be called again: {error}"),
            Disposition::Failed | Disposition::Abort => format!("`{name}` failed: {error}"),
        };
        let mut wrapped = Error::new(Code::ToolDownstream, message);
        if let Some(cause) = error.into_cause() {
            if super::error::is_transient(&cause) {
                wrapped = wrapped.transient();
            }
            wrapped = wrapped.with_shared_cause(cause);
        }
        CallError { error: wrapped, disposition, outcome: Outcome::Failed }
    }

    /// The handler was started and did not return.
    fn unfinished(&self, cause: Error) -> CallError {
        let effect = self.tool.effect();
        let plain = downstream(self.tool.name(), cause);
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
}

/// What came of an author's own check.
pub(super) fn judge(tool: &Tool, end: End<Result<(), Refusal>>) -> Result<(), CallError> {
    let cause = match end {
        End::Returned(Ok(())) => return Ok(()),
        End::Returned(Err(Refusal(Reason::Problems(problems)))) => {
            return Err(invalid(tool.name(), problems));
        }
        End::Returned(Err(Refusal(Reason::Unable(cause)))) => ToolError::from_cause(cause).into_error(),
        End::Panicked(message) => Error::new(Code::ToolPanicked, message),
        End::TimedOut => out_of_time(tool),
        End::Aborted => return Err(CallError::not_run(aborted(tool.name()))),
    };
    let is_transient = cause.is_transient();
    let message = format!(
        "the arguments of `{}` could not be checked, so it did not run: {}",
        tool.name(),
        cause.message()
    );
    let error = Error::new(Code::ToolDownstream, message).with_cause(cause);
    Err(CallError::not_run(if is_transient { error.transient() } else { error }))
}

/// The error of arguments that do not fit.
pub(super) fn invalid(tool: &str, problems: Vec<Problem>) -> CallError {
    let message =
        format!("the arguments of `{tool}` are not valid, so it did not run; call it again, corrected");
    CallError::refused(Error::new(Code::InvalidToolArgs, message).with_problems(problems))
}

/// The error of a handler whose arguments could not even be read.
pub(super) fn panicked_early(tool: &Tool, payload: &(dyn Any + Send)) -> CallError {
    // The words of a reader may quote what it read.
    let has_secrets = !tool.definition().secret.is_empty();
    let message = if has_secrets { "while its arguments were read".into() } else { panic_message(payload) };
    CallError::not_run(downstream(tool.name(), Error::new(Code::ToolPanicked, message)))
}

fn out_of_time(tool: &Tool) -> Error {
    let message = format!("it did not return within {} s", tool.definition().timeout.as_secs_f64());
    Error::new(Code::ToolTimedOut, message).transient()
}

/// Wraps what became of a handler that returned nothing.
fn downstream(tool: &str, cause: Error) -> Error {
    let reason = match cause.code() {
        Code::ToolPanicked => format!("it panicked: {}", cause.message()),
        _ => cause.message().to_owned(),
    };
    let is_transient = cause.is_transient();
    let error = Error::new(Code::ToolDownstream, format!("`{tool}` failed: {reason}")).with_cause(cause);
    if is_transient { error.transient() } else { error }
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

/// How a piece of an author's code ended.
pub(super) enum End<T> {
    Returned(T),
    Panicked(String),
    TimedOut,
    Aborted,
}

/// What ends a piece of an author's code that does not end by itself.
pub(super) struct Watch<'a> {
    clock: &'a dyn Clock,
    timeout: Duration,
    cancel: &'a Cancel,
    /// How long it may go on after an abort.
    grace: Duration,
}

/// A future of an author. Its destructor is the author's code too: a panic in it changes nothing about how
/// the call ended.
struct Contained<'a, T>(Option<Work<'a, T>>);

impl<T> Drop for Contained<'_, T> {
    fn drop(&mut self) {
        let work = self.0.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(work)));
    }
}

/// Runs a piece of an author's code; nobody watches over its time if there is no watch.
pub(super) async fn contain<'a, T>(begin: impl FnOnce() -> Work<'a, T>, watch: Option<Watch<'_>>) -> End<T> {
    let mut work = match catch_unwind(AssertUnwindSafe(begin)) {
        Ok(work) => Contained(Some(work)),
        Err(payload) => return End::Panicked(panic_message(&*payload)),
    };
    // Timers are made when the code first waits: many never do.
    let mut deadline = None;
    let mut grace = None;
    let mut cancelled = pin!(watch.as_ref().map(|watch| watch.cancel.cancelled()));
    poll_fn(|cx| {
        // The author's code first: a result that is there is never thrown away.
        let Some(running) = work.0.as_mut() else { return Poll::Pending };
        match catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(cx))) {
            Ok(Poll::Ready(result)) => return Poll::Ready(End::Returned(result)),
            Err(payload) => return Poll::Ready(End::Panicked(panic_message(&*payload))),
            Ok(Poll::Pending) => {}
        }
        let Some(Watch { clock, timeout, grace: given, .. }) = watch else { return Poll::Pending };
        let is_raised = |cancelled: Pin<&mut Cancelled<'_>>| cancelled.poll(cx).is_ready();
        if grace.is_none() && cancelled.as_mut().as_pin_mut().is_some_and(is_raised) {
            grace = Some(clock.sleep(given));
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
