//! Several turns of one conversation.

use futures_util::{FutureExt as _, StreamExt as _};
use serde_json::json;
use windlass_core::event::Fact;
use windlass_core::render::BlockView;
use windlass_core::{Code, Effect, EventKind, Outcome, StopReason, TranscriptMessage};
use windlass_testing::{Script, outline};
use windlass_turn::Agent;

use crate::journal::SlowJournal;
use crate::support::{actor, agent, code, play};

#[tokio::test(start_paused = true)]
async fn a_session_remembers_what_was_said() {
    let (model, requests) =
        Script::new().calls("look", json!({ "act": "ok" })).says("Rain.").says("Snow.").recorded();
    let agent = agent(model).instructions("Be brief.");
    assert_eq!(agent.session("anna").ask("Oslo?").await.unwrap().text(), "Rain.");
    assert_eq!(agent.session("anna").ask("And Bergen?").await.unwrap().text(), "Snow.");
    let requests = requests.all();
    assert!(requests.iter().all(|request| request.opening == requests[0].opening));
    assert_eq!(requests[0].opening.tools.len(), 3);
    for pair in requests.windows(2) {
        assert_eq!(
            pair[1].blocks[..pair[0].blocks.len()],
            pair[0].blocks,
            "a request begins with the one before"
        );
    }
    let said: Vec<_> = requests[2]
        .blocks
        .iter()
        .map(|block| match block.view() {
            BlockView::User(text) => format!("user {text}"),
            BlockView::Assistant { text, calls } => format!("assistant {text:?} {}", calls.len()),
            BlockView::ToolResult { id, text } => format!("tool {id} {text}"),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        said,
        [
            "user Oslo?",
            "assistant None 1",
            "tool call_1_1 > done",
            "assistant Some(\"Rain.\") 0",
            "user And Bergen?"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_results_of_a_trusted_tool_are_not_quoted() {
    let trusted =
        windlass_core::tool_fn("now", "The time.", Effect::Pure, |_: serde_json::Map<String, _>| async {
            let _: Option<serde_json::Value> = None;
            Ok("noon")
        })
        .with(windlass_core::Definition::trusted);
    let (model, requests) = Script::new().calls("now", json!({})).says("Noon.").recorded();
    Agent::new(model).tool(trusted).ask("?").await.unwrap();
    let requests = requests.all();
    let BlockView::ToolResult { text, .. } = requests[1].blocks[2].view() else { panic!() };
    assert_eq!(text, "noon");
}

#[tokio::test(start_paused = true)]
async fn sessions_do_not_mix() {
    let agent = agent(Script::new().says("first").says("second"));
    assert_eq!(agent.session("anna").ask("?").await.unwrap().text(), "first");
    assert_eq!(agent.session("ben").ask("?").await.unwrap().text(), "first");
    assert_eq!(agent.session("anna").ask("?").await.unwrap().text(), "second");
    agent.forget("anna");
    assert_eq!(agent.session("anna").ask("?").await.unwrap().text(), "first");
    assert_eq!(agent.ask("?").await.unwrap().text(), "first");
}

#[tokio::test(start_paused = true)]
async fn a_second_turn_is_refused_while_one_runs() {
    let session = agent(Script::new().hangs("Well").says("Yes.")).new_session();
    let mut first = session.turn("?");
    first.next().await.unwrap().unwrap();
    let error = session.ask("!").await.unwrap_err();
    assert_eq!(error.code(), Code::SessionBusy);
    assert!(error.is_transient());
    drop(first);
    assert_eq!(session.ask("!").await.unwrap().text(), "Yes.");
}

#[tokio::test(start_paused = true)]
async fn g1_a_dropped_turn_is_brought_to_its_end_by_the_next() {
    let act = |act: &str| json!({ "act": act });
    let model = Script::new()
        .calls_all([("look", act("ok")), ("pay", act("hang")), ("put", act("hang")), ("look", json!(7))])
        .says("Still here.");
    let session = agent(model).new_session();
    let mut turn = session.turn("Go.");
    let control = turn.control();
    while let Some(event) = turn.next().await {
        if matches!(event.unwrap().kind, EventKind::ToolExecutionEnd(_)) {
            break;
        }
    }
    let mut watcher = control.subscribe();
    drop(turn);
    while watcher.next().await.is_some() {}
    assert!(!session.facts(0).iter().any(|entry| matches!(entry.fact, Fact::TurnEnded(_))));

    assert_eq!(session.ask("Hello?").await.unwrap().text(), "Still here.");
    let entries = session.facts(0);
    let ends: Vec<_> = entries
        .iter()
        .filter_map(|entry| match &entry.fact {
            Fact::TurnEnded(end) => Some((entry.turn_id, end.stop_reason)),
            _ => None,
        })
        .collect();
    assert_eq!(ends.len(), 2);
    assert_eq!(ends[0], (control.id().unwrap(), StopReason::Aborted));
    let outcomes: Vec<_> = entries
        .iter()
        .filter_map(|entry| match &entry.fact {
            Fact::CallSettled { call, .. } => Some((call.id().to_string(), call.outcome().unwrap())),
            _ => None,
        })
        .collect();
    let of = |n: usize| outcomes.iter().find(|(id, _)| *id == format!("call_1_{n}")).unwrap().1;
    assert_eq!([of(1), of(2), of(3)], [Outcome::Succeeded, Outcome::Unknown, Outcome::Failed]);
    assert_eq!(outcomes.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_mistake_in_the_definition_is_reported_by_the_first_turn() {
    let twice = agent(Script::new().says("?")).tool(actor("look", Effect::Pure).0);
    assert_eq!(twice.check().unwrap_err().code(), Code::ToolAlreadyRegistered);
    assert_eq!(code(&twice.ask("?").await.unwrap_err()), "E_TOOL_ALREADY_REGISTERED");
    let nameless = windlass_core::tool_fn("", "", Effect::Pure, |_: String| async { Ok("") });
    let error = Agent::new(Script::new()).tool(nameless).ask("?").await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidTool);
    assert_eq!(error.problems().len(), 3, "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_empty_prompt_is_refused_before_anything_is_written() {
    let session = agent(Script::new().says("?")).new_session();
    assert_eq!(session.ask("").await.unwrap_err().code(), Code::InvalidMessage);
    assert!(session.facts(0).is_empty());
}

#[test]
fn outside_a_runtime_a_turn_says_what_it_needs() {
    let agent = Agent::new(Script::new().says("?"));
    let result = futures_util::FutureExt::now_or_never(agent.turn("?").run()).unwrap();
    assert!(result.unwrap_err().to_string().contains("Tokio runtime"));
}

#[tokio::test(start_paused = true)]
async fn ask_tells_why_there_is_no_answer() {
    let looping = agent(Script::new().calls("look", json!({ "act": "ok" }))).max_iterations(1);
    assert_eq!(code(&looping.ask("?").await.unwrap_err()), "E_TURN_STOPPED");
    let failing = agent(Script::new().fails("the server is on fire"));
    let error = failing.ask("?").await.unwrap_err();
    assert_eq!(error.to_string(), "E_MODEL_FAILED: the server is on fire");
    assert!(error.is_transient());
    let turn = agent(Script::new().says("?")).turn("?");
    turn.control().abort();
    assert_eq!(code(&turn.await.unwrap().into_answer().unwrap_err()), "E_TURN_ABORTED");
}

#[tokio::test(start_paused = true)]
async fn an_empty_reply_is_an_empty_answer() {
    let session = agent(Script::new().says("").says("Yes.")).new_session();
    assert_eq!(session.ask("?").await.unwrap().text(), "");
    assert_eq!(session.ask("!").await.unwrap().text(), "Yes.");
    assert_eq!(session.transcript().len(), 3, "an assistant message without content is not sent back");
}

#[tokio::test]
async fn g14_the_same_script_gives_the_same_journal() {
    let run = || {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        std::thread::spawn(move || {
            runtime.block_on(async {
                let model = Script::new()
                    .calls_all([
                        ("look", json!({ "act": "ok" })),
                        ("pay", json!({ "act": "ok", "after": 1 })),
                    ])
                    .says("Done.");
                let played = play(&agent(model)).await;
                (serde_json::to_string(&played.entries).unwrap(), outline(&played.events))
            })
        })
        .join()
        .unwrap()
    };
    assert_eq!(run(), run());
}

#[tokio::test(start_paused = true)]
async fn g1_a_turn_may_be_dropped_between_any_two_polls() {
    let act = |act: &str, after: u64| json!({ "act": act, "after": after });
    let script = || {
        Script::new()
            .calls_all([
                ("look", act("ok", 1)),
                ("pay", act("ok", 2)),
                ("put", act("fail", 0)),
                ("fly", json!({})),
            ])
            .says("First.")
            .says("Second.")
            .says("Third.")
    };
    let mut polls = 0;
    loop {
        let session = agent(script()).journal(SlowJournal::default()).new_session();
        let mut turn = Box::pin(session.turn("Go.").run());
        let mut is_over = false;
        for _ in 0..polls {
            if (&mut turn).now_or_never().is_some() {
                is_over = true;
                break;
            }
            // Whoever else can run, runs; and if nobody can, time passes.
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        drop(turn);
        let answer = session.ask("Go on.").await.unwrap();
        assert!(["First.", "Second.", "Third."].contains(&answer.text()));

        let entries = session.facts(0);
        assert!((1..).zip(&entries).all(|(seq, entry)| entry.seq == seq));
        let count = |is: fn(&Fact) -> bool| entries.iter().filter(|entry| is(&entry.fact)).count();
        assert_eq!(
            count(|fact| matches!(fact, Fact::TurnStarted { .. })),
            count(|fact| matches!(fact, Fact::TurnEnded(_)))
        );
        let started = |tool: &str| {
            let is_start = |entry: &&std::sync::Arc<windlass_core::Entry>| matches!(&entry.fact, Fact::CallStarted(start) if &*start.tool_name == tool);
            entries.iter().filter(is_start).count()
        };
        assert!(started("pay") <= 1, "a `once` handler never runs twice");
        let settled = count(|fact| matches!(fact, Fact::CallSettled { .. }));
        let announced: usize = entries
            .iter()
            .map(|entry| match &entry.fact {
                Fact::Replied { calls, .. } => calls.len(),
                _ => 0,
            })
            .sum();
        assert_eq!(settled, announced, "dropped after {polls} polls");
        let transcript = session.transcript();
        let answers =
            transcript.iter().filter(|message| matches!(message, TranscriptMessage::Tool(_))).count();
        assert_eq!(answers, announced);
        if is_over {
            break;
        }
        polls += 1;
    }
    assert!(polls > 20, "{polls}");
}
