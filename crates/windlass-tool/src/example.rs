//! Arguments that a schema accepts, made from what its author wrote.

use std::cell::Cell;
use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::keyword::{escaped, unescaped};
use crate::pattern;
use crate::reference::resolve;

/// How many ways to choose among alternatives are tried.
pub(crate) const VARIANTS: usize = 4;

/// How deep an example goes.
const MAX_DEPTH: usize = 8;

/// The most values that are made up for one example. A schema that requires itself twice could otherwise be
/// followed for ever.
const MAX_VALUES: usize = 1_000;

/// The most items or characters that are made up because a schema asks for that many.
const MAX_MADE: u64 = 64;

/// What an example should show beside what is required.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// Pointers to the properties, and to what holds them; `*` stands for any index.
    places: BTreeSet<String>,
}

impl Shown {
    /// The places that these pointers name.
    pub(crate) fn at<'a>(pointers: impl Iterator<Item = &'a str>) -> Self {
        let mut places = BTreeSet::new();
        for pointer in pointers {
            let mut place = String::new();
            for segment in pointer.split('/').skip(1) {
                let is_index = segment.bytes().all(|byte| byte.is_ascii_digit());
                place = format!("{place}/{}", if is_index { "*" } else { segment });
                places.insert(place.clone());
            }
        }
        Self { places }
    }
}

/// An example of a schema, not yet checked: the author's own, or the required properties and the places
/// `shown`, made of defaults, constants, enumerations and the plainest value of each type. Secrets are left
/// out. Of alternatives the one numbered `variant` is taken.
pub(crate) fn of(root: &Value, shown: &Shown, secrets: &[String], variant: usize) -> Option<Value> {
    let written = stated(root).filter(|_| shown.places.is_empty());
    let mut example = match written {
        Some(written) => written,
        None => Making { root, shown, secrets, variant, left: Cell::new(MAX_VALUES) }.value(root, "", 0)?,
    };
    for name in secrets {
        example.as_object_mut()?.remove(name);
    }
    Some(example)
}

struct Making<'a> {
    root: &'a Value,
    shown: &'a Shown,
    secrets: &'a [String],
    variant: usize,
    /// How many more values may be made.
    left: Cell<usize>,
}

impl Making<'_> {
    fn value(&self, schema: &Value, place: &str, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH || self.left.get() == 0 {
            return None;
        }
        self.left.set(self.left.get() - 1);
        let is_inside_wanted = self
            .shown
            .places
            .range(format!("{place}/")..)
            .next()
            .is_some_and(|next| next.starts_with(&format!("{place}/")));
        let written = stated(schema).or_else(|| stated(resolve(self.root, schema)));
        if let Some(written) = written.filter(|_| !is_inside_wanted || place.is_empty()) {
            return Some(written);
        }
        let schema = resolve(self.root, schema);
        let alternatives = ["anyOf", "oneOf"].iter().find_map(|keyword| schema.get(*keyword)?.as_array());
        if let Some(alternatives) = alternatives {
            let made = alternatives
                .iter()
                .cycle()
                .skip(self.variant)
                .take(alternatives.len())
                .find_map(|part| self.value(part, place, depth + 1))?;
            return self.merged(schema, made, place, depth);
        }
        let made = match kind(schema)? {
            "object" => self.object(schema, place, depth)?,
            "array" => self.array(schema, place, depth)?,
            "string" => text(schema)?,
            "integer" => number(schema, true)?,
            "number" => number(schema, false)?,
            "boolean" => json!(true),
            _ => Value::Null,
        };
        self.merged(schema, made, place, depth)
    }

    /// A value together with the properties that `allOf`, and the schema beside alternatives, ask for.
    fn merged(&self, schema: &Value, made: Value, place: &str, depth: usize) -> Option<Value> {
        let Value::Object(mut map) = made else { return Some(made) };
        if schema.get("properties").is_some() {
            for (name, value) in self.properties(schema, place, depth)? {
                map.entry(name).or_insert(value);
            }
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            if let Some(Value::Object(more)) = self.value(part, place, depth + 1) {
                for (name, value) in more {
                    map.entry(name).or_insert(value);
                }
            }
        }
        Some(Value::Object(map))
    }

    fn object(&self, schema: &Value, place: &str, depth: usize) -> Option<Value> {
        let mut map = self.properties(schema, place, depth)?;
        let least = schema.get("minProperties").and_then(Value::as_u64).unwrap_or(0);
        let additional = schema.get("additionalProperties");
        for index in 1..=least.min(MAX_MADE) {
            if map.len() as u64 >= least {
                break;
            }
            let value = additional.and_then(|schema| self.value(schema, &format!("{place}/*"), depth + 1));
            map.entry(format!("name{index}")).or_insert(value.unwrap_or(json!(1)));
        }
        Some(Value::Object(map))
    }

    fn properties(&self, schema: &Value, place: &str, depth: usize) -> Option<Map<String, Value>> {
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array);
        let mut names: BTreeSet<String> =
            required.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        names.extend(
            self.wanted(place).filter(|name| properties.is_some_and(|known| known.contains_key(name))),
        );
        let dependent = schema.get("dependentRequired").and_then(Value::as_object);
        for (name, others) in dependent.into_iter().flatten() {
            if names.contains(name) {
                names.extend(
                    others.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned),
                );
            }
        }
        let mut map = Map::new();
        for name in names {
            if depth == 0 && self.secrets.contains(&name) {
                continue;
            }
            let place = format!("{place}/{}", escaped(&name));
            let property = properties.and_then(|properties| properties.get(&name));
            // A property that nothing is said about may be anything.
            let value = property.map_or(Some(json!(1)), |schema| match schema {
                Value::Bool(true) => Some(json!(1)),
                schema => self.value(schema, &place, depth + 1),
            });
            map.insert(name, value?);
        }
        Some(map)
    }

    /// The properties to show of the object at a place.
    fn wanted(&self, place: &str) -> impl Iterator<Item = String> {
        let prefix = format!("{place}/");
        let inside = self.shown.places.iter().filter_map(move |shown| {
            shown.strip_prefix(&prefix).filter(|name| !name.contains('/')).map(unescaped)
        });
        inside.collect::<Vec<_>>().into_iter()
    }

    fn array(&self, schema: &Value, place: &str, depth: usize) -> Option<Value> {
        let place = format!("{place}/*");
        let make = |schema: &Value| self.value(schema, &place, depth + 1);
        let mut list: Vec<Value> = Vec::new();
        for schema in schema.get("prefixItems").and_then(Value::as_array).into_iter().flatten() {
            list.push(make(schema)?);
        }
        if let Some(contained) = schema.get("contains") {
            let least = schema.get("minContains").and_then(Value::as_u64).unwrap_or(1);
            for _ in 0..least.min(MAX_MADE) {
                list.push(make(contained)?);
            }
        }
        let is_shown = self.shown.places.contains(&place);
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(u64::from(is_shown));
        let differs = schema.get("uniqueItems") == Some(&Value::Bool(true));
        while (list.len() as u64) < least.min(MAX_MADE) {
            let item = match schema.get("items") {
                Some(Value::Bool(true)) | None => json!(list.len() + 1),
                Some(items) => make(items)?,
            };
            list.push(if differs {
                different(resolve(self.root, schema.get("items").unwrap_or(&json!(true))), item, &list)
            } else {
                item
            });
        }
        Some(Value::Array(list))
    }
}

/// A value like this one that is not in the list yet, if one is easily found.
fn different(schema: &Value, value: Value, list: &[Value]) -> Value {
    if !list.contains(&value) {
        return value;
    }
    let options = schema.get("enum").and_then(Value::as_array);
    if let Some(option) = options.into_iter().flatten().find(|option| !list.contains(option)) {
        return option.clone();
    }
    let count = list.len();
    match &value {
        Value::Number(number) => {
            number.as_i64().map_or(value, |number| json!(number.saturating_add_unsigned(count as u64)))
        }
        Value::String(text) => json!(format!("{text}{count}")),
        _ => value,
    }
}

/// The type that a schema has or, by its other keywords, must mean.
fn kind(schema: &Value) -> Option<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => return Some(kind),
        Some(Value::Array(kinds)) => {
            return kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null");
        }
        _ => {}
    }
    let speaks_of = |keywords: &[&str]| keywords.iter().any(|keyword| schema.get(*keyword).is_some());
    if speaks_of(&["properties", "required", "minProperties", "dependentRequired", "allOf"]) {
        Some("object")
    } else if speaks_of(&["items", "prefixItems", "minItems", "contains", "uniqueItems"]) {
        Some("array")
    } else if speaks_of(&["pattern", "minLength", "maxLength", "format"]) {
        Some("string")
    } else if speaks_of(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
        Some("number")
    } else {
        None
    }
}

/// What the author says a value may be.
fn stated(schema: &Value) -> Option<Value> {
    let first = |keyword: &str| schema.get(keyword)?.as_array()?.first().cloned();
    first("examples")
        .or_else(|| schema.get("const").cloned())
        .or_else(|| schema.get("default").filter(|default| !default.is_null()).cloned())
        .or_else(|| first("enum"))
}

/// A number inside the limits.
fn number(schema: &Value, is_integer: bool) -> Option<Value> {
    let limit = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let step = limit("multipleOf").unwrap_or(1.0).abs();
    let above = limit("minimum").or_else(|| limit("exclusiveMinimum").map(|limit| limit + step.min(1.0)));
    let below = limit("maximum").or_else(|| limit("exclusiveMaximum").map(|limit| limit - step.min(1.0)));
    let plain = match (above, below) {
        (Some(least), _) => least,
        (None, Some(most)) => most.min(1.0),
        (None, None) => 1.0,
    };
    let rounded = match limit("multipleOf") {
        Some(_) if above.is_some() || below.is_none() => (plain / step).ceil() * step,
        Some(_) => (plain / step).floor() * step,
        None if is_integer => plain.ceil(),
        None => plain,
    };
    // Written as an integer if it is one that a double holds exactly.
    let is_whole = rounded.fract() == 0.0 && rounded.abs() < 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
    if is_whole {
        Some(json!(rounded as i64))
    } else {
        serde_json::Number::from_f64(rounded).map(Value::Number)
    }
}

/// A text of the format, the pattern or the length that is asked for.
fn text(schema: &Value) -> Option<Value> {
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        return pattern::example(pattern).map(Value::from);
    }
    let known = match schema.get("format").and_then(Value::as_str) {
        Some("date") => "2026-01-02",
        Some("time") => "03:04:05Z",
        Some("date-time") => "2026-01-02T03:04:05Z",
        Some("duration") => "PT5M",
        Some("email") => "anna@example.org",
        Some("hostname") => "example.org",
        Some("ipv4") => "192.0.2.1",
        Some("ipv6") => "2001:db8::1",
        Some("uri" | "iri" | "uri-reference") => "https://example.org/",
        Some("uuid") => "00000000-0000-4000-8000-000000000000",
        Some("json-pointer") => "/a",
        Some("regex") => "a+",
        _ => return plain_text(schema).map(Value::from),
    };
    Some(known.into())
}

fn plain_text(schema: &Value) -> Option<String> {
    let length = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
    let least = length("minLength").unwrap_or(0);
    let most = length("maxLength").unwrap_or(u64::MAX).min(MAX_MADE);
    if least > most {
        return None;
    }
    let wanted = usize::try_from(least.max(most.min(4))).ok()?;
    Some("text".chars().cycle().take(wanted).collect())
}
