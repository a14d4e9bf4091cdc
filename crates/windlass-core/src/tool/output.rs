use std::any::Any;

use bytes::Bytes;
use serde::Serialize;

use super::ToolError;
use crate::record::ArtifactRef;

/// What a handler returned, before anybody has stored it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolOutput {
    /// Text, which is also what a serialisable value becomes.
    Text(String),
    /// Bytes as they are; nobody decodes them on the way.
    Bytes(Bytes),
    /// A result that lies in the spool already, for example because the handler wrote it there.
    Artifact(ArtifactRef),
    /// Several of them; never empty.
    Artifacts(Vec<ArtifactRef>),
}

/// What a handler may return: anything that serialises, or a [`ToolOutput`].
///
/// A string is its own text, nothing at all (`()`, `None`) an empty one, `Vec<u8>` and [`Bytes`] are bytes,
/// an [`ArtifactRef`] (what [`SpoolWriter::seal`](crate::SpoolWriter::seal) gives) is the result that lies
/// there already, and any other value is its JSON.
///
/// ```
/// use windlass_core::{IntoToolOutput, ToolOutput};
///
/// # fn main() -> Result<(), windlass_core::ToolError> {
/// assert_eq!("Rain.".into_tool_output()?, ToolOutput::Text("Rain.".into()));
/// assert_eq!(vec![1, 2].into_tool_output()?, ToolOutput::Text("[1,2]".into()));
/// assert_eq!(().into_tool_output()?, ToolOutput::Text(String::new()));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a tool",
    note = "return a text, bytes, anything that implements `serde::Serialize`, or a `ToolOutput`"
)]
pub trait IntoToolOutput {
    /// The output, or a failure if the value does not serialise.
    fn into_tool_output(self) -> Result<ToolOutput, ToolError>;
}

impl<T: Serialize + 'static> IntoToolOutput for T {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        // Held in an option, from which what is found can be taken.
        let mut held = Some(self);
        let value: &mut dyn Any = &mut held;
        if let Some(text) = take::<String>(value) {
            return Ok(ToolOutput::Text(text));
        }
        if let Some(bytes) = take::<Bytes>(value).or_else(|| take::<Vec<u8>>(value).map(Into::into)) {
            return Ok(ToolOutput::Bytes(bytes));
        }
        if let Some(artifact) = take::<ArtifactRef>(value) {
            return Ok(ToolOutput::Artifact(artifact));
        }
        if let Some(artifacts) = take::<Vec<ArtifactRef>>(value) {
            return Ok(ToolOutput::artifacts(artifacts));
        }
        let json = serde_json::to_string(&held)?;
        Ok(ToolOutput::Text(match json.as_bytes() {
            b"null" => String::new(),
            [b'"', ..] => serde_json::from_str(&json)?,
            _ => json,
        }))
    }
}

/// What is held, if it is of this type or an option of it.
fn take<T: 'static>(held: &mut dyn Any) -> Option<T> {
    if let Some(held) = held.downcast_mut::<Option<T>>() {
        return held.take();
    }
    held.downcast_mut::<Option<Option<T>>>()?.as_mut()?.take()
}

impl ToolOutput {
    /// The text, if this is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Several results that lie in the spool; none at all is an empty text.
    fn artifacts(artifacts: Vec<ArtifactRef>) -> Self {
        if artifacts.is_empty() { Self::Text(String::new()) } else { Self::Artifacts(artifacts) }
    }
}

impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}
