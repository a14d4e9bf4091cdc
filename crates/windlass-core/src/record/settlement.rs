use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ToolResults;
use super::fields::{Source, invalid};
use super::tool_call::TYPE;
use crate::error::{Error, Problem, shorten};
use crate::identity::{Digest, EffectiveChecksum, OperationId};
use crate::time::Timestamp;
use crate::trust::Label;

/// How a settled call came out, for whoever decides whether it may be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Outcome {
    /// The handler returned: it did its work, even if its result could not be kept.
    Succeeded,
    /// The handler returned an error, or it did not return and is no `once` tool.
    Failed,
    /// The handler never ran: unknown tool, invalid arguments, denial, abort before the start.
    NotRun,
    /// The handler of a `once` tool was started and did not return: nobody knows what it did.
    Unknown,
}

/// The most bytes of error detail that a record keeps, beside a note that says how many are missing.
pub const MAX_ERROR_BYTES: usize = 16 << 10;

/// How an announced call ended: what [`ToolCall::settle`](super::ToolCall::settle) adds to the announcement.
#[derive(Clone, Debug, PartialEq)]
pub struct Settlement {
    pub(super) at: Timestamp,
    pub(super) is_error: bool,
    pub(super) results: ToolResults,
    pub(super) outcome: Outcome,
    pub(super) operation: Option<(EffectiveChecksum, OperationId)>,
    pub(super) result_digest: Digest,
    pub(super) label: Label,
    pub(super) from_artifact_tool: bool,
    pub(super) inline: bool,
}

impl Settlement {
    /// A call that ended with an error, told in words, [`MAX_ERROR_BYTES`] at most.
    pub fn error(at: Timestamp, outcome: Outcome, detail: impl Into<String>, label: Label) -> Self {
        let detail: Arc<str> = shorten(detail.into(), MAX_ERROR_BYTES).into();
        let result_digest = Digest::of(detail.as_bytes());
        Self::new(at, true, ToolResults::Text(detail), outcome, result_digest, label)
    }

    /// A call that produced something. A text is the answer of an artifact tool.
    ///
    /// Fails if the results are a list without an entry.
    pub fn produced(at: Timestamp, results: ToolResults, label: Label) -> Result<Self, Error> {
        if let Some(defect) = results.defect(Source::Caller) {
            return Err(invalid(TYPE, vec![Problem::at("/results", defect)]));
        }
        let result_digest = results.digest();
        let outcome = Outcome::Succeeded;
        let from_artifact_tool = matches!(results, ToolResults::Text(_));
        Ok(Self { from_artifact_tool, ..Self::new(at, false, results, outcome, result_digest, label) })
    }

    fn new(
        at: Timestamp,
        is_error: bool,
        results: ToolResults,
        outcome: Outcome,
        result_digest: Digest,
        label: Label,
    ) -> Self {
        Self {
            at,
            is_error,
            results,
            outcome,
            operation: None,
            result_digest,
            label,
            from_artifact_tool: false,
            inline: true,
        }
    }

    /// Says whether the result stands in the conversation itself.
    #[must_use]
    pub fn inline(mut self, inline: bool) -> Self {
        self.inline = inline;
        self
    }

    /// Marks the failure of an artifact tool.
    #[must_use]
    pub fn of_artifact_tool(mut self) -> Self {
        self.from_artifact_tool = true;
        self
    }

    /// Adds what ran, and which run it was.
    #[must_use]
    pub fn of_operation(mut self, operation: Option<(EffectiveChecksum, OperationId)>) -> Self {
        self.operation = operation;
        self
    }
}
