use serde_json::{Value, json};
use windlass_core::record::Settlement;
use windlass_core::trust::Label;
use windlass_core::{Args, Outcome, ToolCall, ToolMessage, TurnToolCallContent};

use super::{check, check_required, check_round_trip, check_unknown_fields, edited, outline, remove, set};
use crate::support::{EPOCH_MILLIS, at, call_id};

pub(super) fn valid() -> Value {
    json!({
        "role": "tool",
        "tool_call_id": "call_abc123",
        "content": "72°F and sunny",
        "toolName": "weather",
        "isError": false,
        "timestamp": EPOCH_MILLIS,
    })
}

#[test]
fn every_required_field_is_required() {
    check_required::<ToolMessage>(&["role", "tool_call_id", "content"]);
}

#[test]
fn each_field_has_its_rule() {
    check::<ToolMessage>(&[
        (&[], &[]),
        (&[remove("toolName")], &[]),
        (&[remove("isError")], &[]),
        (&[remove("timestamp")], &[]),
        (&[remove("toolName"), remove("isError"), remove("timestamp")], &[]),
        (&[set("role", "user")], &["/role"]),
        (&[set("role", "Tool")], &["/role"]),
        (&[set("role", 1)], &["/role"]),
        (&[set("tool_call_id", "")], &["/tool_call_id"]),
        (&[set("tool_call_id", Value::Null)], &["/tool_call_id"]),
        (&[set("content", "")], &[]),
        (&[set("content", Value::Null)], &["/content"]),
        (&[set("content", json!([{ "type": "text", "text": "hi" }]))], &["/content"]),
        (&[set("content", json!({ "a": 1 }))], &["/content"]),
        (&[set("toolName", "")], &["/toolName"]),
        (&[set("toolName", 7)], &["/toolName"]),
        (&[set("isError", "false")], &["/isError"]),
        (&[set("timestamp", "2026-01-01T00:00:00Z")], &["/timestamp"]),
        (&[set("timestamp", 1.5)], &["/timestamp"]),
        (&[set("timestamp", i64::MAX)], &["/timestamp"]),
        (&[set("timestamp", u64::MAX)], &["/timestamp"]),
        (&[set("timestamp", -1)], &[]),
        (&[set("toolCallId", "call_abc123")], &["/toolCallId"]),
        (
            &[set("role", "assistant"), set("tool_call_id", ""), set("toolName", "")],
            &["/role", "/toolName", "/tool_call_id"],
        ),
    ]);
}

#[test]
fn unknown_fields_are_refused_by_constructors_and_kept_by_storage() {
    check_unknown_fields::<ToolMessage>();
}

#[test]
fn what_is_written_reads_back_as_the_same_message() {
    check_round_trip(&ToolMessage::try_from(valid()).unwrap());
    let bare = edited(valid(), &[remove("toolName"), remove("isError"), remove("timestamp")]);
    let message = ToolMessage::try_from(&bare).unwrap();
    assert_eq!((message.tool_name(), message.is_error(), message.timestamp()), (None, None, None));
    assert_eq!(serde_json::to_value(&message).unwrap(), bare);
    check_round_trip(&message);
}

#[test]
fn exactly_three_fields_cross_the_wire() {
    let message = ToolMessage::try_from(valid()).unwrap();
    assert_eq!(
        serde_json::to_string(&message.to_chat_message()).unwrap(),
        r#"{"role":"tool","tool_call_id":"call_abc123","content":"72°F and sunny"}"#,
    );
}

#[test]
fn an_answer_has_every_extension_and_the_id_of_its_call() {
    let announced = TurnToolCallContent::announce(call_id("call_7"), "weather", Args::read("{}"), at(0));
    let settlement = Settlement::error(at(250), Outcome::Failed, "no signal", Label::default());
    let call = ToolCall::settle(&announced, settlement);
    let message = call.to_message("no signal");
    assert_eq!(
        serde_json::to_value(&message).unwrap(),
        json!({
            "role": "tool", "tool_call_id": "call_7", "content": "no signal", "toolName": "weather",
            "isError": true, "timestamp": EPOCH_MILLIS + 250,
        }),
    );
    check_round_trip(&message);
}

#[test]
fn the_schema_names_every_field() {
    let (properties, required) = outline::<ToolMessage>();
    assert_eq!(required, ["content", "role", "tool_call_id"]);
    assert_eq!(properties, ["content", "isError", "role", "timestamp", "toolName", "tool_call_id"]);
    assert_eq!(ToolMessage::schema().to_value()["properties"]["role"]["const"], json!("tool"));
}
