use std::collections::HashMap;
use std::sync::Arc;

use windlass_core::{Code, Error, OnCollision, Tool};

use crate::{IntoTool, ToolSet};

/// Tools in order, each under its own name. Cheap to clone as tools are; a clone is a registry of its own,
/// so what a turn changes in its copy never reaches the next turn.
///
/// ```
/// use windlass_core::{Code, Effect, OnCollision, tool_fn};
/// use windlass_tool::ToolRegistry;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Nothing {}
/// let tool = |name, says: &'static str| {
///     tool_fn(name, says, Effect::Pure, move |_: Nothing| async move { Ok(says) })
/// };
///
/// let mut registry = ToolRegistry::new();
/// registry.add(tool("time", "The time here."))?;
/// assert_eq!(registry.add(tool("time", "Again.")).unwrap_err().code(), Code::ToolAlreadyRegistered);
///
/// let mut more = ToolRegistry::new();
/// more.add(tool("time", "The time there."))?;
/// more.add_hidden(tool("secret_time", "Not shown."))?;
/// registry.merge(more, OnCollision::Replace)?;
/// assert_eq!(registry.get("time").unwrap().describe().description, "The time there.");
/// assert_eq!(registry.shown().count(), 1);
/// assert!(registry.get("secret_time").is_some());
/// # Ok::<(), windlass_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ToolRegistry {
    entries: Vec<Entry>,
    by_name: HashMap<Arc<str>, usize>,
}

#[derive(Clone, Debug)]
struct Entry {
    tool: Tool,
    is_hidden: bool,
}

impl ToolRegistry {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool at the end.
    ///
    /// Fails with `E_TOOL_ALREADY_REGISTERED` if there is one of its name, whatever its `onCollision` says:
    /// that is for [`merge`](Self::merge).
    pub fn add(&mut self, tool: impl IntoTool) -> Result<(), Error> {
        self.insert(Entry { tool: tool.into_tool()?, is_hidden: false })
    }

    /// Adds a tool that can be called and is not shown.
    pub fn add_hidden(&mut self, tool: impl IntoTool) -> Result<(), Error> {
        self.insert(Entry { tool: tool.into_tool()?, is_hidden: true })
    }

    /// Adds several tools at the end, all or none.
    pub fn add_all(&mut self, tools: impl ToolSet) -> Result<(), Error> {
        let mut grown = self.clone();
        for tool in tools.into_tools()? {
            grown.add(tool)?;
        }
        *self = grown;
        Ok(())
    }

    fn insert(&mut self, entry: Entry) -> Result<(), Error> {
        if self.contains(entry.tool.name()) {
            return Err(collision(entry.tool.name()));
        }
        self.by_name.insert(entry.tool.name().into(), self.entries.len());
        self.entries.push(entry);
        Ok(())
    }

    /// Takes in the tools of another registry, in their order: all of them, or after an error none.
    ///
    /// Where a name is taken, the newcomer's own `onCollision` decides if it is *replace* or *keep*; if it
    /// is *throw*, as it is unless set, `otherwise` decides. A replaced tool gives up its place in the order,
    /// and whether it was hidden goes with it.
    pub fn merge(&mut self, incoming: Self, otherwise: OnCollision) -> Result<(), Error> {
        let mut merged = self.clone();
        for entry in incoming.entries {
            let Some(index) = merged.by_name.get(entry.tool.name()).copied() else {
                merged.insert(entry)?;
                continue;
            };
            let policy = match entry.tool.definition().on_collision {
                OnCollision::Throw => otherwise,
                decided => decided,
            };
            match policy {
                OnCollision::Throw => return Err(collision(entry.tool.name())),
                OnCollision::Keep => {}
                OnCollision::Replace => merged.entries[index] = entry,
            }
        }
        *self = merged;
        Ok(())
    }

    /// Merges registries from left to right; see [`merge`](Self::merge).
    pub fn merged(registries: impl IntoIterator<Item = Self>, otherwise: OnCollision) -> Result<Self, Error> {
        registries.into_iter().try_fold(Self::new(), |mut merged, registry| {
            merged.merge(registry, otherwise)?;
            Ok(merged)
        })
    }

    /// The tool of this name, hidden or not.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.by_name.get(name).and_then(|index| self.entries.get(*index)).map(|entry| &entry.tool)
    }

    /// True if there is a tool of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// True if there is a tool of this name and it is not shown.
    pub fn is_hidden(&self, name: &str) -> bool {
        self.by_name.get(name).and_then(|index| self.entries.get(*index)).is_some_and(|entry| entry.is_hidden)
    }

    /// Stops showing a tool, which can still be called. False if there is none of this name.
    pub fn hide(&mut self, name: &str) -> bool {
        self.set_hidden(name, true)
    }

    /// Shows a tool that was hidden. False if there is none of this name.
    pub fn show(&mut self, name: &str) -> bool {
        self.set_hidden(name, false)
    }

    fn set_hidden(&mut self, name: &str, is_hidden: bool) -> bool {
        let entry = self.by_name.get(name).and_then(|index| self.entries.get_mut(*index));
        entry.map(|entry| entry.is_hidden = is_hidden).is_some()
    }

    /// Takes a tool out.
    pub fn remove(&mut self, name: &str) -> Option<Tool> {
        let index = *self.by_name.get(name)?;
        let entry = self.entries.remove(index);
        self.index();
        Some(entry.tool)
    }

    /// Takes out the tools that go when their dispatch ends, and tells how many there were.
    pub fn prune_ephemeral(&mut self) -> usize {
        let before = self.entries.len();
        self.entries.retain(|entry| !entry.tool.definition().ephemeral);
        self.index();
        before - self.entries.len()
    }

    fn index(&mut self) {
        let named = |(index, entry): (usize, &Entry)| (entry.tool.name().into(), index);
        self.by_name = self.entries.iter().enumerate().map(named).collect();
    }

    /// All tools in order, hidden ones too.
    pub fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.entries.iter().map(|entry| &entry.tool)
    }

    /// The tools that a model is told of, in order.
    pub fn shown(&self) -> impl Iterator<Item = &Tool> {
        self.entries.iter().filter(|entry| !entry.is_hidden).map(|entry| &entry.tool)
    }

    /// How many tools there are, hidden ones too.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

fn collision(name: &str) -> Error {
    let message = format!(
        "there are two tools named `{name}`; rename one of them, or merge registries, where `on_collision` decides"
    );
    Error::new(Code::ToolAlreadyRegistered, message)
}
