use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_core::json::{self, MAX_DEPTH};
use windlass_core::record::Settlement;
use windlass_core::trust::{Label, Tier};
use windlass_core::{
    Args, ArtifactRef, Code, Outcome, RawToolCall, ToolCall, ToolResults, TurnToolCallContent, checksum,
};

use super::{
    Record, artifact, check, check_required, check_round_trip, check_unknown_fields, edited, media, outline,
    remove, set, stored, verdict,
};
use crate::support::{at, call_id, json_object};

const OTHER_CHECKSUM: &str = "43c45f159e6bc444fb3a7f726001d821ef9ffac6fc431d67127709db92b65219";

pub(super) fn valid() -> Value {
    json!({
        "id": "call_abc123",
        "tool": "search",
        "args": { "query": "hello" },
        "checksum": "e0b6feaa14a993179f474568e2c0a63075752fe3a8bc629bc0cd1442a002448e",
        "isComplete": true,
        "isError": false,
        "results": artifact(),
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T00:00:01.500Z",
        "completedAt": "2026-01-01T00:00:01.500Z",
    })
}

fn raw(value: Value) -> RawToolCall {
    serde_json::from_value(value).unwrap()
}

#[test]
fn a_valid_record_has_its_values_and_defaults() {
    let call = ToolCall::try_from(valid()).unwrap();
    assert_eq!(
        serde_json::to_value(&call).unwrap(),
        edited(valid(), &[set("fromArtifactTool", false), set("inline", true)]),
    );
    assert_eq!((call.id().as_str(), call.tool()), ("call_abc123", "search"));
    assert_eq!(Value::Object(call.args().clone()), json!({ "query": "hello" }));
    assert_eq!((call.created_at(), call.updated_at(), call.completed_at()), (at(0), at(1500), at(1500)));
    assert!(call.is_intact());
    assert_eq!(call.label(), None);
}

#[test]
fn every_required_field_is_required() {
    check_required::<ToolCall>(&[
        "id",
        "tool",
        "args",
        "checksum",
        "isComplete",
        "isError",
        "results",
        "createdAt",
        "updatedAt",
        "completedAt",
    ]);
}

#[test]
fn id_and_tool_are_texts_that_are_not_empty() {
    let renamed = checksum("t\u{0}", &json!({ "query": "hello" }));
    check::<ToolCall>(&[
        (&[set("id", "")], &["/id"]),
        (&[set("id", 7)], &["/id"]),
        (&[set("id", " x\u{0}/../☃".repeat(500))], &[]),
        (&[set("tool", ""), set("checksum", checksum("", &json!({ "query": "hello" })))], &["/tool"]),
        (&[set("tool", json!(["search"]))], &["/tool"]),
        (&[set("tool", "t\u{0}"), set("checksum", renamed)], &[]),
    ]);
}

#[test]
fn args_are_an_object_or_a_text_that_decodes_to_one() {
    let raw_checksum = checksum("search", &json!({ "$raw": "oops" }));
    check::<ToolCall>(&[
        (&[set("args", r#"{"query":"hello"}"#)], &[]),
        (&[set("args", r#" { "query" : "h\u0065llo" } "#)], &[]),
        (&[set("args", "query=hello")], &["/args"]),
        (&[set("args", r#""{\"query\":\"hello\"}""#)], &["/args"]),
        (&[set("args", r#"{"query":"hello","query":"hello"}"#)], &["/args"]),
        (&[set("args", "")], &["/args"]),
        (&[set("args", json!(["hello"]))], &["/args"]),
        (&[set("args", Value::Null)], &["/args"]),
        (&[set("args", 7)], &["/args"]),
        (&[set("args", json!({ "$raw": "oops" })), set("checksum", raw_checksum)], &[]),
    ]);
    let call = ToolCall::try_from(edited(valid(), &[set("args", r#"{"query":"hello"}"#)])).unwrap();
    assert_eq!(call, ToolCall::try_from(valid()).unwrap());
}

#[test]
fn whatever_a_model_may_send_has_room_in_a_record() {
    let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let recorded = |args: Value| {
        verdict::<ToolCall>(&edited(
            valid(),
            &[set("checksum", checksum("search", &args)), set("args", args)],
        ))
    };
    for text in [nested(MAX_DEPTH), format!("{{\"a\":{}}}", nested(MAX_DEPTH - 1))] {
        let args = Args::read(&text).object().clone();
        assert_eq!(recorded(args.into()), Vec::<String>::new(), "{text}");
    }
    let too_deep = json::from_str::<Value>(&format!("{{\"a\":{}}}", nested(MAX_DEPTH + 1))).unwrap();
    assert_eq!(recorded(too_deep), ["/args"]);
}

#[test]
fn the_checksum_is_well_formed_and_that_of_tool_and_args() {
    let right = valid()["checksum"].as_str().unwrap().to_owned();
    check::<ToolCall>(&[
        (&[set("checksum", OTHER_CHECKSUM)], &["/checksum"]),
        (&[set("tool", "other")], &["/checksum"]),
        (&[set("args", json!({ "query": "hello", "page": 2 }))], &["/checksum"]),
        (&[set("checksum", right.to_uppercase())], &["/checksum"]),
        (&[set("checksum", &right[1..])], &["/checksum"]),
        (&[set("checksum", format!("{right}0"))], &["/checksum"]),
        (&[set("checksum", format!("sha256:{right}"))], &["/checksum"]),
        (&[set("checksum", "")], &["/checksum"]),
        (&[set("checksum", 7)], &["/checksum"]),
    ]);
}

#[test]
fn a_foreign_checksum_is_taken_where_nobody_asks_for_the_comparison() {
    let foreign = edited(valid(), &[set("checksum", OTHER_CHECKSUM)]);
    assert_eq!(ToolCall::new(raw(foreign.clone())).unwrap_err().code(), Code::InvalidToolCall);
    let unverified = ToolCall::unverified(raw(foreign.clone())).unwrap();
    let read: ToolCall = stored(&foreign);
    assert_eq!(unverified, read);
    assert_eq!((read.checksum().to_string().as_str(), read.is_intact()), (OTHER_CHECKSUM, false));
    assert!(stored::<ToolCall>(&valid()).is_intact());
    let malformed = edited(valid(), &[set("checksum", "E0B6")]);
    assert!(serde_json::from_value::<ToolCall>(malformed.clone()).is_err());
    assert!(ToolCall::unverified(raw(malformed)).is_err());
}

#[test]
fn only_a_settled_call_is_a_record() {
    check::<ToolCall>(&[
        (&[set("isComplete", false)], &["/isComplete"]),
        (&[set("isComplete", "true")], &["/isComplete"]),
        (&[set("isError", 0)], &["/isError"]),
        (
            &[set("isComplete", false), set("id", ""), set("checksum", "x")],
            &["/checksum", "/id", "/isComplete"],
        ),
    ]);
}

#[test]
fn results_are_artifacts_or_media_or_a_text_where_a_text_belongs() {
    let from_artifact_tool = || set("fromArtifactTool", true);
    let is_error = || set("isError", true);
    let results = |value: Value| set("results", value);
    let mut with_digest = media();
    with_digest["digest"] = OTHER_CHECKSUM.into();
    with_digest["byteLength"] = 12.into();
    check::<ToolCall>(&[
        (&[results(artifact())], &[]),
        (&[results(json!([artifact()]))], &[]),
        (&[results(json!([artifact(), artifact()]))], &[]),
        (&[results(media())], &[]),
        (&[results(with_digest)], &[]),
        (&[results(json!([media(), media()]))], &[]),
        (&[results(json!([]))], &["/results"]),
        (&[results(json!([artifact(), media()]))], &["/results"]),
        (&[results(json!([media(), artifact()]))], &["/results"]),
        (&[results(json!([artifact(), "text"]))], &["/results"]),
        (&[results(json!(["text"])), is_error()], &["/results"]),
        (&[results("4 lines".into())], &["/results"]),
        (&[results("4 lines".into()), from_artifact_tool()], &[]),
        (&[results("".into()), from_artifact_tool()], &[]),
        (&[results("it broke".into()), is_error()], &[]),
        (&[results("it broke".into()), is_error(), from_artifact_tool()], &[]),
        (&[from_artifact_tool()], &["/results"]),
        (&[from_artifact_tool(), results(media())], &["/results"]),
        (&[from_artifact_tool(), results(json!([artifact()]))], &["/results"]),
        (&[results(Value::Null)], &["/results"]),
        (&[results(Value::Null), is_error()], &["/results"]),
        (&[results(7.into())], &["/results"]),
        (&[results(true.into())], &["/results"]),
        (&[results(json!({}))], &["/results"]),
        (&[set("fromArtifactTool", 1)], &["/fromArtifactTool"]),
        (&[set("inline", "no")], &["/inline"]),
        (&[set("inline", false)], &[]),
    ]);
}

#[test]
fn a_reference_names_its_type_and_has_every_field() {
    let without = |mut value: Value, field: &str| {
        value.as_object_mut().unwrap().remove(field);
        value
    };
    let with = |mut value: Value, field: &str, new: Value| {
        value[field] = new;
        value
    };
    for field in ["type", "artifactType", "digest", "byteLength", "lineCount"] {
        check::<ToolCall>(&[(&[set("results", without(artifact(), field))], &["/results"])]);
    }
    for field in ["type", "kind", "mimeType", "filename", "trustTier", "modalityHazard"] {
        check::<ToolCall>(&[(&[set("results", without(media(), field))], &["/results"])]);
    }
    check::<ToolCall>(&[
        (&[set("results", with(artifact(), "type", "banana".into()))], &["/results"]),
        (&[set("results", with(artifact(), "type", 7.into()))], &["/results"]),
        (&[set("results", with(artifact(), "byteLength", (-1).into()))], &["/results"]),
        (&[set("results", with(artifact(), "digest", "E0".into()))], &["/results"]),
        (&[set("results", with(artifact(), "bytes", "aGVsbG8=".into()))], &["/results"]),
        (&[set("results", with(media(), "bytes", "aGVsbG8=".into()))], &["/results"]),
    ]);
}

#[test]
fn an_empty_list_built_in_code_is_refused_like_one_that_was_read() {
    for results in [ToolResults::Artifacts([].into()), ToolResults::MediaList([].into())] {
        let error = ToolCall::new(RawToolCall { results, ..raw(valid()) }).unwrap_err();
        assert_eq!(error.problems().iter().map(|p| p.pointer.as_str()).collect::<Vec<_>>(), ["/results"]);
    }
}

#[test]
fn times_come_in_three_forms_and_go_out_in_one() {
    for (given, printed) in [
        (json!("2026-01-01T00:00:00.000Z"), "2026-01-01T00:00:00.000Z"),
        (json!("2026-01-01T00:00:00Z"), "2026-01-01T00:00:00.000Z"),
        (json!("2025-12-31T18:30:00.25-05:30"), "2026-01-01T00:00:00.250Z"),
        (json!("2026-01-01T00:00:00.123999Z"), "2026-01-01T00:00:00.123Z"),
        (json!(1_767_225_600_123_i64), "2026-01-01T00:00:00.123Z"),
        (json!(-1), "1969-12-31T23:59:59.999Z"),
    ] {
        for field in ["createdAt", "updatedAt", "completedAt"] {
            let value = edited(valid(), &[set(field, &given)]);
            assert_eq!(verdict::<ToolCall>(&value), Vec::<String>::new());
            let call = ToolCall::try_from(&value).unwrap();
            assert_eq!(serde_json::to_value(&call).unwrap()[field], printed, "{given}");
        }
    }
    for wrong in [
        json!("today"),
        json!("2026-01-01"),
        json!(""),
        json!(1.5),
        json!(u64::MAX),
        json!(true),
        json!(null),
    ] {
        for field in ["createdAt", "updatedAt", "completedAt"] {
            check::<ToolCall>(&[(&[set(field, &wrong)], &[&format!("/{field}")])]);
        }
    }
}

#[test]
fn what_goes_beyond_is_optional_and_checked() {
    check::<ToolCall>(&[
        (&[set("effectiveChecksum", OTHER_CHECKSUM)], &[]),
        (&[set("operationId", OTHER_CHECKSUM)], &[]),
        (&[set("resultDigest", OTHER_CHECKSUM)], &[]),
        (&[set("outcome", "unknown")], &[]),
        (&[set("label", json!({ "tier": "untrusted" }))], &[]),
        (&[set("label", json!({ "tier": "developer", "source": "search", "call": "call_abc123" }))], &[]),
        (&[set("effectiveChecksum", "x")], &["/effectiveChecksum"]),
        (&[set("operationId", OTHER_CHECKSUM.to_uppercase())], &["/operationId"]),
        (&[set("resultDigest", 7)], &["/resultDigest"]),
        (&[set("outcome", "maybe")], &["/outcome"]),
        (&[set("label", json!({ "tier": "trusted" }))], &["/label"]),
        (&[set("label", json!({}))], &["/label"]),
        (&[set("label", json!({ "tier": "user", "call": "" }))], &["/label"]),
    ]);
}

#[test]
fn unknown_fields_are_refused_by_constructors_and_kept_by_storage() {
    check_unknown_fields::<ToolCall>();
}

#[test]
fn everything_wrong_is_said_at_once() {
    let value = edited(
        valid(),
        &[
            remove("id"),
            set("tool", 1),
            set("args", 2),
            set("checksum", 3),
            set("isComplete", 4),
            set("isError", 5),
            set("results", 6),
            set("createdAt", "7"),
            remove("updatedAt"),
            set("completedAt", false),
            set("fromArtifactTool", 8),
            set("inline", 9),
            set("outcome", 10),
            set("extra", 11),
        ],
    );
    assert_eq!(
        verdict::<ToolCall>(&value),
        [
            "/args",
            "/checksum",
            "/completedAt",
            "/createdAt",
            "/extra",
            "/fromArtifactTool",
            "/id",
            "/inline",
            "/isComplete",
            "/isError",
            "/outcome",
            "/results",
            "/tool",
            "/updatedAt",
        ],
    );
}

#[test]
fn a_record_in_the_field_names_of_the_other_kit_reads() {
    let text = r#"{
        "id": "call_Xh2kQ9dLr0bV7sYtJm4nPzWc",
        "tool": "artifact_head",
        "args": { "callId": "call_abc123", "n": 10 },
        "checksum": "e96b51ecce7dc2d20e555a1b1c14510033c041deec0944e6e803ede926e5fc4a",
        "results": "first line\nsecond line",
        "isComplete": true,
        "isError": false,
        "createdAt": "2025-06-01T12:00:00.000+02:00",
        "updatedAt": "2025-06-01T12:00:00.250+02:00",
        "completedAt": "2025-06-01T12:00:00.250+02:00",
        "fromArtifactTool": true,
        "inline": true
    }"#;
    let call: ToolCall = serde_json::from_str(text).unwrap();
    assert!(call.is_intact() && call.from_artifact_tool());
    assert_eq!(call.results(), &ToolResults::Text("first line\nsecond line".into()));
    assert_eq!(call.created_at().to_string(), "2025-06-01T10:00:00.000Z");
    check_round_trip(&call);
}

#[test]
fn what_is_written_reads_back_as_the_same_record() {
    let full = edited(
        valid(),
        &[
            set("results", json!([media(), media()])),
            set("inline", false),
            set("effectiveChecksum", OTHER_CHECKSUM),
            set("operationId", OTHER_CHECKSUM),
            set("resultDigest", OTHER_CHECKSUM),
            set("outcome", "succeeded"),
            set("label", json!({ "tier": "user", "source": "search", "call": "call_abc123" })),
        ],
    );
    check_round_trip(&ToolCall::try_from(valid()).unwrap());
    check_round_trip(&ToolCall::try_from(full).unwrap());
}

proptest! {
    #[test]
    fn any_arguments_survive_storage(args in json_object()) {
        let value = edited(valid(), &[set("checksum", checksum("search", &args)), set("args", args)]);
        let call = ToolCall::read(&value).unwrap();
        let text = serde_json::to_string(&call).unwrap();
        let back: ToolCall = serde_json::from_str(&text).unwrap();
        prop_assert!(back.is_intact());
        prop_assert_eq!(back.checksum(), call.checksum());
        prop_assert_eq!(serde_json::to_string(&back).unwrap(), text);
        prop_assert_eq!(back, call);
    }
}

#[test]
fn a_changed_copy_is_the_same_call_later() {
    let call = stored::<ToolCall>(&edited(valid(), &[set("later", json!([1]))]));
    let handle = call.with_inline(false, at(9_000));
    let expected = edited(
        serde_json::to_value(&call).unwrap(),
        &[set("inline", false), set("updatedAt", "2026-01-01T00:00:09.000Z")],
    );
    assert_eq!(serde_json::to_value(&handle).unwrap(), expected);
    assert_eq!((handle.id(), handle.created_at()), (call.id(), call.created_at()));
    // A clock that stands still, or goes back, does not make the copy as old as its original.
    for at in [call.updated_at(), at(-9_000)] {
        let updated = call.with_inline(false, at).updated_at();
        assert_eq!(updated, call.updated_at().plus_millis(1));
    }
    assert!(call.inline());
}

#[test]
fn a_settled_call_is_a_valid_record_whatever_its_arguments_were() {
    let artifact = ArtifactRef::describe("text", b"Rain.\n");
    for text in ["{}", r#"{"city":"Oslo"}"#, "[1,2]", "{broken", r#"{"a":1e999}"#] {
        let announced = TurnToolCallContent::announce(call_id("c1"), "weather", Args::read(text), at(5));
        let label = Label::of_call(Tier::Untrusted, "weather", call_id("c1"));
        for settlement in [
            Settlement::error(at(9), Outcome::NotRun, "it never ran", label.clone()),
            Settlement::produced(at(9), ToolResults::Artifact(artifact.clone()), label).unwrap(),
        ] {
            let call = ToolCall::settle(&announced, settlement);
            let value = serde_json::to_value(&call).unwrap();
            assert_eq!(verdict::<ToolCall>(&value), Vec::<String>::new(), "{text}");
            assert!(call.is_intact(), "{text}");
            check_round_trip(&call);
            assert_eq!((call.created_at(), call.completed_at(), call.updated_at()), (at(5), at(9), at(9)));
            assert_eq!((call.id(), call.checksum()), (announced.id(), announced.checksum()));
        }
    }
}

#[test]
fn a_call_never_settles_before_it_was_announced() {
    let announced = TurnToolCallContent::announce(call_id("c1"), "weather", Args::read("{}"), at(5));
    let settlement = Settlement::error(at(3), Outcome::Failed, "the clock went back", Label::default());
    let call = ToolCall::settle(&announced, settlement);
    assert_eq!((call.created_at(), call.completed_at(), call.updated_at()), (at(5), at(5), at(5)));
}

#[test]
fn the_schema_names_every_field_and_its_default() {
    let (properties, required) = outline::<ToolCall>();
    let always = [
        "args",
        "checksum",
        "completedAt",
        "createdAt",
        "id",
        "isComplete",
        "isError",
        "results",
        "tool",
        "updatedAt",
    ];
    assert_eq!(required, always);
    let mut all: Vec<_> = always
        .into_iter()
        .chain([
            "fromArtifactTool",
            "inline",
            "effectiveChecksum",
            "operationId",
            "resultDigest",
            "outcome",
            "label",
        ])
        .collect();
    all.sort_unstable();
    assert_eq!(properties, all);
    let schema = ToolCall::schema().to_value();
    let property = |name: &str| &schema["properties"][name];
    assert_eq!(property("inline")["default"], json!(true));
    assert_eq!(property("fromArtifactTool")["default"], json!(false));
    assert_eq!(property("isComplete")["const"], json!(true));
    assert_eq!(property("checksum")["pattern"], json!("^[0-9a-f]{64}$"));
    assert_eq!(property("id")["minLength"], json!(1));
}
