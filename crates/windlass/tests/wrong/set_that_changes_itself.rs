use windlass::tools;

struct Shop(u32);

#[tools]
impl Shop {
    /// Buys one.
    #[tool(once)]
    async fn buy(&mut self) -> u32 {
        self.0 -= 1;
        self.0
    }
}

fn main() {}
