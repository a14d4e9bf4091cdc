use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use crate::error::{Cause, Problem};

/// Why an author's own check did not let arguments pass.
///
/// Either it found problems, which the model is told in the form of all other problems; or it could not be
/// made at all, for example because a database is away: `?` on any standard error says that.
///
/// ```
/// use windlass_core::Refusal;
///
/// async fn check(city: &str) -> Result<(), Refusal> {
///     if city == "Atlantis" {
///         return Err(Refusal::at("/city", "there is no such city; send one that exists"));
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Refusal(pub(super) Reason);

#[derive(Clone)]
pub(super) enum Reason {
    Problems(Vec<Problem>),
    Unable(Cause),
}

impl Refusal {
    /// A problem at a JSON pointer (`""` is the arguments as a whole).
    pub fn at(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(vec![Problem::at(pointer, message)])
    }

    /// Several problems at once.
    pub fn new(problems: Vec<Problem>) -> Self {
        Self(Reason::Problems(problems))
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for Refusal {
    fn from(cause: E) -> Self {
        Self(Reason::Unable(Arc::new(cause)))
    }
}

impl fmt::Debug for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reason::Problems(problems) => f.debug_tuple("Refusal").field(problems).finish(),
            Reason::Unable(cause) => f.debug_tuple("Refusal").field(cause).finish(),
        }
    }
}
