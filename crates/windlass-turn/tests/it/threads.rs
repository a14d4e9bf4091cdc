//! Turns on several threads: aborts, readers and handlers that really run at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::StreamExt as _;
use serde_json::json;
use windlass_core::{Effect, Event, StopReason};
use windlass_testing::Script;
use windlass_turn::Agent;

use crate::support::{actor, quiet_panics};
use crate::worlds::{Seen, check_transcript_and_stream};

fn agent() -> Agent {
    let acts = ["ok", "fail", "panic", "latePanic", "heed", "retry", "ok", "nothing", "binary", "heed"];
    let calls =
        |acts: &[&'static str]| acts.iter().map(|act| ("look", json!({ "act": act }))).collect::<Vec<_>>();
    let script = Script::new().calls_all(calls(&acts[..3])).calls_all(calls(&acts)).says("never said");
    Agent::new(script).tool(actor("look", Effect::Pure).0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_turn_ends_and_every_reader_sees_its_end() {
    quiet_panics();
    let seen_by_readers = Arc::new(AtomicUsize::new(0));
    let mut turns = Vec::new();
    for number in 0..200_usize {
        let seen_by_readers = seen_by_readers.clone();
        turns.push(tokio::spawn(async move {
            let session = agent().new_session();
            let turn = session.turn("Go.").spawn();
            let control = turn.control();
            let readers: Vec<_> =
                (0..3).map(|_| tokio::spawn(control.subscribe().collect::<Vec<Event>>())).collect();
            // The second batch waits for the abort, which comes from another task, early or late.
            let aborter = tokio::spawn(async move {
                let mut events = control.subscribe();
                for _ in 0..number % 40 {
                    events.next().await;
                }
                control.abort();
            });
            let conclusion = turn.await.unwrap();
            assert_eq!(conclusion.stop_reason(), StopReason::Aborted);
            aborter.await.unwrap();
            for reader in readers {
                let events = reader.await.unwrap();
                check_transcript_and_stream(&Seen::of(&session, events, 0));
                seen_by_readers.fetch_add(1, Ordering::SeqCst);
            }
        }));
    }
    for turn in turns {
        turn.await.unwrap();
    }
    assert_eq!(seen_by_readers.load(Ordering::SeqCst), 600);
}
