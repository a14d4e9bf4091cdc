use std::sync::Arc;

use serde_json::Value;
use windlass_core::tool::Erase;
use windlass_core::{ArgsCheck, Definition, Error, Tool};

use crate::InputSchema;

/// Whatever can become a [`Tool`]: what `#[tool]` and `tool_fn` give, any `TypedTool`, or a tool that is one
/// already.
///
/// ```
/// use windlass_core::{Args, Effect, tool_fn};
/// use windlass_tool::IntoTool as _;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct City { city: String }
///
/// let weather = tool_fn("weather", "Current weather in a city.", Effect::Pure, |args: City| async move {
///     Ok(format!("Rain in {}.", args.city))
/// });
/// let weather = weather.into_tool()?;
/// assert_eq!(weather.describe().input_schema["properties"]["city"]["type"], "string");
/// # Ok::<(), windlass_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "expected a tool here",
    note = "a function with `#[tool]` is called here, with its state: `.tool(weather(client))`",
    note = "several tools that share state, `#[tools] impl`, are added with `.tools(…)`"
)]
pub trait IntoTool {
    /// Makes the tool, with the check of its arguments compiled from the schema that it shows.
    ///
    /// Fails with `E_INVALID_INITIAL_TOOL_VALUE` if the definition or the schema is not valid; what is wrong
    /// is listed.
    fn into_tool(self) -> Result<Tool, Error>;
}

impl<T: Erase> IntoTool for T {
    fn into_tool(self) -> Result<Tool, Error> {
        self.erase(&compile)
    }
}

fn compile(definition: &Definition, schema: &Value) -> Result<Arc<dyn ArgsCheck>, Error> {
    let schema = InputSchema::compile(schema.clone())?;
    Ok(Arc::new(schema.with_secrets(definition.secret.iter().map(|name| &**name))))
}

/// Several tools at once: what `#[tools] impl` makes of a type, or of an `Arc` of it, or a list. Registries are merged.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a set of tools",
    label = "expected several tools here",
    note = "put `#[tools]` on an `impl` block whose methods have `#[tool(pure)]`, `#[tool(idempotent)]` or \
            `#[tool(once)]`; one tool alone is added with `.tool(…)`"
)]
pub trait ToolSet {
    /// The tools, in order.
    fn into_tools(self) -> Result<Vec<Tool>, Error>;
}

/// State whose methods are tools. `#[tools]` implements it.
pub trait Tools: Send + Sync + Sized + 'static {
    /// The tools that share this state, in the order of their methods.
    fn tools(state: Arc<Self>) -> Result<Vec<Tool>, Error>;
}

impl<T: Tools> ToolSet for T {
    fn into_tools(self) -> Result<Vec<Tool>, Error> {
        T::tools(Arc::new(self))
    }
}

impl<T: Tools> ToolSet for Arc<T> {
    fn into_tools(self) -> Result<Vec<Tool>, Error> {
        T::tools(self)
    }
}

impl ToolSet for Vec<Tool> {
    fn into_tools(self) -> Result<Vec<Tool>, Error> {
        Ok(self)
    }
}
