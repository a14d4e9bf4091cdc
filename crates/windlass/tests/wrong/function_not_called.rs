use windlass::{Agent, tool};
use windlass_testing::Script;

/// Current weather in a city.
#[tool(pure)]
async fn weather(city: String) -> String {
    city
}

fn main() {
    let _ = Agent::new(Script::new()).tool(weather);
}
