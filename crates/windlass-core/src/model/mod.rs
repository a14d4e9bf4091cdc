//! What the loop asks of a model, and nothing of how it is reached.
//!
//! A [`Model`] opens a [`Conversation`]; [`Block`]s are pushed to it as the turn goes on, and each
//! [`send`](Conversation::send) yields the deltas of one reply. A rules engine or a remote agent fits
//! behind it as well as a language model.

mod reply;

use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use serde::{Deserialize, Serialize};

pub use reply::{DELTA_COST, MAX_CALLS_PER_REPLY, MAX_REPLY_BYTES, Reply, ReplyBuilder, ReplyCall};

use crate::error::Error;
use crate::render::Block;
use crate::tool::ToolDescription;

/// What stands before the first message and does not change while a session lasts.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Opening {
    /// What whoever built the agent says.
    pub instructions: Option<Block>,
    /// The tools, in the order in which they were registered.
    pub tools: Vec<ToolDescription>,
}

impl Opening {
    /// Instructions and tools.
    pub fn new(instructions: Option<Block>, tools: Vec<ToolDescription>) -> Self {
        Self { instructions, tools }
    }
}

/// Whatever decides what to say and which tools to call.
///
/// # Contract
///
/// `open` is cheap and does no I/O. Two conversations of one model never influence each other.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a model",
    note = "implement `Model` for it; tests use `windlass_testing::Script`"
)]
pub trait Model: Send + Sync + 'static {
    /// Which model this is, for events and records; for example `openai:gpt-5`.
    fn name(&self) -> &str;

    /// Begins a conversation.
    fn open(&self, opening: &Opening) -> Box<dyn Conversation>;
}

impl<M: Model + ?Sized> Model for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn open(&self, opening: &Opening) -> Box<dyn Conversation> {
        (**self).open(opening)
    }
}

/// The deltas of one reply.
pub type Deltas<'a> = Pin<Box<dyn Stream<Item = Result<ModelDelta, Error>> + Send + 'a>>;

/// A conversation that only grows, between rewinds.
///
/// # Contract
///
/// Blocks are kept in the order of their pushes, and each request begins with what the request before
/// it began with. Dropping the stream that `send` returned abandons the reply; nothing of it is kept,
/// and the conversation can be sent again. `send` pushes nothing by itself: the loop pushes the reply,
/// once it is whole and has been checked.
pub trait Conversation: Send {
    /// Appends a block.
    fn push(&mut self, block: &Block);

    /// Forgets everything after the first `blocks` blocks.
    fn rewind(&mut self, blocks: usize);

    /// Asks for a reply.
    fn send(&mut self) -> Deltas<'_>;
}

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ModelDelta {
    /// A piece of the text.
    Text(String),
    /// A piece of the reasoning.
    Thought(String),
    /// A piece of a call. All pieces of one call name the same slot.
    Call {
        /// Which call of this reply; any number, as long as it is the call's own.
        slot: usize,
        /// The provider's id, once it is known. The first that is not empty counts.
        id: Option<String>,
        /// The tool's name, once it is known. The first that is not empty counts.
        tool: Option<String>,
        /// A piece of the text of the arguments.
        arguments: String,
    },
    /// What the reply has cost so far. The last one counts.
    Usage(Usage),
    /// The end of the reply. A reply without it is not whole.
    Finish(FinishReason),
}

/// Tokens that a reply, or a turn, has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens that were read.
    pub input_tokens: u64,
    /// Tokens that were written.
    pub output_tokens: u64,
}

impl Usage {
    /// The sum of two.
    #[must_use]
    pub fn plus(self, other: Usage) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
        }
    }
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum FinishReason {
    /// The model had said what it wanted to say.
    Stop,
    /// The model waits for the results of its calls.
    ToolCalls,
    /// A length limit cut the reply.
    Length,
    /// The provider withheld the rest.
    ContentFilter,
    /// Something else, as the provider sees it.
    Other,
}
