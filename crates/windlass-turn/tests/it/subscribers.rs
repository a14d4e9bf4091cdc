//! Readers of a turn: late, slow, lost, several.

use futures_util::{FutureExt as _, StreamExt as _};
use serde_json::json;
use windlass_core::{Event, EventKind};
use windlass_testing::{Script, ScriptedReply};
use windlass_turn::DELTA_RING;

use crate::support::{agent, play};

fn script() -> Script {
    Script::new().thinks("Hm, let me see.").calls("look", json!({ "act": "ok" })).says("It rains in Oslo.")
}

fn facts(events: &[Event]) -> Vec<Event> {
    events.iter().filter(|event| event.is_fact()).cloned().collect()
}

#[tokio::test(start_paused = true)]
async fn places_count_up_without_gaps() {
    let played = play(&agent(script())).await;
    let places: Vec<_> = played.events.iter().map(|event| (event.seq, event.part)).collect();
    assert!(places.is_sorted_by(|a, b| a < b), "{places:?}");
    let mut seqs: Vec<_> = places.iter().map(|(seq, _)| *seq).collect();
    seqs.dedup();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_late_reader_gets_every_fact_and_then_the_end() {
    let session = agent(script()).new_session();
    let turn = session.turn("Go.");
    let control = turn.control();
    let live: Vec<_> = turn.map(|event| event.unwrap()).collect().await;
    let late: Vec<_> = control.subscribe().collect().await;
    assert_eq!(facts(&late), facts(&live));
    for seen in 0..live.last().unwrap().seq {
        let missed: Vec<_> = control.subscribe_after(seen).collect().await;
        let expected: Vec<_> = facts(&live).into_iter().filter(|event| event.seq > seen).collect();
        assert_eq!(facts(&missed), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_beside_the_turn_sees_what_the_turn_sees() {
    let turn = agent(script()).turn("Go.");
    let watcher = tokio::spawn(turn.control().subscribe().collect::<Vec<_>>());
    let live: Vec<_> = turn.map(|event| event.unwrap()).collect().await;
    assert_eq!(facts(&watcher.await.unwrap()), facts(&live));
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_never_reads_holds_nobody_up() {
    for (count, first) in [(DELTA_RING, 0), (DELTA_RING + 1, 1), (2 * DELTA_RING, DELTA_RING)] {
        let many = (0..count).fold(ScriptedReply::new(), |reply, n| reply.says(format!("{n} ")));
        let turn = agent(Script::new().reply(many)).turn("Go.");
        let mut idle = turn.control().subscribe();
        assert!(idle.next().now_or_never().is_none());
        let conclusion = turn.await.unwrap();
        assert!(conclusion.text().ends_with(&format!(" {} ", count - 1)));
        let seen: Vec<_> = idle.collect().await;
        let deltas: Vec<_> = seen.iter().filter(|event| !event.is_fact()).collect();
        assert_eq!(deltas.len(), DELTA_RING, "the ring keeps the newest, and only those");
        assert!(matches!(
            &deltas[0].kind,
            EventKind::Message { content } if content.delta.as_deref() == Some(&*format!("{first} "))
        ));
        let is_whole =
            |event: &Event| matches!(&event.kind, EventKind::Message { content } if content.is_complete);
        assert!(seen.iter().any(is_whole));
    }
}

#[tokio::test(start_paused = true)]
async fn the_reader_of_one_turn_sees_nothing_of_the_others() {
    let session = agent(Script::new().says("first").says("second")).new_session();
    let first = session.turn("1");
    let second = session.turn("2");
    let (of_first, of_second) = (first.control().subscribe(), second.control().subscribe());
    let all = session.subscribe(0);
    first.await.unwrap();
    second.await.unwrap();
    let of_first: Vec<_> = of_first.collect().await;
    let of_second: Vec<_> = of_second.collect().await;
    assert!(of_first.iter().all(|event| event.turn_id == of_first[0].turn_id));
    assert!(of_second.iter().all(|event| event.turn_id == of_second[0].turn_id));
    assert_ne!(of_first[0].turn_id, of_second[0].turn_id);
    let everything: Vec<_> = all.take(facts(&of_first).len() + facts(&of_second).len()).collect().await;
    assert_eq!(everything.last().unwrap().turn_id, of_second[0].turn_id);
}

#[tokio::test(start_paused = true)]
async fn a_spawned_turn_runs_without_being_read() {
    let turn = agent(script()).turn("Go.").spawn();
    let events: Vec<_> = turn.control().subscribe().collect().await;
    assert!(matches!(events.last().unwrap().kind, EventKind::TurnEnd(_)));
    assert_eq!(turn.await.unwrap().text(), "It rains in Oslo.");
}

#[tokio::test(start_paused = true)]
async fn aborting_twice_or_after_the_end_changes_nothing() {
    let mut turn = agent(script()).turn("Go.");
    let control = turn.control();
    let mut ends = 0;
    while let Some(event) = turn.next().await {
        ends += usize::from(matches!(event.unwrap().kind, EventKind::TurnEnd(_)));
        control.abort();
    }
    control.abort();
    assert!(turn.next().await.is_none());
    assert_eq!(ends, 1);
}

#[tokio::test(start_paused = true)]
async fn an_event_is_one_flat_object() {
    let played = play(&agent(script())).await;
    let json: Vec<_> = played.events.iter().map(|event| serde_json::to_value(event).unwrap()).collect();
    let find = |name: &str| json.iter().find(|event| event["type"] == name).unwrap();
    for event in &json {
        for field in ["seq", "part", "type", "turnId", "at"] {
            assert!(event.get(field).is_some(), "{field} in {event}");
        }
    }
    assert_eq!(find("message")["content"]["isComplete"], false);
    let call = find("toolCall");
    assert_eq!(call["content"]["tool"], "look");
    assert!(call["content"].get("results").is_none());
    let start = find("toolExecutionStart");
    assert_eq!(start["callId"], call["content"]["checksum"]);
    assert_eq!(start["toolCallId"], "call_1_1");
    let end = find("turnEnd");
    assert_eq!((&end["status"], &end["stopReason"]), (&json!("completed"), &json!("answered")));
}
