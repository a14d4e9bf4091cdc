use serde_json::{Value, json};
use windlass_core::Code;
use windlass_tool::{InputSchema, MAX_DEFAULT_BYTES};

use crate::check;

fn compiled(schema: Value) -> InputSchema {
    InputSchema::compile(schema).unwrap()
}

#[test]
fn defaults_are_filled_in_at_every_depth() {
    let schema = compiled(json!({
        "type": "object",
        "$defs": { "page": { "type": "object", "properties": { "size": { "type": "integer", "default": 20 } } } },
        "properties": {
            "page": { "$ref": "#/$defs/page" },
            "pages": { "type": "array", "items": { "$ref": "#/$defs/page" } },
            "pair": { "prefixItems": [{ "$ref": "#/$defs/page" }] },
            "maybe": { "anyOf": [{ "$ref": "#/$defs/page" }, { "type": "null" }] },
            "all": { "allOf": [{ "$ref": "#/$defs/page" }], "properties": { "own": { "default": true } } },
            "sort": { "type": "string", "default": "asc" },
        },
        "dependentSchemas": { "page": { "properties": { "of": { "default": "pages" } } } },
        "additionalProperties": { "anyOf": [{ "type": "string" }, { "$ref": "#/$defs/page" }] },
    }));
    let sent = json!({ "page": {}, "pages": [{}, { "size": 5 }], "pair": [{}, {}], "maybe": {}, "all": {}, "extra": {} });
    assert_eq!(
        check(&schema, &sent).unwrap(),
        json!({
            "page": { "size": 20 }, "pages": [{ "size": 20 }, { "size": 5 }], "pair": [{ "size": 20 }, {}],
            "maybe": { "size": 20 }, "all": { "size": 20, "own": true }, "sort": "asc", "of": "pages",
            "extra": { "size": 20 },
        })
    );
    assert_eq!(check(&schema, &json!({ "maybe": null })).unwrap(), json!({ "maybe": null, "sort": "asc" }));
}

#[test]
fn a_default_is_filled_in_itself() {
    let page = json!({ "type": "object", "required": ["size"], "properties": { "size": { "type": "integer", "default": 20 } }, "default": {} });
    let schema = compiled(json!({ "type": "object", "properties": { "page": page } }));
    assert_eq!(check(&schema, &json!({})).unwrap(), json!({ "page": { "size": 20 } }));
}

#[test]
fn of_alternatives_the_one_that_the_tag_names_is_filled_in() {
    let shape = |kind: &str, default: Value| json!({ "type": "object", "required": ["kind"], "properties": { "kind": { "const": kind }, "size": { "default": default } } });
    let schema = compiled(json!({
        "type": "object", "properties": { "a": { "oneOf": [shape("circle", json!(1)), shape("box", json!([2, 3]))] } },
    }));
    for (kind, size) in [("circle", json!(1)), ("box", json!([2, 3]))] {
        let got = check(&schema, &json!({ "a": { "kind": kind } })).unwrap();
        assert_eq!(got, json!({ "a": { "kind": kind, "size": size } }));
    }
    let untold = compiled(json!({ "type": "object", "properties": { "a": { "anyOf": [
        { "properties": { "x": { "default": 1 } } }, { "properties": { "y": { "default": 2 } } },
    ] } } }));
    assert_eq!(check(&untold, &json!({ "a": {} })).unwrap(), json!({ "a": {} }), "either may be meant");
}

#[test]
fn a_default_that_would_make_the_arguments_wrong_is_not_filled_in() {
    let either = compiled(json!({
        "type": "object", "properties": { "a": { "default": 1 }, "b": {}, "c": { "default": 3 } },
        "oneOf": [{ "required": ["a"] }, { "required": ["b"] }],
    }));
    assert_eq!(check(&either, &json!({})).unwrap(), json!({ "a": 1, "c": 3 }));
    assert_eq!(check(&either, &json!({ "b": 2 })).unwrap(), json!({ "b": 2, "c": 3 }));
    let few = compiled(
        json!({ "type": "object", "maxProperties": 1, "properties": { "a": { "default": 1 }, "n": { "type": "integer" } } }),
    );
    assert_eq!(
        check(&few, &json!({ "n": "5" })).unwrap(),
        json!({ "n": 5 }),
        "also where something is coerced"
    );
    let when = compiled(json!({
        "type": "object", "properties": { "mode": { "default": "fast" } },
        "if": { "required": ["mode"], "properties": { "mode": { "const": "fast" } } }, "then": { "required": ["speed"] },
    }));
    assert_eq!(check(&when, &json!({})).unwrap(), json!({}));
    assert_eq!(check(&when, &json!({ "speed": 1 })).unwrap(), json!({ "mode": "fast", "speed": 1 }));
}

#[test]
fn a_default_that_its_own_schema_refuses_is_a_mistake_of_the_author() {
    let rows = [
        (json!({ "a": { "type": "integer", "default": "5" } }), "/properties/a/default", "`type`"),
        (
            json!({ "a": { "properties": { "b c%/": { "maximum": 3, "default": 4 } } } }),
            "/properties/a/properties/b c%~1/default",
            "`maximum`",
        ),
        (json!({ "a": { "$ref": "#/$defs/n", "default": null } }), "/properties/a/default", "`type`"),
        (
            json!({ "a": { "default": { "b": 1 }, "properties": { "b": { "type": "string" } } } }),
            "/properties/a/default",
            "`type`",
        ),
    ];
    for (properties, pointer, keyword) in rows {
        let schema =
            json!({ "type": "object", "properties": properties, "$defs": { "n": { "type": "integer" } } });
        let error = InputSchema::compile(schema).unwrap_err();
        assert_eq!(error.code(), Code::InvalidTool);
        let problem = &error.problems()[0];
        assert_eq!(problem.pointer, format!("/inputSchema{pointer}"));
        assert!(problem.message.contains(keyword), "{problem}");
    }
}

#[test]
fn defaults_that_lead_to_defaults_without_end_are_refused() {
    let endless = json!({ "type": "object", "properties": {
        "left": { "$ref": "#", "default": {} }, "right": { "$ref": "#", "default": {} },
    } });
    let error = InputSchema::compile(endless).unwrap_err();
    assert!(error.to_string().contains("without end"), "{error}");
}

#[test]
fn defaults_are_bounded() {
    // 65,520 bytes of canonical JSON, and 16 for the default itself.
    let default = "x".repeat(65_518);
    let schema = compiled(json!({ "type": "object", "properties": {
        "list": { "type": "array", "items": { "type": "object", "properties": { "a": { "default": default } } } },
    } }));
    let sent = |count: usize| json!({ "list": vec![json!({}); count] });
    let most = MAX_DEFAULT_BYTES / 65_536;
    assert!(check(&schema, &sent(most)).is_ok());
    let rejection = check(&schema, &sent(most + 1)).unwrap_err();
    assert!(rejection.problems()[0].to_string().contains("16777216 bytes of defaults"));
}
