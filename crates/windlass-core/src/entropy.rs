//! Random bytes, handed in instead of asked for.

use std::sync::Arc;

use crate::error::Error;

/// Where random bytes come from.
///
/// # Contract
///
/// `fill` writes every byte of the slice with output of a cryptographically secure source, or fails.
/// Sources for tests may repeat themselves; a source in production must not.
pub trait Entropy: Send + Sync + 'static {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error>;
}

impl<E: Entropy + ?Sized> Entropy for Arc<E> {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        (**self).fill(bytes)
    }
}
