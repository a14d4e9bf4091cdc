//! A first agent: one tool, one question. It runs offline, with a script in the model's place.

use serde_json::json;
use windlass::{Agent, tool};
use windlass_testing::Script;

/// Current weather in a city.
#[tool(pure)]
async fn weather(city: String) -> String {
    format!("Rain in {city}, 9 °C.")
}

#[tokio::main]
async fn main() -> Result<(), windlass::Error> {
    let model = Script::new().calls("weather", json!({ "city": "Oslo" })).says("Take an umbrella.");
    let agent = Agent::new(model).tool(weather());
    println!("{}", agent.ask("Do I need an umbrella in Oslo?").await?);
    Ok(())
}
