//! What tests of Windlass agents are made of.
//!
//! - [`Script`]: a model that says what it was told to say, also the wrong things.
//! - [`collect`], [`outline`] and [`trace`]: events as text, for snapshots.
//! - [`PausedClock`] and [`FixedEntropy`]: time and chance under control.
//!
//! Everything here depends on the contracts of `windlass-core` alone, so it tests any loop that speaks
//! them.

mod clock;
mod entropy;
mod outline;
mod script;

pub use clock::PausedClock;
pub use entropy::FixedEntropy;
pub use outline::{collect, outline, trace};
pub use script::{Request, Requests, Script, ScriptedReply};
