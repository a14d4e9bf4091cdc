use std::any::{Any, type_name};
use std::fmt;
use std::sync::Arc;

use super::{Definition, ExecutionProgress, ExecutionStart, Host, Progress, Tool, ToolError};
use crate::cancel::Cancelled;
use crate::error::{Code, Error};
use crate::identity::{Checksum, OperationId, ToolCallId};
use crate::spool::{Pass, SpoolWriter};

/// What a handler knows about its call, and what it may do besides returning. Only an executor can make one.
pub struct ToolContext {
    tool: Tool,
    start: Arc<ExecutionStart>,
    host: Arc<dyn Surroundings>,
    pass: Pass,
}

/// A [`Host`], as far as handlers reach it.
pub(super) trait Surroundings: Send + Sync {
    fn cancelled(&self) -> Cancelled<'_>;
    fn is_cancelled(&self) -> bool;
    fn values(&self) -> &super::Values;
    fn progressed(&self, progress: ExecutionProgress);
    fn spool(&self) -> Option<Arc<dyn crate::spool::Spool>>;
}

impl<H: Host> Surroundings for H {
    fn cancelled(&self) -> Cancelled<'_> {
        self.cancel().cancelled()
    }

    fn is_cancelled(&self) -> bool {
        self.cancel().is_cancelled()
    }

    fn values(&self) -> &super::Values {
        Host::values(self)
    }

    fn progressed(&self, progress: ExecutionProgress) {
        Host::progressed(self, progress);
    }

    fn spool(&self) -> Option<Arc<dyn crate::spool::Spool>> {
        Host::spool(self)
    }
}

impl ToolContext {
    pub(super) fn new<H: Host>(tool: Tool, start: Arc<ExecutionStart>, host: Arc<H>, pass: Pass) -> Self {
        Self { tool, start, host, pass }
    }

    /// The id of the call, as the model and the transcript know it.
    pub fn tool_call_id(&self) -> &ToolCallId {
        &self.start.tool_call_id
    }

    /// What was asked, as a hash; equal for equal calls.
    pub fn checksum(&self) -> Checksum {
        self.start.call_id
    }

    /// The key of this one run: hand it to services that take an idempotency key.
    pub fn operation_id(&self) -> OperationId {
        self.start.operation_id
    }

    /// The properties of the tool, what its author put under `meta` among them.
    pub fn definition(&self) -> &Definition {
        self.tool.definition()
    }

    /// True once the turn is being aborted.
    pub fn is_cancelled(&self) -> bool {
        self.host.is_cancelled()
    }

    /// Ready once the turn is being aborted.
    pub fn cancelled(&self) -> Cancelled<'_> {
        self.host.cancelled()
    }

    /// The value of a type that the program gave to this turn. `?` on a missing one fails the call and names
    /// the type.
    pub fn get<T: Any + Send + Sync>(&self) -> Result<&T, ToolError> {
        self.host.values().get().ok_or_else(|| {
            ToolError::failed(format_args!("this turn was given no value of the type `{}`", type_name::<T>()))
        })
    }

    /// Says how far the handler has come. Nobody waits for it, and nothing is kept.
    pub fn progress(&self, progress: Progress) {
        let start = &*self.start;
        let (tool, id) = (start.tool_name.clone(), start.tool_call_id.clone());
        self.host.progressed(ExecutionProgress::new(tool, start.call_id, id, progress));
    }

    /// Begins a result that is written as it comes. What the spool does with it is the spool's: in memory it is
    /// bounded like any other result, and the model is shown as much of it.
    ///
    /// ```
    /// # use windlass_core::{ArtifactRef, ToolContext, ToolError};
    /// async fn export(context: &ToolContext) -> Result<ArtifactRef, ToolError> {
    ///     let mut rows = context.spool().await?;
    ///     for row in 0..1_000_000 {
    ///         rows.write(format!("{row}\n")).await?;
    ///     }
    ///     Ok(rows.seal().await?)
    /// }
    /// ```
    pub async fn spool(&self) -> Result<SpoolWriter, Error> {
        let spool = self.host.spool().ok_or_else(|| {
            Error::new(Code::SpoolFailed, "there is no spool here; return the result as text or bytes")
        })?;
        let sink = spool.create().await?;
        Ok(SpoolWriter::new(sink, self.definition().results_type().clone(), self.pass.clone()))
    }
}

impl Drop for ToolContext {
    fn drop(&mut self) {
        self.pass.revoke();
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("tool", &self.tool.name())
            .field("tool_call_id", &self.start.tool_call_id)
            .field("operation_id", &self.start.operation_id)
            .finish_non_exhaustive()
    }
}
