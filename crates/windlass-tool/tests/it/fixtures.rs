//! Arguments that fit and arguments that do not, for every test that needs some.

use serde_json::{Value, json};

/// A schema, arguments that it accepts as they are, and arguments that it refuses.
pub(crate) struct Fixture {
    pub(crate) name: &'static str,
    pub(crate) schema: Value,
    pub(crate) fits: Value,
    pub(crate) refused: Value,
}

/// Every fixture.
pub(crate) fn all() -> Vec<Fixture> {
    [keywords(), messages(), coercions()].into_iter().flatten().collect()
}

/// One for each keyword of JSON Schema 2020-12 that asserts something, about an argument `a`.
pub(crate) fn keywords() -> Vec<Fixture> {
    let rows = [scalars(), arrays(), objects(), combinators()].into_iter().flatten();
    rows.map(|(name, property, fits, refused)| {
        let required = if name == "false" { json!([]) } else { json!(["a"]) };
        Fixture {
            name,
            schema: json!({
                "type": "object", "properties": { "a": property }, "required": required,
                "$defs": { "small": { "maximum": 9 }, "named": { "$anchor": "named", "minimum": 3 } },
            }),
            fits: if name == "false" { json!({}) } else { json!({ "a": fits }) },
            refused: json!({ "a": refused }),
        }
    })
    .collect()
}

type Row = (&'static str, Value, Value, Value);

fn scalars() -> Vec<Row> {
    vec![
        ("type", json!({ "type": "string" }), json!("x"), json!(1)),
        ("type list", json!({ "type": ["integer", "null"] }), json!(null), json!([])),
        ("enum", json!({ "enum": ["a", 1] }), json!(1), json!(2)),
        ("const", json!({ "const": { "a": 1 } }), json!({ "a": 1 }), json!({ "a": 2 })),
        ("multipleOf", json!({ "multipleOf": 5 }), json!(10), json!(11)),
        ("maximum", json!({ "maximum": 3 }), json!(3), json!(4)),
        ("exclusiveMaximum", json!({ "exclusiveMaximum": 3 }), json!(2), json!(3)),
        ("minimum", json!({ "minimum": 3 }), json!(3), json!(2)),
        ("exclusiveMinimum", json!({ "exclusiveMinimum": 3 }), json!(4), json!(3)),
        ("maxLength", json!({ "maxLength": 2 }), json!("ab"), json!("abc")),
        ("minLength", json!({ "minLength": 2 }), json!("ab"), json!("a")),
        ("pattern", json!({ "pattern": "^a+$" }), json!("aa"), json!("ab")),
        ("format", json!({ "format": "date-time" }), json!("2026-01-02T03:04:05Z"), json!("soon")),
        ("false", json!(false), Value::Null, json!(1)),
    ]
}

fn arrays() -> Vec<Row> {
    vec![
        ("maxItems", json!({ "maxItems": 1 }), json!([1]), json!([1, 2])),
        ("minItems", json!({ "minItems": 1 }), json!([1]), json!([])),
        ("uniqueItems", json!({ "uniqueItems": true, "minItems": 2 }), json!([1, 2]), json!([1, 1])),
        ("contains", json!({ "contains": { "const": 1 } }), json!([0, 1]), json!([0])),
        ("minContains", json!({ "contains": { "const": 1 }, "minContains": 2 }), json!([1, 1]), json!([1])),
        ("maxContains", json!({ "contains": { "const": 1 }, "maxContains": 1 }), json!([1]), json!([1, 1])),
        ("prefixItems", json!({ "prefixItems": [{ "type": "integer" }] }), json!([1, "x"]), json!(["x"])),
        ("items", json!({ "items": { "type": "integer" } }), json!([1]), json!(["x"])),
        (
            "items after prefixItems",
            json!({ "prefixItems": [true], "items": { "type": "integer" } }),
            json!(["x", 1]),
            json!(["x", "y"]),
        ),
        (
            "unevaluatedItems",
            json!({ "prefixItems": [true], "unevaluatedItems": false }),
            json!([1]),
            json!([1, 2]),
        ),
    ]
}

fn objects() -> Vec<Row> {
    vec![
        ("maxProperties", json!({ "maxProperties": 1 }), json!({ "a": 1 }), json!({ "a": 1, "b": 2 })),
        ("minProperties", json!({ "minProperties": 1 }), json!({ "a": 1 }), json!({})),
        ("required", json!({ "required": ["a"] }), json!({ "a": 1 }), json!({ "b": 1 })),
        (
            "dependentRequired",
            json!({ "dependentRequired": { "a": ["b"] } }),
            json!({ "a": 1, "b": 2 }),
            json!({ "a": 1 }),
        ),
        (
            "properties",
            json!({ "properties": { "a": { "type": "integer" } } }),
            json!({ "a": 1 }),
            json!({ "a": [] }),
        ),
        (
            "patternProperties",
            json!({ "patternProperties": { "^n": { "type": "integer" } } }),
            json!({ "n1": 1 }),
            json!({ "n1": [] }),
        ),
        (
            "additionalProperties",
            json!({ "properties": { "a": true }, "additionalProperties": false }),
            json!({ "a": 1 }),
            json!({ "b": 1 }),
        ),
        (
            "additionalProperties as a schema",
            json!({ "additionalProperties": { "type": "integer" } }),
            json!({ "a": 1 }),
            json!({ "b": "x" }),
        ),
        (
            "unevaluatedProperties",
            json!({ "allOf": [{ "properties": { "a": true } }], "unevaluatedProperties": false }),
            json!({ "a": 1 }),
            json!({ "b": 1 }),
        ),
        (
            "propertyNames",
            json!({ "propertyNames": { "maxLength": 1 } }),
            json!({ "a": 1 }),
            json!({ "ab": 1 }),
        ),
        (
            "dependentSchemas",
            json!({ "dependentSchemas": { "a": { "required": ["b"] } } }),
            json!({ "a": 1, "b": 2 }),
            json!({ "a": 1 }),
        ),
    ]
}

fn combinators() -> Vec<Row> {
    vec![
        ("allOf", json!({ "allOf": [{ "minimum": 1 }, { "maximum": 2 }] }), json!(1), json!(3)),
        ("anyOf", json!({ "anyOf": [{ "const": 1 }, { "const": 2 }] }), json!(2), json!(3)),
        ("oneOf", json!({ "oneOf": [{ "type": "integer" }, { "const": "x" }] }), json!("x"), json!("y")),
        (
            "oneOf, several fit",
            json!({ "oneOf": [{ "minimum": 1 }, { "minimum": 3 }], "examples": [1] }),
            json!(2),
            json!(4),
        ),
        ("not", json!({ "not": { "const": 1 }, "examples": [2] }), json!(2), json!(1)),
        ("if and then", json!({ "if": { "minimum": 5 }, "then": { "multipleOf": 5 } }), json!(10), json!(11)),
        ("if and else", json!({ "if": { "maximum": 0 }, "else": { "minimum": 5 } }), json!(6), json!(1)),
        ("$ref", json!({ "$ref": "#/$defs/small" }), json!(1), json!(100)),
        ("$ref to an anchor", json!({ "$ref": "#named" }), json!(3), json!(1)),
        ("$dynamicRef", json!({ "$dynamicRef": "#named" }), json!(3), json!(1)),
    ]
}

/// A booking: an object with an object inside, an enumeration and an optional number.
pub(crate) fn trip() -> Value {
    json!({
        "type": "object", "required": ["to", "class"],
        "properties": {
            "to": { "type": "object", "required": ["city"], "additionalProperties": false, "properties": {
                "city": { "type": "string", "minLength": 1 },
                "country": { "type": "string", "pattern": "^[A-Z]{2}$" },
            } },
            "class": { "enum": ["first", "second"] },
            "people": { "type": "integer", "minimum": 1, "maximum": 9 },
        },
    })
}

/// A drawing: a list of shapes, told apart by their kind.
pub(crate) fn drawing() -> Value {
    json!({
        "type": "object", "required": ["shapes"],
        "properties": { "shapes": { "type": "array", "items": { "$ref": "#/$defs/shape" } } },
        "$defs": {
            "shape": { "oneOf": [{ "$ref": "#/$defs/circle" }, { "$ref": "#/$defs/box" }] },
            "circle": { "type": "object", "required": ["kind", "radius"], "properties": {
                "kind": { "const": "circle" }, "radius": { "type": "number", "exclusiveMinimum": 0 },
                "filled": { "type": "boolean", "default": false },
            } },
            "box": { "type": "object", "required": ["kind", "width", "label"], "properties": {
                "kind": { "const": "box" }, "width": { "type": "integer", "minimum": 1 },
                "label": { "type": "string" },
            } },
        },
    })
}

/// What models get wrong.
pub(crate) fn messages() -> Vec<Fixture> {
    let trips = [
        (
            "a nested doubly wrong object",
            json!({ "to": { "city": 7, "country": "norway" }, "class": "third", "people": 0 }),
        ),
        ("a wrong enumeration", json!({ "to": { "city": "Oslo" }, "class": "third" })),
        ("everything is missing", json!({})),
        ("a missing argument", json!({ "to": { "city": "Oslo" } })),
        ("a missing nested argument", json!({ "to": { "country": "NO" }, "class": "first" })),
        ("an argument too many", json!({ "to": { "city": "Oslo", "town": "Oslo" }, "class": "first" })),
        ("empty texts", json!({ "to": { "city": "" }, "class": "", "people": "five" })),
        (
            "a text that spells too much",
            json!({ "to": { "city": "Oslo" }, "class": "first", "people": "50" }),
        ),
        ("another type altogether", json!({ "to": "Oslo", "class": 1, "people": [2] })),
    ];
    let fits = json!({ "to": { "city": "Oslo", "country": "NO" }, "class": "first", "people": 2 });
    let trips = trips.map(|(name, refused)| Fixture { name, schema: trip(), fits: fits.clone(), refused });
    let drawings = [
        ("a wrong tag", json!({ "shapes": [{ "kind": "circel", "radius": 2 }] })),
        ("a missing tag", json!({ "shapes": [{ "width": 2, "label": "x" }] })),
        ("a wrong part of a tagged object", json!({ "shapes": [{ "kind": "box", "width": 0, "label": 5 }] })),
        ("a missing part of a tagged object", json!({ "shapes": [{ "kind": "circle" }] })),
        ("no object at all", json!({ "shapes": ["circle"] })),
    ];
    let fits = json!({ "shapes": [{ "kind": "circle", "radius": 1, "filled": true }, { "kind": "box", "width": 1, "label": "5" }] });
    let drawings =
        drawings.map(|(name, refused)| Fixture { name, schema: drawing(), fits: fits.clone(), refused });
    trips.into_iter().chain(drawings).collect()
}

/// What coercion leaves alone because something would be lost, or because it would not help.
pub(crate) fn coercions() -> Vec<Fixture> {
    let texts = [
        ("a number in words", "integer", "five"),
        ("a fraction", "integer", "5.5"),
        ("white space before", "integer", " 5"),
        ("white space after", "integer", "5 "),
        ("a leading zero", "integer", "05"),
        ("a plus sign", "integer", "+5"),
        ("another base", "integer", "0x5"),
        ("past 64 bits", "integer", "18446744073709551616"),
        ("an integer as a fraction", "integer", "5.0"),
        ("more digits than a double has", "number", "0.12345678901234567890"),
        ("past a double", "number", "1e400"),
        ("too near to zero", "number", "1e-400"),
        ("digits lost near zero", "number", "1.23456789012345e-320"),
        ("not a number", "number", "NaN"),
        ("a capital letter", "boolean", "True"),
        ("yes", "boolean", "yes"),
        ("one for true", "boolean", "1"),
        ("null in words", "null", "null"),
        ("an array in words", "array", "[]"),
        ("an object in words", "object", "{}"),
    ];
    let fits = |kind: &str| match kind {
        "integer" | "number" => json!(1),
        "boolean" => json!(true),
        "array" => json!([]),
        "object" => json!({}),
        _ => Value::Null,
    };
    let one = |name, property: Value, fits: Value, refused: Value| Fixture {
        name,
        schema: json!({ "type": "object", "properties": { "a": property }, "required": ["a"] }),
        fits: json!({ "a": fits }),
        refused: json!({ "a": refused }),
    };
    let mut all: Vec<_> = texts
        .map(|(name, kind, text)| one(name, json!({ "type": kind }), fits(kind), json!(text)))
        .into_iter()
        .collect();
    let integers = json!({ "type": "array", "items": { "type": "integer" }, "uniqueItems": true });
    all.push(one("items that would be equal", integers, json!([5, 6]), json!([5, "5"])));
    let both = json!({ "oneOf": [{ "type": "integer" }, { "type": "number" }, { "type": "boolean" }] });
    all.push(one("a text that would fit twice", both, json!(true), json!("5")));
    all.push(one("an empty text that is required", json!({ "type": "integer" }), json!(1), json!("")));
    all.push(one("null that is required", json!({ "type": "integer" }), json!(1), json!(null)));
    all
}
