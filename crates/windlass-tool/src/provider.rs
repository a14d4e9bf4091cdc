//! Schemas as a vendor's wire can take them.

mod inline;
mod rendering;
mod rest;
mod translate;
mod words;

use std::fmt;

use serde_json::Value;

pub use inline::{MAX_INLINED_DEPTH, MAX_REFERENCES, MAX_UNFOLDED};
pub use words::MAX_WORDS_BYTES;

/// The most bytes that a rendered schema has, in canonical JSON. References are written out in place where a
/// vendor knows none, and a few of them can stand for very much.
pub const MAX_RENDERED_BYTES: usize = 1 << 20;

/// What a vendor's wire can say in a schema. Data, never code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Subset {
    /// Whose it is.
    pub name: &'static str,
    /// The keywords that a schema may have.
    pub keywords: Keywords,
    /// Of these, the ones that the schema as a whole may not have.
    pub not_at_top: &'static [&'static str],
    /// Whether `$ref` is followed.
    pub references: References,
    /// How null is said to be allowed.
    pub null: Null,
    /// What `enum` may list.
    pub enums: Enums,
    /// The formats that are taken.
    pub formats: Formats,
}

/// Which keywords a schema may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keywords {
    /// Whatever there is.
    All,
    /// These.
    Only(&'static [&'static str]),
}

/// Whether references are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum References {
    /// They stay as they are.
    Kept,
    /// What they name is written in their place.
    Inlined,
}

/// How null is said to be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Null {
    /// As a type among types.
    Type,
    /// By the keyword `nullable`; `type` is one type.
    Keyword,
}

/// What an enumeration may list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enums {
    /// Any values.
    Any,
    /// Texts only.
    Texts,
}

/// Which formats are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formats {
    /// Whatever there is.
    All,
    /// These.
    Only(&'static [&'static str]),
}

/// JSON Schema 2020-12 as it is.
pub const FULL: Subset = Subset {
    name: "full",
    keywords: Keywords::All,
    not_at_top: &[],
    references: References::Kept,
    null: Null::Type,
    enums: Enums::Any,
    formats: Formats::All,
};

/// `OpenAI`'s function calling, not strict.
pub const OPENAI: Subset =
    Subset { name: "openai", not_at_top: &["allOf", "anyOf", "enum", "not", "oneOf"], ..FULL };

/// Anthropic's tools, not strict.
pub const ANTHROPIC: Subset = Subset { name: "anthropic", not_at_top: &["allOf", "anyOf", "oneOf"], ..FULL };

/// Gemini's function declarations: a part of the schemas of `OpenAPI` 3.0.
pub const GEMINI: Subset = Subset {
    name: "gemini",
    keywords: Keywords::Only(&[
        "anyOf",
        "description",
        "enum",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "nullable",
        "pattern",
        "properties",
        "required",
        "title",
        "type",
    ]),
    not_at_top: &[],
    references: References::Inlined,
    null: Null::Keyword,
    enums: Enums::Texts,
    formats: Formats::Only(&["date-time", "double", "enum", "float", "int32", "int64"]),
};

/// Ollama's chat: what it hands on to the templates of models.
pub const OLLAMA: Subset = Subset {
    name: "ollama",
    keywords: Keywords::Only(&["anyOf", "description", "enum", "items", "properties", "required", "type"]),
    not_at_top: &["anyOf", "enum"],
    references: References::Inlined,
    ..FULL
};

impl Subset {
    /// Whether a keyword may stand in a schema; `is_top` for the schema as a whole.
    pub fn has(&self, keyword: &str, is_top: bool) -> bool {
        let is_listed = match self.keywords {
            Keywords::All => true,
            Keywords::Only(keywords) => keywords.contains(&keyword),
        };
        is_listed && !(is_top && self.not_at_top.contains(&keyword))
    }

    pub(crate) fn has_format(&self, format: &Value) -> bool {
        match (self.formats, format.as_str()) {
            (Formats::All, _) => true,
            (Formats::Only(formats), Some(format)) => formats.contains(&format),
            (Formats::Only(_), None) => false,
        }
    }
}

/// A schema as a vendor takes it, and what is said in words there because its wire has no keyword for it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rendered {
    /// The schema to send.
    pub schema: Value,
    /// What the vendor does not enforce; the arguments are still checked against all of it.
    pub warnings: Vec<Warning>,
}

/// A keyword that a vendor's wire does not have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Warning {
    /// Pointer to the schema that had it, in the rendered schema.
    pub pointer: String,
    /// The keyword.
    pub keyword: String,
    /// What became of it.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pointer.is_empty() {
            write!(f, "{}: ", self.pointer)?;
        }
        write!(f, "`{}` {}", self.keyword, self.message)
    }
}

/// Renders a schema for a vendor. The same schema gives the same bytes.
///
/// No constraint is lost: what the subset cannot say is written in words into the `description` beside it,
/// and a warning names the place and the keyword. References are followed inside the schema only.
///
/// ```
/// use serde_json::json;
/// use windlass_tool::provider::{GEMINI, render};
///
/// let schema = json!({ "type": "object", "properties": { "days": { "type": ["integer", "null"], "exclusiveMinimum": 0 } } });
/// let rendered = render(&schema, &GEMINI);
/// assert_eq!(
///     rendered.schema,
///     json!({ "type": "object", "properties": { "days": {
///         "type": "integer", "nullable": true, "description": "More than 0.",
///     } } })
/// );
/// assert_eq!(rendered.warnings[0].to_string(), "/properties/days: `exclusiveMinimum` is said in words");
/// ```
pub fn render(schema: &Value, subset: &Subset) -> Rendered {
    rendering::render(schema, subset)
}
