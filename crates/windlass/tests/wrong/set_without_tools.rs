use windlass::tools;

struct Shop;

#[tools]
impl Shop {
    async fn stock(&self) -> u32 {
        3
    }
}

fn main() {}
