use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use super::fields;
use crate::identity::{Digest, kind};

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
}

impl ArtifactRef {
    /// The type of results that say nothing else.
    pub const TEXT: &str = "text";

    /// Describes bytes that lie in memory.
    pub fn describe(artifact_type: impl Into<Arc<str>>, bytes: &[u8]) -> Self {
        // `\r\n` ends with the same byte, so counting `\n` counts both terminators.
        let newlines = memchr::memchr_iter(b'\n', bytes).count() as u64;
        let has_open_line = bytes.last().is_some_and(|byte| *byte != b'\n');
        Self {
            r#type: ArtifactTag::Artifact,
            artifact_type: artifact_type.into(),
            digest: Digest::of(bytes),
            byte_length: bytes.len() as u64,
            line_count: newlines + u64::from(has_open_line),
        }
    }
}

/// An image, a sound, a film or a document: its description, never its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct MediaRef {
    r#type: MediaTag,
    /// `image`, `audio`, `video` or `document`.
    pub kind: Arc<str>,
    /// Its media type, for example `image/png`.
    pub mime_type: Arc<str>,
    /// Its file name.
    pub filename: Arc<str>,
    /// How far its origin is trusted.
    pub trust_tier: Arc<str>,
    /// What a model may meet in it.
    pub modality_hazard: Arc<str>,
    /// SHA-256 of its bytes, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// Its length in bytes, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub byte_length: Option<u64>,
}

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

    /// True for a list of nothing, which is no result.
    pub(super) fn is_empty_list(&self) -> bool {
        match self {
            Self::Artifacts(list) => list.is_empty(),
            Self::MediaList(list) => list.is_empty(),
            Self::Text(_) | Self::Artifact(_) | Self::Media(_) => false,
        }
    }

    pub(super) fn from_value(value: &Value) -> Result<Self, String> {
        match value {
            Value::String(text) => Ok(Self::Text(text.as_str().into())),
            Value::Object(_) if is_media(value) => fields::typed(value).map(Self::Media),
            Value::Object(_) => fields::typed(value).map(Self::Artifact),
            Value::Array(items) if items.is_empty() => Err("a list of results must not be empty".to_owned()),
            Value::Array(items) if items.iter().all(is_media) => fields::typed(value).map(Self::MediaList),
            Value::Array(_) => fields::typed(value).map(Self::Artifacts),
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
        Self::from_value(&value).map_err(de::Error::custom)
    }
}

impl JsonSchema for ToolResults {
    fn schema_name() -> std::borrow::Cow<'static, str> {
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
