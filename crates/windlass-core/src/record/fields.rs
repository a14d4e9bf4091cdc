use std::sync::Arc;

use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde_json::{Map, Value};

use crate::error::{Code, Error, Problem};
use crate::identity::kind;
use crate::time::Timestamp;

/// What happens to fields that a record does not know.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    /// They are problems: the caller made a mistake.
    Refused,
    /// They are kept and written back: another version wrote them.
    Kept,
}

/// Reads the fields of a record one by one and collects everything that is wrong with them.
pub(super) struct Fields<'a> {
    map: &'a Map<String, Value>,
    known: Vec<&'static str>,
    problems: Vec<Problem>,
}

/// The fields of a record that this version does not know.
pub(super) type Extra = Option<Arc<Map<String, Value>>>;

impl<'a> Fields<'a> {
    pub(super) fn of(value: &'a Value, code: Code) -> Result<Self, Error> {
        match value {
            Value::Object(map) => Ok(Self { map, known: Vec::new(), problems: Vec::new() }),
            other => {
                Err(invalid(code, vec![Problem::at("", format!("expected an object, got {}", kind(other)))]))
            }
        }
    }

    pub(super) fn required<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&Value) -> Result<T, String>,
    ) -> Option<T> {
        if !self.map.contains_key(name) {
            self.known.push(name);
            self.problem(name, "is required");
            return None;
        }
        self.optional(name, read)
    }

    pub(super) fn optional<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&Value) -> Result<T, String>,
    ) -> Option<T> {
        self.known.push(name);
        match self.map.get(name).map(read)? {
            Ok(value) => Some(value),
            Err(message) => {
                self.problem(name, message);
                None
            }
        }
    }

    pub(super) fn problem(&mut self, name: &str, message: impl Into<String>) {
        self.problems.push(Problem::at(format!("/{name}"), message));
    }

    /// The problems found so far, and the fields that nobody asked for.
    pub(super) fn finish(mut self, unknown: Unknown) -> (Vec<Problem>, Extra) {
        let mut extra = Map::new();
        for (name, value) in self.map {
            if self.known.contains(&name.as_str()) {
                continue;
            }
            match unknown {
                Unknown::Kept => drop(extra.insert(name.clone(), value.clone())),
                Unknown::Refused => {
                    let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
                    self.problems.push(Problem::at(pointer, "is not a field of this record"));
                }
            }
        }
        (self.problems, (!extra.is_empty()).then(|| Arc::new(extra)))
    }
}

/// The error for a record that could not be built.
pub(super) fn invalid(code: Code, problems: Vec<Problem>) -> Error {
    let record = match code {
        Code::InvalidToolCall => "ToolCall",
        Code::InvalidToolCallContent => "TurnToolCallContent",
        Code::InvalidToolMessage => "ToolMessage",
        Code::InvalidMessage => "Message",
        _ => "record",
    };
    Error::new(code, format!("this is no valid {record}; correct what is listed")).with_problems(problems)
}

pub(super) fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| format!("expected a string, got {}", kind(value)))
}

pub(super) fn boolean(value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| format!("expected true or false, got {}", kind(value)))
}

pub(super) fn time(value: &Value) -> Result<Timestamp, String> {
    Timestamp::try_from(value).map_err(|error| error.message().to_owned())
}

/// Anything that parses from a text: a checksum, an id.
pub(super) fn parsed<T: std::str::FromStr<Err = Error>>(value: &Value) -> Result<T, String> {
    text(value)?.parse().map_err(|error: Error| error.message().to_owned())
}

/// Reads an optional field of a raw form: it may be absent, and it is never null.
pub(super) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Anything that serde can read.
pub(super) fn typed<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    T::deserialize(value).map_err(|error| error.to_string())
}
