use std::sync::Arc;

use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::fields::{self, Extra, Fields, RecordType, Source, conversions, write_extra};
use crate::error::{Code, Error};

/// The raw form of [`Identity`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawIdentity {
    /// What the system calls it, for example a user id; not empty.
    #[schemars(length(min = 1))]
    pub identifier: String,
    /// What the model is told, for example a first name; not empty.
    #[schemars(length(min = 1))]
    pub representation: String,
}

/// Somebody who takes part, under two names: one for the system, one for the model.
///
/// They are two because a model needs no account number to speak to Anna, and must not learn one.
///
/// ```
/// use serde_json::json;
/// use windlass_core::Identity;
///
/// let anna = Identity::try_from(json!({ "identifier": "user-4711", "representation": "Anna" }))?;
/// assert_eq!((anna.identifier(), anna.representation()), ("user-4711", "Anna"));
/// # Ok::<(), windlass_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Identity(Arc<Inner>);

#[derive(Debug, PartialEq)]
struct Inner {
    raw: RawIdentity,
    extra: Extra,
}

const TYPE: RecordType = RecordType { name: "Identity", code: Code::InvalidIdentity };

impl Identity {
    /// Builds an identity.
    ///
    /// Fails with `E_INVALID_INITIAL_IDENTITY_VALUE` and lists every problem.
    pub fn new(raw: RawIdentity) -> Result<Self, Error> {
        Self::read(&fields::written(&raw), Source::Caller)?;
        Ok(Self(Arc::new(Inner { raw, extra: None })))
    }

    /// True exactly if `Identity::try_from(value)` would succeed.
    pub fn is_identity(value: &Value) -> bool {
        Self::try_from(value).is_ok()
    }

    fn read(value: &Value, source: Source) -> Result<Self, Error> {
        let mut fields = Fields::of(value, TYPE)?;
        let identifier = fields.required("identifier", fields::filled);
        let representation = fields.required("representation", fields::filled);
        let complete = || Some(RawIdentity { identifier: identifier?, representation: representation? });
        let (raw, extra) = fields.build(source, complete)?;
        Ok(Self(Arc::new(Inner { raw, extra })))
    }

    /// What the system calls it.
    pub fn identifier(&self) -> &str {
        &self.0.raw.identifier
    }

    /// What the model is told.
    pub fn representation(&self) -> &str {
        &self.0.raw.representation
    }
}

conversions!(Identity from RawIdentity);

impl Serialize for Identity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Inner { raw, extra } = &*self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("identifier", &raw.identifier)?;
        map.serialize_entry("representation", &raw.representation)?;
        write_extra(&mut map, extra)?;
        map.end()
    }
}
