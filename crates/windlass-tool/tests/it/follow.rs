//! Does literally what an error says, and nothing else.

use serde_json::{Map, Value, json};

/// The arguments, corrected as the text of an error says.
pub(crate) fn follow(error: &str, args: &Value) -> Value {
    let mut lines = error.lines();
    let head = lines.next().unwrap_or_default();
    let example =
        head.split_once("An example that fits: ").map(|(_, text)| serde_json::from_str(text).unwrap());
    let example: Value = example.unwrap_or_default();
    let mut args = args.clone();
    for line in lines {
        let Some((pointer, told)) = line.strip_prefix("- ").and_then(|line| line.split_once(": ")) else {
            continue;
        };
        if !pointer.starts_with('/') {
            continue;
        }
        correct(&mut args, pointer, told, &example);
    }
    args
}

fn correct(args: &mut Value, pointer: &str, told: &str, example: &Value) {
    if told.starts_with("is not an argument") || told.starts_with("is not allowed") {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        if let Some(Value::Object(map)) = args.pointer_mut(parent) {
            map.remove(name);
        }
        return;
    }
    let shown = at(example, pointer).cloned();
    let (told, _) = told.rsplit_once(", got ").unwrap_or((told, ""));
    let wanted = told.strip_prefix("expected ").or_else(|| told.strip_prefix("is required: "));
    let current = args.pointer(pointer).cloned();
    let value = wanted.and_then(|wanted| build(wanted, current.as_ref(), shown.as_ref())).or(shown);
    put(args, pointer, value.unwrap_or(json!(1)));
}

/// The part of the example at a pointer; an example may have fewer items, and those are alike.
fn at<'a>(example: &'a Value, pointer: &str) -> Option<&'a Value> {
    let alike =
        |segment: &str| if segment.parse::<u64>().is_ok() { "0".to_owned() } else { segment.to_owned() };
    let first = pointer.split('/').map(alike).collect::<Vec<_>>().join("/");
    example.pointer(pointer).or_else(|| example.pointer(&first))
}

fn put(args: &mut Value, pointer: &str, value: Value) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match args.pointer_mut(parent) {
        Some(Value::Object(map)) => drop(map.insert(name.to_owned(), value)),
        Some(Value::Array(list)) => {
            if let Some(item) = list.get_mut(name.parse::<usize>().unwrap()) {
                *item = value;
            }
        }
        _ => {}
    }
}

/// The value that words ask for, made from what was sent.
fn build(wanted: &str, current: Option<&Value>, shown: Option<&Value>) -> Option<Value> {
    if let Some(options) = wanted.strip_prefix("one of ") {
        return serde_json::Deserializer::from_str(options).into_iter().next()?.ok();
    }
    if let Ok(literal) = serde_json::from_str(wanted) {
        return Some(literal);
    }
    if let Some(limited) = limit(wanted, current) {
        return Some(limited);
    }
    if let Some(shown) = shown {
        return Some(shown.clone());
    }
    let (kind, limits) = wanted.split_once(" (").unwrap_or((wanted, ""));
    let plain = match kind {
        "an integer" | "a number" => json!(1),
        "a string" => json!("text"),
        "a boolean" => json!(true),
        "an array" => json!([]),
        "an object" => Value::Object(Map::new()),
        _ => return None,
    };
    let limits = limits.trim_end_matches(')').split(", ");
    Some(limits.fold(plain, |value, words| limit(words, Some(&value)).unwrap_or(value)))
}

/// What was sent, moved inside one limit.
fn limit(words: &str, current: Option<&Value>) -> Option<Value> {
    let strip = |prefix: &str| words.strip_prefix(prefix)?.split(' ').next()?.parse::<f64>().ok();
    let size = |prefix: &str| words.strip_prefix(prefix)?.split(' ').next()?.parse::<usize>().ok();
    match current? {
        Value::Number(number) if !words.ends_with("items") => {
            let number = number.as_f64()?;
            let moved = strip("at least ")
                .or_else(|| strip("at most "))
                .or_else(|| Some(strip("more than ")? + 1.0))
                .or_else(|| Some(strip("less than ")? - 1.0))
                .or_else(|| strip("a multiple of ").map(|step| (number / step).round() * step))?;
            #[expect(clippy::cast_possible_truncation, reason = "limits of tests are small")]
            Some(if moved.fract() == 0.0 { json!(moved as i64) } else { json!(moved) })
        }
        Value::String(text) if words.contains("character") => {
            let longer = size("at least ")
                .map(|least| format!("{text}{}", "x".repeat(least.saturating_sub(text.len()))));
            longer.or_else(|| size("at most ").map(|most| text.chars().take(most).collect())).map(Value::from)
        }
        Value::Array(list) if words.ends_with("item") || words.ends_with("items") => {
            let most = size("at most ")?;
            Some(Value::Array(list.iter().take(most).cloned().collect()))
        }
        Value::Object(map) if words.starts_with("at most ") => {
            Some(Value::Object(map.clone().into_iter().take(size("at most ")?).collect()))
        }
        _ => None,
    }
}
