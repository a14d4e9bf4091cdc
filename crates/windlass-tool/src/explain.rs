//! What is wrong with arguments, in words that a model can act on.

use std::cmp::Ordering;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;
use windlass_core::{Problem, canonical};

use crate::coerce::{alternatives, distance};
use crate::schema::resolve;

/// The most bytes of a value that a problem quotes.
const MAX_SHOWN: usize = 60;

/// The most alternatives that a problem lists.
const MAX_LISTED: usize = 20;

/// How many problems are counted. Fewer are listed.
const MAX_COUNTED: usize = 10_000;

/// Every problem of a value, [`MAX_COUNTED`] at most.
pub(crate) fn problems(validator: &Validator, schema: &Value, value: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    for error in validator.iter_errors(value) {
        explain(&error, schema, &mut problems);
        if problems.len() >= MAX_COUNTED {
            break;
        }
    }
    // The order of an object's properties is not the same in every build.
    problems.sort_by(|a, b| in_reading_order(&a.pointer, &b.pointer));
    problems
}

/// Compares pointers segment by segment, indexes as numbers.
fn in_reading_order(a: &str, b: &str) -> Ordering {
    let key = |pointer: &str| {
        let segment = |segment: &str| (segment.parse::<u64>().unwrap_or(u64::MAX), segment.to_owned());
        pointer.split('/').map(segment).collect::<Vec<_>>()
    };
    key(a).cmp(&key(b))
}

fn explain(error: &ValidationError<'_>, schema: &Value, problems: &mut Vec<Problem>) {
    let place = error.instance_path().as_str();
    let got = shown(error.instance());
    let mut say = |message: String| problems.push(Problem::at(place, message));
    match error.kind() {
        ValidationErrorKind::Type { kind } => say(format!("expected {}, got {got}", types(kind))),
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let wanted = wanted(schema, place, name);
            problems.push(Problem::at(format!("{place}/{}", escaped(name)), format!("is required{wanted}")));
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            for name in unexpected {
                let message = format!("is not an argument{}", known(schema, place));
                problems.push(Problem::at(format!("{place}/{}", escaped(name)), message));
            }
        }
        ValidationErrorKind::Enum { options } => {
            say(format!(
                "expected one of {}, got {got}",
                listed(options.as_array().map_or(&[], Vec::as_slice))
            ));
        }
        ValidationErrorKind::Constant { expected_value } => {
            say(format!("expected {}, got {got}", shown(expected_value)));
        }
        ValidationErrorKind::Minimum { limit } => say(format!("expected at least {limit}, got {got}")),
        ValidationErrorKind::Maximum { limit } => say(format!("expected at most {limit}, got {got}")),
        ValidationErrorKind::ExclusiveMinimum { limit } => {
            say(format!("expected more than {limit}, got {got}"));
        }
        ValidationErrorKind::ExclusiveMaximum { limit } => {
            say(format!("expected less than {limit}, got {got}"));
        }
        ValidationErrorKind::MultipleOf { multiple_of } => {
            say(format!("expected a multiple of {multiple_of}, got {got}"));
        }
        ValidationErrorKind::MinLength { limit } => {
            say(format!("expected at least {limit} characters, got {got}"));
        }
        ValidationErrorKind::MaxLength { limit } => {
            say(format!("expected at most {limit} characters, got {got}"));
        }
        ValidationErrorKind::Pattern { pattern } => {
            say(format!("expected a text that matches {pattern}, got {got}"));
        }
        ValidationErrorKind::Format { format } => {
            say(format!("expected a text of the format {format}, got {got}"));
        }
        ValidationErrorKind::MinItems { limit } => {
            say(format!("expected at least {limit} items, got {}", count(error.instance())));
        }
        ValidationErrorKind::MaxItems { limit } => {
            say(format!("expected at most {limit} items, got {}", count(error.instance())));
        }
        ValidationErrorKind::AdditionalItems { limit } => {
            say(format!("expected at most {limit} items, got {}", count(error.instance())));
        }
        ValidationErrorKind::UniqueItems => say("expected items that all differ".to_owned()),
        ValidationErrorKind::Contains => {
            say("expected another number of items that fit `contains`".to_owned());
        }
        ValidationErrorKind::MinProperties { limit } => {
            say(format!("expected at least {limit} properties, got {}", count(error.instance())));
        }
        ValidationErrorKind::MaxProperties { limit } => {
            say(format!("expected at most {limit} properties, got {}", count(error.instance())));
        }
        ValidationErrorKind::PropertyNames { error } => {
            say(format!("has a property whose name does not fit: {error}"));
        }
        ValidationErrorKind::FalseSchema => say("is not allowed here".to_owned()),
        ValidationErrorKind::Not { .. } => say(format!("is what it must not be: {got}")),
        ValidationErrorKind::OneOfMultipleValid { .. } => {
            say("fits more than one of the alternatives, and must fit exactly one".to_owned());
        }
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            let branches = alternatives(error).unwrap_or_default();
            if let Some(options) = constants(branches) {
                return say(format!("expected one of {}, got {got}", listed(&options)));
            }
            match branches.iter().min_by_key(|branch| distance(error, branch)) {
                Some(closest) if !closest.is_empty() => {
                    for error in closest {
                        explain(error, schema, problems);
                    }
                }
                _ => say(format!("fits none of the alternatives: {got}")),
            }
        }
        _ => say(error.to_string()),
    }
}

/// The values of alternatives that are one value each: an enumeration whose members have descriptions.
fn constants(branches: &[Vec<ValidationError<'static>>]) -> Option<Vec<Value>> {
    let constant = |branch: &Vec<ValidationError<'static>>| match branch.as_slice() {
        [only] => match only.kind() {
            ValidationErrorKind::Constant { expected_value } => Some(vec![(**expected_value).clone()]),
            ValidationErrorKind::Enum { options } => options.as_array().cloned(),
            _ => None,
        },
        _ => None,
    };
    let options: Option<Vec<_>> = branches.iter().map(constant).collect();
    options.map(|options| options.concat()).filter(|options| !options.is_empty())
}

fn types(kind: &TypeKind) -> String {
    let name = |kind: String| match kind.as_str() {
        "integer" => "an integer".to_owned(),
        "array" => "an array".to_owned(),
        "object" => "an object".to_owned(),
        "null" => "null".to_owned(),
        other => format!("a {other}"),
    };
    match kind {
        TypeKind::Single(kind) => name(kind.to_string()),
        TypeKind::Multiple(kinds) => {
            kinds.iter().map(|kind| name(kind.to_string())).collect::<Vec<_>>().join(" or ")
        }
    }
}

/// What a missing property should be, as far as its schema says so in a word.
fn wanted(root: &Value, place: &str, name: &str) -> String {
    let property = at(root, place)
        .and_then(|schema| schema.get("properties")?.get(name))
        .map(|schema| resolve(root, schema));
    let Some(property) = property else { return String::new() };
    if let Some(options) = property.get("enum").and_then(Value::as_array) {
        return format!(": one of {}", listed(options));
    }
    match property.get("type") {
        Some(Value::String(kind)) => {
            format!(": {} {kind}", if kind.starts_with(['a', 'i', 'o']) { "an" } else { "a" })
        }
        _ => String::new(),
    }
}

/// The names that an object may have.
fn known(root: &Value, place: &str) -> String {
    let names = at(root, place).and_then(|schema| schema.get("properties")?.as_object());
    let Some(names) = names.filter(|names| !names.is_empty()) else { return String::new() };
    let mut shown: Vec<_> = names.keys().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
    if names.len() > MAX_LISTED {
        shown.push(format!("and {} more", names.len() - MAX_LISTED));
    }
    format!("; there are {}", shown.join(", "))
}

/// The schema of the place that a pointer names, as far as it can be followed through properties and items.
fn at<'a>(root: &'a Value, place: &str) -> Option<&'a Value> {
    let mut schema = resolve(root, root);
    for segment in place.split('/').skip(1) {
        let name = segment.replace("~1", "/").replace("~0", "~");
        let property = schema.get("properties").and_then(|properties| properties.get(&name));
        schema = resolve(root, property.or_else(|| schema.get("items"))?);
    }
    Some(schema)
}

fn listed(options: &[Value]) -> String {
    let mut shown_options: Vec<_> = options.iter().take(MAX_LISTED).map(shown).collect();
    if options.len() > MAX_LISTED {
        shown_options.push(format!("and {} more", options.len() - MAX_LISTED));
    }
    shown_options.join(", ")
}

fn count(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.len(),
        Value::Object(map) => map.len(),
        _ => 0,
    }
}

/// A value as JSON, cut if it is long.
fn shown(value: &Value) -> String {
    let mut text = canonical(value);
    if text.len() > MAX_SHOWN {
        let end = (0..=MAX_SHOWN).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
