use windlass::tool;

/// Current weather in a city.
#[tool(pure)]
async fn weather(city: &str) -> String {
    city.to_owned()
}

fn main() {}
