use windlass::tool;

/// Current weather in a city.
#[tool(pure, trusted = true)]
async fn weather(city: String) -> String {
    city
}

fn main() {}
