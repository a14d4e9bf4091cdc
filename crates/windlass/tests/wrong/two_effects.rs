use windlass::tool;

/// Current weather in a city.
#[tool(pure, once)]
async fn weather(city: String) -> String {
    city
}

fn main() {}
