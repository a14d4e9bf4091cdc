use anyhow::Context as _;
use clap::Args;
use serde_json::Value;
use windlass::Tool;

use crate::builtin;
use crate::printer::{self, Failure};

/// List the built-in tools, as a model sees them
#[derive(Args)]
#[command(after_help = "Examples:
  windlass tools
  windlass tools --json

Exit codes: 0 done, 1 standard output failed.")]
pub(crate) struct Tools {
    /// Print the definitions as one JSON array: name, description and input schema of each tool
    #[arg(long)]
    json: bool,
}

impl Tools {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let registry = builtin::registry().context("a built-in tool is not valid")?;
        if self.json {
            let descriptions: Vec<_> = registry.shown().map(Tool::describe).collect();
            let text =
                serde_json::to_string_pretty(&descriptions).context("cannot write the tools as JSON")?;
            return printer::line(&text);
        }
        let listed: Vec<_> = registry.shown().map(listed).collect();
        printer::line(&listed.join("\n\n"))
    }
}

/// A tool for people: its head, what it does, and its arguments.
fn listed(tool: &Tool) -> String {
    let description = tool.describe();
    let mut lines = vec![format!("{} ({})", description.name, tool.effect().as_str())];
    lines.extend(description.description.lines().map(|line| format!("    {line}").trim_end().to_owned()));
    let schema = &description.input_schema;
    let required: Vec<_> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object();
    let arguments: Vec<_> = properties.into_iter().flatten().collect();
    let width = arguments.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, property) in arguments {
        let kind = kind(property);
        let optional = if required.contains(&name.as_str()) { "" } else { ", optional" };
        let says = property["description"].as_str().unwrap_or_default().replace('\n', " ");
        lines.push(
            format!("    - {name:width$}  {kind}{optional}: {says}").trim_end_matches([':', ' ']).to_owned(),
        );
    }
    lines.join("\n")
}

/// The type of an argument, without the null that only says that it may be left out.
fn kind(property: &Value) -> String {
    match &property["type"] {
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => {
            let kinds: Vec<_> =
                kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect();
            kinds.join(" or ")
        }
        _ => "any".to_owned(),
    }
}
