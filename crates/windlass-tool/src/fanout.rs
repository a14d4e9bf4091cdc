//! How much work one value can make: a schema that multiplies itself is refused before it is compiled.

use std::collections::HashMap;

use serde_json::Value;

use crate::keyword::{About, every_schema, subschemas};
use crate::reference::Targets;

/// The most schemas that may apply to one and the same value, counted through references and combinators.
pub const MAX_FANOUT: usize = 10_000;

/// How many references and combinators may stand between a schema and a value that it speaks of.
pub const MAX_CHAIN: usize = 64;

/// How many schemas may stand one inside the other while a value is checked. Each takes room on the stack,
/// and a thread has two mebibytes.
pub const MAX_STACKED: usize = 1_024;

/// What is wrong with a schema that multiplies itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tangle {
    /// It applies to a value only if it applies to that value.
    Circle,
    /// It is past [`MAX_FANOUT`].
    Fanout,
    /// It is past [`MAX_CHAIN`].
    Chain,
}

impl Tangle {
    /// The words for it.
    pub(crate) fn message(self) -> String {
        match self {
            Self::Circle => "refers to itself without going deeper into the value".to_owned(),
            Self::Fanout => format!("applies more than {MAX_FANOUT} schemas to one value"),
            Self::Chain => format!("stands behind more than {MAX_CHAIN} references and combinators"),
        }
    }
}

/// How deep values may be for a schema to be followed through them, if there is a limit: a schema that
/// refers to itself goes as deep as the value does.
///
/// Fails with the first place where the schema multiplies itself past the bounds. A validator without memory
/// follows every path to every schema: ten definitions that each refer twice to the next make a thousand
/// paths, thirty make a billion.
pub(crate) fn measure(root: &Value) -> Result<Option<usize>, (String, Tangle)> {
    let mut search = Search { targets: Targets::of(root), known: HashMap::new() };
    let mut chain = 1;
    for (pointer, schema) in every_schema(root) {
        let extent = search.measure(schema, 1).map_err(|tangle| (pointer, tangle))?;
        chain = chain.max(extent.chain);
    }
    let mut heights = HashMap::new();
    let is_flat = height(&search.targets, root, 1, &mut heights).is_some();
    Ok((!is_flat).then_some(MAX_STACKED / chain))
}

/// How many schemas stand one inside the other at most, unless they go round in a circle or past the bound.
fn height(
    targets: &Targets<'_>,
    schema: &Value,
    depth: usize,
    known: &mut HashMap<usize, Option<usize>>,
) -> Option<usize> {
    if depth > MAX_STACKED {
        return None;
    }
    let address = std::ptr::from_ref(schema).addr();
    if let Some(height) = known.get(&address) {
        return height.filter(|height| height + depth <= MAX_STACKED + 1);
    }
    // Met again before it is known, it is part of a circle.
    known.insert(address, None);
    let parts = subschemas(schema).into_iter().filter(|inner| inner.about != About::Nothing);
    let inner: Vec<_> = parts.map(|inner| inner.schema).chain(targets.from(schema)).collect();
    let mut highest = 1;
    for schema in inner {
        highest = highest.max(1 + height(targets, schema, depth + 1, known)?);
    }
    known.insert(address, Some(highest));
    Some(highest)
}

struct Search<'a> {
    targets: Targets<'a>,
    /// By address; `None` while a schema is being measured.
    known: HashMap<usize, Option<Extent>>,
}

#[derive(Clone, Copy)]
struct Extent {
    fanout: usize,
    chain: usize,
}

impl Search<'_> {
    fn measure(&mut self, schema: &Value, depth: usize) -> Result<Extent, Tangle> {
        if depth > MAX_CHAIN {
            return Err(Tangle::Chain);
        }
        let address = std::ptr::from_ref(schema).addr();
        match self.known.get(&address) {
            Some(None) => return Err(Tangle::Circle),
            Some(Some(extent)) if extent.chain + depth > MAX_CHAIN + 1 => return Err(Tangle::Chain),
            Some(Some(extent)) => return Ok(*extent),
            None => {}
        }
        self.known.insert(address, None);
        let same = subschemas(schema).into_iter().filter(|inner| inner.about == About::Same);
        let inner: Vec<_> = same.map(|inner| inner.schema).chain(self.targets.from(schema)).collect();
        let mut extent = Extent { fanout: 1, chain: 1 };
        for schema in inner {
            let found = self.measure(schema, depth + 1)?;
            extent.fanout = extent.fanout.saturating_add(found.fanout);
            extent.chain = extent.chain.max(found.chain + 1);
        }
        if extent.fanout > MAX_FANOUT {
            return Err(Tangle::Fanout);
        }
        self.known.insert(address, Some(extent));
        Ok(extent)
    }
}
