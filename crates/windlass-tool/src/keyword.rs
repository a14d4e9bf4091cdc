//! Where a schema holds other schemas.

use serde_json::Value;

/// Keywords whose value is data, not a schema.
pub(crate) const DATA: [&str; 5] = ["const", "default", "enum", "example", "examples"];

/// What a subschema speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// The same value as the schema around it.
    Same,
    /// A part of that value: an item, a property, the name of a property.
    Part,
    /// Nothing, until a reference leads to it.
    Nothing,
}

/// What stands under a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// One schema.
    One,
    /// A list of schemas.
    List,
    /// Schemas by name.
    Named,
}

const APPLICATORS: [(&str, Holds, About); 22] = [
    ("$defs", Holds::Named, About::Nothing),
    ("additionalProperties", Holds::One, About::Part),
    ("allOf", Holds::List, About::Same),
    ("anyOf", Holds::List, About::Same),
    ("contains", Holds::One, About::Part),
    ("contentSchema", Holds::One, About::Nothing),
    ("definitions", Holds::Named, About::Nothing),
    ("dependentSchemas", Holds::Named, About::Same),
    ("else", Holds::One, About::Same),
    ("if", Holds::One, About::Same),
    ("items", Holds::One, About::Part),
    ("not", Holds::One, About::Same),
    ("oneOf", Holds::List, About::Same),
    ("patternProperties", Holds::Named, About::Part),
    ("prefixItems", Holds::List, About::Part),
    ("properties", Holds::Named, About::Part),
    ("propertyNames", Holds::One, About::Part),
    ("then", Holds::One, About::Same),
    ("unevaluatedItems", Holds::One, About::Part),
    ("unevaluatedProperties", Holds::One, About::Part),
    // Older drafts; read so that a schema that uses them is rendered and measured like any other.
    ("additionalItems", Holds::One, About::Part),
    ("dependencies", Holds::Named, About::Same),
];

/// What a keyword holds, if it holds schemas.
pub(crate) fn holds(keyword: &str) -> Option<(Holds, About)> {
    APPLICATORS.iter().find(|(name, ..)| *name == keyword).map(|(_, holds, about)| (*holds, *about))
}

/// A schema inside another one.
pub(crate) struct Subschema<'a> {
    /// Pointer from the schema around it.
    pub(crate) pointer: String,
    pub(crate) schema: &'a Value,
    pub(crate) about: About,
}

/// The schemas directly inside a schema, in the order of the table.
pub(crate) fn subschemas(schema: &Value) -> Vec<Subschema<'_>> {
    let mut found = Vec::new();
    for (keyword, holds, about) in APPLICATORS {
        let mut push = |rest: String, schema| {
            found.push(Subschema { pointer: format!("/{keyword}{rest}"), schema, about });
        };
        match (holds, schema.get(keyword)) {
            (Holds::One, Some(schema)) => push(String::new(), schema),
            (Holds::List, Some(Value::Array(list))) => {
                for (index, schema) in list.iter().enumerate() {
                    push(format!("/{index}"), schema);
                }
            }
            (Holds::Named, Some(Value::Object(map))) => {
                for (name, schema) in map {
                    push(format!("/{}", escaped(name)), schema);
                }
            }
            _ => {}
        }
    }
    found
}

/// Every schema inside a schema and itself, with the pointer to each.
pub(crate) fn every_schema(root: &Value) -> Vec<(String, &Value)> {
    let mut found = vec![(String::new(), root)];
    let mut next = 0;
    while let Some((pointer, schema)) = found.get(next).map(|(pointer, schema)| (pointer.clone(), *schema)) {
        for inner in subschemas(schema) {
            found.push((format!("{pointer}{}", inner.pointer), inner.schema));
        }
        next += 1;
    }
    found
}

/// A name as a segment of a JSON pointer.
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The name that a segment of a JSON pointer spells.
pub(crate) fn unescaped(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}
