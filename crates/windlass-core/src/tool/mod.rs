//! Tools: what users write, and the one concrete form that everything else sees.
//!
//! A user implements [`TypedTool`], or wraps an async closure with [`tool_fn`]. Its types are erased once,
//! here, into a [`Tool`]. The handler inside is private: it runs only through an [`Executor`], which
//! hashes, validates, reports and contains whatever the handler does.

mod context;
mod definition;
mod error;
mod executor;
mod function;
mod output;

use std::any::Any;
use std::fmt::{self, Write as _};
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use context::ToolContext;
pub use definition::{DEFAULT_TIMEOUT, Definition, MAX_NAME_BYTES, ToolDescription};
pub use error::{Disposition, OrToolError, ToolError};
pub use executor::{
    ABORT_GRACE, CallError, ExecutionEnd, ExecutionStart, Executor, Host, MAX_DETAIL_BYTES, Scope, Span,
    UNKNOWN_EFFECT,
};
pub use function::{ToolFn, tool_fn};
pub use output::{IntoToolOutput, ToolOutput};

use crate::error::{Error, Problem};
use crate::identity::{DefinitionDigest, canonical};
use crate::json;

/// What a tool does to the world, and so whether a call may be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    /// Changes nothing: repeating it is free.
    Pure,
    /// Changes something, and repeating it with the same operation id changes nothing more.
    Idempotent,
    /// Changes something at every run: never repeated without being asked.
    Once,
}

impl Effect {
    /// The word that users write.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pure => "pure",
            Self::Idempotent => "idempotent",
            Self::Once => "once",
        }
    }
}

/// A tool with typed arguments and a typed result.
///
/// # Contract
///
/// `definition` gives the same answer every time. `call` may be run many times at once; it should
/// watch [`ToolContext::cancelled`] if it does anything long, because a turn that is aborted waits only
/// [`ABORT_GRACE`] before the future is dropped. State is owned or shared (`Send + Sync + 'static`);
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
    note = "implement `TypedTool` for it, or wrap an async closure with `tool_fn(name, description, effect, closure)`"
)]
pub trait TypedTool: Send + Sync + 'static {
    /// The arguments: a struct whose schema the model sees.
    type Args: DeserializeOwned + JsonSchema + Send + 'static;
    /// The result: anything that serialises, or a [`ToolOutput`].
    type Output: IntoToolOutput + Send + 'static;

    /// Name, description, effect and the other properties.
    fn definition(&self) -> Definition;

    /// Does the work.
    fn call(
        &self,
        args: Self::Args,
        context: &ToolContext,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;
}

/// Checks arguments before a handler reads them.
///
/// # Contract
///
/// `check` gives the arguments as the handler is to get them (defaults filled in, coerced where that loses
/// nothing), or an `E_INVALID_TOOL_ARGS` that lets a model correct itself. It is pure and bounded in time.
pub trait ArgsCheck: Send + Sync + 'static {
    /// Checks the arguments of a call of `tool`.
    fn check(&self, tool: &str, args: &Map<String, Value>) -> Result<Map<String, Value>, Error>;
}

/// A tool whose types are erased: the form that registries, turns and models handle. A clone is a
/// reference.
#[derive(Clone)]
pub struct Tool(Arc<Inner>);

struct Inner {
    definition: Definition,
    description: ToolDescription,
    /// Part of what an approval speaks of.
    digest: DefinitionDigest,
    handler: Arc<dyn Handler>,
    check: Option<Arc<dyn ArgsCheck>>,
}

impl Tool {
    /// Erases a typed tool.
    ///
    /// Fails with `E_INVALID_INITIAL_TOOL_VALUE` if the definition is not valid; all problems are listed.
    pub fn new(tool: impl TypedTool) -> Result<Self, Error> {
        let definition = tool.definition();
        let input_schema = definition::input_schema::<_>(&tool);
        let description = definition.describe(input_schema)?;
        let described = canonical(&serde_json::to_value(&description).unwrap_or(Value::Null));
        let digest = DefinitionDigest::of(&described, definition.effect);
        Ok(Self(Arc::new(Inner {
            definition,
            description,
            digest,
            handler: Arc::new(Arc::new(tool)),
            check: None,
        })))
    }

    /// The same tool, whose arguments are checked before its handler reads them. Without a check they only
    /// have to fit the handler's type.
    #[must_use]
    pub fn checked_by(&self, check: Arc<dyn ArgsCheck>) -> Self {
        Self(Arc::new(Inner {
            definition: self.0.definition.clone(),
            description: self.0.description.clone(),
            digest: self.0.digest,
            handler: self.0.handler.clone(),
            check: Some(check),
        }))
    }

    /// The tool's name.
    pub fn name(&self) -> &str {
        &self.0.description.name
    }

    /// What the tool does to the world.
    pub fn effect(&self) -> Effect {
        self.0.definition.effect
    }

    /// All properties as the author set them.
    pub fn definition(&self) -> &Definition {
        &self.0.definition
    }

    /// Exactly name, description and input schema, as plain data.
    pub fn describe(&self) -> &ToolDescription {
        &self.0.description
    }

    /// Binds the tool to its surroundings. Made once per turn, cloned and called as often as needed.
    pub fn executor<H: Host>(&self, host: Arc<H>) -> Executor<H> {
        Executor::new(self.clone(), host)
    }

    fn admit(&self, args: &str) -> Result<Ready, Admission> {
        std::panic::catch_unwind(AssertUnwindSafe(|| self.0.handler.admit(args)))
            .map_err(|payload| Admission::Panicked(executor::panic_message(&*payload)))?
            .map_err(Admission::Refused)
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("definition", &self.0.definition).finish_non_exhaustive()
    }
}

/// Whatever can become a [`Tool`]: a typed tool, or one that is erased already.
pub trait IntoTool {
    /// Erases the types, or says why this is no valid tool.
    fn into_tool(self) -> Result<Tool, Error>;
}

impl<T: TypedTool> IntoTool for T {
    fn into_tool(self) -> Result<Tool, Error> {
        Tool::new(self)
    }
}

impl IntoTool for Tool {
    fn into_tool(self) -> Result<Tool, Error> {
        Ok(self)
    }
}

/// Why arguments did not come through.
enum Admission {
    Refused(Problem),
    Panicked(String),
}

/// A handler that has its arguments and waits for its context.
type Ready = Box<dyn FnOnce(ToolContext) -> Running + Send>;

/// A handler at work. The outer result is the handler's own; the inner one says whether what it returned
/// could be made an output, which is too late to undo anything.
type Running = Pin<Box<dyn Future<Output = Result<Result<ToolOutput, ToolError>, ToolError>> + Send>>;

/// The erased side of [`TypedTool`]. The one place where types are lost.
trait Handler: Send + Sync {
    /// Reads the arguments from the very bytes that were hashed.
    fn admit(&self, args: &str) -> Result<Ready, Problem>;
}

impl<T: TypedTool> Handler for Arc<T> {
    fn admit(&self, args: &str) -> Result<Ready, Problem> {
        let args = read_args::<T::Args>(args)?;
        let tool = self.clone();
        Ok(Box::new(move |context| {
            Box::pin(async move { tool.call(args, &context).await.map(IntoToolOutput::into_tool_output) })
        }))
    }
}

fn read_args<A: DeserializeOwned + Any>(text: &str) -> Result<A, Problem> {
    // Through our own reader, so that numbers are the same to the type in every build.
    let value = json::read(text).map_err(|error| Problem::at("", error.to_string()))?;
    serde_path_to_error::deserialize(value).map_err(|error| {
        let mut pointer = String::new();
        for segment in error.path() {
            use serde_path_to_error::Segment;
            match segment {
                Segment::Seq { index } => drop(write!(pointer, "/{index}")),
                Segment::Map { key } => {
                    pointer.push('/');
                    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                }
                Segment::Enum { .. } | Segment::Unknown => {}
            }
        }
        Problem::at(pointer, error.into_inner().to_string())
    })
}
