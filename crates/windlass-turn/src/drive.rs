use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;

use futures_util::{FutureExt, StreamExt};
use tokio::sync::OwnedMutexGuard;
use windlass_core::event::{Fact, Failure, PreviewContent, Proposal, Spoken, TextContent};
use windlass_core::identity::mint_message_id;
use windlass_core::model::{Reply, ReplyBuilder};
use windlass_core::{
    Cancel, Code, DispatchId, Entry, Error, EventKind, Journal, Message, ModelDelta, Role, SessionId,
    Timestamp, TurnId, Values,
};

use crate::adapter;
use crate::agent::Shared;
use crate::log::{DELTA_RING, Log, Only};
use crate::machine::{Machine, Step};
use crate::propose::propose;
use crate::session::{Session, Shown, State};
use crate::turn::Conclusion;

/// The one loop: asks the machine what comes next, does it, and writes down what happened.
///
/// It owns the state of the session while it runs. Dropping it in the middle leaves the session as a
/// crash would; the next turn finds that and brings the abandoned one to its end first.
pub(crate) struct Driver {
    pub(crate) agent: Arc<Shared>,
    pub(crate) session: SessionId,
    pub(crate) log: Arc<Log>,
    journal: Arc<dyn Journal>,
    pub(crate) state: OwnedMutexGuard<State>,
    pub(crate) cancel: Cancel,
    /// What the handlers of this turn may ask for.
    pub(crate) values: Values,
    /// Where the tools run, wherever the turn is polled.
    pub(crate) runtime: tokio::runtime::Handle,
}

/// Brings one turn from its prompt to its end.
pub(crate) async fn run(
    session: Session,
    only: &Only,
    prompt: String,
    values: Values,
    cancel: Cancel,
) -> Result<Conclusion, Error> {
    let agent = session.agent.clone();
    agent.check()?;
    let id = session.id()?;
    let runtime = tokio::runtime::Handle::try_current().map_err(|_| {
        Error::new(Code::System, "a turn must be polled inside a Tokio runtime; its tools run as tasks")
    })?;
    let state = session.open.state.clone().try_lock_owned().map_err(|_| {
        let message = "another turn of this session is running; wait for it, or use another session";
        Error::new(Code::SessionBusy, message).transient()
    })?;
    let mut driver = Driver {
        agent,
        session: id,
        log: session.open.log.clone(),
        journal: session.open.journal.clone(),
        state,
        cancel,
        values,
        runtime,
    };
    let turn = TurnId::mint(driver.now(), &*driver.agent.entropy)?;
    let turn = *only.turn.get_or_init(|| turn);
    let result = driver.run(turn, prompt).await;
    if let Err(error) = &result
        && driver.state.is_in_doubt
    {
        let kind = EventKind::Detached { code: error.code().as_str().into() };
        driver.log.delta(turn, driver.dispatch(), driver.now(), kind);
    }
    result
}

impl Driver {
    async fn run(&mut self, turn: TurnId, prompt: String) -> Result<Conclusion, Error> {
        self.finish_what_was_abandoned().await?;
        let now = self.now();
        let message = Message::text(mint_message_id(&*self.agent.entropy)?, Role::User, prompt, now)?;
        // Minted before the turn begins: nothing that can fail may stand between its start and its end.
        let dispatch = DispatchId::mint(now, &*self.agent.entropy)?;
        self.commit(turn, vec![Fact::TurnStarted { message }]).await?;
        self.drive(turn, dispatch).await?;
        let machine = self.machine();
        let end = machine.end().cloned().unwrap_or_else(|| machine.turn_end(now));
        Ok(Conclusion::new(turn, end, machine.answer().cloned()))
    }

    /// Performs what the machine decides until the turn is over.
    async fn drive(&mut self, turn: TurnId, dispatch: DispatchId) -> Result<(), Error> {
        loop {
            if self.cancel.is_cancelled() && self.machine().is_abortable() {
                // Something was shown only if a driver before this one was dropped in mid-reply.
                let retracted = self.state.shown.ids();
                self.commit(turn, vec![Fact::AbortRequested { retracted }]).await?;
            }
            match self.machine().next() {
                Step::BeginDispatch => self.commit(turn, vec![Fact::DispatchStarted { dispatch }]).await?,
                Step::Write(fact) => self.commit(turn, vec![fact]).await?,
                Step::AskModel => self.ask_model(turn).await?,
                Step::RunCalls => {
                    self.run_calls(turn).await?;
                    // Every call settles, or the facts are not of this kit's making; never an endless loop.
                    if self.machine().unsettled().next().is_some() {
                        let message =
                            "a call of this turn can never settle: the session's journal is not sound";
                        return Err(Error::new(Code::JournalConflict, message));
                    }
                }
                Step::EndTurn => {
                    let end = self.machine().turn_end(self.now());
                    self.commit(turn, vec![Fact::TurnEnded(end)]).await?;
                }
                Step::Begin | Step::Finished => return Ok(()),
            }
        }
    }

    /// Brings a turn to its end whose driver was dropped, as if it had been aborted.
    async fn finish_what_was_abandoned(&mut self) -> Result<(), Error> {
        if self.state.is_in_doubt {
            let missed = self.journal.read(self.session, self.state.position).await?;
            self.absorb(&missed);
        }
        let Some(turn) =
            self.state.machine.as_ref().filter(|machine| machine.end().is_none()).and_then(Machine::turn)
        else {
            return Ok(());
        };
        let dispatch = DispatchId::mint(self.now(), &*self.agent.entropy)?;
        let present = std::mem::take(&mut self.cancel);
        self.cancel.cancel();
        let result = self.drive(turn, dispatch).await;
        self.cancel = present;
        result
    }

    /// Keeps facts, takes them in, shows them, in this order.
    pub(crate) async fn commit(&mut self, turn: TurnId, facts: Vec<Fact>) -> Result<(), Error> {
        let at = self.now();
        let position = self.state.position;
        let entries: Vec<_> = (position + 1..)
            .zip(facts)
            .map(|(seq, fact)| {
                let dispatch = match &fact {
                    Fact::DispatchStarted { dispatch } => Some(*dispatch),
                    _ => self.dispatch(),
                };
                Arc::new(Entry::new(seq, turn, dispatch, at, fact))
            })
            .collect();
        self.state.is_in_doubt = true;
        self.journal.append(self.session, position, &entries).await?;
        self.absorb(&entries);
        Ok(())
    }

    fn absorb(&mut self, entries: &[Arc<Entry>]) {
        let limits = self.agent.limits;
        self.state.absorb(entries, || Machine::new(limits));
        // Journal before subscribers: nobody may see what a crash could lose.
        self.log.publish(entries);
    }

    pub(crate) fn machine(&self) -> &Machine {
        static NEW: std::sync::LazyLock<Machine> =
            std::sync::LazyLock::new(|| Machine::new(crate::Limits::default()));
        self.state.machine.as_ref().unwrap_or(&NEW)
    }

    fn dispatch(&self) -> Option<DispatchId> {
        self.machine().dispatch()
    }

    /// The time, never before that of the newest entry.
    pub(crate) fn now(&self) -> Timestamp {
        self.agent.clock.now().max(self.state.newest_at)
    }

    async fn ask_model(&mut self, turn: TurnId) -> Result<(), Error> {
        let asked_at = self.now();
        let heard = self.hear(turn, asked_at).await;
        let fact = match heard {
            None => Fact::AbortRequested { retracted: self.state.shown.ids() },
            Some(reply) => reply.and_then(|reply| self.replied(reply, asked_at)).unwrap_or_else(|error| {
                Fact::ReplyFailed { error: Failure::from(&error), retracted: self.state.shown.ids() }
            }),
        };
        self.commit(turn, vec![fact]).await?;
        // Replies may be short and calls may fail at once: without this a turn could run to its end in one
        // poll, deaf to an abort and faster than the one who reads it.
        give_way().await;
        Ok(())
    }

    /// The whole reply, or why there is none; `None` if the turn is aborted meanwhile.
    ///
    /// A panic of the model's adapter, wherever it happens, is a failed reply, and the adapter is opened
    /// anew for the next one.
    async fn hear(&mut self, turn: TurnId, asked_at: Timestamp) -> Option<Result<Reply, Error>> {
        let dispatch = self.dispatch();
        let (agent, log, cancel) = (self.agent.clone(), self.log.clone(), self.cancel.clone());
        let state = &mut *self.state;
        let caught_up = catch_unwind(AssertUnwindSafe(|| state.catch_up(&agent)));
        let State { adapter, shown, newest_at, .. } = state;
        let (Ok(()), Some(adapter)) = (caught_up, adapter.as_mut()) else {
            return Some(Err(adapter_panicked()));
        };
        let mut listener =
            Listener { agent, log, turn, dispatch, shown, open: HashMap::new(), now: asked_at };
        let heard = {
            let listening = async { listener.listen(adapter.send()).await };
            tokio::select! {
                biased;
                () = cancel.cancelled() => None,
                heard = AssertUnwindSafe(listening).catch_unwind() => Some(heard),
            }
        };
        // What was shown is not newer than what is written next.
        *newest_at = listener.now.max(*newest_at);
        heard.map(|heard| heard.unwrap_or_else(|_| Err(adapter_panicked())))
    }

    /// Proposals that know which of their arguments only the handler may see.
    fn marked(&self, proposals: Vec<Proposal>) -> Vec<Proposal> {
        let mark = |proposal: Proposal| match self.agent.tools.get(proposal.call.tool()) {
            Some(tool) => {
                let secret = tool.definition().secrets_in(proposal.call.shared_args());
                proposal.with_secret(secret)
            }
            None => proposal,
        };
        proposals.into_iter().map(mark).collect()
    }

    fn replied(&self, reply: Reply, asked_at: Timestamp) -> Result<Fact, Error> {
        let spoken = |shown: &Option<(Arc<str>, Timestamp)>, text: String| {
            let (id, created_at) = shown.clone().filter(|_| !text.is_empty())?;
            Some(Spoken::new(id, text, created_at))
        };
        let now = self.now();
        let first_at = self.machine().next_call_at(now);
        Ok(Fact::Replied {
            thought: spoken(&self.state.shown.thought, reply.thought),
            message: spoken(&self.state.shown.message, reply.text),
            calls: self.marked(propose(reply.calls, &self.state.seen, &*self.agent.entropy, first_at)?),
            model: self.agent.model_name.clone(),
            finish: reply.finish,
            usage: reply.usage,
            duration_ms: now.millis_since(asked_at),
        })
    }
}

fn adapter_panicked() -> Error {
    Error::new(Code::ModelFailed, "the model panicked; this is a defect of its adapter")
}

/// After this many deltas a listener lets others go on: whoever reads the turn, and an abort. It is less
/// than the ring of deltas, so that a reader in the same task misses none.
const DELTAS_AT_ONCE: usize = DELTA_RING / 4;

/// Hears a reply to its end, and shows its pieces as they come.
struct Listener<'a> {
    agent: Arc<Shared>,
    log: Arc<Log>,
    turn: TurnId,
    dispatch: Option<DispatchId>,
    shown: &'a mut Shown,
    /// Whether somebody may watch the arguments of a call, for each call whose tool is known.
    open: HashMap<usize, bool>,
    /// The time, which never runs backwards.
    now: Timestamp,
}

impl Listener<'_> {
    async fn listen(&mut self, mut deltas: adapter::Reply<'_>) -> Result<Reply, Error> {
        let mut reply = ReplyBuilder::new();
        let mut heard = 0_usize;
        while let Some(delta) = deltas.next().await {
            let delta = delta?;
            self.now = self.agent.clock.now().max(self.now);
            // Nothing is shown of a delta that is not taken.
            reply.push(&delta)?;
            if let Some(kind) = self.show(&delta)? {
                self.log.delta(self.turn, self.dispatch, self.now, kind);
            }
            heard += 1;
            if heard.is_multiple_of(DELTAS_AT_ONCE) {
                give_way().await;
            }
        }
        reply.finish()
    }

    fn is_open(&self, tool: &str) -> bool {
        self.agent.tools.get(tool).is_none_or(|tool| tool.definition().secret.is_empty())
    }

    fn show(&mut self, delta: &ModelDelta) -> Result<Option<EventKind>, Error> {
        let (now, entropy) = (self.now, &*self.agent.entropy);
        let piece = |place: &mut Option<(Arc<str>, Timestamp)>, text: &str| {
            let (id, created_at) = match place {
                Some(known) => known,
                None => place.insert((mint_message_id(entropy)?, now)),
            };
            Ok::<_, Error>(TextContent::piece(id.clone(), text, *created_at, now))
        };
        Ok(match delta {
            ModelDelta::Text(text) if !text.is_empty() => {
                Some(EventKind::Message { content: piece(&mut self.shown.message, text)? })
            }
            ModelDelta::Thought(text) if !text.is_empty() => {
                Some(EventKind::Thought { content: piece(&mut self.shown.thought, text)? })
            }
            ModelDelta::Call { slot, tool, arguments, .. } => {
                if let Some(tool) = tool {
                    self.open.insert(*slot, self.is_open(tool));
                }
                // Arguments may come before the name of their tool.
                let is_open = self.open.get(slot).copied().unwrap_or_else(|| !self.agent.has_secrets());
                let arguments = if is_open { arguments.as_str() } else { "" };
                let tool = tool.as_deref().map(Into::into);
                let content = PreviewContent::new(*slot, tool, arguments);
                Some(EventKind::ToolCallPreview { content })
            }
            _ => None,
        })
    }
}

/// Is not ready once, and at once ready again: the poll returns to whoever polls.
async fn give_way() {
    let mut has_given_way = false;
    std::future::poll_fn(|cx| {
        if has_given_way {
            return Poll::Ready(());
        }
        has_given_way = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
