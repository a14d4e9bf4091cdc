//! What a schema wants, in a phrase.

use serde_json::{Map, Value};

use crate::quote::{cut, shown};
use crate::reference::resolve;

/// The most alternatives, values or names that a phrase lists.
pub const MAX_LISTED: usize = 20;

/// How far a phrase looks into a schema.
const MAX_DEPTH: usize = 3;

/// What a schema wants: "an integer (at least 1)", "one of "a", "b"".
///
/// `None` if it has nothing to say in a phrase.
pub(crate) fn phrase(root: &Value, schema: &Value) -> Option<String> {
    phrase_at(root, schema, 0)
}

fn phrase_at(root: &Value, schema: &Value, depth: usize) -> Option<String> {
    if depth > MAX_DEPTH {
        return None;
    }
    let map = resolve(root, schema).as_object()?;
    if let Some(only) = map.get("const") {
        return Some(shown(only));
    }
    if let Some(options) = map.get("enum").and_then(Value::as_array) {
        return Some(format!("one of {}", listed(options)));
    }
    let alternatives = ["anyOf", "oneOf"].into_iter().find_map(|keyword| map.get(keyword)?.as_array());
    if let Some(alternatives) = alternatives {
        return either(root, alternatives, depth);
    }
    match map.get("type") {
        Some(Value::String(kind)) => Some(of_kind(root, map, kind, depth)),
        Some(Value::Array(kinds)) => {
            let phrases: Vec<_> =
                kinds.iter().filter_map(Value::as_str).map(|kind| of_kind(root, map, kind, depth)).collect();
            (!phrases.is_empty()).then(|| phrases.join(" or "))
        }
        _ => {
            let parts = map.get("allOf").and_then(Value::as_array)?;
            parts.iter().find_map(|part| phrase_at(root, part, depth + 1))
        }
    }
}

/// One of several alternatives; if each is one value, the values.
fn either(root: &Value, alternatives: &[Value], depth: usize) -> Option<String> {
    let values = |schema: &Value| -> Option<Vec<Value>> {
        let schema = resolve(root, schema);
        let options = schema.get("enum").and_then(Value::as_array);
        schema.get("const").map(|only| vec![only.clone()]).or_else(|| options.cloned())
    };
    if let Some(options) = alternatives.iter().map(values).collect::<Option<Vec<_>>>() {
        return Some(format!("one of {}", listed(&options.concat())));
    }
    let mut phrases: Vec<_> = alternatives
        .iter()
        .take(MAX_LISTED)
        .map(|schema| phrase_at(root, schema, depth + 1))
        .collect::<Option<_>>()?;
    phrases.dedup();
    if alternatives.len() > MAX_LISTED {
        phrases.push(format!("one of {} more", alternatives.len() - MAX_LISTED));
    }
    Some(phrases.join(" or "))
}

fn of_kind(root: &Value, schema: &Map<String, Value>, kind: &str, depth: usize) -> String {
    let text = kind_name(kind).to_owned();
    let limits: Vec<String> = match kind {
        "integer" | "number" => [
            ("minimum", "at least"),
            ("exclusiveMinimum", "more than"),
            ("maximum", "at most"),
            ("exclusiveMaximum", "less than"),
            ("multipleOf", "a multiple of"),
        ]
        .into_iter()
        .filter_map(|(keyword, words)| Some(format!("{words} {}", shown(schema.get(keyword)?))))
        .collect(),
        "string" => text_limits(schema),
        "array" => array_limits(root, schema, depth),
        "object" => {
            let names = schema.get("required").and_then(Value::as_array);
            let names: Vec<_> = names.into_iter().flatten().filter_map(Value::as_str).collect();
            return if names.is_empty() { text } else { format!("{text} with {}", quoted(&names)) };
        }
        _ => Vec::new(),
    };
    if limits.is_empty() { text } else { format!("{text} ({})", limits.join(", ")) }
}

fn text_limits(schema: &Map<String, Value>) -> Vec<String> {
    let number = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
    let text = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
    let mut limits = Vec::new();
    limits.extend(number("minLength").map(|least| format!("at least {}", characters(least))));
    limits.extend(number("maxLength").map(|most| format!("at most {}", characters(most))));
    limits.extend(text("pattern").map(|pattern| format!("matching {}", cut(pattern.to_owned()))));
    limits.extend(text("format").map(|format| format!("of the format {}", cut(format.to_owned()))));
    limits
}

fn array_limits(root: &Value, schema: &Map<String, Value>, depth: usize) -> Vec<String> {
    let number = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
    let mut limits = Vec::new();
    limits.extend(number("minItems").map(|least| format!("at least {}", items(least))));
    limits.extend(number("maxItems").map(|most| format!("at most {}", items(most))));
    let item = schema.get("items").and_then(|item| phrase_at(root, item, depth + 1));
    limits.extend(item.map(|item| format!("each {item}")));
    limits
}

/// A type with its article.
pub(crate) fn kind_name(kind: &str) -> &str {
    match kind {
        "integer" => "an integer",
        "array" => "an array",
        "object" => "an object",
        "number" => "a number",
        "string" => "a string",
        "boolean" => "a boolean",
        other => other,
    }
}

/// "1 item", "2 items".
pub(crate) fn items(count: u64) -> String {
    counted(count, "item", "items")
}

/// "1 character", "2 characters".
pub(crate) fn characters(count: u64) -> String {
    counted(count, "character", "characters")
}

/// "1 property", "2 properties".
pub(crate) fn properties(count: u64) -> String {
    counted(count, "property", "properties")
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Values, [`MAX_LISTED`] at most.
pub(crate) fn listed(options: &[Value]) -> String {
    let mut texts: Vec<_> = options.iter().take(MAX_LISTED).map(shown).collect();
    if options.len() > MAX_LISTED {
        texts.push(format!("and {} more", options.len() - MAX_LISTED));
    }
    texts.join(", ")
}

/// Names, [`MAX_LISTED`] at most.
pub(crate) fn quoted(names: &[&str]) -> String {
    let mut texts: Vec<_> = names.iter().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
    if names.len() > MAX_LISTED {
        texts.push(format!("and {} more", names.len() - MAX_LISTED));
    }
    texts.join(", ")
}
