//! The exact events of the turns that every user meets.

use insta::assert_snapshot;
use serde_json::json;
use windlass_core::event::Fact;
use windlass_core::{Effect, EventKind, Outcome, Status, StopReason};
use windlass_testing::{Script, ScriptedReply, outline, trace};
use windlass_turn::MAX_CONCURRENT_CALLS;

use crate::support::{agent, play, play_until};

#[tokio::test(start_paused = true)]
async fn a_plain_answer() {
    let played = play(&agent(Script::new().thinks("Easy.").says("Rain all day."))).await;
    assert_snapshot!(trace(&played.events), @r#"
    1.0  turnStart
    2.0  dispatchStart
    3.0  iterationStart 1
    3.1~ thought "Easy."
    3.2~ message "Rain"
    3.3~ message "all"
    3.4~ message "day."
    4.0  thought "Easy."
    4.1  message "Rain all day."
    4.2  generationStats stop
    5.0  iterationEnd 1
    6.0  dispatchEnd ack
    7.0  turnEnd answered
    "#);
    assert_eq!(played.conclusion.text(), "Rain all day.");
    assert_eq!(played.conclusion.status(), Status::Completed);
}

#[tokio::test(start_paused = true)]
async fn one_call() {
    let model = Script::new().calls("look", json!({ "act": "ok" })).says("Done.");
    let played = play(&agent(model)).await;
    assert_snapshot!(trace(&played.events), @r#"
     1.0  turnStart
     2.0  dispatchStart
     3.0  iterationStart 1
     3.1~ toolCallPreview look
     3.2~ toolCallPreview  {"act"
     3.3~ toolCallPreview  :"ok"}
     4.0  toolCall look call_1_1 {"act":"ok"}
     4.1  generationStats toolCalls
     5.0  toolExecutionStart look call_1_1
     6.0  toolExecutionEnd look call_1_1 ok
     6.1  toolCall look call_1_1 ok
     7.0  iterationEnd 1
     8.0  iterationStart 2
     8.1~ message "Done."
     9.0  message "Done."
     9.1  generationStats stop
    10.0  iterationEnd 2
    11.0  dispatchEnd ack
    12.0  turnEnd answered
    "#);
    assert_snapshot!(outline(&played.events), @"
    model      calls look
    look       ok
    model      Done.
    ");
    played.assert_one_checksum_per_call();
}

#[tokio::test(start_paused = true)]
async fn g2_three_parallel_calls_that_finish_in_reverse() {
    let order = |after| json!({ "act": "ok", "after": after });
    let model =
        Script::new().calls_all([("look", order(3)), ("put", order(2)), ("pay", order(1))]).says("Done.");
    let played = play(&agent(model)).await;
    assert_snapshot!(trace(&played.events), @r#"
     1.0  turnStart
     2.0  dispatchStart
     3.0  iterationStart 1
     3.1~ toolCallPreview look
     3.2~ toolCallPreview  {"act":"ok"
     3.3~ toolCallPreview  ,"after":3}
     3.4~ toolCallPreview put
     3.5~ toolCallPreview  {"act":"ok"
     3.6~ toolCallPreview  ,"after":2}
     3.7~ toolCallPreview pay
     3.8~ toolCallPreview  {"act":"ok"
     3.9~ toolCallPreview  ,"after":1}
     4.0  toolCall look call_1_1 {"act":"ok","after":3}
     4.1  toolCall put call_1_2 {"act":"ok","after":2}
     4.2  toolCall pay call_1_3 {"act":"ok","after":1}
     4.3  generationStats toolCalls
     5.0  toolExecutionStart look call_1_1
     6.0  toolExecutionStart put call_1_2
     7.0  toolExecutionStart pay call_1_3
     8.0  toolExecutionEnd pay call_1_3 ok
     8.1  toolCall pay call_1_3 ok
     9.0  toolExecutionEnd put call_1_2 ok
     9.1  toolCall put call_1_2 ok
    10.0  toolExecutionEnd look call_1_1 ok
    10.1  toolCall look call_1_1 ok
    11.0  iterationEnd 1
    12.0  iterationStart 2
    12.1~ message "Done."
    13.0  message "Done."
    13.1  generationStats stop
    14.0  iterationEnd 2
    15.0  dispatchEnd ack
    16.0  turnEnd answered
    "#);
    let settled: Vec<_> = played.records().iter().map(|call| call.tool().to_owned()).collect();
    assert_eq!(settled, ["pay", "put", "look"]);
    let chat: Vec<_> =
        played.transcript.iter().map(windlass_core::TranscriptMessage::to_chat_message).collect();
    let answered: Vec<_> = chat.iter().filter_map(|message| message["tool_call_id"].as_str()).collect();
    assert_eq!(answered, ["call_1_1", "call_1_2", "call_1_3"]);
    played.assert_one_checksum_per_call();
}

#[tokio::test(start_paused = true)]
async fn g5_invalid_arguments() {
    let model = Script::new()
        .calls("pay", json!({ "act": "dance" }))
        .calls_with_text("pay", "{\"act\":")
        .calls("pay", json!({ "act": "ok" }))
        .says("Done.");
    let played = play(&agent(model)).await;
    assert_snapshot!(trace(&played.events), @r#"
     1.0  turnStart
     2.0  dispatchStart
     3.0  iterationStart 1
     3.1~ toolCallPreview pay
     3.2~ toolCallPreview  {"act":
     3.3~ toolCallPreview  "dance"}
     4.0  toolCall pay call_1_1 {"act":"dance"}
     4.1  generationStats toolCalls
     5.0  toolCall pay call_1_1 error: E_INVALID_TOOL_ARGS: the arguments of `pay` are not valid, so it did not run; call it again, corrected. An example that fits: {"act":"ok"} - /act: expected one …
     6.0  iterationEnd 1
     7.0  iterationStart 2
     7.1~ toolCallPreview pay
     7.2~ toolCallPreview  {"a
     7.3~ toolCallPreview  ct":
     8.0  toolCall pay call_2_1 {"$raw":"{\"act\":"}
     8.1  generationStats toolCalls
     9.0  toolCall pay call_2_1 error: E_INVALID_TOOL_ARGS: the arguments of `pay` are not valid, so it did not run; call it again, corrected - EOF while parsing a value at byte 7
    10.0  iterationEnd 2
    11.0  iterationStart 3
    11.1~ toolCallPreview pay
    11.2~ toolCallPreview  {"act"
    11.3~ toolCallPreview  :"ok"}
    12.0  toolCall pay call_3_1 {"act":"ok"}
    12.1  generationStats toolCalls
    13.0  toolExecutionStart pay call_3_1
    14.0  toolExecutionEnd pay call_3_1 ok
    14.1  toolCall pay call_3_1 ok
    15.0  iterationEnd 3
    16.0  iterationStart 4
    16.1~ message "Done."
    17.0  message "Done."
    17.1  generationStats stop
    18.0  iterationEnd 4
    19.0  dispatchEnd ack
    20.0  turnEnd answered
    "#);
    let started = played.events.iter().filter(|event| matches!(event.kind, EventKind::ToolExecutionStart(_)));
    assert_eq!(started.count(), 1);
    played.assert_one_checksum_per_call();
}

#[tokio::test(start_paused = true)]
async fn an_unknown_tool() {
    let model = Script::new().calls("fly", json!({ "to": "Oslo" })).says("Done.");
    let played = play(&agent(model)).await;
    assert_snapshot!(trace(&played.events), @r#"
     1.0  turnStart
     2.0  dispatchStart
     3.0  iterationStart 1
     3.1~ toolCallPreview fly
     3.2~ toolCallPreview  {"to":
     3.3~ toolCallPreview  "Oslo"}
     4.0  toolCall fly call_1_1 {"to":"Oslo"}
     4.1  generationStats toolCalls
     5.0  toolCall fly call_1_1 error: E_UNKNOWN_TOOL: there is no tool "fly"; the tools are `look`, `put`, `pay`
     6.0  iterationEnd 1
     7.0  iterationStart 2
     7.1~ message "Done."
     8.0  message "Done."
     8.1  generationStats stop
     9.0  iterationEnd 2
    10.0  dispatchEnd ack
    11.0  turnEnd answered
    "#);
    assert_eq!(played.records()[0].outcome(), Some(Outcome::NotRun));
    played.assert_one_checksum_per_call();
}

#[tokio::test(start_paused = true)]
async fn a_panic() {
    let model = Script::new()
        .calls_all([("look", json!({ "act": "panic" })), ("pay", json!({ "act": "latePanic" }))])
        .says("Done.");
    let played = play(&agent(model)).await;
    assert_snapshot!(trace(&played.events), @r#"
     1.0  turnStart
     2.0  dispatchStart
     3.0  iterationStart 1
     3.1~ toolCallPreview look
     3.2~ toolCallPreview  {"act":
     3.3~ toolCallPreview  "panic"}
     3.4~ toolCallPreview pay
     3.5~ toolCallPreview  {"act":"l
     3.6~ toolCallPreview  atePanic"}
     4.0  toolCall look call_1_1 {"act":"panic"}
     4.1  toolCall pay call_1_2 {"act":"latePanic"}
     4.2  generationStats toolCalls
     5.0  toolExecutionStart look call_1_1
     6.0  toolExecutionStart pay call_1_2
     7.0  toolExecutionEnd look call_1_1 error
     7.1  toolCall look call_1_1 error: E_TOOL_DOWNSTREAM_ERROR: `look` failed: it panicked: as told
     8.0  toolExecutionEnd pay call_1_2 error
     8.1  toolCall pay call_1_2 error: E_TOOL_DOWNSTREAM_ERROR: `pay` failed: it panicked: late, as told. Whether it took effect is unknown: find out before you call it again
     9.0  iterationEnd 1
    10.0  iterationStart 2
    10.1~ message "Done."
    11.0  message "Done."
    11.1  generationStats stop
    12.0  iterationEnd 2
    13.0  dispatchEnd ack
    14.0  turnEnd answered
    "#);
    let outcomes: Vec<_> = played.records().iter().map(windlass_core::ToolCall::outcome).collect();
    assert_eq!(outcomes, [Some(Outcome::Failed), Some(Outcome::Unknown)]);
    played.assert_one_checksum_per_call();
}

#[tokio::test(start_paused = true)]
async fn an_abort_in_mid_batch() {
    let act = |act: &str| json!({ "act": act });
    let model = Script::new()
        .calls_all([("look", act("ok")), ("put", act("heed")), ("look", act("hang")), ("pay", act("hang"))])
        .says("never said");
    let played = play_until(
        &agent(model),
        |event| matches!(&event.kind, EventKind::ToolCall { content } if content.is_complete()),
    )
    .await;
    assert_snapshot!(trace(&played.events), @r#"
     1.0  turnStart
     2.0  dispatchStart
     3.0  iterationStart 1
     3.1~ toolCallPreview look
     3.2~ toolCallPreview  {"act"
     3.3~ toolCallPreview  :"ok"}
     3.4~ toolCallPreview put
     3.5~ toolCallPreview  {"act":
     3.6~ toolCallPreview  "heed"}
     3.7~ toolCallPreview look
     3.8~ toolCallPreview  {"act":
     3.9~ toolCallPreview  "hang"}
     3.10~ toolCallPreview pay
     3.11~ toolCallPreview  {"act":
     3.12~ toolCallPreview  "hang"}
     4.0  toolCall look call_1_1 {"act":"ok"}
     4.1  toolCall put call_1_2 {"act":"heed"}
     4.2  toolCall look call_1_3 {"act":"hang"}
     4.3  toolCall pay call_1_4 {"act":"hang"}
     4.4  generationStats toolCalls
     5.0  toolExecutionStart look call_1_1
     6.0  toolExecutionStart put call_1_2
     7.0  toolExecutionStart look call_1_3
     8.0  toolExecutionStart pay call_1_4
     9.0  toolExecutionEnd look call_1_1 ok
     9.1  toolCall look call_1_1 ok
    10.0  fact.abortRequested
    11.0  toolExecutionEnd put call_1_2 ok
    11.1  toolCall put call_1_2 ok
    12.0  toolExecutionEnd look call_1_3 error
    12.1  toolCall look call_1_3 error: E_TOOL_DOWNSTREAM_ERROR: `look` failed: the turn was aborted
    13.0  toolExecutionEnd pay call_1_4 error
    13.1  toolCall pay call_1_4 error: E_TOOL_DOWNSTREAM_ERROR: `pay` failed: the turn was aborted. Whether it took effect is unknown: find out before you call it again
    14.0  iterationEnd 1
    15.0  dispatchEnd aborted
    16.0  turnEnd aborted
    "#);
    let outcomes: Vec<_> =
        played.records().iter().map(|call| (call.tool().to_owned(), call.outcome())).collect();
    assert_eq!(
        outcomes,
        [
            ("look".to_owned(), Some(Outcome::Succeeded)),
            ("put".to_owned(), Some(Outcome::Succeeded)),
            ("look".to_owned(), Some(Outcome::Failed)),
            ("pay".to_owned(), Some(Outcome::Unknown)),
        ]
    );
    assert_eq!(played.conclusion.stop_reason(), StopReason::Aborted);
    played.assert_one_checksum_per_call();
}

#[tokio::test(start_paused = true)]
async fn an_abort_while_the_model_speaks() {
    let played = play_until(&agent(Script::new().hangs("Rain all")), |event| {
        matches!(&event.kind, EventKind::Message { .. })
    })
    .await;
    assert_snapshot!(trace(&played.events), @r#"
    1.0  turnStart
    2.0  dispatchStart
    3.0  iterationStart 1
    3.1~ message "Rain"
    3.2~ message "all"
    4.0  fact.abortRequested
    4.1  retracted 1
    5.0  iterationEnd 1
    6.0  dispatchEnd aborted
    7.0  turnEnd aborted
    "#);
    assert_eq!(played.transcript.len(), 1, "what the model did not finish is not part of the conversation");
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_never_returns_runs_out_of_time() {
    let model = Script::new()
        .calls_all([("look", json!({ "act": "hang" })), ("pay", json!({ "act": "panicInDrop" }))])
        .says("Done.");
    let played = play(&agent(model)).await;
    assert_snapshot!(outline(&played.events), @"
    model      calls look
    model      calls pay
    look       error: E_TOOL_DOWNSTREAM_ERROR: `look` failed: it did not return within 60 s
    pay        error: E_TOOL_DOWNSTREAM_ERROR: `pay` failed: it did not return within 60 s. Whether it took effect is unknown: find out before you call it again
    model      Done.
    ");
    assert_eq!(played.records()[1].outcome(), Some(Outcome::Unknown));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_ends_the_turn_lets_its_siblings_finish() {
    let model = Script::new()
        .calls_all([("look", json!({ "act": "abort" })), ("put", json!({ "act": "ok", "after": 5 }))])
        .says("never said");
    let played = play(&agent(model)).await;
    assert_snapshot!(outline(&played.events), @"
    model      calls look
    model      calls put
    look       error: E_TOOL_DOWNSTREAM_ERROR: `look` failed: the house is on fire
    put        ok
    turn       failed: E_TOOL_DOWNSTREAM_ERROR: `look` asked for the turn to end: `look` failed: the house is on fire
    ");
    assert_eq!(played.conclusion.stop_reason(), StopReason::Failed);
    assert_eq!(played.conclusion.error().unwrap().code.as_ref(), "E_TOOL_DOWNSTREAM_ERROR");
}

#[tokio::test(start_paused = true)]
async fn g3_calls_of_a_failed_or_cut_reply_are_never_announced() {
    let call = || ScriptedReply::new().says("I will pay.").calls("pay", json!({ "act": "ok" }));
    for broken in [
        call().cut(),
        call().fails("connection reset"),
        call().finishes(windlass_core::model::FinishReason::Length),
    ] {
        let played = play(&agent(Script::new().reply(broken))).await;
        assert!(!played.events.iter().any(|event| matches!(event.kind, EventKind::ToolCall { .. })));
        assert!(!played.entries.iter().any(|entry| matches!(entry.fact, Fact::CallStarted(_))));
        assert!(played.events.iter().any(|event| matches!(event.kind, EventKind::Retracted { .. })));
        assert_eq!(played.conclusion.status(), Status::Failed);
        assert!(played.conclusion.error().unwrap().is_transient);
    }
}

#[tokio::test(start_paused = true)]
async fn the_model_is_asked_a_bounded_number_of_times() {
    let model =
        (0..5).fold(Script::new(), |script, n| script.calls("look", json!({ "act": "ok", "after": n })));
    let played = play(&agent(model.clone()).max_iterations(3)).await;
    assert_eq!(played.conclusion.stop_reason(), StopReason::Iterations);
    assert_eq!(played.conclusion.status(), Status::Stopped);
    assert_eq!(played.records().len(), 3);
    let played = play(&agent(model.says("Done.")).max_iterations(6)).await;
    assert_eq!(played.conclusion.stop_reason(), StopReason::Answered);

    let calls =
        |count| (0..count).fold(Script::new(), |script, _| script.calls("look", json!({ "act": "ok" })));
    let within = calls(windlass_turn::MAX_ITERATIONS - 1).says("Done.");
    assert_eq!(play(&agent(within)).await.conclusion.stop_reason(), StopReason::Answered);
    let past = calls(windlass_turn::MAX_ITERATIONS).says("never said");
    assert_eq!(play(&agent(past)).await.conclusion.stop_reason(), StopReason::Iterations);
}

#[tokio::test(start_paused = true)]
async fn ids_that_a_provider_repeats_or_leaves_out_are_replaced_everywhere() {
    let look = json!({ "act": "ok" });
    let model = Script::new()
        .reply(ScriptedReply::new().calls_as("call_0", "look", look.clone()).calls_as(
            "call_0",
            "look",
            look.clone(),
        ))
        .reply(ScriptedReply::new().calls_as("call_0", "look", look.clone()).calls_as("", "look", look))
        .says("Done.");
    let played = play(&agent(model)).await;
    let ids: Vec<_> = played.records().iter().map(|call| call.id().to_string()).collect();
    assert_eq!(ids[0], "call_0");
    let mut unique = ids.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), 4);
    assert!(ids[1..].iter().all(|id| id.starts_with("call_") && id.len() == 37), "{ids:?}");
    let chat: Vec<_> =
        played.transcript.iter().map(windlass_core::TranscriptMessage::to_chat_message).collect();
    let asked: Vec<_> = chat
        .iter()
        .filter_map(|message| message["tool_calls"].as_array())
        .flatten()
        .map(|call| call["id"].as_str().unwrap().to_owned())
        .collect();
    let answered: Vec<_> =
        chat.iter().filter_map(|message| message["tool_call_id"].as_str().map(str::to_owned)).collect();
    assert_eq!(asked, ids);
    assert_eq!(answered, ids);
    let times: Vec<_> = played.records().iter().map(windlass_core::ToolCall::created_at).collect();
    assert!(times.is_sorted_by(|a, b| a < b), "no two calls of a turn share createdAt: {times:?}");
    let checksums: Vec<_> = played.records().iter().map(windlass_core::ToolCall::checksum).collect();
    assert!(checksums.iter().all(|checksum| *checksum == checksums[0]), "equal calls have equal checksums");
}

#[tokio::test(start_paused = true)]
async fn empty_names_and_huge_arguments_settle_like_any_other_call() {
    let huge = json!({ "act": "ok", "padding": "x".repeat(10 << 20) }).to_string();
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let model = Script::new()
        .reply(
            ScriptedReply::new()
                .calls_with_text("", "{}")
                .calls_with_text("look", huge)
                .calls_with_text("look", deep.clone())
                .calls_with_text("look", "{\"act\":\"ok\",\"act\":\"ok\"}")
                .calls_with_text("look", "{\"act\":\"\\ud800\"}")
                .calls_with_text("look", "{\"act\":NaN}")
                .calls_with_text("x".repeat(5_000), ""),
        )
        .says("Done.");
    let played = play(&agent(model)).await;
    assert_eq!(played.conclusion.text(), "Done.");
    let records = played.records();
    let by_id = |n: usize| records.iter().find(|call| call.id().as_str() == format!("call_1_{n}")).unwrap();
    assert_eq!(by_id(1).tool(), "unnamed_tool");
    assert!(!by_id(2).is_error());
    assert_eq!(by_id(3).args()["$raw"], deep.as_str());
    for n in 3..=6 {
        assert!(by_id(n).is_error());
        assert!(by_id(n).args().contains_key("$raw"));
        assert!(by_id(n).results().as_text().unwrap().starts_with("E_INVALID_TOOL_ARGS"));
    }
    assert!(by_id(7).tool().len() < windlass_core::tool::MAX_NAME_BYTES + 10);
    played.assert_one_checksum_per_call();
}

#[tokio::test(start_paused = true)]
async fn a_name_that_is_cut_calls_no_other_tool() {
    for letter in ["x", "é", "🎉"] {
        let longest = letter.repeat(windlass_core::tool::MAX_NAME_BYTES / letter.len());
        let (model, made_up) = (Script::new(), format!("{longest}YY"));
        let model = model.calls(longest.as_str(), json!({})).calls(made_up, json!({})).says("Done.");
        let tool = windlass_core::tool_fn(longest, "The longest name.", Effect::Once, nothing);
        let played = play(&windlass_turn::Agent::new(model).tool(tool)).await;
        let outcomes: Vec<_> = played.records().iter().map(windlass_core::ToolCall::outcome).collect();
        assert_eq!(outcomes, [Some(Outcome::Succeeded), Some(Outcome::NotRun)]);
    }
}

#[tokio::test(start_paused = true)]
async fn bytes_and_nothing_are_results_too() {
    let model = Script::new()
        .calls_all([("look", json!({ "act": "binary" })), ("look", json!({ "act": "nothing" }))])
        .says("Done.");
    let played = play(&agent(model)).await;
    let read = |n: usize| match played.records()[n].results() {
        windlass_core::ToolResults::Artifact(artifact) => played.session.read(artifact).unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(read(0).as_ref(), [0xff, 0x00, 0xfe]);
    assert_eq!(read(1).as_ref(), b"");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_panics_fails_the_turn_and_not_the_process() {
    struct Broken;
    impl windlass_core::Model for Broken {
        fn name(&self) -> &'static str {
            "broken"
        }
        fn open(&self, _: &windlass_core::model::Opening) -> Box<dyn windlass_core::Conversation> {
            Box::new(Self)
        }
    }
    impl windlass_core::Conversation for Broken {
        fn push(&mut self, _: &windlass_core::render::Block) {}
        fn rewind(&mut self, _: usize) {}
        fn send(&mut self) -> windlass_core::model::Deltas<'_> {
            Box::pin(futures_util::stream::poll_fn(|_| panic!("a defect of the adapter")))
        }
    }
    let played = play(&agent(Broken)).await;
    assert_eq!(played.conclusion.error().unwrap().code.as_ref(), "E_MODEL_FAILED");
}

#[tokio::test(start_paused = true)]
async fn a_bounded_number_of_calls_runs_at_the_same_time() {
    for (calls, expected) in [(MAX_CONCURRENT_CALLS, MAX_CONCURRENT_CALLS), (20, MAX_CONCURRENT_CALLS)] {
        let order = |n| ("look", json!({ "act": "ok", "after": 1 + n % 3 }));
        let model = Script::new().calls_all((0..calls).map(order)).says("Done.");
        let played = play(&agent(model)).await;
        let (mut running, mut most) = (0_usize, 0);
        for event in &played.events {
            match event.kind {
                EventKind::ToolExecutionStart(_) => running += 1,
                EventKind::ToolExecutionEnd(_) => running -= 1,
                _ => {}
            }
            most = most.max(running);
        }
        assert_eq!(most, expected);
        assert_eq!(played.records().len(), calls);
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_tool_is_answered_with_a_bounded_list() {
    let agent_with = |count: usize| {
        let name = |n: usize| windlass_core::tool_fn(format!("t{n}"), "A tool.", Effect::Pure, nothing);
        let agent = windlass_turn::Agent::new(Script::new().calls("fly", json!({})).says("Done."));
        (0..count).fold(agent, |agent, n| agent.tool(name(n)))
    };
    for (count, expected) in
        [(0, "there are no tools"), (50, "the tools are `t0`"), (51, "the first 50 of 51 tools")]
    {
        let played = play(&agent_with(count)).await;
        let record = &played.records()[0];
        let detail = record.results().as_text().unwrap();
        assert!(detail.contains(expected), "{detail}");
        assert!(!detail.contains("`t50`"));
    }
}

async fn nothing(_: Nothing) -> Result<(), windlass_core::ToolError> {
    Ok(())
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[tokio::test(start_paused = true)]
async fn the_pieces_of_a_text_are_the_text() {
    let text = "It rains,  and\nit rains. ";
    let played = play(&agent(Script::new().says(text))).await;
    assert_eq!(played.heard(), text);
    assert_eq!(played.conclusion.text(), text);
}

/// Gives the same bytes at every draw, or fails from one draw on.
struct BadEntropy {
    draws: std::sync::atomic::AtomicUsize,
    fails_after: usize,
}

impl windlass_core::Entropy for BadEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), windlass_core::Error> {
        if self.draws.fetch_add(1, std::sync::atomic::Ordering::SeqCst) >= self.fails_after {
            return Err(windlass_core::Error::new(windlass_core::Code::System, "no random bytes"));
        }
        bytes.fill(7);
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn without_random_bytes_a_turn_never_begins_or_comes_to_its_end() {
    let look = json!({ "act": "ok" });
    let reply = || {
        ScriptedReply::new().says("So.").calls_as("", "look", look.clone()).calls_as("", "look", look.clone())
    };
    for fails_after in 0..10 {
        let entropy = BadEntropy { draws: 0.into(), fails_after };
        let agent = agent(Script::new().reply(reply()).says("Done.")).entropy(entropy);
        let session = agent.new_session();
        let result = session.turn("Go.").run().await;
        let ends = session.facts(0).iter().filter(|entry| matches!(entry.fact, Fact::TurnEnded(_))).count();
        match result {
            Ok(conclusion) => {
                assert_eq!(ends, 1);
                assert_eq!(
                    conclusion.error().unwrap().code.as_ref(),
                    "E_SYSTEM",
                    "fails after {fails_after}"
                );
            }
            Err(error) => {
                assert_eq!(ends, 0);
                assert_eq!(error.code(), windlass_core::Code::System);
                assert!(session.facts(0).is_empty());
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_failing_sibling_cancels_nobody() {
    let acts = ["fail", "panic", "retry", "hang", "ok"];
    let calls = acts.map(|act| ("look", json!({ "act": act, "after": if act == "ok" { 30 } else { 0 } })));
    let played = play(&agent(Script::new().calls_all(calls).says("Done."))).await;
    let slow = played.records().into_iter().find(|call| call.args()["act"] == "ok").unwrap();
    assert_eq!(slow.outcome(), Some(Outcome::Succeeded));
    assert_eq!(played.conclusion.text(), "Done.");
}

#[tokio::test(start_paused = true)]
async fn an_id_of_any_length_and_spelling_is_kept_to_the_letter() {
    let ids = [
        "x".repeat(4096),
        "../../etc/passwd".to_owned(),
        "a b\u{0}\n\"é🎉".to_owned(),
        "call_0#1".to_owned(),
    ];
    let look = json!({ "act": "ok" });
    let reply = ids.iter().fold(ScriptedReply::new(), |reply, id| reply.calls_as(id, "look", look.clone()));
    let played = play(&agent(Script::new().reply(reply).says("Done."))).await;
    let kept: Vec<_> = played.records().iter().map(|call| call.id().to_string()).collect();
    assert_eq!(kept, ids);
    played.assert_one_checksum_per_call();
}
