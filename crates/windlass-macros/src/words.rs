//! The words of the macros, and what to say about a word that is none of them.

/// The words for effects.
pub(crate) const EFFECTS: [&str; 3] = ["pure", "idempotent", "once"];

/// The other properties.
pub(crate) const PROPERTIES: [&str; 20] = [
    "name",
    "description",
    "timeout",
    "trusted",
    "egress",
    "sensitive",
    "approval",
    "exclusive",
    "blocking",
    "polling",
    "inline",
    "artifact_type",
    "artifact_tool",
    "ephemeral",
    "on_collision",
    "meta",
    "check",
    "reconcile",
    "crate",
    "effect",
];

/// What is said where the word for the effect is missing.
pub(crate) const WHICH_EFFECT: &str = "say what this tool does to the world, because it decides what happens \
    after a crash:\n  \
    #[tool(pure)]        changes nothing, so it may be repeated at will\n  \
    #[tool(idempotent)]  changes something, but no more when it is repeated with the same operation id\n  \
    #[tool(once)]        changes something at every run, so it is never repeated by itself";

/// The word that was probably meant.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let distances = known.iter().map(|known| (distance(word, known), *known));
    distances.filter(|(distance, known)| *distance <= known.len() / 3 + 1).min().map(|(_, known)| known)
}

/// How many letters must be changed, added or left out.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in b.iter().enumerate() {
            let changed = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        assert_eq!(nearest("timout", &PROPERTIES), Some("timeout"));
        assert_eq!(nearest("pur", &EFFECTS), Some("pure"));
        assert_eq!(nearest("idempotant", &EFFECTS), Some("idempotent"));
        assert_eq!(nearest("banana", &PROPERTIES), None);
    }
}
