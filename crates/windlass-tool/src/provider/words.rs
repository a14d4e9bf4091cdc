//! What a keyword asks for, in words.

use serde_json::Value;
use windlass_core::canonical;

/// The most bytes that one keyword takes in words.
pub const MAX_WORDS_BYTES: usize = 2 << 10;

/// A sentence that says what a keyword says, and whether it says all of it.
pub(crate) fn sentence(keyword: &str, value: &Value) -> (String, bool) {
    let json = canonical(value);
    let text = match (keyword, value) {
        ("minimum", _) => format!("At least {json}."),
        ("exclusiveMinimum", _) => format!("More than {json}."),
        ("maximum", _) => format!("At most {json}."),
        ("exclusiveMaximum", _) => format!("Less than {json}."),
        ("multipleOf", _) => format!("A multiple of {json}."),
        ("minLength", _) => format!("At least {json} characters."),
        ("maxLength", _) => format!("At most {json} characters."),
        ("minItems", _) => format!("At least {json} items."),
        ("maxItems", _) => format!("At most {json} items."),
        ("minProperties", _) => format!("At least {json} properties."),
        ("maxProperties", _) => format!("At most {json} properties."),
        ("uniqueItems", Value::Bool(true)) => "All items differ.".to_owned(),
        ("pattern", Value::String(pattern)) => format!("Matches the pattern {pattern}"),
        ("format", Value::String(format)) => format!("Of the format {format}."),
        ("title", Value::String(title)) => format!("Title: {title}."),
        ("const", _) => format!("Always {json}."),
        ("enum", Value::Array(options)) => format!("One of {}.", listed(options)),
        ("default", _) => format!("Default: {json}."),
        ("examples", Value::Array(examples)) => format!("For example {}.", listed(examples)),
        ("type", Value::Array(types)) => format!("Of type {}.", listed(types)),
        ("type", Value::String(kind)) => format!("Of type {kind}."),
        ("required", Value::Array(names)) => format!("Required: {}.", listed(names)),
        ("deprecated", Value::Bool(true)) => "Deprecated.".to_owned(),
        ("additionalProperties" | "unevaluatedProperties", Value::Bool(false)) => {
            "No other properties.".to_owned()
        }
        ("unevaluatedItems", Value::Bool(false)) => "No other items.".to_owned(),
        _ => format!("`{keyword}`: {json}"),
    };
    shortened(text)
}

/// A sentence that says what a keyword says about the rest, except for what is named, and whether it says all
/// of it.
pub(crate) fn sentence_of_rest(keyword: &str, value: &Value, except: &str) -> (String, bool) {
    let (one, many) = if keyword == "items" { ("item", "items") } else { ("property", "properties") };
    shortened(match value {
        Value::Bool(false) => format!("No {many}{except}."),
        _ => format!("Every {one}{except}: {}", canonical(value)),
    })
}

fn shortened(text: String) -> (String, bool) {
    if text.len() <= MAX_WORDS_BYTES {
        return (text, true);
    }
    let end = (0..=MAX_WORDS_BYTES).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    (format!("{}…", text.get(..end).unwrap_or_default()), false)
}

fn listed(values: &[Value]) -> String {
    values.iter().map(canonical).collect::<Vec<_>>().join(", ")
}
