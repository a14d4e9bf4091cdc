//! Tools whose arguments are checked, and collections of them.
//!
//! [`IntoTool`] makes a tool of whatever a user wrote; [`ToolRegistry`] keeps tools in order.
//!
//! [`InputSchema`] is the one schema of a tool: what a model is shown and what its arguments are checked
//! against. Checking is complete (JSON Schema 2020-12), closed (nothing is fetched), bounded, and linear in
//! the text that patterns look at. What is lossless is forgiven: `"5"` for 5, `"true"` for true, `""` for an
//! optional argument that was left out. What is wrong is told in words that a model can act on.

mod coerce;
mod compile;
mod default;
mod example;
mod expect;
mod explain;
mod fanout;
mod into_tool;
mod keyword;
mod meter;
mod pattern;
pub mod provider;
mod quote;
mod reference;
mod registry;
mod schema;
mod union;

pub use coerce::MAX_ROUNDS;
pub use compile::MAX_PATTERN_BYTES;
pub use default::{MAX_DEFAULT_BYTES, MAX_FILL_STEPS};
pub use expect::MAX_LISTED;
pub use fanout::{MAX_CHAIN, MAX_FANOUT, MAX_STACKED};
pub use into_tool::{IntoTool, ToolSet, Tools};
pub use meter::{MAX_FAULTS, MAX_SEARCH_STEPS, MAX_STEPS};
pub use quote::MAX_SHOWN;
pub use registry::ToolRegistry;
pub use schema::{InputSchema, MAX_SCHEMA_BYTES, Rejection};
