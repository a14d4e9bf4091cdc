use super::{FinishReason, ModelDelta, Usage};
use crate::error::{Code, Error};
use crate::identity::MAX_ARGS_BYTES;

/// The most bytes of text, reasoning and arguments that one reply may have.
pub const MAX_REPLY_BYTES: usize = 2 * MAX_ARGS_BYTES;

/// What every delta counts beside its text, so that a reply of empty deltas has an end too.
pub const DELTA_COST: usize = 16;

/// The most calls that one reply may have.
pub const MAX_CALLS_PER_REPLY: usize = 128;

/// A whole reply, checked: it has a finish reason, and its calls are not cut.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reply {
    /// The text; empty if there was none.
    pub text: String,
    /// The reasoning; empty if there was none.
    pub thought: String,
    /// The calls, in request order.
    pub calls: Vec<ReplyCall>,
    /// What it cost, if the provider said so.
    pub usage: Option<Usage>,
    /// Why it ended.
    pub finish: FinishReason,
}

/// One call of a reply, as the provider sent it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ReplyCall {
    /// The provider's id; empty if it gave none.
    pub id: String,
    /// The tool's name; empty if the model gave none.
    pub tool: String,
    /// The text of the arguments; empty if nothing was sent, which stands for no arguments.
    pub arguments: String,
}

/// Puts a reply together from its deltas, in bounded memory.
///
/// Nothing of a reply may be acted on before [`finish`](Self::finish) has returned it.
#[derive(Debug, Default)]
pub struct ReplyBuilder {
    text: String,
    thought: String,
    calls: Vec<(usize, ReplyCall)>,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    bytes: usize,
}

impl ReplyBuilder {
    /// An empty reply.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a delta; fails once the reply is past its bounds.
    pub fn push(&mut self, delta: &ModelDelta) -> Result<(), Error> {
        self.count(DELTA_COST)?;
        let is_late = self.finish.is_some() && !matches!(delta, ModelDelta::Usage(_) | ModelDelta::Finish(_));
        if is_late {
            return Err(incomplete(
                "the model's reply went on after its end, so nothing of it can be trusted; ask again",
            ));
        }
        match delta {
            ModelDelta::Text(text) => {
                self.count(text.len())?;
                self.text.push_str(text);
            }
            ModelDelta::Thought(text) => {
                self.count(text.len())?;
                self.thought.push_str(text);
            }
            ModelDelta::Call { slot, id, tool, arguments } => {
                let size = |text: &Option<String>| text.as_ref().map_or(0, String::len);
                self.count(arguments.len() + size(id) + size(tool))?;
                let call = self.call(*slot)?;
                keep_first(&mut call.id, id.as_deref());
                keep_first(&mut call.tool, tool.as_deref());
                call.arguments.push_str(arguments);
            }
            ModelDelta::Usage(usage) => self.usage = Some(*usage),
            // A reply that was cut stays cut, whatever is said after that.
            ModelDelta::Finish(reason) => {
                self.finish = self.finish.filter(|known| is_cut(*known)).or(Some(*reason));
            }
        }
        Ok(())
    }

    fn count(&mut self, bytes: usize) -> Result<(), Error> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_REPLY_BYTES {
            let message =
                format!("the model's reply is larger than {MAX_REPLY_BYTES} bytes; ask for less at a time");
            return Err(Error::new(Code::ReplyTooLarge, message));
        }
        Ok(())
    }

    fn call(&mut self, slot: usize) -> Result<&mut ReplyCall, Error> {
        let found = self.calls.iter().position(|(taken, _)| *taken == slot);
        let at = match found {
            Some(at) => at,
            None if self.calls.len() == MAX_CALLS_PER_REPLY => {
                let message = format!("the model made more than {MAX_CALLS_PER_REPLY} calls in one reply");
                return Err(Error::new(Code::ReplyTooLarge, message));
            }
            None => {
                self.calls.push((slot, ReplyCall::default()));
                self.calls.len() - 1
            }
        };
        Ok(&mut self.calls[at].1)
    }

    /// The whole reply, or the reason why it is none: no finish reason, or calls that a length limit or
    /// a filter may have cut.
    pub fn finish(self) -> Result<Reply, Error> {
        let Some(finish) = self.finish else {
            return Err(incomplete(
                "the model's reply ended without a finish reason, so it may be cut; ask again",
            ));
        };
        if is_cut(finish) && !self.calls.is_empty() {
            return Err(incomplete(
                "the model's reply was cut while it was calling tools, so none of them ran; allow longer replies",
            ));
        }
        let calls = self.calls.into_iter().map(|(_, call)| call).collect();
        Ok(Reply { text: self.text, thought: self.thought, calls, usage: self.usage, finish })
    }
}

fn incomplete(message: &str) -> Error {
    Error::new(Code::ReplyIncomplete, message).transient()
}

fn is_cut(reason: FinishReason) -> bool {
    matches!(reason, FinishReason::Length | FinishReason::ContentFilter)
}

fn keep_first(kept: &mut String, new: Option<&str>) {
    if kept.is_empty() {
        kept.push_str(new.unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(slot: usize, id: &str, tool: &str, arguments: &str) -> ModelDelta {
        let some = |text: &str| Some(text.to_owned());
        ModelDelta::Call { slot, id: some(id), tool: some(tool), arguments: arguments.to_owned() }
    }

    #[test]
    fn pieces_of_interleaved_calls_find_their_call() {
        let mut builder = ReplyBuilder::new();
        for delta in [
            call(7, "", "b", "{\"x\""),
            call(2, "id2", "", ""),
            call(7, "id7", "ignored", ":1}"),
            call(2, "late", "a", "{}"),
            ModelDelta::Finish(FinishReason::ToolCalls),
        ] {
            builder.push(&delta).unwrap();
        }
        let reply = builder.finish().unwrap();
        let calls: Vec<_> =
            reply.calls.iter().map(|c| (c.id.as_str(), c.tool.as_str(), c.arguments.as_str())).collect();
        assert_eq!(calls, [("id7", "b", "{\"x\":1}"), ("id2", "a", "{}")]);
    }

    #[test]
    fn a_reply_without_an_end_is_not_whole() {
        let mut builder = ReplyBuilder::new();
        builder.push(&ModelDelta::Text("almost".into())).unwrap();
        let error = builder.finish().unwrap_err();
        assert_eq!(error.code(), Code::ReplyIncomplete);
        assert!(error.is_transient());
    }

    #[test]
    fn a_cut_text_is_an_answer_and_a_cut_call_is_not() {
        for reason in [FinishReason::Length, FinishReason::ContentFilter] {
            let mut text = ReplyBuilder::new();
            text.push(&ModelDelta::Text("long".into())).unwrap();
            text.push(&ModelDelta::Finish(reason)).unwrap();
            assert_eq!(text.finish().unwrap().text, "long");
            let mut calls = ReplyBuilder::new();
            calls.push(&call(0, "a", "t", "{\"path\":\"/et")).unwrap();
            calls.push(&ModelDelta::Finish(reason)).unwrap();
            assert_eq!(calls.finish().unwrap_err().code(), Code::ReplyIncomplete);
        }
    }

    #[test]
    fn a_reply_is_bounded_in_bytes() {
        let mut builder = ReplyBuilder::new();
        builder.push(&ModelDelta::Text("x".repeat(MAX_REPLY_BYTES - 2 * DELTA_COST))).unwrap();
        builder.push(&ModelDelta::Thought(String::new())).unwrap();
        let error = builder.push(&ModelDelta::Text(String::new())).unwrap_err();
        assert_eq!(error.code(), Code::ReplyTooLarge);
    }

    #[test]
    fn a_reply_of_empty_deltas_has_an_end() {
        let empty =
            [ModelDelta::Usage(Usage::default()), ModelDelta::Text(String::new()), call(0, "", "", "")];
        for delta in empty {
            let mut builder = ReplyBuilder::new();
            for _ in 0..MAX_REPLY_BYTES / DELTA_COST {
                builder.push(&delta).unwrap();
            }
            assert_eq!(builder.push(&delta).unwrap_err().code(), Code::ReplyTooLarge);
        }
    }

    #[test]
    fn nothing_but_the_cost_comes_after_the_end() {
        let ended = || {
            let mut builder = ReplyBuilder::new();
            builder.push(&ModelDelta::Finish(FinishReason::Stop)).unwrap();
            builder
        };
        for late in
            [ModelDelta::Text("more".into()), ModelDelta::Thought("hm".into()), call(0, "", "pay", "{}")]
        {
            assert_eq!(ended().push(&late).unwrap_err().code(), Code::ReplyIncomplete);
        }
        let mut builder = ended();
        builder.push(&ModelDelta::Usage(Usage { input_tokens: 7, output_tokens: 1 })).unwrap();
        assert_eq!(builder.finish().unwrap().usage.unwrap().input_tokens, 7);
    }

    #[test]
    fn a_cut_stays_a_cut() {
        let mut builder = ReplyBuilder::new();
        builder.push(&call(0, "a", "pay", "{}")).unwrap();
        builder.push(&ModelDelta::Finish(FinishReason::Length)).unwrap();
        builder.push(&ModelDelta::Finish(FinishReason::ToolCalls)).unwrap();
        assert_eq!(builder.finish().unwrap_err().code(), Code::ReplyIncomplete);
    }

    #[test]
    fn a_reply_is_bounded_in_calls() {
        let mut builder = ReplyBuilder::new();
        for slot in 0..MAX_CALLS_PER_REPLY {
            builder.push(&call(slot, "", "t", "")).unwrap();
        }
        builder.push(&call(0, "", "", "{}")).unwrap();
        let error = builder.push(&call(MAX_CALLS_PER_REPLY, "", "t", "")).unwrap_err();
        assert_eq!(error.code(), Code::ReplyTooLarge);
    }
}
