//! The `windlass` command.
//!
//! Exit codes: 0 done, 1 failed, 2 bad usage or bad input.

mod builtin;
mod checksum;
mod printer;
mod tools;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// An agent development kit on the command line.
#[derive(Parser)]
#[command(name = "windlass", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Checksum(checksum::Checksum),
    Tools(tools::Tools),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(message) => return printer::usage(&message),
    };
    let result = match cli.command {
        Command::Checksum(command) => command.run(),
        Command::Tools(command) => command.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => printer::failure(&failure),
    }
}
