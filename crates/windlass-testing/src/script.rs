use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::stream::{self, StreamExt};
use serde_json::Value;
use windlass_core::model::{Deltas, FinishReason, Opening};
use windlass_core::render::Block;
use windlass_core::{Code, Conversation, Error, Model, ModelDelta, Usage};

/// A model that gives the replies it was told to give, one per request.
///
/// Each conversation begins at the first reply. A request past the last one fails and says so.
///
/// ```
/// use serde_json::json;
/// use windlass_testing::Script;
///
/// let model = Script::new()
///     .calls("weather", json!({ "city": "Oslo" }))
///     .says("Rain.");
/// # let _ = model;
/// ```
#[derive(Clone, Default)]
pub struct Script {
    replies: Vec<ScriptedReply>,
    /// What the next reply thinks before it says anything.
    thought: Option<String>,
    requests: Option<Requests>,
}

impl Script {
    /// A script without a reply.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next reply.
    #[must_use]
    pub fn reply(mut self, mut reply: ScriptedReply) -> Self {
        if let Some(thought) = self.thought.take() {
            reply.deltas.splice(0..0, pieces(&thought).map(ModelDelta::Thought));
        }
        self.replies.push(reply);
        self
    }

    /// The next reply begins with this reasoning.
    #[must_use]
    pub fn thinks(mut self, thought: impl Into<String>) -> Self {
        self.thought = Some(thought.into());
        self
    }

    /// A reply that is a text.
    #[must_use]
    pub fn says(self, text: impl AsRef<str>) -> Self {
        self.reply(ScriptedReply::new().says(text))
    }

    /// A reply that is one call.
    #[must_use]
    pub fn calls(self, tool: impl Into<String>, args: impl Into<Value>) -> Self {
        self.reply(ScriptedReply::new().calls(tool, args))
    }

    /// A reply that is several calls.
    #[must_use]
    pub fn calls_all<'a>(self, calls: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let add = |reply: ScriptedReply, (tool, args): (&str, Value)| reply.calls(tool, args);
        self.reply(calls.into_iter().fold(ScriptedReply::new(), add))
    }

    /// A reply that is one call whose arguments are this text, JSON or not.
    #[must_use]
    pub fn calls_with_text(self, tool: impl Into<String>, arguments: impl Into<String>) -> Self {
        self.reply(ScriptedReply::new().calls_with_text(tool, arguments))
    }

    /// A reply that begins with a text and breaks off, without an end.
    #[must_use]
    pub fn is_cut(self, text: impl AsRef<str>) -> Self {
        self.reply(ScriptedReply::new().says(text).cut())
    }

    /// A request that fails.
    #[must_use]
    pub fn fails(self, message: impl Into<String>) -> Self {
        self.reply(ScriptedReply::new().fails(message))
    }

    /// A reply that begins with a text and then neither goes on nor ends.
    #[must_use]
    pub fn hangs(self, text: impl AsRef<str>) -> Self {
        self.reply(ScriptedReply::new().says(text).hangs())
    }

    /// Keeps what the model is sent, for the test to look at.
    pub fn recorded(mut self) -> (Self, Requests) {
        let requests = Requests::default();
        self.requests = Some(requests.clone());
        (self, requests)
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("replies", &self.replies.len()).finish_non_exhaustive()
    }
}

/// One reply of a [`Script`], piece by piece.
///
/// It ends as a provider would end it (`toolCalls` after calls, `stop` otherwise) unless it is told to
/// end otherwise.
#[derive(Clone, Debug, Default)]
pub struct ScriptedReply {
    deltas: Vec<ModelDelta>,
    calls: usize,
    ending: Ending,
}

#[derive(Clone, Debug, Default)]
enum Ending {
    #[default]
    Natural,
    Finish(FinishReason),
    Cut,
    Failure(String),
    Hang,
}

impl ScriptedReply {
    /// A reply that is empty so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds reasoning.
    #[must_use]
    pub fn thinks(mut self, thought: impl AsRef<str>) -> Self {
        self.deltas.extend(pieces(thought.as_ref()).map(ModelDelta::Thought));
        self
    }

    /// Adds a text.
    #[must_use]
    pub fn says(mut self, text: impl AsRef<str>) -> Self {
        self.deltas.extend(pieces(text.as_ref()).map(ModelDelta::Text));
        self
    }

    /// Adds a call with an id of its own.
    #[must_use]
    pub fn calls(self, tool: impl Into<String>, args: impl Into<Value>) -> Self {
        self.calls_with_text(tool, args.into().to_string())
    }

    /// Adds a call under an id, which may be one that was used before, or empty.
    #[must_use]
    pub fn calls_as(self, id: impl Into<String>, tool: impl Into<String>, args: impl Into<Value>) -> Self {
        self.calls_text_as(id, tool, args.into().to_string())
    }

    /// Adds a call under an id, whose arguments are this text, JSON or not.
    #[must_use]
    pub fn calls_text_as(
        self,
        id: impl Into<String>,
        tool: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        self.call(Some(id.into()), tool.into(), &arguments.into())
    }

    /// Adds a call whose arguments are this text, JSON or not.
    #[must_use]
    pub fn calls_with_text(self, tool: impl Into<String>, arguments: impl Into<String>) -> Self {
        self.call(None, tool.into(), &arguments.into())
    }

    fn call(mut self, id: Option<String>, tool: String, arguments: &str) -> Self {
        let slot = self.calls;
        self.calls += 1;
        // The name first and the arguments in two pieces, as providers stream them.
        let middle = (0..=arguments.len() / 2).rev().find(|at| arguments.is_char_boundary(*at)).unwrap_or(0);
        let (first, second) = arguments.split_at(middle);
        self.deltas.push(ModelDelta::Call { slot, id, tool: Some(tool), arguments: String::new() });
        for arguments in [first, second].into_iter().filter(|piece| !piece.is_empty()) {
            self.deltas.push(ModelDelta::Call {
                slot,
                id: None,
                tool: None,
                arguments: arguments.to_owned(),
            });
        }
        self
    }

    /// Says what the reply cost.
    #[must_use]
    pub fn uses(mut self, usage: Usage) -> Self {
        self.deltas.push(ModelDelta::Usage(usage));
        self
    }

    /// Ends with this reason.
    #[must_use]
    pub fn finishes(mut self, reason: FinishReason) -> Self {
        self.ending = Ending::Finish(reason);
        self
    }

    /// Breaks off without an end.
    #[must_use]
    pub fn cut(mut self) -> Self {
        self.ending = Ending::Cut;
        self
    }

    /// Ends with an error.
    #[must_use]
    pub fn fails(mut self, message: impl Into<String>) -> Self {
        self.ending = Ending::Failure(message.into());
        self
    }

    /// Neither goes on nor ends.
    #[must_use]
    pub fn hangs(mut self) -> Self {
        self.ending = Ending::Hang;
        self
    }

    fn play(&self, number: usize) -> Deltas<'static> {
        let mut deltas: Vec<_> =
            self.deltas.iter().cloned().map(|delta| Ok(name_call(delta, number))).collect();
        match &self.ending {
            Ending::Natural if self.calls > 0 => deltas.push(Ok(ModelDelta::Finish(FinishReason::ToolCalls))),
            Ending::Natural => deltas.push(Ok(ModelDelta::Finish(FinishReason::Stop))),
            Ending::Finish(reason) => deltas.push(Ok(ModelDelta::Finish(*reason))),
            Ending::Failure(message) => {
                deltas.push(Err(Error::new(Code::ModelFailed, message.as_str()).transient()));
            }
            Ending::Cut => {}
            Ending::Hang => return stream::iter(deltas).chain(stream::pending()).boxed(),
        }
        stream::iter(deltas).boxed()
    }
}

/// Gives a call without an id one that no other call of the script has.
fn name_call(delta: ModelDelta, reply: usize) -> ModelDelta {
    match delta {
        ModelDelta::Call { slot, id: None, tool: Some(tool), arguments } => {
            let id = Some(format!("call_{}_{}", reply + 1, slot + 1));
            ModelDelta::Call { slot, id, tool: Some(tool), arguments }
        }
        other => other,
    }
}

/// A text in the pieces in which a model might stream it: word by word.
fn pieces(text: &str) -> impl Iterator<Item = String> {
    text.split_inclusive(' ').map(str::to_owned)
}

impl Model for Script {
    fn name(&self) -> &'static str {
        "script"
    }

    fn open(&self, opening: &Opening) -> Box<dyn Conversation> {
        Box::new(Playing {
            replies: self.replies.clone(),
            next: 0,
            opening: opening.clone(),
            blocks: Vec::new(),
            requests: self.requests.clone(),
        })
    }
}

struct Playing {
    replies: Vec<ScriptedReply>,
    next: usize,
    opening: Opening,
    blocks: Vec<Block>,
    requests: Option<Requests>,
}

impl Conversation for Playing {
    fn push(&mut self, block: &Block) {
        // Nobody looks at the blocks of a script that is not recorded.
        if self.requests.is_some() {
            self.blocks.push(block.clone());
        }
    }

    fn rewind(&mut self, blocks: usize) {
        self.blocks.truncate(blocks);
    }

    fn send(&mut self) -> Deltas<'_> {
        if let Some(requests) = &self.requests {
            requests.record(Request { opening: self.opening.clone(), blocks: self.blocks.clone() });
        }
        let number = self.next;
        self.next += 1;
        match self.replies.get(number) {
            Some(reply) => reply.play(number),
            None => {
                let message =
                    format!("the script has {} replies and was asked for one more", self.replies.len());
                stream::iter([Err(Error::new(Code::ModelFailed, message))]).boxed()
            }
        }
    }
}

/// What a recorded [`Script`] was sent, one entry per request.
#[derive(Clone, Debug, Default)]
pub struct Requests(Arc<Mutex<Vec<Request>>>);

impl Requests {
    /// The requests so far.
    pub fn all(&self) -> Vec<Request> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn record(&self, request: Request) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(request);
    }
}

/// One request to a [`Script`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// Instructions and tools.
    pub opening: Opening,
    /// The messages.
    pub blocks: Vec<Block>,
}
