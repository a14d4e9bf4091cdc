//! A constraint written in Rust types reaches the schema that a model sees, and is enforced.

#![expect(dead_code, reason = "only the schemas of these types are used")]

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_tool::InputSchema;

use crate::check;

#[derive(Deserialize, JsonSchema)]
struct Search {
    #[schemars(length(min = 1, max = 20), regex(pattern = r"^\w+$"))]
    query: String,
    #[schemars(range(min = 1, max = 50))]
    #[serde(default = "ten")]
    limit: u32,
    small: Option<u8>,
    mode: Mode,
    #[schemars(extend("multipleOf" = 5))]
    #[serde(default)]
    step: i32,
    #[schemars(inner(length(max = 3)), length(max = 2))]
    #[serde(default)]
    words: Vec<String>,
    #[serde(default)]
    tags: BTreeSet<String>,
    #[serde(default)]
    weights: BTreeMap<String, f64>,
    pair: Option<(i32, String)>,
    #[schemars(email)]
    mail: Option<String>,
    #[serde(flatten)]
    page: Page,
    shape: Option<Shape>,
    target: Option<Target>,
    either: Option<Either>,
    nested: Option<Box<Search>>,
}

fn ten() -> u32 {
    10
}

#[derive(Deserialize, JsonSchema)]
struct Page {
    #[schemars(range(min = 1))]
    page: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Mode {
    /// Little time.
    Fast,
    /// Much time.
    Thorough,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Shape {
    Circle {
        #[schemars(extend("exclusiveMinimum" = 0))]
        radius: f64,
    },
    Box {
        width: u8,
    },
}

/// Told apart by the name of its one property.
#[derive(Deserialize, JsonSchema)]
enum Target {
    File(String),
    Line { number: u32 },
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Number(i64),
    Names(Vec<String>),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Closed {
    a: bool,
}

fn schema_of<T: JsonSchema>() -> InputSchema {
    InputSchema::compile(schemars::schema_for!(T).to_value()).unwrap()
}

fn with(name: &str, value: &Value) -> Value {
    let mut args = json!({ "query": "rust", "mode": "fast" });
    args[name] = value.clone();
    args
}

#[test]
fn what_is_left_out_has_its_default() {
    let schema = schema_of::<Search>();
    let filled = json!({
        "query": "rust", "mode": "fast", "limit": 10, "step": 0, "words": [], "tags": [], "weights": {},
    });
    assert_eq!(check(&schema, &json!({ "query": "rust", "mode": "fast" })).unwrap(), filled);
    assert_eq!(schema.as_value()["required"], json!(["query", "mode"]), "nothing with a default is required");
}

#[test]
fn what_fits_the_types_is_accepted() {
    let schema = schema_of::<Search>();
    for (name, value) in [
        ("limit", json!(50)),
        ("small", json!(255)),
        ("small", json!(null)),
        ("mode", json!("thorough")),
        ("step", json!(-10)),
        ("words", json!(["abc", "d"])),
        ("weights", json!({ "any": 0.5, "name": 1 })),
        ("pair", json!([1, "x"])),
        ("mail", json!("anna@example.org")),
        ("page", json!(1)),
        ("shape", json!({ "kind": "circle", "radius": 0.1 })),
        ("target", json!({ "Line": { "number": 3 } })),
        ("either", json!(["a"])),
    ] {
        assert_eq!(check(&schema, &with(name, &value)).unwrap()[name], value, "{name}");
    }
}

#[test]
fn what_does_not_fit_the_types_is_refused_where_it_stands() {
    let schema = schema_of::<Search>();
    for (name, value, pointer) in [
        ("query", json!(""), "/query"),
        ("query", json!("two words"), "/query"),
        ("query", json!("x".repeat(21)), "/query"),
        ("limit", json!(0), "/limit"),
        ("limit", json!(51), "/limit"),
        ("small", json!(256), "/small"),
        ("small", json!(-1), "/small"),
        ("mode", json!("slow"), "/mode"),
        ("step", json!(7), "/step"),
        ("words", json!(["a", "b", "c"]), "/words"),
        ("words", json!(["long"]), "/words/0"),
        ("tags", json!(["a", "a"]), "/tags"),
        ("weights", json!({ "a": "heavy" }), "/weights/a"),
        ("pair", json!([1]), "/pair"),
        ("pair", json!([1, 2]), "/pair/1"),
        ("mail", json!("anna"), "/mail"),
        ("page", json!(0), "/page"),
        ("shape", json!({ "kind": "circle", "radius": 0 }), "/shape/radius"),
        ("shape", json!({ "kind": "box", "radius": 1 }), "/shape/width"),
        ("shape", json!({ "kind": "ball" }), "/shape/kind"),
        ("target", json!({ "Line": { "number": -1 } }), "/target/Line/number"),
        ("either", json!(true), "/either"),
        ("nested", json!({ "query": "x" }), "/nested/mode"),
        ("nested", with("limit", &json!(99)), "/nested/limit"),
    ] {
        let rejection = check(&schema, &with(name, &value)).unwrap_err();
        assert_eq!(rejection.problems()[0].pointer, pointer, "{value}: {rejection:?}");
    }
    let closed = check(&schema_of::<Closed>(), &json!({ "a": true, "b": 1 })).unwrap_err();
    assert_eq!(closed.problems()[0].to_string(), "/b: is not an argument; there are `a`");
}

#[test]
fn what_a_model_spells_as_text_is_coerced_to_the_types() {
    let schema = schema_of::<Search>();
    let sent = json!({
        "query": "rust", "mode": "fast", "limit": "5", "small": "7", "pair": ["1", "2"], "page": "",
        "shape": { "kind": "box", "width": "3" }, "target": { "Line": { "number": "3" } },
    });
    let got = check(&schema, &sent).unwrap();
    assert_eq!(
        json!([got["limit"], got["small"], got["pair"], got.get("page"), got["shape"], got["target"]]),
        json!([5, 7, [1, "2"], null, { "kind": "box", "width": 3 }, { "Line": { "number": 3 } }])
    );
}

#[test]
fn an_open_list_is_never_shown_as_an_enumeration() {
    let schema = schema_of::<Search>();
    for name in ["words", "tags"] {
        let shown = &schema.as_value()["properties"][name];
        assert_eq!(
            shown["items"],
            if name == "words" {
                json!({ "type": "string", "maxLength": 3 })
            } else {
                json!({ "type": "string" })
            }
        );
        assert_eq!(shown.get("enum"), None);
    }
}
