//! Which of several alternatives was meant.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use crate::coerce::alternatives;
use crate::keyword::unescaped;
use crate::reference::resolve;

/// How far away an alternative is that wants another type altogether, however little there is to say.
const ANOTHER_TYPE: usize = 100_000;

/// How far away an alternative is that wants another tag.
const ANOTHER_TAG: usize = 1_000;

/// What is wrong under one alternative.
type Branch = [ValidationError<'static>];

/// The property that tells alternatives apart.
pub(crate) struct Tag {
    pub(crate) name: String,
    /// What it may be; first that of the alternative that comes closest.
    pub(crate) options: Vec<Value>,
}

/// The tag of alternatives, if each has one under the same name and the value has none of them.
pub(crate) fn tag(
    root: &Value,
    error: &ValidationError<'_>,
    branches: &[Vec<ValidationError<'static>>],
) -> Option<Tag> {
    let mut objects: Vec<_> = branches.iter().filter(|branch| !is_elsewhere(error, branch)).collect();
    objects.sort_by_key(|branch| distance(error, branch));
    let names: Vec<String> = tags(root, error, objects.first()?).into_iter().map(|(name, _)| name).collect();
    names.into_iter().find_map(|name| {
        let of = |branch: &&Vec<ValidationError<'static>>| {
            tags(root, error, branch)
                .into_iter()
                .find(|(other, _)| *other == name)
                .map(|(_, options)| options)
        };
        let options: Option<Vec<_>> = objects.iter().map(of).collect();
        let mut different: Vec<Value> = Vec::new();
        for option in options?.concat() {
            if !different.contains(&option) {
                different.push(option);
            }
        }
        let options = different;
        (options.len() > 1).then_some(Tag { name, options })
    })
}

/// Whether an alternative wants another type altogether, or one other value.
pub(crate) fn is_elsewhere(error: &ValidationError<'_>, branch: &Branch) -> bool {
    branch.iter().any(|inner| {
        let is_other = matches!(
            inner.kind(),
            ValidationErrorKind::Type { .. }
                | ValidationErrorKind::Constant { .. }
                | ValidationErrorKind::Enum { .. }
        );
        is_other && inner.instance_path() == error.instance_path()
    })
}

/// How far a value is from an alternative: how many things are wrong, and how wrong.
pub(crate) fn distance(error: &ValidationError<'_>, branch: &Branch) -> usize {
    let far = |inner: &ValidationError<'_>| {
        let is_here = inner.instance_path() == error.instance_path();
        match inner.kind() {
            ValidationErrorKind::Type { .. } if is_here => ANOTHER_TYPE,
            ValidationErrorKind::Constant { .. } if !is_here => ANOTHER_TAG,
            _ => match alternatives(inner) {
                None => 1,
                Some(branches) => {
                    1 + branches.iter().map(|branch| distance(inner, branch)).min().unwrap_or(0)
                }
            },
        }
    };
    branch.iter().map(far).fold(0, usize::saturating_add)
}

/// The properties of an alternative that must be one value, are absent or another, and what they must be.
fn tags(root: &Value, error: &ValidationError<'_>, branch: &Branch) -> Vec<(String, Vec<Value>)> {
    let prefix = format!("{}/", error.instance_path().as_str());
    let property = |inner: &ValidationError<'_>| {
        let name = inner.instance_path().as_str().strip_prefix(&prefix)?;
        (!name.contains('/')).then(|| unescaped(name))
    };
    branch
        .iter()
        .filter_map(|inner| match inner.kind() {
            ValidationErrorKind::Constant { expected_value } => {
                Some((property(inner)?, vec![(**expected_value).clone()]))
            }
            ValidationErrorKind::Enum { options } => Some((property(inner)?, options.as_array()?.clone())),
            ValidationErrorKind::Required { property } if inner.instance_path() == error.instance_path() => {
                let name = property.as_str()?;
                let (schema, _) = inner.schema_path().as_str().rsplit_once('/')?;
                let schema = resolve(root, root.pointer(schema)?.get("properties")?.get(name)?);
                let only = schema.get("const").map(|only| vec![only.clone()]);
                Some((name.to_owned(), only.or_else(|| schema.get("enum")?.as_array().cloned())?))
            }
            _ => None,
        })
        .collect()
}
