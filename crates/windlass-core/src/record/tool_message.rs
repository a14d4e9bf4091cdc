use std::sync::Arc;

use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::ToolCall;
use super::fields::{self, Extra, Fields, RecordType, Source, conversions, entry, invalid, write_extra};
use crate::error::{Code, Error, Problem};
use crate::identity::ToolCallId;
use crate::time::Timestamp;
use crate::trust::Tier;

/// The raw form of [`ToolMessage`]. The first three fields are the wire's own spelling.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawToolMessage {
    /// Always `tool`.
    #[schemars(extend("const" = "tool"))]
    pub role: String,
    /// The id of the call that this answers; not empty.
    #[schemars(length(min = 1))]
    pub tool_call_id: String,
    /// The result as plain text.
    pub content: String,
    /// The name of the tool that was called.
    #[serde(
        rename = "toolName",
        default,
        deserialize_with = "fields::present",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "String", length(min = 1))]
    pub tool_name: Option<String>,
    /// True if the call failed.
    #[serde(
        rename = "isError",
        default,
        deserialize_with = "fields::present",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "bool")]
    pub is_error: Option<bool>,
    /// When the message was made, in milliseconds since 1970; for ordering, never sent.
    #[serde(default, deserialize_with = "fields::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    pub timestamp: Option<i64>,
}

/// The answer to one call, as a transcript holds it. N calls have N of these, in request order.
///
/// ```
/// use serde_json::json;
/// use windlass_core::ToolMessage;
///
/// let message = ToolMessage::try_from(&json!({
///     "role": "tool", "tool_call_id": "call_abc123", "content": "Rain.", "toolName": "weather",
/// }))?;
/// assert_eq!(
///     serde_json::to_value(message.to_chat_message()).unwrap(),
///     json!({ "role": "tool", "tool_call_id": "call_abc123", "content": "Rain." }),
/// );
/// # Ok::<(), windlass_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ToolMessage(Arc<Inner>);

#[derive(Debug, PartialEq)]
struct Inner {
    tool_call_id: ToolCallId,
    content: Arc<str>,
    tool_name: Option<Arc<str>>,
    is_error: Option<bool>,
    timestamp: Option<Timestamp>,
    tier: Tier,
    extra: Extra,
}

/// A [`ToolMessage`] as it crosses the wire: exactly three fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ChatToolMessage<'a> {
    role: &'static str,
    tool_call_id: &'a str,
    content: &'a str,
}

const TYPE: RecordType = RecordType { name: "ToolMessage", code: Code::InvalidToolMessage };

struct Parts {
    role: Option<Arc<str>>,
    tool_call_id: Option<Arc<str>>,
    content: Option<Arc<str>>,
    tool_name: Option<Arc<str>>,
    is_error: Option<bool>,
    timestamp: Option<Timestamp>,
}

impl ToolMessage {
    pub(super) fn answer(call: &ToolCall, content: Arc<str>) -> Self {
        Self(Arc::new(Inner {
            tool_call_id: call.id().clone(),
            content,
            tool_name: Some(call.tool().into()),
            is_error: Some(call.is_error()),
            timestamp: Some(call.completed_at()),
            tier: call.label().map_or(Tier::Untrusted, |label| label.tier),
            extra: None,
        }))
    }

    /// Builds a message.
    ///
    /// Fails with `E_INVALID_INITIAL_TOOL_MESSAGE_VALUE` and lists every problem.
    pub fn new(raw: RawToolMessage) -> Result<Self, Error> {
        let mut problems = Vec::new();
        let timestamp = raw.timestamp.and_then(|millis| {
            Timestamp::from_millis(millis)
                .map_err(|error| problems.push(Problem::at("/timestamp", error.message())))
                .ok()
        });
        let parts = Parts {
            role: Some(raw.role.into()),
            tool_call_id: Some(raw.tool_call_id.into()),
            content: Some(raw.content.into()),
            tool_name: raw.tool_name.map(Into::into),
            is_error: raw.is_error,
            timestamp,
        };
        parts.build(problems, None)
    }

    /// True exactly if `ToolMessage::try_from(value)` would succeed.
    pub fn is_tool_message(value: &Value) -> bool {
        Self::try_from(value).is_ok()
    }

    fn read(value: &Value, source: Source) -> Result<Self, Error> {
        let text = |value: &Value| fields::text(value).map(Into::into);
        let mut fields = Fields::of(value, TYPE)?;
        let parts = Parts {
            role: fields.required("role", text),
            tool_call_id: fields.required("tool_call_id", text),
            content: fields.required("content", text),
            tool_name: fields.optional("toolName", text),
            is_error: fields.optional("isError", fields::boolean),
            timestamp: fields.optional("timestamp", millis),
        };
        let (problems, extra) = fields.finish(source);
        parts.build(problems, extra)
    }

    /// What crosses the wire: role, id and content, none of the extensions.
    pub fn to_chat_message(&self) -> ChatToolMessage<'_> {
        ChatToolMessage { role: "tool", tool_call_id: self.0.tool_call_id.as_str(), content: &self.0.content }
    }

    /// The id of the call that this answers.
    pub fn tool_call_id(&self) -> &ToolCallId {
        &self.0.tool_call_id
    }

    /// The result as plain text.
    pub fn content(&self) -> &str {
        &self.0.content
    }

    /// The name of the tool that was called; the loop always sets it.
    pub fn tool_name(&self) -> Option<&str> {
        self.0.tool_name.as_deref()
    }

    /// Whether the call failed; the loop always sets it.
    pub fn is_error(&self) -> Option<bool> {
        self.0.is_error
    }

    /// When the message was made; the loop always sets it.
    pub fn timestamp(&self) -> Option<Timestamp> {
        self.0.timestamp
    }

    /// The authority of the content: that of the record it answers for, and none where it was read.
    pub(crate) fn tier(&self) -> Tier {
        self.0.tier
    }
}

/// A transcript's timestamps are milliseconds and nothing else.
fn millis(value: &Value) -> Result<Timestamp, String> {
    match value.as_i64() {
        Some(_) => fields::time(value),
        None => Err("expected whole milliseconds since 1970".to_owned()),
    }
}

impl Parts {
    fn build(self, mut problems: Vec<Problem>, extra: Extra) -> Result<ToolMessage, Error> {
        if self.role.as_deref().is_some_and(|role| role != "tool") {
            problems.push(Problem::at("/role", "must be \"tool\""));
        }
        if self.tool_call_id.as_deref() == Some("") {
            problems.push(Problem::at("/tool_call_id", "must not be empty"));
        }
        if self.tool_name.as_deref() == Some("") {
            problems.push(Problem::at("/toolName", "must not be empty"));
        }
        let complete = move || {
            Some(Inner {
                tool_call_id: ToolCallId::new(self.tool_call_id?)?,
                content: self.content?,
                tool_name: self.tool_name,
                is_error: self.is_error,
                timestamp: self.timestamp,
                tier: Tier::Untrusted,
                extra,
            })
        };
        match complete() {
            Some(inner) if problems.is_empty() => Ok(ToolMessage(Arc::new(inner))),
            _ => Err(invalid(TYPE, problems)),
        }
    }
}

conversions!(ToolMessage from RawToolMessage);

impl Serialize for ToolMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let message = &*self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", "tool")?;
        map.serialize_entry("tool_call_id", &message.tool_call_id)?;
        map.serialize_entry("content", &message.content)?;
        entry(&mut map, "toolName", message.tool_name.as_ref())?;
        entry(&mut map, "isError", message.is_error.as_ref())?;
        entry(&mut map, "timestamp", message.timestamp.map(Timestamp::as_millis).as_ref())?;
        write_extra(&mut map, &message.extra)?;
        map.end()
    }
}
