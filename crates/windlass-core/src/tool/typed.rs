use std::future::{Future, ready};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;

use super::{Definition, IntoToolOutput, Refusal, ToolContext, ToolError};

/// A tool with typed arguments and a typed result.
///
/// # Contract
///
/// `definition` gives the same answer every time. `call` may be run many times at once; it should
/// watch [`ToolContext::cancelled`] if it does anything long, because a turn that is aborted waits only
/// [`ABORT_GRACE`](super::ABORT_GRACE) before the future is dropped. State is owned or shared (`Send + Sync + 'static`);
/// a tool cannot borrow from its surroundings.
///
/// ```
/// use windlass_core::{Definition, Effect, ToolContext, ToolError, TypedTool};
///
/// struct Weather;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct City {
///     /// City name, e.g. "Oslo"
///     city: String,
/// }
///
/// impl TypedTool for Weather {
///     type Args = City;
///     type Output = String;
///
///     fn definition(&self) -> Definition {
///         Definition::new("weather", "Current weather in a city.", Effect::Pure)
///     }
///
///     async fn call(&self, args: City, _: &ToolContext) -> Result<String, ToolError> {
///         Ok(format!("Rain in {}.", args.city))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "expected a tool here",
    note = "put `#[tool(pure)]`, `#[tool(idempotent)]` or `#[tool(once)]` on an async function and call it here, \
            wrap a closure with `tool_fn(name, description, effect, closure)`, or implement `TypedTool`"
)]
pub trait TypedTool: Send + Sync + 'static {
    /// The arguments: a struct whose schema the model sees.
    type Args: DeserializeOwned + JsonSchema + Send + Sync + 'static;
    /// The result: anything that serialises, or a [`ToolOutput`](super::ToolOutput).
    type Output: IntoToolOutput + Send + 'static;

    /// Name, description, effect and the other properties.
    fn definition(&self) -> Definition;

    /// The schema of the arguments: what the model is shown and what they are checked against. That of
    /// [`Args`](Self::Args), unless only this very tool knows it.
    fn input_schema(&self) -> Schema {
        input_schema_of::<Self::Args>()
    }

    /// Checks what no schema can say, for example by asking a database. Nothing has run yet, and whatever
    /// it refuses never does. It has the time of a run.
    fn check(&self, args: &Self::Args) -> impl Future<Output = Result<(), Refusal>> + Send {
        let _ = args;
        ready(Ok(()))
    }

    /// Does the work.
    fn call(
        &self,
        args: Self::Args,
        context: &ToolContext,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;
}

/// The schema of a type of arguments, with every nested type in its place.
pub fn input_schema_of<A: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    settings.into_generator().into_root_schema_for::<A>()
}
