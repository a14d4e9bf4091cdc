//! A model that does literally what it is told about its mistakes.

use futures_util::{StreamExt as _, stream};
use serde_json::Value;
use windlass_core::model::{Deltas, FinishReason, Opening};
use windlass_core::render::{Block, BlockView};
use windlass_core::{Conversation, DynamicTool, Model, ModelDelta, RawTool, StopReason};

use crate::fixtures::{self, Fixture};
use crate::follow::follow;
use crate::support::{agent, play};

/// Calls the tool with these arguments, and again as the answer says, until there is no error.
#[derive(Clone)]
struct Literal(Value);

struct Talk {
    args: Value,
    answer: Option<String>,
}

impl Model for Literal {
    fn name(&self) -> &'static str {
        "literal"
    }

    fn open(&self, _: &Opening) -> Box<dyn Conversation> {
        Box::new(Talk { args: self.0.clone(), answer: None })
    }
}

impl Conversation for Talk {
    fn push(&mut self, block: &Block) {
        if let BlockView::ToolResult { text, .. } = block.view() {
            // What others wrote is quoted line by line.
            let line = |line: &str| line.strip_prefix("> ").unwrap_or(line).to_owned();
            self.answer = Some(text.lines().map(line).collect::<Vec<_>>().join("\n"));
        }
    }

    fn rewind(&mut self, _: usize) {}

    fn send(&mut self) -> Deltas<'_> {
        match &self.answer {
            Some(answer) if !answer.starts_with("E_INVALID_TOOL_ARGS") => {
                let deltas = [ModelDelta::Text("Done.".to_owned()), ModelDelta::Finish(FinishReason::Stop)];
                return stream::iter(deltas.map(Ok)).boxed();
            }
            Some(told) => self.args = follow(told, &self.args),
            None => {}
        }
        let call = ModelDelta::Call {
            slot: 0,
            id: None,
            tool: Some("tool".to_owned()),
            arguments: self.args.to_string(),
        };
        stream::iter([call, ModelDelta::Finish(FinishReason::ToolCalls)].map(Ok)).boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_does_what_the_message_says_succeeds_with_the_second_call() {
    let fixtures = fixtures::all();
    assert!(fixtures.len() > 50);
    for Fixture { name, schema, refused, .. } in fixtures {
        let tool = DynamicTool::new(RawTool::new("tool", "Takes arguments.", schema)).unwrap();
        let agent = agent(Literal(refused)).tool(tool.handler(|_| async { Ok("taken") }));
        let played = play(&agent).await;
        let outcomes: Vec<_> = played.records().iter().map(windlass_core::ToolCall::is_error).collect();
        assert_eq!(outcomes, [true, false], "{name}");
        assert_eq!(played.conclusion.stop_reason(), StopReason::Answered, "{name}");
    }
}
