use std::io::ErrorKind;
use std::net::TcpListener;

use serde_json::{Map, Value, json};
use windlass_core::{Code, json};
use windlass_tool::{InputSchema, MAX_SCHEMA_BYTES};

use crate::{check, schema};

fn refused(schema: Value) -> String {
    let error = InputSchema::compile(schema).unwrap_err();
    assert_eq!(error.code(), Code::InvalidTool);
    error.to_string()
}

#[test]
fn nothing_is_fetched() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/schema.json", listener.local_addr().unwrap());
    let property = |schema: Value| json!({ "type": "object", "properties": { "a": schema } });
    for reference in [url.as_str(), "file:///etc/passwd", "other.json#/x", "https://example.org/x"] {
        let message = refused(property(json!({ "$ref": reference })));
        assert!(message.contains("only references inside the schema"), "{message}");
    }
    let based = json!({ "$id": url, "type": "object", "properties": { "a": { "$ref": "#missing" } } });
    drop(InputSchema::compile(based));
    let dialect = json!({ "$schema": url, "type": "object" });
    drop(InputSchema::compile(dialect));
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "no request left");
}

#[test]
fn data_that_looks_like_a_reference_is_data() {
    let data = json!({ "$ref": "https://example.org/x" });
    let schema =
        schema(json!({ "?a": { "default": data, "examples": [data] }, "?$ref": { "type": "string" } }));
    assert_eq!(check(&schema, &json!({ "$ref": "x" })).unwrap(), json!({ "$ref": "x", "a": data }));
}

#[test]
fn a_pattern_is_matched_in_linear_time_or_refused() {
    let slow_elsewhere = schema(json!({ "a": { "type": "string", "pattern": "^(a+)+$" } }));
    assert!(check(&slow_elsewhere, &json!({ "a": "a".repeat(100_000) + "!" })).is_err());
    for pattern in ["(?=lookahead)a", "(a)\\1", "a{1000}{1000}{1000}"] {
        refused(json!({ "type": "object", "properties": { "a": { "pattern": pattern } } }));
    }
}

#[test]
fn a_schema_is_bounded_in_size_and_depth() {
    let sized = |bytes: usize| {
        let empty = json!({ "type": "object", "description": "" }).to_string().len();
        json!({ "type": "object", "description": "x".repeat(bytes - empty) })
    };
    assert!(InputSchema::compile(sized(MAX_SCHEMA_BYTES)).is_ok());
    assert!(refused(sized(MAX_SCHEMA_BYTES + 1)).contains("at most 262144"));
    assert!(refused(sized(10 << 20)).contains("bytes"));
    let deep = |levels: usize| {
        let around = |schema: Value, _| Value::Object(Map::from_iter([("items".to_owned(), schema)]));
        let mut schema = (1..levels).fold(json!({}), around);
        schema["type"] = json!("object");
        schema
    };
    assert!(InputSchema::compile(deep(json::MAX_DEPTH)).is_ok());
    assert!(refused(deep(json::MAX_DEPTH + 1)).contains("nested deeper"));
}

#[test]
fn a_schema_that_refers_to_itself_is_followed_as_far_as_the_arguments_go() {
    let tree = InputSchema::compile(json!({
        "type": "object", "properties": { "value": { "type": "integer", "default": 0 }, "next": { "$ref": "#" } },
    }))
    .unwrap();
    let sent = json!({ "next": { "next": { "value": "7" } } });
    let got = json!({ "value": 0, "next": { "value": 0, "next": { "value": 7 } } });
    assert_eq!(check(&tree, &sent).unwrap(), got);
    let cycle = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/a" } }, "$defs": { "a": { "$ref": "#/$defs/a" } } });
    // Valid or not is the validator's to say; it must come to an end.
    if let Ok(schema) = InputSchema::compile(cycle) {
        drop(check(&schema, &json!({ "a": 1 })));
        drop(schema.example().cloned());
    }
}

#[test]
fn what_is_no_schema_of_an_object_is_refused() {
    for schema in [json!(null), json!(true), json!({}), json!({ "type": "string" }), json!([])] {
        assert!(refused(schema).contains("must be \"object\""));
    }
    refused(json!({ "type": "object", "properties": { "a": { "type": "whatever" } } }));
    refused(json!({ "type": "object", "required": "a" }));
}

#[test]
fn arguments_of_any_depth_that_can_be_read_can_be_checked() {
    let schema = schema(json!({ "a": true }));
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(json::MAX_DEPTH - 1), "]".repeat(json::MAX_DEPTH - 1));
    assert!(check(&schema, &json::read(&deep).unwrap()).is_ok());
}
