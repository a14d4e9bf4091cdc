//! What handlers may return, and that it comes out as it went in.

use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use windlass_core::record::MediaKind;
use windlass_core::{
    Args, ArtifactRef, Code, Effect, IntoToolOutput, Media, ModalityHazard, Outcome, RawMedia, ToolOutput,
    TrustTier, tool_fn,
};

use crate::support::{Recorder, Trace, unchecked};

#[derive(Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// What an executor gives back of what a handler returned.
async fn output_of<O: IntoToolOutput + Clone + Send + Sync + 'static>(value: O) -> ToolOutput {
    let tool = tool_fn("give", "Gives it back.", Effect::Pure, move |_: Nothing| {
        let value = value.clone();
        async move { Ok(value) }
    });
    let executor = unchecked(tool).unwrap().executor(Arc::new(Recorder::new(&Trace::default())));
    executor.call(Args::read("{}")).await.unwrap()
}

fn text(text: &str) -> ToolOutput {
    ToolOutput::Text(text.to_owned())
}

#[derive(Clone, Serialize)]
struct Report {
    city: &'static str,
    degrees: i64,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "lowercase")]
enum Sky {
    Clear,
}

#[tokio::test(start_paused = true)]
async fn a_text_is_itself_and_any_other_value_its_json() {
    assert_eq!(output_of("Rain \"today\"\n".to_owned()).await, text("Rain \"today\"\n"));
    assert_eq!(output_of("Rain \u{1} ☔").await, text("Rain \u{1} ☔"));
    assert_eq!(output_of(Some("Rain")).await, text("Rain"));
    assert_eq!(output_of(Sky::Clear).await, text("clear"));
    assert_eq!(output_of(()).await, text(""));
    assert_eq!(output_of(None::<String>).await, text(""));
    assert_eq!(output_of("null").await, text("null"));
    assert_eq!(output_of(vec![1, 2]).await, text("[1,2]"));
    assert_eq!(output_of(Vec::<u16>::new()).await, text("[]"));
    assert_eq!(output_of(true).await, text("true"));
    assert_eq!(output_of(u64::MAX).await, text("18446744073709551615"));
    assert_eq!(
        output_of(Report { city: "Oslo", degrees: -3 }).await,
        text(r#"{"city":"Oslo","degrees":-3}"#)
    );
}

#[tokio::test(start_paused = true)]
async fn bytes_come_out_as_they_went_in() {
    let bytes = Bytes::from_static(b"\xff\xfe\0 not UTF-8 \xc3\x28");
    let expected = ToolOutput::Bytes(bytes.clone());
    assert_eq!(output_of(expected.clone()).await, expected);
    assert_eq!(output_of(bytes.clone()).await, expected);
    assert_eq!(output_of(bytes.to_vec()).await, expected);
    assert_eq!(output_of(Vec::<u8>::new()).await, ToolOutput::Bytes(Bytes::new()));
    assert_eq!(output_of(Some(bytes)).await, expected);
    assert_eq!(output_of(None::<Bytes>).await, text(""));
    assert_eq!(output_of(text("as it is")).await, text("as it is"));
}

#[tokio::test(start_paused = true)]
async fn a_result_that_lies_in_the_spool_is_referred_to() {
    let artifact = |bytes: &str| ArtifactRef::describe("csv", bytes.as_bytes());
    let (one, other) = (artifact("a,b\n"), artifact("c"));
    assert_eq!(output_of(one.clone()).await, ToolOutput::Artifact(one.clone()));
    let both = vec![one, other];
    assert_eq!(output_of(both.clone()).await, ToolOutput::Artifacts(both));
    assert_eq!(output_of(Vec::<ArtifactRef>::new()).await, text(""));
}

#[tokio::test(start_paused = true)]
async fn media_stay_media() {
    let image = |id: &str| {
        let raw = RawMedia {
            id: id.to_owned(),
            kind: MediaKind::Image,
            mime_type: "image/png".to_owned(),
            filename: "map.png".to_owned(),
            trust_tier: TrustTier::ThirdPartyPublic,
            modality_hazard: ModalityHazard::OpaquePerceptual,
            digest: None,
            byte_length: None,
        };
        Media::new(raw, Bytes::from_static(b"\x89PNG")).unwrap()
    };
    assert_eq!(output_of(image("1")).await, ToolOutput::Media(image("1")));
    assert_eq!(output_of(Some(image("1"))).await, ToolOutput::Media(image("1")));
    let both = vec![image("1"), image("2")];
    assert_eq!(output_of(both.clone()).await, ToolOutput::MediaList(both));
    assert_eq!(output_of(Vec::<Media>::new()).await, text(""));
}

#[tokio::test(start_paused = true)]
async fn a_number_that_is_not_finite_is_no_result() {
    assert_eq!(output_of(1.5_f64).await, text("1.5"));
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(number.into_tool_output().is_err());
    }
    assert!(f32::NAN.into_tool_output().is_err());
    assert!(Some(f64::NAN).into_tool_output().is_err());
    assert_eq!(output_of(None::<f32>).await, text(""));
}

#[derive(Clone)]
struct Unspeakable;

impl Serialize for Unspeakable {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("no words for it"))
    }
}

#[tokio::test(start_paused = true)]
async fn a_value_that_does_not_serialise_is_lost_and_the_effect_is_not_denied() {
    let tool = tool_fn("give", "Gives it back.", Effect::Once, |_: Nothing| async { Ok(Unspeakable) });
    let host = Arc::new(Recorder::new(&Trace::default()));
    let error = unchecked(tool).unwrap().executor(host.clone()).call(Args::read("{}")).await.unwrap_err();
    assert_eq!((error.error.code(), error.outcome), (Code::ToolDownstream, Outcome::Succeeded));
    let expected = "`give` ran and took effect, but its result could not be kept: no words for it. \
                    Do not call it again to get it";
    assert_eq!(error.error.message(), expected);
    assert_eq!((host.starts().len(), host.ends().len()), (1, 1));
}
