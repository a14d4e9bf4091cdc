//! Tools that are defined by data.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_core::{
    Approval, Args, Code, Concurrency, DynamicTool, Effect, OnCollision, RawTool, Tool, ToolOutput,
    TypedTool as _,
};

use crate::support::{Recorder, Trace, unchecked};

fn city() -> Value {
    json!({ "type": "object", "properties": { "city": { "type": "string" }, "key": {} } })
}

fn minimal() -> Value {
    json!({ "name": "weather", "description": "Tells.", "inputSchema": city() })
}

/// The minimal definition with one field set, or taken away if it is null.
fn with(field: &str, value: Value) -> Value {
    let mut raw = minimal();
    raw[field] = value;
    raw
}

fn without(field: &str) -> Value {
    let mut raw = minimal();
    raw.as_object_mut().unwrap().remove(field);
    raw
}

#[test]
fn guard_constructor_and_raw_form_agree_on_every_rule() {
    let rows: Vec<(Value, &[&str])> = vec![
        (minimal(), &[]),
        (json!([]), &[""]),
        (json!(null), &[""]),
        (without("name"), &["/name"]),
        (without("description"), &["/description"]),
        (without("inputSchema"), &["/inputSchema"]),
        (with("name", json!(7)), &["/name"]),
        (with("name", json!("")), &["/name"]),
        (with("name", json!("two words")), &["/name"]),
        (with("description", json!(" ")), &["/description"]),
        (with("inputSchema", json!({ "type": "string" })), &["/inputSchema"]),
        (with("inputSchema", json!(true)), &["/inputSchema"]),
        (with("effect", json!("pure")), &[]),
        (with("effect", json!("twice")), &["/effect"]),
        (with("effect", json!(null)), &["/effect"]),
        (with("artifactType", json!("csv")), &[]),
        (with("artifactType", json!("")), &["/artifactType"]),
        (with("ephemeral", json!(true)), &[]),
        (with("ephemeral", json!("yes")), &["/ephemeral"]),
        (with("trusted", json!(1)), &["/trusted"]),
        (with("onCollision", json!("keep")), &[]),
        (with("onCollision", json!("overwrite")), &["/onCollision"]),
        (with("meta", json!({ "a": 1 })), &[]),
        (with("meta", json!([1])), &["/meta"]),
        (with("egress", json!(null)), &["/egress"]),
        (with("sensitive", json!({})), &["/sensitive"]),
        (with("approval", json!("always")), &[]),
        (with("approval", json!("sometimes")), &["/approval"]),
        (with("destination", json!(["city"])), &[]),
        (with("destination", json!(["town"])), &["/destination"]),
        (with("destination", json!("city")), &["/destination"]),
        (with("secret", json!(["key"])), &[]),
        (with("secret", json!(["kee", "city"])), &["/secret"]),
        (with("concurrency", json!("exclusive")), &[]),
        (with("concurrency", json!("alone")), &["/concurrency"]),
        (with("timeoutMs", json!(1)), &[]),
        (with("timeoutMs", json!(0)), &["/timeoutMs"]),
        (with("timeoutMs", json!(-1)), &["/timeoutMs"]),
        (with("inline", json!(false)), &[]),
        (with("inline", json!(null)), &["/inline"]),
        (with("blocking", json!(true)), &[]),
        (with("polling", json!("no")), &["/polling"]),
        (with("colour", json!("red")), &["/colour"]),
    ];
    for (raw, pointers) in rows {
        let result = DynamicTool::try_from(&raw);
        assert_eq!(Tool::is_tool(&raw), result.is_ok(), "{raw}");
        assert_eq!(DynamicTool::try_from(raw.clone()).is_ok(), result.is_ok(), "{raw}");
        // Where the raw type can hold the value at all, its constructor says the same.
        if let Ok(typed) = serde_json::from_value::<RawTool>(raw.clone()) {
            let problems = DynamicTool::new(typed).err().map(|error| error.problems().to_vec());
            assert_eq!(problems, result.as_ref().err().map(|error| error.problems().to_vec()), "{raw}");
        } else {
            assert!(result.is_err(), "{raw}");
        }
        let found = result.err().map(|error| {
            assert_eq!(error.code(), Code::InvalidTool);
            error.problems().iter().map(|problem| problem.pointer.clone()).collect::<Vec<_>>()
        });
        assert_eq!(found.unwrap_or_default(), pointers, "{raw}");
    }
}

#[test]
fn all_problems_are_told_at_once() {
    let raw = json!({ "name": "a b", "description": 7, "effect": "twice", "colour": "red", "timeoutMs": 0 });
    let error = DynamicTool::try_from(&raw).unwrap_err();
    let mut pointers: Vec<_> = error.problems().iter().map(|problem| problem.pointer.as_str()).collect();
    pointers.sort_unstable();
    assert_eq!(pointers, ["/colour", "/description", "/effect", "/inputSchema", "/name", "/timeoutMs"]);
}

#[test]
fn of_a_tool_that_does_not_say_the_worst_is_assumed() {
    let tool = DynamicTool::try_from(minimal()).unwrap();
    let definition = tool.definition();
    assert_eq!(definition.effect, Effect::Once);
    assert!(!definition.trusted && !definition.ephemeral && !definition.egress && !definition.sensitive);
    assert_eq!(definition.on_collision, OnCollision::Throw);
    assert_eq!(definition.timeout, windlass_core::tool::DEFAULT_TIMEOUT);
    assert_eq!(definition.results_type().name(), "text");
}

#[test]
fn every_property_can_be_said_by_data() {
    let raw = json!({
        "name": "weather", "description": "Tells.", "inputSchema": city(), "effect": "idempotent",
        "artifactType": "csv", "ephemeral": true, "trusted": true, "onCollision": "replace",
        "meta": { "region": "north" }, "egress": true, "sensitive": true, "approval": "always",
        "destination": ["city"], "secret": ["key"], "concurrency": "exclusive", "timeoutMs": 1500,
        "inline": false, "blocking": true, "polling": true,
    });
    let tool = DynamicTool::try_from(&raw).unwrap();
    let definition = tool.definition();
    assert_eq!((definition.effect, definition.on_collision), (Effect::Idempotent, OnCollision::Replace));
    assert_eq!((definition.concurrency, definition.inline), (Concurrency::Exclusive, Some(false)));
    assert!(matches!(definition.approval, Approval::Always));
    assert!(definition.ephemeral && definition.trusted && definition.egress && definition.sensitive);
    assert!(definition.blocking && definition.polling);
    assert_eq!(definition.timeout, Duration::from_millis(1500));
    assert_eq!((definition.results_type().name(), &definition.meta["region"]), ("csv", &json!("north")));
    assert!(definition.destination.contains("city") && definition.secret.contains("key"));
    let typed: RawTool = serde_json::from_value(raw.clone()).unwrap();
    assert_eq!(serde_json::to_value(&typed).unwrap(), raw);
}

#[test]
fn the_schema_of_a_definition_names_every_field_and_can_be_nested() {
    let schema = Tool::schema().to_value();
    let typed: RawTool = serde_json::from_value(minimal()).unwrap();
    let mut full = serde_json::to_value(typed).unwrap();
    full["artifactType"] = json!("csv");
    full["inline"] = json!(true);
    let mut fields: Vec<_> = full.as_object().unwrap().keys().collect();
    let mut known: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
    fields.sort_unstable();
    known.sort_unstable();
    assert_eq!(known, fields);
    assert_eq!(schema["required"], json!(["name", "description", "inputSchema"]));
    assert_eq!(schema["additionalProperties"], json!(false));
}

#[tokio::test(start_paused = true)]
async fn a_definition_with_a_handler_is_a_tool_like_any_other() {
    let tool = DynamicTool::try_from(minimal())
        .unwrap()
        .handler(|args| async move { Ok(format!("Rain in {}.", args["city"].as_str().unwrap_or("?"))) });
    assert_eq!(tool.definition().name, "weather");
    let tool = unchecked(tool).unwrap();
    assert_eq!(tool.describe().input_schema, city());
    let executor = tool.executor(Arc::new(Recorder::new(&Trace::default())));
    let output = executor.call(Args::from_value(json!({ "city": "Oslo" }))).await.unwrap();
    assert_eq!(output, ToolOutput::Text("Rain in Oslo.".into()));
}

#[test]
fn a_schema_that_is_too_deep_is_refused_by_every_way_in() {
    let deep = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({ "not": inner }));
    let mut schema = deep(windlass_core::json::MAX_DEPTH);
    schema["type"] = json!("object");
    let raw = with("inputSchema", schema.clone());
    assert!(!Tool::is_tool(&raw));
    let error = DynamicTool::new(RawTool::new("weather", "Tells.", schema)).unwrap_err();
    assert_eq!(error.problems()[0].to_string(), "/inputSchema: is nested deeper than 128 levels");
}
