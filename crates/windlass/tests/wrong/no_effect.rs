use windlass::tool;

/// Current weather in a city.
#[tool]
async fn weather(city: String) -> String {
    city
}

fn main() {}
