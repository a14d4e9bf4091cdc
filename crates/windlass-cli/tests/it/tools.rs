use serde_json::{Value, json};

use crate::support::{printed, refused};

#[test]
fn the_tools_are_listed_for_people() {
    let text = printed(&["tools"], b"");
    insta::assert_snapshot!(text, @r#"
    calculate (pure)
        Calculates exactly, with whole numbers and decimals of up to thousands of digits.

        Knows + - * / % ^ and parentheses, and the functions abs, ceil, floor, max, min, round and sqrt. What has no
        end as a decimal comes as a fraction with its first digits after ≈; a root that has no end only as those digits.
        - expression  string: What to calculate, for example "(2 + 3) * 4.5 ^ 2"

    current_time (pure)
        The time now, with date, weekday and offset from UTC.
        - zone  string, optional: A time zone of the IANA database, for example "Europe/Oslo" or "UTC"; the zone of this machine if it is left out.
    "#);
}

#[test]
fn the_tools_are_listed_as_a_model_sees_them() {
    let tools: Value = serde_json::from_str(&printed(&["tools", "--json"], b"")).unwrap();
    let names: Vec<_> = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["calculate", "current_time"]);
    for tool in tools.as_array().unwrap() {
        let fields: Vec<_> = tool.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields.len(), 3, "{fields:?}");
        assert!(tool["description"].is_string());
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
    }
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["expression"]));
    assert_eq!(tools[1]["inputSchema"]["properties"]["zone"]["type"], json!(["string", "null"]));
}

#[test]
fn there_is_nothing_else_to_say() {
    assert!(refused(&["tools", "calculate"], b"").contains("unexpected argument 'calculate'"));
}
