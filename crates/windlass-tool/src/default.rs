//! What is filled in for the caller.

use serde_json::{Map, Value};
use windlass_core::{canonical, json};

use crate::keyword::{escaped, unescaped};
use crate::reference::{resolve, target};

/// The most bytes of defaults that one set of arguments is given, in canonical JSON.
pub const MAX_DEFAULT_BYTES: usize = 16 << 20;

/// How many schemas are looked at in the search for defaults of one set of arguments.
pub const MAX_FILL_STEPS: u64 = 1 << 21;

/// What one default costs beside its own text: an empty one takes memory too.
const DEFAULT_COST: usize = 16;

/// What was filled in.
#[derive(Debug, Default)]
pub(crate) struct Filled {
    /// Pointers to what was filled in; what stands inside a default is not named again.
    pub(crate) places: Vec<String>,
    bytes: usize,
    steps: u64,
    /// True past [`MAX_DEFAULT_BYTES`] or [`MAX_FILL_STEPS`], or if defaults lead to defaults without end.
    pub(crate) is_too_much: bool,
}

/// Fills in the defaults of properties that are absent, wherever the arguments have an object.
///
/// Followed are references, `allOf`, `dependentSchemas` of what is there, and of alternatives the one that
/// the value can still become, if it is the only one. `if` decides nothing here: what it says depends on
/// values that are not settled yet.
pub(crate) fn fill(root: &Value, schema: &Value, value: &mut Value) -> Filled {
    fill_within(MAX_FILL_STEPS, root, schema, value)
}

fn fill_within(max_steps: u64, root: &Value, schema: &Value, value: &mut Value) -> Filled {
    let mut filled = Filled::default();
    Filling { root, filled: &mut filled, max_steps }.fill(schema, value, &Trail::Start, Within::Args);
    filled
}

/// Removes what was filled in at a place.
pub(crate) fn withdraw(value: &mut Value, place: &str) -> Option<Value> {
    let (parent, name) = place.rsplit_once('/')?;
    value.pointer_mut(parent)?.as_object_mut()?.remove(&unescaped(name))
}

/// Puts back what was removed from a place.
pub(crate) fn put_back(value: &mut Value, place: &str, default: Value) {
    if let Some((parent, name)) = place.rsplit_once('/')
        && let Some(Value::Object(map)) = value.pointer_mut(parent)
    {
        map.insert(unescaped(name), default);
    }
}

/// The way from the root to a value, without memory of its own.
enum Trail<'a> {
    Start,
    Name(&'a Trail<'a>, &'a str),
    Index(&'a Trail<'a>, usize),
}

impl Trail<'_> {
    fn pointer(&self) -> String {
        match self {
            Self::Start => String::new(),
            Self::Name(before, name) => format!("{}/{}", before.pointer(), escaped(name)),
            Self::Index(before, index) => format!("{}/{index}", before.pointer()),
        }
    }

    fn depth(&self) -> usize {
        match self {
            Self::Start => 0,
            Self::Name(before, _) | Self::Index(before, _) => before.depth() + 1,
        }
    }
}

/// Whose value is being filled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Args,
    Default,
}

struct Filling<'a> {
    root: &'a Value,
    filled: &'a mut Filled,
    max_steps: u64,
}

impl<'a> Filling<'a> {
    /// As deep as the arguments, or as [`json::MAX_DEPTH`] inside a default; at each level as far as
    /// references and combinators go, which was bounded when the schema was compiled.
    fn fill(&mut self, schema: &'a Value, value: &mut Value, trail: &Trail<'_>, within: Within) {
        let alternatives = list(schema, "anyOf").len() + list(schema, "oneOf").len();
        self.filled.steps += 1 + alternatives as u64;
        // Two parts that each refer back double the work at every level of the value.
        self.filled.is_too_much |= self.filled.steps > self.max_steps;
        if self.filled.is_too_much {
            return;
        }
        if let Some(target) = target(self.root, schema) {
            self.fill(target, value, trail, within);
        }
        for part in list(schema, "allOf") {
            self.fill(part, value, trail, within);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(alternative) = only_candidate(self.root, list(schema, keyword), value) {
                self.fill(alternative, value, trail, within);
            }
        }
        match value {
            Value::Object(map) => {
                let dependent = schema.get("dependentSchemas").and_then(Value::as_object);
                let present: Vec<_> =
                    dependent.into_iter().flatten().filter(|(name, _)| map.contains_key(*name)).collect();
                self.fill_object(schema, map, trail, within);
                for (_, schema) in present {
                    self.fill(schema, value, trail, within);
                }
            }
            Value::Array(items) => self.fill_items(schema, items, trail, within),
            _ => {}
        }
    }

    fn fill_items(&mut self, schema: &'a Value, items: &mut [Value], trail: &Trail<'_>, within: Within) {
        let first = list(schema, "prefixItems");
        let rest = schema.get("items");
        if first.is_empty() && rest.is_none() {
            return;
        }
        for (index, item) in items.iter_mut().enumerate() {
            if let Some(schema) = first.get(index).or(rest) {
                self.fill(schema, item, &Trail::Index(trail, index), within);
            }
        }
    }

    fn fill_object(
        &mut self,
        schema: &'a Value,
        map: &mut Map<String, Value>,
        trail: &Trail<'_>,
        within: Within,
    ) {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let trail = Trail::Name(trail, name);
            match map.get_mut(name) {
                Some(value) => self.fill(property, value, &trail, within),
                None => {
                    if let Some(default) = self.default_of(property, &trail, within) {
                        map.insert(name.clone(), default);
                    }
                }
            }
        }
        if let Some(additional) = schema.get("additionalProperties").filter(|schema| schema.is_object()) {
            let is_matched = schema.get("patternProperties").is_some();
            let is_named = |name: &str| properties.is_some_and(|properties| properties.contains_key(name));
            // Which names a pattern takes is not known here; those are left as they came.
            for (name, value) in map.iter_mut().filter(|(name, _)| !is_matched && !is_named(name)) {
                self.fill(additional, value, &Trail::Name(trail, name), within);
            }
        }
    }

    /// The default of a property that is absent, with its own defaults inside.
    fn default_of(&mut self, property: &'a Value, trail: &Trail<'_>, within: Within) -> Option<Value> {
        let mut default = default(self.root, property)?.clone();
        self.filled.bytes = self.filled.bytes.saturating_add(canonical(&default).len() + DEFAULT_COST);
        if self.filled.bytes > MAX_DEFAULT_BYTES || trail.depth() > json::MAX_DEPTH {
            self.filled.is_too_much = true;
        }
        if self.filled.is_too_much {
            return None;
        }
        if within == Within::Args {
            self.filled.places.push(trail.pointer());
        }
        self.fill(property, &mut default, trail, Within::Default);
        Some(default)
    }
}

/// The default of a schema, its own or that of what it refers to.
fn default<'a>(root: &'a Value, schema: &'a Value) -> Option<&'a Value> {
    schema.get("default").or_else(|| resolve(root, schema).get("default"))
}

fn list<'a>(schema: &'a Value, keyword: &str) -> &'a [Value] {
    schema.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The one alternative that a value can become by filling in and correcting, if it is the only one.
fn only_candidate<'a>(root: &'a Value, alternatives: &'a [Value], value: &Value) -> Option<&'a Value> {
    let mut candidates = alternatives.iter().filter(|schema| is_candidate(root, schema, value));
    candidates.next().filter(|_| candidates.next().is_none())
}

/// Whether types, tags and required names speak against an alternative.
fn is_candidate(root: &Value, schema: &Value, value: &Value) -> bool {
    if let Some(target) = target(root, schema)
        && !is_candidate(root, target, value)
    {
        return false;
    }
    if !is_of_type(schema, value) || !list(schema, "allOf").iter().all(|part| is_candidate(root, part, value))
    {
        return false;
    }
    let Value::Object(map) = value else { return true };
    let properties = schema.get("properties").and_then(Value::as_object);
    let property = |name: &str| properties.and_then(|properties| properties.get(name));
    let is_there = |name: &str| {
        map.contains_key(name) || property(name).is_some_and(|property| default(root, property).is_some())
    };
    let has_tag = |(name, property): (&String, &Value)| {
        map.get(name).is_none_or(|value| has_value(resolve(root, property), value))
    };
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    list(schema, "required").iter().filter_map(Value::as_str).all(is_there)
        && properties.into_iter().flatten().all(has_tag)
        && (!is_closed || map.keys().all(|name| property(name).is_some()))
}

fn has_value(schema: &Value, value: &Value) -> bool {
    schema.get("const").is_none_or(|only| only == value)
        && (schema.get("enum").is_none() || list(schema, "enum").contains(value))
}

fn is_of_type(schema: &Value, value: &Value) -> bool {
    let name = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    match schema.get("type") {
        Some(Value::String(kind)) => kind == name,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == name),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_search_for_defaults_ends_after_its_steps() {
        let schema =
            json!({ "properties": { "a": { "items": { "properties": { "b": { "default": 1 } } } } } });
        let filled = |steps| {
            let mut value = json!({ "a": [{}, {}, {}] });
            let filled = fill_within(steps, &schema, &schema, &mut value);
            (filled.is_too_much, value)
        };
        // The arguments, the array, its three items, and each default as a value of its own.
        assert_eq!(filled(8), (false, json!({ "a": [{ "b": 1 }, { "b": 1 }, { "b": 1 }] })));
        assert!(filled(7).0);
    }
}
