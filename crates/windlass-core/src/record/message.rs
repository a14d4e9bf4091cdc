use std::sync::Arc;

use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::MediaRef;
use super::fields::{self, Extra, Fields, RecordType, Source, conversions, entry, invalid, write_extra};
use crate::error::{Code, Error, Problem};
use crate::time::Timestamp;

/// Who speaks in a [`Message`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// The person, or the program, that asks.
    User,
    /// The model.
    Assistant,
}

/// The raw form of [`Message`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawMessage {
    /// Unique in its session; not empty.
    #[schemars(length(min = 1))]
    pub id: String,
    /// Who speaks.
    pub role: Role,
    /// What is said; may be left out beside an attachment.
    #[serde(default, deserialize_with = "fields::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub content: Option<String>,
    /// What came with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<MediaRef>,
    /// When it was first said.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// Something that the user or the model said: a text, attachments, or both.
#[derive(Clone, Debug, PartialEq)]
pub struct Message(Arc<Inner>);

#[derive(Debug, PartialEq)]
struct Inner {
    id: Arc<str>,
    role: Role,
    content: Option<Arc<str>>,
    attachments: Vec<MediaRef>,
    created_at: Timestamp,
    updated_at: Timestamp,
    extra: Extra,
}

const TYPE: RecordType = RecordType { name: "Message", code: Code::InvalidMessage };

struct Parts {
    id: Option<Arc<str>>,
    role: Option<Role>,
    content: Option<Arc<str>>,
    attachments: Option<Vec<MediaRef>>,
    created_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
}

impl Message {
    /// A message that is a text and nothing else.
    pub fn text(
        id: impl Into<Arc<str>>,
        role: Role,
        content: impl Into<Arc<str>>,
        at: Timestamp,
    ) -> Result<Self, Error> {
        let parts = Parts {
            id: Some(id.into()),
            role: Some(role),
            content: Some(content.into()),
            attachments: None,
            created_at: Some(at),
            updated_at: Some(at),
        };
        parts.build(Source::Caller, Vec::new(), None)
    }

    /// Builds a message.
    ///
    /// Fails with `E_INVALID_INITIAL_MESSAGE_VALUE` and lists every problem.
    pub fn new(raw: RawMessage) -> Result<Self, Error> {
        let parts = Parts {
            id: Some(raw.id.into()),
            role: Some(raw.role),
            content: raw.content.map(Into::into),
            attachments: Some(raw.attachments),
            created_at: Some(raw.created_at),
            updated_at: Some(raw.updated_at),
        };
        parts.build(Source::Caller, Vec::new(), None)
    }

    /// True exactly if `Message::try_from(value)` would succeed.
    pub fn is_message(value: &Value) -> bool {
        Self::try_from(value).is_ok()
    }

    fn read(value: &Value, source: Source) -> Result<Self, Error> {
        let mut fields = Fields::of(value, TYPE)?;
        let parts = Parts {
            id: fields.required("id", |value| fields::text(value).map(Into::into)),
            role: fields.required("role", fields::typed),
            content: fields.optional("content", |value| fields::text(value).map(Into::into)),
            attachments: fields.optional("attachments", |value| MediaRef::read_list(value, source)),
            created_at: fields.required("createdAt", fields::time),
            updated_at: fields.required("updatedAt", fields::time),
        };
        let (problems, extra) = fields.finish(source);
        parts.build(source, problems, extra)
    }

    /// The id of this message.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Who speaks.
    pub fn role(&self) -> Role {
        self.0.role
    }

    /// What is said; empty if only attachments were sent.
    pub fn content(&self) -> &str {
        self.0.content.as_deref().unwrap_or_default()
    }

    /// What came with it.
    pub fn attachments(&self) -> &[MediaRef] {
        &self.0.attachments
    }

    /// When it was first said.
    pub fn created_at(&self) -> Timestamp {
        self.0.created_at
    }

    /// When it was last changed.
    pub fn updated_at(&self) -> Timestamp {
        self.0.updated_at
    }
}

impl Parts {
    fn build(self, source: Source, mut problems: Vec<Problem>, extra: Extra) -> Result<Message, Error> {
        if self.id.as_deref() == Some("") {
            problems.push(Problem::at("/id", "must not be empty"));
        }
        let attachments = self.attachments.unwrap_or_default();
        if let Some(message) = MediaRef::unknown_word(&attachments, source) {
            problems.push(Problem::at("/attachments", message));
        }
        let content = self.content.filter(|content| !content.is_empty());
        let is_read = |p: &Problem| !matches!(p.pointer.as_str(), "/content" | "/attachments");
        if content.is_none() && attachments.is_empty() && problems.iter().all(is_read) {
            problems.push(Problem::at("/content", "a message needs a text or at least one attachment"));
        }
        let complete = move || {
            Some(Inner {
                id: self.id?,
                role: self.role?,
                content,
                attachments,
                created_at: self.created_at?,
                updated_at: self.updated_at?,
                extra,
            })
        };
        match complete() {
            Some(inner) if problems.is_empty() => Ok(Message(Arc::new(inner))),
            _ => Err(invalid(TYPE, problems)),
        }
    }
}

conversions!(Message from RawMessage);

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let message = &*self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &message.id)?;
        map.serialize_entry("role", &message.role)?;
        entry(&mut map, "content", message.content.as_ref())?;
        if !message.attachments.is_empty() {
            map.serialize_entry("attachments", &message.attachments)?;
        }
        map.serialize_entry("createdAt", &message.created_at)?;
        map.serialize_entry("updatedAt", &message.updated_at)?;
        write_extra(&mut map, &message.extra)?;
        map.end()
    }
}
