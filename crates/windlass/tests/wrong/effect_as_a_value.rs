use windlass::tool;

/// Current weather in a city.
#[tool(effect = "pure")]
async fn weather(city: String) -> String {
    city
}

fn main() {}
