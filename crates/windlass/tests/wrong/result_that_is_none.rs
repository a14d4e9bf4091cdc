use windlass::tool;

struct Report;

/// Current weather in a city.
#[tool(pure)]
async fn weather(city: String) -> Report {
    let _ = city;
    Report
}

fn main() {}
