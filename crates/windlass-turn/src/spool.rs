use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::future::ready;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Bytes, BytesMut};
use windlass_core::spool::{Sealed, Spool, SpoolFuture, SpoolSink, Tally};
use windlass_core::{ArtifactRef, Code, Digest, Error, ToolCall, ToolResults};

/// The largest result of one call that is kept in memory.
pub const MAX_OUTPUT_BYTES: usize = 64 << 20;

/// The most results that one call may have: artifacts or media.
pub const MAX_RESULTS: usize = 64;

/// The most bytes of the results of one call that a model is shown.
pub const MAX_INLINE_BYTES: usize = 1 << 20;

/// The results of a session in memory, by their content: the same bytes are kept once. A clone is a
/// reference.
#[derive(Clone, Default)]
pub struct MemorySpool(Arc<Mutex<HashMap<Digest, Blob>>>);

/// Sealed bytes, and what was found out about them.
#[derive(Clone)]
struct Blob {
    bytes: Bytes,
    sealed: Sealed,
}

impl MemorySpool {
    /// An empty spool.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps bytes and describes them.
    pub(crate) fn put(&self, artifact_type: &str, bytes: Bytes) -> Result<ArtifactRef, Error> {
        fits(bytes.len())?;
        let sealed = Sealed::of(&bytes);
        self.blobs().entry(sealed.digest).or_insert(Blob { bytes, sealed });
        Ok(ArtifactRef::new(artifact_type, sealed))
    }

    /// The bytes of an artifact.
    pub(crate) fn get(&self, digest: Digest) -> Option<Bytes> {
        self.blobs().get(&digest).map(|blob| blob.bytes.clone())
    }

    /// What is known of an artifact.
    pub(crate) fn sealed(&self, digest: Digest) -> Option<Sealed> {
        self.blobs().get(&digest).map(|blob| blob.sealed)
    }

    fn blobs(&self) -> MutexGuard<'_, HashMap<Digest, Blob>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The text that stands for the result of a call in a transcript.
    pub(crate) fn text(&self, call: &ToolCall) -> Arc<str> {
        match call.results() {
            ToolResults::Text(text) => text.clone(),
            ToolResults::Artifact(artifact) => self.artifact_text(artifact, MAX_INLINE_BYTES).into(),
            ToolResults::Artifacts(artifacts) => self.artifacts_text(artifacts).into(),
            ToolResults::Media(media) => format!("[{}: {}]", media.kind, media.filename).into(),
            ToolResults::MediaList(media) => {
                let lines: Vec<_> =
                    media.iter().map(|media| format!("[{}: {}]", media.kind, media.filename)).collect();
                lines.join("\n").into()
            }
            _ => "[a result of a kind that this version does not know]".into(),
        }
    }

    /// The texts of several artifacts, [`MAX_INLINE_BYTES`] of them in all.
    fn artifacts_text(&self, artifacts: &[ArtifactRef]) -> String {
        let mut left = MAX_INLINE_BYTES;
        let mut shown = String::new();
        for (index, artifact) in artifacts.iter().enumerate() {
            if left == 0 {
                // Writing into a string cannot fail.
                let _ = write!(shown, "\n[{} more results are not shown]", artifacts.len() - index);
                break;
            }
            if index > 0 {
                shown.push('\n');
            }
            let text = self.artifact_text(artifact, left);
            left = left.saturating_sub(text.len());
            shown.push_str(&text);
        }
        shown
    }

    /// The text of an artifact, this many bytes at most beside a note that says how many are missing.
    fn artifact_text(&self, artifact: &ArtifactRef, most: usize) -> String {
        let Some(bytes) = self.get(artifact.digest) else {
            return format!("[the result {} is no longer kept]", artifact.digest);
        };
        match std::str::from_utf8(&bytes) {
            Ok(text) if text.len() <= most => text.to_owned(),
            Ok(text) => {
                let kept = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
                let (left_out, all) = (text.len() - kept, text.len());
                format!("{}\n[cut here: {left_out} of {all} bytes are not shown]", &text[..kept])
            }
            Err(_) => {
                format!("[{} bytes that are no text, sha256 {}]", artifact.byte_length, artifact.digest)
            }
        }
    }
}

fn fits(bytes: usize) -> Result<(), Error> {
    if bytes <= MAX_OUTPUT_BYTES {
        return Ok(());
    }
    let message = format!(
        "the result has {bytes} bytes or more, at most {MAX_OUTPUT_BYTES} are kept in memory; return less at a time"
    );
    Err(Error::new(Code::SpoolFailed, message))
}

impl fmt::Debug for MemorySpool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemorySpool").field("blobs", &self.blobs().len()).finish()
    }
}

impl Spool for MemorySpool {
    fn create(&self) -> SpoolFuture<'_, Box<dyn SpoolSink>> {
        let sink = MemorySink { spool: self.clone(), written: BytesMut::new(), tally: Tally::default() };
        Box::pin(ready(Ok(Box::new(sink) as Box<dyn SpoolSink>)))
    }

    fn read(&self, digest: Digest, range: Range<u64>) -> SpoolFuture<'_, Bytes> {
        let bytes = self.get(digest).ok_or_else(|| {
            Error::new(Code::SpoolFailed, format!("nothing with the digest {digest} is kept here"))
        });
        let within = |bytes: Bytes| {
            let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
            let (start, end) = (place(range.start), place(range.end));
            bytes.slice(start..end.max(start))
        };
        Box::pin(ready(bytes.map(within)))
    }
}

/// A result that is being written.
struct MemorySink {
    spool: MemorySpool,
    written: BytesMut,
    tally: Tally,
}

impl SpoolSink for MemorySink {
    fn write(&mut self, bytes: Bytes) -> SpoolFuture<'_, ()> {
        // Counted before it is looked at, so that a sink that was given too much stays broken.
        self.tally.add(&bytes);
        let result = fits(usize::try_from(self.tally.byte_length()).unwrap_or(usize::MAX));
        match result {
            Ok(()) => self.written.extend_from_slice(&bytes),
            Err(_) => self.written.clear(),
        }
        Box::pin(ready(result))
    }

    fn seal(self: Box<Self>) -> SpoolFuture<'static, Sealed> {
        let Self { spool, written, tally } = *self;
        let result = fits(usize::try_from(tally.byte_length()).unwrap_or(usize::MAX)).map(|()| {
            let sealed = tally.seal();
            let blob = || Blob { bytes: written.freeze(), sealed };
            spool.blobs().entry(sealed.digest).or_insert_with(blob);
            sealed
        });
        Box::pin(ready(result))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bytes: Vec<u8>) -> String {
        let spool = MemorySpool::default();
        let artifact = spool.put("text", bytes.into()).unwrap();
        spool.artifact_text(&artifact, MAX_INLINE_BYTES)
    }

    #[test]
    fn a_text_is_shown_as_it_is_up_to_the_bound() {
        assert_eq!(shown(b"a\r\n".to_vec()), "a\r\n");
        assert_eq!(shown(vec![b'x'; MAX_INLINE_BYTES]).len(), MAX_INLINE_BYTES);
    }

    #[test]
    fn past_the_bound_a_text_is_cut_on_a_character_boundary_and_says_so() {
        let text = "x".to_owned() + &"é".repeat(MAX_INLINE_BYTES / 2);
        let cut = shown(text.into_bytes());
        assert!(cut.ends_with(&format!("[cut here: 2 of {} bytes are not shown]", MAX_INLINE_BYTES + 1)));
    }

    #[test]
    fn bytes_that_are_no_text_are_described_and_kept() {
        let spool = MemorySpool::default();
        let artifact = spool.put("text", Bytes::from_static(b"\xff\x00\xfe")).unwrap();
        assert!(spool.artifact_text(&artifact, MAX_INLINE_BYTES).starts_with("[3 bytes that are no text"));
        assert_eq!(spool.get(artifact.digest).unwrap().as_ref(), b"\xff\x00\xfe");
    }

    #[test]
    fn several_results_share_one_bound() {
        let spool = MemorySpool::default();
        let put = |text: String| spool.put("text", text.into()).unwrap();
        let (half, small) = (put("x".repeat(MAX_INLINE_BYTES / 2)), put("é".repeat(3)));
        let shown = |list: &[&ArtifactRef]| {
            spool.artifacts_text(&list.iter().map(|artifact| (*artifact).clone()).collect::<Vec<_>>())
        };
        assert_eq!(shown(&[&small, &small]), "ééé\nééé");
        assert_eq!(shown(&[&half, &half]).len(), MAX_INLINE_BYTES + 1);
        let past = shown(&[&half, &half, &small, &small]);
        assert!(past.ends_with("x\n[2 more results are not shown]"));
        let cut = shown(&[&half, &small, &half]);
        assert!(cut.ends_with("\n[cut here: 6 of 524288 bytes are not shown]"), "{}", &cut[cut.len() - 80..]);
    }

    #[test]
    fn the_same_bytes_are_kept_once() {
        let spool = MemorySpool::default();
        let first = spool.put("text", Bytes::from_static(b"same")).unwrap();
        assert_eq!(spool.put("text", Bytes::from_static(b"same")).unwrap(), first);
        assert_eq!(spool.blobs().len(), 1);
    }

    #[test]
    fn a_result_is_bounded() {
        let spool = MemorySpool::default();
        assert!(spool.put("text", vec![0; MAX_OUTPUT_BYTES].into()).is_ok());
        assert_eq!(
            spool.put("text", vec![0; MAX_OUTPUT_BYTES + 1].into()).unwrap_err().code(),
            Code::SpoolFailed
        );
    }

    /// The value of a future that never waits.
    fn now<T>(future: SpoolFuture<'_, T>) -> Result<T, Error> {
        futures_util::FutureExt::now_or_never(future).unwrap()
    }

    fn written(spool: &MemorySpool, pieces: &[&'static str]) -> Box<dyn SpoolSink> {
        let mut sink = now(spool.create()).unwrap();
        for piece in pieces {
            now(sink.write(Bytes::from_static(piece.as_bytes()))).unwrap();
        }
        sink
    }

    #[test]
    fn what_is_sealed_is_read_by_range() {
        let spool = MemorySpool::new();
        let sealed = now(written(&spool, &["ab\nc", "", "d"]).seal()).unwrap();
        assert_eq!(sealed, Sealed::of(b"ab\ncd"));
        let read = |range| now(spool.read(sealed.digest, range)).unwrap();
        assert_eq!(read(0..5), "ab\ncd");
        assert_eq!(read(1..3), "b\n");
        assert_eq!((read(3..100), read(9..100)), (Bytes::from("cd"), Bytes::new()));
        assert_eq!(read(Range { start: 3, end: 1 }), "");
        assert_eq!(now(spool.read(Digest::of(b"other"), 0..1)).unwrap_err().code(), Code::SpoolFailed);
    }

    #[test]
    fn what_is_not_sealed_is_not_there() {
        let spool = MemorySpool::new();
        drop(written(&spool, &["lost"]));
        assert!(spool.get(Digest::of(b"lost")).is_none());
        let first = now(written(&spool, &["sa", "me"]).seal()).unwrap();
        assert_eq!(now(written(&spool, &["same"]).seal()).unwrap(), first);
        assert_eq!(spool.blobs().len(), 1);
    }

    #[test]
    fn a_sink_that_was_given_too_much_is_broken() {
        let spool = MemorySpool::new();
        let mut sink = now(spool.create()).unwrap();
        now(sink.write(vec![0; MAX_OUTPUT_BYTES].into())).unwrap();
        assert_eq!(now(sink.write(Bytes::from_static(b"x"))).unwrap_err().code(), Code::SpoolFailed);
        assert!(now(sink.write(Bytes::new())).is_err());
        assert!(now(sink.seal()).is_err());
        assert_eq!(spool.blobs().len(), 0);
    }
}
