use std::collections::HashSet;
use std::sync::Arc;

use windlass_core::event::Proposal;
use windlass_core::model::ReplyCall;
use windlass_core::tool::MAX_NAME_BYTES;
use windlass_core::{Args, Entropy, Error, Timestamp, ToolCallId, TurnToolCallContent};

/// Turns the calls of a whole reply into proposals, in request order.
///
/// Each gets an id that the session has not seen, and a `createdAt` of its own, counting from
/// `first_at`. An id that a provider left out or gave before is replaced by a fresh one, here and so
/// everywhere: assistant message, events, record and tool message are all made from the proposal.
pub(crate) fn propose(
    calls: Vec<ReplyCall>,
    seen: &HashSet<ToolCallId>,
    entropy: &dyn Entropy,
    first_at: Timestamp,
) -> Result<Vec<Proposal>, Error> {
    let mut taken = HashSet::new();
    (0..)
        .zip(calls)
        .map(|(index, call)| {
            let mut id = ToolCallId::new(call.id);
            while id.as_ref().is_none_or(|id| seen.contains(id) || taken.contains(id)) {
                id = Some(ToolCallId::mint(entropy)?);
            }
            // The loop above ends with an id; the alternative mints one more, never none.
            let id = id.map_or_else(|| ToolCallId::mint(entropy), Ok)?;
            taken.insert(id.clone());
            let at = first_at.plus_millis(index);
            Ok(Proposal::new(TurnToolCallContent::announce(id, name(&call.tool), args(&call.arguments), at)))
        })
        .collect()
}

/// No tool has a longer name than the bound, so what is cut off cannot matter to anybody.
fn name(name: &str) -> Arc<str> {
    let end = (0..=MAX_NAME_BYTES.min(name.len())).rev().find(|at| name.is_char_boundary(*at)).unwrap_or(0);
    name[..end].into()
}

/// Wires send nothing at all for a call without arguments.
fn args(text: &str) -> Args {
    Args::read(if text.trim().is_empty() { "{}" } else { text })
}
