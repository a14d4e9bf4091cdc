use windlass::tools;

struct Shop<T>(T);

#[tools]
impl<T> Shop<T> {
    /// How many are left.
    #[tool(pure)]
    async fn stock(&self) -> u32 {
        3
    }
}

fn main() {}
