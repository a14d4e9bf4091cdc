//! What the loop does with what a tool says about itself and with what its handler gives.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use windlass_core::record::{MediaChunks, MediaKind};
use windlass_core::trust::Tier;
use windlass_core::{
    ArtifactRef, ArtifactTool, Code, Definition, Digest, Effect, Error, EventKind, Media, MediaSource,
    ModalityHazard, Outcome, Progress, RawMedia, StopReason, Tool, ToolContext, ToolError, ToolOutput,
    ToolResults, TrustTier, TypedTool, tool_fn,
};
use windlass_testing::{Script, ScriptedReply, trace};
use windlass_tool::{IntoTool as _, ToolRegistry};
use windlass_turn::{MAX_INLINE_BYTES, MAX_OUTPUT_BYTES, MAX_RESULTS};

use crate::support::{agent, play, play_until};

#[derive(Deserialize, JsonSchema)]
struct Seconds {
    /// How long it takes.
    #[serde(default)]
    seconds: u64,
}

/// How many calls run at the same time, and how many at most have.
#[derive(Default)]
struct Crowd {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// A tool that takes its time and counts who runs beside it.
fn crowding(crowd: &Arc<Crowd>, change: impl FnOnce(Definition) -> Definition, name: &'static str) -> Tool {
    let crowd = crowd.clone();
    tool_fn(name, "Takes its time.", Effect::Pure, move |args: Seconds| {
        let crowd = crowd.clone();
        async move {
            let now = crowd.now.fetch_add(1, Ordering::SeqCst) + 1;
            crowd.most.fetch_max(now, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_secs(args.seconds)).await;
            let left = crowd.now.fetch_sub(1, Ordering::SeqCst);
            Ok(format!("{now} when it began, {left} when it ended"))
        }
    })
    .with(change)
    .into_tool()
    .unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_exclusive_call_runs_alone() {
    let crowd = Arc::new(Crowd::default());
    let reply = ScriptedReply::new()
        .calls("share", json!({ "seconds": 3 }))
        .calls("share", json!({ "seconds": 1 }))
        .calls("alone", json!({ "seconds": 2 }))
        .calls("share", json!({ "seconds": 2 }))
        .calls("share", json!({ "seconds": 1 }))
        .calls("alone", json!({ "seconds": 1 }));
    let model = Script::new().reply(reply).says("Done.");
    let agent = agent(model).tool(crowding(&crowd, |definition| definition, "share")).tool(crowding(
        &crowd,
        Definition::exclusive,
        "alone",
    ));
    let played = play(&agent).await;
    let told: Vec<_> = played
        .transcript
        .iter()
        .filter_map(|message| match message {
            windlass_core::TranscriptMessage::Tool(message) => Some(message.content().to_owned()),
            _ => None,
        })
        .collect();
    let (alone, first, second) = ("1 when it began, 1 when it ended", "1 when it began", "2 when it began");
    assert_eq!((told[2].as_str(), told[5].as_str()), (alone, alone));
    assert!(told[0].starts_with(first) && told[3].starts_with(first), "{told:?}");
    assert!(told[1].starts_with(second) && told[4].starts_with(second), "{told:?}");
    assert_eq!(crowd.most.load(Ordering::SeqCst), 2);
}

/// A tool that does whatever its function gives for its context.
struct Giving<F>(Definition, F);

impl<F, R> TypedTool for Giving<F>
where
    F: Fn(&ToolContext) -> R + Send + Sync + 'static,
    R: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
{
    type Args = Seconds;
    type Output = ToolOutput;

    fn definition(&self) -> Definition {
        self.0.clone()
    }

    fn call(
        &self,
        _: Seconds,
        context: &ToolContext,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send {
        (self.1)(context)
    }
}

fn give() -> Definition {
    Definition::new("give", "Gives something.", Effect::Once)
}

/// The record of one call of a tool that gives this.
async fn given(definition: Definition, output: ToolOutput) -> (windlass_core::ToolCall, String) {
    let tool = Giving(definition, move |_: &ToolContext| std::future::ready(Ok(output.clone())));
    let played = play(&agent(Script::new().calls("give", json!({})).says("Done.")).tool(tool)).await;
    let text = played.transcript.iter().find_map(|message| match message {
        windlass_core::TranscriptMessage::Tool(message) => Some(message.content().to_owned()),
        _ => None,
    });
    (played.records().remove(0), text.unwrap())
}

#[tokio::test(start_paused = true)]
async fn an_artifact_that_was_never_written_is_no_result_and_the_effect_is_not_denied() {
    let missing = ArtifactRef::describe("text", b"never written");
    let (record, told) = given(give(), ToolOutput::Artifact(missing.clone())).await;
    assert!(record.is_error());
    assert_eq!(record.outcome(), Some(Outcome::Succeeded));
    let expected = format!(
        "E_TOOL_DOWNSTREAM_ERROR: `give` ran and took effect, but its result could not be kept: it returned the \
         artifact {}, which was never written here. Do not call it again to get it",
        missing.digest
    );
    assert_eq!(told, expected);
    let (record, _) = given(give(), ToolOutput::Artifacts(vec![missing])).await;
    assert!(record.is_error());
}

#[tokio::test(start_paused = true)]
async fn a_reference_says_what_the_spool_knows_and_a_courier_does_not_vouch_for_it() {
    let tool = Giving(give().trusted(), |_: &ToolContext| {
        let mut claimed = ArtifactRef::describe("text", b"done");
        (claimed.byte_length, claimed.line_count) = (1 << 60, 77);
        std::future::ready(Ok(ToolOutput::Artifact(claimed)))
    });
    let model = Script::new().calls("look", json!({ "act": "ok" })).calls("give", json!({})).says("Done.");
    let records = play(&agent(model).tool(tool)).await.records();
    let ToolResults::Artifact(kept) = records[1].results() else { panic!("{:?}", records[1]) };
    assert_eq!((kept.byte_length, kept.line_count), (4, 1));
    assert_eq!(records[1].label().unwrap().tier, Tier::Untrusted);
    let (own, _) = given(give().trusted(), ToolOutput::Text("own words".into())).await;
    assert_eq!(own.label().unwrap().tier, Tier::Developer);
}

#[tokio::test(start_paused = true)]
async fn the_results_of_one_call_are_bounded_in_number() {
    let films = |count: usize| ToolOutput::MediaList(vec![film("a", None, Reel::Plays(&["x"])); count]);
    assert!(!given(give(), films(MAX_RESULTS)).await.0.is_error());
    let (past, told) = given(give(), films(MAX_RESULTS + 1)).await;
    assert!(past.is_error() && told.contains("it returned 65 results, at most 64 are kept"), "{told}");
    let list = vec![ArtifactRef::describe("text", b""); MAX_RESULTS + 1];
    assert!(given(give(), ToolOutput::Artifacts(list)).await.1.contains("at most 64"));
}

#[tokio::test(start_paused = true)]
async fn what_a_definition_says_about_results_stands_in_the_record() {
    let text = || ToolOutput::Text("here".into());
    let (record, _) = given(give(), text()).await;
    assert!(record.inline() && !record.from_artifact_tool());
    let (record, _) = given(give().inline(false), text()).await;
    assert!(!record.inline());
    let csv = give().artifact_type(windlass_core::NamedType::new("csv"));
    let (record, _) = given(csv, text()).await;
    let ToolResults::Artifact(artifact) = record.results() else { panic!("{record:?}") };
    assert_eq!(&*artifact.artifact_type, "csv");
}

#[tokio::test(start_paused = true)]
async fn an_artifact_tools_answer_is_bounded_and_marked() {
    let answer = |bytes: usize| {
        let tool =
            tool_fn("give", "Answers.", Effect::Pure, move |_: Seconds| async move { Ok("x".repeat(bytes)) });
        ArtifactTool::new(tool).into_tool().unwrap()
    };
    let record = async |bytes| {
        let model = Script::new().calls("give", json!({})).says("Done.");
        play(&agent(model).tool(answer(bytes))).await.records().remove(0)
    };
    let at_the_bound = record(MAX_INLINE_BYTES).await;
    assert_eq!(at_the_bound.results().as_text().map(str::len), Some(MAX_INLINE_BYTES));
    assert!(at_the_bound.from_artifact_tool() && !at_the_bound.is_error());
    let past = record(MAX_INLINE_BYTES + 1).await;
    assert!(past.is_error() && past.from_artifact_tool());
}

/// Writes this much to the spool, in pieces.
struct Pouring(usize);

impl TypedTool for Pouring {
    type Args = Seconds;
    type Output = ArtifactRef;

    fn definition(&self) -> Definition {
        Definition::new("give", "Writes.", Effect::Pure)
    }

    async fn call(&self, _: Seconds, context: &ToolContext) -> Result<ArtifactRef, ToolError> {
        let mut spool = context.spool().await?;
        let mut left = self.0;
        while left > 0 {
            let piece = left.min(1 << 20);
            spool.write(vec![b'x'; piece]).await?;
            left -= piece;
        }
        Ok(spool.seal().await?)
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_written_as_it_comes_is_bounded_too() {
    let record = async |bytes| {
        let model = Script::new().calls("give", json!({})).says("Done.");
        let played = play(&agent(model).tool(Pouring(bytes))).await;
        (played.records().remove(0), played)
    };
    let (record_at, played) = record(MAX_OUTPUT_BYTES).await;
    let ToolResults::Artifact(artifact) = record_at.results() else { panic!("{record_at:?}") };
    assert_eq!(artifact.byte_length, MAX_OUTPUT_BYTES as u64);
    assert_eq!(played.session.read(artifact).unwrap().len(), MAX_OUTPUT_BYTES);
    let (past, _) = record(MAX_OUTPUT_BYTES + 1).await;
    assert!(past.is_error());
    assert!(past.results().as_text().unwrap().contains("at most 67108864 are kept in memory"));
}

/// A source of media that does what it is told.
#[derive(Clone, Copy)]
enum Reel {
    Plays(&'static [&'static str]),
    Tears,
    Stops,
    Panics,
}

impl MediaSource for Reel {
    fn open(&self) -> MediaChunks {
        let chunk = |text: &'static str| Ok(Bytes::from_static(text.as_bytes()));
        match *self {
            Self::Plays(pieces) => stream::iter(pieces.iter().copied().map(chunk)).boxed(),
            Self::Tears => {
                let torn = Error::new(Code::MediaUnreadable, "the film is torn");
                stream::iter([chunk("fi"), Err(torn)]).boxed()
            }
            Self::Stops => stream::iter([chunk("fi")]).chain(stream::pending()).boxed(),
            Self::Panics => stream::poll_fn(|_| panic!("the projector burns, as told")).boxed(),
        }
    }
}

fn film(id: &str, digest: Option<Digest>, reel: Reel) -> Media {
    let raw = RawMedia {
        id: id.to_owned(),
        kind: MediaKind::Video,
        mime_type: "video/mp4".to_owned(),
        filename: format!("{id}.mp4"),
        trust_tier: TrustTier::FirstParty,
        modality_hazard: ModalityHazard::OpaquePerceptual,
        digest,
        byte_length: None,
    };
    Media::new(raw, reel).unwrap()
}

#[tokio::test(start_paused = true)]
async fn media_are_kept_by_reference_and_named_to_the_model() {
    let whole = film("a", None, Reel::Plays(&["fi", "", "lm"]));
    let (record, told) = given(give().trusted(), ToolOutput::Media(whole.clone())).await;
    let ToolResults::Media(kept) = record.results() else { panic!("{record:?}") };
    assert_eq!((kept.digest, kept.byte_length), (Some(Digest::of(b"film")), Some(4)));
    assert_eq!(told, "[video: a.mp4]");
    assert_eq!(record.result_digest(), Some(Digest::of(b"film")));
    // A trusted tool vouches for its own words only.
    assert_eq!(record.label().unwrap().tier, Tier::Untrusted);
    let other = film("b", Some(Digest::of(b"other")), Reel::Plays(&["other"]));
    let (record, told) = given(give(), ToolOutput::MediaList(vec![whole, other])).await;
    let ToolResults::MediaList(kept) = record.results() else { panic!("{record:?}") };
    assert_eq!((kept.len(), kept[1].digest), (2, Some(Digest::of(b"other"))));
    assert_eq!(told, "[video: a.mp4]\n[video: b.mp4]");
}

#[tokio::test(start_paused = true)]
async fn media_that_cannot_be_read_are_no_result_and_the_effect_is_not_denied() {
    let rows = [
        (Reel::Tears, None, "the film is torn"),
        (Reel::Stops, None, "its media could not be read within 60 s"),
        (Reel::Panics, None, "the source of its media panicked"),
        (Reel::Plays(&["film"]), Some(Digest::of(b"fiml")), "and says otherwise"),
    ];
    for (reel, digest, reason) in rows {
        let (record, told) = given(give(), ToolOutput::Media(film("a", digest, reel))).await;
        assert!(record.is_error());
        assert_eq!(record.outcome(), Some(Outcome::Succeeded), "{told}");
        assert!(told.contains(reason), "{told}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_abort_waits_for_no_media() {
    let output = ToolOutput::Media(film("a", None, Reel::Stops));
    let tool = Giving(give(), move |_: &ToolContext| std::future::ready(Ok(output.clone())));
    let agent = agent(Script::new().calls("give", json!({})).says("Done.")).tool(tool);
    let played = play_until(&agent, |event| matches!(event.kind, EventKind::ToolExecutionStart(_))).await;
    let record = played.records().remove(0);
    assert!(record.results().as_text().unwrap().contains("aborted while its media were read"), "{record:?}");
    assert_eq!(played.conclusion.stop_reason(), StopReason::Aborted);
}

#[tokio::test(start_paused = true)]
async fn progress_is_shown_between_start_and_end_and_never_kept() {
    let tool = Giving(give(), |context: &ToolContext| {
        context.progress(Progress::new("half way").of(1, 2));
        context.progress(Progress::new("there").of(2, 2));
        std::future::ready(Ok(ToolOutput::Text("done".into())))
    });
    let played = play(&agent(Script::new().calls("give", json!({})).says("Done.")).tool(tool)).await;
    let told: Vec<_> = played
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::ToolExecutionStart(start) => Some(format!("start {}", start.tool_call_id)),
            EventKind::Progress(report) => {
                assert!(!event.is_fact());
                let fraction = report.progress.fraction().unwrap();
                Some(format!("{} {} {fraction}", report.tool_call_id, report.progress.message()))
            }
            EventKind::ToolExecutionEnd(end) => Some(format!("end {}", end.tool_call_id)),
            _ => None,
        })
        .collect();
    assert_eq!(told, ["start call_1_1", "call_1_1 half way 0.5", "call_1_1 there 1", "end call_1_1"]);
    insta::assert_snapshot!(trace(&played.events).lines().filter(|line| line.contains("progress")).collect::<Vec<_>>().join("\n"), @"
    5.1~ progress call_1_1 half way
    5.2~ progress call_1_1 there
    ");
    let shown = played.events.iter().find(|event| matches!(event.kind, EventKind::Progress(_))).unwrap();
    assert_eq!(serde_json::to_value(shown).unwrap()["type"], "progress");
}

#[tokio::test(start_paused = true)]
async fn a_hidden_tool_can_be_called_and_is_not_shown() {
    let mut registry = ToolRegistry::new();
    let hidden = tool_fn("give", "Gives.", Effect::Pure, |_: Seconds| async { Ok("found") });
    registry.add_hidden(hidden).unwrap();
    let model = Script::new().calls("give", json!({})).calls("nobody", json!({})).says("Done.");
    let (model, requests) = model.recorded();
    let played = play(&agent(model).registry(registry)).await;
    let records = played.records();
    assert!(!records[0].is_error());
    let unknown = records[1].results().as_text().unwrap();
    assert_eq!(Code::UnknownTool.as_str(), unknown.split(':').next().unwrap());
    assert!(unknown.ends_with("the tools are `look`, `put`, `pay`"), "{unknown}");
    let requests = requests.all();
    assert_eq!(requests.len(), 3);
    for request in requests {
        let shown: Vec<_> = request.opening.tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(shown, ["look", "put", "pay"]);
    }
}
