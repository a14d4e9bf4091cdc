use windlass::{ToolError, tool};

use super::expression;

/// Calculates exactly, with whole numbers and decimals of up to thousands of digits.
///
/// Knows + - * / % ^ and parentheses, and the functions abs, ceil, floor, max, min, round and sqrt. What has no
/// end as a decimal comes as a fraction with its first digits after ≈; a root that has no end only as those digits.
#[tool(pure, trusted)]
pub(crate) fn calculate(
    /// What to calculate, for example "(2 + 3) * 4.5 ^ 2"
    #[schemars(length(min = 1, max = 1000))]
    expression: String,
) -> Result<String, ToolError> {
    match expression::evaluate(&expression) {
        Ok(value) => Ok(value.to_string()),
        Err(wrong) => Err(ToolError::retry(wrong)),
    }
}
