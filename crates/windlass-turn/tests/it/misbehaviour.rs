//! Models, clocks and results that do not behave: the turn ends all the same, and the session goes on.

use std::pin::Pin;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _, stream};
use serde_json::json;
use windlass_core::event::{Entry, Fact};
use windlass_core::model::{Deltas, FinishReason, Opening};
use windlass_core::render::Block;
use windlass_core::{
    Clock, Conversation, Effect, EventKind, Journal, JournalFuture, Model, ModelDelta, Outcome, SessionId,
    Sleep, StopReason, Timestamp, TranscriptMessage, Usage, tool_fn,
};
use windlass_testing::{FixedEntropy, Script, ScriptedReply};
use windlass_turn::{Agent, MAX_OUTPUT_BYTES, Machine, MemoryJournal};

use crate::support::{actor, agent, play, quiet_panics};

/// A model whose every reply is made by a function, and which panics where it is told to.
#[derive(Clone)]
struct Odd {
    reply: fn() -> Deltas<'static>,
    panics_at: Vec<&'static str>,
    /// How many of them have panicked.
    passed: Arc<AtomicUsize>,
    pushed: Arc<Mutex<Vec<Vec<Block>>>>,
}

impl Odd {
    fn replies(reply: fn() -> Deltas<'static>) -> Self {
        Self { reply, panics_at: Vec::new(), passed: Arc::default(), pushed: Arc::default() }
    }

    /// Panics at these places, once each, in this order.
    fn panics(places: &[&'static str]) -> Self {
        Self { panics_at: places.to_vec(), ..Self::replies(|| text("Fine.")) }
    }

    fn pass(&self, place: &str) {
        let next = self.passed.load(Ordering::SeqCst);
        if self.panics_at.get(next) == Some(&place) {
            self.passed.fetch_add(1, Ordering::SeqCst);
            panic!("in {place}, as told");
        }
    }
}

fn text(text: &str) -> Deltas<'static> {
    let deltas = [ModelDelta::Text(text.to_owned()), ModelDelta::Finish(FinishReason::Stop)];
    Box::pin(stream::iter(deltas.map(Ok)))
}

impl Model for Odd {
    fn name(&self) -> &'static str {
        "odd"
    }

    fn open(&self, _: &Opening) -> Box<dyn Conversation> {
        self.pass("open");
        self.pushed.lock().unwrap().push(Vec::new());
        Box::new(OddConversation(self.clone()))
    }
}

/// The conversation of an [`Odd`] model.
struct OddConversation(Odd);

impl Drop for OddConversation {
    fn drop(&mut self) {
        self.0.pass("drop");
    }
}

impl Conversation for OddConversation {
    fn push(&mut self, block: &Block) {
        self.0.pass("push");
        self.0.pushed.lock().unwrap().last_mut().unwrap().push(block.clone());
    }

    fn rewind(&mut self, _: usize) {}

    fn send(&mut self) -> Deltas<'_> {
        self.0.pass("send");
        let odd = self.0.clone();
        Box::pin((self.0.reply)().inspect(move |_| odd.pass("stream")))
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_never_stops_talking_can_be_aborted() {
    let endless: [fn() -> Deltas<'static>; 4] = [
        || {
            let call = || ModelDelta::Call { slot: 0, id: None, tool: None, arguments: String::new() };
            Box::pin(stream::repeat_with(move || Ok(call())))
        },
        || Box::pin(stream::repeat_with(|| Ok(ModelDelta::Usage(Usage::default())))),
        || Box::pin(stream::repeat_with(|| Ok(ModelDelta::Text(String::new())))),
        || Box::pin(stream::repeat_with(|| Ok(ModelDelta::Text("word ".to_owned())))),
    ];
    for reply in endless {
        let turn = agent(Odd::replies(reply)).turn("Go.").spawn();
        tokio::task::yield_now().await;
        turn.control().abort();
        assert_eq!(turn.await.unwrap().stop_reason(), StopReason::Aborted);
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_reads_the_turn_misses_no_piece() {
    let words: String = (0..1_000).map(|n| n.to_string() + " ").collect();
    let played = play(&agent(Script::new().says(&words))).await;
    assert_eq!(played.heard(), words);
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_the_adapter_fails_the_turn_and_the_next_one_starts_afresh() {
    quiet_panics();
    let places: [&[&str]; 7] = [
        &["open"],
        &["push"],
        &["send"],
        &["stream"],
        &["push", "drop"],
        &["send", "drop"],
        &["stream", "drop"],
    ];
    for places in places {
        let place = places.join(" and ");
        let model = Odd::panics(places);
        let session = agent(model.clone()).new_session();
        let first = session.turn("One.").run().await.unwrap();
        assert_eq!(first.error().unwrap().code.as_ref(), "E_MODEL_FAILED", "{place}");
        assert_eq!(session.ask("Two.").await.unwrap().text(), "Fine.", "{place}");
        let pushed = model.pushed.lock().unwrap().last().unwrap().len();
        assert_eq!(pushed, 2, "{place}: the new conversation was told both questions");
        assert_eq!(session.transcript().len(), 3);
        let entries = session.facts(0);
        assert!((1..).zip(&entries).all(|(seq, entry)| entry.seq == seq));
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_a_reply_is_dropped_stays_inside() {
    struct Bomb(Deltas<'static>);
    impl stream::Stream for Bomb {
        type Item = Result<ModelDelta, windlass_core::Error>;
        fn poll_next(
            mut self: Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Self::Item>> {
            self.0.poll_next_unpin(cx)
        }
    }
    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "dropped, as told");
        }
    }
    quiet_panics();
    let model = Odd::replies(|| Box::pin(Bomb(Box::pin(stream::pending()))));
    let turn = agent(model).turn("Go.").spawn();
    tokio::task::yield_now().await;
    turn.control().abort();
    assert_eq!(turn.await.unwrap().stop_reason(), StopReason::Aborted);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_took_effect_is_not_said_to_have_failed() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Nothing {}
    let odd = tool_fn("odd", "Pays.", Effect::Once, |_: Nothing| async {
        Ok(std::collections::HashMap::from([((1, 2), "keys of JSON are texts")]))
    });
    let big =
        tool_fn("big", "Pays.", Effect::Once, |_: Nothing| async { Ok("x".repeat(MAX_OUTPUT_BYTES + 1)) });
    let model = Script::new().calls_all([("odd", json!({})), ("big", json!({}))]).says("Done.");
    let played = play(&Agent::new(model).tool(odd).tool(big)).await;
    for record in played.records() {
        assert_eq!(record.outcome(), Some(Outcome::Succeeded));
        assert!(record.is_error());
        let detail = record.results().as_text().unwrap();
        assert!(detail.contains(&format!("`{}` ran and took effect", record.tool())), "{detail}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_can_be_looked_at_while_its_turn_is_held() {
    let session = agent(Script::new().hangs("Well, ").says("No.")).new_session();
    let mut turn = session.turn("Is it?");
    turn.next().await.unwrap().unwrap();
    assert_eq!(session.transcript().len(), 1);
    assert!(session.machine().is_none());
    drop(turn);
    assert!(session.machine().is_some());
}

/// Waits for a permit before it keeps the start of a call.
struct GatedJournal {
    inner: MemoryJournal,
    gate: Arc<tokio::sync::Semaphore>,
    waits: Arc<tokio::sync::Notify>,
}

impl Journal for GatedJournal {
    fn append<'a>(
        &'a self,
        session: SessionId,
        position: u64,
        batch: &'a [Arc<Entry>],
    ) -> JournalFuture<'a, ()> {
        Box::pin(async move {
            if batch.iter().any(|entry| matches!(entry.fact, Fact::CallStarted(_))) {
                self.waits.notify_one();
                self.gate.acquire().await.unwrap().forget();
            }
            self.inner.append(session, position, batch).await
        })
    }

    fn read(&self, session: SessionId, after: u64) -> JournalFuture<'_, Vec<Arc<Entry>>> {
        self.inner.read(session, after)
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_whose_start_is_being_written_when_the_abort_comes_does_not_run() {
    let (gate, waits) = (Arc::new(tokio::sync::Semaphore::new(0)), Arc::new(tokio::sync::Notify::new()));
    let journal = GatedJournal { inner: MemoryJournal::new(), gate: gate.clone(), waits: waits.clone() };
    let (pay, runs) = actor("pay", Effect::Once);
    let model = Script::new().calls("pay", json!({ "act": "ok" })).says("never said");
    let session = Agent::new(model).tool(pay).journal(journal).new_session();
    let turn = session.turn("Go.").spawn();
    waits.notified().await;
    turn.control().abort();
    gate.add_permits(1);
    let events: Vec<_> = turn.control().subscribe().collect().await;
    assert_eq!(turn.await.unwrap().stop_reason(), StopReason::Aborted);
    assert_eq!(runs.load(Ordering::SeqCst), 0);
    let settled = session.facts(0).iter().find_map(|entry| match &entry.fact {
        Fact::CallSettled { call, .. } => Some((call.outcome(), call.operation_id().is_some())),
        _ => None,
    });
    assert_eq!(settled, Some((Some(Outcome::NotRun), true)));
    let count = |is: fn(&EventKind) -> bool| events.iter().filter(|event| is(&event.kind)).count();
    assert_eq!(count(|kind| matches!(kind, EventKind::ToolExecutionStart(_))), 1);
    assert_eq!(count(|kind| matches!(kind, EventKind::ToolExecutionEnd(_))), 1);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_ends_the_turn_keeps_the_waiting_from_starting() {
    let (pay, runs) = actor("pay", Effect::Once);
    let abort = ("look", json!({ "act": "abort" }));
    let pays = (0..100).map(|_| ("pay", json!({ "act": "ok", "after": 1 })));
    let model = Script::new().calls_all([abort].into_iter().chain(pays)).says("never said");
    let played = play(&Agent::new(model).tool(actor("look", Effect::Pure).0).tool(pay)).await;
    assert_eq!(runs.load(Ordering::SeqCst), windlass_turn::MAX_CONCURRENT_CALLS - 1);
    assert_eq!(played.records().len(), 101);
    let error = played.conclusion.error().unwrap();
    assert_eq!(error.message.matches("E_TOOL_DOWNSTREAM_ERROR").count(), 0, "{}", error.message);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_nobody_holds_is_gone() {
    let agent = agent(Script::new().says("Yes."));
    let session = agent.session("anna");
    session.ask("?").await.unwrap();
    let kept = Arc::downgrade(&session.facts(0)[0]);
    let mut reader = session.subscribe(0);
    drop(session);
    assert!(kept.upgrade().is_some());
    agent.forget("anna");
    while reader.next().await.is_some() {}
    drop(reader);
    assert!(kept.upgrade().is_none());
}

/// A clock that loses a second at every look.
struct BackwardClock(AtomicI64);

impl Clock for BackwardClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_sub(1_000, Ordering::SeqCst)).unwrap()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}

#[tokio::test(start_paused = true)]
async fn times_never_run_backwards_whatever_the_clock_does() {
    let script = Script::new()
        .thinks("Let me see.")
        .calls_all([("look", json!({ "act": "ok" })), ("look", json!({ "act": "fail" }))])
        .says("Done, at last.");
    let agent = Agent::new(script)
        .tool(actor("look", Effect::Pure).0)
        .entropy(FixedEntropy::default())
        .clock(BackwardClock(AtomicI64::new(1_767_225_600_000)));
    let played = play(&agent).await;
    assert!(played.events.is_sorted_by_key(|event| event.at));
    for event in &played.events {
        match &event.kind {
            EventKind::Message { content } | EventKind::Thought { content } => {
                assert!(content.created_at <= content.updated_at);
            }
            EventKind::ToolExecutionEnd(end) => assert!(end.started_at <= end.ended_at),
            _ => {}
        }
    }
    for record in played.records() {
        let ran = played.entries.iter().find_map(|entry| match &entry.fact {
            Fact::CallSettled { call, ran, .. } if call.id() == record.id() => *ran,
            _ => None,
        });
        assert!(record.created_at() <= ran.unwrap().started_at);
        assert!(ran.unwrap().ended_at <= record.completed_at());
    }
}

#[tokio::test(start_paused = true)]
async fn what_an_abandoned_turn_had_shown_in_part_is_retracted() {
    let session = agent(Script::new().hangs("Well, you").says("Yes.")).new_session();
    let mut turn = session.turn("?");
    let shown = loop {
        if let EventKind::Message { content } = turn.next().await.unwrap().unwrap().kind {
            break content.id;
        }
    };
    drop(turn);
    session.ask("!").await.unwrap();
    let retracted = session.facts(0).iter().find_map(|entry| match &entry.fact {
        Fact::AbortRequested { retracted } => Some(retracted.clone()),
        _ => None,
    });
    assert_eq!(retracted.unwrap(), [shown]);
}

#[tokio::test(start_paused = true)]
async fn the_fold_of_a_journal_of_several_turns_is_its_last_turn() {
    let session = agent(Script::new().says("One.").calls("look", json!({ "act": "hang" }))).new_session();
    session.ask("1").await.unwrap();
    let mut turn = session.turn("2");
    while !matches!(turn.next().await.unwrap().unwrap().kind, EventKind::ToolExecutionStart(_)) {}
    drop(turn);
    let entries = session.facts(0);
    let folded = Machine::fold(windlass_turn::Limits::default(), entries.iter().map(|entry| &**entry));
    assert_eq!(Some(folded), session.machine());
}

#[test]
fn a_turn_that_began_in_a_runtime_may_be_polled_elsewhere() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
    let agent = Agent::new(Script::new().calls("look", json!({ "act": "ok" })).says("Done."));
    let mut turn = Box::pin(agent.tool(actor("look", Effect::Pure).0).turn("Go.").run());
    let first = runtime.block_on(async { (&mut turn).now_or_never() });
    assert!(first.is_none());
    let conclusion = loop {
        match (&mut turn).now_or_never() {
            Some(conclusion) => break conclusion.unwrap(),
            None => std::thread::yield_now(),
        }
    };
    assert_eq!(conclusion.text(), "Done.");
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_goes_on_after_its_end_is_not_trusted() {
    let model = Odd::replies(|| {
        let late = ModelDelta::Call { slot: 0, id: None, tool: Some("pay".into()), arguments: "{}".into() };
        Box::pin(stream::iter([Ok(ModelDelta::Finish(FinishReason::Stop)), Ok(late)]))
    });
    let played = play(&agent(model)).await;
    assert_eq!(played.conclusion.stop_reason(), StopReason::Failed);
    assert!(played.records().is_empty());
    assert!(matches!(played.transcript[..], [TranscriptMessage::User(_)]));
}

#[tokio::test(start_paused = true)]
async fn a_turn_of_short_replies_hears_an_abort_and_shows_every_piece() {
    let calls = |count: usize, words: usize| {
        let reply = ScriptedReply::new().says("word ".repeat(words)).calls("fly", json!({}));
        (0..count).fold(Script::new(), |script, _| script.reply(reply.clone()))
    };
    let turn = agent(calls(5_000, 0)).max_iterations(5_000).turn("Go.").spawn();
    tokio::task::yield_now().await;
    turn.control().abort();
    assert_eq!(turn.await.unwrap().stop_reason(), StopReason::Aborted);

    let played = play(&agent(calls(10, 50).says("Done."))).await;
    assert_eq!(played.heard(), "word ".repeat(500) + "Done.");
}

#[tokio::test(start_paused = true)]
async fn what_was_never_shown_is_not_retracted() {
    let model = Odd::replies(|| {
        let deltas = [
            ModelDelta::Thought("Hm.".into()),
            ModelDelta::Finish(FinishReason::Stop),
            ModelDelta::Text("late".into()),
        ];
        Box::pin(stream::iter(deltas.map(Ok)))
    });
    let played = play(&agent(model)).await;
    let retracted = played.events.iter().find_map(|event| match &event.kind {
        EventKind::Retracted { ids } => Some(ids.len()),
        _ => None,
    });
    assert_eq!(retracted, Some(1));
}

#[tokio::test(start_paused = true)]
async fn an_adapter_may_look_at_the_session_it_serves() {
    /// Looks at the transcript whenever it is told something.
    struct Nosy(Arc<Mutex<Option<windlass_turn::Session>>>);
    impl Model for Nosy {
        fn name(&self) -> &'static str {
            "nosy"
        }
        fn open(&self, _: &Opening) -> Box<dyn Conversation> {
            Box::new(Self(self.0.clone()))
        }
    }
    impl Conversation for Nosy {
        fn push(&mut self, _: &Block) {
            assert!(!self.0.lock().unwrap().as_ref().unwrap().transcript().is_empty());
        }
        fn rewind(&mut self, _: usize) {}
        fn send(&mut self) -> Deltas<'_> {
            text("Seen.")
        }
    }
    let place = Arc::new(Mutex::new(None));
    let session = agent(Nosy(place.clone())).new_session();
    *place.lock().unwrap() = Some(session.clone());
    assert_eq!(session.ask("?").await.unwrap().text(), "Seen.");
    *place.lock().unwrap() = None;
}
