use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::StreamExt;
use serde_json::{Value, json};
use windlass_core::record::{MAX_FILENAME_BYTES, MAX_MIME_NAME_BYTES, MediaChunks, MediaKind, MediaRef};
use windlass_core::{Code, Error, Media, MediaSource, ModalityHazard, RawMedia, TrustTier};

use super::{
    check, check_required, check_round_trip, check_unknown_fields, edited, outline, remove, set, stored,
};

pub(super) fn valid() -> Value {
    json!({
        "id": "med_1",
        "kind": "image",
        "mimeType": "image/png",
        "filename": "map.png",
        "trustTier": "third-party-private",
        "modalityHazard": "opaque-perceptual",
    })
}

fn raw() -> RawMedia {
    serde_json::from_value(valid()).unwrap()
}

#[test]
fn every_required_field_is_required() {
    check_required::<Media>(&["id", "kind", "mimeType", "filename", "trustTier", "modalityHazard"]);
}

#[test]
fn each_field_has_its_rule() {
    let digest = "e0b6feaa14a993179f474568e2c0a63075752fe3a8bc629bc0cd1442a002448e";
    check::<Media>(&[
        (&[], &[]),
        (&[set("id", "")], &["/id"]),
        (&[set("kind", "hologram")], &["/kind"]),
        (&[set("kind", 7)], &["/kind"]),
        (&[set("digest", digest), set("byteLength", 0)], &[]),
        (&[set("digest", "E0B6")], &["/digest"]),
        (&[set("byteLength", -1)], &["/byteLength"]),
        (&[set("byteLength", 1.5)], &["/byteLength"]),
        (&[set("bytes", "aGVsbG8=")], &["/bytes"]),
        (&[set("trustTier", "first-party")], &[]),
        (&[set("trustTier", "mine")], &["/trustTier"]),
        (&[set("modalityHazard", "inert")], &[]),
        (&[set("modalityHazard", "extractable-instructions")], &[]),
        (&[set("modalityHazard", "harmless")], &["/modalityHazard"]),
        (&[set("modalityHazard", 0)], &["/modalityHazard"]),
        (
            &[
                set("id", ""),
                set("mimeType", "png"),
                remove("filename"),
                set("trustTier", ""),
                remove("modalityHazard"),
            ],
            &["/filename", "/id", "/mimeType", "/modalityHazard", "/trustTier"],
        ),
    ]);
}

#[test]
fn the_media_type_is_two_names_and_a_slash() {
    let mime = |text: &str| set("mimeType", text);
    for text in
        ["text/plain", "application/vnd.oasis.opendocument.text", "application/x-7z+z", "x/1", "TEXT/HTML"]
    {
        check::<Media>(&[(&[set("kind", "document"), mime(text)], &[])]);
    }
    for text in [
        "",
        "/",
        "text",
        "text/",
        "/plain",
        "text/plain/x",
        "text/plain; charset=utf-8",
        "text /plain",
        "text/pl\nain",
        "text/*",
        "-x/plain",
        "text/.plain",
        "tëxt/plain",
    ] {
        check::<Media>(&[(&[set("kind", "document"), mime(text)], &["/mimeType"])]);
    }
    let long = "a".repeat(MAX_MIME_NAME_BYTES);
    check::<Media>(&[
        (&[set("kind", "document"), mime(&format!("{long}/{long}"))], &[]),
        (&[set("kind", "document"), mime(&format!("{long}a/{long}"))], &["/mimeType"]),
        (&[set("kind", "document"), mime(&format!("{long}/{long}a"))], &["/mimeType"]),
        (&[set("kind", "document"), set("mimeType", 7)], &["/mimeType"]),
    ]);
}

#[test]
fn the_kind_and_the_media_type_agree() {
    let rows = [
        ("image", "image/png"),
        ("image", "IMAGE/PNG"),
        ("audio", "audio/ogg"),
        ("video", "video/mp4"),
        ("document", "application/pdf"),
        ("document", "text/plain"),
        ("document", "imagery/png"),
    ];
    for (kind, mime) in rows {
        for other in ["image", "audio", "video", "document"] {
            let expected: &[&str] = if other == kind { &[] } else { &["/mimeType"] };
            check::<Media>(&[(&[set("kind", other), set("mimeType", mime)], expected)]);
        }
    }
}

#[test]
fn the_file_name_is_a_name_and_not_a_path() {
    for name in ["a", ".png", "...", "karte für Oslo (2).png", "地图.png", "a:b", "~"] {
        check::<Media>(&[(&[set("filename", name)], &[])]);
    }
    for name in [
        "",
        ".",
        "..",
        "/",
        "a/b",
        "../a",
        "a\\b",
        "C:\\a",
        "a\0",
        "a\nb",
        "a\u{7f}",
        "a\u{85}b",
        "\u{1b}[2J",
    ] {
        check::<Media>(&[(&[set("filename", name)], &["/filename"])]);
    }
    let at_the_bound = "é".repeat(MAX_FILENAME_BYTES / 2) + "a";
    assert_eq!(at_the_bound.len(), MAX_FILENAME_BYTES);
    check::<Media>(&[
        (&[set("filename", &at_the_bound)], &[]),
        (&[set("filename", format!("{at_the_bound}a"))], &["/filename"]),
        (&[set("filename", 7)], &["/filename"]),
    ]);
}

#[test]
fn words_of_another_version_are_taken_for_the_worst_and_written_back() {
    let foreign = edited(valid(), &[set("trustTier", "notarised"), set("modalityHazard", "radioactive")]);
    let media: Media = stored(&foreign);
    assert_eq!(media.trust_tier(), &TrustTier::Unknown("notarised".into()));
    assert!(media.trust_tier() < &TrustTier::ThirdPartyPublic);
    assert_eq!(media.modality_hazard(), &ModalityHazard::Unknown("radioactive".into()));
    assert!(media.modality_hazard() < &ModalityHazard::OpaquePerceptual);
    assert_eq!(serde_json::to_value(&media).unwrap(), foreign);
    assert_eq!(stored::<Media>(&foreign), media);
}

async fn bytes(media: &Media) -> Vec<u8> {
    let mut chunks = media.open().unwrap();
    let mut all = Vec::new();
    while let Some(chunk) = chunks.next().await {
        all.extend_from_slice(&chunk.unwrap());
    }
    all
}

#[tokio::test]
async fn the_bytes_can_be_read_again_and_again_and_side_by_side() {
    let media = Media::new(raw(), Bytes::from_static(b"\x89PNG")).unwrap();
    let unfinished = media.open().unwrap();
    assert_eq!(bytes(&media).await, b"\x89PNG");
    assert_eq!(bytes(&media.clone()).await, b"\x89PNG");
    assert_eq!(unfinished.map(Result::unwrap).collect::<Vec<_>>().await, [Bytes::from_static(b"\x89PNG")]);
    let empty = Media::new(raw(), Bytes::new()).unwrap();
    assert_eq!((bytes(&empty).await, empty.byte_length()), (Vec::new(), Some(0)));
}

#[tokio::test]
async fn a_source_of_ones_own_is_opened_once_for_each_reading() {
    struct Pieces(Arc<AtomicUsize>);
    impl MediaSource for Pieces {
        fn open(&self) -> MediaChunks {
            self.0.fetch_add(1, Ordering::Relaxed);
            let pieces = [Ok(Bytes::from_static(b"one ")), Ok(Bytes::from_static(b"two"))];
            Box::pin(futures_util::stream::iter(pieces))
        }
    }
    let opened = Arc::new(AtomicUsize::new(0));
    let source: Arc<dyn MediaSource> = Arc::new(Pieces(opened.clone()));
    let media = Media::new(raw(), source).unwrap();
    assert_eq!(opened.load(Ordering::Relaxed), 0);
    assert_eq!((bytes(&media).await, bytes(&media).await), (b"one two".to_vec(), b"one two".to_vec()));
    assert_eq!(opened.load(Ordering::Relaxed), 2);
    assert_eq!(media.byte_length(), None);
}

#[tokio::test]
async fn a_source_that_fails_says_so_in_its_stream() {
    struct Gone;
    impl MediaSource for Gone {
        fn open(&self) -> MediaChunks {
            let error = Error::new(Code::MediaUnreadable, "the file is gone").transient();
            Box::pin(futures_util::stream::iter([Err(error)]))
        }
    }
    let media = Media::new(raw(), Gone).unwrap();
    let error = pin!(media.open().unwrap()).next().await.unwrap().unwrap_err();
    assert_eq!((error.code(), error.is_transient()), (Code::MediaUnreadable, true));
}

#[tokio::test]
async fn what_was_read_from_json_has_no_bytes_until_it_is_given_a_source() {
    let media = Media::new(raw(), Bytes::from_static(b"\x89PNG")).unwrap();
    let written = serde_json::to_value(&media).unwrap();
    assert_eq!(written, edited(valid(), &[set("byteLength", 4)]), "metadata, never bytes");
    let read: Media = stored(&written);
    assert_eq!(read, media);
    assert_eq!((media.has_source(), read.has_source()), (true, false));
    let error = read.open().err().unwrap();
    assert_eq!(error.code(), Code::MediaSourceMissing);
    assert!(error.to_string().contains("med_1"), "{error}");
    let again = read.with_source(Bytes::from_static(b"\x89PNG")).unwrap();
    assert_eq!((bytes(&again).await, again), (b"\x89PNG".to_vec(), media));
}

#[test]
fn a_source_of_another_length_is_another_medium() {
    let of_five = || RawMedia { byte_length: Some(5), ..raw() };
    assert_eq!(Media::new(of_five(), Bytes::from_static(b"hello")).unwrap().byte_length(), Some(5));
    let error = Media::new(of_five(), Bytes::from_static(b"\x89PNG")).unwrap_err();
    assert_eq!(error.code(), Code::InvalidMedia);
    assert_eq!(error.problems()[0].to_string(), "/byteLength: says 5 bytes, and the source has 4");
}

#[test]
fn a_debug_print_shows_no_bytes() {
    let media = Media::new(raw(), Bytes::from_static(b"pixels")).unwrap();
    let shown = format!("{media:?}");
    assert!(shown.contains("map.png") && !shown.contains("pixels"), "{shown}");
}

#[test]
fn a_valid_medium_has_its_values_and_a_reference() {
    let digest = "e0b6feaa14a993179f474568e2c0a63075752fe3a8bc629bc0cd1442a002448e";
    let whole = edited(valid(), &[set("digest", digest), set("byteLength", 12)]);
    let media = Media::try_from(&whole).unwrap();
    assert_eq!(serde_json::to_value(&media).unwrap(), whole);
    assert_eq!((media.id(), media.kind()), ("med_1", MediaKind::Image));
    assert_eq!((media.mime_type(), media.filename()), ("image/png", "map.png"));
    assert_eq!(media.trust_tier(), &TrustTier::ThirdPartyPrivate);
    assert_eq!(media.modality_hazard(), &ModalityHazard::OpaquePerceptual);
    assert_eq!((media.digest(), media.byte_length()), (Some(digest.parse().unwrap()), Some(12)));
    let reference: MediaRef = media.to_ref();
    assert_eq!(serde_json::to_value(&reference).unwrap(), edited(whole, &[set("type", "media")]));
    let bare = Media::try_from(valid()).unwrap().to_ref();
    assert_eq!((bare.digest, bare.byte_length), (None, None));
}

#[test]
fn unknown_fields_are_refused_by_constructors_and_kept_by_storage() {
    check_unknown_fields::<Media>();
}

#[test]
fn what_is_written_reads_back_as_the_same_medium() {
    check_round_trip(&Media::try_from(valid()).unwrap());
    check_round_trip(&Media::new(raw(), Bytes::from_static(b"\x89PNG")).unwrap());
}

#[test]
fn the_schema_names_every_field_and_no_default_for_what_must_be_decided() {
    let (properties, required) = outline::<Media>();
    let always = ["filename", "id", "kind", "mimeType", "modalityHazard", "trustTier"];
    assert_eq!(required, always);
    let mut all: Vec<_> = always.into_iter().chain(["byteLength", "digest"]).collect();
    all.sort_unstable();
    assert_eq!(properties, all);
    let schema = Media::schema().to_value();
    let hazard = &schema["properties"]["modalityHazard"];
    assert_eq!(hazard["enum"], json!(["opaque-perceptual", "extractable-instructions", "inert"]));
    assert_eq!(hazard.get("default"), None);
    assert_eq!(schema["properties"]["filename"]["maxLength"], json!(MAX_FILENAME_BYTES));
}
