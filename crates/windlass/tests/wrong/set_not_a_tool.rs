use windlass::{Agent, tools};
use windlass_testing::Script;

struct Shop;

#[tools]
impl Shop {
    /// How many are left.
    #[tool(pure)]
    async fn stock(&self) -> u32 {
        3
    }
}

fn main() {
    let _ = Agent::new(Script::new()).tool(Shop);
}
