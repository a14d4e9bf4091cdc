//! The one place that writes to the terminal.

use std::io::{self, Write as _};
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

/// Writes one line of output. A reader that has gone away is no failure.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(anyhow::Error::new(error).context("cannot write the output").into()),
        Ok(()) => Ok(()),
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

/// Shows control characters instead of letting the terminal obey them.
fn visible(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\n' => "\n".to_owned(),
            control if control.is_control() => control.escape_default().to_string(),
            other => other.to_string(),
        })
        .collect()
}
