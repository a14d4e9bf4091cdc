use serde_json::{Value, json};
use windlass_tool::{InputSchema, MAX_FAULTS, MAX_ROUNDS};

use crate::{check, problems, schema};

#[test]
fn a_text_that_spells_what_is_wanted_is_that() {
    let rows = [
        (json!({ "type": "integer" }), "5", json!(5)),
        (json!({ "type": "integer" }), "-7", json!(-7)),
        (json!({ "type": "integer" }), "18446744073709551615", json!(u64::MAX)),
        (json!({ "type": "number" }), "2.5", json!(2.5)),
        (json!({ "type": "number" }), "1e3", json!(1000.0)),
        (json!({ "type": "boolean" }), "true", json!(true)),
        (json!({ "type": "boolean" }), "false", json!(false)),
        (json!({ "type": ["integer", "null"] }), "5", json!(5)),
        (json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] }), "5", json!(5)),
        (json!({ "type": "integer", "minimum": 3 }), "5", json!(5)),
        (json!({ "enum": [1, 2, 3] }), "2", json!(2)),
    ];
    for (property, text, expected) in rows {
        let schema = schema(json!({ "a": property }));
        assert_eq!(check(&schema, &json!({ "a": text })).unwrap(), json!({ "a": expected }), "{text}");
    }
}

#[test]
fn a_text_stays_a_text_where_one_is_wanted() {
    for property in
        [json!({ "type": "string" }), json!({ "type": ["string", "integer"] }), json!({}), json!(true)]
    {
        let schema = schema(json!({ "a": property }));
        for text in ["5", "true", "", "1e3"] {
            assert_eq!(check(&schema, &json!({ "a": text })).unwrap(), json!({ "a": text }));
        }
    }
}

#[test]
fn a_number_is_never_made_a_text() {
    let schema = schema(json!({ "a": { "type": "string" } }));
    assert_eq!(problems(&schema, &json!({ "a": 5 })), ["/a: expected a string, got 5"]);
}

#[test]
fn an_empty_text_is_absent_only_where_it_is_optional_and_refused() {
    let optional = schema(
        json!({ "?a": { "type": "integer" }, "?b": { "type": "string", "minLength": 1 }, "?c": { "type": "string" } }),
    );
    assert_eq!(check(&optional, &json!({ "a": "", "b": "", "c": "" })).unwrap(), json!({ "c": "" }));
    let required = schema(json!({ "a": { "type": "integer" } }));
    assert_eq!(problems(&required, &json!({ "a": "" })), ["/a: expected an integer, got \"\""]);
    let closed = schema(json!({ "?mode": { "enum": ["fast", "slow"] } }));
    assert_eq!(check(&closed, &json!({ "mode": "" })).unwrap(), json!({}));
    let list = schema(json!({ "list": { "type": "array", "items": { "type": "integer" } } }));
    assert_eq!(problems(&list, &json!({ "list": [1, ""] })), ["/list/1: expected an integer, got \"\""]);
}

#[test]
fn null_is_absent_only_where_it_is_optional_and_refused() {
    let optional =
        schema(json!({ "?a": { "type": "integer" }, "?b": { "type": ["integer", "null"] }, "?c": {} }));
    assert_eq!(
        check(&optional, &json!({ "a": null, "b": null, "c": null })).unwrap(),
        json!({ "b": null, "c": null })
    );
    let required = schema(json!({ "a": { "type": "integer" } }));
    assert_eq!(problems(&required, &json!({ "a": null })), ["/a: expected an integer, got null"]);
}

#[test]
fn what_counts_as_absent_has_its_default() {
    let schema = schema(
        json!({ "?n": { "type": "integer", "default": 10 }, "?on": { "type": "boolean", "default": true } }),
    );
    assert_eq!(check(&schema, &json!({ "n": "", "on": null })).unwrap(), json!({ "n": 10, "on": true }));
}

#[test]
fn what_is_left_out_must_be_missed_by_nobody() {
    let few = json!({ "type": "object", "minProperties": 1, "properties": { "a": { "type": "integer" } } });
    let few = schema(json!({ "few": few }));
    assert_eq!(
        problems(&few, &json!({ "few": { "a": "" } })),
        ["/few: expected at least 1 property, got 0", "/few/a: expected an integer, got \"\""]
    );
    let needed = InputSchema::compile(json!({
        "type": "object", "properties": { "a": { "type": "integer" }, "b": {} }, "dependentRequired": { "b": ["a"] },
    }))
    .unwrap();
    assert_eq!(problems(&needed, &json!({ "a": "", "b": 1 })), ["/a: expected an integer, got \"\""]);
    assert_eq!(check(&needed, &json!({ "a": "" })).unwrap(), json!({}));
}

#[test]
fn any_number_of_texts_is_coerced() {
    let schema = schema(json!({ "list": { "type": "array", "items": { "type": "integer" } } }));
    for count in [1, 64, 65, 1_000, MAX_FAULTS] {
        let got = check(&schema, &json!({ "list": vec!["5"; count] })).unwrap();
        assert!(got == json!({ "list": vec![5; count] }), "{count}");
    }
    let rejection = check(&schema, &json!({ "list": vec!["5"; MAX_FAULTS + 1] })).unwrap_err();
    assert_eq!(
        rejection.problems()[0].to_string(),
        "has more than 10000 faults, or takes too long to search; nothing was coerced, and not everything is listed"
    );
    assert_eq!(rejection.problems()[1].to_string(), "/list/0: expected an integer, got \"5\"");
}

#[test]
fn a_repair_that_does_not_help_is_taken_back() {
    let low = schema(json!({ "a": { "type": "integer", "minimum": 10 }, "b": { "type": "integer" } }));
    assert_eq!(
        problems(&low, &json!({ "a": "5", "b": "7" })),
        ["/a: expected an integer (at least 10), got \"5\""],
        "b is not wrong: it is coerced"
    );
    let equal = json!({ "type": "array", "items": { "type": "integer" }, "uniqueItems": true });
    assert_eq!(
        problems(&schema(json!({ "a": equal })), &json!({ "a": [5, "5"] })),
        ["/a: expected items that all differ", "/a/1: expected an integer, got \"5\""]
    );
    let twice = schema(json!({ "a": { "oneOf": [{ "type": "integer" }, { "type": "number" }] } }));
    assert_eq!(problems(&twice, &json!({ "a": "5" })), ["/a: expected an integer or a number, got \"5\""]);
}

#[test]
fn a_repair_may_bring_up_another_schema() {
    let schema = InputSchema::compile(json!({
        "type": "object", "properties": { "on": { "type": "boolean" } },
        "if": { "properties": { "on": { "const": true } }, "required": ["on"] },
        "then": { "properties": { "n": { "type": "integer" } }, "required": ["n"] },
        "else": { "properties": { "n": { "type": "string" } } },
    }))
    .unwrap();
    assert_eq!(check(&schema, &json!({ "on": "true", "n": "5" })).unwrap(), json!({ "on": true, "n": 5 }));
    assert_eq!(
        check(&schema, &json!({ "on": "false", "n": "5" })).unwrap(),
        json!({ "on": false, "n": "5" })
    );
    assert_eq!(problems(&schema, &json!({ "on": "true" })), ["/n: is required: an integer"]);
}

#[test]
fn rounds_are_bounded() {
    // Each repair brings up the schema that wants the next one.
    let chain = |length: usize| {
        let name = |index: usize| format!("p{index}");
        let step = |index: usize| {
            json!({
                "if": { "properties": { name(index): { "const": true } }, "required": [name(index)] },
                "then": { "properties": { name(index + 1): { "type": "boolean" } } },
            })
        };
        let schema = json!({
            "type": "object", "properties": { "p0": { "type": "boolean" } },
            "allOf": (0..length).map(step).collect::<Vec<_>>(),
        });
        let args =
            |value: &Value| Value::Object((0..length).map(|index| (name(index), value.clone())).collect());
        (InputSchema::compile(schema).unwrap(), args(&json!("true")), args(&json!(true)))
    };
    let (schema, sent, expected) = chain(MAX_ROUNDS);
    assert_eq!(check(&schema, &sent).unwrap(), expected);
    let (schema, sent, _) = chain(MAX_ROUNDS + 1);
    assert_eq!(problems(&schema, &sent), ["/p8: expected a boolean, got \"true\""]);
}

#[test]
fn of_alternatives_the_one_that_is_meant_is_coerced() {
    let item = |schema: Value| {
        InputSchema::compile(json!({ "type": "object", "properties": { "a": schema } })).unwrap()
    };
    let tagged = |combinator: &str| {
        let with = |tag: Value, value: &str| {
            json!({ "type": "object", "required": ["tag", "v"], "properties": {
                "tag": { "const": tag }, "v": { "type": value }, "more": { "type": "integer" },
            } })
        };
        item(
            json!({ combinator: [with(json!("n"), "integer"), with(json!("s"), "string"), with(json!(1), "boolean")] }),
        )
    };
    for combinator in ["anyOf", "oneOf"] {
        let schema = tagged(combinator);
        for (sent, expected) in [
            (json!({ "tag": "n", "v": "5" }), json!({ "tag": "n", "v": 5 })),
            (json!({ "tag": "s", "v": "5" }), json!({ "tag": "s", "v": "5" })),
            (json!({ "tag": "s", "v": "5", "more": "7" }), json!({ "tag": "s", "v": "5", "more": 7 })),
            (json!({ "tag": "1", "v": "true" }), json!({ "tag": 1, "v": true })),
            (json!({ "tag": "n", "v": "5", "more": "" }), json!({ "tag": "n", "v": 5 })),
        ] {
            assert_eq!(check(&schema, &json!({ "a": sent })).unwrap(), json!({ "a": expected }));
        }
        assert_eq!(
            problems(&schema, &json!({ "a": { "tag": "n", "v": "5", "more": "x" } })),
            ["/a/more: expected an integer, got \"x\"", "/a/v: expected an integer, got \"5\""]
        );
    }
    let pair = |b: &str| json!({ "type": "object", "properties": { "a": { "type": "integer" }, "b": { "type": b } } });
    let fewest = item(json!({ "anyOf": [pair("integer"), pair("string")] }));
    assert_eq!(
        check(&fewest, &json!({ "a": { "a": "1", "b": "2" } })).unwrap(),
        json!({ "a": { "a": 1, "b": "2" } })
    );
    let nested = item(json!({ "anyOf": [
        { "type": "object", "required": ["b"], "properties": { "b": { "anyOf": [{ "type": "integer" }, { "type": "null" }] } } },
        { "type": "null" },
    ] }));
    assert_eq!(check(&nested, &json!({ "a": { "b": "5" } })).unwrap(), json!({ "a": { "b": 5 } }));
}

#[test]
fn coercion_reaches_whatever_schema_speaks_of_a_value() {
    let integer = json!({ "type": "integer" });
    let rows = [
        ("$ref", json!({ "$ref": "#/$defs/n" }), json!("5"), json!(5)),
        ("allOf", json!({ "allOf": [{ "$ref": "#/$defs/n" }, { "minimum": 1 }] }), json!("5"), json!(5)),
        (
            "additionalProperties",
            json!({ "additionalProperties": integer }),
            json!({ "x": "5" }),
            json!({ "x": 5 }),
        ),
        (
            "patternProperties",
            json!({ "patternProperties": { "^x": integer } }),
            json!({ "x": "5", "y": "5" }),
            json!({ "x": 5, "y": "5" }),
        ),
        (
            "unevaluatedProperties",
            json!({ "unevaluatedProperties": integer }),
            json!({ "x": "5" }),
            json!({ "x": 5 }),
        ),
        ("prefixItems", json!({ "prefixItems": [integer, true] }), json!(["5", "5"]), json!([5, "5"])),
        ("items", json!({ "prefixItems": [true], "items": integer }), json!(["5", "5"]), json!(["5", 5])),
        ("contains", json!({ "contains": { "const": 5 }, "items": integer }), json!(["5"]), json!([5])),
        (
            "dependentSchemas",
            json!({ "dependentSchemas": { "x": { "properties": { "y": integer } } } }),
            json!({ "x": 1, "y": "5" }),
            json!({ "x": 1, "y": 5 }),
        ),
        ("const", json!({ "const": 5 }), json!("5"), json!(5)),
        (
            "a name with a slash",
            json!({ "additionalProperties": integer }),
            json!({ "a/b~c": "5" }),
            json!({ "a/b~c": 5 }),
        ),
    ];
    for (name, property, sent, expected) in rows {
        let root = json!({ "type": "object", "properties": { "a": property }, "$defs": { "n": integer } });
        let schema = InputSchema::compile(root).unwrap();
        assert_eq!(check(&schema, &json!({ "a": sent })).unwrap(), json!({ "a": expected }), "{name}");
    }
}

#[test]
fn what_refuses_a_text_without_wanting_something_else_leaves_it_alone() {
    for property in [
        json!({ "minLength": 3 }),
        json!({ "not": { "type": "string" } }),
        json!({ "pattern": "^x" }),
        json!({ "anyOf": [{ "minLength": 3 }, { "pattern": "^x" }] }),
    ] {
        let schema = schema(json!({ "a": property }));
        assert!(check(&schema, &json!({ "a": "5" })).is_err(), "{property}");
    }
    let contains = schema(json!({ "a": { "contains": { "type": "integer" } } }));
    assert!(check(&contains, &json!({ "a": ["5"] })).is_err(), "a list of texts is what it accepts");
}

#[test]
fn coercion_reaches_every_depth() {
    let item = json!({ "type": "object", "properties": { "n": { "type": "integer" }, "on": { "type": "boolean" } } });
    let schema = schema(json!({
        "list": { "type": "array", "items": item },
        "maybe": { "anyOf": [item, { "type": "null" }] },
    }));
    let sent =
        json!({ "list": [{ "n": "1" }, { "n": "2", "on": "true" }], "maybe": { "n": "3", "on": "false" } });
    let got = json!({ "list": [{ "n": 1 }, { "n": 2, "on": true }], "maybe": { "n": 3, "on": false } });
    assert_eq!(check(&schema, &sent).unwrap(), got);
}

/// Whether other values fit depends on one that has a default.
fn depends_on_mode() -> [InputSchema; 2] {
    let conditional = json!({
        "type": "object", "properties": { "mode": { "enum": ["a", "b"], "default": "a" } },
        "if": { "properties": { "mode": { "const": "a" } }, "required": ["mode"] },
        "then": { "properties": { "other": { "type": "integer" } } },
    });
    let dependent = json!({
        "type": "object", "properties": { "mode": { "type": "integer", "default": 1 } },
        "dependentSchemas": { "mode": { "properties": { "other": { "type": "integer" } } } },
    });
    [conditional, dependent].map(|schema| InputSchema::compile(schema).unwrap())
}

#[test]
fn a_default_that_makes_something_else_wrong_is_not_filled_in() {
    for schema in depends_on_mode() {
        for sent in [json!({ "mode": "", "other": "x" }), json!({ "mode": null, "other": "x" })] {
            assert_eq!(check(&schema, &sent).unwrap(), json!({ "other": "x" }), "{sent}");
        }
        // What fits as it was sent stays as it was sent.
        for sent in [json!({ "other": "x" }), json!({ "other": "5" })] {
            assert_eq!(check(&schema, &sent).unwrap(), sent);
        }
        assert!(check(&schema, &json!({ "other": 5 })).unwrap().get("mode").is_some());
    }
}

#[test]
fn a_repair_that_another_one_makes_needless_is_taken_back() {
    let schema = InputSchema::compile(json!({
        "type": "object", "properties": { "k": { "type": "integer" } },
        "if": { "properties": { "k": { "type": "string" } } },
        "then": { "properties": { "v": { "type": "integer" } } },
    }))
    .unwrap();
    assert_eq!(check(&schema, &json!({ "k": "1", "v": "2" })).unwrap(), json!({ "k": 1, "v": "2" }));
    assert_eq!(check(&schema, &json!({ "k": "1", "v": "" })).unwrap(), json!({ "k": 1, "v": "" }));
}

#[test]
fn a_default_belongs_to_the_branch_that_a_repaired_tag_chooses() {
    let schema = InputSchema::compile(json!({
        "type": "object",
        "oneOf": [
            { "properties": { "tag": { "const": 1 } } },
            { "properties": { "tag": { "type": "integer", "minimum": 2 }, "z": { "default": 7 } } },
        ],
        "required": ["tag"],
    }))
    .unwrap();
    assert_eq!(check(&schema, &json!({ "tag": "1" })).unwrap(), json!({ "tag": 1 }));
    assert_eq!(check(&schema, &json!({ "tag": "2" })).unwrap(), json!({ "tag": 2, "z": 7 }));
}

#[test]
fn a_required_argument_with_a_default_is_filled_in_beside_a_repair() {
    let schema = InputSchema::compile(json!({
        "type": "object", "required": ["n", "m"],
        "properties": { "n": { "type": "integer" }, "m": { "type": "integer", "default": 3 } },
    }))
    .unwrap();
    assert_eq!(check(&schema, &json!({ "n": "1" })).unwrap(), json!({ "n": 1, "m": 3 }));
}

#[test]
fn what_another_argument_needs_does_not_change_what_fitted() {
    let schema = InputSchema::compile(json!({
        "type": "object", "required": ["mode"],
        "properties": { "mode": { "default": "text" }, "v": {}, "n": { "type": "integer" } },
        "if": { "required": ["mode"], "properties": { "mode": { "const": "text" } } },
        "then": {}, "else": { "properties": { "v": { "type": "integer" } } },
    }))
    .unwrap();
    for v in ["5", ""] {
        let got = check(&schema, &json!({ "v": v, "n": "6" })).unwrap();
        assert_eq!(got, json!({ "mode": "text", "v": v, "n": 6 }));
    }
}
