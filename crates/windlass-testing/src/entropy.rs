use std::sync::atomic::{AtomicU64, Ordering};

use windlass_core::{Entropy, Error};

/// Bytes that look random and are the same in every run.
///
/// Each draw differs from the one before, so ids stay unique; the same seed gives the same draws.
#[derive(Debug)]
pub struct FixedEntropy(AtomicU64);

impl FixedEntropy {
    /// Draws from a seed.
    pub fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
}

impl Default for FixedEntropy {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Entropy for FixedEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        for chunk in bytes.chunks_mut(8) {
            // SplitMix64: a counter in large odd steps, stirred.
            let mut word = self.0.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
            word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            let word = (word ^ (word >> 31)).to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(entropy: &FixedEntropy) -> [u8; 16] {
        let mut bytes = [0; 16];
        entropy.fill(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn the_same_seed_draws_the_same_and_never_repeats_itself() {
        let (one, two) = (FixedEntropy::new(7), FixedEntropy::new(7));
        let draws: Vec<_> = (0..100).map(|_| draw(&one)).collect();
        assert!(draws.iter().all(|bytes| *bytes == draw(&two)));
        let mut unique = draws.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), draws.len());
        assert_ne!(draw(&FixedEntropy::new(8)), draws[0]);
    }
}
