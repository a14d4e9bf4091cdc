use windlass::tool;

struct Cities(Vec<String>);

/// The first city.
#[tool(pure)]
async fn first(cities: &Cities) -> &str {
    &cities.0[0]
}

fn main() {}
