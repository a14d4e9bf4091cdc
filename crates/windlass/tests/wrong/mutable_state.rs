use windlass::tool;

/// Counts.
#[tool(once)]
async fn count(counter: &mut u64) -> u64 {
    *counter += 1;
    *counter
}

fn main() {}
