use serde_json::{Value, json};
use windlass_core::json::MAX_DEPTH;
use windlass_core::trust::Tier;
use windlass_core::{RawThought, Thought};

use super::{
    Edit, check, check_required, check_round_trip, check_unknown_fields, edited, outline, remove, set,
    stored, verdict,
};
use crate::support::at;

pub(super) fn valid() -> Value {
    json!({
        "id": "th_1",
        "content": "The user wants the weather, so I need a city.",
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T00:00:01.500Z",
    })
}

fn payload() -> Edit {
    set("payload", json!({ "signature": "EqQB", "index": u64::MAX }))
}

fn tag() -> Edit {
    set("replayTag", "anthropic-messages")
}

#[test]
fn every_required_field_is_required() {
    check_required::<Thought>(&["id", "content", "createdAt", "updatedAt"]);
}

#[test]
fn each_field_has_its_rule() {
    check::<Thought>(&[
        (&[], &[]),
        (&[set("id", "")], &["/id"]),
        (&[set("id", 7)], &["/id"]),
        (&[set("content", 7)], &["/content"]),
        (&[set("content", Value::Null)], &["/content"]),
        (&[set("createdAt", 1_767_225_600_000_i64), set("updatedAt", "2026-01-01T01:00:00+01:00")], &[]),
        (&[set("createdAt", "today")], &["/createdAt"]),
        (&[set("updatedAt", 0.5)], &["/updatedAt"]),
        (&[set("label", json!({ "tier": "developer", "source": "planner" }))], &[]),
        (&[set("label", "developer")], &["/label"]),
        (
            &[set("id", ""), set("content", ""), tag(), remove("createdAt"), set("label", 7)],
            &["/content", "/createdAt", "/id", "/label", "/replayTag"],
        ),
    ]);
}

#[test]
fn a_payload_and_its_tag_come_together() {
    check::<Thought>(&[
        (&[payload(), tag()], &[]),
        (&[payload()], &["/replayTag"]),
        (&[tag()], &["/replayTag"]),
        (&[payload(), set("replayTag", "")], &["/replayTag"]),
        (&[payload(), set("replayTag", 7)], &["/replayTag"]),
        (&[set("payload", Value::Null), tag()], &["/payload"]),
        (&[set("payload", Value::Null)], &["/payload", "/replayTag"]),
        (&[set("payload", "gAAAA"), tag()], &[]),
        (&[set("payload", ""), tag()], &[]),
        (&[set("payload", false), tag()], &[]),
        (&[set("payload", json!([])), tag()], &[]),
    ]);
}

#[test]
fn content_is_empty_only_beside_a_payload() {
    check::<Thought>(&[
        (&[set("content", "")], &["/content"]),
        (&[set("content", " ")], &[]),
        (&[set("content", ""), payload(), tag()], &[]),
        (&[set("content", ""), payload()], &["/replayTag"]),
        (&[set("content", ""), tag()], &["/content", "/replayTag"]),
        (&[remove("content"), payload(), tag()], &["/content"]),
    ]);
}

#[test]
fn a_payload_may_be_as_deep_as_what_a_model_sends_and_no_deeper() {
    let nested = |depth: usize| (1..depth).fold(json!([]), |inner, _| Value::Array(vec![inner]));
    let deep = |depth| edited(valid(), &[set("payload", nested(depth)), tag()]);
    assert_eq!(verdict::<Thought>(&deep(MAX_DEPTH)), Vec::<String>::new());
    let thought: Thought = stored(&deep(MAX_DEPTH));
    assert_eq!(stored::<Thought>(&serde_json::to_value(&thought).unwrap()), thought);
    assert_eq!(verdict::<Thought>(&deep(MAX_DEPTH + 1)), ["/payload"]);
    let raw: RawThought = serde_json::from_value(valid()).unwrap();
    let bottomless = RawThought { payload: Some(nested(3_000)), replay_tag: Some("t".into()), ..raw };
    assert_eq!(Thought::new(bottomless).unwrap_err().problems()[0].pointer, "/payload");
}

#[test]
fn a_valid_thought_has_its_values() {
    let whole = edited(valid(), &[payload(), tag(), set("label", json!({ "tier": "user" }))]);
    let thought = Thought::try_from(&whole).unwrap();
    assert_eq!(serde_json::to_value(&thought).unwrap(), whole);
    assert_eq!(thought.id(), "th_1");
    assert_eq!(thought.content(), "The user wants the weather, so I need a city.");
    assert_eq!(thought.replay(), Some(("anthropic-messages", &whole["payload"])));
    assert_eq!((thought.created_at(), thought.updated_at()), (at(0), at(1500)));
    assert_eq!(thought.label().map(|label| label.tier), Some(Tier::User));
    let plain = Thought::try_from(valid()).unwrap();
    assert_eq!((plain.replay(), plain.label()), (None, None));
    assert_eq!(serde_json::to_value(&plain).unwrap(), valid());
}

#[test]
fn a_label_of_another_version_is_kept_and_trusted_no_more_than_none() {
    let foreign = json!({ "tier": "king" });
    let thought: Thought = stored(&edited(valid(), &[set("label", &foreign)]));
    assert_eq!(thought.label(), None);
    assert_eq!(serde_json::to_value(&thought).unwrap()["label"], foreign);
}

#[test]
fn unknown_fields_are_refused_by_constructors_and_kept_by_storage() {
    check_unknown_fields::<Thought>();
}

#[test]
fn what_is_written_reads_back_as_the_same_thought() {
    check_round_trip(&Thought::try_from(valid()).unwrap());
    let replayed = edited(valid(), &[set("content", ""), payload(), tag()]);
    check_round_trip(&Thought::try_from(replayed).unwrap());
}

#[test]
fn the_schema_names_every_field() {
    let (properties, required) = outline::<Thought>();
    assert_eq!(required, ["content", "createdAt", "id", "updatedAt"]);
    assert_eq!(properties, ["content", "createdAt", "id", "label", "payload", "replayTag", "updatedAt"]);
    let schema = Thought::schema().to_value();
    assert_eq!(schema["properties"]["replayTag"]["minLength"], json!(1));
    assert_eq!(schema["properties"]["content"].get("minLength"), None);
}
