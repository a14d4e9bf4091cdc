//! What would run, and which run it is: the hashes that approvals and handlers see.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use windlass_core::tool::{ExecutionStart, Scope};
use windlass_core::{Args, Code, Effect, Tool, canonical, tool_fn};

use crate::support::{Recorder, Trace, call_id, scope, unchecked};

#[derive(Deserialize, schemars::JsonSchema)]
struct Account {
    #[serde(rename = "number")]
    _number: u64,
}

fn transfer(name: &'static str, description: &'static str, effect: Effect) -> Tool {
    unchecked(tool_fn(name, description, effect, |_: Account| async { Ok("done") })).unwrap()
}

/// The start of a call that was run under `scope`.
async fn started_in(scope: Scope, tool: &Tool, id: &str, args: &str) -> ExecutionStart {
    let host = Arc::new(Recorder::new(&Trace::default()).within(scope));
    tool.executor(host.clone()).call_as(call_id(id), Args::read(args)).await.unwrap();
    let [start] = host.starts().try_into().unwrap();
    assert_eq!(host.asked().pop().unwrap().operation_id, start.operation_id);
    start
}

async fn started(tool: &Tool, id: &str, args: &str) -> ExecutionStart {
    started_in(scope(), tool, id, args).await
}

/// SHA-256 over the parts, each behind its length.
fn hash(parts: &[&[u8]]) -> [u8; 32] {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend((part.len() as u64).to_be_bytes());
        bytes.extend(*part);
    }
    Sha256::digest(bytes).into()
}

#[tokio::test(start_paused = true)]
async fn both_hashes_follow_the_published_formula() {
    let tool = transfer("transfer", "Moves money.", Effect::Once);
    let start = started(&tool, "call_1", r#"{"number": 9007199254740993}"#).await;
    let described = tool.describe();
    let description = canonical(&json!({
        "name": described.name, "description": described.description, "inputSchema": described.input_schema,
    }));
    let definition = hash(&[description.as_bytes(), b"once"]);
    let effective =
        hash(&[b"windlass/effective/1", b"transfer", &definition, br#"{"number":9007199254740993}"#]);
    assert_eq!(start.effective_checksum.as_bytes(), &effective);
    let Scope { session, turn } = scope();
    let operation = hash(&[
        b"windlass/operation/1",
        session.to_string().as_bytes(),
        turn.to_string().as_bytes(),
        b"call_1",
        &effective,
    ]);
    assert_eq!(start.operation_id.as_bytes(), &operation);
}

#[tokio::test(start_paused = true)]
async fn integers_that_are_one_double_are_one_question_and_two_operations() {
    let tool = transfer("transfer", "Moves money.", Effect::Once);
    let even = started(&tool, "call_1", r#"{"number":9007199254740992}"#).await;
    let odd = started(&tool, "call_1", r#"{"number":9007199254740993}"#).await;
    assert_eq!(even.call_id, odd.call_id);
    assert_ne!(even.effective_checksum, odd.effective_checksum);
    assert_ne!(even.operation_id, odd.operation_id);
}

#[tokio::test(start_paused = true)]
async fn spellings_of_one_call_are_one_operation() {
    let tool = transfer("transfer", "Moves money.", Effect::Once);
    let plain = started(&tool, "call_1", r#"{"number":100}"#).await;
    for text in [r#" { "number" : 1e2 } "#, r#"{"n\u0075mber":100.0}"#, r#""{\"number\":100}""#] {
        let other = started(&tool, "call_1", text).await;
        let hashes = |start: &ExecutionStart| (start.call_id, start.effective_checksum, start.operation_id);
        assert_eq!(hashes(&other), hashes(&plain), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn another_definition_is_another_effective_checksum_of_the_same_question() {
    let args = r#"{"number":1}"#;
    let tool = transfer("transfer", "Moves money.", Effect::Once);
    let first = started(&tool, "call_1", args).await;
    for other in [
        transfer("transfer", "Moves all money.", Effect::Once),
        transfer("transfer", "Moves money.", Effect::Idempotent),
    ] {
        let second = started(&other, "call_1", args).await;
        assert_eq!(second.call_id, first.call_id);
        assert_ne!(second.effective_checksum, first.effective_checksum);
        assert_ne!(second.operation_id, first.operation_id);
    }
}

#[tokio::test(start_paused = true)]
async fn every_call_turn_and_session_has_its_own_operation() {
    let args = r#"{"number":1}"#;
    let tool = transfer("transfer", "Moves money.", Effect::Once);
    let here = started(&tool, "call_1", args).await;
    let other = "01890a5d-ffff-774b-bcce-b302099a8057";
    let starts = [
        started(&tool, "call_2", args).await,
        started_in(Scope { session: other.parse().unwrap(), ..scope() }, &tool, "call_1", args).await,
        started_in(Scope { turn: other.parse().unwrap(), ..scope() }, &tool, "call_1", args).await,
    ];
    let mut operations = vec![here.operation_id];
    for start in starts {
        assert_eq!(start.effective_checksum, here.effective_checksum);
        assert!(!operations.contains(&start.operation_id), "{start:?}");
        operations.push(start.operation_id);
    }
    assert_eq!(started(&tool, "call_1", args).await.operation_id, here.operation_id);
}

#[derive(Deserialize, schemars::JsonSchema)]
struct One<T> {
    n: T,
}

/// What a tool with an argument of this type makes of a number: the number that its handler got.
async fn received<T>(number: &str) -> Result<String, Code>
where
    T: serde::de::DeserializeOwned + schemars::JsonSchema + ToString + Send + Sync + 'static,
{
    let echo =
        tool_fn("echo", "Says it again.", Effect::Pure, |args: One<T>| async move { Ok(args.n.to_string()) });
    let executor = unchecked(echo).unwrap().executor(Arc::new(Recorder::new(&Trace::default())));
    match executor.call(Args::read(&format!("{{\"n\":{number}}}"))).await {
        Ok(output) => Ok(output.as_text().unwrap().to_owned()),
        Err(error) => Err(error.error.code()),
    }
}

#[tokio::test(start_paused = true)]
async fn integers_of_64_bits_reach_the_handler_digit_by_digit() {
    for number in ["0", "9007199254740993", "18446744073709551615"] {
        assert_eq!(received::<u64>(number).await, Ok(number.to_owned()));
        assert_eq!(received::<u128>(number).await, Ok(number.to_owned()));
    }
    for number in ["-9223372036854775808", "-9007199254740993", "9223372036854775807"] {
        assert_eq!(received::<i64>(number).await, Ok(number.to_owned()));
        assert_eq!(received::<i128>(number).await, Ok(number.to_owned()));
    }
}

#[tokio::test(start_paused = true)]
async fn an_integer_past_64_bits_is_refused_where_an_integer_is_wanted() {
    for number in ["18446744073709551616", "99999999999999999999", "-9223372036854775809", "1e20", "1e30"] {
        assert_eq!(received::<u64>(number).await, Err(Code::InvalidToolArgs), "{number}");
        assert_eq!(received::<i64>(number).await, Err(Code::InvalidToolArgs), "{number}");
        assert_eq!(received::<u128>(number).await, Err(Code::InvalidToolArgs), "{number}");
        assert_eq!(received::<i128>(number).await, Err(Code::InvalidToolArgs), "{number}");
    }
    assert_eq!(received::<f64>("18446744073709551616").await, Ok("18446744073709552000".to_owned()));
    assert_eq!(received::<f64>("1e30").await, Ok("1000000000000000000000000000000".to_owned()));
}

#[test]
fn hashes_are_written_as_64_lower_case_digits_and_nothing_else_is_read() {
    let text = "e0b6feaa14a993179f474568e2c0a63075752fe3a8bc629bc0cd1442a002448e";
    assert_eq!(
        serde_json::to_value(text.parse::<windlass_core::Checksum>().unwrap()).unwrap(),
        Value::from(text)
    );
    for wrong in ["", &text[1..], &text.to_uppercase(), &format!("{text}0"), &text.replace('e', "g")] {
        let error = wrong.parse::<windlass_core::OperationId>().unwrap_err();
        assert_eq!(error.code(), Code::InvalidChecksum, "{wrong}");
    }
}
