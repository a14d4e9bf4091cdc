//! A first agent: one tool, one question. It runs offline, with a script in the model's place.

use serde_json::json;
use windlass::{Agent, Effect, ToolError, tool_fn};
use windlass_testing::Script;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Place {
    city: String,
}

async fn weather(place: Place) -> Result<String, ToolError> {
    Ok(format!("Rain in {}, 9 °C.", place.city))
}

#[tokio::main]
async fn main() -> Result<(), windlass::Error> {
    let model = Script::new().calls("weather", json!({ "city": "Oslo" })).says("Take an umbrella.");
    let agent = Agent::new(model).tool(tool_fn("weather", "Weather in a city.", Effect::Pure, weather));
    println!("{}", agent.ask("Do I need an umbrella in Oslo?").await?);
    Ok(())
}
