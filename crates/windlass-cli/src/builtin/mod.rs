//! The tools that the command brings.

mod calculate;
mod current_time;
mod expression;

use windlass::{Error, ToolRegistry};

pub(crate) use calculate::calculate;
pub(crate) use current_time::current_time;

/// All of them, in the order in which they are listed.
pub(crate) fn registry() -> Result<ToolRegistry, Error> {
    let mut tools = ToolRegistry::new();
    tools.add(calculate())?;
    tools.add(current_time())?;
    Ok(tools)
}
