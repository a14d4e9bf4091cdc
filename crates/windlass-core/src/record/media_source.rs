use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;

use crate::error::Error;

/// The bytes of a medium, from the first to the last, in pieces of any size.
pub type MediaChunks = Pin<Box<dyn Stream<Item = Result<Bytes, Error>> + Send + 'static>>;

/// Where the bytes of a [`Media`](super::Media) come from.
///
/// [`Bytes`] is one; files, object stores and downloads are for others to implement, because the core does no
/// input or output.
///
/// # Contract
///
/// `open` may be called any number of times, also while an earlier stream is still being read; every stream
/// begins at the first byte and gives the same bytes. It returns at once: whatever takes time, opening
/// included, happens when the stream is polled. A failure is the last item of its stream, with the code
/// `E_MEDIA_UNREADABLE`, and marked transient if opening again may help.
pub trait MediaSource: Send + Sync + 'static {
    /// Begins a new reading at the first byte.
    fn open(&self) -> MediaChunks;

    /// The number of bytes that every reading gives, if it is known without reading.
    fn byte_length(&self) -> Option<u64> {
        None
    }
}

impl<S: MediaSource + ?Sized> MediaSource for Arc<S> {
    fn open(&self) -> MediaChunks {
        (**self).open()
    }

    fn byte_length(&self) -> Option<u64> {
        (**self).byte_length()
    }
}

impl MediaSource for Bytes {
    fn open(&self) -> MediaChunks {
        Box::pin(Whole(Some(self.clone()).filter(|bytes| !bytes.is_empty())))
    }

    fn byte_length(&self) -> Option<u64> {
        Some(self.len() as u64)
    }
}

/// All bytes in one piece.
struct Whole(Option<Bytes>);

impl Stream for Whole {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.take().map(Ok))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::from(self.0.is_some());
        (left, Some(left))
    }
}
