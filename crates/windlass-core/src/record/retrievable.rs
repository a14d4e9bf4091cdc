use std::sync::Arc;

use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::fields::{self, Extra, Fields, RecordType, Source, conversions, entry, write_extra};
use super::{Tokenizable, TrustTier};
use crate::error::{Code, Error};
use crate::time::Timestamp;

/// The raw form of [`Retrievable`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawRetrievable {
    /// Unique in its session; not empty.
    #[schemars(length(min = 1))]
    pub id: String,
    /// What was found; not empty.
    #[schemars(length(min = 1))]
    pub content: Tokenizable,
    /// Who vouches for it. There is no default.
    pub trust_tier: TrustTier,
    /// Where it was found: an address, a path, the name of a collection; not empty.
    #[schemars(length(min = 1))]
    pub source: String,
    /// What it is, in a word of whoever retrieves: `policy`, `page`; not empty.
    #[serde(default, deserialize_with = "fields::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1))]
    pub kind: Option<String>,
    /// How well it fits, on the scale of whoever retrieves.
    #[serde(default, deserialize_with = "fields::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub score: Option<f64>,
    /// True asks the renderer for the content instead of a handle.
    #[serde(default)]
    pub inline: bool,
    /// When the content was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A piece of knowledge that was looked up for the model.
///
/// ```
/// use serde_json::json;
/// use windlass_core::{Retrievable, TrustTier};
///
/// let mut raw = json!({
///     "id": "ret_1", "content": "Opening hours: 9 to 5.", "trustTier": "third-party-public",
///     "source": "https://example.org/hours", "kind": "page", "score": 0.83,
///     "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z",
/// });
/// let found = Retrievable::try_from(&raw)?;
/// assert_eq!((found.trust_tier(), found.inline()), (&TrustTier::ThirdPartyPublic, false));
///
/// raw.as_object_mut().unwrap().remove("trustTier");
/// assert_eq!(Retrievable::try_from(&raw).unwrap_err().problems()[0].to_string(), "/trustTier: is required");
/// # Ok::<(), windlass_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Retrievable(Arc<Inner>);

#[derive(Debug, PartialEq)]
struct Inner {
    raw: RawRetrievable,
    extra: Extra,
}

const TYPE: RecordType = RecordType { name: "Retrievable", code: Code::InvalidRetrievable };

impl Retrievable {
    /// Builds a retrievable.
    ///
    /// Fails with `E_INVALID_INITIAL_RETRIEVABLE_VALUE` and lists every problem.
    pub fn new(raw: RawRetrievable) -> Result<Self, Error> {
        Self::read(&fields::written(&raw), Source::Caller)?;
        // The raw form itself, not what was read of it: its content may have been counted already.
        Ok(Self(Arc::new(Inner { raw, extra: None })))
    }

    /// True exactly if `Retrievable::try_from(value)` would succeed.
    pub fn is_retrievable(value: &Value) -> bool {
        Self::try_from(value).is_ok()
    }

    fn read(value: &Value, source: Source) -> Result<Self, Error> {
        let mut fields = Fields::of(value, TYPE)?;
        let id = fields.required("id", fields::filled);
        let content = fields.required("content", fields::filled);
        let trust_tier = fields.required("trustTier", |value| TrustTier::read(value, source));
        let found_at = fields.required("source", fields::filled);
        let kind = fields.optional("kind", fields::filled);
        let score = fields.optional("score", fields::number);
        let inline = fields.optional("inline", fields::boolean).unwrap_or(false);
        let created_at = fields.required("createdAt", fields::time);
        let updated_at = fields.required("updatedAt", fields::time);
        let complete = || {
            Some(RawRetrievable {
                id: id?,
                content: content?,
                trust_tier: trust_tier?,
                source: found_at?,
                kind,
                score,
                inline,
                created_at: created_at?,
                updated_at: updated_at?,
            })
        };
        let (raw, extra) = fields.build(source, complete)?;
        Ok(Self(Arc::new(Inner { raw, extra })))
    }

    /// The id of this retrievable.
    pub fn id(&self) -> &str {
        &self.0.raw.id
    }

    /// What was found.
    pub fn content(&self) -> &Tokenizable {
        &self.0.raw.content
    }

    /// Who vouches for it. A tier of another version is [`TrustTier::Unknown`], the least trusted.
    pub fn trust_tier(&self) -> &TrustTier {
        &self.0.raw.trust_tier
    }

    /// Where it was found.
    pub fn source(&self) -> &str {
        &self.0.raw.source
    }

    /// What it is, if whoever retrieved it said so.
    pub fn kind(&self) -> Option<&str> {
        self.0.raw.kind.as_deref()
    }

    /// How well it fits, if whoever retrieved it said so.
    pub fn score(&self) -> Option<f64> {
        self.0.raw.score
    }

    /// True asks the renderer for the content instead of a handle.
    pub fn inline(&self) -> bool {
        self.0.raw.inline
    }

    /// When the content was made.
    pub fn created_at(&self) -> Timestamp {
        self.0.raw.created_at
    }

    /// When it was last changed.
    pub fn updated_at(&self) -> Timestamp {
        self.0.raw.updated_at
    }
}

conversions!(Retrievable from RawRetrievable);

impl Serialize for Retrievable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Inner { raw, extra } = &*self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &raw.id)?;
        map.serialize_entry("content", &raw.content)?;
        map.serialize_entry("trustTier", &raw.trust_tier)?;
        map.serialize_entry("source", &raw.source)?;
        entry(&mut map, "kind", raw.kind.as_ref())?;
        entry(&mut map, "score", raw.score.as_ref())?;
        map.serialize_entry("inline", &raw.inline)?;
        map.serialize_entry("createdAt", &raw.created_at)?;
        map.serialize_entry("updatedAt", &raw.updated_at)?;
        write_extra(&mut map, extra)?;
        map.end()
    }
}
