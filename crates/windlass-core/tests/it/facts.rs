//! Facts: what a journal keeps comes back unchanged, and shows itself as the documented events.

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_core::event::{
    Bus, DispatchOutcome, Failure, PreviewContent, Proposal, Spoken, Status, TextContent,
};
use windlass_core::model::FinishReason;
use windlass_core::record::Settlement;
use windlass_core::tool::{ExecutionEnd, ExecutionStart};
use windlass_core::trust::{Label, Tier};
use windlass_core::{
    Args, ArtifactRef, Code, DispatchId, Disposition, Entry, Error, Event, EventKind, Fact, Message, Outcome,
    Role, StopReason, ToolCall, ToolResults, TurnEnd, TurnToolCallContent, Usage, json,
};

use crate::support::{DISPATCH, SESSION, TURN, at, call_id, json_object};

const HASH: &str = "e0b6feaa14a993179f474568e2c0a63075752fe3a8bc629bc0cd1442a002448e";
const USAGE: Usage = Usage { input_tokens: u64::MAX, output_tokens: 7 };

fn entry(fact: Fact) -> Entry {
    Entry::new(42, TURN.parse().unwrap(), Some(DISPATCH.parse().unwrap()), at(5), fact)
}

/// A fact that lies in no dispatch.
fn outside(fact: Fact) -> Entry {
    Entry::new(42, TURN.parse().unwrap(), None, at(5), fact)
}

fn announced(args: &str) -> TurnToolCallContent {
    TurnToolCallContent::announce(call_id("c1"), "weather", Args::read(args), at(1))
}

fn spoken(id: &str, text: &str) -> Spoken {
    Spoken::new(id.into(), text, at(3))
}

/// The start of the announced call, as a journal holds it.
fn start(call: &TurnToolCallContent) -> ExecutionStart {
    let value = json!({
        "toolName": call.tool(), "callId": call.checksum(), "toolCallId": call.id(), "args": call.shared_args(),
        "startedAt": at(2), "effectiveChecksum": HASH, "operationId": HASH,
    });
    json::from_str(&value.to_string()).unwrap()
}

fn succeeded(call: &TurnToolCallContent) -> ToolCall {
    let label = Label::of_call(Tier::Untrusted, call.tool(), call.id().clone());
    let settlement =
        Settlement::produced(at(4), ToolResults::Artifact(ArtifactRef::describe("text", b"Rain.\n")), label)
            .unwrap()
            .of_operation(Some((HASH.parse().unwrap(), HASH.parse().unwrap())));
    ToolCall::settle(call, settlement)
}

fn failed(call: &TurnToolCallContent) -> ToolCall {
    ToolCall::settle(call, Settlement::error(at(4), Outcome::NotRun, "no object", Label::default()))
}

fn replied(calls: Vec<Proposal>) -> Fact {
    Fact::Replied {
        thought: Some(spoken("msg_t", "Hm.")),
        message: Some(spoken("msg_m", "Let me see.")),
        calls,
        model: "script:test".into(),
        finish: FinishReason::ToolCalls,
        usage: Some(USAGE),
        duration_ms: u64::MAX,
    }
}

fn failure() -> Failure {
    Failure::from(&Error::new(Code::ModelFailed, "the line is dead").transient())
}

/// At least one fact of every variant, each field in each of its shapes.
fn facts() -> Vec<Fact> {
    let whole =
        announced(r#"{"city":"Oslo","scale":1.5,"big":18446744073709551615,"small":-9223372036854775808}"#);
    let broken = announced("{broken");
    let honest = announced(r#"{"$raw":"{broken"}"#);
    let deep = announced(&format!("{{\"a\":{}0.25{}}}", "[".repeat(127), "]".repeat(127)));
    let deep_array = announced(&format!("{}1e300{}", "[".repeat(128), "]".repeat(128)));
    let calls = [&whole, &broken, &honest, &deep, &deep_array];
    let end = ExecutionEnd::of(&start(&whole), at(9), true);
    let settled = |call, ran, disposition| Fact::CallSettled { call, ran, disposition, secret: Vec::new() };
    let ended = |reason, error| Fact::TurnEnded(TurnEnd::new(reason, USAGE, 12, error));
    vec![
        Fact::TurnStarted { message: Message::text("msg_1", Role::User, "Oslo?", at(0)).unwrap() },
        Fact::DispatchStarted { dispatch: DISPATCH.parse::<DispatchId>().unwrap() },
        Fact::IterationStarted { iteration: 1 },
        replied(calls.map(|call| Proposal::new(call.clone())).to_vec()),
        Fact::Replied {
            thought: None,
            message: None,
            calls: Vec::new(),
            model: "".into(),
            finish: FinishReason::Stop,
            usage: None,
            duration_ms: 0,
        },
        Fact::ReplyFailed { error: failure(), retracted: vec!["msg_t".into(), "msg_m".into()] },
        Fact::ReplyFailed { error: failure(), retracted: Vec::new() },
        Fact::CallStarted(start(&whole)),
        Fact::CallStarted(start(&deep)),
        settled(succeeded(&whole), Some(end.span()), None),
        settled(succeeded(&deep), None, Some(Disposition::Abort)),
        settled(failed(&broken), None, Some(Disposition::Retry)),
        settled(failed(&deep_array), None, Some(Disposition::Failed)),
        Fact::AbortRequested { retracted: Vec::new() },
        Fact::AbortRequested { retracted: vec!["msg_m".into()] },
        Fact::IterationEnded { iteration: u32::MAX },
        Fact::DispatchEnded { outcome: DispatchOutcome::Ack },
        Fact::DispatchEnded { outcome: DispatchOutcome::Nack },
        Fact::DispatchEnded { outcome: DispatchOutcome::Aborted },
        ended(StopReason::Answered, None),
        ended(StopReason::Iterations, None),
        ended(StopReason::Aborted, None),
        ended(StopReason::Failed, Some(failure())),
    ]
}

#[test]
fn every_fact_survives_storage() {
    for fact in facts() {
        let entry = entry(fact);
        let text = serde_json::to_string(&entry).unwrap();
        let back: Entry = json::from_str(&text).unwrap();
        assert_eq!(back, entry, "{text}");
        assert_eq!(serde_json::to_string(&back).unwrap(), text);
    }
    let entry = outside(Fact::IterationStarted { iteration: 1 });
    let text = serde_json::to_string(&entry).unwrap();
    assert_eq!(json::from_str::<Entry>(&text).unwrap(), entry);
}

#[test]
fn facts_come_back_whatever_the_order_of_their_keys() {
    for fact in facts() {
        let entry = entry(fact);
        // A store of its own may sort keys, or hand out a value instead of a text.
        let value = serde_json::to_value(&entry).unwrap();
        assert_eq!(serde_json::from_value::<Entry>(value.clone()).unwrap(), entry);
        let mut reversed: Vec<_> = value["fact"].as_object().unwrap().iter().collect();
        reversed.sort_by(|(a, _), (b, _)| b.cmp(a));
        for pairs in [reversed.clone(), reversed.into_iter().rev().collect()] {
            let fields: Vec<_> =
                pairs.into_iter().map(|(name, field)| format!("\"{name}\":{field}")).collect();
            let text = format!("{{{}}}", fields.join(","));
            assert_eq!(json::from_str::<Fact>(&text).unwrap(), entry.fact, "{text}");
        }
    }
}

#[test]
fn a_stored_proposal_still_knows_that_its_arguments_were_no_object() {
    let reread = |args| {
        let fact = replied(vec![Proposal::new(announced(args))]);
        let text = serde_json::to_string(&entry(fact)).unwrap();
        let Fact::Replied { calls, .. } = json::from_str::<Entry>(&text).unwrap().fact else {
            panic!("{text}")
        };
        let args = calls[0].call.shared_args();
        (args.defect().map(str::to_owned), Value::Object(args.object().clone()))
    };
    let defect = Some("EOF while parsing a value at byte 5".to_owned());
    assert_eq!(reread(r#"{"a":"#), (defect, json!({ "$raw": r#"{"a":"# })));
    assert_eq!(reread(r#"{"$raw":7}"#), (None, json!({ "$raw": 7 })));
}

proptest! {
    #[test]
    fn any_arguments_survive_the_journal(args in json_object()) {
        let call = TurnToolCallContent::announce(call_id("c1"), "t", Args::from_value(args), at(1));
        let proposed = replied(vec![Proposal::new(call.clone())]);
        let settled = Fact::CallSettled { call: succeeded(&call), ran: None, disposition: None, secret: Vec::new() };
        for fact in [proposed, Fact::CallStarted(start(&call)), settled] {
            let entry = entry(fact);
            let text = serde_json::to_string(&entry).unwrap();
            let back: Entry = json::from_str(&text).unwrap();
            prop_assert_eq!(serde_json::to_string(&back).unwrap(), text);
            prop_assert_eq!(back, entry);
        }
    }
}

/// The events of a fact as JSON, without what all events of one entry share.
fn shown(fact: Fact) -> Vec<Value> {
    let entry = entry(fact);
    let events = entry.events();
    assert_eq!(entry.parts() as usize, events.len());
    let mut values = Vec::new();
    for (part, event) in events.into_iter().enumerate() {
        assert!(event.is_fact());
        let mut value = serde_json::to_value(&event).unwrap();
        let fields = value.as_object_mut().unwrap();
        let shared: Vec<_> = ["seq", "part", "turnId", "dispatchId", "at"]
            .map(|name| fields.remove(name).unwrap_or_default())
            .into();
        assert_eq!(json!(shared), json!([42, part, TURN, DISPATCH, "2026-01-01T00:00:00.005Z"]));
        let is_functional = matches!(fields["type"].as_str().unwrap(), "message" | "thought" | "toolCall");
        assert_eq!(event.bus() == Bus::Functional, is_functional);
        assert_eq!(fields.contains_key("content"), is_functional);
        values.push(value);
    }
    values
}

#[test]
fn a_turn_shows_its_frame() {
    let message = Message::text("msg_1", Role::User, "Oslo?", at(0)).unwrap();
    assert_eq!(shown(Fact::TurnStarted { message }), [json!({ "type": "turnStart" })]);
    let dispatch = DISPATCH.parse().unwrap();
    assert_eq!(shown(Fact::DispatchStarted { dispatch }), [json!({ "type": "dispatchStart" })]);
    assert_eq!(
        shown(Fact::IterationStarted { iteration: 3 }),
        [json!({ "type": "iterationStart", "iteration": 3 })],
    );
    assert_eq!(
        shown(Fact::IterationEnded { iteration: 3 }),
        [json!({ "type": "iterationEnd", "iteration": 3 })],
    );
    for (outcome, word) in [
        (DispatchOutcome::Ack, "ack"),
        (DispatchOutcome::Nack, "nack"),
        (DispatchOutcome::Aborted, "aborted"),
    ] {
        assert_eq!(
            shown(Fact::DispatchEnded { outcome }),
            [json!({ "type": "dispatchEnd", "outcome": word })],
        );
    }
}

#[test]
fn a_turn_ends_with_a_status_and_a_reason() {
    for (reason, words, status) in [
        (StopReason::Answered, ("completed", "answered"), Status::Completed),
        (StopReason::Iterations, ("stopped", "iterations"), Status::Stopped),
        (StopReason::Aborted, ("aborted", "aborted"), Status::Aborted),
        (StopReason::Failed, ("failed", "failed"), Status::Failed),
    ] {
        assert_eq!(reason.status(), status);
        assert_eq!(
            shown(Fact::TurnEnded(TurnEnd::new(reason, USAGE, 12, None))),
            [json!({
                "type": "turnEnd", "status": words.0, "stopReason": words.1, "durationMs": 12,
                "usage": { "inputTokens": u64::MAX, "outputTokens": 7 },
            })],
        );
    }
    let end = TurnEnd::new(StopReason::Failed, Usage::default(), 0, Some(failure()));
    assert_eq!(
        shown(Fact::TurnEnded(end))[0]["error"],
        json!({ "code": "E_MODEL_FAILED", "message": "the line is dead", "isTransient": true }),
    );
}

#[test]
fn a_reply_shows_its_thought_its_text_its_calls_and_its_cost() {
    let call = announced(r#"{"city":"Oslo"}"#);
    let text = |id: &str, full: &str| {
        json!({
            "id": id, "full": full, "isComplete": true,
            "createdAt": "2026-01-01T00:00:00.003Z", "updatedAt": "2026-01-01T00:00:00.005Z",
        })
    };
    assert_eq!(
        shown(replied(vec![Proposal::new(call.clone()), Proposal::new(announced("[1.5]"))])),
        [
            json!({ "type": "thought", "content": text("msg_t", "Hm.") }),
            json!({ "type": "message", "content": text("msg_m", "Let me see.") }),
            json!({
                "type": "toolCall",
                "content": {
                    "id": "c1", "tool": "weather", "args": { "city": "Oslo" }, "checksum": call.checksum(),
                    "createdAt": "2026-01-01T00:00:00.001Z", "updatedAt": "2026-01-01T00:00:00.001Z",
                    "isComplete": false, "isError": false,
                },
            }),
            json!({
                "type": "toolCall",
                "content": {
                    "id": "c1", "tool": "weather", "args": { "$raw": [1.5] },
                    "checksum": announced("[1.5]").checksum(),
                    "createdAt": "2026-01-01T00:00:00.001Z", "updatedAt": "2026-01-01T00:00:00.001Z",
                    "isComplete": false, "isError": false,
                },
            }),
            json!({
                "type": "generationStats", "model": "script:test", "finishReason": "toolCalls",
                "usage": { "inputTokens": u64::MAX, "outputTokens": 7 }, "durationMs": u64::MAX,
            }),
        ],
    );
}

#[test]
fn a_bare_reply_shows_only_its_cost() {
    let fact = Fact::Replied {
        thought: None,
        message: None,
        calls: Vec::new(),
        model: "script:test".into(),
        finish: FinishReason::ContentFilter,
        usage: None,
        duration_ms: 1,
    };
    let stats = json!({
        "type": "generationStats", "model": "script:test", "finishReason": "contentFilter", "durationMs": 1,
    });
    assert_eq!(shown(fact), [stats]);
}

#[test]
fn what_went_wrong_is_shown_flat_and_what_will_not_come_is_named() {
    let error = json!({
        "type": "error", "code": "E_MODEL_FAILED", "message": "the line is dead", "isTransient": true,
    });
    let retracted = json!({ "type": "retracted", "ids": ["msg_t", "msg_m"] });
    let ids = vec!["msg_t".into(), "msg_m".into()];
    let failed = |retracted| Fact::ReplyFailed { error: failure(), retracted };
    assert_eq!(shown(failed(Vec::new())), std::slice::from_ref(&error));
    assert_eq!(shown(failed(ids.clone())), [error, retracted.clone()]);
    let abort = json!({ "type": "fact.abortRequested" });
    assert_eq!(shown(Fact::AbortRequested { retracted: Vec::new() }), std::slice::from_ref(&abort));
    assert_eq!(shown(Fact::AbortRequested { retracted: ids }), [abort, retracted]);
}

#[test]
fn execution_events_share_the_checksum_of_the_call() {
    let call = announced(r#"{"city":"Oslo"}"#);
    let started = shown(Fact::CallStarted(start(&call)));
    assert_eq!(
        started,
        [json!({
            "type": "toolExecutionStart", "toolName": "weather", "callId": call.checksum(), "toolCallId": "c1",
            "args": { "city": "Oslo" }, "startedAt": "2026-01-01T00:00:00.002Z",
            "effectiveChecksum": HASH, "operationId": HASH,
        })],
    );
    let end = ExecutionEnd::of(&start(&call), at(4), false);
    let settled = Fact::CallSettled {
        call: succeeded(&call),
        ran: Some(end.span()),
        disposition: None,
        secret: Vec::new(),
    };
    assert_eq!(
        shown(settled),
        [
            json!({
                "type": "toolExecutionEnd", "toolName": "weather", "callId": call.checksum(), "toolCallId": "c1",
                "args": { "city": "Oslo" }, "startedAt": "2026-01-01T00:00:00.002Z", "endedAt": "2026-01-01T00:00:00.004Z", "durationMs": 2,
                "isError": false,
            }),
            json!({ "type": "toolCall", "content": succeeded(&call).to_content() }),
        ],
    );
}

#[test]
fn a_call_that_never_ran_is_completed_without_execution_events() {
    let call = failed(&announced("{broken"));
    let settled = Fact::CallSettled {
        call: call.clone(),
        ran: None,
        disposition: Some(Disposition::Retry),
        secret: Vec::new(),
    };
    assert_eq!(shown(settled), [json!({ "type": "toolCall", "content": call.to_content() })]);
}

#[test]
fn an_event_outside_a_dispatch_names_none() {
    let message = Message::text("msg_1", Role::User, "Oslo?", at(0)).unwrap();
    let entry = outside(Fact::TurnStarted { message });
    let events: Vec<_> = entry.events().iter().map(|event| serde_json::to_value(event).unwrap()).collect();
    assert_eq!(
        events,
        [
            json!({ "seq": 42, "part": 0, "type": "turnStart", "turnId": TURN, "at": "2026-01-01T00:00:00.005Z" })
        ],
    );
}

#[test]
fn a_delta_says_which_attempt_it_belongs_to() {
    let turn = (TURN.parse().unwrap(), Some(DISPATCH.parse().unwrap()));
    let show = |kind| {
        let event = Event::delta((41, 3), 2, turn, at(6), kind);
        assert!(!event.is_fact());
        (event.bus(), serde_json::to_value(&event).unwrap())
    };
    let shared = |kind: &str| {
        json!({
            "seq": 41, "part": 3, "attempt": 2, "turnId": TURN, "dispatchId": DISPATCH,
            "at": "2026-01-01T00:00:00.006Z", "type": kind,
        })
    };
    let mut piece = shared("message");
    piece["content"] = json!({
        "id": "msg_m", "delta": "Let", "isComplete": false,
        "createdAt": "2026-01-01T00:00:00.003Z", "updatedAt": "2026-01-01T00:00:00.006Z",
    });
    let content = TextContent::piece("msg_m".into(), "Let", at(3), at(6));
    assert_eq!(show(EventKind::Message { content }), (Bus::Functional, piece));
    let mut preview = shared("toolCallPreview");
    preview["content"] = json!({ "slot": 1, "tool": "weather", "delta": "{\"ci" });
    let content = PreviewContent::new(1, Some("weather".into()), "{\"ci");
    assert_eq!(show(EventKind::ToolCallPreview { content }), (Bus::Functional, preview));
    let mut detached = shared("detached");
    detached["code"] = "E_JOURNAL_FAILED".into();
    let code = Code::JournalFailed.as_str().into();
    assert_eq!(show(EventKind::Detached { code }), (Bus::Observability, detached));
}

#[test]
fn a_text_is_never_updated_before_it_was_created() {
    let fact = Fact::Replied {
        thought: None,
        message: Some(Spoken::new("msg_m".into(), "Late.", at(9))),
        calls: Vec::new(),
        model: SESSION.into(),
        finish: FinishReason::Stop,
        usage: None,
        duration_ms: 0,
    };
    let content = &shown(fact)[0]["content"];
    assert_eq!((&content["createdAt"], &content["updatedAt"]), (&json!(at(9)), &json!(at(9))));
}
