//! Counting tokens: `windlass-tokens` beside `tiktoken-rs`, on the same texts, in one run.
//!
//! Every count is compared before a time is printed; the fastest of several interleaved rounds counts.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};
use windlass_core::{Exactness, Tokenizers};

const ROUNDS: usize = 7;
const MIXED_BYTES: usize = 3 << 20;
const UNBROKEN_BYTES: usize = 1 << 20;

fn main() {
    let tokenizers = windlass_tokens::tokenizers();
    let mixed = mixed(MIXED_BYTES);
    let unbroken = unbroken(UNBROKEN_BYTES);
    println!("{:<12} {:<9} {:>9} {:>10} {:>10} {:>7}", "encoding", "text", "tokens", "ours", "peer", "ratio");
    for (encoding, peer) in [("o200k_base", o200k_base_singleton()), ("cl100k_base", cl100k_base_singleton())]
    {
        for (name, text) in [("mixed", &mixed), ("unbroken", &unbroken)] {
            compare(&tokenizers, encoding, peer, name, text);
        }
    }
}

fn compare(tokenizers: &Tokenizers, encoding: &str, peer: &CoreBPE, name: &str, text: &str) {
    let ours = || {
        let count = tokenizers.count(encoding, text);
        assert_eq!(count.exactness, Exactness::Exact);
        count.tokens
    };
    let theirs = || peer.count_ordinary(text) as u64;
    let tokens = ours();
    assert_eq!(tokens, theirs(), "{encoding}, {name}: the counts differ");
    let mut best = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        best[0] = best[0].min(time(ours));
        best[1] = best[1].min(time(theirs));
    }
    let speed = |time: Duration| text.len() as f64 / 1e6 / time.as_secs_f64();
    let (our_speed, peer_speed) = (speed(best[0]), speed(best[1]));
    println!(
        "{encoding:<12} {name:<9} {tokens:>9} {our_speed:>5.1} MB/s {peer_speed:>5.1} MB/s {:>7.2}",
        our_speed / peer_speed
    );
}

fn time(count: impl Fn() -> u64) -> Duration {
    let start = Instant::now();
    std::hint::black_box(count());
    start.elapsed()
}

/// Prose, code and JSON in turns, the same in every run.
fn mixed(bytes: usize) -> String {
    let mut dice = Dice(7);
    let mut text = String::with_capacity(bytes + 1024);
    while text.len() < bytes {
        match dice.below(3) {
            0 => prose(&mut text, &mut dice),
            1 => code(&mut text, &mut dice),
            _ => json(&mut text, &mut dice),
        }
    }
    text
}

/// Letters without a break, so that one word is the whole text.
fn unbroken(bytes: usize) -> String {
    let mut dice = Dice(11);
    (0..bytes).map(|_| dice.of(&["a", "b", "e", "n", "s", "t"])).collect()
}

const WORDS: &[&str] = &[
    "the",
    "of",
    "harbour",
    "and",
    "a",
    "winch",
    "to",
    "anchor",
    "was",
    "in",
    "chain",
    "slowly",
    "turned",
    "crew",
    "that",
    "morning",
    "weather",
    "it",
    "had",
    "been",
    "understood",
    "Grüße",
    "naïve",
    "Ålesund",
    "machinery",
    "unquestionably",
    "rope",
    "by",
    "hand",
    "not",
    "with",
    "their",
    "sea's",
    "couldn't",
    "2026",
    "17.5",
    "日本",
];

fn prose(text: &mut String, dice: &mut Dice) {
    for _ in 0..6 {
        for at in 0..8 + dice.below(10) {
            text.push_str(if at == 0 { "" } else { " " });
            text.push_str(dice.of(WORDS));
        }
        text.push_str(dice.of(&[". ", ", but ", "? ", "; ", "! "]));
    }
    text.push_str("\n\n");
}

fn code(text: &mut String, dice: &mut Dice) {
    for _ in 0..4 {
        let (name, argument) = (dice.of(WORDS), dice.of(WORDS));
        let number = dice.below(100_000);
        let _ = write!(
            text,
            "    fn {name}_{number}(&mut self, {argument}: &str) -> Result<u64, Error> {{\n        \
             self.total += {argument}.len() as u64 * {number};\n        Ok(self.total) // {name}\n    }}\n\n"
        );
    }
}

fn json(text: &mut String, dice: &mut Dice) {
    for _ in 0..8 {
        let _ = writeln!(
            text,
            r#"{{"id":"call_{:016x}","tool":"{}","args":{{"{}":"{}","page":{}}},"score":0.{},"isError":false}}"#,
            dice.next(),
            dice.of(WORDS),
            dice.of(WORDS),
            dice.of(WORDS),
            dice.below(50),
            dice.below(10_000),
        );
    }
}

/// A small generator of choices (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn of<'a>(&mut self, options: &[&'a str]) -> &'a str {
        options[self.below(options.len() as u64) as usize]
    }
}
