//! Tools: what users write, and the one concrete form that everything else sees.
//!
//! A user implements [`TypedTool`], wraps an async closure with [`tool_fn`], or has a definition at run time
//! ([`DynamicTool`]). Its types are erased once, here, into a [`Tool`], together with the check that its
//! arguments go through: there is no tool without one. The handler inside is private: it runs only through
//! an [`Executor`], which hashes, validates, reports and contains whatever the handler does.

mod artifact_tool;
mod context;
mod definition;
mod dynamic;
mod erased;
mod error;
mod execution;
mod executor;
mod function;
mod output;
mod progress;
mod refusal;
mod typed;
mod values;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use artifact_tool::ArtifactTool;
pub use context::ToolContext;
pub use definition::{
    Approval, Concurrency, DEFAULT_TIMEOUT, Definition, Interrupted, MAX_NAME_BYTES, OnCollision, Predicate,
    ReconcileHook, Reconciled, ToolDescription,
};
pub use dynamic::{DynamicTool, RawApproval, RawTool};
pub use erased::{ArgsCheck, Compile, Erase, Tool};
pub use error::{Disposition, OrToolError, ToolError};
pub use execution::{CallError, ExecutionEnd, ExecutionStart, Scope, Span};
pub use executor::{ABORT_GRACE, Executor, Host, MAX_DETAIL_BYTES, UNKNOWN_EFFECT};
pub use function::{ToolFn, tool_fn};
pub use output::{IntoToolOutput, ToolOutput};
pub use progress::{ExecutionProgress, MAX_PROGRESS_BYTES, Progress};
pub use refusal::Refusal;
pub use typed::{TypedTool, input_schema_of};
pub use values::Values;

/// What a tool does to the world, and so whether a call may be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    /// Changes nothing: repeating it is free.
    Pure,
    /// Changes something, and repeating it with the same operation id changes nothing more.
    Idempotent,
    /// Changes something at every run: never repeated without being asked.
    Once,
}

impl Effect {
    /// The word that users write.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pure => "pure",
            Self::Idempotent => "idempotent",
            Self::Once => "once",
        }
    }
}
