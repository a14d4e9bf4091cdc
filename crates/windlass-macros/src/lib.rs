//! `#[tool]` and `#[tools]`: functions that a model can call.
//!
//! Users get them from the crate `windlass`, which documents them.

mod expand;
mod function;
mod properties;
mod set;
mod words;

use proc_macro::TokenStream;
use syn::{ItemFn, ItemImpl, parse_macro_input};

use crate::properties::Properties;

/// Makes a tool of a function.
///
/// `#[tool(pure)]`, `#[tool(idempotent)]` or `#[tool(once)]`: the word says what the tool does to the world,
/// and must be there. The function may be `async` or not. In its place stands a function that takes the state
/// and gives the tool.
///
/// | parameter | is |
/// |---|---|
/// | `client: &Client` | state, given when the tool is made, as a `Client` or an `Arc<Client>` |
/// | `context: &ToolContext` | what the handler knows about its call |
/// | anything else | an argument that the model sends; its doc comment is shown to the model |
///
/// An argument takes any type that implements `serde::Deserialize` and `schemars::JsonSchema`; `Option` may
/// be left out. `#[serde(…)]` and `#[schemars(…)]` on an argument mean what they mean on a field
/// (`rename`, `flatten`, `range`, `length`, …); `#[arg(default = 3)]` gives a default, `#[arg(destination)]`
/// marks one that says where something goes, `#[arg(secret)]` one that errors never quote and events never show.
///
/// The other properties stand beside the word:
///
/// | property | meaning |
/// |---|---|
/// | `name = "…"`, `description = "…"` | instead of the function's name and doc comment |
/// | `timeout = "30s"` | or any `Duration`; bounds one run |
/// | `trusted` | its results are the author's own words |
/// | `egress`, `sensitive` | it sends something out; its results are not for everybody (claims, not acted on yet) |
/// | `approval = always` | or a function from the arguments' JSON to `bool`: somebody must agree first |
/// | `exclusive` | runs alone |
/// | `blocking`, `polling` | blocks its thread; is meant to be called again and again (claims, not acted on yet) |
/// | `inline = false` | its records ask for a handle instead of the content |
/// | `artifact_type = Csv` | the type of its results |
/// | `artifact_tool` | it answers questions about results: see `ArtifactTool` |
/// | `ephemeral`, `on_collision = replace` | goes with its dispatch; what happens beside a tool of its name |
/// | `meta(key = value, …)` | whatever the handler and programs should read |
/// | `check = known_city` | an async function that gets the state and a reference to each argument |
/// | `reconcile = find_payment` | an async function that gets the state and an `Interrupted` run (not asked yet) |
/// | `crate = path` | where the crate `windlass` is, if it has another name |
#[proc_macro_attribute]
pub fn tool(attributes: TokenStream, item: TokenStream) -> TokenStream {
    let properties = parse_macro_input!(attributes as Properties);
    let function = parse_macro_input!(item as ItemFn);
    function::expand(&properties, function).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes tools of the methods of an `impl` block that have `#[tool(…)]`.
///
/// Each takes `&self`, which is the state that they share. The type then is a set of tools, and so is an
/// `Arc` of it: `agent.tools(Shop::new())`. Methods without `#[tool]` stay as they are. A type has one such block.
#[proc_macro_attribute]
pub fn tools(attributes: TokenStream, item: TokenStream) -> TokenStream {
    let set = parse_macro_input!(attributes as set::SetProperties);
    let block = parse_macro_input!(item as ItemImpl);
    set::expand(&set, block).unwrap_or_else(syn::Error::into_compile_error).into()
}
