//! Arguments as a model sends them: an object, or a call that is answered and never run.

use serde_json::{Value, json};
use windlass_core::identity::MAX_ARGS_BYTES;
use windlass_core::{Args, checksum, json};

use super::{nested_by_hand, sha256};

/// Arrays around a zero, this many levels with the object that holds them.
fn object_of_depth(depth: usize) -> String {
    format!("{{\"a\":{}0{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1))
}

#[test]
fn an_object_is_taken_as_it_is() {
    for text in [
        "{}",
        r#"{"city":"Oslo"}"#,
        " {\n\"b\": [1, {\"c\": null}], \"a\": 1.5 } ",
        r#"{"$raw":"a tool may have an argument of this name"}"#,
        r#"{"$raw":[1],"other":2}"#,
        &object_of_depth(128),
    ] {
        let args = Args::read(text);
        let object = json::read(text).unwrap();
        assert_eq!(args.defect(), None, "{text}");
        assert_eq!(Value::Object(args.object().clone()), object, "{text}");
        assert_eq!(args.checksum("t"), checksum("t", &object), "{text}");
    }
}

#[test]
fn a_string_that_decodes_to_an_object_is_the_object() {
    for text in ["{}", r#"{"city":"Oslo"}"#, r#"{"$raw":1}"#, &object_of_depth(128)] {
        let as_string = serde_json::to_string(text).unwrap();
        assert_eq!(Args::read(&as_string), Args::read(text), "{text}");
        assert_eq!(Args::read(&as_string).checksum("t"), Args::read(text).checksum("t"), "{text}");
        assert_eq!(Args::from_value(text.into()), Args::read(text), "{text}");
    }
}

#[test]
fn what_is_no_object_stands_under_the_raw_key_with_a_reason() {
    let deep = "[".repeat(10_000);
    let past_the_depth = object_of_depth(129);
    let rows = [
        ("[1,2]", json!([1, 2]), "expected an object, got an array"),
        ("7", json!(7), "expected an object, got a number"),
        ("null", json!(null), "expected an object, got null"),
        ("true", json!(true), "expected an object, got a boolean"),
        (r#""""#, json!(""), "expected an object, got a string"),
        (r#""Oslo""#, json!("Oslo"), "expected an object, got a string"),
        (r#""[1]""#, json!("[1]"), "expected an object, got a string"),
        (r#""\"{}\"""#, json!("\"{}\""), "expected an object, got a string"),
        (r#""{\"a\":1,\"a\":2}""#, json!(r#"{"a":1,"a":2}"#), "expected an object, got a string"),
        ("", json!(""), "EOF while parsing a value at byte 0"),
        (r#"{"a":"#, json!(r#"{"a":"#), "EOF while parsing a value at byte 5"),
        ("{'a':1}", json!("{'a':1}"), "key must be a string at byte 1"),
        ("{} {}", json!("{} {}"), "trailing characters at byte 3"),
        (r#"{"a":1,"a":1}"#, json!(r#"{"a":1,"a":1}"#), "the key \"a\" occurs twice at byte 9"),
        (r#"{"a":"\ud800"}"#, json!(r#"{"a":"\ud800"}"#), "unexpected end of hex escape at byte 12"),
        (r#"{"a":NaN}"#, json!(r#"{"a":NaN}"#), "expected value at byte 5"),
        (r#"{"a":1e400}"#, json!(r#"{"a":1e400}"#), "number out of range at byte 9"),
        (&past_the_depth, json!(past_the_depth), "nested deeper than 128 levels at byte 132"),
        (&deep, json!(deep), "nested deeper than 128 levels at byte 128"),
    ];
    for (text, raw, defect) in rows {
        let args = Args::read(text);
        let name = &text[..text.len().min(40)];
        assert_eq!(Value::Object(args.object().clone()), json!({ "$raw": raw }), "{name}");
        assert_eq!(args.defect(), Some(defect), "{name}");
        assert_eq!(args.checksum("t"), checksum("t", &json!({ "$raw": raw })), "{name}");
    }
}

#[test]
fn a_parsed_value_past_the_depth_becomes_its_text() {
    for depth in [129, 300] {
        let (value, text) = nested_by_hand(depth);
        let args = Args::from_value(value);
        assert_eq!(Value::Object(args.object().clone()), json!({ "$raw": text }), "{depth}");
        assert_eq!(args.defect(), Some("nested deeper than 128 levels"), "{depth}");
    }
    let (array, _) = nested_by_hand(127);
    assert_eq!(Args::from_value(array.clone()).object()["$raw"], array);
    let (object, _) = nested_by_hand(128);
    assert_eq!(Value::Object(Args::from_value(object.clone()).object().clone()), object);
}

#[test]
fn ten_megabytes_of_arguments_are_hashed_like_ten_bytes() {
    let long = "x".repeat(10_000_000);
    let args = Args::read(&format!("{{\"content\":\"{long}\"}}"));
    assert_eq!(args.defect(), None);
    let hashed = sha256(format!("{{\"args\":{{\"content\":\"{long}\"}},\"tool\":\"write\"}}").as_bytes());
    assert_eq!(args.checksum("write").as_bytes(), &hashed);
}

#[test]
fn the_text_of_arguments_is_bounded() {
    let sized = |bytes: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(bytes - 8));
    assert_eq!(Args::read(&sized(MAX_ARGS_BYTES)).defect(), None);
    let past = sized(MAX_ARGS_BYTES + 1);
    let args = Args::read(&past);
    assert_eq!(args.defect(), Some("the arguments have 16777217 bytes, at most 16777216 are read"));
    assert_eq!(args.object()["$raw"], past);
}
