use windlass::tool;

/// Current weather in a city.
#[tool(pure)]
async fn weather(city: impl ToString) -> String {
    city.to_string()
}

fn main() {}
