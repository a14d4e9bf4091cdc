//! What is forgiven: text that spells a number or a boolean, and nothing in place of what may be left out.
//!
//! The validator says where something is wrong. Every such place that can be repaired without loss is
//! repaired at once, and the whole is validated again: the work grows with the rounds, not with the places.
//! A repair that did not help is taken back, so that the caller is told about what it sent.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::mem::{Discriminant, discriminant};
use std::ops::Bound;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::json::cmp;
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;
use windlass_core::{Problem, json};

use crate::keyword::{escaped, unescaped};
use crate::meter::{Faults, Metered, Verdict};

/// How often arguments are repaired and validated again. A second round is needed where the first one
/// changed which schemas apply.
pub const MAX_ROUNDS: usize = 8;

/// Of how many repairs each is asked whether it was needed.
const MAX_DOUBTED: usize = 8;

/// The most significant digits of a decimal that a double keeps for certain.
const SAFE_DIGITS: usize = 15;

/// How the repair of a value went.
pub(crate) struct Repaired {
    /// What is still wrong; nothing, if the value fits now.
    pub(crate) faults: Faults,
    /// What went wrong because of repairs that were then taken back.
    pub(crate) regrets: Vec<Problem>,
    /// What was repaired, and what stood there before.
    pub(crate) kept: BTreeMap<String, Before>,
}

/// Repairs a value in place, as far as that helps. `explain` puts an error about the value into words.
pub(crate) fn repair(
    validator: &Metered,
    value: &mut Value,
    explain: impl Fn(&ValidationError<'static>, &Value) -> Vec<Problem>,
) -> Repaired {
    let mut given_up = HashSet::new();
    let mut regrets = Vec::new();
    let mut kept: BTreeMap<String, Before> = BTreeMap::new();
    let mut faults = validator.faults(value);
    for _ in 0..MAX_ROUNDS {
        // What is known in part cannot be repaired: what is not known may be about the same places.
        if faults.errors.is_empty() || !faults.is_whole {
            break;
        }
        let repairs = plan(&faults.errors, value, &given_up);
        if repairs.is_empty() {
            break;
        }
        let mut done: BTreeMap<String, Before> = BTreeMap::new();
        for (place, repair) in repairs {
            if let Some(before) = apply(value, &place, repair) {
                done.insert(place, before);
            }
        }
        let after = validator.faults(value);
        let blamed = blame(&faults.errors, &after, &done);
        for error in &blamed.news {
            regrets.extend(explain(error, value));
        }
        let is_settled = blamed.places.is_empty();
        for place in blamed.places {
            if let Some(before) = done.remove(&place) {
                undo(value, &place, before);
            }
            given_up.insert(place);
        }
        kept.extend(done);
        faults = if is_settled { after } else { validator.faults(value) };
    }
    Repaired { faults, regrets, kept }
}

/// Takes back the repairs that others, or a default, made needless: a value fits, and still does without them.
pub(crate) fn spare(validator: &Metered, value: &mut Value, kept: BTreeMap<String, Before>) {
    if kept.len() > MAX_DOUBTED {
        return;
    }
    for (place, before) in kept {
        let repaired = value.pointer(&place).cloned();
        undo(value, &place, before);
        if validator.verdict(value) == Verdict::Fits {
            continue;
        }
        let repair = repaired.map_or(Repair::Remove, Repair::Replace);
        apply(value, &place, repair);
    }
}

/// What can be done about a place.
#[derive(Clone, Debug, PartialEq)]
enum Repair {
    /// The text spells this.
    Replace(Value),
    /// The property is not there.
    Remove,
}

/// What stood at a place before it was repaired.
pub(crate) enum Before {
    Value(Value),
    Property(Value),
}

type Plan = BTreeMap<String, Repair>;

fn plan(errors: &[ValidationError<'_>], value: &Value, given_up: &HashSet<String>) -> Plan {
    let mut plan = Plan::new();
    for error in errors {
        plan.extend(plan_for(error, value, given_up).unwrap_or_default());
    }
    plan
}

/// The repairs that may mend an error, or nothing if it cannot be mended as a whole.
fn plan_for(error: &ValidationError<'_>, value: &Value, given_up: &HashSet<String>) -> Option<Plan> {
    if let Some(branches) = alternatives(error) {
        // The alternative that needs the fewest repairs; of equals the first, as its author put it first.
        let plans = branches.iter().filter_map(|branch| {
            branch.iter().map(|error| plan_for(error, value, given_up)).try_fold(
                Plan::new(),
                |mut all, plan| {
                    all.extend(plan?);
                    Some(all)
                },
            )
        });
        return plans.min_by_key(BTreeMap::len);
    }
    let place = error.instance_path().as_str();
    if let ValidationErrorKind::UnevaluatedProperties { unexpected } = error.kind() {
        // Which schema refused them is not told; it may be one that wants numbers.
        let places = unexpected.iter().map(|name| format!("{place}/{}", escaped(name)));
        let replaced = places.map(|place| {
            let spelled = spelled(value.pointer(&place)?.as_str()?)?;
            (!given_up.contains(&place)).then_some((place, Repair::Replace(spelled)))
        });
        return replaced.collect();
    }
    if given_up.contains(place) {
        return None;
    }
    let repair = repair_of(error.kind(), value, place)?;
    Some(Plan::from([(place.to_owned(), repair)]))
}

fn repair_of(kind: &ValidationErrorKind, value: &Value, place: &str) -> Option<Repair> {
    let removed = || {
        let (parent, _) = place.rsplit_once('/')?;
        value.pointer(parent)?.is_object().then_some(Repair::Remove)
    };
    match value.pointer(place)? {
        Value::String(text) if text.is_empty() => removed(),
        Value::Null => removed(),
        Value::String(text) => spelled(text).filter(|value| is_wanted(kind, value)).map(Repair::Replace),
        _ => None,
    }
}

/// Whether a value is what an error asks for.
fn is_wanted(kind: &ValidationErrorKind, value: &Value) -> bool {
    match kind {
        ValidationErrorKind::Type { kind } => {
            let takes = |wanted: JsonType| match kind {
                TypeKind::Single(kind) => *kind == wanted,
                TypeKind::Multiple(kinds) => kinds.contains(wanted),
            };
            match value {
                Value::Bool(_) => takes(JsonType::Boolean),
                // `5.0` is an integer for JSON Schema, and none for a handler that reads integers.
                Value::Number(number) => {
                    takes(JsonType::Number) || (!number.is_f64() && takes(JsonType::Integer))
                }
                _ => false,
            }
        }
        ValidationErrorKind::Enum { options } => {
            options.as_array().is_some_and(|options| options.iter().any(|option| cmp::equal(option, value)))
        }
        ValidationErrorKind::Constant { expected_value } => cmp::equal(expected_value, value),
        _ => false,
    }
}

/// What a text spells without losing anything, if it is a number or a boolean.
fn spelled(text: &str) -> Option<Value> {
    match text {
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        text => number(text),
    }
}

/// A number that its text spells without losing a digit.
fn number(text: &str) -> Option<Value> {
    // White space around a number is no part of it.
    if !text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) || text.trim() != text {
        return None;
    }
    let Ok(value @ Value::Number(_)) = json::read(text) else { return None };
    let is_integer = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    let digits = text.split(['e', 'E']).next().unwrap_or_default().trim_matches(['-', '0', '.']);
    let significant = digits.bytes().filter(u8::is_ascii_digit).count();
    // Near zero a double keeps fewer digits, and in the end none.
    let is_kept =
        value.as_f64().is_some_and(|number| number.is_normal() || (number == 0.0 && significant == 0));
    let is_lossless =
        if is_integer { value.is_i64() || value.is_u64() } else { significant <= SAFE_DIGITS && is_kept };
    is_lossless.then_some(value)
}

fn apply(value: &mut Value, place: &str, repair: Repair) -> Option<Before> {
    match repair {
        Repair::Replace(new) => {
            value.pointer_mut(place).map(|found| Before::Value(std::mem::replace(found, new)))
        }
        Repair::Remove => {
            let (parent, name) = place.rsplit_once('/')?;
            value.pointer_mut(parent)?.as_object_mut()?.remove(&unescaped(name)).map(Before::Property)
        }
    }
}

fn undo(value: &mut Value, place: &str, before: Before) {
    match before {
        Before::Value(old) => {
            if let Some(found) = value.pointer_mut(place) {
                *found = old;
            }
        }
        Before::Property(old) => {
            if let Some((parent, name)) = place.rsplit_once('/')
                && let Some(Value::Object(map)) = value.pointer_mut(parent)
            {
                map.insert(unescaped(name), old);
            }
        }
    }
}

struct Blamed<'a> {
    /// The places of repairs that did not help.
    places: Vec<String>,
    /// The errors that were not there before, about values that hold such places.
    news: Vec<&'a ValidationError<'static>>,
}

/// Finds the repairs that did not help: the same place is still wrong, what must be there was left out, the
/// alternative that the repair was for is refused all the same, or the value around it is wrong in a new way.
fn blame<'a>(
    before: &[ValidationError<'static>],
    after: &'a Faults,
    done: &BTreeMap<String, Before>,
) -> Blamed<'a> {
    let known: HashSet<_> = before.iter().map(mark).collect();
    // Each place is blamed once, or many errors about one large value would each name all of its places.
    let mut open: BTreeSet<&str> = done.keys().map(String::as_str).collect();
    let mut blamed = Blamed { places: Vec::new(), news: Vec::new() };
    if !after.is_whole {
        blamed.places.extend(open.iter().map(ToString::to_string));
        return blamed;
    }
    for error in &after.errors {
        let place = error.instance_path().as_str();
        let mut guilty: Vec<String> = open.take(place).map(str::to_owned).into_iter().collect();
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                let missing = format!("{place}/{}", escaped(property.as_str().unwrap_or_default()));
                guilty.extend(open.take(missing.as_str()).map(str::to_owned));
            }
            ValidationErrorKind::AnyOf { .. }
            | ValidationErrorKind::OneOfNotValid { .. }
            | ValidationErrorKind::UnevaluatedProperties { .. } => {
                guilty.extend(take_below(&mut open, place));
            }
            _ if !known.contains(&mark(error)) => {
                let held = take_below(&mut open, place);
                if !held.is_empty() {
                    blamed.news.push(error);
                }
                guilty.extend(held);
            }
            _ => {}
        }
        blamed.places.extend(guilty);
    }
    blamed
}

/// Takes the places inside the value at a place.
fn take_below(open: &mut BTreeSet<&str>, place: &str) -> Vec<String> {
    let prefix = format!("{place}/");
    let start = (Bound::Included(prefix.as_str()), Bound::Unbounded);
    let inside = open.range::<str, _>(start).take_while(|place| place.starts_with(&prefix));
    let found: Vec<String> = inside.map(ToString::to_string).collect();
    for place in &found {
        open.remove(place.as_str());
    }
    found
}

/// The places of errors that were not there before.
pub(crate) fn news(before: &Faults, after: &Faults) -> BTreeSet<String> {
    let known: HashSet<_> = before.errors.iter().map(mark).collect();
    let new = after.errors.iter().filter(|error| !known.contains(&mark(error)));
    new.map(|error| error.instance_path().as_str().to_owned()).collect()
}

/// Whether a place is one of these or lies inside one.
pub(crate) fn is_inside(place: &str, around: &BTreeSet<String>) -> bool {
    let ends = place.match_indices('/').map(|(end, _)| end).chain([place.len()]);
    ends.into_iter().any(|end| place.get(..end).is_some_and(|start| around.contains(start)))
}

/// What makes an error the same as another one.
fn mark<'a>(error: &'a ValidationError<'_>) -> (&'a str, &'a str, Discriminant<ValidationErrorKind>) {
    (error.instance_path().as_str(), error.schema_path().as_str(), discriminant(error.kind()))
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
