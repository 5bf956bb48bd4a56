//! Writes the table behind `token_bound` to standard output:
//! `cargo run -p gatefold-catalog --example vocabulary > crates/gatefold-catalog/src/tokens/o200k.bin`
//!
//! The first tokens of OpenAI's public o200k vocabulary in the order of their ranks, each behind a
//! byte with its length. A test compares the file with the vocabulary.

use std::io::Write;

/// More tokens make the bound tighter and the table larger.
const TOKENS: u32 = 40_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let vocabulary = tiktoken_rs::o200k_base()?;
    let mut output = std::io::stdout().lock();
    for rank in 0..TOKENS {
        let token = vocabulary.decode_bytes(&[rank])?;
        output.write_all(&[u8::try_from(token.len())?])?;
        output.write_all(&token)?;
    }
    Ok(())
}
