//! What stands between a call and its handler: the check of its arguments, then the author's own.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use windlass_core::tool::{CallError, Erase as _};
use windlass_core::{
    Approval, Args, ArgsCheck, Code, Definition, Disposition, Effect, Error, Outcome, Problem, Refusal, Tool,
    ToolContext, ToolError, ToolOutput, TypedTool, checksum,
};

use super::chain;
use crate::support::{Recorder, Trace, call_id, unchecked};

/// What the author's check of a [`Guarded`] tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Passes,
    PassesAfter(Duration),
    Refuses,
    CannotTell,
    MayTellLater,
    Panics,
    NeverTells,
}

/// A tool whose author checks what no schema can say.
struct Guarded {
    verdict: Verdict,
    trace: Trace,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Order {
    count: i64,
}

impl TypedTool for Guarded {
    type Args = Order;
    type Output = i64;

    fn definition(&self) -> Definition {
        Definition::new("order", "Orders some.", Effect::Once).timeout(Duration::from_secs(30))
    }

    async fn check(&self, order: &Order) -> Result<(), Refusal> {
        self.trace.note(format!("check {}", order.count));
        match self.verdict {
            Verdict::Passes => Ok(()),
            Verdict::PassesAfter(duration) => {
                tokio::time::sleep(duration).await;
                Ok(())
            }
            Verdict::Refuses => {
                Err(Refusal::new(vec![Problem::at("/count", "only 3 are left"), Problem::at("", "closed")]))
            }
            Verdict::CannotTell => Err("no number".parse::<u8>().unwrap_err().into()),
            Verdict::MayTellLater => Err(Error::new(Code::System, "the database is away").transient().into()),
            Verdict::Panics => panic!("out of the check"),
            Verdict::NeverTells => std::future::pending().await,
        }
    }

    async fn call(&self, order: Order, _: &ToolContext) -> Result<i64, ToolError> {
        self.trace.note("handler");
        Ok(order.count)
    }
}

/// Lets a number pass as a text, as a check that coerces would, and fills in a missing one.
struct Lenient(Trace);

impl ArgsCheck for Lenient {
    fn check(&self, tool: &str, args: &Map<String, Value>) -> Result<Map<String, Value>, Error> {
        self.0.note(format!("schema of {tool}"));
        let mut args = args.clone();
        let count = args.get("count").and_then(Value::as_str).map_or(json!(1), |text| json!(text.len()));
        let count = args.get("count").filter(|count| count.is_i64()).cloned().unwrap_or(count);
        args.insert("count".to_owned(), count);
        Ok(args)
    }
}

struct Desk {
    trace: Trace,
    host: Arc<Recorder>,
    tool: Tool,
}

impl Desk {
    fn new(verdict: Verdict) -> Self {
        let trace = Trace::default();
        let host = Arc::new(Recorder::new(&trace));
        let check = trace.clone();
        let tool = Guarded { verdict, trace: trace.clone() }
            .erase(&move |_, _| Ok(Arc::new(Lenient(check.clone()))))
            .unwrap();
        Self { trace, host, tool }
    }

    async fn order(&self, args: Value) -> Result<ToolOutput, CallError> {
        self.tool.executor(self.host.clone()).call_as(call_id("c1"), Args::from_value(args)).await
    }
}

#[tokio::test(start_paused = true)]
async fn the_steps_of_a_call_come_in_their_order() {
    let desk = Desk::new(Verdict::PassesAfter(Duration::from_secs(3)));
    assert_eq!(desk.order(json!({ "count": 7 })).await.unwrap(), ToolOutput::Text("7".into()));
    let steps = ["schema of order", "check 7", "authorise c1", "started c1", "handler", "ended c1"];
    assert_eq!(desk.trace.steps(), steps);
}

#[tokio::test(start_paused = true)]
async fn who_approves_sees_the_arguments_that_run_and_the_checksum_is_that_of_the_raw_ones() {
    let rows = [
        (json!({ "count": 7 }), None, 7),
        (json!({ "count": "four" }), Some(json!({ "count": 4 })), 4),
        (json!({}), Some(json!({ "count": 1 })), 1),
    ];
    for (sent, effective, count) in rows {
        let desk = Desk::new(Verdict::Passes);
        assert_eq!(desk.order(sent.clone()).await.unwrap(), ToolOutput::Text(count.to_string()));
        let [start] = desk.host.asked().try_into().unwrap();
        assert_eq!(start.call_id, checksum("order", &sent));
        assert_eq!(start.args, Args::from_value(sent));
        assert_eq!(start.effective_args()["count"], count);
        let shown = serde_json::to_value(&start).unwrap();
        assert_eq!(shown.get("effectiveArgs"), effective.as_ref());
        let stored = serde_json::from_value(shown).unwrap();
        assert_eq!(start, stored);
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_author_refuses_never_runs_and_the_model_may_try_again() {
    let desk = Desk::new(Verdict::Refuses);
    let CallError { error, disposition, outcome, .. } = desk.order(json!({ "count": 7 })).await.unwrap_err();
    insta::assert_snapshot!(error, @"
    E_INVALID_TOOL_ARGS: the arguments of `order` are not valid, so it did not run; call it again, corrected
    - /count: only 3 are left
    - closed
    ");
    assert_eq!((disposition, outcome), (Disposition::Retry, Outcome::NotRun));
    assert_eq!(desk.trace.steps(), ["schema of order", "check 7"]);
}

#[tokio::test(start_paused = true)]
async fn a_check_that_cannot_be_made_runs_nothing_and_blames_nobody() {
    let could_not = "the arguments of `order` could not be checked, so it did not run";
    let rows = [
        (Verdict::CannotTell, "invalid digit found in string", false),
        (Verdict::MayTellLater, "E_SYSTEM: the database is away", true),
        (Verdict::Panics, "out of the check", false),
        (Verdict::NeverTells, "it did not return within 30 s", true),
    ];
    for (verdict, reason, is_transient) in rows {
        let desk = Desk::new(verdict);
        let CallError { error, disposition, outcome, .. } =
            desk.order(json!({ "count": 7 })).await.unwrap_err();
        assert_eq!(
            chain(&error)[0],
            format!("E_TOOL_DOWNSTREAM_ERROR: {could_not}: {reason}"),
            "{verdict:?}"
        );
        assert_eq!(error.is_transient(), is_transient, "{verdict:?}");
        assert_eq!((disposition, outcome), (Disposition::Failed, Outcome::NotRun), "{verdict:?}");
        assert_eq!(desk.trace.steps(), ["schema of order", "check 7"], "{verdict:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_aborted_waits_for_no_check() {
    let desk = Desk::new(Verdict::NeverTells);
    let cancel = desk.host.cancel.clone();
    let begun = tokio::time::Instant::now();
    let (result, ()) = tokio::join!(desk.order(json!({ "count": 7 })), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    let CallError { error, outcome, .. } = result.unwrap_err();
    assert_eq!(chain(&error), ["E_TURN_ABORTED: the turn was aborted before `order` ran"]);
    assert_eq!(outcome, Outcome::NotRun);
    assert_eq!(begun.elapsed(), Duration::from_secs(1));
    assert_eq!(desk.trace.steps(), ["schema of order", "check 7"]);
}

#[tokio::test(start_paused = true)]
async fn validate_says_what_an_executor_would_and_runs_nothing() {
    let validate = async |verdict, args: Value| {
        let desk = Desk::new(verdict);
        let valid = desk.tool.validate(&Args::from_value(args)).await;
        assert!(!desk.trace.steps().iter().any(|step| step == "handler"));
        valid.map(Value::Object)
    };
    assert_eq!(validate(Verdict::Passes, json!({ "count": "four" })).await.unwrap(), json!({ "count": 4 }));
    let code = async |verdict, args: Value| validate(verdict, args).await.unwrap_err().code();
    assert_eq!(code(Verdict::Refuses, json!({})).await, Code::InvalidToolArgs);
    assert_eq!(code(Verdict::Passes, json!([1])).await, Code::InvalidToolArgs);
    assert_eq!(code(Verdict::CannotTell, json!({})).await, Code::ToolDownstream);
    assert_eq!(code(Verdict::Panics, json!({})).await, Code::ToolDownstream);
}

#[test]
fn an_approval_is_due_when_its_condition_says_so_or_breaks() {
    let args = |amount: i64| json!({ "amount": amount }).as_object().unwrap().clone();
    let above = Approval::when(|args| args["amount"].as_i64() > Some(100));
    assert_eq!((above.is_due(&args(100)), above.is_due(&args(101))), (false, true));
    assert_eq!((Approval::Never.is_due(&args(1)), Approval::Always.is_due(&args(1))), (false, true));
    assert!(Approval::when(|_| panic!("no idea")).is_due(&args(1)));
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Login {
    #[serde(rename = "user/name")]
    _user: String,
    #[serde(rename = "pass/word")]
    _password: Word,
}

#[derive(schemars::JsonSchema)]
struct Word {}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        assert_ne!(word, "hunter2!", "{word} explodes");
        if word == "fine" {
            return Ok(Self {});
        }
        Err(serde::de::Error::custom(format_args!("{word} is too short")))
    }
}

#[tokio::test(start_paused = true)]
async fn the_words_of_a_reader_do_not_tell_a_secret() {
    let tool = windlass_core::tool_fn("login", "Logs in.", Effect::Once, |_: Login| async { Ok(()) });
    let tool = unchecked(tool.with(|definition| definition.secret("pass/word"))).unwrap();
    let told = async |args: Value| {
        let error = tool.validate(&Args::from_value(args)).await.unwrap_err();
        assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
        error.to_string()
    };
    let short = told(json!({ "user/name": "anna", "pass/word": "hunter2" })).await;
    assert!(short.ends_with("- /pass~1word: could not be read as what the tool expects"), "{short}");
    let panicked = told(json!({ "user/name": "anna", "pass/word": "hunter2!" })).await;
    assert!(panicked.ends_with("it panicked: while its arguments were read"), "{panicked}");
    let other = told(json!({ "user/name": 7, "pass/word": "fine" })).await;
    assert!(other.contains("/user~1name: invalid type"), "{other}");
}
