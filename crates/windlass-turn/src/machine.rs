use std::sync::Arc;

use windlass_core::event::{Entry, Fact, Failure, Proposal, StopReason, TurnEnd};
use windlass_core::record::{AssistantMessage, RequestedCall};
use windlass_core::tool::ExecutionStart;
use windlass_core::{
    Code, DispatchId, Disposition, Error, Message, Timestamp, ToolCall, ToolCallId, TurnId,
    TurnToolCallContent, Usage,
};

/// How often the model is asked in one turn unless the agent says otherwise.
pub const MAX_ITERATIONS: u32 = 25;

/// Where a turn must stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// How often the model is asked; at least once.
    pub iterations: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { iterations: MAX_ITERATIONS }
    }
}

/// What a turn does next.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// Write the message that begins the turn.
    Begin,
    /// Write the start of the dispatch.
    BeginDispatch,
    /// Write this fact; nothing else has to happen.
    Write(Fact),
    /// Ask the model, and write its reply or its failure.
    AskModel,
    /// Run the calls that have no result yet, and write each result.
    RunCalls,
    /// Write the end of the turn: [`Machine::turn_end`].
    EndTurn,
    /// Nothing: the turn is over.
    Finished,
}

/// Something that a fact made part of the transcript.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Addition {
    User(Message),
    Assistant(AssistantMessage),
    /// The answer to a call: its text lies in the record or in the spool.
    Result(ToolCall),
}

/// The decisions of a turn, without its side effects.
///
/// [`apply`](Self::apply) is the only way to change it, [`next`](Self::next) the only way to ask what
/// comes next. It never awaits, reads a clock or draws a random number, so folding a stored journal
/// rebuilds the turn exactly.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    limits: Limits,
    phase: Phase,
    turn: Option<TurnId>,
    dispatch: Option<DispatchId>,
    started_at: Timestamp,
    iteration: u32,
    /// The calls of the present reply, in request order; empty between iterations.
    batch: Vec<Call>,
    /// Why the turn will end, once that is decided.
    ending: Option<Ending>,
    usage: Usage,
    answer: Option<Arc<str>>,
    /// `createdAt` of the newest call: no two calls of a turn share one.
    newest_call_at: Option<Timestamp>,
    end: Option<TurnEnd>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    New,
    Begun,
    /// Inside the dispatch, between iterations.
    Between,
    Asking,
    Calling,
    /// The dispatch is over, the turn is not.
    Closing,
    Over,
}

#[derive(Clone, Debug, PartialEq)]
struct Ending {
    reason: StopReason,
    error: Option<Failure>,
}

#[derive(Clone, Debug, PartialEq)]
struct Call {
    announced: TurnToolCallContent,
    /// The names of the arguments that only the handler may see.
    secret: Vec<Arc<str>>,
    state: CallState,
}

#[derive(Clone, Debug, PartialEq)]
enum CallState {
    Proposed,
    Started(ExecutionStart),
    Settled(ToolCall),
}

/// A call without a result, as the driver finds it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unsettled {
    pub(crate) announced: TurnToolCallContent,
    /// How its handler was started, if it was.
    pub(crate) start: Option<ExecutionStart>,
}

impl Machine {
    /// A turn in which nothing has happened.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            phase: Phase::New,
            turn: None,
            dispatch: None,
            started_at: Timestamp::MIN,
            iteration: 0,
            batch: Vec::new(),
            ending: None,
            usage: Usage::default(),
            answer: None,
            newest_call_at: None,
            end: None,
        }
    }

    /// The turn that these entries are the history of.
    pub fn fold<'a>(limits: Limits, entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut machine = Self::new(limits);
        for entry in entries {
            machine.apply(entry);
        }
        machine
    }

    /// What comes next.
    pub fn next(&self) -> Step {
        match (self.phase, &self.ending) {
            (Phase::New, _) => Step::Begin,
            (Phase::Begun, _) => Step::BeginDispatch,
            (Phase::Between, None) => Step::Write(Fact::IterationStarted { iteration: self.iteration + 1 }),
            (Phase::Between, Some(ending)) => {
                Step::Write(Fact::DispatchEnded { outcome: ending.reason.dispatch_outcome() })
            }
            (Phase::Asking, None) => Step::AskModel,
            (Phase::Calling, _) if !self.is_settled() => Step::RunCalls,
            (Phase::Asking | Phase::Calling, _) => {
                Step::Write(Fact::IterationEnded { iteration: self.iteration })
            }
            (Phase::Closing, _) => Step::EndTurn,
            (Phase::Over, _) => Step::Finished,
        }
    }

    /// Takes a fact in.
    pub fn apply(&mut self, entry: &Entry) {
        self.absorb(entry);
    }

    /// Takes a fact in, and tells what it added to the transcript.
    pub(crate) fn absorb(&mut self, entry: &Entry) -> Vec<Addition> {
        match &entry.fact {
            Fact::TurnStarted { message } => {
                // A journal may hold turns before this one; they are no part of it.
                *self = Self::new(self.limits);
                self.phase = Phase::Begun;
                self.turn = Some(entry.turn_id);
                self.started_at = entry.at;
                return vec![Addition::User(message.clone())];
            }
            Fact::DispatchStarted { dispatch } => {
                self.phase = Phase::Between;
                self.dispatch = Some(*dispatch);
            }
            Fact::IterationStarted { iteration } => {
                self.phase = Phase::Asking;
                self.iteration = *iteration;
            }
            Fact::Replied { message, calls, usage, .. } => {
                self.usage = self.usage.plus(usage.unwrap_or_default());
                self.propose(calls);
                let text = message.as_ref().map(|spoken| spoken.text.clone());
                if calls.is_empty() {
                    self.answer.clone_from(&text);
                    self.ending = Some(Ending { reason: StopReason::Answered, error: None });
                }
                // A reply without text and calls is no message that a provider would take back.
                if text.is_some() || !calls.is_empty() {
                    return vec![Addition::Assistant(self.assistant_message(text, entry.at))];
                }
            }
            Fact::ReplyFailed { error, .. } => {
                self.ending = Some(Ending { reason: StopReason::Failed, error: Some(error.clone()) });
            }
            Fact::CallStarted(start) => {
                if let Some(call) = self.call(&start.tool_call_id) {
                    call.state = CallState::Started(start.clone());
                }
            }
            Fact::CallSettled { call: settled, disposition, .. } => {
                let call = self.call(settled.id());
                // There is one record per id: a second one changes nothing.
                let Some(call) = call.filter(|call| !matches!(call.state, CallState::Settled(_))) else {
                    return Vec::new();
                };
                call.state = CallState::Settled(settled.clone());
                if *disposition == Some(Disposition::Abort) && self.ending.is_none() {
                    let detail = settled.results().as_text().unwrap_or_default();
                    let detail = detail.trim_start_matches("E_TOOL_DOWNSTREAM_ERROR: ");
                    let message = format!("`{}` asked for the turn to end: {detail}", settled.tool());
                    let error = Error::new(Code::ToolDownstream, message);
                    self.ending = Some(Ending { reason: StopReason::Failed, error: Some((&error).into()) });
                }
            }
            // An abort speaks louder than a tool that failed, and comes too late for what has ended.
            Fact::AbortRequested { .. } if self.is_abortable() => {
                self.ending = Some(Ending { reason: StopReason::Aborted, error: None });
            }
            Fact::IterationEnded { .. } => {
                self.phase = Phase::Between;
                if self.ending.is_none() && self.iteration >= self.limits.iterations {
                    self.ending = Some(Ending { reason: StopReason::Iterations, error: None });
                }
                return self.take_results();
            }
            Fact::DispatchEnded { .. } => {
                self.phase = Phase::Closing;
                self.dispatch = None;
            }
            Fact::TurnEnded(end) => {
                self.phase = Phase::Over;
                self.end = Some(end.clone());
            }
            // Facts of later versions do not move this one.
            _ => {}
        }
        Vec::new()
    }

    fn propose(&mut self, calls: &[Proposal]) {
        self.phase = Phase::Calling;
        let proposed = |proposal: &Proposal| Call {
            announced: proposal.call.clone(),
            secret: proposal.secret.clone(),
            state: CallState::Proposed,
        };
        self.batch = calls.iter().map(proposed).collect();
        self.newest_call_at =
            self.batch.last().map(|call| call.announced.created_at()).max(self.newest_call_at);
    }

    fn assistant_message(&self, text: Option<Arc<str>>, at: Timestamp) -> AssistantMessage {
        let requested = |call: &Call| {
            RequestedCall::new(
                call.announced.id().clone(),
                call.announced.tool(),
                call.announced.shared_args().clone(),
            )
        };
        AssistantMessage::new(text, self.batch.iter().map(requested).collect(), at)
    }

    /// The results of the batch, in request order.
    fn take_results(&mut self) -> Vec<Addition> {
        let settled = |call: Call| match call.state {
            CallState::Settled(record) => Some(Addition::Result(record)),
            CallState::Proposed | CallState::Started(_) => None,
        };
        std::mem::take(&mut self.batch).into_iter().filter_map(settled).collect()
    }

    fn call(&mut self, id: &ToolCallId) -> Option<&mut Call> {
        self.batch.iter_mut().find(|call| call.announced.id() == id)
    }

    fn is_settled(&self) -> bool {
        self.batch.iter().all(|call| matches!(call.state, CallState::Settled(_)))
    }

    /// The calls without a result, in request order.
    pub(crate) fn unsettled(&self) -> impl Iterator<Item = Unsettled> {
        self.batch.iter().filter_map(|call| {
            let start = match &call.state {
                CallState::Proposed => None,
                CallState::Started(start) => Some(start.clone()),
                CallState::Settled(_) => return None,
            };
            Some(Unsettled { announced: call.announced.clone(), start })
        })
    }

    /// True while an abort would change how the turn ends.
    pub(crate) fn is_abortable(&self) -> bool {
        let is_open = matches!(self.phase, Phase::Begun | Phase::Between | Phase::Asking | Phase::Calling);
        // A tool's wish to end the turn lets its running siblings finish; an abort cancels them.
        let is_running = self.phase == Phase::Calling && !self.is_settled();
        is_open && (self.ending.is_none() || is_running) && !self.is_aborting()
    }

    /// True once the turn is on its way to an end as aborted.
    pub(crate) fn is_aborting(&self) -> bool {
        matches!(&self.ending, Some(Ending { reason: StopReason::Aborted, .. }))
    }

    /// True once it is decided that the turn ends, whatever for.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending.is_some()
    }

    /// How the handler of a call without a result was started, if it was.
    pub(crate) fn start_of(&self, id: &ToolCallId) -> Option<&ExecutionStart> {
        self.batch.iter().find(|call| call.announced.id() == id).and_then(|call| match &call.state {
            CallState::Started(start) => Some(start),
            CallState::Proposed | CallState::Settled(_) => None,
        })
    }

    /// The names of the arguments of a call that only the handler may see.
    pub(crate) fn secret_of(&self, id: &ToolCallId) -> &[Arc<str>] {
        let call = self.batch.iter().find(|call| call.announced.id() == id);
        call.map_or(&[], |call| call.secret.as_slice())
    }

    /// The dispatch that is running.
    pub(crate) fn dispatch(&self) -> Option<DispatchId> {
        self.dispatch
    }

    /// The turn that this is.
    pub fn turn(&self) -> Option<TurnId> {
        self.turn
    }

    /// When the next call is created, if it is now `now`: past every earlier call of the turn.
    pub(crate) fn next_call_at(&self, now: Timestamp) -> Timestamp {
        self.newest_call_at.map_or(now, |newest| now.max(newest.plus_millis(1)))
    }

    /// The end of the turn, if it ends at `now`.
    pub fn turn_end(&self, now: Timestamp) -> TurnEnd {
        let fallback = Ending { reason: StopReason::Failed, error: None };
        let Ending { reason, error } = self.ending.clone().unwrap_or(fallback);
        TurnEnd::new(reason, self.usage, now.millis_since(self.started_at), error)
    }

    /// How the turn ended, once it has.
    pub fn end(&self) -> Option<&TurnEnd> {
        self.end.as_ref()
    }

    /// The answer, once there is one.
    pub(crate) fn answer(&self) -> Option<&Arc<str>> {
        self.answer.as_ref()
    }
}
