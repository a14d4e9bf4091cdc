use std::any::Any;

use bytes::Bytes;
use serde::Serialize;

use super::ToolError;
use crate::record::{ArtifactRef, Media};

/// What a handler returned, before anybody has stored it.
#[derive(Clone, Debug, PartialEq)]
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
    /// An image, a sound, a film or a document, which is no artifact.
    Media(Media),
    /// Several of them; never empty.
    MediaList(Vec<Media>),
}

/// What a handler may return: anything that serialises, or a [`ToolOutput`].
///
/// A string is its own text, nothing at all (`()`, `None`) an empty one, `Vec<u8>` and [`Bytes`] are bytes,
/// an [`ArtifactRef`] (what [`SpoolWriter::seal`](crate::SpoolWriter::seal) gives) is the result that lies
/// there already, [`Media`] is itself, one or several, and any other value is its JSON: media inside another
/// value are there only as their description. A number alone that is not finite is no result.
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
    note = "return a text, bytes, media, anything that implements `serde::Serialize`, or a `ToolOutput`"
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
            return Ok(several(artifacts, ToolOutput::Artifacts));
        }
        if let Some(media) = take::<Media>(value) {
            return Ok(ToolOutput::Media(media));
        }
        if let Some(media) = take::<Vec<Media>>(value) {
            return Ok(several(media, ToolOutput::MediaList));
        }
        let number = held.as_ref().map(|value| value as &dyn Any).and_then(float);
        if let Some(number) = number.filter(|number| !number.is_finite()) {
            return Err(ToolError::failed(format_args!("the result is {number}, which JSON cannot write")));
        }
        let json = serde_json::to_string(&held)?;
        Ok(ToolOutput::Text(match json.as_bytes() {
            b"null" => String::new(),
            [b'"', ..] => serde_json::from_str(&json)?,
            _ => json,
        }))
    }
}

/// A floating-point number, of which JSON would make null if it is not finite.
fn float(value: &dyn Any) -> Option<f64> {
    let double = value.downcast_ref::<f64>().copied().or_else(|| *value.downcast_ref::<Option<f64>>()?);
    let single = || value.downcast_ref::<f32>().copied().or_else(|| *value.downcast_ref::<Option<f32>>()?);
    double.or_else(|| single().map(f64::from))
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
}

/// A list of results; none at all is an empty text.
fn several<T>(list: Vec<T>, output: fn(Vec<T>) -> ToolOutput) -> ToolOutput {
    if list.is_empty() { ToolOutput::Text(String::new()) } else { output(list) }
}

impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}
