pub use schemars;
pub use serde;
pub use windlass_core::{
    Approval, ArtifactTool, Definition, Effect, Error, OnCollision, Refusal, Tool, ToolContext, ToolError,
    TypedTool,
};
pub use windlass_tool::{IntoTool, Tools};

/// The schema of arguments, without the name of a struct that nobody wrote.
pub fn input_schema_without_title<A: schemars::JsonSchema>() -> schemars::Schema {
    let mut schema = windlass_core::tool::input_schema_of::<A>();
    schema.remove("title");
    schema
}
