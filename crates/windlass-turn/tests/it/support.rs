use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::event::{Entry, Fact};
use windlass_core::{
    Definition, Effect, Error, Event, EventKind, Model, Tool, ToolCall, ToolContext, ToolError,
    TranscriptMessage, TypedTool,
};
use windlass_testing::{FixedEntropy, PausedClock};
use windlass_tool::IntoTool as _;
use windlass_turn::{Agent, Conclusion, Session};

/// What the handler of [`Act`] is told to do.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Act {
    /// Returns after this many seconds.
    Ok,
    /// Asks the model to correct itself.
    Retry,
    /// Fails.
    Fail,
    /// Ends the turn.
    Abort,
    /// Panics before it awaits anything.
    Panic,
    /// Panics after it has awaited something.
    LatePanic,
    /// Never returns and does not look at the cancellation.
    Hang,
    /// Returns when the turn is aborted.
    Heed,
    /// Returns bytes that are no text.
    Binary,
    /// Returns nothing.
    Nothing,
    /// Panics when it is dropped, after never returning.
    PanicInDrop,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Order {
    pub(crate) act: Act,
    /// Seconds that pass before it happens.
    #[serde(default)]
    pub(crate) after: u64,
}

/// A tool that does what its arguments say, and counts how often it really ran.
pub(crate) struct Actor {
    name: &'static str,
    effect: Effect,
    pub(crate) runs: Arc<AtomicUsize>,
}

pub(crate) fn actor(name: &'static str, effect: Effect) -> (Tool, Arc<AtomicUsize>) {
    let runs = Arc::default();
    (Actor { name, effect, runs: Arc::clone(&runs) }.into_tool().unwrap(), runs)
}

impl TypedTool for Actor {
    type Args = Order;
    type Output = windlass_core::ToolOutput;

    fn definition(&self) -> Definition {
        Definition::new(self.name, "Does what it is told.", self.effect)
    }

    async fn call(&self, order: Order, context: &ToolContext) -> Result<Self::Output, ToolError> {
        use windlass_core::IntoToolOutput as _;
        self.runs.fetch_add(1, Ordering::SeqCst);
        assert!(order.act != Act::Panic, "as told");
        if order.after > 0 {
            tokio::time::sleep(Duration::from_secs(order.after)).await;
        }
        match order.act {
            Act::Ok | Act::Panic => "done".into_tool_output(),
            Act::Retry => Err(ToolError::retry("say please")),
            Act::Fail => Ok(std::fs::read_to_string("/nonexistent/of/this/test")?.into_tool_output()?),
            Act::Abort => Err(ToolError::abort("the house is on fire")),
            Act::LatePanic => {
                tokio::task::yield_now().await;
                panic!("late, as told")
            }
            Act::Hang => std::future::pending().await,
            Act::Heed => {
                context.cancelled().await;
                "stopped in time".into_tool_output()
            }
            Act::Binary => Ok(windlass_core::ToolOutput::Bytes(vec![0xff, 0x00, 0xfe].into())),
            Act::Nothing => ().into_tool_output(),
            Act::PanicInDrop => {
                let _bomb = Bomb;
                std::future::pending().await
            }
        }
    }
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "dropped, as told");
    }
}

/// Keeps the panics that tests ask for out of the output; all others are shown.
pub(crate) fn quiet_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let shown = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let payload = info.payload();
            let message = payload.downcast_ref::<&str>().copied();
            let message = message.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            let is_told = message.is_some_and(|message| message.ends_with("as told"));
            if !is_told {
                shown(info);
            }
        }));
    });
}

/// An agent with a fixed clock and fixed entropy, and the tools `look` (pure), `put` (idempotent) and
/// `pay` (once).
pub(crate) fn agent(model: impl Model) -> Agent {
    Agent::new(model)
        .clock(PausedClock::new())
        .entropy(FixedEntropy::default())
        .tool(actor("look", Effect::Pure).0)
        .tool(actor("put", Effect::Idempotent).0)
        .tool(actor("pay", Effect::Once).0)
}

/// A turn that has run: everything that can be known about it.
pub(crate) struct Played {
    pub(crate) session: Session,
    pub(crate) events: Vec<Event>,
    pub(crate) conclusion: Conclusion,
    pub(crate) entries: Vec<Arc<Entry>>,
    pub(crate) transcript: Vec<TranscriptMessage>,
}

/// Runs a turn of a new session, aborting it when `abort_at` says so of an event.
pub(crate) async fn play_until(agent: &Agent, abort_at: impl Fn(&Event) -> bool) -> Played {
    quiet_panics();
    let session = agent.new_session();
    let mut turn = session.turn("Go.");
    let control = turn.control();
    let mut events = Vec::new();
    while let Some(event) = turn.next().await {
        let event = event.unwrap();
        if abort_at(&event) {
            control.abort();
        }
        events.push(event);
    }
    let conclusion = turn.conclusion().unwrap().clone().unwrap();
    let entries = session.facts(0);
    let transcript = session.transcript();
    Played { session, events, conclusion, entries, transcript }
}

pub(crate) async fn play(agent: &Agent) -> Played {
    play_until(agent, |_| false).await
}

impl Played {
    /// The records, in the order in which they settled.
    pub(crate) fn records(&self) -> Vec<ToolCall> {
        self.entries
            .iter()
            .filter_map(|entry| match &entry.fact {
                Fact::CallSettled { call, .. } => Some(call.clone()),
                _ => None,
            })
            .collect()
    }

    /// The pieces of what the model said, put together.
    pub(crate) fn heard(&self) -> String {
        let piece = |event: &Event| match &event.kind {
            EventKind::Message { content } => content.delta.clone(),
            _ => None,
        };
        self.events.iter().filter_map(piece).map(|piece| piece.to_string()).collect()
    }

    /// Record, stream form and execution events of every call share one checksum.
    pub(crate) fn assert_one_checksum_per_call(&self) {
        for record in self.records() {
            assert!(record.is_intact());
            for event in &self.events {
                match &event.kind {
                    EventKind::ToolCall { content } if content.id() == record.id() => {
                        assert_eq!(content.checksum(), record.checksum());
                    }
                    EventKind::ToolExecutionStart(start) if start.tool_call_id == *record.id() => {
                        assert_eq!(start.call_id, record.checksum());
                    }
                    EventKind::ToolExecutionEnd(end) if end.tool_call_id == *record.id() => {
                        assert_eq!(end.call_id, record.checksum());
                    }
                    _ => {}
                }
            }
        }
    }
}

pub(crate) fn code(error: &Error) -> &'static str {
    error.code().as_str()
}
