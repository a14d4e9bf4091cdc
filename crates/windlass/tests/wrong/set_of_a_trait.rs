use windlass::tools;

struct Shop;

trait Stocked {
    fn stock(&self) -> u32;
}

#[tools]
impl Stocked for Shop {
    /// How many are left.
    #[tool(pure)]
    fn stock(&self) -> u32 {
        3
    }
}

fn main() {}
