//! A reader that does literally what an error says, and nothing else.

use serde_json::json;
use windlass_tool::InputSchema;

use crate::check;
use crate::fixtures::{self, Fixture};
use crate::follow::follow;

#[test]
fn what_the_error_says_is_enough_to_get_it_right() {
    let mut lost = Vec::new();
    for Fixture { name, schema, refused, .. } in fixtures::all() {
        let schema = InputSchema::compile(schema).unwrap();
        let error = check(&schema, &refused).unwrap_err().into_error("tool").to_string();
        let corrected = follow(&error, &refused);
        if let Err(again) = check(&schema, &corrected) {
            lost.push(format!(
                "{name}: sent {refused}, was told\n{error}\nsent {corrected}, and was told\n{again:?}\n"
            ));
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

#[test]
fn the_follower_changes_only_what_it_is_told_about() {
    let error = "E_INVALID_TOOL_ARGS: m. An example that fits: {\"a\":1,\"b\":2}\n- /b: expected an integer, got \"x\"";
    assert_eq!(follow(error, &json!({ "a": 7, "b": "x", "c": [1] })), json!({ "a": 7, "b": 2, "c": [1] }));
    assert_eq!(follow("E_INVALID_TOOL_ARGS: m", &json!({ "a": 7 })), json!({ "a": 7 }));
}
