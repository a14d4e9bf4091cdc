use std::collections::{HashMap, HashSet, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use windlass_core::event::Fact;
use windlass_core::record::Settlement;
use windlass_core::tool::{
    CallError, ExecutionEnd, ExecutionProgress, ExecutionStart, Host, Scope, Span, UNKNOWN_EFFECT,
};
use windlass_core::trust::{Label, Tier};
use windlass_core::{
    Cancel, Clock, Code, Concurrency, Digest, DispatchId, Disposition, Effect, Entropy, Error, EventKind,
    Outcome, Sleep, Spool, Timestamp, Tool, ToolCall, ToolResults, TurnId, TurnToolCallContent, Values,
};

use crate::agent::Shared;
use crate::drive::Driver;
use crate::keep::{OwnSpool, Watch, keep};
use crate::log::Log;
use crate::machine::Unsettled;
use crate::session::lock;
use crate::spool::MemorySpool;

/// How many calls of one reply run at the same time.
pub const MAX_CONCURRENT_CALLS: usize = 8;

/// The most tool names that an error lists.
const MAX_LISTED_TOOLS: usize = 50;

type Finished = Result<ToolResults, CallError>;

/// A task's request to write that its handler is about to run.
struct StartRequest {
    start: ExecutionStart,
    written: oneshot::Sender<()>,
}

/// The calls of one reply that are being run.
struct Batch {
    turn: TurnId,
    waiting: VecDeque<TurnToolCallContent>,
    tasks: JoinSet<Finished>,
    /// What is known of each call whose task has not ended, by its task.
    running: HashMap<tokio::task::Id, Running>,
    requests: (mpsc::Sender<StartRequest>, mpsc::Receiver<StartRequest>),
    cancel: Cancel,
}

struct Running {
    announced: TurnToolCallContent,
    tool: Tool,
    host: Arc<CallHost>,
}

impl Batch {
    /// Whether a call of this tool may begin now: an exclusive one runs alone.
    fn has_room_for(&self, tool: Option<&Tool>) -> bool {
        let is_exclusive = |tool: &Tool| tool.definition().concurrency == Concurrency::Exclusive;
        let nobody_insists = !self.running.values().any(|running| is_exclusive(&running.tool));
        nobody_insists && (self.running.is_empty() || !tool.is_some_and(is_exclusive))
    }
}

impl Driver {
    /// Runs every call that has no result, several at a time, and writes each result as it comes.
    ///
    /// A call that cannot run, or must not run any more, gets its result all the same.
    pub(crate) async fn run_calls(&mut self, turn: TurnId) -> Result<(), Error> {
        let unsettled: Vec<_> = self.machine().unsettled().collect();
        let mut batch = Batch {
            turn,
            waiting: VecDeque::new(),
            tasks: JoinSet::new(),
            running: HashMap::new(),
            requests: mpsc::channel(MAX_CONCURRENT_CALLS),
            cancel: Cancel::new(),
        };
        for Unsettled { announced, start } in unsettled {
            match start {
                Some(start) => self.settle_abandoned(turn, &announced, &start).await?,
                None => batch.waiting.push_back(announced),
            }
        }
        loop {
            self.fill(&mut batch).await?;
            if batch.running.is_empty() {
                return Ok(());
            }
            let is_aborting = self.machine().is_aborting();
            let cancel = self.cancel.clone();
            tokio::select! {
                biased;
                () = cancel.cancelled(), if !is_aborting => {
                    self.commit(turn, vec![Fact::AbortRequested { retracted: Vec::new() }]).await?;
                    batch.cancel.cancel();
                }
                Some(request) = batch.requests.1.recv() => {
                    // While the turn is ending nothing starts: dropping the request says no.
                    if self.machine().is_ending() {
                        continue;
                    }
                    self.commit(turn, vec![Fact::CallStarted(request.start)]).await?;
                    // Asked again after the write, which may take its time.
                    if !self.cancel.is_cancelled() {
                        // The task may be gone already; its end is collected like any other.
                        let _ = request.written.send(());
                    }
                }
                Some(joined) = batch.tasks.join_next_with_id() => {
                    let (task, result) = match joined {
                        Ok((task, result)) => (task, Some(result)),
                        // Nothing that a handler does leads here; its runtime may be gone.
                        Err(error) => (error.id(), None),
                    };
                    if let Some(running) = batch.running.remove(&task) {
                        self.settle_finished(turn, running, result).await?;
                    }
                }
            }
        }
    }

    /// Starts tasks while there is room, and settles calls that cannot run.
    async fn fill(&mut self, batch: &mut Batch) -> Result<(), Error> {
        while batch.running.len() < MAX_CONCURRENT_CALLS {
            let Some(next) = batch.waiting.front() else { break };
            if !batch.has_room_for(self.agent.tools.get(next.tool())) {
                break;
            }
            let Some(announced) = batch.waiting.pop_front() else { break };
            if self.machine().is_ending() {
                let error = before_it_ran(self.machine().is_aborting(), announced.tool());
                self.settle_refused(batch.turn, &announced, &error).await?;
                continue;
            }
            match self.agent.tools.get(announced.tool()).cloned() {
                Some(tool) => self.start(batch, announced, tool),
                None => {
                    let error = self.unknown_tool(announced.tool());
                    self.settle_refused(batch.turn, &announced, &error).await?;
                }
            }
        }
        Ok(())
    }

    fn start(&self, batch: &mut Batch, announced: TurnToolCallContent, tool: Tool) {
        let host = Arc::new(CallHost {
            agent: self.agent.clone(),
            not_before: self.now(),
            scope: Scope { session: self.session, turn: batch.turn },
            cancel: batch.cancel.clone(),
            requests: batch.requests.0.clone(),
            end: Mutex::new(None),
            values: self.values.clone(),
            spool: self.state.spool.clone(),
            sealed: Arc::default(),
            log: self.log.clone(),
            dispatch: self.machine().dispatch(),
        });
        let executor = tool.executor(host.clone());
        let (id, args) = (announced.id().clone(), announced.shared_args().clone());
        let (keeper, kept) = (host.clone(), tool.clone());
        let run = async move {
            let output = executor.call_as(id, args).await?;
            // Where the result cannot be kept, the handler has returned all the same: what it did is known.
            let watch = Watch { clock: &*keeper, cancel: &keeper.cancel };
            let own = keeper.own_spool();
            let keeping = AssertUnwindSafe(keep(&own, &kept, output, watch)).catch_unwind();
            let results = keeping
                .await
                .unwrap_or_else(|_| Err(Error::new(Code::ToolPanicked, "the source of its media panicked")));
            results.map_err(|error| CallError::result_lost(kept.name(), error))
        };
        let task = batch.tasks.spawn_on(run, &self.runtime);
        batch.running.insert(task.id(), Running { announced, tool, host });
    }

    fn unknown_tool(&self, name: &str) -> Error {
        let names: Vec<_> = self.agent.tools.shown().map(|tool| format!("`{}`", tool.name())).collect();
        let listed = match names.len() {
            0 => "there are no tools".to_owned(),
            count if count > MAX_LISTED_TOOLS => {
                format!(
                    "the first {MAX_LISTED_TOOLS} of {count} tools are {}",
                    names[..MAX_LISTED_TOOLS].join(", ")
                )
            }
            _ => format!("the tools are {}", names.join(", ")),
        };
        let name: String = name.chars().take(64).collect();
        Error::new(Code::UnknownTool, format!("there is no tool {name:?}; {listed}"))
    }

    /// The fact that a call has its result.
    fn settled(&self, call: ToolCall, ran: Option<Span>, disposition: Option<Disposition>) -> Fact {
        let secret = self.machine().secret_of(call.id()).to_vec();
        Fact::CallSettled { call, ran, disposition, secret }
    }

    /// Settles a call whose handler never ran.
    async fn settle_refused(
        &mut self,
        turn: TurnId,
        announced: &TurnToolCallContent,
        error: &Error,
    ) -> Result<(), Error> {
        let settlement =
            Settlement::error(self.now(), Outcome::NotRun, error.to_string(), kit_label(announced));
        let call = ToolCall::settle(announced, settlement);
        let disposition = Some(Disposition::Failed);
        self.commit(turn, vec![self.settled(call, None, disposition)]).await
    }

    /// Settles a call whose handler was started by a driver that is gone.
    async fn settle_abandoned(
        &mut self,
        turn: TurnId,
        announced: &TurnToolCallContent,
        start: &ExecutionStart,
    ) -> Result<(), Error> {
        let is_repeatable =
            self.agent.tools.get(announced.tool()).is_some_and(|tool| tool.effect() != Effect::Once);
        let outcome = if is_repeatable { Outcome::Failed } else { Outcome::Unknown };
        let message =
            format!("`{}` was interrupted and may still be running. {UNKNOWN_EFFECT}", announced.tool());
        let error = Error::new(Code::ToolDownstream, message);
        let ran = Some(ExecutionEnd::of(start, self.now(), true).span());
        let settlement = Settlement::error(self.now(), outcome, error.to_string(), kit_label(announced))
            .of_operation(Some((start.effective_checksum, start.operation_id)));
        let call = ToolCall::settle(announced, settlement);
        self.commit(turn, vec![self.settled(call, ran, Some(Disposition::Failed))]).await
    }

    /// Settles a call whose task has ended.
    async fn settle_finished(
        &mut self,
        turn: TurnId,
        running: Running,
        result: Option<Finished>,
    ) -> Result<(), Error> {
        let Running { announced, tool, host } = running;
        // A start that was written has an end, also if the handler was kept from running after that.
        let started = self.machine().start_of(announced.id());
        let operation = started.map(|start| (start.effective_checksum, start.operation_id));
        let ran = host
            .take_end()
            .map(|end| end.span())
            .or_else(|| started.map(|start| ExecutionEnd::of(start, self.now(), true).span()));
        let at = self.now();
        let settled = match result {
            Some(Ok(results)) => {
                let label = label(&tool, &announced, &results, &lock(&host.sealed));
                Settlement::produced(at, results, label)
                    .map_err(|error| CallError::result_lost(tool.name(), error))
            }
            Some(Err(error)) => Err(error),
            None => Err(broken(&tool, operation.is_some())),
        };
        let (settlement, disposition) = match settled {
            Ok(settlement) => (settlement.inline(tool.definition().inline.unwrap_or(true)), None),
            Err(error) => {
                let detail = error.error.to_string();
                // An error may quote what others wrote, so it is never the author's own word.
                let settlement = Settlement::error(at, error.outcome, detail, kit_label(&announced));
                let settlement =
                    if tool.is_artifact_tool() { settlement.of_artifact_tool() } else { settlement };
                (settlement, Some(error.disposition))
            }
        };
        let call = ToolCall::settle(&announced, settlement.of_operation(operation));
        self.commit(turn, vec![self.settled(call, ran, disposition)]).await
    }
}

/// The label of what a tool returned. A trusted tool vouches for its words, not for media and results of
/// others that it hands on.
fn label(
    tool: &Tool,
    announced: &TurnToolCallContent,
    results: &ToolResults,
    own: &HashSet<Digest>,
) -> Label {
    let is_own = match results {
        ToolResults::Text(_) => true,
        ToolResults::Artifact(artifact) => own.contains(&artifact.digest),
        ToolResults::Artifacts(artifacts) => artifacts.iter().all(|artifact| own.contains(&artifact.digest)),
        _ => false,
    };
    let is_trusted = tool.definition().trusted && is_own;
    let tier = if is_trusted { Tier::Developer } else { Tier::Untrusted };
    Label::of_call(tier, tool.name(), announced.id().clone())
}

/// Why a call does not run any more.
fn before_it_ran(is_aborting: bool, tool: &str) -> Error {
    let reason = if is_aborting { "the turn was aborted" } else { "another tool ended the turn" };
    Error::new(Code::TurnAborted, format!("{reason} before `{tool}` ran"))
}

/// The label of a result that the kit wrote about a call.
fn kit_label(announced: &TurnToolCallContent) -> Label {
    Label::of_call(Tier::Untrusted, announced.tool(), announced.id().clone())
}

/// The error of a task that ended outside the handler: its runtime is gone, or the executor itself broke.
fn broken(tool: &Tool, is_started: bool) -> CallError {
    let message = format!("`{}` failed: its task ended before it did", tool.name());
    let outcome = match (is_started, tool.effect()) {
        (false, _) => Outcome::NotRun,
        (true, Effect::Once) => Outcome::Unknown,
        (true, _) => Outcome::Failed,
    };
    CallError::new(Error::new(Code::ToolDownstream, message), outcome)
}

/// The surroundings of one call: it asks the driver to write, and remembers the end for it.
struct CallHost {
    agent: Arc<Shared>,
    /// No time of this call is earlier, whatever the clock says.
    not_before: Timestamp,
    scope: Scope,
    cancel: Cancel,
    requests: mpsc::Sender<StartRequest>,
    end: Mutex<Option<ExecutionEnd>>,
    values: Values,
    spool: MemorySpool,
    /// What this call has written itself.
    sealed: Arc<Mutex<HashSet<Digest>>>,
    log: Arc<Log>,
    dispatch: Option<DispatchId>,
}

impl CallHost {
    fn own_spool(&self) -> OwnSpool {
        OwnSpool { spool: self.spool.clone(), sealed: self.sealed.clone() }
    }

    fn take_end(&self) -> Option<ExecutionEnd> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Clock for CallHost {
    fn now(&self) -> Timestamp {
        self.agent.clock.now().max(self.not_before)
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        self.agent.clock.sleep(duration)
    }
}

impl Host for CallHost {
    fn scope(&self) -> Scope {
        self.scope
    }

    fn clock(&self) -> &dyn Clock {
        self
    }

    fn entropy(&self) -> &dyn Entropy {
        &*self.agent.entropy
    }

    fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    async fn authorise(&self, tool: &Tool, start: &ExecutionStart) -> Result<(), Error> {
        // Where nobody can be asked, the answer is no.
        if tool.definition().approval.is_due(start.effective_args()) {
            let message =
                format!("somebody must agree before `{}` runs, and nobody is there to ask", tool.name());
            return Err(Error::new(Code::ToolDenied, message));
        }
        Ok(())
    }

    async fn started(&self, start: &ExecutionStart) -> Result<(), Error> {
        let refused =
            || Error::new(Code::TurnAborted, format!("the turn was ending before `{}` ran", start.tool_name));
        let (written, is_written) = oneshot::channel();
        let request = StartRequest { start: start.clone(), written };
        self.requests.send(request).await.map_err(|_| refused())?;
        is_written.await.map_err(|_| refused())
    }

    fn ended(&self, end: ExecutionEnd) {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
    }

    fn values(&self) -> &Values {
        &self.values
    }

    fn progressed(&self, progress: ExecutionProgress) {
        self.log.delta(self.scope.turn, self.dispatch, self.now(), EventKind::Progress(progress));
    }

    fn spool(&self) -> Option<Arc<dyn Spool>> {
        Some(Arc::new(self.own_spool()))
    }
}
