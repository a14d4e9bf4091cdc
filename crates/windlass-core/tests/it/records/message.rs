use serde_json::{Value, json};
use windlass_core::{Code, Message, Role};

use super::{
    check, check_required, check_round_trip, check_unknown_fields, edited, media, outline, remove, set,
};
use crate::support::at;

pub(super) fn valid() -> Value {
    json!({
        "id": "msg_1",
        "role": "user",
        "content": "What is the weather in Oslo?",
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T00:00:00.000Z",
    })
}

#[test]
fn every_required_field_is_required() {
    check_required::<Message>(&["id", "role", "createdAt", "updatedAt"]);
}

#[test]
fn each_field_has_its_rule() {
    let attached = || set("attachments", json!([media()]));
    check::<Message>(&[
        (&[], &[]),
        (&[set("role", "assistant")], &[]),
        (&[set("role", "system")], &["/role"]),
        (&[set("role", "tool")], &["/role"]),
        (&[set("role", 1)], &["/role"]),
        (&[set("id", "")], &["/id"]),
        (&[remove("content")], &["/content"]),
        (&[set("content", "")], &["/content"]),
        (&[set("content", " ")], &[]),
        (&[set("content", 7)], &["/content"]),
        (&[remove("content"), set("attachments", json!([]))], &["/content"]),
        (&[remove("content"), attached()], &[]),
        (&[set("content", ""), attached()], &[]),
        (&[attached()], &[]),
        (&[set("attachments", media())], &["/attachments"]),
        (&[set("attachments", json!([{ "type": "media" }]))], &["/attachments"]),
        (&[remove("content"), set("attachments", 7)], &["/attachments"]),
        (&[set("createdAt", "today")], &["/createdAt"]),
        (&[set("updatedAt", Value::Null)], &["/updatedAt"]),
        (
            &[set("id", ""), set("role", ""), remove("content"), remove("createdAt")],
            &["/content", "/createdAt", "/id", "/role"],
        ),
    ]);
}

#[test]
fn unknown_fields_are_refused_by_constructors_and_kept_by_storage() {
    check_unknown_fields::<Message>();
}

#[test]
fn what_is_written_reads_back_as_the_same_message() {
    check_round_trip(&Message::try_from(valid()).unwrap());
    let attached = edited(valid(), &[set("content", ""), set("attachments", json!([media(), media()]))]);
    let message = Message::try_from(&attached).unwrap();
    assert_eq!((message.content(), message.attachments().len()), ("", 2));
    check_round_trip(&message);
}

#[test]
fn a_text_is_a_message_of_its_own() {
    let message = Message::text("msg_1", Role::User, "What is the weather in Oslo?", at(0)).unwrap();
    assert_eq!(serde_json::to_value(&message).unwrap(), valid());
    let error = Message::text("", Role::User, "", at(0)).unwrap_err();
    assert_eq!(error.code(), Code::InvalidMessage);
    let pointers: Vec<_> = error.problems().iter().map(|problem| problem.pointer.as_str()).collect();
    assert_eq!(pointers, ["/id", "/content"]);
}

#[test]
fn the_schema_names_every_field() {
    let (properties, required) = outline::<Message>();
    assert_eq!(required, ["createdAt", "id", "role", "updatedAt"]);
    assert_eq!(properties, ["attachments", "content", "createdAt", "id", "role", "updatedAt"]);
}
