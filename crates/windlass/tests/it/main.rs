//! The façade: what a newcomer reads is what runs, and what users write is a tool.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail a test by panicking, and clippy's exception knows only the test functions"
)]

#[allow(clippy::unused_async, clippy::unnecessary_wraps, reason = "the shape of a handler is what is tested")]
mod tools;
mod wrong_tools;

#[test]
fn the_first_code_of_the_readme_is_the_first_example() {
    let readme = include_str!("../../../../README.md");
    let example = include_str!("../../../../examples/first_agent.rs");
    let (_, from_code) = readme.split_once("```rust\n").unwrap();
    let (shown, _) = from_code.split_once("```").unwrap();
    let (_, code) = example.split_once("\n\n").unwrap();
    assert_eq!(shown, code);
}
