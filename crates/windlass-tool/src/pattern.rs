//! A text that a pattern matches.

use regex_syntax::hir::{Class, Hir, HirKind};

/// The most bytes of a text that is made for a pattern.
const MAX_MADE: usize = 128;

/// How deep a pattern may nest for a text to be made.
const MAX_DEPTH: usize = 32;

/// A short text that a pattern matches, if it is plain enough. What look-around asks for is not looked at,
/// so the text is still to be checked.
pub(crate) fn example(pattern: &str) -> Option<String> {
    let parsed = regex_syntax::ParserBuilder::new().nest_limit(32).build().parse(pattern).ok()?;
    let mut text = String::new();
    make(&parsed, 0, &mut text)?;
    Some(text)
}

fn make(part: &Hir, depth: usize, text: &mut String) -> Option<()> {
    if depth > MAX_DEPTH || text.len() > MAX_MADE {
        return None;
    }
    match part.kind() {
        HirKind::Empty | HirKind::Look(_) => Some(()),
        HirKind::Literal(literal) => {
            text.push_str(std::str::from_utf8(&literal.0).ok()?);
            Some(())
        }
        HirKind::Class(class) => {
            text.push(plainest(class)?);
            Some(())
        }
        HirKind::Repetition(repetition) => {
            (0..repetition.min).try_for_each(|_| make(&repetition.sub, depth + 1, text))
        }
        HirKind::Capture(capture) => make(&capture.sub, depth + 1, text),
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| make(part, depth + 1, text)),
        HirKind::Alternation(parts) => make(parts.first()?, depth + 1, text),
    }
}

/// The character of a class that reads best.
fn plainest(class: &Class) -> Option<char> {
    let Class::Unicode(class) = class else { return None };
    let holds = |wanted: char| class.iter().any(|range| (range.start()..=range.end()).contains(&wanted));
    ('a'..='z')
        .chain('A'..='Z')
        .chain('0'..='9')
        .find(|wanted| holds(*wanted))
        .or_else(|| class.iter().next().map(regex_syntax::hir::ClassUnicodeRange::start))
}
