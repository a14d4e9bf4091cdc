use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::fields::{self, Extra, Fields, RecordType, Source, entry, invalid, write_extra};
use super::{MediaChunks, MediaKind, MediaRef, MediaSource, ModalityHazard, TrustTier};
use crate::error::{Code, Error, Problem};
use crate::identity::Digest;

/// The longest file name of a medium, in bytes, which is what file systems take.
pub const MAX_FILENAME_BYTES: usize = 255;

/// The longest half of a media type, in bytes, by RFC 6838.
pub const MAX_MIME_NAME_BYTES: usize = 127;

/// The raw form of [`Media`]: everything but the bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawMedia {
    /// Unique in its session; not empty.
    #[schemars(length(min = 1))]
    pub id: String,
    /// What it is.
    pub kind: MediaKind,
    /// Its media type, `type/subtype` without parameters: `image/*`, `audio/*` or `video/*` for those kinds,
    /// any other for a document.
    #[schemars(regex(pattern = "^[0-9A-Za-z][0-9A-Za-z!#$&^_.+-]*/[0-9A-Za-z][0-9A-Za-z!#$&^_.+-]*$"))]
    pub mime_type: String,
    /// Its file name: one name, no path, no control characters, [`MAX_FILENAME_BYTES`] at most.
    #[schemars(length(min = 1, max = MAX_FILENAME_BYTES))]
    pub filename: String,
    /// Who vouches for its origin. There is no default.
    pub trust_tier: TrustTier,
    /// What a model may meet in it. There is no default.
    pub modality_hazard: ModalityHazard,
    /// SHA-256 of its bytes, where it is known.
    #[serde(default, deserialize_with = "fields::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Digest")]
    pub digest: Option<Digest>,
    /// Its length in bytes, where it is known.
    #[serde(default, deserialize_with = "fields::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub byte_length: Option<u64>,
}

/// An image, a sound, a film or a document: what is known about it, and a way to its bytes that can be taken
/// again and again.
///
/// In JSON it is its metadata, never its bytes. One that was read from JSON therefore has no source until it is
/// given one again. Two media are equal if their metadata are.
///
/// ```
/// use bytes::Bytes;
/// use windlass_core::record::{MediaKind, ModalityHazard, RawMedia, TrustTier};
/// use windlass_core::{Code, Media};
///
/// let raw = RawMedia {
///     id: "med_1".into(),
///     kind: MediaKind::Image,
///     mime_type: "image/png".into(),
///     filename: "map.png".into(),
///     trust_tier: TrustTier::ThirdPartyPrivate,
///     modality_hazard: ModalityHazard::OpaquePerceptual,
///     digest: None,
///     byte_length: None,
/// };
/// let map = Media::new(raw, Bytes::from_static(b"\x89PNG"))?;
/// assert_eq!(map.byte_length(), Some(4));
/// assert!(map.open().is_ok());
///
/// let stored: Media = serde_json::from_str(&serde_json::to_string(&map).unwrap()).unwrap();
/// assert_eq!(stored, map);
/// assert_eq!(stored.open().err().map(|error| error.code()), Some(Code::MediaSourceMissing));
/// # Ok::<(), windlass_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Media {
    metadata: Arc<Metadata>,
    source: Option<Arc<dyn MediaSource>>,
}

#[derive(Debug, PartialEq)]
struct Metadata {
    raw: RawMedia,
    extra: Extra,
}

const TYPE: RecordType = RecordType { name: "Media", code: Code::InvalidMedia };

impl Media {
    /// Builds a medium. If `byteLength` is left out, it is what the source says.
    ///
    /// Fails with `E_INVALID_INITIAL_MEDIA_VALUE` and lists every problem.
    pub fn new(raw: RawMedia, source: impl MediaSource) -> Result<Self, Error> {
        Self::try_from(raw)?.with_source(source)
    }

    /// The same medium with a way to its bytes, for one that was read from JSON.
    ///
    /// Fails with `E_INVALID_INITIAL_MEDIA_VALUE` if the source has another length than the metadata say.
    pub fn with_source(self, source: impl MediaSource) -> Result<Self, Error> {
        let metadata = match (self.byte_length(), source.byte_length()) {
            (Some(said), Some(found)) if said != found => {
                let message = format!("says {said} bytes, and the source has {found}");
                return Err(invalid(TYPE, vec![Problem::at("/byteLength", message)]));
            }
            (None, Some(found)) => {
                let raw = RawMedia { byte_length: Some(found), ..self.metadata.raw.clone() };
                Arc::new(Metadata { raw, extra: self.metadata.extra.clone() })
            }
            _ => self.metadata,
        };
        Ok(Self { metadata, source: Some(Arc::new(source)) })
    }

    /// True exactly if `Media::try_from(value)` would succeed: if the value describes a medium.
    pub fn is_media(value: &Value) -> bool {
        Self::try_from(value).is_ok()
    }

    fn read(value: &Value, source: Source) -> Result<Self, Error> {
        let mut fields = Fields::of(value, TYPE)?;
        let id = fields.required("id", fields::filled);
        let kind = fields.required("kind", fields::typed);
        let mime_type = fields.required("mimeType", mime_type);
        let filename = fields.required("filename", filename);
        let trust_tier = fields.required("trustTier", |value| TrustTier::read(value, source));
        let modality_hazard = fields.required("modalityHazard", |value| ModalityHazard::read(value, source));
        let digest = fields.optional("digest", fields::parsed);
        let byte_length = fields.optional("byteLength", fields::typed);
        if let (Some(kind), Some(mime_type)) = (kind, &mime_type)
            && kind != kind_of(mime_type)
        {
            let own = kind_of(mime_type);
            fields.problem("mimeType", format!("{mime_type:?} is of kind {own}, and `kind` says {kind}"));
        }
        let complete = || {
            Some(RawMedia {
                id: id?,
                kind: kind?,
                mime_type: mime_type?,
                filename: filename?,
                trust_tier: trust_tier?,
                modality_hazard: modality_hazard?,
                digest,
                byte_length,
            })
        };
        let (raw, extra) = fields.build(source, complete)?;
        Ok(Self { metadata: Arc::new(Metadata { raw, extra }), source: None })
    }

    /// Begins a new reading at the first byte.
    ///
    /// Fails with `E_MEDIA_SOURCE_MISSING` if this medium was read from JSON and given no source since.
    pub fn open(&self) -> Result<MediaChunks, Error> {
        let source = self.source.as_ref().ok_or_else(|| {
            let message = format!(
                "the medium {:?} was read from JSON, which holds no bytes; give it a source with `with_source`",
                crate::error::shorten(self.id().to_owned(), 40)
            );
            Error::new(Code::MediaSourceMissing, message)
        })?;
        Ok(source.open())
    }

    /// True if [`open`](Self::open) has a source to read from.
    pub fn has_source(&self) -> bool {
        self.source.is_some()
    }

    /// The reference that stands for this medium in messages and results.
    pub fn to_ref(&self) -> MediaRef {
        MediaRef::to(self)
    }

    /// The id of this medium.
    pub fn id(&self) -> &str {
        &self.metadata.raw.id
    }

    /// What it is.
    pub fn kind(&self) -> MediaKind {
        self.metadata.raw.kind
    }

    /// Its media type.
    pub fn mime_type(&self) -> &str {
        &self.metadata.raw.mime_type
    }

    /// Its file name.
    pub fn filename(&self) -> &str {
        &self.metadata.raw.filename
    }

    /// Who vouches for its origin.
    pub fn trust_tier(&self) -> &TrustTier {
        &self.metadata.raw.trust_tier
    }

    /// What a model may meet in it.
    pub fn modality_hazard(&self) -> &ModalityHazard {
        &self.metadata.raw.modality_hazard
    }

    /// SHA-256 of its bytes, if it is known.
    pub fn digest(&self) -> Option<Digest> {
        self.metadata.raw.digest
    }

    /// Its length in bytes, if it is known.
    pub fn byte_length(&self) -> Option<u64> {
        self.metadata.raw.byte_length
    }
}

/// A media type without parameters: two names of RFC 6838 with a slash between them.
fn mime_type(value: &Value) -> Result<String, String> {
    let text = fields::text(value)?;
    let is_name = |name: &str| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte);
        name.len() <= MAX_MIME_NAME_BYTES
            && name.bytes().all(fits)
            && name.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
    };
    match text.split_once('/') {
        Some((kind, subtype)) if is_name(kind) && is_name(subtype) => Ok(text.to_owned()),
        _ => Err(format!("expected a media type such as \"image/png\", without parameters, got {text:?}")),
    }
}

/// The kind that a media type stands for.
fn kind_of(mime_type: &str) -> MediaKind {
    let family = mime_type.split_once('/').map_or(mime_type, |(family, _)| family);
    let kinds = [MediaKind::Image, MediaKind::Audio, MediaKind::Video];
    let named = kinds.into_iter().find(|kind| family.eq_ignore_ascii_case(&kind.to_string()));
    named.unwrap_or(MediaKind::Document)
}

/// One name, not a path, that does nothing to whoever prints it.
fn filename(value: &Value) -> Result<String, String> {
    let name: String = fields::filled(value)?;
    if name.len() > MAX_FILENAME_BYTES {
        return Err(format!("has {} bytes, at most {MAX_FILENAME_BYTES} are allowed", name.len()));
    }
    if name == "." || name == ".." || name.contains(['/', '\\']) {
        return Err(format!("expected a file name, not a path, got {name:?}"));
    }
    if name.contains(is_obeyed) {
        return Err(format!("must not have control, direction or invisible characters, got {name:?}"));
    }
    Ok(name)
}

/// Characters that do something to whoever prints them, or that nobody sees.
fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// Describes a medium; it has no source until [`Media::with_source`] gives it one.
impl TryFrom<RawMedia> for Media {
    type Error = Error;

    fn try_from(raw: RawMedia) -> Result<Self, Error> {
        Self::read(&fields::written(&raw), Source::Caller)
    }
}

fields::json_conversions!(Media from RawMedia);

impl PartialEq for Media {
    fn eq(&self, other: &Self) -> bool {
        self.metadata == other.metadata
    }
}

impl fmt::Debug for Media {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Media")
            .field("metadata", &self.metadata)
            .field("has_source", &self.has_source())
            .finish_non_exhaustive()
    }
}

impl Serialize for Media {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Metadata { raw, extra } = &*self.metadata;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &raw.id)?;
        map.serialize_entry("kind", &raw.kind)?;
        map.serialize_entry("mimeType", &raw.mime_type)?;
        map.serialize_entry("filename", &raw.filename)?;
        map.serialize_entry("trustTier", &raw.trust_tier)?;
        map.serialize_entry("modalityHazard", &raw.modality_hazard)?;
        entry(&mut map, "digest", raw.digest.as_ref())?;
        entry(&mut map, "byteLength", raw.byte_length.as_ref())?;
        write_extra(&mut map, extra)?;
        map.end()
    }
}
