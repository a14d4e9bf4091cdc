use std::sync::Arc;

use serde::Serialize;

use crate::error::shorten;
use crate::identity::{Checksum, ToolCallId};

/// The most bytes of a progress report's words that are shown, beside a note that says how many are missing.
pub const MAX_PROGRESS_BYTES: usize = 256;

/// How far a handler has come: words, and numbers if there are any.
///
/// ```
/// use windlass_core::Progress;
///
/// let progress = Progress::new("reading pages").of(3, 10);
/// assert_eq!(progress.fraction(), Some(0.3));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    message: Arc<str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u64>,
}

impl Progress {
    /// Says what is being done, in [`MAX_PROGRESS_BYTES`] at most.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: shorten(message.into(), MAX_PROGRESS_BYTES).into(), done: None, total: None }
    }

    /// Adds how much of it is done.
    #[must_use]
    pub fn of(self, done: u64, total: u64) -> Self {
        Self { done: Some(done), total: Some(total), ..self }
    }

    /// What is being done.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// How much of it is done.
    pub fn done(&self) -> Option<u64> {
        self.done
    }

    /// How much there is to do.
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// The part that is done, from 0 to 1, if it is known.
    #[expect(clippy::cast_precision_loss, reason = "a fraction for a progress bar")]
    pub fn fraction(&self) -> Option<f64> {
        match (self.done?, self.total?) {
            (_, 0) => None,
            (done, total) => Some((done as f64 / total as f64).min(1.0)),
        }
    }
}

/// A progress report and the call that it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExecutionProgress {
    /// The tool.
    pub tool_name: Arc<str>,
    /// The checksum of the call, as in its start and its end.
    pub call_id: Checksum,
    /// The id of the call.
    pub tool_call_id: ToolCallId,
    /// How far it has come.
    #[serde(flatten)]
    pub progress: Progress,
}

impl ExecutionProgress {
    /// A report of a call.
    pub fn new(tool_name: Arc<str>, call_id: Checksum, tool_call_id: ToolCallId, progress: Progress) -> Self {
        Self { tool_name, call_id, tool_call_id, progress }
    }
}
