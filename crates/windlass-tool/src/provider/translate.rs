//! What can be said by other keywords.

use serde_json::{Value, json};

use super::rendering::{Draft, Rendering};
use super::{Enums, Null};

impl Rendering<'_> {
    /// Says by other keywords what the subset has no keyword for.
    pub(super) fn translate(&mut self, draft: &mut Draft<'_>, depth: usize) {
        let is_top = draft.place.is_empty();
        if !self.subset.has("const", is_top)
            && self.subset.has("enum", is_top)
            && !draft.map.contains_key("enum")
            && let Some(only) = draft.map.remove("const")
        {
            draft.map.insert("enum".to_owned(), json!([only]));
        }
        let may_move = self.subset.has("anyOf", is_top) && !draft.map.contains_key("anyOf");
        if !self.subset.has("oneOf", is_top)
            && may_move
            && let Some(alternatives) = draft.map.remove("oneOf")
        {
            draft.map.insert("anyOf".to_owned(), alternatives);
            draft.sentences.push(("oneOf".to_owned(), "Exactly one of the alternatives fits.".to_owned()));
            self.warn(draft.place, "oneOf", "became `anyOf`");
        }
        if self.subset.null == Null::Keyword {
            self.translate_null(draft, depth);
        }
        if self.subset.enums == Enums::Texts
            && draft.map.get("enum").is_some_and(is_texts)
            && !draft.map.contains_key("type")
        {
            draft.map.insert("type".to_owned(), "string".into());
        }
    }

    /// Says `nullable` for null among types, alternatives or options.
    fn translate_null(&mut self, draft: &mut Draft<'_>, depth: usize) {
        let mut is_nullable = false;
        if let Some(Value::Array(options)) = draft.map.get_mut("enum") {
            let count = options.len();
            options.retain(|option| !option.is_null());
            is_nullable |= options.len() < count;
            if options.is_empty() {
                draft.map.remove("enum");
                self.say(draft, "const", &Value::Null);
            }
        }
        if let Some(Value::Array(alternatives)) = draft.map.get_mut("anyOf") {
            let count = alternatives.len();
            alternatives.retain(|schema| schema.get("type").and_then(Value::as_str) != Some("null"));
            is_nullable |= alternatives.len() < count;
            if alternatives.len() <= 1
                && let Some(Value::Array(mut alternatives)) = draft.map.remove("anyOf")
                && let Some(Value::Object(mut only)) = alternatives.pop()
            {
                let reference = only.remove("$ref");
                self.add(draft, only);
                if let Some(reference) = reference {
                    self.inline(draft, &reference, depth);
                }
                self.flatten(draft, depth);
                self.translate(draft, depth);
            }
        }
        if let Some(Value::Array(types)) = draft.map.get("type") {
            let mut types = types.clone();
            let count = types.len();
            types.retain(|kind| kind != "null");
            is_nullable |= types.len() < count;
            self.set_types(draft, types);
        } else if draft.map.get("type").is_some_and(|kind| kind == "null") {
            draft.map.remove("type");
            is_nullable = true;
            self.say(draft, "type", &json!("null"));
        }
        if is_nullable {
            draft.map.insert("nullable".to_owned(), Value::Bool(true));
        }
    }

    /// One type, or alternatives of one type each.
    fn set_types(&mut self, draft: &mut Draft<'_>, mut types: Vec<Value>) {
        draft.map.remove("type");
        match types.len() {
            0 => {}
            1 => drop(draft.map.insert("type".to_owned(), types.remove(0))),
            _ if draft.map.contains_key("anyOf") => self.say(draft, "type", &Value::Array(types)),
            _ => {
                let alternatives: Vec<_> = types.into_iter().map(|kind| json!({ "type": kind })).collect();
                draft.map.insert("anyOf".to_owned(), Value::Array(alternatives));
            }
        }
    }
}

/// Whether options are all texts.
pub(super) fn is_texts(options: &Value) -> bool {
    options.as_array().is_some_and(|options| options.iter().all(Value::is_string))
}
