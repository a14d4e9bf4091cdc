//! One error type for the kit, told apart by a stable [`Code`].
//!
//! The type is opaque on purpose: variants would freeze what an error is made of, while callers only
//! ever ask three things. *Which* error is it ([`Error::code`]), *is it worth trying again*
//! ([`Error::is_transient`]), and *what do I tell the person or the model* (its `Display`).

use std::error::Error as StdError;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A shared cause, so that errors stay cheap to clone into events and records.
pub(crate) type Cause = Arc<dyn StdError + Send + Sync + 'static>;

/// At most this many problems are listed in one error.
pub const MAX_PROBLEMS: usize = 20;

/// At most this many bytes of a foreign value are quoted in an error message.
pub const MAX_QUOTED_BYTES: usize = 200;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)+) => {
        /// The stable name of an error. Codes are never renamed or reused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code { $($(#[doc = $doc])+ $name,)+ }

        impl Code {
            /// Every code of this version.
            pub const ALL: &[Code] = &[$(Code::$name,)+];

            /// The code as it is written in events, messages and logs.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text,)+ }
            }
        }
    };
}

codes! {
    /// A text is not JSON as this kit reads it.
    InvalidJson = "E_INVALID_JSON",
    /// A text is not a checksum: 64 lower-case hex digits.
    InvalidChecksum = "E_INVALID_CHECKSUM",
    /// A text is not an id: empty, or no UUID where one is wanted.
    InvalidId = "E_INVALID_ID",
    /// A time is not RFC 3339 text, epoch milliseconds, or lies outside the supported years.
    InvalidTimestamp = "E_INVALID_TIMESTAMP",
    /// A `ToolCall` could not be built.
    InvalidToolCall = "E_INVALID_INITIAL_TOOL_CALL_VALUE",
    /// A `TurnToolCallContent` could not be built.
    InvalidToolCallContent = "E_INVALID_INITIAL_TURN_TOOL_CALL_CONTENT_VALUE",
    /// A `ToolMessage` could not be built.
    InvalidToolMessage = "E_INVALID_INITIAL_TOOL_MESSAGE_VALUE",
    /// A `Message` could not be built.
    InvalidMessage = "E_INVALID_INITIAL_MESSAGE_VALUE",
    /// A `Thought` could not be built.
    InvalidThought = "E_INVALID_INITIAL_THOUGHT_VALUE",
    /// A `Memory` could not be built.
    InvalidMemory = "E_INVALID_INITIAL_MEMORY_VALUE",
    /// A `Retrievable` could not be built.
    InvalidRetrievable = "E_INVALID_INITIAL_RETRIEVABLE_VALUE",
    /// A `Media` could not be built.
    InvalidMedia = "E_INVALID_INITIAL_MEDIA_VALUE",
    /// An `Identity` could not be built.
    InvalidIdentity = "E_INVALID_INITIAL_IDENTITY_VALUE",
    /// A `Media` was opened that was read from JSON and has no source of bytes.
    MediaSourceMissing = "E_MEDIA_SOURCE_MISSING",
    /// The bytes of a `Media` could not be read.
    MediaUnreadable = "E_MEDIA_UNREADABLE",
    /// An encoding has a token counter already.
    TokenizerAlreadyRegistered = "E_TOKENIZER_ALREADY_REGISTERED",
    /// A tool definition is not valid.
    InvalidTool = "E_INVALID_INITIAL_TOOL_VALUE",
    /// Two tools of one agent share a name.
    ToolAlreadyRegistered = "E_TOOL_ALREADY_REGISTERED",
    /// The arguments of a call do not fit the tool; nothing ran.
    InvalidToolArgs = "E_INVALID_TOOL_ARGS",
    /// The model called a tool that does not exist; nothing ran.
    UnknownTool = "E_UNKNOWN_TOOL",
    /// The call was refused; nothing ran.
    ToolDenied = "E_TOOL_DENIED",
    /// The handler failed, panicked, ran out of time or was cancelled.
    ToolDownstream = "E_TOOL_DOWNSTREAM_ERROR",
    /// The handler panicked (the cause inside `E_TOOL_DOWNSTREAM_ERROR`).
    ToolPanicked = "E_TOOL_PANICKED",
    /// The handler ran out of time (the cause inside `E_TOOL_DOWNSTREAM_ERROR`).
    ToolTimedOut = "E_TOOL_TIMED_OUT",
    /// A result could not be kept or read.
    SpoolFailed = "E_SPOOL_FAILED",
    /// A result was written to after its call was over.
    SpoolClosed = "E_SPOOL_CLOSED",
    /// The turn was aborted before or while the call ran.
    TurnAborted = "E_TURN_ABORTED",
    /// The model, or the way to it, failed.
    ModelFailed = "E_MODEL_FAILED",
    /// The model's reply ended without a finish reason, or was cut at its length limit in mid-call.
    ReplyIncomplete = "E_MODEL_REPLY_INCOMPLETE",
    /// The model's reply grew past a bound.
    ReplyTooLarge = "E_MODEL_REPLY_TOO_LARGE",
    /// The turn ended without an answer because a limit was reached.
    TurnStopped = "E_TURN_STOPPED",
    /// Another turn is running in this session.
    SessionBusy = "E_SESSION_BUSY",
    /// The journal could not keep a fact.
    JournalFailed = "E_JOURNAL_FAILED",
    /// An append named a position that the journal has given away already.
    JournalConflict = "E_JOURNAL_CONFLICT",
    /// The process could not get what it needs from the system, for example random bytes.
    System = "E_SYSTEM",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// One thing that is wrong with a value, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Problem {
    /// JSON pointer to the place; empty for the value as a whole.
    pub pointer: String,
    /// What was expected there and what came.
    pub message: String,
}

impl Problem {
    /// A problem at a JSON pointer (`""` is the whole value).
    pub fn at(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        let short = |text| shorten(text, MAX_QUOTED_BYTES);
        Self { pointer: short(pointer.into()), message: short(message.into()) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.pointer, self.message)
        }
    }
}

/// Whatever went wrong, with a stable code, the cause chain and a message that says what to do next.
///
/// ```
/// use windlass_core::{Checksum, Code};
///
/// let error = "E0B6".parse::<Checksum>().unwrap_err();
/// assert_eq!(error.code(), Code::InvalidChecksum);
/// assert!(error.to_string().starts_with("E_INVALID_CHECKSUM: "));
/// assert!(!error.is_transient());
/// ```
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    code: Code,
    message: String,
    problems: Vec<Problem>,
    left_out: usize,
    is_transient: bool,
    cause: Option<Cause>,
}

impl Error {
    /// An error with a code and a message that says what was being done and what to do next.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            code,
            message: message.into(),
            problems: Vec::new(),
            left_out: 0,
            is_transient: false,
            cause: None,
        }))
    }

    /// Adds the problems, [`MAX_PROBLEMS`] at most; the rest is counted.
    #[must_use]
    pub fn with_problems(mut self, mut problems: Vec<Problem>) -> Self {
        self.0.left_out = problems.len().saturating_sub(MAX_PROBLEMS);
        problems.truncate(MAX_PROBLEMS);
        self.0.problems = problems;
        self
    }

    /// Adds the error that led to this one.
    #[must_use]
    pub fn with_cause(mut self, cause: impl StdError + Send + Sync + 'static) -> Self {
        self.0.cause = Some(Arc::new(cause));
        self
    }

    #[must_use]
    pub(crate) fn with_shared_cause(mut self, cause: Cause) -> Self {
        self.0.cause = Some(cause);
        self
    }

    /// Marks an error that may well not happen again if the same thing is tried later.
    #[must_use]
    pub fn transient(mut self) -> Self {
        self.0.is_transient = true;
        self
    }

    /// Which error this is.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The message without its code, its problems and its cause.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Every problem that was found, [`MAX_PROBLEMS`] at most.
    pub fn problems(&self) -> &[Problem] {
        &self.0.problems
    }

    /// True if trying the same again later may succeed.
    pub fn is_transient(&self) -> bool {
        self.0.is_transient
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code, self.0.message)?;
        for problem in &self.0.problems {
            write!(f, "\n- {problem}")?;
        }
        if self.0.left_out > 0 {
            write!(f, "\n- and {} more", self.0.left_out)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)?;
        causes(self).try_for_each(|cause| write!(f, "\ncaused by: {cause}"))
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.cause.as_deref().map(|cause| cause as &(dyn StdError + 'static))
    }
}

/// The most causes of one error that are looked at: a chain may be a cycle of somebody's making.
const MAX_CAUSES: usize = 32;

/// The causes of an error, the nearest first.
pub(crate) fn causes(error: &dyn StdError) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    std::iter::successors(error.source(), |&cause| cause.source()).take(MAX_CAUSES)
}

/// Cuts a text on a character boundary, `limit` bytes at most, and says how much is missing.
pub(crate) fn shorten(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        let kept = (0..=limit).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let left_out = text.len() - kept;
        text.truncate(kept);
        // Writing into a string cannot fail.
        let _ = write!(text, "… ({left_out} more bytes)");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_in_one_spelling() {
        let mut texts: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert!(texts.iter().all(|text| {
            text.starts_with("E_") && text.bytes().all(|b| b == b'_' || b.is_ascii_uppercase())
        }));
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), Code::ALL.len());
    }

    #[test]
    fn past_twenty_problems_the_rest_is_counted() {
        let problems = |n| (0..n).map(|i| Problem::at(format!("/{i}"), "wrong")).collect();
        let at_the_bound = Error::new(Code::InvalidToolArgs, "m").with_problems(problems(MAX_PROBLEMS));
        assert_eq!(at_the_bound.problems().len(), MAX_PROBLEMS);
        assert!(!at_the_bound.to_string().contains("more"));
        let past = Error::new(Code::InvalidToolArgs, "m").with_problems(problems(MAX_PROBLEMS + 3));
        assert_eq!(past.problems().len(), MAX_PROBLEMS);
        assert!(past.to_string().ends_with("\n- and 3 more"));
    }

    #[test]
    fn a_long_quotation_is_cut_on_a_character_boundary() {
        let message = Problem::at("", "é".repeat(200)).message;
        assert_eq!(message, format!("{}… (200 more bytes)", "é".repeat(100)));
    }

    #[test]
    fn a_long_pointer_is_cut_too() {
        let problem = Problem::at(format!("/{}", "k".repeat(5 << 20)), "wrong");
        assert!(problem.to_string().len() < 2 * MAX_QUOTED_BYTES);
    }

    #[test]
    fn a_cycle_of_causes_is_followed_only_so_far() {
        #[derive(Debug)]
        struct Cycle;
        impl fmt::Display for Cycle {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("round and round")
            }
        }
        impl StdError for Cycle {
            fn source(&self) -> Option<&(dyn StdError + 'static)> {
                Some(self)
            }
        }
        assert_eq!(causes(&Cycle).count(), MAX_CAUSES);
        assert_eq!(crate::ToolError::from(Cycle).to_string(), "round and round");
        let error = Error::new(Code::System, "m").with_cause(Cycle);
        assert_eq!(format!("{error:?}").lines().count(), 1 + MAX_CAUSES);
    }

    #[test]
    fn debug_shows_the_chain_of_causes() {
        let inner = Error::new(Code::System, "no random bytes");
        let outer = Error::new(Code::ToolDownstream, "`t` failed").with_cause(inner);
        assert_eq!(
            format!("{outer:?}"),
            "E_TOOL_DOWNSTREAM_ERROR: `t` failed\ncaused by: E_SYSTEM: no random bytes"
        );
    }
}
