//! How much work one value can make: a schema that multiplies itself is refused before it is compiled.

use std::collections::HashMap;

use serde_json::Value;

use crate::keyword::{About, every_schema, subschemas};
use crate::reference::Targets;

/// The most schemas that may apply to one and the same value, counted through references and combinators.
pub const MAX_FANOUT: usize = 10_000;

/// How many references and combinators may stand between a schema and a value that it speaks of.
pub const MAX_CHAIN: usize = 64;

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

/// The first place where a schema multiplies itself past the bounds, if there is one.
///
/// A validator without memory follows every path to every schema. Ten definitions that each refer twice
/// to the next make a thousand paths, thirty make a billion.
pub(crate) fn tangle(root: &Value) -> Option<(String, Tangle)> {
    let targets = Targets::of(root);
    let mut search = Search { targets, known: HashMap::new() };
    every_schema(root)
        .into_iter()
        .find_map(|(pointer, schema)| search.measure(schema, 1).err().map(|tangle| (pointer, tangle)))
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
