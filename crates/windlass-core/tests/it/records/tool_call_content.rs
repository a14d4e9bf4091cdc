use serde_json::{Value, json};
use windlass_core::record::Settlement;
use windlass_core::trust::Label;
use windlass_core::{
    Args, ArtifactRef, Outcome, RawTurnToolCallContent, ToolCall, ToolResults, TurnToolCallContent,
};

use super::{
    Edit, artifact, check, check_required, check_round_trip, check_unknown_fields, edited, media, outline,
    remove, set, stored, verdict,
};
use crate::support::{at, call_id};

const OTHER_CHECKSUM: &str = "43c45f159e6bc444fb3a7f726001d821ef9ffac6fc431d67127709db92b65219";

fn announced() -> Value {
    json!({
        "id": "call_abc123",
        "tool": "search",
        "args": { "query": "hello" },
        "checksum": "e0b6feaa14a993179f474568e2c0a63075752fe3a8bc629bc0cd1442a002448e",
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T00:00:00.000Z",
        "isComplete": false,
        "isError": false,
    })
}

pub(super) fn completed() -> Value {
    edited(
        announced(),
        &[
            set("updatedAt", "2026-01-01T00:00:01.500Z"),
            set("isComplete", true),
            set("results", artifact()),
            set("completedAt", "2026-01-01T00:00:01.500Z"),
        ],
    )
}

#[track_caller]
fn check_announced(rows: &[(&[Edit], &[&str])]) {
    for (edits, expected) in rows {
        assert_eq!(verdict::<TurnToolCallContent>(&edited(announced(), edits)), *expected, "{edits:?}");
    }
}

#[test]
fn every_required_field_is_required() {
    let fields = ["id", "tool", "args", "checksum", "createdAt", "updatedAt", "isComplete", "isError"];
    check_required::<TurnToolCallContent>(&fields);
}

#[test]
fn results_and_completion_time_are_there_exactly_once_the_call_is_complete() {
    check::<TurnToolCallContent>(&[
        (&[], &[]),
        (&[remove("results")], &["/results"]),
        (&[remove("completedAt")], &["/completedAt"]),
        (&[remove("results"), remove("completedAt")], &["/completedAt", "/results"]),
        (&[set("isComplete", false)], &["/completedAt", "/results"]),
        (&[set("results", 7)], &["/results"]),
        (&[set("completedAt", "soon")], &["/completedAt"]),
    ]);
    check_announced(&[
        (&[], &[]),
        (&[set("results", artifact())], &["/results"]),
        (&[set("results", 7)], &["/results"]),
        (&[set("results", Value::Null)], &["/results"]),
        (&[set("completedAt", 5)], &["/completedAt"]),
        (&[set("completedAt", Value::Null)], &["/completedAt"]),
        (&[set("isError", true)], &["/isError"]),
        (&[set("isComplete", true)], &["/completedAt", "/results"]),
        (&[set("isComplete", Value::Null)], &["/isComplete"]),
        (&[set("isError", "no")], &["/isError"]),
    ]);
}

#[test]
fn results_are_references_or_a_text() {
    check::<TurnToolCallContent>(&[
        (&[set("results", json!([artifact(), artifact()]))], &[]),
        (&[set("results", media())], &[]),
        (&[set("results", json!([media()]))], &[]),
        (&[set("results", "it broke"), set("isError", true)], &[]),
        (&[set("results", "four lines")], &[]),
        (&[set("results", json!([]))], &["/results"]),
        (&[set("results", json!([artifact(), media()]))], &["/results"]),
        (&[set("results", true)], &["/results"]),
    ]);
}

#[test]
fn an_empty_list_built_in_code_is_refused_like_one_that_was_read() {
    for results in [ToolResults::Artifacts([].into()), ToolResults::MediaList([].into())] {
        let raw: RawTurnToolCallContent = serde_json::from_value(completed()).unwrap();
        let error =
            TurnToolCallContent::new(RawTurnToolCallContent { results: Some(results), ..raw }).unwrap_err();
        assert_eq!(error.problems().iter().map(|p| p.pointer.as_str()).collect::<Vec<_>>(), ["/results"]);
    }
}

#[test]
fn identity_is_checked_like_that_of_a_record() {
    check_announced(&[
        (&[set("id", "")], &["/id"]),
        (&[set("id", 7)], &["/id"]),
        (&[set("tool", "")], &["/checksum", "/tool"]),
        (&[set("tool", "other")], &["/checksum"]),
        (&[set("args", r#"{"query":"hello"}"#)], &[]),
        (&[set("args", "hello")], &["/args"]),
        (&[set("args", json!([]))], &["/args"]),
        (&[set("args", json!({}))], &["/checksum"]),
        (&[set("checksum", OTHER_CHECKSUM)], &["/checksum"]),
        (&[set("checksum", OTHER_CHECKSUM.to_uppercase())], &["/checksum"]),
        (&[set("createdAt", "today"), set("updatedAt", 1.5)], &["/createdAt", "/updatedAt"]),
    ]);
    let foreign: TurnToolCallContent = stored(&edited(announced(), &[set("checksum", OTHER_CHECKSUM)]));
    assert_eq!(foreign.checksum().to_string(), OTHER_CHECKSUM);
}

#[test]
fn unknown_fields_are_refused_by_constructors_and_kept_by_storage() {
    check_unknown_fields::<TurnToolCallContent>();
}

#[test]
fn what_is_written_reads_back_as_the_same_emission() {
    check_round_trip(&TurnToolCallContent::try_from(announced()).unwrap());
    check_round_trip(&TurnToolCallContent::try_from(completed()).unwrap());
}

#[test]
fn a_call_is_announced_and_then_completed_under_the_same_names() {
    let args = Args::read(r#"{"query":"hello"}"#);
    let announcement = TurnToolCallContent::announce(call_id("call_abc123"), "search", args, at(0));
    assert_eq!(serde_json::to_value(&announcement).unwrap(), announced());
    assert_eq!((announcement.is_complete(), announcement.is_error()), (false, false));
    assert_eq!((announcement.results(), announcement.completed_at()), (None, None));

    let found = ArtifactRef::describe("text", b"a\nb");
    let settlement =
        Settlement::produced(at(1500), ToolResults::Artifact(found.clone()), Label::default()).unwrap();
    let completion = ToolCall::settle(&announcement, settlement).to_content();
    assert_eq!(serde_json::to_value(&completion).unwrap(), edited(completed(), &[set("results", &found)]),);
    assert_eq!(completion.id(), announcement.id());
    assert_eq!(completion.checksum(), announcement.checksum());
    assert_eq!(completion.created_at(), announcement.created_at());
    assert!(completion.updated_at() >= announcement.updated_at());
}

#[test]
fn a_failed_call_is_completed_with_the_detail() {
    let announcement = TurnToolCallContent::announce(call_id("c1"), "search", Args::read("{broken"), at(0));
    let settlement = Settlement::error(at(0), Outcome::NotRun, "no object", Label::default());
    let completion = ToolCall::settle(&announcement, settlement).to_content();
    assert_eq!(
        serde_json::to_value(&completion).unwrap(),
        edited(
            serde_json::to_value(&announcement).unwrap(),
            &[
                set("isComplete", true),
                set("isError", true),
                set("results", "no object"),
                set("completedAt", "2026-01-01T00:00:00.000Z"),
            ],
        ),
    );
    assert_eq!(completion.args()["$raw"], "{broken");
}

#[test]
fn a_call_without_a_tool_name_can_still_be_answered() {
    let announcement = TurnToolCallContent::announce(call_id("c1"), "", Args::read("{}"), at(0));
    assert_eq!(announcement.tool(), TurnToolCallContent::UNNAMED);
    let value = serde_json::to_value(&announcement).unwrap();
    assert_eq!(verdict::<TurnToolCallContent>(&value), Vec::<String>::new());
}

#[test]
fn the_schema_names_every_field() {
    let (properties, required) = outline::<TurnToolCallContent>();
    let always = ["args", "checksum", "createdAt", "id", "isComplete", "isError", "tool", "updatedAt"];
    assert_eq!(required, always);
    let mut all: Vec<_> = always.into_iter().chain(["results", "completedAt"]).collect();
    all.sort_unstable();
    assert_eq!(properties, all);
}
