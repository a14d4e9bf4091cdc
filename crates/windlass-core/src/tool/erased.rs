use std::any::Any;
use std::fmt::{self, Write as _};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::executor;
use super::{
    CallError, Definition, Effect, Executor, Host, IntoToolOutput, Refusal, ToolContext, ToolDescription,
    ToolError, ToolOutput, TypedTool,
};
use crate::error::{Error, Problem};
use crate::identity::{Args, DefinitionDigest, canonical, exact_object};
use crate::json;

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

/// Makes the check that goes with a definition and the schema of its arguments, or says what is wrong with
/// the schema.
pub type Compile<'a> = &'a dyn Fn(&Definition, &Value) -> Result<Arc<dyn ArgsCheck>, Error>;

/// Whatever can become a [`Tool`], given a way to check its arguments.
///
/// The crate `windlass-tool` has that way, and `into_tool` with it.
pub trait Erase {
    /// Erases the types, or says with `E_INVALID_INITIAL_TOOL_VALUE` why this is no valid tool; all problems
    /// of the definition are listed.
    fn erase(self, compile: Compile<'_>) -> Result<Tool, Error>;
}

impl<T: TypedTool> Erase for T {
    fn erase(self, compile: Compile<'_>) -> Result<Tool, Error> {
        let definition = self.definition();
        let description = definition.describe(self.input_schema().to_value())?;
        let check = compile(&definition, &description.input_schema)?;
        let described = canonical(&serde_json::to_value(&description).unwrap_or(Value::Null));
        let digest = DefinitionDigest::of(&described, definition.effect);
        let name = (*description.name).into();
        let handler = Box::new(Arc::new(self));
        Ok(Tool(Arc::new(Inner { name, definition, description, digest, handler, check })))
    }
}

impl Erase for Tool {
    fn erase(self, _: Compile<'_>) -> Result<Tool, Error> {
        Ok(self)
    }
}

/// A tool whose types are erased: the form that registries, turns and models handle. A clone is a
/// reference.
#[derive(Clone)]
pub struct Tool(Arc<Inner>);

struct Inner {
    name: Arc<str>,
    definition: Definition,
    description: ToolDescription,
    /// Part of what an approval speaks of.
    digest: DefinitionDigest,
    handler: Box<dyn Handler>,
    check: Arc<dyn ArgsCheck>,
}

impl Tool {
    /// The tool's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    pub(super) fn shared_name(&self) -> Arc<str> {
        self.0.name.clone()
    }

    /// What the tool does to the world.
    pub fn effect(&self) -> Effect {
        self.0.definition.effect
    }

    /// All properties as the author set them.
    pub fn definition(&self) -> &Definition {
        &self.0.definition
    }

    /// Exactly name, description and input schema, as plain data. The schema is the very one that arguments
    /// are checked against.
    pub fn describe(&self) -> &ToolDescription {
        &self.0.description
    }

    /// True for a tool that answers questions about results.
    pub fn is_artifact_tool(&self) -> bool {
        self.0.definition.is_artifact_tool
    }

    pub(super) fn digest(&self) -> DefinitionDigest {
        self.0.digest
    }

    /// Checks arguments against the schema, then by the author's own check, and runs nothing.
    ///
    /// Gives them as a handler would get them, or fails with `E_INVALID_TOOL_ARGS`, whose problems are
    /// listed in one message that a model can act on. An author's check that cannot be made at all is an
    /// `E_TOOL_DOWNSTREAM_ERROR`. Nobody watches over its time here, as an executor does.
    pub async fn validate(&self, args: &Args) -> Result<Map<String, Value>, Error> {
        let admitted = self.admit(args).map_err(|refused| refused.error)?;
        let checked = executor::contain(|| admitted.ready.check(), None).await;
        executor::judge(self, checked).map_err(|refused| refused.error)?;
        Ok(admitted.args)
    }

    /// Binds the tool to its surroundings. Made once per turn, cloned and called as often as needed.
    pub fn executor<H: Host>(&self, host: Arc<H>) -> Executor<H> {
        Executor::new(self.clone(), host)
    }

    /// Checks arguments against the schema and reads them, without the author's check.
    pub(super) fn admit(&self, args: &Args) -> Result<Admitted, CallError> {
        if let Some(defect) = args.defect() {
            return Err(executor::invalid(self.name(), vec![Problem::at("", defect)]));
        }
        let checked = self.0.check.check(self.name(), args.object()).map_err(CallError::refused)?;
        // Computed once: these bytes are hashed, shown to whoever approves, and read by the handler.
        let bytes = exact_object(&checked);
        match catch_unwind(AssertUnwindSafe(|| self.0.handler.admit(&bytes))) {
            Ok(Ok(ready)) => Ok(Admitted { args: checked, bytes, ready }),
            Ok(Err(problem)) => Err(executor::invalid(self.name(), vec![self.without_secrets(problem)])),
            Err(payload) => Err(executor::panicked_early(self, &*payload)),
        }
    }

    /// The words of a deserialiser may quote what it could not read.
    fn without_secrets(&self, problem: Problem) -> Problem {
        let secret = &self.0.definition.secret;
        let top = problem.pointer.split('/').nth(1).map(|top| top.replace("~1", "/").replace("~0", "~"));
        match top {
            _ if secret.is_empty() => problem,
            Some(top) if !secret.contains(&*top) => problem,
            _ => Problem::at(problem.pointer, "could not be read as what the tool expects"),
        }
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("definition", &self.0.definition).finish_non_exhaustive()
    }
}

/// Arguments that fit, in every form that is needed from here on.
pub(super) struct Admitted {
    pub(super) args: Map<String, Value>,
    pub(super) bytes: String,
    pub(super) ready: Box<dyn Ready>,
}

/// A handler at work. The outer result is the handler's own; the inner one says whether what it returned
/// could be made an output, which is too late to undo anything.
pub(super) type Running = Work<'static, Result<Result<ToolOutput, ToolError>, ToolError>>;

/// Code of an author, at work.
pub(super) type Work<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The erased side of [`TypedTool`]. The one place where types are lost.
trait Handler: Send + Sync {
    /// Reads the arguments from the very bytes that were hashed.
    fn admit(&self, args: &str) -> Result<Box<dyn Ready>, Problem>;
}

/// A handler that has its arguments and waits for its context.
pub(super) trait Ready: Send + Sync {
    /// The author's own check.
    fn check(&self) -> Work<'_, Result<(), Refusal>>;

    /// Runs the handler.
    fn run(self: Box<Self>, context: ToolContext) -> Running;
}

struct Call<T: TypedTool> {
    tool: Arc<T>,
    args: T::Args,
}

impl<T: TypedTool> Handler for Arc<T> {
    fn admit(&self, args: &str) -> Result<Box<dyn Ready>, Problem> {
        Ok(Box::new(Call { tool: self.clone(), args: read_args(args)? }))
    }
}

impl<T: TypedTool> Ready for Call<T> {
    fn check(&self) -> Work<'_, Result<(), Refusal>> {
        Box::pin(self.tool.check(&self.args))
    }

    fn run(self: Box<Self>, context: ToolContext) -> Running {
        let Self { tool, args } = *self;
        Box::pin(async move { tool.call(args, &context).await.map(IntoToolOutput::into_tool_output) })
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
