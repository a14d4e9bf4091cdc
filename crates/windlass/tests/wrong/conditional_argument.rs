use windlass::tool;

/// Current weather in a city.
#[tool(pure)]
async fn weather(city: String, #[cfg(feature = "days")] days: u8) -> String {
    city
}

fn main() {}
