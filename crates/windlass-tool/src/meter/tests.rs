use serde_json::json;

use super::*;
use crate::compile;

const ENOUGH: Limits = Limits { steps: 1_000, search_steps: 1_000, faults: 100 };

fn metered(schema: &Value, limits: Limits) -> Metered {
    Metered { limits, ..compile::validator(schema).unwrap() }
}

/// The least limit with which `is_done` holds.
fn least(is_done: impl Fn(u64) -> bool) -> u64 {
    (0..=1_000).find(|limit| is_done(*limit)).unwrap()
}

#[test]
fn a_validation_ends_after_its_steps() {
    let schema = json!({ "items": { "type": "integer" } });
    let verdict = |steps, value: &Value| metered(&schema, Limits { steps, ..ENOUGH }).verdict(value);
    for (value, expected) in [(json!([1, 2, 3]), Verdict::Fits), (json!([1, 2, "x"]), Verdict::Refused)] {
        let needed = least(|steps| verdict(steps, &value) != Verdict::TooMuch);
        assert_eq!(verdict(needed, &value), expected);
        assert_eq!(verdict(needed - 1, &value), Verdict::TooMuch, "one step fewer");
    }
}

#[test]
fn a_search_ends_after_its_steps_and_keeps_what_it_found() {
    let schema = json!({ "items": { "type": "integer" } });
    let value = json!(["x", "y", 3, 4, 5]);
    let faults = |search_steps| metered(&schema, Limits { search_steps, ..ENOUGH }).faults(&value);
    let needed = least(|steps| faults(steps).is_whole);
    let places = |faults: &Faults| -> Vec<String> {
        faults.errors.iter().map(|error| error.instance_path().as_str().to_owned()).collect()
    };
    assert_eq!(places(&faults(needed)), ["/0", "/1"]);
    assert!(!faults(needed - 1).is_whole);
    assert_eq!(places(&faults(needed - 1)), ["/0", "/1"]);
}

#[test]
fn what_is_found_after_the_meter_is_spent_counts_for_nothing() {
    // Once it is spent, the last object looks as if it had no `a`.
    let schema = json!({ "items": { "required": ["a"], "properties": { "a": { "type": "integer" } } } });
    let value = json!([{ "a": "x" }, { "a": "y" }, { "a": 1 }]);
    for faults in 0..4 {
        let found = metered(&schema, Limits { faults, ..ENOUGH }).faults(&value);
        let places: Vec<_> = found.errors.iter().map(|error| error.instance_path().as_str()).collect();
        assert_eq!(places, ["/0/a", "/1/a"].into_iter().take(faults).collect::<Vec<_>>(), "{faults}");
        assert_eq!(found.is_whole, faults >= 2, "{faults}");
    }
}

#[test]
fn errors_inside_alternatives_are_counted() {
    let schema = json!({ "items": { "anyOf": [{ "type": "integer" }, { "type": "null" }] } });
    let value = json!(["x", "y"]);
    let found = |faults| metered(&schema, Limits { faults, ..ENOUGH }).faults(&value);
    assert_eq!((found(6).errors.len(), found(6).is_whole), (2, true));
    assert_eq!((found(5).errors.len(), found(5).is_whole), (1, false));
    assert_eq!((found(2).errors.len(), found(2).is_whole), (0, false));
}

#[test]
fn long_texts_take_more_steps_than_short_ones() {
    let schema = json!({ "pattern": "x$" });
    let needed = |value: &Value| {
        least(|steps| metered(&schema, Limits { steps, ..ENOUGH }).verdict(value) != Verdict::TooMuch)
    };
    assert!(needed(&json!("x".repeat(1_600))) >= 100 + needed(&json!("x")));
}

#[test]
fn names_of_properties_are_checked_like_texts() {
    let schema = json!({ "propertyNames": { "enum": ["a", "b"], "maxLength": 3, "type": "string" } });
    let metered = metered(&schema, ENOUGH);
    assert_eq!(metered.verdict(&json!({ "a": 1, "b": 2 })), Verdict::Fits);
    assert_eq!(metered.verdict(&json!({ "c": 1 })), Verdict::Refused);
}

#[test]
fn the_more_an_error_copies_the_fewer_are_kept() {
    let large = json!({ "items": { "not": { "enum": ["x", "y".repeat(100_000)] } } });
    let found = compile::validator(&large).unwrap().faults(&json!(vec!["x"; MAX_FAULTS]));
    assert_eq!((found.errors.len(), found.is_whole), (MAX_COPIED_BYTES / 100_017, false));
}

#[test]
fn once_the_meter_is_spent_a_text_looks_empty() {
    use jsonschema::json::Node as _;
    let (text, meter) = (json!("a text of many letters"), Meter::new(6, 1));
    let shown = || Seen::Value(&text, &meter).as_string().map(std::borrow::Cow::into_owned);
    assert_eq!(shown().as_deref(), Some("a text of many letters"));
    assert_eq!(shown().as_deref(), Some(""));
    assert!(meter.is_spent());
}
