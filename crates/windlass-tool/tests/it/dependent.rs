//! Schemas whose parts depend on each other: what comes out always fits, and what fitted stays.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use windlass_tool::InputSchema;

use crate::check;

const NAMES: [&str; 3] = ["a", "b", "c"];

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({ "type": "integer" })),
        Just(json!({ "type": "string" })),
        Just(json!({ "type": "boolean" })),
        Just(json!({ "enum": [1, "x"] })),
        Just(json!({ "type": "integer", "minimum": 3 })),
        Just(json!({ "type": "string", "minLength": 1 })),
        Just(json!(true)),
    ]
}

/// A leaf with a default that it accepts.
fn with_default() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({ "type": "integer", "default": 1 })),
        Just(json!({ "type": "string", "default": "d" })),
        Just(json!({ "enum": [1, "x"], "default": "x" })),
    ]
}

/// A condition on the properties.
fn part() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(NAMES.to_vec());
    (name, leaf(), any::<bool>()).prop_map(|(name, leaf, is_required)| {
        let mut part = json!({ "properties": { name: leaf } });
        if is_required {
            part["required"] = json!([name]);
        }
        part
    })
}

fn schema() -> impl Strategy<Value = Value> {
    let property = prop::option::weighted(0.7, prop_oneof![2 => leaf(), 1 => with_default()]);
    let properties = [property.clone(), property.clone(), property];
    let required = prop::sample::subsequence(NAMES.to_vec(), 0..=1);
    let more = prop_oneof![
        (part(), part(), part()).prop_map(|(a, b, c)| json!({ "if": a, "then": b, "else": c })),
        (prop::sample::select(NAMES.to_vec()), part())
            .prop_map(|(name, part)| json!({ "dependentSchemas": { name: part } })),
        prop::collection::vec(part(), 1..3).prop_map(|parts| json!({ "anyOf": parts })),
        prop::collection::vec(part(), 1..3).prop_map(|parts| json!({ "oneOf": parts })),
        part().prop_map(|part| json!({ "not": part })),
        part().prop_map(|part| json!({ "allOf": [part] })),
        Just(json!({ "maxProperties": 2 })),
        Just(json!({ "unevaluatedProperties": false })),
    ];
    (properties, required, prop::collection::vec(more, 1..3)).prop_map(|(properties, required, more)| {
        let named = NAMES.iter().zip(properties).filter_map(|(name, leaf)| Some(((*name).to_owned(), leaf?)));
        let properties: Map<String, Value> = named.collect();
        let mut schema = json!({ "type": "object", "properties": properties, "required": required });
        for part in more {
            schema.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        }
        schema
    })
}

fn args() -> impl Strategy<Value = Value> {
    let values = vec![
        json!(1),
        json!(5),
        json!("1"),
        json!("5"),
        json!("x"),
        json!(""),
        json!(null),
        json!(true),
        json!("true"),
    ];
    let value = prop::option::weighted(0.7, prop::sample::select(values));
    [value.clone(), value.clone(), value].prop_map(|values| {
        let named = NAMES.iter().zip(values).filter_map(|(name, value)| Some(((*name).to_owned(), value?)));
        Value::Object(named.collect())
    })
}

proptest! {
    #[test]
    fn what_comes_out_fits_and_what_fitted_stays(schema in schema(), sent in args()) {
        let plain = jsonschema::validator_for(&schema).unwrap();
        let Ok(compiled) = InputSchema::compile(schema.clone()) else { return Ok(()) };
        let result = check(&compiled, &sent);
        if let Ok(got) = &result {
            prop_assert!(plain.is_valid(got), "{schema}\n{sent}\n{got}");
        }
        if plain.is_valid(&sent) {
            let got = result.map_err(|refused| TestCaseError::fail(format!("{schema}\n{sent}\n{refused:?}")))?;
            for (name, value) in sent.as_object().unwrap() {
                prop_assert_eq!(got.get(name), Some(value), "{} of {} under {}", name, sent, schema);
            }
        } else if let Ok(got) = &result
            && !schema.to_string().contains("default")
        {
            // Each change was needed: with any one of them taken back it would not fit. A default that is filled
            // in afterwards may have changed what is needed.
            for (name, value) in sent.as_object().unwrap() {
                if got.get(name) != Some(value) {
                    let mut back = got.clone();
                    back[name] = value.clone();
                    prop_assert!(!plain.is_valid(&back), "{name} of {sent} under {schema} gave {got}");
                }
            }
        }
    }
}
