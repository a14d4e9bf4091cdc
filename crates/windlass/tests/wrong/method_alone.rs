use windlass::tool;

struct Shop;

impl Shop {
    /// How many are left.
    #[tool(pure)]
    async fn stock(&self) -> u32 {
        3
    }
}

fn main() {}
