use windlass::tool;

#[tool(pure)]
async fn weather(city: String) -> String {
    city
}

fn main() {}
