use std::borrow::Cow;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use super::fields::{self, Extra, Fields, RecordType, Source, conversions, entry, invalid, write_extra};
use super::tool_call::{args, identity_problems};
use super::{ToolCall, ToolResults};
use crate::error::{Code, Error, Problem};
use crate::identity::{Args, Checksum, ToolCallId};
use crate::time::Timestamp;

/// The raw form of [`TurnToolCallContent`], in the field names of the event stream.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawTurnToolCallContent {
    /// The correlation key, the same on every emission of one call; not empty.
    #[schemars(length(min = 1))]
    pub id: String,
    /// The name of the tool that the model asked for; not empty.
    #[schemars(length(min = 1))]
    pub tool: String,
    /// The raw arguments: an object, or a text that decodes to one.
    #[serde(deserialize_with = "crate::json::deserialize")]
    #[schemars(schema_with = "super::tool_call::args_schema")]
    pub args: Value,
    /// The [`Checksum`] of tool and args.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub checksum: String,
    /// When the call was first emitted.
    pub created_at: Timestamp,
    /// When this emission was made.
    pub updated_at: Timestamp,
    /// True on the last emission of a call.
    pub is_complete: bool,
    /// True if `results` tells what went wrong.
    pub is_error: bool,
    /// What the call produced; absent until it is complete.
    #[serde(default, deserialize_with = "fields::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ToolResults")]
    pub results: Option<ToolResults>,
    /// When the call settled; absent until then.
    #[serde(default, deserialize_with = "fields::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Timestamp")]
    pub completed_at: Option<Timestamp>,
}

/// A call as the event stream shows it: announced once the model's reply is whole, then completed once
/// under the same id.
///
/// The checksum joins it with the execution events, whose `callId` is the same value. Equal calls have
/// equal checksums; `created_at` tells them apart, because no two calls of a turn share it.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnToolCallContent(Arc<Inner>);

#[derive(Clone, Debug, PartialEq)]
struct Inner {
    id: ToolCallId,
    tool: Arc<str>,
    args: Args,
    checksum: Checksum,
    created_at: Timestamp,
    updated_at: Timestamp,
    completion: Option<Completion>,
    extra: Extra,
}

/// What an emission has exactly if the call is complete.
#[derive(Clone, Debug, PartialEq)]
struct Completion {
    is_error: bool,
    results: ToolResults,
    completed_at: Timestamp,
}

const TYPE: RecordType = RecordType { name: "TurnToolCallContent", code: Code::InvalidToolCallContent };

struct Parts {
    id: Option<Arc<str>>,
    tool: Option<Arc<str>>,
    args: Option<Args>,
    checksum: Option<Checksum>,
    created_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
    is_complete: Option<bool>,
    is_error: Option<bool>,
    results: Option<ToolResults>,
    completed_at: Option<Timestamp>,
}

impl TurnToolCallContent {
    /// The tool name that stands for an empty one, which no provider would take back.
    pub const UNNAMED: &str = "unnamed_tool";

    /// The first emission of a call, made at `at`. The checksum is computed here, once.
    pub fn announce(id: ToolCallId, tool: impl Into<Arc<str>>, args: Args, at: Timestamp) -> Self {
        let tool = Some(tool.into()).filter(|tool| !tool.is_empty()).unwrap_or_else(|| Self::UNNAMED.into());
        let checksum = args.checksum(&tool);
        let (created_at, updated_at) = (at, at);
        Self(Arc::new(Inner {
            id,
            tool,
            args,
            checksum,
            created_at,
            updated_at,
            completion: None,
            extra: None,
        }))
    }

    pub(super) fn completed(call: &ToolCall) -> Self {
        let completion = Completion {
            is_error: call.is_error(),
            results: call.results().clone(),
            completed_at: call.completed_at(),
        };
        Self(Arc::new(Inner {
            id: call.id().clone(),
            tool: call.tool().into(),
            args: call.shared_args().clone(),
            checksum: call.checksum(),
            created_at: call.created_at(),
            updated_at: call.updated_at(),
            completion: Some(completion),
            extra: None,
        }))
    }

    /// Builds an emission and compares its checksum with its tool and args.
    ///
    /// Fails with `E_INVALID_INITIAL_TURN_TOOL_CALL_CONTENT_VALUE` and lists every problem.
    pub fn new(raw: RawTurnToolCallContent) -> Result<Self, Error> {
        Self::from_raw(raw, Source::Caller)
    }

    /// Builds an emission without comparing its checksum: for those of another kit, and for copies whose
    /// secret arguments are blanked out.
    pub fn unverified(raw: RawTurnToolCallContent) -> Result<Self, Error> {
        Self::from_raw(raw, Source::Store)
    }

    fn from_raw(raw: RawTurnToolCallContent, source: Source) -> Result<Self, Error> {
        let mut problems = Vec::new();
        let mut note = |name: &str, message: String| problems.push(Problem::at(format!("/{name}"), message));
        let parts = Parts {
            id: Some(raw.id.into()),
            tool: Some(raw.tool.into()),
            args: args(Cow::Owned(raw.args), source).map_err(|message| note("args", message)).ok(),
            checksum: raw
                .checksum
                .parse()
                .map_err(|error: Error| note("checksum", error.message().into()))
                .ok(),
            created_at: Some(raw.created_at),
            updated_at: Some(raw.updated_at),
            is_complete: Some(raw.is_complete),
            is_error: Some(raw.is_error),
            results: raw.results,
            completed_at: raw.completed_at,
        };
        parts.build(source, problems, None)
    }

    /// True exactly if `TurnToolCallContent::try_from(value)` would succeed.
    pub fn is_turn_tool_call_content(value: &Value) -> bool {
        Self::try_from(value).is_ok()
    }

    fn read(value: &Value, source: Source) -> Result<Self, Error> {
        let mut fields = Fields::of(value, TYPE)?;
        let parts = Parts {
            id: fields.required("id", |value| fields::text(value).map(Into::into)),
            tool: fields.required("tool", |value| fields::text(value).map(Into::into)),
            args: fields.required("args", |value| args(Cow::Borrowed(value), source)),
            checksum: fields.required("checksum", fields::parsed),
            created_at: fields.required("createdAt", fields::time),
            updated_at: fields.required("updatedAt", fields::time),
            is_complete: fields.required("isComplete", fields::boolean),
            is_error: fields.required("isError", fields::boolean),
            results: fields.optional("results", |value| ToolResults::read(value, source)),
            completed_at: fields.optional("completedAt", fields::time),
        };
        let (problems, extra) = fields.finish(source);
        parts.build(source, problems, extra)
    }

    /// The correlation key of this invocation.
    pub fn id(&self) -> &ToolCallId {
        &self.0.id
    }

    /// The name of the tool that the model asked for.
    pub fn tool(&self) -> &str {
        &self.0.tool
    }

    pub(super) fn shared_tool(&self) -> &Arc<str> {
        &self.0.tool
    }

    /// The raw arguments.
    pub fn args(&self) -> &Map<String, Value> {
        self.0.args.object()
    }

    /// The raw arguments, with what is known about their defects.
    pub fn shared_args(&self) -> &Args {
        &self.0.args
    }

    /// A copy for whoever may not see the arguments of these names. Its checksum is that of the original.
    #[must_use]
    pub fn without_secrets(&self, names: &[Arc<str>]) -> Self {
        if names.is_empty() {
            return self.clone();
        }
        let args = self.0.args.without_secrets(names);
        Self(Arc::new(Inner { args, ..(*self.0).clone() }))
    }

    pub(crate) fn with_defect(&self, defect: Option<String>) -> Self {
        Self(Arc::new(Inner { args: self.0.args.with_defect(defect), ..(*self.0).clone() }))
    }

    /// What was asked, as a hash.
    pub fn checksum(&self) -> Checksum {
        self.0.checksum
    }

    /// When the call was first emitted.
    pub fn created_at(&self) -> Timestamp {
        self.0.created_at
    }

    /// When this emission was made.
    pub fn updated_at(&self) -> Timestamp {
        self.0.updated_at
    }

    /// True on the last emission of a call.
    pub fn is_complete(&self) -> bool {
        self.0.completion.is_some()
    }

    /// True if [`results`](Self::results) tells what went wrong.
    pub fn is_error(&self) -> bool {
        self.0.completion.as_ref().is_some_and(|completion| completion.is_error)
    }

    /// What the call produced, once it is complete.
    pub fn results(&self) -> Option<&ToolResults> {
        self.0.completion.as_ref().map(|completion| &completion.results)
    }

    /// When the call settled, once it has.
    pub fn completed_at(&self) -> Option<Timestamp> {
        self.0.completion.as_ref().map(|completion| completion.completed_at)
    }
}

impl Parts {
    fn build(
        self,
        source: Source,
        mut problems: Vec<Problem>,
        extra: Extra,
    ) -> Result<TurnToolCallContent, Error> {
        let (id, tool, args) = (self.id.as_deref(), self.tool.as_deref(), self.args.as_ref());
        problems.extend(identity_problems(id, tool, args, self.checksum, source));
        let mut note = |name: &str, message: &str| {
            let pointer = format!("/{name}");
            // A field that could not be read is not missing as well.
            if problems.iter().all(|known| known.pointer != pointer) {
                problems.push(Problem::at(pointer, message));
            }
        };
        match self.is_complete {
            Some(true) => {
                match self.results.as_ref().map(|results| results.defect(source)) {
                    None => note("results", "is required once the call is complete"),
                    Some(Some(defect)) => note("results", &defect),
                    Some(None) => {}
                }
                if self.completed_at.is_none() {
                    note("completedAt", "is required once the call is complete");
                }
            }
            Some(false) => {
                if self.is_error == Some(true) {
                    note("isError", "must be false until the call is complete");
                }
                if self.results.is_some() {
                    note("results", "must be absent until the call is complete");
                }
                if self.completed_at.is_some() {
                    note("completedAt", "must be absent until the call is complete");
                }
            }
            None => {}
        }
        let complete = move || {
            let completion = match (self.results, self.completed_at) {
                (Some(results), Some(completed_at)) => {
                    Some(Completion { is_error: self.is_error?, results, completed_at })
                }
                _ => None,
            };
            Some(Inner {
                id: ToolCallId::new(self.id?)?,
                tool: self.tool?,
                args: self.args?,
                checksum: self.checksum?,
                created_at: self.created_at?,
                updated_at: self.updated_at?,
                completion,
                extra,
            })
        };
        match complete() {
            Some(inner) if problems.is_empty() => Ok(TurnToolCallContent(Arc::new(inner))),
            _ => Err(invalid(TYPE, problems)),
        }
    }
}

conversions!(TurnToolCallContent from RawTurnToolCallContent);

impl Serialize for TurnToolCallContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let content = &*self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &content.id)?;
        map.serialize_entry("tool", &content.tool)?;
        map.serialize_entry("args", content.args.object())?;
        map.serialize_entry("checksum", &content.checksum)?;
        map.serialize_entry("createdAt", &content.created_at)?;
        map.serialize_entry("updatedAt", &content.updated_at)?;
        map.serialize_entry("isComplete", &self.is_complete())?;
        map.serialize_entry("isError", &self.is_error())?;
        entry(&mut map, "results", self.results())?;
        entry(&mut map, "completedAt", self.completed_at().as_ref())?;
        write_extra(&mut map, &content.extra)?;
        map.end()
    }
}
