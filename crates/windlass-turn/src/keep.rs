//! From what a handler returned to what stands for it in a record.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::future::{Either, select};
use windlass_core::spool::{Sealed, Spool, SpoolFuture, SpoolSink};
use windlass_core::tool::ABORT_GRACE;
use windlass_core::{
    ArtifactRef, Cancel, Clock, Code, Digest, Error, Media, Tool, ToolOutput, ToolResults, record::MediaRef,
};

use crate::session::lock;
use crate::spool::{MAX_INLINE_BYTES, MAX_RESULTS, MemorySpool};

/// What ends the reading of media whose source does not end by itself.
pub(crate) struct Watch<'a> {
    pub(crate) clock: &'a dyn Clock,
    pub(crate) cancel: &'a Cancel,
}

/// Keeps what a handler of this tool returned.
pub(crate) async fn keep(
    spool: &OwnSpool,
    tool: &Tool,
    output: ToolOutput,
    watch: Watch<'_>,
) -> Result<ToolResults, Error> {
    let bytes = match output {
        ToolOutput::Text(text) if tool.is_artifact_tool() => return answer(text),
        ToolOutput::Text(text) => text.into(),
        ToolOutput::Bytes(bytes) => bytes,
        ToolOutput::Artifact(artifact) => return kept(spool, &artifact).map(ToolResults::Artifact),
        ToolOutput::Artifacts(artifacts) => {
            at_most(artifacts.len())?;
            let kept: Result<Vec<_>, _> = artifacts.iter().map(|artifact| kept(spool, artifact)).collect();
            return Ok(ToolResults::Artifacts(kept?.into()));
        }
        ToolOutput::Media(media) => {
            let mut kept = watch.over(tool, keep_media(spool, vec![media])).await?;
            return kept.pop().map(ToolResults::Media).ok_or_else(unknown);
        }
        ToolOutput::MediaList(media) => {
            at_most(media.len())?;
            let kept = watch.over(tool, keep_media(spool, media)).await?;
            return Ok(ToolResults::MediaList(kept.into()));
        }
        _ => return Err(unknown()),
    };
    spool.put(tool.definition().results_type().name(), bytes).map(ToolResults::Artifact)
}

/// The spool as one call sees it: it remembers what the call has written itself.
#[derive(Clone)]
pub(crate) struct OwnSpool {
    pub(crate) spool: MemorySpool,
    pub(crate) sealed: Arc<Mutex<HashSet<Digest>>>,
}

impl OwnSpool {
    fn put(&self, artifact_type: &str, bytes: Bytes) -> Result<ArtifactRef, Error> {
        let artifact = self.spool.put(artifact_type, bytes)?;
        lock(&self.sealed).insert(artifact.digest);
        Ok(artifact)
    }
}

impl Spool for OwnSpool {
    fn create(&self) -> SpoolFuture<'_, Box<dyn SpoolSink>> {
        let sealed = self.sealed.clone();
        Box::pin(async move {
            let sink = self.spool.create().await?;
            Ok(Box::new(OwnSink { sink, sealed }) as Box<dyn SpoolSink>)
        })
    }

    fn read(&self, digest: Digest, range: Range<u64>) -> SpoolFuture<'_, Bytes> {
        self.spool.read(digest, range)
    }
}

struct OwnSink {
    sink: Box<dyn SpoolSink>,
    sealed: Arc<Mutex<HashSet<Digest>>>,
}

impl SpoolSink for OwnSink {
    fn write(&mut self, bytes: Bytes) -> SpoolFuture<'_, ()> {
        self.sink.write(bytes)
    }

    fn seal(self: Box<Self>) -> SpoolFuture<'static, Sealed> {
        let Self { sink, sealed: own } = *self;
        Box::pin(async move {
            let sealed = sink.seal().await?;
            lock(&own).insert(sealed.digest);
            Ok(sealed)
        })
    }
}

fn unknown() -> Error {
    Error::new(Code::SpoolFailed, "this version cannot keep such a result")
}

/// The answer of an artifact tool, which stands in the record itself.
fn answer(text: String) -> Result<ToolResults, Error> {
    if text.len() <= MAX_INLINE_BYTES {
        return Ok(ToolResults::Text(text.into()));
    }
    let message = format!("the answer has {} bytes, at most {MAX_INLINE_BYTES} are shown", text.len());
    Err(Error::new(Code::SpoolFailed, message))
}

/// A result that must lie in the spool already, which knows best what it is.
fn kept(spool: &OwnSpool, artifact: &ArtifactRef) -> Result<ArtifactRef, Error> {
    if let Some(sealed) = spool.spool.sealed(artifact.digest) {
        return Ok(ArtifactRef::new(artifact.artifact_type.clone(), sealed));
    }
    let message = format!("it returned the artifact {}, which was never written here", artifact.digest);
    Err(Error::new(Code::SpoolFailed, message))
}

fn at_most(count: usize) -> Result<(), Error> {
    if count <= MAX_RESULTS {
        return Ok(());
    }
    let message =
        format!("it returned {count} results, at most {MAX_RESULTS} are kept; return less at a time");
    Err(Error::new(Code::SpoolFailed, message))
}

/// Writes the bytes of media to the spool, piece by piece.
async fn keep_media(spool: &OwnSpool, media: Vec<Media>) -> Result<Vec<MediaRef>, Error> {
    let mut references = Vec::with_capacity(media.len());
    for media in media {
        let mut sink = spool.create().await?;
        let mut chunks = media.open()?;
        while let Some(chunk) = chunks.next().await {
            sink.write(chunk?).await?;
        }
        let sealed = sink.seal().await?;
        let mut reference = media.to_ref();
        let said = (reference.digest, reference.byte_length);
        if said.0.is_some_and(|digest| digest != sealed.digest)
            || said.1.is_some_and(|length| length != sealed.byte_length)
        {
            let message = format!(
                "the medium has {} bytes with the digest {}, and says otherwise",
                sealed.byte_length, sealed.digest
            );
            return Err(Error::new(Code::SpoolFailed, message));
        }
        reference.digest = Some(sealed.digest);
        reference.byte_length = Some(sealed.byte_length);
        references.push(reference);
    }
    Ok(references)
}

impl Watch<'_> {
    /// Waits for something as long as a run of the tool may take, and after an abort only for the grace.
    async fn over<T>(&self, tool: &Tool, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let timeout = tool.definition().timeout;
        let given_up = async {
            let aborted = async {
                self.cancel.cancelled().await;
                self.clock.sleep(ABORT_GRACE).await;
            };
            match select(Box::pin(aborted), self.clock.sleep(timeout)).await {
                Either::Left(_) => {
                    Error::new(Code::TurnAborted, "the turn was aborted while its media were read")
                }
                Either::Right(_) => {
                    let message = format!("its media could not be read within {} s", timeout.as_secs_f64());
                    Error::new(Code::SpoolFailed, message).transient()
                }
            }
        };
        match select(Box::pin(work), Box::pin(given_up)).await {
            Either::Left((result, _)) => result,
            Either::Right((error, _)) => Err(error),
        }
    }
}
