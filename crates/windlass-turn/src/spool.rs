use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use windlass_core::{ArtifactRef, Code, Digest, Error, ToolCall, ToolResults};

/// The largest result of one call that is kept in memory.
pub const MAX_OUTPUT_BYTES: usize = 64 << 20;

/// The most bytes of one result that a model is shown.
pub const MAX_INLINE_BYTES: usize = 1 << 20;

/// The results of a session, by their content: the same bytes are kept once.
#[derive(Default)]
pub(crate) struct MemorySpool {
    blobs: HashMap<Digest, Bytes>,
}

impl MemorySpool {
    /// Keeps bytes and describes them.
    pub(crate) fn put(&mut self, bytes: Bytes) -> Result<ArtifactRef, Error> {
        if bytes.len() > MAX_OUTPUT_BYTES {
            let message = format!(
                "the result has {} bytes, at most {MAX_OUTPUT_BYTES} are kept; return less at a time",
                bytes.len()
            );
            return Err(Error::new(Code::ToolDownstream, message));
        }
        let artifact = ArtifactRef::describe(ArtifactRef::TEXT, &bytes);
        self.blobs.entry(artifact.digest).or_insert(bytes);
        Ok(artifact)
    }

    /// The bytes of an artifact.
    pub(crate) fn get(&self, artifact: &ArtifactRef) -> Option<&Bytes> {
        self.blobs.get(&artifact.digest)
    }

    /// The text that stands for the result of a call in a transcript.
    pub(crate) fn text(&self, call: &ToolCall) -> Arc<str> {
        match call.results() {
            ToolResults::Text(text) => text.clone(),
            ToolResults::Artifact(artifact) => self.artifact_text(artifact),
            ToolResults::Artifacts(artifacts) => {
                let texts: Vec<_> = artifacts.iter().map(|artifact| self.artifact_text(artifact)).collect();
                texts.join("\n").into()
            }
            ToolResults::Media(media) => format!("[{}: {}]", media.kind, media.filename).into(),
            ToolResults::MediaList(media) => {
                let lines: Vec<_> =
                    media.iter().map(|media| format!("[{}: {}]", media.kind, media.filename)).collect();
                lines.join("\n").into()
            }
            _ => "[a result of a kind that this version does not know]".into(),
        }
    }

    fn artifact_text(&self, artifact: &ArtifactRef) -> Arc<str> {
        let Some(bytes) = self.get(artifact) else {
            return format!("[the result {} is no longer kept]", artifact.digest).into();
        };
        match std::str::from_utf8(bytes) {
            Ok(text) if text.len() <= MAX_INLINE_BYTES => text.into(),
            Ok(text) => {
                let kept = (0..=MAX_INLINE_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
                let mut shown = text[..kept].to_owned();
                // Writing into a string cannot fail.
                let _ = write!(
                    shown,
                    "\n[cut here: {} of {} bytes are not shown]",
                    text.len() - kept,
                    text.len()
                );
                shown.into()
            }
            Err(_) => {
                format!("[{} bytes that are no text, sha256 {}]", artifact.byte_length, artifact.digest)
                    .into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bytes: Vec<u8>) -> String {
        let mut spool = MemorySpool::default();
        let artifact = spool.put(bytes.into()).unwrap();
        spool.artifact_text(&artifact).to_string()
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
        let mut spool = MemorySpool::default();
        let artifact = spool.put(Bytes::from_static(b"\xff\x00\xfe")).unwrap();
        assert!(spool.artifact_text(&artifact).starts_with("[3 bytes that are no text"));
        assert_eq!(spool.get(&artifact).unwrap().as_ref(), b"\xff\x00\xfe");
    }

    #[test]
    fn the_same_bytes_are_kept_once() {
        let mut spool = MemorySpool::default();
        let first = spool.put(Bytes::from_static(b"same")).unwrap();
        assert_eq!(spool.put(Bytes::from_static(b"same")).unwrap(), first);
        assert_eq!(spool.blobs.len(), 1);
    }

    #[test]
    fn a_result_is_bounded() {
        let mut spool = MemorySpool::default();
        assert!(spool.put(vec![0; MAX_OUTPUT_BYTES].into()).is_ok());
        assert_eq!(spool.put(vec![0; MAX_OUTPUT_BYTES + 1].into()).unwrap_err().code(), Code::ToolDownstream);
    }
}
