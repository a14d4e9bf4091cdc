//! A host that writes down what it is asked, and JSON values of every kind.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Map, Value};
use windlass_core::tool::{Erase, ExecutionEnd, ExecutionProgress, ExecutionStart, Host, Scope};
use windlass_core::{
    ArgsCheck, Cancel, Clock, Entropy, Error, SessionId, Sleep, Spool, Timestamp, Tool, ToolCallId, TurnId,
    Values,
};

pub(crate) const SESSION: &str = "01890a5d-ac96-774b-bcce-b302099a8057";
pub(crate) const TURN: &str = "01890a5d-ac97-7d4e-8c1b-0242ac120002";
pub(crate) const DISPATCH: &str = "01890a5d-ac98-7d4e-8c1b-0242ac120003";
/// 2026-01-01T00:00:00Z.
pub(crate) const EPOCH_MILLIS: i64 = 1_767_225_600_000;

/// An instant this many milliseconds into 2026.
pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(EPOCH_MILLIS + millis).unwrap()
}

pub(crate) fn call_id(text: &str) -> ToolCallId {
    ToolCallId::new(text).unwrap()
}

pub(crate) fn scope() -> Scope {
    Scope { session: SESSION.parse::<SessionId>().unwrap(), turn: TURN.parse::<TurnId>().unwrap() }
}

/// Lets all arguments pass as they are: what remains is what the handler's type says.
struct Anything;

impl ArgsCheck for Anything {
    fn check(&self, _: &str, args: &Map<String, Value>) -> Result<Map<String, Value>, Error> {
        Ok(args.clone())
    }
}

/// A tool whose arguments only have to fit the handler's type.
pub(crate) fn unchecked(tool: impl Erase) -> Result<Tool, Error> {
    tool.erase(&|_, _| Ok(Arc::new(Anything)))
}

/// What happened, in order.
#[derive(Clone, Default)]
pub(crate) struct Trace(Arc<Mutex<Vec<String>>>);

impl Trace {
    pub(crate) fn note(&self, step: impl Into<String>) {
        self.0.lock().unwrap().push(step.into());
    }

    pub(crate) fn steps(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// The paused clock of the test's runtime, which starts with the year 2026.
pub(crate) struct PausedClock(tokio::time::Instant);

impl Clock for PausedClock {
    fn now(&self) -> Timestamp {
        at(i64::try_from(self.0.elapsed().as_millis()).unwrap())
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Hands out 1, 2, 3, …, each filling the front of the bytes that were asked for.
#[derive(Default)]
pub(crate) struct Counting(AtomicU64);

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let count = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        for (byte, value) in bytes.iter_mut().zip(count.to_le_bytes()) {
            *byte = value;
        }
        Ok(())
    }
}

/// A host that writes down every question and answers as it was told to.
pub(crate) struct Recorder {
    pub(crate) trace: Trace,
    pub(crate) cancel: Cancel,
    scope: Scope,
    refusal: Option<Error>,
    broken_start: Option<Error>,
    clock: PausedClock,
    entropy: Counting,
    values: Values,
    spool: Option<Arc<dyn Spool>>,
    asked: Mutex<Vec<ExecutionStart>>,
    starts: Mutex<Vec<ExecutionStart>>,
    ends: Mutex<Vec<ExecutionEnd>>,
}

impl Recorder {
    pub(crate) fn new(trace: &Trace) -> Self {
        Self {
            trace: trace.clone(),
            cancel: Cancel::new(),
            scope: scope(),
            refusal: None,
            broken_start: None,
            clock: PausedClock(tokio::time::Instant::now()),
            entropy: Counting::default(),
            values: Values::new(),
            spool: None,
            asked: Mutex::default(),
            starts: Mutex::default(),
            ends: Mutex::default(),
        }
    }

    pub(crate) fn within(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// Gives these values to handlers.
    pub(crate) fn giving(self, values: Values) -> Self {
        Self { values, ..self }
    }

    /// Lets handlers write to this spool.
    pub(crate) fn spooling_to(self, spool: impl Spool) -> Self {
        Self { spool: Some(Arc::new(spool)), ..self }
    }

    /// Answers every `authorise` with this error.
    pub(crate) fn refusing(self, error: Error) -> Self {
        Self { refusal: Some(error), ..self }
    }

    /// Answers every `started` with this error.
    pub(crate) fn unable_to_start(self, error: Error) -> Self {
        Self { broken_start: Some(error), ..self }
    }

    /// What `authorise` was asked.
    pub(crate) fn asked(&self) -> Vec<ExecutionStart> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn starts(&self) -> Vec<ExecutionStart> {
        self.starts.lock().unwrap().clone()
    }

    pub(crate) fn ends(&self) -> Vec<ExecutionEnd> {
        self.ends.lock().unwrap().clone()
    }
}

impl Host for Recorder {
    fn scope(&self) -> Scope {
        self.scope
    }

    fn clock(&self) -> &dyn Clock {
        &self.clock
    }

    fn entropy(&self) -> &dyn Entropy {
        &self.entropy
    }

    fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    async fn authorise(&self, _: &Tool, start: &ExecutionStart) -> Result<(), Error> {
        self.trace.note(format!("authorise {}", start.tool_call_id));
        self.asked.lock().unwrap().push(start.clone());
        // A host may take its time; nothing may overtake it.
        tokio::task::yield_now().await;
        self.refusal.clone().map_or(Ok(()), Err)
    }

    async fn started(&self, start: &ExecutionStart) -> Result<(), Error> {
        tokio::task::yield_now().await;
        self.trace.note(format!("started {}", start.tool_call_id));
        if let Some(error) = &self.broken_start {
            return Err(error.clone());
        }
        self.starts.lock().unwrap().push(start.clone());
        Ok(())
    }

    fn ended(&self, end: ExecutionEnd) {
        self.trace.note(format!("ended {}", end.tool_call_id));
        self.ends.lock().unwrap().push(end);
    }

    fn values(&self) -> &Values {
        &self.values
    }

    fn progressed(&self, report: ExecutionProgress) {
        let progress = &report.progress;
        let message = progress.message();
        let numbers = progress.done().zip(progress.total()).map(|(done, total)| format!(" {done}/{total}"));
        self.trace.note(format!("progress {} {message}{}", report.tool_call_id, numbers.unwrap_or_default()));
    }

    fn spool(&self) -> Option<Arc<dyn Spool>> {
        self.spool.clone()
    }
}

/// Characters of every kind, with more than their share where UTF-16 and UTF-8 order disagree.
fn character() -> impl Strategy<Value = char> {
    prop_oneof![
        4 => proptest::char::range(' ', '~'),
        1 => proptest::char::range('\0', '\u{1f}'),
        2 => proptest::char::range('\u{7f}', '\u{7ff}'),
        3 => proptest::char::range('\u{d000}', '\u{d7ff}'),
        4 => proptest::char::range('\u{e000}', '\u{ffff}'),
        4 => proptest::char::range('\u{10000}', '\u{10ffff}'),
    ]
}

pub(crate) fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(character(), 0..6).prop_map(String::from_iter)
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-1000_i64..1000).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        proptest::num::f64::ANY
            .prop_map(|float| if float.is_finite() { float } else { 0.5 })
            .prop_map(Value::from),
        (-1_000_000_i32..1_000_000).prop_map(|thousandths| Value::from(f64::from(thousandths) / 1000.0)),
    ]
}

/// Any JSON value, a few levels deep.
pub(crate) fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        4 => number(),
        3 => text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from), object(inner),]
    })
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    proptest::collection::hash_map(text(), inner, 0..6)
        .prop_map(|entries| Value::Object(entries.into_iter().collect()))
}

/// Any JSON object, a few levels deep.
pub(crate) fn json_object() -> impl Strategy<Value = Value> {
    object(json_value())
}

/// A small generator of choices, seeded by the property that uses it.
pub(crate) struct Choices(u64);

impl Choices {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % bound as u64).unwrap()
    }

    pub(crate) fn flip(&mut self) -> bool {
        self.below(2) == 1
    }

    pub(crate) fn of<T: Copy>(&mut self, options: &[T]) -> T {
        options[self.below(options.len())]
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
