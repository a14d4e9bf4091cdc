use std::io::Read as _;

use anyhow::{Context as _, anyhow};
use clap::Args;
use windlass::identity::MAX_ARGS_BYTES;
use windlass::{canonical, checksum, json};

use crate::printer::{self, Failure};

/// Print the checksum of a call: SHA-256 over the canonical JSON of {"args": ARGS, "tool": TOOL}
///
/// Equal calls have equal checksums, whatever the order of their keys and the spelling of their numbers
/// and strings.
#[derive(Args)]
#[command(after_help = "Examples:
  windlass checksum search '{\"query\":\"hello\"}'
  windlass checksum search - < args.json
  windlass checksum --canonical search '{\"b\": 1.0, \"a\": \"\\u00e9\"}'

Exit codes: 0 done, 1 standard input or output failed, 2 ARGS is not JSON (the message names the byte,
counted from 0).")]
pub(crate) struct Checksum {
    /// The tool's name
    tool: String,
    /// The arguments as JSON; `-` reads them from standard input
    #[arg(allow_hyphen_values = true)]
    args: String,
    /// Print the text that is hashed instead of its checksum
    #[arg(long)]
    canonical: bool,
}

impl Checksum {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let text = match self.args.as_str() {
            "-" => read_stdin()?,
            _ => self.args,
        };
        let args = json::read(&text)
            .map_err(|error| Failure::Usage(anyhow!("the arguments are not JSON: {error}")))?;
        let line = if self.canonical {
            format!("{{\"args\":{},\"tool\":{}}}", canonical(&args), canonical(&self.tool.into()))
        } else {
            checksum(&self.tool, &args).to_string()
        };
        printer::line(&line)
    }
}

fn read_stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(MAX_ARGS_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .context("cannot read the arguments from standard input")?;
    if bytes.len() > MAX_ARGS_BYTES {
        return Err(Failure::Usage(anyhow!("the arguments have more than {MAX_ARGS_BYTES} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let byte = error.utf8_error().valid_up_to();
        Failure::Usage(anyhow!("the arguments are not JSON: invalid UTF-8 at byte {byte}"))
    })
}
