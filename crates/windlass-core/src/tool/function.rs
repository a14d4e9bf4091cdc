use std::fmt;
use std::future::Future;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{Definition, Effect, IntoToolOutput, ToolContext, ToolError, TypedTool};

/// A [`TypedTool`] made of an async function: for tools whose state is what a closure captures.
///
/// The function gets its arguments and nothing else. A tool that wants to see an abort coming, or needs its
/// operation id, implements [`TypedTool`], whose `call` also gets the [`ToolContext`]. A tool without
/// arguments takes a struct without fields.
///
/// ```
/// use windlass_core::{Effect, TypedTool, tool_fn};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct City { city: String }
///
/// let weather = tool_fn("weather", "Current weather in a city.", Effect::Pure, |args: City| async move {
///     Ok(format!("Rain in {}.", args.city))
/// });
/// assert_eq!(weather.definition().name, "weather");
/// assert_eq!(weather.input_schema().to_value()["required"][0], "city");
/// ```
pub fn tool_fn<A, O, F, R>(
    name: impl Into<std::borrow::Cow<'static, str>>,
    description: impl Into<std::borrow::Cow<'static, str>>,
    effect: Effect,
    function: F,
) -> ToolFn<F, A>
where
    A: DeserializeOwned + JsonSchema + Send + Sync + 'static,
    O: IntoToolOutput + Send + 'static,
    F: Fn(A) -> R + Send + Sync + 'static,
    R: Future<Output = Result<O, ToolError>> + Send + 'static,
{
    ToolFn { definition: Definition::new(name, description, effect), function, args: PhantomData }
}

/// See [`tool_fn`].
pub struct ToolFn<F, A> {
    definition: Definition,
    function: F,
    args: PhantomData<fn(A)>,
}

impl<F, A> ToolFn<F, A> {
    /// Changes the other properties of the tool.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(Definition) -> Definition) -> Self {
        self.definition = change(self.definition);
        self
    }
}

impl<F, A> fmt::Debug for ToolFn<F, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolFn").field("definition", &self.definition).finish_non_exhaustive()
    }
}

impl<A, O, F, R> TypedTool for ToolFn<F, A>
where
    A: DeserializeOwned + JsonSchema + Send + Sync + 'static,
    O: IntoToolOutput + Send + 'static,
    F: Fn(A) -> R + Send + Sync + 'static,
    R: Future<Output = Result<O, ToolError>> + Send + 'static,
{
    type Args = A;
    type Output = O;

    fn definition(&self) -> Definition {
        self.definition.clone()
    }

    fn call(&self, args: A, _: &ToolContext) -> impl Future<Output = Result<O, ToolError>> + Send {
        (self.function)(args)
    }
}
