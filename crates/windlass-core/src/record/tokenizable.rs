use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::tokens::{Counting, TokenCount, Tokenizers};

/// The most counts that one text remembers; a count in yet another encoding is made anew each time.
pub const MAX_REMEMBERED_COUNTS: usize = 16;

/// A text that knows its token count in each encoding, counted once. A clone is a reference and shares the
/// counts.
///
/// In JSON it is the bare text.
///
/// ```
/// use windlass_core::{Tokenizable, Tokenizers};
///
/// let text = Tokenizable::new("The rain in Oslo");
/// let count = text.token_count(&Tokenizers::estimates(), "o200k_base");
/// assert_eq!(count, text.clone().token_count(&Tokenizers::estimates(), "o200k_base"));
/// assert_eq!(serde_json::to_string(&text)?, "\"The rain in Oslo\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct Tokenizable(Arc<Inner>);

struct Inner {
    text: Box<str>,
    counts: Mutex<Vec<Arc<Counted>>>,
}

/// A count that is made by whoever asks first.
struct Counted {
    by: Counting,
    count: OnceLock<TokenCount>,
}

impl Tokenizable {
    /// A text of which nothing has been counted yet.
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(Arc::new(Inner { text: text.into(), counts: Mutex::default() }))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// How many tokens the text has in an encoding. It is counted the first time; a counter registered under
    /// the same name in another [`Tokenizers`] counts for itself.
    pub fn token_count(&self, tokenizers: &Tokenizers, encoding: &str) -> TokenCount {
        let by = tokenizers.counting(encoding);
        match self.remembered(&by) {
            Some(counted) => *counted.count.get_or_init(|| by.count(self.as_str())),
            None => by.count(self.as_str()),
        }
    }

    /// The place of a count. It is filled outside the lock, so that encodings do not wait for each other.
    fn remembered(&self, by: &Counting) -> Option<Arc<Counted>> {
        let mut counts = self.0.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(counted) = counts.iter().find(|counted| counted.by.is_same(by)) {
            return Some(counted.clone());
        }
        if counts.len() >= MAX_REMEMBERED_COUNTS {
            return None;
        }
        let counted = Arc::new(Counted { by: by.clone(), count: OnceLock::new() });
        counts.push(counted.clone());
        Some(counted)
    }
}

impl From<&str> for Tokenizable {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Tokenizable {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl AsRef<str> for Tokenizable {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for Tokenizable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

impl fmt::Debug for Tokenizable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl PartialEq for Tokenizable {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Tokenizable {}

impl PartialEq<str> for Tokenizable {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Tokenizable {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl Hash for Tokenizable {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl Serialize for Tokenizable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Tokenizable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Into::into)
    }
}

impl JsonSchema for Tokenizable {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Tokenizable".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}
