//! A value as the validator sees it.

use std::borrow::Cow;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, cmp, unique};
use serde_json::{Map, Number, Value};
use windlass_core::MAX_QUOTED_BYTES;

use super::{Meter, names};

/// How many bytes of a text are looked at in one step.
const BYTES_PER_STEP: usize = 4;

/// The representation of values that are counted.
pub(crate) struct Counted;

/// A value under a meter, or the name of a property.
#[derive(Clone, Copy)]
pub(crate) enum Seen<'a> {
    Value(&'a Value, &'a Meter),
    Name(&'a str),
}

impl<'a> Seen<'a> {
    /// Whether the value may still be looked into.
    fn looks(&self, bytes: usize) -> bool {
        let steps = 1 + (bytes / BYTES_PER_STEP) as u64;
        match self {
            Self::Value(_, meter) => meter.take(steps),
            Self::Name(_) => names::take(steps),
        }
    }

    fn value(&self) -> Option<&'a Value> {
        match self {
            Self::Value(value, _) => Some(value),
            Self::Name(_) => None,
        }
    }

    fn text(&self) -> Option<&'a str> {
        match self {
            Self::Value(value, _) => value.as_str(),
            Self::Name(name) => Some(name),
        }
    }
}

impl Json for Counted {
    type Node<'a> = Seen<'a>;
    type PreparedKey = String;
    type StringBuffer = ();

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>((): &mut (), string: &str, f: impl FnOnce(Seen<'_>) -> T) -> T {
        f(Seen::Name(string))
    }
}

impl<'a> Node<'a, Counted> for Seen<'a> {
    type Object = Members<'a>;
    type Array = Elements<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<Members<'a>> {
        self.looks(0);
        match self {
            Self::Value(Value::Object(map), meter) => Some(Members { map, meter }),
            _ => None,
        }
    }

    fn as_array(&self) -> Option<Elements<'a>> {
        self.looks(0);
        match self {
            Self::Value(Value::Array(items), meter) => Some(Elements { items, meter }),
            _ => None,
        }
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let text = self.text()?;
        // Once the meter is spent every text looks empty, or patterns would go on reading it.
        Some(Cow::Borrowed(if self.looks(text.len()) { text } else { "" }))
    }

    fn as_number(&self) -> Option<&'a Number> {
        self.looks(0);
        self.value()?.as_number()
    }

    fn as_boolean(&self) -> Option<bool> {
        self.looks(0);
        self.value()?.as_bool()
    }

    fn is_null(&self) -> bool {
        self.looks(0);
        self.value().is_some_and(Value::is_null)
    }

    fn json_type(&self) -> JsonType {
        self.looks(0);
        match self.value() {
            Some(Value::Null) => JsonType::Null,
            Some(Value::Bool(_)) => JsonType::Boolean,
            Some(Value::Number(_)) => JsonType::Number,
            Some(Value::String(_)) | None => JsonType::String,
            Some(Value::Array(_)) => JsonType::Array,
            Some(Value::Object(_)) => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        let size = match expected {
            Value::String(text) => text.len(),
            Value::Array(items) => items.len() * BYTES_PER_STEP,
            Value::Object(map) => map.len() * BYTES_PER_STEP,
            _ => 0,
        };
        self.looks(size);
        match self {
            Self::Value(value, _) => cmp::equal(value, expected),
            Self::Name(name) => expected.as_str() == Some(name),
        }
    }

    /// Asked for when an error is made, which holds a copy if it stands inside an alternative. The place
    /// is known, so the value is looked up there instead.
    fn to_value(&self) -> Cow<'a, Value> {
        match self {
            Self::Value(_, meter) => {
                meter.fault();
                Cow::Owned(Value::Null)
            }
            Self::Name(name) => {
                let is_counted = names::fault();
                Cow::Owned(if is_counted { Value::from(beginning(name)) } else { Value::Null })
            }
        }
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(match self {
            Self::Value(value, _) => std::ptr::from_ref::<Value>(value).addr(),
            Self::Name(name) => name.as_ptr().addr(),
        }))
    }
}

/// As much of a name as a message quotes.
fn beginning(name: &str) -> &str {
    let end = (0..=MAX_QUOTED_BYTES.min(name.len())).rev().find(|end| name.is_char_boundary(*end));
    &name[..end.unwrap_or(0)]
}

/// The properties of an object under a meter.
pub(crate) struct Members<'a> {
    map: &'a Map<String, Value>,
    meter: &'a Meter,
}

impl<'a> Object<'a, Counted> for Members<'a> {
    type Node = Seen<'a>;
    type MemberName = &'a str;
    type MembersIter = MembersIter<'a>;

    fn len(&self) -> usize {
        self.map.len()
    }

    fn get(&self, key: &String) -> Option<Seen<'a>> {
        if !self.meter.take(1) {
            return None;
        }
        self.map.get(key).map(|value| Seen::Value(value, self.meter))
    }

    fn members(&self) -> MembersIter<'a> {
        MembersIter { rest: self.map.iter(), meter: self.meter }
    }
}

/// See [`Members`].
pub(crate) struct MembersIter<'a> {
    rest: serde_json::map::Iter<'a>,
    meter: &'a Meter,
}

impl<'a> Iterator for MembersIter<'a> {
    type Item = (&'a str, Seen<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.rest.next()?;
        if !self.meter.take(1) {
            return None;
        }
        Some((name.as_str(), Seen::Value(value, self.meter)))
    }
}

/// The items of an array under a meter.
pub(crate) struct Elements<'a> {
    items: &'a [Value],
    meter: &'a Meter,
}

impl<'a> Array<'a, Counted> for Elements<'a> {
    type Node = Seen<'a>;
    type ElementsIter = ElementsIter<'a>;

    fn len(&self) -> usize {
        self.items.len()
    }

    fn elements(&self) -> ElementsIter<'a> {
        ElementsIter { rest: self.items.iter(), meter: self.meter }
    }

    fn is_unique(&self) -> bool {
        self.meter.take(self.items.len() as u64) && unique::is_unique(self.items)
    }
}

/// See [`Elements`].
pub(crate) struct ElementsIter<'a> {
    rest: std::slice::Iter<'a, Value>,
    meter: &'a Meter,
}

impl<'a> Iterator for ElementsIter<'a> {
    type Item = Seen<'a>;

    fn next(&mut self) -> Option<Seen<'a>> {
        if !self.meter.take(1) {
            return None;
        }
        self.rest.next().map(|value| Seen::Value(value, self.meter))
    }
}
