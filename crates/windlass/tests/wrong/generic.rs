use windlass::tool;

/// Current weather in a city.
#[tool(pure)]
async fn weather<T: ToString>(city: T) -> String {
    city.to_string()
}

fn main() {}
