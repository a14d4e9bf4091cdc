use std::fmt::Write as _;

use futures_util::{Stream, TryStreamExt as _};
use serde_json::{Map, Value};
use windlass_core::event::{Failure, StopReason};
use windlass_core::{Error, Event, EventKind, ToolResults, TurnToolCallContent};

/// The most characters of a text that a line shows.
const SHOWN: usize = 160;

/// Reads a turn, or any other stream of events, to its end.
pub async fn collect(events: impl Stream<Item = Result<Event, Error>>) -> Result<Vec<Event>, Error> {
    events.try_collect().await
}

/// The story of a turn: who said or did what, one line each. Deltas and bookkeeping are left out.
///
/// It is made for snapshots: `outline(&collect(agent.turn("Oslo?")).await?)` gives
///
/// ```text
/// model      calls weather
/// weather    ok
/// model      Rain.
/// ```
pub fn outline<'a>(events: impl IntoIterator<Item = &'a Event>) -> String {
    let mut story = String::new();
    for event in events.into_iter().filter(|event| event.is_fact()) {
        let line = match &event.kind {
            EventKind::Thought { content } => ("model", format!("thinks: {}", text(content.full.as_deref()))),
            EventKind::Message { content } => ("model", text(content.full.as_deref())),
            EventKind::ToolCall { content } if !content.is_complete() => {
                ("model", format!("calls {}", content.tool()))
            }
            EventKind::ToolCall { content } => (content.tool(), ending(content)),
            EventKind::Error { error } => ("model", format!("failed: {}", failure(error))),
            EventKind::TurnEnd(end) => match (end.stop_reason, &end.error) {
                (StopReason::Answered, _) => continue,
                (reason, Some(error)) => ("turn", format!("{}: {}", word(reason), failure(error))),
                (reason, None) => ("turn", word(reason)),
            },
            _ => continue,
        };
        row(&mut story, line.0, &line.1);
    }
    story
}

/// Every event with its place, deltas marked with `~`. Times and token counts are left out.
pub fn trace<'a>(events: impl IntoIterator<Item = &'a Event>) -> String {
    let mut lines = String::new();
    for event in events {
        let mark = if event.is_fact() { ' ' } else { '~' };
        let what = shown(&event.kind);
        // Writing into a string cannot fail.
        let _ = writeln!(lines, "{:>2}.{}{mark} {}", event.seq, event.part, what.trim_end());
    }
    lines
}

fn shown(kind: &EventKind) -> String {
    match kind {
        EventKind::Message { content } | EventKind::Thought { content } => {
            let name = if matches!(kind, EventKind::Message { .. }) { "message" } else { "thought" };
            let piece = content.full.as_ref().or(content.delta.as_ref());
            format!("{name} {:?}", text(piece.map(|piece| &**piece)))
        }
        EventKind::ToolCall { content } if !content.is_complete() => {
            format!("toolCall {} {} {}", content.tool(), content.id(), args(content.args()))
        }
        EventKind::ToolCall { content } => {
            format!("toolCall {} {} {}", content.tool(), content.id(), ending(content))
        }
        EventKind::ToolCallPreview { content } => {
            format!("toolCallPreview {} {}", content.tool.as_deref().unwrap_or_default(), content.delta)
        }
        EventKind::TurnStart {} => "turnStart".to_owned(),
        EventKind::TurnEnd(end) => {
            let error = end.error.as_ref().map(|error| format!(" {}", failure(error))).unwrap_or_default();
            format!("turnEnd {}{error}", word(end.stop_reason))
        }
        EventKind::DispatchStart {} => "dispatchStart".to_owned(),
        EventKind::DispatchEnd { outcome } => format!("dispatchEnd {}", word(outcome)),
        EventKind::IterationStart { iteration } => format!("iterationStart {iteration}"),
        EventKind::IterationEnd { iteration } => format!("iterationEnd {iteration}"),
        EventKind::ToolExecutionStart(start) => {
            format!("toolExecutionStart {} {}", start.tool_name, start.tool_call_id)
        }
        EventKind::ToolExecutionEnd(end) => {
            let result = if end.is_error { "error" } else { "ok" };
            format!("toolExecutionEnd {} {} {result}", end.tool_name, end.tool_call_id)
        }
        EventKind::Progress(report) => {
            format!("progress {} {}", report.tool_call_id, report.progress.message())
        }
        EventKind::GenerationStats { finish_reason, .. } => {
            format!("generationStats {}", word(finish_reason))
        }
        EventKind::Error { error } => format!("error {}", failure(error)),
        EventKind::Retracted { ids } => format!("retracted {}", ids.len()),
        EventKind::AbortRequested {} => "fact.abortRequested".to_owned(),
        EventKind::Detached { code } => format!("detached {code}"),
        other => format!("{other:?}"),
    }
}

fn ending(call: &TurnToolCallContent) -> String {
    match (call.is_error(), call.results()) {
        (true, Some(ToolResults::Text(detail))) => format!("error: {}", text(Some(detail))),
        (true, _) => "error".to_owned(),
        (false, _) => "ok".to_owned(),
    }
}

fn args(args: &Map<String, Value>) -> String {
    text(Some(&Value::Object(args.clone()).to_string()))
}

fn failure(failure: &Failure) -> String {
    text(Some(&format!("{}: {}", failure.code, failure.message)))
}

/// The word that a unit enum has in JSON.
fn word(value: impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn text(text: Option<&str>) -> String {
    let line = text.unwrap_or_default().split('\n').map(str::trim).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn row(story: &mut String, who: &str, what: &str) {
    // Writing into a string cannot fail.
    let _ = writeln!(story, "{}", format!("{who:<10} {what}").trim_end());
}
