use windlass::{ToolContext, tool};

/// Current weather in a city.
#[tool(pure)]
async fn weather(context: ToolContext, city: String) -> String {
    city
}

fn main() {}
