use windlass::tool;

/// Current weather in a city.
#[tool(pure)]
async fn weather(city: String, #[arg(default)] days: u8) -> String {
    format!("{city} {days}")
}

fn main() {}
