//! Reading JSON the same way in every build.
//!
//! Other crates of a build may switch on `serde_json`'s `preserve_order` or `arbitrary_precision`, and
//! plain `serde_json::from_str::<Value>` then accepts other numbers and keeps other objects. What a call
//! *is* must not depend on that, so arguments and records are read by the visitor of this module: it
//! finds duplicate keys, holds the depth at [`MAX_DEPTH`], and turns a number into an `i64`, a `u64` or
//! the nearest double, whatever the features are.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::error::{Code, Error};

/// How deep arrays and objects may be nested in what a model or a file sends.
pub const MAX_DEPTH: usize = 128;

/// How deep they may be nested in a stored record: arguments at their own limit, in `$raw`, in the
/// record, in the journal entry that holds it.
const MAX_STORED_DEPTH: usize = 2 * MAX_DEPTH;

/// The key under which `serde_json` hands numbers to a visitor when `arbitrary_precision` is on.
const NUMBER_TOKEN: &str = "$serde_json::private::Number";

/// The keys that `serde_json` takes for something else than keys, in builds with some of its features on.
const RESERVED_KEYS: [&str; 2] = [NUMBER_TOKEN, "$serde_json::private::RawValue"];

/// A reserved key, if a value has one anywhere.
pub(crate) fn reserved_key(value: &Value) -> Option<&str> {
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        match value {
            Value::Array(items) => rest.extend(items),
            Value::Object(map) => {
                let found = map.keys().find(|key| RESERVED_KEYS.contains(&key.as_str()));
                if found.is_some() {
                    return found.map(String::as_str);
                }
                rest.extend(map.values());
            }
            _ => {}
        }
    }
    None
}

/// A text that is not JSON, with the byte where that shows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotJson {
    /// Offset of the offending byte, from 0; the length of the text if it ended too early.
    pub byte: usize,
    /// What is wrong there.
    pub reason: String,
}

impl fmt::Display for NotJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.reason, self.byte)
    }
}

impl std::error::Error for NotJson {}

impl From<NotJson> for Error {
    fn from(cause: NotJson) -> Self {
        Error::new(Code::InvalidJson, format!("the text is not JSON: {cause}")).with_cause(cause)
    }
}

/// Reads one JSON value and nothing else.
///
/// Refused are, beside bad syntax: duplicate keys, nesting past [`MAX_DEPTH`], lone surrogates, and
/// numbers outside the range of a double.
///
/// ```
/// use windlass_core::json;
///
/// assert_eq!(json::read(r#"{"a": [1, 2.50]}"#)?.to_string(), r#"{"a":[1,2.5]}"#);
/// let error = json::read(r#"{"a":1,"a":2}"#).unwrap_err();
/// assert_eq!(error.reason, "the key \"a\" occurs twice");
/// # Ok::<(), json::NotJson>(())
/// ```
pub fn read(text: &str) -> Result<Value, NotJson> {
    read_within(text, MAX_DEPTH)
}

/// Reads a stored record or journal entry: like [`read`], with room for the layers around the arguments.
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let value = read_within(text, MAX_STORED_DEPTH)?;
    T::deserialize(value)
        .map_err(|cause| Error::new(Code::InvalidJson, format!("the stored JSON does not fit: {cause}")))
}

/// Reads a value out of any self-describing deserializer, for use in `Deserialize` implementations and
/// in `#[serde(deserialize_with = "…")]`.
///
/// In a build with `arbitrary_precision`, an object whose only key is `$serde_json::private::Number` is taken
/// for a number here, as it is by `serde_json` itself; [`read`] tells the two apart.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    Reader { depth: 0, limit: MAX_STORED_DEPTH, tokens: Tokens::MayBeNumbers }.deserialize(deserializer)
}

/// True if containers are nested more than `limit` levels, the value itself being the first.
pub fn is_deeper_than(value: &Value, limit: usize) -> bool {
    let mut rest = vec![(1, value)];
    while let Some((level, value)) = rest.pop() {
        let children: &mut dyn Iterator<Item = &Value> = match value {
            Value::Array(items) => &mut items.iter(),
            Value::Object(map) => &mut map.values(),
            _ => continue,
        };
        if level > limit {
            return true;
        }
        rest.extend(children.map(|child| (level + 1, child)));
    }
    false
}

/// Makes a value that anybody may have parsed what [`read`] would have made of it; fails with its text and
/// the reason if that is no JSON here.
pub(crate) fn normalise(value: Cow<'_, Value>) -> Result<Value, (String, String)> {
    if !is_arbitrary_precision_on() {
        return Ok(value.into_owned());
    }
    deserialize(&*value).map_err(|error| (crate::identity::exact(&value), error.to_string()))
}

fn read_within(text: &str, limit: usize) -> Result<Value, NotJson> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // `Reader` holds the depth itself: serde_json's own limit is one less and says less.
    deserializer.disable_recursion_limit();
    Reader { depth: 0, limit, tokens: Tokens::AreKeys }
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| locate(text, &error))
}

/// Turns the line and column of `serde_json` into a byte offset.
fn locate(text: &str, error: &serde_json::Error) -> NotJson {
    let message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    let reason = message.strip_suffix(&position).unwrap_or(&message).to_owned();
    let byte = if error.is_eof() {
        text.len()
    } else {
        let line_start = match error.line() {
            0 | 1 => 0,
            line => text.match_indices('\n').nth(line - 2).map_or(0, |(newline, _)| newline + 1),
        };
        (line_start + error.column().saturating_sub(1)).min(text.len())
    };
    NotJson { byte, reason: crate::error::shorten(reason, crate::error::MAX_QUOTED_BYTES) }
}

#[derive(Clone, Copy)]
struct Reader {
    depth: usize,
    limit: usize,
    tokens: Tokens,
}

/// What a key is that is spelled like [`NUMBER_TOKEN`] and did not come as the bare token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tokens {
    /// A key: this is JSON text, and there the bare token is told apart.
    AreKeys,
    /// A number, if `arbitrary_precision` is on: serde buffers the content of tagged and flattened types,
    /// and what comes out of a buffer looks like a key.
    MayBeNumbers,
}

/// True if some crate of this build has switched it on: only then is such a number an integer.
fn is_arbitrary_precision_on() -> bool {
    static IS_ON: LazyLock<bool> = LazyLock::new(|| {
        let past_64_bits = serde_json::from_str::<Number>("100000000000000000000");
        past_64_bits.is_ok_and(|number| !number.is_f64() || number.to_string().len() == 21)
    });
    *IS_ON
}

impl Reader {
    fn descend<E: de::Error>(self) -> Result<Self, E> {
        if self.depth == self.limit {
            return Err(E::custom(format_args!("nested deeper than {} levels", self.limit)));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Reader {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "an integer past 64 bits is the nearest double")]
    fn visit_i128<E: de::Error>(self, value: i128) -> Result<Value, E> {
        i64::try_from(value).map_or_else(|_| float(value as f64), |value| Ok(Value::from(value)))
    }

    #[expect(clippy::cast_precision_loss, reason = "an integer past 64 bits is the nearest double")]
    fn visit_u128<E: de::Error>(self, value: u128) -> Result<Value, E> {
        u64::try_from(value).map_or_else(|_| float(value as f64), |value| Ok(Value::from(value)))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        float(value)
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let inner = self.descend()?;
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        let mut key = access.next_key_seed(KeyReader)?;
        if let Some(Key::NumberToken) = key {
            return number(&access.next_value::<String>()?);
        }
        let inner = self.descend()?;
        let may_be_number = self.tokens == Tokens::MayBeNumbers && is_arbitrary_precision_on();
        while let Some(found) = key {
            let name = found.into_text();
            if map.contains_key(&name) {
                return Err(de::Error::custom(format_args!("the key {name:?} occurs twice")));
            }
            let value = access.next_value_seed(inner)?;
            map.insert(name, value);
            key = access.next_key_seed(KeyReader)?;
        }
        if may_be_number
            && map.len() == 1
            && let Some(Value::String(text)) = map.get(NUMBER_TOKEN)
            && let Ok(value) = number::<A::Error>(text)
        {
            return Ok(value);
        }
        Ok(Value::Object(map))
    }
}

/// Reads an object key, and tells the token that stands for a number from a key that is merely spelled
/// like it.
///
/// An optional is asked for: the keys of real objects answer with `visit_some`, while the token of
/// `arbitrary_precision` answers with the bare string.
struct KeyReader;

enum Key {
    Text(String),
    NumberToken,
}

impl Key {
    fn into_text(self) -> String {
        match self {
            Key::Text(text) => text,
            Key::NumberToken => NUMBER_TOKEN.to_owned(),
        }
    }
}

impl<'de> DeserializeSeed<'de> for KeyReader {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for KeyReader {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object key")
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        <String as de::Deserialize>::deserialize(deserializer).map(Key::Text)
    }

    fn visit_str<E>(self, key: &str) -> Result<Key, E> {
        Ok(if key == NUMBER_TOKEN { Key::NumberToken } else { Key::Text(key.to_owned()) })
    }
}

/// A number from its text, as `serde_json` reads it without `arbitrary_precision`.
fn number<E: de::Error>(text: &str) -> Result<Value, E> {
    let is_integer = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    if is_integer && text != "-0" {
        if let Ok(value) = text.parse::<u64>() {
            return Ok(Value::from(value));
        }
        if let Ok(value) = text.parse::<i64>() {
            return Ok(Value::from(value));
        }
    }
    float(text.parse().map_err(|_| E::custom("invalid number"))?)
}

fn float<E: de::Error>(value: f64) -> Result<Value, E> {
    Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(depth: usize) -> String {
        format!("{}{}", "[".repeat(depth), "]".repeat(depth))
    }

    #[test]
    fn the_depth_is_bounded_exactly() {
        assert!(read(&nested(MAX_DEPTH)).is_ok());
        let error = read(&nested(MAX_DEPTH + 1)).unwrap_err();
        assert_eq!(error.reason, "nested deeper than 128 levels");
        assert_eq!(read(&nested(10_000)).unwrap_err().reason, "nested deeper than 128 levels");
        let objects = |depth| format!("{}0{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        assert!(read(&objects(MAX_DEPTH)).is_ok());
        assert!(read(&objects(MAX_DEPTH + 1)).is_err());
        assert!(read(&"[".repeat(1_000_000)).is_err());
    }

    #[test]
    fn numbers_are_the_same_in_every_build() {
        let rows = [
            ("0", "0"),
            ("-0", "-0.0"),
            ("1.0", "1.0"),
            ("1e2", "100.0"),
            ("18446744073709551615", "18446744073709551615"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("18446744073709551616", "1.8446744073709552e+19"),
            ("1e-400", "0.0"),
            ("123456789012345678901234567890", "1.2345678901234568e+29"),
        ];
        for (text, expected) in rows {
            let read = read(text).unwrap();
            assert_eq!(read.to_string().replace("e+", "e"), expected.replace("e+", "e"), "{text}");
        }
    }

    #[test]
    fn what_is_not_json_is_located() {
        let rows = [
            ("", 0, "EOF while parsing a value"),
            ("{\"a\":", 5, "EOF while parsing a value"),
            ("{\"a\":NaN}", 5, "expected value"),
            ("[1,\n 2,\n x]", 9, "expected value"),
            ("{} x", 3, "trailing characters"),
            ("\"\\ud800\"", 7, "unexpected end of hex escape"),
            ("[1e400]", 5, "number out of range"),
            ("{'a':1}", 1, "key must be a string"),
            ("\u{feff}{}", 0, "expected value"),
        ];
        for (text, byte, reason) in rows {
            let error = read(text).unwrap_err();
            assert_eq!((error.byte, error.reason.as_str()), (byte, reason), "{text:?}");
        }
    }

    #[test]
    fn a_key_spelled_like_the_number_token_is_a_key() {
        for text in [
            r#"{"$serde_json::private::Number":"1"}"#,
            r#"{"$serde_json::private::Number":"x","b":[1.5]}"#,
            r#"{"a":{"$serde_json::private::RawValue":"[1]"}}"#,
        ] {
            let value = read(text).unwrap();
            assert!(value.is_object());
            assert_eq!(value.to_string(), text);
            // A buffer of serde cannot tell, and with `arbitrary_precision` numbers come that way.
            if !is_arbitrary_precision_on() {
                assert_eq!(deserialize(value.clone()).unwrap(), value);
            }
        }
    }

    #[test]
    fn a_duplicate_key_is_found_at_any_depth() {
        assert!(read(r#"{"a":{"b":1,"c":2,"b":3}}"#).unwrap_err().reason.contains("\"b\" occurs twice"));
        assert!(read(r#"{"é":1,"\u00e9":2}"#).is_err());
    }

    #[test]
    fn a_stored_value_may_lie_deeper_than_what_a_model_sends() {
        let text = format!("{{\"args\":{{\"$raw\":{}}}}}", nested(MAX_DEPTH));
        assert!(read(&text).is_err());
        assert!(from_str::<Value>(&text).is_ok());
    }
}
