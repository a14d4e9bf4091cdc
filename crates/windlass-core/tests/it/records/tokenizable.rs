use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;
use serde_json::json;
use windlass_core::record::MAX_REMEMBERED_COUNTS;
use windlass_core::{Code, Exactness, Memory, RawMemory, TokenCount, TokenCounter, Tokenizable, Tokenizers};

use super::memory;

/// Counts bytes, and how often it was asked.
#[derive(Clone, Default)]
struct Tally(Arc<AtomicU64>);

impl TokenCounter for Tally {
    fn count(&self, text: &str) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed);
        text.len() as u64
    }

    fn is_exact(&self) -> bool {
        true
    }
}

impl Tally {
    fn asked(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

fn with(name: &'static str, counter: impl TokenCounter) -> Tokenizers {
    let mut tokenizers = Tokenizers::estimates();
    tokenizers.register(name, counter).unwrap();
    tokenizers
}

fn exact(tokens: u64) -> TokenCount {
    TokenCount { tokens, exactness: Exactness::Exact }
}

#[test]
fn a_text_is_counted_once_for_all_its_clones() {
    let tally = Tally::default();
    let tokenizers = with("bytes", tally.clone());
    let text = Tokenizable::new("hello");
    let clone = text.clone();
    for _ in 0..3 {
        assert_eq!(text.token_count(&tokenizers, "bytes"), exact(5));
        assert_eq!(clone.token_count(&tokenizers.clone(), "bytes"), exact(5));
    }
    assert_eq!(tally.asked(), 1);
    assert_eq!(Tokenizable::new("hello").token_count(&tokenizers, "bytes"), exact(5));
    assert_eq!(tally.asked(), 2, "an equal text is not the same text");
}

#[test]
fn threads_that_ask_at_once_make_one_count() {
    let tally = Tally::default();
    let tokenizers = with("bytes", tally.clone());
    let text = Tokenizable::new("hello");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(text.token_count(&tokenizers, "bytes"), exact(5)));
        }
    });
    assert_eq!(tally.asked(), 1);
}

#[test]
fn one_name_in_two_registries_is_two_encodings() {
    struct Seven;
    impl TokenCounter for Seven {
        fn count(&self, _: &str) -> u64 {
            7
        }
    }
    let text = Tokenizable::new("hello");
    assert_eq!(text.token_count(&with("mine", Tally::default()), "mine"), exact(5));
    let estimate = TokenCount { tokens: 7, exactness: Exactness::Estimate };
    assert_eq!(text.token_count(&with("mine", Seven), "mine"), estimate);
}

#[test]
fn a_text_remembers_so_many_counts_and_makes_the_others_anew() {
    let text = Tokenizable::new("hello");
    let tallies: Vec<_> = (0..=MAX_REMEMBERED_COUNTS).map(|_| Tally::default()).collect();
    let registries: Vec<_> = tallies.iter().map(|tally| with("bytes", tally.clone())).collect();
    for _ in 0..3 {
        for tokenizers in &registries {
            assert_eq!(text.token_count(tokenizers, "bytes"), exact(5));
        }
    }
    let mut asked = [1; MAX_REMEMBERED_COUNTS + 1];
    asked[MAX_REMEMBERED_COUNTS] = 3;
    assert_eq!(tallies.iter().map(Tally::asked).collect::<Vec<_>>(), asked);
}

#[test]
fn a_counter_that_panics_is_answered_for_by_the_general_estimate() {
    struct Broken;
    impl TokenCounter for Broken {
        fn count(&self, _: &str) -> u64 {
            panic!("the table is missing")
        }
    }
    let tokenizers = with("broken", Broken);
    let expected = tokenizers.count("no such encoding", "How long is this?");
    assert_eq!(expected.exactness, Exactness::Fallback);
    assert_eq!(tokenizers.count("broken", "How long is this?"), expected);
    let text = Tokenizable::new("How long is this?");
    assert_eq!(text.token_count(&tokenizers, "broken"), expected);
    assert_eq!(text.token_count(&tokenizers, "broken"), expected);
}

#[test]
fn names_that_are_built_in_or_taken_are_refused_and_nothing_changes() {
    let mut tokenizers = with("mine", Tally::default());
    let before = tokenizers.count("mine", "hello");
    let names: Vec<String> = tokenizers.names().map(str::to_owned).collect();
    for name in &names {
        let error = tokenizers.register(name.as_str(), Tally::default()).unwrap_err();
        assert_eq!(error.code(), Code::TokenizerAlreadyRegistered, "{name}");
        assert!(error.to_string().contains(name.as_str()), "{error}");
    }
    assert_eq!(tokenizers.count("mine", "hello"), before);
    assert_eq!(tokenizers.count("o200k_base", "hello").exactness, Exactness::Estimate);
    assert_eq!(
        names,
        [
            "cl100k_base",
            "claude",
            "gemini",
            "llama",
            "mine",
            "mistral",
            "o200k_base",
            "p50k_base",
            "r50k_base"
        ]
    );
}

#[test]
fn what_is_registered_in_a_copy_stays_there() {
    let original = Tokenizers::estimates();
    let mut copy = original.clone();
    copy.register("mine", Tally::default()).unwrap();
    assert_eq!(copy.count("mine", "hello"), exact(5));
    assert_eq!(original.count("mine", "hello").exactness, Exactness::Fallback);
}

#[test]
fn whoever_assembles_a_program_may_build_in_better_counters() {
    let counter: Arc<dyn TokenCounter> = Arc::new(Tally::default());
    let mut tokenizers = Tokenizers::with_built_in([("o200k_base", counter)]);
    assert_eq!(tokenizers.count("o200k_base", "hello"), exact(5));
    assert_eq!(tokenizers.count("cl100k_base", "hello").exactness, Exactness::Estimate);
    assert!(tokenizers.register("o200k_base", Tally::default()).is_err());
    assert_eq!(Tokenizers::estimates().count("o200k_base", "hello").exactness, Exactness::Estimate);
}

#[test]
fn a_tokenizable_is_its_text() {
    let text = Tokenizable::from("Grüße <|endoftext|>");
    assert_eq!(text.as_str(), "Grüße <|endoftext|>");
    assert_eq!(text.to_string(), "Grüße <|endoftext|>");
    assert_eq!(format!("{text:>21}"), "  Grüße <|endoftext|>");
    assert_eq!(text, Tokenizable::from(String::from("Grüße <|endoftext|>")));
    assert_ne!(text, Tokenizable::from("Gruesse"));
    let written = serde_json::to_value(&text).unwrap();
    assert_eq!(written, json!("Grüße <|endoftext|>"));
    assert_eq!(serde_json::from_value::<Tokenizable>(written).unwrap(), text);
    assert!(serde_json::from_value::<Tokenizable>(json!(7)).is_err());
    assert_eq!(schemars::schema_for!(Tokenizable).to_value()["type"], json!("string"));
}

#[test]
fn a_record_shares_the_counts_of_the_text_that_it_is_made_of() {
    let tally = Tally::default();
    let tokenizers = with("bytes", tally.clone());
    let content = Tokenizable::new("Anna is allergic to nuts.");
    let raw: RawMemory = serde_json::from_value(memory::valid()).unwrap();
    let record = Memory::new(RawMemory { content: content.clone(), ..raw }).unwrap();
    assert_eq!(content.token_count(&tokenizers, "bytes"), exact(25));
    assert_eq!(record.clone().content().token_count(&tokenizers, "bytes"), exact(25));
    assert_eq!(tally.asked(), 1);
}

#[test]
fn estimates_of_ordinary_texts_are_known() {
    let tokenizers = Tokenizers::estimates();
    let estimate = |encoding, text| tokenizers.count(encoding, text).tokens;
    let rows = [
        ("", [0, 0, 0, 0]),
        ("a", [1, 1, 1, 1]),
        ("The rain in Oslo falls mainly on the fjord.", [9, 11, 13, 11]),
        (r#"{"city":"Oslo","days":[1,2,3]}"#, [12, 15, 18, 15]),
        ("Grüße", [2, 2, 3, 2]),
        ("今日は", [3, 4, 5, 4]),
        ("🎉🎉", [6, 8, 8, 8]),
        ("<|endoftext|>", [5, 6, 7, 5]),
    ];
    for (text, expected) in rows {
        let found =
            ["o200k_base", "p50k_base", "r50k_base", "claude"].map(|encoding| estimate(encoding, text));
        assert_eq!(found, expected, "{text}");
    }
}

proptest! {
    #[test]
    fn an_estimate_is_sane_for_every_text(text in any::<String>(), more in any::<String>()) {
        let tokenizers = Tokenizers::estimates();
        let both = format!("{text}{more}");
        for encoding in tokenizers.names().chain(["unheard-of"]) {
            let count = tokenizers.count(encoding, &text).tokens;
            prop_assert!(count <= text.len() as u64);
            prop_assert_eq!(count == 0, text.is_empty());
            prop_assert!(count <= tokenizers.count(encoding, &both).tokens);
        }
    }
}
