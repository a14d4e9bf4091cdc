#![doc = include_str!("../../../README.md")]

/// For the derives of argument types: `#[derive(JsonSchema)]` with `#[schemars(crate = "windlass::schemars")]`
/// needs no dependency of its own.
pub use schemars;
/// For the derives of argument types: `#[derive(Deserialize)]` with `#[serde(crate = "windlass::serde")]`
/// needs no dependency of its own.
pub use serde;
pub use windlass_core::*;
#[cfg(feature = "macros")]
pub use windlass_macros::{tool, tools};
pub use windlass_tool::*;
pub use windlass_turn::*;

#[cfg(feature = "tokens")]
pub use windlass_tokens as tokens;

/// What the code that `#[tool]` writes refers to. No promise is made about it.
#[doc(hidden)]
pub mod __private;
