//! Labels: who wrote a thing, and how much it may say.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::identity::ToolCallId;

/// How much authority a content has. The order is the order of authority.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Tier {
    /// Written by others: tool results, pages, files, peers. What has no label is this.
    #[default]
    Untrusted,
    /// Typed by the user.
    User,
    /// Written by whoever built the agent.
    Developer,
}

/// Where a content comes from. Records carry it wherever they go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct Label {
    /// The authority of the content.
    pub tier: Tier,
    /// What it came from, for example the name of a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Arc<str>>,
    /// The call that produced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<ToolCallId>,
}

impl Label {
    /// The label of what a tool returned.
    pub fn of_call(tier: Tier, tool: impl Into<Arc<str>>, call: ToolCallId) -> Self {
        Self { tier, source: Some(tool.into()), call: Some(call) }
    }
}
