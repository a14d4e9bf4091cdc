use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use super::fields::{self, Extra, Source, entry, write_extra};
use super::{Media, ModalityHazard, TrustTier};
use crate::identity::{Digest, canonical, kind};
use crate::spool::Sealed;

/// What stands under `type` in an [`ArtifactRef`]. A field, because serde does not read the tag of a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum ArtifactTag {
    Artifact,
}

/// What stands under `type` in a [`MediaRef`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum MediaTag {
    Media,
}

/// A sealed result in the spool: what it is and where it lies, never its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct ArtifactRef {
    r#type: ArtifactTag,
    /// The name of its artifact type, for example `text`.
    pub artifact_type: Arc<str>,
    /// SHA-256 of its bytes, which is its address.
    pub digest: Digest,
    /// Its length in bytes.
    pub byte_length: u64,
    /// Its number of lines; a final newline ends the last line and starts no other.
    pub line_count: u64,
    #[serde(skip)]
    extra: Extra,
}

impl ArtifactRef {
    const FIELDS: &[&str] = &["type", "artifactType", "digest", "byteLength", "lineCount"];

    /// Refers to sealed bytes as a result of this type.
    pub fn new(artifact_type: impl Into<Arc<str>>, sealed: Sealed) -> Self {
        Self {
            r#type: ArtifactTag::Artifact,
            artifact_type: artifact_type.into(),
            digest: sealed.digest,
            byte_length: sealed.byte_length,
            line_count: sealed.line_count,
            extra: None,
        }
    }

    /// Describes bytes that lie in memory.
    pub fn describe(artifact_type: impl Into<Arc<str>>, bytes: &[u8]) -> Self {
        Self::new(artifact_type, Sealed::of(bytes))
    }

    fn read(value: &Value, source: Source) -> Result<Self, String> {
        let (known, extra) = split(value, Self::FIELDS, source);
        Ok(Self { extra, ..fields::typed(&known)? })
    }
}

impl Serialize for ArtifactRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", &self.r#type)?;
        map.serialize_entry("artifactType", &self.artifact_type)?;
        map.serialize_entry("digest", &self.digest)?;
        map.serialize_entry("byteLength", &self.byte_length)?;
        map.serialize_entry("lineCount", &self.line_count)?;
        write_extra(&mut map, &self.extra)?;
        map.end()
    }
}

/// What a medium is to the one who meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MediaKind {
    /// Pixels.
    Image,
    /// Sound.
    Audio,
    /// Moving pixels, with or without sound.
    Video,
    /// Pages.
    Document,
}

impl fmt::Display for MediaKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Video => "video",
            Self::Document => "document",
        })
    }
}

/// An image, a sound, a film or a document: its description, never its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct MediaRef {
    r#type: MediaTag,
    /// The id of the [`Media`] that it refers to, where it has one.
    #[serde(default, deserialize_with = "fields::present")]
    #[schemars(with = "String")]
    pub id: Option<Arc<str>>,
    /// What it is.
    pub kind: MediaKind,
    /// Its media type, for example `image/png`.
    pub mime_type: Arc<str>,
    /// Its file name.
    pub filename: Arc<str>,
    /// Who vouches for its origin.
    pub trust_tier: TrustTier,
    /// What a model may meet in it.
    pub modality_hazard: ModalityHazard,
    /// SHA-256 of its bytes, where they are known.
    #[serde(default, deserialize_with = "fields::present")]
    #[schemars(with = "Digest")]
    pub digest: Option<Digest>,
    /// Its length in bytes, where it is known.
    #[serde(default, deserialize_with = "fields::present")]
    #[schemars(with = "u64")]
    pub byte_length: Option<u64>,
    #[serde(skip)]
    extra: Extra,
}

impl MediaRef {
    const FIELDS: &[&str] = &[
        "type",
        "id",
        "kind",
        "mimeType",
        "filename",
        "trustTier",
        "modalityHazard",
        "digest",
        "byteLength",
    ];

    pub(super) fn to(media: &Media) -> Self {
        Self {
            r#type: MediaTag::Media,
            id: Some(media.id().into()),
            kind: media.kind(),
            mime_type: media.mime_type().into(),
            filename: media.filename().into(),
            trust_tier: media.trust_tier().clone(),
            modality_hazard: media.modality_hazard().clone(),
            digest: media.digest(),
            byte_length: media.byte_length(),
            extra: None,
        }
    }

    /// The first word in a list that a constructor refuses because this version does not know it.
    pub(super) fn unknown_word(list: &[Self], source: Source) -> Option<String> {
        let in_one = |media: &Self| {
            let tier = media.trust_tier.unknown().map(|message| format!("trustTier: {message}"));
            let hazard =
                || media.modality_hazard.unknown().map(|message| format!("modalityHazard: {message}"));
            tier.or_else(hazard)
        };
        if source == Source::Store { None } else { list.iter().find_map(in_one) }
    }

    fn read(value: &Value, source: Source) -> Result<Self, String> {
        let (known, extra) = split(value, Self::FIELDS, source);
        Ok(Self { extra, ..fields::typed(&known)? })
    }

    pub(super) fn read_list(value: &Value, source: Source) -> Result<Vec<Self>, String> {
        let items =
            value.as_array().ok_or_else(|| format!("expected a list of media, got {}", kind(value)))?;
        items.iter().map(|item| Self::read(item, source)).collect()
    }
}

impl Serialize for MediaRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", &self.r#type)?;
        entry(&mut map, "id", self.id.as_ref())?;
        map.serialize_entry("kind", &self.kind)?;
        map.serialize_entry("mimeType", &self.mime_type)?;
        map.serialize_entry("filename", &self.filename)?;
        map.serialize_entry("trustTier", &self.trust_tier)?;
        map.serialize_entry("modalityHazard", &self.modality_hazard)?;
        entry(&mut map, "digest", self.digest.as_ref())?;
        entry(&mut map, "byteLength", self.byte_length.as_ref())?;
        write_extra(&mut map, &self.extra)?;
        map.end()
    }
}

/// The fields that this version knows, and what a store holds beside them.
fn split<'a>(value: &'a Value, known: &[&str], source: Source) -> (Cow<'a, Value>, Extra) {
    let Value::Object(map) = value else { return (Cow::Borrowed(value), None) };
    let is_known = |(name, _): &(&String, &Value)| known.contains(&name.as_str());
    if source == Source::Caller || map.iter().all(|entry| is_known(&entry)) {
        return (Cow::Borrowed(value), None);
    }
    let own = |(name, value): (&String, &Value)| (name.clone(), value.clone());
    let (known, extra): (Vec<_>, Vec<_>) = map.iter().partition(is_known);
    let extra = Arc::new(extra.into_iter().map(own).collect());
    (Cow::Owned(Value::Object(known.into_iter().map(own).collect())), Some(extra))
}

const EMPTY_LIST: &str = "a list of results must not be empty";

/// What a settled call produced.
///
/// In JSON a text is a string, one reference an object with `"type": "artifact"` or `"media"`, and
/// several an array of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolResults {
    /// The answer of an artifact tool, or the detail of an error.
    Text(Arc<str>),
    /// The one artifact of an ordinary call.
    Artifact(ArtifactRef),
    /// Several artifacts; never empty.
    Artifacts(Arc<[ArtifactRef]>),
    /// One medium.
    Media(MediaRef),
    /// Several media; never empty.
    MediaList(Arc<[MediaRef]>),
}

impl ToolResults {
    /// The text, if this is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What these results are, as a hash: equal for equal contents. Media whose bytes are not known count by
    /// their description.
    pub fn digest(&self) -> Digest {
        let of_media = |media: &MediaRef| {
            media.digest.unwrap_or_else(|| {
                Digest::of(canonical(&serde_json::to_value(media).unwrap_or_default()).as_bytes())
            })
        };
        let of_all = |digests: Vec<[u8; 32]>| Digest::of(&digests.concat());
        match self {
            Self::Text(text) => Digest::of(text.as_bytes()),
            Self::Artifact(artifact) => artifact.digest,
            Self::Artifacts(list) => {
                of_all(list.iter().map(|artifact| *artifact.digest.as_bytes()).collect())
            }
            Self::Media(media) => of_media(media),
            Self::MediaList(list) => of_all(list.iter().map(|media| *of_media(media).as_bytes()).collect()),
        }
    }

    /// What is wrong with these results, whatever call they belong to: a list of nothing, or in the hands of
    /// a constructor a word that this version does not know.
    pub(super) fn defect(&self, source: Source) -> Option<String> {
        let media = match self {
            Self::Artifacts(list) if list.is_empty() => return Some(EMPTY_LIST.to_owned()),
            Self::MediaList(list) if list.is_empty() => return Some(EMPTY_LIST.to_owned()),
            Self::Media(media) => std::slice::from_ref(media),
            Self::MediaList(list) => list,
            Self::Text(_) | Self::Artifact(_) | Self::Artifacts(_) => &[],
        };
        MediaRef::unknown_word(media, source)
    }

    pub(super) fn read(value: &Value, source: Source) -> Result<Self, String> {
        match value {
            Value::String(text) => Ok(Self::Text(text.as_str().into())),
            Value::Object(_) if is_media(value) => MediaRef::read(value, source).map(Self::Media),
            Value::Object(_) => ArtifactRef::read(value, source).map(Self::Artifact),
            Value::Array(items) if items.is_empty() => Err(EMPTY_LIST.to_owned()),
            Value::Array(items) if items.iter().all(is_media) => items
                .iter()
                .map(|item| MediaRef::read(item, source))
                .collect::<Result<_, _>>()
                .map(Self::MediaList),
            Value::Array(items) => items
                .iter()
                .map(|item| ArtifactRef::read(item, source))
                .collect::<Result<_, _>>()
                .map(Self::Artifacts),
            other => Err(format!("expected a text, an artifact or media, got {}", kind(other))),
        }
    }
}

fn is_media(value: &Value) -> bool {
    value.get("type").and_then(Value::as_str) == Some("media")
}

impl Serialize for ToolResults {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(serializer),
            Self::Artifact(artifact) => artifact.serialize(serializer),
            Self::Artifacts(artifacts) => artifacts.serialize(serializer),
            Self::Media(media) => media.serialize(serializer),
            Self::MediaList(media) => media.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ToolResults {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = crate::json::deserialize(deserializer)?;
        Self::read(&value, Source::Caller).map_err(de::Error::custom)
    }
}

impl JsonSchema for ToolResults {
    fn schema_name() -> Cow<'static, str> {
        "ToolResults".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let artifact = generator.subschema_for::<ArtifactRef>();
        let media = generator.subschema_for::<MediaRef>();
        schemars::json_schema!({
            "anyOf": [
                { "type": "string" },
                artifact,
                { "type": "array", "minItems": 1, "items": artifact },
                media,
                { "type": "array", "minItems": 1, "items": media },
            ],
        })
    }
}
