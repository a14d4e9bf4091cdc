use windlass::tool;

/// Sends a mail.
#[tool(once)]
async fn mail(#[arg(destnation)] to: String) -> String {
    to
}

fn main() {}
