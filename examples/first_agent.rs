//! A first agent: one tool, one question. Runs offline, with a scripted model in place of a real one.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use windlass::{Agent, Effect, tool_fn};
use windlass_testing::Script;

#[derive(Deserialize, JsonSchema)]
struct Place {
    city: String,
}

#[tokio::main]
async fn main() -> Result<(), windlass::Error> {
    let weather = tool_fn("weather", "Current weather in a city.", Effect::Pure, |place: Place| async move {
        Ok(format!("Rain in {}, 9 °C.", place.city))
    });
    let model = Script::new()
        .calls("weather", json!({ "city": "Oslo" }))
        .says("Take an umbrella: it is raining in Oslo.");
    let answer = Agent::new(model).tool(weather).ask("Do I need an umbrella in Oslo?").await?;
    println!("{answer}");
    Ok(())
}
