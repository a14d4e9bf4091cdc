use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use uuid::{Builder, Uuid};

use super::text::written_as_text;
use crate::entropy::Entropy;
use crate::error::{Code, Error};
use crate::time::Timestamp;

/// The correlation key of one invocation: what pairs a request with its result.
///
/// It comes from the provider and is kept to the letter, whatever its length or characters; only where
/// there is none, or where a provider repeats one inside a session, is a fresh one minted.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolCallId(Arc<str>);

impl ToolCallId {
    /// An id as somebody gave it; `None` if it is empty, which is no id.
    pub fn new(id: impl Into<Arc<str>>) -> Option<Self> {
        let id = id.into();
        (!id.is_empty()).then_some(Self(id))
    }

    /// A fresh id with 122 random bits. It carries no time and no counter: who sees one can guess no other.
    pub fn mint(entropy: &dyn Entropy) -> Result<Self, Error> {
        Ok(Self(format!("call_{}", random(entropy)?.simple()).into()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A fresh id for a message or a thought of the model, which has none of its own.
pub fn mint_message_id(entropy: &dyn Entropy) -> Result<Arc<str>, Error> {
    Ok(format!("msg_{}", random(entropy)?.simple()).into())
}

fn random(entropy: &dyn Entropy) -> Result<Uuid, Error> {
    let mut bytes = [0; 16];
    entropy.fill(&mut bytes)?;
    Ok(Builder::from_random_bytes(bytes).into_uuid())
}

impl fmt::Display for ToolCallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ToolCallId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::new(text)
            .ok_or_else(|| Error::new(Code::InvalidId, "expected the id of a call, got an empty text"))
    }
}

written_as_text!(ToolCallId: { "type": "string", "minLength": 1 });

/// Declares an id that orders by the time it was made.
macro_rules! time_ordered_id {
    ($(#[doc = $doc:literal])+ $name:ident) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// A fresh UUID of version 7: ordered by time, then by random bits.
            pub fn mint(now: Timestamp, entropy: &dyn Entropy) -> Result<Self, Error> {
                let mut bytes = [0; 10];
                entropy.fill(&mut bytes)?;
                let millis = u64::try_from(now.as_millis()).unwrap_or(0);
                Ok(Self(Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid()))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                let invalid = || Error::new(Code::InvalidId, concat!("expected the UUID of a ", stringify!($name)));
                // One spelling only: an id that is compared as text must not have two.
                let id = Uuid::try_parse(text).map_err(|cause| invalid().with_cause(cause))?;
                if id.hyphenated().to_string() == text { Ok(Self(id)) } else { Err(invalid()) }
            }
        }

        written_as_text!($name: { "type": "string", "format": "uuid" });
    };
}

time_ordered_id! {
    /// A conversation: the turns that share a journal and a history.
    SessionId
}

time_ordered_id! {
    /// One user-facing unit of work: from a prompt to its answer.
    TurnId
}

time_ordered_id! {
    /// The part of a turn that loops over model calls.
    DispatchId
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out the bytes 0, 1, 2, …, so that every bit of an id is known.
    struct Counting;

    impl Entropy for Counting {
        fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
            (0..).zip(bytes).for_each(|(value, byte)| *byte = value);
            Ok(())
        }
    }

    #[test]
    fn a_minted_call_id_is_all_random_bits() {
        // Version 4 and variant take 6 of 128 bits; the other 122 are the source's own.
        let id = ToolCallId::mint(&Counting).unwrap();
        assert_eq!(id.as_str(), "call_00010203040546078809".to_owned() + "0a0b0c0d0e0f");
    }

    #[test]
    fn turns_are_ordered_by_time() {
        let at = |millis| TurnId::mint(Timestamp::from_millis(millis).unwrap(), &Counting).unwrap();
        assert!(at(1_000) < at(1_001));
        assert_eq!(at(0).to_string(), "00000000-0000-7001-8203-040506070809");
        assert_eq!(at(7).to_string().parse::<TurnId>().unwrap(), at(7));
    }

    #[test]
    fn an_empty_id_is_no_id() {
        assert_eq!(ToolCallId::new(""), None);
        assert!(serde_json::from_str::<ToolCallId>("\"\"").is_err());
        let long = "x".repeat(4096);
        assert_eq!(ToolCallId::new(long.as_str()).unwrap().as_str(), long);
    }
}
