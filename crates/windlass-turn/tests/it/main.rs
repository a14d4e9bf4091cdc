//! The loop, from outside: what happens in a turn, and what must never happen.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail a test by panicking, and clippy's exception knows only the test functions"
)]

#[path = "../../../windlass-tool/tests/it/fixtures.rs"]
#[allow(dead_code, reason = "not every test of arguments needs all of it")]
mod fixtures;
#[path = "../../../windlass-tool/tests/it/follow.rs"]
mod follow;
mod follower;
mod handlers;
mod journal;
mod misbehaviour;
mod secrets;
mod sequences;
mod sessions;
mod subscribers;
mod support;
mod threads;
mod worlds;
