//! References to media: the words in them are typed, and those of other versions survive.

use serde_json::{Value, json};
use windlass_core::{
    Message, ModalityHazard, RawMessage, RawToolCall, RawTurnToolCallContent, ToolCall, ToolResults,
    TrustTier, TurnToolCallContent,
};

use super::{Record, check, check_round_trip, edited, media, set, stored, tool_call, tool_call_content};

fn foreign() -> Value {
    edited(
        media(),
        &[set("trustTier", "third-party"), set("modalityHazard", "text-in-image"), set("pages", 7)],
    )
}

#[test]
fn constructors_refuse_a_word_that_this_version_does_not_know() {
    for (field, word) in [("trustTier", "third-party"), ("modalityHazard", "text-in-image")] {
        let one = edited(media(), &[set(field, word)]);
        check::<ToolCall>(&[
            (&[set("results", &one)], &["/results"]),
            (&[set("results", json!([media(), one]))], &["/results"]),
        ]);
        check::<TurnToolCallContent>(&[(&[set("results", &one)], &["/results"])]);
        check::<Message>(&[(&[set("attachments", json!([media(), one]))], &["/attachments"])]);
        check::<ToolCall>(&[(&[set("results", edited(media(), &[set(field, 7)]))], &["/results"])]);
    }
}

#[test]
fn a_word_of_another_version_survives_storage_and_is_taken_for_the_worst() {
    let call: ToolCall = stored(&edited(tool_call::valid(), &[set("results", foreign())]));
    let ToolResults::Media(reference) = call.results() else { panic!("{call:?}") };
    assert_eq!(reference.trust_tier, TrustTier::Unknown("third-party".into()));
    assert_eq!(reference.modality_hazard, ModalityHazard::Unknown("text-in-image".into()));
    assert!(reference.trust_tier < TrustTier::ThirdPartyPublic);
    assert_eq!(serde_json::to_value(&call).unwrap()["results"], foreign());
    let message: Message = stored(&edited(Message::valid(), &[set("attachments", json!([foreign()]))]));
    assert_eq!(serde_json::to_value(&message).unwrap()["attachments"], json!([foreign()]));
    assert_eq!(stored::<Message>(&serde_json::to_value(&message).unwrap()), message);
}

#[test]
fn a_reference_that_was_read_from_a_store_is_refused_by_a_constructor_in_code_too() {
    let call: ToolCall = stored(&edited(tool_call::valid(), &[set("results", json!([media(), foreign()]))]));
    let pointer = |error: windlass_core::Error| error.problems()[0].pointer.clone();
    let raw: RawToolCall = serde_json::from_value(tool_call::valid()).unwrap();
    let raw = RawToolCall { results: call.results().clone(), ..raw };
    assert_eq!(pointer(ToolCall::new(raw.clone()).unwrap_err()), "/results");
    assert_eq!(ToolCall::unverified(raw).unwrap().results(), call.results());
    let raw: RawTurnToolCallContent = serde_json::from_value(tool_call_content::completed()).unwrap();
    let raw = RawTurnToolCallContent { results: Some(call.results().clone()), ..raw };
    assert_eq!(pointer(TurnToolCallContent::new(raw).unwrap_err()), "/results");
    let ToolResults::MediaList(list) = call.results() else { panic!("{call:?}") };
    let raw: RawMessage = serde_json::from_value(Message::valid()).unwrap();
    assert_eq!(
        pointer(Message::new(RawMessage { attachments: list.to_vec(), ..raw }).unwrap_err()),
        "/attachments"
    );
}

#[test]
fn a_reference_may_say_which_medium_it_is() {
    let named = edited(media(), &[set("id", "med_1")]);
    check::<Message>(&[
        (&[set("attachments", json!([named]))], &[]),
        (&[set("attachments", json!([edited(media(), &[set("id", Value::Null)])]))], &["/attachments"]),
    ]);
    let message =
        Message::try_from(edited(Message::valid(), &[set("attachments", json!([named, media()]))])).unwrap();
    assert_eq!(message.attachments()[0].id.as_deref(), Some("med_1"));
    check_round_trip(&message);
}
