use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::canonical::{Numbers, Sink, string, write};
use super::text::written_as_text;
use super::{SessionId, ToolCallId, TurnId};
use crate::error::{Code, Error};
use crate::tool::Effect;

const EFFECTIVE_TAG: &str = "windlass/effective/1";
const OPERATION_TAG: &str = "windlass/operation/1";

/// Declares a type around 32 bytes of SHA-256 that is written as 64 lower-case hex digits.
macro_rules! digest_type {
    ($(#[doc = $doc:literal])+ $name:ident) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 32]);

        impl $name {
            /// The 32 bytes themselves.
            pub const fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                parse_hex(text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        written_as_text!($name: { "type": "string", "pattern": "^[0-9a-f]{64}$" });
    };
}

digest_type! {
    /// What was asked: SHA-256 over the canonical JSON of `{"args": …, "tool": …}`, raw arguments.
    ///
    /// Equal calls have equal checksums *by design*, so it counts repeats and joins events, and is never
    /// a key of one call: that is [`ToolCallId`].
    Checksum
}

digest_type! {
    /// What would run: the tool's definition and effect, and the arguments that the handler would get,
    /// with every digit of their integers. Approvals and denials speak of it.
    EffectiveChecksum
}

digest_type! {
    /// One run of one call: what an approval is for, and the idempotency key that a handler receives.
    OperationId
}

digest_type! {
    /// SHA-256 of some bytes: the address of a blob in the spool, the digest of a result.
    Digest
}

/// The checksum of a call.
///
/// The text is hashed while the value is walked; no copy of it is made.
///
/// ```
/// use serde_json::json;
/// use windlass_core::checksum;
///
/// assert_eq!(
///     checksum("search", &json!({ "query": "hello" })).to_string(),
///     "e0b6feaa14a993179f474568e2c0a63075752fe3a8bc629bc0cd1442a002448e",
/// );
/// ```
pub fn checksum(tool: &str, args: &Value) -> Checksum {
    Checksum::finish(tool, |hasher| write(args, Numbers::Doubles, hasher))
}

impl Checksum {
    /// The checksum of a call whose arguments are an object.
    pub fn of_object(tool: &str, args: &Map<String, Value>) -> Self {
        Self::finish(tool, |hasher| super::canonical::write_object(args, Numbers::Doubles, hasher))
    }

    fn finish(tool: &str, args: impl FnOnce(&mut Sha256)) -> Self {
        let mut hasher = Sha256::new();
        hasher.put(b"{\"args\":");
        args(&mut hasher);
        hasher.put(b",\"tool\":");
        string(tool, &mut hasher);
        hasher.put(b"}");
        Self(hasher.finalize().into())
    }
}

/// A tool's definition, hashed: its `describe()` as canonical JSON, and its effect.
#[derive(Clone, Copy)]
pub(crate) struct DefinitionDigest([u8; 32]);

impl DefinitionDigest {
    pub(crate) fn of(description: &str, effect: Effect) -> Self {
        Self(hash_parts(&[description.as_bytes(), effect.as_str().as_bytes()]))
    }
}

impl EffectiveChecksum {
    /// Of a tool and of the bytes of the arguments that its handler will get.
    pub(crate) fn of(qualified_name: &str, definition: DefinitionDigest, args: &str) -> Self {
        let parts = [EFFECTIVE_TAG.as_bytes(), qualified_name.as_bytes(), &definition.0, args.as_bytes()];
        Self(hash_parts(&parts))
    }
}

impl OperationId {
    /// Of one call in one turn of one session.
    pub fn of(session: SessionId, turn: TurnId, call: &ToolCallId, effective: EffectiveChecksum) -> Self {
        Self(hash_parts(&[
            OPERATION_TAG.as_bytes(),
            session.to_string().as_bytes(),
            turn.to_string().as_bytes(),
            call.as_str().as_bytes(),
            &effective.0,
        ]))
    }
}

impl Digest {
    /// Of bytes that lie in memory.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Of bytes that were hashed as they came.
    pub(crate) fn from_hash(hash: [u8; 32]) -> Self {
        Self(hash)
    }
}

/// SHA-256 over parts that cannot run into each other: each follows its length as a big-endian u64.
fn hash_parts(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.put(&(part.len() as u64).to_be_bytes());
        hasher.put(part);
    }
    hasher.finalize().into()
}

fn parse_hex(text: &str) -> Result<[u8; 32], Error> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let parse = || {
        let mut bytes = [0; 32];
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != bytes.len() || !rest.is_empty() {
            return None;
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(bytes)
    };
    parse().ok_or_else(|| {
        let shown = crate::error::shorten(text.to_owned(), 80);
        Error::new(Code::InvalidChecksum, format!("expected 64 lower-case hex digits, got {shown:?}"))
    })
}
