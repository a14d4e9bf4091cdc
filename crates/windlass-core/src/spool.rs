//! Where large results lie: the contract of a store of sealed bytes.

use std::fmt;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::artifact::ArtifactType;
use crate::error::{Code, Error};
use crate::identity::Digest;
use crate::record::ArtifactRef;

/// What a spool does, at some time.
pub type SpoolFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// A store of bytes that are written once, sealed, and then read by range.
///
/// # Contract
///
/// Bytes are addressed by their content: what is sealed twice lies there once. Nothing can be read before it
/// is sealed, and a writer that is dropped unsealed leaves nothing behind. `read` gives exactly the bytes of
/// the part of the range that exists, and fails for a digest that was never sealed here.
pub trait Spool: Send + Sync + 'static {
    /// Begins a new blob.
    fn create(&self) -> SpoolFuture<'_, Box<dyn SpoolSink>>;

    /// Some of the bytes of a sealed blob.
    fn read(&self, digest: Digest, range: Range<u64>) -> SpoolFuture<'_, Bytes>;
}

/// A blob that is being written.
///
/// # Contract
///
/// A failed write breaks the sink: neither writing nor sealing succeeds after it. Waiting is how a sink says
/// that it cannot keep up; it holds no more than a bounded part of what it was given.
pub trait SpoolSink: Send {
    /// Appends bytes.
    fn write(&mut self, bytes: Bytes) -> SpoolFuture<'_, ()>;

    /// Ends the blob, after which it can be read.
    fn seal(self: Box<Self>) -> SpoolFuture<'static, Sealed>;
}

/// What is known of a blob once it is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// SHA-256 of its bytes, which is its address.
    pub digest: Digest,
    /// Its length in bytes.
    pub byte_length: u64,
    /// Its number of lines; a final newline ends the last line and starts no other.
    pub line_count: u64,
}

impl Sealed {
    /// What there is to know of bytes that lie in memory.
    pub fn of(bytes: &[u8]) -> Self {
        let mut tally = Tally::default();
        tally.add(bytes);
        tally.seal()
    }
}

/// Measures bytes while they are written.
///
/// ```
/// use windlass_core::spool::{Sealed, Tally};
///
/// let mut tally = Tally::default();
/// tally.add(b"first\r\nsec");
/// tally.add(b"ond");
/// assert_eq!(tally.seal(), Sealed::of(b"first\r\nsecond"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tally {
    hasher: Sha256,
    byte_length: u64,
    newlines: u64,
    has_open_line: bool,
}

impl Tally {
    /// Takes the next bytes into account.
    pub fn add(&mut self, bytes: &[u8]) {
        let Some(last) = bytes.last() else { return };
        self.hasher.update(bytes);
        self.byte_length += bytes.len() as u64;
        // `\r\n` ends with the same byte, so counting `\n` counts both terminators.
        self.newlines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.has_open_line = *last != b'\n';
    }

    /// How many bytes there were.
    pub fn byte_length(&self) -> u64 {
        self.byte_length
    }

    /// What is known now that all bytes were seen.
    pub fn seal(self) -> Sealed {
        Sealed {
            digest: Digest::from_hash(self.hasher.finalize().into()),
            byte_length: self.byte_length,
            line_count: self.newlines + u64::from(self.has_open_line),
        }
    }
}

/// A handler's way to write a result as it goes, so that it never lies in memory as a whole.
///
/// It lasts as long as its call: once the handler has returned or was given up, it refuses.
pub struct SpoolWriter {
    sink: Box<dyn SpoolSink>,
    artifact_type: Arc<dyn ArtifactType>,
    pass: Pass,
}

/// Whether a call still lasts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pass(Arc<AtomicBool>);

impl Pass {
    pub(crate) fn revoke(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn check(&self) -> Result<(), Error> {
        if self.0.load(Ordering::Acquire) {
            let message = "the call that this spool was opened for is over; write before the handler returns";
            return Err(Error::new(Code::SpoolClosed, message));
        }
        Ok(())
    }
}

impl SpoolWriter {
    pub(crate) fn new(sink: Box<dyn SpoolSink>, artifact_type: Arc<dyn ArtifactType>, pass: Pass) -> Self {
        Self { sink, artifact_type, pass }
    }

    /// Appends bytes.
    pub async fn write(&mut self, bytes: impl Into<Bytes>) -> Result<(), Error> {
        self.pass.check()?;
        self.sink.write(bytes.into()).await
    }

    /// Ends the result. Returned by the handler, the reference is the result of the call.
    pub async fn seal(self) -> Result<ArtifactRef, Error> {
        self.pass.check()?;
        let sealed = self.sink.seal().await?;
        Ok(ArtifactRef::new(self.artifact_type.name(), sealed))
    }
}

impl fmt::Debug for SpoolWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpoolWriter").field("artifact_type", &self.artifact_type).finish_non_exhaustive()
    }
}
