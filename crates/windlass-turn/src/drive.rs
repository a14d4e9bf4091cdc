use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::{FutureExt, StreamExt};
use tokio::sync::OwnedMutexGuard;
use windlass_core::event::{Fact, Failure, PreviewContent, Spoken, TextContent};
use windlass_core::identity::mint_message_id;
use windlass_core::model::{Reply, ReplyBuilder};
use windlass_core::{
    Cancel, Code, DispatchId, Entry, Error, EventKind, Message, ModelDelta, Role, SessionId, Timestamp,
    TurnId,
};

use crate::agent::Shared;
use crate::log::{Log, Only};
use crate::machine::{Machine, Step};
use crate::propose::propose;
use crate::session::{Session, State};
use crate::turn::Conclusion;

/// The one loop: asks the machine what comes next, does it, and writes down what happened.
///
/// It owns the state of the session while it runs. Dropping it in the middle leaves the session as a
/// crash would; the next turn finds that and brings the abandoned one to its end first.
pub(crate) struct Driver {
    pub(crate) agent: Arc<Shared>,
    pub(crate) session: SessionId,
    pub(crate) log: Arc<Log>,
    pub(crate) state: OwnedMutexGuard<State>,
    pub(crate) cancel: Cancel,
}

/// Brings one turn from its prompt to its end.
pub(crate) async fn run(
    session: Session,
    only: &Only,
    prompt: String,
    cancel: Cancel,
) -> Result<Conclusion, Error> {
    let agent = session.agent.clone();
    agent.check()?;
    let id = session.id()?;
    if tokio::runtime::Handle::try_current().is_err() {
        return Err(Error::new(
            Code::System,
            "a turn must be polled inside a Tokio runtime; its tools run as tasks",
        ));
    }
    let state = session.open.state.clone().try_lock_owned().map_err(|_| {
        let message = "another turn of this session is running; wait for it, or use another session";
        Error::new(Code::SessionBusy, message).transient()
    })?;
    let turn = TurnId::mint(agent.clock.now(), &*agent.entropy)?;
    let turn = *only.turn.get_or_init(|| turn);
    let mut driver = Driver { agent, session: id, log: session.open.log.clone(), state, cancel };
    let result = driver.run(turn, prompt).await;
    if let Err(error) = &result
        && driver.state.is_in_doubt
    {
        let kind = EventKind::Detached { code: error.code().as_str().into() };
        driver.log.delta(turn, driver.dispatch(), driver.agent.clock.now(), kind);
    }
    result
}

impl Driver {
    async fn run(&mut self, turn: TurnId, prompt: String) -> Result<Conclusion, Error> {
        self.finish_what_was_abandoned().await?;
        let now = self.agent.clock.now();
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
                self.commit(turn, vec![Fact::AbortRequested { retracted: Vec::new() }]).await?;
            }
            match self.machine().next() {
                Step::BeginDispatch => self.commit(turn, vec![Fact::DispatchStarted { dispatch }]).await?,
                Step::Write(fact) => self.commit(turn, vec![fact]).await?,
                Step::AskModel => self.ask_model(turn).await?,
                Step::RunCalls => self.run_calls(turn).await?,
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
            let missed = self.agent.journal.read(self.session, self.state.position).await?;
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
        self.agent.journal.append(self.session, position, &entries).await?;
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
        let mut listener = Listener {
            agent: self.agent.clone(),
            log: self.log.clone(),
            turn,
            dispatch: self.dispatch(),
            message: None,
            thought: None,
        };
        let heard = {
            let conversation = &mut self.state.conversation;
            let reply = AssertUnwindSafe(listener.listen(conversation.send())).catch_unwind();
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => None,
                reply = reply => Some(reply.unwrap_or_else(|_| {
                    Err(Error::new(Code::ModelFailed, "the model panicked; this is a defect of its adapter"))
                })),
            }
        };
        let at = self.now();
        let fact = match heard {
            None => Ok(Fact::AbortRequested { retracted: listener.shown() }),
            Some(Ok(reply)) => self.replied(reply, &listener, at.millis_since(asked_at)),
            Some(Err(error)) => Err(error),
        };
        let fact = fact.unwrap_or_else(|error| Fact::ReplyFailed {
            error: Failure::from(&error),
            retracted: listener.shown(),
        });
        self.commit(turn, vec![fact]).await
    }

    fn replied(&self, reply: Reply, listener: &Listener, duration_ms: u64) -> Result<Fact, Error> {
        let spoken = |shown: &Option<(Arc<str>, Timestamp)>, text: String| {
            let (id, created_at) = shown.clone().filter(|_| !text.is_empty())?;
            Some(Spoken::new(id, text, created_at))
        };
        let first_at = self.machine().next_call_at(self.now());
        Ok(Fact::Replied {
            thought: spoken(&listener.thought, reply.thought),
            message: spoken(&listener.message, reply.text),
            calls: propose(reply.calls, &self.state.seen, &*self.agent.entropy, first_at)?,
            model: self.agent.model.name().into(),
            finish: reply.finish,
            usage: reply.usage,
            duration_ms,
        })
    }
}

/// Hears a reply to its end, and shows its pieces as they come.
struct Listener {
    agent: Arc<Shared>,
    log: Arc<Log>,
    turn: TurnId,
    dispatch: Option<DispatchId>,
    /// Id and time of the first piece of the text.
    message: Option<(Arc<str>, Timestamp)>,
    /// Likewise of the reasoning.
    thought: Option<(Arc<str>, Timestamp)>,
}

impl Listener {
    async fn listen(&mut self, mut deltas: windlass_core::model::Deltas<'_>) -> Result<Reply, Error> {
        let mut reply = ReplyBuilder::new();
        while let Some(delta) = deltas.next().await {
            let delta = delta?;
            let shown = self.show(&delta)?;
            reply.push(delta)?;
            if let Some(kind) = shown {
                self.log.delta(self.turn, self.dispatch, self.agent.clock.now(), kind);
            }
        }
        reply.finish()
    }

    fn show(&mut self, delta: &ModelDelta) -> Result<Option<EventKind>, Error> {
        let agent = self.agent.clone();
        let piece = |place: &mut Option<(Arc<str>, Timestamp)>, text: &String| {
            let now = agent.clock.now();
            let (id, created_at) = match place {
                Some(known) => known,
                None => place.insert((mint_message_id(&*agent.entropy)?, now)),
            };
            Ok::<_, Error>(TextContent::piece(id.clone(), text.as_str(), *created_at, now))
        };
        Ok(match delta {
            ModelDelta::Text(text) if !text.is_empty() => {
                Some(EventKind::Message { content: piece(&mut self.message, text)? })
            }
            ModelDelta::Thought(text) if !text.is_empty() => {
                Some(EventKind::Thought { content: piece(&mut self.thought, text)? })
            }
            ModelDelta::Call { slot, tool, arguments, .. } => {
                let tool = tool.as_deref().map(Into::into);
                let content = PreviewContent::new(*slot, tool, arguments.as_str());
                Some(EventKind::ToolCallPreview { content })
            }
            _ => None,
        })
    }

    /// The ids of what was shown in part.
    fn shown(&self) -> Vec<Arc<str>> {
        [&self.thought, &self.message].into_iter().flatten().map(|(id, _)| id.clone()).collect()
    }
}
