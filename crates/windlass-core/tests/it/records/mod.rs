//! Records: every rule on its own row, and the three ways in agree about each.

mod identity;
mod media;
mod memory;
mod message;
mod references;
mod retrievable;
mod thought;
mod tokenizable;
mod tool_call;
mod tool_call_content;
mod tool_message;

use std::fmt::Debug;

use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use windlass_core::{
    Code, Error, Identity, Media, Memory, Message, Retrievable, Thought, ToolCall, ToolMessage,
    TurnToolCallContent, json,
};
use windlass_core::{
    RawIdentity, RawMedia, RawMemory, RawMessage, RawRetrievable, RawThought, RawToolCall, RawToolMessage,
    RawTurnToolCallContent,
};

use crate::support::json_value;

/// What all records have in common.
trait Record: Sized + Debug + PartialEq + Serialize + DeserializeOwned {
    type Raw: Debug + Clone + Serialize + DeserializeOwned;
    const CODE: Code;

    /// A record without a fault.
    fn valid() -> Value;
    fn read(value: &Value) -> Result<Self, Error>;
    fn build(raw: Self::Raw) -> Result<Self, Error>;
    fn is_one(value: &Value) -> bool;
    fn schema() -> Value;
}

macro_rules! record {
    ($record:ident, $raw:ident, $code:ident, $guard:ident, $valid:path) => {
        record!($record, $raw, $code, $guard, $valid, new);
    };
    ($record:ident, $raw:ident, $code:ident, $guard:ident, $valid:path, $new:ident) => {
        impl Record for $record {
            type Raw = $raw;
            const CODE: Code = Code::$code;

            fn valid() -> Value {
                $valid()
            }

            fn read(value: &Value) -> Result<Self, Error> {
                let borrowed = $record::try_from(value);
                assert_eq!(borrowed.as_ref().ok(), $record::try_from(value.clone()).as_ref().ok());
                borrowed
            }

            fn build(raw: $raw) -> Result<Self, Error> {
                let built = $record::$new(raw.clone());
                assert_eq!(built.as_ref().ok(), $record::try_from(raw).as_ref().ok());
                built
            }

            fn is_one(value: &Value) -> bool {
                $record::$guard(value)
            }

            fn schema() -> Value {
                $record::schema().to_value()
            }
        }
    };
}

record!(ToolCall, RawToolCall, InvalidToolCall, is_tool_call, tool_call::valid);
record!(
    TurnToolCallContent,
    RawTurnToolCallContent,
    InvalidToolCallContent,
    is_turn_tool_call_content,
    tool_call_content::completed
);
record!(ToolMessage, RawToolMessage, InvalidToolMessage, is_tool_message, tool_message::valid);
record!(Message, RawMessage, InvalidMessage, is_message, message::valid);
record!(Thought, RawThought, InvalidThought, is_thought, thought::valid);
record!(Memory, RawMemory, InvalidMemory, is_memory, memory::valid);
record!(Retrievable, RawRetrievable, InvalidRetrievable, is_retrievable, retrievable::valid);
record!(Identity, RawIdentity, InvalidIdentity, is_identity, identity::valid);
// A medium is made of its raw form and a source of bytes; the rules of its metadata are those of `try_from`.
record!(Media, RawMedia, InvalidMedia, is_media, media::valid, try_from);

/// One change to a record.
#[derive(Clone, Debug)]
enum Edit {
    Set(&'static str, Value),
    Remove(&'static str),
}

fn set(field: &'static str, value: impl Serialize) -> Edit {
    Edit::Set(field, json!(value))
}

fn remove(field: &'static str) -> Edit {
    Edit::Remove(field)
}

fn edited(mut record: Value, edits: &[Edit]) -> Value {
    let map = record.as_object_mut().unwrap();
    for edit in edits {
        match edit {
            Edit::Set(field, value) => drop(map.insert((*field).to_owned(), value.clone())),
            Edit::Remove(field) => drop(map.remove(*field)),
        }
    }
    record
}

/// Where a record is wrong, sorted; empty if it is not.
fn pointers<R: Record>(result: &Result<R, Error>) -> Vec<String> {
    match result {
        Ok(_) => Vec::new(),
        Err(error) => {
            assert_eq!(error.code(), R::CODE);
            let mut pointers: Vec<_> =
                error.problems().iter().map(|problem| problem.pointer.clone()).collect();
            assert!(!pointers.is_empty(), "{error}");
            pointers.sort();
            pointers
        }
    }
}

/// Reads a value in the three strict ways, and asserts that they agree.
fn verdict<R: Record>(value: &Value) -> Vec<String> {
    let read = R::read(value);
    assert_eq!(R::is_one(value), read.is_ok(), "{value}");
    let found = pointers(&read);
    // A derived reader also takes the fields of a struct as an array; no record is written like that.
    if !value.is_object() {
        return found;
    }
    match serde_json::from_value::<R::Raw>(value.clone()) {
        Ok(raw) => {
            let built = R::build(raw);
            assert_eq!(pointers(&built), found, "{value}");
            assert_eq!(built.ok(), read.ok(), "{value}");
        }
        Err(error) => assert!(read.is_err(), "the raw form of {value} does not read: {error}"),
    }
    found
}

/// Applies each row's edits to a valid record and compares where that is wrong.
#[track_caller]
fn check<R: Record>(rows: &[(&[Edit], &[&str])]) {
    for (edits, expected) in rows {
        assert_eq!(verdict::<R>(&edited(R::valid(), edits)), *expected, "{edits:?}");
    }
}

/// Removes each required field on its own, and all of them at once.
#[track_caller]
fn check_required<R: Record>(fields: &[&'static str]) {
    let pointer = |field: &&str| format!("/{field}");
    for field in fields {
        assert_eq!(verdict::<R>(&edited(R::valid(), &[remove(field)])), [pointer(field)]);
    }
    let mut all: Vec<_> = fields.iter().map(pointer).collect();
    all.sort();
    let edits: Vec<_> = fields.iter().copied().map(remove).collect();
    assert_eq!(pointers(&R::read(&edited(R::valid(), &edits))), all);
}

fn stored<R: Record>(value: &Value) -> R {
    json::from_str(&value.to_string()).unwrap()
}

/// A record that is written and read again is the same record, and its JSON the same JSON.
#[track_caller]
fn check_round_trip<R: Record>(record: &R) {
    let text = serde_json::to_string(record).unwrap();
    let back: R = serde_json::from_str(&text).unwrap();
    assert_eq!(&back, record);
    assert_eq!(&json::from_str::<R>(&text).unwrap(), record);
    assert_eq!(serde_json::to_string(&back).unwrap(), text);
    let value = serde_json::to_value(record).unwrap();
    assert_eq!(&serde_json::from_value::<R>(value.clone()).unwrap(), record);
    assert_eq!(&R::read(&value).unwrap(), record);
}

/// Fields of other versions are refused by whoever builds a record and kept by whoever stores one.
#[track_caller]
fn check_unknown_fields<R: Record>() {
    let foreign = json!({ "nested": [1, 2.5, u64::MAX, null] });
    let value = edited(R::valid(), &[set("x-later/version~1", &foreign)]);
    assert_eq!(verdict::<R>(&value), ["/x-later~1version~01"]);
    let record: R = stored(&value);
    let written = serde_json::to_value(&record).unwrap();
    assert_eq!(written["x-later/version~1"], foreign);
    assert_eq!(stored::<R>(&written), record);
    assert_ne!(record, R::read(&R::valid()).unwrap());
}

/// Names and the required list of a schema, both sorted.
fn outline<R: Record>() -> (Vec<String>, Vec<String>) {
    let schema = R::schema();
    assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)));
    let mut properties: Vec<_> = schema["properties"].as_object().unwrap().keys().cloned().collect();
    let mut required: Vec<String> = serde_json::from_value(schema["required"].clone()).unwrap();
    properties.sort();
    required.sort();
    (properties, required)
}

fn artifact() -> Value {
    json!({
        "type": "artifact", "artifactType": "text", "byteLength": 6, "lineCount": 1,
        "digest": "e0b6feaa14a993179f474568e2c0a63075752fe3a8bc629bc0cd1442a002448e",
    })
}

fn media() -> Value {
    json!({
        "type": "media", "kind": "image", "mimeType": "image/png", "filename": "map.png",
        "trustTier": "third-party-public", "modalityHazard": "extractable-instructions",
    })
}

/// A valid record with one field, known or not, replaced by anything.
fn nearly<R: Record>() -> impl Strategy<Value = Value> {
    let fields: Vec<String> =
        R::valid().as_object().unwrap().keys().cloned().chain(["x".to_owned()]).collect();
    (proptest::sample::select(fields), json_value()).prop_map(|(field, value)| {
        let mut record = R::valid();
        record[field] = value;
        record
    })
}

proptest! {
    #[test]
    fn no_value_makes_a_guard_panic_or_disagree(value in json_value()) {
        prop_assert!(!verdict::<ToolCall>(&value).is_empty());
        prop_assert!(!verdict::<TurnToolCallContent>(&value).is_empty());
        prop_assert!(!verdict::<ToolMessage>(&value).is_empty());
        prop_assert!(!verdict::<Message>(&value).is_empty());
        prop_assert!(!verdict::<Thought>(&value).is_empty());
        prop_assert!(!verdict::<Memory>(&value).is_empty());
        prop_assert!(!verdict::<Retrievable>(&value).is_empty());
        prop_assert!(!verdict::<Media>(&value).is_empty());
        prop_assert!(!verdict::<Identity>(&value).is_empty());
    }

    #[test]
    fn one_strange_field_does_not_make_the_ways_in_disagree(
        call in nearly::<ToolCall>(),
        content in nearly::<TurnToolCallContent>(),
        answer in nearly::<ToolMessage>(),
        message in nearly::<Message>(),
    ) {
        verdict::<ToolCall>(&call);
        verdict::<TurnToolCallContent>(&content);
        verdict::<ToolMessage>(&answer);
        verdict::<Message>(&message);
    }

    #[test]
    fn one_strange_field_does_not_make_them_disagree_about_the_others_either(
        thought in nearly::<Thought>(),
        memory in nearly::<Memory>(),
        retrievable in nearly::<Retrievable>(),
        media in nearly::<Media>(),
        identity in nearly::<Identity>(),
    ) {
        verdict::<Thought>(&thought);
        verdict::<Memory>(&memory);
        verdict::<Retrievable>(&retrievable);
        verdict::<Media>(&media);
        verdict::<Identity>(&identity);
    }
}

#[test]
fn what_is_no_object_is_no_record() {
    for value in [json!(null), json!(true), json!(7), json!("{}"), json!([])] {
        assert_eq!(verdict::<ToolCall>(&value), [""]);
        assert_eq!(verdict::<TurnToolCallContent>(&value), [""]);
        assert_eq!(verdict::<ToolMessage>(&value), [""]);
        assert_eq!(verdict::<Message>(&value), [""]);
        assert_eq!(verdict::<Thought>(&value), [""]);
        assert_eq!(verdict::<Memory>(&value), [""]);
        assert_eq!(verdict::<Retrievable>(&value), [""]);
        assert_eq!(verdict::<Media>(&value), [""]);
        assert_eq!(verdict::<Identity>(&value), [""]);
    }
}

#[test]
fn the_error_says_which_record_it_is() {
    fn first_line<R: Record>() -> String {
        R::read(&Value::Null).unwrap_err().to_string().lines().next().unwrap().to_owned()
    }
    let lines = [
        first_line::<ToolCall>(),
        first_line::<TurnToolCallContent>(),
        first_line::<ToolMessage>(),
        first_line::<Message>(),
        first_line::<Thought>(),
        first_line::<Memory>(),
        first_line::<Retrievable>(),
        first_line::<Media>(),
        first_line::<Identity>(),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r"
    E_INVALID_INITIAL_TOOL_CALL_VALUE: this is no valid ToolCall; correct what is listed
    E_INVALID_INITIAL_TURN_TOOL_CALL_CONTENT_VALUE: this is no valid TurnToolCallContent; correct what is listed
    E_INVALID_INITIAL_TOOL_MESSAGE_VALUE: this is no valid ToolMessage; correct what is listed
    E_INVALID_INITIAL_MESSAGE_VALUE: this is no valid Message; correct what is listed
    E_INVALID_INITIAL_THOUGHT_VALUE: this is no valid Thought; correct what is listed
    E_INVALID_INITIAL_MEMORY_VALUE: this is no valid Memory; correct what is listed
    E_INVALID_INITIAL_RETRIEVABLE_VALUE: this is no valid Retrievable; correct what is listed
    E_INVALID_INITIAL_MEDIA_VALUE: this is no valid Media; correct what is listed
    E_INVALID_INITIAL_IDENTITY_VALUE: this is no valid Identity; correct what is listed
    ");
}

#[test]
fn null_is_not_the_same_as_absent() {
    for field in
        ["fromArtifactTool", "inline", "effectiveChecksum", "operationId", "resultDigest", "outcome", "label"]
    {
        check::<ToolCall>(&[(&[set(field, Value::Null)], &[&format!("/{field}")])]);
    }
    for field in ["results", "completedAt"] {
        check::<TurnToolCallContent>(&[(&[set(field, Value::Null)], &[&format!("/{field}")])]);
    }
    for field in ["toolName", "isError", "timestamp"] {
        check::<ToolMessage>(&[(&[set(field, Value::Null)], &[&format!("/{field}")])]);
    }
    for field in ["content", "attachments"] {
        check::<Message>(&[(&[set(field, Value::Null)], &[&format!("/{field}")])]);
    }
    let replay = [set("payload", "gAAAA"), set("replayTag", "t")];
    for field in ["payload", "replayTag", "label"] {
        let edits: Vec<_> = replay.iter().cloned().chain([set(field, Value::Null)]).collect();
        check::<Thought>(&[(&edits, &[&format!("/{field}")])]);
    }
    check::<Memory>(&[(&[set("label", Value::Null)], &["/label"])]);
    for field in ["kind", "score", "inline"] {
        check::<Retrievable>(&[(&[set(field, Value::Null)], &[&format!("/{field}")])]);
    }
    for field in ["digest", "byteLength"] {
        check::<Media>(&[(&[set(field, Value::Null)], &[&format!("/{field}")])]);
    }
}

#[test]
fn no_schema_offers_null_for_a_field() {
    for schema in [
        ToolCall::schema(),
        TurnToolCallContent::schema(),
        ToolMessage::schema(),
        Message::schema(),
        Thought::schema(),
        Memory::schema(),
        Retrievable::schema(),
        Media::schema(),
        Identity::schema(),
    ] {
        let properties = schema.to_value()["properties"].to_string();
        assert!(!properties.contains("\"null\""), "{properties}");
    }
}
