use std::time::Duration;

use tokio::time::Instant;
use windlass_core::{Clock, Sleep, Timestamp};

/// A clock that begins at a fixed instant and moves only when Tokio's time does.
///
/// In a test with `#[tokio::test(start_paused = true)]` time stands still while anything can happen and
/// jumps to the next deadline when nothing can, so a timeout of a minute costs nothing and always falls
/// in the same place. (The attribute needs Tokio's feature `test-util` in your dev-dependencies.)
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
/// use std::time::Duration;
/// use windlass_core::Clock;
/// use windlass_testing::PausedClock;
///
/// let clock = PausedClock::new();
/// clock.sleep(Duration::from_secs(3600)).await;
/// assert_eq!(clock.now().to_string(), "2026-01-01T01:00:00.000Z");
/// # });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PausedClock {
    origin: Timestamp,
    started: Instant,
}

impl PausedClock {
    /// A clock that shows 2026-01-01T00:00:00.000Z now.
    pub fn new() -> Self {
        let origin = Timestamp::from_millis(1_767_225_600_000).unwrap_or(Timestamp::MIN);
        Self { origin, started: Instant::now() }
    }
}

impl Default for PausedClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for PausedClock {
    fn now(&self) -> Timestamp {
        let elapsed = i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.origin.plus_millis(elapsed)
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}
