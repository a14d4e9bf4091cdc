use windlass::tool;

/// Adds numbers.
#[tool(pure)]
async fn add(numbers: &[i64]) -> i64 {
    numbers.iter().sum()
}

fn main() {}
