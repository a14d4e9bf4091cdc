use std::time::{Duration, SystemTime};

use windlass_core::{Clock, Code, Entropy, Error, Sleep, Timestamp};

/// The machine's clock, and Tokio's timer.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis())
            .ok()
            .and_then(|millis| Timestamp::from_millis(millis).ok())
            .unwrap_or(Timestamp::MAX)
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// The operating system's source of random bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        getrandom::fill(bytes).map_err(|cause| {
            Error::new(Code::System, "the operating system gave no random bytes").with_cause(cause)
        })
    }
}
