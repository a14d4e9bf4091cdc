use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::{Code, Effect, Error, OnCollision, Tool, tool_fn};
use windlass_tool::{IntoTool as _, ToolRegistry};

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// What distinguishes the tools of these tests.
#[derive(Clone, Copy)]
struct Kind {
    says: &'static str,
    policy: OnCollision,
    is_ephemeral: bool,
}

fn tool(name: &'static str, kind: Kind) -> Tool {
    tool_fn(name, kind.says, Effect::Pure, |_: Nothing| async { Ok(()) })
        .with(|definition| {
            let definition = definition.on_collision(kind.policy);
            if kind.is_ephemeral { definition.ephemeral() } else { definition }
        })
        .into_tool()
        .unwrap()
}

fn plain(name: &'static str, says: &'static str) -> Tool {
    tool(name, Kind { says, policy: OnCollision::Throw, is_ephemeral: false })
}

/// Every tool: its name, what it says, and whether it is hidden.
fn listed(registry: &ToolRegistry) -> Vec<(&str, &str, bool)> {
    registry
        .iter()
        .map(|tool| (tool.name(), &*tool.describe().description, registry.is_hidden(tool.name())))
        .collect()
}

fn registry(tools: impl IntoIterator<Item = Tool>) -> ToolRegistry {
    let mut registry = ToolRegistry::new();
    for tool in tools {
        registry.add(tool).unwrap();
    }
    registry
}

/// What is there after a merge of `a, b, c` with an incoming `b`, and again after the dispatch has ended.
#[derive(Debug, PartialEq)]
enum Merged {
    Refused,
    /// The `b` that is there, whether it is hidden, and whether it outlives its dispatch.
    There {
        says: &'static str,
        is_hidden: bool,
        outlives: bool,
    },
}

/// The whole matrix, written out: own policy, policy of the merge, hidden, ephemeral → what comes of it.
#[rustfmt::skip]
fn matrix() -> Vec<(OnCollision, OnCollision, bool, bool, Merged)> {
    use OnCollision::{Keep, Replace, Throw};
    let refused = || Merged::Refused;
    let old = || Merged::There { says: "old", is_hidden: false, outlives: true };
    let new = |is_hidden, is_ephemeral: bool| Merged::There { says: "new", is_hidden, outlives: !is_ephemeral };
    vec![
        (Throw,   Throw,   false, false, refused()),
        (Throw,   Throw,   false, true,  refused()),
        (Throw,   Throw,   true,  false, refused()),
        (Throw,   Throw,   true,  true,  refused()),
        (Throw,   Replace, false, false, new(false, false)),
        (Throw,   Replace, false, true,  new(false, true)),
        (Throw,   Replace, true,  false, new(true, false)),
        (Throw,   Replace, true,  true,  new(true, true)),
        (Throw,   Keep,    false, false, old()),
        (Throw,   Keep,    false, true,  old()),
        (Throw,   Keep,    true,  false, old()),
        (Throw,   Keep,    true,  true,  old()),
        (Replace, Throw,   false, false, new(false, false)),
        (Replace, Throw,   false, true,  new(false, true)),
        (Replace, Throw,   true,  false, new(true, false)),
        (Replace, Throw,   true,  true,  new(true, true)),
        (Replace, Replace, false, false, new(false, false)),
        (Replace, Replace, false, true,  new(false, true)),
        (Replace, Replace, true,  false, new(true, false)),
        (Replace, Replace, true,  true,  new(true, true)),
        (Replace, Keep,    false, false, new(false, false)),
        (Replace, Keep,    false, true,  new(false, true)),
        (Replace, Keep,    true,  false, new(true, false)),
        (Replace, Keep,    true,  true,  new(true, true)),
        (Keep,    Throw,   false, false, old()),
        (Keep,    Throw,   false, true,  old()),
        (Keep,    Throw,   true,  false, old()),
        (Keep,    Throw,   true,  true,  old()),
        (Keep,    Replace, false, false, old()),
        (Keep,    Replace, false, true,  old()),
        (Keep,    Replace, true,  false, old()),
        (Keep,    Replace, true,  true,  old()),
        (Keep,    Keep,    false, false, old()),
        (Keep,    Keep,    false, true,  old()),
        (Keep,    Keep,    true,  false, old()),
        (Keep,    Keep,    true,  true,  old()),
    ]
}

#[test]
fn where_names_meet_the_newcomers_policy_counts_and_then_that_of_the_merge() {
    let rows = matrix();
    assert_eq!(rows.len(), 3 * 3 * 2 * 2);
    for (own, otherwise, is_hidden, is_ephemeral, expected) in rows {
        let row = format!("own {own:?}, merge {otherwise:?}, hidden {is_hidden}, ephemeral {is_ephemeral}");
        let mut present = registry([plain("a", "old"), plain("b", "old"), plain("c", "old")]);
        let mut incoming = registry([plain("x", "new")]);
        let newcomer = tool("b", Kind { says: "new", policy: own, is_ephemeral });
        let added = if is_hidden { incoming.add_hidden(newcomer) } else { incoming.add(newcomer) };
        added.unwrap();
        let before = present.clone();
        let result = present.merge(incoming, otherwise);
        if expected == Merged::Refused {
            assert_eq!(result.unwrap_err().code(), Code::ToolAlreadyRegistered, "{row}");
            assert_eq!(listed(&present), listed(&before), "{row}: nothing is merged in part");
            continue;
        }
        result.unwrap();
        let Merged::There { says, is_hidden, outlives } = expected else { unreachable!() };
        let all = [("a", "old", false), ("b", says, is_hidden), ("c", "old", false), ("x", "new", false)];
        assert_eq!(listed(&present), all, "{row}: everybody keeps its place");
        let shown: Vec<_> = present.shown().map(Tool::name).collect();
        assert_eq!(shown.contains(&"b"), !is_hidden, "{row}");
        assert_eq!(present.get("b").unwrap().describe().description, says, "{row}: hidden is callable");
        assert_eq!(present.prune_ephemeral(), usize::from(!outlives), "{row}");
        assert_eq!(present.contains("b"), outlives, "{row}");
        assert_eq!(present.get("c").unwrap().name(), "c", "{row}: who comes after is still found");
    }
}

#[test]
fn adding_a_second_tool_of_a_name_is_an_error_whatever_the_tool_says() {
    for policy in [OnCollision::Throw, OnCollision::Replace, OnCollision::Keep] {
        let mut registry = registry([plain("a", "old")]);
        let error = registry.add(tool("a", Kind { says: "new", policy, is_ephemeral: false })).unwrap_err();
        assert_eq!(error.code(), Code::ToolAlreadyRegistered);
        assert_eq!(listed(&registry), [("a", "old", false)]);
    }
}

#[test]
fn several_are_added_all_or_none() {
    let mut present = registry([plain("a", "old")]);
    let error = present.add_all(vec![plain("b", "new"), plain("a", "new")]).unwrap_err();
    assert_eq!(error.code(), Code::ToolAlreadyRegistered);
    assert_eq!(listed(&present), [("a", "old", false)]);
    present.add_all(vec![plain("c", "new"), plain("b", "new")]).unwrap();
    assert_eq!(listed(&present), [("a", "old", false), ("c", "new", false), ("b", "new", false)]);
}

#[test]
fn registries_are_merged_from_left_to_right() -> Result<(), Error> {
    let parts = || {
        [
            registry([plain("a", "1")]),
            registry([plain("b", "2"), plain("a", "2")]),
            registry([plain("a", "3")]),
        ]
    };
    let last = ToolRegistry::merged(parts(), OnCollision::Replace)?;
    assert_eq!(listed(&last), [("a", "3", false), ("b", "2", false)]);
    let first = ToolRegistry::merged(parts(), OnCollision::Keep)?;
    assert_eq!(listed(&first), [("a", "1", false), ("b", "2", false)]);
    assert!(ToolRegistry::merged(parts(), OnCollision::Throw).is_err());
    assert!(ToolRegistry::merged([], OnCollision::Throw)?.is_empty());
    Ok(())
}

#[test]
fn a_copy_that_is_changed_leaves_the_original_alone() {
    let original = registry([plain("a", "old"), plain("b", "old")]);
    let mut copy = original.clone();
    assert_eq!(copy.remove("a").unwrap().name(), "a");
    assert!(copy.hide("b") && !copy.hide("a"));
    copy.add(plain("c", "new")).unwrap();
    assert_eq!(listed(&copy), [("b", "old", true), ("c", "new", false)]);
    assert_eq!(copy.get("c").unwrap().name(), "c");
    assert!(copy.show("b") && !copy.is_hidden("b"));
    assert_eq!(listed(&original), [("a", "old", false), ("b", "old", false)]);
    assert_eq!((original.len(), copy.len()), (2, 2));
}
