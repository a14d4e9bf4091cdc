use serde_json::{Value, json};
use windlass_tool::InputSchema;

use crate::fixtures::{self, Fixture};
use crate::{check, schema};

#[test]
fn an_example_is_made_of_what_the_schema_asks_for() {
    let rows = [
        (json!({ "type": "string" }), json!("text")),
        (json!({ "type": "string", "minLength": 6 }), json!("textte")),
        (json!({ "type": "string", "maxLength": 2 }), json!("te")),
        (json!({ "type": "string", "pattern": "^[A-Z]{2}-\\d+$" }), json!("AA-0")),
        (json!({ "type": "string", "format": "date" }), json!("2026-01-02")),
        (json!({ "type": "integer", "minimum": 2 }), json!(2)),
        (json!({ "type": "integer", "maximum": -3 }), json!(-3)),
        (json!({ "type": "integer", "exclusiveMinimum": 2 }), json!(3)),
        (json!({ "type": "integer", "minimum": 7, "multipleOf": 5 }), json!(10)),
        (json!({ "type": "integer", "maximum": -7, "multipleOf": 5 }), json!(-10)),
        (json!({ "type": "number", "minimum": 0.5 }), json!(0.5)),
        (json!({ "type": "boolean" }), json!(true)),
        (json!({ "type": "array", "minItems": 2, "items": { "type": "boolean" } }), json!([true, true])),
        (
            json!({ "type": "array", "minItems": 3, "uniqueItems": true, "items": { "type": "integer" } }),
            json!([1, 2, 3]),
        ),
        (
            json!({ "type": "array", "prefixItems": [{ "type": "integer" }, { "type": "string" }] }),
            json!([1, "text"]),
        ),
        (json!({ "type": "array", "contains": { "const": 9 }, "minContains": 2 }), json!([9, 9])),
        (json!({ "enum": ["b", "a"] }), json!("b")),
        (json!({ "const": 4 }), json!(4)),
        (json!({ "type": ["null", "integer"] }), json!(1)),
        (
            json!({ "oneOf": [{ "type": "integer" }, { "type": "number" }, { "type": "string" }] }),
            json!("text"),
        ),
        (
            json!({ "type": "object", "minProperties": 1, "additionalProperties": { "type": "string" } }),
            json!({ "name1": "text" }),
        ),
        (
            json!({ "type": "object", "required": ["x"], "allOf": [{ "properties": { "x": { "type": "string" } }, "required": ["x"] }], "properties": { "x": { "type": "string" } } }),
            json!({ "x": "text" }),
        ),
        (json!({ "type": "string", "pattern": "^a+$", "examples": ["aaaa"] }), json!("aaaa")),
        (json!({ "type": "integer", "examples": [7], "default": 8, "enum": [8, 7] }), json!(7)),
    ];
    for (property, expected) in rows {
        let schema = schema(json!({ "a": property }));
        assert_eq!(schema.example(), Some(&json!({ "a": expected })), "{property}");
    }
}

#[test]
fn an_example_that_does_not_fit_is_not_shown() {
    for property in [
        json!({ "type": "string", "pattern": "\\bx", "minLength": 40 }),
        json!({ "type": "integer", "examples": ["no integer"] }),
        json!({ "type": "string", "minLength": 5_000 }),
        json!({ "type": "array", "minItems": 5_000, "items": { "type": "integer" } }),
        json!({ "not": {} }),
        json!({ "type": "string", "pattern": "^(a|b){3000}$" }),
    ] {
        assert_eq!(schema(json!({ "a": property })).example(), None, "{property}");
    }
}

#[test]
fn an_example_shows_what_was_wrong() {
    let schema = InputSchema::compile(fixtures::trip()).unwrap();
    assert_eq!(schema.example(), Some(&json!({ "class": "first", "to": { "city": "text" } })));
    let error =
        check(&schema, &json!({ "to": { "city": "Oslo", "country": 7 }, "class": "first" })).unwrap_err();
    let text = error.into_error("t").to_string();
    assert!(text.contains(r#"{"class":"first","to":{"city":"text","country":"AA"}}"#), "{text}");
}

#[test]
fn every_example_of_every_fixture_fits() {
    for Fixture { name, schema, refused, .. } in fixtures::all() {
        let schema = InputSchema::compile(schema).unwrap();
        let error = check(&schema, &refused).unwrap_err().into_error("t").to_string();
        let example = error.lines().next().unwrap().split_once("An example that fits: ");
        let shown = example.map(|(_, example)| serde_json::from_str::<Value>(example).unwrap());
        for example in shown.iter().chain(schema.example()) {
            assert!(check(&schema, example).is_ok(), "{name}: {example}");
        }
    }
}

#[test]
fn a_schema_that_refers_to_itself_has_an_example_if_it_ends() {
    let ends = json!({ "type": "object", "required": ["value"], "properties": { "value": { "type": "integer" }, "next": { "$ref": "#" } } });
    assert_eq!(InputSchema::compile(ends).unwrap().example(), Some(&json!({ "value": 1 })));
    let endless =
        json!({ "type": "object", "required": ["next"], "properties": { "next": { "$ref": "#" } } });
    assert_eq!(InputSchema::compile(endless).unwrap().example(), None);
    let names: Vec<_> = ('a'..='z').map(String::from).collect();
    let properties: serde_json::Map<_, _> =
        names.iter().map(|name| (name.clone(), json!({ "$ref": "#" }))).collect();
    let bushy = json!({ "type": "object", "required": names, "properties": properties });
    assert_eq!(
        InputSchema::compile(bushy).unwrap().example(),
        None,
        "26 to the power of 8 values are not made"
    );
}
