//! What reviewers broke once: bounds, exactness, foreign versions, builds with other features.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_core::identity::MAX_ARGS_BYTES;
use windlass_core::record::{MAX_ERROR_BYTES, Settlement};
use windlass_core::tool::{CallError, MAX_DETAIL_BYTES};
use windlass_core::trust::Label;
use windlass_core::{
    Args, Code, Effect, Outcome, RawToolCall, ToolCall, ToolError, TurnToolCallContent, checksum, json,
    tool_fn,
};

use crate::support::{Recorder, Trace, at, call_id, unchecked};

#[derive(Deserialize, JsonSchema)]
struct Account {
    number: u64,
}

async fn run<A, F, R>(function: F, args: &str) -> Result<windlass_core::ToolOutput, CallError>
where
    A: serde::de::DeserializeOwned + JsonSchema + Send + Sync + 'static,
    F: Fn(A) -> R + Send + Sync + 'static,
    R: Future<Output = Result<String, ToolError>> + Send + 'static,
{
    let tool = unchecked(tool_fn("pay", "Pays.", Effect::Once, function)).unwrap();
    tool.executor(Arc::new(Recorder::new(&Trace::default()))).call(Args::read(args)).await
}

#[tokio::test(start_paused = true)]
async fn a_handler_gets_the_integer_that_was_sent_or_none() {
    let number = |args: String| async move {
        let echo = |account: Account| async move { Ok(account.number.to_string()) };
        run(echo, &args).await.map(|output| output.as_text().unwrap().to_owned())
    };
    for exact in ["0", "9007199254740992", "9007199254740993", "18446744073709551615"] {
        assert_eq!(number(format!("{{\"number\":{exact}}}")).await.unwrap(), exact);
    }
    assert_eq!(number(r#"{"number":5.0}"#.to_owned()).await.unwrap(), "5");
    for rounded in
        ["9007199254740993.0", "1.2345678901234567e18", "9223372036854775808.0", "18446744073709551616"]
    {
        let error = number(format!("{{\"number\":{rounded}}}")).await.unwrap_err();
        assert_eq!(error.error.code(), Code::InvalidToolArgs, "{rounded}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_that_some_builds_take_for_a_number_reaches_no_handler() {
    #[derive(Deserialize, JsonSchema)]
    struct Free {
        value: Value,
    }
    let echo = |free: Free| async move { Ok(free.value.to_string()) };
    for key in ["$serde_json::private::Number", "$serde_json::private::RawValue"] {
        let error = run(echo, &json!({ "value": { key: "12" } }).to_string()).await.unwrap_err();
        assert_eq!(error.error.code(), Code::InvalidToolArgs);
        assert!(error.to_string().contains("is reserved"), "{error}");
        assert!(
            run(echo, &json!({ "value": key }).to_string()).await.is_ok(),
            "as a value it is a text like any other"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_quotes_little_of_what_was_sent() {
    #[derive(Deserialize, JsonSchema)]
    struct Ages {
        #[expect(dead_code, reason = "only read")]
        ages: std::collections::HashMap<String, u8>,
    }
    let long = "k".repeat(5 << 20);
    let args = json!({ "ages": { long.as_str(): "old" } }).to_string();
    let error = run(|_: Ages| async { Ok(String::new()) }, &args).await.unwrap_err();
    assert!(error.to_string().len() < 1_000, "{} bytes", error.to_string().len());
    let error = ToolCall::try_from(&json!({ long.as_str(): 1 })).unwrap_err();
    assert!(error.to_string().len() < 3_000);
    let tool = tool_fn(long, "Has a long name.", Effect::Pure, |_: Account| async { Ok("") });
    assert!(unchecked(tool).unwrap_err().to_string().len() < 1_000);
}

#[tokio::test(start_paused = true)]
async fn the_words_of_a_failing_handler_are_bounded() {
    let failing = |words: usize| async move {
        let fail = move |_: Account| async move { Err(ToolError::failed("w".repeat(words))) };
        run(fail, r#"{"number":1}"#).await.unwrap_err().error.message().to_owned()
    };
    let prefix = "`pay` failed: ".len();
    assert_eq!(failing(MAX_DETAIL_BYTES).await.len(), prefix + MAX_DETAIL_BYTES);
    assert!(failing(MAX_DETAIL_BYTES + 7).await.ends_with("w… (7 more bytes)"));

    let announced = TurnToolCallContent::announce(call_id("c1"), "pay", Args::read("{}"), at(0));
    let settled = |bytes: usize| {
        let settlement = Settlement::error(at(1), Outcome::NotRun, "d".repeat(bytes), Label::default());
        ToolCall::settle(&announced, settlement).results().as_text().unwrap().to_owned()
    };
    assert_eq!(settled(MAX_ERROR_BYTES).len(), MAX_ERROR_BYTES);
    assert!(settled(MAX_ERROR_BYTES + 1).ends_with("d… (1 more bytes)"));
}

#[test]
fn arguments_are_bounded_however_they_come() {
    let text = |length: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(length - 8));
    assert_eq!(Args::from_value(text(MAX_ARGS_BYTES).into()).defect(), None);
    assert!(Args::from_value(text(MAX_ARGS_BYTES + 1).into()).defect().is_some());
}

#[test]
fn a_guard_looks_at_the_depth_before_it_touches_the_value() {
    let check = || {
        // By hand: the macro would serialise the value again at every level.
        let around = |value: Value| Value::Object([("args".to_owned(), value)].into_iter().collect());
        let record = (0..3_000).fold(json!({}), |value, _| around(value));
        assert!(!ToolCall::is_tool_call(&record));
        assert!(!TurnToolCallContent::is_turn_tool_call_content(&record));
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(check).unwrap().join().unwrap();
}

#[test]
fn stored_arguments_are_as_deep_as_a_record_can_be_and_no_deeper() {
    let stored = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
    assert!(json::from_str::<Args>(&stored(json::MAX_DEPTH + 1)).is_ok());
    assert!(json::from_str::<Args>(&stored(json::MAX_DEPTH + 2)).is_err());
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(json::from_str::<Value>(&nested(2 * json::MAX_DEPTH)).is_ok());
    assert!(json::from_str::<Value>(&nested(2 * json::MAX_DEPTH + 1)).is_err());
}

fn foreign() -> Value {
    let args = json!({ "city": "Oslo" });
    json!({
        "id": "c1", "tool": "weather", "checksum": checksum("weather", &args), "args": args,
        "isComplete": true, "isError": false, "fromArtifactTool": false, "inline": true,
        "results": {
            "type": "artifact", "artifactType": "text", "digest": "0".repeat(64), "byteLength": 1, "lineCount": 1,
        },
        "createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-01T00:00:00.000Z",
        "completedAt": "2026-01-01T00:00:00.000Z",
    })
}

#[test]
fn what_a_later_version_wrote_inside_a_record_is_refused_from_callers_and_kept_from_stores() {
    let media = json!({
        "type": "media", "kind": "image", "mimeType": "image/png", "filename": "a.png", "trustTier": "t",
        "modalityHazard": "h", "duration": 1.5,
    });
    let changes: [(&str, Value); 6] = [
        ("/results/encoding", json!({ "name": "utf-8", "ratio": 0.5 })),
        ("/results", media.clone()),
        ("/results", json!([media])),
        ("/outcome", json!("partiallyDone")),
        ("/label", json!({ "tier": "user", "zone": "x" })),
        ("/label", json!({ "tier": "guest" })),
    ];
    for (place, value) in changes {
        let mut record = foreign();
        match record.pointer_mut(place) {
            Some(present) => *present = value,
            None => {
                let (parent, name) = place.rsplit_once('/').unwrap();
                record.pointer_mut(parent).unwrap()[name] = value;
            }
        }
        assert!(!ToolCall::is_tool_call(&record), "{place}");
        let read: ToolCall = json::from_str(&record.to_string()).unwrap();
        assert_eq!(
            json::read(&serde_json::to_string(&read).unwrap()).unwrap(),
            json::read(&record.to_string()).unwrap()
        );
    }
    let mut record = foreign();
    record["label"] = json!({ "tier": "guest" });
    let read: ToolCall = json::from_str(&record.to_string()).unwrap();
    assert_eq!(read.label(), None, "a label that is not understood gives no authority");
}

#[test]
fn a_foreign_record_with_arguments_that_are_no_object_is_read() {
    let mut record = foreign();
    record["args"] = json!([1, 2]);
    assert!(!ToolCall::is_tool_call(&record));
    let read: ToolCall = json::from_str(&record.to_string()).unwrap();
    assert_eq!(read.args()["$raw"], json!([1, 2]));
    assert!(!read.is_intact());
}

#[test]
fn a_record_may_be_nested_in_a_type_that_serde_buffers() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "kind")]
    enum Tagged {
        Call { call: ToolCall },
    }
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Flat {
        #[serde(flatten)]
        inner: Inner,
    }
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Inner {
        call: ToolCall,
    }
    #[derive(Deserialize)]
    #[serde(tag = "kind")]
    enum Holder {
        Raw { raw: RawToolCall },
    }
    let args = json!({ "n": 1.5, "m": 7, "big": 1e300, "deep": [{ "x": -0.25 }] });
    let mut record = foreign();
    record["checksum"] = json!(checksum("weather", &args));
    record["args"] = args;
    let call: ToolCall = json::from_str(&record.to_string()).unwrap();
    assert!(call.is_intact());
    let tagged = Tagged::Call { call: call.clone() };
    assert_eq!(serde_json::from_str::<Tagged>(&serde_json::to_string(&tagged).unwrap()).unwrap(), tagged);
    let flat = Flat { inner: Inner { call } };
    assert_eq!(serde_json::from_str::<Flat>(&serde_json::to_string(&flat).unwrap()).unwrap(), flat);

    let text = json!({ "kind": "Raw", "raw": record }).to_string();
    let Holder::Raw { raw } = serde_json::from_str(&text).unwrap();
    assert!(ToolCall::new(raw).is_ok());
}

#[test]
fn a_value_that_another_build_parsed_becomes_what_this_kit_reads() {
    for text in ["{\"n\":1e400}", "{\"n\":18446744073709551616}", "{\"n\":1.10}", "{\"n\":1E2}"] {
        // Without `arbitrary_precision` the first of them is no value at all.
        let Ok(value) = serde_json::from_str::<Value>(text) else { continue };
        let (given, read) = (Args::from_value(value), Args::read(text));
        assert_eq!(given.defect().is_some(), read.defect().is_some(), "{text}");
        if read.defect().is_none() {
            assert_eq!(given, read, "{text}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_type_that_serde_buffers_gets_its_numbers_in_every_build() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(untagged)]
    enum Amount {
        Exact(f64),
        Text(String),
    }
    #[derive(Deserialize, JsonSchema)]
    struct Inner {
        ratio: f64,
        count: u64,
    }
    #[derive(Deserialize, JsonSchema)]
    struct Outer {
        amount: Amount,
        #[serde(flatten)]
        inner: Inner,
    }
    let show = |outer: Outer| async move {
        let amount = match outer.amount {
            Amount::Exact(amount) => amount.to_string(),
            Amount::Text(text) => text,
        };
        Ok(format!("{amount} {} {}", outer.inner.ratio, outer.inner.count))
    };
    let args = r#"{"amount":1.5,"ratio":1e16,"count":18446744073709551615}"#;
    let output = run(show, args).await.unwrap();
    assert_eq!(output.as_text().unwrap(), "1.5 10000000000000000 18446744073709551615");
}

#[test]
fn a_call_with_a_reserved_key_is_stored_as_text_and_reads_back_the_same() {
    for sent in
        [r#"{"x":{"$serde_json::private::Number":"1"}}"#, r#"{"$serde_json::private::RawValue":"[1]"}"#]
    {
        let args = Args::read(sent);
        assert_eq!(args.object()["$raw"], sent);
        let announced = TurnToolCallContent::announce(call_id("c1"), "pay", args, at(0));
        let settlement = Settlement::error(at(1), Outcome::NotRun, "refused", Label::default());
        let call = ToolCall::settle(&announced, settlement);
        let read: ToolCall = json::from_str(&serde_json::to_string(&call).unwrap()).unwrap();
        assert_eq!(read, call);
        assert!(read.is_intact());
    }
    let quoted = r#"{"a":{"q\"$serde_json::private::Number":"1"}}"#;
    assert_eq!(Args::read(quoted).defect(), None, "a key that only ends like it is a key like any other");
}
