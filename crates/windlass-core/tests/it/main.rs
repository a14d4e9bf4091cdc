//! What the core promises, tested from outside.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of a test may fail the way a test may"
)]

mod executor;
mod facts;
mod hardening;
mod identity;
mod records;
mod support;
