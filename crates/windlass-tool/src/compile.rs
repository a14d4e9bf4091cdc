//! From a schema to a validator.

use std::sync::Arc;

use jsonschema::{Draft, PatternOptions, Registry, Retrieve, Uri, ValidationOptions};
use serde_json::{Map, Value, json};
use windlass_core::canonical;

use crate::default;
use crate::keyword::every_schema;
use crate::meter::{Counted, Metered};

/// The most memory that one pattern of a schema may take when it is compiled.
pub const MAX_PATTERN_BYTES: usize = 1 << 20;

/// Where a schema is found by the one that checks its defaults.
const ROOT: &str = "windlass:///schema";

/// A validator of a schema, or the pointer to what is wrong with it and why.
pub(crate) fn validator(schema: &Value) -> Result<Metered, (String, String)> {
    let wrong = |error: jsonschema::ValidationError<'_>| {
        (error.instance_path().as_str().to_owned(), error.to_string())
    };
    let validator = options().build(schema).map_err(wrong)?;
    Ok(Metered::new(validator, largest_copy(schema)))
}

/// The first default that its own schema refuses, with what is inside it filled in: the pointer to it and
/// why.
pub(crate) fn refused_default(root: &Value) -> Option<(String, String)> {
    let (mut schemas, mut values, mut pointers) = (Map::new(), Map::new(), Vec::new());
    for (pointer, schema) in every_schema(root) {
        let Some(default) = schema.get("default") else { continue };
        let mut value = default.clone();
        if default::fill(root, schema, &mut value).is_too_much {
            return Some((format!("{pointer}/default"), "leads to defaults without end".to_owned()));
        }
        let key = pointers.len().to_string();
        schemas.insert(key.clone(), json!({ "$ref": format!("{ROOT}#{}", encoded(&pointer)) }));
        values.insert(key, value);
        pointers.push(pointer);
    }
    let registry = Registry::new().add(ROOT, root.clone()).ok()?.retriever(Closed).draft(Draft::Draft202012);
    let registry = registry.prepare().ok()?;
    let validator = options().with_registry(&registry).build(&json!({ "properties": schemas })).ok()?;
    let faults = Metered::new(validator, largest_copy(root)).faults(&Value::Object(values));
    let first = faults.errors.first()?;
    let key = first.instance_path().as_str().split('/').nth(1)?;
    let pointer = pointers.get(key.parse::<usize>().ok()?)?;
    let keyword = first.kind().keyword().to_owned();
    Some((
        format!("{pointer}/default"),
        format!("is refused by the schema that it is the default of: `{keyword}`"),
    ))
}

/// How many bytes of a schema one error holds a copy of.
fn largest_copy(root: &Value) -> usize {
    let negated = every_schema(root).into_iter().filter_map(|(_, schema)| schema.get("not"));
    negated.map(|schema| canonical(schema).len()).max().unwrap_or(0)
}

fn options<'a>() -> ValidationOptions<'a, Arc<dyn Retrieve>, Counted> {
    let patterns = PatternOptions::regex().size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_BYTES);
    jsonschema::options_for::<Counted>()
        .with_draft(Draft::Draft202012)
        .with_pattern_options(patterns)
        .with_retriever(Closed)
        .should_validate_formats(true)
        .should_ignore_unknown_formats(true)
}

/// Fetches nothing, whatever a schema asks for.
struct Closed;

impl Retrieve for Closed {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err(format!("{uri} lies outside the schema, and nothing is fetched").into())
    }
}

/// A pointer as the fragment of a URI.
fn encoded(pointer: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/$".contains(&byte);
    let text = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    pointer.bytes().map(text).collect()
}
