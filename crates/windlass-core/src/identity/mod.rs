//! What a call *is*: canonical JSON, checksums, ids and arguments as the model sent them.
//!
//! One call has several names, and each has its own type, so that they cannot be mixed up:
//!
//! | type | says | made from |
//! |---|---|---|
//! | [`ToolCallId`] | *this* invocation | the provider, or random bits where it gave none |
//! | [`Checksum`] | *what was asked*: equal for equal `(tool, raw args)` | canonical JSON of both |
//! | [`EffectiveChecksum`] | *what would run*: the definition, the effect and the validated args | the executor |
//! | [`OperationId`] | *this one run* of it: the idempotency key of a handler | session, turn, call, effective checksum |
//!
//! The `callId` of execution events is the [`Checksum`], in flight; the `callId` argument of
//! `artifact_*` tools is a [`ToolCallId`].

mod args;
mod canonical;
mod checksum;
mod id;
mod text;

pub(crate) use args::kind;
pub use args::{Args, MAX_ARGS_BYTES, RAW_KEY, SECRET_KEY};
pub use canonical::canonical;
pub(crate) use canonical::{exact, exact_object};
pub(crate) use checksum::DefinitionDigest;
pub use checksum::{Checksum, Digest, EffectiveChecksum, OperationId, checksum};
pub use id::{DispatchId, SessionId, ToolCallId, TurnId, mint_message_id};
