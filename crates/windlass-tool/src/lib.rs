//! Tools whose arguments are checked, and collections of them.
//!
//! [`IntoTool`] makes a tool of whatever a user wrote; [`ToolRegistry`] keeps tools in order.
//!
//! [`InputSchema`] is the one schema of a tool: what a model is shown and what its arguments are checked
//! against. Checking is complete (JSON Schema 2020-12), closed (nothing is fetched), bounded, and linear in
//! the text that patterns look at. What is lossless is forgiven: `"5"` for 5, `"true"` for true, `""` for an
//! optional argument that was left out. What is wrong is told in words that a model can act on.

mod coerce;
mod example;
mod explain;
mod into_tool;
mod registry;
mod schema;

pub use into_tool::{IntoTool, ToolSet, Tools};
pub use registry::ToolRegistry;
pub use schema::{InputSchema, MAX_PATTERN_BYTES, MAX_SCHEMA_BYTES, Rejection};
