use std::borrow::Cow;
use std::sync::Arc;

use schemars::{JsonSchema, Schema};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::fields::{self, Extra, Fields, RecordType, Source, conversions, entry, invalid, write_extra};
use super::{Outcome, Settlement, ToolMessage, ToolResults, TurnToolCallContent};
use crate::error::{Code, Error, Problem};
use crate::identity::{Args, Checksum, Digest, EffectiveChecksum, OperationId, ToolCallId};
use crate::time::Timestamp;
use crate::trust::Label;

/// The input of [`ToolCall::new`], in the field names of stored records.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "the fields of stored records are given")]
pub struct RawToolCall {
    /// The correlation key of this invocation; not empty.
    #[schemars(length(min = 1))]
    pub id: String,
    /// The name of the tool that the model asked for; not empty.
    #[schemars(length(min = 1))]
    pub tool: String,
    /// The raw arguments: an object, or a text that decodes to one.
    #[serde(deserialize_with = "crate::json::deserialize")]
    #[schemars(schema_with = "args_schema")]
    pub args: Value,
    /// The [`Checksum`] of tool and args, made by whoever produces the call.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub checksum: String,
    /// Always true: a record exists only once its call has settled.
    #[schemars(extend("const" = true))]
    pub is_complete: bool,
    /// True if `results` tells what went wrong.
    pub is_error: bool,
    /// What the call produced.
    pub results: ToolResults,
    /// When the call was first announced.
    pub created_at: Timestamp,
    /// When this record was last changed.
    pub updated_at: Timestamp,
    /// When the call settled.
    pub completed_at: Timestamp,
    /// True for a call of an artifact tool, whose result is its text.
    #[serde(default)]
    pub from_artifact_tool: bool,
    /// False asks the renderer for a handle instead of the content.
    #[serde(default = "yes")]
    pub inline: bool,
    /// What ran, see [`EffectiveChecksum`].
    #[serde(default, deserialize_with = "fields::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "EffectiveChecksum")]
    pub effective_checksum: Option<EffectiveChecksum>,
    /// Which run it was, see [`OperationId`].
    #[serde(default, deserialize_with = "fields::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "OperationId")]
    pub operation_id: Option<OperationId>,
    /// SHA-256 of the result, for telling repeats that change nothing from polling.
    #[serde(default, deserialize_with = "fields::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Digest")]
    pub result_digest: Option<Digest>,
    /// How the call came out.
    #[serde(default, deserialize_with = "fields::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Outcome")]
    pub outcome: Option<Outcome>,
    /// Who wrote the result.
    #[serde(default, deserialize_with = "fields::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Label")]
    pub label: Option<Label>,
}

const fn yes() -> bool {
    true
}

pub(super) fn args_schema(_: &mut schemars::SchemaGenerator) -> Schema {
    schemars::json_schema!({
        "anyOf": [
            { "type": "object" },
            { "type": "string", "description": "JSON text that decodes to an object" },
        ],
    })
}

/// One settled call: what was asked, what came of it, and under which names.
///
/// A record is made once and shared; a clone is a reference. It is the unit that stores keep, that
/// renderers show and that loop guards count.
///
/// ```
/// use serde_json::json;
/// use windlass_core::{Code, ToolCall, checksum};
///
/// let mut raw = json!({
///     "id": "call_abc123", "tool": "search", "args": "{\"query\":\"hello\"}",
///     "checksum": checksum("search", &json!({ "query": "hello" })),
///     "isComplete": true, "isError": true, "results": "the index is offline",
///     "createdAt": "2026-01-01T00:00:00Z", "updatedAt": 1767225600500_i64, "completedAt": 1767225600500_i64,
/// });
/// let call = ToolCall::try_from(&raw)?;
/// assert_eq!(call.args()["query"], "hello");
/// assert!(call.inline());
///
/// raw["args"] = json!({ "query": "tampered" });
/// let error = ToolCall::try_from(&raw).unwrap_err();
/// assert_eq!(error.code(), Code::InvalidToolCall);
/// assert_eq!(error.problems()[0].pointer, "/checksum");
/// # Ok::<(), windlass_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall(Arc<Inner>);

#[derive(Clone, Debug, PartialEq)]
struct Inner {
    id: ToolCallId,
    tool: Arc<str>,
    args: Args,
    checksum: Checksum,
    is_error: bool,
    results: ToolResults,
    created_at: Timestamp,
    updated_at: Timestamp,
    completed_at: Timestamp,
    from_artifact_tool: bool,
    inline: bool,
    effective_checksum: Option<EffectiveChecksum>,
    operation_id: Option<OperationId>,
    result_digest: Option<Digest>,
    outcome: Option<Outcome>,
    label: Option<Label>,
    extra: Extra,
}

pub(super) const TYPE: RecordType = RecordType { name: "ToolCall", code: Code::InvalidToolCall };

/// The fields of a record that may be missing or wrong, while problems are still being collected.
struct Parts {
    id: Option<Arc<str>>,
    tool: Option<Arc<str>>,
    args: Option<Args>,
    checksum: Option<Checksum>,
    is_complete: Option<bool>,
    is_error: Option<bool>,
    results: Option<ToolResults>,
    created_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
    completed_at: Option<Timestamp>,
    from_artifact_tool: Option<bool>,
    inline: Option<bool>,
    effective_checksum: Option<EffectiveChecksum>,
    operation_id: Option<OperationId>,
    result_digest: Option<Digest>,
    outcome: Option<Outcome>,
    label: Option<Label>,
}

impl ToolCall {
    /// Builds a record and compares its checksum with its tool and args.
    ///
    /// Fails with `E_INVALID_INITIAL_TOOL_CALL_VALUE` and lists every problem.
    pub fn new(raw: RawToolCall) -> Result<Self, Error> {
        Self::from_raw(raw, Source::Caller)
    }

    /// Builds a record without comparing its checksum: for records of another kit, and for copies whose
    /// secret arguments are blanked out.
    pub fn unverified(raw: RawToolCall) -> Result<Self, Error> {
        Self::from_raw(raw, Source::Store)
    }

    /// The record of an announced call that has ended.
    ///
    /// It keeps the announcement's id, checksum and `createdAt`. This cannot fail: an announcement is
    /// valid already, and a [`Settlement`] cannot break a rule that the announcement could not.
    pub fn settle(announced: &TurnToolCallContent, settlement: Settlement) -> Self {
        let at = settlement.at.max(announced.created_at());
        let (effective_checksum, operation_id) = settlement.operation.unzip();
        Self(Arc::new(Inner {
            id: announced.id().clone(),
            tool: announced.shared_tool().clone(),
            // Told by the results from here on: a record that is read again knows no defect either.
            args: announced.shared_args().with_defect(None),
            checksum: announced.checksum(),
            is_error: settlement.is_error,
            results: settlement.results,
            created_at: announced.created_at(),
            updated_at: at,
            completed_at: at,
            from_artifact_tool: settlement.from_artifact_tool,
            inline: settlement.inline,
            effective_checksum,
            operation_id,
            result_digest: Some(settlement.result_digest),
            outcome: Some(settlement.outcome),
            label: Some(settlement.label),
            extra: None,
        }))
    }

    /// True exactly if `ToolCall::try_from(value)` would succeed.
    pub fn is_tool_call(value: &Value) -> bool {
        Self::try_from(value).is_ok()
    }

    /// True if the checksum is that of tool and args.
    pub fn is_intact(&self) -> bool {
        self.0.args.checksum(&self.0.tool) == self.0.checksum
    }

    fn from_raw(raw: RawToolCall, source: Source) -> Result<Self, Error> {
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
            is_complete: Some(raw.is_complete),
            is_error: Some(raw.is_error),
            results: Some(raw.results),
            created_at: Some(raw.created_at),
            updated_at: Some(raw.updated_at),
            completed_at: Some(raw.completed_at),
            from_artifact_tool: Some(raw.from_artifact_tool),
            inline: Some(raw.inline),
            effective_checksum: raw.effective_checksum,
            operation_id: raw.operation_id,
            result_digest: raw.result_digest,
            outcome: raw.outcome,
            label: raw.label,
        };
        parts.build(source, problems, None)
    }

    fn read(value: &Value, source: Source) -> Result<Self, Error> {
        let mut fields = Fields::of(value, TYPE)?;
        let parts = Parts {
            id: fields.required("id", |value| fields::text(value).map(Into::into)),
            tool: fields.required("tool", |value| fields::text(value).map(Into::into)),
            args: fields.required("args", |value| args(Cow::Borrowed(value), source)),
            checksum: fields.required("checksum", fields::parsed),
            is_complete: fields.required("isComplete", fields::boolean),
            is_error: fields.required("isError", fields::boolean),
            results: fields.required("results", |value| ToolResults::read(value, source)),
            created_at: fields.required("createdAt", fields::time),
            updated_at: fields.required("updatedAt", fields::time),
            completed_at: fields.required("completedAt", fields::time),
            from_artifact_tool: fields.optional("fromArtifactTool", fields::boolean),
            inline: fields.optional("inline", fields::boolean),
            effective_checksum: fields.optional("effectiveChecksum", fields::parsed),
            operation_id: fields.optional("operationId", fields::parsed),
            result_digest: fields.optional("resultDigest", fields::parsed),
            outcome: fields.extensible("outcome", source),
            label: fields.extensible("label", source),
        };
        let (problems, extra) = fields.finish(source);
        parts.build(source, problems, extra)
    }
}

/// The arguments of a record: an object, or a text that decodes to one.
///
/// A store may hold anything, and there it becomes `{"$raw": …}` as a model's own arguments would.
pub(super) fn args(value: Cow<'_, Value>, source: Source) -> Result<Args, String> {
    let args = Args::from_record(value);
    match args.defect() {
        None => Ok(args),
        Some(_) if source == Source::Store => Ok(args.with_defect(None)),
        Some(defect) => {
            Err(format!("{defect}; arguments that are no object are recorded as {{\"$raw\": …}}"))
        }
    }
}

/// What is wrong with the names of a call, in whichever form it stands.
pub(super) fn identity_problems(
    id: Option<&str>,
    tool: Option<&str>,
    args: Option<&Args>,
    checksum: Option<Checksum>,
    source: Source,
) -> Vec<Problem> {
    let empty = |pointer: &str, name: Option<&str>| {
        (name == Some("")).then(|| Problem::at(pointer, "must not be empty"))
    };
    let mismatch = || {
        let (tool, args, given) = (tool?, args?, checksum?);
        let expected = args.checksum(tool);
        let message = format!("does not belong to this tool and args; theirs is {expected}");
        (source == Source::Caller && expected != given).then(|| Problem::at("/checksum", message))
    };
    [empty("/id", id), empty("/tool", tool), mismatch()].into_iter().flatten().collect()
}

impl Parts {
    fn build(self, source: Source, mut problems: Vec<Problem>, extra: Extra) -> Result<ToolCall, Error> {
        let (id, tool, args) = (self.id.as_deref(), self.tool.as_deref(), self.args.as_ref());
        problems.extend(identity_problems(id, tool, args, self.checksum, source));
        let mut note = |name: &str, message: String| problems.push(Problem::at(format!("/{name}"), message));
        if self.is_complete == Some(false) {
            note("isComplete", "must be true: a record exists only once its call has settled".into());
        }
        let from_artifact_tool = self.from_artifact_tool.unwrap_or(false);
        match &self.results {
            Some(ToolResults::Text(_)) if !from_artifact_tool && self.is_error == Some(false) => note(
                "results",
                "a text is the result of an artifact tool or the detail of an error; other results are artifacts or media"
                    .into(),
            ),
            Some(ToolResults::Text(_)) | None => {}
            Some(results) => match results.defect(source) {
                Some(defect) => note("results", defect),
                None if from_artifact_tool => {
                    note("results", "the result of an artifact tool is a text".into());
                }
                None => {}
            },
        }
        let complete = move || {
            Some(Inner {
                id: ToolCallId::new(self.id?)?,
                tool: self.tool?,
                args: self.args?,
                checksum: self.checksum?,
                is_error: self.is_error?,
                results: self.results?,
                created_at: self.created_at?,
                updated_at: self.updated_at?,
                completed_at: self.completed_at?,
                from_artifact_tool,
                inline: self.inline.unwrap_or(true),
                effective_checksum: self.effective_checksum,
                operation_id: self.operation_id,
                result_digest: self.result_digest,
                outcome: self.outcome,
                label: self.label,
                extra,
            })
        };
        match complete() {
            Some(inner) if problems.is_empty() => Ok(ToolCall(Arc::new(inner))),
            _ => Err(invalid(TYPE, problems)),
        }
    }
}

impl ToolCall {
    /// The correlation key of this invocation.
    pub fn id(&self) -> &ToolCallId {
        &self.0.id
    }

    /// The name of the tool that the model asked for.
    pub fn tool(&self) -> &str {
        &self.0.tool
    }

    /// The raw arguments.
    pub fn args(&self) -> &serde_json::Map<String, Value> {
        self.0.args.object()
    }

    pub(crate) fn shared_args(&self) -> &Args {
        &self.0.args
    }

    /// What was asked, as a hash.
    pub fn checksum(&self) -> Checksum {
        self.0.checksum
    }

    /// True if [`results`](Self::results) tells what went wrong.
    pub fn is_error(&self) -> bool {
        self.0.is_error
    }

    /// What the call produced.
    pub fn results(&self) -> &ToolResults {
        &self.0.results
    }

    /// When the call was first announced.
    pub fn created_at(&self) -> Timestamp {
        self.0.created_at
    }

    /// When this record was last changed.
    pub fn updated_at(&self) -> Timestamp {
        self.0.updated_at
    }

    /// When the call settled.
    pub fn completed_at(&self) -> Timestamp {
        self.0.completed_at
    }

    /// True for a call of an artifact tool.
    pub fn from_artifact_tool(&self) -> bool {
        self.0.from_artifact_tool
    }

    /// False asks the renderer for a handle instead of the content.
    pub fn inline(&self) -> bool {
        self.0.inline
    }

    /// What ran, if it is known.
    pub fn effective_checksum(&self) -> Option<EffectiveChecksum> {
        self.0.effective_checksum
    }

    /// Which run it was, if it is known.
    pub fn operation_id(&self) -> Option<OperationId> {
        self.0.operation_id
    }

    /// SHA-256 of the result, if it is known.
    pub fn result_digest(&self) -> Option<Digest> {
        self.0.result_digest
    }

    /// How the call came out, if it is known.
    pub fn outcome(&self) -> Option<Outcome> {
        self.0.outcome
    }

    /// Who wrote the result. No label means untrusted.
    pub fn label(&self) -> Option<&Label> {
        self.0.label.as_ref()
    }

    /// A copy that asks for the other rendering. It keeps id and `createdAt`, and is updated at `at`, or
    /// one millisecond after this record if the clock has not moved on.
    #[must_use]
    pub fn with_inline(&self, inline: bool, at: Timestamp) -> Self {
        let updated_at = at.max(self.0.updated_at.plus_millis(1));
        Self(Arc::new(Inner { updated_at, inline, ..(*self.0).clone() }))
    }

    /// A copy for whoever may not see the arguments of these names. Its checksum is that of the original,
    /// so it is not intact.
    #[must_use]
    pub fn without_secrets(&self, names: &[Arc<str>]) -> Self {
        if names.is_empty() {
            return self.clone();
        }
        let args = self.0.args.without_secrets(names);
        Self(Arc::new(Inner { args, ..(*self.0).clone() }))
    }

    /// The stream form of this record: the completing emission.
    pub fn to_content(&self) -> TurnToolCallContent {
        TurnToolCallContent::completed(self)
    }

    /// The transcript form of this record. `content` is the text that stands for the result: the bare
    /// output, a handle, or the error detail.
    pub fn to_message(&self, content: impl Into<Arc<str>>) -> ToolMessage {
        ToolMessage::answer(self, content.into())
    }
}

conversions!(ToolCall from RawToolCall);

impl Serialize for ToolCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let call = &*self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &call.id)?;
        map.serialize_entry("tool", &call.tool)?;
        map.serialize_entry("args", call.args.object())?;
        map.serialize_entry("checksum", &call.checksum)?;
        map.serialize_entry("isComplete", &true)?;
        map.serialize_entry("isError", &call.is_error)?;
        map.serialize_entry("results", &call.results)?;
        map.serialize_entry("createdAt", &call.created_at)?;
        map.serialize_entry("updatedAt", &call.updated_at)?;
        map.serialize_entry("completedAt", &call.completed_at)?;
        map.serialize_entry("fromArtifactTool", &call.from_artifact_tool)?;
        map.serialize_entry("inline", &call.inline)?;
        entry(&mut map, "effectiveChecksum", call.effective_checksum.as_ref())?;
        entry(&mut map, "operationId", call.operation_id.as_ref())?;
        entry(&mut map, "resultDigest", call.result_digest.as_ref())?;
        entry(&mut map, "outcome", call.outcome.as_ref())?;
        entry(&mut map, "label", call.label.as_ref())?;
        write_extra(&mut map, &call.extra)?;
        map.end()
    }
}
