//! What is forgiven: text that is a number or a boolean, empty text for what may be left out, and what has
//! a default.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value};
use windlass_core::json;

use crate::schema::resolve;

/// How many repairs one set of arguments may need.
const MAX_REPAIRS: usize = 64;

/// How many errors are looked at in one round.
const MAX_ERRORS: usize = 64;

/// The most significant digits of a decimal that a double keeps for certain.
const SAFE_DIGITS: usize = 15;

/// Fills in the defaults of properties that are absent, wherever the arguments have an object.
pub(crate) fn fill_defaults(root: &Value, value: &mut Value) {
    // As deep as the arguments, whose depth is bounded, and a constant more for combinators.
    fill(root, root, value, 0);
}

fn fill(root: &Value, schema: &Value, value: &mut Value, combinators: usize) {
    const MAX_COMBINATORS: usize = 8;
    let schema = resolve(root, schema);
    if combinators < MAX_COMBINATORS {
        let all = schema.get("allOf").and_then(Value::as_array);
        for part in all.into_iter().flatten() {
            fill(root, part, value, combinators + 1);
        }
        if let (Some(wanted), false) = (unless_null(root, schema), value.is_null()) {
            fill(root, wanted, value, combinators + 1);
        }
    }
    match value {
        Value::Object(map) => fill_object(root, schema, map),
        Value::Array(items) => {
            let first = schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let rest = schema.get("items");
            for (index, item) in items.iter_mut().enumerate() {
                if let Some(schema) = first.get(index).or(rest) {
                    fill(root, schema, item, 0);
                }
            }
        }
        _ => {}
    }
}

fn fill_object(root: &Value, schema: &Value, map: &mut Map<String, Value>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        match map.get_mut(name) {
            Some(value) => fill(root, property, value, 0),
            None => {
                let default = property.get("default").or_else(|| resolve(root, property).get("default"));
                if let Some(default) = default {
                    map.insert(name.clone(), default.clone());
                }
            }
        }
    }
    if let Some(additional) = schema.get("additionalProperties").filter(|schema| schema.is_object()) {
        let is_named = |name: &String| properties.is_some_and(|properties| properties.contains_key(name));
        for (_, value) in map.iter_mut().filter(|(name, _)| !is_named(name)) {
            fill(root, additional, value, 0);
        }
    }
}

/// The schema of an optional value: the one alternative beside null.
fn unless_null<'a>(root: &'a Value, schema: &'a Value) -> Option<&'a Value> {
    let alternatives = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    let is_null = |schema: &&Value| resolve(root, schema).get("type").and_then(Value::as_str) == Some("null");
    let mut others = alternatives.iter().filter(|schema| !is_null(schema));
    let wanted = others.next()?;
    (others.next().is_none() && alternatives.len() > 1).then_some(wanted)
}

/// Replaces texts by what they spell, as long as that mends something.
pub(crate) fn repair(validator: &Validator, value: &mut Value) {
    let mut wrong = score(validator, value);
    for _ in 0..MAX_REPAIRS {
        if wrong == 0 {
            return;
        }
        let mut places = Vec::new();
        for error in validator.iter_errors(value).take(MAX_ERRORS) {
            collect_texts(&error, &mut places);
        }
        places.sort_unstable();
        places.dedup();
        places.truncate(MAX_ERRORS);
        let better = places.iter().flat_map(|place| candidates(value, place)).find_map(|candidate| {
            let left = score(validator, &candidate);
            (left < wrong).then_some((candidate, left))
        });
        match better {
            Some((repaired, left)) => (*value, wrong) = (repaired, left),
            None => return,
        }
    }
}

/// How much is wrong: every leaf of every error, for alternatives those of the one that comes closest.
fn score(validator: &Validator, value: &Value) -> usize {
    validator.iter_errors(value).take(MAX_ERRORS).map(|error| weight(&error)).sum()
}

/// See [`score`].
fn weight(error: &ValidationError<'_>) -> usize {
    match alternatives(error) {
        None => 1,
        Some(branches) => 1 + branches.iter().map(|branch| distance(error, branch)).min().unwrap_or(0),
    }
}

/// The alternatives of an error, each with what is wrong under it.
pub(crate) fn alternatives<'a>(
    error: &'a ValidationError<'_>,
) -> Option<&'a [Vec<ValidationError<'static>>]> {
    match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            Some(context)
        }
        _ => None,
    }
}

/// How far a value is from one alternative. One that wants another type altogether is far away, however
/// little there is to say about it.
pub(crate) fn distance(error: &ValidationError<'_>, branch: &[ValidationError<'_>]) -> usize {
    const ANOTHER_TYPE: usize = 1_000;
    let far = |inner: &ValidationError<'_>| {
        let is_another = matches!(inner.kind(), ValidationErrorKind::Type { .. })
            && inner.instance_path() == error.instance_path();
        weight(inner) + if is_another { ANOTHER_TYPE } else { 0 }
    };
    branch.iter().map(far).sum()
}

/// The places of texts that an error speaks of.
fn collect_texts(error: &ValidationError<'_>, places: &mut Vec<String>) {
    if error.instance().is_string() {
        places.push(error.instance_path().as_str().to_owned());
    }
    for error in alternatives(error).into_iter().flatten().flatten() {
        collect_texts(error, places);
    }
}

/// The value with the text at a place replaced by what it may stand for.
fn candidates(value: &Value, place: &str) -> Vec<Value> {
    let Some(Value::String(text)) = value.pointer(place) else { return Vec::new() };
    if text.is_empty() {
        return without(value, place).into_iter().collect();
    }
    let spelled = match text.as_str() {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => match number(text) {
            Some(number) => number,
            None => return Vec::new(),
        },
    };
    let mut replaced = value.clone();
    match replaced.pointer_mut(place) {
        Some(found) => *found = spelled,
        None => return Vec::new(),
    }
    vec![replaced]
}

/// A number that its text spells without losing a digit.
fn number(text: &str) -> Option<Value> {
    let Ok(value @ Value::Number(_)) = json::read(text) else { return None };
    // White space around a number is no part of it.
    if text.trim() != text {
        return None;
    }
    let is_integer = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    let digits = text.split(['e', 'E']).next().unwrap_or_default().trim_matches(['-', '0', '.']);
    let significant = digits.bytes().filter(u8::is_ascii_digit).count();
    let is_lossless = if is_integer { value.is_i64() || value.is_u64() } else { significant <= SAFE_DIGITS };
    is_lossless.then_some(value)
}

/// The value without the property at a place.
fn without(value: &Value, place: &str) -> Option<Value> {
    let (parent, name) = place.rsplit_once('/')?;
    let name = name.replace("~1", "/").replace("~0", "~");
    let mut left = value.clone();
    left.pointer_mut(parent)?.as_object_mut()?.remove(&name)?;
    Some(left)
}
