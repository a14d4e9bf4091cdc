//! Values as they are quoted: short, whatever their size, and never a secret.

use std::fmt::Write as _;

use serde_json::Value;
use windlass_core::canonical;

/// The most bytes of a value that a problem quotes.
pub const MAX_SHOWN: usize = 60;

/// The most properties of an object that is quoted; of a larger one only their number is told.
const MAX_PROPERTIES: usize = 16;

/// What stands for an argument that is declared secret.
pub(crate) const SECRET: &str = r#"{"$secret":true}"#;

/// A value as JSON, cut if it is long. The work is in proportion to what is shown.
pub(crate) fn shown(value: &Value) -> String {
    shown_without(value, &[])
}

/// Like [`shown`], with a placeholder for the properties of these names.
pub(crate) fn shown_without(value: &Value, secrets: &[String]) -> String {
    let mut text = String::new();
    write(value, secrets, &mut text);
    cut(text)
}

/// A text, cut if it is long.
pub(crate) fn cut(mut text: String) -> String {
    if text.len() > MAX_SHOWN {
        let end = (0..=MAX_SHOWN).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

fn write(value: &Value, secrets: &[String], text: &mut String) {
    match value {
        Value::String(long) => text.push_str(&quoted(long)),
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if text.len() > MAX_SHOWN {
                    return;
                }
                if index > 0 {
                    text.push(',');
                }
                write(item, &[], text);
            }
            text.push(']');
        }
        Value::Object(map) if map.len() > MAX_PROPERTIES => {
            // Writing into a string cannot fail.
            let _ = write!(text, "an object of {} properties", map.len());
        }
        Value::Object(map) => {
            // The order of an object's properties is not the same in every build.
            let mut properties: Vec<_> = map.iter().collect();
            properties.sort_unstable_by_key(|(name, _)| *name);
            text.push('{');
            for (index, (name, value)) in properties.into_iter().enumerate() {
                if text.len() > MAX_SHOWN {
                    return;
                }
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&quoted(name));
                text.push(':');
                if secrets.contains(name) {
                    text.push_str(SECRET);
                } else {
                    write(value, &[], text);
                }
            }
            text.push('}');
        }
        plain => text.push_str(&canonical(plain)),
    }
}

/// The beginning of a text as JSON: one character more than is shown, so that it is seen to be cut.
fn quoted(text: &str) -> String {
    canonical(&Value::String(text.chars().take(MAX_SHOWN + 1).collect()))
}
