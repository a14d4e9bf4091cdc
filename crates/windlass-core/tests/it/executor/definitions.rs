//! What a tool must say about itself.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_core::tool::{DEFAULT_TIMEOUT, MAX_NAME_BYTES};
use windlass_core::{Code, Definition, Effect, Error, Tool, tool_fn};

use crate::support::unchecked;

#[derive(Deserialize, JsonSchema)]
struct City {
    /// City name, e.g. "Oslo"
    #[serde(rename = "city")]
    _city: String,
    #[serde(rename = "scale", default)]
    _scale: Scale,
}

#[derive(Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Scale {
    #[default]
    Celsius,
    Fahrenheit,
}

fn define<A: DeserializeOwned + JsonSchema + Send + Sync + 'static>(
    name: impl Into<String>,
    description: &'static str,
) -> Result<Tool, Error> {
    unchecked(tool_fn(name.into(), description, Effect::Pure, |_: A| async { Ok(()) }))
}

fn pointers(result: Result<Tool, Error>) -> Vec<String> {
    match result {
        Ok(_) => Vec::new(),
        Err(error) => {
            assert_eq!(error.code(), Code::InvalidTool);
            error.problems().iter().map(|problem| problem.pointer.clone()).collect()
        }
    }
}

#[test]
fn an_invalid_definition_is_refused_with_all_its_problems() {
    let at_the_bound = "é".repeat(MAX_NAME_BYTES / 2);
    let past_the_bound = format!("{at_the_bound}x");
    let none: [&str; 0] = [];
    assert_eq!(pointers(define::<City>("weather", "Tells.")), none);
    assert_eq!(pointers(define::<BTreeMap<String, u8>>("weather", "Tells.")), none);
    assert_eq!(pointers(define::<City>(at_the_bound, "Tells.")), none);
    assert_eq!(pointers(define::<City>(past_the_bound, "Tells.")), ["/name"]);
    assert_eq!(pointers(define::<City>("", "Tells.")), ["/name"]);
    for name in ["the weather", "weather\n", "\u{2003}", "bell\u{7}"] {
        assert_eq!(pointers(define::<City>(name, "Tells.")), ["/name"], "{name:?}");
    }
    for description in ["", " \n\t"] {
        assert_eq!(pointers(define::<City>("weather", description)), ["/description"], "{description:?}");
    }
    assert_eq!(pointers(define::<String>("weather", "Tells.")), ["/inputSchema"]);
    assert_eq!(pointers(define::<Vec<City>>("weather", "Tells.")), ["/inputSchema"]);
    assert_eq!(pointers(define::<()>("weather", "Tells.")), ["/inputSchema"]);
    assert_eq!(pointers(define::<Option<City>>("weather", "Tells.")), ["/inputSchema"]);
    let everything = define::<u8>(" ".repeat(MAX_NAME_BYTES + 1), "");
    assert_eq!(pointers(everything), ["/name", "/name", "/description", "/inputSchema"]);
}

#[test]
fn a_description_is_exactly_name_description_and_schema() {
    let tool = define::<City>("weather", "Current weather in a city.").unwrap();
    assert_eq!(
        serde_json::to_value(tool.describe()).unwrap(),
        json!({
            "name": "weather",
            "description": "Current weather in a city.",
            "inputSchema": {
                "title": "City",
                "type": "object",
                "properties": {
                    "city": { "type": "string", "description": "City name, e.g. \"Oslo\"" },
                    "scale": { "type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius" },
                },
                "required": ["city"],
            },
        }),
    );
}

#[test]
fn what_is_not_said_has_its_default() {
    let tool = tool_fn("t", "Does it.", Effect::Once, |_: City| async { Ok(()) });
    let definition = unchecked(tool).unwrap().definition().clone();
    assert_eq!(format!("{definition:#?}"), format!("{:#?}", Definition::new("t", "Does it.", Effect::Once)));
    assert_eq!((definition.timeout, definition.trusted), (DEFAULT_TIMEOUT, false));
    assert_eq!(DEFAULT_TIMEOUT, Duration::from_secs(60));
    let tool = tool_fn("t", "Does it.", Effect::Once, |_: City| async { Ok(()) })
        .with(|definition| definition.trusted().timeout(Duration::from_secs(1)));
    let definition = unchecked(tool).unwrap().definition().clone();
    assert_eq!((definition.timeout, definition.trusted), (Duration::from_secs(1), true));
}
