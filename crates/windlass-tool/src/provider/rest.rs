//! Keywords about the rest: what no other keyword of the same schema names.

use serde_json::{Map, Value};
use windlass_core::canonical;

use super::inline::Left;

/// Takes the keywords about the rest out of two schemas where the rest of both is not the rest of each.
pub(super) fn separate(ours: &mut Map<String, Value>, theirs: &mut Map<String, Value>) -> Vec<Left> {
    let mut left = Vec::new();
    let is_ours_apart = !(names(theirs, "properties").all(|name| has(ours, "properties", name))
        && (ours.contains_key("patternProperties") || names(theirs, "patternProperties").next().is_none()));
    let is_theirs_apart = !(names(ours, "properties").all(|name| has(theirs, "properties", name))
        && (!ours.contains_key("patternProperties")
            || names(ours, "patternProperties").eq(names(theirs, "patternProperties"))));
    for (map, is_apart) in [(&mut *ours, is_ours_apart), (&mut *theirs, is_theirs_apart)] {
        if is_apart && let Some((keyword, value)) = map.remove_entry("additionalProperties") {
            left.push(Left { keyword, value, except: Some(named(map)) });
        }
    }
    let (our_count, their_count) = (count(ours), count(theirs));
    let is_ours_apart = our_count == 0 && their_count > 0;
    let is_theirs_apart = our_count > 0 && our_count != their_count;
    for (map, is_apart) in [(ours, is_ours_apart), (theirs, is_theirs_apart)] {
        if is_apart && let Some((keyword, value)) = map.remove_entry("items") {
            let count = count(map);
            let except = if count == 0 { String::new() } else { format!(" after the first {count}") };
            left.push(Left { keyword, value, except: Some(except) });
        }
    }
    left
}

fn names<'a>(map: &'a Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'a String> {
    map.get(keyword).and_then(Value::as_object).into_iter().flat_map(Map::keys)
}

fn has(map: &Map<String, Value>, keyword: &str, name: &str) -> bool {
    map.get(keyword).is_some_and(|named| named.get(name).is_some())
}

fn count(map: &Map<String, Value>) -> usize {
    map.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len)
}

/// What `additionalProperties` is not about.
fn named(map: &Map<String, Value>) -> String {
    let text = |name: &String| canonical(&Value::from(name.as_str()));
    let patterns =
        names(map, "patternProperties").map(|pattern| format!("those that match {}", text(pattern)));
    let named: Vec<_> = names(map, "properties").map(text).chain(patterns).collect();
    if named.is_empty() { String::new() } else { format!(" other than {}", named.join(", ")) }
}
