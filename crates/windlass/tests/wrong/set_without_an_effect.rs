use windlass::tools;

struct Shop;

#[tools]
impl Shop {
    /// How many are left.
    #[tool]
    async fn stock(&self) -> u32 {
        3
    }
}

fn main() {}
