use serde_json::{Value, json};
use windlass_core::{RawRetrievable, Retrievable, TrustTier};

use super::{
    check, check_required, check_round_trip, check_unknown_fields, edited, outline, remove, set, stored,
};
use crate::support::at;

pub(super) fn valid() -> Value {
    json!({
        "id": "ret_1",
        "content": "Opening hours: 9 to 5.",
        "trustTier": "third-party-public",
        "source": "https://example.org/hours",
        "kind": "page",
        "score": 0.83,
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T00:00:01.500Z",
    })
}

#[test]
fn every_required_field_is_required() {
    check_required::<Retrievable>(&["id", "content", "trustTier", "source", "createdAt", "updatedAt"]);
}

#[test]
fn each_field_has_its_rule() {
    check::<Retrievable>(&[
        (&[], &[]),
        (&[remove("kind"), remove("score")], &[]),
        (&[set("id", "")], &["/id"]),
        (&[set("content", "")], &["/content"]),
        (&[set("content", 7)], &["/content"]),
        (&[set("source", "")], &["/source"]),
        (&[set("source", json!({}))], &["/source"]),
        (&[set("kind", "")], &["/kind"]),
        (&[set("kind", 7)], &["/kind"]),
        (&[set("score", 0)], &[]),
        (&[set("score", -17.5)], &[]),
        (&[set("score", f64::MAX)], &[]),
        (&[set("score", u64::MAX)], &[]),
        (&[set("score", "0.83")], &["/score"]),
        (&[set("inline", true)], &[]),
        (&[set("inline", "yes")], &["/inline"]),
        (&[set("createdAt", 1_767_225_600_000_i64), set("updatedAt", "2026-01-01T01:00:00+01:00")], &[]),
        (&[set("createdAt", "today")], &["/createdAt"]),
        (&[set("updatedAt", true)], &["/updatedAt"]),
        (
            &[set("id", ""), set("trustTier", "mine"), remove("source"), set("score", false)],
            &["/id", "/score", "/source", "/trustTier"],
        ),
    ]);
}

#[test]
fn the_trust_tier_is_one_of_three_words() {
    let tier = |word: &str| set("trustTier", word);
    check::<Retrievable>(&[
        (&[tier("first-party")], &[]),
        (&[tier("third-party-public")], &[]),
        (&[tier("third-party-private")], &[]),
        (&[tier("First-Party")], &["/trustTier"]),
        (&[tier("firstParty")], &["/trustTier"]),
        (&[tier("third-party")], &["/trustTier"]),
        (&[tier("")], &["/trustTier"]),
        (&[set("trustTier", 1)], &["/trustTier"]),
        (&[set("trustTier", Value::Null)], &["/trustTier"]),
    ]);
}

#[test]
fn a_tier_of_another_version_is_trusted_least_and_written_back() {
    let foreign = edited(valid(), &[set("trustTier", "first-party-audited")]);
    let found: Retrievable = stored(&foreign);
    assert_eq!(found.trust_tier(), &TrustTier::Unknown("first-party-audited".into()));
    for known in [TrustTier::ThirdPartyPublic, TrustTier::ThirdPartyPrivate, TrustTier::FirstParty] {
        assert_eq!(found.trust_tier().min(&known), found.trust_tier());
    }
    let written = serde_json::to_value(&found).unwrap();
    assert_eq!(written["trustTier"], "first-party-audited");
    assert_eq!(stored::<Retrievable>(&written), found);
    // Nobody can make one of it in code either.
    let raw: RawRetrievable = serde_json::from_value(valid()).unwrap();
    let error =
        Retrievable::new(RawRetrievable { trust_tier: found.trust_tier().clone(), ..raw }).unwrap_err();
    assert_eq!(
        error.problems()[0].to_string(),
        "/trustTier: expected one of third-party-public, third-party-private, first-party, \
         got \"first-party-audited\""
    );
    assert!(serde_json::from_value::<Retrievable>(edited(valid(), &[set("trustTier", 7)])).is_err());
}

#[test]
fn public_content_is_trusted_less_than_private_and_that_less_than_our_own() {
    let mut tiers = [TrustTier::FirstParty, TrustTier::ThirdPartyPublic, TrustTier::ThirdPartyPrivate];
    tiers.sort();
    assert_eq!(tiers, [TrustTier::ThirdPartyPublic, TrustTier::ThirdPartyPrivate, TrustTier::FirstParty]);
}

#[test]
fn a_score_that_json_cannot_write_is_refused() {
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let raw: RawRetrievable = serde_json::from_value(valid()).unwrap();
        let error = Retrievable::new(RawRetrievable { score: Some(wrong), ..raw }).unwrap_err();
        assert_eq!(error.problems()[0].pointer, "/score");
    }
}

#[test]
fn a_valid_retrievable_has_its_values_and_defaults() {
    let found = Retrievable::try_from(valid()).unwrap();
    assert_eq!(serde_json::to_value(&found).unwrap(), edited(valid(), &[set("inline", false)]));
    assert_eq!((found.id(), found.content().as_str()), ("ret_1", "Opening hours: 9 to 5."));
    assert_eq!(found.trust_tier(), &TrustTier::ThirdPartyPublic);
    assert_eq!(
        (found.source(), found.kind(), found.score()),
        ("https://example.org/hours", Some("page"), Some(0.83))
    );
    assert!(!found.inline());
    assert_eq!((found.created_at(), found.updated_at()), (at(0), at(1500)));
    let bare = Retrievable::try_from(edited(valid(), &[remove("kind"), remove("score")])).unwrap();
    assert_eq!((bare.kind(), bare.score()), (None, None));
}

#[test]
fn unknown_fields_are_refused_by_constructors_and_kept_by_storage() {
    check_unknown_fields::<Retrievable>();
}

#[test]
fn what_is_written_reads_back_as_the_same_retrievable() {
    check_round_trip(&Retrievable::try_from(valid()).unwrap());
    check_round_trip(
        &Retrievable::try_from(edited(valid(), &[remove("kind"), set("inline", true)])).unwrap(),
    );
}

#[test]
fn the_schema_names_every_field_and_no_default_tier() {
    let (properties, required) = outline::<Retrievable>();
    let always = ["content", "createdAt", "id", "source", "trustTier", "updatedAt"];
    assert_eq!(required, always);
    let mut all: Vec<_> = always.into_iter().chain(["inline", "kind", "score"]).collect();
    all.sort_unstable();
    assert_eq!(properties, all);
    let schema = Retrievable::schema().to_value();
    let tier = &schema["properties"]["trustTier"];
    assert_eq!(tier["enum"], json!(["third-party-public", "third-party-private", "first-party"]));
    assert_eq!(tier.get("default"), None);
    assert_eq!(schema["properties"]["inline"]["default"], json!(false));
}
