use std::any::Any;

use bytes::Bytes;
use serde::Serialize;

use super::ToolError;

/// What a handler returned, before anybody has stored it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolOutput {
    /// Text, which is also what a serialisable value becomes.
    Text(String),
    /// Bytes as they are; nobody decodes them on the way.
    Bytes(Bytes),
}

impl ToolOutput {
    /// The bytes of the output.
    pub fn into_bytes(self) -> Bytes {
        match self {
            Self::Text(text) => text.into(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// What a handler may return: anything that serialises, or a [`ToolOutput`].
///
/// A string is its own text, nothing at all (`()`, `None`) an empty one, and any other value its JSON.
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
    note = "return a text, anything that implements `serde::Serialize`, or a `ToolOutput`"
)]
pub trait IntoToolOutput {
    /// The output, or a failure if the value does not serialise.
    fn into_tool_output(self) -> Result<ToolOutput, ToolError>;
}

impl<T: Serialize + 'static> IntoToolOutput for T {
    fn into_tool_output(mut self) -> Result<ToolOutput, ToolError> {
        // The common case, without a detour through JSON.
        if let Some(text) = (&mut self as &mut dyn Any).downcast_mut::<String>() {
            return Ok(ToolOutput::Text(std::mem::take(text)));
        }
        let json = serde_json::to_string(&self)?;
        Ok(ToolOutput::Text(match json.as_bytes() {
            b"null" => String::new(),
            [b'"', ..] => serde_json::from_str(&json)?,
            _ => json,
        }))
    }
}

impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}
