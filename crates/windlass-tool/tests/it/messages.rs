use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_core::{Code, MAX_PROBLEMS};
use windlass_tool::{InputSchema, MAX_LISTED, MAX_SHOWN};

use crate::{check, fixtures, problems, schema};

fn trip() -> InputSchema {
    InputSchema::compile(fixtures::trip()).unwrap()
}

#[test]
fn a_nested_doubly_wrong_object() {
    let args = json!({ "to": { "city": 7, "country": "norway" }, "class": "third", "people": 0 });
    let error = check(&trip(), &args).unwrap_err().into_error("book");
    assert_eq!(error.code(), Code::InvalidToolArgs);
    assert_snapshot!(error.to_string(), @r#"
    E_INVALID_TOOL_ARGS: the arguments of `book` are not valid, so it did not run; call it again, corrected. An example that fits: {"class":"first","people":1,"to":{"city":"text","country":"AA"}}
    - /class: expected one of "first", "second", got "third"
    - /people: expected at least 1, got 0
    - /to/city: expected a string (at least 1 character), got 7
    - /to/country: expected a text that matches ^[A-Z]{2}$, got "norway"
    "#);
}

#[test]
fn a_missing_argument() {
    assert_snapshot!(problems(&trip(), &json!({})).join("\n"), @r#"
    /class: is required: one of "first", "second"
    /to: is required: an object with `city`
    "#);
}

#[test]
fn an_argument_too_many() {
    let args = json!({ "to": { "city": "Oslo", "town": "Oslo" }, "class": "first" });
    assert_snapshot!(problems(&trip(), &args).join("\n"), @"/to/town: is not an argument; there are `city`, `country`");
}

#[test]
fn an_empty_text_and_a_number_in_words() {
    let args = json!({ "to": { "city": "" }, "class": "", "people": "five" });
    assert_snapshot!(problems(&trip(), &args).join("\n"), @r#"
    /class: expected one of "first", "second", got ""
    /people: expected an integer (at least 1, at most 9), got "five"
    /to/city: expected at least 1 character, got ""
    "#);
}

#[test]
fn of_alternatives_the_closest_is_explained() {
    let schema = schema(json!({ "where": { "anyOf": [
        { "type": "object", "required": ["lat", "lon"], "properties": { "lat": { "type": "number" }, "lon": { "type": "number" } } },
        { "type": "string", "pattern": "^[A-Z]" },
        { "type": "null" },
    ] } }));
    assert_snapshot!(problems(&schema, &json!({ "where": { "lat": 59.9 } })).join("\n"), @"/where/lon: is required: a number");
}

#[test]
fn many_problems_are_listed_up_to_the_bound_and_then_counted() {
    let schema = schema(json!({ "list": { "type": "array", "items": { "type": "integer" } } }));
    let args = |count: usize| json!({ "list": vec!["x"; count] });
    let at_the_bound = check(&schema, &args(MAX_PROBLEMS)).unwrap_err().into_error("t");
    assert_eq!(at_the_bound.problems().len(), MAX_PROBLEMS);
    assert!(!at_the_bound.to_string().contains("more"));
    let past = check(&schema, &args(1_000)).unwrap_err().into_error("t");
    assert_eq!(past.problems().len(), MAX_PROBLEMS);
    assert!(past.to_string().ends_with("- and 980 more"), "{past}");
}

#[test]
fn an_enumeration_is_listed_up_to_the_bound_and_then_counted() {
    let options = |count: usize| schema(json!({ "a": { "enum": (0..count).collect::<Vec<_>>() } }));
    let told = |count: usize| problems(&options(count), &json!({ "a": "x" })).join("");
    assert!(told(MAX_LISTED).ends_with("18, 19, got \"x\""), "{}", told(MAX_LISTED));
    assert!(told(MAX_LISTED + 1).ends_with("18, 19, and 1 more, got \"x\""), "{}", told(MAX_LISTED + 1));
}

#[test]
fn a_value_is_quoted_up_to_the_bound_and_then_cut() {
    let schema = schema(json!({ "a": { "type": "integer" } }));
    // Two bytes are the quotation marks.
    let told = |length: usize| problems(&schema, &json!({ "a": "x".repeat(length) })).join("");
    assert_eq!(
        told(MAX_SHOWN - 2),
        format!("/a: expected an integer, got \"{}\"", "x".repeat(MAX_SHOWN - 2))
    );
    assert_eq!(told(MAX_SHOWN - 1), format!("/a: expected an integer, got \"{}…", "x".repeat(MAX_SHOWN - 1)));
    let list = json!({ "a": vec![json!({ "b": "c" }); 100_000] });
    assert_eq!(
        problems(&schema, &list).join("").len(),
        "/a: expected an integer, got ".len() + MAX_SHOWN + "…".len()
    );
    let wide: Value =
        (0..100).map(|index| (index.to_string(), json!(1))).collect::<serde_json::Map<_, _>>().into();
    assert_eq!(
        problems(&schema, &json!({ "a": wide })),
        ["/a: expected an integer, got an object of 100 properties"]
    );
}

#[test]
fn a_tagged_object_is_explained_by_its_tag() {
    let schema = InputSchema::compile(fixtures::drawing()).unwrap();
    assert_snapshot!(problems(&schema, &json!({ "shapes": [
        { "kind": "circel", "radius": 2 }, { "width": 2, "label": "x" }, { "kind": "box", "width": 0, "label": 5 }, { "kind": "circle" }, "circle",
    ] })).join("\n"), @r#"
    /shapes/0/kind: expected one of "circle", "box", got "circel"
    /shapes/1/kind: is required: one of "box", "circle"
    /shapes/2/label: expected a string, got 5
    /shapes/2/width: expected at least 1, got 0
    /shapes/3/radius: is required: a number (more than 0)
    /shapes/4: expected an object with `kind`, `radius` or an object with `kind`, `width`, `label`, got "circle"
    "#);
}

#[test]
fn a_long_value_is_quoted_in_part() {
    let schema = schema(json!({ "a": { "type": "integer" } }));
    let message = problems(&schema, &json!({ "a": "é".repeat(1_000_000) })).join("\n");
    assert!(message.len() < 200 && message.ends_with('…'), "{message}");
}

#[test]
fn an_enumeration_with_descriptions_is_listed_like_any_other() {
    let schema = schema(json!({ "mode": { "oneOf": [
        { "const": "fast", "description": "Little time." },
        { "enum": ["slow", "slower"], "description": "Much time." },
    ] } }));
    let expected = "/mode: expected one of \"fast\", \"slow\", \"slower\", got \"now\"";
    assert_eq!(problems(&schema, &json!({ "mode": "now" })), [expected]);
}

#[test]
fn a_tool_without_arguments_names_what_it_does_not_take() {
    let schema = InputSchema::compile(json!({ "type": "object", "additionalProperties": false })).unwrap();
    assert_eq!(
        problems(&schema, &json!({ "a": 1, "b/c": 2 })),
        ["/a: is not an argument; there are none", "/b~1c: is not an argument; there are none",]
    );
}

#[test]
fn a_property_named_like_a_keyword_is_a_property() {
    let schema = |more: Value| {
        let mut schema = json!({ "type": "object" });
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        InputSchema::compile(schema).unwrap()
    };
    let named = schema(json!({ "properties": { "additionalProperties": false } }));
    for sent in [json!({}), json!({ "x": 1 })] {
        let sent = json!({ "additionalProperties": sent });
        assert_eq!(problems(&named, &sent), ["/additionalProperties: is not allowed here"]);
    }
    let dependent = schema(json!({ "dependentSchemas": { "additionalProperties": false } }));
    assert_eq!(problems(&dependent, &json!({ "a": 1, "additionalProperties": 1 })), ["is not allowed here"]);
}
