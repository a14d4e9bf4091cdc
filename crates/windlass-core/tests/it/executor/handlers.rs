//! What a handler can do besides returning: read values, report, write to a spool.

use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;
use windlass_core::spool::{Sealed, SpoolFuture, SpoolSink, Tally};
use windlass_core::tool::{ExecutionProgress, MAX_PROGRESS_BYTES};
use windlass_core::{
    Args, ArtifactRef, ArtifactType, Code, Definition, Digest, Effect, Error, Progress, Spool, SpoolWriter,
    ToolContext, ToolError, ToolOutput, TypedTool, Values,
};

use crate::support::{Recorder, Trace, call_id, unchecked};

#[derive(Deserialize, schemars::JsonSchema)]
struct Nothing {}

struct User(&'static str);

/// A tool that does what its function does.
struct Doing<F>(Definition, F);

impl<F, R> TypedTool for Doing<F>
where
    F: for<'a> Fn(&'a ToolContext) -> R + Send + Sync + 'static,
    R: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
{
    type Args = Nothing;
    type Output = ToolOutput;

    fn definition(&self) -> Definition {
        self.0.clone()
    }

    fn call(
        &self,
        _: Nothing,
        context: &ToolContext,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send {
        (self.1)(context)
    }
}

fn definition() -> Definition {
    Definition::new("do", "Does it.", Effect::Pure)
}

fn text(text: impl Into<String>) -> ToolOutput {
    ToolOutput::Text(text.into())
}

async fn run<F, R>(host: Recorder, definition: Definition, function: F) -> Result<ToolOutput, Error>
where
    F: for<'a> Fn(&'a ToolContext) -> R + Send + Sync + 'static,
    R: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
{
    let executor = unchecked(Doing(definition, function)).unwrap().executor(Arc::new(host));
    executor.call_as(call_id("c1"), Args::read("{}")).await.map_err(|error| error.error)
}

#[tokio::test(start_paused = true)]
async fn a_value_is_found_by_its_type_and_a_missing_one_is_named() {
    let who = |context: &ToolContext| std::future::ready(context.get::<User>().map(|user| text(user.0)));
    let host = |values| Recorder::new(&Trace::default()).giving(values);
    let given = Values::new().with(7_u8).with(User("anna")).with(User("bert"));
    assert_eq!(run(host(given), definition(), who).await.unwrap(), ToolOutput::Text("bert".into()));
    let error = run(host(Values::new().with(7_u8)), definition(), who).await.unwrap_err();
    assert!(
        error.message().starts_with("`do` failed: this turn was given no value of the type `"),
        "{error}"
    );
    assert!(error.message().contains("User`"), "{error}");
}

#[test]
fn values_that_are_added_to_a_copy_are_not_in_the_original_and_are_never_printed() {
    let first = Values::new().with(User("anna"));
    let second = first.clone().with("secret".to_owned());
    assert!(first.get::<String>().is_none());
    assert_eq!(second.get::<User>().unwrap().0, "anna");
    let shown = format!("{second:?}");
    assert!(shown.contains("String") && !shown.contains("secret"), "{shown}");
}

#[tokio::test(start_paused = true)]
async fn progress_is_told_with_the_names_of_the_call() {
    let trace = Trace::default();
    let host = Recorder::new(&trace);
    run(host, definition(), |context: &ToolContext| {
        context.progress(Progress::new("reading").of(1, 4));
        context.progress(Progress::new("x".repeat(MAX_PROGRESS_BYTES + 1)));
        std::future::ready(Ok(text(context.checksum().to_string())))
    })
    .await
    .unwrap();
    let long = format!("{}… (1 more bytes)", "x".repeat(MAX_PROGRESS_BYTES));
    let steps =
        ["authorise c1", "started c1", "progress c1 reading 1/4", &format!("progress c1 {long}"), "ended c1"];
    assert_eq!(trace.steps(), steps);
}

#[test]
fn progress_is_shown_flat_and_counts_from_none_to_all() {
    let checksum = windlass_core::checksum("do", &json!({}));
    let report = |progress| {
        serde_json::to_value(ExecutionProgress::new("do".into(), checksum, call_id("c1"), progress)).unwrap()
    };
    assert_eq!(
        report(Progress::new("reading").of(1, 4)),
        json!({ "toolName": "do", "callId": checksum, "toolCallId": "c1", "message": "reading", "done": 1, "total": 4 })
    );
    assert_eq!(report(Progress::new(""))["message"], "");
    let fraction = |done, total| Progress::new("").of(done, total).fraction();
    assert_eq!((fraction(0, 4), fraction(4, 4), fraction(9, 4)), (Some(0.0), Some(1.0), Some(1.0)));
    assert_eq!((fraction(0, 0), Progress::new("").fraction()), (None, None));
    assert_eq!(Progress::new("x".repeat(MAX_PROGRESS_BYTES)).message(), "x".repeat(MAX_PROGRESS_BYTES));
}

#[tokio::test(start_paused = true)]
async fn a_handler_reads_what_its_author_put_beside_the_definition() {
    let output = run(
        Recorder::new(&Trace::default()),
        definition().meta("region", "north"),
        |context: &ToolContext| std::future::ready(Ok(text(context.definition().meta["region"].to_string()))),
    )
    .await;
    assert_eq!(output.unwrap(), ToolOutput::Text("\"north\"".into()));
}

/// A spool that only counts.
struct Counting;

struct CountingSink(Tally);

impl Spool for Counting {
    fn create(&self) -> SpoolFuture<'_, Box<dyn SpoolSink>> {
        Box::pin(std::future::ready(Ok(Box::new(CountingSink(Tally::default())) as Box<dyn SpoolSink>)))
    }

    fn read(&self, digest: Digest, _: std::ops::Range<u64>) -> SpoolFuture<'_, Bytes> {
        Box::pin(std::future::ready(Err(Error::new(Code::SpoolFailed, digest.to_string()))))
    }
}

impl SpoolSink for CountingSink {
    fn write(&mut self, bytes: Bytes) -> SpoolFuture<'_, ()> {
        self.0.add(&bytes);
        Box::pin(std::future::ready(Ok(())))
    }

    fn seal(self: Box<Self>) -> SpoolFuture<'static, Sealed> {
        Box::pin(std::future::ready(Ok(self.0.seal())))
    }
}

struct Csv;

impl ArtifactType for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }
}

/// A tool that writes to the spool, and gives its writer away if it is told to.
struct Export {
    writers: Option<tokio::sync::mpsc::UnboundedSender<SpoolWriter>>,
}

impl TypedTool for Export {
    type Args = Nothing;
    type Output = Option<ArtifactRef>;

    fn definition(&self) -> Definition {
        definition().artifact_type(Csv)
    }

    async fn call(&self, _: Nothing, context: &ToolContext) -> Result<Option<ArtifactRef>, ToolError> {
        let mut writer = context.spool().await?;
        writer.write("a,b\n").await?;
        match &self.writers {
            Some(writers) => {
                drop(writers.send(writer));
                Ok(None)
            }
            None => {
                writer.write("1,2\n").await?;
                Ok(Some(writer.seal().await?))
            }
        }
    }
}

async fn export(host: Recorder, tool: Export) -> Result<ToolOutput, Error> {
    let executor = unchecked(tool).unwrap().executor(Arc::new(host));
    executor.call(Args::read("{}")).await.map_err(|error| error.error)
}

fn spooling() -> Recorder {
    Recorder::new(&Trace::default()).spooling_to(Counting)
}

#[tokio::test(start_paused = true)]
async fn what_was_written_is_referred_to_by_the_tools_type() {
    let output = export(spooling(), Export { writers: None }).await.unwrap();
    let expected = ArtifactRef::new("csv", Sealed::of(b"a,b\n1,2\n"));
    assert_eq!(output, ToolOutput::Artifact(expected.clone()));
    assert_eq!((expected.byte_length, expected.line_count), (8, 2));
}

#[tokio::test(start_paused = true)]
async fn a_writer_that_outlives_its_call_writes_no_more() {
    let (writers, mut given) = tokio::sync::mpsc::unbounded_channel();
    export(spooling(), Export { writers: Some(writers) }).await.unwrap();
    let mut writer = given.recv().await.unwrap();
    assert_eq!(writer.write("late").await.unwrap_err().code(), Code::SpoolClosed);
    assert_eq!(writer.seal().await.unwrap_err().code(), Code::SpoolClosed);
}

#[tokio::test(start_paused = true)]
async fn where_there_is_no_spool_the_handler_is_told() {
    let error = export(Recorder::new(&Trace::default()), Export { writers: None }).await.unwrap_err();
    assert!(error.message().contains("there is no spool here"), "{error}");
}

#[test]
fn a_tally_counts_the_same_however_the_bytes_are_cut() {
    for bytes in [&b""[..], b"\n", b"a", b"a\nb", b"a\r\nb\r\n", b"\n\n\n", b"a\n\r"] {
        let whole = Sealed::of(bytes);
        for size in [1, 2, 3, 64] {
            let mut tally = Tally::default();
            bytes.chunks(size).for_each(|chunk| tally.add(chunk));
            tally.add(b"");
            assert_eq!(tally.clone().seal(), whole, "{bytes:?} by {size}");
            assert_eq!(tally.byte_length(), bytes.len() as u64);
        }
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').count() as u64;
        assert_eq!(
            whole,
            Sealed { digest: Digest::of(bytes), byte_length: bytes.len() as u64, line_count: lines }
        );
    }
}
