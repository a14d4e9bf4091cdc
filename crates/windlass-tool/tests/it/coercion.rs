use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_tool::InputSchema;

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

#[test]
fn defaults_are_filled_in_at_every_depth() {
    let root = json!({
        "type": "object",
        "$defs": { "page": { "type": "object", "properties": { "size": { "type": "integer", "default": 20 } } } },
        "properties": {
            "page": { "$ref": "#/$defs/page" },
            "pages": { "type": "array", "items": { "$ref": "#/$defs/page" } },
            "maybe": { "anyOf": [{ "$ref": "#/$defs/page" }, { "type": "null" }] },
            "all": { "allOf": [{ "$ref": "#/$defs/page" }] },
            "sort": { "type": "string", "default": "asc" },
        },
        "additionalProperties": { "$ref": "#/$defs/page" },
    });
    let schema = InputSchema::compile(root).unwrap();
    let sent = json!({ "page": {}, "pages": [{}, { "size": 5 }], "maybe": {}, "all": {}, "extra": {} });
    assert_eq!(
        check(&schema, &sent).unwrap(),
        json!({
            "page": { "size": 20 }, "pages": [{ "size": 20 }, { "size": 5 }], "maybe": { "size": 20 },
            "all": { "size": 20 }, "sort": "asc", "extra": { "size": 20 },
        })
    );
    assert_eq!(check(&schema, &json!({ "maybe": null })).unwrap(), json!({ "maybe": null, "sort": "asc" }));
}

proptest! {
    /// Whatever comes out fits the schema, and what fitted goes through unchanged but for defaults.
    #[test]
    fn what_comes_out_fits_and_what_fitted_stays(
        n in prop_oneof![any::<i64>().prop_map(|n| json!(n)), any::<i64>().prop_map(|n| json!(n.to_string())), ".{0,6}".prop_map(Value::from)],
        on in prop_oneof![any::<bool>().prop_map(|b| json!(b)), Just(json!("true")), Just(json!("")), Just(json!(null))],
        text in ".{0,6}",
    ) {
        let schema = schema(json!({ "n": { "type": "integer" }, "?on": { "type": "boolean" }, "text": { "type": "string" } }));
        let sent = json!({ "n": n, "on": on, "text": text });
        if let Ok(got) = check(&schema, &sent) {
            prop_assert!(got["n"].is_i64());
            prop_assert!(got.get("on").is_none_or(Value::is_boolean));
            prop_assert_eq!(got["text"].as_str(), Some(text.as_str()));
            prop_assert_eq!(check(&schema, &got).unwrap(), got.clone());
            if sent["n"].is_i64() {
                prop_assert_eq!(&got["n"], &sent["n"]);
            }
        }
    }
}
