#![doc = include_str!("../../../README.md")]

pub use windlass_core::*;
pub use windlass_tool::*;
pub use windlass_turn::*;

#[cfg(feature = "tokens")]
pub use windlass_tokens as tokens;
