use std::borrow::Cow;
use std::time::Duration;

use schemars::Schema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;

use super::{Effect, TypedTool};
use crate::error::{Code, Error, Problem, shorten};

/// How long a handler may run unless its definition says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// The most bytes that a tool's name may have.
pub const MAX_NAME_BYTES: usize = 128;

/// The properties of a tool, as its author states them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Definition {
    /// The name that the model calls.
    pub name: Cow<'static, str>,
    /// What the tool does, in words for the model.
    pub description: Cow<'static, str>,
    /// What it does to the world.
    pub effect: Effect,
    /// How long one run may take.
    pub timeout: Duration,
    /// True if its results are the author's own words, not those of others.
    pub trusted: bool,
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
            timeout: DEFAULT_TIMEOUT,
            trusted: false,
        }
    }

    /// Bounds one run; [`DEFAULT_TIMEOUT`] unless set.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Says that the results are the author's own words.
    #[must_use]
    pub fn trusted(mut self) -> Self {
        self.trusted = true;
        self
    }

    pub(super) fn describe(&self, input_schema: Schema) -> Result<ToolDescription, Error> {
        let mut problems = Vec::new();
        if self.name.is_empty() {
            problems.push(Problem::at("/name", "must not be empty"));
        }
        if self.name.len() > MAX_NAME_BYTES {
            problems.push(Problem::at("/name", format!("must have at most {MAX_NAME_BYTES} bytes")));
        }
        if self.name.chars().any(|c| c.is_whitespace() || c.is_control()) {
            problems.push(Problem::at("/name", "must not contain white space or control characters"));
        }
        if self.description.trim().is_empty() {
            problems
                .push(Problem::at("/description", "must not be empty: it is how the model knows the tool"));
        }
        if input_schema.get("type").and_then(Value::as_str) != Some("object") {
            problems.push(Problem::at(
                "/inputSchema",
                "the arguments must be an object: use a struct with named fields",
            ));
        }
        if !problems.is_empty() {
            let name = shorten(self.name.to_string(), MAX_NAME_BYTES);
            let message = format!("the tool {name:?} is not valid; correct what is listed");
            return Err(Error::new(Code::InvalidTool, message).with_problems(problems));
        }
        Ok(ToolDescription {
            name: self.name.clone(),
            description: self.description.clone(),
            input_schema: input_schema.to_value(),
        })
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

/// The schema of a tool's arguments, with every nested type in its place.
pub(super) fn input_schema<T: TypedTool>(_: &T) -> Schema {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    settings.into_generator().into_root_schema_for::<T::Args>()
}
