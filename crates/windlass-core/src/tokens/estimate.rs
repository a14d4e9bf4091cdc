use super::TokenCounter;

/// An estimate by the kinds of characters: a weight for each, and a percentage of their sum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    percent: u64,
}

/// What is taken where nothing better is known.
pub(super) const GENERAL: Estimate = Estimate { percent: 100 };

/// The estimates that have a name.
pub(super) const NAMED: &[(&str, Estimate)] = &[
    ("o200k_base", Estimate { percent: 100 }),
    ("cl100k_base", Estimate { percent: 100 }),
    ("p50k_base", Estimate { percent: 125 }),
    ("r50k_base", Estimate { percent: 150 }),
    ("claude", Estimate { percent: 120 }),
    ("gemini", Estimate { percent: 120 }),
    ("llama", Estimate { percent: 120 }),
    ("mistral", Estimate { percent: 120 }),
];

impl TokenCounter for Estimate {
    fn count(&self, text: &str) -> u64 {
        let hundredths: u64 = text.bytes().map(weight).sum();
        // A text has no more tokens than bytes, whatever the percentage makes of its weights.
        (hundredths * self.percent).div_ceil(100 * 100).min(text.len() as u64)
    }
}

/// The weight of a character in hundredths of a token, told by its first byte; the bytes that follow weigh
/// nothing. None weighs more than its own bytes, and none nothing at all.
const fn weight(byte: u8) -> u64 {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => 23,
        b'0'..=b'9' => 55,
        b' ' | b'\t' => 4,
        0x80..=0xbf => 0,
        0xc0..=0xdf => 45,
        0xe0..=0xef => 90,
        0xf0..=0xff => 300,
        _ => 50,
    }
}
