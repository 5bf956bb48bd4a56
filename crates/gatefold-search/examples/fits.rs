//! Prints how often a set's requests find nothing that fits, among the set's own tools and among
//! those of the others: `fits FOLDER LEAST_WORDS LEAST_MEANING`, for choosing these constants.

#![expect(clippy::print_stdout, clippy::cast_precision_loss, reason = "figures for people")]

use std::error::Error;
use std::path::Path;

use gatefold_search::measure::{read_requests, read_tools};
use gatefold_search::{Analysis, Entry, Index, Mode, Tuning};

const SETS: [&str; 4] = ["metatool", "toolbench", "livemcp_step", "restbench"];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, words, meaning] = arguments.as_slice() else {
        return Err("usage: fits FOLDER LEAST_WORDS LEAST_MEANING".into());
    };
    let tuning = Tuning {
        least_words: words.parse()?,
        least_meaning: meaning.parse()?,
        ..Tuning::default()
    };
    for tools in SETS {
        let text = std::fs::read_to_string(Path::new(folder).join(tools).join("tools.jsonl"))?;
        let listed = read_tools(&text)?;
        let entry = |tool| (tool, Analysis::of);
        let entries: Vec<_> = listed
            .iter()
            .map(entry)
            .map(|(tool, read)| Entry {
                id: &tool.id,
                domain: tool.server.as_deref().unwrap_or_default(),
                analysis: tool.with_document(read),
            })
            .collect();
        let index = Index::with_tuning(&entries, &tuning);
        let mut shares = Vec::new();
        for requests in SETS {
            let path = Path::new(folder).join(requests).join("queries.jsonl");
            let requests = read_requests(&std::fs::read_to_string(path)?)?;
            let few = requests.iter().take(200);
            let none = few
                .clone()
                .filter(|request| !index.search(&request.text, Mode::Hybrid, |_| true, 1).fits);
            shares.push(format!("{:5.2}", none.count() as f64 / few.len() as f64));
        }
        println!("{tools:14}{}", shares.join(" "));
    }
    Ok(())
}
