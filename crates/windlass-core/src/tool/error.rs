use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::MAX_DETAIL_BYTES;
use crate::error::{Cause, Code, Error, causes, shorten};

/// What happens after a call has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Disposition {
    /// The model chose badly; it is told why and may call again.
    Retry,
    /// The call failed; the model is told and the turn goes on.
    Failed,
    /// The turn must stop; the model is not asked again.
    Abort,
}

/// How a handler failed, from the point of view of what happens next.
///
/// `?` on any standard error is *failed*, with the cause kept. [`OrToolError`] chooses the others.
///
/// ```
/// use windlass_core::{Disposition, OrToolError, ToolError};
///
/// fn parse(text: &str) -> Result<i32, ToolError> {
///     Ok(text.parse::<i32>().or_retry("send the number in digits")?)
/// }
/// assert_eq!(parse("five").unwrap_err().disposition(), Disposition::Retry);
///
/// fn read() -> Result<String, ToolError> {
///     Ok(std::fs::read_to_string("/no/such/file")?)
/// }
/// assert_eq!(read().unwrap_err().disposition(), Disposition::Failed);
/// ```
#[derive(Clone)]
pub struct ToolError {
    disposition: Disposition,
    message: String,
    cause: Option<Cause>,
}

impl ToolError {
    /// The model chose badly; the advice says how to call instead.
    pub fn retry(advice: impl fmt::Display) -> Self {
        Self::new(Disposition::Retry, advice)
    }

    /// The call failed; the turn goes on.
    pub fn failed(message: impl fmt::Display) -> Self {
        Self::new(Disposition::Failed, message)
    }

    /// The turn must stop.
    pub fn abort(message: impl fmt::Display) -> Self {
        Self::new(Disposition::Abort, message)
    }

    fn new(disposition: Disposition, message: impl fmt::Display) -> Self {
        Self { disposition, message: message.to_string(), cause: None }
    }

    fn caused(
        disposition: Disposition,
        message: String,
        cause: impl StdError + Send + Sync + 'static,
    ) -> Self {
        Self { disposition, message, cause: Some(Arc::new(cause)) }
    }

    /// What happens next.
    pub fn disposition(&self) -> Disposition {
        self.disposition
    }

    pub(super) fn into_cause(self) -> Option<Cause> {
        self.cause
    }

    /// *Failed*, in the words of the cause and of its own causes.
    pub(super) fn from_cause(cause: Cause) -> Self {
        Self { disposition: Disposition::Failed, message: words(&*cause), cause: Some(cause) }
    }

    /// The error that stands for this one in a chain of causes.
    pub(super) fn into_error(self) -> Error {
        let error = Error::new(Code::ToolDownstream, self.to_string());
        match self.cause {
            Some(cause) if is_transient(&cause) => error.transient().with_shared_cause(cause),
            Some(cause) => error.with_shared_cause(cause),
            None => error,
        }
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for ToolError {
    fn from(cause: E) -> Self {
        Self::from_cause(Arc::new(cause))
    }
}

/// What an error and its causes say.
fn words(error: &(dyn StdError + 'static)) -> String {
    let mut message = error.to_string();
    for source in causes(error) {
        let text = source.to_string();
        // Many errors repeat their source in their own message.
        if !message.ends_with(&text) {
            message.push_str(": ");
            message.push_str(&text);
        }
    }
    message
}

/// Whether trying again may help, as far as the cause can tell.
pub(super) fn is_transient(cause: &Cause) -> bool {
    cause.downcast_ref::<Error>().is_some_and(Error::is_transient)
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shorten(self.message.clone(), MAX_DETAIL_BYTES))
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.disposition)
    }
}

/// Chooses what happens next where `?` would say *failed*.
pub trait OrToolError<T> {
    /// Tells the model to call again, and how.
    fn or_retry(self, advice: impl fmt::Display) -> Result<T, ToolError>;

    /// Ends the turn.
    fn or_abort(self) -> Result<T, ToolError>;
}

impl<T, E: StdError + Send + Sync + 'static> OrToolError<T> for Result<T, E> {
    fn or_retry(self, advice: impl fmt::Display) -> Result<T, ToolError> {
        self.map_err(|cause| ToolError::caused(Disposition::Retry, format!("{cause}; {advice}"), cause))
    }

    fn or_abort(self) -> Result<T, ToolError> {
        self.map_err(|cause| ToolError { disposition: Disposition::Abort, ..ToolError::from(cause) })
    }
}
