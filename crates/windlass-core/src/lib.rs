//! Values and contracts of Windlass, an agent development kit.
//!
//! This crate holds what everything else agrees on and does nothing by itself: it has no runtime, no
//! I/O, no clock and no source of random bits. Those come in through [`Clock`], [`Entropy`], [`Model`],
//! [`Journal`] and [`Host`](tool::Host).
//!
//! - What a call *is*: [`checksum`], [`Args`], [`ToolCallId`], in [`identity`].
//! - What is kept of it: [`ToolCall`], [`TurnToolCallContent`], [`ToolMessage`], and beside it [`Message`],
//!   [`Thought`], [`Memory`], [`Retrievable`], [`Media`], [`Identity`], in [`record`].
//! - How long a text is for a model: [`Tokenizable`], counted by [`Tokenizers`].
//! - What users write: [`TypedTool`], in [`tool`]; what results are made of: [`ArtifactType`] and [`Spool`].
//! - What a model is asked: [`Model`], in [`model`], with [`render::Block`]s made in [`render`].
//! - What happened and what is shown: [`Fact`] and [`Event`], in [`event`].
//!
//! Users depend on the crate `windlass`, which re-exports all of this together with the loop.

mod artifact;
mod cancel;
mod entropy;
mod error;
pub mod event;
pub mod identity;
mod journal;
pub mod json;
pub mod model;
pub mod record;
pub mod render;
pub mod spool;
mod time;
mod tokens;
pub mod tool;
pub mod trust;

pub use artifact::{ArtifactType, NamedType, Text};
pub use cancel::{Cancel, Cancelled, Wakers};
pub use entropy::Entropy;
pub use error::{Code, Error, MAX_PROBLEMS, MAX_QUOTED_BYTES, Problem};
pub use event::{Entry, Event, EventKind, Fact, Status, StopReason, TurnEnd};
pub use identity::{
    Args, Checksum, Digest, DispatchId, EffectiveChecksum, OperationId, SessionId, ToolCallId, TurnId,
    canonical, checksum,
};
pub use journal::{Journal, JournalFuture};
pub use model::{Conversation, Model, ModelDelta, Usage};
pub use record::{
    ArtifactRef, Identity, Media, MediaSource, Memory, Message, ModalityHazard, Outcome, RawIdentity,
    RawMedia, RawMemory, RawMessage, RawRetrievable, RawThought, RawToolCall, RawToolMessage,
    RawTurnToolCallContent, Retrievable, Role, Thought, Tokenizable, ToolCall, ToolMessage, ToolResults,
    TranscriptMessage, TrustTier, TurnToolCallContent,
};
pub use spool::{Spool, SpoolWriter};
pub use time::{Clock, Sleep, Timestamp};
pub use tokens::{Exactness, TokenCount, TokenCounter, Tokenizers};
pub use tool::{
    Approval, ArgsCheck, ArtifactTool, Concurrency, Definition, Disposition, DynamicTool, Effect,
    Interrupted, IntoToolOutput, OnCollision, OrToolError, Progress, RawTool, Reconciled, Refusal, Tool,
    ToolContext, ToolDescription, ToolError, ToolOutput, TypedTool, Values, tool_fn,
};
