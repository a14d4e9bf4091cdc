//! The loop of Windlass.
//!
//! A turn is the fold of its facts. [`Machine`] folds them and decides, without a clock, a random number
//! or an `await`; one driver performs what it decides, writes the facts to the journal, and only then
//! lets the machine and the subscribers see them. [`Agent`], [`Session`] and [`Turn`] are what users
//! hold.

mod adapter;
mod agent;
mod batch;
mod drive;
mod journal;
mod keep;
mod log;
mod machine;
mod propose;
mod session;
mod spool;
mod system;
mod turn;

pub use agent::{Agent, Answer};
pub use batch::MAX_CONCURRENT_CALLS;
pub use journal::MemoryJournal;
pub use log::{DELTA_RING, Subscription};
pub use machine::{Limits, MAX_ITERATIONS, Machine, Step};
pub use session::Session;
pub use spool::{MAX_INLINE_BYTES, MAX_OUTPUT_BYTES, MAX_RESULTS, MemorySpool};
pub use system::{OsEntropy, SystemClock};
pub use turn::{Conclusion, SpawnedTurn, Turn, TurnControl};
