use std::io::ErrorKind;
use std::net::TcpListener;

use serde_json::{Map, Value, json};
use windlass_core::{Code, json};
use windlass_tool::{InputSchema, MAX_CHAIN, MAX_FANOUT, MAX_FAULTS, MAX_SCHEMA_BYTES, MAX_STACKED};

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
}

#[test]
fn a_schema_that_refers_to_itself_without_going_deeper_is_refused() {
    let property = |schema: Value| json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/a" } }, "$defs": schema });
    for circle in [
        json!({ "a": { "$ref": "#/$defs/a" } }),
        json!({ "a": { "anyOf": [{ "$ref": "#/$defs/b" }, { "type": "null" }] }, "b": { "not": { "$ref": "#/$defs/a" } } }),
        json!({ "a": { "$anchor": "here", "allOf": [{ "$dynamicRef": "#here" }] } }),
    ] {
        assert!(refused(property(circle)).contains("without going deeper"));
    }
}

/// A schema whose property `a` leads through `length` definitions, each made from the reference to the next.
fn chain(length: usize, link: impl Fn(Value) -> Value) -> Value {
    let reference = |index: usize| json!({ "$ref": format!("#/$defs/d{index}") });
    let mut definitions: Map<String, Value> =
        (0..length).map(|index| (format!("d{index}"), link(reference(index + 1)))).collect();
    definitions.insert(format!("d{length}"), json!({ "type": "integer" }));
    json!({ "type": "object", "properties": { "a": reference(0) }, "$defs": definitions })
}

#[test]
fn a_schema_that_multiplies_itself_is_refused() {
    let twice = |next: Value| json!({ "anyOf": [next, next] });
    assert!(InputSchema::compile(chain(8, twice)).is_ok());
    assert!(refused(chain(20, twice)).contains("more than 10000 schemas"));
    let wide = |count: usize| {
        let alternatives: Vec<_> = (0..count).map(|index| json!({ "const": index })).collect();
        json!({ "type": "object", "properties": { "a": { "anyOf": alternatives } } })
    };
    assert!(InputSchema::compile(wide(MAX_FANOUT - 1)).is_ok());
    assert!(refused(wide(MAX_FANOUT)).contains("more than 10000 schemas"));
}

#[test]
fn a_chain_of_references_is_bounded() {
    // The property itself and the definition at the end are links too.
    assert!(InputSchema::compile(chain(MAX_CHAIN - 2, |next| next)).is_ok());
    assert!(refused(chain(MAX_CHAIN - 1, |next| next)).contains("more than 64 references"));
    assert!(refused(chain(3_000, |next| next)).contains("more than 64 references"));
}

/// Arguments whose `a` is an array in an array, so that they are `depth` levels deep.
fn arrays(depth: usize) -> Value {
    json!({ "a": (1..depth).fold(json!(7), |inner, _| json!([inner])) })
}

#[test]
fn a_schema_that_refers_to_itself_is_followed_as_deep_as_a_small_stack_allows() {
    let links: [fn(Value) -> Value; 4] = [
        |next| next,
        |next| json!({ "oneOf": [next, { "type": "null" }] }),
        |next| json!({ "anyOf": [next] }),
        |next| json!({ "allOf": [next], "unevaluatedItems": false }),
    ];
    for link in links {
        for length in [2, 5, 30] {
            let worker = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
                let mut schema = chain(length, link);
                schema["$defs"][format!("d{length}")] =
                    json!({ "type": "array", "items": { "$ref": "#/$defs/d0" } });
                let schema = InputSchema::compile(schema).unwrap();
                let is_followed = |depth: usize| {
                    let rejection = check(&schema, &arrays(depth)).unwrap_err();
                    !rejection.problems()[0].message.starts_with("is nested deeper than")
                };
                (1..=json::MAX_DEPTH).rev().find(|depth| is_followed(*depth)).unwrap()
            });
            let deepest = worker.unwrap().join().unwrap();
            let chain = [length + 2, 2 * length + 2].map(|chain| (MAX_STACKED / chain).min(json::MAX_DEPTH));
            assert!(chain.contains(&deepest), "{length} links: {deepest} levels");
        }
    }
}

#[test]
fn a_schema_that_ends_is_followed_however_deep_the_arguments_are() {
    let mut schema = chain(MAX_CHAIN - 2, |next| next);
    schema["$defs"][format!("d{}", MAX_CHAIN - 2)] = json!({ "type": "array" });
    let schema = InputSchema::compile(schema).unwrap();
    assert!(check(&schema, &arrays(json::MAX_DEPTH)).is_ok());
}

#[test]
fn alternatives_that_nest_recursively_do_not_take_for_ever() {
    let branch = |name: &str| json!({ "type": "object", "properties": { "next": { "$ref": "#/$defs/node" } }, "required": [name] });
    let schema = InputSchema::compile(json!({
        "type": "object", "properties": { "a": { "$ref": "#/$defs/node" } },
        "$defs": { "node": { "anyOf": [branch("x"), branch("y"), branch("z")] } },
    }))
    .unwrap();
    let nested = |depth: usize| (0..depth).fold(json!({}), |inner, _| json!({ "next": inner }));
    let shallow = check(&schema, &json!({ "a": nested(2) })).unwrap_err();
    assert_eq!(shallow.problems()[0].to_string(), "/a/next/next/x: is required");
    let deep = check(&schema, &json!({ "a": nested(json::MAX_DEPTH - 2) })).unwrap_err();
    assert!(deep.problems()[0].message.starts_with("has more than 10000 faults"), "{deep:?}");
}

#[test]
fn parts_that_each_refer_back_do_not_take_for_ever() {
    let part = json!({ "properties": { "next": { "$ref": "#/$defs/node" }, "value": { "default": 1 } } });
    let schema = InputSchema::compile(json!({
        "type": "object", "properties": { "a": { "$ref": "#/$defs/node" } },
        "$defs": { "node": { "allOf": [part, part] } },
    }))
    .unwrap();
    let nested =
        |depth: usize| json!({ "a": (0..depth).fold(json!({}), |inner, _| json!({ "next": inner })) });
    let got = check(&schema, &nested(2)).unwrap();
    assert_eq!(got, json!({ "a": { "value": 1, "next": { "value": 1, "next": { "value": 1 } } } }));
    let rejection = check(&schema, &nested(100)).unwrap_err();
    assert!(rejection.problems()[0].message.contains("too long to fill in"), "{rejection:?}");
}

#[test]
fn a_large_array_all_wrong_is_explained_in_bounded_memory() {
    let alternatives: Vec<_> = (0..1_000).map(|index| json!({ "const": index })).collect();
    for item in [json!({ "type": "integer" }), json!({ "anyOf": alternatives }), json!({ "not": {} })] {
        let schema = schema(json!({ "list": { "type": "array", "items": item } }));
        let rejection = check(&schema, &json!({ "list": vec!["x"; 200_000] })).unwrap_err();
        assert!(rejection.problems().len() <= MAX_FAULTS + 1);
        assert!(rejection.problems()[0].message.starts_with("has more than 10000 faults"));
        assert_eq!(rejection.problems()[1].pointer, "/list/0");
        assert!(rejection.into_error("tool").to_string().len() < 10_000);
    }
}

#[test]
fn a_thousand_alternatives_of_a_large_value_do_not_copy_it() {
    let alternatives: Vec<_> = (0..1_000).map(|index| json!({ "maxItems": index })).collect();
    let schema = schema(json!({ "list": { "anyOf": alternatives } }));
    // Copied once for each alternative, this would be gigabytes.
    let args = json!({ "list": vec!["a text of some length"; 100_000] });
    let rejection = check(&schema, &args).unwrap_err();
    assert_eq!(rejection.problems()[0].to_string(), "/list: expected at most 0 items, got 100000");
}

#[test]
fn names_beyond_number_are_counted_up_to_the_bound() {
    let closed = json!({ "type": "object", "additionalProperties": false, "properties": { "a": {} } });
    let schema = InputSchema::compile(closed).unwrap();
    let args =
        |count: usize| Value::Object((0..count).map(|index| (format!("x{index}"), json!(1))).collect());
    assert_eq!(check(&schema, &args(MAX_FAULTS)).unwrap_err().problems().len(), MAX_FAULTS);
    assert_eq!(check(&schema, &args(MAX_FAULTS + 1)).unwrap_err().problems().len(), MAX_FAULTS);
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

#[test]
fn many_patterns_over_one_long_text_or_name_come_to_an_end() {
    let patterns: Vec<_> =
        (0..3_000).map(|n| json!({ "pattern": format!("[ab][ac][a-m]{{3}}q{n}") })).collect();
    let none = json!({ "not": { "anyOf": patterns } });
    let long = "a".repeat(4 << 20);
    let value = InputSchema::compile(json!({ "type": "object", "properties": { "a": none } })).unwrap();
    let refused = check(&value, &json!({ "a": long })).unwrap_err();
    assert!(refused.problems()[0].message.contains("steps to check"), "{refused:?}");
    let name = InputSchema::compile(json!({ "type": "object", "propertyNames": none })).unwrap();
    let refused = check(&name, &Value::Object(Map::from_iter([(long, json!(1))]))).unwrap_err();
    assert!(refused.problems()[0].message.contains("steps to check"), "{refused:?}");
}

#[test]
fn a_schema_inside_another_has_no_name_of_its_own() {
    let inner = json!({ "$id": "http://e/x", "$ref": "#/$defs/y", "$defs": { "y": { "type": "integer" } } });
    let message = refused(json!({ "type": "object", "properties": { "a": inner } }));
    assert!(message.contains("/inputSchema/properties/a: has its own `$id`"), "{message}");
    assert!(InputSchema::compile(json!({ "$id": "http://e/x", "type": "object" })).is_ok());
}

#[test]
fn many_alternatives_for_a_long_name_do_not_copy_it() {
    let parts: Vec<_> = (0..8_000).map(|_| json!({ "format": "uri" })).collect();
    let names =
        InputSchema::compile(json!({ "type": "object", "propertyNames": { "anyOf": parts } })).unwrap();
    let long = Map::from_iter([("a".repeat(1 << 20), json!(1))]);
    assert!(check(&names, &Value::Object(long)).is_err());
    let many = (0..20_000).map(|n| (format!("name {n}"), json!(1))).collect();
    assert!(check(&names, &Value::Object(many)).is_err());
}

#[test]
fn what_names_cost_is_not_charged_to_others() {
    let patterned: Map<String, Value> =
        (0..1_000).map(|n| (format!("p{n}"), json!({ "type": "string", "pattern": "^x" }))).collect();
    let mut properties = patterned;
    properties.insert("env".to_owned(), json!({ "propertyNames": { "pattern": "^[A-Z]" } }));
    let row = json!({ "type": "object", "properties": { "some_long_name": { "type": "integer" } } });
    properties.insert("rows".to_owned(), json!({ "type": "array", "items": row }));
    let schema = InputSchema::compile(json!({ "type": "object", "properties": properties })).unwrap();
    let mut rows = vec![json!({ "some_long_name": 1 }); 5_000];
    rows[7] = json!({ "some_long_name": "5" });
    let got = check(&schema, &json!({ "rows": rows })).unwrap();
    assert_eq!(got["rows"][7]["some_long_name"], 5);
}
