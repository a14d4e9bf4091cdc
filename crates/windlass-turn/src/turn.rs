use std::any::Any;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use futures_core::Stream;
use windlass_core::event::Failure;
use windlass_core::{Cancel, Code, Error, Event, Status, StopReason, TurnEnd, TurnId, Usage, Values};

use crate::agent::Answer;
use crate::drive;
use crate::log::{Log, Only, Subscription};
use crate::session::{Session, lock};

type Driving = Pin<Box<dyn Future<Output = Result<Conclusion, Error>> + Send>>;

/// One unit of work: from a prompt to its end.
///
/// A turn does nothing until it is polled, and is polled in place: as a stream of events, or awaited
/// as a whole. Dropping it in the middle aborts the tasks of its tools, which stops each at its next
/// `await`; the session stays sound, and its next turn first brings the abandoned one to an end as
/// aborted.
///
/// It must be polled inside a Tokio runtime, because its tools run as tasks.
#[must_use = "a turn does nothing unless it is polled, awaited or spawned"]
pub struct Turn {
    /// `None` once the turn has ended.
    driving: Option<Driving>,
    /// How the turn ended.
    conclusion: Option<Result<Conclusion, Error>>,
    control: TurnControl,
    /// Read when the turn is first polled.
    values: Arc<Mutex<Values>>,
    /// Made when the turn is first read as a stream: a turn that is only awaited builds no events.
    events: Option<Subscription>,
    is_error_shown: bool,
}

impl Turn {
    pub(crate) fn new(session: Session, prompt: String) -> Self {
        let log = session.open.log.clone();
        let control = TurnControl { cancel: Cancel::new(), after: log.len(), only: Only::default(), log };
        let closing = Closing(control.clone());
        let values = Arc::new(Mutex::new(session.agent.values.clone()));
        let given = values.clone();
        let driving = Box::pin(async move {
            // Moved in, so that it goes off when the driver is done or dropped, whichever comes first.
            let Closing(control) = &closing;
            let values = lock(&given).clone();
            drive::run(session, &control.only, prompt, values, control.cancel.clone()).await
        });
        Self {
            driving: Some(driving),
            conclusion: None,
            control,
            values,
            events: None,
            is_error_shown: false,
        }
    }

    /// Gives a value to the handlers of this turn, which find it by its type: `context.get::<T>()?`. It takes
    /// the place of one that the agent provides.
    pub fn provide<T: Any + Send + Sync>(self, value: T) -> Self {
        {
            let mut values = lock(&self.values);
            *values = std::mem::take(&mut *values).with(value);
        }
        self
    }

    /// A handle that can be cloned away: to abort the turn, or to watch it from elsewhere.
    pub fn control(&self) -> TurnControl {
        self.control.clone()
    }

    /// Runs the turn to its end.
    pub async fn run(mut self) -> Result<Conclusion, Error> {
        std::future::poll_fn(|cx| self.poll_driving(cx)).await
    }

    /// Runs the turn in the background, as a task of its own.
    ///
    /// # Panics
    ///
    /// Outside a Tokio runtime.
    pub fn spawn(self) -> SpawnedTurn {
        let control = self.control();
        SpawnedTurn { control, task: tokio::spawn(self.run()) }
    }

    /// How the turn ended, once the stream of its events has ended.
    pub fn conclusion(&self) -> Option<&Result<Conclusion, Error>> {
        self.conclusion.as_ref()
    }

    fn poll_driving(&mut self, cx: &mut Context<'_>) -> Poll<Result<Conclusion, Error>> {
        if let Some(driving) = &mut self.driving {
            let Poll::Ready(result) = driving.as_mut().poll(cx) else { return Poll::Pending };
            self.driving = None;
            self.conclusion = Some(result);
        }
        match &self.conclusion {
            Some(conclusion) => Poll::Ready(conclusion.clone()),
            None => Poll::Pending,
        }
    }
}

impl Stream for Turn {
    type Item = Result<Event, Error>;

    /// The next event. An error that keeps the turn from going on is the last item.
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            let control = &this.control;
            let events = this.events.get_or_insert_with(|| control.subscribe());
            let event = Pin::new(events).poll_next(cx);
            if let Poll::Ready(Some(event)) = event {
                return Poll::Ready(Some(Ok(event)));
            }
            if this.driving.is_some() {
                let seen = this.control.log.changes();
                let driven = this.poll_driving(cx);
                // What the driver has just shown is read in the same poll.
                if driven.is_ready() || this.control.log.changes() != seen {
                    continue;
                }
                return Poll::Pending;
            }
            return match &this.conclusion {
                Some(Err(error)) if !this.is_error_shown => {
                    this.is_error_shown = true;
                    Poll::Ready(Some(Err(error.clone())))
                }
                _ => Poll::Ready(None),
            };
        }
    }
}

impl IntoFuture for Turn {
    type Output = Result<Conclusion, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").field("id", &self.control.id()).finish_non_exhaustive()
    }
}

/// Tells the subscribers that nobody drives the turn any more.
struct Closing(TurnControl);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.log.close_turn(&self.0.only);
    }
}

/// A handle on a turn. It does not keep the turn alive.
#[derive(Clone)]
pub struct TurnControl {
    cancel: Cancel,
    log: Arc<Log>,
    /// How many facts the session had when the turn was made.
    after: u64,
    only: Only,
}

impl TurnControl {
    /// The turn's id, once it has been polled.
    pub fn id(&self) -> Option<TurnId> {
        self.only.turn.get().copied()
    }

    /// Asks the turn to end: the model is not heard any further, and no further handler starts. Handlers
    /// that run see their context cancelled and are dropped after
    /// [`ABORT_GRACE`](windlass_core::tool::ABORT_GRACE). Every call still gets its result.
    pub fn abort(&self) {
        self.cancel.cancel();
    }

    /// The events of this turn from its beginning, whenever this is called. The stream ends with the
    /// turn.
    pub fn subscribe(&self) -> Subscription {
        self.subscribe_after(self.after)
    }

    /// The events of this turn after the fact at `seq`: what a reader missed that had seen everything up
    /// to there.
    pub fn subscribe_after(&self, seq: u64) -> Subscription {
        self.log.subscribe(seq, Some(self.only.clone()))
    }
}

impl fmt::Debug for TurnControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnControl").field("id", &self.id()).finish_non_exhaustive()
    }
}

/// A turn that runs in the background. Await it for its end; dropping it does not stop the turn.
#[derive(Debug)]
pub struct SpawnedTurn {
    control: TurnControl,
    task: tokio::task::JoinHandle<Result<Conclusion, Error>>,
}

impl SpawnedTurn {
    /// A handle on the turn.
    pub fn control(&self) -> TurnControl {
        self.control.clone()
    }
}

impl Future for SpawnedTurn {
    type Output = Result<Conclusion, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.task).poll(cx).map(|joined| {
            joined.unwrap_or_else(|cause| {
                Err(Error::new(Code::System, "the task of the turn ended early").with_cause(cause))
            })
        })
    }
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Conclusion {
    turn: TurnId,
    end: TurnEnd,
    answer: Option<Arc<str>>,
}

impl Conclusion {
    pub(crate) fn new(turn: TurnId, end: TurnEnd, answer: Option<Arc<str>>) -> Self {
        Self { turn, end, answer }
    }

    /// The turn.
    pub fn turn(&self) -> TurnId {
        self.turn
    }

    /// How it ended, in one word.
    pub fn status(&self) -> Status {
        self.end.status
    }

    /// Why it ended.
    pub fn stop_reason(&self) -> StopReason {
        self.end.stop_reason
    }

    /// What all its replies cost together.
    pub fn usage(&self) -> Usage {
        self.end.usage
    }

    /// What went wrong, if it failed.
    pub fn error(&self) -> Option<&Failure> {
        self.end.error.as_ref()
    }

    /// The model's last words; empty if it had none, or if the turn did not come to an answer.
    pub fn text(&self) -> &str {
        self.answer.as_deref().unwrap_or_default()
    }

    /// The answer, or an error if the turn did not come to one.
    pub fn into_answer(self) -> Result<Answer, Error> {
        match self.end.stop_reason {
            StopReason::Answered => Ok(Answer::new(self.text(), self.end.usage)),
            StopReason::Aborted => {
                Err(Error::new(Code::TurnAborted, "the turn was aborted before it had an answer"))
            }
            StopReason::Iterations => Err(Error::new(
                Code::TurnStopped,
                "the turn reached its limit of iterations before it had an answer; raise it with `max_iterations`",
            )),
            _ => Err(self
                .end
                .error
                .as_ref()
                .map_or_else(|| Error::new(Code::ModelFailed, "the turn failed"), Failure::to_error)),
        }
    }
}
