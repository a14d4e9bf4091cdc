#![doc = include_str!("../../../README.md")]

pub use windlass_core::*;
pub use windlass_tool::*;
pub use windlass_turn::*;
