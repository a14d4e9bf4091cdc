//! What happened ([`Fact`]) and what is shown of it ([`Event`]).
//!
//! Facts are kept in a journal, in order, without gaps; whatever was shown as a fact can be rebuilt from
//! them. Events are what subscribers see: the facts, each as one or more events told apart by `part`, and
//! between them the deltas, which promise nothing and are not kept.

mod fact;
mod shown;

pub use fact::{DispatchOutcome, Entry, Fact, Failure, Proposal, Spoken, Status, StopReason, TurnEnd};
pub use shown::{Bus, Event, EventKind, PreviewContent, TextContent};
