//! Immutable records: what was said, thought, remembered, found and attached, and the forms that one call
//! takes.
//!
//! | form | where | exists |
//! |---|---|---|
//! | [`TurnToolCallContent`] | the event stream | from the announcement to the completion |
//! | [`ToolCall`] | history and stores | once the call has settled |
//! | [`ToolMessage`] | the transcript that a model reads | one per call, in request order |
//!
//! Every record is validated when it is built and reports *all* of its problems at once. Constructors,
//! `TryFrom` and the guards refuse unknown fields; `Deserialize`, which reads stored records and those of
//! other versions, keeps them and writes them back.

pub(crate) mod fields;
mod identity;
mod media;
mod media_source;
mod memory;
mod message;
mod results;
mod retrievable;
mod settlement;
mod thought;
mod tokenizable;
mod tool_call;
mod tool_call_content;
mod tool_message;
mod transcript;
mod vocabulary;

pub use identity::{Identity, RawIdentity};
pub use media::{MAX_FILENAME_BYTES, MAX_MIME_NAME_BYTES, Media, RawMedia};
pub use media_source::{MediaChunks, MediaSource};
pub use memory::{Memory, RawMemory};
pub use message::{Message, RawMessage, Role};
pub use results::{ArtifactRef, MediaKind, MediaRef, ToolResults};
pub use retrievable::{RawRetrievable, Retrievable};
pub use settlement::{MAX_ERROR_BYTES, Outcome, Settlement};
pub use thought::{RawThought, Thought};
pub use tokenizable::{MAX_REMEMBERED_COUNTS, Tokenizable};
pub use tool_call::{RawToolCall, ToolCall};
pub use tool_call_content::{RawTurnToolCallContent, TurnToolCallContent};
pub use tool_message::{ChatToolMessage, RawToolMessage, ToolMessage};
pub use transcript::{AssistantMessage, RequestedCall, TranscriptMessage};
pub use vocabulary::{ModalityHazard, TrustTier};
