pub use schemars;
pub use serde;
pub use windlass_core::{
    Approval, ArtifactTool, Definition, Effect, Error, OnCollision, Refusal, Tool, ToolContext, ToolError,
    TypedTool,
};
pub use windlass_tool::{IntoTool, Tools};

/// What a handler returns, asked whether it is a `Result`: its own answer comes before that of the trait.
#[derive(Debug)]
pub struct Returned<T>(std::marker::PhantomData<T>);

impl<T, E> Returned<Result<T, E>> {
    /// It is.
    pub const IS_RESULT: bool = true;
}

/// The answer of everything else.
pub trait NotAResult {
    /// It is not.
    const IS_RESULT: bool = false;
}

impl<T> NotAResult for Returned<T> {}

/// A doc comment as a model reads it: without the space after the slashes, without empty lines around it.
pub fn description(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end()).collect();
    lines.join("\n").trim().to_owned()
}

/// The schema of arguments, without the name of a struct that nobody wrote.
pub fn input_schema_without_title<A: schemars::JsonSchema>() -> schemars::Schema {
    let mut schema = windlass_core::tool::input_schema_of::<A>();
    schema.remove("title");
    schema
}
