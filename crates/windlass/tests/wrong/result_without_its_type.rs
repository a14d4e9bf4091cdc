use windlass::tool;

type Result = std::result::Result<String, std::io::Error>;

/// Current weather in a city.
#[tool(pure)]
async fn weather(city: String) -> Result {
    Ok(city)
}

fn main() {}
