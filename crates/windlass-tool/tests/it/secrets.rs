//! What is declared secret is never quoted.

use serde_json::{Value, json};
use windlass_tool::InputSchema;

/// Must not occur in any message.
const MARK: &str = "hunter2";

fn assert_hidden(schema: Value, args: &Value) -> String {
    let schema = InputSchema::compile(schema).unwrap().with_secrets(["token"]);
    let rejection = schema.check(args.as_object().unwrap()).unwrap_err();
    let debug = format!("{rejection:?}");
    let error = rejection.into_error("tool");
    for text in [error.to_string(), format!("{error:?}"), debug, format!("{schema:?}")] {
        assert!(!text.contains(MARK), "{text}");
    }
    error.to_string().lines().skip(1).collect::<Vec<_>>().join("\n")
}

fn about(token: Value) -> Value {
    let mut schema =
        json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["token"] });
    schema["properties"]["token"] = token;
    schema
}

#[test]
fn a_problem_with_a_secret_does_not_quote_it() {
    let lines = assert_hidden(about(json!({ "type": "integer" })), &json!({ "token": MARK }));
    assert_eq!(lines, "- /token: expected an integer");
}

#[test]
fn nothing_inside_a_secret_is_quoted_and_its_names_are_part_of_it() {
    let token = json!({ "type": "object", "additionalProperties": false, "properties": {
        "list": { "type": "array", "maxItems": 1, "items": { "enum": ["a"] } },
    }, "propertyNames": { "maxLength": 4 } });
    let lines = assert_hidden(about(token), &json!({ "token": { "list": [MARK, MARK], MARK: 1 }, "n": "x" }));
    assert_eq!(
        lines,
        [
            r#"- /n: expected an integer, got "x""#,
            "- /token: expected at most 1 item",
            r#"- /token: expected one of "a""#,
            "- /token: is not allowed as a name: a name is a string (at most 4 characters)",
            "- /token: is not an argument; there are `list`",
        ]
        .join("\n")
    );
}

#[test]
fn what_holds_a_secret_is_quoted_without_it() {
    for whole in [
        json!({ "not": { "required": ["n"] } }),
        json!({ "oneOf": [{ "required": ["n"] }, { "required": ["token"] }] }),
        json!({ "const": { "n": 2 } }),
        json!({ "enum": [{ "n": 2 }] }),
        json!({ "anyOf": [{ "const": 1 }, { "const": 2 }] }),
        json!({ "maxProperties": 1 }),
        json!({ "unevaluatedProperties": false }),
    ] {
        let mut schema = json!({ "type": "object" });
        schema.as_object_mut().unwrap().extend(whole.as_object().unwrap().clone());
        assert_hidden(schema, &json!({ "n": 1, "token": MARK }));
    }
}

#[test]
fn alternatives_that_do_not_fit_a_secret_do_not_quote_it() {
    let token = json!({ "anyOf": [
        { "type": "object", "required": ["kind"], "properties": { "kind": { "const": "a" } } },
        { "type": "object", "required": ["kind"], "properties": { "kind": { "const": "b" } } },
        { "type": "string", "maxLength": 2 },
    ] });
    assert_hidden(about(token.clone()), &json!({ "token": MARK }));
    assert_hidden(about(token.clone()), &json!({ "token": { "kind": MARK } }));
    assert_hidden(about(token), &json!({ "token": [MARK] }));
}

#[test]
fn no_example_shows_a_secret() {
    let token =
        json!({ "type": "string", "minLength": 9, "examples": [MARK.repeat(2)], "default": MARK.repeat(3) });
    let mut schema = about(token);
    schema["required"] = json!(["n"]);
    let compiled = InputSchema::compile(schema.clone()).unwrap().with_secrets(["token"]);
    assert_eq!(compiled.example(), Some(&json!({ "n": 1 })));
    let error =
        compiled.check(json!({ "token": "short", "n": 1 }).as_object().unwrap()).unwrap_err().into_error("t");
    assert!(!error.to_string().contains(MARK), "{error}");
    schema["examples"] = json!([{ "n": 3, "token": MARK.repeat(2) }]);
    let stated = InputSchema::compile(schema.clone()).unwrap().with_secrets(["token"]);
    assert_eq!(stated.example(), Some(&json!({ "n": 3 })));
    schema["required"] = json!(["n", "token"]);
    let compiled = InputSchema::compile(schema).unwrap().with_secrets(["token".to_owned()]);
    assert_eq!(compiled.example(), None, "an example without it would not fit");
}

#[test]
fn a_secret_is_coerced_like_any_other_argument() {
    let schema = InputSchema::compile(about(json!({ "type": "integer" }))).unwrap().with_secrets(["token"]);
    let checked = schema.check(json!({ "token": "5" }).as_object().unwrap()).unwrap();
    assert_eq!(Value::Object(checked), json!({ "token": 5 }));
}
