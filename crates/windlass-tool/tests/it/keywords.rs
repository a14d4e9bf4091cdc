//! A constraint reaches the schema that a model sees, and is enforced: one row per keyword of 2020-12.

use schemars::JsonSchema;
use serde_json::json;
use windlass_tool::InputSchema;

use crate::fixtures::{self, Fixture};
use crate::{check, schema};

#[test]
fn every_keyword_is_enforced() {
    for Fixture { name, schema, fits, refused } in fixtures::keywords() {
        let compiled = InputSchema::compile(schema.clone()).unwrap();
        assert_eq!(compiled.as_value(), &schema, "what is shown is what is enforced");
        assert_eq!(check(&compiled, &fits).unwrap(), fits, "{name}");
        let rejection = check(&compiled, &refused).unwrap_err();
        let problem = &rejection.problems()[0];
        assert!(problem.pointer.starts_with("/a"), "{name}: {problem}");
        assert!(!problem.message.contains("does not fit `"), "{name} has no words of its own: {problem}");
    }
}

#[test]
fn every_fixture_fits_and_is_refused_as_it_says() {
    for Fixture { name, schema, fits, refused } in fixtures::all() {
        let schema = InputSchema::compile(schema).unwrap();
        assert!(check(&schema, &fits).is_ok(), "{name}");
        assert!(check(&schema, &refused).is_err(), "{name}");
    }
}

#[test]
fn what_only_describes_is_no_constraint() {
    for property in [
        json!({ "contentEncoding": "base64" }),
        json!({ "contentMediaType": "application/json", "contentSchema": { "type": "integer" } }),
        json!({ "title": "t", "description": "d", "$comment": "c", "deprecated": true, "readOnly": true }),
        json!({ "examples": ["only", "examples"] }),
        json!({ "format": "a format of somebody's own" }),
    ] {
        let schema = schema(json!({ "a": property }));
        assert_eq!(check(&schema, &json!({ "a": "<any text>" })).unwrap(), json!({ "a": "<any text>" }));
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
    assert_eq!(hard.example(), Some(&json!({ "code": "AAAAAAA" })));
    let stated =
        schema(json!({ "code": { "type": "string", "pattern": "^[A-Z]{7}$", "examples": ["ABCDEFG"] } }));
    assert_eq!(stated.example(), Some(&json!({ "code": "ABCDEFG" })));
}
