use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Effect, ToolError, ToolOutput};
use crate::artifact::{ArtifactType, Text};
use crate::error::{Code, Error, Problem, shorten};
use crate::identity::{Args, OperationId, RAW_KEY, ToolCallId};

/// How long a handler may run unless its definition says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// The most bytes that a tool's name may have.
pub const MAX_NAME_BYTES: usize = 128;

/// What happens when a tool joins others of which one has its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OnCollision {
    /// It is an error; as a tool's own word, whoever merges decides.
    #[default]
    Throw,
    /// The newcomer takes the place.
    Replace,
    /// The one that is there stays.
    Keep,
}

/// Whether calls of a tool may run beside others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Concurrency {
    /// Beside any other call.
    #[default]
    Shared,
    /// Alone: nothing else of its batch runs meanwhile.
    Exclusive,
}

/// Whether somebody must agree before a call runs.
#[derive(Clone, Default)]
pub enum Approval {
    /// Nobody is asked.
    #[default]
    Never,
    /// Every call is asked for.
    Always,
    /// Calls with such arguments are asked for; see [`Approval::when`].
    When(Predicate),
}

/// A condition on the arguments that a handler would get.
pub type Predicate = Arc<dyn Fn(&Map<String, Value>) -> bool + Send + Sync>;

impl Approval {
    /// Asks for calls whose effective arguments meet a condition.
    pub fn when(condition: impl Fn(&Map<String, Value>) -> bool + Send + Sync + 'static) -> Self {
        Self::When(Arc::new(condition))
    }

    /// Whether somebody must agree to a call with these arguments. A condition that panics asks.
    pub fn is_due(&self, args: &Map<String, Value>) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::When(condition) => catch_unwind(AssertUnwindSafe(|| condition(args))).unwrap_or(true),
        }
    }
}

impl fmt::Debug for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Never => "Never",
            Self::Always => "Always",
            Self::When(_) => "When(…)",
        })
    }
}

/// A run of a `once` tool that did not return, as its hook is asked about it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Interrupted {
    /// The id of the call.
    pub tool_call_id: ToolCallId,
    /// The key of the run, as the handler had it.
    pub operation_id: OperationId,
    /// The arguments that the handler got.
    pub args: Map<String, Value>,
}

impl Interrupted {
    /// A run that was interrupted.
    pub fn new(tool_call_id: ToolCallId, operation_id: OperationId, args: Map<String, Value>) -> Self {
        Self { tool_call_id, operation_id, args }
    }
}

/// What a hook found out about an interrupted run.
#[derive(Clone, Debug, PartialEq)]
pub enum Reconciled {
    /// It took effect, and this is its result.
    Done(ToolOutput),
    /// It took no effect: it may be called again.
    NotDone,
    /// There is no telling.
    Unknown,
}

/// Finds out whether an interrupted run took effect.
pub type ReconcileHook = Arc<
    dyn Fn(Interrupted) -> Pin<Box<dyn Future<Output = Result<Reconciled, ToolError>> + Send>> + Send + Sync,
>;

/// The properties of a tool, as its author states them.
///
/// A loop acts on `timeout`, `concurrency`, `approval`, `trusted`, `secret` and `artifact_type`, and writes `inline`
/// into the record; registries act on `ephemeral` and `on_collision`. The others are claims that everybody can read,
/// `egress`, `sensitive`, `destination`, `blocking`, `polling` and `reconcile` among them: so far nothing happens
/// because of them. In particular a handler that blocks its thread cannot be stopped at its timeout.
///
/// ```
/// use std::time::Duration;
/// use windlass_core::{Approval, Definition, Effect};
///
/// let transfer = Definition::new("transfer", "Transfers money.", Effect::Once)
///     .approval(Approval::when(|args| args["amount"].as_f64() > Some(100.0)))
///     .destination("account")
///     .secret("pin")
///     .timeout(Duration::from_secs(10));
/// assert!(!transfer.trusted && transfer.secret.contains("pin"));
/// ```
#[derive(Clone)]
#[non_exhaustive]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a property of its own, set by the method of its name"
)]
pub struct Definition {
    /// The name that the model calls.
    pub name: Cow<'static, str>,
    /// What the tool does, in words for the model.
    pub description: Cow<'static, str>,
    /// What it does to the world.
    pub effect: Effect,
    /// The type of its results, if it is not plain text.
    pub artifact_type: Option<Arc<dyn ArtifactType>>,
    /// True if it goes when its dispatch ends.
    pub ephemeral: bool,
    /// True if its results are the author's own words, not those of others, which a model reads as a quotation:
    /// `> ` before each line.
    pub trusted: bool,
    /// What happens when it joins a tool of the same name.
    pub on_collision: OnCollision,
    /// Whatever else the author wants to say, for the handler and for whoever lists tools. No model sees it.
    pub meta: Map<String, Value>,
    /// True if it sends something out of the reach of this program.
    pub egress: bool,
    /// True if its results are not for everybody.
    pub sensitive: bool,
    /// Whether somebody must agree before it runs.
    pub approval: Approval,
    /// The arguments that say where something goes.
    pub destination: BTreeSet<Cow<'static, str>>,
    /// The arguments that only the handler, the store and the model itself may see: the kit's errors never quote
    /// them, and in events they are blanked out. What an author writes into an error is shown as it is written.
    pub secret: BTreeSet<Cow<'static, str>>,
    /// Whether it runs beside other calls.
    pub concurrency: Concurrency,
    /// How long one run may take.
    pub timeout: Duration,
    /// Whether its results stand in the conversation themselves, if the author has an opinion. It is written into
    /// the record; so far the content is shown either way.
    pub inline: Option<bool>,
    /// True if its handler blocks the thread that it runs on.
    pub blocking: bool,
    /// True if calling it again and again with the same arguments is how it is meant to be used.
    pub polling: bool,
    /// Finds out what an interrupted run has done.
    pub reconcile: Option<ReconcileHook>,
    /// True for a tool that answers questions about results.
    pub(super) is_artifact_tool: bool,
}

impl Definition {
    /// A tool with a name, a description and an effect; everything else has its default.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        effect: Effect,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            effect,
            artifact_type: None,
            ephemeral: false,
            trusted: false,
            on_collision: OnCollision::default(),
            meta: Map::new(),
            egress: false,
            sensitive: false,
            approval: Approval::default(),
            destination: BTreeSet::new(),
            secret: BTreeSet::new(),
            concurrency: Concurrency::default(),
            timeout: DEFAULT_TIMEOUT,
            inline: None,
            blocking: false,
            polling: false,
            reconcile: None,
            is_artifact_tool: false,
        }
    }

    /// Says what its results are; plain text unless set.
    #[must_use]
    pub fn artifact_type(mut self, artifact_type: impl ArtifactType) -> Self {
        self.artifact_type = Some(Arc::new(artifact_type));
        self
    }

    /// Lets it go when its dispatch ends.
    #[must_use]
    pub fn ephemeral(mut self) -> Self {
        self.ephemeral = true;
        self
    }

    /// Says that the results are the author's own words.
    #[must_use]
    pub fn trusted(mut self) -> Self {
        self.trusted = true;
        self
    }

    /// Says what happens when it joins a tool of the same name.
    #[must_use]
    pub fn on_collision(mut self, policy: OnCollision) -> Self {
        self.on_collision = policy;
        self
    }

    /// Adds something that the handler and programs can read.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(key.into(), value.into());
        self
    }

    /// Says that it sends something out of the reach of this program.
    #[must_use]
    pub fn egress(mut self) -> Self {
        self.egress = true;
        self
    }

    /// Says that its results are not for everybody.
    #[must_use]
    pub fn sensitive(mut self) -> Self {
        self.sensitive = true;
        self
    }

    /// Says when somebody must agree first.
    #[must_use]
    pub fn approval(mut self, approval: Approval) -> Self {
        self.approval = approval;
        self
    }

    /// Marks an argument that says where something goes.
    #[must_use]
    pub fn destination(mut self, argument: impl Into<Cow<'static, str>>) -> Self {
        self.destination.insert(argument.into());
        self
    }

    /// Marks an argument that only the handler may see.
    #[must_use]
    pub fn secret(mut self, argument: impl Into<Cow<'static, str>>) -> Self {
        self.secret.insert(argument.into());
        self
    }

    /// Lets nothing else of its batch run meanwhile.
    #[must_use]
    pub fn exclusive(mut self) -> Self {
        self.concurrency = Concurrency::Exclusive;
        self
    }

    /// Bounds one run; [`DEFAULT_TIMEOUT`] unless set.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Says whether its results stand in the conversation themselves.
    #[must_use]
    pub fn inline(mut self, inline: bool) -> Self {
        self.inline = Some(inline);
        self
    }

    /// Says that its handler blocks the thread that it runs on.
    #[must_use]
    pub fn blocking(mut self) -> Self {
        self.blocking = true;
        self
    }

    /// Says that it is called again and again with the same arguments.
    #[must_use]
    pub fn polling(mut self) -> Self {
        self.polling = true;
        self
    }

    /// Finds out, after a crash, whether a run that did not return has taken effect.
    #[must_use]
    pub fn reconcile<R>(mut self, hook: impl Fn(Interrupted) -> R + Send + Sync + 'static) -> Self
    where
        R: Future<Output = Result<Reconciled, ToolError>> + Send + 'static,
    {
        self.reconcile = Some(Arc::new(move |interrupted| Box::pin(hook(interrupted))));
        self
    }

    /// The type of its results.
    pub fn results_type(&self) -> &Arc<dyn ArtifactType> {
        static TEXT: LazyLock<Arc<dyn ArtifactType>> = LazyLock::new(|| Arc::new(Text));
        self.artifact_type.as_ref().unwrap_or(&TEXT)
    }

    /// The names of the arguments among these that only the handler may see. What is no object may hold any
    /// of them, so it counts as one.
    pub fn secrets_in(&self, args: &Args) -> Vec<Arc<str>> {
        match args.defect() {
            Some(_) if self.secret.is_empty() => Vec::new(),
            Some(_) => vec![RAW_KEY.into()],
            None => self.secret.iter().map(|name| Arc::from(&**name)).collect(),
        }
    }

    /// What a model is told, if the definition is valid.
    pub(super) fn describe(&self, input_schema: Value) -> Result<ToolDescription, Error> {
        let problems = self.problems(&input_schema);
        if problems.is_empty() {
            let (name, description) = (self.name.clone(), self.description.clone());
            return Ok(ToolDescription { name, description, input_schema });
        }
        Err(invalid(&self.name, problems))
    }

    /// Everything that is wrong with this definition of a tool with such arguments.
    pub(super) fn problems(&self, input_schema: &Value) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut note = |pointer: &str, message: String| problems.push(Problem::at(pointer, message));
        if self.name.is_empty() {
            note("/name", "must not be empty".into());
        }
        if self.name.len() > MAX_NAME_BYTES {
            note("/name", format!("must have at most {MAX_NAME_BYTES} bytes"));
        }
        if self.name.chars().any(|c| c.is_whitespace() || c.is_control()) {
            note("/name", "must not contain white space or control characters".into());
        }
        if self.description.trim().is_empty() {
            note("/description", "must not be empty: it is how the model knows the tool".into());
        }
        if input_schema.get("type").and_then(Value::as_str) != Some("object") {
            note("/inputSchema", "the arguments must be an object: use a struct with named fields".into());
        }
        let properties = input_schema.get("properties").and_then(Value::as_object);
        for (field, names) in [("destination", &self.destination), ("secret", &self.secret)] {
            for name in names {
                if !properties.is_some_and(|properties| properties.contains_key(&**name)) {
                    note(&format!("/{field}"), format!("there is no argument {name:?}"));
                }
            }
        }
        if self.timeout.is_zero() {
            note("/timeoutMs", "must be more than 0".into());
        }
        match &self.artifact_type {
            Some(_) if self.is_artifact_tool => {
                let message = "the answer of an artifact tool is its text: it has no artifact type";
                note("/artifactType", message.into());
            }
            Some(artifact_type) if artifact_type.name().is_empty() => {
                note("/artifactType", "must not be empty".into());
            }
            _ => {}
        }
        problems
    }
}

/// The error for a definition that is no tool.
pub(super) fn invalid(name: &str, problems: Vec<Problem>) -> Error {
    let name = shorten(name.to_owned(), MAX_NAME_BYTES);
    let message = format!("the tool {name:?} is not valid; correct what is listed");
    Error::new(Code::InvalidTool, message).with_problems(problems)
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definition")
            .field("name", &self.name)
            .field("description", &self.description)
            .field("effect", &self.effect)
            .field("artifact_type", &self.artifact_type)
            .field("ephemeral", &self.ephemeral)
            .field("trusted", &self.trusted)
            .field("on_collision", &self.on_collision)
            .field("meta", &self.meta)
            .field("egress", &self.egress)
            .field("sensitive", &self.sensitive)
            .field("approval", &self.approval)
            .field("destination", &self.destination)
            .field("secret", &self.secret)
            .field("concurrency", &self.concurrency)
            .field("timeout", &self.timeout)
            .field("inline", &self.inline)
            .field("blocking", &self.blocking)
            .field("polling", &self.polling)
            .field("reconcile", &self.reconcile.is_some())
            .finish_non_exhaustive()
    }
}

/// What a model is told about a tool: exactly these three fields.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolDescription {
    /// The name that the model calls.
    pub name: Cow<'static, str>,
    /// What the tool does.
    pub description: Cow<'static, str>,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
}
