//! One call, step by step: what is asked, reported and run, in which order, and what never happens.

mod checks;
mod definitions;
mod dynamic;
mod endings;
mod handlers;
mod outputs;

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::join_all;
use insta::assert_snapshot;
use serde::Deserialize;
use serde::de::{self, Deserializer};
use windlass_core::tool::{CallError, Executor};
use windlass_core::{
    Args, Code, Definition, Disposition, Effect, Error, Outcome, ToolContext, ToolError, ToolOutput,
    TypedTool, checksum, json,
};

use crate::support::{Recorder, Trace, at, call_id, unchecked};

/// What the handler of a [`Probe`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behaviour {
    Returns,
    ReturnsAfter(Duration),
    ReturnsOnceCancelled,
    Fails,
    AsksForARetry,
    AsksToAbort,
    PanicsBeforeItsFuture,
    PanicsAtOnce,
    PanicsAfterAnAwait,
    PanicsWhenDropped,
    NeverReturns,
}

impl Behaviour {
    const ALL: [Self; 11] = [
        Self::Returns,
        Self::ReturnsAfter(Duration::from_secs(2)),
        Self::ReturnsOnceCancelled,
        Self::Fails,
        Self::AsksForARetry,
        Self::AsksToAbort,
        Self::PanicsBeforeItsFuture,
        Self::PanicsAtOnce,
        Self::PanicsAfterAnAwait,
        Self::PanicsWhenDropped,
        Self::NeverReturns,
    ];
}

const TIMEOUT: Duration = Duration::from_secs(30);

/// A tool that does what it is told and leaves a trace.
struct Probe {
    behaviour: Behaviour,
    effect: Effect,
    trace: Trace,
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Question {
    city: String,
    #[serde(rename = "days", default)]
    _days: Vec<Day>,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Day {
    #[serde(rename = "hours/of~day")]
    _hours: u8,
}

/// Leaves a trace when it is dropped, and a panic if it is told to.
struct Guard {
    trace: Trace,
    panics: bool,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.trace.note("dropped");
        assert!(!self.panics, "out of the destructor");
    }
}

impl Future for Guard {
    type Output = Result<String, ToolError>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Pending
    }
}

impl TypedTool for Probe {
    type Args = Question;
    type Output = String;

    fn definition(&self) -> Definition {
        Definition::new("weather", "Current weather in a city.", self.effect).timeout(TIMEOUT)
    }

    fn call(
        &self,
        args: Question,
        context: &ToolContext,
    ) -> impl Future<Output = Result<String, ToolError>> + Send {
        self.trace.note(format!("handler {}", context.tool_call_id()));
        assert_ne!(self.behaviour, Behaviour::PanicsBeforeItsFuture, "no future today");
        let guard = |panics| Guard { trace: self.trace.clone(), panics };
        async move {
            match self.behaviour {
                Behaviour::Returns => {}
                Behaviour::ReturnsAfter(duration) => tokio::time::sleep(duration).await,
                Behaviour::ReturnsOnceCancelled => context.cancelled().await,
                Behaviour::Fails => drop("Oslo".parse::<u8>()?),
                Behaviour::AsksForARetry => return Err(ToolError::retry("name a city, not a country")),
                Behaviour::AsksToAbort => return Err(ToolError::abort("the station is on fire")),
                Behaviour::PanicsBeforeItsFuture | Behaviour::PanicsAtOnce => panic!("no weather today"),
                Behaviour::PanicsAfterAnAwait => {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    panic!("no weather today");
                }
                Behaviour::PanicsWhenDropped => return guard(true).await,
                Behaviour::NeverReturns => return guard(false).await,
            }
            Ok(format!("Rain in {}.", args.city))
        }
    }
}

/// A probe, the host that it runs in, and what happened to both.
struct Bench {
    trace: Trace,
    host: Arc<Recorder>,
    executor: Executor<Recorder>,
}

impl Bench {
    fn new(behaviour: Behaviour, effect: Effect) -> Self {
        Self::with_host(behaviour, effect, |host| host)
    }

    fn with_host(behaviour: Behaviour, effect: Effect, change: impl FnOnce(Recorder) -> Recorder) -> Self {
        let trace = Trace::default();
        let host = Arc::new(change(Recorder::new(&trace)));
        let tool = unchecked(Probe { behaviour, effect, trace: trace.clone() }).unwrap();
        let executor = tool.executor(host.clone());
        Self { trace, host, executor }
    }

    async fn ask(&self, args: &str) -> Result<ToolOutput, CallError> {
        self.executor.call_as(call_id("c1"), Args::read(args)).await
    }

    async fn fail(&self) -> CallError {
        self.ask(OSLO).await.unwrap_err()
    }
}

const OSLO: &str = r#"{"city":"Oslo"}"#;

/// The codes and messages of an error and of everything that led to it.
fn chain(error: &Error) -> Vec<String> {
    let mut next: Option<&dyn std::error::Error> = Some(error);
    let mut texts = Vec::new();
    while let Some(cause) = next {
        texts.push(cause.to_string());
        next = cause.source();
    }
    texts
}

#[tokio::test(start_paused = true)]
async fn a_call_is_authorised_then_started_then_run_then_ended() {
    let bench = Bench::new(Behaviour::ReturnsAfter(Duration::from_millis(1500)), Effect::Pure);
    let output = bench.ask(OSLO).await.unwrap();
    assert_eq!(output, ToolOutput::Text("Rain in Oslo.".into()));
    assert_eq!(bench.trace.steps(), ["authorise c1", "started c1", "handler c1", "ended c1"]);

    let [start] = bench.host.starts().try_into().unwrap();
    assert_eq!(start.call_id, checksum("weather", &json::read(OSLO).unwrap()));
    assert_eq!(
        (&*start.tool_name, &start.tool_call_id, start.started_at),
        ("weather", &call_id("c1"), at(0))
    );
    assert_eq!(start.args, Args::read(OSLO));
    let [end] = bench.host.ends().try_into().unwrap();
    assert_eq!(end, windlass_core::tool::ExecutionEnd::of(&start, at(1500), false));
    assert_eq!((end.call_id, end.duration_ms), (start.call_id, 1500));
    assert_eq!(bench.host.asked(), [start]);
}

#[tokio::test(start_paused = true)]
async fn a_call_without_an_id_gets_a_fresh_one() {
    let bench = Bench::new(Behaviour::Returns, Effect::Pure);
    bench.executor.call(Args::read(OSLO)).await.unwrap();
    bench.executor.call(Args::read(OSLO)).await.unwrap();
    let ids: Vec<_> = bench.host.starts().into_iter().map(|start| start.tool_call_id.to_string()).collect();
    assert_eq!(ids, ["call_01000000000040008000000000000000", "call_02000000000040008000000000000000"]);
}

#[tokio::test(start_paused = true)]
async fn invalid_arguments_ask_nobody_start_nothing_and_name_the_place() {
    let rows = [
        (r#"{"city":true}"#, "/city", "invalid type: boolean `true`, expected a string"),
        ("{}", "", "missing field `city`"),
        (
            r#"{"city":"Oslo","days":[{"hours/of~day":1},{"hours/of~day":true}]}"#,
            "/days/1/hours~1of~0day",
            "invalid type: boolean `true`, expected u8",
        ),
        (
            r#"{"city":"Oslo","country":"NO"}"#,
            "/country",
            "unknown field `country`, expected `city` or `days`",
        ),
        (r#"{"city":"#, "", "EOF while parsing a value at byte 8"),
        ("[1]", "", "expected an object, got an array"),
        (r#"{"city":"Oslo","city":"Bergen"}"#, "", "the key \"city\" occurs twice at byte 20"),
    ];
    for (args, pointer, message) in rows {
        let bench = Bench::new(Behaviour::Returns, Effect::Once);
        let CallError { error, disposition, outcome, .. } = bench.ask(args).await.unwrap_err();
        assert_eq!(error.code(), Code::InvalidToolArgs, "{args}");
        let problems: Vec<_> =
            error.problems().iter().map(|p| (p.pointer.as_str(), p.message.as_str())).collect();
        assert_eq!(problems, [(pointer, message)], "{args}");
        assert_eq!((disposition, outcome), (Disposition::Retry, Outcome::NotRun), "{args}");
        assert_eq!(bench.trace.steps(), Vec::<String>::new(), "{args}");
    }
}

#[tokio::test(start_paused = true)]
async fn invalid_arguments_are_explained_in_words_that_a_model_can_act_on() {
    let error = Bench::new(Behaviour::Returns, Effect::Pure).ask(r#"{"city":true}"#).await.unwrap_err();
    assert_snapshot!(error, @"
    E_INVALID_TOOL_ARGS: the arguments of `weather` are not valid, so it did not run; call it again, corrected
    - /city: invalid type: boolean `true`, expected a string
    ");
}

#[tokio::test(start_paused = true)]
async fn a_refused_call_has_no_execution_events() {
    let refusal = Error::new(Code::ToolDenied, "not on a Sunday");
    let bench = Bench::with_host(Behaviour::Returns, Effect::Once, |host| host.refusing(refusal));
    let CallError { error, disposition, outcome, .. } = bench.fail().await;
    assert_eq!(chain(&error), ["E_TOOL_DENIED: not on a Sunday"]);
    assert_eq!((disposition, outcome), (Disposition::Failed, Outcome::NotRun));
    assert_eq!(bench.trace.steps(), ["authorise c1"]);
}

#[tokio::test(start_paused = true)]
async fn a_start_that_cannot_be_kept_runs_nothing_and_ends_nothing() {
    let broken = Error::new(Code::JournalFailed, "the disk is full");
    let bench = Bench::with_host(Behaviour::Returns, Effect::Once, |host| host.unable_to_start(broken));
    let CallError { error, outcome, .. } = bench.fail().await;
    assert_eq!(chain(&error), ["E_JOURNAL_FAILED: the disk is full"]);
    assert_eq!(outcome, Outcome::NotRun);
    assert_eq!(bench.trace.steps(), ["authorise c1", "started c1"]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_aborted_already_starts_nothing() {
    let bench = Bench::new(Behaviour::Returns, Effect::Once);
    bench.host.cancel.cancel();
    let CallError { error, outcome, .. } = bench.fail().await;
    assert_eq!(chain(&error), ["E_TURN_ABORTED: the turn was aborted before `weather` ran"]);
    assert_eq!(outcome, Outcome::NotRun);
    assert_eq!(bench.trace.steps(), ["authorise c1"]);
}

#[tokio::test(start_paused = true)]
async fn what_a_handler_reports_is_wrapped_with_cause_and_disposition() {
    let rows = [
        (
            Behaviour::Fails,
            Disposition::Failed,
            &[
                "E_TOOL_DOWNSTREAM_ERROR: `weather` failed: invalid digit found in string",
                "invalid digit found in string",
            ][..],
        ),
        (
            Behaviour::AsksForARetry,
            Disposition::Retry,
            &["E_TOOL_DOWNSTREAM_ERROR: `weather` asks to be called again: name a city, not a country"],
        ),
        (
            Behaviour::AsksToAbort,
            Disposition::Abort,
            &["E_TOOL_DOWNSTREAM_ERROR: `weather` failed: the station is on fire"],
        ),
    ];
    for (behaviour, expected, texts) in rows {
        for effect in [Effect::Pure, Effect::Idempotent, Effect::Once] {
            let bench = Bench::new(behaviour, effect);
            let CallError { error, disposition, outcome, .. } = bench.fail().await;
            assert_eq!(chain(&error), texts, "{behaviour:?}");
            assert_eq!((disposition, outcome), (expected, Outcome::Failed), "{behaviour:?}");
            assert_eq!(bench.trace.steps(), ["authorise c1", "started c1", "handler c1", "ended c1"]);
            assert!(bench.host.ends()[0].is_error, "{behaviour:?}");
        }
    }
}

/// Arguments whose reading panics.
#[derive(schemars::JsonSchema)]
struct Explosive {}

impl<'de> Deserialize<'de> for Explosive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        de::IgnoredAny::deserialize(deserializer)?;
        panic!("out of the reader");
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_arguments_are_read_happens_before_any_start() {
    let trace = Trace::default();
    let host = Arc::new(Recorder::new(&trace));
    let tool = windlass_core::tool_fn("boom", "Explodes.", Effect::Once, |_: Explosive| async { Ok(()) });
    let executor = unchecked(tool).unwrap().executor(host);
    let CallError { error, outcome, .. } = executor.call(Args::read("{}")).await.unwrap_err();
    assert_eq!(
        chain(&error),
        [
            "E_TOOL_DOWNSTREAM_ERROR: `boom` failed: it panicked: out of the reader",
            "E_TOOL_PANICKED: out of the reader",
        ],
    );
    assert_eq!(outcome, Outcome::NotRun);
    assert_eq!(trace.steps(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn one_executor_serves_many_calls_at_once() {
    let bench = Bench::new(Behaviour::ReturnsAfter(Duration::from_secs(1)), Effect::Pure);
    let calls = (0..50).map(|number| {
        let executor = bench.executor.clone();
        let args = Args::read(&format!("{{\"city\":\"City {number}\"}}"));
        tokio::spawn(async move { executor.call_as(call_id(&format!("c{number}")), args).await })
    });
    for (number, output) in join_all(calls).await.into_iter().enumerate() {
        assert_eq!(output.unwrap().unwrap(), ToolOutput::Text(format!("Rain in City {number}.")));
    }
    let mut starts: Vec<_> =
        bench.host.starts().into_iter().map(|start| (start.tool_call_id, start.call_id)).collect();
    let mut ends: Vec<_> = bench.host.ends().into_iter().map(|end| (end.tool_call_id, end.call_id)).collect();
    starts.sort();
    ends.sort();
    assert_eq!((starts.len(), &starts), (50, &ends));
    // They ran beside each other, not one after the other.
    assert_eq!(bench.host.ends().last().unwrap().ended_at, at(1000));
}

#[tokio::test(start_paused = true)]
async fn a_handler_knows_its_call() {
    #[derive(Deserialize, schemars::JsonSchema)]
    struct Nothing {}

    struct WhoAmI;

    impl TypedTool for WhoAmI {
        type Args = Nothing;
        type Output = (String, String, String, bool);

        fn definition(&self) -> Definition {
            Definition::new("who_am_i", "Tells what it knows.", Effect::Idempotent)
        }

        async fn call(&self, _: Nothing, context: &ToolContext) -> Result<Self::Output, ToolError> {
            Ok((
                context.tool_call_id().to_string(),
                context.checksum().to_string(),
                context.operation_id().to_string(),
                context.is_cancelled(),
            ))
        }
    }

    let host = Arc::new(Recorder::new(&Trace::default()));
    let executor = unchecked(WhoAmI).unwrap().executor(host.clone());
    let output = executor.call_as(call_id("c9"), Args::read("{}")).await.unwrap();
    let [start] = host.starts().try_into().unwrap();
    let expected = format!("[\"c9\",\"{}\",\"{}\",false]", start.call_id, start.operation_id);
    assert_eq!(output, ToolOutput::Text(expected));
}
