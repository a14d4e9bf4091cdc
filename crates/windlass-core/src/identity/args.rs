use std::borrow::Cow;
use std::sync::Arc;

use serde::de::{self, Deserialize, Deserializer};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::{Checksum, canonical::exact};
use crate::json;

/// The key under which arguments that are no object stand.
pub const RAW_KEY: &str = "$raw";

/// The key of what stands for an argument that only the handler may see.
pub const SECRET_KEY: &str = "$secret";

/// The most bytes of argument text that one call may have.
pub const MAX_ARGS_BYTES: usize = 16 << 20;

/// The arguments of a call as the model sent them: always an object, shared, never edited.
///
/// A text that decodes to an object is decoded once, so both spellings have one checksum. Whatever is no
/// object becomes `{"$raw": …}` and is *malformed*: such a call is shown, recorded and answered, and
/// never run.
///
/// ```
/// use windlass_core::Args;
///
/// let args = Args::read(r#"{"city":"Oslo"}"#);
/// assert_eq!(args.defect(), None);
/// assert_eq!(Args::read(r#""{\"city\":\"Oslo\"}""#), args);
///
/// let broken = Args::read(r#"{"city":"#);
/// assert_eq!(broken.object()["$raw"], r#"{"city":"#);
/// assert_eq!(broken.defect(), Some("EOF while parsing a value at byte 8"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Args(Arc<Inner>);

#[derive(Debug, PartialEq)]
struct Inner {
    object: Map<String, Value>,
    defect: Option<String>,
}

impl Args {
    /// Reads the text that a model sent.
    pub fn read(text: &str) -> Self {
        match read_bounded(text) {
            Ok(value) => Self::from_read(value),
            Err(defect) => Self::raw(Value::String(text.to_owned()), defect),
        }
    }

    /// Takes a value that was parsed already, for example because a wire carries objects. Its numbers
    /// become what [`json::read`] would have made of them.
    pub fn from_value(value: Value) -> Self {
        Self::within(Cow::Owned(value), json::MAX_DEPTH)
    }

    /// Takes the arguments of a record, where what was no object stands one level deeper.
    pub(crate) fn from_record(value: Cow<'_, Value>) -> Self {
        Self::within(value, json::MAX_DEPTH + 1)
    }

    fn within(value: Cow<'_, Value>, depth: usize) -> Self {
        // Before anything recursive touches the value: it may be as deep as whoever built it likes.
        if json::is_deeper_than(&value, depth) {
            let defect = format!("nested deeper than {depth} levels");
            return Self::raw(Value::String(exact(&value)), defect);
        }
        match json::normalise(value) {
            Ok(value) => Self::from_read(value),
            Err((text, defect)) => Self::raw(Value::String(text), defect),
        }
    }

    fn from_read(value: Value) -> Self {
        // In some builds a handler, or whoever reads the record, would get something else than was sent.
        if let Some(key) = json::reserved_key(&value) {
            return Self::raw(Value::String(exact(&value)), format!("the key {key:?} is reserved"));
        }
        match value {
            Value::Object(object) => Self(Arc::new(Inner { object, defect: None })),
            Value::String(text) => match read_bounded(&text) {
                Ok(value @ Value::Object(_)) => Self::from_read(value),
                _ => Self::raw(Value::String(text), "expected an object, got a string".to_owned()),
            },
            other => {
                let defect = format!("expected an object, got {}", kind(&other));
                Self::raw(other, defect)
            }
        }
    }

    fn raw(value: Value, defect: String) -> Self {
        let object = Map::from_iter([(RAW_KEY.to_owned(), value)]);
        Self(Arc::new(Inner { object, defect: Some(defect) }))
    }

    /// Arguments that a check gave back.
    pub(crate) fn checked(object: Map<String, Value>) -> Self {
        Self(Arc::new(Inner { object, defect: None }))
    }

    /// A copy without the arguments of these names, where each stands as `{"$secret": true}`.
    #[must_use]
    pub fn without_secrets(&self, names: &[Arc<str>]) -> Self {
        if !names.iter().any(|name| self.0.object.contains_key(&**name)) {
            return self.clone();
        }
        let mut object = self.0.object.clone();
        for name in names {
            if let Some(value) = object.get_mut(&**name) {
                *value = Value::Object(Map::from_iter([(SECRET_KEY.to_owned(), Value::Bool(true))]));
            }
        }
        Self(Arc::new(Inner { object, defect: self.0.defect.clone() }))
    }

    /// The same arguments, with what was found wrong with them when they were first read: an object that
    /// stands in a record no longer tells.
    pub(crate) fn with_defect(&self, defect: Option<String>) -> Self {
        if self.0.defect == defect {
            return self.clone();
        }
        Self(Arc::new(Inner { object: self.0.object.clone(), defect }))
    }

    /// The arguments as they stand in stream, record and wire.
    pub fn object(&self) -> &Map<String, Value> {
        &self.0.object
    }

    /// Why these arguments are no object, if they are none.
    pub fn defect(&self) -> Option<&str> {
        self.0.defect.as_deref()
    }

    /// The checksum of a call of `tool` with these arguments.
    pub fn checksum(&self, tool: &str) -> Checksum {
        Checksum::of_object(tool, &self.0.object)
    }
}

impl Serialize for Args {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.object.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Args {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = json::deserialize(deserializer)?;
        if !value.is_object() {
            return Err(de::Error::custom(format_args!("expected an object, got {}", kind(&value))));
        }
        let args = Self::from_record(Cow::Owned(value));
        match args.defect() {
            None => Ok(args),
            Some(defect) => Err(de::Error::custom(defect)),
        }
    }
}

fn read_bounded(text: &str) -> Result<Value, String> {
    if text.len() > MAX_ARGS_BYTES {
        return Err(format!("the arguments have {} bytes, at most {MAX_ARGS_BYTES} are read", text.len()));
    }
    json::read(text).map_err(|error| error.to_string())
}

/// What a JSON value is, in words that fit after "got".
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
