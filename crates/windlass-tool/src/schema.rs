use std::fmt;
use std::sync::OnceLock;

use jsonschema::ValidationError;
use serde_json::{Map, Value};
use windlass_core::{ArgsCheck, Code, Error, MAX_PROBLEMS, Problem, canonical, json};

use crate::default::{self, Filled, MAX_DEFAULT_BYTES};
use crate::explain::{Scene, in_reading_order};
use crate::keyword::every_schema;
use crate::meter::{Faults, MAX_STEPS, Metered, Verdict};
use crate::{coerce, compile, example, fanout, reference};

/// The most bytes that a schema may have, in canonical JSON.
pub const MAX_SCHEMA_BYTES: usize = 256 << 10;

/// How many defaults that may have done harm are filled in again one by one.
const MAX_TRIED_AGAIN: usize = 8;

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
    validator: Metered,
    has_defaults: bool,
    /// How deep arguments may be for the schema to be followed through them.
    max_depth: Option<usize>,
    secrets: Vec<String>,
    example: OnceLock<Option<Value>>,
}

impl InputSchema {
    /// Compiles a schema.
    ///
    /// Fails with `E_INVALID_INITIAL_TOOL_VALUE` if it is no JSON Schema, is not of type `object`, is larger
    /// than [`MAX_SCHEMA_BYTES`], is nested too deeply, refers to anything outside itself, holds another schema with
    /// an `$id` of its own, multiplies itself past [`MAX_FANOUT`](crate::MAX_FANOUT), has a pattern that cannot be matched in linear time, or a
    /// default that it refuses itself.
    ///
    /// `format` is asserted for the formats of JSON Schema and ignored for others; `contentEncoding`,
    /// `contentMediaType` and `contentSchema` are notes for the reader, as JSON Schema 2020-12 says.
    pub fn compile(schema: Value) -> Result<Self, Error> {
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
        if let Some(reference) = reference::outside(&schema) {
            let message = format!(
                "refers to {reference:?}; only references inside the schema, such as \"#/$defs/x\", are followed"
            );
            return Err(invalid("", message));
        }
        if let Some(pointer) = reference::embedded(&schema) {
            let message = "has its own `$id`; only the schema as a whole may have one".to_owned();
            return Err(invalid(&pointer, message));
        }
        let max_depth =
            fanout::measure(&schema).map_err(|(pointer, tangle)| invalid(&pointer, tangle.message()))?;
        let validator =
            compile::validator(&schema).map_err(|(pointer, message)| invalid(&pointer, message))?;
        let has_defaults = every_schema(&schema).iter().any(|(_, schema)| schema.get("default").is_some());
        if has_defaults && let Some((pointer, message)) = compile::refused_default(&schema) {
            return Err(invalid(&pointer, message));
        }
        Ok(Self { schema, validator, has_defaults, max_depth, secrets: Vec::new(), example: OnceLock::new() })
    }

    /// Declares arguments secret, by name: what a caller sent for them is never quoted, and no example shows
    /// them.
    #[must_use]
    pub fn with_secrets<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.secrets.extend(names.into_iter().map(Into::into));
        self.example = OnceLock::new();
        self
    }

    /// The schema itself: what a model is shown.
    pub fn as_value(&self) -> &Value {
        &self.schema
    }

    /// The arguments as a handler gets them: defaults filled in, coerced where that loses nothing.
    ///
    /// A text becomes the number or the boolean that it spells where the schema wants one and refuses the
    /// text. `""` and `null` count as absent where the schema refuses them and nothing requires the property.
    /// A default is filled in unless the arguments would be refused because of it.
    pub fn check(&self, args: &Map<String, Value>) -> Result<Map<String, Value>, Rejection> {
        let mut value = Value::Object(args.clone());
        if let Some(depth) = self.max_depth.filter(|depth| json::is_deeper_than(&value, *depth)) {
            let message = format!("is nested deeper than {depth} levels; send less at once");
            return Err(self.rejection(vec![Problem::at("", message)]));
        }
        let filled = self.fill(&mut value)?;
        let value = match self.validator.verdict(&value) {
            Verdict::Fits => value,
            Verdict::TooMuch => return Err(self.too_much()),
            Verdict::Refused => self.mend(args, value, filled)?,
        };
        match value {
            Value::Object(map) => Ok(map),
            // The schema is of type `object`, and repairs leave an object one.
            _ => Err(self.rejection(vec![Problem::at("", "expected an object")])),
        }
    }

    /// Arguments that were refused with their defaults filled in, made to fit.
    fn mend(&self, args: &Map<String, Value>, mut value: Value, filled: Filled) -> Result<Value, Rejection> {
        let mut sent = Value::Object(args.clone());
        // First without defaults: what fits as it was sent is not changed because of one, and one may be about a
        // value that is only now being repaired.
        if self.has_defaults {
            let repaired = coerce::repair(&self.validator, &mut sent, |_, _| Vec::new());
            let mut whole = sent.clone();
            let filled = self.fill(&mut whole)?;
            if self.validator.verdict(&whole) == Verdict::Fits {
                coerce::spare(&self.validator, &mut whole, repaired.kept);
                return Ok(whole);
            }
            if repaired.faults.errors.is_empty() && repaired.faults.is_whole {
                coerce::spare(&self.validator, &mut sent, repaired.kept);
                return Ok(self.with_harmless(sent, whole, filled));
            }
        }
        self.withdraw_harmful(&mut value, filled);
        self.repair(&mut value)?;
        Ok(value)
    }

    /// A value that fits, with as many of its defaults as leave it so.
    fn with_harmless(&self, fitting: Value, mut whole: Value, filled: Filled) -> Value {
        let places = filled.places.clone();
        let defaults: Vec<_> = places.iter().map(|place| whole.pointer(place).cloned()).collect();
        self.withdraw_harmful(&mut whole, filled);
        if self.validator.verdict(&whole) == Verdict::Fits {
            return whole;
        }
        let mut kept = fitting;
        if places.len() <= MAX_TRIED_AGAIN {
            for (place, default) in places.iter().zip(defaults) {
                let Some(default) = default else { continue };
                default::put_back(&mut kept, place, default);
                if self.validator.verdict(&kept) != Verdict::Fits {
                    default::withdraw(&mut kept, place);
                }
            }
        }
        kept
    }

    /// Arguments that this schema accepts, if some are easily found.
    pub fn example(&self) -> Option<&Value> {
        self.example.get_or_init(|| self.checked_example(&example::Shown::default())).as_ref()
    }

    fn fill(&self, value: &mut Value) -> Result<Filled, Rejection> {
        if !self.has_defaults {
            return Ok(Filled::default());
        }
        let filled = default::fill(&self.schema, &self.schema, value);
        if filled.is_too_much {
            let message = format!(
                "takes more than {MAX_DEFAULT_BYTES} bytes of defaults, or too long to fill in; send less at once"
            );
            return Err(self.rejection(vec![Problem::at("", message)]));
        }
        Ok(filled)
    }

    /// Takes back the defaults that made something wrong that was not wrong before.
    fn withdraw_harmful(&self, value: &mut Value, filled: Filled) {
        if filled.places.is_empty() {
            return;
        }
        let with = self.validator.faults(value);
        let mut without = value.clone();
        for place in &filled.places {
            default::withdraw(&mut without, place);
        }
        let known = self.validator.faults(&without);
        let harmful = coerce::news(&known, &with);
        let mut withdrawn = Vec::new();
        for place in filled.places {
            if coerce::is_inside(&place, &harmful) {
                withdrawn.extend(default::withdraw(value, &place).map(|default| (place, default)));
            }
        }
        // Not each of them need be at fault. With few it is found out one by one.
        if withdrawn.len() > MAX_TRIED_AGAIN {
            return;
        }
        for (place, default) in withdrawn {
            default::put_back(value, &place, default);
            let again = self.validator.faults(value);
            if coerce::is_inside(&place, &coerce::news(&known, &again)) {
                default::withdraw(value, &place);
            }
        }
    }

    fn repair(&self, value: &mut Value) -> Result<(), Rejection> {
        let explain = |error: &ValidationError<'static>, value: &Value| {
            let mut problems = Vec::new();
            self.scene(value).explain(error, &mut problems);
            problems
        };
        let repaired = coerce::repair(&self.validator, value, explain);
        if !repaired.faults.errors.is_empty() || !repaired.faults.is_whole {
            return Err(self.refusal(value, &repaired.faults, repaired.regrets));
        }
        coerce::spare(&self.validator, value, repaired.kept);
        // What was left out may have a default, and a tag that is spelled right says whose defaults apply.
        let mut whole = value.clone();
        let filled = self.fill(&mut whole)?;
        let is_whole = filled.places.is_empty() || self.validator.verdict(&whole) == Verdict::Fits;
        *value = if is_whole { whole } else { self.with_harmless(value.take(), whole, filled) };
        Ok(())
    }

    fn refusal(&self, value: &Value, faults: &Faults, regrets: Vec<Problem>) -> Rejection {
        let mut problems = self.scene(value).problems(faults);
        let told: std::collections::HashSet<String> =
            problems.iter().map(|problem| problem.pointer.clone()).collect();
        problems.extend(regrets.into_iter().filter(|problem| !told.contains(&problem.pointer)));
        in_reading_order(&mut problems);
        self.rejection(problems)
    }

    fn too_much(&self) -> Rejection {
        let message =
            format!("takes more than {MAX_STEPS} steps to check: send less at once, or nest it less deeply");
        self.rejection(vec![Problem::at("", message)])
    }

    fn rejection(&self, problems: Vec<Problem>) -> Rejection {
        let told = problems.iter().take(MAX_PROBLEMS).map(|problem| problem.pointer.as_str());
        let example = self.checked_example(&example::Shown::at(told)).or_else(|| self.example().cloned());
        Rejection { problems, example }
    }

    fn checked_example(&self, shown: &example::Shown) -> Option<Value> {
        let variants = (0..example::VARIANTS)
            .filter_map(|variant| example::of(&self.schema, shown, &self.secrets, variant));
        variants.into_iter().find(|example| self.validator.verdict(example) == Verdict::Fits)
    }

    fn scene<'a>(&'a self, value: &'a Value) -> Scene<'a> {
        Scene::new(&self.schema, value, &self.secrets)
    }
}

fn invalid(pointer: &str, message: String) -> Error {
    Error::new(Code::InvalidTool, "the input schema of the tool is not valid; correct what is listed")
        .with_problems(vec![Problem::at(format!("/inputSchema{pointer}"), message)])
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_million_items_are_validated_thrice_however_many_are_repaired() {
        let schema = json!({ "type": "object", "properties": { "a": { "type": "array", "items": { "type": "integer" } } } });
        let schema = InputSchema::compile(schema).unwrap();
        let mut items = vec![json!(1); 1_000_000];
        for index in 0..60 {
            items[index * 15_000] = json!("5");
        }
        let checked = schema.check(json!({ "a": items }).as_object().unwrap()).unwrap();
        for index in 0..60 {
            items[index * 15_000] = json!(5);
        }
        assert!(checked["a"].as_array() == Some(&items));
        assert_eq!(schema.validator.runs(), 3);
    }

    #[test]
    fn what_fits_is_validated_once() {
        let schema =
            InputSchema::compile(json!({ "type": "object", "properties": { "a": { "default": 1 } } }))
                .unwrap();
        assert!(schema.check(&Map::new()).is_ok());
        assert_eq!(schema.validator.runs(), 1);
    }
}
