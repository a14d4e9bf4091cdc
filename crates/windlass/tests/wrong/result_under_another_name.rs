use windlass::{ToolError, tool};

type Outcome = Result<String, ToolError>;

/// Current weather in a city.
#[tool(pure)]
async fn weather(city: String) -> Outcome {
    Ok(city)
}

fn main() {}
