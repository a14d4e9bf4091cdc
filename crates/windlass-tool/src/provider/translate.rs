//! What can be said by other keywords.

use serde_json::{Map, Value, json};

use super::rendering::{Draft, Rendering};
use super::{Enums, Null};

impl Rendering<'_> {
    /// Says by other keywords what the subset has no keyword for.
    pub(super) fn translate(&mut self, draft: &mut Draft<'_>, depth: usize) {
        let mut null = Nullness { fits: true, is_decided: false };
        loop {
            self.rename(draft);
            // An alternative that is the only one may bring more of them.
            if self.subset.null == Null::Type || !self.merge_only(draft, depth, &mut null) {
                break;
            }
        }
        if self.subset.null == Null::Keyword {
            self.translate_null(draft, null);
        }
        if self.subset.enums == Enums::Texts
            && draft.map.get("enum").is_some_and(is_texts)
            && !draft.map.contains_key("type")
        {
            draft.map.insert("type".to_owned(), "string".into());
        }
    }

    /// Says `const` as `enum` and `oneOf` as `anyOf`, where only these may stand.
    fn rename(&mut self, draft: &mut Draft<'_>) {
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
    }

    /// Takes null out of the alternatives, and writes the only other one in their place. Whether it did.
    fn merge_only(&mut self, draft: &mut Draft<'_>, depth: usize, null: &mut Nullness) -> bool {
        if !null.is_decided {
            null.fits &= may_be_null(&draft.map);
        }
        let Some(Value::Array(all)) = draft.map.get("anyOf").cloned() else { return false };
        let mut alternatives = all.clone();
        alternatives.retain(|schema| schema.get("type").and_then(Value::as_str) != Some("null"));
        let had_null = alternatives.len() < all.len();
        // What the others say about null does not matter any more.
        null.is_decided |= had_null;
        if alternatives.len() > 1 {
            draft.map.insert("anyOf".to_owned(), Value::Array(alternatives));
            return false;
        }
        draft.map.remove("anyOf");
        match alternatives.pop() {
            Some(Value::Object(mut only)) => {
                let reference = only.remove("$ref");
                self.add(draft, only);
                if let Some(reference) = reference {
                    self.inline(draft, &reference, depth);
                }
                self.flatten(draft, depth);
                return true;
            }
            None | Some(Value::Bool(false)) if had_null => self.say(draft, "type", &json!("null")),
            None | Some(Value::Bool(false)) => self.say(draft, "anyOf", &Value::Array(all)),
            Some(_) => {}
        }
        false
    }

    /// Says `nullable` for null among types, alternatives or options.
    fn translate_null(&mut self, draft: &mut Draft<'_>, null: Nullness) {
        let mut is_nullable = null.is_decided;
        if let Some(Value::Array(options)) = draft.map.get_mut("enum") {
            let count = options.len();
            options.retain(|option| !option.is_null());
            is_nullable |= options.len() < count;
            if options.is_empty() {
                draft.map.remove("enum");
                self.say(draft, "const", &Value::Null);
            }
        }
        if let Some(Value::Array(types)) = draft.map.get("type") {
            let mut types = types.clone();
            let count = types.len();
            types.retain(|kind| kind != "null");
            is_nullable |= types.len() < count;
            self.set_types(draft, types);
        } else if draft.map.get("type").is_some_and(|kind| kind == "null") {
            is_nullable = true;
            self.set_types(draft, Vec::new());
        }
        if is_nullable && null.fits {
            draft.map.insert("nullable".to_owned(), Value::Bool(true));
        }
    }

    /// One type, or alternatives of one type each.
    fn set_types(&mut self, draft: &mut Draft<'_>, mut types: Vec<Value>) {
        draft.map.remove("type");
        match types.len() {
            0 => self.say(draft, "type", &json!("null")),
            1 => drop(draft.map.insert("type".to_owned(), types.remove(0))),
            _ if draft.map.contains_key("anyOf") => self.say(draft, "type", &Value::Array(types)),
            _ => {
                let alternatives: Vec<_> = types.into_iter().map(|kind| json!({ "type": kind })).collect();
                draft.map.insert("anyOf".to_owned(), Value::Array(alternatives));
            }
        }
    }
}

/// What is known of null while alternatives are taken apart.
#[derive(Clone, Copy)]
struct Nullness {
    /// Whether nothing so far refuses it.
    fits: bool,
    /// Whether it was an alternative of its own.
    is_decided: bool,
}

/// Whether null may fit a schema, as far as its types, options and alternatives tell.
fn may_be_null(map: &Map<String, Value>) -> bool {
    let alone = |map: &Map<String, Value>| {
        let is_type = map.get("type").is_none_or(|kind| match kind {
            Value::String(kind) => kind == "null",
            Value::Array(kinds) => kinds.iter().any(|kind| kind == "null"),
            _ => true,
        });
        let is_option =
            map.get("enum").and_then(Value::as_array).is_none_or(|all| all.iter().any(Value::is_null));
        is_type && is_option && map.get("const").is_none_or(Value::is_null)
    };
    let is_alternative = map.get("anyOf").and_then(Value::as_array).is_none_or(|all| {
        all.iter().any(|schema| match schema {
            Value::Object(map) => alone(map),
            other => *other != Value::Bool(false),
        })
    });
    alone(map) && is_alternative
}

/// Whether options are all texts.
pub(super) fn is_texts(options: &Value) -> bool {
    options.as_array().is_some_and(|options| options.iter().all(Value::is_string))
}
