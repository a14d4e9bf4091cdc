use std::fmt;
use std::sync::OnceLock;

use jsonschema::{Draft, PatternOptions, Retrieve, Uri, Validator};
use serde_json::{Map, Value};
use windlass_core::{ArgsCheck, Code, Error, Problem, canonical, json};

use crate::{coerce, example, explain};

/// The most bytes that a schema may have, in canonical JSON.
pub const MAX_SCHEMA_BYTES: usize = 256 << 10;

/// The most memory that one pattern of a schema may take when it is compiled.
pub const MAX_PATTERN_BYTES: usize = 1 << 20;

/// Keywords whose value is data, not a schema.
pub(crate) const DATA_KEYWORDS: [&str; 5] = ["const", "default", "enum", "example", "examples"];

/// The schema of a tool's arguments: JSON Schema 2020-12, compiled once.
///
/// ```
/// use serde_json::json;
/// use windlass_tool::InputSchema;
///
/// let schema = InputSchema::compile(json!({
///     "type": "object",
///     "properties": { "city": { "type": "string" }, "days": { "type": "integer", "default": 1 } },
///     "required": ["city"],
/// }))?;
/// let args = json!({ "city": "Oslo", "days": "3" });
/// assert_eq!(schema.check(args.as_object().unwrap()).unwrap()["days"], 3);
///
/// let rejection = schema.check(json!({ "city": 7 }).as_object().unwrap()).unwrap_err();
/// assert_eq!(rejection.problems()[0].to_string(), "/city: expected a string, got 7");
/// # Ok::<(), windlass_core::Error>(())
/// ```
pub struct InputSchema {
    schema: Value,
    validator: Validator,
    example: OnceLock<Option<Value>>,
}

impl InputSchema {
    /// Compiles a schema.
    ///
    /// Fails with `E_INVALID_INITIAL_TOOL_VALUE` if it is no JSON Schema, is not of type `object`, is larger
    /// than [`MAX_SCHEMA_BYTES`], is nested too deeply, refers to anything outside itself, or has a pattern
    /// that cannot be matched in linear time.
    pub fn compile(schema: Value) -> Result<Self, Error> {
        let invalid = |pointer: &str, message: String| {
            Error::new(Code::InvalidTool, "the input schema of the tool is not valid; correct what is listed")
                .with_problems(vec![Problem::at(format!("/inputSchema{pointer}"), message)])
        };
        if json::is_deeper_than(&schema, json::MAX_DEPTH) {
            return Err(invalid("", format!("is nested deeper than {} levels", json::MAX_DEPTH)));
        }
        let size = canonical(&schema).len();
        if size > MAX_SCHEMA_BYTES {
            return Err(invalid("", format!("has {size} bytes, at most {MAX_SCHEMA_BYTES} are taken")));
        }
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(invalid("/type", "must be \"object\": arguments have names".to_owned()));
        }
        if let Some(reference) = outside_reference(&schema) {
            return Err(invalid(
                "",
                format!(
                    "refers to {reference:?}; only references inside the schema, such as \"#/$defs/x\", are followed"
                ),
            ));
        }
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_pattern_options(
                PatternOptions::regex().size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_BYTES),
            )
            .with_retriever(Closed)
            .should_validate_formats(true)
            .should_ignore_unknown_formats(true)
            .build(&schema)
            .map_err(|error| invalid(error.instance_path().as_str(), error.to_string()))?;
        Ok(Self { schema, validator, example: OnceLock::new() })
    }

    /// The schema itself: what a model is shown.
    pub fn as_value(&self) -> &Value {
        &self.schema
    }

    /// The arguments as a handler gets them: defaults filled in, coerced where that loses nothing.
    pub fn check(&self, args: &Map<String, Value>) -> Result<Map<String, Value>, Rejection> {
        let mut value = Value::Object(args.clone());
        coerce::fill_defaults(&self.schema, &mut value);
        coerce::repair(&self.validator, &mut value);
        let problems = explain::problems(&self.validator, &self.schema, &value);
        match value {
            Value::Object(map) if problems.is_empty() => Ok(map),
            _ => Err(Rejection { problems, example: self.example().cloned() }),
        }
    }

    /// Arguments that this schema accepts, if some are easily found.
    pub fn example(&self) -> Option<&Value> {
        let found = || example::of(&self.schema).filter(|example| self.validator.is_valid(example));
        self.example.get_or_init(found).as_ref()
    }
}

impl ArgsCheck for InputSchema {
    fn check(&self, tool: &str, args: &Map<String, Value>) -> Result<Map<String, Value>, Error> {
        self.check(args).map_err(|rejection| rejection.into_error(tool))
    }
}

impl fmt::Debug for InputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InputSchema").field("schema", &self.schema).finish_non_exhaustive()
    }
}

/// Why arguments were refused.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    problems: Vec<Problem>,
    example: Option<Value>,
}

impl Rejection {
    /// Everything that is wrong; the error lists the first
    /// [`MAX_PROBLEMS`](windlass_core::MAX_PROBLEMS) and counts the rest.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The one message that lets a model correct itself.
    pub fn into_error(self, tool: &str) -> Error {
        let example = self.example.map(|example| format!(" An example that fits: {}", canonical(&example)));
        let message = format!(
            "the arguments of `{tool}` are not valid, so it did not run; call it again, corrected.{}",
            example.unwrap_or_default()
        );
        Error::new(Code::InvalidToolArgs, message).with_problems(self.problems)
    }
}

/// Fetches nothing, whatever a schema asks for.
struct Closed;

impl Retrieve for Closed {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err(format!("{uri} lies outside the schema, and nothing is fetched").into())
    }
}

/// The first reference that leaves the schema.
fn outside_reference(schema: &Value) -> Option<&str> {
    let mut rest = vec![schema];
    while let Some(value) = rest.pop() {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    let is_reference = matches!(key.as_str(), "$ref" | "$dynamicRef");
                    match value {
                        Value::String(target) if is_reference && !target.starts_with('#') => {
                            return Some(target);
                        }
                        _ if DATA_KEYWORDS.contains(&key.as_str()) => {}
                        _ => rest.push(value),
                    }
                }
            }
            Value::Array(items) => rest.extend(items),
            _ => {}
        }
    }
    None
}

/// Follows a reference inside the schema.
pub(crate) fn resolve<'a>(root: &'a Value, mut schema: &'a Value) -> &'a Value {
    // A chain of references may be a cycle.
    const MAX_HOPS: usize = 32;
    for _ in 0..MAX_HOPS {
        let target =
            schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
        match target.and_then(|pointer| root.pointer(pointer)) {
            Some(found) => schema = found,
            None => break,
        }
    }
    schema
}
