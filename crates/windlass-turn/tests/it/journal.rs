//! Facts are kept before anybody sees them, and a journal that fails loses nothing in silence.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use futures_util::{FutureExt as _, StreamExt as _};
use serde_json::json;
use windlass_core::event::{Entry, Fact};
use windlass_core::{Code, Error, EventKind, Journal, JournalFuture, SessionId, StopReason};
use windlass_testing::Script;
use windlass_turn::MemoryJournal;

use crate::support::{agent, play};

/// Takes its time before it keeps anything, and tells how much it has kept.
#[derive(Default)]
pub(crate) struct SlowJournal {
    inner: MemoryJournal,
    pub(crate) kept: AtomicU64,
}

impl Journal for SlowJournal {
    fn append<'a>(
        &'a self,
        session: SessionId,
        position: u64,
        batch: &'a [Arc<Entry>],
    ) -> JournalFuture<'a, ()> {
        Box::pin(async move {
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            self.inner.append(session, position, batch).await?;
            self.kept.store(position + batch.len() as u64, Ordering::SeqCst);
            Ok(())
        })
    }

    fn read(&self, session: SessionId, after: u64) -> JournalFuture<'_, Vec<Arc<Entry>>> {
        self.inner.read(session, after)
    }
}

#[tokio::test(start_paused = true)]
async fn g6_no_fact_is_seen_before_the_journal_has_it() {
    let journal = Arc::new(SlowJournal::default());
    let model = Script::new()
        .calls_all([("look", json!({ "act": "ok" })), ("pay", json!({ "act": "ok" }))])
        .says("Done.");
    let session = agent(model).journal(journal.clone()).new_session();
    let turn = session.turn("Go.");
    let mut watcher = turn.control().subscribe();
    let mut turn = std::pin::pin!(turn.run());
    let mut seen = 0;
    // The turn is polled step by step, and the watcher is asked after every step.
    loop {
        let is_over = (&mut turn).now_or_never().is_some();
        while let Some(Some(event)) = watcher.next().now_or_never() {
            let kept = journal.kept.load(Ordering::SeqCst);
            assert!(event.seq <= kept, "saw {} with {kept} kept", event.seq);
            seen += usize::from(event.is_fact());
        }
        if is_over {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert!(seen > 10);
}

/// Fails at one append, before or after it has kept the batch.
struct FailingJournal {
    inner: MemoryJournal,
    appends: AtomicUsize,
    fails_at: usize,
    keeps_first: bool,
}

impl Journal for FailingJournal {
    fn append<'a>(
        &'a self,
        session: SessionId,
        position: u64,
        batch: &'a [Arc<Entry>],
    ) -> JournalFuture<'a, ()> {
        Box::pin(async move {
            let number = self.appends.fetch_add(1, Ordering::SeqCst);
            if number != self.fails_at {
                return self.inner.append(session, position, batch).await;
            }
            if self.keeps_first {
                self.inner.append(session, position, batch).await?;
            }
            Err(Error::new(Code::JournalFailed, "the disk is full").transient())
        })
    }

    fn read(&self, session: SessionId, after: u64) -> JournalFuture<'_, Vec<Arc<Entry>>> {
        self.inner.read(session, after)
    }
}

#[tokio::test(start_paused = true)]
async fn a_journal_that_fails_ends_the_stream_and_the_session_goes_on_later() {
    let script =
        || Script::new().calls("pay", json!({ "act": "ok" })).says("Done.").says("Again.").says("Again.");
    let appends = play(&agent(script())).await.entries.len();
    for fails_at in 0..appends {
        for keeps_first in [false, true] {
            let journal = FailingJournal {
                inner: MemoryJournal::new(),
                appends: AtomicUsize::new(0),
                fails_at,
                keeps_first,
            };
            let session = agent(script()).journal(journal).new_session();
            let mut turn = session.turn("Go.");
            let mut items = Vec::new();
            while let Some(item) = turn.next().await {
                items.push(item);
            }
            let error = items.pop().unwrap().unwrap_err();
            assert_eq!(error.code(), Code::JournalFailed);
            assert!(matches!(items.pop().unwrap().unwrap().kind, EventKind::Detached { .. }));
            assert!(!items.iter().any(|item| matches!(item.as_ref().unwrap().kind, EventKind::TurnEnd(_))));

            let answer = session.ask("Go on.").await.unwrap();
            assert!(["Done.", "Again."].contains(&answer.text()), "{answer}");
            let entries = session.facts(0);
            assert!((1..).zip(&entries).all(|(seq, entry)| entry.seq == seq));
            let started =
                entries.iter().filter(|entry| matches!(entry.fact, Fact::TurnStarted { .. })).count();
            let ended = entries.iter().filter(|entry| matches!(entry.fact, Fact::TurnEnded(_))).count();
            assert_eq!(started, ended, "fails at {fails_at}, keeps first {keeps_first}");
            let runs = entries.iter().filter(|entry| matches!(entry.fact, Fact::CallStarted(_))).count();
            assert!(runs <= 1, "a `once` call never runs twice");
        }
    }
}

#[tokio::test]
async fn an_append_is_recognised_when_it_is_repeated_and_refused_when_it_is_late() {
    let played = play(&agent(Script::new().says("Done."))).await;
    let session = played.session.id().unwrap();
    let journal = MemoryJournal::new();
    let (first, rest) = played.entries.split_at(2);
    journal.append(session, 0, first).await.unwrap();
    journal.append(session, 0, first).await.unwrap();
    journal.append(session, 2, rest).await.unwrap();
    journal.append(session, 0, first).await.unwrap();
    let conflict = |error: Error| assert_eq!(error.code(), Code::JournalConflict);
    conflict(journal.append(session, 1, rest).await.unwrap_err());
    conflict(journal.append(session, 100, &[]).await.unwrap_err());
    let mut other = (*rest[0]).clone();
    other.fact = Fact::AbortRequested { retracted: Vec::new() };
    conflict(journal.append(session, 2, &[Arc::new(other)]).await.unwrap_err());
    assert_eq!(journal.read(session, 0).await.unwrap(), played.entries);
    assert_eq!(journal.read(session, 2).await.unwrap(), rest);
    assert!(journal.read(session, 1_000).await.unwrap().is_empty());
    assert_eq!(played.conclusion.stop_reason(), StopReason::Answered);
}
