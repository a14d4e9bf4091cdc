//! A constraint reaches the schema that a model sees, and is enforced: one row per keyword of 2020-12.

use schemars::JsonSchema;
use serde_json::{Value, json};
use windlass_tool::InputSchema;

use crate::{check, schema};

#[test]
fn every_keyword_is_enforced() {
    let rows: Vec<(&str, Value, Value, Value)> = vec![
        ("type", json!({ "type": "string" }), json!("x"), json!(1)),
        ("enum", json!({ "enum": ["a", 1] }), json!(1), json!(2)),
        ("const", json!({ "const": { "a": 1 } }), json!({ "a": 1 }), json!({ "a": 2 })),
        ("multipleOf", json!({ "multipleOf": 5 }), json!(10), json!(11)),
        ("maximum", json!({ "maximum": 3 }), json!(3), json!(4)),
        ("exclusiveMaximum", json!({ "exclusiveMaximum": 3 }), json!(2), json!(3)),
        ("minimum", json!({ "minimum": 3 }), json!(3), json!(2)),
        ("exclusiveMinimum", json!({ "exclusiveMinimum": 3 }), json!(4), json!(3)),
        ("maxLength", json!({ "maxLength": 2 }), json!("ab"), json!("abc")),
        ("minLength", json!({ "minLength": 2 }), json!("ab"), json!("a")),
        ("pattern", json!({ "pattern": "^a+$" }), json!("aa"), json!("ab")),
        ("format", json!({ "format": "date-time" }), json!("2026-01-02T03:04:05Z"), json!("soon")),
        ("maxItems", json!({ "maxItems": 1 }), json!([1]), json!([1, 2])),
        ("minItems", json!({ "minItems": 1 }), json!([1]), json!([])),
        ("uniqueItems", json!({ "uniqueItems": true }), json!([1, 2]), json!([1, 1])),
        ("contains", json!({ "contains": { "const": 1 } }), json!([0, 1]), json!([0])),
        ("minContains", json!({ "contains": { "const": 1 }, "minContains": 2 }), json!([1, 1]), json!([1])),
        ("maxContains", json!({ "contains": { "const": 1 }, "maxContains": 1 }), json!([1]), json!([1, 1])),
        ("prefixItems", json!({ "prefixItems": [{ "type": "integer" }] }), json!([1, "x"]), json!(["x"])),
        ("items", json!({ "items": { "type": "integer" } }), json!([1]), json!(["x"])),
        (
            "unevaluatedItems",
            json!({ "prefixItems": [true], "unevaluatedItems": false }),
            json!([1]),
            json!([1, 2]),
        ),
        ("maxProperties", json!({ "maxProperties": 1 }), json!({ "a": 1 }), json!({ "a": 1, "b": 2 })),
        ("minProperties", json!({ "minProperties": 1 }), json!({ "a": 1 }), json!({})),
        ("required", json!({ "required": ["a"] }), json!({ "a": 1 }), json!({ "b": 1 })),
        (
            "dependentRequired",
            json!({ "dependentRequired": { "a": ["b"] } }),
            json!({ "a": 1, "b": 2 }),
            json!({ "a": 1 }),
        ),
        (
            "properties",
            json!({ "properties": { "a": { "type": "integer" } } }),
            json!({ "a": 1 }),
            json!({ "a": [] }),
        ),
        (
            "patternProperties",
            json!({ "patternProperties": { "^n": { "type": "integer" } } }),
            json!({ "n1": 1 }),
            json!({ "n1": [] }),
        ),
        (
            "additionalProperties",
            json!({ "properties": { "a": true }, "additionalProperties": false }),
            json!({ "a": 1 }),
            json!({ "b": 1 }),
        ),
        (
            "unevaluatedProperties",
            json!({ "allOf": [{ "properties": { "a": true } }], "unevaluatedProperties": false }),
            json!({ "a": 1 }),
            json!({ "b": 1 }),
        ),
        (
            "propertyNames",
            json!({ "propertyNames": { "maxLength": 1 } }),
            json!({ "a": 1 }),
            json!({ "ab": 1 }),
        ),
        (
            "dependentSchemas",
            json!({ "dependentSchemas": { "a": { "required": ["b"] } } }),
            json!({ "a": 1, "b": 2 }),
            json!({ "a": 1 }),
        ),
        ("allOf", json!({ "allOf": [{ "minimum": 1 }, { "maximum": 2 }] }), json!(1), json!(3)),
        ("anyOf", json!({ "anyOf": [{ "const": 1 }, { "const": 2 }] }), json!(2), json!(3)),
        ("oneOf", json!({ "oneOf": [{ "minimum": 1 }, { "minimum": 3 }] }), json!(2), json!(4)),
        ("not", json!({ "not": { "const": 1 } }), json!(2), json!(1)),
        ("if", json!({ "if": { "const": 1 }, "then": false, "else": { "minimum": 5 } }), json!(6), json!(1)),
        ("$ref", json!({ "$ref": "#/$defs/small" }), json!(1), json!(100)),
        ("false", json!(false), Value::Null, json!(1)),
    ];
    for (keyword, property, fits, does_not) in rows {
        let root = json!({
            "type": "object", "properties": { "a": property }, "$defs": { "small": { "maximum": 9 } },
        });
        let schema = InputSchema::compile(root.clone()).unwrap();
        assert_eq!(schema.as_value(), &root, "what is shown is what is enforced");
        if keyword != "false" {
            assert_eq!(check(&schema, &json!({ "a": fits })).unwrap(), json!({ "a": fits }), "{keyword}");
        }
        let rejection = check(&schema, &json!({ "a": does_not })).unwrap_err();
        let problem = &rejection.problems()[0];
        assert!(problem.pointer.starts_with("/a"), "{keyword}: {problem}");
        assert!(!problem.message.is_empty());
    }
}

#[test]
fn what_rust_types_say_is_enforced() {
    #[derive(serde::Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Search {
        #[schemars(length(min = 1, max = 20), regex(pattern = r"^\w+$"))]
        query: String,
        #[schemars(range(min = 1, max = 50))]
        #[serde(default = "ten")]
        limit: u32,
        small: Option<u8>,
        mode: Mode,
    }
    #[derive(serde::Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    enum Mode {
        Fast,
        Thorough,
    }
    fn ten() -> u32 {
        10
    }
    let schema = InputSchema::compile(schemars::schema_for!(Search).to_value()).unwrap();
    let fits = json!({ "query": "rust", "mode": "fast" });
    assert_eq!(check(&schema, &fits).unwrap(), json!({ "query": "rust", "mode": "fast", "limit": 10 }));
    for (name, value) in [
        ("query", json!("")),
        ("query", json!("two words")),
        ("query", json!("x".repeat(21))),
        ("limit", json!(0)),
        ("limit", json!(51)),
        ("small", json!(256)),
        ("small", json!(-1)),
        ("mode", json!("slow")),
    ] {
        let mut args = fits.clone();
        args[name] = value.clone();
        let rejection = check(&schema, &args).unwrap_err();
        assert_eq!(rejection.problems()[0].pointer, format!("/{name}"), "{value}");
    }
}

#[test]
fn an_example_fits_its_own_schema_or_is_not_shown() {
    let guessable = schema(json!({
        "city": { "type": "string" }, "days": { "type": "integer", "minimum": 2 }, "kind": { "enum": ["a"] },
        "when": { "type": "string", "format": "date" }, "list": { "type": "array", "minItems": 1, "items": { "type": "boolean" } },
    }));
    let example = guessable.example().unwrap();
    assert_eq!(&check(&guessable, example).unwrap(), example);
    let hard = schema(json!({ "code": { "type": "string", "pattern": "^[A-Z]{7}$" } }));
    assert_eq!(hard.example(), None);
    let stated =
        schema(json!({ "code": { "type": "string", "pattern": "^[A-Z]{7}$", "examples": ["ABCDEFG"] } }));
    assert_eq!(stated.example(), Some(&json!({ "code": "ABCDEFG" })));
}
