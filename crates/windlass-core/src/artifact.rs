//! What a result is made of, as far as tools that ask about it are concerned.

use std::fmt;
use std::sync::Arc;

use crate::error::Error;
use crate::record::ToolCall;
use crate::tool::Tool;

/// A kind of result, and the tools with which a model asks about results of this kind.
///
/// The types that ship are implementations like any other. A tool names its type in its
/// [`Definition`](crate::Definition); references to its results carry the type's name.
///
/// # Contract
///
/// `name` is the same every time, not empty, and stands for one meaning within a program. `forge` is pure:
/// the same calls give tools with the same descriptions. It is asked only with calls whose results are of
/// this type and that are no answers of artifact tools themselves; without such a call it is not asked. So far
/// nobody asks: only the name counts.
///
/// ```
/// use std::sync::Arc;
/// use windlass_core::{ArtifactType, Definition, Effect};
///
/// struct Csv;
///
/// impl ArtifactType for Csv {
///     fn name(&self) -> &str {
///         "csv"
///     }
/// }
///
/// let export = Definition::new("export", "Exports the sales.", Effect::Pure).artifact_type(Csv);
/// assert_eq!(export.results_type().name(), "csv");
/// ```
pub trait ArtifactType: Send + Sync + 'static {
    /// The name that references carry.
    fn name(&self) -> &str;

    /// Tools that answer questions about the results of these calls, beside those that every type has.
    fn forge(&self, calls: &[ToolCall]) -> Result<Vec<Tool>, Error> {
        let _ = calls;
        Ok(Vec::new())
    }
}

impl fmt::Debug for dyn ArtifactType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ArtifactType({:?})", self.name())
    }
}

/// Plain text, the type of results whose tool says nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Text;

impl Text {
    /// Its name.
    pub const NAME: &str = "text";
}

impl ArtifactType for Text {
    fn name(&self) -> &str {
        Self::NAME
    }
}

/// A type of which only the name is known, as in a definition that came as JSON. It forges nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedType(Arc<str>);

impl NamedType {
    /// The type of this name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }
}

impl ArtifactType for NamedType {
    fn name(&self) -> &str {
        &self.0
    }
}
