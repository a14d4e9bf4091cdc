use windlass::tool;

/// Current weather in a city.
#[tool(pure, timeout = 30)]
async fn weather(city: String) -> String {
    city
}

fn main() {}
