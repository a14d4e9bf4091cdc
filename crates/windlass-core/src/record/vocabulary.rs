//! Words that records take from a short list, which later versions may lengthen.
//!
//! They are written with hyphens, as the kit that these records come from writes them. A word that this
//! version does not know is refused by constructors, kept to the letter when a stored record is read, and
//! taken for the worst.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::fields::{self, Source};
use crate::error::{MAX_QUOTED_BYTES, shorten};

macro_rules! vocabulary {
    (
        $(#[doc = $doc:literal])+
        $name:ident {
            $(#[doc = $unknown:literal])+
            Unknown,
            $($(#[doc = $word_doc:literal])+ $word:ident = $text:literal,)+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $(#[doc = $unknown])+
            Unknown(Arc<str>),
            $($(#[doc = $word_doc])+ $word,)+
        }

        impl $name {
            const WORDS: &[&str] = &[$($text),+];

            /// The word as it is written.
            pub fn as_str(&self) -> &str {
                match self {
                    Self::Unknown(word) => word,
                    $(Self::$word => $text,)+
                }
            }

            /// What a word means, known or not.
            fn of(word: &str) -> Self {
                match word {
                    $($text => Self::$word,)+
                    other => Self::Unknown(other.into()),
                }
            }

            pub(super) fn read(value: &Value, source: Source) -> Result<Self, String> {
                let word = Self::of(fields::text(value)?);
                match (source, word.unknown()) {
                    (Source::Caller, Some(message)) => Err(message),
                    _ => Ok(word),
                }
            }

            /// Why a constructor refuses this word.
            pub(super) fn unknown(&self) -> Option<String> {
                let Self::Unknown(word) = self else { return None };
                let shown = shorten(word.to_string(), MAX_QUOTED_BYTES / 2);
                Some(format!("expected one of {}, got {shown:?}", Self::WORDS.join(", ")))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        /// Reads every text; whether an unknown word will do is for the record to say.
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(|word| Self::of(&word))
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "enum": Self::WORDS })
            }
        }
    };
}

vocabulary! {
    /// Who vouches for the origin of something retrieved or attached. The order is that of trust.
    ///
    /// There is no default: whoever makes the record decides. It says where a content *comes from*, while
    /// [`Tier`](crate::trust::Tier) says how much it may *order*.
    TrustTier {
        /// A tier of another version, which is trusted least. Only reading a stored record yields it.
        Unknown,
        /// Anybody can have written it: pages, search results, public data.
        ThirdPartyPublic = "third-party-public",
        /// Others wrote it, for a known circle: uploads, attachments, data of partners.
        ThirdPartyPrivate = "third-party-private",
        /// Whoever runs the agent has checked it.
        FirstParty = "first-party",
    }
}

vocabulary! {
    /// What a model may meet in a medium when it looks at the bytes. The order is that of safety.
    ///
    /// It is independent of [`TrustTier`]: a checked document may hold a hidden layer of text.
    ModalityHazard {
        /// A hazard of another version, which is feared most. Only reading a stored record yields it.
        Unknown,
        /// Pixels or sound that the model takes in directly: whatever is hidden there, no filter sees it.
        OpaquePerceptual = "opaque-perceptual",
        /// Text that can be read out of it, and may be written as instructions: documents, screenshots.
        ExtractableInstructions = "extractable-instructions",
        /// Nothing: no model is shown the bytes.
        Inert = "inert",
    }
}
