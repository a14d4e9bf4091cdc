//! The command, as a user runs it.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests fail a test by panicking, and clippy's exception knows only the test functions"
)]

mod checksum;
mod support;
mod tools;
