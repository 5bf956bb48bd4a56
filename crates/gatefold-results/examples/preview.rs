//! Prints the preview of a file, with the time and the memory that it took beyond the text:
//!
//! ```text
//! cargo run --release -p gatefold-results --example preview FILE [TOKENS]
//! ```

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::time::Instant;

use gatefold_results::{KeptResult, TokenBudget, preview};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("give the path of a file")?;
    let tokens = arguments.next().map_or(Ok(4_000), |tokens| tokens.parse())?;
    let text = std::fs::read_to_string(path)?;
    let kept = KeptResult { handle: "r_8fKq2Lx0", tool: "results__read_result" };
    preview("[1]", &kept, TokenBudget::LEAST);
    let (begun, before) = (Instant::now(), peak_kib());
    let shown = preview(&text, &kept, TokenBudget::new(tokens));
    let (took, after) = (begun.elapsed(), peak_kib());
    println!("{}", shown.text);
    println!("[{took:?} for {} bytes; {} KiB more memory at most]", text.len(), after - before);
    Ok(())
}

/// The most memory that this process had so far. Zero where it is not told.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or_default()
}
