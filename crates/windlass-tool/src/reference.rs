//! References inside one schema.

use serde_json::Value;

use crate::keyword::{DATA, every_schema};

/// The schema that a reference names, if it is a pointer from the root.
pub(crate) fn target<'a>(root: &'a Value, schema: &Value) -> Option<&'a Value> {
    let reference = schema.get("$ref")?.as_str()?;
    root.pointer(&decoded(reference.strip_prefix('#')?))
}

/// Follows references from a schema until one comes that has more to say, or none.
pub(crate) fn resolve<'a>(root: &'a Value, mut schema: &'a Value) -> &'a Value {
    // A chain of references may be a cycle.
    const MAX_HOPS: usize = 32;
    for _ in 0..MAX_HOPS {
        match target(root, schema) {
            Some(found) => schema = found,
            None => break,
        }
    }
    schema
}

/// The first reference that leaves the schema.
pub(crate) fn outside(schema: &Value) -> Option<&str> {
    let mut rest = vec![schema];
    while let Some(value) = rest.pop() {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    let is_reference = matches!(key.as_str(), "$ref" | "$dynamicRef");
                    match value {
                        Value::String(target) if is_reference && !target.starts_with('#') => {
                            return Some(target);
                        }
                        _ if DATA.contains(&key.as_str()) => {}
                        _ => rest.push(value),
                    }
                }
            }
            Value::Array(items) => rest.extend(items),
            _ => {}
        }
    }
    None
}

/// Pointer to the first schema inside another one that has an `$id`: references below it start there, not at
/// the root, and [`target`] knows only the root.
pub(crate) fn embedded(root: &Value) -> Option<String> {
    let inner = every_schema(root).into_iter().skip(1);
    inner.into_iter().find(|(_, schema)| schema.get("$id").is_some()).map(|(pointer, _)| pointer)
}

/// Where references of a schema may lead. Anchors and embedded resources make that more than one place:
/// for a bound it is enough to know all of them.
pub(crate) struct Targets<'a> {
    root: &'a Value,
    anchors: Vec<(&'a str, &'a Value)>,
    resources: Vec<&'a Value>,
}

impl<'a> Targets<'a> {
    /// Looks for the anchors and embedded resources of a schema.
    pub(crate) fn of(root: &'a Value) -> Self {
        let (mut anchors, mut resources) = (Vec::new(), Vec::new());
        for (_, schema) in every_schema(root) {
            for keyword in ["$anchor", "$dynamicAnchor"] {
                anchors.extend(schema.get(keyword).and_then(Value::as_str).map(|name| (name, schema)));
            }
            if schema.get("$id").is_some() && !std::ptr::eq(schema, root) {
                resources.push(schema);
            }
        }
        Self { root, anchors, resources }
    }

    /// Every schema that the references of `schema` itself may mean.
    pub(crate) fn from(&self, schema: &Value) -> Vec<&'a Value> {
        let references =
            ["$ref", "$dynamicRef"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_str());
        let mut found = Vec::new();
        for reference in references {
            let fragment = decoded(reference.trim_start_matches('#'));
            if fragment.is_empty() || fragment.starts_with('/') {
                let everywhere = std::iter::once(&self.root).chain(&self.resources);
                found.extend(everywhere.filter_map(|resource| resource.pointer(&fragment)));
            } else {
                let named = self.anchors.iter().filter(|(name, _)| *name == fragment);
                found.extend(named.map(|(_, schema)| *schema));
            }
        }
        found
    }
}

/// The text of a URI fragment.
fn decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| fragment.to_owned())
}
