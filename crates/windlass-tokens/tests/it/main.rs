//! Exact counts, whatever the text.
#![allow(clippy::unwrap_used, reason = "a helper of a test may fail the way a test may")]

use proptest::prelude::*;
use windlass_core::{Code, Exactness, TokenCount, TokenCounter, Tokenizable, Tokenizers};
use windlass_tokens::tokenizers;

fn exact(encoding: &str, text: &str) -> u64 {
    let TokenCount { tokens, exactness } = tokenizers().count(encoding, text);
    assert_eq!(exactness, Exactness::Exact);
    tokens
}

/// The counts of a text in both encodings.
fn both(text: &str) -> (u64, u64) {
    (exact("cl100k_base", text), exact("o200k_base", text))
}

#[test]
fn the_published_examples_have_their_published_counts() {
    let rows = [
        ("tiktoken is great!", 6, 6),
        ("antidisestablishmentarianism", 6, 6),
        ("2 + 2 = 4", 7, 7),
        ("お誕生日おめでとう", 9, 8),
    ];
    for (text, cl100k, o200k) in rows {
        assert_eq!(both(text), (cl100k, o200k), "{text}");
    }
    assert_eq!(both(""), (0, 0));
}

#[test]
fn text_that_spells_a_special_token_is_ordinary_text() {
    let ordinary = |text: &str| {
        (
            bpe_openai::cl100k_base().encode(text).len() as u64,
            bpe_openai::o200k_base().encode(text).len() as u64,
        )
    };
    for text in ["<|endoftext|>", "<|im_start|>system", "<|fim_prefix|>", "<|endofprompt|>", "<|start|>"] {
        assert_eq!(both(text), ordinary(text), "{text}");
        let (cl100k, o200k) = both(text);
        assert!(cl100k > 3 && o200k > 3, "{text} is one token to nobody");
    }
    assert_eq!(both("<|endoftext|>"), (7, 7));
}

#[test]
fn hostile_texts_are_counted_like_any_other() {
    // Long enough that anything but linear time would not end: these are single words to the encoder.
    const LENGTH: usize = 1 << 20;
    let encoded = |text: &str| {
        (
            bpe_openai::cl100k_base().encode(text).len() as u64,
            bpe_openai::o200k_base().encode(text).len() as u64,
        )
    };
    for unit in ["a", " ", "\n", "\t ", "🎉", "0", "<|", "\u{301}", "ǅ", "' "] {
        let text = unit.repeat(LENGTH / unit.len());
        assert_eq!(both(&text), encoded(&text), "{unit:?}");
    }
}

#[test]
fn the_exact_encodings_are_built_in_and_the_rest_are_estimates() {
    struct Zero;
    impl TokenCounter for Zero {
        fn count(&self, _: &str) -> u64 {
            0
        }
    }
    let mut tokenizers = tokenizers();
    let exact: Vec<_> = tokenizers
        .names()
        .filter(|name| tokenizers.count(name, "x").exactness == Exactness::Exact)
        .map(str::to_owned)
        .collect();
    assert_eq!(exact, ["cl100k_base", "o200k_base"]);
    assert!(tokenizers.names().eq(Tokenizers::estimates().names()));
    let error = tokenizers.register("o200k_base", Zero).unwrap_err();
    assert_eq!(error.code(), Code::TokenizerAlreadyRegistered);
    assert_eq!(tokenizers.count("unheard-of", "x").exactness, Exactness::Fallback);
}

#[test]
fn a_text_that_was_estimated_is_counted_exactly_when_somebody_can() {
    let text = Tokenizable::new("お誕生日おめでとう");
    let estimate = text.token_count(&Tokenizers::estimates(), "cl100k_base");
    assert_eq!(estimate.exactness, Exactness::Estimate);
    let exact = TokenCount { tokens: 9, exactness: Exactness::Exact };
    assert_eq!(text.token_count(&tokenizers(), "cl100k_base"), exact);
    assert_eq!(text.token_count(&Tokenizers::estimates(), "cl100k_base"), estimate);
}

#[test]
fn the_estimates_of_these_encodings_are_within_a_fifth_of_the_truth() {
    let prose = "The windlass stood on the foredeck, and every morning the crew turned it by hand. Nobody could \
                 say how old it was; the captain's father had bought it, used, from a yard that no longer exists. \
                 On days without wind they oiled its teeth and told the children not to put their fingers there.";
    let code = "impl Windlass {\n    /// Lets out this many metres of chain.\n    pub fn lower(&mut self, metres: u32) \
                -> Result<(), Jammed> {\n        let left = self.chain.checked_sub(metres).ok_or(Jammed)?;\n        \
                self.chain = left;\n        Ok(())\n    }\n}\n";
    let json = "{\"id\":\"call_7\",\"tool\":\"weather\",\"args\":{\"city\":\"Oslo\",\"days\":3},\"isError\":false,\
                \"results\":{\"type\":\"artifact\",\"artifactType\":\"text\",\"byteLength\":1204,\"lineCount\":18}}";
    for text in [prose, code, json] {
        for encoding in ["o200k_base", "cl100k_base"] {
            let (exact, estimate) =
                (exact(encoding, text), Tokenizers::estimates().count(encoding, text).tokens);
            assert!(
                estimate * 5 >= exact * 4 && estimate * 5 <= exact * 6,
                "{encoding}: {estimate} for {exact} in {text}"
            );
        }
    }
}

/// Texts with more than their share of what splits words.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Z]{1,9}",
        "[0-9]{1,7}",
        "[ \\t\\r\\n]{1,5}",
        "'(s|t|re|ve|m|ll|d|S|LL)",
        "[<|>{}\\[\\]()\"/\\\\.,;:!?-]{1,4}",
        "\\PC{1,3}",
        any::<String>(),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn a_count_is_the_length_of_the_encoding_and_the_encoding_is_the_whole_text(text in text()) {
        for (encoding, table) in
            [("cl100k_base", bpe_openai::cl100k_base()), ("o200k_base", bpe_openai::o200k_base())]
        {
            let tokens = table.encode(text.as_str());
            prop_assert_eq!(exact(encoding, &text), tokens.len() as u64);
            let decoded = table.decode(&tokens);
            prop_assert_eq!(decoded.as_deref(), Some(text.as_str()));
        }
    }
}
