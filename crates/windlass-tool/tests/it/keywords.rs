//! A constraint reaches the schema that a model sees, and is enforced: one row per keyword of 2020-12.

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
