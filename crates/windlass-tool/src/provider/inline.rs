//! One schema from several that speak of the same value.

use serde_json::{Map, Value, json};

use super::rest;

/// How often a definition is written out inside itself, where references cannot be kept.
pub const MAX_UNFOLDED: usize = 2;

/// How deep schemas may be nested for a reference to be written out.
pub const MAX_INLINED_DEPTH: usize = 32;

/// How many references are written out into one schema, one after another.
pub const MAX_REFERENCES: usize = 256;

/// Keywords that mean something only together.
pub(crate) const TOGETHER: [&[&str]; 2] =
    [&["if", "then", "else"], &["contains", "minContains", "maxContains"]];

/// Keywords whose meaning depends on another one beside them: what they are about, and that other one.
pub(crate) const DEPENDS: [(&str, &str); 6] = [
    ("additionalProperties", "patternProperties"),
    ("else", "if"),
    ("items", "prefixItems"),
    ("maxContains", "contains"),
    ("minContains", "contains"),
    ("then", "if"),
];

/// What cannot be said beside what another schema says.
pub(crate) struct Left {
    pub(crate) keyword: String,
    pub(crate) value: Value,
    /// What the keyword is not about, where it is about the rest of something.
    pub(crate) except: Option<String>,
}

impl Left {
    fn whole((keyword, value): (String, Value)) -> Self {
        Self { keyword, value, except: None }
    }
}

/// Adds what another schema says about the same value. What cannot be said beside what is there already is
/// given back.
pub(crate) fn merge(map: &mut Map<String, Value>, mut other: Map<String, Value>) -> Vec<Left> {
    let mut left = rest::separate(map, &mut other);
    for group in TOGETHER {
        if group.iter().any(|keyword| map.contains_key(*keyword)) {
            let theirs = group.iter().filter_map(|keyword| other.remove_entry(*keyword));
            left.extend(theirs.map(Left::whole));
        }
    }
    // They see what stands beside them, and in a part that is less than in the whole.
    let unevaluated = ["unevaluatedItems", "unevaluatedProperties"].into_iter();
    left.extend(unevaluated.filter_map(|keyword| other.remove_entry(keyword)).map(Left::whole));
    for (keyword, theirs) in other {
        let Some(ours) = map.get_mut(&keyword) else {
            map.insert(keyword, theirs);
            continue;
        };
        if *ours == theirs {
            continue;
        }
        match (keyword.as_str(), ours, theirs) {
            ("properties", Value::Object(ours), Value::Object(theirs)) => {
                for (name, schema) in theirs {
                    match ours.get_mut(&name) {
                        Some(known) if *known == schema => {}
                        Some(known) => *known = json!({ "allOf": [known.take(), schema] }),
                        None => drop(ours.insert(name, schema)),
                    }
                }
            }
            ("required", Value::Array(ours), Value::Array(theirs)) => {
                for name in theirs {
                    if !ours.contains(&name) {
                        ours.push(name);
                    }
                }
            }
            ("allOf", Value::Array(ours), Value::Array(theirs)) => ours.extend(theirs),
            ("description", Value::String(ours), Value::String(theirs)) => {
                ours.push('\n');
                ours.push_str(&theirs);
            }
            (keyword, ours, theirs) => match stricter(keyword, ours, &theirs) {
                Some(true) => *ours = theirs,
                Some(false) => {}
                None => left.push(Left::whole((keyword.to_owned(), theirs))),
            },
        }
    }
    left
}

/// Whether the second of two limits is the stricter one.
fn stricter(keyword: &str, ours: &Value, theirs: &Value) -> Option<bool> {
    let (ours, theirs) = (ours.as_f64()?, theirs.as_f64()?);
    match keyword {
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => Some(theirs > ours),
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => Some(theirs < ours),
        _ => None,
    }
}
