//! The loop, from outside: what happens in a turn, and what must never happen.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail a test by panicking, and clippy's exception knows only the test functions"
)]

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
