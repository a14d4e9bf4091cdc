use std::borrow::Cow;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::Tokenizable;
use super::fields::{self, Extra, Fields, RecordType, Source, conversions, entry, write_extra};
use crate::error::{Code, Error};
use crate::json::{self, MAX_DEPTH};
use crate::time::Timestamp;
use crate::trust::Label;

/// The raw form of [`Thought`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawThought {
    /// Unique in its session; not empty.
    #[schemars(length(min = 1))]
    pub id: String,
    /// What was thought; empty only beside a payload.
    pub content: Tokenizable,
    /// What the provider wants back to the letter, for example a signature; never null, and nested at most
    /// [`MAX_DEPTH`] levels.
    #[serde(default, deserialize_with = "read_payload", skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "payload_schema")]
    pub payload: Option<Value>,
    /// Which wire may be sent the payload; there exactly if a payload is.
    #[serde(default, deserialize_with = "fields::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1))]
    pub replay_tag: Option<String>,
    /// When it was first thought.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Who wrote it.
    #[serde(default, deserialize_with = "fields::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Label")]
    pub label: Option<Label>,
}

fn read_payload<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    json::deserialize(deserializer).map(Some)
}

fn payload_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["object", "array", "string", "number", "boolean"] })
}

/// A piece of a model's reasoning.
///
/// Some providers hand out reasoning that only they can read, and want it back to the letter in the next
/// request. That is the payload, and the replay tag names who may have it: no other wire is ever sent it.
///
/// ```
/// use serde_json::json;
/// use windlass_core::{Code, Thought};
///
/// let mut raw = json!({
///     "id": "th_1", "content": "", "payload": { "encrypted": "gAAAA" }, "replayTag": "openai-responses",
///     "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z",
/// });
/// assert_eq!(Thought::try_from(&raw)?.replay(), Some(("openai-responses", &json!({ "encrypted": "gAAAA" }))));
///
/// raw.as_object_mut().unwrap().remove("replayTag");
/// let error = Thought::try_from(&raw).unwrap_err();
/// assert_eq!(error.code(), Code::InvalidThought);
/// assert_eq!(error.problems()[0].pointer, "/replayTag");
/// # Ok::<(), windlass_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Thought(Arc<Inner>);

#[derive(Debug, PartialEq)]
struct Inner {
    raw: RawThought,
    extra: Extra,
}

const TYPE: RecordType = RecordType { name: "Thought", code: Code::InvalidThought };

impl Thought {
    /// Builds a thought.
    ///
    /// Fails with `E_INVALID_INITIAL_THOUGHT_VALUE` and lists every problem.
    pub fn new(mut raw: RawThought) -> Result<Self, Error> {
        // Moved over, not written: writing would walk a payload of any depth.
        let payload = raw.payload.take();
        let mut value = fields::written(&raw);
        if let (Value::Object(map), Some(payload)) = (&mut value, payload) {
            map.insert("payload".to_owned(), payload);
        }
        let payload =
            Arc::into_inner(Self::read(&value, Source::Caller)?.0).and_then(|read| read.raw.payload);
        // The raw form itself, not what was read of it: its content may have been counted already.
        Ok(Self(Arc::new(Inner { raw: RawThought { payload, ..raw }, extra: None })))
    }

    /// True exactly if `Thought::try_from(value)` would succeed.
    pub fn is_thought(value: &Value) -> bool {
        Self::try_from(value).is_ok()
    }

    fn read(value: &Value, source: Source) -> Result<Self, Error> {
        let mut fields = Fields::of(value, TYPE)?;
        let id = fields.required("id", fields::filled);
        let content: Option<Tokenizable> =
            fields.required("content", |value| fields::text(value).map(Into::into));
        let payload = fields.optional("payload", payload);
        let replay_tag = fields.optional("replayTag", fields::filled::<String>);
        let created_at = fields.required("createdAt", fields::time);
        let updated_at = fields.required("updatedAt", fields::time);
        let label = fields.extensible("label", source);
        // Whether a field is there, be it right or wrong, so that one mistake is told once.
        let (has_payload, has_tag) = (fields.has("payload"), fields.has("replayTag"));
        if has_payload && !has_tag {
            fields.problem("replayTag", "is required beside a payload: it names who may be sent it");
        }
        if has_tag && !has_payload {
            fields.problem("replayTag", "says who may be sent a payload, and there is none");
        }
        if content.as_ref().is_some_and(|content| content == "") && !has_payload {
            fields.problem("content", "must not be empty unless there is a payload");
        }
        let complete = || {
            Some(RawThought {
                id: id?,
                content: content?,
                payload,
                replay_tag,
                created_at: created_at?,
                updated_at: updated_at?,
                label,
            })
        };
        let (raw, extra) = fields.build(source, complete)?;
        Ok(Self(Arc::new(Inner { raw, extra })))
    }

    /// The id of this thought.
    pub fn id(&self) -> &str {
        &self.0.raw.id
    }

    /// What was thought; may be empty beside a payload.
    pub fn content(&self) -> &Tokenizable {
        &self.0.raw.content
    }

    /// The provider's payload and the tag of the wire that may be sent it.
    pub fn replay(&self) -> Option<(&str, &Value)> {
        Some((self.0.raw.replay_tag.as_deref()?, self.0.raw.payload.as_ref()?))
    }

    /// When it was first thought.
    pub fn created_at(&self) -> Timestamp {
        self.0.raw.created_at
    }

    /// When it was last changed.
    pub fn updated_at(&self) -> Timestamp {
        self.0.raw.updated_at
    }

    /// Who wrote it. No label means untrusted.
    pub fn label(&self) -> Option<&Label> {
        self.0.raw.label.as_ref()
    }
}

fn payload(value: &Value) -> Result<Value, String> {
    if value.is_null() {
        return Err("must not be null; leave it out".to_owned());
    }
    if json::is_deeper_than(value, MAX_DEPTH) {
        return Err(format!("is nested more than {MAX_DEPTH} levels deep"));
    }
    json::normalise(Cow::Borrowed(value)).map_err(|(_, reason)| reason)
}

conversions!(Thought from RawThought);

impl Serialize for Thought {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Inner { raw, extra } = &*self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &raw.id)?;
        map.serialize_entry("content", &raw.content)?;
        entry(&mut map, "payload", raw.payload.as_ref())?;
        entry(&mut map, "replayTag", raw.replay_tag.as_ref())?;
        map.serialize_entry("createdAt", &raw.created_at)?;
        map.serialize_entry("updatedAt", &raw.updated_at)?;
        entry(&mut map, "label", raw.label.as_ref())?;
        write_extra(&mut map, extra)?;
        map.end()
    }
}
