//! `#[tool]` and `#[tools]`: functions that a model can call.
//!
//! Users get them from the crate `windlass`, which documents them.

mod expand;
mod function;
mod parameters;
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
/// marks one that says where something goes, `#[arg(secret)]` one that the kit's errors never quote and events never
/// show. Arguments that the function does not have are refused; in nested types that is for
/// `#[serde(deny_unknown_fields)]` to say.
///
/// It returns text, bytes, media, anything that serialises, or a `Result` of it, whose error is a `ToolError` or any
/// standard error. (`Box<dyn Error>` and `anyhow::Error` are none: use `.map_err(ToolError::failed)`.)
///
/// The other properties stand beside the word:
///
/// | property | meaning |
/// |---|---|
/// | `name = "…"`, `description = "…"` | instead of the function's name and doc comment |
/// | `timeout = "30s"` | or any `Duration`; bounds one run |
/// | `trusted` | its results are the author's own words; others are read as quotations, `> ` before each line |
/// | `egress`, `sensitive` | it sends something out; its results are not for everybody (claims, not acted on yet) |
/// | `approval = always` | or `fn(&Map<String, Value>) -> bool`: somebody must agree first (nobody can be asked yet: denied) |
/// | `exclusive` | runs alone |
/// | `blocking`, `polling` | blocks its thread; is meant to be called again and again (claims, not acted on yet) |
/// | `inline = false` | its records ask for a handle (so far the content is shown all the same) |
/// | `artifact_type = Csv` | the type of its results |
/// | `artifact_tool` | it answers questions about results: see `ArtifactTool` (so far only marks the record) |
/// | `ephemeral`, `on_collision = replace` | goes with its dispatch; what happens beside a tool of its name |
/// | `meta(key = value, …)` | whatever the handler and programs should read |
/// | `check = known_city` | `async fn(&State, &Arg1, &Arg2, …) -> Result<(), Refusal>`: the state, then every argument, in order |
/// | `reconcile = find_payment` | `async fn(&State, Interrupted) -> Result<Reconciled, ToolError>` (not asked yet) |
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
/// `Arc` of it: `agent.tools(Shop::new())`. Only `tools` needs to be imported. Methods without `#[tool]` stay as they are. A type has one such block.
#[proc_macro_attribute]
pub fn tools(attributes: TokenStream, item: TokenStream) -> TokenStream {
    let set = parse_macro_input!(attributes as set::SetProperties);
    let block = parse_macro_input!(item as ItemImpl);
    set::expand(&set, block).unwrap_or_else(syn::Error::into_compile_error).into()
}
