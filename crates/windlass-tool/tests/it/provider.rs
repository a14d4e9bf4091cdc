use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use windlass_core::{canonical, json};
use windlass_tool::provider::{
    ANTHROPIC, FULL, GEMINI, MAX_INLINED_DEPTH, MAX_REFERENCES, MAX_RENDERED_BYTES, MAX_UNFOLDED,
    MAX_WORDS_BYTES, OLLAMA, OPENAI, Rendered, Subset, render,
};

use crate::fixtures::{self, Fixture};

const ALL: [Subset; 5] = [FULL, OPENAI, ANTHROPIC, GEMINI, OLLAMA];

/// A rendering as text: the schema, then its warnings.
fn shown(rendered: &Rendered) -> String {
    let warnings = rendered.warnings.iter().map(ToString::to_string);
    std::iter::once(canonical(&rendered.schema)).chain(warnings).collect::<Vec<_>>().join("\n")
}

fn property(schema: Value) -> Value {
    let mut root = json!({ "type": "object", "properties": {} });
    root["properties"]["a"] = schema;
    root
}

#[test]
fn what_a_vendor_cannot_say_is_said_in_words() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object", "additionalProperties": false, "required": ["city", "shape"],
        "properties": {
            "city": { "type": "string", "description": "Where to.", "minLength": 1, "examples": ["Oslo"] },
            "days": { "type": ["integer", "null"], "exclusiveMinimum": 0, "multipleOf": 7, "default": 7 },
            "unit": { "const": "day" },
            "level": { "enum": [1, 2, 3] },
            "when": { "type": "string", "format": "date" },
            "shape": { "$ref": "#/$defs/shape", "description": "What to draw." },
            "maybe": { "anyOf": [{ "$ref": "#/$defs/shape" }, { "type": "null" }] },
            "tags": { "type": "array", "items": { "type": "string" }, "uniqueItems": true },
        },
        "$defs": { "shape": { "oneOf": [
            { "type": "object", "properties": { "kind": { "const": "circle" } }, "required": ["kind"] },
            { "type": "string" },
        ] } },
    });
    assert_snapshot!(shown(&render(&schema, &GEMINI)), @r#"
    {"description":"No other properties.","properties":{"city":{"description":"Where to.\nFor example \"Oslo\".","minLength":1,"type":"string"},"days":{"description":"Default: 7.\nMore than 0.\nA multiple of 7.","nullable":true,"type":"integer"},"level":{"description":"One of 1, 2, 3."},"maybe":{"anyOf":[{"properties":{"kind":{"enum":["circle"],"type":"string"}},"required":["kind"],"type":"object"},{"type":"string"}],"description":"Exactly one of the alternatives fits.","nullable":true},"shape":{"anyOf":[{"properties":{"kind":{"enum":["circle"],"type":"string"}},"required":["kind"],"type":"object"},{"type":"string"}],"description":"What to draw.\nExactly one of the alternatives fits."},"tags":{"description":"All items differ.","items":{"type":"string"},"type":"array"},"unit":{"enum":["day"],"type":"string"},"when":{"description":"Of the format date.","type":"string"}},"required":["city","shape"],"type":"object"}
    `additionalProperties` is said in words
    /properties/city: `examples` is said in words
    /properties/days: `default` is said in words
    /properties/days: `exclusiveMinimum` is said in words
    /properties/days: `multipleOf` is said in words
    /properties/level: `enum` is said in words
    /properties/maybe: `oneOf` became `anyOf`
    /properties/shape: `oneOf` became `anyOf`
    /properties/tags: `uniqueItems` is said in words
    /properties/when: `format` is said in words
    "#);
    assert_snapshot!(shown(&render(&schema, &OLLAMA)), @r#"
    {"description":"No other properties.","properties":{"city":{"description":"Where to.\nFor example \"Oslo\".\nAt least 1 characters.","type":"string"},"days":{"description":"Default: 7.\nMore than 0.\nA multiple of 7.","type":["integer","null"]},"level":{"enum":[1,2,3]},"maybe":{"anyOf":[{"anyOf":[{"properties":{"kind":{"enum":["circle"]}},"required":["kind"],"type":"object"},{"type":"string"}],"description":"Exactly one of the alternatives fits."},{"type":"null"}]},"shape":{"anyOf":[{"properties":{"kind":{"enum":["circle"]}},"required":["kind"],"type":"object"},{"type":"string"}],"description":"What to draw.\nExactly one of the alternatives fits."},"tags":{"description":"All items differ.","items":{"type":"string"},"type":"array"},"unit":{"enum":["day"]},"when":{"description":"Of the format date.","type":"string"}},"required":["city","shape"],"type":"object"}
    `additionalProperties` is said in words
    /properties/city: `examples` is said in words
    /properties/city: `minLength` is said in words
    /properties/days: `default` is said in words
    /properties/days: `exclusiveMinimum` is said in words
    /properties/days: `multipleOf` is said in words
    /properties/maybe/anyOf/0: `oneOf` became `anyOf`
    /properties/shape: `oneOf` became `anyOf`
    /properties/tags: `uniqueItems` is said in words
    /properties/when: `format` is said in words
    "#);
    for subset in [FULL, OPENAI, ANTHROPIC] {
        assert_eq!(render(&schema, &subset), render(&schema, &FULL), "{}", subset.name);
    }
}

#[test]
fn alternatives_at_the_top_are_said_in_words_where_they_may_not_stand_there() {
    let schema = json!({
        "type": "object", "properties": { "a": {}, "b": { "anyOf": [{ "type": "string" }] } },
        "anyOf": [{ "required": ["a"] }, { "required": ["b"] }],
    });
    assert_snapshot!(shown(&render(&schema, &ANTHROPIC)), @r#"
    {"description":"`anyOf`: [{\"required\":[\"a\"]},{\"required\":[\"b\"]}]","properties":{"a":{},"b":{"anyOf":[{"type":"string"}]}},"type":"object"}
    `anyOf` is said in words
    "#);
    assert_eq!(render(&schema, &FULL).schema, schema);
    let parts = json!({
        "type": "object", "properties": { "a": {} }, "required": ["a"], "$defs": { "page": { "properties": { "page": { "type": "integer" } }, "required": ["page"] } },
        "allOf": [{ "$ref": "#/$defs/page" }, { "properties": { "b": { "minimum": 1 } } }],
    });
    assert_snapshot!(shown(&render(&parts, &OPENAI)), @r#"{"$defs":{"page":{"properties":{"page":{"type":"integer"}},"required":["page"]}},"properties":{"a":{},"b":{"minimum":1},"page":{"type":"integer"}},"required":["a","page"],"type":"object"}"#);
}

#[test]
fn two_schemas_of_one_value_become_one() {
    let both = property(json!({ "allOf": [
        { "type": "integer", "minimum": 1, "maximum": 9, "description": "One." },
        { "type": "integer", "minimum": 3, "maximum": 20, "description": "Two.", "multipleOf": 2 },
        { "properties": { "x": { "type": "string" } }, "required": ["x"] },
        { "properties": { "x": { "maxLength": 3 }, "y": {} }, "required": ["x", "y"] },
        { "pattern": "^a" }, { "pattern": "b$" },
    ] }));
    assert_snapshot!(shown(&render(&both, &GEMINI)), @r#"
    {"properties":{"a":{"description":"One.\nTwo.\nA multiple of 2.\nMatches the pattern b$","maximum":9,"minimum":3,"pattern":"^a","properties":{"x":{"maxLength":3,"type":"string"},"y":{}},"required":["x","y"],"type":"integer"}},"type":"object"}
    /properties/a: `multipleOf` is said in words
    /properties/a: `pattern` is said in words
    "#);
}

#[test]
fn keywords_that_belong_together_are_not_mixed() {
    let schema = json!({ "type": "object", "allOf": [
        { "if": { "required": ["a"] }, "then": { "required": ["b"] } },
        { "if": { "required": ["c"] }, "else": { "required": ["d"] } },
    ] });
    let rendered = render(&schema, &OPENAI);
    let expected = json!({
        "type": "object", "if": { "required": ["a"] }, "then": { "required": ["b"] },
        "description": "`else`: {\"required\":[\"d\"]}\n`if`: {\"required\":[\"c\"]}",
    });
    assert_eq!(rendered.schema, expected);
    assert_eq!(
        rendered.warnings.iter().map(|warning| warning.keyword.as_str()).collect::<Vec<_>>(),
        ["else", "if"]
    );
}

#[test]
fn what_fits_a_schema_fits_what_is_shown_of_it() {
    for Fixture { name, schema, fits, .. } in fixtures::all() {
        for subset in ALL {
            let rendered = with_null(&render(&schema, &subset).schema);
            let validator = jsonschema::validator_for(&rendered).unwrap();
            assert!(validator.is_valid(&fits), "{name} for {}: {fits} does not fit {rendered}", subset.name);
        }
    }
}

/// A schema with null as a type instead of `nullable`.
fn with_null(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let mut map: Map<_, _> = map.iter().map(|(key, value)| (key.clone(), with_null(value))).collect();
            match map.remove("nullable") {
                Some(_) => json!({ "anyOf": [map, { "type": "null" }] }),
                None => Value::Object(map),
            }
        }
        Value::Array(list) => list.iter().map(with_null).collect(),
        other => other.clone(),
    }
}

#[test]
fn a_definition_inside_itself_is_written_out_so_often_and_then_named() {
    let tree = json!({
        "type": "object", "properties": { "root": { "$ref": "#/$defs/node" } },
        "$defs": { "node": { "type": "object", "properties": { "value": { "type": "integer" }, "next": { "$ref": "#/$defs/node" } } } },
    });
    let rendered = render(&tree, &GEMINI);
    let next = "/properties/next".repeat(MAX_UNFOLDED);
    assert_eq!(
        rendered.schema.pointer(&format!("/properties/root{next}")),
        Some(&json!({ "type": "object", "description": "Like `node` around it, and so on." }))
    );
    assert_eq!(
        rendered.schema.pointer(&format!(
            "/properties/root{}/properties/value",
            "/properties/next".repeat(MAX_UNFOLDED - 1)
        )),
        Some(&json!({ "type": "integer" }))
    );
    assert_eq!(rendered.warnings.len(), 1);
    assert_eq!(rendered.warnings[0].keyword, "$ref");
    assert_eq!(render(&tree, &OPENAI).schema, tree, "where references are followed it stays as it is");
}

/// A schema of `length` definitions, each made from the reference to the next.
fn chain(length: usize, link: impl Fn(Value) -> Value) -> Value {
    let reference = |index: usize| json!({ "$ref": format!("#/$defs/d{index}") });
    let mut definitions: Map<String, Value> =
        (0..length).map(|index| (format!("d{index}"), link(reference(index + 1)))).collect();
    definitions.insert(format!("d{length}"), json!({ "type": "integer" }));
    json!({ "type": "object", "properties": { "a": reference(0) }, "$defs": definitions })
}

#[test]
fn references_are_written_out_only_so_deep() {
    let nested =
        |length: usize| render(&chain(length, |next| json!({ "type": "array", "items": next })), &GEMINI);
    // The argument itself is one level deep, and each definition one deeper.
    assert_eq!(nested(MAX_INLINED_DEPTH - 1).warnings, []);
    let past = nested(MAX_INLINED_DEPTH);
    assert_eq!(past.warnings.len(), 1, "{past:?}");
    assert_eq!(past.warnings[0].pointer, format!("/properties/a{}", "/items".repeat(MAX_INLINED_DEPTH)));
}

#[test]
fn a_few_references_that_stand_for_very_much_are_not_all_written_out() {
    let laughs = chain(17, |next| json!({ "type": "object", "properties": { "x": next, "y": next } }));
    for subset in [GEMINI, OLLAMA] {
        let rendered = render(&laughs, &subset);
        assert!(canonical(&rendered.schema).len() <= MAX_RENDERED_BYTES);
        assert!(
            rendered.schema.pointer("/properties/a/properties/x").is_some(),
            "only as much as fits is left out"
        );
        assert!(!rendered.warnings.is_empty());
    }
    let in_place = chain(17, |next| json!({ "anyOf": [next, next] }));
    assert!(canonical(&render(&in_place, &GEMINI).schema).len() <= MAX_RENDERED_BYTES);
}

#[test]
fn a_rendered_schema_is_bounded() {
    let sized = |bytes: usize| {
        let empty = canonical(&json!({ "type": "object", "description": "" })).len();
        json!({ "type": "object", "description": "x".repeat(bytes - empty) })
    };
    assert_eq!(render(&sized(MAX_RENDERED_BYTES), &FULL).schema, sized(MAX_RENDERED_BYTES));
    let past = render(&sized(MAX_RENDERED_BYTES + 1), &FULL);
    assert_eq!(past.schema, json!({ "type": "object" }));
    assert!(past.warnings[0].message.contains("more than 1048576 bytes"));
    let deep = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!({ "items": inner }));
    assert_eq!(render(&deep(json::MAX_DEPTH), &FULL).schema, deep(json::MAX_DEPTH));
    assert!(render(&deep(json::MAX_DEPTH + 1), &GEMINI).warnings[0].message.contains("deeper than 128"));
}

#[test]
fn words_are_bounded() {
    let words = |length: usize| {
        let rendered = render(&property(json!({ "default": "x".repeat(length) })), &GEMINI);
        let text = rendered.schema["properties"]["a"]["description"].as_str().unwrap().to_owned();
        (text.len(), rendered.warnings[0].message.clone())
    };
    let around = "Default: \"\".".len();
    assert_eq!(words(MAX_WORDS_BYTES - around), (MAX_WORDS_BYTES, "is said in words".to_owned()));
    let (length, message) = words(MAX_WORDS_BYTES - around + 1);
    assert_eq!((length, message.as_str()), (MAX_WORDS_BYTES + "…".len(), "is said in words, in part"));
}

#[test]
fn odd_schemas_are_rendered_too() {
    let rows = [
        (json!(true), json!({})),
        (json!(false), json!({ "description": "Nothing is allowed here." })),
        (json!({ "type": "null" }), json!({ "nullable": true, "description": "Of type null." })),
        (json!({ "const": null }), json!({ "nullable": true, "description": "Always null." })),
        (json!({ "enum": ["a", null] }), json!({ "type": "string", "enum": ["a"], "nullable": true })),
        (
            json!({ "type": ["string", "integer"] }),
            json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] }),
        ),
        (json!({ "$ref": "#nowhere" }), json!({ "description": "`$ref`: \"#nowhere\"" })),
        (json!({ "$ref": "#/properties/a" }), json!({ "description": "Like `a` around it, and so on." })),
        (json!({ "additionalProperties": true, "uniqueItems": false }), json!({})),
        (json!({ "not": { "type": "string" } }), json!({ "description": "`not`: {\"type\":\"string\"}" })),
        (json!({ "type": 7 }), json!({ "type": 7 })),
    ];
    for (schema, expected) in rows {
        assert_eq!(render(&property(schema), &GEMINI).schema["properties"]["a"], expected);
    }
    for schema in [json!(null), json!([]), json!("x"), json!(true), json!(7)] {
        for subset in ALL {
            drop(render(&schema, &subset));
        }
    }
}

#[test]
fn what_is_about_the_rest_of_one_part_is_not_about_the_rest_of_all() {
    let object = |rest: Value| {
        let mut schema = json!({ "type": "object" });
        schema.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        schema
    };
    let closed = object(json!({
        "properties": { "a": {} }, "additionalProperties": false,
        "allOf": [{ "properties": { "b": { "type": "integer" } } }],
    }));
    assert_snapshot!(shown(&render(&closed, &OPENAI)), @r#"
    {"description":"No properties other than \"a\".","properties":{"a":{},"b":{"type":"integer"}},"type":"object"}
    `additionalProperties` is said in words
    "#);
    assert_snapshot!(shown(&render(&property(closed), &GEMINI)), @r#"
    {"properties":{"a":{"description":"No properties other than \"a\".","properties":{"a":{},"b":{"type":"integer"}},"type":"object"}},"type":"object"}
    /properties/a: `additionalProperties` is said in words
    "#);
    let texts = object(json!({ "allOf": [
        { "properties": { "a": {} }, "patternProperties": { "^x": {} }, "additionalProperties": { "type": "string" } },
        { "properties": { "b": { "type": "integer" } } },
    ] }));
    assert_snapshot!(shown(&render(&texts, &ANTHROPIC)), @r#"
    {"description":"Every property other than \"a\", those that match \"^x\": {\"type\":\"string\"}","patternProperties":{"^x":{}},"properties":{"a":{},"b":{"type":"integer"}},"type":"object"}
    `additionalProperties` is said in words
    "#);
    let patterns = object(json!({
        "additionalProperties": { "type": "string" },
        "allOf": [{ "patternProperties": { "^x": { "type": "integer" } }, "additionalProperties": false }],
    }));
    assert_snapshot!(shown(&render(&patterns, &OPENAI)), @r#"
    {"additionalProperties":false,"description":"Every property: {\"type\":\"string\"}","patternProperties":{"^x":{"type":"integer"}},"type":"object"}
    `additionalProperties` is said in words
    "#);
    let unlike = object(json!({
        "patternProperties": { "^x": {} }, "additionalProperties": { "type": "string" },
        "allOf": [{ "patternProperties": { "^y": {} }, "additionalProperties": false }],
    }));
    assert_snapshot!(shown(&render(&unlike, &OPENAI)), @r#"
    {"additionalProperties":{"type":"string"},"description":"No properties other than those that match \"^y\".\n`patternProperties`: {\"^y\":{}}","patternProperties":{"^x":{}},"type":"object"}
    `additionalProperties` is said in words
    `patternProperties` is said in words
    "#);
    let same = object(json!({
        "properties": { "a": {}, "b": {} }, "additionalProperties": false,
        "allOf": [{ "properties": { "b": { "type": "integer" } } }, { "required": ["a"] }],
    }));
    assert_snapshot!(shown(&render(&same, &OPENAI)), @r#"{"additionalProperties":false,"properties":{"a":{},"b":{"allOf":[{},{"type":"integer"}]}},"required":["a"],"type":"object"}"#);
}

#[test]
fn what_is_about_the_other_items_of_one_part_is_not_about_the_other_items_of_all() {
    let list = |own: Value, part: Value| {
        let mut schema = json!({ "type": "object", "allOf": [part] });
        schema.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        schema
    };
    let all = list(
        json!({ "items": { "type": "string" } }),
        json!({ "prefixItems": [{ "minLength": 2 }], "items": false }),
    );
    assert_snapshot!(shown(&render(&all, &OPENAI)), @r#"
    {"description":"Every item: {\"type\":\"string\"}","items":false,"prefixItems":[{"minLength":2}],"type":"object"}
    `items` is said in words
    "#);
    let first = list(
        json!({ "prefixItems": [{}, {}] }),
        json!({ "prefixItems": [{}], "items": { "type": "string" } }),
    );
    assert_snapshot!(shown(&render(&first, &OPENAI)), @r#"
    {"description":"Every item after the first 1: {\"type\":\"string\"}\n`prefixItems`: [{}]","prefixItems":[{},{}],"type":"object"}
    `items` is said in words
    `prefixItems` is said in words
    "#);
    let alike = list(json!({ "prefixItems": [{}] }), json!({ "prefixItems": [{}], "items": false }));
    assert_snapshot!(shown(&render(&alike, &OPENAI)), @r#"{"items":false,"prefixItems":[{}],"type":"object"}"#);
}

#[test]
fn what_is_unevaluated_in_a_part_is_not_what_is_unevaluated_in_all() {
    let part = json!({
        "type": "object", "properties": { "a": {} },
        "allOf": [{ "properties": { "b": {} }, "unevaluatedProperties": false }],
    });
    assert_snapshot!(shown(&render(&part, &OPENAI)), @r#"
    {"description":"No other properties.","properties":{"a":{},"b":{}},"type":"object"}
    `unevaluatedProperties` is said in words
    "#);
    let whole = json!({
        "type": "object", "properties": { "a": {} }, "unevaluatedProperties": false,
        "allOf": [{ "properties": { "b": {} } }],
    });
    assert_snapshot!(shown(&render(&whole, &OPENAI)), @r#"{"properties":{"a":{},"b":{}},"type":"object","unevaluatedProperties":false}"#);
    // Without the alternatives nothing would be allowed.
    let alternatives = json!({
        "type": "object", "unevaluatedProperties": false,
        "anyOf": [{ "properties": { "a": {} } }, { "properties": { "b": {} } }],
    });
    assert_snapshot!(shown(&render(&alternatives, &OPENAI)), @r#"
    {"description":"`anyOf`: [{\"properties\":{\"a\":{}}},{\"properties\":{\"b\":{}}}]\nNo other properties.","type":"object"}
    `anyOf` is said in words
    `unevaluatedProperties` is said in words
    "#);
}

#[test]
fn a_reference_beside_an_embedded_resource_is_not_followed() {
    let schema = json!({
        "type": "object", "$defs": { "y": { "type": "string" } },
        "properties": { "a": { "$id": "http://e/x", "$ref": "#/$defs/y", "$defs": { "y": { "type": "integer" } } } },
    });
    assert_snapshot!(shown(&render(&schema, &GEMINI)), @r##"
    {"properties":{"a":{"description":"`$ref`: \"#/$defs/y\""}},"type":"object"}
    /properties/a: `$ref` is said in words
    "##);
    let part = json!({
        "type": "object", "$defs": { "y": { "type": "string" } },
        "allOf": [{ "$id": "http://e/x", "properties": { "a": { "$ref": "#/$defs/y" } }, "$defs": { "y": { "type": "integer" } } }],
    });
    assert_snapshot!(shown(&render(&part, &OPENAI)), @r##"
    {"$defs":{"y":{"type":"string"}},"description":"`allOf`: [{\"$defs\":{\"y\":{\"type\":\"integer\"}},\"$id\":\"http://e/x\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/y\"}}}]","type":"object"}
    `allOf` is said in words
    "##);
}

#[test]
fn null_is_allowed_only_where_it_fits() {
    let rows = [
        (
            json!({ "anyOf": [{ "type": "null" }] }),
            json!({ "nullable": true, "description": "Of type null." }),
        ),
        (
            json!({ "anyOf": [{ "type": "null" }, false] }),
            json!({ "nullable": true, "description": "Of type null." }),
        ),
        (json!({ "type": ["null"] }), json!({ "nullable": true, "description": "Of type null." })),
        (json!({ "anyOf": [false] }), json!({ "description": "`anyOf`: [false]" })),
        (
            json!({ "type": "string", "anyOf": [{ "type": "null" }] }),
            json!({ "type": "string", "description": "Of type null." }),
        ),
    ];
    for (schema, expected) in rows {
        let rendered = render(&property(schema.clone()), &GEMINI);
        assert_eq!(rendered.schema["properties"]["a"], expected, "{schema}");
        assert_eq!(rendered.warnings.len(), 1, "{schema}");
    }
    let rows = [
        (
            json!({ "type": "string", "anyOf": [{ "type": "null" }, { "minLength": 2 }] }),
            json!({ "type": "string", "minLength": 2 }),
        ),
        (
            json!({ "type": ["string", "null"], "anyOf": [{ "type": "null" }, { "minLength": 2 }] }),
            json!({ "type": "string", "minLength": 2, "nullable": true }),
        ),
        (
            json!({ "enum": ["a", null], "anyOf": [{ "type": "null" }, {}] }),
            json!({ "type": "string", "enum": ["a"], "nullable": true }),
        ),
        (json!({ "enum": ["a"], "type": ["string", "null"] }), json!({ "type": "string", "enum": ["a"] })),
        (json!({ "type": "string", "enum": ["a", null] }), json!({ "type": "string", "enum": ["a"] })),
        (
            json!({ "type": ["string", "null"], "anyOf": [{ "type": "string" }, { "const": "a" }] }),
            json!({ "type": "string", "anyOf": [{ "type": "string" }, { "type": "string", "enum": ["a"] }] }),
        ),
        (
            json!({ "anyOf": [{ "anyOf": [{ "type": "null" }, { "type": "integer" }] }] }),
            json!({ "type": "integer", "nullable": true }),
        ),
        (json!({ "anyOf": [true] }), json!({})),
    ];
    for (schema, expected) in rows {
        let rendered = render(&property(schema.clone()), &GEMINI);
        assert_eq!(rendered.schema["properties"]["a"], expected, "{schema}");
        assert_eq!(rendered.warnings, [], "{schema}");
    }
}

#[test]
fn a_long_chain_of_references_takes_no_stack() {
    let links: [fn(Value) -> Value; 3] =
        [|next| next, |next| json!({ "allOf": [next] }), |next| json!({ "anyOf": [next] })];
    for link in links {
        let long = chain(100_000, link);
        let thread = std::thread::Builder::new().stack_size(512 << 10);
        let rendered = thread.spawn(move || render(&long, &GEMINI)).unwrap().join().unwrap();
        let name = format!("Like `d{MAX_REFERENCES}` around it, and so on.");
        assert_eq!(rendered.schema["properties"]["a"], json!({ "description": name }));
        assert_eq!(rendered.warnings.len(), 1);
        let at_the_bound = render(&chain(MAX_REFERENCES - 1, link), &GEMINI);
        assert_eq!(at_the_bound.schema["properties"]["a"], json!({ "type": "integer" }));
        assert_eq!(at_the_bound.warnings, []);
        assert_eq!(render(&chain(MAX_REFERENCES, link), &GEMINI).warnings.len(), 1);
    }
}

/// Schemas without references, of every kind of keyword.
fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!({ "type": "string", "minLength": 1, "pattern": "^a", "format": "uuid" })),
        Just(json!({ "type": ["integer", "null"], "exclusiveMinimum": 3, "multipleOf": 2 })),
        Just(json!({ "const": "x", "title": "X", "deprecated": true })),
        Just(json!({ "enum": [1, "b", null], "default": 1, "$comment": "c" })),
        Just(json!({ "type": "array", "uniqueItems": true, "minItems": 1, "x-own": [1] })),
        Just(json!(true)),
        Just(json!(false)),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let two = || prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            two().prop_map(|list| json!({ "anyOf": list })),
            two().prop_map(|list| json!({ "oneOf": list, "description": "Either." })),
            two().prop_map(|list| json!({ "allOf": list, "minProperties": 1 })),
            two().prop_map(|list| json!({ "type": "array", "prefixItems": list, "items": false })),
            inner.clone().prop_map(|schema| json!({ "type": "array", "items": schema, "contains": { "minimum": 1 } })),
            inner.clone().prop_map(|schema| json!({ "not": schema, "if": true, "then": { "maximum": 5 } })),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| {
                json!({ "type": "object", "properties": { "a": a, "b/c": b }, "required": ["a"], "additionalProperties": false })
            }),
            inner.prop_map(|schema| json!({ "additionalProperties": schema, "propertyNames": { "maxLength": 3 } })),
        ]
    })
}

/// Every keyword of every schema inside a rendered one, with the pointer to that schema.
fn keywords(schema: &Value, place: &str, found: &mut Vec<(String, String)>) {
    let Value::Object(map) = schema else { return };
    for (keyword, value) in map {
        found.push((place.to_owned(), keyword.clone()));
        match (keyword.as_str(), value) {
            ("properties", Value::Object(map)) => {
                for (name, schema) in map {
                    keywords(schema, &format!("{place}/properties/{}", name.replace('/', "~1")), found);
                }
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => {
                for (index, schema) in list.iter().enumerate() {
                    keywords(schema, &format!("{place}/{keyword}/{index}"), found);
                }
            }
            (
                "items" | "not" | "if" | "then" | "contains" | "additionalProperties" | "propertyNames",
                schema,
            ) => {
                keywords(schema, &format!("{place}/{keyword}"), found);
            }
            _ => {}
        }
    }
}

proptest! {
    #[test]
    fn in_full_a_schema_stays_as_it_is(schema in schemas()) {
        let schema = property(schema);
        prop_assert_eq!(render(&schema, &FULL), Rendered::clone(&render(&schema, &FULL)));
        prop_assert_eq!(render(&schema, &FULL).schema, schema);
    }

    #[test]
    fn no_keyword_outside_the_subset_is_sent(schema in schemas()) {
        let schema = property(schema);
        for subset in ALL {
            let rendered = render(&schema, &subset);
            let mut found = Vec::new();
            keywords(&rendered.schema, "", &mut found);
            for (place, keyword) in found {
                prop_assert!(subset.has(&keyword, place.is_empty()), "{}: {place} {keyword}", subset.name);
            }
            prop_assert_eq!(&rendered, &render(&schema, &subset), "the same bytes");
        }
    }

    #[test]
    fn what_is_not_sent_has_a_warning(schema in schemas()) {
        let schema = property(schema);
        for subset in [GEMINI, OLLAMA] {
            let rendered = render(&schema, &subset);
            let (mut before, mut after) = (Vec::new(), Vec::new());
            keywords(&schema, "", &mut before);
            keywords(&rendered.schema, "", &mut after);
            // What stands inside a schema that is said in words, or that was merged, is told there.
            let is_kept = |place: &str| place.is_empty() || after.iter().any(|(other, _)| other == place);
            let is_merged = |place: &str| {
                before.iter().any(|(other, keyword)| other == place && matches!(keyword.as_str(), "allOf" | "anyOf" | "oneOf"))
            };
            for (place, keyword) in &before {
                if !is_kept(place) || is_merged(place) || place.contains("Of/") || keyword == "$comment" {
                    continue;
                }
                let is_sent = after.contains(&(place.clone(), keyword.clone()));
                let is_translated = match keyword.as_str() {
                    "const" => after.contains(&(place.clone(), "enum".to_owned())),
                    "additionalProperties" => schema.pointer(place).is_some_and(|schema| schema[keyword] == true),
                    "enum" => rendered.schema.pointer(place).is_some_and(|schema| schema.get("description").is_some()),
                    _ => false,
                };
                let is_told = rendered.warnings.iter().any(|warning| warning.pointer == *place && warning.keyword == *keyword);
                prop_assert!(is_sent || is_translated || is_told, "{}: {place} {keyword}\n{}", subset.name, shown(&rendered));
            }
        }
    }

    /// A schema in words is as strict in what it enforces as before, or weaker, never stricter.
    #[test]
    fn rendering_never_refuses_what_fitted(schema in schemas(), value in values()) {
        let schema = property(schema);
        let args = json!({ "a": value });
        if jsonschema::validator_for(&schema).unwrap().is_valid(&args) {
            for subset in ALL {
                let rendered = with_null(&render(&schema, &subset).schema);
                prop_assert!(jsonschema::validator_for(&rendered).unwrap().is_valid(&args), "{}: {args} does not fit {rendered}", subset.name);
            }
        }
    }
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!(1)),
        Just(json!(4)),
        Just(json!("x")),
        Just(json!("abc")),
        Just(json!(true)),
        Just(json!([1])),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            (inner.clone(), inner).prop_map(|(a, b)| json!({ "a": a, "b/c": b })),
        ]
    })
}
