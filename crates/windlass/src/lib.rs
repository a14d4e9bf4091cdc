#![doc = include_str!("../../../README.md")]

pub use windlass_core::*;
#[cfg(feature = "macros")]
pub use windlass_macros::{tool, tools};
pub use windlass_tool::*;
pub use windlass_turn::*;

/// What the code that `#[tool]` writes refers to. No promise is made about it.
#[doc(hidden)]
pub mod __private;
