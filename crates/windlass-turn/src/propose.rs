use std::collections::HashSet;
use std::sync::Arc;

use windlass_core::event::Proposal;
use windlass_core::model::ReplyCall;
use windlass_core::tool::MAX_NAME_BYTES;
use windlass_core::{Args, Code, Entropy, Error, Timestamp, ToolCallId, TurnToolCallContent};

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
            let is_new = |id: &ToolCallId| !seen.contains(id) && !taken.contains(id);
            let id = match ToolCallId::new(call.id).filter(is_new) {
                Some(given) => given,
                None => mint_new(entropy, is_new)?,
            };
            taken.insert(id.clone());
            let at = first_at.plus_millis(index);
            Ok(Proposal::new(TurnToolCallContent::announce(id, name(&call.tool), args(&call.arguments), at)))
        })
        .collect()
}

/// A fresh id. One draw is enough unless the source of random bytes is broken, and then no number is.
fn mint_new(entropy: &dyn Entropy, is_new: impl Fn(&ToolCallId) -> bool) -> Result<ToolCallId, Error> {
    let id = ToolCallId::mint(entropy)?;
    if is_new(&id) {
        return Ok(id);
    }
    Err(Error::new(
        Code::System,
        "the source of random bytes repeats itself, so no id can be trusted to be new",
    ))
}

/// A name that is too long is cut, and made longer than the name of any tool: what is left of it must not
/// call one by accident.
fn name(name: &str) -> Arc<str> {
    if name.len() <= MAX_NAME_BYTES {
        return name.into();
    }
    let end = (0..=MAX_NAME_BYTES).rev().find(|at| name.is_char_boundary(*at)).unwrap_or(0);
    format!("{}……", &name[..end]).into()
}

/// Wires send nothing at all for a call without arguments.
fn args(text: &str) -> Args {
    Args::read(if text.trim().is_empty() { "{}" } else { text })
}
