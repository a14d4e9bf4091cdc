use std::sync::Arc;

use serde_json::{Value, json};

use super::{Message, ToolMessage};
use crate::identity::{Args, ToolCallId, exact_object};
use crate::time::Timestamp;

/// A call as an assistant message holds it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RequestedCall {
    /// The id that the answer must name.
    pub id: ToolCallId,
    /// The tool's name.
    pub tool: Arc<str>,
    /// The raw arguments.
    pub args: Args,
}

impl RequestedCall {
    /// One call of a reply.
    pub fn new(id: ToolCallId, tool: impl Into<Arc<str>>, args: Args) -> Self {
        Self { id, tool: tool.into(), args }
    }

    /// The arguments as the text that chat wires carry; integers of 64 bits keep every digit.
    pub fn arguments(&self) -> String {
        exact_object(self.args.object())
    }
}

/// What the model said and asked for in one reply.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AssistantMessage {
    /// The text, if there was any.
    pub content: Option<Arc<str>>,
    /// The calls, in request order.
    pub tool_calls: Vec<RequestedCall>,
    /// When the reply was whole.
    pub timestamp: Timestamp,
}

impl AssistantMessage {
    /// A reply that became whole at `timestamp`.
    pub fn new(content: Option<Arc<str>>, tool_calls: Vec<RequestedCall>, timestamp: Timestamp) -> Self {
        Self { content, tool_calls, timestamp }
    }
}

/// One message of a conversation, in the order in which a model reads them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TranscriptMessage {
    /// What whoever built the agent says.
    System {
        /// The text.
        content: Arc<str>,
        /// When it was said.
        timestamp: Timestamp,
    },
    /// What the user said.
    User(Message),
    /// What the model said and asked for.
    Assistant(AssistantMessage),
    /// The answer to one call.
    Tool(ToolMessage),
}

impl TranscriptMessage {
    /// When the message was made; for ordering, never sent.
    pub fn timestamp(&self) -> Option<Timestamp> {
        match self {
            Self::System { timestamp, .. } => Some(*timestamp),
            Self::User(message) => Some(message.created_at()),
            Self::Assistant(message) => Some(message.timestamp),
            Self::Tool(message) => message.timestamp(),
        }
    }

    /// The message in the shape of chat wires, without the fields that only this kit has.
    pub fn to_chat_message(&self) -> Value {
        match self {
            Self::System { content, .. } => json!({ "role": "system", "content": content }),
            Self::User(message) => json!({ "role": "user", "content": message.content() }),
            Self::Tool(message) => json!(message.to_chat_message()),
            Self::Assistant(message) => {
                let mut chat = json!({ "role": "assistant", "content": message.content });
                if !message.tool_calls.is_empty() {
                    chat["tool_calls"] = message.tool_calls.iter().map(chat_call).collect();
                }
                chat
            }
        }
    }
}

fn chat_call(call: &RequestedCall) -> Value {
    json!({
        "id": call.id,
        "type": "function",
        "function": { "name": call.tool, "arguments": call.arguments() },
    })
}
