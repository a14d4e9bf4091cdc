//! Coercion against a slow and obvious oracle: try every way to read the texts, take the one that changes
//! least.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use windlass_tool::InputSchema;

use crate::check;

/// A schema as the oracle understands it.
#[derive(Clone, Debug)]
enum Shape {
    Integer,
    Boolean,
    Text,
    TextOrInteger,
    Options,
    Maybe(Box<Shape>),
    List(Box<Shape>),
    Record(Vec<(Shape, Presence)>),
    Tagged(Vec<Shape>),
}

#[derive(Clone, Debug)]
enum Presence {
    Required,
    Optional,
    Default,
}

impl Shape {
    fn schema(&self) -> Value {
        match self {
            Self::Integer => json!({ "type": "integer" }),
            Self::Boolean => json!({ "type": "boolean" }),
            Self::Text => json!({ "type": "string" }),
            Self::TextOrInteger => json!({ "type": ["string", "integer"] }),
            Self::Options => json!({ "enum": [1, 2, "x"] }),
            Self::Maybe(inner) => json!({ "anyOf": [inner.schema(), { "type": "null" }] }),
            Self::List(inner) => json!({ "type": "array", "items": inner.schema() }),
            Self::Record(fields) => {
                let required = fields
                    .iter()
                    .enumerate()
                    .filter(|(_, (_, presence))| matches!(presence, Presence::Required));
                let required: Vec<_> = required.map(|(index, _)| format!("f{index}")).collect();
                let property = |(index, (shape, presence)): (usize, &(Shape, Presence))| {
                    let schema = match presence {
                        // Whatever the shape: what is filled in is told apart by being this.
                        Presence::Default => {
                            json!({ "anyOf": [shape.schema(), { "const": "filled" }], "default": "filled" })
                        }
                        _ => shape.schema(),
                    };
                    (format!("f{index}"), schema)
                };
                let properties: Map<String, Value> = fields.iter().enumerate().map(property).collect();
                json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
            }
            Self::Tagged(shapes) => {
                let branch = |(tag, shape): (usize, &Shape)| json!({ "type": "object", "required": ["tag", "v"], "properties": { "tag": { "const": tag }, "v": shape.schema() } });
                json!({ "oneOf": shapes.iter().enumerate().map(branch).collect::<Vec<_>>() })
            }
        }
    }
}

fn shapes() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        Just(Shape::Integer),
        Just(Shape::Boolean),
        Just(Shape::Text),
        Just(Shape::TextOrInteger),
        Just(Shape::Options),
    ];
    leaf.prop_recursive(3, 10, 3, |inner| {
        let presence =
            prop_oneof![Just(Presence::Required), Just(Presence::Optional), Just(Presence::Default)];
        prop_oneof![
            inner.clone().prop_map(|shape| Shape::Maybe(Box::new(shape))),
            inner.clone().prop_map(|shape| Shape::List(Box::new(shape))),
            prop::collection::vec((inner.clone(), presence), 1..3).prop_map(Shape::Record),
            prop::collection::vec(inner, 1..3).prop_map(Shape::Tagged),
        ]
    })
}

/// A value of a shape as a model might send it: mostly right, often spelled as text.
fn sent(shape: &Shape) -> BoxedStrategy<Value> {
    let odd =
        prop_oneof![Just(json!("")), Just(json!(null)), Just(json!("5")), Just(json!("x")), Just(json!([]))];
    let right = match shape {
        Shape::Integer | Shape::TextOrInteger => {
            prop_oneof![Just(json!(7)), Just(json!("7")), Just(json!("07"))].boxed()
        }
        Shape::Boolean => prop_oneof![Just(json!(true)), Just(json!("false"))].boxed(),
        Shape::Text => prop_oneof![Just(json!("5")), Just(json!("true")), Just(json!(""))].boxed(),
        Shape::Options => prop_oneof![Just(json!(1)), Just(json!("2")), Just(json!("x"))].boxed(),
        Shape::Maybe(inner) => prop_oneof![1 => Just(json!(null)), 3 => sent(inner)].boxed(),
        Shape::List(inner) => prop::collection::vec(sent(inner), 0..3).prop_map(Value::from).boxed(),
        Shape::Record(fields) => {
            let fields: Vec<_> =
                fields.iter().map(|(shape, _)| prop::option::weighted(0.8, sent(shape))).collect();
            fields
                .prop_map(|values| {
                    let named = values
                        .into_iter()
                        .enumerate()
                        .filter_map(|(index, value)| Some((format!("f{index}"), value?)));
                    Value::Object(named.collect())
                })
                .boxed()
        }
        Shape::Tagged(shapes) => {
            let branch = |(tag, shape): (usize, &Shape)| {
                let tags = prop_oneof![3 => Just(json!(tag)), 1 => Just(json!(tag.to_string()))];
                (tags, sent(shape)).prop_map(|(tag, v)| json!({ "tag": tag, "v": v })).boxed()
            };
            prop::strategy::Union::new(shapes.iter().enumerate().map(branch)).boxed()
        }
    };
    prop_oneof![9 => right, 1 => odd].boxed()
}

/// Every way to read a value, the most literal first: each text as it is or as what it spells, each property
/// that is `""` or null as it is or as absent.
fn readings(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) => {
            let spelled = serde_json::from_str::<Value>(text)
                .ok()
                .filter(|value| value.is_number() || value.is_boolean());
            std::iter::once(value.clone()).chain(spelled).collect()
        }
        Value::Array(items) => {
            let start = vec![Vec::new()];
            let lists = items.iter().fold(start, |lists, item| {
                let each = |list: &Vec<Value>| {
                    readings(item)
                        .into_iter()
                        .map(|item| [list.clone(), vec![item]].concat())
                        .collect::<Vec<_>>()
                };
                lists.iter().flat_map(each).collect()
            });
            lists.into_iter().map(Value::from).collect()
        }
        Value::Object(map) => {
            let maps = map.iter().fold(vec![Map::new()], |maps, (name, value)| {
                let is_nothing = value.is_null() || value == "";
                let each = |map: &Map<String, Value>| {
                    let with = readings(value).into_iter().map(|value| {
                        let mut map = map.clone();
                        map.insert(name.clone(), value);
                        map
                    });
                    with.chain(is_nothing.then(|| map.clone())).collect::<Vec<_>>()
                };
                maps.iter().flat_map(each).collect()
            });
            maps.into_iter().map(Value::Object).collect()
        }
        other => vec![other.clone()],
    }
}

/// The value without what was filled in.
fn without_defaults(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_defaults).collect(),
        Value::Object(map) => {
            let kept = map.iter().filter(|(_, value)| *value != "filled");
            Value::Object(kept.map(|(name, value)| (name.clone(), without_defaults(value))).collect())
        }
        other => other.clone(),
    }
}

fn case() -> impl Strategy<Value = (Shape, Value)> {
    shapes().prop_flat_map(|shape| (Just(shape.clone()), sent(&shape)))
}

proptest! {
    /// Whatever comes out fits and is one of the readings; what fitted stays as it is; and what some reading
    /// makes fit is not refused.
    #[test]
    fn coercion_agrees_with_the_oracle((shape, value) in case()) {
        let root = json!({ "type": "object", "properties": { "a": shape.schema() }, "required": ["a"] });
        let schema = InputSchema::compile(root.clone()).unwrap();
        let plain = jsonschema::validator_for(&root).unwrap();
        let args = json!({ "a": value });
        let all = readings(&args);
        prop_assume!(all.len() <= 4_096);
        let fitting: Vec<_> = all.iter().filter(|reading| plain.is_valid(reading)).collect();
        match check(&schema, &args) {
            Ok(got) => {
                prop_assert!(plain.is_valid(&got), "{got}");
                let stripped = without_defaults(&got);
                prop_assert!(fitting.contains(&&stripped), "{args} became {got}");
                if plain.is_valid(&args) {
                    prop_assert_eq!(stripped, args);
                }
                prop_assert_eq!(check(&schema, &got).unwrap(), got);
            }
            Err(rejection) => prop_assert!(fitting.is_empty(), "{args} was refused: {rejection:?}, and could be {}", fitting[0]),
        }
    }
}
