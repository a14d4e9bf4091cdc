use std::sync::Arc;

use windlass::tool;

struct Stations;

/// Current weather in a city.
#[tool(pure)]
async fn weather(stations: Arc<Stations>, city: String) -> String {
    city
}

fn main() {}
