//! Arguments, from what a model sends to what a handler gets.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail a test by panicking, and clippy's exception knows only the test functions"
)]

mod coercion;
mod defaults;
mod dependent;
mod examples;
mod fixtures;
mod follow;
mod follower;
mod hostile;
mod keywords;
mod messages;
mod oracle;
mod provider;
mod registry;
mod secrets;
mod types;

use serde_json::{Map, Value};
use windlass_tool::{InputSchema, Rejection};

/// A schema of an object with these properties, all of them required unless they are named after `?`.
fn schema(properties: Value) -> InputSchema {
    let Value::Object(properties) = properties else { panic!("properties are an object") };
    let (mut clean, mut required) = (Map::new(), Vec::new());
    for (name, property) in properties {
        match name.strip_prefix('?') {
            Some(optional) => drop(clean.insert(optional.to_owned(), property)),
            None => {
                required.push(Value::from(name.as_str()));
                clean.insert(name, property);
            }
        }
    }
    let schema = serde_json::json!({ "type": "object", "properties": clean, "required": required });
    InputSchema::compile(schema).unwrap()
}

fn check(schema: &InputSchema, args: &Value) -> Result<Value, Rejection> {
    schema.check(args.as_object().unwrap()).map(Value::Object)
}

fn problems(schema: &InputSchema, args: &Value) -> Vec<String> {
    check(schema, args).unwrap_err().problems().iter().map(ToString::to_string).collect()
}
