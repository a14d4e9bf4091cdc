use windlass::tool;

/// Current weather in a city.
#[tool(pure, on_collision = overwrite)]
async fn weather(city: String) -> String {
    city
}

fn main() {}
