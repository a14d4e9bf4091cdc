//! A handler that panics, hangs or is stopped: exactly one end for each start.

use std::time::Duration;

use futures_util::FutureExt as _;
use proptest::prelude::*;
use windlass_core::tool::{ABORT_GRACE, CallError, ExecutionEnd};
use windlass_core::{Disposition, Effect, Outcome, ToolOutput};

use super::{Behaviour, Bench, OSLO, TIMEOUT, chain};
use crate::support::at;

const UNKNOWN: &str = "Whether it took effect is unknown: find out before you call it again";
const EFFECTS: [Effect; 3] = [Effect::Pure, Effect::Idempotent, Effect::Once];

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap()
}

fn before(end: Duration, span: Duration) -> Duration {
    end.checked_sub(span).unwrap()
}

/// Asserts that the call had one start and one end, `after` its start.
fn assert_ended_once(bench: &Bench, after: Duration, is_error: bool) {
    let [start] = bench.host.starts().try_into().unwrap();
    assert_eq!(bench.host.ends(), [ExecutionEnd::of(&start, at(millis(after)), is_error)]);
}

/// Asserts what the error of an unfinished call says, by effect: it may have had one unless the tool is
/// pure, and its outcome is known unless it is `once`.
fn assert_unfinished(found: &CallError, effect: Effect, reason: &str, cause: &str) {
    let plain = format!("E_TOOL_DOWNSTREAM_ERROR: `weather` failed: {reason}");
    assert_eq!(found.disposition, Disposition::Failed);
    if effect == Effect::Pure {
        assert_eq!(chain(&found.error), [plain, cause.to_owned()]);
    } else {
        assert_eq!(chain(&found.error), [format!("{plain}. {UNKNOWN}"), plain, cause.to_owned()]);
    }
    assert_eq!(found.outcome, if effect == Effect::Once { Outcome::Unknown } else { Outcome::Failed });
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_an_error_of_the_handler() {
    let at_once = Duration::ZERO;
    let rows = [
        (Behaviour::PanicsAtOnce, "no weather today", at_once),
        (Behaviour::PanicsAfterAnAwait, "no weather today", Duration::from_millis(10)),
    ];
    for effect in EFFECTS {
        for (behaviour, words, after) in rows {
            let bench = Bench::new(behaviour, effect);
            let error = bench.fail().await;
            assert_unfinished(
                &error,
                effect,
                &format!("it panicked: {words}"),
                &format!("E_TOOL_PANICKED: {words}"),
            );
            assert_ended_once(&bench, after, true);
        }
        let bench = Bench::new(Behaviour::PanicsBeforeItsFuture, effect);
        let error = bench.fail().await;
        assert!(error.error.message().contains("it panicked: "), "{error}");
        assert!(error.error.message().contains("no future today"), "{error}");
        assert_ended_once(&bench, at_once, true);
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_never_returns_is_dropped_at_its_timeout() {
    for effect in EFFECTS {
        let bench = Bench::new(Behaviour::NeverReturns, effect);
        let error = bench.fail().await;
        let reason = "it did not return within 30 s";
        assert_unfinished(&error, effect, reason, &format!("E_TOOL_TIMED_OUT: {reason}"));
        assert_eq!(error.error.is_transient(), effect != Effect::Once);
        assert_ended_once(&bench, TIMEOUT, true);
        assert_eq!(bench.trace.steps(), ["authorise c1", "started c1", "handler c1", "dropped", "ended c1"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_returns_just_before_its_timeout_keeps_its_result() {
    let in_time = before(TIMEOUT, Duration::from_millis(1));
    let bench = Bench::new(Behaviour::ReturnsAfter(in_time), Effect::Once);
    assert_eq!(bench.ask(OSLO).await.unwrap(), ToolOutput::Text("Rain in Oslo.".into()));
    assert_ended_once(&bench, in_time, false);
}

#[tokio::test(start_paused = true)]
async fn a_destructor_that_panics_after_the_timeout_changes_nothing() {
    for effect in EFFECTS {
        let bench = Bench::new(Behaviour::PanicsWhenDropped, effect);
        let error = bench.fail().await;
        let reason = "it did not return within 30 s";
        assert_unfinished(&error, effect, reason, &format!("E_TOOL_TIMED_OUT: {reason}"));
        assert_ended_once(&bench, TIMEOUT, true);
    }
}

/// Calls the probe and raises the abort flag after a while.
async fn aborted_after(bench: &Bench, wait: Duration) -> Result<ToolOutput, CallError> {
    let abort = async {
        tokio::time::sleep(wait).await;
        bench.host.cancel.cancel();
    };
    futures_util::future::join(bench.ask(OSLO), abort).await.0
}

#[tokio::test(start_paused = true)]
async fn an_abort_waits_for_the_grace_and_then_drops_the_handler() {
    let wait = Duration::from_secs(3);
    for effect in EFFECTS {
        let bench = Bench::new(Behaviour::NeverReturns, effect);
        let error = aborted_after(&bench, wait).await.unwrap_err();
        assert_unfinished(&error, effect, "the turn was aborted", "E_TURN_ABORTED: the turn was aborted");
        assert_ended_once(&bench, wait + ABORT_GRACE, true);
        assert_eq!(bench.trace.steps(), ["authorise c1", "started c1", "handler c1", "dropped", "ended c1"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_returns_within_the_grace_keeps_its_result() {
    let wait = Duration::from_secs(3);
    let last_moment = before(ABORT_GRACE, Duration::from_millis(1));
    for (behaviour, after) in [
        (Behaviour::ReturnsOnceCancelled, wait),
        (Behaviour::ReturnsAfter(wait + last_moment), wait + last_moment),
    ] {
        let bench = Bench::new(behaviour, Effect::Once);
        let output = aborted_after(&bench, wait).await.unwrap();
        assert_eq!(output, ToolOutput::Text("Rain in Oslo.".into()));
        assert_ended_once(&bench, after, false);
    }
}

#[tokio::test(start_paused = true)]
async fn the_timeout_holds_during_the_grace() {
    let bench = Bench::new(Behaviour::NeverReturns, Effect::Pure);
    let error = aborted_after(&bench, before(TIMEOUT, Duration::from_secs(1))).await.unwrap_err();
    let reason = "it did not return within 30 s";
    assert_unfinished(&error, Effect::Pure, reason, &format!("E_TOOL_TIMED_OUT: {reason}"));
    assert_ended_once(&bench, TIMEOUT, true);
}

#[tokio::test(start_paused = true)]
async fn an_abandoned_call_still_ends_once() {
    let bench = Bench::new(Behaviour::NeverReturns, Effect::Once);
    let outcome = tokio::time::timeout(Duration::from_secs(2), bench.ask(OSLO)).await;
    assert!(outcome.is_err());
    assert_ended_once(&bench, Duration::from_secs(2), true);
    assert_eq!(bench.trace.steps(), ["authorise c1", "started c1", "handler c1", "dropped", "ended c1"]);
}

#[tokio::test(start_paused = true)]
async fn an_abandoned_call_whose_destructor_panics_still_ends_once() {
    let bench = Bench::new(Behaviour::PanicsWhenDropped, Effect::Once);
    let outcome = tokio::time::timeout(Duration::from_secs(2), bench.ask(OSLO)).await;
    assert!(outcome.is_err());
    assert_ended_once(&bench, Duration::from_secs(2), true);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_abandoned_before_its_start_has_no_end() {
    let bench = Bench::new(Behaviour::Returns, Effect::Pure);
    assert!(bench.ask(OSLO).now_or_never().is_none());
    assert_eq!(bench.trace.steps(), ["authorise c1"]);
}

/// When, if ever, the turn is aborted.
#[derive(Clone, Copy, Debug)]
enum Abort {
    Never,
    Before,
    After(Duration),
}

fn abort() -> impl Strategy<Value = Abort> {
    prop_oneof![
        Just(Abort::Never),
        Just(Abort::Before),
        (0_u64..40_000).prop_map(|after| Abort::After(Duration::from_millis(after))),
    ]
}

proptest! {
    #[test]
    fn every_start_has_exactly_one_end(
        behaviour in proptest::sample::select(&Behaviour::ALL),
        effect in proptest::sample::select(&EFFECTS),
        abort in abort(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let (bench, result) = runtime.block_on(async {
            let bench = Bench::new(behaviour, effect);
            let result = match abort {
                Abort::Never => bench.ask(OSLO).await,
                Abort::Before => {
                    bench.host.cancel.cancel();
                    bench.ask(OSLO).await
                }
                Abort::After(wait) => aborted_after(&bench, wait).await,
            };
            (bench, result)
        });
        let starts: Vec<_> = bench.host.starts().into_iter().map(|s| (s.call_id, s.tool_call_id)).collect();
        let ends: Vec<_> = bench.host.ends().into_iter().map(|e| (e.call_id, e.tool_call_id)).collect();
        prop_assert_eq!(&starts, &ends);
        match &result {
            Err(error) if error.outcome == Outcome::NotRun => prop_assert_eq!(starts.len(), 0),
            _ => {
                prop_assert_eq!(starts.len(), 1);
                prop_assert_eq!(bench.host.ends()[0].is_error, result.is_err());
            }
        }
        if let Err(error) = &result && error.outcome == Outcome::Unknown {
            prop_assert_eq!(effect, Effect::Once);
        }
    }
}
