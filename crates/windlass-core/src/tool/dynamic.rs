use std::fmt;
use std::future::Future;
use std::time::Duration;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::definition::invalid;
use super::{
    Approval, Concurrency, DEFAULT_TIMEOUT, Definition, Effect, IntoToolOutput, OnCollision, Tool,
    ToolContext, ToolError, TypedTool,
};
use crate::artifact::NamedType;
use crate::error::{Code, Error, Problem};
use crate::json;
use crate::record::fields::{self, Fields, RecordType, Source, typed};

const TYPE: RecordType = RecordType { name: "definition of a tool", code: Code::InvalidTool };

/// The definition of a tool as data, for example from a file or from another program. What only code can
/// say, a predicate or a hook, it cannot say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a property of its own, as in `Definition`")]
pub struct RawTool {
    /// The name that the model calls.
    pub name: String,
    /// What the tool does, in words for the model.
    pub description: String,
    /// The JSON Schema of its arguments.
    #[schemars(with = "Map<String, Value>")]
    pub input_schema: Value,
    /// What it does to the world; `once` unless it says otherwise.
    #[serde(default = "cautious")]
    pub effect: Effect,
    /// The name of the type of its results.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "fields::present")]
    #[schemars(with = "String")]
    pub artifact_type: Option<String>,
    /// True if it goes when its dispatch ends.
    #[serde(default)]
    pub ephemeral: bool,
    /// True if its results are the author's own words.
    #[serde(default)]
    pub trusted: bool,
    /// What happens when it joins a tool of the same name.
    #[serde(default)]
    pub on_collision: OnCollision,
    /// Whatever else there is to say.
    #[serde(default)]
    pub meta: Map<String, Value>,
    /// True if it sends something out of the reach of this program.
    #[serde(default)]
    pub egress: bool,
    /// True if its results are not for everybody.
    #[serde(default)]
    pub sensitive: bool,
    /// Whether somebody must agree before it runs.
    #[serde(default)]
    pub approval: RawApproval,
    /// The arguments that say where something goes.
    #[serde(default)]
    pub destination: Vec<String>,
    /// The arguments that only the handler may see.
    #[serde(default)]
    pub secret: Vec<String>,
    /// Whether it runs beside other calls.
    #[serde(default)]
    pub concurrency: Concurrency,
    /// How long one run may take, in milliseconds.
    #[serde(default = "default_timeout_ms")]
    pub timeout_ms: u64,
    /// Whether its results stand in the conversation themselves.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "fields::present")]
    #[schemars(with = "bool")]
    pub inline: Option<bool>,
    /// True if its handler blocks its thread.
    #[serde(default)]
    pub blocking: bool,
    /// True if it is meant to be called again and again.
    #[serde(default)]
    pub polling: bool,
}

/// Whether somebody must agree before a tool runs, as far as data can say it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RawApproval {
    /// Nobody is asked.
    #[default]
    Never,
    /// Every call is asked for.
    Always,
}

/// Of a tool that says nothing about it the worst is assumed.
fn cautious() -> Effect {
    Effect::Once
}

fn default_timeout_ms() -> u64 {
    u64::try_from(DEFAULT_TIMEOUT.as_millis()).unwrap_or(u64::MAX)
}

impl RawTool {
    /// A tool with a name, a description and the schema of its arguments; everything else has its default.
    pub fn new(name: impl Into<String>, description: impl Into<String>, input_schema: Value) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema,
            effect: cautious(),
            artifact_type: None,
            ephemeral: false,
            trusted: false,
            on_collision: OnCollision::default(),
            meta: Map::new(),
            egress: false,
            sensitive: false,
            approval: RawApproval::default(),
            destination: Vec::new(),
            secret: Vec::new(),
            concurrency: Concurrency::default(),
            timeout_ms: default_timeout_ms(),
            inline: None,
            blocking: false,
            polling: false,
        }
    }
}

/// A tool whose definition is known only at run time. It needs a handler to become a [`Tool`].
///
/// The shape of its definition is checked when it is made; its schema is compiled when it becomes a tool. A
/// handler that needs its [`ToolContext`] is a [`TypedTool`] whose `Args` are a
/// `serde_json::Map<String, Value>` and whose `input_schema` gives the schema.
///
/// ```
/// use serde_json::json;
/// use windlass_core::{DynamicTool, Effect, Tool};
///
/// let raw = json!({
///     "name": "weather",
///     "description": "Current weather in a city.",
///     "inputSchema": { "type": "object", "properties": { "city": { "type": "string" } } },
/// });
/// assert!(Tool::is_tool(&raw));
/// let weather = DynamicTool::try_from(&raw)?;
/// assert_eq!(weather.definition().effect, Effect::Once);
/// let weather = weather.handler(|args| async move { Ok(format!("Rain in {}.", args["city"])) });
/// # let _ = weather;
/// # Ok::<(), windlass_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DynamicTool {
    definition: Definition,
    input_schema: Value,
}

impl DynamicTool {
    /// Checks a definition.
    ///
    /// Fails with `E_INVALID_INITIAL_TOOL_VALUE` and lists every problem.
    pub fn new(raw: RawTool) -> Result<Self, Error> {
        let too_deep = schema(&raw.input_schema).err();
        Self::build(raw, too_deep.map(|message| Problem::at("/inputSchema", message)).into_iter().collect())
    }

    fn build(raw: RawTool, mut problems: Vec<Problem>) -> Result<Self, Error> {
        let mut definition = Definition::new(raw.name, raw.description, raw.effect);
        definition.ephemeral = raw.ephemeral;
        definition.trusted = raw.trusted;
        definition.on_collision = raw.on_collision;
        definition.meta = raw.meta;
        definition.egress = raw.egress;
        definition.sensitive = raw.sensitive;
        definition.approval = match raw.approval {
            RawApproval::Never => Approval::Never,
            RawApproval::Always => Approval::Always,
        };
        definition.destination = raw.destination.into_iter().map(Into::into).collect();
        definition.secret = raw.secret.into_iter().map(Into::into).collect();
        definition.concurrency = raw.concurrency;
        definition.timeout = Duration::from_millis(raw.timeout_ms);
        definition.inline = raw.inline;
        definition.blocking = raw.blocking;
        definition.polling = raw.polling;
        if let Some(name) = raw.artifact_type {
            definition = definition.artifact_type(NamedType::new(name));
        }
        let is_unread = |problem: &Problem| problems.iter().any(|known| known.pointer == problem.pointer);
        let found: Vec<_> = definition.problems(&raw.input_schema);
        let found: Vec<_> = found.into_iter().filter(|problem| !is_unread(problem)).collect();
        problems.extend(found);
        if problems.is_empty() {
            return Ok(Self { definition, input_schema: raw.input_schema });
        }
        Err(invalid(&definition.name, problems))
    }

    fn read(value: &Value) -> Result<Self, Error> {
        let mut fields = Fields::of(value, TYPE)?;
        let text = |value: &Value| fields::text(value).map(str::to_owned);
        let raw = RawTool {
            name: fields.required("name", text).unwrap_or_default(),
            description: fields.required("description", text).unwrap_or_default(),
            input_schema: fields.required("inputSchema", schema).unwrap_or_default(),
            effect: fields.optional("effect", typed).unwrap_or_else(cautious),
            artifact_type: fields.optional("artifactType", text),
            ephemeral: fields.optional("ephemeral", fields::boolean).unwrap_or_default(),
            trusted: fields.optional("trusted", fields::boolean).unwrap_or_default(),
            on_collision: fields.optional("onCollision", typed).unwrap_or_default(),
            meta: fields.optional("meta", typed).unwrap_or_default(),
            egress: fields.optional("egress", fields::boolean).unwrap_or_default(),
            sensitive: fields.optional("sensitive", fields::boolean).unwrap_or_default(),
            approval: fields.optional("approval", typed).unwrap_or_default(),
            destination: fields.optional("destination", typed).unwrap_or_default(),
            secret: fields.optional("secret", typed).unwrap_or_default(),
            concurrency: fields.optional("concurrency", typed).unwrap_or_default(),
            timeout_ms: fields.optional("timeoutMs", typed).unwrap_or_else(default_timeout_ms),
            inline: fields.optional("inline", fields::boolean),
            blocking: fields.optional("blocking", fields::boolean).unwrap_or_default(),
            polling: fields.optional("polling", fields::boolean).unwrap_or_default(),
        };
        let (problems, _) = fields.finish(Source::Caller);
        Self::build(raw, problems)
    }

    /// The properties.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The JSON Schema of the arguments.
    pub fn input_schema(&self) -> &Value {
        &self.input_schema
    }

    /// Adds what only code can say: a condition for approval, a hook.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(Definition) -> Definition) -> Self {
        self.definition = change(self.definition);
        self
    }

    /// Gives it a handler, which makes it a tool.
    pub fn handler<F, R, O>(self, handler: F) -> impl TypedTool<Args = Map<String, Value>, Output = O>
    where
        F: Fn(Map<String, Value>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, ToolError>> + Send + 'static,
        O: IntoToolOutput + Send + 'static,
    {
        Handled { tool: self, handler }
    }
}

/// A schema that is not too deep to be walked.
fn schema(value: &Value) -> Result<Value, String> {
    if json::is_deeper_than(value, json::MAX_DEPTH) {
        return Err(format!("is nested deeper than {} levels", json::MAX_DEPTH));
    }
    Ok(value.clone())
}

impl Tool {
    /// The JSON Schema of [`RawTool`], the definition of a tool as data.
    pub fn schema() -> Schema {
        schemars::schema_for!(RawTool)
    }

    /// True exactly if `DynamicTool::try_from(value)` would succeed.
    pub fn is_tool(value: &Value) -> bool {
        DynamicTool::read(value).is_ok()
    }
}

impl TryFrom<RawTool> for DynamicTool {
    type Error = Error;

    fn try_from(raw: RawTool) -> Result<Self, Error> {
        Self::new(raw)
    }
}

impl TryFrom<&Value> for DynamicTool {
    type Error = Error;

    fn try_from(value: &Value) -> Result<Self, Error> {
        Self::read(value)
    }
}

impl TryFrom<Value> for DynamicTool {
    type Error = Error;

    fn try_from(value: Value) -> Result<Self, Error> {
        Self::read(&value)
    }
}

/// A dynamic definition with its handler.
struct Handled<F> {
    tool: DynamicTool,
    handler: F,
}

impl<F, R, O> TypedTool for Handled<F>
where
    F: Fn(Map<String, Value>) -> R + Send + Sync + 'static,
    R: Future<Output = Result<O, ToolError>> + Send + 'static,
    O: IntoToolOutput + Send + 'static,
{
    type Args = Map<String, Value>;
    type Output = O;

    fn definition(&self) -> Definition {
        self.tool.definition.clone()
    }

    fn input_schema(&self) -> Schema {
        Schema::try_from(self.tool.input_schema.clone()).unwrap_or_default()
    }

    fn call(
        &self,
        args: Map<String, Value>,
        _: &ToolContext,
    ) -> impl Future<Output = Result<O, ToolError>> + Send {
        (self.handler)(args)
    }
}

impl<F> fmt::Debug for Handled<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handled").field("tool", &self.tool).finish_non_exhaustive()
    }
}
