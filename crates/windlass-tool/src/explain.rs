//! What is wrong with arguments, in words that a model can act on.

use std::cell::RefCell;
use std::collections::HashMap;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;
use windlass_core::Problem;

use crate::coerce::alternatives;
use crate::expect::{characters, items, kind_name, listed, phrase, properties, quoted};
use crate::keyword::{escaped, unescaped};
use crate::meter::{Faults, MAX_FAULTS};
use crate::quote::{SECRET, cut, shown, shown_without};
use crate::reference::resolve;
use crate::union;

/// What problems are about: a schema, the arguments, and which of those nobody may see.
pub(crate) struct Scene<'a> {
    schema: &'a Value,
    value: &'a Value,
    secrets: &'a [String],
    /// What schemas want, by address. Many problems are about few schemas, and a phrase may take long.
    phrases: RefCell<HashMap<usize, Option<String>>>,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(schema: &'a Value, value: &'a Value, secrets: &'a [String]) -> Self {
        Self { schema, value, secrets, phrases: RefCell::default() }
    }

    /// What a schema inside the schema wants.
    fn wanted(&self, schema: &'a Value) -> Option<String> {
        let address = std::ptr::from_ref(schema).addr();
        self.phrases.borrow_mut().entry(address).or_insert_with(|| phrase(self.schema, schema)).clone()
    }

    /// Every problem of the arguments, [`MAX_FAULTS`] at most, in reading order.
    pub(crate) fn problems(&self, faults: &Faults) -> Vec<Problem> {
        let mut problems = Vec::new();
        for error in &faults.errors {
            self.explain(error, &mut problems);
        }
        if !faults.is_whole {
            let message = format!(
                "has more than {MAX_FAULTS} faults, or takes too long to search; nothing was coerced, and not \
                 everything is listed"
            );
            problems.push(Problem::at("", message));
        }
        in_reading_order(&mut problems);
        // Two schemas may refuse a value for the same reason, and two places of a secret look the same.
        problems.dedup();
        problems
    }

    /// The problems of one error.
    pub(crate) fn explain(&self, error: &ValidationError<'_>, problems: &mut Vec<Problem>) {
        if problems.len() >= MAX_FAULTS {
            return;
        }
        let place = error.instance_path().as_str();
        match error.kind() {
            ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
                self.explain_alternatives(error, problems);
            }
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let wanted = self.property(error, name).and_then(|schema| self.wanted(schema));
                let message =
                    wanted.map_or("is required".to_owned(), |wanted| format!("is required: {wanted}"));
                self.say(&format!("{place}/{}", escaped(name)), message, problems);
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                let known = self.known(error);
                for name in unexpected.iter().take(MAX_FAULTS.saturating_sub(problems.len())) {
                    self.say(
                        &format!("{place}/{}", escaped(name)),
                        format!("is not an argument{known}"),
                        problems,
                    );
                }
            }
            ValidationErrorKind::FalseSchema
                if is_closed(error)
                    && self
                        .value
                        .pointer(place)
                        .and_then(Value::as_object)
                        .is_some_and(|map| !map.is_empty()) =>
            {
                let names = self.value.pointer(place).and_then(Value::as_object).into_iter().flatten();
                for (name, _) in names.take(MAX_FAULTS.saturating_sub(problems.len())) {
                    let place = format!("{place}/{}", escaped(name));
                    self.say(&place, "is not an argument; there are none".to_owned(), problems);
                }
            }
            ValidationErrorKind::PropertyNames { error: inner } => {
                let name = inner.instance().as_str().unwrap_or_default();
                let wanted = self.around(inner).and_then(|schema| name_limits(self.schema, schema));
                let message = format!("is not allowed as a name{}", wanted.unwrap_or_default());
                self.say(&format!("{place}/{}", escaped(name)), message, problems);
            }
            _ => {
                let message = self.message(error);
                self.say(place, message, problems);
            }
        }
    }

    /// Adds a problem. One inside a secret is told about the secret as a whole: names are part of it.
    fn say(&self, place: &str, message: String, problems: &mut Vec<Problem>) {
        let Some(name) = self.secret(place) else { return problems.push(Problem::at(place, message)) };
        // What stands for a secret would look like what was sent.
        let told = message.strip_suffix(SECRET).and_then(|message| message.strip_suffix(", got "));
        problems.push(Problem::at(format!("/{}", escaped(name)), told.unwrap_or(&message)));
    }

    /// The secret argument that a place lies in.
    fn secret(&self, place: &str) -> Option<&str> {
        let first = unescaped(place.split('/').nth(1)?);
        self.secrets.iter().find(|name| **name == first).map(String::as_str)
    }

    /// What stands at a place, as it may be quoted.
    fn got(&self, place: &str) -> String {
        if self.secret(place).is_some() {
            return SECRET.to_owned();
        }
        let secrets = if place.is_empty() { self.secrets } else { &[] };
        self.value.pointer(place).map_or("nothing".to_owned(), |value| shown_without(value, secrets))
    }

    /// How many items or properties stand at a place.
    fn count(&self, place: &str) -> String {
        match self.value.pointer(place) {
            _ if self.secret(place).is_some() => SECRET.to_owned(),
            Some(Value::Array(list)) => list.len().to_string(),
            Some(Value::Object(map)) => map.len().to_string(),
            _ => self.got(place),
        }
    }

    /// The schema whose keyword an error is about.
    fn around(&self, error: &ValidationError<'_>) -> Option<&'a Value> {
        let (schema, _) = error.schema_path().as_str().rsplit_once('/')?;
        self.schema.pointer(schema)
    }

    /// The schema of a property of the object that an error is about.
    fn property(&self, error: &ValidationError<'_>, name: &str) -> Option<&'a Value> {
        let own = self.around(error).and_then(|schema| schema.get("properties")?.get(name));
        own.or_else(|| at(self.schema, error.instance_path().as_str())?.get("properties")?.get(name))
    }

    /// The names that an object may have.
    fn known(&self, error: &ValidationError<'_>) -> String {
        let own = self.around(error).and_then(|schema| schema.get("properties")?.as_object());
        let names =
            own.or_else(|| at(self.schema, error.instance_path().as_str())?.get("properties")?.as_object());
        let names: Vec<_> = names.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        if names.is_empty() { String::new() } else { format!("; there are {}", quoted(&names)) }
    }

    fn explain_alternatives(&self, error: &ValidationError<'_>, problems: &mut Vec<Problem>) {
        let place = error.instance_path().as_str();
        let branches = alternatives(error).unwrap_or_default();
        let wanted = || self.around(error).and_then(|schema| self.wanted(schema));
        if branches.iter().all(|branch| union::is_elsewhere(error, branch)) {
            let message = match wanted() {
                Some(wanted) => format!("expected {wanted}, got {}", self.got(place)),
                None => format!("fits none of the alternatives: {}", self.got(place)),
            };
            return self.say(place, message, problems);
        }
        if let Some(tag) = union::tag(self.schema, error, branches) {
            let place = format!("{place}/{}", escaped(&tag.name));
            let options = listed(&tag.options);
            let message = match self.value.pointer(&place) {
                Some(_) => format!("expected one of {options}, got {}", self.got(&place)),
                None => format!("is required: one of {options}"),
            };
            return self.say(&place, message, problems);
        }
        match branches.iter().min_by_key(|branch| union::distance(error, branch)) {
            Some(closest) if !closest.is_empty() => {
                for error in closest {
                    self.explain(error, problems);
                }
            }
            _ => self.say(place, format!("fits none of the alternatives: {}", self.got(place)), problems),
        }
    }

    /// What an error about one keyword says.
    fn message(&self, error: &ValidationError<'_>) -> String {
        let place = error.instance_path().as_str();
        let got = || self.got(place);
        let count = || self.count(place);
        match error.kind() {
            ValidationErrorKind::Type { kind } => {
                let wanted = self.around(error).and_then(|schema| self.wanted(schema));
                format!("expected {}, got {}", wanted.unwrap_or_else(|| types(kind)), got())
            }
            ValidationErrorKind::Enum { options } => {
                let options = options.as_array().map_or(&[][..], Vec::as_slice);
                format!("expected one of {}, got {}", listed(options), got())
            }
            ValidationErrorKind::Constant { expected_value } => {
                format!("expected {}, got {}", shown(expected_value), got())
            }
            ValidationErrorKind::Minimum { limit } => format!("expected at least {limit}, got {}", got()),
            ValidationErrorKind::Maximum { limit } => format!("expected at most {limit}, got {}", got()),
            ValidationErrorKind::ExclusiveMinimum { limit } => {
                format!("expected more than {limit}, got {}", got())
            }
            ValidationErrorKind::ExclusiveMaximum { limit } => {
                format!("expected less than {limit}, got {}", got())
            }
            ValidationErrorKind::MultipleOf { multiple_of } => {
                format!("expected a multiple of {multiple_of}, got {}", got())
            }
            ValidationErrorKind::MinLength { limit } => {
                format!("expected at least {}, got {}", characters(*limit), got())
            }
            ValidationErrorKind::MaxLength { limit } => {
                format!("expected at most {}, got {}", characters(*limit), got())
            }
            ValidationErrorKind::Pattern { pattern } => {
                format!("expected a text that matches {}, got {}", cut(pattern.clone()), got())
            }
            ValidationErrorKind::Format { format } => {
                format!("expected a text of the format {}, got {}", cut(format.clone()), got())
            }
            ValidationErrorKind::MinItems { limit } => {
                format!("expected at least {}, got {}", items(*limit), count())
            }
            ValidationErrorKind::MaxItems { limit } => {
                format!("expected at most {}, got {}", items(*limit), count())
            }
            ValidationErrorKind::MinProperties { limit } => {
                format!("expected at least {}, got {}", properties(*limit), count())
            }
            ValidationErrorKind::MaxProperties { limit } => {
                format!("expected at most {}, got {}", properties(*limit), count())
            }
            _ => self.rare_message(error),
        }
    }

    /// See [`message`](Self::message).
    fn rare_message(&self, error: &ValidationError<'_>) -> String {
        let place = error.instance_path().as_str();
        let about = |keyword: &str| self.wanted(self.around(error)?.get(keyword)?);
        match error.kind() {
            ValidationErrorKind::AdditionalItems { limit } => {
                format!("expected at most {}, got {}", items(*limit as u64), self.count(place))
            }
            ValidationErrorKind::UnevaluatedItems { unexpected } => {
                let length = self.value.pointer(place).and_then(Value::as_array).map_or(0, Vec::len);
                let most = length.saturating_sub(unexpected.len()) as u64;
                format!("expected at most {}, got {}", items(most), self.count(place))
            }
            ValidationErrorKind::UniqueItems => "expected items that all differ".to_owned(),
            ValidationErrorKind::Contains => {
                let limit = |keyword: &str| self.around(error)?.get(keyword)?.as_u64();
                let wanted = about("contains").unwrap_or_else(|| "what `contains` describes".to_owned());
                let (words, count) = match error.schema_path().as_str().rsplit('/').next() {
                    Some("maxContains") => ("at most", limit("maxContains").unwrap_or(0)),
                    _ => ("at least", limit("minContains").unwrap_or(1)),
                };
                let verb = if count == 1 { "is" } else { "are" };
                format!("expected {words} {} that {verb} {wanted}, got {}", items(count), self.got(place))
            }
            ValidationErrorKind::FalseSchema => "is not allowed here".to_owned(),
            ValidationErrorKind::Not { .. } => match about("not") {
                Some(refused) => format!("expected anything but {refused}, got {}", self.got(place)),
                None => format!("is what it must not be: {}", self.got(place)),
            },
            ValidationErrorKind::OneOfMultipleValid { context } => {
                let fitting = context.iter().filter(|branch| branch.is_empty()).count();
                format!("fits {fitting} of the alternatives, and must fit exactly one: {}", self.got(place))
            }
            other => format!("does not fit `{}`: {}", other.keyword(), self.got(place)),
        }
    }
}

/// Sorts problems by pointer, segment by segment, indexes as numbers. The order in which they are found is
/// not the same in every build.
pub(crate) fn in_reading_order(problems: &mut [Problem]) {
    let key = |pointer: &str| {
        let segment = |segment: &str| (segment.parse::<u64>().unwrap_or(u64::MAX), segment.to_owned());
        pointer.split('/').map(segment).collect::<Vec<_>>()
    };
    problems.sort_by_cached_key(|problem| (key(&problem.pointer), problem.message.clone()));
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => kind_name(kind.as_str()).to_owned(),
        TypeKind::Multiple(kinds) => {
            kinds.iter().map(|kind| kind_name(kind.as_str())).collect::<Vec<_>>().join(" or ")
        }
    }
}

/// What a name must be like.
fn name_limits(root: &Value, schema: &Value) -> Option<String> {
    let mut schema = resolve(root, schema).clone();
    // Names are texts, whether or not their schema says so.
    schema.as_object_mut()?.insert("type".to_owned(), "string".into());
    phrase(root, &schema).map(|wanted| format!(": a name is {wanted}"))
}

/// The schema of the place that a pointer names, as far as it can be followed through properties and items.
fn at<'a>(root: &'a Value, place: &str) -> Option<&'a Value> {
    let mut schema = resolve(root, root);
    for segment in place.split('/').skip(1) {
        let property = schema.get("properties").and_then(|properties| properties.get(unescaped(segment)));
        schema = resolve(root, property.or_else(|| schema.get("items"))?);
    }
    Some(schema)
}

/// Whether an error is about `additionalProperties` itself, not about something of that name.
fn is_closed(error: &ValidationError<'_>) -> bool {
    const NAMED: [&str; 5] = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];
    let path = error.schema_path().as_str();
    path.strip_suffix("/additionalProperties")
        .is_some_and(|around| !NAMED.contains(&around.rsplit('/').next().unwrap_or_default()))
}
