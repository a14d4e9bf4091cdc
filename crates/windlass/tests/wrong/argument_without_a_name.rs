use windlass::tool;

/// The distance between two points.
#[tool(pure)]
async fn distance((x, y): (f64, f64)) -> f64 {
    x.hypot(y)
}

fn main() {}
