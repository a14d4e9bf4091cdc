use std::sync::Arc;

use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::Tokenizable;
use super::fields::{self, Extra, Fields, RecordType, Source, conversions, entry, write_extra};
use crate::error::{Code, Error};
use crate::time::Timestamp;
use crate::trust::Label;

/// The raw form of [`Memory`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawMemory {
    /// Unique in its store; not empty.
    #[schemars(length(min = 1))]
    pub id: String,
    /// What is remembered; not empty.
    #[schemars(length(min = 1))]
    pub content: Tokenizable,
    /// How sure it is, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: f64,
    /// How much it matters, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub importance: f64,
    /// When it was first remembered.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Who wrote it.
    #[serde(default, deserialize_with = "fields::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Label")]
    pub label: Option<Label>,
}

/// Something that outlives the conversation in which it was said.
///
/// ```
/// use serde_json::json;
/// use windlass_core::{Code, Memory};
///
/// let mut raw = json!({
///     "id": "mem_1", "content": "Anna is allergic to nuts.", "confidence": 0.9, "importance": 1,
///     "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z",
/// });
/// assert_eq!(Memory::try_from(&raw)?.content(), "Anna is allergic to nuts.");
///
/// raw["confidence"] = json!(90);
/// let error = Memory::try_from(&raw).unwrap_err();
/// assert_eq!(error.code(), Code::InvalidMemory);
/// assert_eq!(error.problems()[0].to_string(), "/confidence: expected a number from 0 to 1, got 90");
/// # Ok::<(), windlass_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Memory(Arc<Inner>);

#[derive(Debug, PartialEq)]
struct Inner {
    raw: RawMemory,
    extra: Extra,
}

const TYPE: RecordType = RecordType { name: "Memory", code: Code::InvalidMemory };

impl Memory {
    /// Builds a memory.
    ///
    /// Fails with `E_INVALID_INITIAL_MEMORY_VALUE` and lists every problem.
    pub fn new(raw: RawMemory) -> Result<Self, Error> {
        Self::read(&fields::written(&raw), Source::Caller)?;
        // The raw form itself, not what was read of it: its content may have been counted already.
        Ok(Self(Arc::new(Inner { raw, extra: None })))
    }

    /// True exactly if `Memory::try_from(value)` would succeed.
    pub fn is_memory(value: &Value) -> bool {
        Self::try_from(value).is_ok()
    }

    fn read(value: &Value, source: Source) -> Result<Self, Error> {
        let mut fields = Fields::of(value, TYPE)?;
        let id = fields.required("id", fields::filled);
        let content = fields.required("content", fields::filled);
        let confidence = fields.required("confidence", fields::share);
        let importance = fields.required("importance", fields::share);
        let created_at = fields.required("createdAt", fields::time);
        let updated_at = fields.required("updatedAt", fields::time);
        let label = fields.extensible("label", source);
        let complete = || {
            Some(RawMemory {
                id: id?,
                content: content?,
                confidence: confidence?,
                importance: importance?,
                created_at: created_at?,
                updated_at: updated_at?,
                label,
            })
        };
        let (raw, extra) = fields.build(source, complete)?;
        Ok(Self(Arc::new(Inner { raw, extra })))
    }

    /// The id of this memory.
    pub fn id(&self) -> &str {
        &self.0.raw.id
    }

    /// What is remembered.
    pub fn content(&self) -> &Tokenizable {
        &self.0.raw.content
    }

    /// How sure it is, from 0 to 1.
    pub fn confidence(&self) -> f64 {
        self.0.raw.confidence
    }

    /// How much it matters, from 0 to 1.
    pub fn importance(&self) -> f64 {
        self.0.raw.importance
    }

    /// When it was first remembered.
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

conversions!(Memory from RawMemory);

impl Serialize for Memory {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Inner { raw, extra } = &*self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &raw.id)?;
        map.serialize_entry("content", &raw.content)?;
        map.serialize_entry("confidence", &raw.confidence)?;
        map.serialize_entry("importance", &raw.importance)?;
        map.serialize_entry("createdAt", &raw.created_at)?;
        map.serialize_entry("updatedAt", &raw.updated_at)?;
        entry(&mut map, "label", raw.label.as_ref())?;
        write_extra(&mut map, extra)?;
        map.end()
    }
}
