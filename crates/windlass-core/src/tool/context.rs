use crate::cancel::{Cancel, Cancelled};
use crate::identity::{Checksum, OperationId, ToolCallId};

/// What a handler knows about its call. Only an executor can make one.
#[derive(Debug)]
pub struct ToolContext {
    pub(super) tool_call_id: ToolCallId,
    pub(super) checksum: Checksum,
    pub(super) operation_id: OperationId,
    pub(super) cancel: Cancel,
}

impl ToolContext {
    /// The id of the call, as the model and the transcript know it.
    pub fn tool_call_id(&self) -> &ToolCallId {
        &self.tool_call_id
    }

    /// What was asked, as a hash; equal for equal calls.
    pub fn checksum(&self) -> Checksum {
        self.checksum
    }

    /// The key of this one run: hand it to services that take an idempotency key.
    pub fn operation_id(&self) -> OperationId {
        self.operation_id
    }

    /// True once the turn is being aborted.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Ready once the turn is being aborted.
    pub fn cancelled(&self) -> Cancelled<'_> {
        self.cancel.cancelled()
    }
}
