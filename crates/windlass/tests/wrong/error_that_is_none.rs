use windlass::tool;

struct Broken;

/// Current weather in a city.
#[tool(pure)]
async fn weather(city: String) -> Result<String, Broken> {
    let _ = city;
    Err(Broken)
}

fn main() {}
