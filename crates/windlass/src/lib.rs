#![doc = include_str!("../../../README.md")]

/// For the derives of argument types: `#[derive(JsonSchema)]` with `#[schemars(crate = "windlass::schemars")]`
/// needs no dependency of its own.
pub use schemars;
/// For the derives of argument types: `#[derive(Deserialize)]` with `#[serde(crate = "windlass::serde")]`
/// needs no dependency of its own.
pub use serde;
pub use windlass_core::*;
/// ```
/// use windlass::{Agent, IntoTool, Refusal, ToolContext, ToolError, tool};
///
/// struct Stations(Vec<&'static str>);
///
/// /// Temperature at noon.
/// #[tool(pure, timeout = "5s", check = known_city)]
/// async fn temperature(
///     stations: &Stations,
///     context: &ToolContext,
///     /// City name, e.g. "Oslo"
///     city: String,
///     #[arg(default = 1)]
///     #[schemars(range(min = 1, max = 10))]
///     days: u8,
/// ) -> Result<String, ToolError> {
///     if context.is_cancelled() {
///         return Err(ToolError::failed("too late"));
///     }
///     Ok(format!("{city} in {days} days: 9 °C, one of {} stations", stations.0.len()))
/// }
///
/// /// What the schema cannot say; it may ask a database.
/// async fn known_city(stations: &Stations, city: &str, _days: &u8) -> Result<(), Refusal> {
///     if stations.0.contains(&city) {
///         return Ok(());
///     }
///     Err(Refusal::at("/city", "there is no station; send Oslo or Bergen"))
/// }
///
/// let tool = temperature(Stations(vec!["Oslo", "Bergen"])).into_tool()?;
/// assert_eq!(tool.describe().input_schema["required"][0], "city");
/// # Ok::<(), windlass::Error>(())
/// ```
#[cfg(feature = "macros")]
pub use windlass_macros::tool;
#[cfg(feature = "macros")]
pub use windlass_macros::tools;
pub use windlass_tool::*;
pub use windlass_turn::*;

#[cfg(feature = "tokens")]
pub use windlass_tokens as tokens;

/// What the code that `#[tool]` writes refers to. No promise is made about it.
#[doc(hidden)]
pub mod __private;
