use serde_json::{Value, json};
use windlass_core::{Identity, RawIdentity};

use super::{check, check_required, check_round_trip, check_unknown_fields, outline, set};

pub(super) fn valid() -> Value {
    json!({ "identifier": "user-4711", "representation": "Anna" })
}

#[test]
fn every_required_field_is_required() {
    check_required::<Identity>(&["identifier", "representation"]);
}

#[test]
fn each_field_has_its_rule() {
    check::<Identity>(&[
        (&[], &[]),
        (&[set("identifier", "")], &["/identifier"]),
        (&[set("representation", "")], &["/representation"]),
        (&[set("identifier", 7)], &["/identifier"]),
        (&[set("representation", Value::Null)], &["/representation"]),
        (&[set("representation", " ")], &[]),
        (&[set("identifier", ""), set("representation", json!([]))], &["/identifier", "/representation"]),
    ]);
}

#[test]
fn both_names_are_kept_apart() {
    let raw = RawIdentity { identifier: "user-4711".into(), representation: "Anna".into() };
    let identity = Identity::new(raw).unwrap();
    assert_eq!((identity.identifier(), identity.representation()), ("user-4711", "Anna"));
    assert_eq!(serde_json::to_value(&identity).unwrap(), valid());
}

#[test]
fn unknown_fields_are_refused_by_constructors_and_kept_by_storage() {
    check_unknown_fields::<Identity>();
}

#[test]
fn what_is_written_reads_back_as_the_same_identity() {
    check_round_trip(&Identity::try_from(valid()).unwrap());
}

#[test]
fn the_schema_names_every_field() {
    let (properties, required) = outline::<Identity>();
    assert_eq!(required, ["identifier", "representation"]);
    assert_eq!(properties, ["identifier", "representation"]);
    let schema = Identity::schema().to_value();
    assert_eq!(schema["properties"]["identifier"]["minLength"], json!(1));
    assert_eq!(schema["properties"]["representation"]["minLength"], json!(1));
}
