//! The walk that renders a schema.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use windlass_core::{canonical, json};

use super::inline::{DEPENDS, Left, MAX_INLINED_DEPTH, MAX_REFERENCES, MAX_UNFOLDED, merge};
use super::translate::is_texts;
use super::words::{sentence, sentence_of_rest};
use super::{Enums, FULL, MAX_RENDERED_BYTES, References, Rendered, Subset, Warning};
use crate::keyword::{About, Holds, escaped, holds};
use crate::reference::{embedded, target};

/// Keywords that say nothing about values and nothing to a reader.
pub(super) const BOOKKEEPING: [&str; 7] =
    ["$anchor", "$comment", "$dynamicAnchor", "$id", "$schema", "$vocabulary", "definitions"];

/// Keywords that are told once, by whoever refers to a definition.
const NOTES: [&str; 4] = ["default", "deprecated", "examples", "title"];

/// See [`super::render`].
pub(super) fn render(schema: &Value, subset: &Subset) -> Rendered {
    if json::is_deeper_than(schema, json::MAX_DEPTH) {
        return left_out(format!("are left out: the schema is deeper than {} levels", json::MAX_DEPTH));
    }
    let mut rendering = Rendering {
        root: schema,
        has_embedded: embedded(schema).is_some(),
        subset,
        warnings: Vec::new(),
        open: Vec::new(),
        spent: 0,
    };
    let rendered = rendering.schema(schema, "", 0);
    let mut warnings = rendering.warnings;
    if canonical(&rendered).len() > MAX_RENDERED_BYTES {
        return left_out(format!("are left out: the schema would have more than {MAX_RENDERED_BYTES} bytes"));
    }
    warnings.sort();
    warnings.dedup();
    Rendered { schema: rendered, warnings }
}

/// What is sent of a schema that cannot be.
fn left_out(message: String) -> Rendered {
    let warning = Warning { pointer: String::new(), keyword: "properties".to_owned(), message };
    Rendered { schema: json!({ "type": "object" }), warnings: vec![warning] }
}

pub(super) struct Rendering<'a> {
    root: &'a Value,
    /// Whether a schema inside has its own `$id`: then nobody knows where a reference starts.
    has_embedded: bool,
    pub(super) subset: &'a Subset,
    warnings: Vec<Warning>,
    /// The definitions being written out around this place, by address.
    open: Vec<usize>,
    /// How many bytes were written in place of references.
    spent: usize,
}

/// A schema on its way to a vendor.
pub(super) struct Draft<'p> {
    pub(super) map: Map<String, Value>,
    pub(super) place: &'p str,
    /// How many references were written out into it.
    references: usize,
    /// By keyword, so that they come in the same order in every build.
    pub(super) sentences: Vec<(String, String)>,
}

impl Rendering<'_> {
    fn schema(&mut self, schema: &Value, place: &str, depth: usize) -> Value {
        let map = match schema {
            Value::Object(map) => map.clone(),
            Value::Bool(_) if self.subset.keywords == FULL.keywords => return schema.clone(),
            Value::Bool(false) => {
                self.warn(place, "false", "is said in words");
                return json!({ "description": "Nothing is allowed here." });
            }
            _ => return json!({}),
        };
        let opened = self.open.len();
        let mut draft = Draft { map, place, references: 0, sentences: Vec::new() };
        self.flatten(&mut draft, depth);
        self.translate(&mut draft, depth);
        let rendered = self.finish(draft, depth);
        self.open.truncate(opened);
        rendered
    }

    /// Writes references and parts out, where they cannot stay.
    pub(super) fn flatten(&mut self, draft: &mut Draft<'_>, depth: usize) {
        let is_top = draft.place.is_empty();
        let has_parts = self.subset.has("allOf", is_top);
        if self.subset.references == References::Inlined
            && let Some(reference) = draft.map.remove("$ref")
        {
            self.inline(draft, &reference, depth);
        }
        if has_parts {
            return;
        }
        // Each part may bring more parts; what they bring is bounded by what may be written out.
        while let Some(Value::Array(parts)) = draft.map.remove("allOf") {
            for part in parts {
                match part {
                    // References inside would start elsewhere without the `$id`.
                    Value::Object(part)
                        if part.contains_key("$id") && self.subset.references == References::Kept =>
                    {
                        self.say(draft, "allOf", &json!([part]));
                    }
                    Value::Object(mut part) => {
                        let reference = part.remove("$ref");
                        self.add(draft, part);
                        if let Some(reference) = reference {
                            self.inline(draft, &reference, depth);
                        }
                    }
                    Value::Bool(false) => self.say(draft, "allOf", &json!([false])),
                    _ => {}
                }
            }
        }
    }

    /// Writes what a reference names in its place, and what that refers to in turn, as far as it may be.
    pub(super) fn inline(&mut self, draft: &mut Draft<'_>, reference: &Value, depth: usize) {
        let mut next = self.inline_one(draft, reference, depth);
        while let Some(reference) = next {
            next = self.inline_one(draft, &reference, depth);
        }
    }

    /// Writes what a reference names in its place; what that refers to is given back.
    fn inline_one(&mut self, draft: &mut Draft<'_>, reference: &Value, depth: usize) -> Option<Value> {
        let found = target(self.root, &json!({ "$ref": reference })).filter(|_| !self.has_embedded);
        let Some(found) = found else {
            self.say(draft, "$ref", reference);
            return None;
        };
        let address = std::ptr::from_ref(found).addr();
        // Measuring is work too: once nothing more may be written out, nothing more is measured.
        if self.spent <= MAX_RENDERED_BYTES {
            self.spent = self.spent.saturating_add(canonical(found).len());
        }
        draft.references += 1;
        let is_past =
            depth > MAX_INLINED_DEPTH || draft.references > MAX_REFERENCES || self.spent > MAX_RENDERED_BYTES;
        if is_past || self.open.iter().filter(|open| **open == address).count() >= MAX_UNFOLDED {
            if let Some(kind) = found.get("type").filter(|kind| kind.is_string()) {
                draft.map.entry("type").or_insert(kind.clone());
            }
            let name = reference.as_str().and_then(|text| text.rsplit('/').next()).unwrap_or_default();
            let sentence = format!("Like `{name}` around it, and so on.");
            draft.sentences.push(("$ref".to_owned(), sentence));
            self.warn(draft.place, "$ref", "is not written out any further");
            return None;
        }
        self.open.push(address);
        match found {
            Value::Object(map) => {
                let mut map = map.clone();
                let inner = map.remove("$ref");
                self.add(draft, map);
                return inner;
            }
            Value::Bool(false) => self.say(draft, "not", &json!({})),
            _ => {}
        }
        None
    }

    /// Adds what another schema says about the same value.
    pub(super) fn add(&mut self, draft: &mut Draft<'_>, mut other: Map<String, Value>) {
        other.remove("$defs");
        for keyword in BOOKKEEPING {
            other.remove(keyword);
        }
        for keyword in NOTES {
            if draft.map.contains_key(keyword) {
                other.remove(keyword);
            }
        }
        for left in merge(&mut draft.map, other) {
            self.tell(draft, &left);
        }
    }

    /// Renders what stays and says the rest.
    fn finish(&mut self, mut draft: Draft<'_>, depth: usize) -> Value {
        let is_top = draft.place.is_empty();
        let map = std::mem::take(&mut draft.map);
        let sent: Vec<_> = map.iter().map(|(keyword, value)| self.is_sent(keyword, value, is_top)).collect();
        let sent: BTreeSet<String> = map
            .keys()
            .zip(sent)
            .filter(|(_, is_sent)| *is_sent)
            .map(|(keyword, _)| keyword.clone())
            .collect();
        let present: BTreeSet<String> = map.keys().cloned().collect();
        let is_evaluated_elsewhere = draft.sentences.iter().any(|(keyword, _)| evaluates(keyword))
            || present.difference(&sent).any(|keyword| evaluates(keyword));
        let mut rendered = Map::new();
        for (keyword, value) in map {
            // Without the other one it would say something else.
            let is_alone = DEPENDS.iter().any(|(about, other)| {
                *about == keyword && present.contains(*other) && !sent.contains(*other)
            }) || (is_evaluated_elsewhere && keyword.starts_with("unevaluated"));
            if sent.contains(&keyword) && !is_alone {
                let value = self.value(&keyword, value, draft.place, depth);
                rendered.insert(keyword, value);
            } else if !self.is_definition(&keyword) && !BOOKKEEPING.contains(&keyword.as_str()) {
                self.say(&mut draft, &keyword, &value);
            }
        }
        draft.sentences.sort();
        draft.sentences.dedup();
        if !draft.sentences.is_empty() {
            let own = rendered.get("description").and_then(Value::as_str).map(str::to_owned);
            let sentences = draft.sentences.into_iter().map(|(_, sentence)| sentence);
            let text = own.into_iter().chain(sentences).collect::<Vec<_>>().join("\n");
            rendered.insert("description".to_owned(), text.into());
        }
        Value::Object(rendered)
    }

    /// Whether the subset has a keyword and takes its value.
    fn is_sent(&self, keyword: &str, value: &Value, is_top: bool) -> bool {
        let is_taken = match keyword {
            "format" => self.subset.has_format(value),
            "enum" if self.subset.enums == Enums::Texts => is_texts(value),
            _ => !self.is_definition(keyword),
        };
        is_taken && self.subset.has(keyword, is_top)
    }

    /// Whether a keyword holds definitions that nothing refers to any more.
    fn is_definition(&self, keyword: &str) -> bool {
        self.subset.references == References::Inlined && matches!(keyword, "$defs" | "definitions")
    }

    /// The value of a keyword that stays.
    fn value(&mut self, keyword: &str, value: Value, place: &str, depth: usize) -> Value {
        match (holds(keyword), value) {
            (Some((Holds::One, _)), schema) => self.schema(&schema, &format!("{place}/{keyword}"), depth + 1),
            (Some((Holds::List, _)), Value::Array(list)) => {
                let render = |(index, schema): (usize, &Value)| {
                    self.schema(schema, &format!("{place}/{keyword}/{index}"), depth + 1)
                };
                list.iter().enumerate().map(render).collect()
            }
            (Some((Holds::Named, _)), Value::Object(map)) => {
                let mut render = |(name, schema): (String, Value)| {
                    let place = format!("{place}/{keyword}/{}", escaped(&name));
                    let rendered = self.schema(&schema, &place, depth + 1);
                    (name, rendered)
                };
                Value::Object(map.into_iter().map(&mut render).collect())
            }
            (_, value) => value,
        }
    }

    /// Puts a keyword into words.
    pub(super) fn say(&mut self, draft: &mut Draft<'_>, keyword: &str, value: &Value) {
        let left = Left { keyword: keyword.to_owned(), value: value.clone(), except: None };
        self.tell(draft, &left);
    }

    /// Puts what is left of a schema into words.
    fn tell(&mut self, draft: &mut Draft<'_>, Left { keyword, value, except }: &Left) {
        let says_nothing = match keyword.as_str() {
            "additionalProperties" | "items" | "unevaluatedItems" | "unevaluatedProperties" => {
                value == &Value::Bool(true)
            }
            "deprecated" | "readOnly" | "uniqueItems" | "writeOnly" => value == &Value::Bool(false),
            _ => false,
        };
        if says_nothing {
            return;
        }
        let value = self.without_references(keyword, value);
        let (sentence, is_whole) = match except {
            Some(except) => sentence_of_rest(keyword, &value, except),
            None => sentence(keyword, &value),
        };
        draft.sentences.push((keyword.clone(), sentence));
        self.warn(
            draft.place,
            keyword,
            if is_whole { "is said in words" } else { "is said in words, in part" },
        );
    }

    /// A value whose references, if it holds schemas, are written out: in words nothing can be looked up.
    fn without_references(&mut self, keyword: &str, value: &Value) -> Value {
        if self.subset.references == References::Kept || holds(keyword).is_none() {
            return value.clone();
        }
        let inlined = Subset { references: References::Inlined, ..FULL };
        let mut inner = Rendering {
            root: self.root,
            has_embedded: self.has_embedded,
            subset: &inlined,
            warnings: Vec::new(),
            open: self.open.clone(),
            spent: self.spent,
        };
        let rendered = inner.value(keyword, value.clone(), "", MAX_INLINED_DEPTH / 2);
        self.spent = inner.spent;
        rendered
    }

    pub(super) fn warn(&mut self, place: &str, keyword: &str, message: &str) {
        self.warnings.push(Warning {
            pointer: place.to_owned(),
            keyword: keyword.to_owned(),
            message: message.to_owned(),
        });
    }
}

/// Whether a keyword can be what keeps a property or an item from being unevaluated.
fn evaluates(keyword: &str) -> bool {
    match keyword {
        "$dynamicRef" | "$ref" => true,
        "not" | "propertyNames" | "unevaluatedItems" | "unevaluatedProperties" => false,
        _ => holds(keyword).is_some_and(|(_, about)| about != About::Nothing),
    }
}
