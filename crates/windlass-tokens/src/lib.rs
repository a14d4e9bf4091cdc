//! Exact token counts in the encodings of OpenAI.
//!
//! [`tokenizers`] is what [`Tokenizers::estimates`] is, with `o200k_base` (GPT-4o and later) and `cl100k_base`
//! (GPT-4, GPT-3.5, the third embeddings) counted exactly. The tables are part of the program, unpacked once per
//! process, when a text is first counted. Counting takes time in proportion to the text, whatever the text is.
//!
//! ```
//! use windlass_core::{Exactness, TokenCount, Tokenizable};
//!
//! let text = Tokenizable::new("tiktoken is great!");
//! let count = text.token_count(&windlass_tokens::tokenizers(), "cl100k_base");
//! assert_eq!(count, TokenCount { tokens: 6, exactness: Exactness::Exact });
//! ```

use std::sync::{Arc, LazyLock};

use bpe_openai::Tokenizer;
use windlass_core::{TokenCounter, Tokenizers};

// Made once, so that a text that was counted with one copy is not counted again with another.
static TOKENIZERS: LazyLock<Tokenizers> = LazyLock::new(|| {
    let exact = |table: fn() -> &'static Tokenizer| -> Arc<dyn TokenCounter> { Arc::new(Exact { table }) };
    Tokenizers::with_built_in([
        ("o200k_base", exact(bpe_openai::o200k_base)),
        ("cl100k_base", exact(bpe_openai::cl100k_base)),
    ])
});

/// Counts that are exact in `o200k_base` and `cl100k_base`, and estimates in every other encoding.
pub fn tokenizers() -> Tokenizers {
    TOKENIZERS.clone()
}

/// An encoding whose table is unpacked when it is first needed.
struct Exact {
    table: fn() -> &'static Tokenizer,
}

impl TokenCounter for Exact {
    fn count(&self, text: &str) -> u64 {
        (self.table)().count(text) as u64
    }

    fn is_exact(&self) -> bool {
        true
    }
}
