use windlass::tool;

/// Current weather in a city.
#[tool(pure)]
async fn weather(city: String) -> Result<String, String> {
    Err(city)
}

fn main() {}
