use windlass::tool;

/// Current weather in a city.
#[tool(pure, timout = "30s")]
async fn weather(city: String) -> String {
    city
}

fn main() {}
