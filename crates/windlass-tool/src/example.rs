//! Arguments that a schema accepts, made from what its author wrote.

use serde_json::{Map, Value, json};

use crate::schema::resolve;

/// How deep an example goes.
const MAX_DEPTH: usize = 8;

/// An example of a schema, not yet checked: the author's own, or the required properties made of defaults,
/// constants, enumerations and the plainest value of each type.
pub(crate) fn of(root: &Value) -> Option<Value> {
    make(root, root, 0)
}

fn make(root: &Value, schema: &Value, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    let written = stated(schema);
    if written.is_some() {
        return written;
    }
    let schema = resolve(root, schema);
    if let Some(written) = stated(schema) {
        return Some(written);
    }
    let alternatives =
        ["anyOf", "oneOf", "allOf"].iter().find_map(|keyword| schema.get(*keyword)?.as_array());
    if let Some(alternatives) = alternatives {
        return alternatives.iter().find_map(|schema| make(root, schema, depth + 1));
    }
    let kind = match schema.get("type")? {
        Value::String(kind) => kind.as_str(),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null")?,
        _ => return None,
    };
    Some(match kind {
        "object" => Value::Object(object(root, schema, depth)?),
        "array" => {
            let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
            let item = schema.get("items").and_then(|items| make(root, items, depth + 1));
            if least == 0 { json!([]) } else { Value::Array(vec![item?]) }
        }
        "string" => text(schema)?,
        "integer" | "number" => {
            schema.get("minimum").or_else(|| schema.get("maximum")).cloned().unwrap_or(json!(1))
        }
        "boolean" => json!(true),
        _ => Value::Null,
    })
}

/// What the author says a value may be.
fn stated(schema: &Value) -> Option<Value> {
    let first = |keyword: &str| schema.get(keyword)?.as_array()?.first().cloned();
    first("examples")
        .or_else(|| schema.get("const").cloned())
        .or_else(|| schema.get("default").filter(|default| !default.is_null()).cloned())
        .or_else(|| first("enum"))
}

fn object(root: &Value, schema: &Value, depth: usize) -> Option<Map<String, Value>> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    names
        .map(|name| {
            let property = properties.and_then(|properties| properties.get(name))?;
            Some((name.to_owned(), make(root, property, depth + 1)?))
        })
        .collect()
}

/// A text, unless a pattern or a length asks for more than can be guessed.
fn text(schema: &Value) -> Option<Value> {
    let known = match schema.get("format").and_then(Value::as_str) {
        Some("date") => "2026-01-02",
        Some("date-time") => "2026-01-02T03:04:05Z",
        Some("email") => "anna@example.org",
        Some("uri") => "https://example.org/",
        Some("uuid") => "00000000-0000-4000-8000-000000000000",
        _ => "text",
    };
    (!schema.as_object()?.contains_key("pattern")).then(|| known.into())
}
