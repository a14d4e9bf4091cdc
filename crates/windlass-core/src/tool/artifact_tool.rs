use std::future::Future;

use schemars::Schema;

use super::{Definition, Refusal, ToolContext, ToolError, TypedTool};

/// A tool that answers a question about a result that exists.
///
/// Its text is the answer itself: it is not kept as another artifact, so nobody can ask about it in turn,
/// and its record is marked `fromArtifactTool`. Such a tool has no artifact type; declaring one is an error. So far
/// this only marks the record: handlers have no way to read the results of other calls yet.
///
/// ```
/// use windlass_core::{ArtifactTool, Effect, tool_fn};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Question {
///     /// Whose result to count in.
///     #[serde(rename = "callId")]
///     call_id: String,
/// }
///
/// let words = ArtifactTool::new(tool_fn("count_words", "Counts words.", Effect::Pure, |question: Question| async move {
///     Ok(format!("{} has 7 words", question.call_id))
/// }));
/// # let _ = words;
/// ```
#[derive(Clone, Debug)]
pub struct ArtifactTool<T>(T);

impl<T: TypedTool<Output = String>> ArtifactTool<T> {
    /// Makes a tool an artifact tool.
    pub fn new(tool: T) -> Self {
        Self(tool)
    }
}

impl<T: TypedTool<Output = String>> TypedTool for ArtifactTool<T> {
    type Args = T::Args;
    type Output = String;

    fn definition(&self) -> Definition {
        Definition { is_artifact_tool: true, ..self.0.definition() }
    }

    fn input_schema(&self) -> Schema {
        self.0.input_schema()
    }

    fn check(&self, args: &T::Args) -> impl Future<Output = Result<(), Refusal>> + Send {
        self.0.check(args)
    }

    fn call(
        &self,
        args: T::Args,
        context: &ToolContext,
    ) -> impl Future<Output = Result<String, ToolError>> + Send {
        self.0.call(args, context)
    }
}
