use windlass::tool;

#[derive(serde::Deserialize)]
struct Place {
    city: String,
}

/// Current weather in a city.
#[tool(pure)]
async fn weather(place: Place) -> String {
    place.city
}

fn main() {}
