use std::sync::Arc;

use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde::ser::{Serialize, SerializeMap};
use serde_json::{Map, Value};

use crate::error::{Code, Error, Problem};
use crate::identity::kind;
use crate::time::Timestamp;

/// Who made the record that is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// Our caller: unknown fields are mistakes, and a checksum must be that of tool and args.
    Caller,
    /// A store, another version or another kit: unknown fields are kept and written back, and checksums
    /// are taken as they are, because a copy with blanked-out secrets is a legitimate record.
    Store,
}

/// The conversions that every record offers beside its constructor `new` and its reader `read`.
macro_rules! conversions {
    ($record:ident from $raw:ident) => {
        impl $record {
            #[doc = concat!("The JSON Schema of [`", stringify!($raw), "`].")]
            pub fn schema() -> schemars::Schema {
                schemars::schema_for!($raw)
            }
        }

        impl TryFrom<$raw> for $record {
            type Error = Error;

            fn try_from(raw: $raw) -> Result<Self, Error> {
                Self::new(raw)
            }
        }

        impl TryFrom<&Value> for $record {
            type Error = Error;

            fn try_from(value: &Value) -> Result<Self, Error> {
                Self::read(value, Source::Caller)
            }
        }

        impl TryFrom<Value> for $record {
            type Error = Error;

            fn try_from(value: Value) -> Result<Self, Error> {
                Self::try_from(&value)
            }
        }

        /// Reads a stored record: unknown fields are kept, and a checksum is not compared. Arguments may be
        /// nested more deeply than `serde_json::from_str` goes; [`json::from_str`](crate::json::from_str)
        /// reads whatever was written.
        impl<'de> serde::Deserialize<'de> for $record {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = crate::json::deserialize(deserializer)?;
                Self::read(&value, Source::Store).map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use conversions;

/// What is wrong with a field: a message about the field itself, or problems inside it.
pub(crate) struct Wrong(Vec<Problem>);

impl From<String> for Wrong {
    fn from(message: String) -> Self {
        Self(vec![Problem::at("", message)])
    }
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        Self(error.problems().to_vec())
    }
}

/// Reads the fields of a record one by one and collects everything that is wrong with them.
pub(crate) struct Fields<'a> {
    map: &'a Map<String, Value>,
    known: Vec<&'static str>,
    problems: Vec<Problem>,
}

/// The fields of a record that this version does not know.
pub(crate) type Extra = Option<Arc<Map<String, Value>>>;

impl<'a> Fields<'a> {
    pub(crate) fn of(value: &'a Value, code: Code) -> Result<Self, Error> {
        match value {
            Value::Object(map) => Ok(Self { map, known: Vec::new(), problems: Vec::new() }),
            other => {
                Err(invalid(code, vec![Problem::at("", format!("expected an object, got {}", kind(other)))]))
            }
        }
    }

    pub(crate) fn required<T, W: Into<Wrong>>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&Value) -> Result<T, W>,
    ) -> Option<T> {
        if !self.map.contains_key(name) {
            self.known.push(name);
            self.problem(name, "is required");
            return None;
        }
        self.optional(name, read)
    }

    pub(crate) fn optional<T, W: Into<Wrong>>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&Value) -> Result<T, W>,
    ) -> Option<T> {
        self.known.push(name);
        match self.map.get(name).map(read)? {
            Ok(value) => Some(value),
            Err(wrong) => {
                for problem in wrong.into().0 {
                    self.problems.push(Problem::at(format!("/{name}{}", problem.pointer), problem.message));
                }
                None
            }
        }
    }

    /// An optional field whose values may be more in later versions: what a store holds and this version
    /// does not understand is kept like an unknown field.
    pub(crate) fn extensible<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
        source: Source,
    ) -> Option<T> {
        let is_foreign = |value| typed::<T>(value).is_err();
        if source == Source::Store && self.map.get(name).is_some_and(is_foreign) {
            return None;
        }
        self.optional(name, typed)
    }

    pub(crate) fn problem(&mut self, name: &str, message: impl Into<String>) {
        self.problems.push(Problem::at(format!("/{name}"), message));
    }

    /// The problems found so far, and the fields that nobody asked for.
    pub(crate) fn finish(mut self, source: Source) -> (Vec<Problem>, Extra) {
        let mut extra = Map::new();
        for (name, value) in self.map {
            if self.known.contains(&name.as_str()) {
                continue;
            }
            match source {
                Source::Store => drop(extra.insert(name.clone(), value.clone())),
                Source::Caller => {
                    let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
                    self.problems.push(Problem::at(pointer, "is not a field of this record"));
                }
            }
        }
        (self.problems, (!extra.is_empty()).then(|| Arc::new(extra)))
    }
}

/// Writes the fields that this version does not know.
pub(crate) fn write_extra<M: SerializeMap>(map: &mut M, extra: &Extra) -> Result<(), M::Error> {
    extra.iter().flat_map(|extra| extra.iter()).try_for_each(|(name, value)| map.serialize_entry(name, value))
}

/// Writes an optional field: absent, never null.
pub(crate) fn entry<M: SerializeMap, T: Serialize>(
    map: &mut M,
    name: &'static str,
    value: Option<&T>,
) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(name, value))
}

/// The error for a record that could not be built.
pub(crate) fn invalid(code: Code, problems: Vec<Problem>) -> Error {
    let record = match code {
        Code::InvalidToolCall => "ToolCall",
        Code::InvalidToolCallContent => "TurnToolCallContent",
        Code::InvalidToolMessage => "ToolMessage",
        Code::InvalidMessage => "Message",
        _ => "record",
    };
    Error::new(code, format!("this is no valid {record}; correct what is listed")).with_problems(problems)
}

pub(crate) fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| format!("expected a string, got {}", kind(value)))
}

pub(crate) fn boolean(value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| format!("expected true or false, got {}", kind(value)))
}

pub(crate) fn time(value: &Value) -> Result<Timestamp, String> {
    Timestamp::try_from(value).map_err(|error| error.message().to_owned())
}

/// Anything that parses from a text: a checksum, an id.
pub(crate) fn parsed<T: std::str::FromStr<Err = Error>>(value: &Value) -> Result<T, String> {
    text(value)?.parse().map_err(|error: Error| error.message().to_owned())
}

/// Reads an optional field of a raw form: it may be absent, and it is never null.
pub(crate) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Anything that serde can read.
pub(crate) fn typed<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    T::deserialize(value).map_err(|error| error.to_string())
}
