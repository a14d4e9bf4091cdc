//! The arguments of tools, checked.
//!
//! [`InputSchema`] is the one schema of a tool: what a model is shown and what its arguments are checked
//! against. Checking is complete (JSON Schema 2020-12), closed (nothing is fetched), bounded, and linear in
//! the text that patterns look at. What is lossless is forgiven: `"5"` for 5, `"true"` for true, `""` for an
//! optional argument that was left out. What is wrong is told in words that a model can act on.

mod coerce;
mod example;
mod explain;
mod schema;

pub use schema::{InputSchema, MAX_PATTERN_BYTES, MAX_SCHEMA_BYTES, Rejection, checked};
