use std::sync::Arc;

use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde::ser::{Serialize, SerializeMap};
use serde_json::{Map, Value};

use crate::error::{Code, Error, Problem};
use crate::identity::kind;
use crate::time::Timestamp;

/// Which record is being built: what its error calls it, and under which code.
#[derive(Clone, Copy)]
pub(crate) struct RecordType {
    pub(crate) name: &'static str,
    pub(crate) code: Code,
}

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
        impl TryFrom<$raw> for $record {
            type Error = Error;

            fn try_from(raw: $raw) -> Result<Self, Error> {
                Self::new(raw)
            }
        }

        crate::record::fields::json_conversions!($record from $raw);
    };
}
pub(crate) use conversions;

/// The conversions from JSON, for a record that is made of more than its raw form.
macro_rules! json_conversions {
    ($record:ident from $raw:ident) => {
        impl $record {
            #[doc = concat!("The JSON Schema of [`", stringify!($raw), "`].")]
            pub fn schema() -> schemars::Schema {
                schemars::schema_for!($raw)
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
pub(crate) use json_conversions;

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
    record: RecordType,
    map: &'a Map<String, Value>,
    known: Vec<&'static str>,
    problems: Vec<Problem>,
}

/// The fields of a record that this version does not know.
pub(crate) type Extra = Option<Arc<Map<String, Value>>>;

impl<'a> Fields<'a> {
    pub(crate) fn of(value: &'a Value, record: RecordType) -> Result<Self, Error> {
        match value {
            Value::Object(map) => Ok(Self { record, map, known: Vec::new(), problems: Vec::new() }),
            other => {
                let message = format!("expected an object, got {}", kind(other));
                Err(invalid(record, vec![Problem::at("", message)]))
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

    /// True if the field is there, whatever it holds.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.map.contains_key(name)
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

    /// The whole record and the fields that nobody asked for, if nothing is wrong with it. `complete` gives
    /// nothing exactly if a required field could not be read, which is a problem by then.
    pub(crate) fn build<T>(
        self,
        source: Source,
        complete: impl FnOnce() -> Option<T>,
    ) -> Result<(T, Extra), Error> {
        let record = self.record;
        let (problems, extra) = self.finish(source);
        match complete() {
            Some(whole) if problems.is_empty() => Ok((whole, extra)),
            _ => Err(invalid(record, problems)),
        }
    }
}

/// A raw form as the JSON that it writes, so that the rules of a record stand in one place: where JSON is read.
pub(crate) fn written(raw: &impl Serialize) -> Value {
    // What cannot be written reads as a value that is no record.
    serde_json::to_value(raw).unwrap_or(Value::Null)
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
pub(crate) fn invalid(record: RecordType, problems: Vec<Problem>) -> Error {
    let message = format!("this is no valid {}; correct what is listed", record.name);
    Error::new(record.code, message).with_problems(problems)
}

pub(crate) fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| format!("expected a string, got {}", kind(value)))
}

/// A text that says something.
pub(crate) fn filled<T: for<'a> From<&'a str>>(value: &Value) -> Result<T, String> {
    match text(value)? {
        "" => Err("must not be empty".to_owned()),
        text => Ok(text.into()),
    }
}

/// A number, which JSON cannot write unless it is finite.
pub(crate) fn number(value: &Value) -> Result<f64, String> {
    let finite = value.as_f64().filter(|number| number.is_finite());
    finite.ok_or_else(|| format!("expected a finite number, got {}", kind(value)))
}

/// A number from 0 to 1.
pub(crate) fn share(value: &Value) -> Result<f64, String> {
    let share = number(value)?;
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err(format!("expected a number from 0 to 1, got {share}"))
    }
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
