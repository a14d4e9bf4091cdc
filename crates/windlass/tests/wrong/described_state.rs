use windlass::tool;

struct Cities;

/// Current weather in a city.
#[tool(pure)]
async fn weather(
    /// The city.
    city: &Cities,
) -> String {
    String::new()
}

fn main() {}
