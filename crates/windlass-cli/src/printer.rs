//! The one place that writes to the terminal.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

/// What went wrong, from the point of view of the exit code.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The caller can correct it: exit 2.
    Usage(anyhow::Error),
    /// Something outside failed: exit 1.
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// Writes one line of output: as it is into a pipe, and with control characters made visible on a
/// terminal.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    let stdout = io::stdout();
    if stdout.is_terminal() { write(&visible(text)) } else { write(text) }
}

/// Writes what clap has to say: help and version to stdout, mistakes to stderr.
pub(crate) fn usage(message: &clap::Error) -> ExitCode {
    let text = message.render().to_string();
    if message.use_stderr() {
        // Nothing is left to be done if stderr is gone.
        let _ = write!(io::stderr().lock(), "{}", visible(&text));
        return ExitCode::from(2);
    }
    match write(text.trim_end()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure(&error),
    }
}

/// Says what went wrong, on stderr.
pub(crate) fn failure(failure: &Failure) -> ExitCode {
    let (error, code) = match failure {
        Failure::Usage(error) => (error, 2),
        Failure::Failed(error) => (error, 1),
    };
    // Nothing is left to be done if stderr is gone too.
    let _ = writeln!(io::stderr().lock(), "windlass: {}", visible(&format!("{error:#}")));
    ExitCode::from(code)
}

/// A reader that has gone away is no failure.
fn write(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(anyhow::Error::new(error).context("cannot write the output").into()),
        Ok(()) => Ok(()),
    }
}

/// Shows control and direction characters instead of letting the terminal obey them.
fn visible(text: &str) -> String {
    let is_obeyed = |character: char| {
        let is_direction = matches!(character, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
        (character.is_control() && character != '\n') || is_direction
    };
    text.chars()
        .flat_map(|character| {
            let escaped = is_obeyed(character).then(|| character.escape_unicode());
            let plain = escaped.is_none().then_some(character);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}
