use serde_json::{Value, json};
use windlass_core::trust::{Label, Tier};
use windlass_core::{Memory, RawMemory};

use super::{
    check, check_required, check_round_trip, check_unknown_fields, edited, outline, remove, set, stored,
};
use crate::support::{at, call_id};

pub(super) fn valid() -> Value {
    json!({
        "id": "mem_1",
        "content": "Anna is allergic to nuts.",
        "confidence": 0.9,
        "importance": 1.0,
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T00:00:01.500Z",
    })
}

#[test]
fn every_required_field_is_required() {
    check_required::<Memory>(&["id", "content", "confidence", "importance", "createdAt", "updatedAt"]);
}

#[test]
fn each_field_has_its_rule() {
    check::<Memory>(&[
        (&[], &[]),
        (&[set("id", "")], &["/id"]),
        (&[set("id", 7)], &["/id"]),
        (&[set("content", "")], &["/content"]),
        (&[set("content", " ")], &[]),
        (&[set("content", json!(["text"]))], &["/content"]),
        (&[set("createdAt", 1_767_225_600_000_i64), set("updatedAt", "2026-01-01T01:00:00+01:00")], &[]),
        (&[set("createdAt", "today")], &["/createdAt"]),
        (&[set("updatedAt", Value::Null)], &["/updatedAt"]),
        (&[set("label", json!({ "tier": "user" }))], &[]),
        (&[set("label", json!({ "tier": "king" }))], &["/label"]),
        (
            &[set("id", ""), remove("content"), set("confidence", 2), set("importance", "much")],
            &["/confidence", "/content", "/id", "/importance"],
        ),
    ]);
}

#[test]
fn confidence_and_importance_are_shares() {
    for field in ["confidence", "importance"] {
        let pointer = format!("/{field}");
        for share in [json!(0), json!(1), json!(0.0), json!(1.0), json!(-0.0), json!(0.5), json!(5e-324)] {
            check::<Memory>(&[(&[set(field, share)], &[])]);
        }
        let past = [json!(1.000_000_000_000_000_2), json!(-5e-324), json!(-1), json!(2), json!(u64::MAX)];
        for other in past.into_iter().chain([json!("0.5"), json!(true), json!([0.5]), Value::Null]) {
            check::<Memory>(&[(&[set(field, other)], &[&pointer])]);
        }
    }
}

#[test]
fn a_number_that_json_cannot_write_is_refused() {
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let raw: RawMemory = serde_json::from_value(valid()).unwrap();
        let error = Memory::new(RawMemory { confidence: wrong, importance: wrong, ..raw }).unwrap_err();
        let pointers: Vec<_> = error.problems().iter().map(|problem| problem.pointer.as_str()).collect();
        assert_eq!(pointers, ["/confidence", "/importance"]);
    }
}

#[test]
fn a_valid_memory_has_its_values() {
    let labelled = edited(valid(), &[set("label", json!({ "tier": "untrusted", "call": "call_1" }))]);
    let memory = Memory::try_from(&labelled).unwrap();
    assert_eq!(serde_json::to_value(&memory).unwrap(), labelled);
    assert_eq!((memory.id(), memory.content().as_str()), ("mem_1", "Anna is allergic to nuts."));
    assert_eq!(
        (memory.confidence().to_bits(), memory.importance().to_bits()),
        (0.9_f64.to_bits(), 1.0_f64.to_bits())
    );
    assert_eq!((memory.created_at(), memory.updated_at()), (at(0), at(1500)));
    let mut label = Label::default();
    label.call = Some(call_id("call_1"));
    assert_eq!((memory.label(), label.tier), (Some(&label), Tier::Untrusted));
    assert_eq!(Memory::try_from(valid()).unwrap().label(), None);
}

#[test]
fn a_label_of_another_version_is_kept_and_trusted_no_more_than_none() {
    let foreign = json!({ "tier": "king", "seal": 7 });
    let memory: Memory = stored(&edited(valid(), &[set("label", &foreign)]));
    assert_eq!(memory.label(), None);
    assert_eq!(serde_json::to_value(&memory).unwrap()["label"], foreign);
}

#[test]
fn unknown_fields_are_refused_by_constructors_and_kept_by_storage() {
    check_unknown_fields::<Memory>();
}

#[test]
fn what_is_written_reads_back_as_the_same_memory() {
    check_round_trip(&Memory::try_from(valid()).unwrap());
    let odd = edited(valid(), &[set("confidence", 0.1 + 0.2), set("importance", 5e-324)]);
    check_round_trip(&Memory::try_from(odd).unwrap());
}

#[test]
fn the_schema_names_every_field_and_its_range() {
    let (properties, required) = outline::<Memory>();
    assert_eq!(required, ["confidence", "content", "createdAt", "id", "importance", "updatedAt"]);
    assert_eq!(properties, ["confidence", "content", "createdAt", "id", "importance", "label", "updatedAt"]);
    let schema = Memory::schema().to_value();
    for field in ["confidence", "importance"] {
        let property = &schema["properties"][field];
        assert_eq!((property["minimum"].as_f64(), property["maximum"].as_f64()), (Some(0.0), Some(1.0)));
    }
    assert_eq!(schema["properties"]["content"]["minLength"], json!(1));
}
